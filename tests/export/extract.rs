//! Fields by CSS selectors, in exports and in the search.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use serde_json::{Value, json};

use crate::support::{REPLAY_DEFAULTS, Running, ask, lexicon_of, run, suidao, tools};
use scraper::{Html, Selector};
use suidao::model::{CrawlUrl, Failure, Fetched};
use suidao::replay::Web;
use suidao::world::WebServer;

/// Selectors of many kinds: name, selector, take, many.
const RULES: [(&str, &str, &str, bool); 14] = [
    ("price", "div.price > span", "text", false),
    ("all_prices", ".price span, .old", "text", true),
    ("second", "ul.list li:nth-child(2)", "text", false),
    ("odd", "ul.list > li:nth-child(odd)", "text", true),
    ("links", "a[href^='/p/']", "attr:href", true),
    ("pdf", "a[href$='.pdf']:not(.ad)", "attr:href", true),
    ("class", "[class~='new']", "text", true),
    ("next", "h2 + p", "text", true),
    ("nested", "#main section section b", "text", true),
    ("cell", "table.spec tbody tr td:first-child", "text", true),
    ("image", "img[alt]", "attr:alt", false),
    ("lang", "p[lang|='zh']", "text", true),
    ("empty", "b:empty, i:first-of-type", "text", true),
    ("missing", "video > source", "attr:src", false),
];

/// A page of a shop; each number gives another.
fn page(number: usize) -> String {
    let mut page = format!(
        "<!DOCTYPE html><html><head><title>商品 {number}</title></head><body><div id=\"main\">\
         <div class=\"price\"><span> ¥{number},299 </span><span>元</span></div>"
    );
    let items = 1 + number % 5;
    page += "<ul class=\"list\">";
    for item in 0..items {
        let _ = write!(page, "<li>项 {item} <b>{}</b></li>", number * item);
    }
    page += "</ul>";
    if number.is_multiple_of(2) {
        page += "<h2>介绍</h2><p lang=\"zh-CN\">这是 <i>第一</i> 段 &amp; 更多</p><p>二</p><span class=\"old new\">旧价</span>";
    }
    if number.is_multiple_of(3) {
        page += "<section><section><b>深</b><b></b></section></section><img src=\"x.png\" alt=\"图 片\"><img alt=\"\">";
    }
    let _ = write!(
        page,
        "<blockquote>这件商品做工细致，用料结实，适合日常使用；收到以后请先检查包装，如有破损，请在七天之内与我们联系，我们负责退换，运费由本店承担。</blockquote>\
         <table class=\"spec\"><tbody><tr><td>ISBN</td><td>{number}</td></tr><tr><td>页</td><td>9</td></tr></tbody></table>\
         <a href=\"/p/{number}.html\">自己</a> <a class=\"ad\" href=\"/ad.pdf\">ad</a> <a href=\"m{number}.pdf\">说明</a></div></body></html>"
    );
    page
}

/// Twenty pages of a shop.
struct Shop;

impl Web for Shop {
    fn get(&self, url: &CrawlUrl) -> Result<Fetched, Failure> {
        let number = url
            .path()
            .strip_prefix("/p/")
            .and_then(|name| name.strip_suffix(".html"))
            .and_then(|name| name.parse().ok());
        let (status, body) = number.map_or((404, String::new()), |number| (200, page(number)));
        let headers = vec![("content-type".to_owned(), "text/html; charset=utf-8".to_owned())];
        Ok(Fetched::new(url.clone(), status, headers, body.into_bytes()))
    }
}

const PAGES: usize = 20;

