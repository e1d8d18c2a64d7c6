//! No English in the Chinese messages; `report` and `serve` test whole pages.

use std::fs;
use std::path::Path;

use crate::support::chinese::{english, english_words};

#[test]
fn chinese_messages_have_no_english_words() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("crates/suidao-page/src/messages/zh.txt");
    let table = fs::read_to_string(path).unwrap();
    let messages = table.lines().filter_map(|line| line.split_once(" = "));
    let found: Vec<_> =
        messages.map(|(key, text)| (key, english(text))).filter(|(_, words)| !words.is_empty()).collect();
    assert!(table.lines().count() > 300 && found.is_empty(), "{found:?}");
}

#[test]
fn english_words_are_found() {
    let page = "<html lang=\"zh-CN\"><p title=\"no\">用 suidao 抓取 a.cn/x，others</p><p lang=\"en\">English</p>\
                <details><dl><dt>crawl<dd>x</dl></details><code>why</code>";
    assert_eq!(english_words(page, &[]), ["no", "others"]);
    assert_eq!(english_words(page, &["no", "others"]), [""; 0]);
}
