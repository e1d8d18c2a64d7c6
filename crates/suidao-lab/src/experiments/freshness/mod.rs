//! How fresh a store is kept, by which policy, at equal numbers of requests: simulated days on facts of generated pages,
//! without their text. Freshness and age are integrated over the instants at which pages change, so nothing is sampled.
//! `benches/freshness.rs` runs it; docs/freshness.md tells what came of it.

mod crawl_value;
mod ledger;
mod measures;
mod pages;
mod planned;
mod policy;
mod strides;

pub use measures::{Gaps, Outcome, Window};
pub use pages::{Pages, PagesSpec};
pub use policy::Policy;

use ledger::Ledger;

/// Spends `budget` requests a day on the pages, to the end of their days; `learning` days are for plans to learn in.
pub fn simulate(pages: &Pages, policy: Policy, budget: f64, learning: f64) -> Outcome {
    let mut running = policy.start(pages, budget, learning);
    let mut ledger = Ledger::new(pages);
    for slot in 0..(budget * f64::from(pages.days)) as u64 {
        let now = (slot as f64 + 0.5) / budget;
        if let Some(page) = running.next(now) {
            running.saw(&ledger.visit(page, now));
        }
    }
    ledger.close()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiments::plans::Method;

    fn pages(seed: u64) -> Pages {
        Pages::generate(&PagesSpec { seed, pages: 1_000, hosts: 10, ..PagesSpec::default() })
    }

    fn told(pages: &Pages, policy: Policy) -> Window {
        simulate(pages, policy, 100.0, 28.0).window(28, 60)
    }

    #[test]
    fn crawl_value_beats_what_knows_nothing() {
        for seed in 1..=3 {
            let pages = pages(seed);
            let value = told(&pages, Policy::CrawlValue);
            for policy in [Policy::Uniform, Policy::Proportional] {
                let other = told(&pages, policy);
                assert!(value.weighted_freshness > other.weighted_freshness, "{policy:?}: {value:?}, {other:?}");
            }
            let azar = told(&pages, Policy::Azar);
            assert!(azar.weighted_freshness > value.weighted_freshness, "{value:?}, {azar:?}");
            assert!(value.weighted_accuracy > azar.weighted_accuracy + 0.2, "{value:?}, {azar:?}");
        }
    }

    #[test]
    fn no_relevant_page_starves() {
        let pages = pages(1);
        let gaps = |policy: Policy| simulate(&pages, policy, 100.0, 28.0).gaps(&pages);
        let (value, azar) = (gaps(Policy::CrawlValue), gaps(Policy::Azar));
        assert!(value.starved == 0.0 && value.longest < 50.0, "{value:?}");
        assert!(azar.starved > 0.1 && azar.longest == 60.0, "{azar:?}");
        assert!((gaps(Policy::Uniform).longest - 10.0).abs() < 0.2);
    }

    #[test]
    fn all_spend_the_budget_and_do_the_same_again() {
        let pages = pages(2);
        for policy in [
            Policy::Uniform,
            Policy::Nutch,
            Policy::Plan(Method::Miqp),
            Policy::Plan(Method::Dynamic),
            Policy::Azar,
            Policy::CrawlValue,
        ] {
            let outcome = simulate(&pages, policy, 100.0, 28.0);
            assert!((outcome.window(0, 60).requests - 100.0).abs() < 0.1, "{policy:?}");
            assert_eq!(outcome, simulate(&pages, policy, 100.0, 28.0), "{policy:?}");
        }
    }
}
