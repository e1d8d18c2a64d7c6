//! `suidao check crawl`: it reports damage, changes nothing without --repair, and after a repair the crawl resumes and
//! ends with the pages of an undisturbed one, each once.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::support::{
    self, Ended, Running, Stage, copy, export, finite, pages, records, run, snapshot, suidao, warcio_check,
};
use suidao::model::CrawlUrl;
use suidao::world::{ActivitySpec, Forum, ForumSpec, ForumWeb, ServerOptions, WebServer, WebSpec};
use suidao_features::depth;

/// A web that is crawled in a second, because dozens of directories are damaged, repaired and resumed.
fn small() -> WebSpec {
    WebSpec { pages: 120, hosts: 6, islands: 2, island_pages: [12, 20], ..finite() }
}

const ALL: [&str; 4] = ["--strategy", "breadth-first", "--set", "limits.hops=10000"];

fn check(dir: &Path, more: &[&str]) -> Ended {
    let mut command = suidao();
    command.args(["check", "crawl"]).arg(dir).args(more);
    let ended = run(command);
    println!("{}{}", ended.out, ended.err);
    ended
}

/// A finished crawl to damage, and its contents.
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

    fn copy(&self, name: &str) -> PathBuf {
        let to = self.stage.path(name);
        copy(&self.stage.path("whole"), &to);
        to
    }

    /// Resumes a repaired crawl: it ends with all pages, each once, and the export has them.
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
    let answers = records(dir).into_iter().filter_map(|record| record.response());
    answers.map(|location| (location.offset, location.length)).collect()
}

const WARC: &str = "pages/suidao-00000.warc.gz";

type Harm = fn(&Path);

/// Damage to a copy of a finished crawl, and a word that the report must contain; `None` for what a kill may leave, and
/// for what the next crawl mends.
type Damage = (&'static str, Option<&'static str>, fn(&Path, &[(u64, u64)]));

/// Damage of this prefix is mended without loss.
const MENDED: &str = "batches-";

fn flip_parts(path: &Path) {
    let length = fs::metadata(path).unwrap().len();
    for part in 1..20 {
        flip(path, length * part / 20, 40);
    }
}

const DAMAGES: [Damage; 18] = [
    ("last-record-flipped", Some("not a complete record"), |dir, answers| {
        let (offset, length) = *answers.last().unwrap();
        flip(&dir.join(WARC), offset + length / 2, 3);
    }),
    ("last-record-truncated", Some("it is truncated"), |dir, answers| {
        truncate(&dir.join(WARC), answers.last().unwrap().0 + 50);
    }),
    ("record-in-the-middle-flipped", Some("not a complete record"), |dir, answers| {
        let (offset, length) = answers[answers.len() / 2];
        flip(&dir.join(WARC), offset + length / 2, 3);
    }),
    ("half-the-archive-gone", Some("it is truncated"), |dir, answers| {
        truncate(&dir.join(WARC), answers[answers.len() / 2].0 + 7);
    }),
    ("archive-gone", Some("is missing"), |dir, _| fs::remove_file(dir.join(WARC)).unwrap()),
    ("request-flipped", Some("not a complete record"), |dir, answers| flip(&dir.join(WARC), answers[30].0 - 60, 4)),
    ("noise-behind-the-archive", None, |dir, _| {
        let mut bytes = fs::read(dir.join(WARC)).unwrap();
        bytes.extend_from_slice(&[0x1f, 0x8b, 8, 0, 1, 2, 3, 4, 5]);
        fs::write(dir.join(WARC), bytes).unwrap();
    }),
    ("log-gone", None, |dir, _| fs::remove_dir_all(dir.join("state/log")).unwrap()),
    ("log-flipped", None, |dir, _| flip_parts(&dir.join("state/log/db"))),
    ("log-truncated", None, |dir, _| truncate(&dir.join("state/log/db"), 30_000)),
    ("log-emptied", None, |dir, _| truncate(&dir.join("state/log/db"), 0)),
    ("batches-gone", Some("state/batches"), |dir, _| fs::remove_file(dir.join("state/batches")).unwrap()),
    ("batches-flipped", Some("state/batches"), |dir, _| flip_parts(&dir.join("state/batches"))),
    ("batches-truncated", Some("state/batches"), |dir, _| truncate(&dir.join("state/batches"), 30_000)),
    ("both-gone", Some("state/batches"), |dir, _| {
        fs::remove_dir_all(dir.join("state/log")).unwrap();
        fs::remove_file(dir.join("state/batches")).unwrap();
    }),
    ("both-flipped", Some("state/batches"), |dir, _| {
        flip_parts(&dir.join("state/log/db"));
        flip_parts(&dir.join("state/batches"));
    }),
    ("log-and-mark-gone", Some("acknowledged"), |dir, _| {
        fs::remove_dir_all(dir.join("state/log")).unwrap();
        fs::remove_file(dir.join("state/batches")).unwrap();
        fs::remove_file(dir.join("state/acknowledged")).unwrap();
    }),
    ("mark-truncated", Some("acknowledged"), |dir, _| truncate(&dir.join("state/acknowledged"), 0)),
];