/// A crawl of the shop, the pages as files, and the rules.
fn crawled(dir: &Path) {
    let server = WebServer::start(Arc::new(Shop)).unwrap();
    fs::create_dir(dir.join("pages")).unwrap();
    let mut seeds = String::new();
    for number in 1..=PAGES {
        fs::write(dir.join(format!("pages/{number}.html")), page(number)).unwrap();
        let _ = writeln!(seeds, "http://shop.test/p/{number}.html");
    }
    fs::write(dir.join("seeds.txt"), seeds).unwrap();
    fs::write(dir.join("lexicon.toml"), lexicon_of("体育").to_toml()).unwrap();
    let mut rules = String::new();
    for (name, select, take, many) in RULES {
        let _ = writeln!(rules, "[[fields]]\nname = {name:?}\nselect = {select:?}\ntake = {take:?}\nmany = {many}");
    }
    rules += "[[fields]]\nname = \"number\"\nhosts = [\"other.test\", \"shop.test\"]\nselect = \"td:nth-child(2)\"\ntype = \"number\"\n";
    fs::write(dir.join("fields.toml"), rules).unwrap();
    let mut command = suidao();
    command.arg("crawl").arg("-o").arg(dir.join("crawl")).arg("-m").arg(dir.join("lexicon.toml"));
    command.arg("-s").arg(dir.join("seeds.txt")).args(["--proxy", &server.proxy(), "--contact", "test@example.org"]);
    command
        .args(["--strategy", "breadth-first", "--set", "scope.schemes=['http']", "--set", "traps.series=0"])
        .args(REPLAY_DEFAULTS);
    run(command).expect(0);
}

fn verb(dir: &Path, verb: &str, more: &[&str]) -> Command {
    let mut command = suidao();
    command.arg(verb).arg(dir.join("crawl")).args(more).arg("--extract").arg(dir.join("fields.toml"));
    command
}

#[test]
fn extracted_values_are_those_of_lxml_in_every_format() {
    let root = tempfile::tempdir().unwrap();
    let dir = root.path();
    crawled(dir);
    let out = |name: &str| dir.join(name).display().to_string();
    let done = run(verb(dir, "export", &["-o", &out("all.jsonl")])).expect(0);
    assert!(done.err.contains("missing: 0 of 20 pages of shop.test"), "{}", done.err);
    let text = fs::read_to_string(dir.join("all.jsonl")).unwrap();
    let mut lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), PAGES);
    for line in &mut lines {
        let number = line["extracted"].as_object_mut().unwrap().remove("number").unwrap();
        let name = line["url"].as_str().unwrap().rsplit('/').next().unwrap().trim_end_matches(".html").to_owned();
        assert_eq!(number, json!(name.parse::<f64>().unwrap()), "{name}");
    }
    for (format, name, sign) in [
        ("es-bulk", "bulk", "\"extracted\":{\""),
        ("meilisearch", "meili", "\"extracted\":{\""),
        ("quickwit", "quick", "\"extracted\":{\""),
        ("parquet", "table.parquet", "PAR1"),
    ] {
        run(verb(dir, "export", &["-q", "--format", format, "-o", &out(name)])).expect(0);
        let files = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path());
        let written: Vec<_> =
            files.filter(|path| path.file_name().unwrap().to_string_lossy().starts_with(name)).collect();
        assert!(
            written.iter().any(|path| String::from_utf8_lossy(&fs::read(path).unwrap()).contains(sign)),
            "{format}"
        );
    }
    let Some(python) = tools::python("lxml") else { return };
    let rules: serde_json::Map<String, Value> =
        RULES.iter().map(|(name, select, take, many)| ((*name).to_owned(), json!([select, take, many]))).collect();
    fs::write(dir.join("rules.json"), Value::Object(rules).to_string()).unwrap();
    let lines: Vec<String> = lines.iter().map(Value::to_string).collect();
    fs::write(dir.join("lines.jsonl"), lines.join("\n")).unwrap();
    let mut check = Command::new(python);
    check.arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/extract.py"));
    check.args(["pages", "rules.json", "lines.jsonl"].map(|name| dir.join(name)));
    let ended = run(check);
    match ended.code() {
        77 => tools::missing(ended.out.trim()),
        _ => print!("{}", ended.expect(0).out),
    }
}

#[test]
fn a_search_has_conditions_on_values_and_remembers_the_rules() {
    let root = tempfile::tempdir().unwrap();
    let dir = root.path();
    crawled(dir);
    let first = run(verb(dir, "search", &["number:<3", "--json"])).expect(0);
    let answer: Value = serde_json::from_str(&first.out).unwrap();
    assert_eq!(answer["pages"], 2, "{}", first.out);
    let mut again = suidao();
    again.arg("search").arg(dir.join("crawl")).arg("number:2..5");
    let again = run(again).expect(0);
    assert!(again.out.contains("4 pages") && again.out.contains("number 5"), "{}", again.out);
}

