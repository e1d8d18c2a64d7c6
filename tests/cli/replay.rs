//! `suidao replay` for a generated world, a folder of hosts, a crawl directory and its WARC files.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use crate::support::{REPLAY_DEFAULTS, Stage, finite, lexicon_of, records, run, suidao};
use serde_json::Value;
use suidao::model::{CrawlUrl, Event};
use suidao::recorded::Folder;
use suidao::world::{ServerOptions, WebServer, WebSpec};

fn replay(dir: &Path, web: &str, more: &[&str]) -> Command {
    let mut command = suidao();
    command.current_dir(dir).args(["replay", web]).args(more);
    command
}

/// The result as JSON, without the duration.
fn result(command: Command) -> Value {
    let result: Value = serde_json::from_str(&run(command).expect(0).out).unwrap();
    result
}

/// The URLs of the fetched pages, in order.
fn pages(events: impl Iterator<Item = Event>) -> Vec<CrawlUrl> {
    let (mut urls, mut pages) = (Vec::new(), Vec::new());
    for event in events {
        match event {
            Event::Discovered(found) => urls.push(found.url),
            Event::PageFetched(page) => pages.push(urls[page.id.0 as usize].clone()),
            _ => {}
        }
    }
    pages
}

fn replayed(dir: &Path) -> Vec<CrawlUrl> {
    let text = fs::read_to_string(dir.join("events.jsonl")).unwrap();
    let event =
        |line: &str| serde_json::from_value(serde_json::from_str::<Value>(line).unwrap()["event"].take()).unwrap();
    pages(text.lines().map(event))
}

fn crawled(dir: &Path) -> Vec<CrawlUrl> {
    pages(records(dir).into_iter().flat_map(|record| record.batch.events))
}

#[test]
fn a_generated_world_has_its_own_topic_seeds_and_truth() {
    let dir = tempfile::tempdir().unwrap();
    let spec = WebSpec { seed: 3, ..finite() };
    fs::write(dir.path().join("web.toml"), toml::to_string(&spec).unwrap()).unwrap();
    let args = ["--json", "--strategy", "breadth-first"];
    let first = result(replay(dir.path(), "world:web.toml", &[&args[..], &["-o", "out"]].concat()));
    assert_eq!((&first["strategy"], &first["in_flight"]), (&"breadth-first".into(), &1.into()));
    assert_eq!((&first["judge"], &first["stopped"]), (&"world".into(), &"frontier-empty".into()));
    let last = first["cutoffs"].as_array().unwrap().last().unwrap();
    assert!(last["recall"].as_f64().unwrap() > 0.95, "{last}");
    assert!(last["harvest_rate"].as_f64().unwrap() < 0.6, "{last}");
    assert_eq!(result(replay(dir.path(), "web.toml", &args))["cutoffs"], first["cutoffs"]);

    let out = dir.path().join("out");
    assert_eq!(replayed(&out).len() as u64, first["pages"].as_u64().unwrap());
    let harvest = fs::read_to_string(out.join("harvest.csv")).unwrap();
    assert!(harvest.starts_with("pages,relevant,harvest_rate,mean_k,new_hosts\n100,"), "{harvest}");
    assert!(fs::read_to_string(out.join("summary.json")).unwrap().contains("\"breadth-first\""));
    assert_eq!(fs::read_dir(&out).unwrap().count(), 3, "nothing half-written is left");

    let printed = run(replay(dir.path(), "web.toml", &["--max-pages", "200", "--in-flight", "4"])).expect(0).out;
    for part in ["world:web.toml", "tunnel, 4 in flight, seed 1", "page threshold", "harvest rate", "Page limit"] {
        assert!(printed.contains(part), "{part} is not in\n{printed}");
    }
}