#[test]
fn every_damage_is_reported_truncated_and_resumed_from() {
    let finished = Finished::new();
    let whole = finished.stage.path("whole");
    let before = snapshot(&whole);
    let output = check(&whole, &["--repair"]).expect(0);
    assert!(output.out.contains(": intact."), "{}", output.out);
    assert!(before == snapshot(&whole), "an intact directory is untouched");
    let answers = answers(&whole);
    for (name, word, damage) in DAMAGES.into_iter().step_by(depth(3, 1)) {
        println!("--- {name}");
        let dir = finished.copy(name);
        damage(&dir, &answers);
        let before = snapshot(&dir);
        let output = check(&dir, &[]).expect(i32::from(word.is_some()));
        assert!(output.out.contains(word.unwrap_or(": intact.")), "{}", output.out);
        assert!(before == snapshot(&dir), "looking changes nothing");
        assert_eq!(output.out.contains("--repair` "), word.is_some(), "{}", output.out);
        assert_eq!(output.out.contains("is missing; the next crawl restores it"), name == "log-gone", "{}", output.out);
        let restores = output.out.contains("restores the log from its copy");
        assert!(restores || !name.starts_with(MENDED), "{}", output.out);
        assert!(!restores || !["archive-gone", "both-gone"].contains(&name), "{}", output.out);
        check(&dir, &["--repair"]).expect(0);
        assert!(check(&dir, &[]).expect(0).out.contains(": intact."));
        let cut = word.is_some() && !name.starts_with(MENDED);
        assert_eq!(dir.join("damaged-1").exists(), cut);
        assert!(!cut || dir.join("damaged-1/log").exists() || !before.contains_key(&dir.join("state/log")));
        finished.goes_on(name);
        fs::remove_dir_all(&dir).unwrap();
    }
}

#[test]
fn intact_pages_are_not_fetched_again() {
    let finished = Finished::new();
    let dir = finished.copy("cut");
    let answers = answers(&dir);
    let (offset, _) = answers[answers.len() - 10];
    let damaged = fs::read(dir.join(WARC)).unwrap();
    flip(&dir.join(WARC), offset + 80, 5);
    let output: serde_json::Value = serde_json::from_str(&check(&dir, &["--json"]).expect(1).out).unwrap();
    assert_eq!((&output["intact"], &output["moved_to"]), (&false.into(), &serde_json::Value::Null));
    check(&dir, &["--repair"]).expect(0);
    let aside: Vec<_> = fs::read_dir(dir.join("damaged-1")).unwrap().map(|entry| entry.unwrap().path()).collect();
    let tail = aside.iter().find(|path| path.to_string_lossy().contains(".warc.gz.from-")).unwrap();
    let tail = fs::read(tail).unwrap();
    assert!(tail.len() > 1000 && damaged.len() > tail.len());
    assert_eq!(export(&dir, &finished.stage.path("export.jsonl")).len() as u64, output["pages"].as_u64().unwrap());
    let before = finished.stage.server.requests();
    finished.goes_on("cut");
    let requested = finished.stage.server.requests() - before;
    assert!(requested < 30, "{requested} requests: the pages that were cut");
}

#[test]
fn a_killed_crawl_is_intact_and_a_running_one_is_not_touched() {
    let options = ServerOptions { delay: std::time::Duration::from_millis(5), ..ServerOptions::default() };
    let stage = Stage::new(finite(), options);
    let dir = stage.path("killed");
    for requests in [40, 90, 60] {
        let before = stage.server.requests();
        let mut running = Running::start(stage.crawl("killed", &ALL));
        assert!(running.until(|| stage.server.requests() - before > requests), "{}", running.output("err"));
        let output = check(&dir, &["--repair"]).expect(2);
        let by = format!("suidao crawl (process {}) writes to it", running.id());
        assert!(output.err.contains(&by), "{}", output.err);
        assert!(check(&dir, &[]).expect(0).out.contains(": intact."), "next to the crawl");
        running.kill();
        assert!(check(&dir, &[]).expect(0).out.contains(": intact."));
    }
    run(stage.crawl("killed", &ALL)).expect(0);
    check(&dir, &[]).expect(0);
    assert!(pages(&dir).values().all(|&times| times == 1));
}

