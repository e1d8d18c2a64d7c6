//! Estimates from labels of a stratified sample: the number of relevant pages, and precision and recall at the lower
//! bound of each stratum.
//!
//! In a stratum of N pages, n of them labelled, each answer represents N / n pages. Intervals come from a bootstrap:
//! 1,000 times every stratum is redrawn with a chance of (x + 1/2) / (n + 1), where x of n labelled pages are relevant
//! (Jeffreys' prior, because a few equal answers do not prove that all are equal), reduced by the share of labelled
//! pages.

use serde::Serialize;

use super::strata::Strata;
use suidao_page::model::Relevance;
use suidao_page::seeded_rng::SeededRng;

const RESAMPLES: usize = 1_000;

/// Smallest gain of F1 for which another threshold is suggested.
const GAIN: f64 = 0.01;

/// An estimate with its 95% interval.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct IntervalEstimate {
    pub value: f64,
    pub low: f64,
    pub high: f64,
}

/// A stratum, and the results of its lower bound as threshold. `None` without labels.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct StratumPoint {
    pub threshold: f64,
    /// Pages of the stratum, labelled ones, and relevant ones among these.
    pub pages: u64,
    pub labelled: u64,
    pub relevant: u64,
    /// Pages at or above the bound; known, not estimated.
    pub accepted: u64,
    /// Share of the accepted that is relevant.
    pub precision: Option<IntervalEstimate>,
    /// Share of the relevant that is accepted.
    pub recall: Option<IntervalEstimate>,
    pub f1: Option<f64>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Estimate {
    pub threshold: f64,
    /// Pages that could have been sampled.
    pub pages: u64,
    pub labelled: u64,
    /// Relevant pages; `None`, as recall, if a stratum has pages and no labels.
    pub relevant: Option<IntervalEstimate>,
    /// Precision and recall at the current threshold.
    pub precision: Option<IntervalEstimate>,
    pub recall: Option<IntervalEstimate>,
    /// By rising threshold.
    pub curve: Vec<StratumPoint>,
    /// The threshold with the highest F1, if that gains at least a hundredth.
    pub suggested: Option<f64>,
}

/// Estimates from labelled scores. The labels must come from [`Strata::draw`] over the pages of the strata, or cover
/// all of them.
pub fn estimate(strata: &Strata, labels: &[(Relevance, bool)]) -> Estimate {
    let point = |(threshold, pages)| StratumPoint { threshold, pages, ..StratumPoint::default() };
    let mut curve: Vec<StratumPoint> = strata.each().map(point).collect();
    for &(score, label) in labels {
        let point = &mut curve[strata.of(score)];
        point.labelled += 1;
        point.relevant += u64::from(label);
    }
    for from in 0..curve.len() {
        curve[from].accepted = curve[from..].iter().map(|point| point.pages).sum();
    }
    let pages = curve[0].accepted;
    let relevant = relevant_pages(&curve);
    let is_labelled = |point: &StratumPoint| point.pages == 0 || point.labelled > 0;
    let all_labelled = pages > 0 && curve.iter().all(is_labelled);
    for from in 0..curve.len() {
        let accepted = curve[from].accepted as f64;
        let hits = |relevant: &[f64]| relevant[from..].iter().sum::<f64>();
        if accepted > 0.0 && curve[from..].iter().all(is_labelled) {
            curve[from].precision = Some(interval(&relevant, |relevant| hits(relevant) / accepted));
        }
        if all_labelled {
            let recall = |relevant: &[f64]| if total(relevant) > 0.0 { hits(relevant) / total(relevant) } else { 0.0 };
            curve[from].recall = Some(interval(&relevant, recall));
            let observed = &relevant[0];
            curve[from].f1 = Some(2.0 * hits(observed) / (accepted + total(observed)).max(1.0));
        }
    }
    let current = curve[Strata::THRESHOLD].clone();
    // At the lowest bound every page is accepted.
    let best = curve[1..].iter().filter_map(|point| Some((point.f1?, point.threshold)));
    let best = best.max_by(|one, other| one.0.total_cmp(&other.0));
    let is_better = |f1: f64| f1 >= current.f1.unwrap_or_default() + GAIN;
    Estimate {
        threshold: strata.threshold(),
        pages,
        labelled: labels.len() as u64,
        relevant: all_labelled.then(|| interval(&relevant, total)),
        precision: current.precision,
        recall: current.recall,
        suggested: best.filter(|(f1, _)| is_better(*f1)).map(|(_, threshold)| threshold),
        curve,
    }
}

