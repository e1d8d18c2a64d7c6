//! `suidao check crawl`: every damage is found and told, nothing is changed without --repair, and after it the crawl goes on
//! and ends with the pages of an undisturbed one, each once.
#![allow(clippy::unwrap_used, clippy::disallowed_methods)] // test helpers may; processes are waited for

mod support;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use suidao::model::CrawlUrl;
use suidao::store::{ArchiveReader, CrawlDirectory, Record};
use suidao::world::{ServerOptions, Spec};
use support::{Ended, Running, Stage, export, finite, pages, records, run, snapshot, suidao, warcio_check};

/// A web that is crawled in a second: dozens of directories are damaged, mended and gone on with.
fn small() -> Spec {
    Spec { pages: 120, hosts: 6, islands: 2, island_pages: [12, 20], ..finite() }
}

const ALL: [&str; 4] = ["--strategy", "breadth-first", "--set", "limits.hops=10000"];

fn check(dir: &Path, more: &[&str]) -> Ended {
    let mut command = suidao();
    command.args(["check", "crawl"]).arg(dir).args(more);
    let ended = run(command);
    println!("{}{}", ended.out, ended.err);
    ended
}

/// A finished crawl to be damaged, and what it holds.
struct Finished {
    stage: Stage,
    wanted: BTreeMap<CrawlUrl, usize>,
}

impl Finished {
    fn new() -> Self {
        let stage = Stage::new(small(), ServerOptions::default());
        run(stage.crawl("whole", &ALL)).expect(0);
        let wanted = pages(&stage.path("whole"));
        Self { stage, wanted }
    }

    /// A copy to be damaged.
    fn copy(&self, name: &str) -> PathBuf {
        let to = self.stage.path(name);
        copy(&self.stage.path("whole"), &to);
        to
    }

    /// Goes on with a repaired crawl: it ends with all pages, each once, and the export has them.
    fn goes_on(&self, name: &str) {
        let dir = self.stage.path(name);
        let ended = run(self.stage.crawl(name, &ALL)).expect(0);
        let fetched = pages(&dir);
        let missing: Vec<_> = self.wanted.keys().filter(|url| !fetched.contains_key(url)).collect();
        let more: Vec<_> = fetched.keys().filter(|url| !self.wanted.contains_key(url)).collect();
        assert!(missing.is_empty() && more.is_empty(), "missing {missing:?}, invented {more:?}\n{}", ended.err);
        assert!(fetched.values().all(|&times| times == 1));
        check(&dir, &[]).expect(0);
        let lines = export(&dir, &self.stage.path("export.jsonl"));
        let urls: BTreeSet<&str> = lines.iter().map(|line| line["url"].as_str().unwrap()).collect();
        assert_eq!((lines.len(), urls.len()), (self.wanted.len(), self.wanted.len()));
        let files: Vec<_> = fs::read_dir(dir.join("pages")).unwrap().map(|entry| entry.unwrap().path()).collect();
        warcio_check(&files);
    }
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        if entry.path().is_dir() {
            copy(&entry.path(), &to.join(entry.file_name()));
        } else {
            fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
        }
    }
}

fn flip(path: &Path, at: u64, length: usize) {
    let mut bytes = fs::read(path).unwrap();
    let at = usize::try_from(at).unwrap();
    bytes[at..at + length].iter_mut().for_each(|byte| *byte ^= 0x5A);
    fs::write(path, bytes).unwrap();
}

fn truncate(path: &Path, to: u64) {
    let file = fs::File::options().write(true).open(path).unwrap();
    file.set_len(to).unwrap();
}

fn answers(dir: &Path) -> Vec<(u64, u64)> {
    let answers = records(dir).into_iter().filter_map(|record| record.answer());
    answers.map(|location| (location.offset, location.length)).collect()
}

const WARC: &str = "pages/suidao-00000.warc.gz";

/// A damage to a copy of a finished crawl, and a word that the check must say of it.
type Damage = (&'static str, &'static str, fn(&Path, &[(u64, u64)]));

