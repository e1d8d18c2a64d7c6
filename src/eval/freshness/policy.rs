//! The policies: how they are asked for, and the one face that all show to the simulation.

use super::adaptive::{Adaptive, Rule};
use super::crawl_value::Running as CrawlValueRunning;
use super::ledger::Sight;
use super::pages::Pages;
use super::planned::Planned;
use super::strides::Strides;
use crate::revisit::adaptive::{Nutch, StormCrawler};
use crate::revisit::snapshot::Method;

/// Where to go next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Request {
    Page(u32),
    /// Of a host.
    Sitemap(u32),
}

/// Settings of the crawl value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CrawlValue {
    /// Rates are known, not learnt.
    pub known: bool,
    /// New links count.
    pub links: bool,
    /// Relevant pages are spared from starving.
    pub floor: bool,
    /// Sitemaps are read, daily.
    pub sitemaps: bool,
    /// Pages of which a sitemap says nothing are taken for as they were, as far as that has proved true of their host.
    pub silence: bool,
    /// Days of two intervals in which half a change is assumed before any is seen.
    pub prior: f64,
    /// Most visits a day to one host.
    pub per_host: Option<f64>,
}

impl Default for CrawlValue {
    fn default() -> Self {
        Self { known: false, links: true, floor: true, sitemaps: false, silence: false, prior: 10.0, per_host: None }
    }
}

/// A policy.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Policy {
    /// All pages in turn.
    Uniform,
    /// As often as a page changes, by its true rate.
    Proportional,
    /// As often as a page changes, by the rate learnt so far.
    ProportionalLearnt,
    /// Nutch's adaptive schedule: of what is due, the most important.
    Nutch,
    /// StormCrawler's adaptive schedule: of what is due, what is due longest.
    StormCrawler,
    /// Listing pages by a plan, the others in turn with what is left.
    Plan(Method),
    /// Azar 2018, with true rates.
    Azar,
    /// The log objective of Kolobov 2019, with true rates.
    Log,
    /// The most valuable page.
    CrawlValue(CrawlValue),
}

/// A policy at work.
pub(super) enum Running {
    Strides(Strides),
    Adaptive(Adaptive),
    Planned(Planned),
    CrawlValue(Box<CrawlValueRunning>),
}

impl Running {
    /// `budget`: requests a day; `learning`: days before a plan is made.
    pub fn new(policy: &Policy, pages: &Pages, budget: f64, learning: f64) -> Self {
        match policy {
            Policy::Uniform => Self::Strides(Strides::uniform(0..pages.len())),
            Policy::Proportional => Self::Strides(Strides::proportional(pages)),
            Policy::ProportionalLearnt => Self::Strides(Strides::learnt(pages.len(), budget)),
            Policy::Azar => Self::Strides(Strides::azar(pages, budget)),
            Policy::Log => Self::Strides(Strides::log(pages, budget)),
            Policy::Nutch => Self::Adaptive(Adaptive::new(pages, budget, Rule::Nutch(Nutch::default()))),
            Policy::StormCrawler => {
                Self::Adaptive(Adaptive::new(pages, budget, Rule::StormCrawler(StormCrawler::default())))
            }
            Policy::Plan(method) => Self::Planned(Planned::new(pages, *method, learning)),
            Policy::CrawlValue(settings) => Self::CrawlValue(Box::new(CrawlValueRunning::new(pages, *settings))),
        }
    }

    /// The next request; none if there is nothing to ask for.
    pub fn next(&mut self, now: f64) -> Option<Request> {
        match self {
            Self::Strides(policy) => policy.next().map(Request::Page),
            Self::Adaptive(policy) => policy.next(now).map(Request::Page),
            Self::Planned(policy) => policy.next(now).map(Request::Page),
            Self::CrawlValue(policy) => policy.next(now),
        }
    }

    /// What a page taken showed.
    pub fn saw(&mut self, sight: &Sight) {
        match self {
            Self::Strides(policy) => policy.saw(sight),
            Self::Adaptive(policy) => policy.saw(sight),
            Self::Planned(policy) => policy.saw(sight),
            Self::CrawlValue(policy) => policy.saw(sight),
        }
    }

    /// What a sitemap taken says: dates of the host's pages, from its first on.
    pub fn read(&mut self, host: u32, first: u32, dates: impl Iterator<Item = f64>, now: f64) {
        if let Self::CrawlValue(policy) = self {
            policy.read(host, first, dates, now);
        }
    }
}
