//! What a response leads to, other than a page: the scheme and address of its host, a redirect, the rules of a
//! robots.txt, the answer to a probe.

use super::failure::failed;
use super::page::{self, FetchedPage};
use super::{ahead, sitemaps};
use crate::crawl::draft::Draft;
use crate::crawl::outcome::{FetchOutcome, ResponseMeta};
use crate::crawl::robots::OriginRobots;
use crate::crawl::state::State;
use crate::crawl::ticket::{FetchKind, Ticket};
use crate::crawl::traps::title;
use crate::trap::soft_404;
use suidao_page::model::{
    AT_ONCE, CrawlUrl, Event, Failure, FailureKind, HostId, Link, LinkDecision, LinkState, MissingPageResponse,
    RefreshStep, Relevance, RobotsRules, Sketch, SkipReason, TrapStep, UrlId, UrlOrigin,
};

/// RFC 9309, 2.3.1.2: a crawler should follow at least five redirects of a robots.txt.
const ROBOTS_REDIRECTS: u8 = 5;

/// Records the address and the scheme of the host that a response shows, if they are new. Returns whether the request
/// must be repeated under http, because the host does not answer under https.
pub fn host_facts(draft: &mut Draft, ticket: &Ticket, outcome: &FetchOutcome, meta: ResponseMeta) -> bool {
    let host = ticket.host;
    let known = draft.state.hosts.get(host).address.map(|(address, _)| address);
    // The address of a robots.txt on another host does not count.
    if let Some(address) = meta.from.filter(|address| Some(*address) != known)
        && draft.state.hosts.id_of(&ticket.url) == Some(host)
    {
        draft.push(Event::HostResolved { host, address });
    }
    let Some(https) = new_scheme(draft.state, ticket, outcome) else { return false };
    draft.push(Event::Scheme { host, https });
    ticket.url.is_https() && matches!(outcome, FetchOutcome::Failed(_)) && !https
}

/// The host's scheme according to a response, if that is new: the first that it answers, http if https cannot be
/// connected, and the one that it redirects the same URL to.
fn new_scheme(state: &State, ticket: &Ticket, outcome: &FetchOutcome) -> Option<bool> {
    let known = state.hosts.get(ticket.host).https;
    let https = ticket.url.is_https();
    let https = match outcome {
        // A robots.txt may redirect to another host, whose response does not count for this one.
        _ if !ticket.origin.is_empty() && ticket.origin != ticket.url.origin() => None,
        FetchOutcome::Redirect { to, .. } if ticket.url.under(!https).is_some_and(|other| other == *to) => Some(!https),
        FetchOutcome::Failed(Failure { kind, .. })
            if !matches!(kind, FailureKind::Status(_) | FailureKind::MediaType(_)) =>
        {
            let closed = matches!(kind, FailureKind::Connect | FailureKind::Refused);
            (https && known.is_none() && closed).then_some(false)
        }
        _ => known.is_none().then_some(https),
    };
    https.filter(|https| state.settings.scope.one_scheme && known != Some(*https))
}

/// What the outcome of a ticket leads to.
pub fn settled(draft: &mut Draft, ticket: Ticket, outcome: FetchOutcome, meta: ResponseMeta) {
    let (is_plain, is_source) =
        (matches!(ticket.kind, FetchKind::Plain(_)), matches!(ticket.kind, FetchKind::Sitemap(_)));
    let id = match ticket.kind {
        FetchKind::Page(id) | FetchKind::Plain(id) | FetchKind::Forum(id, _) | FetchKind::Sitemap(id) => id,
        FetchKind::Soft404Probe(host) => return probed(draft, host, outcome),
        FetchKind::Robots { host, https } => return robots(draft, host, https, ticket.origin, outcome),
    };
    match outcome {
        FetchOutcome::Page { status, page, page_view, validators } => {
            let page_view = page_view.filter(|_| !is_plain);
            page::fetched(draft, id, &ticket.url, FetchedPage { status, page: *page, page_view, validators });
        }
        FetchOutcome::Sitemap(content, validators) => sitemaps::read(draft, id, *content, validators),
        FetchOutcome::Unchanged if is_source => sitemaps::unchanged(draft, id),
        FetchOutcome::Unchanged => unchanged(draft, id),
        FetchOutcome::Redirect { to, .. } if is_source && meta.new_cookies && draft.find(&to) == Some(id) => {
            let failure = Failure { kind: FailureKind::RedirectLoop, retry_after: None };
            let may_be_tried = draft.state.urls.get(id).tries() < draft.settings.limits.retries.min(15);
            draft.push(match may_be_tried {
                true => Event::FetchRetried { id, failure },
                false => Event::FetchFailed { id, failure },
            });
        }
        FetchOutcome::Redirect { to, .. } if is_source => sitemaps::moved(draft, id, &to),
        FetchOutcome::Redirect { to, permanent } => redirected(draft, id, &to, permanent, meta.new_cookies),
        FetchOutcome::Failed(failure) => failed(draft, id, failure),
        FetchOutcome::Robots(_) => failed(draft, id, Failure { kind: FailureKind::Broken, retry_after: None }),
    }
}

