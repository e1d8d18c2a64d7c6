//! Mail headers in posts: sender, board, subject, date.

use super::times::all;
use suidao_page::model::{ApproxTime, TimeContext};

/// Lines searched for a header, and its maximum length in lines.
const LINES: usize = 12;
/// Maximum number of bytes of a header line.
const LINE: usize = 300;

const FROM: &str = "发信人|發信人|寄信人|寄件人|寄件者|发件人|發件人|作者|from|author|sender|差出人";
const SUBJECT: &str = "标题|標題|主题|主題|subject|題名|件名";
const DATE: &str = "发信站|發信站|时间|時間|日期|发表时间|date|sent|posted|日時";
const OTHER: &str = "信区|信區|看板|转信站|轉信站|收件人|寄件日期|to|cc|newsgroups|board|reply-to|message-id|in-reply-to|references|x-mailer|organization";

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct MailHeader {
    pub(super) author: Option<String>,
    pub(super) posted: Option<ApproxTime>,
    /// Number of lines, from the first of the text.
    pub(super) lines: usize,
}

/// The header at the start of a text, if there is one: an author, and a subject or a time.
pub(super) fn head(lines: &[impl AsRef<str>], clock: TimeContext) -> Option<MailHeader> {
    let first = lines.iter().take(LINES).position(|line| label(line.as_ref(), FROM).is_some())?;
    let mut found = MailHeader { author: None, posted: None, lines: first };
    let mut called = 0;
    for line in lines.iter().map(AsRef::as_ref).skip(first).take(LINES) {
        let known = [FROM, SUBJECT, DATE, OTHER].iter().any(|names| label(line, names).is_some());
        if !known || line.len() > LINE {
            break;
        }
        if let Some(value) = label(line, FROM) {
            found.author = found.author.or_else(|| name(value));
        }
        called += usize::from(label(line, SUBJECT).is_some() || label(line, DATE).is_some());
        // A subject may contain a date.
        if label(line, SUBJECT).is_none() {
            found.posted = found.posted.or_else(|| all(line, clock).first().map(|time| time.moment));
        }
        found.lines += 1;
    }
    (called > 0).then_some(found)
}

/// Whether a line is quoted, or appended by the software.
pub(super) fn is_foreign(line: &str) -> bool {
    line.starts_with([':', '>', '※', '：']) || line.starts_with("【 在") || line.starts_with("【在") || {
        line.starts_with("在") && line.ends_with("写道:") || line.ends_with("wrote:")
    }
}

/// The value of a line with one of these labels; "标  题: x" has the label 标题.
fn label<'a>(line: &'a str, names: &str) -> Option<&'a str> {
    let (label, value) = line.split_once([':', '：'])?;
    if label.len() > 40 {
        return None;
    }
    let label: String = label.chars().filter(|c| !c.is_whitespace()).flat_map(char::to_lowercase).collect();
    names.split('|').any(|name| name == label).then_some(value)
}

/// The name in "user (nick), 信区: board", "Ann Lee <ann@a.org>", "ann at a.org (Ann Lee)".
fn name(value: &str) -> Option<String> {
    let value = value.split(", ").next().unwrap_or_default().trim();
    let (before, following) = value.split_once(['(', '<']).unwrap_or((value, ""));
    let (before, following) = (before.trim().trim_matches('"').trim(), following.trim_end_matches([')', '>']).trim());
    let is_address = |text: &str| text.contains('@') || text.contains(" at ");
    let own = if before.is_empty() || is_address(before) && !following.is_empty() { following } else { before };
    (!own.is_empty() && own.chars().count() <= 40).then(|| own.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use suidao_page::model::Millis;

    fn read(text: &str) -> Option<MailHeader> {
        let lines: Vec<String> = text.lines().map(str::to_owned).collect();
        head(&lines, TimeContext::new(Millis(1_243_994_400_000), 8 * 3600))
    }

    #[test]
    fn heads_of_boards_and_of_lists_are_read() {
        let campus = read(
            "发信人: zhang (张三), 信区: Football\n标 题: Re: 2009-05-01 的比赛\n发信站: 长桥 (Mon May 25 14:03:09 2009), 站内\n说得对。",
        );
        let posted = Some(ApproxTime { at: 1_243_231_389, within: 1 });
        assert_eq!(campus, Some(MailHeader { author: Some("zhang".to_owned()), posted, lines: 3 }));
        for (from, author) in [
            ("ann at a.org (Ann Lee)", "Ann Lee"),
            ("Ann Lee <ann@a.org>", "Ann Lee"),
            ("\"Ann Lee\" <ann@a.org>", "Ann Lee"),
            ("ann", "ann"),
        ] {
            let list = read(&format!("From: {from}\nDate: Mon, 25 May 2009 06:03:09 +0000\nSubject: x\n\nYes."));
            let list = list.unwrap_or_else(|| panic!("{from}"));
            assert_eq!((list.author.as_deref(), list.posted), (Some(author), posted), "{from}");
        }
    }

    #[test]
    fn what_only_begins_like_one_is_none() {
        for text in ["作者: 鲁迅\n我很喜欢。", "说得对。", "", "标题: x\n时间: 2009-05-25 12:01"] {
            assert_eq!(read(text), None, "{text}");
        }
    }

    #[test]
    fn quotes_are_left_out() {
        let lines = ["好。", "【 在 li 的大作中提到: 】", ": 不好。", "※ 来源:·长桥·"];
        assert_eq!(lines.into_iter().filter(|line| !is_foreign(line)).collect::<Vec<_>>(), ["好。"]);
    }
}
