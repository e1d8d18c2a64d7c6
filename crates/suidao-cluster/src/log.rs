//! The log of a partition: its subject of the log stream. One worker appends to it; an append of any other is refused,
//! because each names the message that it follows (Nats-Expected-Last-Subject-Sequence). So the first append of a new
//! owner fences off the previous one.

use std::collections::BTreeMap;
use std::time::Duration;

use async_nats::jetstream::consumer::DeliverPolicy;
use async_nats::jetstream::consumer::pull::OrderedConfig;
use bytes::Bytes;
use futures_util::StreamExt;
use serde::{Deserialize, Serialize};
use suidao_store::store::Record;

use crate::error::ClusterError;
use crate::nats::{HEADERS, PublishFailure, Streams};
use crate::packed::{pack, unpack};
use crate::segments::Message;

/// Steps of a partition that were made durable together.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct LogEntry {
    /// The session that wrote it; its WARC files have the pages.
    pub session: String,
    /// Sequence of the last message of links that is applied in it or before.
    pub links: u64,
    pub records: Vec<Record>,
}

/// First byte of a message: whether it is the first or the last part of an entry. An owner that died may have left an
/// entry without its last part.
const FIRST: u8 = 1;
const LAST: u8 = 2;
/// Longest wait for a message that the server has.
const SILENCE: Duration = Duration::from_secs(10);
/// Retries of reading a log, a second apart.
const TRIES: u32 = 5;

impl LogEntry {
    /// The messages of this entry, each at most `limit` bytes.
    fn encode(&self, limit: usize) -> Result<Vec<Bytes>, String> {
        let packed = pack(self)?;
        let parts = packed.chunks(limit.saturating_sub(HEADERS).max(1));
        let last = parts.len().saturating_sub(1);
        let kind = |at| if at == 0 { FIRST } else { 0 } | if at == last { LAST } else { 0 };
        Ok(parts.enumerate().map(|(at, part)| Bytes::from([&[kind(at)], part].concat())).collect())
    }
}

/// The end of a partition's log, for its owner.
pub(crate) struct PartitionLog {
    partition: u32,
    session: String,
    /// Sequence of the last message before this owner: the same worker may take a partition several times.
    begin: u64,
    /// Sequence of the last message.
    end: u64,
    /// Messages that this owner has appended.
    appended: u64,
}

/// An append that was not done.
#[derive(Debug)]
pub(crate) enum AppendFailure {
    /// Another worker owns the partition now.
    Fenced,
    Failed(String),
}

impl PartitionLog {
    /// Takes a log over: passes the entries after the message `after` to `each` and fences off its previous owner.
    pub async fn claim(
        streams: &Streams,
        partition: u32,
        session: &str,
        after: u64,
        mut each: impl FnMut(LogEntry),
    ) -> Result<Self, ClusterError> {
        let mut log = Self { partition, session: session.to_owned(), begin: after, end: after, appended: 0 };
        let mut entries = Entries::default();
        loop {
            log.end = messages(streams, Some(partition), log.end, |message| {
                let entry = entries.take(partition, &message.payload).map_err(streams.damaged())?;
                entry.into_iter().for_each(&mut each);
                Ok(())
            })
            .await?;
            log.begin = log.end;
            // Without a position of links: that of earlier entries counts.
            let claim = LogEntry { session: session.to_owned(), ..LogEntry::default() };
            match log.append(streams, &claim).await {
                Ok(()) => return Ok(log),
                Err(AppendFailure::Fenced) => {}
                Err(AppendFailure::Failed(reason)) => {
                    return Err(ClusterError::Nats { doing: "take over a partition", reason });
                }
            }
        }
    }

    /// Sequence of the last message.
    pub fn end(&self) -> u64 {
        self.end
    }

    /// Appends an entry; it is stored on return. After a failure it may be repeated.
    pub async fn append(&mut self, streams: &Streams, entry: &LogEntry) -> Result<(), AppendFailure> {
        let parts = entry.encode(streams.connection.max_payload()).map_err(AppendFailure::Failed)?;
        let subject = streams.subject("log", self.partition);
        let (mut end, first) = (self.end, self.appended);
        for (id, part) in (first..).zip(&parts) {
            let id = format!("{}-{}-{}-{id}", self.session, self.partition, self.begin);
            end = match streams.publish(subject.clone(), part.clone(), Some(&id), Some(end)).await {
                Ok(sequence) => sequence,
                Err(PublishFailure::Superseded) => return Err(AppendFailure::Fenced),
                Err(PublishFailure::Failed(reason)) => return Err(AppendFailure::Failed(reason)),
            };
        }
        (self.end, self.appended) = (end, first + parts.len() as u64);
        Ok(())
    }
}

