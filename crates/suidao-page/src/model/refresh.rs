//! The words of coming back to pages.

use serde::{Deserialize, Serialize};

use super::UrlId;

/// What a refresh may cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Budget {
    /// One round.
    Round {
        /// Most requests, robots.txt and redirects among them; none does not bind.
        requests: Option<u64>,
        /// Most seconds; none does not bind.
        seconds: Option<u64>,
    },
    /// For ever, so many requests a day.
    PerDay(u64),
    /// It is over.
    #[default]
    Spent,
}

/// What a visit of a page that was known found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PageChanges {
    /// The main text is another.
    pub text: bool,
    /// The links of the main content are others.
    pub links: bool,
}

/// A step of a refresh that no page brought.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RefreshStep {
    /// A round begins with this budget, or the one before it ends.
    pub budget: Option<Budget>,
    /// Pages fetched before that are queued again, each with what coming back to it is worth.
    pub due: Vec<(UrlId, f32)>,
    /// Sitemaps and feeds that are asked before pages are chosen.
    pub sources: Vec<UrlId>,
}
