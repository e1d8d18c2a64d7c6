//! Lives of changing pages: at which instants a page's main text changes, and when it is gone, as a function of a seed and
//! the page's number.
//!
//! Patterns are those that measurements of the web keep telling of: most changes of most pages look like a Poisson
//! process whose rate differs between pages by orders of magnitude (Cho and Garcia-Molina 2000; Fetterly, Manasse,
//! Najork and Wiener 2003, who found that the tail of rates is heavy), some follow the clock, some come in bursts, and
//! pages vanish (Ntoulas, Cho and Olston 2004). The shares and ranges of [`LivesSpec`] are choices, not their numbers.
//!
//! Days are counted from 0, when all pages are there in version 0. A life is drawn whole up to a last day, so that asking for a
//! version is a search in a short list, in any order of asking.

use suidao_page::draw::Draw;

const HOUR: f64 = 1.0 / 24.0;

/// Salts of [`Draw`]: for what a page is, and for when it changes.
const PATTERN: u64 = 0x6368_6101;
const INSTANTS: u64 = 0x6368_6102;

/// What is answered for a page that is gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gone {
    /// 404.
    Missing,
    /// 410.
    Removed,
    /// 301: it is at another place for good.
    Moved,
    /// 302: to a page that says that the site is under maintenance.
    Maintenance,
}

/// How a page changes. Rates are changes a day and at least 0, spans are days and more than 0.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Pattern {
    /// Not at all.
    Never,
    /// At any time, whatever was before.
    Poisson {
        /// Changes a day.
        rate: f64,
    },
    /// By the clock.
    Periodic {
        /// From one change to the next.
        days: f64,
        /// Day of the first change.
        phase: f64,
    },
    /// Quiet for a while (exponential), then several changes within hours.
    Bursty {
        /// Mean days of quiet.
        quiet: f64,
        /// Mean changes in a burst, at least 1.
        changes: f64,
        /// Length of a burst in days.
        burst: f64,
    },
    /// As [`Pattern::Poisson`], until it is gone.
    Vanishing {
        /// First day on which it is not there.
        at: f64,
        /// Changes a day before.
        rate: f64,
        /// What is answered then.
        gone: Gone,
    },
}

impl Pattern {
    /// Changes a day in the long run, of a page that vanishes while it is there.
    pub fn rate(&self) -> f64 {
        match *self {
            Self::Never => 0.0,
            Self::Poisson { rate } | Self::Vanishing { rate, .. } => rate,
            Self::Periodic { days, .. } => 1.0 / days,
            Self::Bursty { quiet, changes, burst } => changes / (quiet + burst),
        }
    }
}

/// When a page changes, from day 0 to a last day.
#[derive(Clone, Debug, PartialEq)]
pub struct Life {
    pattern: Pattern,
    /// Of the changes, in order.
    instants: Box<[f64]>,
}

impl Life {
    /// A page that changes in this way: the instants are a function of `seed`, `page` and the pattern. Nothing changes after
    /// `days`; of two lives that differ in `days` alone the shorter is the beginning of the longer.
    pub fn new(pattern: Pattern, seed: u64, page: u64, days: f64) -> Self {
        let mut draw = Draw::new(seed, INSTANTS, page);
        let mut instants = Vec::new();
        match pattern {
            Pattern::Never => {}
            Pattern::Poisson { rate } => arrivals(&mut draw, rate, days, &mut instants),
            Pattern::Vanishing { at, rate, .. } => {
                arrivals(&mut draw, rate, days, &mut instants);
                instants.retain(|&instant| instant < at);
            }
            Pattern::Periodic { days: period, phase } => {
                let times = (0_u32..).map(|time| phase + f64::from(time) * period);
                instants.extend(times.take_while(|instant| *instant <= days));
            }
            Pattern::Bursty { quiet, changes, burst } => {
                let mut begins = quiet * draw.exponential();
                while begins <= days {
                    let first = instants.len();
                    let count = 1 + draw.poisson(changes - 1.0);
                    instants.extend((0..count).map(|_| begins + burst * draw.unit()));
                    instants[first..].sort_unstable_by(f64::total_cmp);
                    begins += burst + quiet * draw.exponential();
                }
                instants.retain(|instant| *instant <= days);
            }
        }
        Self { pattern, instants: instants.into() }
    }

    /// How it changes.
    pub fn pattern(&self) -> &Pattern {
        &self.pattern
    }

    /// Changes a day, as [`Pattern::rate`].
    pub fn rate(&self) -> f64 {
        self.pattern.rate()
    }

    /// Days of all changes, in order.
    pub fn instants(&self) -> &[f64] {
        &self.instants
    }

    /// Changes so far: a change is there at its instant.
    pub fn version(&self, day: f64) -> u32 {
        self.instants.partition_point(|instant| *instant <= day) as u32
    }

    /// Day of the last change up to `day`.
    pub fn last_change(&self, day: f64) -> Option<f64> {
        (self.version(day) as usize).checked_sub(1).map(|last| self.instants[last])
    }

