//! What is found in a crawl directory. Nothing in it is changed: the log is opened as a copy, for the engine writes when it
//! opens, and takes damage for the end of its file.

use std::collections::BTreeSet;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use rustc_hash::FxHashMap;
use serde::Serialize;

use super::{Finding, Level, write_lists};
use crate::config::Config;
use crate::model::{CrawlUrl, Event, Millis, UrlId};
use crate::store::archive::warc_files;
use crate::store::directory::Lock;
use crate::store::{CrawlDirectory, Location, Meta, Record, RecordKind, Store, StoreError, survey};
use crate::topic::Lexicon;

/// So many lost pages are named one by one.
const NAMED: usize = 20;

/// What every crawl directory may hold beside `pages` and `state`.
const KNOWN: [&str; 11] = [
    "harvest.csv",
    "skipped.csv",
    "summary.json",
    "refresh.csv",
    "forum.toml",
    "report.html",
    "labels.tsv",
    "index",
    "exports",
    "log",
    "lost+found",
];

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

/// The copy of a log.
pub(super) struct Copy {
    pub store: Store,
    _dir: tempfile::TempDir,
}

/// What a repair would do.
#[derive(Default)]
pub(super) struct Plan {
    /// The log is to be made anew behind its first `keep` batches.
    pub rebuild: bool,
    pub keep: u64,
    /// Where the last answer of those lies.
    pub last: Option<Location>,
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
    /// Parts of files that a killed process left.
    pub strays: Vec<PathBuf>,
}

impl Checked {
    /// Whether nothing is damaged or lost.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        self.findings.iter().all(|finding| finding.level == Level::Note)
    }

    /// Whether a repair needs lexicon and configuration.
    #[must_use]
    pub fn needs_means(&self) -> bool {
        self.plan.rebuild || self.plan.describe
    }

    fn find(&mut self, level: Level, path: &Path, what: impl Into<String>) {
        self.findings.push(Finding { level, path: path.to_owned(), what: what.into() });
    }
}