/// A folder of two hosts with directories, missing pages, robots.txt, aliases and both schemes.
fn folder(root: &Path) {
    let page = |text: &str, links: &[&str]| {
        let links: String = links.iter().map(|link| format!("<p><a href=\"{link}\">{link}</a></p>")).collect();
        format!(
            "<!DOCTYPE html><html><head><meta charset=utf-8><title>{text}</title></head><body>{links}</body></html>"
        )
    };
    for (path, content) in [
        (
            "a.test/index.html",
            page("足球", &["/dir", "https://a.test/b", "b.html", "http://b.test/", "/none", "/x?p=1"]),
        ),
        ("a.test/dir/index.html", page("dir", &["../c.htm", "http://www.b.test/d", "http://unknown.test/"])),
        ("a.test/b.html", page("b", &["/private/1.html", "/e.css", "//b.test/页/"])),
        ("a.test/c.htm", page("c", &[])),
        ("a.test/x.html", page("x", &["https://b.test/d", "/dir/"])),
        ("a.test/private/1.html", page("private", &[])),
        ("a.test/robots.txt", "User-agent: *\nDisallow: /private/\n".to_owned()),
        ("a.test/e.css", "p {}".to_owned()),
        ("b.test/index.html", page("b", &["d", "/页/"])),
        ("b.test/d.html", page("d", &["/"])),
        ("b.test/页/index.html", page("页", &["/d.html"])),
        ("b.test/404.html", page("404", &["/never"])),
    ] {
        let path = root.join("hosts").join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }
    fs::write(root.join("aliases.tsv"), "www.b.test\tb.test\n").unwrap();
    fs::write(root.join("lexicon.toml"), lexicon_of("体育").to_toml()).unwrap();
    fs::write(root.join("seeds.txt"), "http://a.test/\nhttps://b.test/\n").unwrap();
    fs::write(root.join("truth.txt"), "http://a.test/b.html\nhttp://b.test/d/\nhttp://b.test/gone\n").unwrap();
}

const INPUTS: [&str; 4] = ["-m", "lexicon.toml", "-s", "seeds.txt"];

#[test]
fn a_folder_replayed_is_the_folder_crawled() {
    let dir = tempfile::tempdir().unwrap();
    folder(dir.path());
    let web = Folder::open(&dir.path().join("hosts")).unwrap();
    let server = WebServer::start(Arc::new(web)).unwrap();
    for strategy in ["breadth-first", "dth", "best-first"] {
        let (live, out) = (format!("live {strategy}"), format!("out {strategy}"));
        let mut crawl = suidao();
        crawl.current_dir(dir.path()).args(["crawl", "--strategy", strategy, "-o", &live, "--proxy", &server.proxy()]);
        crawl.args(INPUTS).args(REPLAY_DEFAULTS).args(["--set", "crawl.in_flight=1", "--contact", "test@example.org"]);
        // The folder answers http only, and a replay needs no protection against downgrades.
        crawl.args(["--set", "scope.downgrade_seeds=true"]);
        run(crawl).expect(0);
        let more = [&INPUTS[..], &["--strategy", strategy, "-o", &out]].concat();
        run(replay(dir.path(), "hosts:hosts", &more)).expect(0);
        let printed = fs::read_to_string(dir.path().join(&out).join("events.jsonl")).unwrap();
        let printed: Vec<String> =
            printed.lines().map(|line| line.split_once("\"event\":").unwrap().1.to_owned()).collect();
        let stored: Vec<String> =
            crate::support::events(&dir.path().join(&live)).iter().map(|event| format!("{event}}}")).collect();
        assert_eq!(printed, stored, "{strategy}");
        assert!(crawled(&dir.path().join(&live)).len() >= 7, "{strategy}");
    }
    let counted = result(replay(dir.path(), "hosts", &[&INPUTS[..], &["--json", "--truth", "truth.txt"]].concat()));
    assert_eq!((&counted["relevant_in_web"], &counted["judge"]), (&3.into(), &"truth".into()));
    let last = counted["cutoffs"].as_array().unwrap().last().unwrap();
    assert_eq!((&last["relevant"], &last["hosts_relevant"]), (&2.into(), &2.into()));
}

#[test]
fn a_crawl_replayed_is_the_crawl() {
    let stage = Stage::new(finite(), ServerOptions::default());
    let more = ["--strategy", "breadth-first", "--max-pages", "150"];
    run(stage.crawl("live", &[&more[..], &["--set", "crawl.in_flight=1"]].concat())).expect(0);
    let live = crawled(&stage.path("live"));
    for (web, out) in [("crawl:live", "from crawl"), ("live", "from bare"), ("warc:live/pages", "from warc")] {
        let inputs = ["-m", "lexicon.toml", "-s", "seeds.txt", "-o", out];
        run(replay(stage.dir.path(), web, &[&more[..], &inputs].concat())).expect(0);
        let pages = replayed(&stage.path(out));
        if out == "from warc" {
            // Without the crawl's log robots.txt is unknown, so more URLs may be requested in vain.
            assert_eq!(pages, live[..pages.len()], "{web}");
        }
        assert_eq!(pages, live, "{web}");
    }
}

