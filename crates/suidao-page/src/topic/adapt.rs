//! Learns from labelled pages: changes the weights of a linear judge as little as necessary to judge these pages as
//! labelled (Yang, Yan, Hauptmann 2007, adaptive support vector machines). The pages that the lexicon was learnt from
//! are not needed.

use rustc_hash::{FxHashMap, FxHashSet};
use thiserror::Error;

use super::linear::{COST, MARGIN};
use super::svm::{self, Row};
use super::term_rows::{Columns, heaviest};
use super::{Lexicon, Sample, Threshold};
use crate::text;

/// Separates the description of the first threshold from that of the change.
const CHANGED: &str = "; changed by";

/// Terms of a small lexicon after learning, at most.
const MOST: usize = 1_000;

/// Why nothing was learnt from labels.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum AdaptError {
    #[error("none of the {pages} labelled pages has text; label other pages")]
    NoText { pages: usize },
}

#[derive(Clone, Debug)]
pub struct Adapted {
    pub lexicon: Lexicon,
    /// Pages on topic that were learnt from.
    pub on_topic: usize,
    /// Pages off topic that were learnt from.
    pub off_topic: usize,
    /// Changes of weights, the largest absolute values first.
    pub changes: Vec<(String, f64)>,
}

/// Learns from pages labelled on topic (`true`) or off topic. A lexicon of eq. (1) becomes linear. Terms that the user
/// deleted stay out.
///
/// # Errors
/// [`AdaptError`] if no page has text.
pub fn learn_from_labels(lexicon: &Lexicon, pages: &[(Sample, bool)]) -> Result<Adapted, AdaptError> {
    let (mut adapted, mut linear) = lexicon.clone().into_linear();
    let (terms, tags) = (folded(&adapted.terms), folded(&linear.tags));
    let df: FxHashMap<&str, u32> = lexicon.background.df.iter().map(|(word, df)| (word.as_str(), *df)).collect();
    let idf = |word: &str| lexicon.background.idf(df.get(word).map_or(lexicon.background.other, |&df| f64::from(df)));
    let weight = |weights: &FxHashMap<String, f64>, word: &str| weights.get(word).copied().unwrap_or(0.0);
    let of_text = |word: &str| weight(&terms, word);
    let of_tag = |word: &str| weight(&terms, word) + weight(&tags, word);
    let mut columns = Columns::default();
    let mut on: Vec<(Row, f64)> = Vec::new();
    let mut off = on.clone();
    for (sample, on_topic) in pages {
        // Distance from the hyperplane before the change.
        let mut score = MARGIN - linear.boundary;
        let mut row: FxHashMap<u32, f64> = FxHashMap::default();
        let mut add = |bag: Vec<(String, u32)>, weight: &dyn Fn(&str) -> f64| {
            let value = |(word, count): (String, u32)| {
                let value = lexicon.weights.tf.weigh(count) * idf(&word);
                (word, value)
            };
            let values: Vec<(String, f64)> = bag.into_iter().map(value).collect();
            let length = values.iter().map(|(_, value)| value * value).sum::<f64>().sqrt();
            for (word, value) in values {
                score += weight(&word) * value / length;
                if !linear.removed.terms.contains(&word) {
                    *row.entry(columns.number(word)).or_default() += value / length;
                }
            }
        };
        add(sample.bag(sample.document.content()), &of_text);
        add(sample.bag(sample.document.tags().into_iter()), &of_tag);
        let mut row: Row = row.into_iter().map(|(column, value)| (column, value as f32)).collect();
        row.sort_unstable_by_key(|&(column, _)| column);
        if !row.is_empty() {
            if *on_topic { &mut on } else { &mut off }.push((row, score));
        }
    }
    if on.is_empty() && off.is_empty() {
        return Err(AdaptError::NoText { pages: pages.len() });
    }
    let change = svm::adapt(&on, &off, columns.words.len(), COST);
    let changed_weights = columns.words.iter().map(String::as_str).zip(change.weights.iter().copied());
    let changes = heaviest(changed_weights, usize::MAX);
    change_terms(&mut adapted.terms, &changes);
    linear.boundary -= change.bias;
    linear.median -= change.bias;
    adapted.linear = Some(linear);
    // Learning may be repeated; the description does not grow.
    let before = lexicon.page.chosen.split(CHANGED).next().unwrap_or_default();
    let chosen = format!("{before}{CHANGED} {} labelled pages, and not measured since", on.len() + off.len());
    adapted.page = Threshold::unmeasured(adapted.page.value, &chosen);
    adapted.order();
    Ok(Adapted { lexicon: adapted, on_topic: on.len(), off_topic: off.len(), changes })
}

