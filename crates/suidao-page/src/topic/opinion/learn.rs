//! Learns the model of a second opinion from the vectors of samples and background: a linear support vector machine
//! over vectors of length 1 minus the mean of the background, without which it separates nothing.
//!
//! The mean is not stored: `weights·(vector − mean) + bias` is a product minus a constant, which is the boundary. The
//! boundary is raised by the rule of the lexicon's ([`super::super::boundary`]), on hosts held out.

use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};
use thiserror::Error;

use super::super::boundary::HeldOutScores;
use super::super::lexicon::rounded;
use super::super::sample::rejections;
use super::super::svm::{self, Row};
use super::super::thresholds::{FOLDS, folds};
use super::super::{Background, Sample};
use super::{OpinionUse, SecondOpinion, UnitVector, VectorError};

/// C; flat from .1 to .3.
const COST: f64 = 0.1;
/// Most background pages.
const BACKGROUND: usize = 1_000;
/// Background pages that score higher than this share of the samples are left out: they are probably on topic.
const ON_TOPIC: f64 = 0.25;
/// Fewest vectors of each kind.
const LEAST: usize = 5;

/// Least distance between the boundary and the median of the background.
const LEAST_SCALE: f64 = 0.05;

/// Why no second opinion was learnt.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum OpinionError {
    #[error(
        "a second opinion needs {LEAST} samples and {LEAST} background pages with vectors, and there are {samples} and {background}; give more sample pages, and ordinary pages with --background"
    )]
    TooFew { samples: usize, background: usize },
    #[error("the judge's vectors do not fit together: {0}; use one model for all texts")]
    Vector(#[from] VectorError),
}

/// The pages whose vectors are needed.
pub struct TrainingPages<'a> {
    pub samples: Vec<&'a Sample>,
    pub background: Vec<&'a Sample>,
}

impl<'a> TrainingPages<'a> {
    /// The usable samples, and up to 1,000 documents of the background that are none of them.
    pub fn choose(samples: &'a [Sample], background: &'a Background) -> Self {
        let verdicts = rejections(samples, false);
        let fit: Vec<&Sample> =
            samples.iter().zip(&verdicts).filter(|(_, no)| no.is_none()).map(|(page, _)| page).collect();
        let own: FxHashSet<_> = fit.iter().filter_map(|sample| sample.url.as_ref()).collect();
        let texts: FxHashSet<u64> = fit.iter().map(|sample| sample.text_hash()).collect();
        let is_other = |sample: &&Sample| {
            !sample.listing
                && sample.url.as_ref().is_none_or(|url| !own.contains(url))
                && !texts.contains(&sample.text_hash())
        };
        let documents: Vec<&Sample> = background.samples().iter().filter(is_other).collect();
        let taken = documents.len().min(BACKGROUND);
        let background = (0..taken).map(|at| documents[at * documents.len() / taken]).collect();
        Self { samples: fit, background }
    }

    /// Learns from the vectors of these pages: of the samples, then of the background; `None` for pages without one.
    /// `check` is the vector of [`super::CHECK`].
    ///
    /// # Errors
    /// [`OpinionError`] if there are too few vectors, or vectors of different dimensions.
    pub fn learn(
        &self,
        vectors: &[Option<UnitVector>],
        model: &str,
        prefix: &str,
        check: &UnitVector,
        usage: OpinionUse,
    ) -> Result<SecondOpinion, OpinionError> {
        let pages = self.samples.iter().chain(&self.background).copied().zip(vectors).enumerate();
        let known: Vec<(&Sample, &UnitVector, bool)> =
            pages.filter_map(|(at, (page, vector))| Some((page, vector.as_ref()?, at < self.samples.len()))).collect();
        let samples = known.iter().filter(|(.., sample)| *sample).count();
        let background = known.len() - samples;
        if samples < LEAST || background < LEAST {
            return Err(OpinionError::TooFew { samples, background });
        }
        let dimension = check.numbers().len();
        known.iter().try_for_each(|(_, vector, _)| vector.expect(dimension))?;
        let set = Centred::new(&known, dimension);
        let plane = set.train(|_| true).ok_or(OpinionError::TooFew { samples, background })?;
        let raised = HeldOutScores::new(set.held_out()).map_or(0.0, |scores| scores.boundary(false).score);
        let scale = (raised - set.median(&plane)).max(LEAST_SCALE);
        let weights: Vec<f32> = plane.weights.iter().map(|&weight| (weight / scale) as f32).collect();
        let of_mean: f64 = weights.iter().zip(&set.mean).map(|(&weight, mean)| f64::from(weight) * mean).sum();
        Ok(SecondOpinion {
            model: model.to_owned(),
            prefix: prefix.to_owned(),
            usage,
            boundary: rounded(of_mean + (raised - plane.bias) / scale),
            weights,
            check: check.numbers().to_vec(),
        })
    }
}

