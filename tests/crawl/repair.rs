//! `suidao check crawl`: every damage is found and told, nothing is changed without --repair, and after it the crawl goes on
//! and ends with the pages of an undisturbed one, each once.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::support::{
    Ended, Running, Stage, copy, export, finite, pages, records, run, snapshot, suidao, warcio_check,
};
use suidao::model::{CrawlUrl, Event, Fetched};
use suidao::revisit::tally::Rounds;
use suidao::store::{
    Archive, ArchiveReader, ArchiveSettings, CrawlDirectory, Kept, Meta, Record, Responses, Store, Work, Writer,
};
use suidao::world::{ActivitySpec, ChangingSpec, ChangingWeb, Forum, ForumSpec, ForumWeb, Server, ServerOptions, Spec};

/// What is done to a crawl directory, and its name.
type Case<'a> = (&'a str, &'a dyn Fn(&Path));

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

const DAMAGES: [Damage; 19] = [
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
    ("log-and-mark-gone", "state/log", |dir, _| {
        fs::remove_dir_all(dir.join("state/log")).unwrap();
        fs::remove_file(dir.join("state/acknowledged")).unwrap();
    }),
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
    // A page, and not a redirect.
    let is_page = |record: &&Record| record.batch.events.iter().any(|event| matches!(event, Event::Settled(_)));
    let struck: &Record = locations[50..].iter().find(is_page).unwrap();
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

/// What browsers made of the pages of a crawl.
fn rendered(dir: &Path) -> BTreeMap<CrawlUrl, String> {
    let mut reader = ArchiveReader::new(&CrawlDirectory::new(dir), 1 << 20);
    let answers = records(dir).into_iter().filter_map(|record| record.answer());
    let read = answers.map(|location| reader.read_at(location).unwrap());
    let text = |body: bytes::Bytes| String::from_utf8(body.to_vec()).unwrap();
    read.filter_map(|fetched| Some((fetched.url, text(fetched.rendered?)))).collect()
}

/// A crawl as another, every other page of which was shown by a browser.
fn with_a_browser(from: &Path, to: &Path) {
    let [of, dir] = [from, to].map(CrawlDirectory::new);
    let mut reader = ArchiveReader::new(&of, 1 << 20);
    let store = Store::resume(&dir, &Meta::read(&of).unwrap()).unwrap();
    let rotate_at = ArchiveSettings::ROTATE_AT;
    let settings = ArchiveSettings { rotate_at, user_agent: "suidao".to_owned(), request_headers: Vec::new() };
    let writer = Writer::spawn(store, Archive::resume(&dir, None, settings).unwrap(), |_| {}).unwrap();
    for (n, record) in records(from).into_iter().enumerate() {
        let fetched = record.answer().map(|location| reader.read_at(location).unwrap());
        let answer = fetched.map(|fetched| {
            let shown = format!("{}<p>Shown by a browser.", String::from_utf8_lossy(&fetched.body));
            let rendered = (fetched.status == 200 && n % 2 == 0).then(|| shown.into());
            Kept::Whole(Fetched { rendered, ..fetched })
        });
        writer.submit(Work { batch: record.batch, answer }).unwrap();
    }
    writer.finish().unwrap();
    for name in ["harvest.csv", "skipped.csv", "summary.json", "state/topic.toml", "state/config.toml"] {
        fs::copy(from.join(name), to.join(name)).unwrap();
    }
}

#[test]
fn what_a_browser_made_of_pages_is_theirs() {
    let finished = Finished::new();
    let shown = finished.stage.path("shown");
    with_a_browser(&finished.stage.path("whole"), &shown);
    let wanted = rendered(&shown);
    assert!(wanted.len() > 30, "{}", wanted.len());
    assert!(check(&shown, &[]).expect(0).out.contains(": sound."));
    let mut reader = ArchiveReader::new(&CrawlDirectory::new(&shown), 1 << 20);
    let answers = records(&shown).into_iter().filter_map(|record| record.answer());
    let mut of_two = answers.filter(|&location| reader.read_at(location).unwrap().rendered.is_some());
    let struck = of_two.nth(20).unwrap();
    let last = of_two.last().unwrap();
    let damages: [Case; 4] = [
        ("log", &|dir| fs::remove_dir_all(dir.join("state/log")).unwrap()),
        ("answer", &|dir| flip(&dir.join(WARC), struck.offset + 80, 5)),
        // Of two records the second is damaged: the page is lost as it was read.
        ("conversion", &|dir| flip(&dir.join(WARC), struck.end() - 20, 3)),
        ("end", &|dir| truncate(&dir.join(WARC), last.end() - 20)),
    ];
    for (name, damage) in damages {
        let dir = finished.stage.path(name);
        copy(&shown, &dir);
        damage(&dir);
        check(&dir, &[]).expect(1);
        assert!(check(&dir, &["--repair"]).expect(0).out.contains("sound."));
        let kept = rendered(&dir);
        assert!(kept.len() >= wanted.len() - usize::from(name != "log"), "{name}: {}", kept.len());
        assert!(name == "log" || kept.len() < wanted.len(), "{name}");
        assert!(kept.iter().all(|(url, text)| wanted.get(url) == Some(text)), "{name}");
        finished.goes_on(name);
    }
}

#[test]
fn where_there_is_no_room_to_look_no_log_is_made_anew() {
    let finished = Finished::new();
    let dir = finished.copy("sound");
    flip(&dir.join(WARC), answers(&dir)[40].0 + 80, 5);
    let before = snapshot(&dir);
    let nowhere = finished.stage.path("nowhere");
    for more in [&[][..], &["--repair"]] {
        let mut command = suidao();
        command.args(["check", "crawl"]).arg(&dir).args(more).env("TMPDIR", &nowhere);
        let told = run(command).expect(1);
        assert!(told.err.contains("set TMPDIR") && told.err.contains("nowhere"), "{}", told.err);
        // Blocks of 512 bytes: the log's file is larger.
        let mut limited = std::process::Command::new("sh");
        limited.args(["-c", "ulimit -f 100; trap '' XFSZ; exec \"$@\"", "sh", env!("CARGO_BIN_EXE_suidao")]);
        limited.args(["check", "crawl"]).arg(&dir).args(more);
        let told = run(limited).expect(1);
        assert!(told.err.contains("set TMPDIR"), "{}{}", told.out, told.err);
        assert!(before == snapshot(&dir), "nothing is changed");
    }
    check(&dir, &["--repair"]).expect(0);
}

#[test]
fn a_crawl_with_a_secret_is_sound() {
    let stage = Stage::new(small(), ServerOptions::default());
    let secret = "fetch.credentials=[{ origin = 'http://nowhere.test', bearer = 'hush' }]";
    run(stage.crawl("crawl", &["--strategy", "breadth-first", "--max-pages", "20", "--set", secret])).expect(0);
    let dir = stage.path("crawl");
    let kept = fs::read_to_string(dir.join("state/config.toml")).unwrap();
    assert!(kept.contains("***") && !kept.contains("hush"), "{kept}");
    let told = check(&dir, &[]).expect(0);
    assert!(told.out.contains("note:") && told.out.contains("without the secrets"), "{}", told.out);
    fs::write(dir.join("state/config.toml"), format!("{kept}\n[crawl]\nin_flight = 0\n")).unwrap();
    assert!(check(&dir, &[]).expect(1).out.contains("open:"));
}

#[test]
fn what_a_host_says_of_pages_that_cannot_exist_is_no_page() {
    let server = crate::misbehaving::Misbehaving::start();
    let temporary = tempfile::tempdir().unwrap();
    let (lexicon, seeds) = (temporary.path().join("lexicon.toml"), temporary.path().join("seeds.txt"));
    fs::write(&lexicon, crate::support::lexicon_of("体育").to_toml()).unwrap();
    fs::write(&seeds, "http://soft-404.test/\n").unwrap();
    let dir = temporary.path().join("crawl");
    let crawl = || {
        let mut command = suidao();
        command.arg("crawl").arg("-m").arg(&lexicon).arg("-s").arg(&seeds).arg("-o").arg(&dir);
        command.args(["--proxy", &server.proxy(), "--contact", "test@example.org", "--max-pages", "12"]);
        command.args(crate::support::AT_ONCE).args(["--strategy", "breadth-first"]);
        run(command).expect(0)
    };
    crawl();
    let wanted = pages(&dir);
    let file = fs::read_dir(dir.join("pages")).unwrap().next().unwrap().unwrap().path();
    let is_probe = |url: &CrawlUrl| url.path().contains("no-such-page");
    let probes =
        || Responses::open(&file, 1 << 20).unwrap().filter(|read| is_probe(&read.as_ref().unwrap().url)).count();
    assert!(probes() > 0 && wanted.keys().all(|url| !is_probe(url)));
    fs::remove_dir_all(dir.join("state/log")).unwrap();
    check(&dir, &["--repair"]).expect(0);
    let repaired = pages(&dir);
    assert!(repaired.keys().all(|url| !is_probe(url)), "{repaired:?}");
    assert!(wanted.keys().all(|url| repaired.contains_key(url)), "{repaired:?}");
    crawl();
    assert!(pages(&dir).keys().all(|url| !is_probe(url)));
    check(&dir, &[]).expect(0);
}

#[test]
fn a_checkpoint_is_the_crawls_and_no_damage_of_it_counts() {
    let stage = Stage::new(small(), ServerOptions::default());
    let more = [&ALL[..], &["--set", "crawl.checkpoint_every=16"]].concat();
    run(stage.crawl("whole", &more)).expect(0);
    let whole = stage.path("whole");
    assert!(whole.join("state/checkpoint").exists());
    assert!(!check(&whole, &[]).expect(0).out.contains("state/checkpoint"));
    let wanted = pages(&whole);
    let damages: [Case; 2] = [
        ("flipped", &|dir| flip(&dir.join("state/checkpoint"), 300, 5)),
        ("of-another-log", &|dir| {
            let answers = answers(dir);
            flip(&dir.join(WARC), answers[40].0 + 80, 5);
        }),
    ];
    for (name, damage) in damages {
        let dir = stage.path(name);
        copy(&whole, &dir);
        damage(&dir);
        let told = check(&dir, &[]);
        assert_eq!(
            (told.code(), told.out.contains("is not whole")),
            if name == "flipped" { (0, true) } else { (1, false) }
        );
        check(&dir, &["--repair"]).expect(0);
        assert!(!dir.join("state/checkpoint").exists() && dir.join("damaged-1/checkpoint").exists(), "{name}");
        run(stage.crawl(name, &more)).expect(0);
        assert!(pages(&dir).keys().eq(wanted.keys()), "{name}");
        assert!(!check(&dir, &[]).expect(0).out.contains("checkpoint"), "{name}");
    }
}

#[test]
fn a_repair_that_is_killed_between_its_last_steps_is_ended_by_the_next() {
    let finished = Finished::new();
    let before = finished.copy("before");
    flip(&before.join(WARC), answers(&before)[60].0 + 80, 5);
    let after = finished.stage.path("after");
    copy(&before, &after);
    check(&after, &["--repair"]).expect(0);
    let wanted = records(&after);
    let robots = |records: &[Record]| {
        let events = records.iter().flat_map(|record| &record.batch.events);
        events.filter(|event| matches!(event, Event::Robots { .. })).count()
    };
    assert!(robots(&wanted) > 3, "what no archive says was kept");
    let state = |dir: &Path, name: &str| dir.join("state").join(name);
    let whole = |dir: &Path, name: &str| dir.join("state/rebuilt-whole").join(name);
    // What stands there when the process is gone.
    let is_made = |dir: &Path| {
        copy(&state(&after, "log"), &whole(dir, "state/log"));
        fs::copy(state(&after, "acknowledged"), whole(dir, "state/acknowledged")).unwrap();
        fs::copy(state(&after, "meta.json"), whole(dir, "state/meta.json")).unwrap();
        fs::copy(state(dir, "acknowledged"), whole(dir, "former")).unwrap();
    };
    let kills: [Case; 5] = [
        ("made", &|_| {}),
        ("former-is-aside", &|dir| {
            fs::create_dir_all(dir.join("damaged-1")).unwrap();
            fs::rename(state(dir, "log"), dir.join("damaged-1/log")).unwrap();
        }),
        ("and-a-crawl-was-tried", &|dir| {
            fs::remove_dir_all(state(dir, "log")).unwrap();
            run(finished.stage.crawl("and-a-crawl-was-tried", &ALL)).expect(2);
            assert!(state(dir, "log").exists());
        }),
        ("log-is-put", &|dir| {
            fs::remove_dir_all(state(dir, "log")).unwrap();
            fs::rename(whole(dir, "state/log"), state(dir, "log")).unwrap();
        }),
        ("mark-is-aside", &|dir| {
            fs::remove_dir_all(state(dir, "log")).unwrap();
            fs::rename(whole(dir, "state/log"), state(dir, "log")).unwrap();
            fs::remove_file(state(dir, "acknowledged")).unwrap();
        }),
    ];
    for (name, killed) in kills {
        println!("--- {name}");
        let dir = finished.stage.path(name);
        copy(&before, &dir);
        is_made(&dir);
        killed(&dir);
        check(&dir, &[]).expect(1);
        check(&dir, &["--repair"]).expect(0);
        assert!(records(&dir) == wanted, "{name}");
        assert!(!whole(&dir, "").exists(), "{name}");
        finished.goes_on(name);
    }
    // The crawl has gone on since: the new log is an old one.
    let dir = finished.stage.path("stale");
    copy(&before, &dir);
    is_made(&dir);
    fs::write(whole(&dir, "former"), "1\n").unwrap();
    fs::remove_dir_all(state(&dir, "log")).unwrap();
    check(&dir, &["--repair"]).expect(0);
    assert!(robots(&records(&dir)) == 0 && !whole(&dir, "").exists());
    finished.goes_on("stale");
}

#[test]
fn of_a_forums_crawl_all_is_mended_but_the_log() {
    let activity = ActivitySpec { threads_per_day: 5.0, boards: 3, days: 5, ..ActivitySpec::default() };
    let forum = Arc::new(Forum::new(ForumSpec { activity, categories: 1, ..ForumSpec::default() }).unwrap());
    let now = forum.spec().activity.start + 4 * 86_400;
    let server = Server::start(Arc::new(ForumWeb::at(forum, now)) as Arc<_>).unwrap();
    let temporary = tempfile::tempdir().unwrap();
    let crawl = |dir: &Path| {
        let mut command = suidao();
        command.args(["forum", "crawl", &format!("{}/", server.proxy()), "--allow-private", "-q"]);
        command.args(["--contact", "test@example.org", "-o"]).arg(dir).args(crate::support::AT_ONCE);
        run(command)
    };
    let whole = temporary.path().join("whole");
    crawl(&whole).expect(0);
    check(&whole, &[]).expect(0);
    let answers = answers(&whole);
    let (offset, length) = answers[answers.len() / 2];
    let damaged = |name: &str| {
        let dir = temporary.path().join(name);
        copy(&whole, &dir);
        dir
    };

    // What is made of the log is mended, and what needs no log.
    let dir = damaged("lists");
    fs::remove_file(dir.join("harvest.csv")).unwrap();
    flip(&dir.join(WARC), offset - 60, 4);
    check(&dir, &[]).expect(1);
    assert!(check(&dir, &["--repair"]).expect(0).out.contains("sound."));
    crawl(&dir).expect(0);

    let dir = damaged("record");
    fs::remove_file(dir.join("harvest.csv")).unwrap();
    flip(&dir.join(WARC), offset + length / 2, 3);
    let told = check(&dir, &["--repair"]).expect(1);
    assert!(told.out.contains("open:") && told.out.contains("cannot be made anew"), "{}", told.out);
    assert!(!told.out.contains("lost:") && !told.out.contains("mendable:\n"), "{}", told.out);
    // Other software reads the file, and the log is as it was.
    warcio_check(&[dir.join(WARC)]);
    assert_eq!(records(&dir), records(&whole));
    assert!(fs::read(dir.join("harvest.csv")).unwrap() == fs::read(whole.join("harvest.csv")).unwrap());
    assert!(!check(&dir, &["--repair"]).expect(1).out.contains("mended:"));
    crawl(&dir).expect(0);

    // The log speaks of the archive's end, which therefore stays where it is.
    let dir = damaged("last-record");
    let (offset, length) = *answers.last().unwrap();
    flip(&dir.join(WARC), offset + length / 2, 3);
    check(&dir, &["--repair"]).expect(1);
    warcio_check(&[dir.join(WARC)]);
    crawl(&dir).expect(0);

    let dir = damaged("log");
    fs::remove_dir_all(dir.join("state/log")).unwrap();
    let before = fs::read(dir.join(WARC)).unwrap();
    let told = check(&dir, &["--repair"]).expect(1);
    assert!(told.out.contains("open:") && !told.out.contains("taken back"), "{}", told.out);
    assert!(before == fs::read(dir.join(WARC)).unwrap());
    crawl(&dir).expect(2);
}

/// How often each URL was come back to and had changed, or had not.
fn versions(dir: &Path) -> BTreeMap<CrawlUrl, (usize, usize)> {
    let (mut urls, mut versions) = (Vec::new(), BTreeMap::<CrawlUrl, (usize, usize)>::new());
    for event in records(dir).into_iter().flat_map(|record| record.batch.events) {
        match event {
            Event::Discovered(found) => urls.push(found.url),
            Event::Settled(page) => versions.entry(urls[page.id.0 as usize].clone()).or_default().0 += 1,
            Event::Unchanged { id, .. } => versions.entry(urls[id.0 as usize].clone()).or_default().1 += 1,
            _ => {}
        }
    }
    versions
}

#[test]
fn a_crawl_that_was_refreshed_is_mended_with_its_history() {
    let temporary = tempfile::tempdir().unwrap();
    let spec = ChangingSpec { initial: 20, sections: 2, ..ChangingSpec::default() };
    let web = Arc::new(ChangingWeb::new(spec, 5));
    let server = web.serve(ServerOptions::default()).unwrap();
    let (whole, seeds) = (temporary.path().join("whole"), temporary.path().join("seeds.txt"));
    fs::write(&seeds, web.seeds().iter().map(|url| format!("{url}\n")).collect::<String>()).unwrap();
    let mut crawl = suidao();
    crawl.args(["crawl", "-m", concat!(env!("CARGO_MANIFEST_DIR"), "/lexicons/sports.toml"), "-q", "-s"]).arg(&seeds);
    crawl.args(["--contact", "test@example.org", "--proxy", &server.proxy(), "--max-pages", "120"]);
    run({
        crawl.arg("-o").arg(&whole).args(crate::support::AT_ONCE);
        crawl
    })
    .expect(0);
    let refresh = |dir: &Path| {
        let mut command = suidao();
        command.arg("refresh").arg(dir).args(["--requests", "100", "--set", "refresh.shortest=0"]);
        command.args(["--proxy", &server.proxy()]);
        run(command).expect(0)
    };
    for day in [3.0, 6.0] {
        web.set(day);
        refresh(&whole);
    }
    web.set(9.0);
    assert!(check(&whole, &[]).expect(0).out.contains(": sound."));
    let wanted = versions(&whole);
    let rounds = |dir: &Path| {
        let mut rounds = Rounds::default();
        records(dir).iter().for_each(|record| rounds.observe(&record.batch));
        rounds.rounds.len()
    };
    assert_eq!(rounds(&whole), 2);
    let sum = |of: &BTreeMap<CrawlUrl, (usize, usize)>| {
        of.values().fold((0, 0), |sum, versions| (sum.0 + versions.0, sum.1 + versions.1))
    };
    let (settled, unchanged) = sum(&wanted);
    println!("{settled} versions, {unchanged} times unchanged");
    assert!(unchanged > 5 && settled > wanted.len());
    let locations: Vec<_> = records(&whole).into_iter().filter_map(|record| record.archive).collect();
    let struck = locations[locations.len() * 2 / 3];
    let damages: [Case; 2] = [
        ("record", &|dir| {
            let file = dir.join(format!("pages/suidao-{:05}.warc.gz", struck.file));
            flip(&file, struck.offset + struck.length / 2, 3);
        }),
        ("log", &|dir| fs::remove_dir_all(dir.join("state/log")).unwrap()),
    ];
    for (name, damage) in damages {
        let dir = temporary.path().join(name);
        copy(&whole, &dir);
        damage(&dir);
        check(&dir, &[]).expect(1);
        assert!(check(&dir, &["--repair"]).expect(0).out.contains("sound."));
        let found = versions(&dir);
        println!("{name}: {:?}, {} rounds", sum(&found), rounds(&dir));
        assert!(dir.join("damaged-1/refresh.csv").exists());
        assert!(rounds(&dir) < 2, "docs/robustness.md says that rounds behind the damage are not known");
        // Of a version that is lost those behind it may be lost too that had not changed.
        let least = if name == "record" { 3 } else { 0 };
        assert!(sum(&found).0 + least >= settled && sum(&found).1 + least >= unchanged, "{name}: {:?}", sum(&found));
        let lines = export(&dir, &temporary.path().join("export.jsonl"));
        assert!(lines.len() + least >= wanted.len(), "{name}: {} documents", lines.len());
        refresh(&dir);
        check(&dir, &[]).expect(0);
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
