//! Learning to tell pages of a topic from others by two linear support vector machines: one learns from the words of
//! title and main content, one from the words of a page's own tags. A row is root tf × IDF, brought to length 1.
//!
//! ```text
//! S(page)  = W·text + (W + 0.6 V)·tags          W, b learnt from texts, V from tags alone
//! on topic = S ≥ -b + 0.1 + raise
//! ```
//! Key words given beside the samples are a vector of length 1: 0.2 of it is added to W, and 0.2 to the weights of tags. `raise`
//! is the least number, at least 0, with which at most 3 in 100 off-topic background pages are judged on topic, measured on
//! hosts that were not learnt from. Background pages that score higher than a quarter of the samples are left out of training:
//! a user's background holds pages of the topic that nobody listed. Separate from [`super::svm`], which knows rows only.

use std::collections::BTreeSet;

use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};

use super::lexicon::{BORDER, Struck};
use super::one_host::OneHost;
use super::svm::{self, Plane, Row};
use super::thresholds::{FOLDS, ONE_IN, folds};
use super::{Background, Sample, TermFrequency, Threshold};
use crate::model::CrawlUrl;
use crate::text;

/// C, flat from .3 to 3.
const COST: f64 = 1.0;
/// What the machine of the tags adds beside that of the texts.
const TAGS: f64 = 0.6;
/// How far beyond the border between samples and background a page is on topic.
const MARGIN: f64 = 0.1;
/// What key words add to the weights of words in texts, and to what words in tags count beside.
const KEYWORDS: f64 = 0.2;
/// Fewer samples with tags of their own teach nothing about tags.
const LEAST_TAGGED: usize = 5;
/// Terms of tags kept for each hundred of the texts'.
const TAGS_KEPT: usize = 30;
/// Background pages learnt from; without any, made-up pages.
const OTHERS: usize = 1_000;
/// The share of held-out background pages that may reach the border.
const FALSE_ALARMS: f64 = 0.03;
/// A border says what share of the background is on topic if this share of the samples lies beyond it.
const TELLING_SHARE: f64 = 0.3;
/// A background page that scores higher than this share of the samples is not learnt from.
const SUSPECT: f64 = 0.25;
/// The border lies at least this far above a middling page of the background.
const LEAST_SCALE: f64 = 0.1;
/// Lighter weights would be written as 0.
const LEAST_WEIGHT: f64 = 5e-5;

/// Samples and background pages as rows, ready to learn from.
pub(super) struct Pages {
    /// The background's counts and the built-in ones together.
    pub(super) counts: Background,
    words: Vec<String>,
    numbers: FxHashMap<String, u32>,
    /// Each page's rows of text and of tags: the samples, then the others.
    rows: Vec<(Row, Row)>,
    samples: usize,
    /// Which pages are held out together.
    fold_of: Vec<usize>,
    by: &'static str,
    /// Listing pages of the background: not learnt from, but measured.
    listings: Vec<(Row, Row)>,
    real: bool,
    /// Background pages that look like the topic.
    suspects: FxHashSet<usize>,
    /// URLs of the background pages, in the order of their rows.
    urls: Vec<Option<CrawlUrl>>,
    /// Words on one host only: learnt with, but left out of what is learnt.
    local: FxHashSet<u32>,
    /// Of length 1.
    keywords: Vec<(String, f64)>,
    struck: Struck,
    most: usize,
}

/// What was learnt: signed weights, the heaviest first.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Machine {
    pub(super) terms: Vec<(String, f64)>,
    pub(super) tags: Vec<(String, f64)>,
    /// From this score on a page is on topic.
    pub(super) border: f64,
    /// What the middle one of the background's pages scores, below the border.
    pub(super) middle: f64,
}

