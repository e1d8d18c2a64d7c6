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
    "GET",
    "localhost",
    "cluster",
    "stop",
    "noindex:yes",
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
    shown.iter().flat_map(|text| english(text)).filter(|word| !own.contains(&word.as_str())).collect()
}

/// Words of a text with Latin letters, except names, flags, keys, URLs and file names.
pub fn english(text: &str) -> Vec<String> {
    let words = text.split(|c: char| c.is_whitespace() || !c.is_ascii());
    let words = words.filter(|word| !word.starts_with('-') && !word.contains('/'));
    let words = words.map(|word| word.trim_matches(|c: char| c.is_ascii_punctuation()));
    let is_digest = |word: &str| word.len() == 40 && word.bytes().all(|byte| byte.is_ascii_hexdigit());
    let is_name = |word: &str| NAMES.contains(&word) || word.contains(['.', '_', '=']) || is_digest(word);
    let is_english = |word: &&str| word.contains(|c: char| c.is_ascii_alphabetic()) && !is_name(word);
    words.filter(is_english).map(str::to_owned).collect()
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
