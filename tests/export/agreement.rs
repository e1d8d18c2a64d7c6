//! The figures of one crawl agree wherever they are shown: `why`, the report, an export, search, the search site's
//! interface, `harvest.csv` and `summary.json`.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::support::tools::is_ci;
use crate::support::{Running, Stage, ask, finite, run, suidao};
use suidao::corpus::document;
use suidao::index::Index;
use suidao::model::CrawlUrl;
use suidao::world::{ServerOptions, WebSpec};

/// Pages compared one by one.
const PAGES: usize = 12;

fn json(words: &[&str]) -> Value {
    let mut command = suidao();
    command.args(words);
    serde_json::from_str(&run(command).expect(0).out).unwrap()
}

/// What a view shows of a page: relevance, relevant or not, hops, k, depth.
type Facts = (f64, bool, u64, Option<u64>, u64);

fn facts(page: &Value) -> Facts {
    let number = |key: &str| page[key].as_u64().unwrap();
    let relevance = page["relevance"].as_f64().unwrap();
    (relevance, page["relevant"].as_bool().unwrap(), number("hops"), page["k"].as_u64(), number("depth"))
}

fn by_url(pages: &[Value]) -> BTreeMap<String, Facts> {
    pages.iter().map(|page| (page["url"].as_str().unwrap().to_owned(), facts(page))).collect()
}

fn exported(dir: &str, file: &Path) -> BTreeMap<String, Facts> {
    let mut command = suidao();
    command.args(["export", dir, "--where", "listings:yes noindex:yes", "-o"]).arg(file);
    run(command).expect(0);
    let text = fs::read_to_string(file).unwrap();
    by_url(&text.lines().map(|line| serde_json::from_str(line).unwrap()).collect::<Vec<_>>())
}

/// By the site's interface.
fn served(dir: &str) -> Value {
    let mut command = suidao();
    command.args(["serve", dir, "--listen", "0"]);
    let mut running = Running::start(command);
    while !running.output("out").ends_with("/\n") {
        assert!(!running.has_ended(), "{}", running.output("err"));
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
    let address = running.output("out").trim().trim_start_matches("http://").trim_end_matches('/').to_owned();
    let got = ask(&address, "GET", "/api/search?q=&limit=100", &address, "");
    serde_json::from_str(&got.body).unwrap()
}

fn compare(stage: &Stage, name: &str) {
    let dir = stage.path(name);
    let dir_name = dir.to_str().unwrap();
    let pages = exported(dir_name, &stage.path(&format!("{name}.jsonl")));
    let relevant = pages.values().filter(|facts| facts.1).count() as u64;
    assert!(relevant > 10, "{name}: {relevant} relevant pages prove little");

    let report = json(&["report", dir_name, "--json"]);
    assert_eq!(report["counts"]["pages"], pages.len(), "{name}");
    assert_eq!(report["counts"]["relevant"], relevant, "{name}");
    let by_hops = report["tunnels"]["by_hops"].as_array().unwrap();
    for (hops, number) in by_hops.iter().enumerate() {
        let found = pages.values().filter(|facts| facts.1 && facts.2 == hops as u64).count();
        assert_eq!(*number, found, "{name}: relevant pages after {hops} off-topic ones");
    }
    let beyond = pages.values().filter(|facts| facts.1 && facts.2 >= by_hops.len() as u64).count();
    assert_eq!(beyond, 0, "{name}");
    let last = report["harvest"]["points"].as_array().unwrap().last().unwrap().clone();
    assert_eq!((&last["pages"], &last["relevant"]), (&Value::from(pages.len()), &Value::from(relevant)), "{name}");

    let curve = fs::read_to_string(dir.join("harvest.csv")).unwrap();
    let line = curve.lines().last().unwrap();
    assert!(line.starts_with(&format!("{},{relevant},", pages.len())), "{name}: {line}");
    let summary: Value = serde_json::from_slice(&fs::read(dir.join("summary.json")).unwrap()).unwrap();
    assert_eq!((&summary["pages"], &summary["relevant"]), (&Value::from(pages.len()), &Value::from(relevant)));

    let search = json(&["search", dir_name, "--limit", "100", "--json", "--", ""]);
    let hits = by_url(search["hits"].as_array().unwrap());
    assert!(hits.len() > PAGES, "{name}");
    assert!(hits.iter().all(|(url, hit)| pages[url] == *hit), "{name}: search and export");
    assert!(served(dir_name) == search, "{name}: site and command");

    let seeds: Vec<String> = stage.world.seeds().iter().map(ToString::to_string).collect();
    let index = Index::open(&dir.join("index")).unwrap();
    for url in pages.keys() {
        let page = index.page(&document::id(&CrawlUrl::parse(url).unwrap())).unwrap().unwrap();
        let first = &index.path(&page).unwrap()[0];
        let begins = first.page.as_ref().is_some_and(|page| page.found_on.is_none());
        assert!(begins || seeds.contains(&first.url), "{name} {url}: the path begins at {}", first.url);
    }

    // Pages of the whole crawl, relevant and not.
    let every = pages.len().div_ceil(PAGES);
    for (url, exported) in pages.iter().step_by(every) {
        let why = json(&["why", dir_name, url, "--json"]);
        let page = &why["outcome"]["page"];
        let path = &page["queued_as"]["path"];
        assert_eq!(page["relevance"].as_f64(), Some(exported.0), "{name} {url}");
        assert_eq!(path["hops"], exported.2, "{name} {url}");
        assert_eq!(path["k"]["left"].as_u64().or(path["k"].as_u64()), exported.3, "{name} {url}: {path}");
        assert_eq!(path["depth"], exported.4, "{name} {url}");
        let mut words = suidao();
        words.args(["why", dir_name, url]);
        let words = run(words).expect(0).out;
        let says = words.contains(&format!("relevance {:.3}: relevant", exported.0));
        assert_eq!(says, exported.1, "{name} {url}\n{words}");
    }
}

#[test]
fn all_views_of_three_crawls_agree() {
    let options = ServerOptions::default;
    let stage = Stage::new(WebSpec { pages: 260, ..finite() }, options());
    run(stage.crawl("tunnel", &["--max-pages", "180"])).expect(0);
    compare(&stage, "tunnel");
    if is_ci() {
        run(stage.crawl("dth", &["--strategy", "dth", "--max-pages", "180"])).expect(0);
        compare(&stage, "dth");
    }
    let stage = Stage::new(WebSpec { seed: 2, pages: 260, ..finite() }, options());
    run(stage.crawl("breadth-first", &["--strategy", "breadth-first", "--max-pages", "180"])).expect(0);
    compare(&stage, "breadth-first");
    // After it was judged again, too.
    let dir = stage.path("breadth-first");
    json(&["rescore", dir.to_str().unwrap(), "--page-threshold", "0.2", "--json"]);
    fs::remove_file(stage.path("breadth-first.jsonl")).unwrap();
    compare(&stage, "breadth-first");
}