impl Pages {
    /// `most` is the number of terms kept.
    pub(super) fn new(
        fit: &[&Sample],
        background: &Background,
        keywords: &[(String, f64)],
        struck: &Struck,
        most: usize,
    ) -> Self {
        let own: FxHashSet<&CrawlUrl> = fit.iter().filter_map(|sample| sample.url.as_ref()).collect();
        let texts: FxHashSet<u64> = fit.iter().map(|sample| sample.text_hash()).collect();
        let is_other = |sample: &&Sample| {
            sample.url.as_ref().is_none_or(|url| !own.contains(url)) && !texts.contains(&sample.text_hash())
        };
        let (listings, documents): (Vec<&Sample>, Vec<&Sample>) =
            background.samples().iter().filter(is_other).partition(|sample| sample.listing);
        let some = |pages: Vec<&'_ Sample>| -> Vec<Sample> {
            let step = pages.len().div_ceil(OTHERS).max(1);
            pages.into_iter().step_by(step).cloned().collect()
        };
        let counts = background.counts_with_built_in();
        let (mut others, listings) = (some(documents), some(listings));
        let real = !others.is_empty();
        if !real {
            others = Background::built_in().random_pages(OTHERS);
        }
        let mut pages = Self {
            counts,
            words: Vec::new(),
            numbers: FxHashMap::default(),
            rows: Vec::new(),
            samples: fit.len(),
            fold_of: folds(fit),
            by: if fit.iter().any(|sample| sample.host != fit[0].host) { "hosts" } else { "pages" },
            listings: Vec::new(),
            real,
            suspects: FxHashSet::default(),
            urls: others.iter().map(|other| other.url.clone()).collect(),
            local: FxHashSet::default(),
            keywords: direction(keywords),
            struck: struck.clone(),
            most,
        };
        pages.hold_out_others(fit, &others);
        let all: Vec<&Sample> = fit.iter().copied().chain(&others).collect();
        pages.rows = pages.rows_of(&all);
        let mut one_host = OneHost::default();
        for (page, (text, tags)) in all.iter().zip(&pages.rows) {
            text.iter().chain(tags).for_each(|&(word, _)| one_host.see(word, &page.host));
        }
        pages.local = one_host.columns(fit.iter().map(|sample| sample.host.as_str()));
        pages.listings = pages.rows_of(&listings.iter().collect::<Vec<_>>());
        pages.find_suspects();
        pages
    }

    /// Background pages are held out with the samples of their host; other hosts go around.
    fn hold_out_others(&mut self, fit: &[&Sample], others: &[Sample]) {
        let mut fold_of: FxHashMap<&str, usize> = FxHashMap::default();
        if self.by == "hosts" {
            fold_of.extend(fit.iter().map(|sample| sample.host.as_str()).zip(self.fold_of.iter().copied()));
        }
        let mut next = 0;
        for other in others {
            let mut around = || {
                next += 1;
                next % FOLDS
            };
            // A page of unknown host stands for itself.
            let fold = if self.by == "pages" || other.host.is_empty() {
                around()
            } else {
                *fold_of.entry(&other.host).or_insert_with(around)
            };
            self.fold_of.push(fold);
        }
    }

    fn rows_of(&mut self, samples: &[&Sample]) -> Vec<(Row, Row)> {
        let words: Vec<_> = samples
            .par_iter()
            .map(|sample| (sample.bag(sample.document.content()), sample.bag(sample.document.tags().into_iter())))
            .collect();
        words.into_iter().map(|(text, tags)| (self.row(text), self.row(tags))).collect()
    }

    fn row(&mut self, bag: Vec<(String, u32)>) -> Row {
        let mut row: Vec<(u32, f64)> = Vec::with_capacity(bag.len());
        for (word, count) in bag {
            let value = TermFrequency::Root.weigh(count) * self.counts.idf(&word);
            let new = self.words.len() as u32;
            let number = *self.numbers.entry(word).or_insert_with_key(|word| {
                self.words.push(word.clone());
                new
            });
            row.push((number, value));
        }
        row.sort_unstable_by_key(|&(number, _)| number);
        let length = row.iter().map(|(_, value)| value * value).sum::<f64>().sqrt();
        row.into_iter().map(|(number, value)| (number, (value / length) as f32)).collect()
    }

    /// URLs of background pages that do not look like the topic.
    pub(super) fn off_topic(&self) -> FxHashSet<&CrawlUrl> {
        let rows = self.urls.iter().enumerate().filter(|(at, _)| !self.suspects.contains(&(self.samples + at)));
        rows.filter_map(|(_, url)| url.as_ref()).collect()
    }

    /// Learns from these samples and the background pages that do not look like them.
    pub(super) fn learn(&self, samples: &[usize]) -> Option<Machine> {
        let others: Vec<usize> = (self.samples..self.rows.len()).collect();
        self.learn_from(samples, &others)
    }

    /// Learns from everything, and measures on hosts that were not learnt from what to expect of it.
    pub(super) fn learn_and_measure(&self) -> Option<(Machine, Threshold)> {
        let all: Vec<usize> = (0..self.samples).collect();
        let mut machine = self.learn(&all)?;
        let point = HeldOut::new(&self.held_out(), self.samples).map(|held_out| held_out.border());
        machine.border += point.as_ref().map_or(0.0, |point| point.score);
        let listings = self.scores(&machine, self.listings.iter());
        let above = listings.iter().filter(|score| **score >= machine.border).count();
        Some((
            machine,
            Threshold {
                value: BORDER,
                chosen: self.chosen(point.is_some()),
                precision: point.as_ref().map(|point| {
                    let wrong = (ONE_IN - 1.0) * point.false_alarms;
                    if point.recall > 0.0 { point.recall / (point.recall + wrong) } else { 0.0 }
                }),
                recall: point.map(|point| point.recall),
                listings: (!listings.is_empty()).then(|| above as f64 / listings.len() as f64),
            },
        ))
    }

    /// How far beyond the border each page lies by a machine that did not learn from its host.
    fn held_out(&self) -> Vec<(f64, usize)> {
        let fold = |fold: usize| {
            let (held_out, part): (Vec<usize>, Vec<usize>) =
                (0..self.rows.len()).partition(|&page| self.fold_of[page] == fold);
            let (on, off): (Vec<usize>, Vec<usize>) = part.into_iter().partition(|&page| page < self.samples);
            let Some(machine) = self.learn_from(&on, &off) else { return Vec::new() };
            let scores = self.scores(&machine, held_out.iter().map(|&page| &self.rows[page]));
            scores.into_iter().map(|score| score - machine.border).zip(held_out).collect()
        };
        (0..FOLDS).into_par_iter().flat_map_iter(fold).collect()
    }

    /// Background pages that lie beyond the border as far as samples do, both held out: pages of the topic that nobody
    /// listed, most likely. A host about the topic has many of them.
    fn find_suspects(&mut self) {
        let held_out = self.held_out();
        let (mut on, off): (Vec<_>, Vec<_>) = held_out.into_iter().partition(|&(_, page)| page < self.samples);
        on.sort_by(|a, b| a.0.total_cmp(&b.0));
        if let Some(&(least, _)) = on.get((on.len() as f64 * SUSPECT) as usize) {
            self.suspects = off.into_iter().filter(|&(score, _)| score >= least).map(|(_, page)| page).collect();
        }
    }

    fn chosen(&self, measured: bool) -> String {
        let (samples, others) = (self.samples, self.rows.len() - self.samples);
        let kind = if self.real { "background" } else { "made-up" };
        let mut chosen = format!("the border between {samples} sample pages and {others} {kind} pages");
        if measured {
            let share = FALSE_ALARMS * 100.0;
            chosen += &format!(
                ", so high that at most {share:.0} in 100 of the latter that are off topic reach it; precision and \
                 recall of pages held out by {} in {FOLDS} parts, if one in {ONE_IN:.0} is on topic",
                self.by
            );
            if !self.suspects.is_empty() {
                chosen +=
                    &format!("; {} background pages look like the topic and were not learnt from", self.suspects.len());
            }
        } else {
            chosen += "; too few samples to hold some out, so nothing is known of its precision and recall";
        }
        if !self.real {
            chosen += "; pages of neighbouring topics score higher than made-up ones, so expect less precision, or give \
                       ordinary pages of the samples' hosts by --background DIR";
        }
        chosen
    }

    /// How it learns, in words.
    pub(super) fn method(&self) -> String {
        format!(
            "linear support vector machines against {} {} pages{}",
            self.rows.len() - self.samples,
            if self.real { "background" } else { "made-up" },
            if self.keywords.is_empty() { "" } else { ", and key words" }
        )
    }

    fn learn_from(&self, on: &[usize], off: &[usize]) -> Option<Machine> {
        let off: Vec<usize> = off.iter().copied().filter(|page| !self.suspects.contains(page)).collect();
        let texts = |pages: &[usize]| self.part(pages, |page| &page.0, &self.struck.terms);
        let tags = |pages: &[usize]| self.part(pages, |page| &page.1, &self.struck.tags);
        let columns = self.words.len();
        let text = svm::train(&texts(on), &texts(&off), columns, COST)?;
        let tagged = tags(on);
        let tag = if tagged.len() < LEAST_TAGGED { None } else { svm::train(&tagged, &tags(&off), columns, COST) };
        let tag = tag.unwrap_or_else(|| Plane { weights: vec![0.0; columns], bias: 0.0 });
        let with_keywords = |weights: &[f64], share: f64, struck: &BTreeSet<String>| {
            let weighed = self.words.iter().zip(weights).enumerate();
            let shared = weighed.filter(|(number, _)| !self.local.contains(&(*number as u32)));
            let mut weights: FxHashMap<&str, f64> =
                shared.map(|(_, (word, weight))| (word.as_str(), share * weight)).collect();
            for (word, weight) in self.keywords.iter().filter(|(word, _)| !struck.contains(word)) {
                *weights.entry(word).or_default() += KEYWORDS * weight;
            }
            weights
        };
        let terms = heaviest(with_keywords(&text.weights, 1.0, &self.struck.terms), self.most);
        let tags =
            heaviest(with_keywords(&tag.weights, TAGS, &self.struck.tags), (self.most * TAGS_KEPT).div_ceil(100));
        let border = MARGIN - text.bias;
        let mut machine = Machine { terms, tags, border, middle: 0.0 };
        let mut scores = self.scores(&machine, off.iter().map(|&page| &self.rows[page]));
        scores.sort_by(f64::total_cmp);
        machine.middle = scores[scores.len() / 2].min(border - LEAST_SCALE);
        Some(machine)
    }

    /// Rows of these pages that are not empty, without the words that a person struck out.
    fn part(&self, pages: &[usize], row: impl Fn(&(Row, Row)) -> &Row, struck: &BTreeSet<String>) -> Vec<Row> {
        let rows = pages.iter().map(|&page| row(&self.rows[page]));
        let allowed = |row: &Row| -> Row {
            let values = row.iter().copied();
            values.filter(|&(number, _)| !struck.contains(&self.words[number as usize])).collect()
        };
        rows.map(allowed).filter(|row| !row.is_empty()).collect()
    }

    /// S of these rows.
    fn scores<'a>(&self, machine: &Machine, rows: impl Iterator<Item = &'a (Row, Row)>) -> Vec<f64> {
        let dense = |weights: &[(String, f64)]| {
            let mut dense = vec![0.0; self.words.len()];
            for (word, weight) in weights {
                if let Some(&number) = self.numbers.get(word) {
                    dense[number as usize] = *weight;
                }
            }
            dense
        };
        let (terms, tags) = (dense(&machine.terms), dense(&machine.tags));
        let product = |weights: &[f64], row: &Row| -> f64 {
            row.iter().map(|&(number, value)| weights[number as usize] * f64::from(value)).sum()
        };
        rows.map(|(text, tag)| product(&terms, text) + product(&terms, tag) + product(&tags, tag)).collect()
    }
}

