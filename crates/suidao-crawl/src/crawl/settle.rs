//! Events that a fetched page, a redirect or a failure causes: the decisions of [`Crawl::settle`].

use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet};
use xxhash_rust::xxh3::xxh3_64_with_seed;

use crate::strategy::{LinkCandidate, PageVisit};
use suidao_page::model::{
    CrawlUrl, Event, Failure, FailureKind, ForumPageView, ForumRole, ForumStep, Link, LinkDecision, LinkScores,
    LinkState, Millis, Outlink, Page, PageChanges, PageProcessed, QueueEntry, Region, Relevance, SkipReason,
    TrapSignals, UrlId, UrlOrigin, Validators,
};

use super::forums::ForumPageResult;
use super::health::asks_to_wait;
use super::machine::{Crawl, CrawlSettings, EndedTunnel};
use crate::trap::series::goes_on;
use suidao_forum::forum::shape::{sessions, without};

impl Crawl {
    pub(super) fn settle_page(
        &mut self,
        events: &mut Vec<Event>,
        id: UrlId,
        url: &CrawlUrl,
        arrived: Arrived,
        now: Millis,
    ) {
        let Arrived { status, mut page, sight, validators } = arrived;
        let sight = sight.as_deref();
        let place = self.urls.get(id).place();
        if let Some(known) = self.tracked(id)
            && known.body == page.digest
        {
            let since = known.whole;
            self.tell(events, Event::Unchanged { id, status, since, validators }, now);
            return;
        }
        if self.is_no_page(id, url, &page) {
            let failure = Failure { kind: FailureKind::NoSuchPage, retry_after: None };
            self.settle_failure(events, id, failure, now);
            return;
        }
        let forum = sight.and_then(|sight| self.read_forum(events, id, url, sight, now));
        let wants: FxHashMap<UrlId, ForumRole> =
            forum.iter().flat_map(|(_, made)| &made.wants).map(|want| (want.to, want.role)).collect();
        if let Some((_, made)) = &forum {
            // Without session parameters, so that a link is the same on every visit.
            let names = sessions(page.outlinks.iter().map(|outlink| &outlink.url));
            for outlink in page.outlinks.iter_mut().filter(|_| !names.is_empty()) {
                outlink.url = without(&outlink.url, &names);
            }
            add_wanted(&mut page.outlinks, made);
        }
        self.drop_sessions(&mut page.outlinks);
        let looked = (forum.is_none() && self.tracked(id).is_none()).then(|| self.look_for_traps(id, url, &page));
        let outlinks = outlinks(&page);
        let again = self.tracked(id).map(|known| known.compare(page.sketch.digest, outlinks));
        let mut candidates = Vec::with_capacity(page.outlinks.len());
        let mut targets = Vec::with_capacity(page.outlinks.len());
        let mut seen = FxHashSet::with_capacity_and_hasher(page.outlinks.len(), FxBuildHasher);
        let found = self.urls.find_all(page.outlinks.iter().map(|outlink| &outlink.url));
        for (outlink, found) in std::mem::take(&mut page.outlinks).into_iter().zip(found) {
            let (target, found) = match found {
                Some((to, host)) if !self.is_other_scheme(host, &outlink.url) => (outlink.url, Some(to)),
                _ => match self.in_preferred_scheme(&outlink.url) {
                    Some(home) => (home, None),
                    None => (outlink.url, found.map(|(to, _)| to)),
                },
            };
            if target == *url {
                continue;
            }
            let refusal = if self.conditions.scope.nofollow.refuses(page.nofollow, outlink.nofollow) {
                Some(SkipReason::NoFollow)
            } else {
                self.refuses(&target)
            };
            let refusal = refusal.or_else(|| if found.is_some() { None } else { self.refuses_new(&target) });
            if let Some(reason) = refusal {
                self.skip(events, &target, Some(id), reason, now);
                continue;
            }
            let found = if wants.is_empty() { found } else { found.or_else(|| self.urls.find(&target)) };
            let role = found.and_then(|to| wants.get(&to)).copied();
            if forum.is_some() && role.is_none() && self.is_function(url, &target) {
                // A known URL is a board or a thread wanted before, or was excluded before.
                if self.urls.find(&target).is_none() {
                    self.skip(events, &target, Some(id), SkipReason::ForumFunction, now);
                }
                continue;
            }
            let to = found.unwrap_or_else(|| self.number(events, &target, UrlOrigin::Link(id), &outlink.anchor, now));
            // Links that differ only in the scheme are one.
            if !seen.insert(to) {
                continue;
            }
            targets.push(to);
            let Outlink { evidence, relevance, region, path, .. } = outlink;
            candidates.push(LinkCandidate { url: target, evidence, relevance, region, path, role });
        }
        let foreign = self.is_foreign(page.language.as_deref());
        let relevant = page.relevance >= self.conditions.page_threshold && !foreign;
        let is_first = self.hosts.get(self.urls.get(id).host()).pages == 0;
        let feeds = if is_first { std::mem::take(&mut page.feeds) } else { Vec::new() };
        let visit = PageVisit {
            id,
            relevance: page.relevance,
            relevant,
            place,
            layer: page.layer,
            link_threshold: self.conditions.link_threshold,
            links: &candidates,
        };
        let claim = self.claim_address(events, id, url, &page, now);
        // The links of a copy are left to its canonical address, which is fetched in its place.
        let repeats = looked.as_ref().is_some_and(|looked| looked.repeats) && !self.canonicals.is_claimed(id);
        let left_be = claim.map(|_| SkipReason::Copy).or(repeats.then_some(SkipReason::NearDuplicate));
        let mut judged = self.judge(&visit, &targets, left_be);
        let signs = looked.map_or_else(TrapSignals::default, |looked| {
            let barren = self.is_barren(&looked, (page.sketch, page.listing), &visit, &targets);
            TrapSignals { barren, ..looked.signs }
        });
        judged.links.extend(claim.and_then(|claim| self.lead_to(claim, &page, place)));
        let named = self.name_sources(events, &visit, &feeds, now);
        let (forum, made) = forum.unzip();
        let forum = forum.map(Box::new);
        // A link not discovered before is a change, wherever on the page it is.
        let brought = |event: &Event| matches!(event, Event::Discovered(found) if found.origin == UrlOrigin::Link(id));
        let again = again.map(|found| PageChanges { links: found.links || events.iter().any(brought), ..found });
        let own = PageProcessed::of(id, status, place, relevant, page);
        let settled = PageProcessed {
            links: judged.links,
            known: judged.known,
            forum,
            validators,
            again,
            outlinks,
            feeds,
            signs,
            copy_of: claim,
            foreign,
            ..own
        };
        self.tell(events, Event::PageFetched(Box::new(settled)), now);
        if let Some(named) = named {
            self.tell(events, named, now);
        }
        if let Some(due) = made.map(|made| made.due).filter(|due| !due.is_empty()) {
            self.tell(events, Event::Forum(Box::new(ForumStep { due, ..ForumStep::default() })), now);
        }
        self.expand(events, judged.longer, now);
        self.tell_traps(events, now);
    }

