//! How often a page changes, from visits that tell only whether it did. Apart because this is all that is remembered of a
//! page's past for it: 32 bytes a page.
//!
//! A visit `τ` days after the one before finds a change of a Poisson process of rate Δ with probability 1 - e^(-Δτ). The
//! most likely rate solves (Cho and Garcia-Molina 2003, section 4.3)
//!
//! ```text
//! Σ over changed intervals of τ / (e^(Δτ) - 1)  =  Σ over unchanged intervals of τ
//! ```
//! The right side is one sum. The left side needs the single intervals: they are counted by the power of two they lie in, and
//! their sum is kept, so that all intervals of one length, and all that are short against 1/Δ, are as exact as a list.
//! Half a change in two intervals of `prior` days is observed before anything is: so no rate is 0 or infinite.

const DAY: f64 = 86_400.0;

/// The first bucket ends at 2^-5 days, three quarters of an hour; the last begins at 2^13, 22 years.
const FIRST: i32 = -6;
const BUCKETS: usize = 20;

/// Changes of a page as visits saw them.
///
/// A bucket holds 255 changes. One more halves all that was seen: what a page did in its last hundreds of visits tells more
/// than what it did before.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Changes {
    /// Sums of the intervals without and with a change, in seconds; integers, so that no order of visits matters.
    unchanged: u32,
    changed: u32,
    /// Intervals without a change.
    quiet: u32,
    /// Intervals with a change, by length.
    counts: [u8; BUCKETS],
}

impl Changes {
    /// A visit so many days after the one before, and whether the page had changed. Less than a second, or no number, counts
    /// as a second; more than 136 years as that.
    pub fn observe(&mut self, days: f64, changed: bool) {
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // saturates; no number is 0
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

    /// Visits after the first that count.
    #[must_use]
    pub fn visits(&self) -> u32 {
        self.quiet.saturating_add(self.changes())
    }

    /// Those of them that saw a change.
    #[must_use]
    pub fn changes(&self) -> u32 {
        self.counts.iter().map(|&count| u32::from(count)).sum()
    }

    /// The most likely number of changes a day, above 0 and finite. `prior`: half a change in two intervals of so many days
    /// was seen before; at least a second.
    #[must_use]
    pub fn rate(&self, prior: f64) -> f64 {
        let prior = prior.max(1.0 / DAY);
        let unchanged = f64::from(self.unchanged) / DAY + 1.5 * prior;
        // Changed intervals: how many, how long.
        let mut intervals = [(0.0, 0.0); BUCKETS + 1];
        let mut sum = 0.0;
        for (bucket, &count) in self.counts.iter().enumerate() {
            let length = middle(bucket);
            intervals[bucket] = (f64::from(count), length);
            sum += f64::from(count) * length;
        }
        // Each bucket's middle is off by as much as its intervals; together they are as long as they were.
        let scale = if sum > 0.0 { f64::from(self.changed) / DAY / sum } else { 1.0 };
        intervals.iter_mut().for_each(|(_, length)| *length *= scale);
        intervals[BUCKETS] = (0.5, prior);
        let held = || intervals.iter().filter(|(count, _)| *count > 0.0);
        // From 1/(e^x - 1) >= 1/x - 1/2 a rate that is too low. The left side is convex: Newton's steps stay below.
        let (count, days) = held().fold((0.0, 0.0), |(n, t), (count, length)| (n + count, t + count * length));
        let mut rate = count / (unchanged + days / 2.0);
        for _ in 0..64 {
            let (mut excess, mut slope) = (-unchanged, 0.0);
            for (count, length) in held() {
                let grown = (rate * length).exp_m1();
                let term = count * length / grown;
                excess += term;
                slope += term * length * (1.0 + 1.0 / grown);
            }
            let step = excess / slope;
            if !(step > 1e-12 * rate) {
                break;
            }
            rate += step;
        }
        rate
    }
}

fn bucket(days: f64) -> usize {
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // clamped
    let power = days.log2().floor().clamp(f64::from(FIRST), f64::from(FIRST) + BUCKETS as f64 - 1.0) as i32;
    usize::try_from(power - FIRST).expect("clamped from below")
}

/// Geometric middle of a bucket, in days.
fn middle(bucket: usize) -> f64 {
    (bucket as f64 + f64::from(FIRST) + 0.5).exp2()
}
