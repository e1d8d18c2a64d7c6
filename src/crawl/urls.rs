//! Every URL the crawl knows, by number and by text. Apart because its memory is the crawl's memory: one record of 32
//! bytes, 12 of index and the text for each.

use crate::model::{CrawlUrl, HostId, Lane, LinkState, Place, Priority, Relevance, Trail, Tunnel, UrlId};

/// What the machine remembers of a URL.
#[derive(Clone, Copy, Debug)]
pub(super) struct Known {
    text_from: u64,
    host: HostId,
    priority: f32,
    inherited: f32,
    depth: u16,
    hops: u16,
    k: u8,
    lane: u8,
    pub state: LinkState,
    /// A link to it was dropped before: the reason is told once.
    pub was_dropped: bool,
    /// It was a page that was given up.
    pub was_page: bool,
    /// Fetches that brought nothing (low 4 bits), redirects on the way here (high 4 bits).
    counts: u8,
}

/// k = ∞ in one byte.
const UNBOUNDED: u8 = u8::MAX;

impl Known {
    pub fn host(&self) -> HostId {
        self.host
    }

    pub fn place(&self) -> Place {
        let k = if self.k == UNBOUNDED { Tunnel::Unbounded } else { Tunnel::Left(self.k) };
        Place {
            lane: Lane(self.lane),
            priority: Priority::new(self.priority),
            trail: Trail { depth: self.depth, hops: self.hops, k, inherited: Relevance::new(self.inherited) },
        }
    }

    pub fn set_place(&mut self, place: Place) {
        self.lane = place.lane.0;
        self.priority = place.priority.get();
        self.depth = place.trail.depth;
        self.hops = place.trail.hops;
        self.inherited = place.trail.inherited.get();
        self.k = match place.trail.k {
            Tunnel::Unbounded => UNBOUNDED,
            Tunnel::Left(left) => left.min(UNBOUNDED - 1),
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

/// The known URLs.
#[derive(Default)]
pub(super) struct Urls {
    known: Vec<Known>,
    text: Vec<u8>,
    index: hashbrown::HashTable<Indexed>,
}

/// Fingerprint and number. The fingerprint stands here and not in the record, so that to find a URL, or to let the index
/// grow, no record is touched: at 10^7 URLs each is a cache miss.
struct Indexed {
    high: u32,
    low: u32,
    id: u32,
}

impl Indexed {
    #[allow(clippy::cast_possible_truncation)] // the two halves
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

    /// Finds all links of a page, with their hosts. In one go: each is a wait for memory, twice, and so they are waited
    /// for together.
    pub fn find_all<'a>(&self, urls: impl Iterator<Item = &'a CrawlUrl>) -> Vec<Option<(UrlId, HostId)>> {
        let fingerprints: Vec<u64> = urls.map(CrawlUrl::fingerprint).collect();
        let found: Vec<_> = fingerprints.into_iter().map(|fingerprint| self.find_fingerprint(fingerprint)).collect();
        found.into_iter().map(|id| id.map(|id| (id, self.get(id).host()))).collect()
    }

    fn find_fingerprint(&self, fingerprint: u64) -> Option<UrlId> {
        self.index.find(fingerprint, |known| known.fingerprint() == fingerprint).map(|known| UrlId(known.id))
    }

    /// Takes in a URL that [`Urls::find`] does not know.
    pub fn insert(&mut self, url: &CrawlUrl, host: HostId) -> UrlId {
        let id = u32::try_from(self.known.len()).expect("fewer than 2^32 URLs: memory ends long before");
        let fingerprint = url.fingerprint();
        let text_from = self.text.len() as u64;
        self.text.extend_from_slice(url.as_str().as_bytes());
        self.known.push(Known {
            text_from,
            host,
            priority: 0.0,
            inherited: 0.0,
            depth: 0,
            hops: 0,
            k: 0,
            lane: 0,
            state: LinkState::Dropped,
            was_dropped: false,
            was_page: false,
            counts: 0,
        });
        self.index.insert_unique(fingerprint, Indexed::new(fingerprint, id), Indexed::fingerprint);
        UrlId(id)
    }

    pub fn get(&self, id: UrlId) -> &Known {
        &self.known[id.0 as usize]
    }

    pub fn get_mut(&mut self, id: UrlId) -> &mut Known {
        &mut self.known[id.0 as usize]
    }

    pub fn url(&self, id: UrlId) -> CrawlUrl {
        let from = usize::try_from(self.get(id).text_from).expect("the text is in memory");
        let to = self
            .known
            .get(id.0 as usize + 1)
            .map_or(self.text.len(), |next| usize::try_from(next.text_from).expect("the text is in memory"));
        let text = std::str::from_utf8(&self.text[from..to]).expect("written from a str");
        CrawlUrl::parse(text).expect("the text of a URL in normal form is one")
    }
}
