//! Finds elements whose names mean boilerplate although they contain the article. Such a name counts only if the rest
//! of the page has a text of its own.

use super::article::{CONTEXT, LINE, SENTENCES, Titles};
use super::element_role::ElementRole;
use super::markup::ParsedHtml;

/// The element named as boilerplate whose single text is longer than everything outside boilerplate. `inside`: which
/// elements are boilerplate or inside it.
pub(super) fn mislabelled_container(markup: &ParsedHtml, inside: &[bool]) -> Option<usize> {
    let elements = &markup.elements;
    let parent = |at: usize| elements[at].parent as usize;
    let mut prose = vec![0; elements.len()];
    // Text by parent: an article's paragraphs share one parent, comments do not.
    let mut together = vec![0; elements.len()];
    let mut outside = 0;
    for stats in &markup.block_stats {
        let (at, text_stats) = (stats.element as usize, stats.text_stats);
        if text_stats.plain >= SENTENCES && text_stats.linked * 2 <= text_stats.plain {
            prose[at] += text_stats.plain;
            together[parent(at)] += text_stats.plain;
            outside += if inside[at] { 0 } else { text_stats.plain };
        }
    }
    // Children come after their parents.
    for at in (1..elements.len()).rev() {
        prose[parent(at)] += prose[at];
        together[parent(at)] = together[parent(at)].max(together[at]);
    }
    let named = (1..elements.len()).filter(|&at| {
        inside[at]
            && !inside[parent(at)]
            && matches!(
                elements[at].role,
                ElementRole::MaybeBoilerplate | ElementRole::Complementary | ElementRole::Metadata
            )
    });
    let best = named.max_by_key(|&at| (prose[at], std::cmp::Reverse(at)))?;
    let is_text = prose[best] >= CONTEXT && together[best] * 5 >= prose[best] * 3;
    (is_text && prose[best] >= outside * 2).then_some(best)
}

/// Whether the page shows an article's headline without its text: the headline's container has no sentence, and all
/// sentences are in sidebars, comments or footers.
pub(super) fn lacks_article_body(markup: &ParsedHtml) -> bool {
    let elements = &markup.elements;
    let mut aside = vec![false; elements.len()];
    // The nearest ancestor marked as article.
    let mut article = vec![0; elements.len()];
    for at in 1..elements.len() {
        let (role, parent) = (elements[at].role, elements[at].parent as usize);
        aside[at] = aside[parent] || matches!(role, ElementRole::Complementary | ElementRole::Boilerplate);
        article[at] = if matches!(role, ElementRole::Main | ElementRole::Body) { at } else { article[parent] };
    }
    let mut has_sentence = vec![false; elements.len()];
    let mut any = false;
    for stats in markup.block_stats.iter().filter(|stats| stats.text_stats.plain >= SENTENCES) {
        if !aside[stats.element as usize] {
            return false;
        }
        (any, has_sentence[stats.element as usize]) = (true, true);
    }
    for at in (1..elements.len()).rev() {
        let parent = elements[at].parent as usize;
        has_sentence[parent] |= has_sentence[at];
    }
    let titles = Titles::of(markup);
    any && markup.document.blocks.iter().zip(&markup.block_stats).any(|(block, stats)| {
        let article = article[stats.element as usize];
        let empty = article != 0 && !aside[article] && !has_sentence[article];
        empty && stats.text_stats.total() <= LINE && titles.title_length(markup.document.block_text(block)) > 0
    })
}

#[cfg(test)]
mod tests {
    use crate::model::{CrawlUrl, Fetched};
    use crate::read::parse;

    fn text(page: String) -> String {
        parse(&Fetched::html(CrawlUrl::parse("http://a.cn/1.html").unwrap(), page)).text
    }

    const SENTENCE: &str = "The council voted on the plan after a long debate on Monday evening, and nobody in the hall was quite content with \
         what came of it.";
    const COOKIES: &str = "We and our partners store and read information on a device, such as cookies, and process personal data for purposes \
         listed below.";

    #[test]
    fn names_lose_against_the_text_they_stand_on() {
        for name in [
            "td-post-content td-pb-padding-side",
            "themeform share",
            "sticky-sidebar-relative",
            "sidebar_right",
            "widget Blog",
            "paragraph pt",
            "position-relative",
            "left-side",
            "body--Ads",
            "intext-links",
            "TOC_TITLE_1",
            "comment",
            "with meta",
        ] {
            let body = format!("<p>{SENTENCE}").repeat(9);
            // More words than the article, in small pieces: names, buttons, a notice.
            let notice = format!("<div class=popup>{}</div>", "<div>Accept all vendors</div>".repeat(35)).repeat(3);
            let page = format!(
                "<body><div><h1>The plan</h1></div><div><div class='{name}'><div>{body}</div></div>\
                 <div class=sidebar><p>{COOKIES}</div></div>{notice}"
            );
            let read = text(page);
            assert_eq!(read.matches(SENTENCE).count(), 9, "{name}: {read}");
            assert!(!read.contains(COOKIES) && !read.contains("vendors"), "{name}: {read}");
        }
    }

    #[test]
    fn names_are_believed_of_many_short_texts_and_next_to_a_text() {
        let article = format!("<p>{SENTENCE}").repeat(5);
        let comments = format!("<div><b>Ann</b><p>{COOKIES}</div>").repeat(4);
        let other = format!("<p>{COOKIES}").repeat(4);
        for (name, below) in [("comments", comments), ("sidebar", other)] {
            let page = format!("<body><h1>The plan</h1><div>{article}</div><div class={name}>{below}</div>");
            assert!(!text(page).contains(COOKIES), "{name}");
        }
    }
}
