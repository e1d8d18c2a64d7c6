//! Detects sticky threads at the top of a list.

use super::fields::{RecordPart, mode};
use super::titles::ThreadLine;
use super::tree::{NodeId, Tree, words_of};
use crate::forum::WORDS;
use suidao_page::word_list::SectionWords;

/// Which lines are sticky: by a mark, or by a separator after the first few.
pub(super) fn sticky(tree: &Tree, lines: &[ThreadLine]) -> Vec<bool> {
    let marks: Vec<bool> = lines.iter().map(|line| is_marked(tree, line)).collect();
    let marked = marks.iter().filter(|&&mark| mark).count();
    let first = marks.iter().take_while(|&&mark| mark).count();
    // A mark on all lines is not evidence.
    if marked == marks.len() && marked > 3 || marked * 2 > marks.len() && first < marked {
        return vec![false; lines.len()];
    }
    if marked == 0
        && let Some(border) = border(tree, lines)
    {
        return (0..lines.len()).map(|at| at < border).collect();
    }
    marks
}

fn is_marked(tree: &Tree, line: &ThreadLine) -> bool {
    static SHOWN: SectionWords = SectionWords::of(WORDS, "sticky");
    let is_label = |text: &str| {
        let lower = text.to_lowercase();
        // Only the whole text: a title may contain the word.
        lower.chars().count() <= 16 && SHOWN.iter().any(|word| lower.contains(word)) || lower.trim() == "[提示]"
    };
    let named = |word: &str| {
        ["stick", "announce", "zhiding"].iter().any(|name| word.starts_with(name))
            || matches!(word, "pin" | "pinned" | "istop" | "ding")
    };
    let part = RecordPart { tree, roots: &line.roots };
    let mut top = false;
    for node in part.nodes() {
        if !tree.is_element(node) {
            let in_title = tree.parent(node) == line.title;
            let mut head = tree.own_text(node);
            if in_title {
                // "[置顶] Title" in one text.
                head = head
                    .trim_start()
                    .split_inclusive([']', '】', ':', '：'])
                    .next()
                    .filter(|head| head.len() < tree.own_text(node).trim().len())
                    .unwrap_or_default();
            }
            if is_label(head) {
                return true;
            }
            continue;
        }
        if tree.words(node).any(named) {
            return true;
        }
        let file = tree.attribute(node, "src").and_then(|src| src.rsplit('/').next()).unwrap_or_default();
        if words_of(file).iter().any(|word| named(word) || word == "top") {
            return true;
        }
        if ["alt", "title", "aria-label"]
            .iter()
            .filter(|_| node != line.title)
            .filter_map(|name| tree.attribute(node, name))
            .any(is_label)
        {
            return true;
        }
        top |= line.roots.contains(&node)
            && tree.attribute(node, "class").is_some_and(|class| words_of(class).iter().any(|word| word == "top"));
    }
    top
}

/// Number of lines before the only separator with the text "threads" or such a class.
fn border(tree: &Tree, lines: &[ThreadLine]) -> Option<usize> {
    const LIST_WORDS: [&str; 6] = ["主题", "主題", "帖子", "topics", "threads", "トピック"];
    let parent = mode(lines.iter().map(|line| tree.parent(line.roots[0])))?;
    let own = |node: NodeId| lines.iter().position(|line| line.roots.contains(&node));
    let mut found = None;
    let mut before = 0;
    let mut begun = false;
    for child in tree.children(parent).filter(|&child| tree.is_element(child)).take(500) {
        if let Some(at) = own(child) {
            (before, begun) = (at + 1, true);
            continue;
        }
        let text = tree.text(child).to_lowercase();
        let is_border = tree.words(child).any(|word| word.starts_with("separat"))
            || text.chars().count() <= 24 && LIST_WORDS.iter().any(|word| text.contains(word));
        if begun && is_border && found.replace(before).is_some() {
            return None;
        }
    }
    found.filter(|&before| before * 2 < lines.len())
}
