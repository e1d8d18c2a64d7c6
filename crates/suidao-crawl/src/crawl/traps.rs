//! The machine's part in traps: what the rules of `trap/` have seen of the crawl so far, when they are asked, and what
//! is done about what they say.

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

use crate::strategy::PageVisit;
use crate::trap::mirror::Mirrors;
use crate::trap::runs::{SeriesPage, SeriesTracker};
use crate::trap::series::UrlSeries;
use crate::trap::session::{Sessions, without};
use crate::trap::{Traps, absent, path};
use suidao_page::model::{
    AbsentPage, CrawlUrl, Event, HostId, LinkState, Millis, Outlink, Page, PageProcessed, Region, Sketch, SkipReason,
    TrapSignals, TrapStep, UrlId,
};
use suidao_page::text::near_duplicates::NearDuplicateIndex;

use super::FetchOutcome;
use super::machine::Crawl;

/// Pages of a host that say what others of it said, before it is asked for a page that cannot exist.
const REPEATED: usize = 3;
/// Suspicious pages that are remembered of a host until it has answered.
const SUSPECTS: usize = 8;
/// Requests for a page that cannot exist after which a host is asked no more, if it answers none.
const PROBES: u8 = 3;
/// Pages in a text of fewer characters may be alike because a template is all they have.
const TELLING: u32 = 120;

/// What came of the rules that count pages, not URLs: for people and metrics. Refusals are counted by name beside it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TrapCounts {
    /// Pages fetched that say what another said.
    pub near_duplicates: u64,
    /// Answers that were no pages: soft 404s.
    pub soft_404: u64,
    /// Hosts that were asked for a page that cannot exist.
    pub probes: u64,
    /// Parameters that were found to be a session's.
    pub session_parameters: u64,
    /// Hosts that have the same pages as another.
    pub mirrors: u64,
    /// Series of pages that were ended.
    pub ended: u64,
}

/// A host that may answer what does not exist.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Suspicion {
    /// Pages that may be none, with the hash of their titles.
    pages: Vec<(UrlId, Sketch, u32)>,
    /// One of them says so itself.
    says_so: bool,
    /// Requests for a page that cannot exist that nobody answered.
    unanswered: u8,
    asked: bool,
    answer: Option<AbsentPage>,
}

/// What the rules have seen: a fold of the events.
#[derive(Default, Serialize, Deserialize)]
pub(super) struct TrapState {
    twins: NearDuplicateIndex,
    runs: SeriesTracker,
    sessions: Sessions,
    mirrors: Mirrors,
    suspicions: FxHashMap<HostId, Suspicion>,
    /// Names of the hosts that share pages with others.
    names: FxHashMap<HostId, Box<str>>,
    /// What is known by now and has not been told.
    due: Vec<TrapStep>,
    counts: TrapCounts,
}

impl TrapState {
    /// Whether a host is to be asked for a page that cannot exist.
    fn wants_probe(&self, host: HostId) -> bool {
        let Some(suspicion) = self.suspicions.get(&host) else { return false };
        !suspicion.asked && (suspicion.says_so || suspicion.pages.len() >= REPEATED)
    }
}

/// A page as the rules see it, before its links are judged.
pub(super) struct TrapCheck {
    series: Option<UrlSeries>,
    pub signs: TrapSignals,
    /// Its links are left be.
    pub repeats: bool,
}

impl Crawl {
    /// What came of the rules against traps.
    pub fn traps(&self) -> TrapCounts {
        self.watched.counts
    }

    /// Why a URL may not be touched, whoever links to it; none if it may.
    pub(super) fn refuses(&self, url: &CrawlUrl) -> Option<SkipReason> {
        self.conditions.scope.refuses(url).or_else(|| path::refuses(&self.conditions.traps, url))
    }

    /// As [`Crawl::refuses`], of a sitemap or a feed: what is no page by its extension may be one.
    pub(super) fn refuses_file(&self, url: &CrawlUrl) -> Option<SkipReason> {
        let out_of_scope = self.conditions.scope.refuses(url).filter(|reason| *reason != SkipReason::Extension);
        out_of_scope.or_else(|| path::refuses(&self.conditions.traps, url))
    }

    /// Why a URL is not taken in, if it is not known yet.
    pub(super) fn refuses_new(&self, url: &CrawlUrl) -> Option<SkipReason> {
        if self.watched.runs.ended() == 0 && self.watched.mirrors.is_empty() || self.urls.find(url).is_some() {
            return None;
        }
        self.refuses_learnt(url, true)
    }

