//! Change histories of pages: when a page's main text changes, and when it disappears, as a function of a seed and the
//! page's number.
//!
//! The patterns follow measurements of the web: most changes resemble a Poisson process whose rate differs between
//! pages by orders of magnitude (Cho and Garcia-Molina 2000; Fetterly, Manasse, Najork and Wiener 2003, who found a
//! heavy tail of rates), some are periodic, some come in bursts, and pages vanish (Ntoulas, Cho and Olston 2004). The
//! shares and ranges here are not their numbers.
//!
//! Days count from 0, when all pages are in version 0. A history is drawn up to a last day, so that versions can be
//! looked up by binary search in any order.

use suidao_page::seeded_rng::SeededRng;

const HOUR: f64 = 1.0 / 24.0;

/// Salts of [`SeededRng`] for patterns and change times.
const PATTERN: u64 = 0x6368_6101;
const INSTANTS: u64 = 0x6368_6102;

/// Shares of the patterns: never, Poisson, periodic, bursty, vanishing.
const SHARES: [f64; 5] = [0.2, 0.5, 0.1, 0.1, 0.1];
/// Range of Poisson rates in changes a day; log-uniform.
const RATES: [f64; 2] = [1.0 / 365.0, 4.0];
/// Range of mean days between bursts; log-uniform.
const QUIET: [f64; 2] = [3.0, 30.0];
/// Ranges of mean changes per burst, and of its hours.
const BURST_CHANGES: [f64; 2] = [3.0, 12.0];
const BURST_HOURS: [f64; 2] = [2.0, 8.0];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gone {
    Missing,
    Removed,
    /// 301, permanent.
    Moved,
    /// 302 to a maintenance page.
    Maintenance,
}

/// How a page changes. Rates are changes a day, at least 0; spans are days, above 0.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Pattern {
    /// Constant.
    Never,
    /// Memoryless.
    Poisson { rate: f64 },
    /// At a fixed interval.
    Periodic { days: f64, phase: f64 },
    /// Quiet for an exponential time, then several changes within hours.
    Bursty {
        /// Mean days of quiet.
        quiet: f64,
        /// Mean changes per burst, at least 1.
        changes: f64,
        /// Length of a burst in days.
        burst: f64,
    },
    /// As [`Pattern::Poisson`], until it disappears.
    Vanishing {
        /// The first day without the page.
        at: f64,
        rate: f64,
        gone: Gone,
    },
}

impl Pattern {
    /// A random pattern; a vanishing page disappears on one of the `days`.
    pub fn drawn(seed: u64, page: u64, days: f64) -> Self {
        let mut rng = SeededRng::new(seed, PATTERN, page);
        let mut left = rng.unit();
        let kind = SHARES.iter().position(|share| {
            left -= share;
            left < 0.0
        });
        let rate = rng.log_uniform(RATES);
        match kind {
            Some(0) => Self::Never,
            Some(1) => Self::Poisson { rate },
            // Half of them daily at a full hour, half weekly.
            Some(2) => {
                let days = if rng.chance(0.5) { 1.0 } else { 7.0 };
                Self::Periodic { days, phase: rng.below(24 * days as u64) as f64 * HOUR }
            }
            Some(3) => Self::Bursty {
                quiet: rng.log_uniform(QUIET),
                changes: rng.uniform(BURST_CHANGES),
                burst: rng.uniform(BURST_HOURS) * HOUR,
            },
            // Includes rounding errors of the shares.
            _ => Self::Vanishing {
                at: days * rng.unit(),
                rate,
                gone: rng.pick(&[Gone::Missing, Gone::Removed, Gone::Moved, Gone::Maintenance]),
            },
        }
    }

    /// Long-run changes a day; of a vanishing page while it exists.
    pub fn rate(&self) -> f64 {
        match *self {
            Self::Never => 0.0,
            Self::Poisson { rate } | Self::Vanishing { rate, .. } => rate,
            Self::Periodic { days, .. } => 1.0 / days,
            Self::Bursty { quiet, changes, burst } => changes / (quiet + burst),
        }
    }
}

/// The changes of a page from day 0 to a last day.
#[derive(Clone, Debug, PartialEq)]
pub struct ChangeHistory {
    pattern: Pattern,
    instants: Box<[f64]>,
}

