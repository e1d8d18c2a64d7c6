//! Separates the main content from navigation, sidebar, footer and other boilerplate.
//!
//! Link density, and context by the smallest large ancestor, follow Kohlschütter, Fankhauser, Nejdl, "Boilerplate
//! detection using shallow text features" (2010), simplified. Names of elements are checked against the text, because
//! they can mislead: a long text with few links is never boilerplate.

use super::article::{self, CONTEXT, LINE, SENTENCES};
use super::article_body::{lacks_article_body, mislabelled_container};
use super::block_kind::ElementKind;
use super::document::TextBlock;
use super::element_role::ElementRole;
use super::inserts::{is_photo_credit, is_promo};
use super::markup::{BlockStats, ParsedHtml, TextStats};
use super::phrases::{is_boilerplate_heading, is_closing, is_dateline, is_metadata_line, is_navigation, is_pagination};
use super::teasers;
use crate::model::Region;

/// Text of 80 ideographs (or 240 letters) counts as content in any context.
const LONG: u32 = 240;
/// Text of 150 ideographs counts as content even in a sidebar or footer.
const VERY_LONG: u32 = 450;
/// Nested mislabelled containers around one text.
const MAX_MISLABELLED: usize = 3;

impl TextStats {
    pub(super) fn total(self) -> u32 {
        self.plain + self.linked
    }

