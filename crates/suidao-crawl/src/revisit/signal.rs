//! Reliability of a source of change signals, such as a sitemap's lastmod or a feed.
//!
//! A page that changed after a signal does not prove the signal, because pages change anyway. A source that names
//! random pages would be trusted for all pages that change often, and would waste visits (see the test). So unchanged
//! pages are compared with the number expected without signals: if signals are false with probability q, then of pages
//! that would be unchanged with probability e^(-Δt), q e^(-Δt) are.
//!
//! Several signals of a page since its last visit count as one: an unreliable source repeats itself, and the product of
//! many doubts of 0.98 would look like certainty.

/// Reliability of a source of signals.
///
/// Before any evidence, half of the signals count as true. After 1,000 expected pages, older ones count half.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Trust {
    /// Visits after signals that found no change, and how many were expected without signals.
    unchanged: f64,
    expected: f64,
}

/// Evidence remembered, in pages expected to be unchanged.
const MEMORY: f64 = 1000.0;

impl Trust {
    /// Records a visit to a page with signals since the previous visit, and whether it had changed. `still`: the
    /// probability of no change without the signals, e^(-rate days).
    pub fn observe(&mut self, still: f64, changed: bool) {
        self.expected += still.clamp(0.0, 1.0).max(0.0);
        self.unchanged += f64::from(u8::from(!changed));
        if self.expected > MEMORY {
            self.unchanged /= 2.0;
            self.expected /= 2.0;
        }
    }

    /// Probability that none of a page's signals since the last visit is true, in (0, 1]: 1 without any.
    pub fn false_signal_probability(&self, signals: u32) -> f64 {
        if signals == 0 { 1.0 } else { ((self.unchanged + 1.0) / (self.expected + 2.0)).min(1.0) }
    }
}

#[cfg(test)]
mod tests {
    use rustc_hash::FxHashMap;

    use super::*;
    use crate::revisit::{Choice, VisitValue, plan};
    use suidao_page::model::{HostId, UrlId};
    use suidao_page::seeded_rng::SeededRng;

    #[test]
    fn a_source_is_believed_as_it_proved_true() {
        let mut trust = Trust::default();
        assert_eq!(
            (trust.false_signal_probability(0), trust.false_signal_probability(1), trust.false_signal_probability(2)),
            (1.0, 0.5, 0.5)
        );
        (0..98).for_each(|visit| trust.observe(1.0, visit < 49));
        assert!((trust.false_signal_probability(1) - 0.5).abs() < 1e-12);
        let (mut unreliable, mut honest) = (Trust::default(), Trust::default());
        for _ in 0..5000 {
            unreliable.observe(1.0, false);
            honest.observe(0.5, true);
        }
        assert!(unreliable.false_signal_probability(1) > 0.99 && unreliable.false_signal_probability(9) <= 1.0);
        assert!(honest.false_signal_probability(1) > 0.0 && honest.false_signal_probability(1) < 0.01);
        for still in [f64::NAN, -1.0, 0.0, 1.0, 2.0] {
            [true, false].into_iter().for_each(|changed| unreliable.observe(still, changed));
            assert!(
                unreliable.false_signal_probability(1) > 0.0 && unreliable.false_signal_probability(1) <= 1.0,
                "{still}"
            );
        }
    }

    #[test]
    fn a_page_that_changes_anyway_proves_nothing() {
        // Random signals on pages that are unchanged with this probability.
        for still in [0.1, 0.5, 0.9] {
            let mut trust = Trust::default();
            (0..1500).for_each(|visit| trust.observe(still, SeededRng::at(visit).unit() > still));
            assert!(trust.false_signal_probability(1) > 0.9, "{still}: {}", trust.false_signal_probability(1));
        }
    }

    /// Share of pages fresh from day 20 to day 100, if a share `signalled` of all changes has a signal and there are
    /// `false_signals` false signals per page and day. `use_signals`: whether they are used, as far as they are
    /// trusted.
    fn freshness(signalled: f64, false_signals: f64, use_signals: bool) -> f64 {
        const PAGES: u32 = 200;
        const STEP: f64 = 0.05;
        let rate = |page: u32| 10_f64.powf(2.0 * SeededRng::at(u64::from(page)).unit() - 1.7);
        let mut trust = Trust::default();
        let choice = |page, last, false_signal_probability| {
            let visit_value = VisitValue {
                importance: 1.0,
                rate: rate(page),
                new_link_value: 0.0,
                false_signal_probability,
                has_minimum: false,
            };
            Choice { page: UrlId(page), host: HostId(0), visit_value, last }
        };
        let mut choices: Vec<Choice> = (0..PAGES).map(|page| choice(page, 0.0, 1.0)).collect();
        // Signals since the last visit, whether the page is unchanged.
        let mut pages = vec![(0, true); PAGES as usize];
        let mut fresh = 0;
        for step in 0..2000_u32 {
            let now = f64::from(step) * STEP;
            for page in 0..PAGES {
                let at = 3 * u64::from(step * PAGES + page);
                let changed = SeededRng::at(at).unit() < -(-rate(page) * STEP).exp_m1();
                let signal = if changed {
                    SeededRng::at(at + 1).unit() < signalled
                } else {
                    SeededRng::at(at + 2).unit() < false_signals * STEP
                };
                let (signals, same) = &mut pages[page as usize];
                *same &= !changed;
                *signals += u32::from(signal);
                fresh += u32::from(*same && step >= 400);
                if signal && use_signals {
                    choices[page as usize].visit_value.false_signal_probability =
                        trust.false_signal_probability(*signals);
                }
            }
            let chosen = plan(choices.iter().copied(), now, 1, None, &FxHashMap::default());
            let Some(&(UrlId(page), _)) = chosen.first() else { continue };
            let (signals, same) = std::mem::replace(&mut pages[page as usize], (0, true));
            let last = std::mem::replace(&mut choices[page as usize], choice(page, now, 1.0)).last;
            if signals > 0 {
                trust.observe((-rate(page) * (now - last)).exp(), !same);
            }
        }
        f64::from(fresh) / f64::from(1600 * PAGES)
    }

    #[test]
    fn signals_help_and_lies_do_no_harm() {
        let without = freshness(0.0, 0.0, false);
        for (signalled, false_signals, least) in
            [(1.0, 0.0, 1.12), (0.5, 0.05, 1.02), (0.5, 0.2, 0.97), (0.0, 0.2, 0.97), (0.0, 1.0, 0.98)]
        {
            let with_signals = freshness(signalled, false_signals, true);
            assert!(
                with_signals > least * without,
                "{signalled} signalled, {false_signals} false a day: {with_signals}, without {without}"
            );
        }
    }
}
