//! Search on the command line and over HTTP: equal answers, valid pages, text of pages never taken as markup, and a
//! check in a real browser if there is one.

use std::collections::BTreeSet;
use std::process::Command;

use crate::support::chinese::assert_chinese;
use crate::support::{Answer, Running, Stage, ask, finite, run, suidao, tools};
use scraper::{Html, Selector};
use serde_json::Value;
use suidao::world::ServerOptions;

/// A crawl that is being served.
struct Served {
    stage: Stage,
    running: Running,
    address: String,
}

impl Served {
    fn new() -> Self {
        let stage = Stage::new(finite(), ServerOptions::default());
        run(stage.crawl("crawl", &["--max-pages", "200"])).expect(0);
        let mut command = suidao();
        command.arg("serve").arg(stage.path("crawl")).args(["--listen", "0", "--name", "Corpus.example.cn"]);
        let mut running = Running::start(command);
        while !running.output("out").ends_with("/\n") {
            assert!(!running.has_ended(), "{}", running.output("err"));
            std::thread::sleep(std::time::Duration::from_millis(2));
        }
        let address = running.output("out").trim().trim_start_matches("http://").trim_end_matches('/').to_owned();
        Self { stage, running, address }
    }

    fn ask(&self, method: &str, path: &str, language: &str) -> Answer {
        self.ask_as(&self.address, method, path, language)
    }

    fn ask_as(&self, host: &str, method: &str, path: &str, language: &str) -> Answer {
        ask(&self.address, method, path, host, &format!("Accept-Language: {language}\r\n"))
    }

    fn get(&self, path: &str) -> Html {
        let got = self.ask("GET", path, "en");
        assert_eq!(got.status, 200, "{path}\n{}", got.body);
        sound(path, &got.body)
    }

    fn search(&self, more: &[&str]) -> Value {
        let mut command = suidao();
        command.arg("search").arg(self.stage.path("crawl")).arg("--json").args(more);
        serde_json::from_str(&run(command).expect(0).out).unwrap()
    }
}

fn all<'a>(html: &'a Html, selector: &str) -> Vec<scraper::ElementRef<'a>> {
    html.select(&Selector::parse(selector).unwrap()).collect()
}

fn text(html: &Html, selector: &str) -> String {
    all(html, selector).iter().flat_map(|element| element.text()).collect()
}

/// Checks what every page must have.
fn sound(path: &str, body: &str) -> Html {
    let html = Html::parse_document(body);
    assert!(html.errors.is_empty(), "{path}: {:?}", html.errors);
    for (one, what) in
        [("h1", "heading"), ("main", "main part"), ("form[role=search]", "search box"), ("html[lang]", "language")]
    {
        assert_eq!(all(&html, one).len(), 1, "{path}: one {what}");
    }
    assert_eq!(all(&html, "label[for=q]").len(), 1, "{path}: the box has a label");
    assert_eq!(all(&html, "a.skip[href='#main']").len(), 1, "{path}: a link that skips");
    assert_eq!(all(&html, "script, iframe, object, img").len(), 0, "{path}: nothing that runs or is fetched");
    for link in all(&html, "a") {
        let href = link.value().attr("href").unwrap();
        assert!(["/", "http://", "https://", "#"].iter().any(|start| href.starts_with(start)), "{path}: {href}");
    }
    html
}

#[test]
fn chinese_pages_show_no_english() {
    let served = Served::new();
    let id = served.search(&["足球"])["hits"][0]["id"].as_str().unwrap().to_owned();
    for (path, status) in [
        ("/", 200),
        ("/search?q=%E8%B6%B3%E7%90%83", 200),
        ("/search?q=%E8%B6%B3%E7%90%83&relevant=yes&duplicates=keep", 200),
        ("/search?q=qqqqqqq", 200),
        (&format!("/page?id={id}"), 200),
        ("/nothing", 404),
        ("/search?q=x&p=99999", 400),
        ("/search?q=%E8%B6%B3%E7%90%83&p=90", 404),
    ] {
        let got = served.ask("GET", path, "zh-CN,zh;q=0.9,en;q=0.1");
        assert_eq!(got.status, status, "{path}");
        assert_chinese(path, &got.body, &["qqqqqqq"]);
    }
}

