//! A log made anew: the batches that can be kept, and behind them what the machine makes of the same answers as before,
//! in the order and at the time they came.
//!
//! The archive does not tell everything: which URLs had failed, what robots.txt files said. Where the log does not tell
//! either, these are asked again. An answer to a URL that no page before it links to, because that page is lost or it was
//! a seed, is taken for a seed.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use super::answers::{Answer, Found, go_through};
use super::check::{Checked, settles};
use super::{Means, Repaired, describe, move_aside};
use suidao_crawl::crawl::{Crawl, Delivery, Outcome, Refresh, outcome};
use suidao_crawl::trap::absent;
use suidao_live::live;
use suidao_page::model::{Batch, Budget, CrawlUrl, Event, Failure, FailureKind, Millis, Origin, UrlId};
use suidao_store::store::archive::warc_files;
use suidao_store::store::directory::sync_directory;
use suidao_store::store::{ArchiveReader, CrawlDirectory, Location, Meta, Record, Store, StoreError, own};

/// Batches handed to the store at a time.
const GROUP: usize = 256;

/// How the new log is called in `state/` while it is made, and from when on it is whole.
pub(super) const BUILDING: &str = "rebuilt";
pub(super) const WHOLE: &str = "rebuilt-whole";

/// What stands in it beside the log: the number of batches that were acknowledged of the former.
const FORMER: &str = "former";

/// Makes the log of `dir` anew, beside it, and puts it in its place; the former one is moved aside. What was done, in words.
pub(super) fn rebuild(
    dir: &CrawlDirectory,
    checked: &Checked,
    means: &Means,
    told: &mut Repaired,
) -> Result<String, StoreError> {
    let keep = checked.plan.keep;
    let building = dir.state().join(BUILDING);
    if building.exists() {
        fs::remove_dir_all(&building).map_err(StoreError::io(&building, "remove it"))?;
    }
    let to = CrawlDirectory::new(&building);
    let lexicon = means.topic.lexicon();
    let meta = match Meta::read(dir) {
        Err(StoreError::NoCrawl { .. } | StoreError::Damaged { .. } | StoreError::TooLarge { .. }) => {
            Meta::new(&lexicon.name, &means.topic.digest(), &means.config.strategy.label(), checked.plan.begun)
        }
        meta => meta?,
    };
    let mut conditions = live::conditions(&means.config, &means.topic);
    // So that a page that is in the archive twice is one that was come back to.
    conditions.refresh = Some(Refresh { settings: means.config.refresh.clone(), budget: Budget::Spent });
    let strategy = means.config.strategy.build(conditions.page_threshold);
    let mut making = Making {
        crawl: Crawl::new(conditions, strategy),
        store: Store::resume(&to, &meta)?,
        group: Vec::new(),
        means,
        at: Millis(0),
        again: 0,
        left: 0,
    };
    let limit = means.config.fetch.max_body.max(means.config.fetch.max_wire).saturating_mul(2);
    let mut reader = ArchiveReader::new(dir, limit);
    let mut behind = checked.plan.last;
    if let Some(copy) = &checked.copy {
        let mut former = Vec::new();
        for (number, record) in (0..checked.batches).zip(copy.store.batches()) {
            let record = record?;
            let discovered = record.batch.events.iter().filter_map(|event| match event {
                Event::Discovered(found) => Some(found.url.clone()),
                _ => None,
            });
            former.extend(discovered);
            if number < keep {
                making.crawl.restore(&record.batch);
                making.at = making.at.max(record.batch.at);
                making.keep(record)?;
            } else {
                behind = record.archive.or(behind);
                if record.archive.is_some_and(|location| checked.plan.lost.contains(&location)) {
                    making.left += 1;
                } else {
                    making.tell_former(&mut reader, &record, &former)?;
                }
            }
        }
    }
    let mut paths = warc_files(&dir.pages())?;
    paths.sort();
    for (file, path) in paths.into_iter().filter(|(file, _)| behind.is_none_or(|last| *file >= last.file)) {
        let mut answers = Vec::new();
        go_through(file, &path, |found| match found {
            Found::Answer(answer) if lies_behind(answer.location, behind) => answers.push(answer),
            _ => {}
        })?;
        for Answer { location, revisit, uri, at } in answers {
            match CrawlUrl::parse(&uri) {
                // It says nothing of a page; the host is asked again, if anything is suspicious.
                Ok(url) if absent::is_probe(&url) => {}
                Ok(url) => {
                    making.at = making.at.max(at);
                    making.tell_again(&mut reader, location, revisit, &url)?;
                }
                Err(_) => making.left += 1,
            }
        }
    }
    if let Some(batch) = making.crawl.finish(making.at) {
        making.keep(Record { batch, archive: None, revisit: false })?;
    }
    making.write()?;
    let Making { store, again, left, .. } = making;
    let batches = store.len();
    drop(store);

    if dir.acknowledged().exists() {
        let former = building.join(FORMER);
        fs::copy(dir.acknowledged(), &former).map_err(StoreError::io(&former, "write it"))?;
    }
    for part in [to.log(), to.state(), building.clone()] {
        sync_directory(&part)?;
    }
    let whole = dir.state().join(WHOLE);
    put(&building, &whole)?;
    sync_directory(&dir.state())?;
    put_in_place(dir, told)?;
    let left = if left == 0 { String::new() } else { format!(", {left} could not be taken in") };
    Ok(format!(
        "{}: made anew, {batches} batches: {keep} kept, {again} answers taken from the archive{left}",
        dir.log().display()
    ))
}

