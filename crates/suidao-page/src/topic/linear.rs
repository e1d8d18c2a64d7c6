//! Learns a linear judge: two support vector machines separate sample pages from background pages, one by the words of
//! title and main content, the other by the words of the page's own tags.
//!
//! ```text
//! S(page) = W·text + (W + 0.6 V)·tags          W, b learnt from texts, V from tags
//! on topic: S ≥ −b + 0.1 + raise
//! ```
//!
//! Keywords are a vector of length 1 that is added to W and to the weights of tags. `raise` is the least number, at
//! least 0, for which at most 3% of the off-topic background pages, or less than half of the samples, are judged on
//! topic, measured by cross-validation over hosts. Background pages that score higher than a quarter of the samples are
//! left out of the training, because they are probably on topic.

use std::collections::BTreeSet;

use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};

use super::boundary::{Boundary, FALSE_POSITIVES, HeldOutScores};
use super::lexicon::{BOUNDARY_RELEVANCE, RemovedTerms};
use super::single_host::SingleHost;
use super::svm::{self, Hyperplane, Row};
use super::term_rows::{Columns, heaviest};
use super::thresholds::{FOLDS, ONE_IN, folds};
use super::{Background, LearnOptions, Sample, Threshold};
use crate::model::CrawlUrl;
use crate::text;

/// C; flat from 0.3 to 3.
pub(super) const COST: f64 = 1.0;
/// Weight of V.
const TAGS: f64 = 0.6;
/// Distance of the boundary from the hyperplane.
pub(super) const MARGIN: f64 = 0.1;
/// Weight of the keywords; 0.6 to 1.2 give the same within .01.
const KEYWORDS: f64 = 1.0;
/// Least samples with tags to learn V.
const LEAST_TAGGED: usize = 5;
/// Tag terms to keep for each hundred terms.
const TAGS_KEPT: usize = 30;
/// Maximum background pages; number of random pages without background.
const BACKGROUND: usize = 1_000;
/// A background page that scores higher than this share of the samples is left out.
const ON_TOPIC: f64 = 0.25;
/// Least distance between the boundary and the median score of the background.
const LEAST_SCALE: f64 = 0.1;
/// Least distance between a lowered threshold and the median score of the background, as a share of the boundary's.
const LEAST_SHARE: f64 = 0.2;

/// A page's row of text and row of tags.
type PageRows = (Row, Row);

/// Samples and background pages, prepared for training.
pub(super) struct TrainingSet {
    /// Document frequencies of the background and the built-in ones.
    pub(super) counts: Background,
    columns: Columns,
    /// Of the samples, then of the background.
    rows: Vec<PageRows>,
    samples: usize,
    /// Samples and background; further rows are scored only.
    trained: usize,
    /// The fold in which a page is held out.
    fold_of: Vec<usize>,
    /// What is held out together: hosts or pages.
    held_out_by: &'static str,
    /// Whether there are background pages; otherwise random pages take their place.
    has_background: bool,
    /// Background pages that are probably on topic.
    likely_on_topic: FxHashSet<usize>,
    single_host: FxHashSet<u32>,
    /// Folded keywords, a vector of length 1.
    keywords: Vec<(String, f64)>,
    removed: RemovedTerms,
    most: usize,
}

/// Signed weights, the largest absolute values first.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct TrainedWeights {
    pub(super) terms: Vec<(String, f64)>,
    pub(super) tags: Vec<(String, f64)>,
    /// Least S of an on-topic page.
    pub(super) boundary: f64,
    /// Median S of the background, below the boundary.
    pub(super) median: f64,
}

impl TrainingSet {
    /// `most`: number of terms to keep.
    pub(super) fn new(
        fit: &[&Sample],
        background: &Background,
        keywords: &[(String, f64)],
        removed: &RemovedTerms,
        most: usize,
    ) -> Self {
        Self::with_others(fit, background, keywords, removed, most, &[])
    }

