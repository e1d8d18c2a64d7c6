//! What a Chinese page shows in English.

use scraper::{ElementRef, Html, Selector};

/// Words that Chinese readers write with Latin letters: names of programs, formats, measures and units.
const NAMES: &[&str] = &[
    "suidao",
    "PageRank",
    "Prometheus",
    "BM25",
    "HTTP",
    "TLS",
    "UTC",
    "FILE",
    "k",
    "kB",
    "MB",
    "GB",
    "noindex",
    "nofollow",
    "tunnel",
    "best",
    "rescore",
    "graph",
    "why",
    "ulimit",
    "traps",
    "terms",
];

/// Words with Latin letters that the page shows or reads aloud, except names, flags, keys, URLs and file names, code,
/// settings and parts marked as another language. `own`: words of the crawled pages.
pub fn english_words(page: &str, own: &[&str]) -> Vec<String> {
    let html = Html::parse_document(page);
    let all = Selector::parse("*").unwrap();
    let mut shown = Vec::new();
    for element in html.select(&all).filter(is_shown_in_chinese) {
        let attributes = ["aria-label", "title", "alt"].into_iter().filter_map(|name| element.attr(name));
        shown.extend(attributes.map(str::to_owned));
        shown.extend(element.children().filter_map(|child| Some(child.value().as_text()?.to_string())));
    }
    let is_outside = |c: char| c.is_whitespace() || !c.is_ascii();
    let words = shown.iter().flat_map(|text| text.split(is_outside));
    let is_digest = |word: &str| word.len() == 40 && word.bytes().all(|byte| byte.is_ascii_hexdigit());
    let is_address = |word: &str| word.starts_with("--") || word.contains(['.', '/', '_', '=']) || is_digest(word);
    let words =
        words.filter(|word| !is_address(word)).map(|word| word.trim_matches(|c: char| c.is_ascii_punctuation()));
    let is_english = |word: &&str| word.contains(|c: char| c.is_ascii_alphabetic()) && !NAMES.contains(word);
    words.filter(is_english).filter(|word| !own.contains(word)).map(str::to_owned).collect()
}

fn is_shown_in_chinese(element: &ElementRef) -> bool {
    let ancestors = || std::iter::once(*element).chain(element.ancestors().filter_map(ElementRef::wrap));
    let is_left_out = |it: ElementRef| ["style", "code", "mark"].contains(&it.value().name()) || is_setting(it);
    let lang = ancestors().find_map(|it| it.attr("lang")).unwrap_or_default();
    lang.starts_with("zh") && !ancestors().any(is_left_out)
}

/// The keys and values of the configuration.
fn is_setting(element: ElementRef) -> bool {
    let names = element.value().name() == "dl";
    names && element.parent().and_then(ElementRef::wrap).is_some_and(|it| it.value().name() == "details")
}

pub fn assert_chinese(what: &str, page: &str, own: &[&str]) {
    assert!(page.contains("<html lang=\"zh-CN\">"), "{what}: {page}");
    let words = english_words(page, own);
    assert!(words.is_empty(), "{what}: {words:?}");
}

#[test]
fn english_is_found() {
    let page = "<html lang=\"zh-CN\"><p title=\"no\">用 suidao 抓取 a.cn/x，others</p><p lang=\"en\">English</p>\
                <details><dl><dt>crawl<dd>x</dl></details><code>why</code>";
    assert_eq!(english_words(page, &[]), ["no", "others"]);
    assert_eq!(english_words(page, &["no", "others"]), [""; 0]);
}
