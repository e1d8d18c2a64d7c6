//! The policies, and the one face that all show to the simulation.

use super::crawl_value::CrawlValue;
use super::ledger::Sight;
use super::pages::Pages;
use super::planned::Planned;
use super::strides::{Nutch, Strides};
use crate::experiments::plans::Method;

/// Which page is visited next. All start with the interval that the budget allows for all pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Policy {
    /// All in turn.
    Uniform,
    /// As often as a page changes, by its true rate.
    Proportional,
    /// An interval for each page, as Apache Nutch keeps it; of what is due the most important.
    Nutch,
    /// Listing pages by a plan of 5 visits in 14 days, all others in turn.
    Plan(Method),
    /// Azar et al. 2018, by the true rates.
    Azar,
    /// What `suidao refresh` does, by what it learns from its visits.
    CrawlValue,
}

/// A policy at work.
pub(super) trait Running {
    /// The page to visit now; none if none is worth it.
    fn next(&mut self, now: f64) -> Option<u32>;
    /// What the visit saw.
    fn saw(&mut self, sight: &Sight);
}

impl Policy {
    pub(super) fn start<'a>(self, pages: &'a Pages, budget: f64, learning: f64) -> Box<dyn Running + 'a> {
        match self {
            Self::Uniform => Box::new(Strides::uniform(0..pages.len())),
            Self::Proportional => Box::new(Strides::by(pages.pages.iter().map(|page| page.rate).collect())),
            Self::Azar => Box::new(Strides::azar(pages, budget)),
            Self::Nutch => Box::new(Nutch::new(pages, budget)),
            Self::Plan(method) => Box::new(Planned::new(pages, method, learning)),
            Self::CrawlValue => Box::new(CrawlValue::new(pages)),
        }
    }
}
