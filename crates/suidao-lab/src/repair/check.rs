//! What is found in a crawl directory. Nothing in it is changed: the log is opened as a copy, for the engine writes when it
//! opens, and takes damage for the end of its file.

use std::collections::BTreeSet;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use rustc_hash::FxHashMap;
use serde::Serialize;

use super::answers::{Damage, Found, go_through};
use super::beside::{inputs, lists, others};
use super::copy::{self, Copy};
use super::rebuild::waiting;
use super::{Finding, Level};
use suidao_page::model::{CrawlUrl, Event, Millis, UrlId};
use suidao_store::store::archive::warc_files;
use suidao_store::store::directory::Lock;
use suidao_store::store::{CrawlDirectory, Location, Meta, Record, StoreError, checkpoint, is_read_only, own};

/// So many lost pages are named one by one.
const NAMED: usize = 20;

/// What a check has found.
#[derive(Serialize)]
pub struct Checked {
    /// Findings, in the order of the check.
    pub findings: Vec<Finding>,
    /// Batches that the log holds, as far as it reads.
    pub batches: u64,
    /// Pages among them.
    pub pages: u64,
    /// Whole answers in the archive.
    pub answers: u64,
    /// Files of the archive.
    pub files: usize,
    #[serde(skip)]
    pub(super) plan: Plan,
    /// The log as it was read, in a directory of its own.
    #[serde(skip)]
    pub(super) copy: Option<Copy>,
    /// Kept as long as the findings are to be acted on.
    #[serde(skip)]
    _lock: Option<Lock>,
}

/// What a repair would do.
#[derive(Default)]
pub(super) struct Plan {
    /// The log is to be made anew behind its first `keep` batches.
    pub rebuild: bool,
    pub keep: u64,
    /// Where the last answer of those lies.
    pub last: Option<Location>,
    /// Where answers lay behind those that are not whole any more, though a part may read.
    pub lost: BTreeSet<Location>,
    /// Damaged stretches between pages that are kept: file, first byte, bytes.
    pub damaged: Vec<(PathBuf, u64, u64)>,
    /// Files to be cut behind the last page, and where.
    pub tails: Vec<(PathBuf, u64)>,
    /// `meta.json` is to be written anew, with this time of the beginning.
    pub describe: bool,
    pub begun: Millis,
    /// The number of acknowledged batches is to be written anew.
    pub mark: bool,
    /// Lists that are made of the log.
    pub lists: Vec<PathBuf>,
    /// Parts of files that a killed process left, and a checkpoint that no run would take.
    pub strays: Vec<PathBuf>,
    /// The log cannot be made anew: it is of a forum's crawl, and the order of boards and threads is in no archive.
    pub log_stays: bool,
    /// A new log is whole and only to be put in its place.
    pub finish: bool,
}

impl Checked {
    /// Whether nothing is damaged or lost.
    pub fn is_sound(&self) -> bool {
        self.findings.iter().all(|finding| finding.level == Level::Note)
    }

    /// Whether a repair needs lexicon and configuration.
    pub fn needs_means(&self) -> bool {
        self.plan.rebuild || self.plan.describe
    }

    pub(super) fn find(&mut self, level: Level, path: &Path, what: impl Into<String>) {
        self.findings.push(Finding { level, path: path.to_owned(), what: what.into() });
    }
}

/// One file of the archive.
pub(super) struct Surveyed {
    number: u32,
    pub(super) path: PathBuf,
    end: u64,
    damaged: Vec<Damage>,
    /// Where answers begin.
    answers: BTreeSet<u64>,
}

/// Answers of the archive that are whole: where, and how many bytes and whose.
type Answers = FxHashMap<(u32, u64), (u64, u64)>;

