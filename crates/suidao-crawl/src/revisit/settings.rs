//! `[refresh]` of the configuration.

use serde::{Deserialize, Serialize};

/// How the next page to come back to is chosen.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    Serialize,
    Deserialize,
    strum::Display,
    strum::EnumMessage,
    strum::IntoStaticStr,
    strum::VariantArray,
)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum RevisitPolicy {
    /// By crawl value: importance, change rate, new links, signals.
    #[default]
    CrawlValue,
    /// By an interval that grows while a page is unchanged and shrinks when it changes, as in Nutch.
    Adaptive,
    /// Least recently requested page first.
    Uniform,
}

/// `[refresh]`. Times in days.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RefreshSettings {
    /// How the next page is chosen.
    pub policy: RevisitPolicy,
    /// Share of the requests that goes to pages never fetched, as long as there are any that wait.
    pub discovery: f64,
    /// Requests of a round, where neither requests nor minutes are given.
    pub requests: u64,
    /// Requests a day, where the refresh goes on for ever.
    pub per_day: u64,
    /// Most visits to one host in a round, or in a day where it goes on for ever.
    pub per_host: Option<u32>,
    /// Before anything is known of a page it is taken to change half a time in two intervals of so many days.
    pub prior: f64,
    /// A page that is missing is kept so long, and then asked for once more before it is given up.
    pub grace: f64,
    /// A page is not asked for again sooner.
    pub shortest: f64,
    /// Sitemaps that robots.txt names are asked which pages have changed.
    pub sitemaps: bool,
    /// Feeds that pages name are asked for the same.
    pub feeds: bool,
}

impl Default for RefreshSettings {
    fn default() -> Self {
        Self {
            policy: RevisitPolicy::CrawlValue,
            discovery: 0.8,
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
    /// Whether a visit of this value may be made: under the adaptive policy not before its interval is over.
    pub fn is_time(&self, value: f64) -> bool {
        self.policy != RevisitPolicy::Adaptive || value >= 1.0
    }

    /// `shortest` in milliseconds.
    pub fn shortest_ms(&self) -> u64 {
        (self.shortest * 86_400_000.0).ceil() as u64
    }
}