    /// Asks the strategy, applies the limits, and separates links that change nothing. `left_be`: a reason to follow
    /// none of the links.
    pub(super) fn judge(&self, visit: &PageVisit, targets: &[UrlId], left_be: Option<SkipReason>) -> JudgedLinks {
        let mut judged = JudgedLinks::default();
        let verdicts = self.strategy.judge(visit);
        let page = (left_be == Some(SkipReason::NearDuplicate)).then(|| self.urls.url(visit.id));
        debug_assert_eq!(verdicts.len(), targets.len(), "one verdict per link");
        for ((&to, candidate), verdict) in targets.iter().zip(visit.links).zip(verdicts) {
            let verdict = match left_be {
                // Further pages of a list are followed anyway: its first page may repeat the text of a post.
                Some(_) if page.as_ref().is_some_and(|page| goes_on(page, &candidate.url)) => self.cap(verdict),
                Some(reason) => LinkDecision::Drop(reason),
                None => self.cap(verdict),
            };
            let &LinkCandidate { evidence, relevance, region, path, .. } = candidate;
            let link = Link { to, region, path, evidence, relevance, verdict };
            let known = self.urls.get(to);
            match (known.state, verdict) {
                (LinkState::Queued | LinkState::InFlight, LinkDecision::Follow(place))
                    if self.strategy.merge(known.place(), place) != known.place() =>
                {
                    judged.links.push(link);
                }
                (LinkState::Dropped, LinkDecision::Follow(_)) => judged.links.push(link),
                // Logged with its scores: the page may prove not to be a copy.
                (_, LinkDecision::Drop(SkipReason::Copy)) => judged.links.push(link),
                // Logged with its scores even if it changes nothing now: a longer tunnel may revive it.
                (LinkState::Dropped | LinkState::Queued, LinkDecision::Drop(SkipReason::TunnelEnd)) => {
                    judged.links.push(link)
                }
                (LinkState::Dropped, LinkDecision::Drop(_)) if known.dropped.is_none() => judged.links.push(link),
                (LinkState::Fetched, LinkDecision::Follow(place)) if !self.strategy.learns() => {
                    judged.known.push(to);
                    judged.longer.push((to, place));
                }
                _ if self.strategy.learns() => judged.links.push(link),
                _ => judged.known.push(to),
            }
        }
        judged
    }