    fn add(&mut self, other: Self) {
        self.plain += other.plain;
        self.linked += other.linked;
        self.links += other.links;
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Zone {
    Open,
    Main,
    /// Metadata of an article, and boilerplate elsewhere.
    Label,
    Boilerplate,
}

/// Sets the region of every block and link. `host`: the page's. `lists`: its URL is a listing's. Returns for each block
/// whether no name marks it as boilerplate.
pub(super) fn decide(markup: &mut ParsedHtml, host: &str, lists: bool) -> Vec<bool> {
    let element_stats = sums(markup);
    let headed = headings(markup, &element_stats);
    let pictures = pictures(markup);
    let lacks_body = lacks_article_body(markup);
    if lacks_body {
        for element in &mut markup.elements {
            element.role =
                if element.role == ElementRole::Complementary { ElementRole::Boilerplate } else { element.role };
        }
    }
    let zones_of = |markup: &ParsedHtml| zones(markup, &element_stats, &headed, &pictures, lacks_body);
    let mut zones = zones_of(markup);
    // The text's container may be inside another mislabelled one.
    for _ in 0..MAX_MISLABELLED {
        let inside: Vec<bool> = zones.iter().map(|zone| matches!(zone, Zone::Label | Zone::Boilerplate)).collect();
        let Some(at) = mislabelled_container(markup, &inside) else { break };
        markup.elements[at].role = ElementRole::None;
        zones = zones_of(markup);
    }
    let Placing { listed, contexts } = placing(markup, &element_stats);
    let mut within = [TextStats::default(); 4];
    for stats in &markup.block_stats {
        within[zones[stats.element as usize] as usize].add(stats.text_stats);
    }
    let [open, main, ..] = within;
    let has_main = main.plain >= 60 && main.plain * 4 >= open.plain;
    let mut chosen = TextStats::default();
    for (block, stats) in markup.document.blocks.iter_mut().zip(&markup.block_stats) {
        let (own, at) = (stats.text_stats, stats.element as usize);
        let context = element_stats[contexts[at]];
        let is_text = own.plain >= LONG && own.linked * 2 <= own.plain;
        let in_text = !listed[at] && context.linked < context.plain;
        let is_content = match zones[at] {
            Zone::Label | Zone::Boilerplate => own.plain >= VERY_LONG && own.linked * 5 <= own.plain && !lacks_body,
            Zone::Main => is_text || !listed[at] && context.linked < context.plain * 3,
            Zone::Open if has_main => is_text,
            Zone::Open => is_text || in_text,
        };
        block.region = match zones[at] {
            _ if is_content => Region::Content,
            Zone::Label => Region::Metadata,
            _ => Region::Boilerplate,
        };
        if is_content {
            chosen.add(own);
        }
    }
    let mut rest = open;
    rest.add(main);
    // On a page of links, all but named boilerplate is content. Without any sentence the rows cannot be distinguished.
    let has_no_prose = chosen.total() * 3 < rest.total() * 2 && body(markup).is_none();
    let too_little =
        chosen.total() * 10 < rest.total() * 3 && !(chosen.plain >= LONG && chosen.plain * 2 >= rest.plain);
    if too_little || has_no_prose {
        let listing =
            if main.total() * 2 >= rest.total() { [false, true, false, false] } else { [true, true, false, false] };
        mark_as_content(markup, &zones, listing);
        chosen = rest;
    }
    if chosen.total() == 0 && !lacks_body {
        mark_as_content(markup, &zones, [true; 4]);
    }
    article::keep_article_element(markup);
    article::drop_before_headline(markup);
    article::drop_after_end_heading(markup);
    article::drop_boxes(markup);
    article::drop_reader_requests(markup);
    article::keep_lead(markup);
    complete(markup, &zones, host);
    if let Some((first, _)) = body(markup).filter(|_| !lists) {
        teasers::exclude(markup, &element_stats, first, host);
    }
    trim(markup, lists);
    for link in &mut markup.document.links {
        link.region = markup.document.blocks[link.block].region;
    }
    markup.block_stats.iter().map(|stats| zones[stats.element as usize] != Zone::Boilerplate).collect()
}

/// The zone of each element, from its role if its text confirms it. `lacks_body`: the page has no text of its own, so
/// that text lengths do not mark boilerplate.
fn zones(
    markup: &ParsedHtml,
    element_stats: &[TextStats],
    headed: &[bool],
    pictures: &[bool],
    lacks_body: bool,
) -> Vec<Zone> {
    let page = element_stats[0];
    let sentences = markup.block_stats.iter().filter(|stats| stats.text_stats.plain >= SENTENCES);
    let prose = sentences.map(|stats| stats.element as usize).min().unwrap_or(usize::MAX);
    let mut zones = vec![Zone::Open; element_stats.len()];
    for at in 1..zones.len() {
        let element = &markup.elements[at];
        let (text_stats, parent) = (element_stats[at], element.parent as usize);
        let nearly_all = text_stats.total() * 10 >= page.total() * 7;
        let holds_page =
            text_stats.plain >= LONG && text_stats.plain * 2 >= page.plain && text_stats.total() * 3 >= page.total()
                || nearly_all;
        zones[at] = match (zones[parent], element.role) {
            (Zone::Boilerplate, _) => Zone::Boilerplate,
            (_, ElementRole::Boilerplate) if !nearly_all || lacks_body => Zone::Boilerplate,
            (_, ElementRole::MaybeBoilerplate | ElementRole::Complementary) if !holds_page => Zone::Boilerplate,
            (Zone::Label, _) => Zone::Label,
            (_, ElementRole::Metadata) if !holds_page => Zone::Label,
            _ if pictures[at] && !holds_page => Zone::Label,
            // Below sentences it is the heading of a section.
            (Zone::Open, ElementRole::Header) if !holds_page && (text_stats.links > 0 || at < prose) => {
                Zone::Boilerplate
            }
            _ if headed[at] && !holds_page => Zone::Boilerplate,
            (_, ElementRole::Main | ElementRole::Body) => Zone::Main,
            (zone, _) => zone,
        };
    }
    zones
}

/// Context of elements.
struct Placing {
    /// Whether an element is a list of links or inside one.
    listed: Vec<bool>,
    /// The nearest element that is large enough to judge by.
    contexts: Vec<usize>,
}

fn placing(markup: &ParsedHtml, element_stats: &[TextStats]) -> Placing {
    let mut placing = Placing { listed: vec![false; element_stats.len()], contexts: vec![0; element_stats.len()] };
    for (at, text_stats) in element_stats.iter().enumerate().skip(1) {
        let parent = markup.elements[at].parent as usize;
        // An article next to a long list shares its parent with it, but is not part of it.
        let is_article = text_stats.plain >= LONG && text_stats.linked < text_stats.plain;
        let links = text_stats.links >= 4 && text_stats.linked * 4 > text_stats.total() * 3;
        placing.listed[at] = !is_article && (placing.listed[parent] || links);
        placing.contexts[at] = if is_article || text_stats.total() >= CONTEXT { at } else { placing.contexts[parent] };
    }
    placing
}

/// The first line of a block short enough for phrases; `None` for a text.
fn line<'a>(markup: &'a ParsedHtml, block: &TextBlock, stats: &BlockStats) -> Option<&'a str> {
    let text = markup.document.block_text(block);
    // Metadata may be several lines of one block.
    let most = if text.contains('\n') { 2 * LINE } else { LINE };
    (stats.text_stats.total() <= most).then(|| text.split('\n').next().unwrap_or_default().trim())
}

/// The first and last block with sentences, if most of the main content is sentences.
fn body(markup: &ParsedHtml) -> Option<(usize, usize)> {
    let content = || {
        let blocks = markup.document.blocks.iter().zip(&markup.block_stats).enumerate();
        blocks.filter(|(_, (block, _))| block.region == Region::Content)
    };
    let mut sentences = content().filter(|(_, (block, stats))| {
        let text_stats = stats.text_stats;
        let is_metadata =
            || line(markup, block, stats).is_some_and(|line| is_metadata_line(line).is_some() || is_closing(line));
        text_stats.plain >= SENTENCES && text_stats.linked <= text_stats.plain && !is_metadata()
    });
    let first = sentences.next()?.0;
    let last = sentences.next_back().map_or(first, |(at, _)| at);
    let (mut within, mut all) = (0, 0);
    for (at, (_, stats)) in content() {
        all += stats.text_stats.total();
        within += if (first..=last).contains(&at) { stats.text_stats.total() } else { 0 };
    }
    (within * 2 >= all).then_some((first, last))
}