/// Vectors minus the mean of the background.
struct Centred {
    mean: Vec<f64>,
    rows: Vec<(Row, bool)>,
    fold_of: Vec<usize>,
    /// Background pages that are probably on topic.
    left_out: FxHashSet<usize>,
}

impl Centred {
    fn new(known: &[(&Sample, &UnitVector, bool)], dimension: usize) -> Self {
        let mut mean = vec![0.0; dimension];
        let background = known.iter().filter(|(.., sample)| !sample);
        let count = background.clone().count() as f64;
        for (_, vector, _) in background {
            mean.iter_mut().zip(vector.numbers()).for_each(|(sum, &number)| *sum += f64::from(number) / count);
        }
        let row = |vector: &UnitVector| -> Row {
            let numbers = vector.numbers().iter().zip(&mean).enumerate();
            numbers.map(|(column, (&number, mean))| (column as u32, (f64::from(number) - mean) as f32)).collect()
        };
        let rows = known.iter().map(|(_, vector, sample)| (row(vector), *sample)).collect();
        let mut set = Self { mean, rows, fold_of: fold_of(known), left_out: FxHashSet::default() };
        set.leave_out();
        set
    }

    fn train(&self, is_in: impl Fn(usize) -> bool) -> Option<svm::Hyperplane> {
        let of = |sample: bool| -> Vec<Row> {
            let rows = self.rows.iter().enumerate();
            let kept = rows.filter(|(at, (_, kind))| *kind == sample && is_in(*at) && !self.left_out.contains(at));
            kept.map(|(_, (row, _))| row.clone()).collect()
        };
        svm::train(&of(true), &of(false), self.mean.len(), COST)
    }

    /// The score of each page by a model that did not learn from its host.
    fn scores(&self) -> Vec<(f64, usize)> {
        let fold = |fold: usize| -> Vec<(f64, usize)> {
            let Some(plane) = self.train(|at| self.fold_of[at] != fold) else { return Vec::new() };
            let held_out = (0..self.rows.len()).filter(|&at| self.fold_of[at] == fold);
            held_out.map(|at| (plane.score(&self.rows[at].0), at)).collect()
        };
        (0..FOLDS).into_par_iter().flat_map_iter(fold).collect()
    }

    /// The median score of the background, without pages that are probably on topic.
    fn median(&self, plane: &svm::Hyperplane) -> f64 {
        let rows = self.rows.iter().enumerate().filter(|(at, (_, sample))| !sample && !self.left_out.contains(at));
        let mut scores: Vec<f64> = rows.map(|(_, (row, _))| plane.score(row)).collect();
        scores.sort_by(f64::total_cmp);
        scores.get(scores.len() / 2).copied().unwrap_or(0.0)
    }

    fn held_out(&self) -> Vec<(f64, bool)> {
        self.scores().into_iter().map(|(score, at)| (score, self.rows[at].1)).collect()
    }

    fn leave_out(&mut self) {
        let (mut on, off): (Vec<_>, Vec<_>) = self.scores().into_iter().partition(|&(_, at)| self.rows[at].1);
        on.sort_by(|a, b| a.0.total_cmp(&b.0));
        let Some(&(least, _)) = on.get((on.len() as f64 * ON_TOPIC) as usize) else { return };
        let background = off.len();
        let likely: FxHashSet<usize> = off.into_iter().filter(|&(score, _)| score >= least).map(|(_, at)| at).collect();
        // If most are, samples and background do not differ, and nothing would be left to learn from.
        if 2 * likely.len() <= background {
            self.left_out = likely;
        }
    }
}

