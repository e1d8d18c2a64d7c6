//! Separates the main content from navigation, sidebar, footer and other boilerplate.
//!
//! Link density, and context by the smallest large ancestor, follow Kohlschütter, Fankhauser, Nejdl, "Boilerplate
//! detection using shallow text features" (2010), simplified. Names of elements are checked against the text, because
//! they can mislead: a long text with few links is never boilerplate.

use super::article::{self, CONTEXT, LINE, SENTENCES};
use super::article_body::{lacks_article_body, mislabelled_container};
use super::document::TextBlock;
use super::element_role::ElementRole;
use super::form::ElementKind;
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
const MOST_MISLABELLED: usize = 3;

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
    let amounts = sums(markup);
    let headed = headings(markup, &amounts);
    let pictures = pictures(markup);
    let bodiless = lacks_article_body(markup);
    if bodiless {
        for element in &mut markup.elements {
            element.hint =
                if element.hint == ElementRole::Complementary { ElementRole::Boilerplate } else { element.hint };
        }
    }
    let areas_of = |markup: &ParsedHtml| areas(markup, &amounts, &headed, &pictures, bodiless);
    let mut areas = areas_of(markup);
    // The text's container may be inside another mislabelled one.
    for _ in 0..MOST_MISLABELLED {
        let inside: Vec<bool> = areas.iter().map(|area| matches!(area, Zone::Label | Zone::Boilerplate)).collect();
        let Some(at) = mislabelled_container(markup, &inside) else { break };
        markup.elements[at].hint = ElementRole::None;
        areas = areas_of(markup);
    }
    let Placing { listed, contexts } = placing(markup, &amounts);
    let mut within = [TextStats::default(); 4];
    for setting in &markup.settings {
        within[areas[setting.element as usize] as usize].add(setting.amount);
    }
    let [open, main, ..] = within;
    let has_main = main.plain >= 60 && main.plain * 4 >= open.plain;
    let mut chosen = TextStats::default();
    for (block, setting) in markup.document.blocks.iter_mut().zip(&markup.settings) {
        let (own, at) = (setting.amount, setting.element as usize);
        let context = amounts[contexts[at]];
        let is_text = own.plain >= LONG && own.linked * 2 <= own.plain;
        let in_text = !listed[at] && context.linked < context.plain;
        let is_content = match areas[at] {
            Zone::Label | Zone::Boilerplate => own.plain >= VERY_LONG && own.linked * 5 <= own.plain && !bodiless,
            Zone::Main => is_text || !listed[at] && context.linked < context.plain * 3,
            Zone::Open if has_main => is_text,
            Zone::Open => is_text || in_text,
        };
        block.region = match areas[at] {
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
    let silent = chosen.total() * 3 < rest.total() * 2 && body(markup).is_none();
    let few = chosen.total() * 10 < rest.total() * 3 && !(chosen.plain >= LONG && chosen.plain * 2 >= rest.plain);
    if few || silent {
        let listing =
            if main.total() * 2 >= rest.total() { [false, true, false, false] } else { [true, true, false, false] };
        mark_as_content(markup, &areas, listing);
        chosen = rest;
    }
    if chosen.total() == 0 && !bodiless {
        mark_as_content(markup, &areas, [true; 4]);
    }
    article::narrow(markup);
    article::begin(markup);
    article::end(markup);
    article::leave_out_boxes(markup);
    article::leave_out_requests(markup);
    article::take_lead(markup);
    complete(markup, &areas, host);
    if let Some((first, _)) = body(markup).filter(|_| !lists) {
        teasers::leave_out(markup, &amounts, first, host);
    }
    trim(markup, lists);
    for link in &mut markup.document.links {
        link.region = markup.document.blocks[link.block].region;
    }
    markup.settings.iter().map(|setting| areas[setting.element as usize] != Zone::Boilerplate).collect()
}

/// The zone of each element, from its role if its text confirms it. `bodiless`: the page has no text of its own, so
/// that text lengths do not mark boilerplate.
fn areas(markup: &ParsedHtml, amounts: &[TextStats], headed: &[bool], pictures: &[bool], bodiless: bool) -> Vec<Zone> {
    let page = amounts[0];
    let sentences = markup.settings.iter().filter(|setting| setting.amount.plain >= SENTENCES);
    let prose = sentences.map(|setting| setting.element as usize).min().unwrap_or(usize::MAX);
    let mut areas = vec![Zone::Open; amounts.len()];
    for at in 1..areas.len() {
        let element = &markup.elements[at];
        let (amount, parent) = (amounts[at], element.parent as usize);
        let nearly_all = amount.total() * 10 >= page.total() * 7;
        let holds_page =
            amount.plain >= LONG && amount.plain * 2 >= page.plain && amount.total() * 3 >= page.total() || nearly_all;
        areas[at] = match (areas[parent], element.hint) {
            (Zone::Boilerplate, _) => Zone::Boilerplate,
            (_, ElementRole::Boilerplate) if !nearly_all || bodiless => Zone::Boilerplate,
            (_, ElementRole::MaybeBoilerplate | ElementRole::Complementary) if !holds_page => Zone::Boilerplate,
            (Zone::Label, _) => Zone::Label,
            (_, ElementRole::Metadata) if !holds_page => Zone::Label,
            _ if pictures[at] && !holds_page => Zone::Label,
            // Below sentences it is the heading of a section.
            (Zone::Open, ElementRole::Header) if !holds_page && (amount.links > 0 || at < prose) => Zone::Boilerplate,
            _ if headed[at] && !holds_page => Zone::Boilerplate,
            (_, ElementRole::Main | ElementRole::Body) => Zone::Main,
            (area, _) => area,
        };
    }
    areas
}

/// Context of elements.
struct Placing {
    /// Whether an element is a list of links or inside one.
    listed: Vec<bool>,
    /// The nearest element that is large enough to judge by.
    contexts: Vec<usize>,
}

fn placing(markup: &ParsedHtml, amounts: &[TextStats]) -> Placing {
    let mut placing = Placing { listed: vec![false; amounts.len()], contexts: vec![0; amounts.len()] };
    for (at, amount) in amounts.iter().enumerate().skip(1) {
        let parent = markup.elements[at].parent as usize;
        // An article next to a long list shares its parent with it, but is not part of it.
        let is_article = amount.plain >= LONG && amount.linked < amount.plain;
        let links = amount.links >= 4 && amount.linked * 4 > amount.total() * 3;
        placing.listed[at] = !is_article && (placing.listed[parent] || links);
        placing.contexts[at] = if is_article || amount.total() >= CONTEXT { at } else { placing.contexts[parent] };
    }
    placing
}

/// The first line of a block short enough for phrases; `None` for a text.
fn line<'a>(markup: &'a ParsedHtml, block: &TextBlock, setting: &BlockStats) -> Option<&'a str> {
    let text = markup.document.block_text(block);
    // Metadata may be several lines of one block.
    let most = if text.contains('\n') { 2 * LINE } else { LINE };
    (setting.amount.total() <= most).then(|| text.split('\n').next().unwrap_or_default().trim())
}

