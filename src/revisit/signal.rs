//! How far a source of signals can be believed: a sitemap's lastmod, a feed. Apart from the page's own changes because it is
//! learnt of a source, from all its pages.
//!
//! A page that changed after a signal does not prove the signal: pages change anyway. A source that names pages at random would
//! be believed for all the pages that change often, and waste visits on them (the test below). So a changed page tells
//! how probable it is that the signals made the difference, given what is believed so far (expectation maximisation, a step
//! a visit); an unchanged one tells that they all lied.

/// How many of a source's signals were lies.
///
/// Before any is checked, one true and one false is assumed (a uniform Beta prior). From 2,000 on older ones count half.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Trust {
    lies: f64,
    all: f64,
}

/// What is remembered, in signals.
const MEMORY: f64 = 2000.0;

impl Trust {
    /// A visit to a page with so many signals since the visit before, and whether the page had changed. `still`: the
    /// probability that it would not have, for all that was known without the signals: e^(-rate days).
    pub fn observe(&mut self, signals: u32, still: f64, changed: bool) {
        let count = f64::from(signals);
        // All lies, and no change of its own.
        let none = self.doubt(signals) * still.clamp(0.0, 1.0);
        let lies = if changed { count * ((self.error() - none) / (1.0 - none)).max(0.0) } else { count };
        self.lies += if signals == 0 || lies.is_nan() { 0.0 } else { lies };
        self.all += count;
        if self.all > MEMORY {
            self.lies /= 2.0;
            self.all /= 2.0;
        }
    }

    /// Probability that a signal is a lie, in (0, 1).
    #[must_use]
    pub fn error(&self) -> f64 {
        (self.lies + 1.0) / (self.all + 2.0)
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
    use crate::model::{HostId, UrlId};
    use crate::revisit::chance::draw;
    use crate::revisit::{Agenda, Worth};

    #[test]
    fn a_source_is_believed_as_it_proved_true() {
        let mut trust = Trust::default();
        assert_eq!((trust.doubt(0), trust.doubt(1), trust.doubt(2)), (1.0, 0.5, 0.25));
        (0..98).for_each(|visit| trust.observe(1, 1.0, visit < 49));
        assert!((trust.error() - 0.5).abs() < 1e-12);
        let (mut liar, mut honest) = (Trust::default(), Trust::default());
        for _ in 0..5000 {
            liar.observe(2, 1.0, false);
            honest.observe(1, 0.5, true);
        }
        assert!(liar.doubt(1) > 0.99 && liar.doubt(1) < 1.0);
        assert!(honest.doubt(1) > 0.0 && honest.doubt(1) < 0.01 && honest.doubt(u32::MAX) >= 0.0);
        for still in [f64::NAN, -1.0, 0.0, 1.0, 2.0] {
            for signals in [0, 1, 7] {
                [true, false].into_iter().for_each(|changed| liar.observe(signals, still, changed));
                assert!(liar.error() > 0.0 && liar.error() < 1.0, "{still} {signals}");
            }
        }
    }

    #[test]
    fn a_page_that_changes_anyway_proves_nothing() {
        // Signals at random on pages that are still the same with this probability.
        for (still, least) in [(0.1, 0.5), (0.5, 0.85), (0.9, 0.95)] {
            let mut trust = Trust::default();
            (0..1500).for_each(|visit| trust.observe(1, still, draw(visit) > still));
            assert!(trust.error() > least, "{still}: {}", trust.error());
        }
    }

    /// Share of pages fresh over 100 days, if `told` of all changes have a signal and there are so many `lies` to a page and
    /// day. `heed` signals, believed as far as learnt.
    fn freshness(told: f64, lies: f64, heed: bool) -> f64 {
        const PAGES: u32 = 200;
        const STEP: f64 = 0.05;
        let rate = |page: u32| 10_f64.powf(2.0 * draw(u64::from(page)) - 1.7);
        let (mut agenda, mut trust) = (Agenda::new(None), Trust::default());
        // Signals since the last visit, day of that, whether the page is still the same.
        let mut pages = vec![(0, 0.0, true); PAGES as usize];
        let worth =
            |page: u32, doubt: f64| Worth { importance: 1.0, rate: rate(page), yields: 0.0, doubt, spared: false };
        (0..PAGES).for_each(|page| agenda.put(UrlId(page), HostId(0), worth(page, 1.0), 0.0));
        let mut fresh = 0;
        for step in 0..2000_u32 {
            let now = f64::from(step) * STEP;
            for page in 0..PAGES {
                let at = 3 * u64::from(step * PAGES + page);
                let changed = draw(at) < -(-rate(page) * STEP).exp_m1();
                let signal = if changed { draw(at + 1) < told } else { draw(at + 2) < lies * STEP };
                let (signals, last, same) = &mut pages[page as usize];
                *same &= !changed;
                *signals += u32::from(signal);
                fresh += u32::from(*same);
                if signal && heed {
                    agenda.put(UrlId(page), HostId(0), worth(page, trust.doubt(*signals)), *last);
                }
            }
            let Some((page, _)) = agenda.take(now) else { continue };
            let (signals, last, same) = std::mem::replace(&mut pages[page.0 as usize], (0, now, true));
            if signals > 0 {
                trust.observe(signals, (-rate(page.0) * (now - last)).exp(), !same);
            }
            agenda.put(page, HostId(0), worth(page.0, 1.0), now);
        }
        f64::from(fresh) / f64::from(2000 * PAGES)
    }

    #[test]
    fn signals_help_and_lies_do_no_harm() {
        let deaf = freshness(0.0, 0.0, false);
        for (told, lies, gain) in
            [(1.0, 0.0, 0.06), (0.5, 0.05, 0.01), (0.5, 0.2, -0.01), (0.0, 0.2, -0.01), (0.0, 1.0, -0.01)]
        {
            let heeding = freshness(told, lies, true);
            assert!(heeding > deaf + gain, "{told} told, {lies} lies a day: {heeding}, without {deaf}");
        }
    }
}
