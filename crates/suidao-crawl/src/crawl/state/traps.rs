//! Trap rules: their results for a URL and for a page, and what they learn from fetched pages.

use suidao_page::model::{
    CrawlUrl, HostId, LinkState, Outlink, Page, PageProcessed, Region, Sketch, SkipReason, TrapSignals, TrapStep, UrlId,
};

use super::{EventTime, State};
use crate::crawl::traps::{PROBES, SUSPECTS, Suspicion, TrapState, title};
use crate::strategy::PageVisit;
use crate::trap::series::UrlSeries;
use crate::trap::series_tracker::SeriesPage;
use crate::trap::session::without;
use crate::trap::{MEANINGFUL, Traps, soft_404};

/// Result of the trap rules for a page, before its links are judged.
pub struct TrapCheck {
    series: Option<UrlSeries>,
    pub signals: TrapSignals,
    /// Its links are not followed.
    pub repeats: bool,
}

impl State {
    /// Why a URL is skipped when it would be fetched.
    pub fn refuses_now(&self, id: UrlId, url: &CrawlUrl) -> Option<SkipReason> {
        // It was queued while the port was allowed.
        if let Some(reason) = self.settings.scope.refuses_port(url) {
            return Some(reason);
        }
        // Seeds are always fetched.
        if self.urls.get(id).entry().path.depth == 0 {
            return None;
        }
        let most = self.settings.traps.missing;
        if most > 0 && self.hosts.get(self.urls.get(id).host()).missing >= u32::from(most) {
            return Some(SkipReason::MissingPages);
        }
        self.learnt_skip_reason(url, false)
    }

    /// Why the rules that learn exclude a URL; `new`: nothing is known of it yet.
    pub fn learnt_skip_reason(&self, url: &CrawlUrl, new: bool) -> Option<SkipReason> {
        if self.traps.series_tracker.has_ended(url) {
            return Some(SkipReason::Series);
        }
        self.is_mirrored(url, new).then_some(SkipReason::Mirror)
    }

    /// Whether a mirror has the URL's page or, for a new URL, will have it.
    fn is_mirrored(&self, url: &CrawlUrl, new: bool) -> bool {
        if self.traps.mirrors.is_empty() {
            return false;
        }
        let Some(host) = self.hosts.id_of(url) else { return false };
        self.traps.mirrors.of(host).iter().any(|mirror| match self.on_host(url, *mirror) {
            Some(original) => match self.urls.get(original).state {
                LinkState::Fetched | LinkState::InFlight => true,
                LinkState::Queued => new,
                _ => false,
            },
            None => false,
        })
    }

    /// The URL with this path on another host, if known.
    fn on_host(&self, url: &CrawlUrl, host: HostId) -> Option<UrlId> {
        let name = self.traps.names.get(&host)?;
        self.find_preferred(&url.on(name)?)
    }

    /// The URL without session parameters; none if it has none.
    pub fn without_session(&self, url: &CrawlUrl) -> Option<CrawlUrl> {
        url.query()?;
        let given = &self.settings.traps.session_parameters;
        let plain = if given.is_empty() {
            None
        } else {
            without(url, |name| given.iter().any(|given| given.eq_ignore_ascii_case(name)))
        };
        let given_removed = plain.as_ref().unwrap_or(url);
        let learnt = self.hosts.id_of(given_removed).and_then(|host| self.traps.sessions.without(host, given_removed));
        learnt.or(plain)
    }

    /// The URL without session parameters, to be requested instead; none if the host redirects that, because then it
    /// requires a session.
    pub fn plain(&self, url: &CrawlUrl) -> Option<CrawlUrl> {
        let is_redirected = |plain: &CrawlUrl| {
            let known = self.find_preferred(plain);
            known.is_some_and(|known| self.urls.get(known).state == LinkState::Redirected)
        };
        self.without_session(url).filter(|plain| !is_redirected(plain))
    }

    /// Removes session parameters from a page's links.
    pub fn drop_sessions(&self, outlinks: &mut [Outlink]) {
        if self.traps.sessions.is_empty() && self.settings.traps.session_parameters.is_empty() {
            return;
        }
        for outlink in outlinks {
            if let Some(plain) = self.without_session(&outlink.url) {
                outlink.url = plain;
            }
        }
    }

