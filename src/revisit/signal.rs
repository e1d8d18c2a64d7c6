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
    use crate::model::{HostId, UrlId};
    use crate::revisit::{Agenda, Worth};

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
    /// A repeatable draw in (0, 1).
    fn draw(at: u64) -> f64 {
        let mut z = at.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z >> 11) as f64 + 0.5) / (1_u64 << 53) as f64
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
            let (signals, _, same) = std::mem::replace(&mut pages[page.0 as usize], (0, now, true));
            if signals > 0 {
                trust.observe(!same);
            }
            agenda.put(page, HostId(0), worth(page.0, 1.0), now);
        }
        eprintln!("{told} {lies} {heed}: error {}", trust.error());
        f64::from(fresh) / f64::from(2000 * PAGES)
    }

    #[test]
    fn signals_help_and_lies_do_no_harm() {
        for (told, lies) in [(1.0, 0.0), (0.5, 0.05), (0.5, 0.2), (0.0, 0.2), (0.0, 1.0)] {
            eprintln!("{told} {lies}: {} {}", freshness(told, lies, true), freshness(told, lies, false));
        }
    }
}