/// Puts the parts of entries together.
#[derive(Default)]
pub(crate) struct Entries {
    /// The parts so far of an incomplete entry, by partition.
    parts: BTreeMap<u32, Vec<u8>>,
}

impl Entries {
    /// Takes the next message of a partition; returns the entry that it ends.
    ///
    /// # Errors
    /// What is wrong with the log.
    pub fn take(&mut self, partition: u32, payload: &[u8]) -> Result<Option<LogEntry>, String> {
        let Some((kind, part)) = payload.split_first() else { return Ok(None) };
        let whole = self.parts.entry(partition).or_default();
        if kind & FIRST != 0 {
            whole.clear();
        }
        whole.extend_from_slice(part);
        if kind & LAST == 0 {
            return Ok(None);
        }
        let entry = unpack(&std::mem::take(whole));
        entry.map(Some).map_err(|error| format!("the log of partition {partition}: {error}"))
    }
}

/// Passes the messages that a partition's log (or with none all logs) has now, after a sequence, to `each`. Returns the
/// sequence of the last.
pub(crate) async fn messages(
    streams: &Streams,
    partition: Option<u32>,
    after: u64,
    mut each: impl FnMut(Message) -> Result<(), ClusterError>,
) -> Result<u64, ClusterError> {
    let subject = partition.map_or_else(|| streams.subject("log", ">"), |partition| streams.subject("log", partition));
    let (mut read, mut tries) = (after, 0);
    loop {
        match read_messages(streams, &subject, &mut read, &mut each).await {
            // One of several servers may have died, and another must take its place.
            Err(ClusterError::Nats { reason, .. }) if tries < TRIES => tracing::debug!("{reason}; trying again"),
            done => return done.map(|()| read),
        }
        tries += 1;
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
}

/// As [`messages`], once. `read` is the sequence of the last message passed.
async fn read_messages(
    streams: &Streams,
    subject: &str,
    read: &mut u64,
    each: &mut impl FnMut(Message) -> Result<(), ClusterError>,
) -> Result<(), ClusterError> {
    const DOING: &str = "read a log";
    let stream = &streams.log;
    let Some((_, end)) = streams.last(stream, subject).await?.filter(|(_, end)| *end > *read) else { return Ok(()) };
    let deliver_policy = DeliverPolicy::ByStartSequence { start_sequence: *read + 1 };
    let config = OrderedConfig { filter_subject: subject.to_owned(), deliver_policy, ..OrderedConfig::default() };
    let consumer = stream.create_consumer(config).await.map_err(ClusterError::nats(DOING))?;
    let mut messages = consumer.messages().await.map_err(ClusterError::nats(DOING))?;
    // The server has these messages, so a long silence means that it is gone.
    while let Ok(Some(message)) = tokio::time::timeout(SILENCE, messages.next()).await {
        let message = message.map_err(ClusterError::nats(DOING))?;
        let sequence = message.info().map_err(ClusterError::nats(DOING))?.stream_sequence;
        if let Some(partition) = message.subject.rsplit('.').next().and_then(|number| number.parse().ok()) {
            each(Message { sequence, partition, payload: message.payload.to_vec() })?;
        }
        *read = sequence;
        if sequence >= end {
            return Ok(());
        }
    }
    Err(ClusterError::Nats { doing: DOING, reason: "a message did not arrive".to_owned() })
}

/// Removes the messages of a partition's log before `through`. This one stays: the next append names it.
pub(crate) async fn forget(streams: &Streams, partition: u32, through: u64) -> Result<(), ClusterError> {
    let purge = streams.log.purge().sequence(through).filter(streams.subject("log", partition));
    purge.await.map(drop).map_err(ClusterError::nats("remove a log"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use suidao_page::model::{Batch, Millis};

    #[test]
    fn an_entry_is_cut_into_messages() {
        let record = |at| Record {
            batch: Batch { at: Millis(at), latency: None, events: Vec::new() },
            archive: None,
            revisit: false,
        };
        // Times that do not compress.
        let records = (0..5_000_u64).map(|at| record(at.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 1)).collect();
        let entry = LogEntry { session: "one.1".to_owned(), links: 7, records };
        let parts = entry.encode(8_192).unwrap();
        assert!(parts.len() > 3 && parts.iter().all(|part| part.len() <= 8_192));
        let kinds: Vec<u8> = parts.iter().map(|part| part[0]).collect();
        assert!(kinds.starts_with(&[FIRST, 0]) && kinds.ends_with(&[0, LAST]));
        let whole: Vec<u8> = parts.iter().flat_map(|part| part[1..].iter().copied()).collect();
        assert_eq!(unpack::<LogEntry>(&whole), Ok(entry));
        assert!(unpack::<LogEntry>(&whole[..whole.len() / 2]).is_err());
        assert_eq!(LogEntry::default().encode(1 << 20).unwrap()[0][0], FIRST | LAST);
    }
}
