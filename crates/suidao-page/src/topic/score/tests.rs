use proptest::prelude::*;

use super::*;
use crate::model::Region;
use crate::read::{BlockKind, TextBlock, TextPiece};
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
            document.pieces.push(TextPiece { text: start..document.text.len(), hidden: label.starts_with('!') });
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
            kind: BlockKind::Paragraph,
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
fn a_linear_judge_scores_anchors_as_tags_and_urls_as_texts() {
    let scores = linear_topic().score(&document(&[
        (&["[NBA](http://a.cn/1)"], Region::Boilerplate),
        (&["[电影](http://a.cn/nba/2)"], Region::Boilerplate),
    ]));
    let link = |at: usize| scores.links[at].0;
    assert!((link(0).anchor.get() - 0.25).abs() < 1e-6, "0.3 × (0.2 + 0.3) / 0.6");
    assert_eq!((link(0).url, link(1).anchor), (Relevance::ZERO, Relevance::ZERO));
    assert!(link(1).url > Relevance::ZERO);
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
fn what_stands_between_the_words_of_a_term_does_not_matter() {
    let terms = [("node.js", 1.0), ("CI/CD", 1.0), ("scikit_learn", 1.0), ("SQL注入", 1.0), ("人工 智能", 1.0)];
    let topic = Topic::new(Lexicon::from_terms("技术", &terms));
    let score = |text: &str| topic.score(&document(&[(&[text], Region::Content)])).relevance.get();
    let spellings: [&[&str]; 5] = [
        &["node.js", "Node JS", "node-js", "Node.js。"],
        &["CI/CD", "ci cd", "ci-cd", "CI&CD"],
        &["scikit-learn", "scikit_learn", "Scikit Learn"],
        &["SQL注入", "SQL 注入", "sql-注入", "ＳＱＬ注入"],
        &["人工智能", "人工 智能"],
    ];
    for forms in spellings {
        for form in forms {
            assert!(score(form) > 0.0 && score(form) == score(forms[0]), "{form}: {}", score(form));
        }
    }
    assert_eq!((score("node, js"), score("ci：cd"), score("注入 SQL")), (0.0, 0.0, 0.0));
    // Two spellings in one lexicon are one term.
    let twice = Topic::new(Lexicon::from_terms("技术", &[("SQL注入", 1.0), ("sql 注入", 1.0)]));
    assert_eq!(twice.score(&document(&[(&["SQL 注入"], Region::Content)])).relevance, Relevance::ONE);
}

#[test]
fn other_forms_of_english_words_are_the_same_term_if_the_lexicon_says_so() {
    let terms = [("vulnerability", 1.0), ("neural network", 1.0), ("history", 1.0), ("css", 1.0)];
    let mut lexicon = Lexicon::from_terms("topic", &terms);
    let score = |lexicon: &Lexicon, text: &str| {
        let document = document(&[(&["other words", text], Region::Content)]);
        let topic = Topic::new(lexicon.clone());
        assert_eq!(topic.score_by(&document, false).relevance, topic.score(&document).relevance, "{text}");
        topic.score(&document).relevance.get()
    };
    assert_eq!(score(&lexicon, "vulnerabilities"), 0.0);
    lexicon.weights.stem = true;
    for (form, term) in [
        ("Vulnerabilities", "vulnerability"),
        ("neural networks", "neural network"),
        ("histories", "history"),
        ("neural-networked", "neural network"),
    ] {
        assert!(score(&lexicon, form) > 0.0 && score(&lexicon, form) == score(&lexicon, term), "{form}");
    }
    assert_eq!((score(&lexicon, "historian"), score(&lexicon, "csss"), score(&lexicon, "network")), (0.0, 0.0, 0.0));
    assert_eq!(Lexicon::parse(&lexicon.to_toml()).unwrap(), lexicon);
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
    let scores = topic().score(&document(&[(&["足球"], Region::Boilerplate), (&["!足球", "电影"], Region::Content)]));
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
    let only_tags = document(&[(&["电影"], Region::Content), (&["[NBA](http://a.cn/tags/x/)"], Region::Boilerplate)]);
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
