//! Trap rules in the machine: the state of the rules of `trap/`, when they are evaluated, and their effects.

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

/// Duplicate pages of a host before it is probed for soft 404s.
const REPEATED: usize = 3;
/// Maximum number of suspicious pages stored for a host before its probe is answered.
const SUSPECTS: usize = 8;
/// Unanswered probes after which a host is not probed again.
const PROBES: u8 = 3;
/// Texts with fewer characters may be alike only because of the template.
const TELLING: u32 = 120;

/// Counts of the rules that act on pages. URLs excluded by other rules are counted by [`SkipReason`].
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
struct Suspicion {
    /// Suspicious pages, with the hash of their titles.
    pages: Vec<(UrlId, Sketch, u32)>,
    /// The text of one of them is an error message.
    says_so: bool,
    unanswered: u8,
    asked: bool,
    answer: Option<AbsentPage>,
}

/// State of the trap rules. A fold of the events.
#[derive(Default, Serialize, Deserialize)]
pub(super) struct TrapState {
    twins: NearDuplicateIndex,
    runs: SeriesTracker,
    sessions: Sessions,
    mirrors: Mirrors,
    suspicions: FxHashMap<HostId, Suspicion>,
    /// Names of the hosts that share pages with others.
    names: FxHashMap<HostId, Box<str>>,
    /// Conclusions not logged yet.
    due: Vec<TrapStep>,
    counts: TrapCounts,
}

impl TrapState {
    /// Whether the host should be probed for soft 404s.
    fn wants_probe(&self, host: HostId) -> bool {
        let Some(suspicion) = self.suspicions.get(&host) else { return false };
        !suspicion.asked && (suspicion.says_so || suspicion.pages.len() >= REPEATED)
    }
}

/// Result of the trap rules for a page, before its links are judged.
pub(super) struct TrapCheck {
    series: Option<UrlSeries>,
    pub signs: TrapSignals,
    /// Its links are not followed.
    pub repeats: bool,
}

impl Crawl {
    pub fn traps(&self) -> TrapCounts {
        self.watched.counts
    }

    /// Why a URL is excluded, whatever links to it; none if it is allowed.
    pub(super) fn refuses(&self, url: &CrawlUrl) -> Option<SkipReason> {
        self.conditions.scope.refuses(url).or_else(|| path::refuses(&self.conditions.traps, url))
    }

    /// As [`Crawl::refuses`], for a sitemap or a feed, whose extension may be excluded for pages.
    pub(super) fn refuses_file(&self, url: &CrawlUrl) -> Option<SkipReason> {
        let out_of_scope = self.conditions.scope.refuses(url).filter(|reason| *reason != SkipReason::Extension);
        out_of_scope.or_else(|| path::refuses(&self.conditions.traps, url))
    }

    /// Why a URL that is not known yet is excluded.
    pub(super) fn refuses_new(&self, url: &CrawlUrl) -> Option<SkipReason> {
        if self.watched.runs.ended() == 0 && self.watched.mirrors.is_empty() || self.urls.find(url).is_some() {
            return None;
        }
        self.refuses_learnt(url, true)
    }

    /// Why a URL is excluded when its turn comes.
    pub(super) fn refuses_now(&self, id: UrlId, url: &CrawlUrl) -> Option<SkipReason> {
        // It was queued while the port was allowed.
        if let Some(reason) = self.conditions.scope.refuses_port(url) {
            return Some(reason);
        }
        // Seeds are always fetched.
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

    /// Whether a mirror has the URL's page or, for a new URL, will have it.
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

    /// The URL with this path on another host, if known.
    fn on_host(&self, url: &CrawlUrl, host: HostId) -> Option<UrlId> {
        let name = self.watched.names.get(&host)?;
        let twin = url.on(name)?;
        let home = self.in_preferred_scheme(&twin);
        self.urls.find(home.as_ref().unwrap_or(&twin))
    }

    /// The URL without session parameters; none if it has none.
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

    /// The URL without session parameters, to be requested instead; none if the host redirects that, because then it
    /// requires a session.
    pub(super) fn plain(&self, url: &CrawlUrl) -> Option<CrawlUrl> {
        let leads_on = |plain: &CrawlUrl| {
            let home = self.in_preferred_scheme(plain);
            let known = self.urls.find(home.as_ref().unwrap_or(plain));
            known.is_some_and(|known| self.urls.get(known).state == LinkState::Redirected)
        };
        self.without_session(url).filter(|plain| !leads_on(plain))
    }

    /// Removes session parameters from a page's links.
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

    /// Whether an answer equals the host's answer for a page that cannot exist.
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

    /// Checks a newly fetched page before its links are judged.
    pub(super) fn look_for_traps(&self, id: UrlId, url: &CrawlUrl, page: &Page) -> TrapCheck {
        let traps = &self.conditions.traps;
        let title = title(&page.title);
        let leader = self.watched.twins.find(page.sketch, title).filter(|leader| leader.page != id.0);
        let depth = self.urls.get(id).place().trail.depth;
        // Lists may look alike and still lead on: the series rule ends them. The same text under another title may lead
        // elsewhere, since a tag page may show a whole post. A home page links to the whole host; whether that is a
        // mirror shows on its pages.
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

    /// Whether a page adds nothing new to its series, given its links.
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

    /// A page failed without a parameter that it was first fetched with: then that is not a session parameter.
    pub(super) fn tell_needed(&mut self, events: &mut Vec<Event>, id: UrlId, now: Millis) {
        let host = self.urls.get(id).host();
        for name in self.watched.sessions.needed(host, &self.urls.url(id)) {
            self.tell(events, Event::Trap(Box::new(TrapStep::NoSession { host, name })), now);
        }
    }

    /// Logs the pending conclusions.
    pub(super) fn tell_traps(&mut self, events: &mut Vec<Event>, now: Millis) {
        while let Some(step) = self.watched.due.first().cloned() {
            self.tell(events, Event::Trap(Box::new(step)), now);
        }
    }

    /// The probe URL, if this host should be probed for soft 404s.
    pub(super) fn probe(&self, host: HostId, url: &CrawlUrl) -> Option<CrawlUrl> {
        if !self.conditions.traps.soft_404 || !self.watched.wants_probe(host) {
            return None;
        }
        absent::probe(url, self.conditions.seed)
    }

    /// Settles the answer to a probe.
    pub(super) fn settle_absent(&mut self, events: &mut Vec<Event>, host: HostId, outcome: FetchOutcome, now: Millis) {
        let answer = match outcome {
            FetchOutcome::Page { page, .. } => {
                Some(AbsentPage::Page { sketch: page.sketch, title: title(&page.title) })
            }
            FetchOutcome::Redirect { to, .. } => {
                Some(AbsentPage::Redirect(self.in_preferred_scheme(&to).unwrap_or(to)))
            }
            // The failure counts against the host like that of a page.
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

    /// Folds a newly fetched page.
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
            // A page that duplicates one on a third host may duplicate one on this host too.
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

    /// Folds a logged conclusion.
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

    pub(super) fn count_no_page(&mut self) {
        self.watched.counts.soft_404 += 1;
    }
}

/// Hash of a title, to distinguish templates.
fn title(title: &str) -> u32 {
    xxh3_64(title.as_bytes()) as u32
}