#[test]
fn what_cannot_be_replayed_is_reported() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path();
    folder(root);
    fs::create_dir(root.join("empty")).unwrap();
    fs::create_dir_all(root.join("old/state")).unwrap();
    fs::write(root.join("old/state/meta.json"), "{}").unwrap();
    for (name, content) in [
        ("notes.md", "# notes"),
        ("cut.warc", "<html>"),
        ("typo.toml", "seed = 1\nislnads = 2\n"),
        ("small.toml", "pages = 10"),
        ("lines.txt", "http://a.test/\nno-url\n"),
        ("hosts.txt", "a.test\nhttp://b.test/\n"),
    ] {
        fs::write(root.join(name), content).unwrap();
    }
    let before = crate::support::snapshot(root);
    for (web, more, expected) in [
        ("none", &INPUTS[..], &["none", "check the path"][..]),
        ("notes.md", &INPUTS, &["notes.md", "hosts:DIR"]),
        ("hosts:empty", &INPUTS, &["empty", "one directory per host"]),
        ("warc:empty", &INPUTS, &["empty", "*.warc.gz"]),
        ("warc:cut.warc", &INPUTS, &["cut.warc", "neither WARC/ nor gzip"]),
        ("crawl:hosts", &INPUTS, &["hosts", "contains no crawl"]),
        ("world:typo.toml", &[], &["typo.toml", "line 2", "islnads"]),
        ("world:small.toml", &[], &["small.toml", "pages"]),
        ("hosts:hosts", &[], &["no built-in lexicon", "-m"]),
        ("hosts:hosts", &INPUTS[..2], &["no built-in seeds", "-s"]),
        ("hosts:hosts", &["-m", "seeds.txt", "-s", "seeds.txt"], &["seeds.txt"]),
        ("world:", &["--truth", "lines.txt"], &["lines.txt, line 2", "no-url"]),
        ("world:", &["--truth", "truth.txt", "--exclude", "hosts.txt"], &["hosts.txt, line 2"]),
        ("world:", &["--in-flight", "0"], &["crawl.in_flight must"]),
        ("world:", &["-o", "old"], &["old", "contains a crawl"]),
        ("world:", &["-o", "notes.md"], &["notes.md", "output directory"]),
    ] {
        let mut command = suidao();
        command.current_dir(root).args(["replay", web]).args(more);
        let ended = run(command).expect(2);
        assert_eq!((ended.out.as_str(), ended.err.lines().count()), ("", 1), "{web} {more:?}: {}", ended.err);
        for part in expected {
            assert!(ended.err.contains(part), "{web} {more:?}: {part:?} is not in {:?}", ended.err);
        }
        println!("{}", ended.err.trim_end());
    }
    assert!(crate::support::snapshot(root) == before, "something was written");
}

#[test]
fn context_graphs_are_learnt_on_one_world_and_tried_on_another() {
    let dir = tempfile::tempdir().unwrap();
    for seed in [3, 4] {
        let spec = WebSpec { seed, ..finite() };
        fs::write(dir.path().join(format!("{seed}.toml")), toml::to_string(&spec).unwrap()).unwrap();
    }
    let mut learn = suidao();
    learn.current_dir(dir.path()).args(["topic", "layers", "world:3.toml", "-o", "layers.toml", "--max-pages", "400"]);
    let printed = run(learn).expect(0).out;
    assert!(printed.contains("layer 0: ") && printed.contains("Wrote layers.toml"), "{printed}");

    let strategy = ["--json", "-o", "out", "--strategy", "context-graph", "--max-pages", "120"];
    let error = run(replay(dir.path(), "world:4.toml", &strategy)).expect(2).err;
    assert!(error.contains("strategy.context-graph.model") && error.contains("topic layers"), "{error}");
    let given = |file| [&strategy[..], &["--set", file]].concat();
    let missing = given("strategy.context-graph.model=none.toml");
    let error = run(replay(dir.path(), "world:4.toml", &missing)).expect(2).err;
    assert!(error.contains("none.toml"), "{error}");
    let with = given("strategy.context-graph.model=layers.toml");
    result(replay(dir.path(), "world:4.toml", &with));
    let text = fs::read_to_string(dir.path().join("out/events.jsonl")).unwrap();
    assert!(text.contains("\"queue\":0") && text.contains("\"queue\":5"), "pages of several layers");
}
