//! `skipped.csv`: every URL that was known and will not be fetched, with the last reason: refused by the crawl's own
//! will, or given up because its fetch failed. Streamed from the log at the end of a crawl, for the list may be longer
//! than the memory is large.

use std::collections::BTreeMap;

use rustc_hash::{FxHashMap, FxHashSet};

use super::directory::write_own;
use super::{Store, StoreError};
use suidao_page::model::{Event, Failure, Link, LinkDecision, SkipReason, UrlId};
use suidao_page::visible::Visible;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    New,
    Waiting,
    /// Fetched, redirected, or taken under the other scheme.
    Done,
    /// Not queued so far; a later link may do better.
    Dropped(SkipReason),
    Refused(SkipReason),
    /// Given up; the log says why where it says that.
    Failed,
}

/// Where every known URL stands: a fold of the events. Memory: 2 bytes for each, and about 10 for each URL refused without
/// a number.
#[derive(Debug, Default)]
pub struct Standings {
    pub of: Vec<Standing>,
    /// Fingerprints of URLs that were refused before they got a number. Those that got one all the same are among them.
    pub without_number: FxHashSet<u64>,
}

impl Standings {
    /// Takes an event in; events come in order, each once.
    pub fn observe(&mut self, event: &Event) {
        match event {
            Event::Discovered(_) => self.of.push(Standing::New),
            Event::SeedJudged(link) => {
                // A seed is taken up again where its failure may be mended.
                if let Some(now @ Standing::Failed) = self.of.get_mut(link.to.0 as usize) {
                    *now = Standing::New;
                }
            }
            Event::Redirected { id, .. } | Event::SchemeRewritten { id, .. } | Event::SitemapRead { id, .. } => {
                self.set(*id, Standing::Done);
            }
            Event::PageFetched(page) => self.set(page.id, Standing::Done),
            Event::UrlExcluded { id, reason } => self.set(*id, Standing::Refused(*reason)),
            Event::FetchFailed { id, .. } => self.set(*id, Standing::Failed),
            Event::LinkRejected { url, .. } => {
                self.without_number.insert(url.fingerprint());
            }
            _ => {}
        }
        event.links().iter().for_each(|link| self.judge(link));
    }

    pub fn get(&self, id: UrlId) -> Option<Standing> {
        self.of.get(id.0 as usize).copied()
    }

    fn judge(&mut self, link: &Link) {
        let Some(now) = self.of.get_mut(link.to.0 as usize) else { return };
        match (link.verdict, *now) {
            (_, Standing::Refused(_) | Standing::Failed | Standing::Done) => {}
            (LinkDecision::Follow(_), _) => *now = Standing::Waiting,
            (LinkDecision::Drop(_), Standing::Waiting) => {}
            (LinkDecision::Drop(reason), _) => *now = Standing::Dropped(reason),
        }
    }

    fn set(&mut self, id: UrlId, to: Standing) {
        if let Some(now) = self.of.get_mut(id.0 as usize) {
            *now = match (*now, to) {
                // Nothing is fetched that was not queued: such a log is a test's.
                (Standing::Dropped(_), Standing::Done) => *now,
                // What was fetched was, even if it could not be had again.
                (Standing::Done, _) => Standing::Done,
                _ => to,
            };
        }
    }
}

#[derive(Debug, Default)]
pub struct Skipped {
    pub lines: u64,
    /// Those of them that failed, by the name of the kind.
    pub failures: BTreeMap<String, u64>,
}

/// Why hosts could not be had that were given up, by name and port.
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

    /// A reason as it is listed: of a host that could not be had with the cause.
    fn named(&self, reason: SkipReason, host: &str) -> String {
        let name = serde_json::to_value(reason).ok();
        let name = name.as_ref().and_then(|name| name.as_str()).unwrap_or_default();
        match self.of.get(host).filter(|_| reason.is_hosts()) {
            Some(failure) => format!("{name}: {failure}"),
            None => name.to_owned(),
        }
    }
}

/// Writes `skipped.csv` (url, reason) and tells how many lines it has: URLs with a number in order of discovery, but the
/// failed ones when they failed, then those refused without a number. Reads the log three times: for how each URL
/// stands in the end, for the text of those, and for the rest, which the first two may have shown to be known after
/// all; once more where hosts were given up that had answered before, for the cause. Memory: 2 bytes per known URL, about 10
/// per URL refused without a number, some 50 for each that failed.
///
/// # Errors
/// [`StoreError`] if the log does not read or the file cannot be written; a former file then stands.
pub fn write(store: &Store) -> Result<Skipped, StoreError> {
    let mut standings = Standings::default();
    let mut causes = Causes::default();
    for record in store.batches() {
        record?.batch.events.iter().for_each(|event| {
            standings.observe(event);
            causes.observe(event);
        });
    }
    let of_urls = std::mem::take(&mut causes.of_urls);
    if standings.of.contains(&Standing::Refused(SkipReason::HostFailing)) {
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
        // A media type is the server's word.
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
                            Some(Standing::Dropped(reason) | Standing::Refused(reason)) => {
                                let reason = causes.named(*reason, found.url.authority());
                                table.write_record([found.url.as_str(), &reason])?;
                                skipped.lines += 1;
                            }
                            Some(Standing::Failed) => {
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
        let mut store = Store::resume(&CrawlDirectory::new(root.path()), &meta()).unwrap();
        let dropping = |n, drops: &[(u32, SkipReason)]| {
            let mut batch = batch(n, 3);
            for event in &mut batch.events {
                if let Event::PageFetched(page) = event {
                    let link = page.links[0];
                    page.links.retain(|link| drops.iter().all(|(to, _)| link.to.0 != *to));
                    page.links.extend(drops.iter().map(|&(to, reason)| Link {
                        to: UrlId(to),
                        verdict: LinkDecision::Drop(reason),
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
                took: None,
                events: vec![
                    skipped(900),
                    Event::UrlExcluded { id: UrlId(4), reason: SkipReason::Robots },
                    skipped(901),
                    skipped(900),
                    // Refused on one link, known by another.
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
