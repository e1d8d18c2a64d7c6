//! The crawl value: the value of a visit to a page, as a function of the days since the last one.
//!
//! A page of importance μ changes as a Poisson process of rate Δ. Visited every t days it is fresh for a share (1 -
//! e^(-Δt)) / (Δt) of the time (Cho and Garcia-Molina 2003, eq. 4). With the visits per day ρ = 1/t as the variable,
//! the value of one more visit per day is the derivative (Azar et al. 2018; Busa-Fekete et al. 2025, the case without
//! signals):
//!
//! ```text
//! freshness   d/dρ μ ρ/Δ (1 - e^(-Δ/ρ))   = μ/Δ (1 - e^(-Δt) (1 + Δt))       at most μ/Δ: a page changes too fast to be kept
//! log         d/dρ μ ln(ρ / (ρ + Δ))      = μ Δt² / (1 + Δt)                   without bound: no page starves (Kolobov et al. 2019)
//! delay       d/dρ -y / (2ρ)              = y t²/2                             y new links a day, known t/2 days late
//! ```
//! All three are importance times days per visit: a page known to be fresh for a day longer, a link known a day
//! earlier. So they can be added and compared, and the best policy visits each page when its value reaches the common
//! price of a visit.
//!
//! A signal (a sitemap's lastmod, a feed) that is false with probability q multiplies the probability that the page is
//! unchanged, e^(-Δt), by q, as if ln(1/q)/Δ more days had passed (Busa-Fekete et al. 2025, effective time). Theirs is
//! e^(-αt) with α the rate of unsignalled changes, for a source whose silence is evidence; here it is not, since most
//! pages have no source.

/// Days of the planning horizon: a page that hardly ever changes and has just changed is worth its importance for so
/// long, and not without limit.
const HORIZON: f64 = 3650.0;

/// More days count as never.
const LONGEST: f64 = 1e9;

/// Minimum value of a page with one, as a share of the log objective's value.
const MINIMUM_SHARE: f64 = 0.1;

/// Upper bound of importance, rate and yield, so that products stay finite.
const MOST: f64 = 1e100;

/// What makes visits to a page valuable.
///
/// Values out of range count as the nearest bound, NaN as 0 (`false_signal_probability`: as 1).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct VisitValue {
    /// Value per day of having the page's current version; at least 0.
    pub importance: f64,
    /// Changes per day, at least 0.
    pub rate: f64,
    /// New links per day, each times the value of its target; 0 for an article.
    pub new_link_value: f64,
    /// Probability that none of the signals since the last visit is true; 1 without signals.
    pub false_signal_probability: f64,
    /// Never below a tenth of the value under the log objective, however fast it changes.
    pub has_minimum: bool,
}

impl VisitValue {
    /// Value of a visit this many days after the last one: at least 0, never decreases with the days.
    ///
    /// # Examples
    /// ```
    /// use suidao_crawl::revisit::VisitValue;
    /// let news = VisitValue { importance: 1.0, rate: 0.5, new_link_value: 0.0, false_signal_probability: 1.0, has_minimum: false };
    /// assert!(news.value(0.0) == 0.0 && news.value(1.0) < news.value(2.0));
    /// let signalled = VisitValue { false_signal_probability: 0.1, ..news };
    /// assert!(signalled.value(1.0) > news.value(1.0));
    /// ```
    pub fn value(&self, days: f64) -> f64 {
        let days = bounded(days, LONGEST);
        let known = if self.has_minimum { self.fresh(days).max(self.minimum_value(days)) } else { self.fresh(days) };
        known + bounded(self.new_link_value, MOST) * days * days / 2.0
    }

    /// μ/Δ (1 - e^(-Δt) (1 + Δt)), with the time that signals add.
    fn fresh(&self, days: f64) -> f64 {
        let rate = self.rate();
        let changes = rate * days + self.signalled();
        if changes == 0.0 {
            0.0
        } else {
            bounded(self.importance, MOST) * (second_change_probability(changes) / rate).min(HORIZON)
        }
    }

    /// A tenth of μ Δt² / (1 + Δt).
    fn minimum_value(&self, days: f64) -> f64 {
        let rate = self.rate();
        MINIMUM_SHARE * bounded(self.importance, MOST) * rate * days * days / (1.0 + rate * days)
    }

    fn rate(&self) -> f64 {
        bounded(self.rate, MOST)
    }

    /// ln(1/q): the expected changes that the signals imply.
    fn signalled(&self) -> f64 {
        if self.false_signal_probability < 1.0 { -self.false_signal_probability.max(0.0).ln() } else { 0.0 }
    }
}

/// `number` limited to 0 and `most`; 0 if it is NaN.
fn bounded(number: f64, most: f64) -> f64 {
    number.max(0.0).min(most)
}