#[test]
fn the_site_answers_as_the_command_does() {
    let served = Served::new();
    // Requests under another host name are rejected.
    for (host, status) in [("evil.example.com", 421), ("localhost", 200), ("corpus.example.cn:80", 200)] {
        assert_eq!(served.ask_as(host, "GET", "/", "en").status, status, "{host}");
    }
    // The parts of a score are explained.
    let html = served.get("/search?q=%E8%B6%B3%E7%90%83");
    assert!(text(&html, ".hits details").contains("BM25") && !all(&html, ".hits details ul li").is_empty());
    let queries = ["", "足球", "\"足球\" -篮球", "host:test", "zzzz"];
    for query in queries {
        let encoded: String = url::form_urlencoded::byte_serialize(query.as_bytes()).collect();
        let got = served.ask("GET", &format!("/api/search?q={encoded}&limit=7"), "en");
        assert_eq!((got.status, got.head.contains("application/json")), (200, true));
        let api: Value = serde_json::from_str(&got.body).unwrap();
        assert_eq!(api, served.search(&["--limit", "7", "--", query]), "{query}");
    }

    // Every matching page is on exactly one page of results.
    let whole = served.search(&["--limit", "1000", "--", ""]);
    let total = whole["pages"].as_u64().unwrap();
    assert!(total > 20, "{total}");
    let mut seen = BTreeSet::new();
    for page in 1..=total.div_ceil(10) {
        let html = served.get(&format!("/search?q=&p={page}"));
        assert_eq!(text(&html, ".pages a[aria-current=page]"), page.to_string());
        for hit in all(&html, ".hits h2 a") {
            assert!(seen.insert(hit.value().attr("href").unwrap().to_owned()), "twice");
        }
    }
    let urls: BTreeSet<String> =
        whole["hits"].as_array().unwrap().iter().map(|hit| hit["url"].as_str().unwrap().to_owned()).collect();
    assert_eq!(seen, urls);
    assert_eq!(served.ask("GET", &format!("/search?q=&p={}", total.div_ceil(10) + 1), "en").status, 404);

    // Each facet counts every page once, and its links lead to as many.
    let html = served.get("/search?q=");
    for group in all(&html, "aside section") {
        let small = Selector::parse("small").unwrap();
        let count =
            |element: scraper::ElementRef| element.text().collect::<String>().replace(',', "").parse::<u64>().unwrap();
        assert_eq!(group.select(&small).map(count).sum::<u64>(), total);
        let item = Selector::parse("li").unwrap();
        let link = Selector::parse("a").unwrap();
        for item in group.select(&item).take(2) {
            let Some(link) = item.select(&link).next() else { continue };
            let narrowed = served.get(link.value().attr("href").unwrap());
            let number = count(item.select(&small).next().unwrap());
            assert!(text(&narrowed, "h1").starts_with(&format!("{number} page")), "{}", text(&narrowed, "h1"));
            let away = all(&narrowed, ".chosen a");
            assert_eq!(text(&served.get(away[0].value().attr("href").unwrap()), "h1"), text(&html, "h1"));
        }
    }

    // One page, and the path to it.
    let first = &whole["hits"][0];
    let html = served.get(&format!("/page?id={}", first["id"].as_str().unwrap()));
    assert_eq!(text(&html, "h1"), first["title"].as_str().unwrap());
    assert!(text(&html, "code").contains("suidao why") && !all(&html, ".path li").is_empty());
    served.get("/");

    // Headers, languages, and invalid requests.
    let got = served.ask("GET", "/search?q=%E8%B6%B3%E7%90%83", "zh-TW,zh;q=0.9,en;q=0.1");
    assert!(got.body.contains("<html lang=\"zh-CN\">") && got.body.contains("搜索"), "{}", got.body);
    assert!(text(&sound("zh", &got.body), "mark").contains("足球"));
    for header in ["content-security-policy: default-src 'none'", "nosniff", "referrer-policy: no-referrer"] {
        assert!(got.head.contains(header), "{}", got.head);
    }
    let long = "x".repeat(600);
    for (path, status) in [
        ("/nothing", 404),
        ("/page?id=no", 404),
        ("/search?p=0", 400),
        ("/search?p=101", 400),
        ("/search?year=x", 400),
        ("/search?lang=xx", 400),
        (&*format!("/search?q={long}"), 400),
    ] {
        let got = served.ask("GET", path, "en");
        assert_eq!(got.status, status, "{path}");
        sound(path, &got.body);
    }
    assert_eq!(served.ask("GET", "/api/search?limit=1000", "en").status, 400);
    assert_eq!(served.ask("POST", "/", "en").status, 405);
    let html = served.get("/search?q=%3Cscript%3Ealert(1)%3C/script%3E%22%27");
    assert!(text(&html, "h1").contains("<script>alert(1)</script>\"'"), "it is shown as it was typed");
    browse(&served);
    served.running.signal("INT");
    served.running.end().expect(0);
}