/// The heaviest of these weights, by their absolute value; equal ones by name.
fn heaviest(weights: FxHashMap<&str, f64>, most: usize) -> Vec<(String, f64)> {
    let kept = weights.into_iter().filter(|(_, weight)| weight.abs() >= LEAST_WEIGHT);
    let mut weights: Vec<(String, f64)> = kept.map(|(word, weight)| (word.to_owned(), weight)).collect();
    weights.sort_by(|a, b| b.1.abs().total_cmp(&a.1.abs()).then_with(|| a.0.cmp(&b.0)));
    weights.truncate(most);
    weights
}

/// Key words, folded, their weights brought to length 1.
fn direction(keywords: &[(String, f64)]) -> Vec<(String, f64)> {
    let length = keywords.iter().map(|(_, weight)| weight * weight).sum::<f64>().sqrt();
    keywords.iter().map(|(word, weight)| (text::fold(word), weight / length)).collect()
}

/// Scores of samples and background pages by machines that did not learn from their hosts.
struct HeldOut {
    /// Highest first; whether it is a sample's.
    scores: Vec<(f64, bool)>,
    samples: f64,
    others: f64,
}

/// What a border achieves.
struct Point {
    score: f64,
    /// Share of the samples beyond it.
    recall: f64,
    /// Share beyond it of the background pages that are off topic.
    false_alarms: f64,
}

