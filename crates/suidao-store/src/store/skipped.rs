//! `skipped.csv`: every known URL that will not be fetched, with the last reason: skipped by policy, or failed.
//! Streamed from the log at the end of a crawl, because the list may exceed the memory.

use std::collections::BTreeMap;

use rustc_hash::{FxHashMap, FxHashSet};

use super::Store;
use super::directory::write_own;
use super::error::StoreError;
use suidao_page::model::{Event, Failure, Link, LinkDecision, SkipReason, UrlId};
use suidao_page::visible::Visible;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UrlStatus {
    New,
    Waiting,
    /// Fetched, redirected, or taken under the other scheme.
    Done,
    /// Not queued so far; a later link may change that.
    Dropped(SkipReason),
    Skipped(SkipReason),
    /// Given up; the log has the reason.
    Failed,
}

/// The status of every known URL, computed from the events. Memory: 2 bytes per URL, and about 10 per URL skipped
/// without a number.
#[derive(Debug, Default)]
pub struct UrlStatuses {
    pub of: Vec<UrlStatus>,
    /// Fingerprints of URLs that were skipped before they got a number, including those that got one later.
    pub without_number: FxHashSet<u64>,
}

impl UrlStatuses {
    /// Adds an event; each event once, in order.
    pub fn observe(&mut self, event: &Event) {
        match event {
            Event::Discovered(_) => self.of.push(UrlStatus::New),
            Event::SeedJudged(link) => {
                // A failed seed is queued again if its failure may be temporary.
                if let Some(now @ UrlStatus::Failed) = self.of.get_mut(link.to.0 as usize) {
                    *now = UrlStatus::New;
                }
            }
            Event::Redirected { id, .. } | Event::SchemeRewritten { id, .. } | Event::SitemapRead { id, .. } => {
                self.set(*id, UrlStatus::Done);
            }
            Event::PageFetched(page) => self.set(page.id, UrlStatus::Done),
            Event::UrlExcluded { id, reason } => self.set(*id, UrlStatus::Skipped(*reason)),
            Event::FetchFailed { id, .. } => self.set(*id, UrlStatus::Failed),
            Event::LinkRejected { url, .. } => {
                self.without_number.insert(url.fingerprint());
            }
            _ => {}
        }
        event.links().iter().for_each(|link| self.judge(link));
    }

    pub fn get(&self, id: UrlId) -> Option<UrlStatus> {
        self.of.get(id.0 as usize).copied()
    }

    fn judge(&mut self, link: &Link) {
        let Some(now) = self.of.get_mut(link.to.0 as usize) else { return };
        match (link.decision, *now) {
            (_, UrlStatus::Skipped(_) | UrlStatus::Failed | UrlStatus::Done) => {}
            (LinkDecision::Follow(_), _) => *now = UrlStatus::Waiting,
            (LinkDecision::Drop(_), UrlStatus::Waiting) => {}
            (LinkDecision::Drop(reason), _) => *now = UrlStatus::Dropped(reason),
        }
    }

    fn set(&mut self, id: UrlId, to: UrlStatus) {
        if let Some(now) = self.of.get_mut(id.0 as usize) {
            *now = match (*now, to) {
                // Only a test's log fetches what was not queued.
                (UrlStatus::Dropped(_), UrlStatus::Done) => *now,
                // A fetched page stays fetched, even if a later visit failed.
                (UrlStatus::Done, _) => UrlStatus::Done,
                _ => to,
            };
        }
    }
}

#[derive(Debug, Default)]
pub struct Skipped {
    pub lines: u64,
    pub failures: BTreeMap<String, u64>,
}

/// Why hosts were given up, by name and port.
#[derive(Default)]
struct Causes {
    of: FxHashMap<Box<str>, Failure>,
    /// The last failure of single URLs.
    of_urls: FxHashMap<UrlId, Failure>,
}

impl Causes {
    fn observe(&mut self, event: &Event) {
        match event {
            Event::Robots { origin, failure, .. } => {
                let host = origin.split_once("://").map_or(origin.as_str(), |(_, host)| host);
                match failure {
                    Some(failure) => drop(self.of.insert(host.into(), failure.clone())),
                    None => drop(self.of.remove(host)),
                }
            }
            Event::FetchRetried { id, failure } | Event::FetchFailed { id, failure } => {
                self.of_urls.insert(*id, failure.clone());
            }
            _ => {}
        }
    }

    /// The reason as listed; for an unreachable host with the cause.
    fn named(&self, reason: SkipReason, host: &str) -> String {
        let name = serde_json::to_value(reason).ok();
        let name = name.as_ref().and_then(|name| name.as_str()).unwrap_or_default();
        match self.of.get(host).filter(|_| reason.is_host_failure()) {
            Some(failure) => format!("{name}: {failure}"),
            None => name.to_owned(),
        }
    }
}