/// Looks through a crawl directory: whether log, archive and lists are whole and agree.
///
/// # Errors
/// [`StoreError::NoCrawl`] if there is nothing of a crawl, [`StoreError::InUse`] while one runs, [`StoreError::Newer`],
/// [`StoreError::Io`] if the disk fails.
pub fn check(dir: &CrawlDirectory) -> Result<Checked, StoreError> {
    dir.check_state()?;
    let paths = if dir.pages().is_dir() { warc_files(&dir.pages())? } else { Vec::new() };
    if !dir.holds_crawl() && !dir.log().exists() && paths.is_empty() {
        return Err(StoreError::NoCrawl { dir: dir.root().to_owned(), missing: dir.meta_json() });
    }
    let lock = match dir.state().is_dir().then(|| dir.lock()).transpose() {
        // Nobody can write there, and nothing is written here.
        Err(error) if is_read_only(&error) => None,
        lock => lock?,
    };
    let mut checked = Checked {
        findings: Vec::new(),
        batches: 0,
        pages: 0,
        answers: 0,
        files: paths.len(),
        plan: Plan::default(),
        copy: None,
        _lock: lock,
    };
    let meta = described(dir, &mut checked)?;
    let (files, answers) = archived(paths, &mut checked)?;
    checked.plan.log_stays = is_of_a_forum(dir, meta.as_ref());
    logged(dir, meta.as_ref(), &files, &answers, &mut checked)?;
    if checked.plan.log_stays && checked.needs_means() {
        leave_log(dir, &mut checked);
    }
    if let Some(whole) = waiting(dir, checked.batches) {
        checked.plan.finish = true;
        checked.find(
            Level::Mendable,
            &whole,
            "is the log, made anew by a repair that was killed before it was in place",
        );
    }
    inputs(dir, meta.as_ref(), &mut checked);
    lists(dir, &files, &mut checked)?;
    others(dir, &mut checked);
    if let Some(copy) = checked.copy.as_ref().filter(|_| !checked.plan.rebuild)
        && let Some(fault) = checkpoint::fault(dir, &copy.store)
    {
        checked.plan.strays.push(dir.checkpoint());
        checked.find(Level::Note, &dir.checkpoint(), format!("{fault}; the next run goes through the log instead"));
    }
    Ok(checked)
}