impl HeldOut {
    /// `None` if there are none of either kind.
    fn new(held_out: &[(f64, usize)], first_other: usize) -> Option<Self> {
        let mut scores: Vec<(f64, bool)> = held_out.iter().map(|&(score, page)| (score, page < first_other)).collect();
        scores.sort_by(|a, b| b.0.total_cmp(&a.0));
        let samples = scores.iter().filter(|(_, sample)| *sample).count() as f64;
        let others = scores.len() as f64 - samples;
        (samples > 0.0 && others > 0.0).then_some(Self { scores, samples, others })
    }

    /// After each score, the share of the samples and that of the background pages that reach it.
    fn shares(&self) -> impl Iterator<Item = (f64, f64, f64)> {
        let (mut samples, mut others) = (0.0, 0.0);
        self.scores.iter().map(move |&(score, sample)| {
            *if sample { &mut samples } else { &mut others } += 1.0;
            (score, samples / self.samples, others / self.others)
        })
    }

    /// What share of the background is on topic after all: at most the background's share beyond any border by that of the
    /// samples (Blanchard, Lee and Scott 2010, "Semi-supervised novelty detection").
    fn on_topic(&self) -> f64 {
        let told = self.shares().filter(|&(_, samples, _)| samples >= TELLING_SHARE);
        let share = told.map(|(_, samples, others)| others / samples).fold(1.0, f64::min);
        // Where samples and background cannot be told apart, it would call all of the background on topic.
        if share > 0.5 { 0.0 } else { share }
    }

