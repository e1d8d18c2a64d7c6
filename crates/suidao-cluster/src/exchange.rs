//! Links between partitions, and seeds. They are stored before the batch that mentions them, so a sender that dies
//! sends them again and loses none; the receiver ignores what it knows. They are removed once they are in the
//! receiver's log.

use std::collections::BTreeMap;
use std::time::Duration;

use async_nats::jetstream::consumer::DeliverPolicy;
use async_nats::jetstream::consumer::pull::OrderedConfig;
use futures_util::StreamExt;
use futures_util::future::try_join_all;
use serde::{Deserialize, Serialize};
use suidao_crawl::crawl::{Partition, SentLink};
use suidao_page::model::CrawlUrl;
use tokio::sync::mpsc::UnboundedSender;

use crate::error::ClusterError;
use crate::nats::Streams;
use crate::packed::{pack, unpack};

/// Links or seeds for one partition.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum Delivery {
    Seeds(Vec<CrawlUrl>),
    Links(Vec<SentLink>),
}

/// A delivery that arrived, and its sequence.
pub(crate) struct Arrived {
    pub partition: u32,
    pub sequence: u64,
    pub delivery: Delivery,
}

/// URLs in a message: each is at most 8 KB.
const PORTION: usize = 64;
/// Messages in flight at a time.
const IN_FLIGHT: usize = 64;

/// After this time without a delivery, the server is asked for the last one.
const QUIET: Duration = Duration::from_secs(5);

/// Groups seeds by partition, in order.
pub(crate) fn group_seeds(seeds: &[CrawlUrl], partitions: u32) -> Vec<(u32, Delivery)> {
    group(seeds, |url| Partition::number_of(url, partitions), Delivery::Seeds)
}

/// Groups links by partition, in order.
pub(crate) fn group_links(links: &[SentLink], partitions: u32) -> Vec<(u32, Delivery)> {
    group(links, |link| Partition::number_of(&link.url, partitions), Delivery::Links)
}

fn group<T: Clone>(
    all: &[T],
    to: impl Fn(&T) -> u32,
    as_delivery: impl Fn(Vec<T>) -> Delivery,
) -> Vec<(u32, Delivery)> {
    let mut grouped: BTreeMap<u32, Vec<T>> = BTreeMap::new();
    all.iter().for_each(|one| grouped.entry(to(one)).or_default().push(one.clone()));
    let portions = |(partition, all): (u32, Vec<T>)| {
        all.chunks(PORTION).map(|portion| (partition, as_delivery(portion.to_vec()))).collect::<Vec<_>>()
    };
    grouped.into_iter().flat_map(portions).collect()
}

/// Sends deliveries; all are stored on return. After a failure call it again with the same `id`: the server ignores
/// what it has already stored.
pub(crate) async fn send(streams: &Streams, deliveries: &[(u32, Delivery)], id: &str) -> Result<(), String> {
    let numbered: Vec<(usize, &(u32, Delivery))> = deliveries.iter().enumerate().collect();
    for portion in numbered.chunks(IN_FLIGHT) {
        try_join_all(portion.iter().map(async |(number, (partition, delivery))| {
            let subject = streams.subject("links", partition);
            let stored = streams.publish(subject, pack(delivery)?, Some(&format!("{id}-{number}")), None).await;
            stored.map_err(|failure| failure.to_string())
        }))
        .await?;
    }
    Ok(())
}

/// Passes on the deliveries for a partition after a sequence as they arrive, until the receiver is gone.
pub(crate) async fn follow(
    streams: &Streams,
    partition: u32,
    after: u64,
    arrived: &UnboundedSender<Arrived>,
) -> Result<(), ClusterError> {
    const DOING: &str = "read links";
    let (mut after, subject) = (after, streams.subject("links", partition));
    loop {
        let config = OrderedConfig {
            filter_subject: subject.clone(),
            deliver_policy: DeliverPolicy::ByStartSequence { start_sequence: after + 1 },
            ..OrderedConfig::default()
        };
        let consumer = streams.links.create_consumer(config).await.map_err(ClusterError::nats(DOING))?;
        let mut messages = consumer.messages().await.map_err(ClusterError::nats(DOING))?;
        loop {
            let message = match tokio::time::timeout(QUIET, messages.next()).await {
                Ok(Some(Ok(message))) => message,
                Ok(_) => break,
                // A consumer lives on one server, and gets no error when that fails.
                Err(_) if streams.last(&streams.links, &subject).await?.is_some_and(|(_, last)| last > after) => break,
                Err(_) => continue,
            };
            let sequence = message.info().map_err(ClusterError::nats(DOING))?.stream_sequence;
            let delivery = unpack(&message.payload).map_err(|error| ClusterError::Damaged {
                name: streams.name.clone(),
                what: format!("links for partition {partition}: {error}"),
            })?;
            if arrived.send(Arrived { partition, sequence, delivery }).is_err() {
                return Ok(());
            }
            after = sequence;
        }
    }
}

/// Removes deliveries up to a sequence from the server. They must be in the log of their partition.
pub(crate) async fn forget(streams: &Streams, partition: u32, through: u64) -> Result<(), ClusterError> {
    let purge = streams.links.purge().sequence(through + 1).filter(streams.subject("links", partition));
    purge.await.map(drop).map_err(ClusterError::nats("remove links"))
}
