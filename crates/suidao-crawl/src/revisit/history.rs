//! History of each page from its visits: when it existed, when it had changed, what it linked to. A fold of the events,
//! separate from the machine so that the plan, `suidao why` and the exports agree.
//!
//! A page has changed when the digest of its main text differs; a listing, when the set of links in its main content
//! differs. The yield of a page is the number of its links that were not known before.

use rustc_hash::FxHashMap;

use super::adaptive::AdaptiveSchedule;
use super::settings::{RefreshSettings, RevisitPolicy};
use super::{ChangeObservations, VisitValue};
use suidao_page::model::{
    Digest, Event, FailureKind, Millis, PageChanges, PageProcessed, Sketch, UrlId, UrlOrigin, Validators,
};
use suidao_page::text::simhash::distance;

/// Milliseconds per day.
pub const DAY: f64 = 86_400_000.0;

/// Prior number of new links per prior time: of a listing, and of another page.
const NEW_LINKS: [f64; 2] = [1.0, 0.1];

/// Importance of a listing's own text: it leads to documents and is not one.
const LISTING: f64 = 0.2;

/// SimHash distance beyond which nothing of a text is left. Unrelated texts differ in about 32 bits, versions of one
/// text in fewer than 8.
const OTHER_TEXT: u32 = 12;

#[derive(Clone, Debug, PartialEq)]
pub struct Tracked {
    pub first: Millis,
    /// When a visit last found it.
    pub last: Millis,
    /// When it was last requested, with any result.
    pub last_request: Millis,
    /// When a visit last found a change; none before the first.
    pub changed: Option<Millis>,
    /// When the stored body was fetched.
    pub whole: Millis,
    /// Different texts seen, including the first.
    pub versions: u32,
    /// Visits that found it.
    pub visits: u32,
    pub changes: ChangeObservations,
    /// Interval of the adaptive schedule, and the wait for the next visit, in days.
    pub interval: (f64, f64),
    /// Links first discovered on it, except at the first visit.
    pub new_links: u32,
    /// Number of fetched pages first discovered on it, and the sum of their relevance.
    pub led_to: (u32, f64),
    pub inlinks: u32,
    /// Eq. (1), at its last visit.
    pub relevance: f64,
    /// At or above the page threshold.
    pub on_topic: bool,
    /// Its main content is a list of records with links.
    pub listing: bool,
    /// Since when it is missing: 404, 410, or a temporary redirect.
    pub missing: Option<Millis>,
    /// Since when its server answers without its text. The stored text is kept for the grace period.
    pub text_lost: Option<Millis>,
    /// It is gone, and no longer part of the crawl.
    pub retired: bool,
    pub validators: Option<Box<Validators>>,
    /// Consecutive 304 answers.
    pub unchanged_streak: u32,
    /// Change signals since the last visit that found it.
    pub signals: u32,
    /// Digest of the stored body.
    pub body: Digest,
    /// Of the stored text.
    pub sketch: Sketch,
    /// A visit found another text in place of all of the one before: a column, a page of the day.
    pub rewritten: bool,
    /// It forbids indexing.
    pub noindex: bool,
    /// Digest of the set of links.
    pub outlinks: u64,
}

impl Tracked {
    /// A page first visited at time 0, without further history.
    pub fn first(relevance: f64, on_topic: bool, listing: bool, settings: &RefreshSettings) -> Self {
        Self {
            first: Millis(0),
            last: Millis(0),
            last_request: Millis(0),
            changed: None,
            whole: Millis(0),
            versions: 1,
            visits: 1,
            changes: ChangeObservations::default(),
            interval: (settings.prior, settings.prior),
            new_links: 0,
            led_to: (0, 0.0),
            inlinks: 0,
            relevance,
            on_topic,
            listing,
            missing: None,
            text_lost: None,
            retired: false,
            validators: None,
            unchanged_streak: 0,
            signals: 0,
            body: Digest([0; 20]),
            sketch: Sketch::default(),
            rewritten: false,
            noindex: false,
            outlinks: 0,
        }
    }

    fn new(page: &PageProcessed, at: Millis, settings: &RefreshSettings) -> Self {
        Self {
            first: at,
            last: at,
            last_request: at,
            whole: at,
            validators: page.validators.clone(),
            body: page.digest,
            sketch: page.sketch,
            noindex: page.noindex,
            outlinks: page.outlinks_digest,
            ..Self::first(f64::from(page.relevance.get()), page.on_topic, page.listing, settings)
        }
    }

    /// Compares digests of main text and links with the stored ones.
    pub fn compare(&self, text: u64, outlinks: u64) -> PageChanges {
        PageChanges { text: text != self.sketch.digest, links: outlinks != self.outlinks }
    }