fn put(from: &Path, to: &Path) -> Result<(), StoreError> {
    fs::rename(from, to).map_err(StoreError::io(to, "put it in its place"))
}

/// A log that was made anew and is whole, and waits to be put in its place because a repair was killed; none if the crawl has
/// gone on since. `batches`: of the log that stands there.
pub(super) fn waiting(dir: &CrawlDirectory, batches: u64) -> Option<PathBuf> {
    let whole = dir.state().join(WHOLE);
    let is_put = !CrawlDirectory::new(&whole).log().exists();
    let read = |path: PathBuf| own::read(&path, own::SMALL).ok();
    let is_the_only = || batches == 0 && read(whole.join(FORMER)) == read(dir.acknowledged());
    (whole.is_dir() && (is_put || is_the_only())).then_some(whole)
}

/// Puts the whole new log in the place of the former one, which is moved aside. A kill may come between any two steps; the
/// next repair takes the rest.
pub(super) fn put_in_place(dir: &CrawlDirectory, told: &mut Repaired) -> Result<(), StoreError> {
    let whole = dir.state().join(WHOLE);
    let from = CrawlDirectory::new(&whole);
    // These are of the former log. One only saves time; the other the next round writes, with the rounds that are left.
    for path in [dir.checkpoint(), dir.refresh_csv()] {
        if path.exists() {
            move_aside(dir, &path, told)?;
        }
    }
    // From here on the directory is refused by a crawl until the last step is done: the mark is of the former log.
    if from.log().exists() {
        if dir.log().exists() {
            move_aside(dir, &dir.log(), told)?;
        }
        put(&from.log(), &dir.log())?;
    }
    match Meta::read(dir) {
        Err(StoreError::NoCrawl { .. } | StoreError::Damaged { .. } | StoreError::TooLarge { .. }) => {
            describe(dir, &Meta::read(&from)?, told)?
        }
        meta => drop(meta?),
    }
    if from.acknowledged().exists() {
        if dir.acknowledged().exists() {
            move_aside(dir, &dir.acknowledged(), told)?;
        }
        put(&from.acknowledged(), &dir.acknowledged())?;
    }
    sync_directory(&dir.state())?;
    fs::remove_dir_all(&whole).map_err(StoreError::io(&whole, "remove it"))
}

fn lies_behind(location: Location, last: Option<Location>) -> bool {
    last.is_none_or(|last| (location.file, location.offset) >= (last.file, last.end()))
}

/// The log in the making.
struct Making<'a> {
    crawl: Crawl,
    store: Store,
    group: Vec<Record>,
    means: &'a Means,
    /// Time of the last batch: times never go back.
    at: Millis,
    again: u64,
    left: u64,
}

