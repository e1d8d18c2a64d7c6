//! `suidao rescore`: every view of a crawl uses the new scores, the crawl resumes with the new lexicon, a run that is
//! killed changes nothing, and damage costs no intact page.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::support::{Ended, Running, Stage, copy, export, finite, lexicon_of, run, suidao};
use suidao::topic::Lexicon;
use suidao::world::{ServerOptions, topic_words};

const ALL: [&str; 4] = ["--strategy", "breadth-first", "--set", "limits.hops=10000"];

fn verb(words: &[&str], dir: &Path, more: &[&str]) -> Ended {
    let mut command = suidao();
    command.args(words).arg(dir).args(more);
    run(command)
}

/// A lexicon with one word of the topic.
fn narrow(stage: &Stage) -> PathBuf {
    let words: Vec<(&str, f64)> = topic_words().take(1).map(|word| (word, 1.0)).collect();
    let mut lexicon = Lexicon::from_terms("体育", &words);
    lexicon.page = lexicon_of("体育").page;
    let path = stage.path("narrow.toml");
    fs::write(&path, lexicon.to_toml()).unwrap();
    path
}

/// URLs of the relevant documents, by an export.
fn relevant(dir: &Path, file: &Path) -> BTreeSet<String> {
    let lines = export(dir, file).into_iter().filter(|page| page["relevant"] == true);
    lines.map(|page| page["url"].as_str().unwrap().to_owned()).collect()
}

fn harvest(dir: &Path) -> u64 {
    let text = fs::read_to_string(dir.join("harvest.csv")).unwrap();
    text.lines().last().unwrap().split(',').nth(1).unwrap().parse().unwrap()
}

#[test]
fn all_views_and_the_resumed_crawl_follow() {
    let stage = Stage::new(finite(), ServerOptions::default());
    let narrow = narrow(&stage);
    let narrow = narrow.to_str().unwrap();
    let (dir, file) = (stage.path("crawl"), stage.path("pages.jsonl"));
    let half: Vec<&str> = ALL.into_iter().chain(["--max-pages", "150"]).collect();
    run(stage.crawl("crawl", &half)).expect(0);
    let before = relevant(&dir, &file);
    let refused = run(stage.crawl("crawl", &[&ALL[..], &["-m", narrow]].concat())).code();
    assert_eq!(refused, 2, "two lexicons");

    let json = verb(&["rescore"], &dir, &["-m", narrow, "--json"]).expect(0).out;
    let done: Value = serde_json::from_str(&json).unwrap();
    let after = relevant(&dir, &file);
    assert!(!after.is_empty() && after.len() < before.len(), "{} {}", after.len(), before.len());
    let number = |pointer: &str| done[pointer].as_u64().unwrap() as usize;
    assert_eq!((number("pages"), number("relevant"), number("not_stored")), (150, after.len(), 0));
    assert_eq!(number("gained"), after.difference(&before).count());
    assert_eq!(number("lost"), before.difference(&after).count());
    assert_eq!(harvest(&dir), after.len() as u64);
    let summary: Value = serde_json::from_slice(&fs::read(dir.join("summary.json")).unwrap()).unwrap();
    assert_eq!(summary["relevant"], after.len());
    let report: Value = serde_json::from_str(&verb(&["report"], &dir, &["--json"]).expect(0).out).unwrap();
    assert_eq!(report["counts"]["relevant"], after.len());
    let lost = before.difference(&after).next().unwrap();
    let why = verb(&["why"], &dir, &[lost]).expect(0).out;
    assert!(why.contains("off topic"), "{why}");

    // The crawl continues only with the new lexicon, and ends as one that used it from the beginning.
    let mut other = stage.crawl("crawl", &ALL);
    other.args(["--max-pages", "200"]);
    let message = run(other).expect(2).err;
    assert!(message.contains("suidao rescore"), "{message}");
    let with = |out: &str| {
        let mut command = suidao();
        command.args(["crawl", "-m", narrow, "-s"]).arg(&stage.seeds).arg("-o").arg(stage.path(out));
        command.args(["--proxy", &stage.server.proxy(), "--contact", "test@example.org"]);
        command.args(crate::support::REPLAY_DEFAULTS).args(ALL);
        run(command).expect(0)
    };
    with("crawl");
    with("narrow");
    assert_eq!(relevant(&dir, &file), relevant(&stage.path("narrow"), &file));
    assert_eq!(harvest(&dir), harvest(&stage.path("narrow")));

    // By a threshold that nothing reaches, and back.
    verb(&["rescore"], &dir, &["--page-threshold", "1"]).expect(0);
    assert_eq!((relevant(&dir, &file).len(), harvest(&dir)), (0, 0));
    let again = verb(&["rescore"], &dir, &["--page-threshold", "1"]).expect(0);
    assert!(again.err.contains("Nothing to do"), "{}", again.err);
    verb(&["rescore"], &dir, &["--page-threshold", "1.5"]).expect(2);
    verb(&["rescore"], &stage.path("none"), &[]).expect(2);
}

