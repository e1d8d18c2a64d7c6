//! How far a source of signals can be believed: a sitemap's lastmod, a feed. Apart from the page's own changes because it is
//! learnt of a source, from all its pages.

/// How many of a source's signals were true.
///
/// Before any is checked, one true and one false is assumed (a uniform Beta prior).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Trust {
    right: u32,
    all: u32,
}

impl Trust {
    /// A visit to a page with a signal since the visit before, and whether the page had changed.
    pub fn observe(&mut self, changed: bool) {
        self.all = self.all.saturating_add(1);
        self.right += u32::from(changed && self.right < self.all);
    }

    /// Probability that a signal is false, in (0, 1).
    #[must_use]
    pub fn error(&self) -> f64 {
        1.0 - (f64::from(self.right) + 1.0) / (f64::from(self.all) + 2.0)
    }

    /// Probability that none of so many signals is true, each for itself: 1 without any.
    #[must_use]
    pub fn doubt(&self, signals: u32) -> f64 {
        self.error().powi(i32::try_from(signals).unwrap_or(i32::MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_source_is_believed_as_it_proved_true() {
        let mut trust = Trust::default();
        assert_eq!((trust.doubt(0), trust.doubt(1), trust.doubt(2)), (1.0, 0.5, 0.25));
        (0..98).for_each(|visit| trust.observe(visit < 49));
        assert!((trust.error() - 0.5).abs() < 1e-12);
        let (mut liar, mut honest) = (Trust::default(), Trust::default());
        for _ in 0..1000 {
            liar.observe(false);
            honest.observe(true);
        }
        assert!(liar.doubt(1) > 0.99 && liar.doubt(1) < 1.0);
        assert!(honest.doubt(1) > 0.0 && honest.doubt(1) < 0.01 && honest.doubt(u32::MAX) >= 0.0);
    }
}