const DAMAGES: [Damage; 18] = [
    ("last-record-flipped", "is damaged or gone", |dir, answers| {
        let (offset, length) = *answers.last().unwrap();
        flip(&dir.join(WARC), offset + length / 2, 3);
    }),
    ("last-record-truncated", "is damaged or gone", |dir, answers| {
        truncate(&dir.join(WARC), answers.last().unwrap().0 + 50);
    }),
    ("record-in-the-middle-flipped", "is damaged or gone", |dir, answers| {
        let (offset, length) = answers[answers.len() / 2];
        flip(&dir.join(WARC), offset + length / 2, 3);
    }),
    ("half-the-archive-gone", "is damaged or gone", |dir, answers| {
        truncate(&dir.join(WARC), answers[answers.len() / 2].0 + 7);
    }),
    ("request-flipped", "no whole record", |dir, answers| flip(&dir.join(WARC), answers[30].0 - 60, 4)),
    ("warcinfo-flipped", "no whole record", |dir, _| flip(&dir.join(WARC), 30, 4)),
    ("noise-behind-the-archive", "in flight at a kill", |dir, _| {
        let mut bytes = fs::read(dir.join(WARC)).unwrap();
        bytes.extend_from_slice(&[0x1f, 0x8b, 8, 0, 1, 2, 3, 4, 5]);
        fs::write(dir.join(WARC), bytes).unwrap();
    }),
    ("log-gone", "state/log", |dir, _| fs::remove_dir_all(dir.join("state/log")).unwrap()),
    ("log-flipped", "state/log", |dir, _| {
        let path = dir.join("state/log/db");
        let length = fs::metadata(&path).unwrap().len();
        for part in 1..20 {
            flip(&path, length * part / 20, 40);
        }
    }),
    ("log-truncated", "state/log", |dir, _| {
        truncate(&dir.join("state/log/db"), 30_000);
    }),
    ("log-emptied", "state/log", |dir, _| truncate(&dir.join("state/log/db"), 0)),
    ("state-gone-but-for-the-inputs", "meta.json: is missing", |dir, _| {
        for name in ["meta.json", "acknowledged", "lock"] {
            fs::remove_file(dir.join("state").join(name)).unwrap();
        }
        fs::remove_dir_all(dir.join("state/log")).unwrap();
    }),
    ("meta-truncated", "meta.json: does not read", |dir, _| truncate(&dir.join("state/meta.json"), 30)),
    ("meta-gone", "meta.json: is missing", |dir, _| fs::remove_file(dir.join("state/meta.json")).unwrap()),
    ("mark-truncated", "acknowledged: is missing or does not read", |dir, _| {
        truncate(&dir.join("state/acknowledged"), 0)
    }),
    ("lists-gone", "harvest.csv: is missing", |dir, _| {
        fs::remove_file(dir.join("harvest.csv")).unwrap();
        fs::remove_file(dir.join("skipped.csv")).unwrap();
    }),
    ("list-cut", "skipped.csv: is not what the log says", |dir, _| truncate(&dir.join("skipped.csv"), 40)),
    ("log-and-archive-flipped", "state/log", |dir, answers| {
        let (offset, length) = answers[60];
        flip(&dir.join(WARC), offset + length / 2, 3);
        fs::remove_dir_all(dir.join("state/log")).unwrap();
    }),
];

#[test]
fn every_damage_is_told_mended_and_gone_on_from() {
    let finished = Finished::new();
    let whole = finished.stage.path("whole");
    let told = check(&whole, &[]).expect(0);
    assert!(told.out.contains(": sound."), "{}", told.out);
    let answers = answers(&whole);
    let only = std::env::var("SUIDAO_DAMAGE").unwrap_or_default();
    for (name, word, damage) in DAMAGES.iter().filter(|(name, ..)| name.contains(&only)) {
        println!("--- {name}");
        let dir = finished.copy(name);
        damage(&dir, &answers);
        let before = snapshot(&dir);
        let told = check(&dir, &[]);
        // What a kill may leave is sound.
        let sound = i32::from(*name != "noise-behind-the-archive");
        assert_eq!(told.code(), sound, "{name}: {}{}", told.out, told.err);
        assert!(told.out.contains(word), "{name}: {}", told.out);
        let unlocked = |mut files: BTreeMap<PathBuf, Vec<u8>>| {
            files.remove(&dir.join("state/lock"));
            files
        };
        assert!(unlocked(before) == unlocked(snapshot(&dir)), "{name}: looking changes nothing");
        let mended = check(&dir, &["--repair"]);
        assert_eq!(mended.code(), 0, "{name}: {}{}", mended.out, mended.err);
        assert!(mended.out.contains("sound."), "{name}");
        let again = check(&dir, &["--repair"]).expect(0);
        assert!(!again.out.contains("mended:"), "{name}: {}", again.out);
        finished.goes_on(name);
        fs::remove_dir_all(&dir).unwrap();
    }
}