    /// As [`Self::new`], with pages that are scored and not learnt from.
    fn with_others(
        fit: &[&Sample],
        background: &Background,
        keywords: &[(String, f64)],
        removed: &RemovedTerms,
        most: usize,
        further: &[&Sample],
    ) -> Self {
        let own: FxHashSet<&CrawlUrl> = fit.iter().filter_map(|sample| sample.url.as_ref()).collect();
        let texts: FxHashSet<u64> = fit.iter().map(|sample| sample.text_hash()).collect();
        let is_other = |sample: &&Sample| {
            !sample.listing
                && sample.url.as_ref().is_none_or(|url| !own.contains(url))
                && !texts.contains(&sample.text_hash())
        };
        let documents: Vec<&Sample> = background.samples().iter().filter(is_other).collect();
        let taken = documents.len().min(BACKGROUND);
        let evenly = (0..taken).map(|at| documents[at * documents.len() / taken].clone());
        let mut others: Vec<Sample> = evenly.collect();
        let has_background = !others.is_empty();
        if !has_background {
            others = Background::built_in().random_pages(BACKGROUND);
        }
        let several_hosts = fit.iter().any(|sample| sample.host != fit[0].host);
        let mut set = Self {
            counts: background.with_built_in(),
            columns: Columns::default(),
            rows: Vec::new(),
            samples: fit.len(),
            trained: fit.len() + others.len(),
            fold_of: folds(fit),
            held_out_by: if several_hosts { "hosts" } else { "pages" },
            has_background,
            likely_on_topic: FxHashSet::default(),
            single_host: FxHashSet::default(),
            keywords: unit_vector(keywords),
            removed: removed.clone(),
            most,
        };
        let unlabelled: Vec<&Sample> = others.iter().chain(further.iter().copied()).collect();
        set.assign_folds(fit, &unlabelled);
        let all: Vec<&Sample> = fit.iter().copied().chain(unlabelled).collect();
        set.rows = set.page_rows(&all);
        let mut hosts = SingleHost::default();
        for (page, (text, tags)) in all.iter().zip(&set.rows) {
            text.iter().chain(tags).for_each(|&(column, _)| hosts.add(column, &page.host));
        }
        set.single_host = hosts.columns(fit.iter().map(|sample| sample.host.as_str()));
        set.find_likely_on_topic();
        set
    }

    /// Background pages are held out with the samples of their host, those of other hosts in turn.
    fn assign_folds(&mut self, fit: &[&Sample], others: &[&Sample]) {
        let by_hosts = self.held_out_by == "hosts";
        let mut fold_of: FxHashMap<&str, usize> = FxHashMap::default();
        if by_hosts {
            fold_of.extend(fit.iter().map(|sample| sample.host.as_str()).zip(self.fold_of.iter().copied()));
        }
        let mut next = 0;
        for other in others {
            let mut in_turn = || {
                next += 1;
                next % FOLDS
            };
            // The host of a random page is unknown.
            let fold = if by_hosts && !other.host.is_empty() {
                *fold_of.entry(&other.host).or_insert_with(in_turn)
            } else {
                in_turn()
            };
            self.fold_of.push(fold);
        }
    }

    fn page_rows(&mut self, samples: &[&Sample]) -> Vec<PageRows> {
        let bags: Vec<_> = samples
            .par_iter()
            .map(|sample| (sample.bag(sample.document.content()), sample.bag(sample.document.tags().into_iter())))
            .collect();
        let mut row = |bag| self.columns.row(bag, &self.counts);
        bags.into_iter().map(|(text, tags)| (row(text), row(tags))).collect()
    }

    /// Learns from some of the samples and the background.
    pub(super) fn learn(&self, samples: &[usize]) -> Option<TrainedWeights> {
        let background: Vec<usize> = (self.samples..self.trained).collect();
        self.learn_from(samples, &background)
    }

    /// Learns from everything, and measures precision and recall by cross-validation.
    pub(super) fn learn_and_measure(&self) -> Option<(TrainedWeights, Threshold)> {
        let all: Vec<usize> = (0..self.samples).collect();
        let mut weights = self.learn(&all)?;
        let scored = self.held_out().into_iter().map(|(score, page)| (score, page < self.samples)).collect();
        let boundary = HeldOutScores::new(scored).map(|scores| scores.boundary(!self.has_background));
        weights.boundary += boundary.as_ref().map_or(0.0, |boundary| boundary.score);
        let precision = |boundary: &Boundary| {
            let wrong = (ONE_IN - 1.0) * boundary.false_positives;
            if boundary.recall > 0.0 { boundary.recall / (boundary.recall + wrong) } else { 0.0 }
        };
        let threshold = Threshold {
            value: BOUNDARY_RELEVANCE,
            chosen: self.chosen(boundary.is_some()),
            precision: boundary.as_ref().filter(|_| self.has_background).map(precision),
            recall: boundary.as_ref().map(|boundary| boundary.recall),
        };
        Some((weights, threshold))
    }

