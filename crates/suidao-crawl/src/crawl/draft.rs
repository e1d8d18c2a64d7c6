//! A decision in progress: the state as it is, the events decided so far, and the numbers of the URLs that they
//! discover. Decisions read a draft and add events; nothing changes before [`State::apply`] gets them.

use rustc_hash::{FxHashMap, FxHashSet};

use suidao_page::model::{CrawlUrl, Discovered, Event, LinkState, Millis, QueueEntry, SkipReason, UrlId, UrlOrigin};

use super::settings::CrawlSettings;
use super::state::State;

pub(super) struct Draft<'a> {
    pub state: &'a State,
    pub settings: &'a CrawlSettings,
    pub now: Millis,
    /// URLs discovered by this decision, by fingerprint.
    new: FxHashMap<u64, UrlId>,
    rejected: FxHashSet<u64>,
    decided: Decided,
}

/// The events of a decision, and what to look at once they are applied.
#[derive(Default)]
pub(super) struct Decided {
    pub events: Vec<Event>,
    /// A page that is gone if it has been missing for longer than the grace period, and where it redirects to.
    pub perhaps_gone: Option<(UrlId, Option<UrlId>)>,
    /// Fetched pages that a link reaches, with the queue entry it would give them: a longer tunnel judges their links
    /// again.
    pub reached: Vec<(UrlId, QueueEntry)>,
}

impl<'a> Draft<'a> {
    pub fn new(state: &'a State, now: Millis) -> Self {
        let settings = &state.settings;
        Self {
            state,
            settings,
            now,
            new: FxHashMap::default(),
            rejected: FxHashSet::default(),
            decided: Decided::default(),
        }
    }

    pub fn finish(self) -> Decided {
        self.decided
    }

    pub fn push(&mut self, event: Event) {
        self.decided.events.push(event);
    }

    pub fn events(&self) -> &[Event] {
        &self.decided.events
    }

    /// See [`Decided::perhaps_gone`].
    pub fn perhaps_gone(&mut self, id: UrlId, to: Option<UrlId>) {
        self.decided.perhaps_gone = Some((id, to));
    }

    /// See [`Decided::reached`].
    pub fn reach(&mut self, pages: Vec<(UrlId, QueueEntry)>) {
        self.decided.reached.extend(pages);
    }

    pub fn find(&self, url: &CrawlUrl) -> Option<UrlId> {
        self.state.urls.find(url).or_else(|| self.find_new(url))
    }

    /// As [`Draft::find`], for a URL that the state does not know.
    pub fn find_new(&self, url: &CrawlUrl) -> Option<UrlId> {
        self.new.get(&url.fingerprint()).copied()
    }

    /// The number of a URL, which is discovered if it is new.
    pub fn id(&mut self, url: &CrawlUrl, origin: UrlOrigin, anchor: &str) -> UrlId {
        self.find(url).unwrap_or_else(|| self.discover(url, origin, anchor))
    }

    /// Numbers a URL that [`Draft::find`] does not find.
    pub fn discover(&mut self, url: &CrawlUrl, origin: UrlOrigin, anchor: &str) -> UrlId {
        let number = self.state.urls.len() + self.new.len();
        let id = UrlId(u32::try_from(number).expect("fewer than 2^32 URLs: memory ends long before"));
        self.new.insert(url.fingerprint(), id);
        self.push(Event::Discovered(Discovered { id, url: url.clone(), origin, anchor: anchor.to_owned() }));
        id
    }

    fn is_new(&self, id: UrlId) -> bool {
        id.0 as usize >= self.state.urls.len()
    }

    pub fn link_state(&self, id: UrlId) -> LinkState {
        if self.is_new(id) { LinkState::Dropped } else { self.state.urls.get(id).state }
    }

    /// Queue entry of a URL; none for one that is new.
    pub fn entry(&self, id: UrlId) -> Option<QueueEntry> {
        (!self.is_new(id)).then(|| self.state.urls.get(id).entry())
    }

    /// Why a link to the URL was dropped, if none was followed since.
    pub fn dropped(&self, id: UrlId) -> Option<SkipReason> {
        if self.is_new(id) { None } else { self.state.urls.get(id).dropped }
    }

    /// Whether a link can queue the URL or improve its rank.
    pub fn may_be_queued(&self, id: UrlId) -> bool {
        matches!(self.link_state(id), LinkState::Dropped | LinkState::Queued | LinkState::Elsewhere | LinkState::Sent)
    }

    /// Rejects a link; each URL is logged once.
    pub fn reject(&mut self, url: &CrawlUrl, from: Option<UrlId>, reason: SkipReason) {
        let fingerprint = url.fingerprint();
        if !self.state.counts.rejected.contains(&fingerprint) && self.rejected.insert(fingerprint) {
            self.push(Event::LinkRejected { url: url.clone(), from, reason });
        }
    }

    /// The URL to use for a link to `url`: without session parameters, under the scheme that its host answers.
    pub fn address(&self, url: &CrawlUrl) -> CrawlUrl {
        let plain = self.state.without_session(url);
        self.preferred(plain.as_ref().unwrap_or(url))
    }

    /// `url` under the scheme that its host answers.
    pub fn preferred(&self, url: &CrawlUrl) -> CrawlUrl {
        self.state.in_preferred_scheme(url).unwrap_or_else(|| url.clone())
    }

    /// Why a link to `url` is rejected regardless of its score; none if it may be followed.
    pub fn skip_reason(&self, url: &CrawlUrl) -> Option<SkipReason> {
        self.settings.skip_reason(url).or_else(|| {
            let may_learn = self.state.traps.series_tracker.ended() > 0 || !self.state.traps.mirrors.is_empty();
            let is_new = may_learn && self.find(url).is_none();
            if is_new { self.state.learnt_skip_reason(url, true) } else { None }
        })
    }
}