/// One file of the archive.
struct Surveyed {
    number: u32,
    path: PathBuf,
    end: u64,
    /// First byte, bytes, URL if known, what is wrong.
    damaged: Vec<(u64, u64, Option<String>, String)>,
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
    let paths = if dir.pages().is_dir() { warc_files(&dir.pages())? } else { Vec::new() };
    if !dir.holds_crawl() && !dir.log().exists() && paths.is_empty() {
        return Err(StoreError::NoCrawl { dir: dir.root().to_owned(), missing: dir.meta_json() });
    }
    let lock = dir.state().is_dir().then(|| dir.lock()).transpose()?;
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
    logged(dir, meta.as_ref(), &files, &answers, &mut checked)?;
    inputs(dir, meta.as_ref(), &mut checked);
    lists(dir, &files, &mut checked)?;
    others(dir, &mut checked)?;
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
        let mut file = Surveyed { number, path, end: 0, damaged: Vec::new(), answers: BTreeSet::new() };
        survey(&file.path.clone(), |stretch| {
            file.end = stretch.offset + stretch.length;
            match stretch.content {
                Ok(whole) if matches!(whole.kind, RecordKind::Response | RecordKind::Revisit) => {
                    let url = stretch.uri.and_then(|uri| CrawlUrl::parse(&uri).ok());
                    let url = url.map_or(0, |url| url.fingerprint());
                    answers.insert((number, stretch.offset), (stretch.length, url));
                    file.answers.insert(stretch.offset);
                    checked.answers += 1;
                }
                Ok(_) => {}
                Err(what) => file.damaged.push((stretch.offset, stretch.length, stretch.uri, what)),
            }
        })?;
        files.push(file);
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
    let acknowledged = mark(dir);
    let copy = open_copy(dir, meta);
    let problem = match &copy {
        Ok(copy) => read_through(&copy.store, answers, checked),
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

/// Goes through the batches; what ends that before the last.
fn read_through(store: &Store, answers: &Answers, checked: &mut Checked) -> Option<String> {
    let mut urls: Vec<u64> = Vec::new();
    let mut batches = store.batches();
    loop {
        let next = catch_unwind(AssertUnwindSafe(|| batches.next()));
        let record = match next {
            Ok(None) => return None,
            Ok(Some(Ok(record))) => record,
            Ok(Some(Err(StoreError::Damaged { what, .. }))) => return Some(what),
            Ok(Some(Err(error))) => return Some(error.to_string()),
            Err(_) => return Some("the engine breaks down on it".to_owned()),
        };
        for event in &record.batch.events {
            if let Event::Discovered(found) = event {
                if found.id.0 as usize != urls.len() {
                    return Some(format!("batch {} numbers a URL {}, not {}", checked.batches, found.id.0, urls.len()));
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
    for (offset, length, uri, what) in &file.damaged {
        let is_tail = behind(*offset) && !checked.plan.rebuild && !log_is_broken;
        if is_tail {
            continue;
        }
        if offset + length == file.end {
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
        if answers > 0 {
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
fn mark(dir: &CrawlDirectory) -> Option<u64> {
    fs::read_to_string(dir.acknowledged()).ok()?.trim().parse().ok()
}

/// Opens a copy of the log; what is wrong if it does not open.
fn open_copy(dir: &CrawlDirectory, meta: Option<&Meta>) -> Result<Copy, String> {
    if !dir.log().is_dir() {
        return Err("it is missing".to_owned());
    }
    let copied = || -> std::io::Result<tempfile::TempDir> {
        let temporary = tempfile::tempdir()?;
        let to = CrawlDirectory::new(temporary.path());
        copy_directory(&dir.log(), &to.log())?;
        let unknown = Meta::new("", "", "", Millis(0));
        fs::write(to.acknowledged(), "0\n")?;
        fs::write(to.meta_json(), serde_json::to_vec(meta.unwrap_or(&unknown))?)?;
        Ok(temporary)
    };
    let temporary = copied().map_err(|error| format!("no copy of it can be made to look at (set TMPDIR): {error}"))?;
    let copy = CrawlDirectory::new(temporary.path());
    match catch_unwind(AssertUnwindSafe(|| Store::open(&copy))) {
        Ok(Ok(store)) => Ok(Copy { store, _dir: temporary }),
        Ok(Err(StoreError::Damaged { what, .. })) => Err(what),
        Ok(Err(error)) => Err(error.to_string()),
        Err(_) => Err("the engine breaks down on it".to_owned()),
    }
}

fn copy_directory(from: &Path, to: &Path) -> std::io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            copy_directory(&entry.path(), &to.join(entry.file_name()))?;
        } else {
            fs::copy(entry.path(), to.join(entry.file_name()))?;
        }
    }
    Ok(())
}

/// Lexicon and configuration that are kept for `refresh`, and for a repair.
fn inputs(dir: &CrawlDirectory, meta: Option<&Meta>, checked: &mut Checked) {
    // The crawl of one forum keeps none.
    if meta.is_some_and(|meta| meta.strategy.starts_with("boards of ")) || dir.root().join("forum.toml").exists() {
        return;
    }
    let path = dir.topic_toml();
    match fs::read_to_string(&path) {
        Err(error) => checked.find(Level::Open, &path, format!("does not read ({error}); the next `crawl` writes it")),
        Ok(text) => match Lexicon::parse(&text) {
            Err(error) => {
                checked.find(Level::Open, &path, format!("is no lexicon ({error}); the next `crawl` writes it"))
            }
            Ok(lexicon) if meta.is_some_and(|meta| meta.lexicon != lexicon.digest()) => {
                checked.find(Level::Open, &path, "is another lexicon than the crawl's; the next `crawl` writes it");
            }
            Ok(_) => {}
        },
    }
    let path = dir.config_toml();
    if !path.exists() {
        checked.find(Level::Open, &path, "is missing; the next `crawl` writes it");
    } else if let Err(error) = Config::load(Some(&path), &[]) {
        checked.find(Level::Open, &path, format!("does not read ({error}); the next `crawl` writes it"));
    }
}

/// What is made of the log: whether it says what the log says.
fn lists(dir: &CrawlDirectory, files: &[Surveyed], checked: &mut Checked) -> Result<(), StoreError> {
    if let Err(error) = summary(dir) {
        checked.find(Level::Open, &dir.summary_json(), format!("does not read ({error}); the next run writes it"));
    }
    if checked.plan.rebuild || checked.plan.describe {
        return Ok(());
    }
    // A crawl that was killed has not written them.
    let killed = !dir.summary_json().exists()
        || files.iter().any(|file| file.path.extension().is_some_and(|extension| extension == "open"));
    let Some(copy) = &checked.copy else { return Ok(()) };
    write_lists(&copy.store)?;
    let of_copy = copy.store.directory().clone();
    for (path, wanted) in [(dir.harvest_csv(), of_copy.harvest_csv()), (dir.skipped_csv(), of_copy.skipped_csv())] {
        let wanted = fs::read(&wanted).map_err(StoreError::io(&wanted, "read it"))?;
        let what = match fs::read(&path) {
            Ok(found) if found == wanted => continue,
            Ok(_) => "is not what the log says",
            Err(_) => "is missing",
        };
        checked.plan.lists.push(path.clone());
        let (level, why) =
            if killed { (Level::Note, ", as a kill leaves it; the next run writes it") } else { (Level::Mendable, "") };
        checked.find(level, &path, format!("{what}{why}"));
    }
    Ok(())
}

fn summary(dir: &CrawlDirectory) -> Result<(), String> {
    match fs::read(dir.summary_json()) {
        Ok(text) => serde_json::from_slice::<serde_json::Value>(&text).map(drop).map_err(|error| error.to_string()),
        Err(_) => Ok(()),
    }
}

/// What is not a crawl's.
fn others(dir: &CrawlDirectory, checked: &mut Checked) -> Result<(), StoreError> {
    for (part, known) in [(dir.root().to_owned(), &KNOWN[..]), (dir.pages(), &[]), (dir.state(), &[])] {
        let Ok(entries) = fs::read_dir(&part) else { continue };
        let mut names: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
        names.sort();
        for path in names {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let own = match () {
                () if part == dir.root() => {
                    known.contains(&name.as_str())
                        || matches!(name.as_str(), "pages" | "state")
                        || name.starts_with("damaged-")
                }
                () if part == dir.pages() => name.starts_with("suidao-"),
                () => matches!(
                    name.as_str(),
                    "meta.json" | "lock" | "log" | "acknowledged" | "topic.toml" | "config.toml" | "browser"
                ),
            };
            if name.starts_with(".suidao-") && name.ends_with(".part") || (name == "rebuilt" && part == dir.state()) {
                checked.plan.strays.push(path.clone());
                checked.find(Level::Note, &path, "was left by a process that was killed");
            } else if !own {
                checked.find(Level::Note, &path, "is none of the crawl's files");
            }
        }
    }
    Ok(())
}
