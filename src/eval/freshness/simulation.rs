//! The days go by: a request in every slot, to whom the policy says.

use super::ledger::Ledger;
use super::measures::Outcome;
use super::pages::Pages;
use super::policy::{Policy, Request, Running};

/// Follows a policy from day 0, when all pages are held as they are, to the last, at `budget` requests a day, evenly spread.
/// A plan is made after `learning` days. A slot that a policy has no use for passes.
pub fn simulate(pages: &Pages, policy: &Policy, budget: f64, learning: f64) -> Outcome {
    let mut running = Running::new(policy, pages, budget, learning);
    let mut ledger = Ledger::new(pages);
    let slots = (budget * f64::from(pages.days)) as u64;
    for slot in 0..slots {
        let now = (slot as f64 + 0.5) / budget;
        match running.next(now) {
            Some(Request::Page(page)) => running.saw(&ledger.visit(page, now)),
            Some(Request::Sitemap(host)) => {
                ledger.sitemap(now);
                let [first, end] = [pages.hosts[host as usize], pages.hosts[host as usize + 1]];
                running.read(host, first, (first..end).map(|page| pages.dated(page as usize, now)), now);
            }
            None => {}
        }
    }
    ledger.close()
}

#[cfg(test)]
mod tests {
    use super::super::measures::Window;
    use super::super::pages::PagesSpec;
    use super::super::policy::CrawlValue;
    use super::*;
    use crate::revisit::snapshot::Method;

    fn pages(seed: u64) -> Pages {
        Pages::generate(&PagesSpec { seed, pages: 1_000, hosts: 10, ..PagesSpec::default() })
    }

    const VALUE: Policy = Policy::CrawlValue(CrawlValue {
        known: false,
        links: true,
        floor: true,
        sitemaps: false,
        silence: false,
        prior: 10.0,
        per_host: None,
    });

    fn told(pages: &Pages, policy: Policy) -> Window {
        simulate(pages, &policy, 100.0, 28.0).window(28, 60)
    }

    #[test]
    fn crawl_value_beats_what_knows_nothing_and_comes_near_to_what_knows_all() {
        for seed in 1..=3 {
            let pages = pages(seed);
            let value = told(&pages, VALUE);
            for policy in [Policy::Uniform, Policy::Proportional, Policy::ProportionalLearnt, Policy::StormCrawler] {
                let other = told(&pages, policy);
                assert!(value.weighted_freshness > 1.1 * other.weighted_freshness, "{policy:?}: {value:?}, {other:?}");
            }
            let azar = told(&pages, Policy::Azar);
            assert!(value.weighted_freshness > 0.95 * azar.weighted_freshness, "{value:?}, {azar:?}");
            assert!(value.weighted_accuracy > azar.weighted_accuracy + 0.2, "{value:?}, {azar:?}");
        }
    }

    #[test]
    fn no_relevant_page_starves() {
        let pages = pages(1);
        let gaps = |policy: &Policy| simulate(&pages, policy, 100.0, 28.0).gaps(&pages);
        let (value, azar) = (gaps(&VALUE), gaps(&Policy::Azar));
        assert!(value.starved == 0.0 && value.longest < 50.0, "{value:?}");
        assert!(azar.starved > 0.1 && azar.longest == 60.0, "{azar:?}");
        assert!((gaps(&Policy::Uniform).longest - 10.0).abs() < 0.2);
    }

    #[test]
    fn all_spend_the_budget_and_do_the_same_again() {
        let pages = pages(2);
        let sitemaps = CrawlValue { sitemaps: true, silence: true, ..CrawlValue::default() };
        for policy in [
            Policy::Uniform,
            Policy::Nutch,
            Policy::StormCrawler,
            Policy::Plan(Method::Miqp),
            Policy::Plan(Method::Dynamic { freshness: 0.0 }),
            Policy::Log,
            VALUE,
            Policy::CrawlValue(sitemaps),
        ] {
            let outcome = simulate(&pages, &policy, 100.0, 28.0);
            assert!((outcome.window(0, 60).requests - 100.0).abs() < 0.1, "{policy:?}");
            assert_eq!(outcome, simulate(&pages, &policy, 100.0, 28.0), "{policy:?}");
        }
    }

    #[test]
    fn hosts_are_not_asked_beyond_their_limit() {
        let pages = pages(3);
        let limited = CrawlValue { per_host: Some(5.0), ..CrawlValue::default() };
        let outcome = simulate(&pages, &Policy::CrawlValue(limited), 100.0, 28.0);
        // Ten hosts, five requests a day to each.
        assert!(outcome.window(0, 60).requests <= 50.0);
    }

    #[test]
    fn sitemaps_cost_requests_and_their_liars_do_no_harm() {
        let heeding = Policy::CrawlValue(CrawlValue { sitemaps: true, silence: true, ..CrawlValue::default() });
        let mut gain = 0.0;
        for seed in 1..=3 {
            let spec = PagesSpec { seed, pages: 2_000, hosts: 4, sitemaps: 1.0, ..PagesSpec::default() };
            let pages = Pages::generate(&spec);
            let (heard, deaf) = (told(&pages, heeding), told(&pages, VALUE));
            assert!((heard.sitemaps - 4.0).abs() < 0.5 && deaf.sitemaps == 0.0, "{heard:?}");
            gain += (heard.weighted_freshness - deaf.weighted_freshness) / 3.0;
        }
        assert!(gain > -0.01, "{gain}");
    }
}
