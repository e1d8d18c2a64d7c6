//! Relevance of pages, eq. (1), and of links, eq. (3), of Jiang, Zhu, Wang 2020.
//!
//! Sim(P,T) = Σ_{i∈T} w_ij w_ir / (‖P‖ ‖T‖) with w_ij = tf_ij · ln(1 + N/(1+df_i)), eq. (2), the page's norm taken over
//! all its terms. The Sim of the page's own tags, times a weight, is added to that of the text, as BM25F adds fields
//! (Robertson, Zaragoza, Taylor 2004), but with separate norms, so that a long text does not outweigh three tags. R =
//! w1 R_Anchor + w2 R_Context + w3 R_Url, where R_Anchor = max(Sim(anchor, T), b · Sim(anchor, T_near)), and R_Context
//! likewise.
//!
//! With a linear judge ([`super::LinearModel`]) its S takes the place of Sim: in texts for eq. (1) and contexts, in tags,
//! in anchors, and in URLs.

use std::cmp::Reverse;

use ordered_float::OrderedFloat;
use rustc_hash::FxHashSet;

use super::tokens::{Folded, TermSums, Tokens};
use super::url::{UrlLexicon, UrlWeights};
use super::vocabulary::{ANCHOR_HIT, NEAR_HIT, PAGE_HIT, TOPIC_HIT, Vocabulary, VocabularyWord};
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

/// A lexicon prepared for scoring. Immutable; share it by `Arc`.
pub struct Topic {
    lexicon: Lexicon,
    vocabulary: Vocabulary,
    url: UrlLexicon,
    url_weights: UrlWeights,
    layers: Option<ContextGraphModel>,
}

