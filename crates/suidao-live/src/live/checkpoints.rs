//! When the state of a crawl is saved next to its log, and how a crawl resumes from it.

use xxhash_rust::xxh3::xxh3_64;

use super::agent;
use crate::config::Config;
use suidao_crawl::crawl::{Crawl, StopConditions};
use suidao_page::model::Batch;
use suidao_page::topic::Topic;
use suidao_store::store::checkpoint::{Checkpoint, CheckpointState, Pieces, digest};
use suidao_store::store::harvest::HarvestCurve;
use suidao_store::store::{CrawlDirectory, Store, StoreError};

/// At least one in this many of all batches lies between two checkpoints. Their cost grows with the crawl, so in total
/// it is a bounded share.
const SHARE: u64 = 16;
/// At the end of a run a checkpoint pays off after this many times fewer batches.
const AT_END: u64 = 16;

/// First byte of the harvest curve's piece; the machine's pieces begin with small letters.
const HARVEST: u8 = b'H';

/// Increase it when a part of the machine is stored differently: older checkpoints are then ignored.
const LAYOUT: u32 = 11;

/// A digest of all settings that affect how events change the state. `own` names a strategy that is not the configured
/// one.
pub fn fold_digest(config: &Config, topic: &Topic, own: Option<&str>) -> u64 {
    let agent = agent(config);
    let mut config = config.clone();
    // These settings decide what happens, not how events change the state. Of the goals only the harvest rate depends
    // on past events.
    let other = Config::default();
    (config.limits.pages, config.limits.requests) = (None, None);
    (config.fetch, config.render) = (other.fetch, other.render);
    (config.status, config.log) = (other.status, other.log);
    config.stop = StopConditions { harvest: config.stop.harvest, ..other.stop };
    (config.crawl.in_flight, config.crawl.checkpoint_every, config.crawl.outage_patience) = (0, 0, 0.0);
    (config.crawl.unsaved_settings, config.crawl.reading_timeout) = (Vec::new(), 0.0);
    let fold = (env!("CARGO_PKG_VERSION"), LAYOUT, agent, topic.digest(), config, own);
    xxh3_64(format!("{fold:?}").as_bytes())
}

/// Whether a checkpoint is due after `batches`, if the last one has `saved` of them; `at_end`: nothing follows soon.
pub fn is_due(every: u64, saved: u64, batches: u64, at_end: bool) -> bool {
    let due = if at_end { saved + (every / AT_END).max(1) } else { saved + every.max(batches / SHARE) };
    every > 0 && batches >= due
}

pub(super) struct Restored {
    pub crawl: Crawl,
    pub harvest: HarvestCurve,
    /// Batches of the checkpoint that it comes from; 0 without one.
    pub saved: u64,
}

/// Restores a crawl to the end of its log: from a checkpoint with these settings, or else from the first batch.
pub(super) fn restore(store: &Store, settings: u64, new: impl Fn() -> Crawl) -> Result<Restored, StoreError> {
    let Restored { mut crawl, mut harvest, saved } = from_checkpoint(store, settings, &new)
        .unwrap_or_else(|| Restored { crawl: new(), harvest: HarvestCurve::default(), saved: 0 });
    for record in store.batches_from(saved) {
        let batch = record?.batch;
        crawl.restore(&batch);
        harvest.observe(&batch);
    }
    Ok(Restored { crawl, harvest, saved })
}

fn from_checkpoint(store: &Store, settings: u64, new: impl Fn() -> Crawl) -> Option<Restored> {
    let (mut pieces, saved) = Pieces::of(store, settings)?;
    let mut crawl = new();
    // A machine without pieces does not support checkpoints.
    drop(crawl.pieces()?);
    let mut harvest = HarvestCurve::default();
    for piece in pieces.by_ref() {
        match piece.split_first() {
            Some((&HARVEST, piece)) => harvest = postcard::from_bytes(piece).ok()?,
            _ if crawl.take_piece(&piece) => {}
            _ => return None,
        }
    }
    (pieces.is_whole() && crawl.set_up()).then_some(Restored { crawl, harvest, saved })
}

