//! What labels of a stratified sample say of all pages: precision, number of relevant pages, recall, and what other
//! thresholds would give.
//!
//! In a stratum of N pages, n of them labelled, each answer stands for N / n pages. The intervals are those of a bootstrap:
//! 1,000 times every stratum is answered anew, each time by chance (x + 1/2) / (n + 1) relevant, where x were (Jeffreys' prior: of a few
//! answers that agree the share itself would say that nothing is unsure), less what the labelled pages leave no doubt about.

use serde::Serialize;
use xxhash_rust::xxh3::xxh3_64;

use super::strata::Strata;
use suidao_page::model::Relevance;

const RESAMPLES: usize = 1_000;

/// Other thresholds that are tried, as multiples of the one in force: few, so that the best is not the luckiest.
const TRIED: [f64; 15] = [0.25, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.1, 1.25, 1.5, 1.75, 2.0, 2.5, 3.0];

/// A better threshold is suggested where F1 gains at least this.
const GAIN: f64 = 0.01;

/// An estimate with its 95% interval.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Figure {
    /// The estimate.
    pub value: f64,
    /// Lower end of the interval.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

/// What a threshold achieves, as estimated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Outcome {
    /// From this relevance on, relevant.
    pub threshold: f64,
    /// Pages at or above it; known, not estimated.
    pub accepted: u64,
    /// Share of the relevant among these.
    pub precision: f64,
    /// Share of the relevant that is among these.
    pub recall: f64,
    /// Harmonic mean of both.
    pub f1: f64,
    /// Pages that would change sides; known, not estimated.
    pub changed: u64,
}

/// A stratum.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Layer {
    /// Its lowest score.
    pub from: f64,
    /// Pages in it.
    pub pages: u64,
    /// Labelled ones.
    pub labelled: u64,
    /// Relevant ones among these.
    pub relevant: u64,
}

/// What the labels say of all pages.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Estimate {
    /// The threshold in force.
    pub threshold: f64,
    /// Pages that could have been asked about.
    pub pages: u64,
    /// Labelled ones.
    pub labelled: u64,
    /// Strata.
    pub strata: Vec<Layer>,
    /// Share of the relevant among the pages at or above the threshold; none if a stratum of theirs has no labels.
    pub precision: Option<Figure>,
    /// Relevant pages; this and all that follows is none if any stratum has pages and no labels.
    pub relevant: Option<Figure>,
    /// Share of the relevant pages that lie at or above the threshold.
    pub recall: Option<Figure>,
    /// Thresholds tried, rising.
    pub thresholds: Vec<Outcome>,
    /// The one with the highest F1, if it is better than the one in force by a hundredth.
    pub suggested: Option<Outcome>,
}

/// Estimates from the labels of pages, given with their scores. Labels must have been drawn by [`Strata::draw`] from the
/// pages that the strata hold, or be those of all of them.
pub fn estimate(strata: &Strata, labels: &[(Relevance, bool)]) -> Estimate {
    let layer =
        |stratum| Layer { from: strata.begin(stratum), pages: strata.scores(stratum).len() as u64, ..Layer::default() };
    let mut layers: Vec<Layer> = (0..strata.count()).map(layer).collect();
    for &(score, label) in labels {
        let layer = &mut layers[strata.of(score)];
        layer.labelled += 1;
        layer.relevant += u64::from(label);
    }
    let estimate = Estimate {
        threshold: strata.threshold(),
        pages: layers.iter().map(|layer| layer.pages).sum(),
        labelled: labels.len() as u64,
        strata: layers,
        ..Estimate::default()
    };
    let layers = &estimate.strata;
    let is_told = |below: bool| {
        let of = (0..).zip(layers).filter(|(stratum, _)| below || Strata::is_above(*stratum));
        estimate.pages > 0 && of.into_iter().all(|(_, layer)| layer.pages == 0 || layer.labelled > 0)
    };
    let [precision, relevant, recall] = figures(layers);
    let precision = precision.filter(|_| is_told(false));
    if !is_told(true) {
        return Estimate { precision, ..estimate };
    }
    let outcome = |threshold: f64| outcome(strata, layers, labels, threshold);
    let thresholds: Vec<Outcome> = TRIED.iter().map(|tried| outcome(tried * strata.threshold())).collect();
    let best = thresholds.iter().max_by(|one, other| one.f1.total_cmp(&other.f1)).copied();
    let suggested = best.filter(|best| best.f1 >= outcome(strata.threshold()).f1 + GAIN);
    Estimate { precision, relevant, recall, thresholds, suggested, ..estimate }
}

