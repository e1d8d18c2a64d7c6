//! All known URLs, by number and by text.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::frontier::EntryKey;
use super::texts::Texts;
use suidao_page::model::{
    ChunkedVec, CrawlUrl, HostId, LinkState, PathState, Priority, QueueEntry, QueueId, Relevance, SkipReason,
    TunnelBudget, UrlId,
};

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct UrlRecord {
    host: HostId,
    priority: f32,
    inherited: f32,
    depth: u16,
    hops: u16,
    k: u8,
    queue: u8,
    pub state: LinkState,
    /// Why a link to it was dropped, if none was followed since; counted once.
    pub dropped: Option<SkipReason>,
    /// It failed and waits until other URLs show whether its host answers: no entry of the frontier is current.
    pub parked: bool,
    /// It was a page that is gone.
    pub was_page: bool,
    /// A later run may retry it: its address was private, or its host failed.
    pub in_another_run: bool,
    /// Failed fetches (low 4 bits), redirects on the way here (high 4 bits).
    counts: u8,
}

/// k = ∞ in one byte.
const UNBOUNDED: u8 = u8::MAX;

impl UrlRecord {
    pub fn host(&self) -> HostId {
        self.host
    }

    pub fn entry(&self) -> QueueEntry {
        let k = if self.k == UNBOUNDED { TunnelBudget::Unbounded } else { TunnelBudget::Left(self.k) };
        QueueEntry {
            queue: QueueId(self.queue),
            priority: Priority::new(self.priority),
            path: PathState { depth: self.depth, hops: self.hops, k, inherited: Relevance::new(self.inherited) },
        }
    }

    pub fn is_queued(&self) -> bool {
        self.state == LinkState::Queued && !self.parked
    }

    /// Whether an entry of the frontier is the one to take.
    pub fn is_current(&self, key: EntryKey) -> bool {
        self.is_queued() && key.is_of(self.entry())
    }

    pub fn set_entry(&mut self, entry: QueueEntry) {
        self.queue = entry.queue.0;
        self.priority = entry.priority.get();
        self.depth = entry.path.depth;
        self.hops = entry.path.hops;
        self.inherited = entry.path.inherited.get();
        self.k = match entry.path.k {
            TunnelBudget::Unbounded => UNBOUNDED,
            TunnelBudget::Left(left) => left.min(UNBOUNDED - 1),
        };
    }

    pub fn tries(&self) -> u8 {
        self.counts & 0x0f
    }

    pub fn count_try(&mut self) {
        if self.tries() < 0x0f {
            self.counts += 1;
        }
    }

    pub fn forget_tries(&mut self) {
        self.counts &= 0xf0;
    }

    pub fn redirects(&self) -> u8 {
        self.counts >> 4
    }

    pub fn set_redirects(&mut self, redirects: u8) {
        self.counts = (self.counts & 0x0f) | (redirects.min(0x0f) << 4);
    }
}

#[derive(Default)]
pub(super) struct Urls {
    known: ChunkedVec<UrlRecord>,
    texts: Texts,
    index: hashbrown::HashTable<Indexed>,
}

/// Fingerprint and number. The fingerprint is here and not in the record, so that lookups and index growth do not touch
/// records: at 10^7 URLs each access is a cache miss.
struct Indexed {
    high: u32,
    low: u32,
    id: u32,
}

impl Indexed {
    fn new(fingerprint: u64, id: u32) -> Self {
        Self { high: (fingerprint >> 32) as u32, low: fingerprint as u32, id }
    }

    fn fingerprint(&self) -> u64 {
        u64::from(self.high) << 32 | u64::from(self.low)
    }
}

impl Urls {
    pub fn len(&self) -> usize {
        self.known.len()
    }

    pub fn find(&self, url: &CrawlUrl) -> Option<UrlId> {
        self.find_fingerprint(url.fingerprint())
    }

    /// Finds all links of a page with their hosts. One pass per level, so that the two cache misses of each lookup
    /// overlap with those of the others.
    pub fn find_all<'a>(&self, urls: impl Iterator<Item = &'a CrawlUrl>) -> Vec<Option<(UrlId, HostId)>> {
        let fingerprints: Vec<u64> = urls.map(CrawlUrl::fingerprint).collect();
        let found: Vec<_> = fingerprints.into_iter().map(|fingerprint| self.find_fingerprint(fingerprint)).collect();
        found.into_iter().map(|id| id.map(|id| (id, self.get(id).host()))).collect()
    }

    fn find_fingerprint(&self, fingerprint: u64) -> Option<UrlId> {
        self.index.find(fingerprint, |known| known.fingerprint() == fingerprint).map(|known| UrlId(known.id))
    }

    /// Adds a URL that [`Urls::find`] does not find.
    pub fn insert(&mut self, url: &CrawlUrl, host: HostId) -> UrlId {
        let id = u32::try_from(self.known.len()).expect("fewer than 2^32 URLs: memory ends long before");
        let fingerprint = url.fingerprint();
        self.texts.push(url.as_str());
        self.known.push(UrlRecord {
            host,
            priority: 0.0,
            inherited: 0.0,
            depth: 0,
            hops: 0,
            k: 0,
            queue: 0,
            state: LinkState::Dropped,
            dropped: None,
            parked: false,
            was_page: false,
            in_another_run: false,
            counts: 0,
        });
        self.index.insert_unique(fingerprint, Indexed::new(fingerprint, id), Indexed::fingerprint);
        UrlId(id)
    }

    /// The records in portions, each with its URLs, one per line.
    pub fn portions(&self) -> impl Iterator<Item = (&[UrlRecord], Cow<'_, str>)> {
        let mut from = 0;
        self.known.portions().map(move |known| {
            let lines = self.texts.lines(from, known.len());
            from += known.len();
            (known, lines)
        })
    }

    /// Restores a portion; false if it is invalid.
    pub fn take_portion(&mut self, known: &[UrlRecord], lines: &str) -> bool {
        let mut lines = lines.lines();
        for &record in known {
            let Some(Ok(url)) = lines.next().map(CrawlUrl::parse) else { return false };
            let id = self.insert(&url, record.host);
            *self.get_mut(id) = record;
        }
        lines.next().is_none()
    }

    pub fn hosts(&self) -> impl Iterator<Item = HostId> {
        self.known.iter().map(UrlRecord::host)
    }

    pub fn in_state(&self, state: LinkState) -> Vec<UrlId> {
        let ids = (0..).map(UrlId).zip(self.known.iter()).filter(|(_, known)| known.state == state);
        ids.map(|(id, _)| id).collect()
    }

    pub fn get(&self, id: UrlId) -> &UrlRecord {
        &self.known[id.0 as usize]
    }

    pub fn get_mut(&mut self, id: UrlId) -> &mut UrlRecord {
        &mut self.known[id.0 as usize]
    }

    pub fn url(&self, id: UrlId) -> CrawlUrl {
        CrawlUrl::parse(&self.texts.get(id.0 as usize)).expect("the text of a URL in normal form is one")
    }
}
