//! Rules and what they find on small pages.

use proptest::prelude::*;
use serde_json::json;
use suidao_page::model::{CrawlUrl, Fetched};
use suidao_page::read::dom::Dom;

use super::*;

const PAGE: &str = r#"<base href="/shop/"><title>Go</title>
<script type="application/ld+json">{"@graph": [{"@type": "Product", "brand": {"@type": "Brand", "name": "隧道"},
 "offers": [{"price": "1299.50"}, {"price": 1199}], "gtin": 978, "datePublished": "2021-03-05T08:00:00+08:00"}]}</script>
<script type="application/ld+json">{broken</script>
<div class="price"><span> ¥1,299.50 </span><span>元</span></div>
<ul><li><a href="a.html">一</a><li><a href="/b.html">二 <b>2</b></a></ul>
<div itemscope><div itemprop="offers" itemscope><meta itemprop="price" content="99"><time itemprop="from" datetime="2022-01-02">今天</time></div></div>
<table><tr><td>ISBN</td><td>978-7-111</td></tr></table>
<article><p>first <i>paragraph</i></p><div class="ad">buy</div><p>second<br>line</p><script>no</script></article>"#;

fn url() -> CrawlUrl {
    CrawlUrl::parse("http://www.shop.cn/p/1").unwrap()
}

fn extract(extractor: &Extractor, html: &str) -> Extracted {
    extractor.extract(&Dom::of(&Fetched::html(url(), html.to_owned())))
}

fn extracted(rules: &str) -> Extracted {
    extract(&Extractor::parse(rules).unwrap(), PAGE)
}

#[test]
fn values_come_from_selectors_json_ld_and_microdata() {
    let rules = r#"
        [[fields]]
        name = "price"
        hosts = ["shop.cn"]
        select = "div.price > span"
        type = "number"
        [[fields]]
        name = "links"
        select = "li > a"
        take = "attr:href"
        many = true
        type = "url"
        [[fields]]
        name = "labels"
        select = "li > a"
        take = "html"
        many = true
        [[fields]]
        name = "prices"
        jsonld = "offers.price"
        many = true
        type = "number"
        [[fields]]
        name = "brand"
        select = ".none"
        jsonld = "brand"
        [[fields]]
        name = "day"
        jsonld = "datePublished"
        type = "date"
        [[fields]]
        name = "from"
        microdata = "offers.from"
        type = "date"
        [[fields]]
        name = "offer"
        microdata = "offers.price"
        [[fields]]
        name = "isbn"
        select = "table > tbody > tr > td:nth-child(2)"
        [[fields]]
        name = "missing"
        select = "h6"
        [[fields]]
        name = "elsewhere"
        hosts = ["other.cn", "hop.cn"]
        select = "title"
    "#;
    let extractor = Extractor::parse(rules).unwrap();
    let found = extract(&extractor, PAGE);
    let expected = json!({
        "price": 1299.5,
        "links": ["http://www.shop.cn/shop/a.html", "http://www.shop.cn/b.html"],
        "labels": ["一", "二 <b>2</b>"],
        "prices": [1299.5, 1199.0],
        "brand": "隧道",
        "day": "2021-03-05",
        "from": "2022-01-02",
        "offer": "99",
        "isbn": "978-7-111",
    });
    assert_eq!(serde_json::Value::Object(found.values), expected);
    assert_eq!(found.text, None);
    let missed: Vec<String> =
        extractor.hit_rates().into_iter().filter(|rate| rate.hits == 0).map(|rate| rate.field).collect();
    assert_eq!((missed, extractor.hit_rates().len()), (vec!["missing".to_owned()], 10));
}

#[test]
fn the_rule_of_a_host_comes_before_that_of_all() {
    let rules = "[[fields]]\nname = 'a'\nselect = 'title'\n[[fields]]\nname = 'a'\nhosts = ['shop.cn']\nselect = 'td'";
    assert_eq!(extracted(rules).values["a"], "ISBN");
    let fallback = rules.replace("'td'", "'h6'");
    assert_eq!(extracted(&fallback).values["a"], "Go");
}

#[test]
fn the_main_text_is_corrected_by_rules_of_pages() {
    let rules = "[[pages]]\nhosts = ['shop.cn']\ncontent = 'article'\ndrop = ['.ad']";
    assert_eq!(extracted(rules).text.unwrap(), "first paragraph\nsecond\nline");
    let nothing = "[[pages]]\nhosts = ['shop.cn']\ncontent = '.none'";
    assert_eq!(extracted(nothing).text, None, "what reading found stays");
    let drop = "[[pages]]\nhosts = ['shop.cn']\ndrop = ['table', 'ul', 'article']";
    assert_eq!(extracted(drop).text.unwrap(), "¥1,299.50 元\n今天");
}

#[test]
fn a_mistake_in_the_rules_is_named() {
    let field = |line: &str| format!("[[fields]]\nname = 'a'\n{line}");
    for (rules, message) in [
        ("", "there is no rule"),
        ("[[fields]]\nname = 'a'\nselekt = 'p'", "line 3: unknown field `selekt`"),
        ("[[fields]]\nname = ''\nselect = 'p'", "the name must have 1 to 100 letters"),
        (&field(""), "there is no source"),
        (&field("select = 'p'\ntake = 'all'"), "take = \"all\" is not"),
        (&field("take = 'text'\njsonld = 'a'"), "take needs select"),
        (&field("jsonld = 'a..b'"), "not a path of at most 8 keys"),
        (&field("select = ''"), "the selector is empty"),
        (&field("select = 'p::before'"), "pseudo-element"),
        (&field("select = 'p[a'"), "unclosed or unexpected bracket"),
        (&field("select = 'p)'"), "unclosed or unexpected bracket"),
        (&field("select = 'p[a=\"x]'"), "unclosed or unexpected bracket"),
        (&field("select = 'p:has(a)'"), "uses :has()"),
        (&field("select = 'p~a'"), "sibling combinator ~"),
        (&field("select = 'p:nth-last-child(1)'"), "uses :nth-last-child"),
        (&field("select = 'p >'"), "is not CSS"),
        (&field("select = 'p:visited'"), "is not CSS"),
        (&field(&format!("select = '{}'", "p ".repeat(600))), "1,000"),
        (&format!("{0}\n{0}", field("select = 'p'")), "two rules for any host"),
        (
            &format!("{}\n{}", field("select = 'p'"), field("select = 'b'\nhosts = ['a']\nmany = true")),
            "different type or many",
        ),
        ("[[pages]]\nhosts = []\ncontent = 'p'", "hosts is empty"),
        ("[[pages]]\nhosts = ['a.cn']", "neither content nor drop"),
        (&field("select = 'p'\ntype = 'money'"), "line 4"),
    ] {
        let error = Extractor::parse(rules).unwrap_err().to_string();
        assert!(error.contains(message) || message == "1,000" && error.contains("at most 1000"), "{rules}: {error}");
    }
    // An attribute may contain what is refused elsewhere.
    assert!(CheckedSelector::parse("a[href~='x'], [title=\"p::b :has( ~ (\"]").is_ok());
}

#[test]
fn a_page_beyond_the_limits_is_cut_and_not_followed_forever() {
    let deep = "<div>".repeat(100_000);
    let wide = "<p>x".repeat(100_000);
    let rules = "[[fields]]\nname = 'a'\nselect = 'div div p, p + p, p:nth-child(3)'\nmany = true";
    for page in [deep, wide.clone(), format!("<table>{}", "<tr><td>".repeat(50_000)), "<a b=".repeat(50_000)] {
        let found = extract(&Extractor::parse(rules).unwrap(), &page);
        let values = found.values.get("a").and_then(serde_json::Value::as_array).map_or(0, Vec::len);
        assert!(values <= 1_000);
    }
    let wide = Fetched::html(url(), wide);
    let tree = PageTree::of(&Dom::of(&wide));
    assert_eq!(
        tree.select(&CheckedSelector::parse("p").unwrap()).count(),
        25_000 - 1,
        "html, body, and a text for each"
    );
}

proptest! {
    #[test]
    fn any_selector_and_any_page_have_an_answer(selector in "[a-z.#*:>+~\\[\\]()\"'= ,\\\\-]{0,40}", page in "(<[a-z/]{0,6}[ =\"a-z]{0,6}>?|[a-z ]{0,4}){0,40}") {
        let selector = selector.replace('\\', "\\\\").replace('"', "\\\"");
        let rules = format!("[[fields]]\nname = \"a\"\nselect = \"{selector}\"\n[[pages]]\nhosts = [\"shop.cn\"]\ndrop = [\"a\"]");
        if let Ok(extractor) = Extractor::parse(&rules) {
            extract(&extractor, &page);
        }
    }
}