/// 1 - e^(-x) (1 + x), the probability of a second change, to full precision for every x from 0 to infinity.
fn second_change_probability(x: f64) -> f64 {
    if x < 0.03 {
        // Σ (-1)^k (k - 1)/k! x^k: the closed form cancels here.
        let terms = [1.0 / 2.0, -1.0 / 3.0, 1.0 / 8.0, -1.0 / 30.0, 1.0 / 144.0, -1.0 / 840.0, 1.0 / 5760.0];
        x * x * terms.iter().rev().fold(0.0, |sum, term| sum * x + term)
    } else if x > 700.0 {
        1.0
    } else {
        -(-x).exp_m1() - x * (-x).exp()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const PLAIN: VisitValue = VisitValue {
        importance: 1.0,
        rate: 1.0,
        new_link_value: 0.0,
        false_signal_probability: 1.0,
        has_minimum: false,
    };

    /// The derivative of `objective` by visits per day, at one visit every `days`.
    fn derivative(objective: impl Fn(f64) -> f64, days: f64) -> f64 {
        let visits = 1.0 / days;
        let step = visits * 1e-4;
        (objective(visits + step) - objective(visits - step)) / (2.0 * step)
    }

    /// Share of time that an evenly visited page is fresh, by the midpoint rule over an interval.
    fn freshness(rate: f64, visits: f64) -> f64 {
        let steps = 20_000;
        let fresh = |step: i32| (-rate / visits * (f64::from(step) + 0.5) / f64::from(steps)).exp();
        (0..steps).map(fresh).sum::<f64>() / f64::from(steps)
    }

    #[test]
    fn each_part_is_what_one_visit_more_brings_to_its_objective() {
        for rate in [0.01, 0.3, 1.0, 7.0] {
            for days in [0.5, 1.0, 4.0, 20.0] {
                let page = VisitValue { importance: 2.0, rate, ..PLAIN };
                let fresh = derivative(|visits| 2.0 * freshness(rate, visits), days);
                assert!((page.value(days) - fresh).abs() < 1e-5 * fresh.max(0.01), "fresh {rate} {days}");
                let log = derivative(|visits| 2.0 * (visits / (visits + rate)).ln(), days);
                assert!((page.minimum_value(days) - MINIMUM_SHARE * log).abs() < 1e-6 * log, "log {rate} {days}");
                let listing = VisitValue { importance: 0.0, new_link_value: 3.0, ..page };
                let delay = derivative(|visits| -3.0 / (2.0 * visits), days);
                assert!((listing.value(days) - delay).abs() < 1e-6 * delay, "delay {rate} {days}");
            }
        }
    }

    #[test]
    fn a_signal_is_so_much_time_passed() {
        let result = VisitValue { rate: 0.2, false_signal_probability: 0.25, ..PLAIN };
        let waited = VisitValue { false_signal_probability: 1.0, ..result };
        for days in [0.0_f64, 0.1, 3.0, 100.0] {
            // Probability of being unchanged: e^(-rate t) both ways.
            let later = -(0.25 * (-0.2 * days).exp()).ln() / 0.2;
            assert!((result.value(days) - waited.value(later)).abs() < 1e-12);
        }
        assert!(
            VisitValue { false_signal_probability: 0.0, ..result }.value(0.0) == 1.0 / 0.2,
            "sure to have changed: fresh for 1/rate days"
        );
    }

    #[test]
    fn fast_pages_are_given_up_without_a_minimum_value() {
        let fast = VisitValue { rate: 100.0, ..PLAIN };
        assert!(fast.value(LONGEST) <= 0.01);
        let floored = VisitValue { has_minimum: true, ..fast };
        assert!(floored.value(1.0) > 0.02 && floored.value(1.1e4) > 1e3);
        assert!(floored.value(0.01) >= fast.value(0.01));
    }

    #[test]
    fn extremes_are_numbers() {
        let odd = [0.0, -1.0, f64::NAN, f64::INFINITY, 1e-320, 1e-12, 1.0, 1e12, f64::MAX];
        for importance in odd {
            for rate in odd {
                for new_link_value in [0.0, 1e-9, f64::NAN, f64::INFINITY] {
                    for false_signal_probability in [0.0, 1e-300, 0.5, 1.0, 2.0, f64::NAN] {
                        for days in odd {
                            for has_minimum in [false, true] {
                                let page = VisitValue {
                                    importance,
                                    rate,
                                    new_link_value,
                                    false_signal_probability,
                                    has_minimum,
                                };
                                let value = page.value(days);
                                assert!(value >= 0.0, "{page:?} {days}: {value}");
                            }
                        }
                    }
                }
            }
        }
        assert_eq!(VisitValue { importance: 0.0, ..PLAIN }.value(1e6), 0.0);
        assert_eq!(VisitValue { rate: 0.0, ..PLAIN }.value(1e6), 0.0);
        assert_eq!(
            VisitValue { rate: 0.0, false_signal_probability: 0.5, ..PLAIN }.value(0.0),
            HORIZON,
            "it changed after all"
        );
    }

    #[test]
    fn the_probability_of_a_second_change_is_exact_for_small_and_large() {
        let mut last = 0.0;
        for tenth in -2000_i32..40 {
            let x = 10_f64.powf(f64::from(tenth) / 10.0);
            let value = second_change_probability(x);
            assert!(value >= last, "falls at {x}");
            last = value;
        }
        let (series, closed) = (second_change_probability(0.03 - 1e-12), second_change_probability(0.03 + 1e-12));
        assert!((closed / series - 1.0).abs() < 1e-9);
    }

    fn any_visit_value() -> impl Strategy<Value = VisitValue> {
        let power = |from: f64, to: f64| (from..to).prop_map(|power: f64| 10_f64.powf(power));
        let new_link_value = prop_oneof![Just(0.0), power(-4.0, 3.0)];
        let false_signal_probability = prop_oneof![Just(1.0), 0.0..1.0, power(-12.0, 0.0)];
        (power(-6.0, 6.0), power(-9.0, 4.0), new_link_value, false_signal_probability, any::<bool>()).prop_map(
            |(importance, rate, new_link_value, false_signal_probability, has_minimum)| VisitValue {
                importance,
                rate,
                new_link_value,
                false_signal_probability,
                has_minimum,
            },
        )
    }

    proptest! {
        #[test]
        fn the_value_never_falls(page in any_visit_value(), days in 0.0..1e4, more in 1e-6..1e3) {
            let (now, later) = (page.value(days), page.value(days + more));
            // The last bits of a value at its ceiling may differ.
            prop_assert!(later >= now * (1.0 - 1e-14), "{} then {}", now, later);
        }
    }
}
