//! Relevance of pages, eq. (1), and of links, eq. (3), of Jiang, Zhu, Wang 2020.
//!
//! Sim(P,T) = Σ_{i∈T} w_ij w_ir / (‖P‖ ‖T‖) with w_ij = tf_ij · ln(1 + N/(1+df_i)), eq. (2), the page's norm taken over
//! all its terms. The Sim of the page's own tags, times a weight, is added to that of the text, as BM25F adds fields
//! (Robertson, Zaragoza, Taylor 2004), but with separate norms, so that a long text does not outweigh three tags. R =
//! w1 R_Anchor + w2 R_Context + w3 R_Url, where R_Anchor = max(Sim(anchor, T), b · Sim(anchor, T_near)), and R_Context
//! likewise.
//!
//! With a linear judge ([`super::LinearModel`]) its S takes the place of Sim: in texts for eq. (1) and contexts, in
//! tags, in anchors, and in URLs.

use std::cmp::Reverse;

use ordered_float::OrderedFloat;
use rustc_hash::FxHashSet;

use super::opinion::{OpinionUse, TAGS, opening};
use super::tokens::{Folded, TermSums, Tokens};
use super::url::{self, UrlLexicon};
use super::vocabulary::{NEAR_HIT, PAGE_HIT, TOPIC_HIT, Vocabulary, VocabularyWord};
use super::{ContextGraphModel, Lexicon, TopicScores};
use crate::model::{CrawlUrl, Fetched, LinkScores, Relevance, TermMatch};
use crate::read::{DocumentLink, ParsedDocument, parse};

/// Words of context on each side of an anchor.
const CONTEXT: usize = 50;
/// Maximum pieces on each side to search for these words, including hidden ones; otherwise rows of links or images
/// without words would take quadratic time.
const PIECES: usize = 1_000;
/// Maximum terms reported per page.
const TERMS_LISTED: usize = 12;

/// A page that is so near the boundary that a second opinion is asked for.
#[derive(Clone, Debug, PartialEq)]
pub struct NearBoundary {
    /// Title and beginning.
    pub text: String,
    /// text + 0.75 tags.
    score: f64,
}

/// A lexicon prepared for scoring. Immutable; share it by `Arc`.
pub struct Topic {
    lexicon: Lexicon,
    vocabulary: Vocabulary,
    url: UrlLexicon,
    layers: Option<ContextGraphModel>,
}

impl Topic {
    pub fn new(lexicon: Lexicon) -> Self {
        let (vocabulary, url) = (Vocabulary::new(&lexicon), UrlLexicon::new(&lexicon.url));
        Self { lexicon, vocabulary, url, layers: None }
    }

    /// Adds a context graph.
    pub fn with_context_graph(self, layers: ContextGraphModel) -> Self {
        Self { layers: Some(layers), ..self }
    }

    /// Identifies its scores: the digest of the lexicon, and of the layers if any.
    pub fn digest(&self) -> String {
        let mut digest = self.lexicon.digest();
        if let Some(layers) = &self.layers {
            digest.push('+');
            digest.push_str(&layers.digest());
        }
        digest
    }

    pub fn lexicon(&self) -> &Lexicon {
        &self.lexicon
    }

    /// Minimum relevance of an on-topic page.
    pub fn page_threshold(&self) -> Relevance {
        Relevance::new(self.lexicon.page.value as f32)
    }

    /// Minimum relevance of a promising link.
    pub fn link_threshold(&self) -> Relevance {
        Relevance::new(self.lexicon.link.value as f32)
    }

    /// Relevance of a page and of its links.
    pub fn score(&self, document: &ParsedDocument) -> TopicScores {
        self.score_by(document, true)
    }

    /// As [`Self::score`], without the links.
    pub fn score_page(&self, document: &ParsedDocument) -> TopicScores {
        let folded = Folded::new(document);
        let mut tokens = Tokens::new(document, &folded, &self.vocabulary, true);
        let (relevance, terms, _) = self.page(document, &mut tokens);
        TopicScores { relevance, terms, layer: self.layer(document), links: Vec::new() }
    }

    /// As [`Self::score_page`], and whether the page is near the `threshold`, so that a second opinion is asked for.
    pub fn score_page_near(
        &self,
        document: &ParsedDocument,
        threshold: Relevance,
        usage: OpinionUse,
    ) -> (TopicScores, Option<NearBoundary>) {
        let folded = Folded::new(document);
        let mut tokens = Tokens::new(document, &folded, &self.vocabulary, true);
        let (relevance, terms, parts) = self.page(document, &mut tokens);
        let scores = TopicScores { relevance, terms, layer: self.layer(document), links: Vec::new() };
        let near = self.lexicon.linear.as_ref().zip(parts).and_then(|(linear, [text, tags])| {
            let distance = (text + tags - linear.score_at(f64::from(threshold.get()))).abs();
            let near = NearBoundary { text: opening(document, usage.tokens), score: text + TAGS * tags };
            (distance <= usage.band * linear.distance() && !near.text.is_empty()).then_some(near)
        });
        (scores, near)
    }