fn described(dir: &CrawlDirectory, checked: &mut Checked) -> Result<Option<Meta>, StoreError> {
    match Meta::read(dir) {
        Ok(meta) => Ok(Some(meta)),
        Err(StoreError::NoCrawl { .. }) => {
            checked.plan.describe = true;
            checked.find(Level::Mendable, &dir.meta_json(), "is missing");
            Ok(None)
        }
        Err(error @ StoreError::TooLarge { .. }) => {
            checked.plan.describe = true;
            checked.find(Level::Mendable, &dir.meta_json(), format!("does not read: {error}"));
            Ok(None)
        }
        Err(StoreError::Damaged { what, .. }) => {
            checked.plan.describe = true;
            checked.find(Level::Mendable, &dir.meta_json(), format!("does not read: {what}"));
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

fn archived(mut paths: Vec<(u32, PathBuf)>, checked: &mut Checked) -> Result<(Vec<Surveyed>, Answers), StoreError> {
    paths.sort();
    let mut files = Vec::new();
    let mut answers = Answers::default();
    for (number, path) in paths {
        let (mut damaged, mut begins) = (Vec::new(), BTreeSet::new());
        let end = go_through(number, &path, |found| match found {
            Found::Answer(answer) => {
                let url = CrawlUrl::parse(&answer.uri).map_or(0, |url| url.fingerprint());
                answers.insert((number, answer.location.offset), (answer.location.length, url));
                begins.insert(answer.location.offset);
                checked.answers += 1;
            }
            Found::Damage(damage) => damaged.push(damage),
        })?;
        files.push(Surveyed { number, path, end, damaged, answers: begins });
    }
    Ok((files, answers))
}

/// Compares the log with itself and with the archive.
fn logged(
    dir: &CrawlDirectory,
    meta: Option<&Meta>,
    files: &[Surveyed],
    answers: &Answers,
    checked: &mut Checked,
) -> Result<(), StoreError> {
    let acknowledged = mark(dir)?;
    let copy = copy::open(dir, meta)?;
    let problem = match &copy {
        Ok(copy) => read_through(copy, answers, checked)?,
        Err(what) => Some(what.clone()),
    };
    let short = acknowledged.unwrap_or(0) > checked.batches;
    if let Some(what) = &problem {
        checked.find(Level::Mendable, &dir.log(), format!("does not read behind {} batches: {what}", checked.batches));
    } else if short {
        let what = format!("holds {} batches, and {} were kept", checked.batches, acknowledged.unwrap_or(0));
        checked.find(Level::Mendable, &dir.log(), what);
    }
    checked.copy = copy.ok();
    // Without the number of batches nobody vouches that those are all: what lies behind them is taken back.
    let unvouched = acknowledged.is_none() && has_answers_behind(files, checked.plan.last);
    let broken = problem.is_some() || short || unvouched;
    if checked.plan.rebuild {
        // Pages of the log that are not in the archive.
        name_the_lost(dir, answers, checked)?;
    } else {
        checked.plan.keep = checked.batches;
    }
    checked.plan.rebuild |= broken;
    if acknowledged.is_none() && checked.batches > 0 {
        checked.plan.mark = !checked.plan.rebuild;
        checked.find(Level::Mendable, &dir.acknowledged(), "is missing or does not read");
    }
    let last = checked.plan.last;
    for file in files {
        tell_of_file(file, last, broken, checked);
    }
    Ok(())
}

/// Goes through the batches; what damage ends that before the last.
fn read_through(copy: &Copy, answers: &Answers, checked: &mut Checked) -> Result<Option<String>, StoreError> {
    let mut urls: Vec<u64> = Vec::new();
    let mut batches = copy.store.batches();
    loop {
        let record = match copy.attempt(|| batches.next().transpose())? {
            Ok(None) => return Ok(None),
            Ok(Some(record)) => record,
            Err(what) => return Ok(Some(what)),
        };
        for event in &record.batch.events {
            if let Event::Discovered(found) = event {
                if found.id.0 as usize != urls.len() {
                    let what = format!("batch {} numbers a URL {}, not {}", checked.batches, found.id.0, urls.len());
                    return Ok(Some(what));
                }
                urls.push(found.url.fingerprint());
            }
            checked.pages += u64::from(matches!(event, Event::Settled(page) if page.again.is_none()));
        }
        if checked.batches == 0 {
            checked.plan.begun = record.batch.at;
        }
        let whole = record.archive.is_none_or(|location| is_whole(&record, location, &urls, answers));
        if !whole && !checked.plan.rebuild {
            checked.plan.rebuild = true;
            checked.plan.keep = checked.batches;
        }
        if !checked.plan.rebuild {
            checked.plan.last = record.archive.or(checked.plan.last);
        }
        checked.batches += 1;
    }
}

/// Whether the answer of a batch lies where the log says, whole, and is of the URL that it says.
fn is_whole(record: &Record, location: Location, urls: &[u64], answers: &Answers) -> bool {
    let url = settles(record).and_then(|id| urls.get(id.0 as usize));
    answers
        .get(&(location.file, location.offset))
        .is_some_and(|(length, of)| *length == location.length && url.is_none_or(|url| url == of))
}

/// Which URL a batch settles.
pub(super) fn settles(record: &Record) -> Option<UrlId> {
    record.batch.events.iter().find_map(|event| match event {
        Event::Settled(page) => Some(page.id),
        Event::Redirected { id, .. } | Event::Unchanged { id, .. } => Some(*id),
        _ => None,
    })
}

/// Tells which pages of the log have no whole record in the archive.
fn name_the_lost(dir: &CrawlDirectory, answers: &Answers, checked: &mut Checked) -> Result<(), StoreError> {
    let Some(copy) = &checked.copy else { return Ok(()) };
    let mut urls: Vec<CrawlUrl> = Vec::new();
    let mut prints: Vec<u64> = Vec::new();
    let mut lost = Vec::new();
    for record in copy.store.batches().take(usize::try_from(checked.batches).unwrap_or(usize::MAX)) {
        let record = record?;
        for event in &record.batch.events {
            if let Event::Discovered(found) = event {
                urls.push(found.url.clone());
                prints.push(found.url.fingerprint());
            }
        }
        if let Some(location) = record.archive.filter(|location| !is_whole(&record, *location, &prints, answers)) {
            let url = settles(&record).and_then(|id| urls.get(id.0 as usize)).cloned();
            lost.push((location, url));
        }
    }
    checked.plan.lost = lost.iter().map(|(location, _)| *location).collect();
    for (location, url) in lost.iter().take(NAMED) {
        let path = dir.pages().join(format!("suidao-{:05}.warc.gz", location.file));
        let url = url.as_ref().map_or("a URL that the log does not name", CrawlUrl::as_str);
        checked.find(Level::Lost, &path, format!("the record of {url} at byte {} is damaged or gone", location.offset));
    }
    if lost.len() > NAMED {
        checked.find(
            Level::Lost,
            &dir.pages(),
            format!("the records of {} more pages are damaged or gone", lost.len() - NAMED),
        );
    }
    Ok(())
}

fn tell_of_file(file: &Surveyed, last: Option<Location>, log_is_broken: bool, checked: &mut Checked) {
    let behind = |offset: u64| last.is_none_or(|last| (file.number, offset) >= (last.file, last.end()));
    let tail = match last {
        Some(last) if last.file == file.number => last.end(),
        Some(last) if last.file > file.number => u64::MAX,
        _ => 0,
    };
    for Damage { offset, length, uri, what } in &file.damaged {
        let is_tail = behind(*offset) && !checked.plan.rebuild && !log_is_broken;
        if is_tail {
            continue;
        }
        // A log that stays speaks of the archive's end.
        if offset + length == file.end && !checked.plan.log_stays {
            checked.plan.tails.push((file.path.clone(), *offset));
        } else {
            checked.plan.damaged.push((file.path.clone(), *offset, *length));
        }
        let of = uri.as_ref().map(|uri| format!(" of {uri}")).unwrap_or_default();
        let text = format!("{length} bytes at byte {offset} are no whole record{of}: {what}");
        checked.find(Level::Mendable, &file.path, text);
    }
    if tail >= file.end {
        return;
    }
    let answers = file.answers.range(tail..).count();
    if log_is_broken || checked.plan.rebuild {
        if answers > 0 && !checked.plan.log_stays {
            let text = format!("{answers} whole answers are not in the log as it reads: they are taken back into it");
            checked.find(Level::Note, &file.path, text);
        }
    } else {
        checked.plan.tails.push((file.path.clone(), tail));
        let text = format!(
            "{} bytes behind the last page kept were in flight at a kill; the next run cuts them off",
            file.end - tail
        );
        checked.find(Level::Note, &file.path, text);
    }
}

fn has_answers_behind(files: &[Surveyed], last: Option<Location>) -> bool {
    files.iter().any(|file| match last {
        Some(last) if last.file == file.number => file.answers.range(last.end()..).next().is_some(),
        Some(last) if last.file > file.number => false,
        _ => !file.answers.is_empty(),
    })
}

/// How many batches were acknowledged; none where the file does not say.
fn mark(dir: &CrawlDirectory) -> Result<Option<u64>, StoreError> {
    let path = dir.acknowledged();
    match own::read(&path, own::SMALL) {
        Ok(digits) => Ok(std::str::from_utf8(&digits).ok().and_then(|digits| digits.trim().parse().ok())),
        Err(StoreError::Io { source, .. }) if source.kind() == ErrorKind::NotFound => Ok(None),
        Err(StoreError::TooLarge { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

pub(super) fn is_of_a_forum(dir: &CrawlDirectory, meta: Option<&Meta>) -> bool {
    meta.is_some_and(|meta| meta.strategy.starts_with("boards of ")) || dir.root().join("forum.toml").exists()
}

/// Leaves to a person what would need a log made anew.
fn leave_log(dir: &CrawlDirectory, checked: &mut Checked) {
    let of_the_log = [dir.log(), dir.meta_json(), dir.acknowledged()];
    // Only where no more is wrong than that records are lost can lists be made of it.
    if checked.plan.describe || checked.findings.iter().any(|finding| of_the_log.contains(&finding.path)) {
        checked.copy = None;
    }
    (checked.plan.rebuild, checked.plan.describe) = (false, false);
    for finding in &mut checked.findings {
        if finding.level == Level::Lost || finding.level == Level::Mendable && of_the_log.contains(&finding.path) {
            finding.level = Level::Open;
            finding.what.push_str(
                "; the log of a forum's crawl cannot be made anew: \
                 restore the directory from a copy, or crawl the forum again into another",
            );
        }
    }
}