    /// Why a URL whose turn has come is not fetched after all.
    pub(super) fn refuses_now(&self, id: UrlId, url: &CrawlUrl) -> Option<SkipReason> {
        // It waits from a time when the port was let in.
        if let Some(reason) = self.conditions.scope.refuses_port(url) {
            return Some(reason);
        }
        // What the user asks for is fetched.
        if self.urls.get(id).place().trail.depth == 0 {
            return None;
        }
        let most = self.conditions.traps.missing;
        if most > 0 && self.hosts.get(self.urls.get(id).host()).missing >= u32::from(most) {
            return Some(SkipReason::MissingPages);
        }
        self.refuses_learnt(url, false)
    }

    fn refuses_learnt(&self, url: &CrawlUrl, new: bool) -> Option<SkipReason> {
        if self.watched.runs.has_ended(url) {
            return Some(SkipReason::Series);
        }
        self.is_mirrored(url, new).then_some(SkipReason::Mirror)
    }

    /// Whether a mirror of the URL's host has its page; or, where it is new, will have.
    fn is_mirrored(&self, url: &CrawlUrl, new: bool) -> bool {
        if self.watched.mirrors.is_empty() {
            return false;
        }
        let Some(host) = self.hosts.id_of(url) else { return false };
        self.watched.mirrors.of(host).iter().any(|mirror| match self.on_host(url, *mirror) {
            Some(twin) => match self.urls.get(twin).state {
                LinkState::Fetched | LinkState::InFlight => true,
                LinkState::Queued => new,
                _ => false,
            },
            None => false,
        })
    }

    /// The page of this path on another host, if that is known.
    fn on_host(&self, url: &CrawlUrl, host: HostId) -> Option<UrlId> {
        let name = self.watched.names.get(&host)?;
        let twin = url.on(name)?;
        let home = self.in_preferred_scheme(&twin);
        self.urls.find(home.as_ref().unwrap_or(&twin))
    }

    /// The URL without what is a session's; none if there is nothing of it.
    pub(super) fn without_session(&self, url: &CrawlUrl) -> Option<CrawlUrl> {
        url.query()?;
        let given = &self.conditions.traps.session_parameters;
        let plain = if given.is_empty() {
            None
        } else {
            without(url, |name| given.iter().any(|given| given.eq_ignore_ascii_case(name)))
        };
        let rest = plain.as_ref().unwrap_or(url);
        let learnt = self.hosts.id_of(rest).and_then(|host| self.watched.sessions.without(host, rest));
        learnt.or(plain)
    }

    /// The URL without what is a session's, to be asked for in its place; none where the host answers that by a redirect: then it is
    /// to be had with a session only.
    pub(super) fn plain(&self, url: &CrawlUrl) -> Option<CrawlUrl> {
        let leads_on = |plain: &CrawlUrl| {
            let home = self.in_preferred_scheme(plain);
            let known = self.urls.find(home.as_ref().unwrap_or(plain));
            known.is_some_and(|known| self.urls.get(known).state == LinkState::Redirected)
        };
        self.without_session(url).filter(|plain| !leads_on(plain))
    }

    /// Rewrites a page's links as their hosts would have them without sessions.
    pub(super) fn drop_sessions(&self, outlinks: &mut [Outlink]) {
        if self.watched.sessions.is_empty() && self.conditions.traps.session_parameters.is_empty() {
            return;
        }
        for outlink in outlinks {
            if let Some(plain) = self.without_session(&outlink.url) {
                outlink.url = plain;
            }
        }
    }

    /// Whether an answer is what its host says of a page that cannot exist.
    pub(super) fn is_no_page(&self, id: UrlId, url: &CrawlUrl, page: &Page) -> bool {
        let suspicion = self.watched.suspicions.get(&self.urls.get(id).host());
        let answer = suspicion.and_then(|suspicion| suspicion.answer.as_ref());
        let (sketch, title) = (page.sketch, title(&page.title));
        let is_suspicious =
            || page.missing || self.watched.twins.find(sketch, title).is_some_and(|twin| twin.page != id.0);
        answer.is_some_and(|answer| {
            absent::is_same(answer, url, sketch, title) || absent::is_alike(answer, url) && is_suspicious()
        })
    }

    /// Looks at a page that came for the first time, before its links are judged.
    pub(super) fn look_for_traps(&self, id: UrlId, url: &CrawlUrl, page: &Page) -> TrapCheck {
        let traps = &self.conditions.traps;
        let title = title(&page.title);
        let leader = self.watched.twins.find(page.sketch, title).filter(|leader| leader.page != id.0);
        let depth = self.urls.get(id).place().trail.depth;
        // Lists say the same for long and still lead on: their series end by what they bring. And under another title the same
        // text may lead elsewhere: a tag's page may show a post, whole. A host's home page leads to all that it has: whether
        // that is another's is for its pages to tell.
        let is_home = url.path() == "/" && url.query().is_none();
        let tells = page.sketch.chars >= TELLING && !page.listing && depth > 0 && !is_home;
        let repeats = traps.near_duplicates && tells && leader.is_some_and(|leader| leader.title == title);
        let twin = leader.map(|leader| UrlId(leader.page));
        TrapCheck {
            series: UrlSeries::of(url),
            signs: TrapSignals { twin, missing: page.missing, barren: false },
            repeats,
        }
    }