/// A browser at a phone's width must build the same tree.
fn browse(served: &Served) {
    let Some(browser) = tools::browser() else { return };
    let profile = tempfile::tempdir().unwrap();
    let mut command = Command::new(browser);
    command.args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"]);
    command.args([
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
        "--window-size=390,844",
    ]);
    command.arg(format!("--user-data-dir={}", profile.path().display())).arg("--dump-dom");
    command.arg(format!("http://{}/search?q=%E8%B6%B3%E7%90%83", served.address));
    let ended = run(command).expect(0);
    let html = sound("in the browser", &ended.out);
    assert!(!all(&html, ".hits article").is_empty(), "{}", ended.out);
}

#[test]
fn searching_makes_the_index_and_keeps_it_up_to_date() {
    let stage = Stage::new(finite(), ServerOptions::default());
    run(stage.crawl("crawl", &["--max-pages", "60"])).expect(0);
    let search = |more: &[&str]| {
        let mut command = suidao();
        command.arg("search").arg(stage.path("crawl")).args(more);
        run(command)
    };
    let first = search(&["足球"]).expect(0);
    assert!(
        first.err.contains("Building the index (60 pages)") && first.out.contains("«足球»"),
        "{}\n{}",
        first.err,
        first.out
    );
    assert_eq!(search(&["足球"]).expect(0).err, "", "it is there");
    let nothing = search(&["zzzz"]).expect(0);
    assert!(nothing.out.contains("no page matches zzzz (60 pages searched)"), "{}", nothing.out);
    run(stage.crawl("crawl", &["--max-pages", "90"])).expect(0);
    let more = search(&["--limit", "1", "--explain", ""]).expect(0);
    assert!(more.err.contains("Updating the index") && more.out.contains("path:"), "{}\n{}", more.err, more.out);
    let other = stage.path("other");
    let mut command = suidao();
    command.arg("export").arg(stage.path("crawl")).args(["--format", "index", "--relevant", "-o"]).arg(&other);
    run(command).expect(0);
    let index = suidao::index::Index::open(&other).unwrap();
    assert!(index.origin().pages < 90 && !index.origin().whole);
    assert!(index.matching("").unwrap().iter().all(|page| page.relevant));
    // An unreadable index is rebuilt.
    std::fs::write(stage.path("crawl/index/meta.json"), "{").unwrap();
    assert!(search(&["足球"]).expect(0).err.contains("Rebuilding the unreadable index"));
    let mut command = suidao();
    command.arg("search").arg(stage.path("nowhere")).arg("x");
    assert!(run(command).expect(2).err.contains("contains no crawl"));
}

#[test]
fn the_next_search_removes_the_files_of_a_killed_one() {
    let stage = Stage::new(finite(), ServerOptions::default());
    run(stage.crawl("crawl", &[])).expect(0);
    let search = || {
        let mut command = suidao();
        command.arg("search").arg(stage.path("crawl")).arg("足球");
        command
    };
    let parts = || {
        let entries = std::fs::read_dir(stage.path("crawl")).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        names.filter(|name| name.starts_with(".suidao-")).count()
    };
    // It may finish before it is seen: then once more from the start.
    let killed = (0..20).any(|_| {
        let _ = std::fs::remove_dir_all(stage.path("crawl/index"));
        let mut running = Running::start(search());
        let begun = running.until(|| parts() > 0);
        running.kill();
        begun && parts() > 0
    });
    assert!(killed, "no search was killed while it made its index");
    run(search()).expect(0);
    assert_eq!(parts(), 0);
}
