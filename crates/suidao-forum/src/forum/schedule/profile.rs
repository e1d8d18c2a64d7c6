//! Daily profile of a board: the share of posts per hour (eq. 7), and its integrals for the schedules.

pub(super) const HOURS: usize = 24;

/// A density over the day, constant within each hour; its integral over the day is 1.
#[derive(Clone, Debug, PartialEq)]
pub struct Profile {
    /// SC of eq. (7).
    slots: [f64; HOURS],
    /// F: integral of the density from 0 to each hour.
    sums: [f64; HOURS + 1],
    /// Integral of F from 0 to each hour.
    areas: [f64; HOURS + 1],
}

impl Profile {
    /// The profile of this activity (at least 0 in each hour); none if all are 0.
    pub fn of(activity: &[f64; HOURS]) -> Option<Self> {
        let sum: f64 = activity.iter().sum();
        if !(sum > 0.0 && sum.is_finite()) {
            return None;
        }
        let slots = activity.map(|of| of / sum);
        let (mut sums, mut areas) = ([0.0; HOURS + 1], [0.0; HOURS + 1]);
        for (hour, slot) in slots.iter().enumerate() {
            sums[hour + 1] = sums[hour] + slot;
            areas[hour + 1] = areas[hour] + sums[hour] + slot / 2.0;
        }
        Some(Self { slots, sums, areas })
    }

    pub fn even() -> Self {
        Self::of(&[1.0; HOURS]).expect("24 hours of something are something")
    }

    /// Shares of the hours; their sum is 1.
    pub fn slots(&self) -> &[f64; HOURS] {
        &self.slots
    }

    /// The density proportional to the square root of this one, and the integral of the root over the day.
    pub fn root(&self) -> (Self, f64) {
        let roots = self.slots.map(f64::sqrt);
        let root = Self::of(&roots).expect("the sum of roots is not below the sum of shares, 1");
        (root, roots.iter().sum())
    }

    /// F(t), and its integral from 0 to t; t from 0 to 48 hours, the second day like the first.
    pub(super) fn integrals(&self, t: f64) -> (f64, f64) {
        if t >= HOURS as f64 {
            let over = t - HOURS as f64;
            let (sum, area) = self.integrals(over.min(HOURS as f64 - 1e-9));
            return (self.sums[HOURS] + sum, self.areas[HOURS] + self.sums[HOURS] * over + area);
        }
        let hour = (t as usize).min(HOURS - 1);
        let (part, slot) = (t - hour as f64, self.slots[hour]);
        let sum = self.sums[hour] + slot * part;
        (sum, self.areas[hour] + self.sums[hour] * part + slot * part * part / 2.0)
    }

    /// Time by which the share `target` of the day's activity has occurred; 0 to 24 hours.
    pub(super) fn quantile(&self, target: f64) -> f64 {
        // The first hour that reaches it, skipping hours without posts, which cannot be divided.
        let reached = |hour: &usize| target <= self.sums[hour + 1] + 1e-12 && self.slots[*hour] > 0.0;
        let hour = (0..HOURS).find(reached).unwrap_or(HOURS - 1);
        let part = if self.slots[hour] > 0.0 { (target - self.sums[hour]) / self.slots[hour] } else { 1.0 };
        hour as f64 + part.clamp(0.0, 1.0)
    }
}
