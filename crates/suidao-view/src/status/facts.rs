//! The status of a running crawl as JSON, for programs: `/status.json`, and `suidao crawl --control`. Times are
//! milliseconds since the Unix epoch.

use serde_json::{Value, json};

use suidao_crawl::crawl::HostView;
use suidao_live::live::{RecentPage, RunCounts, StatusSnapshot};
use suidao_page::model::{RelevanceLabel, number};

/// Maximum number of newest pages and failures.
const NEWEST: usize = 20;

/// A page that was fetched.
pub fn page_facts(page: &RecentPage) -> Value {
    number::plain(json!({
        "at": page.at.0,
        "url": page.url.as_str(),
        "title": page.title,
        "relevance": page.relevance,
        "relevant": page.relevance_label == RelevanceLabel::Relevant,
    }))
}

/// The counts of a run, and a snapshot of its machine; without one only what does not need the machine.
pub fn facts(tally: &RunCounts, snapshot: Option<&StatusSnapshot>) -> Value {
    let pages = tally.pages.iter().take(NEWEST).map(page_facts);
    let failures = tally.failures.iter().take(NEWEST).map(|failed| {
        json!({
            "at": failed.at.0,
            "url": failed.url.as_str(),
            "failure": failed.failure.kind.name(),
            "retried": failed.again,
        })
    });
    let mut facts = json!({
        "newest": pages.collect::<Vec<_>>(),
        "failures": failures.collect::<Vec<_>>(),
    });
    if let (Some(fields), Some(snapshot)) = (facts.as_object_mut(), snapshot) {
        let StatusSnapshot { at, overview, waits, harvest, .. } = snapshot;
        let progress = serde_json::to_value(overview.progress).unwrap_or_default();
        fields.extend(progress.as_object().cloned().unwrap_or_default());
        let ready = tally.ready.map_or(0.0, |(ready, _)| at.since(ready) as f64 / 1000.0);
        let now = overview.progress.pages - tally.before.pages;
        let host = |host: &HostView| json!({ "host": host.name, "pages": host.pages, "queued": host.queued });
        let failing = waits
            .failing
            .iter()
            .map(|(host, failure, until)| json!({ "host": host, "failure": failure.kind.name(), "until": until.0 }));
        let more = json!({
            "at": at.0,
            "seconds": ready,
            "pages_per_second": if ready > 0.0 { now as f64 / ready } else { 0.0 },
            "in_flight": overview.in_flight,
            "largest_hosts": overview.largest.iter().map(host).collect::<Vec<_>>(),
            "waits": {
                "answers": waits.in_flight,
                "retries": failing.collect::<Vec<_>>(),
                "polite": waits.waiting.as_ref().map(|(host, until)| json!({ "host": host, "until": until.0 })),
            },
            "curve": harvest.iter().map(|line| [line.pages, line.relevant]).collect::<Vec<_>>(),
        });
        fields.extend(more.as_object().cloned().unwrap_or_default());
    }
    number::plain(facts)
}