/// The fold of each page: background pages with the samples of their host, those of other hosts in turn.
fn fold_of(known: &[(&Sample, &UnitVector, bool)]) -> Vec<usize> {
    let samples: Vec<&Sample> = known.iter().filter(|(.., sample)| *sample).map(|(page, ..)| *page).collect();
    let mut fold_of = folds(&samples);
    let by_hosts = samples.iter().any(|sample| sample.host != samples[0].host);
    let mut of_host: FxHashMap<&str, usize> = FxHashMap::default();
    if by_hosts {
        of_host.extend(samples.iter().map(|sample| sample.host.as_str()).zip(fold_of.iter().copied()));
    }
    for (next, (page, ..)) in known.iter().filter(|(.., sample)| !sample).enumerate() {
        let in_turn = next % FOLDS;
        let fold = match by_hosts && !page.host.is_empty() {
            true => *of_host.entry(&page.host).or_insert(in_turn),
            false => in_turn,
        };
        fold_of.push(fold);
    }
    fold_of
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seeded_rng::SeededRng;

    /// Vectors close to each other, as those of language models are; those on topic lean towards the first axis.
    fn vector(rng: &mut SeededRng, on_topic: bool) -> UnitVector {
        let mut numbers: Vec<f32> = (0..16).map(|_| 10.0 + rng.below(1000) as f32 / 500.0).collect();
        numbers[0] += if on_topic { 2.5 } else { 0.0 };
        UnitVector::new(&numbers).unwrap()
    }

    fn pages(what: &str, count: usize) -> Vec<Sample> {
        let page = |at: usize| {
            Sample::from_text(&format!("{what}{at}"), &format!("{what}{}.cn", at % 7), &format!("{what} {at}"))
        };
        (0..count).map(page).collect()
    }

    #[test]
    fn vectors_close_to_each_other_are_separated() {
        let (samples, others) = (pages("on", 40), Background::from_samples(pages("off", 200)));
        let training = TrainingPages::choose(&samples, &others);
        assert_eq!((training.samples.len(), training.background.len()), (40, 200));
        let mut rng = SeededRng::new(7, 0, 0);
        let vectors: Vec<Option<UnitVector>> = (0..240).map(|at| Some(vector(&mut rng, at < 40))).collect();
        let learn = || training.learn(&vectors, "m", "", &vector(&mut SeededRng::at(1), false), OpinionUse::default());
        let opinion = learn().unwrap();
        assert_eq!(learn().unwrap(), opinion);
        let mut right = |on_topic: bool| {
            (0..200).filter(|_| (opinion.of(&vector(&mut rng, on_topic)).unwrap() > 0.0) == on_topic).count()
        };
        let (on, off) = (right(true), right(false));
        let mut background: Vec<f64> =
            vectors[40..].iter().map(|one| opinion.of(one.as_ref().unwrap()).unwrap()).collect();
        background.sort_by(f64::total_cmp);
        // Some are left out, because they look on topic.
        assert!((-1.2..-0.5).contains(&background[100]), "{}", background[100]);
        assert!(on > 170 && off > 180, "{on} and {off} of 200");
    }

    #[test]
    fn too_few_vectors_and_vectors_of_two_models_are_refused() {
        let (samples, others) = (pages("on", 6), Background::from_samples(pages("off", 6)));
        let training = TrainingPages::choose(&samples, &others);
        let mut rng = SeededRng::new(7, 0, 0);
        let check = vector(&mut rng, false);
        let mut vectors: Vec<Option<UnitVector>> = (0..12).map(|at| Some(vector(&mut rng, at < 6))).collect();
        vectors[0] = Some(UnitVector::new(&[1.0; 3]).unwrap());
        let learn = |vectors: &[Option<UnitVector>]| training.learn(vectors, "m", "", &check, OpinionUse::default());
        assert!(matches!(learn(&vectors), Err(OpinionError::Vector(VectorError::Dimension { found: 3, wanted: 16 }))));
        (vectors[0], vectors[1]) = (None, None);
        assert_eq!(learn(&vectors), Err(OpinionError::TooFew { samples: 4, background: 6 }));
    }
}