    /// Whether a response equals the host's answer for a page that cannot exist.
    pub fn matches_soft_404(&self, id: UrlId, url: &CrawlUrl, page: &Page) -> bool {
        let suspicion = self.traps.suspicions.get(&self.urls.get(id).host());
        let response = suspicion.and_then(|suspicion| suspicion.response.as_ref());
        let (sketch, title) = (page.sketch, title(&page.title));
        let is_suspicious =
            || page.missing || self.traps.near_duplicates.find(sketch, title).is_some_and(|found| found.page != id.0);
        response.is_some_and(|response| {
            soft_404::is_same(response, url, sketch, title) || soft_404::is_alike(response, url) && is_suspicious()
        })
    }

    /// Checks a newly fetched page before its links are judged.
    pub fn look_for_traps(&self, id: UrlId, url: &CrawlUrl, page: &Page) -> TrapCheck {
        let traps = &self.settings.traps;
        let title = title(&page.title);
        let leader = self.traps.near_duplicates.find(page.sketch, title).filter(|leader| leader.page != id.0);
        let depth = self.urls.get(id).entry().path.depth;
        // Lists may look alike and still lead to new pages: the series rule ends them. The same text under another
        // title may lead elsewhere, since a tag page may show a whole post. A home page links to the whole host;
        // whether that is a mirror shows on its pages.
        let is_home = url.path() == "/" && url.query().is_none();
        let is_meaningful = page.sketch.chars >= MEANINGFUL && !page.listing && depth > 0 && !is_home;
        let repeats = traps.near_duplicates && is_meaningful && leader.is_some_and(|leader| leader.title == title);
        let original = leader.map(|leader| UrlId(leader.page));
        TrapCheck {
            series: UrlSeries::of(url),
            signals: TrapSignals { duplicate_of: original, soft_404: page.missing, no_new_content: false },
            repeats,
        }
    }

    /// Whether a page adds nothing new to its series, given its links.
    pub fn adds_nothing_new(
        &self,
        check: &TrapCheck,
        (sketch, listing): (Sketch, bool),
        visit: &PageVisit,
        targets: &[UrlId],
    ) -> bool {
        let Some(series) = &check.series else { return false };
        let any = visit.links.iter().any(|link| link.region != Region::Boilerplate);
        let leads = visit.links.iter().zip(targets).filter(|(link, _)| {
            let is_content = link.region != Region::Boilerplate || !any;
            is_content && UrlSeries::of(&link.url).is_none_or(|other| !series.is_relative(&other))
        });
        let leads: Vec<UrlId> = leads.map(|(_, to)| *to).collect();
        self.traps
            .series_tracker
            .adds_nothing_new(series, &SeriesPage { content_links: &leads, sketch, listing, on_topic: visit.on_topic })
    }

    /// The URL of a page that cannot exist, if this host should be probed for soft 404s.
    pub fn probe(&self, host: HostId, url: &CrawlUrl) -> Option<CrawlUrl> {
        if !self.settings.traps.soft_404 || !self.traps.wants_probe(host) {
            return None;
        }
        soft_404::probe(url, self.settings.seed)
    }

    /// Folds a newly fetched page.
    pub(super) fn observe_traps(&mut self, page: &PageProcessed) {
        let Traps { series: most, sessions, soft_404, mirrors, near_duplicates, .. } = self.settings.traps;
        let compares = near_duplicates || soft_404 || mirrors > 0;
        if page.forum.is_some() {
            return;
        }
        let (id, sketch, title) = (page.id, page.sketch, title(&page.title));
        let (host, url) = (self.urls.get(id).host(), self.urls.url(id));
        let TrapState { near_duplicates, series_tracker, suspicions, due, counts, .. } = &mut self.traps;
        match page.trap_signals.duplicate_of {
            Some(_) => counts.near_duplicates += 1,
            None if compares => near_duplicates.add(id.0, sketch, title),
            None => {}
        }
        if let Some(series) = UrlSeries::of(&url).filter(|_| most > 0) {
            let links = page.links.iter().map(|link| link.to).chain(page.known.iter().copied());
            if series_tracker.observe(&series, page.trap_signals.no_new_content, sketch, links) >= most {
                due.push(TrapStep::NoNewContent { id });
            }
        }
        if soft_404 {
            let repeats = page.trap_signals.duplicate_of.is_some_and(|original| self.urls.get(original).host() == host);
            if (repeats || page.trap_signals.soft_404) && sketch.chars > 0 {
                let suspicion = suspicions.entry(host).or_default();
                suspicion.is_announced |= page.trap_signals.soft_404;
                if !suspicion.checked && suspicion.pages.len() < SUSPECTS {
                    suspicion.pages.push((id, sketch, title));
                }
            }
        }
        if sessions {
            for name in self.traps.sessions.observe(host, &url, sketch, page.trap_signals.soft_404) {
                self.traps.due.push(TrapStep::Session { host, name });
            }
            for name in self.traps.sessions.check(host, &url, sketch) {
                self.traps.due.push(TrapStep::NoSession { host, name });
            }
        }
        if mirrors > 0 && sketch.chars >= MEANINGFUL {
            self.observe_mirrors(host, &url, page.trap_signals.duplicate_of);
        }
    }

