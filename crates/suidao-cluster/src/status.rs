//! What workers publish about their partitions: for `suidao cluster status`, and to detect the end of the crawl.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use suidao_crawl::crawl::RoundShare;
use suidao_page::model::{Millis, Stop};

use crate::description::SharedCrawl;
use crate::error::ClusterError;
use crate::packed::{compress, decompress};
use crate::round::Shares;
use crate::session::members;

/// Key of the [`End`] of the crawl.
const END: &str = "end";
/// Key of when it began.
const BEGUN: &str = "begun";

/// Counts of a partition.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PartitionStatus {
    pub pages: u64,
    pub relevant: u64,
    pub bytes: u64,
    pub queued: u64,
    pub known: u64,
    pub hosts_visited: u64,
    /// Visits to known pages.
    pub visits: u64,
    pub failed: u64,
    /// Requests in flight, and steps that are not in its log yet.
    pub in_flight: u64,
    /// Steps in its log since its worker took it.
    pub steps: u64,
    /// Links sent to other partitions since then.
    pub sent: u64,
    /// Sums learnt from other partitions since then.
    pub learnt: u64,
    /// Sequence of the last delivery in its log.
    pub links: u64,
    /// Leases of further pages that it has received.
    #[serde(rename = "allowed")]
    pub leases_received: u64,
    /// Whether it has returned the pages that it may still fetch, because its queue is empty or all its hosts wait.
    #[serde(rename = "gave_up")]
    pub returned_pages: bool,
    /// Why it has nothing to fetch now.
    pub idle: Option<Stop>,
    /// Expected value of its best URL that may be requested soon.
    pub best: Option<f32>,
    /// What it has requested in a round of revisits, and could request; none in a crawl.
    pub round: Option<RoundShare>,
}

/// What a worker publishes twice a second.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct WorkerStatus {
    pub session: String,
    /// Number of reports so far.
    pub published: u64,
    /// Pages fetched, and links sent to other partitions, a second: the mean of the last seconds.
    pub pages_per_second: f64,
    pub links_per_second: f64,
    /// Whether it sends heartbeats.
    #[serde(skip_deserializing)]
    pub alive: bool,
    pub partitions: BTreeMap<u32, PartitionStatus>,
}

/// Why a crawl is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum End {
    /// It reached a goal, or nothing is left.
    Done(Stop),
    /// A person stopped it.
    Stopped,
}

/// A crawl as its workers report it.
#[derive(Clone, Debug, Serialize)]
pub struct ClusterStatus {
    pub name: String,
    pub partitions: u32,
    /// Page limit of the whole crawl.
    pub limit: Option<u64>,
    /// By name, also those that have left.
    pub workers: BTreeMap<String, WorkerStatus>,
    /// Messages with links and seeds that are in no log yet.
    pub waiting_links: u64,
    pub end: Option<End>,
}

impl ClusterStatus {
    /// The last report about each partition: of a live worker, as a dead one may have lost its last pages; else the one
    /// with the most pages.
    pub(crate) fn latest(&self) -> BTreeMap<u32, &PartitionStatus> {
        let mut latest: BTreeMap<u32, (bool, &PartitionStatus)> = BTreeMap::new();
        for worker in self.workers.values() {
            for (partition, part) in &worker.partitions {
                let known = latest.entry(*partition).or_insert((worker.alive, part));
                if (worker.alive, part.pages) > (known.0, known.1.pages) {
                    *known = (worker.alive, part);
                }
            }
        }
        latest.into_iter().map(|(partition, (_, part))| (partition, part)).collect()
    }

    /// What the partitions of live workers report about the round. Reports of others may be about an earlier one.
    pub(crate) fn shares(&self) -> Shares<'_> {
        let parts = self.alive().flat_map(|(_, worker)| &worker.partitions);
        parts.filter_map(|(partition, part)| Some((*partition, part.round.as_ref()?))).collect()
    }

    /// Requests finished in the round that the live workers make; none if they crawl.
    pub fn round_requests(&self) -> Option<u64> {
        let shares = self.shares();
        (!shares.is_empty()).then(|| shares.values().map(|share| share.spent).sum())
    }

    pub fn alive(&self) -> impl Iterator<Item = (&String, &WorkerStatus)> {
        self.workers.iter().filter(|(_, worker)| worker.alive)
    }

    /// Sums over all partitions.
    pub fn total(&self) -> PartitionStatus {
        let mut total = PartitionStatus::default();
        for part in self.latest().into_values() {
            total.pages += part.pages;
            total.relevant += part.relevant;
            total.bytes += part.bytes;
            total.queued += part.queued;
            total.known += part.known;
            total.hosts_visited += part.hosts_visited;
            total.visits += part.visits;
            total.failed += part.failed;
            total.in_flight += part.in_flight;
            total.sent += part.sent;
        }
        total
    }

    /// The best URL of the other workers.
    pub(crate) fn best_elsewhere(&self, worker: &str) -> f32 {
        let others =
            self.alive().filter(|(name, _)| *name != worker).flat_map(|(_, status)| status.partitions.values());
        others.filter(|part| part.idle.is_none()).filter_map(|part| part.best).fold(0.0, f32::max)
    }

    /// Partitions that a live worker reports. After a takeover two may report the same one for a moment.
    pub fn owned(&self) -> usize {
        self.alive().flat_map(|(_, worker)| worker.partitions.keys()).collect::<BTreeSet<_>>().len()
    }

    /// Why nothing is left to do: no partition has anything to fetch, and no link waits. Reports may be outdated, so it
    /// is certain only if two consecutive reports of every worker agree.
    pub(crate) fn nothing_left(&self) -> Option<Stop> {
        if self.owned() < self.partitions as usize || self.waiting_links > 0 {
            return None;
        }
        let mut reason = Stop::FrontierEmpty;
        for part in self.alive().flat_map(|(_, worker)| worker.partitions.values()) {
            match part.idle {
                // It waits for its hosts, or for further pages of the limit.
                None | Some(Stop::PageLimit) => return None,
                Some(_) if part.in_flight > 0 => return None,
                Some(Stop::FrontierEmpty) => {}
                Some(other) => reason = other,
            }
        }
        Some(reason)
    }

    /// Whether the same workers report the same steps of the same partitions as in `earlier`.
    pub(crate) fn is_same_as(&self, earlier: &Self) -> bool {
        let steps = |status: &Self| -> Vec<(String, Vec<(u32, u64)>)> {
            let of = |worker: &WorkerStatus| worker.partitions.iter().map(|(p, part)| (*p, part.steps)).collect();
            status.alive().map(|(_, worker)| (worker.session.clone(), of(worker))).collect()
        };
        steps(self) == steps(earlier)
    }

    /// Whether every worker has published at least twice since `earlier`.
    pub(crate) fn is_newer_than(&self, earlier: &Self) -> bool {
        self.alive().all(|(name, now)| {
            earlier.workers.get(name).is_some_and(|before| now.published >= before.published.saturating_add(2))
        })
    }
}

