//! Recognizes short lines by their phrases: navigation, metadata of an article, thanks and requests, boilerplate
//! headings.

use std::borrow::Cow;

use super::words::{LINES, SectionWords};

/// Whether a line is navigation or footer: breadcrumb, page numbers, previous and next page, copyright or software
/// notice. `linked`: at least half of it is links.
pub(super) fn is_navigation(line: &str, linked: bool) -> bool {
    let lower = lowered(without_marks(line));
    is_pagination(line) && lower.chars().count() <= 40
        || is_breadcrumb(&lower, linked)
        || is_pager(&lower, linked)
        || is_notice(&lower)
}

/// Whether a line is metadata of an article (`Some`), and whether it contains the value.
pub(super) fn is_metadata_line(line: &str) -> Option<bool> {
    let lower = lowered(without_marks(line));
    let rest = LABELS.iter().find_map(|label| lower.strip_prefix(label))?.trim_start();
    let apart = rest.is_empty()
        || rest.starts_with([':', '：', '|', '丨', '≈', '～'])
        || rest.starts_with(|c: char| c.is_ascii_digit())
        || SENTENCE_LABELS.iter().any(|label| lower.starts_with(label));
    apart.then(|| rest.chars().any(char::is_alphanumeric))
}

/// The line without signs at the start.
pub(super) fn without_marks(line: &str) -> &str {
    line.trim().trim_start_matches(|c: char| !c.is_alphanumeric() && !matches!(c, '©' | '<' | '《'))
}

fn lowered(line: &str) -> Cow<'_, str> {
    if line.bytes().any(|byte| byte.is_ascii_uppercase()) {
        Cow::Owned(line.to_ascii_lowercase())
    } else {
        Cow::Borrowed(line)
    }
}

static LABELS: SectionWords = SectionWords::of(LINES, "metadata labels");
static SENTENCE_LABELS: SectionWords = SectionWords::of(LINES, "sentences");

/// Whether a block links to the previous and next page.
pub(super) fn is_pagination(text: &str) -> bool {
    static BEGINNINGS: SectionWords = SectionWords::of(LINES, "pagination");
    static WHOLE: SectionWords = SectionWords::of(LINES, "whole pagination");
    let bare = text.trim_matches(|c: char| !c.is_alphanumeric());
    BEGINNINGS.iter().any(|turn| bare.starts_with(turn)) || WHOLE.iter().any(|turn| bare.eq_ignore_ascii_case(turn))
}

/// A breadcrumb: links from the front page to this one.
fn is_breadcrumb(text: &str, linked: bool) -> bool {
    let steps = text.matches(['»', '›']).count() + text.matches(" > ").count();
    let home = ["首页", "主页", "home", "当前位置", "您的位置", "你的位置", "目前位置"]
        .iter()
        .any(|word| text.starts_with(word));
    steps > 0 && (linked || home) && text.chars().count() <= 100
}

/// A row of page numbers.
fn is_pager(text: &str, linked: bool) -> bool {
    static WORDS: SectionWords = SectionWords::of(LINES, "pager");
    if text.len() > 240 || !text.bytes().any(|byte| byte.is_ascii_digit()) {
        return false;
    }
    // More letters than the words of a pager have.
    if text.chars().filter(|c| c.is_alphanumeric() && !c.is_ascii_digit()).count() > 24 {
        return false;
    }
    let mut rest = text.to_owned();
    let mut named = false;
    for word in WORDS.iter() {
        if rest.contains(word) {
            rest = rest.replace(word, " ");
            named = true;
        }
    }
    let digits = rest.chars().all(|c| c.is_ascii_digit() || !c.is_alphanumeric());
    let numbers = rest.split(|c: char| !c.is_ascii_digit()).filter(|number| !number.is_empty()).count();
    // A lone number may be a quantity, and one with points a date or version.
    digits
        && !rest.contains(['.', '/', '-', '年'])
        && (named && text.contains(['页', '頁', 'ペ', 'p']) || linked && numbers > 1)
}

/// A copyright or software notice in a footer.
fn is_notice(text: &str) -> bool {
    let begins =
        ["©", "copyright ©", "copyright (c)", "powered by", "版权所有", "all rights reserved", "theme by", "hosted by"];
    begins.iter().any(|word| text.starts_with(word))
        || text.contains("强力驱动")
        || text.contains("icp备")
        || text.contains("icp证")
}

/// Thanks, and requests for money, comments or followers.
pub(super) fn is_closing(line: &str) -> bool {
    static WORDS: SectionWords = SectionWords::of(LINES, "thanks");
    static WHOLE: SectionWords = SectionWords::of(LINES, "whole thanks");
    if line.len() > 200 {
        return false;
    }
    let spaceless: String = lowered(line).chars().filter(|c| !c.is_whitespace()).collect();
    let bare = spaceless.trim_matches(|c: char| !c.is_alphanumeric());
    let short = spaceless.chars().count() <= 40;
    short && WORDS.iter().any(|word| spaceless.contains(word)) || WHOLE.contains(&bare)
}

/// Whether a line above a text names its time or author: short, with a date or time, or beginning with `By`.
pub(super) fn is_dateline(line: &str) -> bool {
    static BY: SectionWords = SectionWords::of(LINES, "by");
    let line = line.trim();
    if line.chars().count() > 80 {
        return false;
    }
    let ends = line.ends_with(['.', '?', '!', ':', '。', '？', '！', '：', '…']);
    let words = line.split_whitespace().count();
    // Names begin with a capital if their script has them.
    let name = BY.iter().find_map(|by| line.strip_prefix(by));
    if !ends
        && words <= 8
        && name.is_some_and(|name| name.starts_with(|c: char| c.is_alphanumeric() && !c.is_lowercase()))
    {
        return true;
    }
    let numbers: Vec<&str> = line.split(|c: char| !c.is_ascii_digit()).filter(|number| !number.is_empty()).collect();
    let year = numbers.iter().any(|number| number.len() == 4 && ("1990".."2100").contains(number));
    let time = line.bytes().collect::<Vec<_>>().windows(4).any(|four| {
        let [a, colon, b, c] = four else { return false };
        a.is_ascii_digit() && *colon == b':' && b.is_ascii_digit() && c.is_ascii_digit()
    });
    // A label may assign the date to anything.
    let labelled = line.contains(": ") || line.contains('：');
    !ends && !labelled && (year && numbers.len() > 1 || time)
}

/// Whether a heading marks what follows as boilerplate.
pub(super) fn is_boilerplate_heading(text: &str) -> bool {
    static NAMES: SectionWords = SectionWords::of(LINES, "boilerplate");
    let text = text.trim_matches(|c: char| !c.is_alphanumeric());
    NAMES.iter().any(|name| text.eq_ignore_ascii_case(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_label_stands_before_one_that_goes_on() {
        for (at, label) in LABELS.iter().enumerate() {
            assert!(!LABELS[at + 1..].iter().any(|later| later.starts_with(label)), "{label}");
        }
        assert_eq!(is_metadata_line("Kategorien: Reisen"), Some(true));
        assert_eq!(is_metadata_line("Kategorie: Reisen"), Some(true));
        assert_eq!(is_metadata_line("Kategorienlehre"), None);
    }
}
