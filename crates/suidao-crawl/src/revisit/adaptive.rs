//! The adaptive schedule of Apache Nutch: a page's interval grows while it is unchanged and shrinks when it changes. It
//! ignores budget and importance.

/// Nutch's `AdaptiveFetchSchedule` with the defaults of its `nutch-default.xml`. Times in days.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AdaptiveSchedule {
    /// `inc_rate`: growth of the interval after an unchanged visit.
    pub grow: f64,
    /// `dec_rate`: reduction of the interval after a change.
    pub shrink: f64,
    /// `min_interval`.
    pub least: f64,
    /// `max_interval`.
    pub most: f64,
    /// `sync_delta_rate`, if `sync_delta` is set: the next visit moves towards the time of the last change by this
    /// share of the time since.
    pub sync: Option<f64>,
    /// `db.fetch.interval.default`: the first interval.
    pub first: f64,
}

impl Default for AdaptiveSchedule {
    fn default() -> Self {
        Self { grow: 0.4, shrink: 0.2, least: 60.0 / 86_400.0, most: 365.0, sync: Some(0.3), first: 30.0 }
    }
}

impl AdaptiveSchedule {
    /// The next interval after a visit that followed the previous one by `interval` days (0: first visit), and the days
    /// until the next visit, which differ by the synchronisation. `since_change`: days since the last known change
    /// before this visit; 0 if unknown.
    pub fn next(&self, interval: f64, changed: bool, since_change: f64) -> (f64, f64) {
        let interval = if interval == 0.0 { self.first } else { interval };
        let interval = interval * if changed { 1.0 - self.shrink } else { 1.0 + self.grow };
        // A change found now counts as of now.
        let since = if changed { 0.0 } else { since_change.max(0.0) };
        let (interval, earlier) = match self.sync {
            Some(share) => (interval.max(since), share * since),
            None => (interval, 0.0),
        };
        let interval = interval.clamp(self.least, self.most);
        (interval, (interval - earlier).max(0.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(a: f64, b: f64) -> bool {
        (a - b).abs() < 1e-9
    }

    #[test]
    fn nutch_follows_its_source() {
        let nutch = AdaptiveSchedule::default();
        let (interval, wait) = nutch.next(0.0, true, 99.0);
        assert!(near(interval, 24.0) && near(wait, 24.0), "30 days less a fifth, nothing to synchronise with");
        let (interval, wait) = nutch.next(10.0, false, 4.0);
        assert!(near(interval, 14.0) && near(wait, 14.0 - 1.2));
        let (interval, wait) = nutch.next(10.0, false, 40.0);
        assert!(near(interval, 40.0) && near(wait, 28.0), "the interval is at least the time since the change");
        assert!(near(nutch.next(1e-5, true, 0.0).0, 60.0 / 86_400.0) && near(nutch.next(364.0, false, 0.0).0, 365.0));
        let plain = AdaptiveSchedule { sync: None, ..nutch };
        assert!(near(plain.next(10.0, false, 40.0).1, 14.0));
    }
}
