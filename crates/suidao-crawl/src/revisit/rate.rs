//! Estimates how often a page changes, from visits that only show whether it did.
//!
//! A visit `τ` days after the previous one finds a change of a Poisson process of rate Δ with probability 1 - e^(-Δτ).
//! The most likely rate solves (Cho and Garcia-Molina 2003, section 4.3)
//!
//! ```text
//! Σ over changed intervals of τ / (e^(Δτ) - 1)  =  Σ over unchanged intervals of τ
//! ```
//! The right side is one sum. The left side needs the single intervals: they are counted in buckets by powers of two,
//! and their sum is stored, so equal intervals, and intervals short against 1/Δ, are as exact as a list. With few
//! changes in intervals of all lengths the rate may be off by a factor of up to 2.
//!
//! So that no rate is 0 or infinite, the prior is half a change in two intervals of `prior` days, or of 1/Δ if that is
//! less (together 1/(1/prior + Δ)). If they were always `prior` days long, weeks without an hourly change would have to
//! be outweighed first. With the prior the sides differ by
//!
//! ```text
//! Σ over changed of τ/(e^(Δτ) - 1)  -  Σ over unchanged of τ  +  ½/Δ  -  2 prior/(1 + Δ prior)
//! ```
//! which is the slope of the likelihood times Δ^½/(1 + Δ prior)², a prior with a long tail; times Δ it falls with ln Δ,
//! so the solution is unique. For equal intervals and many visits it is Cho and Garcia-Molina's -ln((n - X + ½)/(n +
//! ½))/τ.

const DAY: f64 = 86_400.0;

/// The first bucket ends at 2^-5 days, three quarters of an hour; the last begins at 2^13, 22 years.
const FIRST: i32 = -6;
const BUCKETS: usize = 20;

/// Prior: this many changes in this many intervals.
const HALF: f64 = 0.5;
const TWO: f64 = 2.0;

/// Changes of a page as seen by visits.
///
/// A bucket holds 255 changes. One more halves all counts: the last hundreds of visits are the best evidence.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ChangeObservations {
    /// Sums of the intervals without and with a change in seconds; integers, so that the order of visits does not
    /// matter.
    unchanged: u32,
    changed: u32,
    quiet: u32,
    /// Intervals with a change, by length.
    counts: [u8; BUCKETS],
}

impl ChangeObservations {
    /// Records a visit `days` after the previous one. Less than a second, or NaN, counts as a second; more than 136
    /// years as 136 years.
    pub fn observe(&mut self, days: f64, changed: bool) {
        let seconds = ((days * DAY).round() as u32).max(1);
        if !changed {
            self.unchanged = self.unchanged.saturating_add(seconds);
            self.quiet = self.quiet.saturating_add(1);
            return;
        }
        let bucket = bucket(f64::from(seconds) / DAY);
        if self.counts[bucket] == u8::MAX {
            self.unchanged /= 2;
            self.changed /= 2;
            self.quiet /= 2;
            self.counts.iter_mut().for_each(|count| *count = count.div_ceil(2));
        }
        self.changed = self.changed.saturating_add(seconds);
        self.counts[bucket] += 1;
    }

    pub fn visits(&self) -> u32 {
        self.quiet.saturating_add(self.changes())
    }

    pub fn changes(&self) -> u32 {
        self.counts.iter().map(|&count| u32::from(count)).sum()
    }

