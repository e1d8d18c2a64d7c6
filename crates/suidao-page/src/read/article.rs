//! Narrows the main content to the article: the element with its sentences, from the headline to a heading such as
//! "Related". Does nothing on pages with few or scattered sentences.

use std::collections::HashSet;
use std::ops::Range;

use super::document::TextBlock;
use super::element_role::ElementRole;
use super::inserts::{is_end, is_photo_credit, is_request};
use super::markup::{BlockStats, Element, ParsedHtml};
use super::phrases::is_metadata_line;
use crate::model::Region;

/// Text of a sentence or two (30 ideographs or 90 letters), longer than a metadata line.
pub(super) const SENTENCES: u32 = 90;
/// Longer lines are not metadata.
pub(super) const LINE: u32 = 300;
/// Blocks above the text that may contain its lead.
const LEAD: usize = 12;
/// Blocks above the text that may contain its headline.
const HEADLINE: usize = 40;
/// Blocks at the end that may contain requests to the reader.
const ENDING: usize = 6;
/// Minimum text of a lead, in letters; an ideograph counts 3.
const MIN_LEAD: u32 = 50;
/// Text of an element that is large enough to judge its contents by.
pub(super) const CONTEXT: u32 = 600;

/// The smallest element with at least 85 % of the chosen text in sentences; `None` if there is little text or it is
/// scattered.
fn core(markup: &ParsedHtml) -> Option<usize> {
    let mut prose = vec![0_u32; markup.elements.len()];
    let mut own = vec![0_u32; markup.elements.len()];
    for (block, stats) in markup.document.blocks.iter().zip(&markup.block_stats) {
        let text_stats = stats.text_stats;
        if block.region == Region::Content && text_stats.plain >= SENTENCES && text_stats.linked * 2 <= text_stats.plain
        {
            prose[stats.element as usize] += text_stats.plain;
            own[stats.element as usize] += text_stats.plain;
        }
    }
    for at in (1..prose.len()).rev() {
        prose[markup.elements[at].parent as usize] += prose[at];
    }
    let all = prose[0];
    if all < CONTEXT {
        return None;
    }
    // A page may also mark a teaser's text as an article body.
    let text = (1..prose.len()).find(|&at| markup.elements[at].role == ElementRole::Body && prose[at] * 5 >= all * 2);
    if text.is_some() {
        return text;
    }
    let mut best = vec![0_usize; prose.len()];
    for at in 1..prose.len() {
        let parent = markup.elements[at].parent as usize;
        if best[parent] == 0 || prose[at] > prose[best[parent]] {
            best[parent] = at;
        }
    }
    let mut at = 0;
    loop {
        let next = best[at];
        // A single long paragraph is not the article's element.
        if next == 0 || prose[next] * 20 < all * 17 || own[next] * 2 > prose[next] && prose[at] > prose[next] {
            return (at != 0).then_some(at);
        }
        at = next;
    }
}

/// Excludes what is outside the element with the sentences, except the lead above it.
pub(super) fn keep_article_element(markup: &mut ParsedHtml) {
    let Some(core) = core(markup) else { return };
    let mut within = vec![false; markup.elements.len()];
    for at in core..within.len() {
        within[at] = at == core || within[markup.elements[at].parent as usize];
    }
    let content = |block: &TextBlock| block.region == Region::Content;
    let blocks = || markup.document.blocks.iter().zip(&markup.block_stats);
    let Some(first) = blocks().position(|(block, stats)| content(block) && within[stats.element as usize]) else {
        return;
    };
    // Pictures and bylines may be between the lead and this element.
    let lead = blocks().enumerate().take(first).rev().filter(|(_, (block, _))| content(block)).take(LEAD);
    let lead: Vec<usize> = lead
        .filter(|(_, (_, BlockStats { text_stats, .. }))| {
            text_stats.plain >= SENTENCES && text_stats.linked * 4 <= text_stats.plain
        })
        .map(|(at, _)| at)
        .collect();
    // If the text is a list or partly in a box, text next to it may belong to it.
    let parent = |element: usize| markup.elements[element].parent;
    let is_rest = |at: usize, stats: &BlockStats| {
        let BlockStats { text_stats, element } = *stats;
        let follows = parent(element as usize) == parent(core) && at > first;
        follows && text_stats.plain >= SENTENCES && text_stats.linked * 4 <= text_stats.plain
    };
    for (at, (block, stats)) in markup.document.blocks.iter_mut().zip(&markup.block_stats).enumerate() {
        let is_content = within[stats.element as usize] || is_rest(at, stats) || lead.contains(&at);
        if !is_content && block.region == Region::Content {
            block.region = Region::Boilerplate;
        }
    }
}

