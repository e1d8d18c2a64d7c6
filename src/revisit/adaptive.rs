//! Nutch's adaptive schedule.

/// Its factors.
#[derive(Default)]
pub struct Adaptive;

impl Adaptive {
    /// The first interval.
    #[must_use]
    pub fn begin(&self, days: f64) -> f64 {
        days
    }

    /// The next one.
    #[must_use]
    pub fn next(&self, interval: f64, changed: bool) -> f64 {
        if changed { interval * 0.8 } else { interval * 1.4 }
    }
}