    /// Learns from everything, for samples that are the surest pages of their topic: others on topic score lower, so
    /// the threshold is below the boundary, by `below` in units of S.
    pub(super) fn learn_below(&self, below: f64) -> Option<(TrainedWeights, Threshold)> {
        let all: Vec<usize> = (0..self.samples).collect();
        let weights = self.learn(&all)?;
        let share = 1.0 - below / (weights.boundary - weights.median);
        let chosen = format!(
            "{below} below the boundary between {} sample and {} background pages, because others on topic score lower \
             than these samples",
            self.samples,
            self.trained - self.samples
        );
        let value = BOUNDARY_RELEVANCE * share.max(LEAST_SHARE);
        Some((weights, Threshold { value, chosen, precision: None, recall: None }))
    }

    /// S minus the boundary of each page, by weights that were not learnt from its host.
    fn held_out(&self) -> Vec<(f64, usize)> {
        let fold = |fold: usize| {
            let (held_out, part): (Vec<usize>, Vec<usize>) =
                (0..self.rows.len()).partition(|&page| self.fold_of[page] == fold);
            let part = part.into_iter().filter(|&page| page < self.trained);
            let (on, off): (Vec<usize>, Vec<usize>) = part.partition(|&page| page < self.samples);
            let Some(weights) = self.learn_from(&on, &off) else { return Vec::new() };
            let scores = self.scores(&weights, held_out.iter().map(|&page| &self.rows[page]));
            scores.into_iter().map(|score| score - weights.boundary).zip(held_out).collect()
        };
        (0..FOLDS).into_par_iter().flat_map_iter(fold).collect()
    }

    fn find_likely_on_topic(&mut self) {
        let scores = self.held_out().into_iter().filter(|&(_, page)| page < self.trained);
        let (mut on, off): (Vec<_>, Vec<_>) = scores.partition(|&(_, page)| page < self.samples);
        on.sort_by(|a, b| a.0.total_cmp(&b.0));
        if let Some(&(least, _)) = on.get((on.len() as f64 * ON_TOPIC) as usize) {
            let background = off.len();
            let likely: FxHashSet<usize> =
                off.into_iter().filter(|&(score, _)| score >= least).map(|(_, page)| page).collect();
            // If most are, the samples do not differ from the background, and nothing would be left to learn from.
            if 2 * likely.len() <= background {
                self.likely_on_topic = likely;
            }
        }
    }

    fn learn_from(&self, on: &[usize], off: &[usize]) -> Option<TrainedWeights> {
        let off: Vec<usize> = off.iter().copied().filter(|page| !self.likely_on_topic.contains(page)).collect();
        let texts = |pages: &[usize]| self.selected(pages, |page| &page.0, &self.removed.terms);
        let tags = |pages: &[usize]| self.selected(pages, |page| &page.1, &self.removed.tags);
        let columns = self.columns.words.len();
        let text = svm::train(&texts(on), &texts(&off), columns, COST)?;
        let tagged = tags(on);
        let tag = if tagged.len() < LEAST_TAGGED { None } else { svm::train(&tagged, &tags(&off), columns, COST) };
        let tag = tag.unwrap_or_else(|| Hyperplane { weights: vec![0.0; columns], bias: 0.0 });
        let terms = self.with_keywords(&text.weights, 1.0, &self.removed.terms, self.most);
        let most_tags = (self.most * TAGS_KEPT).div_ceil(100);
        let tags = self.with_keywords(&tag.weights, TAGS, &self.removed.tags, most_tags);
        let boundary = MARGIN - text.bias;
        let mut weights = TrainedWeights { terms, tags, boundary, median: 0.0 };
        let mut scores = self.scores(&weights, off.iter().map(|&page| &self.rows[page]));
        scores.sort_by(f64::total_cmp);
        weights.median = scores[scores.len() / 2].min(boundary - LEAST_SCALE);
        Some(weights)
    }