/// Titles of the page, to find its headline.
pub(super) struct Titles([String; 2]);

impl Titles {
    pub(super) fn of(markup: &ParsedHtml) -> Self {
        Self([letters(&markup.title), letters(&markup.declared_title)])
    }

    /// Length of the line if it is a title, or the beginning or end of one; else 0.
    pub(super) fn title_length(&self, line: &str) -> usize {
        let line = letters(line);
        let of =
            |title: &String| line.len() * 5 >= title.len() * 2 && (title.starts_with(&line) || title.ends_with(&line));
        if line.chars().count() >= 4 && self.0.iter().any(of) { line.len() } else { 0 }
    }
}

impl Titles {
    /// Whether a line contains a title or is a part of one.
    fn holds(&self, line: &str) -> bool {
        let line = letters(line);
        self.0.iter().any(|title| title.len() >= 4 && (title.contains(&line) || line.contains(title.as_str())))
    }
}

fn letters(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// Excludes what is above the headline, a line that repeats the title or a part of it.
pub(super) fn drop_before_headline(markup: &mut ParsedHtml) {
    let titles = Titles::of(markup);
    let blocks = || markup.document.blocks.iter().zip(&markup.block_stats).enumerate();
    let content = || blocks().filter(|(_, (block, _))| block.region == Region::Content);
    let mut best = (0, 0);
    for (at, (block, stats)) in content() {
        if stats.text_stats.total() <= LINE {
            let length = titles.title_length(markup.document.block_text(block));
            best = if length > best.1 { (at, length) } else { best };
        }
    }
    let text_stats = |(_, (_, stats)): (usize, (&TextBlock, &BlockStats))| stats.text_stats.plain;
    let before: u32 = content().take_while(|(at, _)| *at < best.0).map(text_stats).sum();
    if best.1 == 0 || before * 12 > content().map(text_stats).sum() {
        return;
    }
    leave_out(markup, 0..best.0 + 1);
}

/// Includes the text between headline and article, if it is a single block as long as a sentence: the lead.
pub(super) fn keep_lead(markup: &mut ParsedHtml) {
    let ParsedHtml { document, block_stats, elements, .. } = &*markup;
    if sentences(markup).next().is_none() {
        return;
    }
    let Some(first) = document.blocks.iter().position(|block| block.region == Region::Content) else { return };
    let titles = Titles::of(markup);
    let short = |at: usize| block_stats[at].text_stats.total() <= LINE;
    let above = (first.saturating_sub(HEADLINE)..first).rev();
    let headline =
        above.clone().find(|&at| short(at) && titles.title_length(document.block_text(&document.blocks[at])) > 0);
    let Some(headline) = headline else { return };
    let shared: HashSet<usize> = ancestors(elements, block_stats[headline].element as usize).collect();
    let is_lead = |&at: &usize| {
        let (text_stats, text) = (block_stats[at].text_stats, document.block_text(&document.blocks[at]));
        let digits = text.bytes().filter(u8::is_ascii_digit).count();
        text_stats.plain >= MIN_LEAD
            && text_stats.linked * 4 <= text_stats.plain
            && digits * 6 <= text_stats.plain as usize
            && !titles.holds(text)
            && !is_photo_credit(text)
            && text.split(['·', '|', '｜']).all(|part| is_metadata_line(part).is_none())
            && ancestors(elements, block_stats[at].element as usize).take_while(|at| !shared.contains(at)).all(|at| {
                !matches!(
                    elements[at].role,
                    ElementRole::MaybeBoilerplate | ElementRole::Boilerplate | ElementRole::Metadata
                )
            })
    };
    let lead: Vec<usize> = above.take_while(|&at| at > headline).filter(is_lead).collect();
    for at in lead {
        markup.document.blocks[at].region = Region::Content;
    }
}

/// An element and its ancestors, without the root.
fn ancestors(elements: &[Element], at: usize) -> impl Iterator<Item = usize> + '_ {
    std::iter::successors(Some(at), |&at| Some(elements[at].parent as usize)).take_while(|&at| at != 0)
}