#[test]
fn what_was_replaced_is_kept_and_lost_pages_are_named() {
    let finished = Finished::new();
    let dir = finished.copy("lost");
    let locations: Vec<_> = records(&dir).into_iter().filter(|record| record.answer().is_some()).collect();
    let struck: &Record = &locations[50];
    let mut reader = ArchiveReader::new(&CrawlDirectory::new(&dir), 1 << 20);
    let url = reader.read_at(struck.answer().unwrap()).unwrap().url;
    flip(&dir.join(WARC), struck.answer().unwrap().offset + 80, 5);
    let told = check(&dir, &["--json"]).expect(1);
    let told: serde_json::Value = serde_json::from_str(&told.out).unwrap();
    assert_eq!(told["sound"], false);
    let lost: Vec<_> =
        told["findings"].as_array().unwrap().iter().filter(|finding| finding["level"] == "lost").collect();
    assert_eq!(lost.len(), 1);
    assert!(lost[0]["what"].as_str().unwrap().contains(url.as_str()), "{lost:?}");
    let damaged = fs::read(dir.join(WARC)).unwrap();
    check(&dir, &["--repair"]).expect(0);
    // Log and bytes of before are there.
    assert!(dir.join("damaged-1/log/db").exists());
    let from = struck.answer().unwrap().offset;
    let kept = fs::read(dir.join(format!("damaged-1/suidao-00000.warc.gz.from-{from}"))).unwrap();
    assert!(damaged[usize::try_from(from).unwrap()..].starts_with(&kept) && kept.len() > 50);
    // All other pages are there before anything is fetched again.
    let lines = export(&dir, &finished.stage.path("export.jsonl"));
    assert_eq!(lines.len(), finished.wanted.len() - 1);
    assert!(lines.iter().all(|line| line["url"] != url.as_str()));
    let before = finished.stage.server.requests();
    finished.goes_on("lost");
    let asked = finished.stage.server.requests() - before;
    assert!(asked < 20, "{asked} requests: the page, and what was not told by the archive");
}

#[test]
fn a_killed_crawl_is_sound_and_a_running_one_is_left_alone() {
    let options = ServerOptions { delay: std::time::Duration::from_millis(5), ..ServerOptions::default() };
    let stage = Stage::new(finite(), options);
    let dir = stage.path("killed");
    for requests in [40, 90, 60] {
        let before = stage.server.requests();
        let mut running = Running::start(stage.crawl("killed", &ALL));
        assert!(running.until(|| stage.server.requests() - before > requests), "{}", running.said("err"));
        let told = check(&dir, &["--repair"]).expect(2);
        assert!(told.err.contains("another crawl runs"), "{}", told.err);
        running.kill();
        let told = check(&dir, &[]).expect(0);
        assert!(told.out.contains("sound."), "{}", told.out);
        // Mending what needs none does no harm.
        if requests == 90 {
            check(&dir, &["--repair"]).expect(0);
        }
    }
    run(stage.crawl("killed", &ALL)).expect(0);
    check(&dir, &[]).expect(0);
    assert!(pages(&dir).values().all(|&times| times == 1));
}

#[test]
fn a_repair_that_is_killed_can_be_run_again() {
    let finished = Finished::new();
    for milliseconds in [20, 60, 120, 250, 500, 900] {
        let name = format!("killed-{milliseconds}");
        let dir = finished.copy(&name);
        fs::remove_dir_all(dir.join("state/log")).unwrap();
        let mut command = suidao();
        command.args(["check", "crawl", "--repair"]).arg(&dir);
        let mut running = Running::start(command);
        std::thread::sleep(std::time::Duration::from_millis(milliseconds));
        running.kill();
        // Nobody goes on with a crawl that is half mended.
        let crawled = run(finished.stage.crawl(&name, &["--max-pages", "1", "--strategy", "breadth-first"]));
        assert!(matches!(crawled.code(), 0 | 2), "{}", crawled.err);
        check(&dir, &["--repair"]).expect(0);
        finished.goes_on(&name);
    }
}

#[test]
fn what_is_no_crawl_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let told = check(dir.path(), &[]).expect(2);
    assert!(told.err.contains("holds no crawl"), "{}", told.err);
    let told = check(&dir.path().join("nowhere"), &["--repair"]).expect(2);
    assert!(told.err.contains("holds no crawl"), "{}", told.err);
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
}