    /// Whether the page is no longer there.
    pub fn is_gone(&self, day: f64) -> bool {
        matches!(self.pattern, Pattern::Vanishing { at, .. } if at <= day)
    }

    /// What is answered for it, if it is no longer there.
    pub fn gone(&self, day: f64) -> Option<Gone> {
        match self.pattern {
            Pattern::Vanishing { at, gone, .. } if at <= day => Some(gone),
            _ => None,
        }
    }
}

/// Arrivals of a Poisson process up to a day.
fn arrivals(draw: &mut Draw, rate: f64, days: f64, out: &mut Vec<f64>) {
    if rate > 0.0 {
        let mut at = draw.exponential() / rate;
        while at <= days {
            out.push(at);
            at += draw.exponential() / rate;
        }
    }
}

/// Which pages change how. Shares need not add up to 1: they are weighed against each other. Ranges
/// have the lower number first, more than 0.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LivesSpec {
    /// Share of pages that never change.
    pub never: f64,
    /// Share of pages that change at any time.
    pub poisson: f64,
    /// Share of pages that change by the clock: half of them daily at a full hour, half of them weekly.
    pub periodic: f64,
    /// Share of pages that change in bursts.
    pub bursty: f64,
    /// Share of pages that vanish on one of the days.
    pub vanishing: f64,
    /// Lowest and highest rate of a Poisson process, in changes a day; log-uniform between them.
    pub rates: [f64; 2],
    /// Least and most mean days of quiet between bursts; log-uniform.
    pub quiet: [f64; 2],
    /// Least and most mean changes in a burst.
    pub burst_changes: [f64; 2],
    /// Least and most hours of a burst.
    pub burst_hours: [f64; 2],
    /// Last day that is drawn for.
    pub days: f64,
}

impl Default for LivesSpec {
    /// Rates from once a year to four a day, for 60 days.
    fn default() -> Self {
        Self {
            never: 0.2,
            poisson: 0.5,
            periodic: 0.1,
            bursty: 0.1,
            vanishing: 0.1,
            rates: [1.0 / 365.0, 4.0],
            quiet: [3.0, 30.0],
            burst_changes: [3.0, 12.0],
            burst_hours: [2.0, 8.0],
            days: 60.0,
        }
    }
}

impl LivesSpec {
    /// How a page changes.
    pub fn pattern(&self, seed: u64, page: u64) -> Pattern {
        let mut draw = Draw::new(seed, PATTERN, page);
        let shares = [self.never, self.poisson, self.periodic, self.bursty, self.vanishing];
        let mut left = draw.unit() * shares.iter().sum::<f64>();
        // What is left over by rounding falls to the last kind that there is.
        let last = shares.iter().rposition(|share| *share > 0.0).unwrap_or(0);
        let kind = shares.iter().position(|share| {
            left -= share;
            left < 0.0
        });
        let rate = log_uniform(&mut draw, self.rates);
        match kind.unwrap_or(last) {
            0 => Pattern::Never,
            1 => Pattern::Poisson { rate },
            2 => {
                let days = if draw.chance(0.5) { 1.0 } else { 7.0 };
                Pattern::Periodic { days, phase: draw.below(24 * days as u64) as f64 * HOUR }
            }
            3 => Pattern::Bursty {
                quiet: log_uniform(&mut draw, self.quiet),
                changes: uniform(&mut draw, self.burst_changes),
                burst: uniform(&mut draw, self.burst_hours) * HOUR,
            },
            _ => Pattern::Vanishing {
                at: self.days * draw.unit(),
                rate,
                gone: draw.pick(&[Gone::Missing, Gone::Removed, Gone::Moved, Gone::Maintenance]),
            },
        }
    }

    /// The life of a page.
    pub fn life(&self, seed: u64, page: u64) -> Life {
        Life::new(self.pattern(seed, page), seed, page, self.days)
    }
}

fn uniform(draw: &mut Draw, [least, most]: [f64; 2]) -> f64 {
    least + (most - least) * draw.unit()
}