    /// Records a visit that found the page, with the changes in `found`.
    pub fn visited(&mut self, found: PageChanges, at: Millis) {
        let interval = days(at.since(self.last));
        let changed = if self.listing { found.links || found.text } else { found.text };
        self.changes.observe(interval, changed);
        let since_change = self.changed.map_or(0.0, |changed| days(at.since(changed)));
        self.interval = AdaptiveSchedule::default().next(self.interval.0, changed, since_change);
        self.visits += 1;
        self.versions += u32::from(found.text);
        if changed {
            self.changed = Some(at);
        }
        (self.last, self.last_request) = (at, at);
        (self.missing, self.text_lost, self.retired) = (None, None, false);
        self.signals = 0;
        self.unchanged_streak = if changed { 0 } else { self.unchanged_streak + 1 };
    }

    fn settled(&mut self, page: &PageProcessed, new_links: u32, at: Millis) -> PageChanges {
        let compared = self.compare(page.sketch.digest, page.outlinks_digest);
        let found = PageChanges { links: compared.links || new_links > 0, ..compared };
        self.new_links += new_links;
        self.listing = page.listing;
        self.visited(found, at);
        self.relevance = f64::from(page.relevance.get());
        self.on_topic = page.on_topic;
        self.validators.clone_from(&page.validators);
        self.rewritten |= found.text && is_other_text(self.sketch, page.sketch);
        (self.sketch, self.noindex) = (page.sketch, page.noindex);
        (self.outlinks, self.body, self.whole) = (page.outlinks_digest, page.digest, at);
        found
    }

    fn missed(&mut self, at: Millis) {
        self.last_request = at;
        self.missing.get_or_insert(at);
    }

    fn lost_text(&mut self, at: Millis) {
        self.last_request = at;
        self.text_lost.get_or_insert(at);
    }

    /// Estimated changes per day.
    pub fn rate(&self, settings: &RefreshSettings) -> f64 {
        self.changes.rate(settings.prior)
    }

    /// Estimated new links per day: the posterior mean of a gamma distribution.
    pub fn new_links_a_day(&self, settings: &RefreshSettings) -> f64 {
        let prior = NEW_LINKS[usize::from(!self.listing)];
        (prior + f64::from(self.new_links)) / (settings.prior + days(self.last.since(self.first)))
    }

    /// Estimated value of a page that it links to.
    pub fn leads_to(&self) -> f64 {
        (self.led_to.1 + self.relevance) / (f64::from(self.led_to.0) + 1.0)
    }

    /// Value of the page itself: its relevance, and more with more inlinks.
    pub fn importance(&self) -> f64 {
        let own = if self.listing { LISTING } else { 1.0 };
        own * self.relevance * (1.0 + f64::from(self.inlinks).ln_1p())
    }

    /// When it may be requested again: `shortest` after the last request, if missing after the grace period, and under
    /// the adaptive schedule after its interval.
    pub fn earliest_revisit(&self, settings: &RefreshSettings) -> Millis {
        let millis = |days: f64| (days * DAY).ceil() as u64;
        let rested = self.last_request.after(settings.shortest_ms());
        match (self.missing, settings.policy) {
            (Some(missing), _) => rested.max(missing.after(millis(settings.grace))),
            (None, RevisitPolicy::Adaptive) => rested.max(self.last_request.after(millis(self.interval.1))),
            _ => rested,
        }
    }

    /// Value of a revisit, by the days since the last request; none if it must not be requested. For a missing page,
    /// the value when its grace period is over.
    pub fn visit_value(&self, settings: &RefreshSettings) -> Option<VisitValue> {
        let nothing = VisitValue {
            importance: 0.0,
            rate: 0.0,
            new_link_value: 0.0,
            false_signal_probability: 1.0,
            has_minimum: false,
        };
        if self.retired {
            return None;
        }
        // A square grows as fast as the value of new links.
        Some(match settings.policy {
            RevisitPolicy::Uniform => VisitValue { new_link_value: 2.0, ..nothing },
            RevisitPolicy::Adaptive => {
                VisitValue { new_link_value: 2.0 / self.interval.1.max(1e-6).powi(2), ..nothing }
            }
            RevisitPolicy::CrawlValue if self.missing.is_some() => {
                let rate = 1.0 / settings.grace.max(1e-3);
                VisitValue { importance: self.importance(), rate, has_minimum: true, ..nothing }
            }
            RevisitPolicy::CrawlValue => VisitValue {
                importance: self.importance(),
                rate: self.rate(settings),
                new_link_value: self.new_links_a_day(settings) * self.leads_to(),
                false_signal_probability: 1.0,
                has_minimum: self.on_topic,
            },
        })
    }
}