    /// The lowest border, but at least 0, beyond which at most [`FALSE_ALARMS`] of the pages off topic lie.
    fn border(&self) -> Point {
        let on_topic = self.on_topic();
        let wrong = |samples: f64, others: f64| ((others - on_topic * samples) / (1.0 - on_topic)).max(0.0);
        let mut point = Point { score: 0.0, recall: 0.0, false_alarms: 0.0 };
        for (score, samples, others) in self.shares() {
            let false_alarms = wrong(samples, others);
            if score < 0.0 {
                break;
            }
            if false_alarms > FALSE_ALARMS {
                point.score = score + LEAST_WEIGHT;
                break;
            }
            point = Point { score: 0.0, recall: samples, false_alarms };
        }
        point
    }
}

#[cfg(test)]
mod tests {
    use super::super::{LearnOptions, Lexicon, Method, Topic, learn, learn_labels};
    use super::*;

    const ON: [&str; 4] = ["足球比赛进球", "球迷看足球", "篮球比赛", "进球的球迷"];
    const OFF: [&str; 4] = ["电影院放映电影", "演员唱歌", "程序员写代码", "厨师做饭菜"];

    fn pages(texts: [&str; 4], hosts: usize) -> Vec<Sample> {
        let page = |at: usize| {
            let text = format!("{} {} h{at}", texts[at % 4], texts[(at / 4) % 4]);
            Sample::from_text(&format!("{}{at}", texts[0]), &format!("h{}.cn", at % hosts), &text)
        };
        (0..24).map(page).collect()
    }