    /// The most likely number of changes per day, positive and finite. `prior`: days between changes of similar pages,
    /// at least a second. Before any visit the rate is a third of 1/prior.
    pub fn rate(&self, prior: f64) -> f64 {
        let prior = prior.max(1.0 / DAY);
        let unchanged = f64::from(self.unchanged) / DAY;
        let changed = f64::from(self.changed) / DAY;
        let filled = || self.counts.iter().enumerate().filter(|(_, count)| **count > 0);
        let sum: f64 = filled().map(|(bucket, &count)| f64::from(count) * middle(bucket)).sum();
        // Bucket middles deviate from the intervals; scale them to the exact sum.
        let scale = if sum > 0.0 { changed / sum } else { 1.0 };
        // Excess of the left side, times the rate, and its slope over the logarithm of the rate.
        let sides = |rate: f64| {
            let known = rate * prior / (1.0 + rate * prior);
            let start = (HALF - TWO * known - rate * unchanged, -TWO * known * (1.0 - known) - rate * unchanged);
            filled().fold(start, |(excess, slope), (bucket, &count)| {
                let changes = rate * middle(bucket) * scale;
                let grown = changes.exp_m1();
                let term = f64::from(count) * if grown.is_finite() { changes / grown } else { 0.0 };
                (excess + term, slope + term * (1.0 - changes * (1.0 + 1.0 / grown)))
            })
        };
        // 1/(e^x - 1) >= 1/x - 1/2 gives a lower bound.
        let mut low = (f64::from(self.changes()) + HALF) / (unchanged + changed / 2.0 + TWO * prior);
        let mut high = f64::INFINITY;
        let mut rate = low;
        for _ in 0..100 {
            let (excess, slope) = sides(rate);
            if excess > 0.0 {
                low = rate
            } else {
                high = rate
            }
            // Newton's step, unless it leaves the bounds.
            let next = rate * (-excess / slope).clamp(-3.0, 3.0).exp();
            let next = if next > low && next < high { next } else { (low * high.min(16.0 * low)).sqrt() };
            if (next - rate).abs() <= 1e-12 * rate {
                break;
            }
            rate = next;
        }
        rate
    }
}

fn bucket(days: f64) -> usize {
    let power = days.log2().floor().clamp(f64::from(FIRST), f64::from(FIRST) + BUCKETS as f64 - 1.0) as i32;
    usize::try_from(power - FIRST).expect("clamped from below")
}

