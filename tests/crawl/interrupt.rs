//! Stopping and resuming: Ctrl-C and page limits with many requests in flight.

use std::collections::BTreeSet;
use std::time::Duration;

use crate::support::{Running, Stage, events, export, finite, pages, run};
use suidao::world::ServerOptions;

fn summary(stage: &Stage, out: &str) -> serde_json::Value {
    serde_json::from_slice(&std::fs::read(stage.path(out).join("summary.json")).unwrap()).unwrap()
}

#[test]
fn an_interrupted_crawl_is_complete_and_resumes() {
    let options = ServerOptions { delay: Duration::from_millis(10), ..ServerOptions::default() };
    let stage = Stage::new(finite(), options);
    let out = stage.path("crawl");
    let limit = ["--max-pages", "300", "--set", "crawl.in_flight=8"];
    for (signal, requests) in [("INT", 60), ("TERM", 120)] {
        let mut running = Running::start(stage.crawl("crawl", &limit));
        let before = stage.server.requests();
        assert!(running.until(|| stage.server.requests() - before > requests), "{}", running.output("err"));
        running.signal(signal);
        let ended = running.end().expect(130);
        assert!(ended.err.contains("Interrupted"), "{}", ended.err);
        let fetched = pages(&out);
        assert!(fetched.values().all(|&times| times == 1));
        let summary = summary(&stage, "crawl");
        assert_eq!(summary["stopped"], "interrupted");
        assert_eq!(summary["pages"], fetched.len());
        assert!(!fetched.is_empty() && fetched.len() < 300);
        assert_eq!(export(&out, &stage.path("part.jsonl")).len(), fetched.len());
        // Requests in flight were completed: no file of the archive is left open.
        let open = std::fs::read_dir(out.join("pages")).unwrap();
        assert!(open.map(|entry| entry.unwrap().file_name()).all(|name| name.to_string_lossy().ends_with(".warc.gz")));
    }
    run(stage.crawl("crawl", &limit)).expect(0);
    assert_eq!(summary(&stage, "crawl")["stopped"], "page-limit");
    assert_eq!(pages(&out).len(), 300);
}

#[test]
fn a_second_interrupt_ends_at_once_and_loses_only_requests_in_flight() {
    let options = ServerOptions { delay: Duration::from_millis(1500), ..ServerOptions::default() };
    let mut stage = Stage::new(finite(), options);
    let limit = ["--max-pages", "40", "--set", "crawl.in_flight=8", "--set", "politeness.robots=false"];
    let mut running = Running::start(stage.crawl("crawl", &limit));
    assert!(running.until(|| stage.server.requests() >= 2), "{}", running.output("err"));
    running.signal("INT");
    while !running.output("err").contains("stopping") {
        assert!(!running.has_ended(), "{}", running.output("err"));
        std::thread::sleep(Duration::from_millis(1));
    }
    running.signal("INT");
    let ended = running.end().expect(130);
    assert!(!ended.err.contains("Interrupted"), "it did not wait: {}", ended.err);
    stage.serve_again();
    run(stage.crawl("crawl", &limit)).expect(0);
    assert_eq!(pages(&stage.path("crawl")).len(), 40);
}

#[test]
fn a_lost_proxy_loses_no_page() {
    let options = ServerOptions { delay: Duration::from_millis(10), ..ServerOptions::default() };
    let mut stage = Stage::new(finite(), options);
    let all = ["--strategy", "breadth-first", "--set", "limits.hops=10000", "--set", "crawl.in_flight=8"];
    run(stage.crawl("undisturbed", &all)).expect(0);
    for requests in [50, 200] {
        let before = stage.server.requests();
        let mut command = stage.crawl("crawl", &all);
        command.args(["--set", "crawl.outage_patience=1"]);
        let mut running = Running::start(command);
        assert!(running.until(|| stage.server.requests() - before > requests), "{}", running.output("err"));
        stage.serve_again();
        let ended = running.end().expect(1);
        assert!(ended.err.contains("the proxy no longer responds; waiting for it"), "{}", ended.err);
        let lines = ended.err.lines().filter(|line| !line.starts_with("warning: ")).count();
        assert_eq!(lines, 1 + usize::from(requests == 200), "{}", ended.err);
        assert!(ended.err.contains("suidao: the proxy (fetch.proxy, --proxy) no longer responds"), "{}", ended.err);
    }
    run(stage.crawl("crawl", &all)).expect(0);
    assert!(pages(&stage.path("crawl")).keys().eq(pages(&stage.path("undisturbed")).keys()));
}

#[test]
fn a_limit_of_n_pages_gives_n_pages() {
    let stage = Stage::new(finite(), ServerOptions::default());
    for (limit, strategy) in [("1", "dth"), ("97", "best-first"), ("150", "dth"), ("211", "url-weight")] {
        let out = format!("{strategy}-{limit}");
        let arguments = ["--max-pages", limit, "--strategy", strategy, "--set", "crawl.in_flight=64"];
        run(stage.crawl(&out, &arguments)).expect(0);
        let lines = export(&stage.path(&out), &stage.path("export.jsonl"));
        assert_eq!(lines.len().to_string(), limit, "{strategy}");
        let urls: BTreeSet<&str> = lines.iter().map(|line| line["url"].as_str().unwrap()).collect();
        assert_eq!(urls.len(), lines.len(), "each page once");

        let (log, requests) = (events(&stage.path(&out)), stage.server.requests());
        run(stage.crawl(&out, &arguments)).expect(0);
        assert_eq!(stage.server.requests(), requests, "the limit is reached already: nothing is fetched");
        assert_eq!(events(&stage.path(&out)), log);
    }
}
