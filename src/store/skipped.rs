//! `skipped.csv`: every URL that was known and not fetched by the crawl's own will, with the last reason. Streamed
//! from the log at the end of a crawl, for the list may be longer than the memory is large.

use rustc_hash::FxHashSet;

use super::directory::write_whole;
use super::{Store, StoreError};
use crate::model::{Event, Link, Refusal, UrlId, Verdict};

/// Where a URL stands, as far as this list goes: 2 bytes for each known URL.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Standing {
    /// Not judged yet.
    New,
    /// Queued or fetched.
    Wanted,
    /// Not queued so far; a later link may do better.
    Dropped(Refusal),
    /// Refused when its turn came.
    Refused(Refusal),
}

/// Writes `skipped.csv` (url, reason) in order of discovery and tells how many lines it has. Reads the log twice: once
/// for how each URL stands in the end, once for its text. Memory: 2 bytes per known URL, and about 10 per URL refused
/// without a number.
///
/// # Errors
/// [`StoreError`] if the log does not read or the file cannot be written; a former file then stands.
pub fn write(store: &Store) -> Result<u64, StoreError> {
    let mut standing = Vec::new();
    for record in store.batches() {
        for event in &record?.batch.events {
            match event {
                Event::Discovered(_) => standing.push(Standing::New),
                Event::Seeded(link) | Event::Redirected { link: Some(link), .. } => judge(&mut standing, link),
                Event::Settled(page) => page.links.iter().for_each(|link| judge(&mut standing, link)),
                Event::Refused { id, reason } => set(&mut standing, *id, Standing::Refused(*reason)),
                _ => {}
            }
        }
    }
    write_whole(&store.directory().skipped_csv(), |out| {
        let mut table = csv::WriterBuilder::new().has_headers(false).from_writer(out);
        table.write_record(["url", "reason"])?;
        let mut lines = 0;
        let mut without_number = FxHashSet::default();
        for record in store.batches() {
            for event in record?.batch.events {
                let (url, reason) = match event {
                    Event::Discovered(found) => match standing.get(found.id.0 as usize) {
                        Some(Standing::Dropped(reason) | Standing::Refused(reason)) => (found.url, *reason),
                        _ => continue,
                    },
                    Event::Skipped { url, reason, .. } if without_number.insert(url.fingerprint()) => (url, reason),
                    _ => continue,
                };
                table.serialize((url.as_str(), reason))?;
                lines += 1;
            }
        }
        table.flush()?;
        Ok(lines)
    })
}

fn judge(standing: &mut [Standing], link: &Link) {
    let Some(now) = standing.get_mut(link.to.0 as usize) else { return };
    match (link.verdict, *now) {
        (_, Standing::Refused(_)) => {}
        (Verdict::Follow(_), _) => *now = Standing::Wanted,
        (Verdict::Drop(_), Standing::Wanted) => {}
        (Verdict::Drop(reason), _) => *now = Standing::Dropped(reason),
    }
}

fn set(standing: &mut [Standing], id: UrlId, to: Standing) {
    if let Some(now) = standing.get_mut(id.0 as usize) {
        *now = to;
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::*;
    use super::*;
    use crate::model::{Batch, Millis};
    use crate::store::{CrawlDirectory, Record};

    #[test]
    fn the_last_word_on_each_url_is_listed_once() {
        let root = tempfile::tempdir().unwrap();
        let mut store = Store::resume(&CrawlDirectory::new(root.path()), &meta()).unwrap();
        let dropping = |n, drops: &[(u32, Refusal)]| {
            let mut batch = batch(n, 3);
            for event in &mut batch.events {
                if let Event::Settled(page) = event {
                    let link = page.links[0];
                    page.links.retain(|link| drops.iter().all(|(to, _)| link.to.0 != *to));
                    page.links.extend(drops.iter().map(|&(to, reason)| Link {
                        to: UrlId(to),
                        verdict: Verdict::Drop(reason),
                        ..link
                    }));
                }
            }
            batch
        };
        let skipped = |n| Event::Skipped { url: url(n), from: None, reason: Refusal::Extension };
        let batches = [
            // 1 is dropped and stays so; 2 is dropped here, followed by page 1; 3 is followed here, dropped by page 1.
            dropping(0, &[(1, Refusal::TunnelEnd), (2, Refusal::TunnelEnd)]),
            dropping(1, &[(3, Refusal::NoFollow)]),
            Batch {
                at: Millis(1),
                events: vec![
                    skipped(900),
                    Event::Refused { id: UrlId(4), reason: Refusal::Robots },
                    skipped(901),
                    skipped(900),
                ],
            },
        ];
        let mut batches = batches;
        if let Some(Event::Settled(page)) = batches[1].events.last_mut() {
            let link = page.links[0];
            page.links.push(Link { to: UrlId(2), ..link });
        }
        let records: Vec<_> = batches.into_iter().map(|batch| Record { batch, archive: None }).collect();
        store.append(&records).unwrap();
        assert_eq!(write(&store).unwrap(), 4);
        let text = std::fs::read_to_string(store.directory().skipped_csv()).unwrap();
        let expected = [(1, "tunnel-end"), (4, "robots"), (900, "extension"), (901, "extension")];
        let expected: String = expected.iter().map(|(n, reason)| format!("{},{reason}\n", url(*n))).collect();
        assert_eq!(text, format!("url,reason\n{expected}"));
    }
}