impl ChangeHistory {
    /// The instants depend on `seed`, `page` and the pattern only, so a history with fewer `days` is a prefix of a
    /// longer one. Nothing changes after `days`.
    pub fn new(pattern: Pattern, seed: u64, page: u64, days: f64) -> Self {
        let mut rng = SeededRng::new(seed, INSTANTS, page);
        let mut instants = Vec::new();
        match pattern {
            Pattern::Never => {}
            Pattern::Poisson { rate } => arrivals(&mut rng, rate, days, &mut instants),
            Pattern::Vanishing { at, rate, .. } => {
                arrivals(&mut rng, rate, days, &mut instants);
                instants.retain(|&instant| instant < at);
            }
            Pattern::Periodic { days: period, phase } => {
                let times = (0_u32..).map(|time| phase + f64::from(time) * period);
                instants.extend(times.take_while(|instant| *instant <= days));
            }
            Pattern::Bursty { quiet, changes, burst } => {
                let mut begins = quiet * rng.exponential();
                while begins <= days {
                    let first = instants.len();
                    let count = 1 + rng.poisson(changes - 1.0);
                    instants.extend((0..count).map(|_| begins + burst * rng.unit()));
                    instants[first..].sort_unstable_by(f64::total_cmp);
                    begins += burst + quiet * rng.exponential();
                }
                instants.retain(|instant| *instant <= days);
            }
        }
        Self { pattern, instants: instants.into() }
    }

    /// A history with a random pattern.
    pub fn drawn(seed: u64, page: u64, days: f64) -> Self {
        Self::new(Pattern::drawn(seed, page, days), seed, page, days)
    }

    pub fn pattern(&self) -> &Pattern {
        &self.pattern
    }

    pub fn rate(&self) -> f64 {
        self.pattern.rate()
    }

    pub fn instants(&self) -> &[f64] {
        &self.instants
    }

    /// Number of changes up to `day`, inclusive.
    pub fn version(&self, day: f64) -> u32 {
        self.instants.partition_point(|instant| *instant <= day) as u32
    }

    /// Day of the last change up to `day`.
    pub fn last_change(&self, day: f64) -> Option<f64> {
        (self.version(day) as usize).checked_sub(1).map(|last| self.instants[last])
    }

    /// How a missing page is answered; `None` while it exists.
    pub fn gone(&self, day: f64) -> Option<Gone> {
        match self.pattern {
            Pattern::Vanishing { at, gone, .. } if at <= day => Some(gone),
            _ => None,
        }
    }
}

