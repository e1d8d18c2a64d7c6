//! Authors that only the text of a post's header or footer states: "Posted by anna on …", "anna wrote on …:", 作者：anna.

use super::fields::{PostSurroundings, name};
use super::region::{PostRole, role};
use super::times;
use suidao_page::model::TimeContext;

/// Bytes of a line that may state an author.
const LINE: usize = 160;
/// Stands for a time.
const TIME: char = '\u{1}';

/// Labels before a name; a colon follows.
const LABELS: &str = "作者|楼主|樓主|发帖人|發帖人|发布者|发表者|投稿者|名前|author|posted by|written by|autor|auteur|autore|\
                      автор|Автор|작성자|글쓴이";
/// Phrases before a name. A bare "by" begins the line, or a sentence that people write would match.
const BY: &str = "posted by|written by|submitted by|started by|asked by|answered by|comment by|reply by|post by|by|\
                  geschrieben von|verfasst von|von|publié par|par|publicado por|escrito por|por|inviato da|scritto da";
/// What is between a name and a time after such a phrase.
const ENDS: [&str; 31] = [
    " on ", " at ", " am ", " um ", " le ", " el ", " em ", " il ", " den ", " op ", " в ", " - ", " – ", " — ", ",",
    "，", "»", "·", "•", "|", "(", "（", "时间", "時間", "日期", "发表", "發表", "发布", "于", "於", "date:",
];
/// Verbs between a name and a time.
const VERBS: &str = " wrote| writes| said| says| posted| replied| commented| schrieb| a écrit| escribió| escreveu| ha scritto| schreef| написал|\
                     napisał|发表于|發表於|发表|发布于|回复于|回覆於| 于| 於";

/// The author of each post, if the same wording names that of most.
pub(super) fn stated(posts: &[PostSurroundings], clock: TimeContext) -> Vec<Option<String>> {
    let of_post = |post: &PostSurroundings| {
        let (tree, body) = (post.part.tree, post.skips());
        let lines = post.part.paragraphs(&|node| body(node) || role(tree, node) == PostRole::Quote);
        lines.iter().filter(|line| line.text.len() <= LINE).find_map(|line| author_in(&line.text, clock))
    };
    let found: Vec<Option<String>> = posts.iter().map(of_post).collect();
    if found.iter().flatten().count() * 10 >= posts.len() * 7 { found } else { vec![None; posts.len()] }
}

fn author_in(line: &str, clock: TimeContext) -> Option<String> {
    let mut text = String::new();
    let mut from = 0;
    for time in times::all(line, clock) {
        text.push_str(&line[from..time.text.start]);
        text.push(TIME);
        from = time.text.end;
    }
    text.push_str(&line[from..]);
    // Of the same length.
    let lower = text.to_ascii_lowercase();
    let found = labelled(&text, &lower).or_else(|| by(&text, &lower)).or_else(|| with_verb(&text, &lower))?;
    let is_sentence = found.ends_with(['.', '!', '?', '。']) || found.split_whitespace().count() > 4;
    name(found, clock).filter(|name| !is_sentence && name.chars().any(char::is_alphabetic))
}

/// "作者：anna 时间：…"
fn labelled<'a>(text: &'a str, lower: &str) -> Option<&'a str> {
    let after = |label: &str| {
        let at = lower.find(label)?;
        let is_word = !label.is_ascii() || !lower[..at].ends_with(char::is_alphanumeric);
        let rest = text[at + label.len()..].trim_start();
        let rest = rest.strip_prefix(':').or_else(|| rest.strip_prefix('：'))?;
        is_word.then(|| up_to_end(rest.trim_start()))
    };
    LABELS.split('|').find_map(after)
}

/// "Posted by anna on …"
fn by<'a>(text: &'a str, lower: &str) -> Option<&'a str> {
    let after = |phrase: &str| {
        let at = lower.find(&format!("{phrase} "))?;
        let begins = if phrase.contains(' ') { true } else { lower[..at].trim().is_empty() };
        let rest = &text[at + phrase.len()..];
        (begins && (rest.contains(TIME) || phrase.contains(' '))).then(|| up_to_end(rest.trim_start()))
    };
    BY.split('|').find_map(after)
}

/// "anna wrote on …:"
fn with_verb<'a>(text: &'a str, lower: &str) -> Option<&'a str> {
    let before = |verb: &str| {
        let at = lower.find(verb)?;
        let rest = &lower[at + verb.len()..];
        // Nothing but a short word is between the verb and the time.
        let time = rest.find(TIME).is_some_and(|time| time <= 12);
        let name = text[..at].rsplit(['|', '»', '·', '•', TIME]).next().unwrap_or_default();
        (time && !name.trim().is_empty()).then_some(name)
    };
    VERBS.split('|').find_map(before)
}

fn up_to_end(rest: &str) -> &str {
    let end = ENDS.iter().filter_map(|end| rest.find(end)).min();
    let end = [end, rest.find(TIME)].into_iter().flatten().min().unwrap_or(rest.len());
    &rest[..end]
}

#[cfg(test)]
mod tests {
    use super::*;
    use suidao_page::model::Millis;

    #[test]
    fn words_name_an_author() {
        let clock = TimeContext::new(Millis(1_600_000_000_000), 0);
        for (line, wanted) in [
            ("Posted by anna on 2020-04-13 10:17", Some("anna")),
            ("Posted by Anna Lee, 2020-04-13 10:17", Some("Anna Lee")),
            ("by Anna » 2020-04-13 10:17", Some("Anna")),
            ("anna wrote on 2020-04-13 10:17:", Some("anna")),
            ("作者：anna 时间：2020-04-13 10:17", Some("anna")),
            ("作者：安娜时间：2020-04-13 10:17", Some("安娜")),
            ("Author: anna | 2020-04-13 10:17", Some("anna")),
            ("安娜 发表于 2020-04-13 10:17", Some("安娜")),
            ("12楼 | 安娜 于 2020-04-13 10:17 发表", Some("安娜")),
            ("geschrieben von Anna am 13.04.2020 10:17", Some("Anna")),
            ("Last edited by bob on 2020-04-13 10:17", None),
            ("I went there by train on 2020-04-13 10:17", None),
            ("2020-04-13 10:17", None),
            ("Registered: 2020-04-13 10:17", None),
            ("From: Kent", None),
            ("The baker said that he would come.", None),
        ] {
            assert_eq!(author_in(line, clock).as_deref(), wanted, "{line}");
        }
    }
}
