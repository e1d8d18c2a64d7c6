//! What the partitions learn, shared. The owner of each publishes the sums of its strategy that are about no single host.
//! Every few seconds each partition learns the sums over the others. What it learns is an event of its log, so a
//! restored partition scores as before. A worker that was replaced may publish once more; the next owner overwrites it.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::time::Duration;

use bytes::Bytes;
use futures_util::stream::{self, StreamExt};
use serde::{Deserialize, Serialize};
use suidao_page::model::{LearntSum, SumAbout};
use tokio::sync::mpsc::{Receiver, Sender};

use crate::description::SharedCrawl;
use crate::error::ClusterError;
use crate::nats::HEADERS;
use crate::packed::{pack, unpack};
use crate::status;

/// Time between two exchanges.
pub(crate) const SHARE_EVERY: Duration = Duration::from_secs(3);
/// Maximum number of partitions read per exchange, and at a time.
const MAX_READS: usize = 256;
const READS_AT_A_TIME: usize = 16;

/// First part of the keys of sums; the second is the partition.
const KEYS: &str = "learnt";

/// The sums that a partition has published.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Published {
    /// Pages that it had fetched.
    pages: u64,
    sums: Vec<LearntSum>,
}

/// Whether to exchange the sums after `pages` pages, if the last ones were those after `before` pages: a tenth more, as a
/// sum is learnt once it has changed by a tenth.
pub(crate) fn is_due(before: Option<u64>, pages: u64) -> bool {
    before.is_none_or(|before| pages > before + before / 10)
}

/// The sums of all partitions.
#[derive(Debug, Default)]
pub struct SharedLearning {
    published: BTreeMap<u32, Published>,
    /// Sums over all partitions of values and of weights.
    totals: BTreeMap<SumAbout, (f64, f64)>,
}

impl SharedLearning {
    /// Replaces the sums of a partition by those after `pages` pages.
    pub fn set(&mut self, partition: u32, pages: u64, sums: Vec<LearntSum>) {
        let before = self.published.insert(partition, Published { pages, sums }).unwrap_or_default();
        let signed = before.sums.iter().map(|sum| (-1.0, sum));
        for (sign, sum) in signed.chain(self.published[&partition].sums.iter().map(|sum| (1.0, sum))) {
            let total = self.totals.entry(sum.about).or_default();
            *total = (total.0 + sign * f64::from(sum.value), total.1 + sign * f64::from(sum.weight));
        }
    }

    /// The sums over all partitions but one.
    pub fn elsewhere(&self, partition: u32) -> Vec<LearntSum> {
        let own = self.published.get(&partition).into_iter().flat_map(|published| &published.sums);
        let own: HashMap<SumAbout, &LearntSum> = own.map(|sum| (sum.about, sum)).collect();
        let without_own = |(&about, &(value, weight)): (&SumAbout, &(f64, f64))| {
            let (own_value, own_weight) = own.get(&about).map_or((0.0, 0.0), |sum| (sum.value, sum.weight));
            let rest = |total: f64, own: f32| (total - f64::from(own)).max(0.0) as f32;
            LearntSum { about, value: rest(value, own_value), weight: rest(weight, own_weight) }
        };
        self.totals.iter().map(without_own).collect()
    }

    /// Whether a partition has published other sums, now that it has fetched `pages` pages.
    fn is_due(&self, partition: u32, pages: u64) -> bool {
        self.published.get(&partition).is_none_or(|published| is_due(Some(published.pages), pages))
    }
}

/// A worker's own partitions: their pages and sums, if they are to be exchanged.
pub(crate) type OwnSums = BTreeMap<u32, Option<(u64, Vec<LearntSum>)>>;

/// The exchange of a worker's sums for those of the others.
pub(crate) struct Exchange {
    shared: SharedCrawl,
    learning: SharedLearning,
    unpublished: BTreeMap<u32, Published>,
    /// The partition read last: the next exchange begins behind it.
    last_read: u32,
    /// All that was published before this worker joined has been read.
    is_complete: bool,
}

impl Exchange {
    pub fn new(shared: SharedCrawl) -> Self {
        Self {
            shared,
            learning: SharedLearning::default(),
            unpublished: BTreeMap::new(),
            last_read: 0,
            is_complete: false,
        }
    }

    /// Exchanges sums whenever the worker sends its own, until it has ended.
    pub async fn run(mut self, mut own: Receiver<OwnSums>, learnt: Sender<(u32, Vec<LearntSum>)>) {
        while let Some(own) = own.recv().await {
            let partitions: Vec<u32> = own.keys().copied().collect();
            if let Err(error) = self.exchange(own).await {
                tracing::debug!("{error}");
                continue;
            }
            // Sums over some of the others would be lower than those learnt before a restart.
            if !self.is_complete {
                continue;
            }
            for partition in partitions {
                if learnt.send((partition, self.learning.elsewhere(partition))).await.is_err() {
                    return;
                }
            }
        }
    }