/// Adds the changes to the weights of the terms. Beyond [`MOST`] the lightest are dropped for new ones.
fn change_terms(terms: &mut Vec<(String, f64)>, changes: &[(String, f64)]) {
    let change_of: FxHashMap<&str, f64> = changes.iter().map(|(word, weight)| (word.as_str(), *weight)).collect();
    let mut known: FxHashSet<String> = FxHashSet::default();
    for (term, weight) in terms.iter_mut() {
        let folded = text::fold(term);
        *weight += change_of.get(folded.as_str()).copied().unwrap_or(0.0);
        known.insert(folded);
    }
    let most = terms.len().max(MOST);
    let new = changes.iter().filter(|(word, _)| !known.contains(word)).cloned();
    let all: Vec<(String, f64)> = terms.drain(..).chain(new).collect();
    *terms = heaviest(all.iter().map(|(term, weight)| (term.as_str(), *weight)), most);
}

fn folded(terms: &[(String, f64)]) -> FxHashMap<String, f64> {
    terms.iter().map(|(term, weight)| (text::fold(term), *weight)).collect()
}

#[cfg(test)]
mod tests {
    use super::super::linear::tests::{OFF, ON, learnt, pages};
    use super::super::{Lexicon, Topic};
    use super::*;

    #[test]
    fn labels_change_what_they_contradict() {
        let before = Topic::new(learnt());
        let skiing = Sample::from_text("", "", "滑雪 滑雪 雪场");
        assert!(before.score(&skiing.document).relevance < before.page_threshold());
        let labelled: Vec<(Sample, bool)> =
            pages(OFF, 5).into_iter().map(|page| (page, false)).chain([(skiing.clone(), true)]).collect();
        let adapted = learn_from_labels(&learnt(), &labelled).unwrap();
        assert_eq!((adapted.on_topic, adapted.off_topic), (1, 24));
        assert!(adapted.changes.iter().any(|(word, change)| word == "滑雪" && *change > 0.0));
        let after = Topic::new(adapted.lexicon.clone());
        assert!(after.score(&skiing.document).relevance >= after.page_threshold());
        assert!(labelled[..24].iter().all(|(page, _)| after.score(&page.document).relevance < after.page_threshold()));
        let of_samples = pages(ON, 5);
        assert!(of_samples.iter().all(|page| after.score(&page.document).relevance >= after.page_threshold()));
        let again = learn_from_labels(&adapted.lexicon, &labelled).unwrap().lexicon;
        assert_eq!(again.page.chosen.matches(CHANGED).count(), 1, "{}", again.page.chosen);
    }

    #[test]
    fn a_deleted_term_stays_out() {
        let text = learnt().to_toml();
        let line = text.lines().find(|line| line.starts_with("\"足球\" = ")).unwrap();
        let edited = Lexicon::parse(&text.replacen(line, "", 1)).unwrap();
        let labelled = [(Sample::from_text("", "", "足球 足球 滑雪"), true)];
        let adapted = learn_from_labels(&edited, &labelled).unwrap().lexicon;
        assert!(adapted.terms.iter().all(|(term, _)| term != "足球"), "{:?}", adapted.terms);
        assert!(adapted.linear.unwrap().removed.terms.contains("足球"));
    }

    #[test]
    fn a_lexicon_of_keywords_becomes_linear_without_changing_what_is_not_labelled() {
        let mut by_hand = Lexicon::from_terms("x", &[("足球", 2.0), ("篮球", 1.0)]);
        by_hand.weights.tags = 0.4;
        let (mut linear, model) = by_hand.clone().into_linear();
        linear.linear = Some(model);
        let tagged = "<p>电影电影足球</p><a href=/tags/x/>篮球</a>";
        let url = crate::model::CrawlUrl::parse("http://a.cn/1.html").unwrap();
        let tagged = Sample::from_fetched(&crate::model::Fetched::html(url, tagged));
        let text = |text: &str| Sample::from_text("", "", text);
        let (before, after) = (Topic::new(by_hand.clone()), Topic::new(linear));
        for page in [tagged, text("电影 足球"), text("篮球 电影 音乐 唱歌 导演 演员"), text("电影")] {
            let expected = before.score(&page.document).relevance.get();
            let relevance = after.score(&page.document).relevance.get();
            assert!((relevance - expected).abs() < 1e-5, "{relevance} {expected}");
        }
        let labelled = [
            (text("滑雪 雪场"), true),
            (
                text("足球 电影 音乐 唱歌 导演 演员 程序员 代码 厨师 饭菜 老师 学生 校园 大学 绿茶 咖啡 火车 飞机"),
                false,
            ),
        ];
        let adapted = Topic::new(learn_from_labels(&by_hand, &labelled).unwrap().lexicon);
        let relevance = |at: usize| adapted.score(&labelled[at].0.document).relevance;
        assert!(relevance(0) >= adapted.page_threshold(), "{:?} {:?}", relevance(0), adapted.lexicon());
        assert!(adapted.score(&labelled[1].0.document).relevance < adapted.page_threshold());
    }

    #[test]
    fn what_teaches_nothing_is_an_error() {
        let empty = [(Sample::from_text("", "", "，"), true)];
        assert_eq!(learn_from_labels(&learnt(), &empty).unwrap_err(), AdaptError::NoText { pages: 1 });
    }
}
