//! What labels of a stratified sample say of all pages: precision, number of relevant pages, recall, and what other
//! thresholds would give.
//!
//! In stratum h of N_h pages n_h are labelled and x_h of these relevant: p_h = x_h / n_h. The number of relevant pages in a
//! set of strata is T = Σ N_h p_h (Cochran, Sampling Techniques, 3rd ed. 1977, eq. 5.1) with variance
//! V = Σ N_h² (1 - n_h / N_h) p_h (1 - p_h) / (n_h - 1) (eq. 5.9 with s² of a proportion, eq. 3.8). Precision is T over the
//! pages at or above the threshold, whose number is known. In V, p_h is (x_h + 1/2) / (n_h + 1): where all of few answers agree
//! the plain one says that nothing is unsure (Jeffreys' prior; Brown, Cai, DasGupta, Statistical Science 16(2), 2001).
//!
//! Intervals of shares are Wilson's (Wilson, JASA 22, 1927) for as many independent answers as have that variance,
//! p(1 - p) / V (Korn and Graubard, Survey Methodology 24(2), 1998). The interval of recall TP / (TP + FN) is the delta
//! method's on the log-odds ln TP - ln FN, with variance V(TP) / TP² + V(FN) / FN².

use serde::Serialize;

use super::noise::{Noise, noise};
use super::strata::Strata;
use suidao_page::model::Relevance;

/// Normal quantile of 95% intervals.
const Z: f64 = 1.959_964;

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
    /// Why the answers look like noise, if they do: then nothing is estimated from them.
    pub noise: Option<Noise>,
    /// Strata.
    pub strata: Vec<Layer>,
    /// Share of the relevant among the pages at or above the threshold; none if none of these is labelled.
    pub precision: Option<Figure>,
    /// Relevant pages; none if there are pages in a stratum without labels.
    pub relevant: Option<Figure>,
    /// Share of the relevant pages that lie at or above the threshold; none as for `relevant`.
    pub recall: Option<Figure>,
    /// Thresholds tried, rising; empty as for `relevant`.
    pub thresholds: Vec<Outcome>,
    /// The one with the highest F1, if it is better than the one in force by a hundredth.
    pub suggested: Option<Outcome>,
}

/// Labels of a stratum.
struct Labelled {
    pages: f64,
    answers: Vec<(f64, bool)>,
}

impl Labelled {
    fn labelled(&self) -> f64 {
        self.answers.len() as f64
    }

    fn relevant(&self) -> f64 {
        self.answers.iter().filter(|(_, label)| *label).count() as f64
    }

    /// N p.
    fn total(&self) -> f64 {
        self.pages * self.relevant() / self.labelled().max(1.0)
    }

    /// The same with p for the variance.
    fn cautious(&self) -> f64 {
        self.pages * (self.relevant() + 0.5) / (self.labelled() + 1.0)
    }

    /// Variance of N p. A stratum with one answer is as unsure as can be.
    fn variance(&self) -> f64 {
        let (pages, labelled) = (self.pages, self.labelled());
        let p = self.cautious() / pages.max(1.0);
        pages * pages * (1.0 - labelled / pages.max(1.0)).max(0.0) * p * (1.0 - p) / (labelled - 1.0).max(1.0)
    }
}

/// Estimates from the labels of pages, given with their scores. Labels must have been drawn by [`Strata::draw`] from the
/// pages that the strata hold, or be those of all of them.
pub fn estimate(strata: &Strata, labels: &[(Relevance, bool)]) -> Estimate {
    let mut of: Vec<Labelled> = (0..strata.len())
        .map(|stratum| Labelled { pages: strata.scores(stratum).len() as f64, answers: Vec::new() })
        .collect();
    for &(score, label) in labels {
        of[strata.of(score)].answers.push((f64::from(score.get()), label));
    }
    let layer = |(stratum, labelled): (usize, &Labelled)| Layer {
        from: strata.begin(stratum),
        pages: labelled.pages as u64,
        labelled: labelled.answers.len() as u64,
        relevant: labelled.relevant() as u64,
    };
    let layers: Vec<Layer> = of.iter().enumerate().map(layer).collect();
    let above: Vec<&Labelled> =
        of[..].iter().enumerate().filter(|(h, _)| Strata::is_above(*h)).map(|(_, of)| of).collect();
    let below: Vec<&Labelled> =
        of[..].iter().enumerate().filter(|(h, _)| !Strata::is_above(*h)).map(|(_, of)| of).collect();
    let all: Vec<&Labelled> = of.iter().collect();
    let told = |of: &[&Labelled]| of.iter().all(|h| h.pages == 0.0 || !h.answers.is_empty());
    let pages = |of: &[&Labelled]| of.iter().map(|h| h.pages).sum::<f64>();
    let mut estimate = Estimate {
        threshold: strata.threshold(),
        pages: pages(&all) as u64,
        labelled: labels.len() as u64,
        strata: layers,
        noise: noise(strata.threshold(), labels),
        ..Estimate::default()
    };
    if estimate.noise.is_some() {
        return estimate;
    }
    if told(&above) && pages(&above) > 0.0 {
        estimate.precision = Some(share(&above));
    }
    if told(&all) && pages(&all) > 0.0 {
        let share = share(&all);
        let whole = pages(&all);
        let count = |share: f64| share * whole;
        estimate.relevant = Some(Figure { value: count(share.value), low: count(share.low), high: count(share.high) });
        estimate.recall = Some(recall(&above, &below));
        estimate.thresholds = TRIED.iter().map(|tried| outcome(strata, &of, tried * strata.threshold())).collect();
        let f1 = |outcome: &Outcome| outcome.f1;
        let now = outcome(strata, &of, strata.threshold());
        let best = estimate.thresholds.iter().max_by(|one, other| f1(one).total_cmp(&f1(other)));
        estimate.suggested = best.copied().filter(|best| best.f1 >= now.f1 + GAIN);
    }
    estimate
}