fn arrivals(rng: &mut SeededRng, rate: f64, days: f64, out: &mut Vec<f64>) {
    if rate > 0.0 {
        let mut at = rng.exponential() / rate;
        while at <= days {
            out.push(at);
            at += rng.exponential() / rate;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn histories(count: u64) -> Vec<ChangeHistory> {
        (0..count).map(|page| ChangeHistory::drawn(1, page, 60.0)).collect()
    }

    #[test]
    fn a_seed_determines_the_history() {
        let history = |seed, page| ChangeHistory::drawn(seed, page, 60.0);
        assert_eq!(history(1, 7), history(1, 7));
        assert!((0..50).any(|page| history(1, page) != history(2, page)));
        assert!((0..50).any(|page| history(1, page) != history(1, page + 1)));
    }

    #[test]
    fn changes_are_as_frequent_as_the_rate() {
        for pattern in [
            Pattern::Poisson { rate: 0.5 },
            Pattern::Periodic { days: 7.0, phase: 2.5 },
            Pattern::Bursty { quiet: 6.0, changes: 5.0, burst: 0.25 },
        ] {
            let changes: usize =
                (0..200).map(|page| ChangeHistory::new(pattern, 3, page, 1_000.0).instants().len()).sum();
            let (found, want) = (changes as f64 / 200_000.0, pattern.rate());
            assert!((found / want - 1.0).abs() < 0.03, "{pattern:?}: {found} for {want}");
        }
    }

    #[test]
    fn gaps_of_a_poisson_process_are_exponential() {
        let history = ChangeHistory::new(Pattern::Poisson { rate: 2.0 }, 1, 1, 10_000.0);
        let gaps: Vec<f64> = history.instants().windows(2).map(|pair| pair[1] - pair[0]).collect();
        // Kolmogorov and Smirnov: the largest distance of 20000 is below 1.63 / sqrt(20000) in 99 of 100 cases.
        let mut sorted = gaps.clone();
        sorted.sort_by(f64::total_cmp);
        let distance = sorted.iter().enumerate().map(|(at, gap)| {
            let want = 1.0 - (-2.0 * gap).exp();
            (at as f64 / sorted.len() as f64 - want).abs()
        });
        assert!(distance.fold(0.0, f64::max) < 1.63 / (gaps.len() as f64).sqrt());
    }

    #[test]
    fn bursts_are_short_and_far_apart() {
        let history = ChangeHistory::new(Pattern::Bursty { quiet: 20.0, changes: 8.0, burst: 0.2 }, 1, 2, 2_000.0);
        let gaps: Vec<f64> = history.instants().windows(2).map(|pair| pair[1] - pair[0]).collect();
        let short = gaps.iter().filter(|gap| **gap < 0.2).count();
        assert!(short * 10 > gaps.len() * 8, "{short} of {} gaps lie within a burst", gaps.len());
        assert!(gaps.iter().any(|gap| *gap > 20.0));
    }

    #[test]
    fn periodic_changes_happen_at_their_phase() {
        let history = ChangeHistory::new(Pattern::Periodic { days: 1.0, phase: 0.375 }, 1, 1, 60.0);
        assert_eq!(history.instants().len(), 60);
        assert_eq!(
            (history.version(0.374), history.version(0.375), history.version(1.3), history.version(1.4)),
            (0, 1, 1, 2)
        );
        assert_eq!(history.last_change(2.0), Some(1.375));
        assert_eq!(history.last_change(0.2), None);
    }

    #[test]
    fn a_missing_page_stays_missing_and_does_not_change() {
        let pattern = Pattern::Vanishing { at: 12.5, rate: 3.0, gone: Gone::Removed };
        let history = ChangeHistory::new(pattern, 1, 1, 60.0);
        assert!(history.gone(12.4).is_none() && history.gone(12.5).is_some() && history.gone(1e9).is_some());
        assert_eq!((history.gone(12.0), history.gone(13.0)), (None, Some(Gone::Removed)));
        assert_eq!(history.version(12.4), history.version(60.0));
        assert!(history.version(60.0) > 10);
    }

    #[test]
    fn shares_and_rates_are_as_asked_for() {
        let histories = histories(20_000);
        let share = |wanted: fn(&Pattern) -> bool| {
            histories.iter().filter(|history| wanted(history.pattern())).count() as f64 / histories.len() as f64
        };
        assert!((share(|pattern| *pattern == Pattern::Never) - SHARES[0]).abs() < 0.01);
        assert!((share(|pattern| matches!(pattern, Pattern::Poisson { .. })) - SHARES[1]).abs() < 0.015);
        assert!((share(|pattern| matches!(pattern, Pattern::Periodic { .. })) - SHARES[2]).abs() < 0.01);
        assert!((share(|pattern| matches!(pattern, Pattern::Bursty { .. })) - SHARES[3]).abs() < 0.01);
        assert!((share(|pattern| matches!(pattern, Pattern::Vanishing { .. })) - SHARES[4]).abs() < 0.01);
        let poisson: Vec<f64> = histories
            .iter()
            .filter(|history| matches!(history.pattern(), Pattern::Poisson { .. }))
            .map(ChangeHistory::rate)
            .collect();
        assert!(poisson.iter().all(|rate| (RATES[0]..=RATES[1]).contains(rate)));
        let middle = (RATES[0] * RATES[1]).sqrt();
        let below = poisson.iter().filter(|rate| **rate < middle).count() as f64 / poisson.len() as f64;
        assert!((below - 0.5).abs() < 0.02, "log-uniform: {below} of the rates lie below the geometric mean");
    }

    proptest! {
        #[test]
        fn versions_count_changes_and_a_shorter_history_is_a_prefix(
            page in 0_u64..5_000, seed in 0_u64..50, days in prop::collection::vec(0.0_f64..60.0, 1..20)
        ) {
            let pattern = Pattern::drawn(seed, page, 60.0);
            let history = ChangeHistory::new(pattern, seed, page, 60.0);
            prop_assert!(history.instants().is_sorted());
            for day in days {
                let counted = history.instants().iter().filter(|instant| **instant <= day).count();
                prop_assert_eq!(history.version(day) as usize, counted);
                prop_assert_eq!(history.last_change(day), history.instants()[..counted].last().copied());
                let shorter = ChangeHistory::new(pattern, seed, page, day);
                prop_assert_eq!(shorter.instants(), &history.instants()[..shorter.instants().len()]);
                prop_assert_eq!(shorter.version(day), history.version(day));
            }
        }
    }
}
