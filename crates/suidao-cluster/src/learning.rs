//! What the partitions learn, shared. Each publishes the sums of its strategy that are about no single host; only its
//! owner writes them. Every few seconds each partition learns the sums over the others. What it learns is an event of
//! its log, so a restored partition scores as before.

use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

use futures_util::stream::{self, StreamExt};
use serde::{Deserialize, Serialize};
use suidao_page::model::{LearntSum, SumAbout};
use tokio::sync::mpsc::{Receiver, UnboundedSender};

use crate::description::SharedCrawl;
use crate::error::ClusterError;
use crate::nats::Streams;
use crate::status;

/// Time between two exchanges.
pub(crate) const SHARE_EVERY: Duration = Duration::from_secs(3);
/// Maximum number of sums that a partition publishes, those with the greatest weights: half a megabyte.
const MAX_SUMS: usize = 30_000;
/// Maximum number of partitions read per exchange, and at a time.
const MAX_READS: usize = 256;
const READS_AT_A_TIME: usize = 16;

/// The sums that a partition has published.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Published {
    /// Pages that it had fetched.
    pages: u64,
    sums: Vec<LearntSum>,
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

    /// Whether the sums of a partition after `pages` pages are here.
    fn has(&self, partition: u32, pages: u64) -> bool {
        self.published.get(&partition).is_some_and(|published| published.pages == pages)
    }
}

/// The sums of a worker's own partitions, with their numbers of pages.
pub(crate) type OwnSums = BTreeMap<u32, (u64, Vec<LearntSum>)>;

/// Exchanges sums whenever the worker sends its own, until it has ended.
pub(crate) async fn share(
    shared: SharedCrawl,
    mut own: Receiver<OwnSums>,
    learnt: UnboundedSender<(u32, Vec<LearntSum>)>,
) {
    let mut learning = SharedLearning::default();
    while let Some(own) = own.recv().await {
        let partitions: Vec<u32> = own.keys().copied().collect();
        // What is not exchanged now is the next time.
        if let Err(error) = exchange(&shared, &mut learning, own).await {
            tracing::debug!("{error}");
        }
        for partition in partitions {
            // The receiver is gone only if the worker has ended.
            let _ = learnt.send((partition, learning.elsewhere(partition)));
        }
    }
}

async fn exchange(shared: &SharedCrawl, learning: &mut SharedLearning, own: OwnSums) -> Result<(), ClusterError> {
    let status = status::status(shared).await?;
    let elsewhere = status.latest().into_iter().filter(|(partition, _)| !own.contains_key(partition));
    let due = elsewhere.filter(|(partition, part)| !learning.has(*partition, part.pages));
    let due: Vec<u32> = due.map(|(partition, _)| partition).take(MAX_READS).collect();
    let read = stream::iter(due).map(async |partition| (partition, read(&shared.streams, partition).await));
    let mut read = read.buffer_unordered(READS_AT_A_TIME);
    while let Some((partition, published)) = read.next().await {
        if let Some(Published { pages, sums }) = published? {
            learning.set(partition, pages, sums);
        }
    }
    for (partition, (pages, sums)) in own {
        if !learning.has(partition, pages) {
            let published = Published { pages, sums: heaviest(sums) };
            shared.streams.put_bytes(&key(partition), encode(&published)?).await?;
            learning.set(partition, published.pages, published.sums);
        }
    }
    Ok(())
}

/// The sums with the greatest weights, if they are too many.
fn heaviest(mut sums: Vec<LearntSum>) -> Vec<LearntSum> {
    if sums.len() > MAX_SUMS {
        sums.sort_by(|a, b| b.weight.total_cmp(&a.weight).then(a.about.cmp(&b.about)));
        sums.truncate(MAX_SUMS);
    }
    sums
}

fn key(partition: u32) -> String {
    format!("learnt.{partition}")
}

fn encode(published: &Published) -> Result<bytes::Bytes, ClusterError> {
    let plain = postcard::to_stdvec(published).map_err(ClusterError::nats("encode a value"))?;
    zstd::bulk::compress(&plain, 1).map(Into::into).map_err(ClusterError::nats("encode a value"))
}

async fn read(streams: &Streams, partition: u32) -> Result<Option<Published>, ClusterError> {
    let Some(packed) = streams.read_bytes(&key(partition)).await? else { return Ok(None) };
    let damaged = |error: String| streams.damaged()(format!("the value of {}: {error}", key(partition)));
    let plain = zstd::decode_all(&packed[..]).map_err(|error| damaged(error.to_string()))?;
    postcard::from_bytes(&plain).map(Some).map_err(|error| damaged(error.to_string()))
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
        assert!(learning.has(2, 6) && !learning.has(2, 5) && !learning.has(3, 0));
    }

    #[test]
    fn what_a_partition_publishes_fits_into_a_message() {
        let sums = (0..100_000_u64).map(|n| sum(SumAbout::Word(n.wrapping_mul(0x9e37_79b9_7f4a_7c15)), 0.3, n as f32));
        let kept = heaviest(sums.collect());
        assert_eq!((kept.len(), kept[0].weight), (MAX_SUMS, 99_999.0));
        assert!(encode(&Published { pages: 1, sums: kept }).unwrap().len() < 1 << 20);
    }
}