    /// Whether a page brings nothing of its own to its series, given its links.
    pub(super) fn is_barren(
        &self,
        looked: &TrapCheck,
        (sketch, listing): (Sketch, bool),
        visit: &PageVisit,
        targets: &[UrlId],
    ) -> bool {
        let Some(series) = &looked.series else { return false };
        let any = visit.links.iter().any(|link| link.region != Region::Navigation);
        let leads = visit.links.iter().zip(targets).filter(|(link, _)| {
            let is_content = link.region != Region::Navigation || !any;
            is_content && UrlSeries::of(&link.url).is_none_or(|other| !series.is_relative(&other))
        });
        let leads: Vec<UrlId> = leads.map(|(_, to)| *to).collect();
        self.watched.runs.is_barren(series, &SeriesPage { leads: &leads, sketch, listing, relevant: visit.relevant })
    }

    /// A page cannot be had: where it was asked for without a parameter with which it came, that is no session's.
    pub(super) fn tell_needed(&mut self, events: &mut Vec<Event>, id: UrlId, now: Millis) {
        let host = self.urls.get(id).host();
        for name in self.watched.sessions.needed(host, &self.urls.url(id)) {
            self.tell(events, Event::Trap(Box::new(TrapStep::NoSession { host, name })), now);
        }
    }

    /// Tells what is known by now.
    pub(super) fn tell_traps(&mut self, events: &mut Vec<Event>, now: Millis) {
        while let Some(step) = self.watched.due.first().cloned() {
            self.tell(events, Event::Trap(Box::new(step)), now);
        }
    }

    /// The page that cannot exist, where this host is to be asked for it.
    pub(super) fn probe(&self, host: HostId, url: &CrawlUrl) -> Option<CrawlUrl> {
        if !self.conditions.traps.soft_404 || !self.watched.wants_probe(host) {
            return None;
        }
        absent::probe(url, self.conditions.seed)
    }

    /// What a host answers of a page that cannot exist.
    pub(super) fn settle_absent(&mut self, events: &mut Vec<Event>, host: HostId, outcome: FetchOutcome, now: Millis) {
        let answer = match outcome {
            FetchOutcome::Page { page, .. } => {
                Some(AbsentPage::Page { sketch: page.sketch, title: title(&page.title) })
            }
            FetchOutcome::Redirect { to, .. } => {
                Some(AbsentPage::Redirect(self.in_preferred_scheme(&to).unwrap_or(to)))
            }
            // Held against the host as that of a page would be.
            FetchOutcome::Failed(failure) if failure.is_transient() || failure.is_hosts() => {
                self.tell(events, Event::Trap(Box::new(TrapStep::Unanswered { host, failure })), now);
                return;
            }
            _ => None,
        };
        let suspects =
            self.watched.suspicions.get(&host).map(|suspicion| suspicion.pages.as_slice()).unwrap_or_default();
        let same = |&&(id, sketch, title): &&(UrlId, Sketch, u32)| {
            let is_same = |answer: &AbsentPage, url: &CrawlUrl| {
                absent::is_same(answer, url, sketch, title) || absent::is_alike(answer, url)
            };
            answer.as_ref().is_some_and(|answer| is_same(answer, &self.urls.url(id)))
        };
        let pages: Vec<UrlId> = suspects.iter().filter(same).map(|(id, ..)| *id).collect();
        self.tell(events, Event::Trap(Box::new(TrapStep::Absent { host, answer, pages: pages.clone() })), now);
        for id in pages {
            self.tell(events, Event::PageGone { id, to: None }, now);
        }
    }