pub(super) struct Checkpoints {
    directory: CrawlDirectory,
    settings: u64,
    /// Minimum number of batches between two; 0: no checkpoints.
    every: u64,
    /// Batches of the last one.
    saved: u64,
    /// The next one, which waits until its batches are on disk.
    written: Option<Checkpoint>,
}

impl Checkpoints {
    pub fn new(directory: CrawlDirectory, settings: u64, every: u64, saved: u64) -> Self {
        Self { directory, settings, every, saved, written: None }
    }

    /// Saves the state after this batch, the `batches`-th, if a checkpoint is due.
    pub fn batch(&mut self, batch: &Batch, batches: u64, crawl: &Crawl, harvest: &HarvestCurve) {
        if self.written.is_none() && is_due(self.every, self.saved, batches, false) {
            self.write(CheckpointState { batches, last: digest(batch), settings: self.settings }, crawl, harvest);
        }
    }

    /// This many batches are on disk.
    pub fn durable(&mut self, batches: u64) {
        if let Some(checkpoint) = self.written.take_if(|checkpoint| checkpoint.batches() <= batches)
            && let Err(error) = checkpoint.publish()
        {
            log_failure(&error);
        }
    }

    /// The run is over, and all of it is on disk.
    pub fn close(&mut self, crawl: &Crawl, harvest: &HarvestCurve, store: &Store) {
        self.durable(store.len());
        if is_due(self.every, self.saved, store.len(), true)
            && let Ok(last) = store.batch(store.len() - 1)
        {
            let state = CheckpointState { batches: store.len(), last: digest(&last.batch), settings: self.settings };
            self.write(state, crawl, harvest);
            self.durable(store.len());
        }
    }

    fn write(&mut self, state: CheckpointState, crawl: &Crawl, harvest: &HarvestCurve) {
        // The crawl of one forum and a refresh have no checkpoints.
        let Some(pieces) = crawl.pieces() else { return };
        let curve = postcard::to_extend(harvest, vec![HARVEST]).expect("plain data is written to memory");
        match Checkpoint::write(&self.directory, state, std::iter::once(curve).chain(pieces)) {
            Ok(checkpoint) => (self.written, self.saved) = (Some(checkpoint), state.batches),
            // Only the log is essential, and it reports a full disk itself.
            Err(error) => {
                self.saved = state.batches;
                log_failure(&error);
            }
        }
    }
}

fn log_failure(error: &StoreError) {
    tracing::warn!("cannot write a checkpoint, so a restart takes longer: {error}");
}

#[cfg(test)]
mod tests {
    use super::*;
    use suidao_page::topic::Lexicon;

    #[test]
    fn a_state_holds_for_what_the_fold_depends_on_and_for_nothing_else() {
        let digest = |assignments: &[&str]| {
            let assignments: Vec<String> = assignments.iter().map(|&assignment| assignment.to_owned()).collect();
            let config = Config::load(None, &assignments).unwrap();
            fold_digest(&config, &Topic::new(Lexicon::from_terms("体育", &[("足球", 1.0)])), None)
        };
        let usual = digest(&[]);
        for same in [
            "stop.relevant=5",
            "limits.pages=7",
            "limits.requests=9",
            "status.listen='9090'",
            "log.level='warn'",
            "fetch.timeout=9",
        ] {
            assert_eq!(digest(&[same]), usual, "{same}");
        }
        // The rules in the checkpoint are those for one agent.
        for other in ["fetch.user_agent='mybot/1'", "stop.harvest='0.1/50'", "limits.retries=1", "politeness.delay=3"] {
            assert_ne!(digest(&[other]), usual, "{other}");
        }
    }
}