/// Whether nothing of a text is left.
pub(crate) fn is_other_text(before: Sketch, now: Sketch) -> bool {
    distance(before.simhash, now.simhash) > OTHER_TEXT
}

pub fn days(ms: u64) -> f64 {
    ms as f64 / DAY
}

/// Histories of all pages. Memory: 310 bytes per page, 8 per known URL.
#[derive(Clone, Debug, Default)]
pub struct Histories {
    pages: FxHashMap<UrlId, Tracked>,
    /// Page on which each known URL was first discovered.
    found_on: Vec<Option<UrlId>>,
    /// Number of links to each known URL.
    inlinks: Vec<u32>,
    /// Links discovered since the last settled page, and on which page.
    news: (Option<UrlId>, u32),
    settings: RefreshSettings,
}

impl Histories {
    pub fn new(settings: &RefreshSettings) -> Self {
        Self { settings: settings.clone(), ..Self::default() }
    }

    /// Folds an event; pass each once, in order. Returns the changes of a revisited page.
    pub fn observe(&mut self, event: &Event, at: Millis) -> Option<PageChanges> {
        match event {
            Event::Discovered(found) => {
                let from = if let UrlOrigin::Link(from) = found.origin { Some(from) } else { None };
                self.found_on.push(from);
                self.inlinks.push(0);
                if from.is_some() && from == self.news.0 {
                    self.news.1 += 1;
                } else {
                    self.news = (from, u32::from(from.is_some()));
                }
            }
            Event::PageFetched(page) => return self.settled(page, at),
            Event::Unchanged { id, validators, .. } => {
                let page = self.pages.get_mut(id)?;
                if validators.is_some() {
                    page.validators.clone_from(validators);
                }
                page.visited(PageChanges::default(), at);
                return Some(PageChanges::default());
            }
            Event::Redirected { id, .. } => {
                if let Some(page) = self.pages.get_mut(id) {
                    page.missed(at);
                }
            }
            Event::FetchFailed { id, failure } => {
                if let Some(page) = self.pages.get_mut(id) {
                    match failure.kind {
                        FailureKind::Status(404 | 410) | FailureKind::NoSuchPage => page.missed(at),
                        FailureKind::TextLost(_) => page.lost_text(at),
                        _ => page.last_request = at,
                    }
                }
            }
            Event::UrlExcluded { id, .. } => {
                if let Some(page) = self.pages.get_mut(id) {
                    page.last_request = at;
                }
            }
            Event::PageGone { id, .. } => {
                if let Some(page) = self.pages.get_mut(id) {
                    page.retired = true;
                }
            }
            _ => {}
        }
        None
    }

    fn settled(&mut self, page: &PageProcessed, at: Millis) -> Option<PageChanges> {
        let new_links = if self.news.0 == Some(page.id) { self.news.1 } else { 0 };
        self.news = (None, 0);
        if let Some(known) = self.pages.get_mut(&page.id) {
            return Some(known.settled(page, new_links, at));
        }
        let mut tracked = Tracked::new(page, at, &self.settings);
        tracked.inlinks = self.inlinks.get(page.id.0 as usize).copied().unwrap_or(0);
        self.pages.insert(page.id, tracked);
        for to in page.links.iter().map(|link| link.to).chain(page.known.iter().copied()) {
            if let Some(count) = self.inlinks.get_mut(to.0 as usize) {
                *count += 1;
            }
            if let Some(target) = self.pages.get_mut(&to) {
                target.inlinks += 1;
            }
        }
        let from = self.found_on.get(page.id.0 as usize).copied().flatten();
        if let Some(from) = from.and_then(|from| self.pages.get_mut(&from)) {
            from.led_to.0 += 1;
            from.led_to.1 += f64::from(page.relevance.get());
        }
        None
    }

    /// A source reports that a page has changed since its last visit. Repeated reports count as one change.
    pub fn signal(&mut self, id: UrlId) {
        if let Some(page) = self.pages.get_mut(&id) {
            page.signals = 1;
        }
    }

    pub fn get(&self, id: UrlId) -> Option<&Tracked> {
        self.pages.get(&id)
    }

    pub fn iter(&self) -> impl Iterator<Item = (UrlId, &Tracked)> {
        self.pages.iter().map(|(id, page)| (*id, page))
    }

    pub fn len(&self) -> usize {
        self.pages.len()
    }

    pub fn is_empty(&self) -> bool {
        self.pages.is_empty()
    }
}
