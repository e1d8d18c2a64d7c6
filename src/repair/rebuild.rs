//! A log made anew: the batches that can be kept, and behind them what the machine makes of the same answers as before, in
//! the order and at the time they came. Apart because this is a third driver of the machine: nothing is fetched, and the
//! order is that of the former log, and where that does not read the archive's.
//!
//! The archive does not tell everything: which URLs had failed, what robots.txt files said. Where the log does not tell
//! either, these are asked again. An answer to a URL that no page before it links to, because that page is lost or it was
//! a seed, is taken for a seed.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};

use super::check::{Checked, settles};
use super::{Means, Repaired, aside, describe, move_aside};
use crate::crawl::{Crawl, Delivery, Outcome, Refresh, outcome};
use crate::live;
use crate::model::{Batch, Budget, CrawlUrl, Event, Failure, FailureKind, Millis, Origin, UrlId};
use crate::store::archive::warc_files;
use crate::store::directory::sync_directory;
use crate::store::{
    ArchiveReader, CrawlDirectory, Location, Meta, Record, RecordKind, Store, StoreError, Stretch, survey,
};

/// Batches handed to the store at a time.
const GROUP: usize = 256;

/// Makes the log of `dir` anew, beside it, and puts it in its place; the former one is moved aside. What was done, in words.
pub(super) fn rebuild(
    dir: &CrawlDirectory,
    checked: &Checked,
    means: &Means,
    told: &mut Repaired,
) -> Result<String, StoreError> {
    let keep = checked.plan.keep;
    let building = dir.state().join("rebuilt");
    if building.exists() {
        fs::remove_dir_all(&building).map_err(StoreError::io(&building, "remove it"))?;
    }
    let to = CrawlDirectory::new(&building);
    let lexicon = means.topic.lexicon();
    let meta = match Meta::read(dir) {
        Ok(meta) => meta,
        Err(_) => Meta::new(&lexicon.name, &means.topic.digest(), &means.config.strategy.label(), checked.plan.begun),
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
                making.tell_former(&mut reader, &record, &former)?;
            }
        }
    }
    let mut paths = warc_files(&dir.pages())?;
    paths.sort();
    for (file, path) in paths.into_iter().filter(|(file, _)| behind.is_none_or(|last| *file >= last.file)) {
        let mut found = Vec::new();
        survey(&path, |stretch| found.extend(answer_behind(file, &stretch, behind)))?;
        for (location, kind, uri, at) in found {
            if let Ok(url) = CrawlUrl::parse(&uri) {
                making.at = making.at.max(at);
                making.tell_again(&mut reader, location, kind == RecordKind::Revisit, &url)?;
            } else {
                making.left += 1;
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

    // From here on the directory is refused by a crawl until the last step is done: the mark is of the former log.
    if dir.log().exists() {
        move_aside(dir, &dir.log(), told)?;
    } else {
        aside(dir, told)?;
    }
    let put = |from: std::path::PathBuf, to: std::path::PathBuf| {
        fs::rename(&from, &to).map_err(StoreError::io(&to, "put it in its place"))
    };
    put(to.log(), dir.log())?;
    if Meta::read(dir).is_err() {
        describe(dir, &meta, told)?;
    }
    if dir.acknowledged().exists() {
        move_aside(dir, &dir.acknowledged(), told)?;
    }
    put(to.acknowledged(), dir.acknowledged())?;
    sync_directory(&dir.state())?;
    fs::remove_dir_all(&building).map_err(StoreError::io(&building, "remove it"))?;
    let left = if left == 0 { String::new() } else { format!(", {left} could not be taken in") };
    Ok(format!(
        "{}: made anew, {batches} batches: {keep} kept, {again} answers taken from the archive{left}",
        dir.log().display()
    ))
}

/// An answer behind the last that is kept.
fn answer_behind(
    file: u32,
    stretch: &Stretch,
    last: Option<Location>,
) -> Option<(Location, RecordKind, String, Millis)> {
    let whole = stretch.content.as_ref().ok()?;
    let location = Location { file, offset: stretch.offset, length: stretch.length };
    let is_answer = matches!(whole.kind, RecordKind::Response | RecordKind::Revisit);
    let is_behind = last.is_none_or(|last| (file, location.offset) >= (last.file, last.end()));
    (is_answer && is_behind).then(|| (location, whole.kind, stretch.uri.clone().unwrap_or_default(), whole.at))
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
        let read = catch_unwind(AssertUnwindSafe(|| outcome(&wanted, Ok(&fetched), None, &self.means.topic)));
        let broken = Failure { kind: FailureKind::Broken, retry_after: None };
        Ok(read.ok().filter(|_| !of_another).unwrap_or(Outcome::Failed(broken)))
    }
}