/// A number whose logarithm is as likely anywhere between two.
pub(super) fn log_uniform(draw: &mut Draw, [least, most]: [f64; 2]) -> f64 {
    least * (most / least).powf(draw.unit())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn lives(count: u64) -> Vec<Life> {
        (0..count).map(|page| LivesSpec::default().life(1, page)).collect()
    }

    #[test]
    fn one_seed_gives_one_life() {
        let spec = LivesSpec::default();
        assert_eq!(spec.life(1, 7), spec.life(1, 7));
        assert!((0..50).any(|page| spec.life(1, page) != spec.life(2, page)));
        assert!((0..50).any(|page| spec.life(1, page) != spec.life(1, page + 1)));
    }

    #[test]
    fn changes_are_as_frequent_as_the_rate_says() {
        for pattern in [
            Pattern::Poisson { rate: 0.5 },
            Pattern::Periodic { days: 7.0, phase: 2.5 },
            Pattern::Bursty { quiet: 6.0, changes: 5.0, burst: 0.25 },
        ] {
            let changes: usize = (0..200).map(|page| Life::new(pattern, 3, page, 1_000.0).instants().len()).sum();
            let (found, want) = (changes as f64 / 200_000.0, pattern.rate());
            assert!((found / want - 1.0).abs() < 0.03, "{pattern:?}: {found} for {want}");
        }
    }

    #[test]
    fn gaps_of_a_poisson_process_are_exponential() {
        let life = Life::new(Pattern::Poisson { rate: 2.0 }, 1, 1, 10_000.0);
        let gaps: Vec<f64> = life.instants().windows(2).map(|pair| pair[1] - pair[0]).collect();
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
        let life = Life::new(Pattern::Bursty { quiet: 20.0, changes: 8.0, burst: 0.2 }, 1, 2, 2_000.0);
        let gaps: Vec<f64> = life.instants().windows(2).map(|pair| pair[1] - pair[0]).collect();
        let short = gaps.iter().filter(|gap| **gap < 0.2).count();
        assert!(short * 10 > gaps.len() * 8, "{short} of {} gaps lie within a burst", gaps.len());
        assert!(gaps.iter().any(|gap| *gap > 20.0));
    }

    #[test]
    fn a_clock_strikes_at_its_hour() {
        let life = Life::new(Pattern::Periodic { days: 1.0, phase: 0.375 }, 1, 1, 60.0);
        assert_eq!(life.instants().len(), 60);
        assert_eq!((life.version(0.374), life.version(0.375), life.version(1.3), life.version(1.4)), (0, 1, 1, 2));
        assert_eq!(life.last_change(2.0), Some(1.375));
        assert_eq!(life.last_change(0.2), None);
    }

    #[test]
    fn what_is_gone_stays_gone_and_changes_no_more() {
        let pattern = Pattern::Vanishing { at: 12.5, rate: 3.0, gone: Gone::Removed };
        let life = Life::new(pattern, 1, 1, 60.0);
        assert!(!life.is_gone(12.4) && life.is_gone(12.5) && life.is_gone(1e9));
        assert_eq!((life.gone(12.0), life.gone(13.0)), (None, Some(Gone::Removed)));
        assert_eq!(life.version(12.4), life.version(60.0));
        assert!(life.version(60.0) > 10);
    }

    #[test]
    fn shares_and_rates_are_as_asked_for() {
        let lives = lives(20_000);
        let spec = LivesSpec::default();
        let share = |wanted: fn(&Pattern) -> bool| {
            lives.iter().filter(|life| wanted(life.pattern())).count() as f64 / lives.len() as f64
        };
        assert!((share(|pattern| *pattern == Pattern::Never) - spec.never).abs() < 0.01);
        assert!((share(|pattern| matches!(pattern, Pattern::Poisson { .. })) - spec.poisson).abs() < 0.015);
        assert!((share(|pattern| matches!(pattern, Pattern::Periodic { .. })) - spec.periodic).abs() < 0.01);
        assert!((share(|pattern| matches!(pattern, Pattern::Bursty { .. })) - spec.bursty).abs() < 0.01);
        assert!((share(|pattern| matches!(pattern, Pattern::Vanishing { .. })) - spec.vanishing).abs() < 0.01);
        let poisson: Vec<f64> =
            lives.iter().filter(|life| matches!(life.pattern(), Pattern::Poisson { .. })).map(Life::rate).collect();
        assert!(poisson.iter().all(|rate| (spec.rates[0]..=spec.rates[1]).contains(rate)));
        let middle = (spec.rates[0] * spec.rates[1]).sqrt();
        let below = poisson.iter().filter(|rate| **rate < middle).count() as f64 / poisson.len() as f64;
        assert!((below - 0.5).abs() < 0.02, "log-uniform: {below} of the rates lie below the geometric mean");
    }

    proptest! {
        #[test]
        fn versions_count_the_instants_and_a_longer_life_begins_as_a_shorter(
            page in 0_u64..5_000, seed in 0_u64..50, days in prop::collection::vec(0.0_f64..60.0, 1..20)
        ) {
            let spec = LivesSpec { vanishing: 0.0, ..LivesSpec::default() };
            let life = spec.life(seed, page);
            prop_assert!(life.instants().is_sorted());
            for day in days {
                let counted = life.instants().iter().filter(|instant| **instant <= day).count();
                prop_assert_eq!(life.version(day) as usize, counted);
                prop_assert_eq!(life.last_change(day), life.instants()[..counted].last().copied());
                let shorter = LivesSpec { days: day, ..spec }.life(seed, page);
                prop_assert_eq!(shorter.instants(), &life.instants()[..shorter.instants().len()]);
                prop_assert_eq!(shorter.version(day), life.version(day));
            }
        }
    }
}
