//! `[refresh]` of the configuration.

use serde::{Deserialize, Serialize};
use strum::{Display, EnumMessage, IntoStaticStr, VariantArray};

#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    Serialize,
    Deserialize,
    Display,
    EnumMessage,
    IntoStaticStr,
    VariantArray,
)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum RevisitPolicy {
    /// By crawl value: importance, change rate, new links, signals
    #[default]
    CrawlValue,
    /// By an interval that grows while a page is unchanged and shrinks when it changes, as in Nutch
    Adaptive,
    /// Least recently requested page first
    Uniform,
}

/// Times in days.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RefreshSettings {
    pub policy: RevisitPolicy,
    /// Share of the requests for pages that the crawl left in its queue. Promising pages that
    /// visited pages newly link to are fetched in addition.
    pub discovery: f64,
    /// Requests per round, if neither requests nor minutes are given.
    pub requests: u64,
    /// Requests per day of an endless refresh.
    pub per_day: u64,
    /// Maximum visits to one host per round, or per day of an endless refresh.
    pub per_host: Option<u32>,
    /// Prior: half a change in two intervals of this many days.
    pub prior: f64,
    /// A missing page is kept this long, then requested once more before it is retired.
    pub grace: f64,
    /// Minimum time between requests of a page.
    pub shortest: f64,
    /// Use sitemaps named in robots.txt as change signals.
    pub sitemaps: bool,
    /// Use feeds named on pages as change signals.
    pub feeds: bool,
}

impl Default for RefreshSettings {
    fn default() -> Self {
        Self {
            policy: RevisitPolicy::CrawlValue,
            discovery: 0.0,
            requests: 1_000,
            per_day: 5_000,
            per_host: None,
            prior: 7.0,
            grace: 7.0,
            shortest: 1.0 / 24.0,
            sitemaps: true,
            feeds: true,
        }
    }
}

impl RefreshSettings {
    pub fn shortest_ms(&self) -> u64 {
        (self.shortest * 86_400_000.0).ceil() as u64
    }
}
