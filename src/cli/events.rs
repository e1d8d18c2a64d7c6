//! The events of a crawl as lines of JSON: what `crawl --json` prints and a replay writes. docs/events.schema.json
//! describes them, and tests/cli/events.rs compares both.

use std::io;

use serde::Serialize;
use suidao::model::{Batch, CrawlUrl, Event, UrlId};

#[derive(Serialize)]
struct EventLine<'a> {
    /// Milliseconds since 1970; in a replay, since its start.
    at: u64,
    /// The URL that the event is about. Events have its number only, whose first event may be in an earlier run.
    #[serde(skip_serializing_if = "Option::is_none")]
    url: Option<CrawlUrl>,
    /// Of a fetched page: whether it counts as relevant.
    #[serde(skip_serializing_if = "Option::is_none")]
    relevant: Option<bool>,
    event: &'a Event,
}

/// Passes the events of a batch to `write`, each as a line.
pub fn lines(
    batch: &Batch,
    url: impl Fn(UrlId) -> CrawlUrl,
    mut write: impl FnMut(&str) -> io::Result<()>,
) -> io::Result<()> {
    for event in &batch.events {
        let relevant = match event {
            Event::PageFetched(page) => Some(page.is_relevant_document()),
            _ => None,
        };
        let line = EventLine { at: batch.at.0, url: event.url_id().map(&url), relevant, event };
        write(&serde_json::to_string(&line).expect("events are plain data"))?;
    }
    Ok(())
}
