//! The harvest curve: relevant pages among the pages fetched, a line per 100 pages. Computed from the batches, kept in
//! memory and rewritten each time. Pages found by rounds of `suidao refresh` do not count.

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

use super::CrawlDirectory;
use super::directory::write_own;
use super::error::StoreError;
use suidao_page::model::{Batch, Event, TunnelBudget};

const EVERY: u64 = 100;

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct HarvestLine {
    pub pages: u64,
    pub relevant: u64,
    pub harvest_rate: f64,
    /// Mean k of the pages since the last line with bounded k; empty if there are none.
    pub mean_k: Option<f64>,
    /// Hosts whose first page was fetched since the last line.
    pub new_hosts: u32,
}

/// The curve so far. Memory: 4 bytes per known URL, about 30 per known host.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct HarvestCurve {
    lines: Vec<HarvestLine>,
    pages: u64,
    relevant: u64,
    /// By the hashes of their names.
    hosts: FxHashMap<u64, u32>,
    /// Indexed by [`suidao_page::model::UrlId`].
    host_of: Vec<u32>,
    fetched: Vec<bool>,
    since: Since,
    in_round: bool,
}

#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct Since {
    pages: u64,
    bounded: u64,
    k: u64,
    new_hosts: u32,
}

impl HarvestCurve {
    /// Adds a batch; each batch once, in order.
    pub fn observe(&mut self, batch: &Batch) {
        for event in &batch.events {
            match event {
                Event::Discovered(found) => {
                    let next = self.fetched.len() as u32;
                    let host = *self.hosts.entry(xxh3_64(found.url.authority().as_bytes())).or_insert(next);
                    if host == next {
                        self.fetched.push(false);
                    }
                    self.host_of.push(host);
                }
                Event::Refresh(step) => self.in_round = step.is_round_after(self.in_round),
                // Another visit of a page does not count.
                Event::PageFetched(page) if page.changes.is_none() && !self.in_round => {
                    self.pages += 1;
                    self.relevant += u64::from(page.is_relevant_document());
                    self.since.pages += 1;
                    if let TunnelBudget::Left(k) = page.queued_as.path.k {
                        self.since.bounded += 1;
                        self.since.k += u64::from(k);
                    }
                    let host = self.host_of.get(page.id.0 as usize).map(|&host| host as usize);
                    if let Some(fetched) = host.and_then(|host| self.fetched.get_mut(host)) {
                        self.since.new_hosts += u32::from(!std::mem::replace(fetched, true));
                    }
                    if self.since.pages == EVERY {
                        self.lines.extend(self.line());
                        self.since = Since::default();
                    }
                }
                _ => {}
            }
        }
    }

    pub fn pages(&self) -> u64 {
        self.pages
    }

    pub fn relevant(&self) -> u64 {
        self.relevant
    }

    pub fn hosts(&self) -> usize {
        self.fetched.iter().filter(|&&fetched| fetched).count()
    }

    /// The lines so far; the last one is for the pages since the last hundred, if any.
    pub fn lines(&self) -> impl Iterator<Item = HarvestLine> + '_ {
        self.lines.iter().copied().chain(self.line())
    }

    fn line(&self) -> Option<HarvestLine> {
        let Since { pages, bounded, k, new_hosts } = self.since;
        (pages > 0).then(|| HarvestLine {
            pages: self.pages,
            relevant: self.relevant,
            harvest_rate: self.relevant as f64 / self.pages as f64,
            mean_k: (bounded > 0).then(|| k as f64 / bounded as f64),
            new_hosts,
        })
    }

    /// Writes `harvest.csv`. After an error the previous file remains.
    pub fn write(&self, dir: &CrawlDirectory) -> Result<(), StoreError> {
        write_own(&dir.harvest_csv(), |out| {
            let mut table = csv::WriterBuilder::new().has_headers(false).from_writer(out);
            table.write_record(["pages", "relevant", "harvest_rate", "mean_k", "new_hosts"])?;
            for line in self.lines() {
                table.serialize((
                    line.pages,
                    line.relevant,
                    format!("{:.4}", line.harvest_rate),
                    line.mean_k.map(|k| format!("{k:.2}")),
                    line.new_hosts,
                ))?;
            }
            Ok(table.flush()?)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::batch;
    use super::*;
    use suidao_page::model::{Budget, RefreshStep};

    #[test]
    fn a_line_per_hundred_pages_and_one_for_the_rest() {
        let mut harvest = HarvestCurve::default();
        (0..250).for_each(|n| harvest.observe(&batch(n, 3)));
        let lines: Vec<_> = harvest.lines().collect();
        let line = |pages, new_hosts| HarvestLine {
            pages,
            relevant: pages / 2,
            harvest_rate: 0.5,
            mean_k: Some(4.0),
            new_hosts,
        };
        assert_eq!(lines, [line(100, 7), line(200, 0), line(250, 0)]);
        let round = |budget| Event::Refresh(Box::new(RefreshStep { budget: Some(budget), ..RefreshStep::default() }));
        let mut of_round = |budget, n| {
            let mut batch = batch(n, 3);
            batch.events.insert(0, round(budget));
            harvest.observe(&batch);
            harvest.pages()
        };
        assert_eq!(of_round(Budget::PerDay(9), 250), 250, "a page of a round");
        assert_eq!(of_round(Budget::Spent, 251), 251, "and of the crawl that continues");
        let root = tempfile::tempdir().unwrap();
        let dir = CrawlDirectory::new(root.path());
        harvest.write(&dir).unwrap();
        let text = std::fs::read_to_string(dir.harvest_csv()).unwrap();
        assert!(text.starts_with("pages,relevant,harvest_rate,mean_k,new_hosts\n100,50,0.5000,4.00,7\n"), "{text}");
    }
}