    /// The traps' part of the fold: a page that came for the first time.
    pub(super) fn observe_page(&mut self, page: &PageProcessed) {
        let Traps { series: most, sessions, soft_404, mirrors, near_duplicates, .. } = self.conditions.traps;
        let compares = near_duplicates || soft_404 || mirrors > 0;
        if page.forum.is_some() {
            return;
        }
        let (id, sketch, title) = (page.id, page.sketch, title(&page.title));
        let (host, url) = (self.urls.get(id).host(), self.urls.url(id));
        let TrapState { twins, runs, suspicions, due, counts, .. } = &mut self.watched;
        match page.signs.twin {
            Some(_) => counts.near_duplicates += 1,
            None if compares => twins.add(id.0, sketch, title),
            None => {}
        }
        if let Some(series) = UrlSeries::of(&url).filter(|_| most > 0) {
            let links = page.links.iter().map(|link| link.to).chain(page.known.iter().copied());
            if runs.observe(&series, page.signs.barren, sketch, links) >= most {
                due.push(TrapStep::Barren { id });
            }
        }
        if soft_404 {
            let repeats = page.signs.twin.is_some_and(|twin| self.urls.get(twin).host() == host);
            if (repeats || page.signs.missing) && sketch.chars > 0 {
                let suspicion = suspicions.entry(host).or_default();
                suspicion.says_so |= page.signs.missing;
                if !suspicion.asked && suspicion.pages.len() < SUSPECTS {
                    suspicion.pages.push((id, sketch, title));
                }
            }
        }
        if sessions {
            for name in self.watched.sessions.observe(host, &url, sketch, page.signs.missing) {
                self.watched.due.push(TrapStep::Session { host, name });
            }
            for name in self.watched.sessions.check(host, &url, sketch) {
                self.watched.due.push(TrapStep::NoSession { host, name });
            }
        }
        if mirrors > 0 && sketch.chars >= TELLING {
            self.observe_mirrors(host, &url, page.signs.twin);
        }
    }

    fn observe_mirrors(&mut self, host: HostId, url: &CrawlUrl, twin: Option<UrlId>) {
        let enough = self.conditions.traps.mirrors;
        let mut compared: Vec<(HostId, Box<str>, bool)> = Vec::new();
        if let Some(twin) = twin {
            let (other, there) = (self.urls.get(twin).host(), self.urls.url(twin));
            if other != host && (there.path(), there.query()) == (url.path(), url.query()) {
                compared.push((other, there.authority().into(), true));
            }
        }
        for &partner in self.watched.mirrors.partners(host) {
            // What says the same as a third host may say the same as this one.
            let differs = twin.is_none()
                && self.on_host(url, partner).is_some_and(|there| self.urls.get(there).state == LinkState::Fetched);
            if differs && let Some(name) = self.watched.names.get(&partner) {
                compared.push((partner, name.clone(), false));
            }
        }
        for (other, name, equal) in compared {
            self.watched.names.insert(other, name.clone());
            self.watched.names.insert(host, url.authority().into());
            if self.watched.mirrors.observe(host, other, equal, enough) {
                let (host, of) = (url.authority().to_owned(), name.into_string());
                self.watched.due.push(TrapStep::Mirror { host, of });
            }
        }
    }

    /// The traps' part of the fold: what was learnt.
    pub(super) fn observe_trap(&mut self, step: &TrapStep, at: Millis) {
        self.watched.due.retain(|due| due != step);
        match step {
            TrapStep::Absent { host, answer, pages } => {
                let suspicion = self.watched.suspicions.entry(*host).or_default();
                *suspicion = Suspicion { asked: true, answer: answer.clone(), ..Suspicion::default() };
                self.watched.counts.probes += 1;
                self.watched.counts.soft_404 += pages.len() as u64;
                self.hear(*host, false, None, at);
            }
            TrapStep::Unanswered { host, failure } => {
                let suspicion = self.watched.suspicions.entry(*host).or_default();
                suspicion.unanswered += 1;
                if suspicion.unanswered >= PROBES {
                    *suspicion = Suspicion { asked: true, ..Suspicion::default() };
                    self.watched.counts.probes += 1;
                }
                self.hear(*host, false, Some(failure), at);
            }
            TrapStep::Session { host, name } => {
                self.watched.sessions.learn(*host, name);
                self.watched.counts.session_parameters += 1;
            }
            TrapStep::NoSession { host, name } => {
                self.watched.sessions.unlearn(*host, name);
                self.watched.counts.session_parameters = self.watched.counts.session_parameters.saturating_sub(1);
            }
            TrapStep::Mirror { host, of } => {
                let number = |name: &str| {
                    CrawlUrl::parse(&format!("http://{name}/")).ok().and_then(|url| self.hosts.id_of(&url))
                };
                if let (Some(one), Some(other)) = (number(host), number(of)) {
                    self.watched.mirrors.learn(one, other);
                    self.watched.names.insert(one, host.as_str().into());
                    self.watched.names.insert(other, of.as_str().into());
                }
                self.watched.counts.mirrors = self.watched.mirrors.len() as u64;
            }
            TrapStep::Barren { id } => {
                if let Some(series) = UrlSeries::of(&self.urls.url(*id)) {
                    self.watched.runs.end(&series);
                }
                self.watched.counts.ended = self.watched.runs.ended() as u64;
            }
        }
    }

    /// A soft 404 was told from a page.
    pub(super) fn count_no_page(&mut self) {
        self.watched.counts.soft_404 += 1;
    }
}

/// Hash of a title: the one that tells templates apart.
fn title(title: &str) -> u32 {
    xxh3_64(title.as_bytes()) as u32
}
