//! Lines of text that name the author.

use super::chinese::{alone, reporters, signed};
use super::names::name_of;
use super::{LINE, TOGETHER};
use crate::model::Region;
use crate::read::document::ParsedDocument;
use crate::read::words::{AUTHORS, SectionWords};

/// Blocks at the end of the content that may be signed.
const LAST: usize = 4;

/// What boards write before the name in the line above a post.
const POST: [&str; 4] = ["帖子由", "由", "by", "发表者"];
const POST_CHINESE: [&str; 4] = ["本贴由", "本帖由", "此贴由", "此帖由"];

/// The names in the page's lines: after a label, as reporters, alone under the headline or in brackets at the end; `None`
/// if lines of one kind disagree. `document` has the title as block 0, unless it is empty.
pub(super) fn visible(document: &ParsedDocument, title: &str) -> Option<String> {
    after_label(document).unwrap_or_else(|| {
        let content = || {
            document.blocks.iter().skip(usize::from(!title.is_empty())).filter(|block| block.region == Region::Content)
        };
        let texts: Vec<&str> =
            content().map(|block| document.block_text(block).trim()).filter(|text| !text.is_empty()).collect();
        of_reporters(&texts)
            .or_else(|| under_headline(document, title))
            .or_else(|| texts.iter().rev().take(LAST).find_map(|text| signed(text)))
    })
}

/// The name after a label; `Some(None)` if several lines name different people.
fn after_label(document: &ParsedDocument) -> Option<Option<String>> {
    let mut found: Option<String> = None;
    let mut label = false;
    let mut line = String::new();
    for block in &document.blocks {
        let pieces = block.pieces.clone();
        let length: usize = pieces.clone().map(|piece| document.pieces[piece].text.len()).sum();
        if length == 0 || length > LINE {
            label &= length == 0;
            continue;
        }
        line.clear();
        pieces.for_each(|piece| line.push_str(document.piece(piece)));
        let stated = if label { Some(line.as_str()) } else { labelled(&line).or_else(|| labelled_within(&line)) };
        label = false;
        let Some(stated) = stated else { continue };
        if stated.is_empty() {
            // The name is in the next block.
            label = true;
            continue;
        }
        let Some(name) = name_of(stated) else { continue };
        match &found {
            Some(known) if *known != name => return Some(None),
            _ => found = Some(name),
        }
    }
    found.map(Some)
}

/// The reporters of the text, if not several paragraphs name different ones, as in a digest.
fn of_reporters(texts: &[&str]) -> Option<String> {
    let mut found: Option<Vec<String>> = None;
    for text in texts {
        let names = reporters(text);
        if names.is_empty() {
            continue;
        }
        match &found {
            Some(known) if !names.iter().all(|name| known.contains(name)) => return None,
            Some(_) => {}
            None => found = Some(names),
        }
    }
    found.map(|names| names[..names.len().min(TOGETHER)].join(", "))
}

/// A name alone in the line under the headline.
fn under_headline(document: &ParsedDocument, title: &str) -> Option<String> {
    let mut blocks = document.blocks.iter().skip(usize::from(!title.is_empty()));
    let text = |block| document.block_text(block).trim();
    blocks.by_ref().map(text).find(|text| text.chars().count() > 3 && title.contains(text))?;
    let next = blocks.map(text).find(|text| !text.is_empty())?;
    alone(next.lines().next().unwrap_or_default())
}

/// The text after a label such as `作者：` at the start of a line; may be empty.
pub(super) fn labelled(line: &str) -> Option<&str> {
    static LABELS: SectionWords = SectionWords::of(AUTHORS, "labels");
    static SHORT: SectionWords = SectionWords::of(AUTHORS, "short");
    let line = line.trim();
    let found = LABELS.iter().find_map(|label| {
        let head = line.get(..label.len()).filter(|head| head.eq_ignore_ascii_case(label))?;
        let rest = line[head.len()..].trim_start();
        // Without a separator it is a sentence about authors.
        rest.strip_prefix([':', '：', '|', '｜', '/', '丨'])
            .or((rest.is_empty() && !line.starts_with('投')).then_some(rest))
    });
    // "By the river" is not a byline.
    let is_name = |name: &str| name.starts_with(|c: char| c.is_alphanumeric() && !c.is_lowercase());
    let short = || {
        let rest = |label: &&str| {
            let rest = line.strip_prefix(label).filter(|rest| rest.chars().count() < 24)?;
            (!label.starts_with(['B', 'b']) || is_name(rest)).then_some(rest)
        };
        SHORT.iter().find_map(rest)
    };
    // phpBB: the name, » and the date, which may be long.
    let post = || Some(line.split_once(" » ")?.0.split_once(' ').filter(|(by, _)| POST.contains(by))?.1);
    // 本贴由 张小明 于 2004年10月21日 发表
    let posted = || {
        let rest = POST_CHINESE.iter().find_map(|by| line.strip_prefix(by))?;
        ["于", "在", "发表", "發表"]
            .iter()
            .filter_map(|end| rest.split_once(end))
            .map(|(name, _)| name)
            .min_by_key(|name| name.len())
    };
    found.or_else(post).or_else(posted).or_else(short).map(str::trim)
}

/// The text after a label within a line of several facts: `时间：2004年10月21日 14:18 作者：张小明`.
fn labelled_within(line: &str) -> Option<&str> {
    static WITHIN: SectionWords = SectionWords::of(AUTHORS, "within");
    WITHIN.iter().find_map(|label| {
        let (before, after) = line.split_once(label)?;
        let apart = |c: char| c.is_whitespace() || c.is_ascii_digit() || "|｜/·•，,；;（(）)[]【】>-—".contains(c);
        let rest = after.trim_start().strip_prefix([':', '：'])?.trim();
        (before.ends_with(apart) && !rest.is_empty()).then_some(rest)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_after_by_begins_with_a_capital() {
        assert_eq!(labelled("By Ann Example"), Some("Ann Example"));
        assert_eq!(labelled("BY ANN EXAMPLE"), Some("ANN EXAMPLE"));
        assert_eq!(labelled("by 张三"), Some("张三"));
        assert_eq!(labelled("By the river"), None);
        assert_eq!(labelled("文/sunny"), Some("sunny"));
    }

    #[test]
    fn a_label_may_follow_other_facts() {
        for line in [
            "时间：2004年10月21日14:18 作者：张小明",
            "来源：小镇日报 作者：张小明 编辑：李四",
            "2004-10-21 | 作者：张小明 | 阅读 123",
            "（作者：张小明）",
        ] {
            let name = labelled(line).or_else(|| labelled_within(line)).and_then(name_of);
            assert_eq!(name.as_deref(), Some("张小明"), "{line}");
        }
        assert_eq!(labelled_within("我喜欢的作者：张小明"), None);
    }

    #[test]
    fn the_line_above_a_post_of_a_board_yields_its_name() {
        for line in [
            "帖子由 Ann » 周三 1月 04, 2023 10:12 am",
            "由 Ann » 2023-01-04 10:12",
            "by Ann » Wed Jan 04, 2023",
            "本贴由 Ann 于 2004年10月21日 发表",
        ] {
            assert_eq!(name_of(labelled(line).unwrap_or(line)).as_deref(), Some("Ann"), "{line}");
        }
    }
}