impl Topic {
    pub fn new(lexicon: Lexicon) -> Self {
        let (vocabulary, url) = (Vocabulary::new(&lexicon), UrlLexicon::new(&lexicon.url));
        let url_weights = UrlWeights::new(lexicon.linear.as_ref().map_or(&[], |linear| &linear.urls));
        Self { lexicon, vocabulary, url, url_weights, layers: None }
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
            Some(linear) => Relevance::new(linear.link_relevance(self.url_weights.score(url, &self.vocabulary)) as f32),
            None => Relevance::ZERO,
        }
    }

    fn score_by(&self, document: &ParsedDocument, prefilter: bool) -> TopicScores {
        let folded = Folded::new(document);
        let mut tokens = Tokens::new(document, &folded, &self.vocabulary, prefilter);
        let (relevance, terms) = self.page(document, &mut tokens);
        let links = document.links.iter().map(|link| self.link(document, link, &mut tokens)).collect();
        let layer = self.layers.as_ref().and_then(|layers| layers.of_page(document));
        TopicScores { relevance, terms, layer, links }
    }

    /// Relevance by title and main content and by the page's own tags, and the topic terms in both.
    fn page(&self, document: &ParsedDocument, tokens: &mut Tokens<'_>) -> (Relevance, Vec<TermMatch>) {
        let linear = self.lexicon.linear.as_ref();
        let hit = if linear.is_some() { PAGE_HIT } else { TOPIC_HIT };
        let tags = document.tags();
        let in_text = document.content().any(|piece| tokens.may_hold(piece, hit));
        let in_tags = tags.iter().any(|&piece| tokens.may_hold(piece, hit));
        // Without a topic term the relevance is 0, and segmentation is unnecessary.
        if !in_text && !in_tags {
            return (Relevance::ZERO, Vec::new());
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
        let relevance = match linear {
            None => {
                let tags = cosine(of_tags.topic, of_tags.norm).get();
                cosine(of_text.topic, of_text.norm).get() + self.lexicon.weights.tags as f32 * tags
            }
            Some(linear) if of_text.positive || of_tags.positive => {
                linear.relevance(per_norm(of_text.text, of_text.norm) + per_norm(of_tags.tags, of_tags.norm)) as f32
            }
            Some(_) => 0.0,
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
        (Relevance::new(relevance), matches)
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
        let hit = NEAR_HIT | if self.lexicon.linear.is_some() { ANCHOR_HIT } else { TOPIC_HIT };
        if !link.anchor.clone().any(|piece| tokens.may_hold(piece, hit)) {
            return Relevance::ZERO;
        }
        for piece in link.anchor.clone() {
            let range = tokens.of_piece(piece);
            tokens.add_to_bag(range);
        }
        let sums = tokens.empty_bag(|_, _| ());
        self.nearest(sums, sums.anchor)
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
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::model::Region;
    use crate::read::{BlockKind, TextBlock, TextRun};
    use crate::topic::TermFrequency;

    /// Builds a document: blocks of pieces; `[text](url)` is a link, `!text` a hidden piece.
    fn document(blocks: &[(&[&str], Region)]) -> ParsedDocument {
        let mut document = ParsedDocument::default();
        for (pieces, region) in blocks {
            let first = document.pieces.len();
            for piece in *pieces {
                let (label, url) = match piece.strip_prefix('[').and_then(|link| link.split_once("](")) {
                    Some((anchor, url)) => (anchor, Some(url.trim_end_matches(')'))),
                    None => (*piece, None),
                };
                let text = label.strip_prefix('!').unwrap_or(label);
                let start = document.text.len();
                document.text.push_str(text);
                let index = document.pieces.len();
                document.pieces.push(TextRun { text: start..document.text.len(), hidden: label.starts_with('!') });
                if let Some(url) = url {
                    document.links.push(DocumentLink {
                        url: CrawlUrl::parse(url).unwrap(),
                        anchor: index..index + 1,
                        block: document.blocks.len(),
                        region: *region,
                        nofollow: false,
                        next: false,
                        path: 0,
                    });
                }
            }
            document.blocks.push(TextBlock {
                pieces: first..document.pieces.len(),
                region: *region,
                form: BlockKind::Paragraph,
            });
        }
        document
    }

    fn topic() -> Topic {
        let mut lexicon = Lexicon::from_terms(
            "体育",
            &[("足球", 0.8), ("篮球", 0.6), ("World Cup", 0.3), ("NBA", 0.2), ("人工智能竞赛", 0.1)],
        );
        lexicon.near = vec![("大学".to_owned(), 0.4), ("足球".to_owned(), 1.0)];
        lexicon.url = vec!["sports".to_owned()];
        Topic::new(lexicon)
    }

    fn linear_topic() -> Topic {
        let mut lexicon = topic().lexicon;
        let terms = |terms: &[(&str, f64)]| terms.iter().map(|(term, weight)| ((*term).to_owned(), *weight)).collect();
        lexicon.terms.extend([("电影".to_owned(), -0.4), ("大学".to_owned(), -0.2)]);
        lexicon.linear = Some(crate::topic::LinearModel {
            boundary: 0.2,
            boundary_relevance: 0.3,
            median: -0.4,
            tags: terms(&[("nba", 0.3), ("学生", 0.2), ("篮球", -0.7)]),
            anchors: terms(&[("大", 0.5), ("足球", -0.3)]),
            urls: terms(&[("news", 0.5)]),
            removed: crate::topic::RemovedTerms::default(),
        });
        Topic::new(lexicon)
    }

    #[test]
    fn a_linear_judge_adds_signed_weights_of_text_and_tags() {
        let relevance = |blocks: &[(&[&str], Region)]| linear_topic().score(&document(blocks)).relevance.get();
        let expected = |score: f64| (0.3 * (score + 0.4) / 0.6).clamp(0.0, 1.0) as f32;
        // Every IDF is the same: 足球 twice and 电影 once, √tf.
        let text = (0.8 * 2.0_f64.sqrt() - 0.4) / 3.0_f64.sqrt();
        assert!((relevance(&[(&["足球的足球，电影"], Region::Content)]) - expected(text)).abs() < 1e-6);
        let tags: &[&str] = &["[NBA](http://a.cn/tags/x/)", "[音乐](http://a.cn/tags/y/)"];
        let both = relevance(&[(&["足球的足球，电影"], Region::Content), (tags, Region::Boilerplate)]);
        assert!((both - expected(text + 0.5 / 2.0_f64.sqrt())).abs() < 1e-6);
        assert_eq!(relevance(&[(&["音乐"], Region::Content)]), 0.0, "no term for the topic");
        assert!(relevance(&[(&["足球"], Region::Content)]) > relevance(&[(&["足球 大学"], Region::Content)]));
    }

    #[test]
    fn a_linear_judge_scores_links_by_weights_of_their_own() {
        let scores = linear_topic().score(&document(&[
            (&["[大学生](http://a.cn/1)"], Region::Boilerplate),
            (&["[电影](http://a.cn/news/2)"], Region::Boilerplate),
            (&["[大](http://a.cn/3)"], Region::Boilerplate),
        ]));
        let link = |at: usize| scores.links[at].0;
        assert_eq!(link(1).anchor, Relevance::ZERO);
        assert!(link(1).url > Relevance::ZERO && link(0).url == Relevance::ZERO);
        assert!((link(2).anchor.get() - 0.25).abs() < 1e-6, "0.3 × 0.5 / 0.6");
    }

    fn page(text: &str) -> f32 {
        topic().score(&document(&[(&[text], Region::Content)])).relevance.get()
    }

    #[test]
    fn relevance_is_the_cosine_of_equation_1() {
        let length = (0.64_f64 + 0.36 + 0.09 + 0.04 + 0.01).sqrt();
        // 足球 twice, 篮球 once, 电影 once; 的 is a stop word; every IDF is the same.
        let text: &[&str] = &["足球的足球，篮球的电影"];
        let score = |tf| {
            let mut lexicon = topic().lexicon;
            lexicon.weights.tf = tf;
            let topic = Topic::new(lexicon);
            f64::from(topic.score(&document(&[(text, Region::Content)])).relevance.get())
        };
        let raw = (2.0 * 0.8 + 0.6) / (length * 6.0_f64.sqrt());
        assert!((score(TermFrequency::Raw) - raw).abs() < 1e-6);
        let root = (2.0_f64.sqrt() * 0.8 + 0.6) / (length * 4.0_f64.sqrt());
        assert!((score(TermFrequency::Root) - root).abs() < 1e-6);
        assert_eq!(page("电影的音乐"), 0.0);
        assert_eq!(page(""), 0.0);
        assert_eq!(page("大学"), 0.0, "near terms do not count for the page");
    }

    #[test]
    fn terms_match_in_every_spelling_and_as_phrases() {
        assert_eq!(page("足球"), page("足　球".replace('　', "").as_str()));
        assert!(page("ＮＢＡ") > 0.0 && page("nba") > 0.0 && page("nbalive") == 0.0);
        assert!(page("world cup") > 0.0 && page("World-Cup!") > 0.0);
        assert_eq!(page("cup world"), 0.0);
        assert!(page("人工智能競賽") > 0.0);
        assert_eq!(page("人工智能，竞赛"), 0.0, "a comma is between them");
    }

    #[test]
    fn rare_words_weigh_more_than_frequent_ones() {
        let mut lexicon = Lexicon::from_terms("体育", &[("足球", 1.0)]);
        lexicon.background.pages = 1000;
        lexicon.background.df = vec![("电影".to_owned(), 900), ("足球".to_owned(), 9)];
        lexicon.background.other = 4.0;
        let topic = Topic::new(lexicon);
        let score = |text: &str| f64::from(topic.score(&document(&[(&[text], Region::Content)])).relevance.get());
        let idf = |df: f64| (1.0 + 1000.0 / (1.0 + df)).ln();
        let cosine = |other: f64| idf(9.0) / (idf(9.0).powi(2) + idf(other).powi(2)).sqrt();
        assert!((score("足球电影") - cosine(900.0)).abs() < 1e-6);
        assert!((score("足球音乐") - cosine(4.0)).abs() < 1e-6);
    }

    #[test]
    fn boilerplate_and_hidden_text_are_no_content() {
        let scores =
            topic().score(&document(&[(&["足球"], Region::Boilerplate), (&["!足球", "电影"], Region::Content)]));
        assert_eq!(scores.relevance, Relevance::ZERO);
        assert!(scores.terms.is_empty());
    }

    #[test]
    fn the_pages_own_tags_add_to_its_text() {
        let tagged = document(&[
            (&["足球电影电影"], Region::Content),
            (&["[足球](http://a.cn/tags/x/)", "[音乐](http://a.cn/tags/y/)"], Region::Boilerplate),
        ]);
        let alone = |text: &str| page(text);
        let scores = topic().score(&tagged);
        let both = alone("足球电影电影") + alone("足球音乐");
        assert!((scores.relevance.get() - both).abs() < 1e-6);
        assert_eq!(scores.terms, [TermMatch { term: "足球".to_owned(), count: 2 }]);
        let within = document(&[(&["电影电影", "[足球](http://a.cn/tags/x/)"], Region::Content)]);
        assert_eq!(topic().score(&within).terms, [TermMatch { term: "足球".to_owned(), count: 1 }]);
        let mut lexicon = topic().lexicon;
        lexicon.weights.tags = 0.0;
        assert_eq!(Topic::new(lexicon).score(&tagged).relevance.get(), alone("足球电影电影"));
        let only_tags =
            document(&[(&["电影"], Region::Content), (&["[NBA](http://a.cn/tags/x/)"], Region::Boilerplate)]);
        assert_eq!(topic().score(&only_tags).relevance.get(), alone("nba"));
    }

    #[test]
    fn the_most_telling_terms_come_first() {
        let scores = topic().score(&document(&[(&["nba nba nba 足球 篮球 篮球"], Region::Content)]));
        let terms: Vec<(&str, u32)> = scores.terms.iter().map(|term| (term.term.as_str(), term.count)).collect();
        assert_eq!(terms, [("篮球", 2), ("足球", 1), ("NBA", 3)]);
    }

    #[test]
    fn a_link_is_judged_by_anchor_context_and_url() {
        let scores = topic().score(&document(&[
            (&["看", "[足球](http://a.cn/sports/)", "电影"], Region::Content),
            (&["[电影](http://a.cn/2)", "足球"], Region::Boilerplate),
            (&["[大学](http://a.cn/3)"], Region::Boilerplate),
            (&["!足球", "[!篮球](http://a.cn/4)"], Region::Boilerplate),
        ]));
        let length = (0.64_f64 + 0.36 + 0.09 + 0.04 + 0.01).sqrt();
        let evidence: Vec<[f32; 3]> = scores
            .links
            .iter()
            .map(|(evidence, _)| [evidence.anchor.get(), evidence.context.get(), evidence.url.get()])
            .collect();
        let foot = (0.8 / length) as f32;
        assert_eq!(evidence[0], [foot, 0.0, 1.0]);
        assert_eq!(evidence[1], [0.0, foot, 0.0]);
        assert_eq!(evidence[2], [0.5, 0.0, 0.0], "b times the near topic, its terms less the topic's");
        assert_eq!(evidence[3], [(0.6 / length) as f32, 0.0, 0.0], "hidden text is evidence in the anchor only");
        assert!((scores.links[0].1.get() - (0.5 * foot + 0.2)).abs() < 1e-6);
        assert!((scores.links[1].1.get() - 0.3 * foot).abs() < 1e-6);
    }

    #[test]
    fn context_ends_fifty_words_from_the_anchor() {
        let context = |words: usize| {
            let far = format!("足球 {}", "x1 ".repeat(words));
            let scores = topic().score(&document(&[(&[&far, "[电影](http://a.cn/)", "音乐"], Region::Content)]));
            scores.links[0].0.context.get()
        };
        assert!(context(CONTEXT - 1) > 0.0);
        assert_eq!(context(CONTEXT), 0.0);
    }

    /// Pieces of words that are terms, parts of terms, or neither.
    fn piece() -> impl Strategy<Value = String> {
        let word = prop::sample::select(vec![
            "足球",
            "足",
            "球",
            "篮球",
            "蓝",
            "nba",
            "x",
            "nb",
            "World",
            " cup",
            " ",
            "大学",
            "大",
            "学生",
            "，",
            "电影",
            "的",
            "人工智能",
            "竞赛",
            "競賽",
            "ＮＢＡ",
            "İ",
            "c++",
        ]);
        prop::collection::vec(word, 0..6).prop_map(|words| words.concat())
    }

    proptest! {
        #[test]
        fn the_prefilter_changes_nothing(
            blocks in prop::collection::vec(prop::collection::vec((piece(), 0..5_u8), 0..5), 0..5),
            topical in 0..3_u8,
        ) {
            let texts: Vec<Vec<String>> = blocks
                .iter()
                .map(|pieces| {
                    let text = |(text, kind): &(String, u8)| match kind {
                        0 => format!("[{text}](http://a.cn/)"),
                        4 => format!("[{text}](http://a.cn/tags/{text}/)"),
                        1 => format!("!{text}"),
                        _ => text.clone(),
                    };
                    pieces.iter().map(text).collect()
                })
                .collect();
            let texts: Vec<Vec<&str>> =
                texts.iter().map(|pieces| pieces.iter().map(String::as_str).collect()).collect();
            let region = |index: usize| if index.is_multiple_of(2) { Region::Content } else { Region::Boilerplate };
            let blocks: Vec<(&[&str], Region)> =
                texts.iter().enumerate().map(|(index, pieces)| (pieces.as_slice(), region(index))).collect();
            let document = document(&blocks);
            let topic = match topical {
                0 => topic(),
                1 => Topic::new(Lexicon::from_terms("x", &[("学", 1.0)])),
                _ => linear_topic(),
            };
            prop_assert_eq!(topic.score_by(&document, true), topic.score_by(&document, false));
        }
    }
}