#[test]
fn a_killed_run_changes_nothing() {
    let stage = Stage::new(finite(), ServerOptions::default());
    let narrow = narrow(&stage);
    let narrow = narrow.to_str().unwrap();
    let file = stage.path("pages.jsonl");
    run(stage.crawl("whole", &ALL)).expect(0);
    let before = relevant(&stage.path("whole"), &file);
    let dir = stage.path("killed");
    copy(&stage.path("whole"), &dir);
    let length = || fs::metadata(dir.join("state/batches")).unwrap().len();
    let start = length();
    let mut command = suidao();
    command.arg("rescore").arg(&dir).args(["-m", narrow]);
    let mut running = Running::start(command);
    running.until(|| length() > start);
    running.kill();
    let after = relevant(&dir, &file);
    // It may have been done before the signal.
    let meta = |dir: &Path| fs::read_to_string(dir.join("state/meta.json")).unwrap();
    if meta(&dir) == meta(&stage.path("whole")) {
        assert_eq!(after, before);
        run(stage.crawl("killed", &ALL)).expect(0);
    }
    verb(&["rescore"], &dir, &["-m", narrow]).expect(0);
    verb(&["rescore"], &stage.path("whole"), &["-m", narrow]).expect(0);
    assert_eq!(relevant(&dir, &file), relevant(&stage.path("whole"), &file));
    verb(&["check", "crawl"], &dir, &[]).expect(0);
}

/// Keeps the first part of a file.
fn halve(path: &Path) {
    let file = fs::File::options().write(true).open(path).unwrap();
    file.set_len(file.metadata().unwrap().len() / 2).unwrap();
}

#[test]
fn a_damaged_log_keeps_the_pages_before_its_damage() {
    let stage = Stage::new(finite(), ServerOptions::default());
    let narrow = narrow(&stage);
    let narrow = narrow.to_str().unwrap();
    let file = stage.path("pages.jsonl");
    let whole = stage.path("whole");
    run(stage.crawl("whole", &ALL)).expect(0);
    verb(&["rescore"], &whole, &["-m", narrow]).expect(0);
    let wanted = relevant(&whole, &file);
    let pages = |ended: &Ended| serde_json::from_str::<Value>(&ended.out).unwrap()["pages"].as_u64().unwrap();
    let all = pages(&verb(&["check", "crawl"], &whole, &["--json"]).expect(0));

    // The engine has the rest of the log, scores included.
    let dir = stage.path("restored");
    copy(&whole, &dir);
    halve(&dir.join("state/batches"));
    let found = pages(&verb(&["check", "crawl"], &dir, &["--json"]).expect(1));
    assert!(found > all / 4, "{found} of {all} pages");
    verb(&["check", "crawl"], &dir, &["--repair"]).expect(0);
    assert_eq!(relevant(&dir, &file), wanted);

    // Nobody has it: the pages of the first half stay, with the scores of the crawl.
    let dir = stage.path("cut");
    copy(&whole, &dir);
    halve(&dir.join("state/batches"));
    fs::remove_dir_all(dir.join("state/log")).unwrap();
    let repaired = verb(&["check", "crawl"], &dir, &["--repair"]).expect(0).out;
    assert!(repaired.contains("new scores") && repaired.contains("suidao rescore"), "{repaired}");
    assert_eq!(pages(&verb(&["check", "crawl"], &dir, &["--json"]).expect(0)), found);
    verb(&["rescore"], &dir, &["-m", narrow]).expect(0);
    // The crawl continues with the lexicon in the directory.
    let mut command = suidao();
    command.args(["crawl", "-s"]).arg(&stage.seeds).arg("-o").arg(&dir);
    command.args(["--proxy", &stage.server.proxy(), "--contact", "test@example.org"]);
    command.args(crate::support::REPLAY_DEFAULTS).args(ALL);
    run(command).expect(0);
    assert_eq!(relevant(&dir, &file), wanted);
}