    fn observe_mirrors(&mut self, host: HostId, url: &CrawlUrl, original: Option<UrlId>) {
        let enough = self.settings.traps.mirrors;
        let mut compared: Vec<(HostId, Box<str>, bool)> = Vec::new();
        if let Some(original) = original {
            let (other, there) = (self.urls.get(original).host(), self.urls.url(original));
            if other != host && (there.path(), there.query()) == (url.path(), url.query()) {
                compared.push((other, there.authority().into(), true));
            }
        }
        for &partner in self.traps.mirrors.partners(host) {
            // A page that duplicates one on a third host may duplicate one on this host too.
            let differs = original.is_none()
                && self.on_host(url, partner).is_some_and(|there| self.urls.get(there).state == LinkState::Fetched);
            if differs && let Some(name) = self.traps.names.get(&partner) {
                compared.push((partner, name.clone(), false));
            }
        }
        for (other, name, equal) in compared {
            self.traps.names.insert(other, name.clone());
            self.traps.names.insert(host, url.authority().into());
            if self.traps.mirrors.observe(host, other, equal, enough) {
                let (host, of) = (url.authority().to_owned(), name.into_string());
                self.traps.due.push(TrapStep::Mirror { host, of });
            }
        }
    }

    /// Folds a logged conclusion.
    pub(super) fn apply_trap(&mut self, step: &TrapStep, time: EventTime) {
        self.traps.due.retain(|due| due != step);
        match step {
            TrapStep::Soft404Probe { host, response, pages } => {
                let suspicion = self.traps.suspicions.entry(*host).or_default();
                *suspicion = Suspicion { checked: true, response: response.clone(), ..Suspicion::default() };
                self.traps.counts.probes += 1;
                self.traps.counts.soft_404 += pages.len() as u64;
                self.record_response((*host, None), false, None, time);
            }
            TrapStep::Unanswered { host, failure } => {
                let suspicion = self.traps.suspicions.entry(*host).or_default();
                suspicion.unanswered += 1;
                if suspicion.unanswered >= PROBES {
                    *suspicion = Suspicion { checked: true, ..Suspicion::default() };
                    self.traps.counts.probes += 1;
                }
                self.record_response((*host, None), false, Some(failure), time);
            }
            TrapStep::Session { host, name } => {
                self.traps.sessions.learn(*host, name);
                self.traps.counts.session_parameters += 1;
            }
            TrapStep::NoSession { host, name } => {
                self.traps.sessions.unlearn(*host, name);
                self.traps.counts.session_parameters = self.traps.counts.session_parameters.saturating_sub(1);
            }
            TrapStep::Mirror { host, of } => {
                let number = |name: &str| {
                    CrawlUrl::parse(&format!("http://{name}/")).ok().and_then(|url| self.hosts.id_of(&url))
                };
                if let (Some(one), Some(other)) = (number(host), number(of)) {
                    self.traps.mirrors.learn(one, other);
                    self.traps.names.insert(one, host.as_str().into());
                    self.traps.names.insert(other, of.as_str().into());
                }
                self.traps.counts.mirrors = self.traps.mirrors.len() as u64;
            }
            TrapStep::NoNewContent { id } => {
                if let Some(series) = UrlSeries::of(&self.urls.url(*id)) {
                    self.traps.series_tracker.end(&series);
                }
                self.traps.counts.ended = self.traps.series_tracker.ended() as u64;
            }
        }
    }
}