#[test]
fn the_search_page_lists_values_that_narrow_it_down() {
    let root = tempfile::tempdir().unwrap();
    let dir = root.path();
    crawled(dir);
    run(verb(dir, "search", &["项"])).expect(0);
    let mut command = suidao();
    command.arg("serve").arg(dir.join("crawl")).args(["--listen", "0"]);
    let mut running = Running::start(command);
    while !running.output("out").ends_with("/\n") {
        assert!(!running.has_ended(), "{}", running.output("err"));
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
    let address = running.output("out").trim().trim_start_matches("http://").trim_end_matches('/').to_owned();
    let get = |path: &str| {
        let got = ask(&address, "GET", path, &address, "");
        assert_eq!(got.status, 200, "{path}");
        Html::parse_document(&got.body)
    };
    let all = |html: &Html, selector: &str| -> Vec<(String, Option<String>)> {
        let selector = Selector::parse(selector).unwrap();
        let found = html.select(&selector);
        found.map(|one| (one.text().collect::<String>(), one.value().attr("href").map(str::to_owned))).collect()
    };
    let html = get("/search?q=");
    let headings: Vec<String> = all(&html, "aside h2").into_iter().map(|(text, _)| text).collect();
    for (field, listed) in [("class", true), ("pdf", true), ("number", false), ("missing", false)] {
        assert_eq!(headings.iter().any(|heading| heading == field), listed, "{field}: {headings:?}");
    }
    // A link leads to as many pages as it shows, and there the value is chosen. `lang:` has another meaning in a query.
    let value = "这是 第一 段 & 更多";
    let links = |html: &Html| -> Vec<Option<String>> {
        all(html, "aside a").into_iter().filter(|(text, _)| text == value).map(|(_, link)| link).collect()
    };
    let items = |html: &Html| all(html, "aside li").iter().filter(|(text, _)| *text == format!("{value} 10")).count();
    assert_eq!((links(&html).len(), items(&html)), (1, 1), "of next, not of lang");
    let narrowed = get(links(&html)[0].as_deref().unwrap());
    assert_eq!(all(&narrowed, "h1")[0].0, format!("10 pages for “next:\"{value}\"”"));
    assert_eq!((links(&narrowed).len(), items(&narrowed)), (0, 0));
    // The link of a chosen value removes it.
    let chosen = all(&narrowed, "aside a[aria-current]");
    assert_eq!((chosen.len(), chosen[0].0.as_str()), (1, format!("{value} ×").as_str()));
    assert_eq!(all(&get(chosen[0].1.as_deref().unwrap()), "h1"), all(&html, "h1"));
    // It is added to the query, and every link finds something.
    let html = get("/search?q=%E9%A1%B9&lang=zh");
    let links = all(&html, "aside a");
    assert!(links.len() > 20);
    for (text, link) in links {
        let narrowed = get(&link.unwrap());
        assert!(!all(&narrowed, ".hits article").is_empty(), "{text}");
    }
    running.signal("INT");
    running.end().expect(0);
}

#[test]
fn rules_and_selectors_are_tried_on_one_page_and_mistakes_named() {
    let root = tempfile::tempdir().unwrap();
    let file = root.path().join("page.html");
    fs::write(&file, page(6)).unwrap();
    let check = |more: &[&str]| {
        let mut command = suidao();
        command.args(["check", "page"]).arg(&file).args(["--url", "http://shop.test/p/6.html"]).args(more);
        run(command)
    };
    assert_eq!(check(&["--select", "ul.list > li"]).expect(0).out, "项 0 0\n项 1 6\n");
    assert!(check(&["--select", "video"]).expect(1).err.contains("no element matches"));
    assert!(check(&["--select", "p:has(b)"]).expect(2).err.contains(":has()"));
    let rules = root.path().join("fields.toml");
    fs::write(&rules, "[[fields]]\nname = 'isbn'\nselect = 'td:nth-child(2)'\ntype = 'number'").unwrap();
    let found: Value = serde_json::from_str(&check(&["--extract", rules.to_str().unwrap()]).expect(0).out).unwrap();
    assert_eq!(found["extracted"], json!({ "isbn": 6.0 }));
    fs::write(&rules, "[[fields]]\nname = 'isbn'\nselect = 'td'\ntyp = 'number'").unwrap();
    let wrong = check(&["--extract", rules.to_str().unwrap()]).expect(2).err;
    assert!(wrong.contains("line 4: unknown field `typ`"), "{wrong}");
}
