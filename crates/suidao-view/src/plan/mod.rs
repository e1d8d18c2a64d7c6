//! What a crawl or a refresh would do next: the dry runs.

mod dry_run;
mod refresh;

pub use dry_run::{DryRun, DryRunSummary, PlannedRequest, PlannedSeed};
pub use refresh::{DuePage, QueuedUrl, RefreshPlan, why_none_is_due};

use suidao_html::thousands;
use suidao_live::config::Config;

/// The default limit of requests as a comment; empty if there is none.
pub fn request_limit(config: &Config) -> String {
    let derived = config.limits.most_requests(config.limits.pages).filter(|_| config.limits.requests.is_none());
    derived.map_or_else(String::new, |most| {
        format!("# limits.requests is not set: {}, ten per page of limits.pages, plus 1,000\n", thousands(most))
    })
}