/// A 304.
fn unchanged(draft: &mut Draft, id: UrlId) {
    match draft.state.tracked(id).map(|known| known.whole) {
        Some(since) => draft.push(Event::Unchanged { id, status: 304, since, validators: None }),
        // The request was unconditional.
        None => failed(draft, id, Failure { kind: FailureKind::Status(304), retry_after: None }),
    }
}

/// A redirect. `new_cookies`: see [`ResponseMeta`].
fn redirected(draft: &mut Draft, id: UrlId, to: &CrawlUrl, permanent: bool, new_cookies: bool) {
    let state = draft.state;
    let own = state.urls.url(id);
    // If a server redirects a URL without a session to the same with one, the latter is requested.
    let plain = state.without_session(to).filter(|plain| *plain != own);
    let to = draft.preferred(plain.as_ref().unwrap_or(to));
    let known = draft.find(&to).filter(|target| (target.0 as usize) < state.urls.len());
    if let Some(target) = known.filter(|target| is_bounce(state, id, *target, new_cookies)) {
        return bounced(draft, id, target);
    }
    if known.is_some_and(|target| is_occupied(state, id, target, new_cookies)) {
        let failure = Failure { kind: FailureKind::RedirectLoop, retry_after: None };
        return draft.push(Event::FetchRetried { id, failure });
    }
    if state.tracked(id).is_none() && draft.find(&to).is_some_and(|to| is_circle(state, id, to)) {
        return failed(draft, id, Failure { kind: FailureKind::RedirectLoop, retry_after: None });
    }
    let known = state.urls.get(id);
    let (entry, redirects) = (ahead(known.entry()), known.redirects() + 1);
    let too_many = redirects > draft.settings.limits.redirects.min(15);
    let skip_reason = if too_many { Some(SkipReason::Redirects) } else { draft.settings.skip_reason(&to) };
    let link = if let Some(reason) = skip_reason {
        // A known URL may be fetched for another reason.
        if draft.find(&to).is_none() {
            draft.reject(&to, Some(id), reason);
        }
        None
    } else {
        let target = draft.id(&to, UrlOrigin::Redirect(id), "");
        let follow = LinkDecision::Follow(entry);
        draft.may_be_queued(target).then_some(Link::without_page(target, Relevance::ZERO, follow))
    };
    let target = draft.find(&to).filter(|_| permanent);
    draft.push(Event::Redirected { id, link, permanent });
    if state.tracked(id).is_some_and(|known| !known.retired) {
        draft.perhaps_gone(id, target);
    }
}

/// Whether the target of a redirect was requested before and is worth another request: it redirected then, and is sent
/// other cookies now. A due page that was sent to a login or a counter before goes there again in each round.
fn is_bounce(state: &State, id: UrlId, target: UrlId, new_cookies: bool) -> bool {
    let redirected = target == id || state.urls.get(target).state == LinkState::Redirected;
    let is_allowed = state.urls.get(id).redirects() < state.settings.limits.redirects.min(15);
    let to_page = state.is_page(target) && leads_to(state, target, id);
    let of_page = state.tracked(id).is_some() && leads_to(state, target, id);
    is_allowed && (new_cookies && (redirected || to_page) || redirected && of_page)
}

/// Whether the redirects of a URL have led to another.
fn leads_to(state: &State, from: UrlId, to: UrlId) -> bool {
    let next = |at: &UrlId| state.canonicals.moved_to(*at);
    std::iter::successors(next(&from), next).take(usize::from(state.settings.limits.redirects)).any(|at| at == to)
}

