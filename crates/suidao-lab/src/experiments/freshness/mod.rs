//! Freshness of a store under different visit policies with equal budgets, simulated on generated pages without text.
//! Freshness and age are integrated exactly over the change times. Run by `benches/freshness.rs`; results in
//! docs/measurements.md.

mod crawl_value;
mod ledger;
mod pages;
mod strides;

pub use ledger::{FreshnessOutcome, MeasuredDays};
pub use pages::SimulatedPages;

use ledger::{PageSighting, VisitLedger};

/// Chooses the next page. All start with the interval that the budget allows for all pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VisitPolicy {
    Uniform,
    /// Proportional to a page's true change rate.
    Proportional,
    /// Adaptive interval per page, as in Apache Nutch; of the due pages the most important first.
    Nutch,
    /// Azar et al. 2018, with the true rates.
    Azar,
    /// The policy of `suidao refresh`, with learned rates.
    CrawlValue,
}

trait Running {
    /// The page to visit now; `None` to save the visit.
    fn next(&mut self, now: f64) -> Option<u32>;
    fn record(&mut self, sighting: &PageSighting);
}

/// Spends `budget` requests a day until the last day.
pub fn simulate(pages: &SimulatedPages, policy: VisitPolicy, budget: f64) -> FreshnessOutcome {
    let mut running: Box<dyn Running> = match policy {
        VisitPolicy::Uniform => Box::new(strides::by(pages, |_| 1.0)),
        VisitPolicy::Proportional => Box::new(strides::by(pages, |page| page.rate)),
        VisitPolicy::Azar => Box::new(strides::azar(pages, budget)),
        VisitPolicy::Nutch => Box::new(strides::NutchSchedule::new(pages, budget)),
        VisitPolicy::CrawlValue => Box::new(crawl_value::CrawlValue::new(pages)),
    };
    let mut ledger = VisitLedger::new(pages);
    for slot in 0..(budget * f64::from(pages.days)) as u64 {
        let now = (slot as f64 + 0.5) / budget;
        if let Some(page) = running.next(now) {
            running.record(&ledger.visit(page, now));
        }
    }
    ledger.close()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pages(seed: u64) -> SimulatedPages {
        SimulatedPages::generate(seed, 1_000, 60)
    }

    fn measure(pages: &SimulatedPages, policy: VisitPolicy) -> MeasuredDays {
        simulate(pages, policy, 100.0).window(28, 60)
    }

    #[test]
    fn crawl_value_beats_what_knows_nothing() {
        for seed in 1..=3 {
            let pages = pages(seed);
            let value = measure(&pages, VisitPolicy::CrawlValue);
            for policy in [VisitPolicy::Uniform, VisitPolicy::Proportional] {
                let other = measure(&pages, policy);
                assert!(value.weighted_freshness > other.weighted_freshness, "{policy:?}: {value:?}, {other:?}");
            }
            let azar = measure(&pages, VisitPolicy::Azar);
            assert!(azar.weighted_freshness > value.weighted_freshness, "{value:?}, {azar:?}");
            assert!(value.weighted_accuracy > azar.weighted_accuracy + 0.2, "{value:?}, {azar:?}");
        }
    }

    #[test]
    fn no_relevant_page_starves() {
        let pages = pages(1);
        let outcome = |policy: VisitPolicy| simulate(&pages, policy, 100.0);
        let (value, azar) = (outcome(VisitPolicy::CrawlValue), outcome(VisitPolicy::Azar));
        assert!(value.starved() == 0.0 && value.gap(1.0) < 50.0, "{} {}", value.starved(), value.gap(1.0));
        assert!(azar.starved() > 0.1 && azar.gap(1.0) == 60.0, "{} {}", azar.starved(), azar.gap(1.0));
        assert!((outcome(VisitPolicy::Uniform).gap(1.0) - 10.0).abs() < 0.2);
    }

    #[test]
    fn all_spend_the_budget_and_do_the_same_again() {
        let pages = pages(2);
        for policy in [VisitPolicy::Uniform, VisitPolicy::Nutch, VisitPolicy::Azar, VisitPolicy::CrawlValue] {
            let outcome = simulate(&pages, policy, 100.0);
            assert!((outcome.window(0, 60).requests - 100.0).abs() < 0.1, "{policy:?}");
            assert_eq!(outcome, simulate(&pages, policy, 100.0), "{policy:?}");
        }
    }
}