    async fn exchange(&mut self, own: OwnSums) -> Result<(), ClusterError> {
        let partitions: BTreeSet<u32> = own.keys().copied().collect();
        self.unpublished.retain(|partition, _| partitions.contains(partition));
        for (partition, sums) in own {
            self.unpublished.extend(sums.map(|(pages, sums)| (partition, Published { pages, sums })));
        }
        let due: Vec<u32> = if self.is_complete {
            let status = status::status(&self.shared).await?;
            let pages = status.latest().into_iter().map(|(partition, part)| (partition, part.pages));
            pages.filter(|(partition, pages)| self.learning.is_due(*partition, *pages)).map(|due| due.0).collect()
        } else {
            let published = self.shared.streams.keys(KEYS).await?;
            let published = published.iter().filter_map(|key| key.strip_prefix(KEYS)?.strip_prefix('.')?.parse().ok());
            published.filter(|partition| !self.learning.published.contains_key(partition)).collect()
        };
        let due: Vec<u32> = due.into_iter().filter(|partition| !partitions.contains(partition)).collect();
        let is_last = due.len() <= MAX_READS;
        self.read(due).await?;
        self.is_complete |= is_last;
        self.publish().await
    }

    /// Reads the sums of these partitions, or of some if they are many.
    async fn read(&mut self, due: Vec<u32>) -> Result<(), ClusterError> {
        let (before, behind): (Vec<u32>, Vec<u32>) =
            due.into_iter().partition(|partition| *partition <= self.last_read);
        let due: Vec<u32> = behind.into_iter().chain(before).take(MAX_READS).collect();
        self.last_read = due.last().copied().unwrap_or(self.last_read);
        let streams = &self.shared.streams;
        let read = stream::iter(due).map(async |partition| (partition, streams.read_bytes(&key(partition)).await));
        let mut read = read.buffer_unordered(READS_AT_A_TIME);
        while let Some((partition, packed)) = read.next().await {
            let published = packed?.map_or_else(|| Ok(Published::default()), |packed| unpack(&packed));
            let Published { pages, sums } = published.unwrap_or_else(|error| {
                tracing::debug!("{}: {error}", key(partition));
                Published::default()
            });
            self.learning.set(partition, pages, sums);
        }
        Ok(())
    }

    async fn publish(&mut self) -> Result<(), ClusterError> {
        while let Some((&partition, published)) = self.unpublished.first_key_value() {
            let limit = self.shared.streams.connection.max_payload();
            let (published, packed) = fit(published.clone(), limit).map_err(ClusterError::nats("encode a value"))?;
            self.shared.streams.put_bytes(&key(partition), packed).await?;
            self.learning.set(partition, published.pages, published.sums);
            self.unpublished.remove(&partition);
        }
        Ok(())
    }
}

/// The message of sums: of all, or of those with the greatest weights that fit into `limit` bytes.
fn fit(mut published: Published, limit: usize) -> Result<(Published, Bytes), String> {
    loop {
        let packed = pack(&published)?;
        if packed.len() + HEADERS <= limit || published.sums.is_empty() {
            return Ok((published, packed));
        }
        published.sums.sort_by(|a, b| b.weight.total_cmp(&a.weight).then(a.about.cmp(&b.about)));
        published.sums.truncate(published.sums.len() / 2);
    }
}

fn key(partition: u32) -> String {
    format!("{KEYS}.{partition}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sum(about: SumAbout, value: f32, weight: f32) -> LearntSum {
        LearntSum { about, value, weight }
    }

    #[test]
    fn a_partition_learns_the_sums_of_the_others() {
        let mut learning = SharedLearning::default();
        let (all, word) = (SumAbout::Documents, SumAbout::Word(u64::MAX));
        learning.set(0, 10, vec![sum(all, 3.0, 10.0), sum(word, 0.1, 1.0)]);
        learning.set(1, 20, vec![sum(all, 1.0, 20.0)]);
        learning.set(2, 5, vec![sum(all, 9.0, 5.0)]);
        learning.set(2, 6, vec![sum(all, 2.0, 6.0), sum(word, 0.7, 2.0)]);
        assert_eq!(learning.elsewhere(0), [sum(all, 3.0, 26.0), sum(word, 0.7, 2.0)]);
        assert_eq!(learning.elsewhere(2), [sum(all, 4.0, 30.0), sum(word, 0.1, 1.0)]);
        assert_eq!(learning.elsewhere(7), [sum(all, 6.0, 36.0), sum(word, 0.8, 3.0)]);
        assert!(!learning.is_due(2, 6) && learning.is_due(2, 7) && learning.is_due(3, 0));
        assert!(!learning.is_due(1, 22) && learning.is_due(1, 23));
    }

    #[test]
    fn what_a_partition_publishes_fits_into_a_message() {
        let sums = (0..100_000_u64).map(|n| sum(SumAbout::Word(n.wrapping_mul(0x9e37_79b9_7f4a_7c15)), 0.3, n as f32));
        let published = Published { pages: 1, sums: sums.collect() };
        let (kept, packed) = fit(published.clone(), 1 << 20).unwrap();
        assert!(packed.len() < 1 << 20 && kept.sums.len() == 50_000 && kept.sums[0].weight == 99_999.0);
        assert_eq!(unpack::<Published>(&packed), Ok(kept));
        assert_eq!(fit(published.clone(), 1 << 24).unwrap().0, published);
    }
}
