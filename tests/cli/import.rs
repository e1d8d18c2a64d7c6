//! `suidao import`: the archives of other crawlers as a crawl.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;
use suidao::model::Event;
use suidao::world::ServerOptions;

use crate::support::tools::is_for_ci;
use crate::support::{
    Ended, REPLAY_DEFAULTS, Running, Stage, copy, finite, pages, records, run, snapshot, suidao, tools,
};
use suidao_features::depth;

const BREADTH_FIRST: [&str; 4] = ["--strategy", "breadth-first", "--set", "crawl.in_flight=1"];

/// Of each page, by URL: relevance, whether it is relevant, and the URLs that it links to.
type Facts = BTreeMap<String, (f32, bool, BTreeSet<String>)>;

fn facts(dir: &Path) -> Facts {
    let (mut urls, mut facts) = (Vec::new(), Facts::new());
    for event in records(dir).into_iter().flat_map(|record| record.batch.events) {
        match event {
            Event::Discovered(found) => urls.push(found.url.to_string()),
            Event::PageFetched(page) => {
                let targets = page.links.iter().map(|link| link.to).chain(page.known.iter().copied());
                let targets = targets.map(|to| urls[to.0 as usize].clone()).collect();
                let url = urls[page.id.0 as usize].clone();
                facts.insert(url, (page.relevance.get(), page.on_topic, targets));
            }
            _ => {}
        }
    }
    facts
}

/// The pages in order, as JSON, without their numbers.
fn page_events(dir: &Path) -> Vec<Value> {
    let events = crate::support::events(dir);
    let pages = events.iter().filter(|event| event.starts_with("{\"page-fetched\""));
    pages.map(|event| serde_json::from_str(event).unwrap()).collect()
}

/// Visits that found a page unchanged.
fn visits(dir: &Path) -> usize {
    let is_visit = |event: &&Event| matches!(event, Event::Unchanged { .. });
    records(dir).iter().flat_map(|record| &record.batch.events).filter(is_visit).count()
}

fn import(stage: &Stage, files: &[PathBuf], out: &str, more: &[&str]) -> Command {
    let mut command = suidao();
    command.arg("import").args(files).arg("-m").arg(&stage.lexicon).arg("-o").arg(stage.path(out));
    command.args(&BREADTH_FIRST[..2]).args(more);
    command
}

/// Everything that is done with a crawl works.
fn is_a_crawl(stage: &Stage, dir: &Path) {
    let done = |words: &[&str]| {
        let mut command = suidao();
        command.args(words);
        run(command).expect(0)
    };
    let name = dir.to_str().unwrap();
    for file in ["harvest.csv", "skipped.csv", "summary.json", "state/topic.toml", "state/config.toml"] {
        assert!(dir.join(file).is_file(), "{file}");
    }
    done(&["check", "crawl", name]);
    done(&["report", name]);
    let export = stage.path("export.jsonl");
    done(&["export", name, "-o", export.to_str().unwrap(), "--force", "--where", "listings:yes"]);
    let lines = fs::read_to_string(&export).unwrap();
    let first: Value = serde_json::from_str(lines.lines().next().unwrap()).unwrap();
    let why = done(&["why", name, first["url"].as_str().unwrap()]).out;
    assert!(why.contains("relevance"), "{why}");
    assert!(!done(&["search", name, "足球"]).out.is_empty());
    done(&["graph", name]);
}

/// A crawl of a web, and its answers as others write them.
fn written_by_others() -> Option<(Stage, PathBuf)> {
    let python = tools::python("warcio")?;
    let stage = Stage::new(finite(), ServerOptions::default());
    run(stage.crawl("crawl", &BREADTH_FIRST)).expect(0);
    let others = stage.path("others");
    fs::create_dir(&others).unwrap();
    let mut command = Command::new(python);
    command.arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/foreign_warc.py"));
    run({
        command.arg(stage.path("crawl")).arg(&others);
        command
    })
    .expect(0);
    Some((stage, others))
}