impl Making<'_> {
    fn keep(&mut self, record: Record) -> Result<(), StoreError> {
        self.group.push(record);
        if self.group.len() >= GROUP { self.write() } else { Ok(()) }
    }

    fn write(&mut self) -> Result<(), StoreError> {
        self.store.append(&std::mem::take(&mut self.group))
    }

    fn keep_bare(&mut self, batch: Batch) -> Result<(), StoreError> {
        if batch.events.is_empty() { Ok(()) } else { self.keep(Record { batch, archive: None, revisit: false }) }
    }

    /// Has the machine settle again what a batch of the former log did; `urls` are that log's by number. What the machine
    /// decides by itself is left to it.
    fn tell_former(
        &mut self,
        reader: &mut ArchiveReader,
        record: &Record,
        urls: &[CrawlUrl],
    ) -> Result<(), StoreError> {
        self.at = self.at.max(record.batch.at);
        let of = |id: &UrlId| urls.get(id.0 as usize);
        if let (Some(location), Some(url)) = (record.archive, settles(record).as_ref().and_then(of)) {
            return self.tell_again(reader, location, record.revisit, url);
        }
        for event in &record.batch.events {
            match event {
                Event::Discovered(found) if found.origin == Origin::Seed => {
                    let batch = self.crawl.seed(std::slice::from_ref(&found.url), self.at);
                    self.keep_bare(batch)?;
                }
                Event::Retried { id, failure } | Event::Failed { id, failure } => {
                    if let Some(ticket) = of(id).and_then(|url| self.crawl.claim(url, self.at)) {
                        let batch =
                            self.crawl.settle(ticket, Outcome::Failed(failure.clone()), Delivery::default(), self.at);
                        self.keep_bare(batch)?;
                    }
                }
                Event::Robots { origin, rules, .. } => self.tell_robots(origin, Outcome::Robots(rules.clone()))?,
                Event::RobotsRedirected { origin, to, .. } => {
                    self.tell_robots(origin, Outcome::Redirect { to: to.clone(), permanent: false })?;
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn tell_robots(&mut self, origin: &str, outcome: Outcome) -> Result<(), StoreError> {
        let Some(ticket) = self.crawl.claim_robots(origin) else { return Ok(()) };
        let batch = self.crawl.settle(ticket, outcome, Delivery::default(), self.at);
        self.keep_bare(batch)
    }

    /// Has the machine settle an answer as if it came now.
    fn tell_again(
        &mut self,
        reader: &mut ArchiveReader,
        location: Location,
        revisit: bool,
        url: &CrawlUrl,
    ) -> Result<(), StoreError> {
        let outcome = if revisit { Ok(Outcome::Unchanged) } else { self.read(reader, location, url) };
        let outcome = match outcome {
            Err(StoreError::Damaged { .. }) => return self.leave(),
            outcome => outcome?,
        };
        let mut ticket = self.crawl.claim(url, self.at);
        if ticket.is_none() {
            // Fetched before, and come back to; or known by no page that is left.
            let batch = match self.crawl.come_again(url, self.at) {
                Some(batch) => batch,
                None => self.crawl.seed(std::slice::from_ref(url), self.at),
            };
            self.keep_bare(batch)?;
            ticket = self.crawl.claim(url, self.at);
        }
        let Some(ticket) = ticket else { return self.leave() };
        if matches!(outcome, Outcome::Failed(_)) || (revisit && !self.crawl.comes_again(&ticket)) {
            // None that would have been kept; nothing is held against the URL.
            self.crawl.give_back(ticket, self.at);
            return self.leave();
        }
        let batch = self.crawl.settle(ticket, outcome, Delivery::default(), self.at);
        let revisit = revisit || batch.events.iter().any(|event| matches!(event, Event::Unchanged { .. }));
        self.again += 1;
        self.keep(Record { batch, archive: Some(location), revisit })
    }

    fn leave(&mut self) -> Result<(), StoreError> {
        self.left += 1;
        Ok(())
    }

    /// What is read of an answer in the archive, if it is of this URL.
    fn read(&self, reader: &mut ArchiveReader, location: Location, url: &CrawlUrl) -> Result<Outcome, StoreError> {
        let wanted = self.crawl.wanted(url, self.at);
        let fetched = reader.read_at(location)?;
        let of_another = fetched.url != *url;
        let robot = live::agent(&self.means.config);
        let read = catch_unwind(AssertUnwindSafe(|| outcome(&wanted, Ok(&fetched), None, &self.means.topic, robot)));
        let broken = Failure { kind: FailureKind::Broken, retry_after: None };
        Ok(read.ok().filter(|_| !of_another).unwrap_or(Outcome::Failed(broken)))
    }
}
