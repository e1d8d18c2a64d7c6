//! The days go by: a request in every slot, to whom the policy says.

use super::ledger::Ledger;
use super::measures::Outcome;
use super::pages::Pages;
use super::policy::{Policy, Request, Running};

/// Follows a policy from day 0, when all pages are held as they are, to the last, at `budget` requests a day, evenly spread.
/// A plan is made after `learning` days. A slot that a policy has no use for passes.
#[must_use]
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
                running.read(first, (first..end).map(|page| pages.dated(page as usize, now)));
            }
            None => {}
        }
    }
    ledger.close()
}