    fn cap(&self, verdict: LinkDecision) -> LinkDecision {
        let limits = &self.conditions.limits;
        match verdict {
            LinkDecision::Follow(place) if limits.depth.is_some_and(|most| place.trail.depth > most) => {
                LinkDecision::Drop(SkipReason::Depth)
            }
            LinkDecision::Follow(place) if place.trail.hops > limits.hops => LinkDecision::Drop(SkipReason::Hops),
            verdict => verdict,
        }
    }

    /// Judges again, from the logged links, fetched pages whose links were dropped at the end of a tunnel and which a
    /// longer tunnel now reaches. Otherwise the result would depend on the order of arrival.
    pub(super) fn expand(&mut self, events: &mut Vec<Event>, mut longer: Vec<(UrlId, QueueEntry)>, now: Millis) {
        while let Some((id, place)) = longer.pop() {
            let Some(ended) = self.ended.get(&id) else { continue };
            if place.trail.k <= ended.place.trail.k {
                continue;
            }
            let judged = self.judge_anew(id, ended, false, place);
            longer.extend(judged.longer);
            self.tell(events, Event::Rejudged { id, place, links: judged.links }, now);
        }
    }

    /// Judges the logged links of a page as if it had been fetched from this queue entry.
    pub(super) fn judge_anew(&self, id: UrlId, page: &EndedTunnel, relevant: bool, place: QueueEntry) -> JudgedLinks {
        let targets: Vec<UrlId> = page.links.iter().map(|link| link.to).collect();
        let candidate = |&Link { to, region, path, evidence, relevance, .. }: &Link| LinkCandidate {
            url: self.urls.url(to),
            evidence,
            relevance,
            region,
            path,
            role: None,
        };
        let candidates: Vec<LinkCandidate> = page.links.iter().map(candidate).collect();
        let visit = PageVisit {
            id,
            relevance: page.relevance,
            relevant,
            place,
            // No strategy that ends tunnels uses it.
            layer: None,
            link_threshold: self.conditions.link_threshold,
            links: &candidates,
        };
        self.judge(&visit, &targets, None)
    }

    pub(super) fn settle_redirect(
        &mut self,
        events: &mut Vec<Event>,
        id: UrlId,
        to: &CrawlUrl,
        permanent: bool,
        now: Millis,
    ) {
        let own = self.urls.url(id);
        // A server that answers a URL without a session by one with a session gets the latter.
        let plain = self.without_session(to).filter(|plain| *plain != own);
        let to = plain.as_ref().unwrap_or(to);
        let home = self.in_preferred_scheme(to);
        let to = home.as_ref().unwrap_or(to);
        if self.tracked(id).is_none() && self.urls.find(to).is_some_and(|to| self.is_circle(id, to)) {
            let failure = Failure { kind: FailureKind::RedirectLoop, retry_after: None };
            return self.settle_failure(events, id, failure, now);
        }
        let known = self.urls.get(id);
        let (place, redirects) = (Self::ahead(known.place()), known.redirects() + 1);
        let too_many = redirects > self.conditions.limits.redirects.min(15);
        let refusal = if too_many { Some(SkipReason::Redirects) } else { self.refuses(to) };
        let link = if let Some(reason) = refusal {
            // A known URL may be fetched for another reason.
            if self.urls.find(to).is_none() {
                self.skip(events, to, Some(id), reason, now);
            }
            None
        } else {
            let target = self.number(events, to, UrlOrigin::Redirect(id), "", now);
            let state = self.urls.get(target).state;
            let waits = matches!(state, LinkState::Dropped | LinkState::Queued);
            waits.then_some(Link::bare(target, Relevance::ZERO, LinkDecision::Follow(place)))
        };
        let was_page = self.tracked(id).is_some_and(|known| !known.retired);
        let to = self.urls.find(to).filter(|_| permanent);
        self.tell(events, Event::Redirected { id, link, permanent }, now);
        if was_page && self.is_lost(id, now) {
            self.tell(events, Event::PageGone { id, to }, now);
        }
    }

    /// Whether a redirect leads back to where it began. A rewritten spelling may be redirected back.
    fn is_circle(&self, from: UrlId, to: UrlId) -> bool {
        let next = |at: &UrlId| {
            let redirected = self.urls.get(*at).state == LinkState::Redirected;
            redirected.then(|| self.canonicals.moved_to(*at)).flatten()
        };
        let most = usize::from(self.conditions.limits.redirects) + 2;
        std::iter::successors(Some(to), next).take(most).any(|at| at == from)
    }