/// Includes lists of links to other hosts between the sentences of the main content: the author wrote them. Lists of
/// links to the same host are often generated, so they are not included.
fn complete(markup: &mut ParsedHtml, zones: &[Zone], host: &str) {
    let Some((first, last)) = body(markup) else { return };
    let document = &mut markup.document;
    let mut inner = vec![false; document.blocks.len()];
    for link in &document.links {
        inner[link.block] |= link.url.host() == host;
    }
    for at in first..=last {
        if zones[markup.block_stats[at].element as usize] == Zone::Main && !inner[at] {
            document.blocks[at].region = Region::Content;
        }
    }
}

/// Excludes lines by their phrases: navigation everywhere, and metadata, thanks and requests above and below the text.
/// Between sentences such lines are the author's.
fn trim(markup: &mut ParsedHtml, lists: bool) {
    let body = body(markup);
    let mut found = Vec::new();
    let mut left = 0;
    // Element of the previous line, if that was a label without its value.
    let mut label = None;
    for (at, (block, stats)) in markup.document.blocks.iter().zip(&markup.block_stats).enumerate() {
        let (text_stats, own) = (stats.text_stats, stats.element);
        if block.region != Region::Content || text_stats.total() == 0 {
            continue;
        }
        let parent = |element: u32| markup.elements[element as usize].parent;
        let is_adjacent = |label: u32| label == own || label == parent(own) || parent(label) == parent(own);
        let valued = label.take().is_some_and(is_adjacent) && text_stats.total() <= SENTENCES;
        let outside = body.is_some_and(|(first, last)| at < first || at > last);
        let below = body.is_some_and(|(_, last)| at > last);
        let line = if outside || body.is_none() { line(markup, block, stats) } else { None };
        if self::line(markup, block, stats)
            .is_some_and(|line| is_promo(line, text_stats.linked * 2 >= text_stats.total()) || is_photo_credit(line))
        {
            found.push((at, Region::Boilerplate));
            continue;
        }
        let region = line.and_then(|line| {
            if is_navigation(line, text_stats.linked * 2 >= text_stats.total()) || below && is_closing(line) {
                return Some(Region::Boilerplate);
            }
            if outside && !below && !lists && is_dateline(line) {
                return Some(Region::Metadata);
            }
            let value = if outside { is_metadata_line(line) } else { None };
            if value == Some(false) {
                label = Some(own);
            }
            (value.is_some() || outside && valued).then_some(Region::Metadata)
        });
        match region {
            Some(region) => found.push((at, region)),
            None => left += text_stats.total(),
        }
    }
    // If nothing else is left, these lines are the content.
    if left > 0 {
        for (at, region) in found {
            markup.document.blocks[at].region = region;
        }
    }
}

/// Makes every block of the given zones content.
fn mark_as_content(markup: &mut ParsedHtml, zones: &[Zone], which: [bool; 4]) {
    for (block, stats) in markup.document.blocks.iter_mut().zip(&markup.block_stats) {
        if which[zones[stats.element as usize] as usize] {
            block.region = Region::Content;
        }
    }
}

/// Figures with only pictures and captions.
fn pictures(markup: &ParsedHtml) -> Vec<bool> {
    let elements = &markup.elements;
    let mut others = vec![false; elements.len()];
    for at in (1..elements.len()).rev() {
        if others[at] || matches!(elements[at].part, ElementKind::Code | ElementKind::Table | ElementKind::Item(_)) {
            others[elements[at].parent as usize] = true;
        }
    }
    elements.iter().zip(others).map(|(element, other)| element.part == ElementKind::Figure && !other).collect()
}

/// Text of each element, including its descendants.
fn sums(markup: &ParsedHtml) -> Vec<TextStats> {
    let mut element_stats = vec![TextStats::default(); markup.elements.len()];
    for stats in &markup.block_stats {
        element_stats[stats.element as usize].add(stats.text_stats);
    }
    // Children come after their parents.
    for at in (1..element_stats.len()).rev() {
        let own = element_stats[at];
        element_stats[markup.elements[at].parent as usize].add(own);
    }
    element_stats
}

/// Elements that a heading such as 相关文章 marks as boilerplate: the smallest that contain more than the heading.
fn headings(markup: &ParsedHtml, element_stats: &[TextStats]) -> Vec<bool> {
    let mut headed = vec![false; markup.elements.len()];
    for (block, stats) in markup.document.blocks.iter().zip(&markup.block_stats) {
        if stats.text_stats.total() > 40 || block.pieces.is_empty() {
            continue;
        }
        let text = markup.document.block_text(block);
        if is_pagination(text) {
            headed[stats.element as usize] |= element_stats[stats.element as usize].total() < CONTEXT;
        } else if is_boilerplate_heading(text) {
            let mut at = stats.element as usize;
            for _ in 0..3 {
                if at != 0 && element_stats[at].total() <= stats.text_stats.total() {
                    at = markup.elements[at].parent as usize;
                }
            }
            // Only if mostly links follow; otherwise it may be a heading of the text.
            headed[at] |= at != 0 && element_stats[at].linked > element_stats[at].plain;
        }
    }
    headed
}