    /// `factor` times these weights, without words of a single host, plus the keywords; the heaviest `most`.
    fn with_keywords(
        &self,
        weights: &[f64],
        factor: f64,
        removed: &BTreeSet<String>,
        most: usize,
    ) -> Vec<(String, f64)> {
        let words = self.columns.words.iter().zip(weights).enumerate();
        let shared = words.filter(|(column, _)| !self.single_host.contains(&(*column as u32)));
        let mut weights: FxHashMap<&str, f64> =
            shared.map(|(_, (word, weight))| (word.as_str(), factor * weight)).collect();
        for (word, weight) in self.keywords.iter().filter(|(word, _)| !removed.contains(word)) {
            *weights.entry(word).or_default() += KEYWORDS * weight;
        }
        heaviest(weights.into_iter(), most)
    }

    /// Rows of these pages that are not empty, without removed words.
    fn selected(&self, pages: &[usize], row: impl Fn(&PageRows) -> &Row, removed: &BTreeSet<String>) -> Vec<Row> {
        let allowed = |row: &Row| -> Row {
            let values = row.iter().copied();
            values.filter(|&(column, _)| !removed.contains(&self.columns.words[column as usize])).collect()
        };
        let rows = pages.iter().map(|&page| allowed(row(&self.rows[page])));
        rows.filter(|row| !row.is_empty()).collect()
    }

    /// S of these pages.
    fn scores<'a>(&self, weights: &TrainedWeights, rows: impl Iterator<Item = &'a PageRows>) -> Vec<f64> {
        let (terms, tags) = (self.columns.dense(&weights.terms), self.columns.dense(&weights.tags));
        let product = |weights: &[f64], row: &Row| -> f64 {
            row.iter().map(|&(column, value)| weights[column as usize] * f64::from(value)).sum()
        };
        rows.map(|(text, tag)| product(&terms, text) + product(&terms, tag) + product(&tags, tag)).collect()
    }

    /// How the boundary was chosen, in words.
    fn chosen(&self, measured: bool) -> String {
        let (samples, others) = (self.samples, self.trained - self.samples);
        let kind = if self.has_background { "background" } else { "random" };
        let mut chosen = format!("boundary between {samples} sample and {others} {kind} pages");
        if measured && self.has_background {
            chosen += &format!(
                ", raised until only {:.0}% of the off-topic ones reach it, at most until half of the samples do",
                FALSE_POSITIVES * 100.0
            );
        } else if measured {
            chosen += ", raised until half of the samples reach it";
        }
        chosen += &if measured {
            format!("; estimated by {FOLDS}-fold cross-validation, split by {}", self.held_out_by)
        } else {
            "; precision and recall are unknown, because there are too few pages for a cross-validation".to_owned()
        };
        if !self.has_background {
            chosen += "; pages of neighbouring topics score higher than random ones, so give ordinary pages of the \
                       samples' hosts with --background";
        } else if measured {
            chosen += &format!(", assuming that 1 page in {ONE_IN:.0} is on topic");
        }
        if !self.likely_on_topic.is_empty() {
            let left_out = self.likely_on_topic.len();
            chosen += &format!("; {left_out} background pages were left out because they look on topic");
        }
        chosen
    }

    /// The method, for the file.
    pub(super) fn method(&self) -> String {
        format!(
            "linear support vector machines against {} {} pages{}",
            self.trained - self.samples,
            if self.has_background { "background" } else { "random" },
            if self.keywords.is_empty() { "" } else { ", and keywords" }
        )
    }
}

/// Where further pages lie between background (0) and samples (1), by median scores of models that did not learn from
/// their hosts; `None` if samples and background are not separable.
pub(super) fn position_between(
    samples: &[Sample],
    background: &Background,
    further: &[&Sample],
    options: &LearnOptions,
) -> Option<f64> {
    let fit: Vec<&Sample> = samples.iter().collect();
    let (keywords, removed) = (&options.keywords, &options.removed);
    let set = TrainingSet::with_others(&fit, background, keywords, removed, options.terms, further);
    let mut scores: [Vec<f64>; 3] = Default::default();
    for (score, page) in set.held_out() {
        scores[usize::from(page >= set.samples) + usize::from(page >= set.trained)].push(score);
    }
    let [samples, background, further] = scores.map(|mut scores| {
        scores.sort_by(f64::total_cmp);
        scores.get(scores.len() / 2).copied()
    });
    let (samples, background, further) = (samples?, background?, further?);
    (samples > background).then(|| (further - background) / (samples - background))
}

/// Folded keywords, scaled to length 1.
fn unit_vector(keywords: &[(String, f64)]) -> Vec<(String, f64)> {
    let length = keywords.iter().map(|(_, weight)| weight * weight).sum::<f64>().sqrt();
    keywords.iter().map(|(word, weight)| (text::fold(word), weight / length)).collect()
}

