//! What may be the name of an author.

use crate::read::markup::fold_into;
use crate::read::words::{AUTHORS, SectionWords};

/// Maximum length of a name in characters.
const LONGEST: usize = 40;

static PLACEHOLDERS: SectionWords = SectionWords::of(AUTHORS, "placeholders");

/// A name with white space folded and without what follows it on the line. `None` if it is missing, an address, a
/// placeholder, an account, or a site.
pub(super) fn name_of(text: &str) -> Option<String> {
    const ENDS: [char; 19] =
        ['»', '|', '｜', '•', '·', '丨', '\n', '(', '（', '[', '【', '<', '/', '，', '；', ')', '）', ']', '】'];
    static AFTER: SectionWords = SectionWords::of(AUTHORS, "after");
    let mut text = text.trim().trim_start_matches(['@', ':', '：']).trim_start();
    static BEFORE: SectionWords = SectionWords::of(AUTHORS, "before");
    let without = |word: &&str| {
        let head = text.get(..word.len()).filter(|head| head.eq_ignore_ascii_case(word))?;
        Some(text[head.len()..].trim_start()).filter(|rest| rest.starts_with(char::is_uppercase))
    };
    text = BEFORE.iter().find_map(without).unwrap_or(text);
    if text.contains("://") || text.starts_with("www.") {
        return None;
    }
    for label in AFTER.iter() {
        if let Some((name, _)) = text.split_once(label) {
            text = name;
        }
    }
    // Another fact with a label follows.
    if let Some(at) = text.find(['：', ':'])
        && let Some(end) = text[..at].rfind(char::is_whitespace)
    {
        text = text[..end].trim_end();
    }
    // Cut an address or a date after the name.
    if let Some((name, rest)) = text.split_once([',', '，'])
        && rest.contains('@')
    {
        text = name;
    }
    let dated = |at: &usize| {
        let (year, rest) = text[*at..].split_at_checked(4).unwrap_or_default();
        year.bytes().all(|byte| byte.is_ascii_digit()) && rest.starts_with(['-', '/', '.', '年'])
    };
    if let Some((at, _)) = text.char_indices().find(|(at, c)| c.is_ascii_digit() && dated(at)) {
        text = &text[..at];
    }
    let digits = text
        .as_bytes()
        .windows(4)
        .position(|four| four.iter().all(u8::is_ascii_digit) && matches!(four[0], b'1' | b'2'));
    if let Some(at) = digits.filter(|&at| at > 0 && text.as_bytes()[at - 1] == b' ') {
        text = &text[..at];
    }
    let text = text.split(ENDS).next().unwrap_or_default();
    let mut name = String::new();
    fold_into(&mut name, text.trim_end_matches([' ', ',', ';', '-', '–']));
    let letters = name.chars().filter(|c| c.is_alphanumeric()).count();
    let sentence =
        name.contains(['。', '？', '！', '?']) || name.ends_with(['.', '：', ':']) && name.split(' ').count() > 4;
    let fits = letters > 0 && name.chars().count() <= LONGEST && !sentence;
    (fits && !is_no_person(&name)).then_some(name)
}

/// Whether it is a placeholder, part of a template, a program, an account or a site.
fn is_no_person(name: &str) -> bool {
    static SITES: SectionWords = SectionWords::of(AUTHORS, "sites");
    /// Digits of an account's number.
    const NUMBER: usize = 5;
    let template = ["{{", "}}", "${", "<%", "%s", "{$"].iter().any(|sign| name.contains(sign));
    let digits = name.bytes().filter(u8::is_ascii_digit).count();
    let domain = || {
        let (_, last) = name.rsplit_once('.').unwrap_or_default();
        let is_label = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '.');
        (2..=4).contains(&last.len()) && name.chars().all(is_label) && last.bytes().all(|c| c.is_ascii_lowercase())
    };
    template
        || digits >= NUMBER
        || !name.chars().any(char::is_alphabetic)
        || PLACEHOLDERS.iter().any(|placeholder| name.eq_ignore_ascii_case(placeholder))
        || SITES.iter().any(|ending| name.ends_with(ending))
        || domain()
}