/// Writes `skipped.csv` (url, reason) and returns its number of lines: numbered URLs in order of discovery, failed ones
/// when they failed, then those skipped without a number. Reads the log three times: for the final status of each URL,
/// for their text, and for URLs without a number; once more for the cause if known hosts were given up. Memory: 2 bytes
/// per known URL, about 10 per URL skipped without a number, about 50 per failed one. After an error the previous file
/// remains.
pub fn write(store: &Store) -> Result<Skipped, StoreError> {
    let mut standings = UrlStatuses::default();
    let mut causes = Causes::default();
    for record in store.batches() {
        record?.batch.events.iter().for_each(|event| {
            standings.observe(event);
            causes.observe(event);
        });
    }
    let of_urls = std::mem::take(&mut causes.of_urls);
    if standings.of.contains(&UrlStatus::Skipped(SkipReason::HostFailing)) {
        for record in store.batches() {
            for event in record?.batch.events {
                if let Event::Discovered(found) = event
                    && let Some(failure) = of_urls.get(&found.id)
                {
                    causes.of.entry(found.url.authority().into()).or_insert_with(|| failure.clone());
                }
            }
        }
    }
    let without_number = &mut standings.without_number;
    write_own(&store.directory().skipped_csv(), |out| {
        // A media type is text from the server.
        let mut table = csv::WriterBuilder::new().has_headers(false).from_writer(Visible::new(out));
        table.write_record(["url", "reason"])?;
        let mut skipped = Skipped::default();
        let mut failing = FxHashMap::default();
        for record in store.batches() {
            for event in record?.batch.events {
                match event {
                    Event::Discovered(found) => {
                        without_number.remove(&found.url.fingerprint());
                        match standings.of.get(found.id.0 as usize) {
                            Some(UrlStatus::Dropped(reason) | UrlStatus::Skipped(reason)) => {
                                let reason = causes.named(*reason, found.url.authority());
                                table.write_record([found.url.as_str(), &reason])?;
                                skipped.lines += 1;
                            }
                            Some(UrlStatus::Failed) => {
                                failing.insert(found.id, found.url);
                            }
                            _ => {}
                        }
                    }
                    Event::FetchFailed { id, failure } => {
                        if let Some(url) = failing.remove(&id) {
                            table.write_record([url.as_str(), &format!("failed: {failure}")])?;
                            *skipped.failures.entry(failure.kind.name()).or_default() += 1;
                            skipped.lines += 1;
                        }
                    }
                    _ => {}
                }
            }
        }
        for record in store.batches() {
            for event in record?.batch.events {
                if let Event::LinkRejected { url, reason, .. } = event
                    && without_number.remove(&url.fingerprint())
                {
                    table.serialize((url.as_str(), reason))?;
                    skipped.lines += 1;
                }
            }
        }
        table.flush()?;
        Ok(skipped)
    })
}

#[cfg(test)]
mod tests {
    use super::super::fixture::*;
    use super::*;
    use crate::store::{CrawlDirectory, Record};
    use suidao_page::model::{Batch, Failure, FailureKind, Millis};

    #[test]
    fn the_last_word_on_each_url_is_listed_once() {
        let root = tempfile::tempdir().unwrap();
        let mut store = Store::resume(&CrawlDirectory::new(root.path()), &meta(), "test").unwrap();
        let dropping = |n, drops: &[(u32, SkipReason)]| {
            let mut batch = batch(n, 3);
            for event in &mut batch.events {
                if let Event::PageFetched(page) = event {
                    let link = page.links[0];
                    page.links.retain(|link| drops.iter().all(|(to, _)| link.to.0 != *to));
                    page.links.extend(drops.iter().map(|&(to, reason)| Link {
                        to: UrlId(to),
                        decision: LinkDecision::Drop(reason),
                        ..link
                    }));
                }
            }
            batch
        };
        let skipped = |n| Event::LinkRejected { url: url(n), from: None, reason: SkipReason::Extension };
        let batches = [
            // 1 is dropped and stays so; 2 is dropped here, followed by page 1; 3 is followed here, dropped by page 1.
            dropping(0, &[(1, SkipReason::TunnelEnd), (2, SkipReason::TunnelEnd)]),
            dropping(1, &[(3, SkipReason::NoFollow)]),
            Batch {
                at: Millis(1),
                latency: None,
                events: vec![
                    skipped(900),
                    Event::UrlExcluded { id: UrlId(4), reason: SkipReason::Robots },
                    skipped(901),
                    skipped(900),
                    // Skipped on one link, known by another.
                    skipped(2),
                    Event::FetchFailed {
                        id: UrlId(5),
                        failure: Failure { kind: FailureKind::Status(404), retry_after: None },
                    },
                ],
            },
        ];
        let mut batches = batches;
        if let Some(Event::PageFetched(page)) = batches[1].events.last_mut() {
            let link = page.links[0];
            page.links.push(Link { to: UrlId(2), ..link });
        }
        let records: Vec<_> =
            batches.into_iter().map(|batch| Record { batch, archive: None, revisit: false }).collect();
        store.append(&records).unwrap();
        let skipped = write(&store).unwrap();
        assert_eq!((skipped.lines, skipped.failures), (5, BTreeMap::from([("status-404".to_owned(), 1)])));
        let text = std::fs::read_to_string(store.directory().skipped_csv()).unwrap();
        let expected = [
            (1, "tunnel-end"),
            (4, "robots"),
            (5, "failed: the server answered with status 404"),
            (900, "extension"),
            (901, "extension"),
        ];
        let expected: String = expected.iter().map(|(n, reason)| format!("{},{reason}\n", url(*n))).collect();
        assert_eq!(text, format!("url,reason\n{expected}"));
    }
}