/// Requests the target of a redirect again: a page at once, another URL in the old place of the first.
fn bounced(draft: &mut Draft, id: UrlId, target: UrlId) {
    let state = draft.state;
    let follow = LinkDecision::Follow(ahead(state.urls.get(id).entry()));
    let link = Some(Link::without_page(target, Relevance::ZERO, follow));
    draft.push(Event::Redirected { id, link, permanent: false });
    if target != id && state.tracked(id).is_some_and(|known| !known.retired) {
        draft.perhaps_gone(id, None);
    }
    if state.is_page(target) {
        let due = vec![(target, AT_ONCE)];
        draft.push(Event::Refresh(Box::new(RefreshStep { due, ..RefreshStep::default() })));
    }
}

/// Whether another URL was sent to the target by cookies too, and has not come back yet: then this one waits.
fn is_occupied(state: &State, id: UrlId, target: UrlId, new_cookies: bool) -> bool {
    let known = state.urls.get(target);
    let waits = matches!(known.state, LinkState::Queued | LinkState::InFlight) && known.redirects() > 0;
    new_cookies && waits && target != id && state.urls.get(id).tries() < state.settings.limits.retries.min(15)
}

/// Whether a redirect leads back to where it began. A rewritten spelling may be redirected back.
fn is_circle(state: &State, from: UrlId, to: UrlId) -> bool {
    let next = |at: &UrlId| {
        let redirected = state.urls.get(*at).state == LinkState::Redirected;
        redirected.then(|| state.canonicals.moved_to(*at)).flatten()
    };
    let most = usize::from(state.settings.limits.redirects) + 2;
    std::iter::successors(Some(to), next).take(most).any(|at| at == from)
}

fn robots(draft: &mut Draft, host: HostId, https: bool, origin: String, outcome: FetchOutcome) {
    let followed = draft.state.hosts.get(host).robots(https).map_or(0, OriginRobots::followed);
    let mut failure = None;
    let rules = match outcome {
        FetchOutcome::Redirect { to, .. } if followed < ROBOTS_REDIRECTS => {
            return draft.push(Event::RobotsRedirected { host, origin, to });
        }
        // RFC 9309, 2.3.1.2: too many redirects count as "unavailable", which allows everything.
        FetchOutcome::Redirect { .. } => RobotsRules::AllowAll,
        FetchOutcome::Robots(rules) => rules,
        // Our guard refused the address, not the host: each page is then refused with that reason.
        FetchOutcome::Failed(Failure { kind: FailureKind::PrivateAddress, .. }) => RobotsRules::AllowAll,
        FetchOutcome::Failed(failed) => {
            failure = Some(failed);
            RobotsRules::Unreachable
        }
        FetchOutcome::Page { .. } | FetchOutcome::Unchanged | FetchOutcome::Sitemap(..) => RobotsRules::Unreachable,
    };
    draft.push(Event::Robots { host, origin, rules, failure });
}

/// The answer to a request for a page that cannot exist.
fn probed(draft: &mut Draft, host: HostId, outcome: FetchOutcome) {
    let state = draft.state;
    let response = match outcome {
        FetchOutcome::Page { page, .. } => {
            Some(MissingPageResponse::Page { sketch: page.sketch, title: title(&page.title) })
        }
        FetchOutcome::Redirect { to, .. } => Some(MissingPageResponse::Redirect(draft.preferred(&to))),
        // The failure counts against the host like that of a page.
        FetchOutcome::Failed(failure) if failure.is_transient() || failure.is_host_failure() => {
            return draft.push(Event::Trap(Box::new(TrapStep::Unanswered { host, failure })));
        }
        _ => None,
    };
    let suspects = state.traps.suspicions.get(&host).map(|suspicion| suspicion.pages.as_slice()).unwrap_or_default();
    let same = |&&(id, sketch, title): &&(UrlId, Sketch, u32)| {
        let is_same = |response: &MissingPageResponse, url: &CrawlUrl| {
            soft_404::is_same(response, url, sketch, title) || soft_404::is_alike(response, url)
        };
        response.as_ref().is_some_and(|response| is_same(response, &state.urls.url(id)))
    };
    let pages: Vec<UrlId> = suspects.iter().filter(same).map(|(id, ..)| *id).collect();
    draft.push(Event::Trap(Box::new(TrapStep::Soft404Probe { host, response, pages: pages.clone() })));
    for id in pages {
        draft.push(Event::PageGone { id, to: None });
    }
}
