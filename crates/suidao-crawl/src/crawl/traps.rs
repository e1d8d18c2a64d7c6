//! What the trap rules have learnt in a crawl; the rules themselves are in `trap/`.

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

use crate::trap::mirror::Mirrors;
use crate::trap::series_tracker::SeriesTracker;
use crate::trap::session::Sessions;
use suidao_page::model::{HostId, MissingPageResponse, Sketch, TrapStep, UrlId};
use suidao_page::text::near_duplicates::NearDuplicateIndex;

/// Duplicate pages of a host before it is probed for soft 404s.
const REPEATED: usize = 3;
/// Maximum number of suspicious pages stored for a host before its probe is answered.
pub(super) const SUSPECTS: usize = 8;
/// Unanswered probes after which a host is not probed again.
pub(super) const PROBES: u8 = 3;

/// Counts of the rules that act on pages. URLs excluded by other rules are counted by `SkipReason`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TrapCounts {
    pub near_duplicates: u64,
    pub soft_404: u64,
    pub probes: u64,
    /// Parameters recognised as session ids.
    pub session_parameters: u64,
    pub mirrors: u64,
    pub ended: u64,
}

/// A host suspected of soft 404s.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Suspicion {
    /// Suspicious pages, with the hash of their titles.
    pub pages: Vec<(UrlId, Sketch, u32)>,
    /// The text of one of them is an error message.
    pub is_announced: bool,
    pub unanswered: u8,
    pub checked: bool,
    pub response: Option<MissingPageResponse>,
}

/// State of the trap rules. A fold of the events.
#[derive(Default, Serialize, Deserialize)]
pub(super) struct TrapState {
    pub near_duplicates: NearDuplicateIndex,
    pub series_tracker: SeriesTracker,
    pub sessions: Sessions,
    pub mirrors: Mirrors,
    pub suspicions: FxHashMap<HostId, Suspicion>,
    /// Names of the hosts that share pages with others.
    pub names: FxHashMap<HostId, Box<str>>,
    /// Conclusions not logged yet.
    pub due: Vec<TrapStep>,
    pub counts: TrapCounts,
}

impl TrapState {
    /// Whether the host should be probed for soft 404s.
    pub fn wants_probe(&self, host: HostId) -> bool {
        let Some(suspicion) = self.suspicions.get(&host) else { return false };
        !suspicion.checked && (suspicion.is_announced || suspicion.pages.len() >= REPEATED)
    }

    pub fn count_soft_404(&mut self) {
        self.counts.soft_404 += 1;
    }
}

/// Hash of a title, to distinguish templates.
pub(super) fn title(title: &str) -> u32 {
    xxh3_64(title.as_bytes()) as u32
}