/// Reads the status of a crawl.
pub(crate) async fn status(shared: &SharedCrawl) -> Result<ClusterStatus, ClusterError> {
    let streams = &shared.streams;
    let members = members(streams).await?;
    let mut workers = BTreeMap::new();
    for key in streams.keys("status").await? {
        let (Some(packed), Some((_, worker))) = (streams.read_bytes(&key).await?, key.split_once('.')) else {
            continue;
        };
        let status = decode(&packed).map_err(|error| streams.damaged()(format!("the value of {key}: {error}")))?;
        let alive = members.get(worker) == Some(&status.session);
        workers.insert(worker.to_owned(), WorkerStatus { alive, ..status });
    }
    Ok(ClusterStatus {
        name: streams.name.clone(),
        partitions: shared.description.partitions,
        limit: shared.description.pages,
        workers,
        waiting_links: streams.waiting().await?,
        end: end(shared).await?.0,
    })
}

fn key(worker: &str) -> String {
    format!("status.{worker}")
}

pub(crate) async fn publish(shared: &SharedCrawl, worker: &str, status: &WorkerStatus) -> Result<(), ClusterError> {
    let packed = encode(status).map_err(ClusterError::nats("encode a value"))?;
    shared.streams.put_bytes(&key(worker), packed).await
}

/// A worker may have thousands of partitions, most of them alike.
fn encode(status: &WorkerStatus) -> Result<bytes::Bytes, String> {
    compress(&serde_json::to_vec(status).map_err(|error| error.to_string())?)
}

fn decode(packed: &[u8]) -> Result<WorkerStatus, String> {
    serde_json::from_slice(&decompress(packed)?).map_err(|error| error.to_string())
}

/// How the crawl ended, if it has, and the revision of that.
pub(crate) async fn end(shared: &SharedCrawl) -> Result<(Option<End>, u64), ClusterError> {
    Ok(shared.streams.read::<Option<End>>(END).await?.unwrap_or_default())
}

/// Ends the crawl, unless seeds were added or it was stopped after this revision.
pub(crate) async fn finish(shared: &SharedCrawl, stop: Stop, revision: u64) -> Result<(), ClusterError> {
    shared.streams.write(END, &Some(End::Done(stop)), revision).await.map(drop)
}

/// Ends the crawl for all workers until the next one starts.
pub(crate) async fn stop(shared: &SharedCrawl) -> Result<(), ClusterError> {
    shared.streams.put(END, &Some(End::Stopped)).await
}

/// Lets the crawl continue after its end. Its minutes count from now.
pub(crate) async fn reopen(shared: &SharedCrawl, at: Millis) -> Result<(), ClusterError> {
    shared.streams.put(BEGUN, &at).await?;
    shared.streams.put(END, &None::<End>).await
}

/// Milliseconds since the first worker began, or since the crawl was continued after its end, until the last report of
/// this worker: by the server's clock, as those of the workers may differ.
pub(crate) async fn age(shared: &SharedCrawl, worker: &str, at: Millis) -> Result<u64, ClusterError> {
    let streams = &shared.streams;
    let Some(begun) = streams.written_at(BEGUN).await? else {
        return streams.put(BEGUN, &at).await.map(|()| 0);
    };
    Ok(streams.written_at(&key(worker)).await?.map_or(0, |now| now.since(begun)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_on_all_partitions_fits_into_a_message() {
        let part = |number: u32| PartitionStatus {
            pages: u64::from(number) * 7_919 % 1_000,
            known: u64::from(number) * 104_729 % 100_000,
            idle: number.is_multiple_of(3).then_some(Stop::FrontierEmpty),
            best: (!number.is_multiple_of(3)).then_some((number % 97) as f32 / 97.0),
            ..PartitionStatus::default()
        };
        let partitions: BTreeMap<u32, PartitionStatus> = (0..65_536).map(|number| (number, part(number))).collect();
        let status = WorkerStatus { session: "one.1".to_owned(), partitions, ..WorkerStatus::default() };
        let packed = encode(&status).unwrap();
        assert!(packed.len() < 1 << 20, "{} bytes", packed.len());
        assert_eq!(decode(&packed), Ok(status));
    }
}