/// Excludes what follows a heading that ends the article, unless the same element continues with sentences.
pub(super) fn drop_after_end_heading(markup: &mut ParsedHtml) {
    let all: u32 = sentences(markup).sum();
    let parent = |at: usize| markup.elements[markup.block_stats[at].element as usize].parent;
    let is_sentence = |at: &usize| {
        markup.document.blocks[*at].region == Region::Content && markup.block_stats[*at].text_stats.plain >= SENTENCES
    };
    let count = markup.block_stats.len();
    let Some(last) = (0..count).rev().find(is_sentence) else { return };
    let mut above = 0;
    let mut parents = HashSet::new();
    for at in 0..count {
        let (block, stats) = (&markup.document.blocks[at], &markup.block_stats[at]);
        if is_sentence(&at) {
            above += stats.text_stats.plain;
            parents.insert(parent(at));
        } else if block.region == Region::Content
            && above * 5 >= all * 3
            && above >= CONTEXT
            && is_end(markup.document.block_text(block))
            && !(at < last && parents.contains(&parent(last)))
        {
            return leave_out(markup, at..count);
        }
    }
}

/// Excludes requests to the reader at the end, and what follows them.
pub(super) fn drop_reader_requests(markup: &mut ParsedHtml) {
    let all: u32 = sentences(markup).sum();
    if all < CONTEXT {
        return;
    }
    let blocks = || markup.document.blocks.iter().zip(&markup.block_stats).enumerate();
    let content =
        blocks().rev().filter(|(_, (block, stats))| block.region == Region::Content && stats.text_stats.total() > 0);
    let requests = content.take(ENDING).filter(|(_, (block, _))| is_request(markup.document.block_text(block)));
    let first = requests.map(|(at, _)| at).collect::<Vec<_>>();
    for at in first {
        leave_out(markup, at..at + 1);
    }
}

/// Excludes boxes within and below the text that begin with such a heading.
pub(super) fn drop_boxes(markup: &mut ParsedHtml) {
    let ParsedHtml { document, block_stats, elements, .. } = &*markup;
    let all: u32 = sentences(markup).sum();
    if all < CONTEXT {
        return;
    }
    let mut prose = vec![0; elements.len()];
    let mut first = vec![usize::MAX; elements.len()];
    let mut last = vec![0; elements.len()];
    for (at, (block, stats)) in document.blocks.iter().zip(block_stats).enumerate() {
        let (element, text_stats) = (stats.element as usize, stats.text_stats);
        if text_stats.total() > 0 {
            first[element] = first[element].min(at);
            last[element] = at;
        }
        if block.region == Region::Content && text_stats.plain >= SENTENCES {
            prose[element] += text_stats.plain;
        }
    }
    for at in (1..elements.len()).rev() {
        let parent = elements[at].parent as usize;
        prose[parent] += prose[at];
        first[parent] = first[parent].min(first[at]);
        last[parent] = last[parent].max(last[at]);
    }
    let mut boxes = Vec::new();
    for (at, (block, stats)) in document.blocks.iter().zip(block_stats).enumerate() {
        let end = boxes.last().map_or(0, |range: &Range<usize>| range.end);
        if at < end || stats.text_stats.total() > LINE || !is_end(document.block_text(block)) {
            continue;
        }
        let whole = ancestors(elements, stats.element as usize)
            .take_while(|&element| first[element] == at && prose[element] * 3 <= all)
            .last();
        boxes.extend(whole.filter(|&element| last[element] > at).map(|element| at..last[element] + 1));
    }
    for range in boxes {
        leave_out(markup, range);
    }
}

fn leave_out(markup: &mut ParsedHtml, blocks: Range<usize>) {
    for block in &mut markup.document.blocks[blocks] {
        if block.region == Region::Content {
            block.region = Region::Boilerplate;
        }
    }
}

/// Text lengths of the main content's blocks that contain sentences.
fn sentences(markup: &ParsedHtml) -> impl Iterator<Item = u32> + '_ {
    let blocks = markup.document.blocks.iter().zip(&markup.block_stats);
    let content = blocks.filter(|(block, _)| block.region == Region::Content);
    content.map(|(_, stats)| stats.text_stats.plain).filter(|&text_stats| text_stats >= SENTENCES)
}