#[test]
fn archives_in_every_way_of_writing_give_the_crawl() {
    let Some((stage, others)) = written_by_others() else { return };
    let (crawl, seeds) = (stage.path("crawl"), stage.seeds.to_str().unwrap());
    let (expected, in_order) = (facts(&crawl), page_events(&crawl));
    assert!(expected.len() > 200);
    for (out, file, with_seeds) in [
        ("plain", "plain.warc.gz", true),
        ("mixed", "mixed.warc", true),
        ("unseeded", "plain.warc.gz", false),
        ("dedup", "dedup.warc.gz", true),
    ] {
        let more = if with_seeds { vec!["-s", seeds] } else { Vec::new() };
        let ended = run(import(&stage, &[others.join(file)], out, &more)).expect(0);
        let dir = stage.path(out);
        assert_eq!(facts(&dir), expected, "{out}");
        assert_eq!(pages(&dir).into_keys().collect::<Vec<_>>(), pages(&crawl).into_keys().collect::<Vec<_>>(), "{out}");
        if with_seeds {
            let imported = page_events(&dir);
            for (number, (one, other)) in imported.iter().zip(&in_order).enumerate() {
                assert_eq!(one, other, "{out}: page {number}");
            }
            assert_eq!(imported.len(), in_order.len(), "{out}");
        }
        let summary: Value = serde_json::from_slice(&fs::read(dir.join("summary.json")).unwrap()).unwrap();
        assert_eq!(visits(&dir), if out == "dedup" { expected.len() } else { 0 }, "{out}: {}", ended.err);
        assert_eq!(summary["pages"], expected.len(), "{out}");
        assert_eq!(summary["stopped"], "imported");
        if matches!(out, "plain" | "dedup") {
            is_a_crawl(&stage, &dir);
        }
    }
    // It continues as any crawl, with nothing left to fetch except what the first crawl left.
    run(stage.crawl("plain", &BREADTH_FIRST)).expect(0);
    assert_eq!(facts(&stage.path("plain")), expected);
    // Its pages are due as those of any crawl.
    for out in ["plain", "dedup"] {
        let before = visits(&stage.path(out));
        let mut refresh = suidao();
        refresh.arg("refresh").arg(stage.path(out)).args(["--proxy", &stage.server.proxy(), "--requests", "30"]);
        refresh.args(REPLAY_DEFAULTS).args(["--set", "refresh.shortest=0"]);
        let ended = run(refresh).expect(0);
        assert!(visits(&stage.path(out)) > before, "{out}: {}", ended.err);
        run({
            let mut check = suidao();
            check.args(["check", "crawl"]).arg(stage.path(out));
            check
        })
        .expect(0);
    }
}