#[test]
fn a_repair_that_is_killed_can_be_run_again() {
    let finished = Finished::new();
    let answers = answers(&finished.stage.path("whole"));
    for milliseconds in [20, 60, 120, 250] {
        let name = format!("killed-{milliseconds}");
        let dir = finished.copy(&name);
        flip(&dir.join(WARC), answers[60].0 + 80, 5);
        let mut command = suidao();
        command.args(["check", "crawl", "--repair"]).arg(&dir);
        let mut running = Running::start(command);
        std::thread::sleep(std::time::Duration::from_millis(milliseconds));
        running.kill();
        check(&dir, &["--repair"]).expect(0);
        finished.goes_on(&name);
    }
}

#[test]
fn without_space_for_a_repair_nothing_is_lost() {
    let finished = Finished::new();
    let dir = finished.copy("sound");
    flip(&dir.join(WARC), answers(&dir)[40].0 + 80, 5);
    let batches = fs::read(dir.join("state/batches")).unwrap();
    for more in [&[][..], &["--repair"]] {
        // Blocks of 512 bytes: the log's file is larger.
        let mut limited = std::process::Command::new("sh");
        limited.args(["-c", "ulimit -f 100; trap '' XFSZ; exec \"$@\"", "sh", env!("CARGO_BIN_EXE_suidao")]);
        limited.args(["check", "crawl"]).arg(&dir).args(more).env("TMPDIR", "/nowhere");
        let output = run(limited).expect(1);
        assert_eq!(output.err.contains("raise the file size limit"), !more.is_empty(), "{}{}", output.out, output.err);
        assert!(batches == fs::read(dir.join("state/batches")).unwrap(), "the log is whole");
    }
    check(&dir, &["--repair"]).expect(0);
    finished.goes_on("sound");
}

#[test]
fn no_damage_of_a_checkpoint_counts() {
    let stage = Stage::new(small(), ServerOptions::default());
    let more = [&ALL[..], &["--set", "crawl.checkpoint_every=16"]].concat();
    run(stage.crawl("whole", &more)).expect(0);
    let whole = stage.path("whole");
    assert!(whole.join("state/checkpoint").exists());
    let wanted = pages(&whole);
    let damages: [(&str, Harm); 2] = [
        ("flipped", |dir| flip(&dir.join("state/checkpoint"), 300, 5)),
        ("of-another-log", |dir| flip(&dir.join(WARC), answers(dir)[40].0 + 80, 5)),
    ];
    for (name, damage) in damages {
        let dir = stage.path(name);
        copy(&whole, &dir);
        damage(&dir);
        check(&dir, &["--repair"]).expect(0);
        run(stage.crawl(name, &more)).expect(0);
        assert!(pages(&dir).keys().eq(wanted.keys()), "{name}");
        check(&dir, &[]).expect(0);
    }
}

#[test]
fn a_forum_crawl_resumes_where_it_was_truncated() {
    let activity = ActivitySpec { threads_per_day: 5.0, boards: 3, days: 5, ..ActivitySpec::default() };
    let forum = Arc::new(Forum::new(ForumSpec { activity, categories: 1, ..ForumSpec::default() }));
    let now = forum.spec().activity.start + 4 * 86_400;
    let server = WebServer::start(Arc::new(ForumWeb::at(forum, now)) as Arc<_>).unwrap();
    let temporary = tempfile::tempdir().unwrap();
    let crawl = |dir: &Path| {
        let mut command = suidao();
        command.args(["forum", "crawl", &format!("{}/", server.proxy()), "--allow-private"]);
        command.args(["--contact", "test@example.org", "-o"]).arg(dir).args(support::REPLAY_DEFAULTS);
        run(command)
    };
    let dir = temporary.path().join("forum");
    crawl(&dir).expect(0);
    let wanted = pages(&dir);
    let answers = answers(&dir);
    flip(&dir.join(WARC), answers[answers.len() / 2].0 + 80, 5);
    check(&dir, &[]).expect(1);
    check(&dir, &["--repair"]).expect(0);
    // Its exit code is about this run, which reads no list again.
    crawl(&dir);
    assert!(pages(&dir).keys().eq(wanted.keys()));
    check(&dir, &[]).expect(0);
}

#[test]
fn a_directory_without_a_crawl_is_rejected() {
    let dir = tempfile::tempdir().unwrap();
    let output = check(dir.path(), &[]).expect(2);
    assert!(output.err.contains("contains no crawl"), "{}", output.err);
    let output = check(&dir.path().join("nowhere"), &["--repair"]).expect(2);
    assert!(output.err.contains("contains no crawl"), "{}", output.err);
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);

    let finished = Finished::new();
    let dir = finished.copy("stateless");
    fs::remove_dir_all(dir.join("state")).unwrap();
    for more in [&[][..], &["--repair"]] {
        let output = check(&dir, more).expect(2);
        let words = ["state/meta.json is missing", "suidao import"];
        assert!(words.iter().all(|word| output.err.contains(word)), "{}", output.err);
    }
}