    /// Relevance of a page near the boundary with this opinion about it, times the weight of opinions.
    pub fn with_opinion(&self, near: &NearBoundary, opinion: f64) -> Relevance {
        let linear = self.lexicon.linear.as_ref();
        linear.map_or(Relevance::ZERO, |linear| {
            Relevance::new(linear.relevance(near.score + linear.distance() * opinion) as f32)
        })
    }

    fn layer(&self, document: &ParsedDocument) -> Option<u8> {
        self.layers.as_ref().and_then(|layers| layers.of_page(document))
    }

    /// The parts of eq. (3), and eq. (3), of a link with this text and nothing around it.
    pub fn score_link(&self, url: &CrawlUrl, anchor: &str) -> (LinkScores, Relevance) {
        let text = anchor.replace('&', "&amp;").replace('<', "&lt;");
        let page = Fetched::html(url.clone(), format!("<p><a href=\"?\">{text}</a></p>"));
        let mut document = parse(&page).document;
        let Some(link) = document.links.first_mut() else { return (LinkScores::default(), Relevance::ZERO) };
        link.url = url.clone();
        self.score(&document).links[0]
    }

    /// R_Url of a URL without a link: 1 if it contains a topic token, otherwise the score of a linear judge, or 0.
    pub fn url_relevance(&self, url: &CrawlUrl) -> Relevance {
        match &self.lexicon.linear {
            _ if self.url.matches(url) => Relevance::ONE,
            Some(linear) => Relevance::new(linear.link_relevance(url::score(url, &self.vocabulary)) as f32),
            None => Relevance::ZERO,
        }
    }

    fn score_by(&self, document: &ParsedDocument, prefilter: bool) -> TopicScores {
        let folded = Folded::new(document);
        let mut tokens = Tokens::new(document, &folded, &self.vocabulary, prefilter);
        let (relevance, terms, _) = self.page(document, &mut tokens);
        let links = document.links.iter().map(|link| self.link(document, link, &mut tokens)).collect();
        TopicScores { relevance, terms, layer: self.layer(document), links }
    }