#[test]
fn an_import_that_is_killed_resumes_and_another_is_rejected() {
    let Some((stage, others)) = written_by_others() else { return };
    let file = [others.join("mixed.warc")];
    run(import(&stage, &file, "whole", &[])).expect(0);
    let whole = crate::support::events(&stage.path("whole"));
    for pages in [1usize, 20, 40, 120] {
        let mut running = Running::start(import(&stage, &file, "killed", &["--json"]));
        while !running.has_ended() && running.output("out").matches("\"page-fetched\"").count() < pages {
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        running.kill();
    }
    // Ctrl-C, while the import waits for the reader of its output.
    let mut interrupted = import(&stage, &file, "interrupted", &["--json"]);
    let mut running = interrupted.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(running.stdout.take().unwrap()).lines();
    assert!(lines.any(|line| line.unwrap().contains("\"page-fetched\"")));
    assert!(Command::new("kill").args(["-INT", &running.id().to_string()]).status().unwrap().success());
    let rest: Vec<String> = lines.map(Result::unwrap).collect();
    let ended = running.wait_with_output().unwrap();
    let output = String::from_utf8_lossy(&ended.stderr);
    assert_eq!(ended.status.code(), Some(130), "{output}");
    assert!(output.contains("Rerun the same command to resume"), "{output}");
    assert!(rest.last().unwrap().contains("\"stopped\":\"interrupted\""), "{rest:?}");
    let part = crate::support::events(&stage.path("interrupted"));
    assert!(part.len() < whole.len() && part == whole[..part.len()]);
    is_a_crawl(&stage, &stage.path("interrupted"));
    run(import(&stage, &file, "interrupted", &[])).expect(0);
    assert_eq!(crate::support::events(&stage.path("interrupted")), whole);
    run(import(&stage, &file, "killed", &[])).expect(0);
    assert_eq!(crate::support::events(&stage.path("killed")), whole);
    is_a_crawl(&stage, &stage.path("killed"));
    // Once more: nothing to do. With a further file: it follows.
    let before = crate::support::events(&stage.path("whole")).len();
    let again = run(import(&stage, &file, "whole", &[])).expect(0);
    assert!(again.err.contains("has the pages of this file already. Nothing was changed."), "{}", again.err);
    assert_eq!(crate::support::events(&stage.path("whole")).len(), before);
    let more = run(import(&stage, &[file[0].clone(), others.join("plain.warc.gz")], "whole", &[])).expect(0);
    assert!(more.err.contains("Imported before, so skipped: 1 file."), "{}", more.err);
    assert!(crate::support::events(&stage.path("whole")).len() > before);
    let state = snapshot(&stage.path("whole"));
    // With another threshold, and with seeds, which make the first step another.
    let seeds = ["-s", stage.seeds.to_str().unwrap()];
    let threshold = ["--set", "crawl.page_threshold=0.9"];
    for (file, more, word) in [
        ("plain.warc.gz", threshold, "not 0.9; use the same crawl.page_threshold"),
        ("mixed.warc", seeds, "were imported with other seeds"),
    ] {
        let other = run(import(&stage, &[others.join(file)], "whole", &more)).expect(2);
        assert!(other.err.contains(word), "{}", other.err);
    }
    let after = snapshot(&stage.path("whole"));
    let changed: Vec<_> = state.keys().filter(|path| path.is_file() && after.get(*path) != state.get(*path)).collect();
    assert!(changed.iter().all(|path| path.to_string_lossy().contains("/state/log/")), "{changed:?}");
}

/// The data card of all pages.
fn card(stage: &Stage, dir: &Path) -> String {
    let text = stage.path("card.txt");
    let mut export = suidao();
    export.args(["export", "--force", "--where", "listings:yes", "--format", "text", "-o"]).arg(&text).arg(dir);
    run(export).expect(0);
    fs::read_to_string(stage.path("card.card.md")).unwrap()
}

/// The records of an archive in `parts` files of about equal length.
fn in_parts(stage: &Stage, archive: &Path, parts: usize) -> Vec<PathBuf> {
    let archive = fs::read(archive).unwrap();
    let head = b"WARC/1.";
    let is_start = |at: &usize| archive[*at..].starts_with(head) && (*at == 0 || archive[at - 1] == b'\n');
    let starts: Vec<usize> = (0..archive.len()).filter(is_start).collect();
    let starts: Vec<usize> = starts.chunks(starts.len().div_ceil(parts)).map(|part| part[0]).collect();
    let ends = starts.iter().skip(1).copied().chain([archive.len()]);
    let parts = starts.iter().copied().zip(ends).enumerate();
    parts
        .map(|(number, (start, end))| {
            let path = stage.path(&format!("part{number}.warc"));
            fs::write(&path, &archive[start..end]).unwrap();
            path
        })
        .collect()
}

#[test]
fn further_files_follow_in_the_same_directory() {
    let Some((stage, others)) = written_by_others() else { return };
    let parts = in_parts(&stage, &others.join("mixed.warc"), 3);
    run(import(&stage, &parts, "at-once", &[])).expect(0);
    let at_once = facts(&stage.path("at-once"));
    assert!(at_once.len() > 200);
    let dir = stage.path("grown");
    // One after the other; the second is killed, and then no other may follow before it is complete.
    run(import(&stage, &parts[..1], "grown", &[])).expect(0);
    let one = crate::support::events(&dir);
    let mut running = Running::start(import(&stage, &parts[1..2], "grown", &["--json"]));
    while !running.has_ended() && running.output("out").matches("\"page-fetched\"").count() < 20 {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    running.kill();
    let ends = fs::read_to_string(dir.join("state/imports.json")).unwrap().matches("\"end\"").count();
    if ends < 2 {
        let other = run(import(&stage, &parts[2..], "grown", &[])).expect(2);
        assert!(other.err.contains("an import of other files (part1.warc) was interrupted"), "{}", other.err);
        let crawl = run(stage.crawl("grown", &BREADTH_FIRST)).expect(2);
        assert!(crawl.err.contains("an import of part1.warc was interrupted; complete it"), "{}", crawl.err);
    }
    // All of them: the killed import is completed, and the third file follows.
    let ended = run(import(&stage, &parts, "grown", &[])).expect(0);
    assert!(ended.err.contains("Imported before, so skipped: "), "{}", ended.err);
    assert_eq!(crate::support::events(&dir)[..one.len()], one);
    assert_eq!(facts(&dir), at_once);
    is_a_crawl(&stage, &dir);
    let card = card(&stage, &dir);
    assert!(card.contains("A text corpus from archives of a web crawl") && card.contains("part2.warc"), "{card}");
    assert!(card.contains("whether it obeyed robots.txt is unknown") && !card.contains("obeyed robots.txt,"), "{card}");
    // The same in one go, without the kill.
    for part in &parts {
        run(import(&stage, std::slice::from_ref(part), "whole", &[])).expect(0);
    }
    assert_eq!(crate::support::events(&stage.path("whole")), crate::support::events(&dir));
    // A crawl goes on, and another archive follows it.
    let mut crawl = stage.crawl("grown", &BREADTH_FIRST);
    crawl.args(["--max-pages", "5000"]);
    run(crawl).expect(0);
    run(import(&stage, &[others.join("dedup.warc.gz")], "grown", &[])).expect(0);
    assert!(visits(&dir) > 200);
    is_a_crawl(&stage, &dir);
    // A crawl is no import.
    let crawl = stage.path("crawl");
    assert!(self::card(&stage, &crawl).contains("The crawler obeyed robots.txt, which grants no licence."));
    let mut unchecked = stage.crawl("unchecked", &BREADTH_FIRST);
    unchecked.args(["--max-pages", "30", "--set", "politeness.robots=false"]);
    run(unchecked).expect(0);
    let card = self::card(&stage, &stage.path("unchecked"));
    assert!(card.contains("The crawler did not read robots.txt (`politeness.robots = false`)."), "{card}");
    let mut later = stage.crawl("unchecked", &BREADTH_FIRST);
    later.args(["--max-pages", "40"]);
    run(later).expect(0);
    let card = self::card(&stage, &stage.path("unchecked"));
    assert!(card.contains("without reading robots.txt (`politeness.robots = false`)"), "{card}");
    let before = snapshot(&crawl);
    let refused = run(import(&stage, &parts, "crawl", &[])).expect(2);
    assert!(refused.err.contains("contains a crawl, not an import"), "{}", refused.err);
    let after = snapshot(&crawl);
    let changed: Vec<_> =
        before.keys().filter(|path| path.is_file() && after.get(*path) != before.get(*path)).collect();
    assert!(changed.iter().all(|path| path.to_string_lossy().contains("/state/log/")), "{changed:?}");
}

#[test]
fn what_wget_fetched_is_a_crawl() {
    if is_for_ci("the archive of wget") {
        return;
    }
    let Some(wget) = tools::program("wget") else { return };
    let stage = Stage::new(finite(), ServerOptions::default());
    run(stage.crawl("crawl", &BREADTH_FIRST)).expect(0);
    let folder = stage.path("wget");
    fs::create_dir(&folder).unwrap();
    let mut command = Command::new(wget);
    command.current_dir(&folder).args(["-q", "-r", "-l", "inf", "-H", "--delete-after", "--no-config", "-t", "1"]);
    command.args(["-e", "use_proxy=yes", "-e", &format!("http_proxy={}", stage.server.proxy())]);
    command.args(["--warc-file=site", "-i"]).arg(&stage.seeds);
    // Its exit code reports the 404s of the web.
    run(command);
    let file = [folder.join("site.warc.gz")];
    run(import(&stage, &file, "imported", &["-s", stage.seeds.to_str().unwrap()])).expect(0);
    is_nearly_the_crawl(&stage);
}

#[test]
fn what_scrapy_fetched_is_a_crawl() {
    let Some(python) = tools::python("scrapy") else { return };
    let stage = Stage::new(finite(), ServerOptions::default());
    run(stage.crawl("crawl", &BREADTH_FIRST)).expect(0);
    let mut command = Command::new(python);
    command.arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/scrapy_crawl.py"));
    command.arg(&stage.seeds).arg(stage.path("scrapy.warc.gz")).env("http_proxy", stage.server.proxy());
    run(command).expect(0);
    run(import(&stage, &[stage.path("scrapy.warc.gz")], "imported", &["-s", stage.seeds.to_str().unwrap()])).expect(0);
    is_nearly_the_crawl(&stage);
}

/// Another crawler finds nearly the same pages, and they are judged as in the crawl.
fn is_nearly_the_crawl(stage: &Stage) {
    let (crawled, imported) = (facts(&stage.path("crawl")), facts(&stage.path("imported")));
    let both: Vec<_> = crawled.keys().filter(|url| imported.contains_key(*url)).collect();
    assert!(both.len() * 10 > crawled.len() * 9, "{} of {} and {}", both.len(), crawled.len(), imported.len());
    for url in both {
        assert_eq!(crawled[url], imported[url], "{url}");
    }
    let robots = records(&stage.path("imported"))
        .iter()
        .flat_map(|record| &record.batch.events)
        .filter(|event| matches!(event, Event::Robots { .. }))
        .count();
    assert!(robots > 5, "{robots} robots.txt");
    is_a_crawl(stage, &stage.path("imported"));
}

#[test]
fn damaged_and_hostile_archives_are_one_sentence_and_no_directory() {
    let stage = Stage::new(finite(), ServerOptions::default());
    let record = |url: &str, date: &str, head: &str, body: &str| {
        let block = format!("HTTP/1.1 {head}\r\n\r\n{body}");
        format!(
            "WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: {url}\r\nWARC-Date: {date}\r\n\
             Content-Type: application/http\r\nContent-Length: {}\r\n\r\n{block}\r\n\r\n",
            block.len()
        )
    };
    let html = "200 OK\r\nContent-Type: text/html";
    let page = record("http://a.example.cn/", "2024-02-03T04:05:06Z", html, "<p>足球 足球 <a href=/b>b</a>");
    let file = |name: &str, content: &[u8]| {
        fs::write(stage.path(name), content).unwrap();
        stage.path(name)
    };
    for (name, content, message) in [
        ("empty.warc", String::new(), "it is empty"),
        ("page.warc", "<html>".to_owned(), "neither WARC/ nor gzip"),
        (
            "info.warc",
            "WARC/1.0\r\nWARC-Type: warcinfo\r\nContent-Length: 0\r\n\r\n\r\n\r\n".to_owned(),
            "no HTTP response in the file",
        ),
        (
            "length.warc",
            page.replace("Content-Length: ", "Content-Length: x"),
            "no record in it can be read (skipped 1",
        ),
        ("old.arc", "filedesc://old.arc 0.0.0.0 20050601 text/plain 76\n".to_owned(), "warcio recompress"),
    ] {
        let ended = run(import(&stage, &[file(name, content.as_bytes())], "none", &[])).expect(2);
        assert!(ended.err.contains(message) && ended.err.trim().lines().count() == 1, "{name}: {}", ended.err);
        assert!(!stage.path("none").exists(), "{name}");
    }
    let missing = run(import(&stage, &[stage.path("missing.warc")], "none", &[])).expect(2);
    assert!(missing.err.contains("missing.warc"), "{}", missing.err);

    // Truncated: what is before the end counts. Dates from the future, and URLs and heads without end, do no harm.
    let long = format!("{html}\r\nX: {}", "\u{e9}".repeat(1_020_000));
    let hostile = [
        page.as_str(),
        &record("http://a.example.cn/b", "9999-12-31T00:00:00Z", html, "<p>足球 b <a href=/c>c</a>"),
        &record("http://a.example.cn/c", "not a date", &long, "x"),
        &record(&format!("http://a.example.cn/{}", "x".repeat(9000)), "2024-02-03T04:05:06Z", html, "x"),
        &record("http://a.example.cn/d", "1969-01-01T00:00:00Z", "301 Moved\r\nLocation: http://a.example.cn/e", ""),
        &record("http://a.example.cn/e", "2024-02-03T04:05:06Z", "301 Moved\r\nLocation: http://a.example.cn/d", ""),
        &record(
            "http://a.example.cn/f",
            "2024-02-03T04:05:06Z",
            "200\r\nContent-Encoding: gzip",
            "\u{1f}\u{8b}no gzip",
        ),
        &record("http://a.example.cn/g", "2024-02-03T04:05:06Z", html, "<p>足球"),
    ]
    .concat();
    let cut = &hostile.as_bytes()[..hostile.len() - 9];
    let ended = run(import(&stage, &[file("cut.warc", cut)], "cut", &[])).expect(0);
    assert!(ended.err.contains("ends in the middle of a record") && ended.err.contains("1 too large"), "{}", ended.err);
    let dir = stage.path("cut");
    let urls: Vec<String> = pages(&dir).into_keys().map(|url| url.to_string()).collect();
    assert!(urls.iter().any(|url| url.ends_with("/b")) && !urls.iter().any(|url| url.ends_with("/g")), "{urls:?}");
    let latest = records(&dir).iter().map(|record| record.batch.at.0).max().unwrap();
    assert!(latest < 4_000_000_000_000, "no time is in the future");
    let first = records(&dir)[0].batch.at.0;
    assert_eq!(first, 1_706_933_106_000);
    is_a_crawl(&stage, &dir);
    // Where a crawl is, no import begins.
    run(stage.crawl("crawl", &["--max-pages", "3"])).expect(0);
    let other: Ended = run(import(&stage, &[stage.path("cut.warc")], "crawl", &[])).expect(2);
    assert!(other.err.contains("strategy"), "{}", other.err);
    copy(&dir, &stage.path("copy"));
    let into = run(import(&stage, &[stage.path("cut.warc")], "copy/pages", &[])).expect(2);
    assert!(into.err.contains("is not empty"), "{}", into.err);
}

#[test]
fn damage_costs_only_the_records_that_it_struck() {
    let stage = Stage::new(finite(), ServerOptions::default());
    let record = |n: usize, more: isize| {
        let block = format!(
            "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<p>{}<a href=/{}>next</a>",
            format!("第{n}页 足球 比赛").repeat(40),
            n + 1
        );
        format!(
            "WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: http://a.example.cn/{n}\r\n\
             WARC-Date: 2024-02-03T04:05:06Z\r\nContent-Type: application/http\r\nContent-Length: {}\r\n\r\n{block}\r\n\r\n",
            block.len() as isize + more
        )
        .into_bytes()
    };
    let gzip = |bytes: &[u8]| {
        let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        packed.write_all(bytes).unwrap();
        packed.finish().unwrap()
    };
    let packed = |parts: &[Vec<u8>]| -> Vec<u8> { parts.iter().flat_map(|part| gzip(part)).collect() };
    let whole: Vec<_> = (1..=6).map(|n| record(n, 0)).collect();
    let with = |at: usize, part: Vec<u8>| {
        let mut parts = whole.clone();
        parts[at] = part;
        parts
    };
    let mut corrupt = packed(&whole);
    let (start, end) = (packed(&whole[..2]).len(), packed(&whole[..3]).len());
    corrupt[(start + end) / 2..end - 10].fill(0x55);
    let garbage = [whole[..3].concat(), b"garbage\r\n".to_vec(), whole[3..].concat()].concat();
    let good = [record(7, 0), record(8, 0)].concat();
    fs::write(stage.path("good.warc.zst"), zstd::encode_all(&good[..], 1).unwrap()).unwrap();
    for (name, content, lost) in [
        ("length.warc.gz", packed(&with(2, record(3, 40))), 1),
        ("short.warc", with(2, record(3, -40)).concat(), 1),
        ("corrupt.warc.gz", corrupt, 1),
        ("garbage.warc", garbage, 0),
        ("zeros.warc.gz", [packed(&whole), vec![0; 4096]].concat(), 0),
    ]
    .into_iter()
    .step_by(depth(2, 1))
    {
        fs::write(stage.path(name), content).unwrap();
        let out = format!("out-{name}");
        let ended = run(import(&stage, &[stage.path(name), stage.path("good.warc.zst")], &out, &[])).expect(0);
        assert_eq!(pages(&stage.path(&out)).len(), 8 - lost, "{name}: {}", ended.err);
        let skipped = format!("skipped {lost} ");
        assert!(ended.err.contains(&skipped) && ended.err.contains(" at byte "), "{name}: {}", ended.err);
        assert!(ended.err.contains(name) && ended.err.contains("in 2 files"), "{name}: {}", ended.err);
        let summary: Value = serde_json::from_slice(&fs::read(stage.path(&out).join("summary.json")).unwrap()).unwrap();
        assert_eq!(summary["import"]["unused"]["damaged"].as_u64().unwrap_or_default(), lost as u64, "{name}");
        is_a_crawl(&stage, &stage.path(&out));
        // The same reader serves topics and replays.
        let file = stage.path(name);
        let mut build = suidao();
        build.args(["topic", "build", "--name", "足球", "-o"]).arg(stage.path(&format!("{name}.toml")));
        build.arg("--warc").arg(&file);
        let built = run(build).expect(0);
        assert!(built.err.contains(&skipped), "{name}: {}", built.err);
        let mut replay = suidao();
        replay.arg("replay").arg(format!("warc:{}", file.display())).args(["-m"]).arg(&stage.lexicon);
        fs::write(stage.path("seed.txt"), "http://a.example.cn/1\n").unwrap();
        replay.arg("-s").arg(stage.path("seed.txt")).arg("-o").arg(stage.path(&format!("replay-{name}")));
        assert!(run(replay).expect(0).err.contains(&skipped), "{name}");
    }
    // Of packed and plain records in one file one kind is read, and the rest is reported.
    for (name, content) in [
        ("more.warc.gz", [packed(&whole[..3]), whole[3..].concat()].concat()),
        ("more.warc", [whole[..3].concat(), packed(&whole[3..])].concat()),
    ] {
        fs::write(stage.path(name), content).unwrap();
        let ended = run(import(&stage, &[stage.path(name)], &format!("out-{name}"), &[])).expect(0);
        assert!(ended.err.contains("skipped 1 damaged record: at byte"), "{name}: {}", ended.err);
        assert!(ended.err.contains("packed and plain records in one file"), "{name}: {}", ended.err);
    }
    // A body in a broken encoding is no empty page; one that the crawler has decoded is a page.
    let encoded = |n: usize, coding: &str, body: &[u8]| {
        let head = format!("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Encoding: {coding}\r\n\r\n");
        let mut record = format!(
            "WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: http://a.example.cn/{n}\r\n\
             WARC-Date: 2024-02-03T04:05:06Z\r\nContent-Type: application/http\r\nContent-Length: {}\r\n\r\n{head}",
            head.len() + body.len()
        )
        .into_bytes();
        record.extend_from_slice(body);
        record.extend_from_slice(b"\r\n\r\n");
        record
    };
    let noise: Vec<u8> = (0..900u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    let text = "<p>足球 比赛".repeat(40);
    let half = &gzip(text.repeat(50).as_bytes())[..60];
    let records: Vec<Vec<u8>> = ["gzip", "br", "zstd", "deflate"].map(|coding| encoded(20, coding, &noise)).into();
    let records = [record(1, 0), records.concat(), encoded(21, "gzip", half), encoded(2, "br", text.as_bytes())];
    fs::write(stage.path("encoded.warc"), records.concat()).unwrap();
    let ended = run(import(&stage, &[stage.path("encoded.warc")], "encoded", &[])).expect(0);
    assert!(ended.err.contains("5 with a broken content encoding"), "{}", ended.err);
    assert_eq!(pages(&stage.path("encoded")).len(), 2, "{}", ended.err);
    // What cannot be read at all is named, and the others are read.
    fs::write(stage.path("old.arc"), "filedesc://old.arc 0.0.0.0 20050601 text/plain 76\n").unwrap();
    let ended =
        run(import(&stage, &["old.arc", "good.warc.zst"].map(|name| stage.path(name)), "beside", &[])).expect(0);
    assert!(ended.err.contains("old.arc") && ended.err.contains("warcio recompress"), "{}", ended.err);
    assert_eq!(pages(&stage.path("beside")).len(), 2);
}

#[test]
fn a_missing_file_is_named() {
    let stage = Stage::new(finite(), ServerOptions::default());
    let missing = stage.path("none.warc");
    let error = run(import(&stage, std::slice::from_ref(&missing), "out", &[])).expect(2).err;
    let named = format!("{}: No such file or directory", missing.display());
    assert!(error.contains(&named) && error.contains("check the path"), "{error}");
}
