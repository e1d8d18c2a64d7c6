//! Optimal visit rates if all change rates were known and visits were divisible: an upper bound for every policy in the
//! long run.
//!
//! Page i of importance μ and change rate Δ is visited ρ times a day, Σ ρ = the budget. At the optimum, one more visit
//! a day has the same value λ on every page that has any:
//!
//! ```text
//! freshness  max Σ μ ρ/(ρ + Δ)         ρ = max(0, √(μΔ/λ) - Δ)           visits at random times (Azar et al. 2018)
//! even       max Σ μ ρ/Δ (1 - e^(-Δ/ρ)) ρ = 1/t, t where the crawl value is λ   visits at even distances (Cho, Garcia-Molina 2003)
//! log        max Σ μ ln(ρ/(ρ + Δ))     ρ = (√(Δ² + 4μΔ/λ) - Δ) / 2        no page starves (Kolobov et al. 2019)
//! delay      min Σ μΔ/(2ρ)             ρ = √(μΔ/(2λ))                     changes counted, not pages
//! ```
//! If a host allows a limited number of visits a day, its pages have a price of their own, λ or above, at which they
//! use up that number (Kolobov et al., SIGIR 2019).

use super::VisitValue;
use super::crossing::crossing;

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rated {
    /// Value per day of having this page's current version; at least 0.
    pub importance: f64,
    /// Changes per day, at least 0.
    pub rate: f64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OptimumObjective {
    /// Importance of fresh pages, visited at random times with a given rate.
    Freshness,
    /// The same, visited at even intervals: better with as many visits, but without a closed form.
    Even,
    /// Sum of importance times the logarithm of freshness.
    Log,
    /// Negative sum of changes per day times importance times days until they are seen.
    Delay,
}

impl OptimumObjective {
    /// Objective per day with these visits per day of each page. A page without changes is fresh.
    pub fn total(self, pages: &[Rated], visits: &[f64]) -> f64 {
        let of = |(page, &visits): (&Rated, &f64)| {
            let (importance, rate) = (page.importance, page.rate);
            let moving = importance > 0.0 && rate > 0.0;
            match self {
                Self::Freshness if moving => importance * visits / (visits + rate),
                Self::Even if moving && visits > 0.0 => importance * visits / rate * -(-rate / visits).exp_m1(),
                Self::Even if moving => 0.0,
                Self::Freshness | Self::Even => importance,
                Self::Log if moving => importance * (visits / (visits + rate)).ln(),
                Self::Delay if moving => -importance * rate / (2.0 * visits),
                Self::Log | Self::Delay => 0.0,
            }
        };
        pages.iter().zip(visits).map(of).sum()
    }

    /// Visits per day at which one more is worth `price`; 0 if the price is 0 (no pages) or infinite.
    fn at(self, page: Rated, price: f64) -> f64 {
        if price > 0.0 && price.is_finite() { self.visits(page, price) } else { 0.0 }
    }

    /// As `at`, for positive finite prices.
    fn visits(self, page: Rated, price: f64) -> f64 {
        let Rated { importance, rate } = page;
        if !(importance > 0.0 && rate > 0.0) {
            return 0.0;
        }
        match self {
            Self::Freshness => ((importance * rate / price).sqrt() - rate).max(0.0),
            Self::Even => {
                let visit = VisitValue {
                    importance,
                    rate,
                    new_link_value: 0.0,
                    false_signal_probability: 1.0,
                    has_minimum: false,
                };
                let short = |log: f64| visit.value(log.exp()) - price;
                if short(20.0) < 0.0 { 0.0 } else { (-crossing(-40.0, 20.0, short).1).exp() }
            }
            // (√(Δ² + 4x) - Δ)/2 without the cancellation.
            Self::Log => 2.0 * importance / price / (1.0 + (1.0 + 4.0 * importance / (price * rate)).sqrt()),
            Self::Delay => (importance * rate / (2.0 * price)).sqrt(),
        }
    }

    /// Bounds of the price at which these pages use up the budget: infinite without a budget, 0 if no page needs
    /// visits.
    fn price(self, pages: &[Rated], budget: f64) -> (f64, f64) {
        let moving = || pages.iter().filter(|page| page.importance > 0.0 && page.rate > 0.0);
        let roots: f64 = moving().map(|page| (page.importance * page.rate).sqrt()).sum();
        // No objective gives a page more visits than √(μΔ/λ), so no price is above this one.
        let most = (roots / budget.max(0.0)).powi(2);
        if roots == 0.0 || most.is_infinite() {
            return if roots == 0.0 { (0.0, 0.0) } else { (most, most) };
        }
        let exact = |price| (price, price);
        match self {
            Self::Freshness => exact(freshness_price(moving().copied().collect(), budget)),
            Self::Delay => exact(most / 2.0),
            Self::Even | Self::Log => {
                falling_root(most, |price| moving().map(|&page| self.visits(page, price)).sum::<f64>() - budget)
            }
        }
    }
}

/// Pages in order of μ/Δ get visits as long as that is above the price, which has a closed form for each number of
/// pages.
fn freshness_price(mut pages: Vec<Rated>, budget: f64) -> f64 {
    pages.sort_unstable_by(|a, b| (b.importance / b.rate).total_cmp(&(a.importance / a.rate)));
    let (mut rates, mut roots, mut price) = (0.0, 0.0, 0.0);
    for page in pages {
        if page.importance / page.rate <= price {
            break;
        }
        rates += page.rate;
        roots += (page.importance * page.rate).sqrt();
        price = (roots / (budget + rates)).powi(2);
    }
    price
}

/// Bounds of the price, at most `most`, at which `excess`, which falls with the price, is 0.
fn falling_root(most: f64, excess: impl Fn(f64) -> f64) -> (f64, f64) {
    let high = most.ln();
    let mut step = 1.0;
    while excess((high - step).exp()) < 0.0 && high - step > -700.0 {
        step *= 2.0;
    }
    let (low, high) = crossing(high - step, high, |price| -excess(price.exp()));
    (low.exp(), high.exp())
}

/// Visits per day of each page, in order, for maximum freshness: O(n log n). Importance, rates and budget must be
/// finite and at least 0.
pub fn azar(pages: &[Rated], budget: f64) -> Vec<f64> {
    rates(pages, budget, OptimumObjective::Freshness)
}

/// Visits per day of each page that maximise this objective.
pub fn rates(pages: &[Rated], budget: f64, objective: OptimumObjective) -> Vec<f64> {
    let free = vec![0.0; pages.len()];
    shared(pages, &free, objective.price(pages, budget), budget, objective)
}

/// As [`rates`], with at most `caps[hosts[i]]` visits per day to the host of page i; infinity, or a host without an
/// entry, means no cap.
pub fn capped(pages: &[Rated], hosts: &[u32], caps: &[f64], budget: f64, objective: OptimumObjective) -> Vec<f64> {
    let mut by_host: Vec<Vec<Rated>> = vec![Vec::new(); caps.len()];
    for (&page, &host) in pages.iter().zip(hosts) {
        if let Some(pages) = by_host.get_mut(host as usize) {
            pages.push(page);
        }
    }
    // Price of a host's pages at its cap: below that its visits do not grow.
    let floor = |(pages, &cap): (&Vec<Rated>, &f64)| if cap.is_finite() { objective.price(pages, cap).1 } else { 0.0 };
    let by_host: Vec<f64> = by_host.iter().zip(caps).map(floor).collect();
    let floors: Vec<f64> = hosts.iter().map(|&host| by_host.get(host as usize).copied().unwrap_or(0.0)).collect();
    // Caps only release visits for other hosts.
    let (_, most) = objective.price(pages, budget);
    let least = floors.iter().copied().fold(most, f64::min);
    let spent = |price: f64| {
        let visits = |(&page, &floor): (&Rated, &f64)| objective.at(page, price.max(floor));
        pages.iter().zip(&floors).map(visits).sum::<f64>()
    };
    let price = if most == 0.0 || most.is_infinite() || least > 0.0 && spent(least) <= budget {
        (least, least)
    } else {
        falling_root(most, |price| spent(price) - budget)
    };
    shared(pages, &floors, price, budget, objective)
}

/// Visits at a price given by its bounds, no page's price below its floor. If the last bit of the price matters (an
/// evenly visited page barely worth it: its visits rise from 0 with infinite slope), a mixture that spends the budget.
fn shared(
    pages: &[Rated],
    floors: &[f64],
    (low, high): (f64, f64),
    budget: f64,
    objective: OptimumObjective,
) -> Vec<f64> {
    let at = |price: f64| {
        let visits = |(&page, &floor): (&Rated, &f64)| objective.at(page, price.max(floor));
        pages.iter().zip(floors).map(visits).collect::<Vec<f64>>()
    };
    let mut visits = at(high);
    if low < high {
        let more = at(low);
        let (least, most) = (visits.iter().sum::<f64>(), more.iter().sum::<f64>());
        let share = if most > least { ((budget - least) / (most - least)).clamp(0.0, 1.0) } else { 0.0 };
        visits.iter_mut().zip(more).for_each(|(visits, more)| *visits += share * (more - *visits));
    }
    visits
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const ALL: [OptimumObjective; 4] =
        [OptimumObjective::Freshness, OptimumObjective::Even, OptimumObjective::Log, OptimumObjective::Delay];

    fn some_pages() -> impl Strategy<Value = Vec<Rated>> {
        let page = (-3.0..3.0_f64, -4.0..2.0_f64)
            .prop_map(|(importance, rate)| Rated { importance: 10_f64.powf(importance), rate: 10_f64.powf(rate) });
        proptest::collection::vec(page, 1..40)
    }

    /// Moves `share` of the larger of two pages' visits to the other.
    fn moved(visits: &[f64], from: usize, to: usize, share: f64) -> Vec<f64> {
        let mut visits = visits.to_vec();
        let step = visits[from] * share;
        visits[from] -= step;
        visits[to] += step;
        visits
    }

    #[test]
    fn two_pages_by_hand() {
        // √λ = (1 + 2) / (R + 5) with both active: R = 4, λ = 1/9; visits √(μΔ)/√λ - Δ.
        let pages = [Rated { importance: 1.0, rate: 1.0 }, Rated { importance: 1.0, rate: 4.0 }];
        let visits = azar(&pages, 4.0);
        assert!((visits[0] - 2.0).abs() < 1e-12 && (visits[1] - 2.0).abs() < 1e-12, "{visits:?}");
        // μ/Δ of the second is 1/4; with R = 0.9, λ = (1/1.9)² is above that: it gets none.
        let visits = azar(&pages, 0.9);
        assert!((visits[0] - 0.9).abs() < 1e-12 && visits[1] == 0.0, "{visits:?}");
        assert!(rates(&pages, 0.9, OptimumObjective::Log)[1] > 0.2);
        let delay = rates(&pages, 3.0, OptimumObjective::Delay);
        assert!((delay[0] - 1.0).abs() < 1e-12 && (delay[1] - 2.0).abs() < 1e-12, "{delay:?}");
    }

    #[test]
    fn nothing_to_win_is_nothing_spent() {
        let idle = [Rated { importance: 0.0, rate: 1.0 }, Rated { importance: 1.0, rate: 0.0 }];
        for objective in ALL {
            assert_eq!(rates(&idle, 5.0, objective), [0.0, 0.0]);
            assert!(rates(&[], 5.0, objective).is_empty());
            assert_eq!(rates(&[Rated { importance: 1.0, rate: 1.0 }], 0.0, objective), [0.0]);
            assert_eq!(capped(&idle, &[0, 1], &[0.0, 1.0], 5.0, objective), [0.0, 0.0]);
        }
    }

    /// Relative error of the optimum. Near the largest value that a page can have, the visits that the even policy
    /// gives it change by a thirtieth of its rate from one price to the next floating-point number.
    fn tolerance(objective: OptimumObjective) -> f64 {
        if objective == OptimumObjective::Even { 1e-5 } else { 1e-9 }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn no_shift_of_visits_improves(
            pages in some_pages(),
            budget in 0.1..100.0,
            shifts in proptest::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>(), 0.001..1.0), 100),
        ) {
            for objective in ALL {
                let visits = rates(&pages, budget, objective);
                prop_assert!((visits.iter().sum::<f64>() - budget).abs() < 1e-8 * budget, "{:?}", objective);
                prop_assert!(visits.iter().all(|&visits| visits >= 0.0));
                let best = objective.total(&pages, &visits);
                for (from, to, share) in &shifts {
                    let other = moved(&visits, from.index(pages.len()), to.index(pages.len()), *share);
                    let other = objective.total(&pages, &other);
                    prop_assert!(other <= best + tolerance(objective) * best.abs(), "{:?}: {} above {}", objective, other, best);
                }
            }
        }

        #[test]
        fn it_is_no_worse_than_uniform_and_proportional(pages in some_pages(), budget in 0.1..100.0) {
            let sum: f64 = pages.iter().map(|page| page.rate).sum();
            let uniform = vec![budget / pages.len() as f64; pages.len()];
            let proportional: Vec<f64> = pages.iter().map(|page| budget * page.rate / sum).collect();
            for objective in ALL {
                let best = objective.total(&pages, &rates(&pages, budget, objective));
                for other in [&uniform, &proportional] {
                    let other = objective.total(&pages, other);
                    prop_assert!(other <= best + tolerance(objective) * best.abs(), "{:?}: {} above {}", objective, other, best);
                }
            }
        }

        /// One more visit has the same value on all pages with visits, and at most that on the others.
        #[test]
        fn prices_are_equal(pages in some_pages(), budget in 0.1..100.0) {
            let worth = |page: &Rated, visits: f64| page.importance * page.rate / (visits + page.rate).powi(2);
            let visits = azar(&pages, budget);
            let active = pages.iter().zip(&visits).filter(|(_, visits)| **visits > 1e-9);
            let prices: Vec<f64> = active.map(|(page, &visits)| worth(page, visits)).collect();
            let (least, most) = prices.iter().fold((f64::MAX, 0.0_f64), |(a, b), &price| (a.min(price), b.max(price)));
            prop_assert!(most <= least * (1.0 + 1e-6), "{} to {}", least, most);
            let idle = pages.iter().zip(&visits).filter(|(_, visits)| **visits == 0.0);
            idle.for_each(|(page, _)| assert!(worth(page, 0.0) <= most * (1.0 + 1e-6)));
        }

        #[test]
        fn caps_are_kept_and_bind_where_the_price_is_higher(
            pages in some_pages(),
            budget in 0.1..100.0,
            caps in proptest::collection::vec(prop_oneof![0.0..20.0, Just(f64::INFINITY)], 1..5),
        ) {
            let hosts: Vec<u32> = (0..pages.len()).map(|page| (page % 5) as u32).collect();
            for objective in [OptimumObjective::Freshness, OptimumObjective::Log, OptimumObjective::Delay] {
                let visits = capped(&pages, &hosts, &caps, budget, objective);
                let of_host = |host: u32| hosts.iter().zip(&visits).filter(|(of, _)| **of == host).map(|(_, v)| v).sum::<f64>();
                let total: f64 = visits.iter().sum();
                prop_assert!(total <= budget * (1.0 + 1e-9), "{:?}: {} of {}", objective, total, budget);
                for (host, &cap) in (0..).zip(&caps) {
                    prop_assert!(of_host(host) <= cap * (1.0 + 1e-9), "{:?}: {} of {}", objective, of_host(host), cap);
                }
                // The price of a host below its cap is the common one; given the visits of capped hosts, the rest is
                // the plain optimum.
                let free: Vec<usize> = (0..pages.len())
                    .filter(|&page| {
                        let cap = caps.get(hosts[page] as usize).copied().unwrap_or(f64::INFINITY);
                        of_host(hosts[page]) < cap * (1.0 - 1e-6)
                    })
                    .collect();
                let left: f64 = budget - (0..pages.len()).filter(|page| !free.contains(page)).map(|page| visits[page]).sum::<f64>();
                let others: Vec<Rated> = free.iter().map(|&page| pages[page]).collect();
                for (&page, again) in free.iter().zip(rates(&others, left, objective)) {
                    let difference = (visits[page] - again).abs();
                    prop_assert!(difference <= 1e-5 * budget, "{:?}: {} and {}", objective, visits[page], again);
                }
                // Without binding caps it is the plain optimum.
                let uncapped = capped(&pages, &hosts, &[f64::INFINITY; 5], budget, objective);
                for (uncapped, plain) in uncapped.iter().zip(rates(&pages, budget, objective)) {
                    prop_assert!((uncapped - plain).abs() <= 1e-8 * budget);
                }
            }
        }
    }
}