fn total(relevant: &[f64]) -> f64 {
    relevant.iter().sum()
}

/// Relevant pages of each stratum: first according to the labels, then in each resample.
pub(super) fn relevant_pages(curve: &[StratumPoint]) -> Vec<Vec<f64>> {
    let mut rng = SeededRng::new(0, 0, 0);
    let observed = curve.iter().map(|point| point.pages as f64 * observed_share(point)).collect();
    let mut resample = || curve.iter().map(|point| point.pages as f64 * resampled_share(point, &mut rng)).collect();
    std::iter::once(observed).chain((0..RESAMPLES).map(|_| resample())).collect()
}

/// A figure of [`relevant_pages`].
pub(super) fn interval(relevant: &[Vec<f64>], figure: impl Fn(&[f64]) -> f64) -> IntervalEstimate {
    let value = figure(&relevant[0]);
    let mut resampled: Vec<f64> = relevant[1..].iter().map(|relevant| figure(relevant)).collect();
    resampled.sort_unstable_by(f64::total_cmp);
    let (low, high) = (resampled[RESAMPLES / 40], resampled[RESAMPLES - 1 - RESAMPLES / 40]);
    IntervalEstimate { value, low: low.min(value), high: high.max(value) }
}

/// Share of the labelled pages that is relevant; 0 without labels.
fn observed_share(point: &StratumPoint) -> f64 {
    point.relevant as f64 / point.labelled.max(1) as f64
}

