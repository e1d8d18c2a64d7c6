//! `--dry-run`: prints what a crawl or a refresh would do. Fetches and writes nothing.

use anyhow::Result;
use serde_json::json;
use suidao::live::Job;
use suidao::model::number;
use suidao::plan::{DryRun, RefreshPlan};

use super::outcome::Exit;

/// Prints the first `most` requests; `detailed`: with queue and k of each URL.
pub fn crawl(job: &Job, most: usize, json: bool, detailed: bool) -> Result<Exit> {
    let plan = DryRun::of(job, most)?;
    if !json {
        let text = if detailed { format!("{plan:#}") } else { plan.to_string() };
        outln!("{}", text.trim_end());
        return Ok(Exit::Done);
    }
    for seed in &plan.seeds {
        outln!("{}", serde_json::to_string(seed)?);
    }
    for request in &plan.requests {
        outln!("{}", number::plain(serde_json::to_value(request)?));
    }
    outln!("{}", number::plain(json!({ "summary": plan.summary })));
    Ok(Exit::Done)
}

/// Prints the pages that a round would revisit.
pub fn refresh(job: &Job, json: bool) -> Result<Exit> {
    let plan = RefreshPlan::of(job)?;
    if !json {
        outln!("{}", plan.to_string().trim_end());
        return Ok(Exit::Done);
    }
    for (at, page) in plan.pages.iter().enumerate() {
        let page = number::plain(serde_json::to_value(page)?);
        outln!("{}", json!({ "rank": at + 1, "within_share": at < plan.visits, "page": page }));
    }
    for url in &plan.waiting {
        outln!("{}", number::plain(json!({ "discover": url })));
    }
    Ok(Exit::Done)
}