#[cfg(test)]
pub(super) mod tests {
    use super::super::{Lexicon, Method, Topic, learn};
    use super::*;

    pub(in super::super) const ON: [&str; 4] = ["足球比赛进球", "球迷看足球", "篮球比赛", "进球的球迷"];
    pub(in super::super) const OFF: [&str; 4] = ["电影院放映电影", "演员唱歌", "程序员写代码", "厨师做饭菜"];

    pub(in super::super) fn pages(texts: [&str; 4], hosts: usize) -> Vec<Sample> {
        let page = |at: usize| {
            let text = format!("{} {} h{at}", texts[at % 4], texts[(at / 4) % 4]);
            Sample::from_text(&format!("{}{at}", texts[0]), &format!("h{}.cn", at % hosts), &text)
        };
        (0..24).map(page).collect()
    }

    fn options() -> LearnOptions {
        LearnOptions { terms: 200, ..LearnOptions::new("体育", Method::Linear) }
    }

    fn lexicon(options: &LearnOptions) -> Lexicon {
        let background = Background::from_samples(pages(OFF, 5));
        learn(&pages(ON, 5), &background, options).unwrap().lexicon
    }

    pub(in super::super) fn learnt() -> Lexicon {
        lexicon(&options())
    }

    fn weight(lexicon: &Lexicon, word: &str) -> f64 {
        lexicon.terms.iter().find(|(term, _)| term == word).map_or(0.0, |(_, weight)| *weight)
    }

    #[test]
    fn words_count_for_the_topic_or_against_it() {
        let learnt = learnt();
        assert!(weight(&learnt, "足球") > 0.1 && weight(&learnt, "电影") < -0.01, "{:?}", learnt.terms);
        assert_eq!(learnt.page.value, BOUNDARY_RELEVANCE);
        assert!(learnt.page.precision.unwrap() > 0.9 && learnt.page.recall.unwrap() > 0.9, "{:?}", learnt.page);
        assert_eq!(Lexicon::parse(&learnt.to_toml()).unwrap(), learnt);
        let topic = Topic::new(learnt);
        let relevance = |text: &str| topic.score(&Sample::from_text("", "", text).document).relevance;
        assert!(relevance("足球 球迷") >= topic.page_threshold() && relevance("电影 演员") < topic.page_threshold());
    }

    #[test]
    fn a_deleted_term_is_not_learnt_again() {
        let learnt = learnt();
        let line = learnt.to_toml().lines().find(|line| line.starts_with("\"足球\" = ")).unwrap().to_owned();
        let edited = Lexicon::parse(&learnt.to_toml().replacen(&line, "", 1)).unwrap();
        let removed = edited.linear.clone().unwrap().removed;
        assert_eq!(removed.terms.iter().collect::<Vec<_>>(), ["足球"]);
        assert_eq!(Lexicon::parse(&edited.to_toml()).unwrap(), edited);
        assert_eq!(weight(&lexicon(&LearnOptions { removed, ..options() }), "足球"), 0.0);
    }

    #[test]
    fn keywords_add_to_the_samples() {
        let keywords = vec![("滑雪".to_owned(), 1.0), ("足球".to_owned(), 1.0)];
        let with = lexicon(&LearnOptions { keywords, ..options() });
        assert!((weight(&with, "滑雪") - KEYWORDS / 2.0_f64.sqrt()).abs() < 1e-3, "{:?}", with.terms);
        assert!(weight(&with, "足球") > weight(&learnt(), "足球"));
    }

    #[test]
    fn uninformative_samples_give_an_uncertain_lexicon() {
        let same = Background::from_samples(pages(ON, 5));
        let learnt = learn(&pages(ON, 5), &same, &options()).unwrap().lexicon;
        assert!(learnt.page.chosen.contains("random"), "{}", learnt.page.chosen);
        let one = learn(&pages(ON, 5)[..1], &Background::from_samples(pages(OFF, 5)), &options()).unwrap().lexicon;
        assert_eq!((one.page.precision, one.page.recall), (None, None));
        assert!(one.page.chosen.contains("too few pages"), "{}", one.page.chosen);
        let one_host = learn(&pages(ON, 1), &Background::built_in(), &options()).unwrap().lexicon;
        assert!(one_host.page.chosen.contains("split by pages"), "{}", one_host.page.chosen);
    }
}