/// The first and last block with sentences, if most of the main content is sentences.
fn body(markup: &ParsedHtml) -> Option<(usize, usize)> {
    let content = || {
        let blocks = markup.document.blocks.iter().zip(&markup.settings).enumerate();
        blocks.filter(|(_, (block, _))| block.region == Region::Content)
    };
    let mut sentences = content().filter(|(_, (block, setting))| {
        let amount = setting.amount;
        let is_metadata =
            || line(markup, block, setting).is_some_and(|line| is_metadata_line(line).is_some() || is_closing(line));
        amount.plain >= SENTENCES && amount.linked <= amount.plain && !is_metadata()
    });
    let first = sentences.next()?.0;
    let last = sentences.next_back().map_or(first, |(at, _)| at);
    let (mut within, mut all) = (0, 0);
    for (at, (_, setting)) in content() {
        all += setting.amount.total();
        within += if (first..=last).contains(&at) { setting.amount.total() } else { 0 };
    }
    (within * 2 >= all).then_some((first, last))
}

/// Includes lists of links to other hosts between the sentences of the main content: the author wrote them. Lists of
/// links to the same host are often generated, so they are not included.
fn complete(markup: &mut ParsedHtml, areas: &[Zone], host: &str) {
    let Some((first, last)) = body(markup) else { return };
    let document = &mut markup.document;
    let mut inner = vec![false; document.blocks.len()];
    for link in &document.links {
        inner[link.block] |= link.url.host() == host;
    }
    for at in first..=last {
        if areas[markup.settings[at].element as usize] == Zone::Main && !inner[at] {
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
    for (at, (block, setting)) in markup.document.blocks.iter().zip(&markup.settings).enumerate() {
        let (amount, own) = (setting.amount, setting.element);
        if block.region != Region::Content || amount.total() == 0 {
            continue;
        }
        let parent = |element: u32| markup.elements[element as usize].parent;
        let is_adjacent = |label: u32| label == own || label == parent(own) || parent(label) == parent(own);
        let valued = label.take().is_some_and(is_adjacent) && amount.total() <= SENTENCES;
        let outside = body.is_some_and(|(first, last)| at < first || at > last);
        let below = body.is_some_and(|(_, last)| at > last);
        let line = if outside || body.is_none() { line(markup, block, setting) } else { None };
        if self::line(markup, block, setting)
            .is_some_and(|line| is_promo(line, amount.linked * 2 >= amount.total()) || is_photo_credit(line))
        {
            found.push((at, Region::Boilerplate));
            continue;
        }
        let region = line.and_then(|line| {
            if is_navigation(line, amount.linked * 2 >= amount.total()) || below && is_closing(line) {
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
            None => left += amount.total(),
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
fn mark_as_content(markup: &mut ParsedHtml, areas: &[Zone], which: [bool; 4]) {
    for (block, setting) in markup.document.blocks.iter_mut().zip(&markup.settings) {
        if which[areas[setting.element as usize] as usize] {
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
    let mut amounts = vec![TextStats::default(); markup.elements.len()];
    for setting in &markup.settings {
        amounts[setting.element as usize].add(setting.amount);
    }
    // Children come after their parents.
    for at in (1..amounts.len()).rev() {
        let own = amounts[at];
        amounts[markup.elements[at].parent as usize].add(own);
    }
    amounts
}

/// Elements that a heading such as 相关文章 marks as boilerplate: the smallest that contain more than the heading.
fn headings(markup: &ParsedHtml, amounts: &[TextStats]) -> Vec<bool> {
    let mut headed = vec![false; markup.elements.len()];
    for (block, setting) in markup.document.blocks.iter().zip(&markup.settings) {
        if setting.amount.total() > 40 || block.pieces.is_empty() {
            continue;
        }
        let text = markup.document.block_text(block);
        if is_pagination(text) {
            headed[setting.element as usize] |= amounts[setting.element as usize].total() < CONTEXT;
        } else if is_boilerplate_heading(text) {
            let mut at = setting.element as usize;
            for _ in 0..3 {
                if at != 0 && amounts[at].total() <= setting.amount.total() {
                    at = markup.elements[at].parent as usize;
                }
            }
            // Only if mostly links follow; otherwise it may be a heading of the text.
            headed[at] |= at != 0 && amounts[at].linked > amounts[at].plain;
        }
    }
    headed
}