/// Precision, relevant pages and recall at the threshold in force. No precision where no page lies at or above it.
fn figures(layers: &[Layer]) -> [Option<Figure>; 3] {
    let above: u64 = (0..).zip(layers).filter(|(at, _)| Strata::is_above(*at)).map(|(_, layer)| layer.pages).sum();
    let told = |share: &mut dyn FnMut(&Layer) -> f64| {
        let (mut hit, mut all) = (0.0, 0.0);
        for (stratum, layer) in (0..).zip(layers).filter(|(_, layer)| layer.labelled > 0) {
            let relevant = layer.pages as f64 * share(layer);
            all += relevant;
            hit += if Strata::is_above(stratum) { relevant } else { 0.0 };
        }
        [hit / (above as f64).max(1.0), all, if all > 0.0 { hit / all } else { 0.0 }]
    };
    let plain = |layer: &Layer| layer.relevant as f64 / layer.labelled as f64;
    let mut turn = 0_u64;
    let mut chance = || {
        turn += 1;
        (xxh3_64(&turn.to_le_bytes()) >> 11) as f64 / (1_u64 << 53) as f64
    };
    let mut anew = |layer: &Layer| {
        let labelled = layer.labelled as f64;
        let likely = (layer.relevant as f64 + 0.5) / (labelled + 1.0);
        let drawn = (0..layer.labelled).filter(|_| chance() < likely).count() as f64 / labelled;
        // Of a finite number of pages; none is left to chance where all are labelled (Cochran 1977, eq. 2.20).
        let left = (1.0 - labelled / layer.pages as f64).max(0.0).sqrt();
        (plain(layer) + (drawn - likely) * left).clamp(0.0, 1.0)
    };
    let value = told(&mut |layer| plain(layer));
    let drawn: Vec<[f64; 3]> = (0..RESAMPLES).map(|_| told(&mut anew)).collect();
    [0, 1, 2].map(|which| {
        let mut drawn: Vec<f64> = drawn.iter().map(|figures| figures[which]).collect();
        drawn.sort_unstable_by(f64::total_cmp);
        let (low, high) = (drawn[RESAMPLES / 40], drawn[RESAMPLES - 1 - RESAMPLES / 40]);
        let figure = Figure { value: value[which], low: low.min(value[which]), high: high.max(value[which]) };
        (which > 0 || above > 0).then_some(figure)
    })
}

fn outcome(strata: &Strata, layers: &[Layer], labels: &[(Relevance, bool)], threshold: f64) -> Outcome {
    let at_least = |score: f64| score >= threshold;
    let (mut hit, mut weight, mut relevant) = (0.0, 0.0, 0.0);
    for &(score, label) in labels {
        let layer = &layers[strata.of(score)];
        let each = layer.pages as f64 / layer.labelled as f64;
        let told = if label { each } else { 0.0 };
        relevant += told;
        if at_least(f64::from(score.get())) {
            weight += each;
            hit += told;
        }
    }
    let mut outcome = Outcome { threshold, ..Outcome::default() };
    for stratum in 0..strata.count() {
        for &score in strata.scores(stratum) {
            outcome.accepted += u64::from(at_least(score));
            outcome.changed += u64::from(at_least(score) != Strata::is_above(stratum));
        }
    }
    outcome.precision = if weight > 0.0 { hit / weight } else { 1.0 };
    outcome.recall = if relevant > 0.0 { hit / relevant } else { 0.0 };
    let sum = outcome.precision + outcome.recall;
    outcome.f1 = if sum > 0.0 { 2.0 * outcome.precision * outcome.recall / sum } else { 0.0 };
    outcome
}

#[cfg(test)]
mod tests {
    use super::*;
    use suidao_page::draw::Draw;