/// Geometric middle of a bucket, in days.
fn middle(bucket: usize) -> f64 {
    (bucket as f64 + f64::from(FIRST) + 0.5).exp2()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use suidao_page::seeded_rng::SeededRng;

    fn of(visits: &[(f64, bool)]) -> ChangeObservations {
        let mut changes = ChangeObservations::default();
        visits.iter().for_each(|&(days, changed)| changes.observe(days, changed));
        changes
    }

    /// Reference: maximises the likelihood of the intervals and the prior on ever finer grids.
    fn brute_force(visits: &[(f64, bool)], prior: f64) -> f64 {
        let likelihood = |rate: f64| {
            let seen =
                |&(days, changed): &(f64, bool)| if changed { (-(-rate * days).exp_m1()).ln() } else { -rate * days };
            visits.iter().map(seen).sum::<f64>() + 0.5 * rate.ln() - 2.0 * (rate * prior).ln_1p()
        };
        let (mut from, mut to) = (1e-9_f64.ln(), 1e6_f64.ln());
        for _ in 0..6 {
            let step = (to - from) / 200.0;
            let at = |position: i32| from + step * f64::from(position);
            let best = (0..=200).max_by(|&a, &b| likelihood(at(a).exp()).total_cmp(&likelihood(at(b).exp()))).unwrap();
            (from, to) = (at(best - 1), at(best + 1));
        }
        f64::midpoint(from, to).exp()
    }

    #[test]
    fn a_page_costs_32_bytes() {
        assert_eq!(size_of::<ChangeObservations>(), 32);
    }

    #[test]
    fn equal_intervals_have_a_closed_form() {
        for days in [0.02, 0.7, 1.0, 3.3, 40.0] {
            for (visits, changed) in [(250, 1), (250, 60), (250, 200), (250, 245)] {
                let changes = of(&(0..visits).map(|visit| (days, visit < changed)).collect::<Vec<_>>());
                assert_eq!((changes.visits(), changes.changes()), (visits, changed));
                let (n, x) = (f64::from(visits), f64::from(changed));
                let closed = -((n - x + 0.5) / (n + 0.5)).ln() / days;
                let rate = changes.rate(days);
                // One change more or less.
                let tolerance = 1.1 / x.min(n - x);
                assert!(
                    (rate / closed - 1.0).abs() < tolerance,
                    "{changed} of {visits}, {days} days: {rate}, {closed}"
                );
            }
        }
    }

    #[test]
    fn without_a_visit_it_is_the_priors() {
        assert!((ChangeObservations::default().rate(30.0) * 90.0 - 1.0).abs() < 1e-9);
        // One change a day later is not enough evidence, nine are; likewise nine hourly ones.
        assert!(of(&[(1.0, true)]).rate(30.0) < 1.0);
        assert!(of(&[(1.0, true); 9]).rate(30.0) > 1.5);
        assert!(of(&[(1.0 / 24.0, true); 9]).rate(30.0) > 1.5 * 24.0);
    }

    #[test]
    fn it_is_finite_whatever_was_seen() {
        for days in [0.0, -1.0, f64::NAN, 1e-9, 1.0, 1e6, f64::INFINITY] {
            for prior in [0.0, f64::NAN, 1e-6, 7.0, 1e9] {
                for changed in [&[true; 9][..], &[false; 9], &[true, false]] {
                    let rate = of(&changed.iter().map(|&changed| (days, changed)).collect::<Vec<_>>()).rate(prior);
                    assert!(rate > 0.0 && rate.is_finite(), "{changed:?} {days} {prior}: {rate}");
                }
            }
        }
        assert!(of(&[(1.0, true); 9]).rate(7.0) > of(&[(1.0, true); 3]).rate(7.0));
        assert!(of(&[(1.0, false); 9]).rate(7.0) < of(&[(1.0, false); 3]).rate(7.0));
    }

    #[test]
    fn it_comes_to_the_rate_of_a_poisson_process() {
        for (case, rate) in [0.05, 0.4, 2.0].into_iter().enumerate() {
            let learnt = |page: usize| {
                let mut changes = ChangeObservations::default();
                for visit in 0..200 {
                    let at = ((case * 100 + page) * 1000 + visit) as u64;
                    // Irregular intervals of an hour to four days.
                    let days = 0.04 + 4.0 * SeededRng::at(2 * at).unit().powi(3);
                    changes.observe(days, SeededRng::at(2 * at + 1).unit() < -(-rate * days).exp_m1());
                }
                changes.rate(30.0)
            };
            let mean = (0..50).map(learnt).sum::<f64>() / 50.0;
            assert!((mean / rate - 1.0).abs() < 0.12, "{rate}: {mean} after 200 visits each");
        }
    }

    #[test]
    fn what_is_long_ago_counts_less() {
        let mut changes = of(&[(1.0, true); 1000]);
        assert!(changes.visits() <= 255 && changes.changes() == changes.visits());
        (0..250).for_each(|_| changes.observe(1.0, false));
        assert!(changes.rate(7.0) < 0.9, "{}", changes.rate(7.0));
    }

    proptest! {
        #[test]
        fn it_is_the_most_likely_rate(
            visits in proptest::collection::vec((-5.0_f64..5.0, any::<bool>()), 0..40),
            prior in 1.0..60.0,
        ) {
            let visits: Vec<_> = visits.into_iter().map(|(power, changed)| (power.exp2(), changed)).collect();
            let (ours, best) = (of(&visits).rate(prior), brute_force(&visits, prior));
            // Bucket middles, and so the scale, are off by √2 at most.
            prop_assert!((ours / best).ln().abs() < 2_f64.ln(), "{} for {}", ours, best);
        }

        #[test]
        fn short_intervals_are_as_good_as_a_list(days in proptest::collection::vec((0.01..1.0, any::<bool>()), 1..40)) {
            // Changes are rare if the rate is low against the intervals: add quiet ones until it is.
            let mut visits = days;
            visits.push((1000.0, false));
            let (ours, best) = (of(&visits).rate(30.0), brute_force(&visits, 30.0));
            prop_assert!((ours / best - 1.0).abs() < 2e-3, "{} for {}", ours, best);
        }

        #[test]
        fn no_order_matters(
            visits in proptest::collection::vec((0.001..100.0, any::<bool>()), 0..40).prop_shuffle(),
            prior in 1.0..60.0,
        ) {
            let mut sorted = visits.clone();
            sorted.sort_by(|a: &(f64, bool), b| a.0.total_cmp(&b.0));
            prop_assert_eq!(of(&visits), of(&sorted));
            prop_assert!(of(&visits).rate(prior) == of(&sorted).rate(prior));
        }
    }
}