    /// Settles a 304.
    pub(super) fn settle_unchanged(&mut self, events: &mut Vec<Event>, id: UrlId, now: Millis) {
        match self.tracked(id).map(|known| known.whole) {
            Some(since) => self.tell(events, Event::Unchanged { id, status: 304, since, validators: None }, now),
            // The request was unconditional.
            None => self.settle_failure(events, id, Failure { kind: FailureKind::Status(304), retry_after: None }, now),
        }
    }

    pub(super) fn settle_failure(&mut self, events: &mut Vec<Event>, id: UrlId, failure: Failure, now: Millis) {
        let may_be_tried = self.urls.get(id).tries() < self.conditions.limits.retries.min(15);
        let event = if failure.is_transient() && (may_be_tried || self.is_hosts_fault(id, &failure)) {
            Event::FetchRetried { id, failure }
        } else {
            Event::FetchFailed { id, failure }
        };
        let gone = |failure: &Failure| matches!(failure.kind, FailureKind::Status(404 | 410) | FailureKind::NoSuchPage);
        let failed =
            matches!(&event, Event::FetchFailed { failure, .. } if gone(failure)) && self.tracked(id).is_some();
        // A failing host is no evidence about a page.
        let tells = matches!(&event, Event::FetchFailed { failure, .. } if !failure.is_hosts());
        self.tell(events, event, now);
        if tells {
            self.tell_needed(events, id, now);
        }
        if failed && self.is_lost(id, now) {
            self.tell(events, Event::PageGone { id, to: None }, now);
        }
    }

    /// Whether the last failure of a page counts against its host: the host has failed as often in a row and a page
    /// could not cause that, or it asks to slow down, or other URLs of the host can show which of the two it is. Never
    /// if requests are not spaced, since the same page would be next at once.
    fn is_hosts_fault(&self, id: UrlId, failure: &Failure) -> bool {
        let CrawlSettings { limits, politeness, .. } = &self.conditions;
        let host = self.hosts.get(self.urls.get(id).host());
        let others = host.queued as usize > host.parked.len();
        let waits = politeness.backoff > 0.0 && limits.retries > 0;
        let is_host = host.health.opens(limits) && (failure.is_down() || asks_to_wait(failure) || others);
        failure.is_hosts() && waits && !self.is_due(id) && is_host
    }
}

pub(super) struct Arrived {
    pub status: u16,
    pub page: Page,
    pub sight: Option<Box<ForumPageView>>,
    pub validators: Option<Box<Validators>>,
}

#[derive(Default)]
pub(super) struct JudgedLinks {
    pub links: Vec<Link>,
    known: Vec<UrlId>,
    /// Fetched pages that this page links to, with the queue entry it would give them.
    pub longer: Vec<(UrlId, QueueEntry)>,
}

/// Order-independent digest of the links in the main content. For listings, and pages without content links, of all
/// links.
fn outlinks(page: &Page) -> u64 {
    let all = page.listing || page.outlinks.iter().all(|link| link.region != Region::Content);
    let links = page.outlinks.iter().filter(|link| all || link.region == Region::Content);
    let mut set: Vec<u64> = links.map(|link| link.url.fingerprint()).collect();
    set.sort_unstable();
    set.dedup();
    set.iter().fold(0, |digest, link| xxh3_64_with_seed(&link.to_le_bytes(), digest))
}

/// Adds links that a forum needs and the page lacks, or has in another spelling. They score the average of the page's
/// other links of the forum.
fn add_wanted(outlinks: &mut Vec<Outlink>, made: &ForumPageResult) {
    let linked: FxHashMap<&CrawlUrl, f32> =
        outlinks.iter().map(|outlink| (&outlink.url, outlink.relevance.get())).collect();
    let worths: Vec<f32> = made.wants.iter().filter_map(|want| linked.get(&want.url)).copied().collect();
    let mean = Relevance::new(worths.iter().sum::<f32>() / worths.len().max(1) as f32);
    let missing: Vec<Outlink> = made
        .wants
        .iter()
        .filter(|want| !linked.contains_key(&want.url))
        .map(|want| Outlink {
            url: want.url.clone(),
            anchor: want.text.clone(),
            evidence: LinkScores::default(),
            relevance: mean,
            region: Region::Content,
            path: 0,
            nofollow: false,
        })
        .collect();
    outlinks.extend(missing);
}