/// The share of relevant pages in some strata, with Wilson's interval.
fn share(of: &[&Labelled]) -> Figure {
    let pages: f64 = of.iter().map(|h| h.pages).sum();
    let value = of.iter().map(|h| h.total()).sum::<f64>() / pages;
    let variance = of.iter().map(|h| h.variance()).sum::<f64>() / (pages * pages);
    if variance <= 0.0 {
        return Figure { value, low: value, high: value };
    }
    let cautious = of.iter().map(|h| h.cautious()).sum::<f64>() / pages;
    let answers = cautious * (1.0 - cautious) / variance;
    let centre = (value + Z * Z / (2.0 * answers)) / (1.0 + Z * Z / answers);
    let half =
        Z / (1.0 + Z * Z / answers) * (value * (1.0 - value) / answers + Z * Z / (4.0 * answers * answers)).sqrt();
    Figure { value, low: (centre - half).clamp(0.0, value), high: (centre + half).clamp(value, 1.0) }
}

fn recall(above: &[&Labelled], below: &[&Labelled]) -> Figure {
    let sum = |of: &[&Labelled], each: fn(&Labelled) -> f64| of.iter().map(|h| each(h)).sum::<f64>();
    let (hit, missed) = (sum(above, Labelled::total), sum(below, Labelled::total));
    let value = if hit + missed > 0.0 { hit / (hit + missed) } else { 0.0 };
    let variances = (sum(above, Labelled::variance), sum(below, Labelled::variance));
    if variances.0 + variances.1 <= 0.0 {
        return Figure { value, low: value, high: value };
    }
    // Where nothing was found on a side its logarithm needs the cautious number.
    let part = |plain: f64, cautious: f64| if plain > 0.0 { plain } else { cautious.max(f64::MIN_POSITIVE) };
    let (hit, missed) = (part(hit, sum(above, Labelled::cautious)), part(missed, sum(below, Labelled::cautious)));
    let spread = (variances.0 / (hit * hit) + variances.1 / (missed * missed)).sqrt();
    let share = |odds: f64| 1.0 / (1.0 + (-odds).exp());
    let odds = hit.ln() - missed.ln();
    Figure { value, low: share(odds - Z * spread).min(value), high: share(odds + Z * spread).max(value) }
}

/// Every answer of a stratum stands for N_h / n_h pages.
fn outcome(strata: &Strata, of: &[Labelled], threshold: f64) -> Outcome {
    let at_least = |score: f64| score >= threshold;
    let mut outcome = Outcome { threshold, ..Outcome::default() };
    let (mut hit, mut weight, mut relevant) = (0.0, 0.0, 0.0);
    for (stratum, labelled) in of.iter().enumerate() {
        let each = labelled.pages / labelled.labelled().max(1.0);
        relevant += labelled.total();
        let taken = || labelled.answers.iter().filter(|(score, _)| at_least(*score));
        weight += each * taken().count() as f64;
        hit += each * taken().filter(|(_, label)| *label).count() as f64;
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

    /// Draws that need no library: splitmix64.
    struct Draws(u64);

    impl Draws {
        fn next(&mut self) -> f64 {
            self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mut bits = self.0;
            bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            ((bits ^ (bits >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
        }
    }

    /// Pages whose chance to be relevant rises with their score: most score low.
    fn crawl(pages: usize, draws: &mut Draws) -> Vec<(Relevance, bool)> {
        let page = |_| {
            let score = draws.next().powi(4) * 0.5;
            let chance = 1.0 / (1.0 + (-(score - 0.1) * 40.0).exp());
            (Relevance::new(score as f32), draws.next() < chance * 0.95)
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
            let pages = crawl(700, &mut Draws(seed));
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
    fn intervals_hold_the_truth_about_95_times_in_100() {
        let mut held = [0; 3];
        let rounds = 400;
        for seed in 0..rounds {
            let pages = crawl(3000, &mut Draws(seed % 10));
            let urls: Vec<String> = (0..pages.len()).map(|n| n.to_string()).collect();
            let strata = Strata::new(Relevance::new(0.1), pages.iter().map(|(score, _)| *score));
            let asked: Vec<(Relevance, &str, bool)> =
                pages.iter().zip(&urls).map(|((score, _), url)| (*score, url.as_str(), false)).collect();
            let labels: Vec<_> = strata.draw(&asked, 150, seed).into_iter().map(|place| pages[place]).collect();
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
            assert!((372..=398).contains(&held), "{held} of {rounds}");
        }
    }

    #[test]
    fn a_threshold_set_too_high_is_found_out() {
        let pages = crawl(4000, &mut Draws(3));
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
        let pages = crawl(500, &mut Draws(1));
        let strata = Strata::new(Relevance::new(0.1), pages.iter().map(|(score, _)| *score));
        let none = estimate(&strata, &[]);
        assert_eq!((none.precision, none.relevant, none.recall, none.suggested), (None, None, None, None));
        let above: Vec<_> = pages.iter().filter(|(score, _)| score.get() >= 0.1).copied().collect();
        let half = estimate(&strata, &above);
        assert!(half.precision.is_some() && half.recall.is_none() && half.thresholds.is_empty());
        assert_eq!(estimate(&Strata::new(Relevance::new(0.1), std::iter::empty()), &[]).pages, 0);
    }
}