    fn options() -> LearnOptions {
        LearnOptions {
            name: "体育".to_owned(),
            date: String::new(),
            sources: Vec::new(),
            method: Method::Linear,
            keywords: Vec::new(),
            struck: Struck::default(),
            terms: 200,
            tf: TermFrequency::Root,
            only_index_pages: false,
        }
    }

    fn lexicon(options: &LearnOptions) -> Lexicon {
        let background = Background::from_samples(pages(OFF, 5));
        learn(&pages(ON, 5), &background, options).unwrap().lexicon
    }

    fn weight(lexicon: &Lexicon, word: &str) -> f64 {
        lexicon.terms.iter().find(|(term, _)| term == word).map_or(0.0, |(_, weight)| *weight)
    }

    #[test]
    fn words_speak_for_the_topic_or_against_it() {
        let learnt = lexicon(&options());
        assert!(weight(&learnt, "足球") > 0.1 && weight(&learnt, "电影") < -0.01, "{:?}", learnt.terms);
        assert_eq!(learnt.page.value, BORDER);
        assert!(learnt.page.precision.unwrap() > 0.9 && learnt.page.recall.unwrap() > 0.9, "{:?}", learnt.page);
        assert_eq!(Lexicon::parse(&learnt.to_toml()).unwrap(), learnt);
        let topic = Topic::new(learnt);
        let relevance = |text: &str| topic.score(&Sample::from_text("", "", text).document).relevance;
        assert!(relevance("足球 球迷") >= topic.page_threshold() && relevance("电影 演员") < topic.page_threshold());
    }

    #[test]
    fn a_term_struck_out_stays_out() {
        let learnt = lexicon(&options());
        let line = learnt.to_toml().lines().find(|line| line.starts_with("\"足球\" = ")).unwrap().to_owned();
        let edited = Lexicon::parse(&learnt.to_toml().replacen(&line, "", 1)).unwrap();
        let struck = edited.linear.clone().unwrap().struck;
        assert_eq!(struck.terms.iter().collect::<Vec<_>>(), ["足球"]);
        assert_eq!(Lexicon::parse(&edited.to_toml()).unwrap(), edited);
        assert_eq!(weight(&lexicon(&LearnOptions { struck, ..options() }), "足球"), 0.0);
        let labelled = [(Sample::from_text("", "", "足球 足球 滑雪"), true)];
        let adapted = learn_labels(&edited, &labelled).unwrap().lexicon;
        assert_eq!(weight(&adapted, "足球"), 0.0);
    }

    #[test]
    fn labels_move_the_border_as_far_as_they_must() {
        let learnt = lexicon(&options());
        let skiing = Sample::from_text("", "", "滑雪 滑雪 雪场");
        let before = Topic::new(learnt.clone());
        assert!(before.score(&skiing.document).relevance < before.page_threshold());
        let labelled: Vec<(Sample, bool)> =
            pages(OFF, 5).into_iter().map(|page| (page, false)).chain([(skiing.clone(), true)]).collect();
        let after = Topic::new(learn_labels(&learnt, &labelled).unwrap().lexicon);
        assert!(after.score(&skiing.document).relevance >= after.page_threshold());
        assert!(labelled[..24].iter().all(|(page, _)| after.score(&page.document).relevance < after.page_threshold()));
    }

    #[test]
    fn samples_that_are_the_background_or_one_page_say_how_little_is_known() {
        let same = Background::from_samples(pages(ON, 5));
        let learnt = learn(&pages(ON, 5), &same, &options()).unwrap().lexicon;
        assert!(learnt.page.chosen.contains("made-up"), "{}", learnt.page.chosen);
        let one = learn(&pages(ON, 5)[..1], &Background::from_samples(pages(OFF, 5)), &options()).unwrap().lexicon;
        assert_eq!((one.page.precision, one.page.recall), (None, None));
        assert!(one.page.chosen.contains("too few samples"), "{}", one.page.chosen);
    }
}