fn resampled_share(point: &StratumPoint, rng: &mut SeededRng) -> f64 {
    if point.labelled == 0 {
        return 0.0;
    }
    let labelled = point.labelled as f64;
    let likely = (point.relevant as f64 + 0.5) / (labelled + 1.0);
    let drawn = (0..point.labelled).filter(|_| rng.chance(likely)).count() as f64 / labelled;
    // The population is finite: where all are labelled nothing is uncertain (Cochran 1977, eq. 2.20).
    let left = (1.0 - labelled / point.pages as f64).max(0.0).sqrt();
    (observed_share(point) + (drawn - likely) * left).clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use suidao_page::seeded_rng::SeededRng;

    /// Pages whose chance of relevance rises with their score; most scores are low.
    fn crawl(pages: usize, draws: &mut SeededRng) -> Vec<(Relevance, bool)> {
        let page = |_| {
            let score = draws.unit().powi(4) * 0.5;
            let chance = 1.0 / (1.0 + (-(score - 0.1) * 40.0).exp());
            (Relevance::new(score as f32), draws.unit() < chance * 0.95)
        };
        (0..pages).map(page).collect()
    }

    fn truth(pages: &[(Relevance, bool)]) -> (f64, f64, f64) {
        let above = pages.iter().filter(|(score, _)| f64::from(score.get()) >= 0.1);
        let hit = above.clone().filter(|(_, label)| *label).count() as f64;
        let relevant = pages.iter().filter(|(_, label)| *label).count() as f64;
        (hit / above.count() as f64, relevant, hit / relevant)
    }

    #[test]
    fn with_all_pages_labelled_the_estimates_are_the_truth() {
        for seed in 0..5 {
            let pages = crawl(700, &mut SeededRng::new(seed, 0, 0));
            let strata = Strata::new(Relevance::new(0.1), pages.iter().map(|(score, _)| *score));
            let result = estimate(&strata, &pages);
            let (precision, relevant, recall) = truth(&pages);
            for (figure, truth) in [(result.precision, precision), (result.relevant, relevant), (result.recall, recall)]
            {
                let figure = figure.unwrap();
                for value in [figure.value, figure.low, figure.high] {
                    assert!((value - truth).abs() < 1e-9, "{figure:?} {truth}");
                }
            }
            let now = &result.curve[Strata::THRESHOLD];
            assert!((now.threshold - 0.1).abs() < 1e-6, "{now:?}");
            assert!((now.f1.unwrap() - 2.0 * precision * recall / (precision + recall)).abs() < 1e-9);
        }
    }

    #[test]
    fn intervals_hold_the_truth_93_times_in_100_at_least() {
        let mut covered = [0; 3];
        let rounds = 400;
        for seed in 0..rounds {
            let pages = crawl(3000, &mut SeededRng::new(seed, 0, 0));
            let urls: Vec<String> = (0..pages.len()).map(|n| n.to_string()).collect();
            let strata = Strata::new(Relevance::new(0.1), pages.iter().map(|(score, _)| *score));
            let requested: Vec<(Relevance, &str, bool)> =
                pages.iter().zip(&urls).map(|((score, _), url)| (*score, url.as_str(), false)).collect();
            let labels: Vec<_> = strata.draw(&requested, 150).into_iter().map(|position| pages[position]).collect();
            let result = estimate(&strata, &labels);
            let (precision, relevant, recall) = truth(&pages);
            for (covered, (figure, truth)) in covered.iter_mut().zip([
                (result.precision, precision),
                (result.relevant, relevant),
                (result.recall, recall),
            ]) {
                let figure = figure.unwrap();
                assert!(figure.low <= figure.value && figure.value <= figure.high, "{figure:?}");
                *covered += usize::from(figure.low <= truth && truth <= figure.high);
            }
        }
        for covered in covered {
            assert!(covered >= 372, "{covered} of {rounds}");
        }
    }

    #[test]
    fn a_threshold_set_too_high_is_found_out() {
        let pages = crawl(4000, &mut SeededRng::new(3, 0, 0));
        let high: Vec<Relevance> = pages.iter().map(|(score, _)| *score).collect();
        let strata = Strata::new(Relevance::new(0.25), high.into_iter());
        let result = estimate(&strata, &pages);
        let suggested = result.suggested.unwrap();
        let point = result.curve.iter().find(|point| point.threshold == suggested).unwrap();
        assert!(suggested < 0.25, "{point:?}");
        let true_f1 = |threshold: f64| {
            let hit = pages.iter().filter(|(score, label)| *label && f64::from(score.get()) >= threshold).count();
            let taken = pages.iter().filter(|(score, _)| f64::from(score.get()) >= threshold).count();
            2.0 * hit as f64 / (taken + pages.iter().filter(|(_, label)| *label).count()) as f64
        };
        assert!((point.f1.unwrap() - true_f1(suggested)).abs() < 1e-9);
        assert!(point.f1.unwrap() > true_f1(0.25));
    }

    #[test]
    fn what_cannot_be_known_is_not_reported() {
        let pages = crawl(500, &mut SeededRng::new(1, 0, 0));
        let strata = Strata::new(Relevance::new(0.1), pages.iter().map(|(score, _)| *score));
        let none = estimate(&strata, &[]);
        assert_eq!((none.precision, none.relevant, none.recall, none.suggested), (None, None, None, None));
        let above: Vec<_> = pages.iter().filter(|(score, _)| score.get() >= 0.1).copied().collect();
        let half = estimate(&strata, &above);
        assert!(half.precision.is_some() && half.recall.is_none() && half.curve.iter().all(|point| point.f1.is_none()));
        assert_eq!(estimate(&Strata::new(Relevance::new(0.1), std::iter::empty()), &[]).pages, 0);
    }
}