    /// Pages whose chance to be relevant rises with their score: most score low.
    fn crawl(pages: usize, draws: &mut Draw) -> Vec<(Relevance, bool)> {
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
            let pages = crawl(700, &mut Draw::new(seed, 0, 0));
            let strata = Strata::new(Relevance::new(0.1), pages.iter().map(|(score, _)| *score));
            let told = estimate(&strata, &pages);
            let (precision, relevant, recall) = truth(&pages);
            for (figure, truth) in [(told.precision, precision), (told.relevant, relevant), (told.recall, recall)] {
                let figure = figure.unwrap();
                for value in [figure.value, figure.low, figure.high] {
                    assert!((value - truth).abs() < 1e-9, "{figure:?} {truth}");
                }
            }
            let now = told.thresholds.iter().find(|tried| (tried.threshold - 0.1).abs() < 1e-6).unwrap();
            assert!((now.precision - precision).abs() < 1e-9 && (now.recall - recall).abs() < 1e-9);
            assert_eq!(now.changed, 0);
        }
    }

    #[test]
    fn intervals_hold_the_truth_93_times_in_100_at_least() {
        let mut held = [0; 3];
        let rounds = 400;
        for seed in 0..rounds {
            let pages = crawl(3000, &mut Draw::new(seed, 0, 0));
            let urls: Vec<String> = (0..pages.len()).map(|n| n.to_string()).collect();
            let strata = Strata::new(Relevance::new(0.1), pages.iter().map(|(score, _)| *score));
            let asked: Vec<(Relevance, &str, bool)> =
                pages.iter().zip(&urls).map(|((score, _), url)| (*score, url.as_str(), false)).collect();
            let labels: Vec<_> = strata.draw(&asked, 150).into_iter().map(|place| pages[place]).collect();
            let told = estimate(&strata, &labels);
            let (precision, relevant, recall) = truth(&pages);
            for (held, (figure, truth)) in
                held.iter_mut().zip([(told.precision, precision), (told.relevant, relevant), (told.recall, recall)])
            {
                let figure = figure.unwrap();
                assert!(figure.low <= figure.value && figure.value <= figure.high, "{figure:?}");
                *held += usize::from(figure.low <= truth && truth <= figure.high);
            }
        }
        for held in held {
            assert!(held >= 372, "{held} of {rounds}");
        }
    }

    #[test]
    fn a_threshold_set_too_high_is_found_out() {
        let pages = crawl(4000, &mut Draw::new(3, 0, 0));
        let high: Vec<Relevance> = pages.iter().map(|(score, _)| *score).collect();
        let strata = Strata::new(Relevance::new(0.25), high.into_iter());
        let told = estimate(&strata, &pages);
        let suggested = told.suggested.unwrap();
        assert!(suggested.threshold < 0.25 && suggested.changed > 0, "{suggested:?}");
        let true_f1 = |threshold: f64| {
            let hit = pages.iter().filter(|(score, label)| *label && f64::from(score.get()) >= threshold).count();
            let taken = pages.iter().filter(|(score, _)| f64::from(score.get()) >= threshold).count();
            2.0 * hit as f64 / (taken + pages.iter().filter(|(_, label)| *label).count()) as f64
        };
        assert!((suggested.f1 - true_f1(suggested.threshold)).abs() < 1e-9);
        assert!(suggested.f1 > true_f1(0.25));
    }

    #[test]
    fn what_cannot_be_known_is_not_told() {
        let pages = crawl(500, &mut Draw::new(1, 0, 0));
        let strata = Strata::new(Relevance::new(0.1), pages.iter().map(|(score, _)| *score));
        let none = estimate(&strata, &[]);
        assert_eq!((none.precision, none.relevant, none.recall, none.suggested), (None, None, None, None));
        let above: Vec<_> = pages.iter().filter(|(score, _)| score.get() >= 0.1).copied().collect();
        let half = estimate(&strata, &above);
        assert!(half.precision.is_some() && half.recall.is_none() && half.thresholds.is_empty());
        assert_eq!(estimate(&Strata::new(Relevance::new(0.1), std::iter::empty()), &[]).pages, 0);
    }
}
