//! Values of a refresh: visits of pages that were fetched before.

use serde::{Deserialize, Serialize};

use super::UrlId;

/// Value of a visit that comes before all others.
pub const AT_ONCE: f32 = f32::MAX;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Budget {
    Round {
        /// Maximum requests, including robots.txt and redirects. `None`: no limit.
        requests: Option<u64>,
        /// Maximum seconds. `None`: no limit.
        seconds: Option<u64>,
    },
    /// Continuous, with this many requests a day.
    PerDay(u64),
    /// The budget is used up.
    #[default]
    Spent,
}

/// What has changed on a revisited page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PageChanges {
    /// The main text differs.
    pub text: bool,
    /// The links of the main content differ.
    pub links: bool,
}

/// A step of a refresh that no page caused.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RefreshStep {
    /// The budget of a new round, or the end of the current one.
    pub budget: Option<Budget>,
    /// Pages to revisit, each with the value of the visit.
    pub due: Vec<(UrlId, f32)>,
    /// Sitemaps and feeds to read before pages are chosen.
    pub sources: Vec<UrlId>,
}

impl RefreshStep {
    /// Whether a round is active after this step, given whether one was before.
    pub fn is_round_after(&self, before: bool) -> bool {
        self.budget.map_or(before, |budget| budget != Budget::Spent)
    }
}