    /// Relevance by title and main content and by the page's own tags, the topic terms in both, and the two parts of a
    /// linear judge's S if there is a topic term.
    fn page(
        &self,
        document: &ParsedDocument,
        tokens: &mut Tokens<'_>,
    ) -> (Relevance, Vec<TermMatch>, Option<[f64; 2]>) {
        let linear = self.lexicon.linear.as_ref();
        let hit = if linear.is_some() { PAGE_HIT } else { TOPIC_HIT };
        let tags = document.tags();
        let in_text = document.content().any(|piece| tokens.may_hold(piece, hit));
        let in_tags = tags.iter().any(|&piece| tokens.may_hold(piece, hit));
        // Without a topic term the relevance is 0, and segmentation is unnecessary.
        if !in_text && !in_tags {
            return (Relevance::ZERO, Vec::new(), None);
        }
        let mut found = Vec::new();
        let weight = |word: &VocabularyWord| if linear.is_some() { word.text.max(word.tags) } else { word.topic };
        let mut sums = |tokens: &mut Tokens<'_>, pieces: &mut dyn Iterator<Item = usize>, counts_terms: bool| {
            for piece in pieces {
                let range = tokens.of_piece(piece);
                tokens.add_to_bag(range);
            }
            tokens.empty_bag(|word, count| {
                let share = self.vocabulary.tf.weigh(count) * word.idf * weight(word);
                if counts_terms && share > 0.0 {
                    found.push((Reverse(OrderedFloat(share)), word.term, count));
                }
            })
        };
        let (mut of_text, mut of_tags) = (TermSums::default(), TermSums::default());
        // Eq. (1) needs no norm of a text without topic terms; a linear judge needs the words against the topic.
        if in_text || linear.is_some() {
            of_text = sums(tokens, &mut document.content(), true);
        }
        if in_tags || linear.is_some() {
            of_tags = sums(tokens, &mut tags.iter().copied(), false);
        }
        if in_tags {
            // Tags inside the text are counted already.
            let text: FxHashSet<usize> = document.content().collect();
            sums(tokens, &mut tags.into_iter().filter(|tag| !text.contains(tag)), true);
        }
        let has_term = of_text.positive || of_tags.positive;
        let parts = [per_norm(of_text.text, of_text.norm), per_norm(of_tags.tags, of_tags.norm)];
        let parts = (linear.is_some() && has_term).then_some(parts);
        let relevance = match linear {
            None => {
                let tags = cosine(of_tags.topic, of_tags.norm).get();
                cosine(of_text.topic, of_text.norm).get() + self.lexicon.weights.tags as f32 * tags
            }
            Some(linear) => parts.map_or(0.0, |[text, tags]| linear.relevance(text + tags) as f32),
        };
        found.sort_by_key(|&(share, _, _)| share);
        let mut matches: Vec<TermMatch> = Vec::new();
        for (_, term, count) in found {
            let name = self.lexicon.term_name(term as usize);
            if let Some(known) = matches.iter_mut().find(|known| known.term == name) {
                known.count += count;
            } else if matches.len() < TERMS_LISTED {
                matches.push(TermMatch { term: name.to_owned(), count });
            }
        }
        (Relevance::new(relevance), matches, parts)
    }

    /// Eq. (3) of one link.
    fn link(&self, document: &ParsedDocument, link: &DocumentLink, tokens: &mut Tokens<'_>) -> (LinkScores, Relevance) {
        let evidence = LinkScores {
            anchor: self.anchor(link, tokens),
            context: self.context(document, link, tokens),
            url: self.url_relevance(&link.url),
        };
        let weights = &self.lexicon.weights;
        let sum = weights.anchor * f64::from(evidence.anchor.get())
            + weights.context * f64::from(evidence.context.get())
            + weights.url * f64::from(evidence.url.get());
        (evidence, Relevance::new(sum as f32))
    }

    fn anchor(&self, link: &DocumentLink, tokens: &mut Tokens<'_>) -> Relevance {
        let hit = NEAR_HIT | if self.lexicon.linear.is_some() { PAGE_HIT } else { TOPIC_HIT };
        if !link.anchor.clone().any(|piece| tokens.may_hold(piece, hit)) {
            return Relevance::ZERO;
        }
        for piece in link.anchor.clone() {
            let range = tokens.of_piece(piece);
            tokens.add_to_bag(range);
        }
        let sums = tokens.empty_bag(|_, _| ());
        self.nearest(sums, sums.tags)
    }

    /// Similarity of the [`CONTEXT`] words on each side of the anchor within its block, without the anchor.
    fn context(&self, document: &ParsedDocument, link: &DocumentLink, tokens: &mut Tokens<'_>) -> Relevance {
        let block = document.blocks[link.block].pieces.clone();
        let before = block.start..link.anchor.start.clamp(block.start, block.end);
        let after = link.anchor.end.clamp(block.start, block.end)..block.end;
        let is_visible = |piece: &usize| !document.pieces[*piece].hidden;
        if !tokens.any_may_hold(before.clone()) && !tokens.any_may_hold(after.clone()) {
            return Relevance::ZERO;
        }
        // From the anchor outwards, so that only pieces within the window are segmented.
        let mut window = Vec::new();
        let mut left = CONTEXT;
        for piece in before.rev().take(PIECES).filter(is_visible) {
            let range = tokens.of_piece(piece);
            let taken = range.len().min(left);
            window.push(range.end - taken..range.end);
            left -= taken;
            if left == 0 {
                break;
            }
        }
        window.reverse();
        let mut left = CONTEXT;
        for piece in after.take(PIECES).filter(is_visible) {
            let range = tokens.of_piece(piece);
            let taken = range.len().min(left);
            window.push(range.start..range.start + taken);
            left -= taken;
            if left == 0 {
                break;
            }
        }
        if !window.iter().any(|range| tokens.holds_term(range.clone())) {
            return Relevance::ZERO;
        }
        for range in window {
            tokens.add_to_bag(range);
        }
        let sums = tokens.empty_bag(|_, _| ());
        self.nearest(sums, sums.text)
    }

    /// max(Sim with T, b · Sim with T_near), where the linear judge, if any, takes the place of Sim with T.
    fn nearest(&self, sums: TermSums, linear_sum: f64) -> Relevance {
        let near = f64::from(cosine(sums.near, sums.norm).get()) * self.lexicon.weights.near;
        let topic = match &self.lexicon.linear {
            Some(linear) => Relevance::new(linear.link_relevance(per_norm(linear_sum, sums.norm)) as f32),
            None => cosine(sums.topic, sums.norm),
        };
        topic.max(Relevance::new(near as f32))
    }
}

/// The score of a linear judge: Σ w_ij w_ir / ‖P‖; 0 for no term.
fn per_norm(sum: f64, norm: f64) -> f64 {
    if norm > 0.0 { sum / norm.sqrt() } else { 0.0 }
}

/// Σ w_ij w_ir / ‖P‖ with normalized topic weights; 0 without a match.
fn cosine(product: f64, norm: f64) -> Relevance {
    if product > 0.0 { Relevance::new((product / norm.sqrt()) as f32) } else { Relevance::ZERO }
}

#[cfg(test)]
mod tests;
