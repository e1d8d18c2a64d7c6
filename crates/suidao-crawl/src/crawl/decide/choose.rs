//! Whether a URL at the head of the queues is fetched, and what comes first.

use super::ahead;
use crate::crawl::draft::Draft;
use crate::crawl::frontier::QueueHead;
use crate::crawl::groups::GroupId;
use crate::crawl::politeness::millis;
use crate::crawl::refresh::is_over;
use crate::crawl::robots::{OriginRobots, RobotsPermission};
use crate::crawl::run::Run;
use crate::crawl::state::State;
use crate::crawl::ticket::FetchKind;
use suidao_page::model::{
    Budget, CrawlUrl, Event, HostId, Link, LinkDecision, Millis, Relevance, SkipReason, Stop, UrlId, UrlOrigin,
};

/// Why nothing may be requested now.
pub enum Pause {
    /// Until this time, or until a ticket is settled.
    Wait(Option<Millis>),
    /// The crawl ends as soon as nothing is in flight.
    End(Stop),
}

/// Whether a budget or a stop condition forbids requests.
pub fn pause(state: &State, run: &Run, now: Millis) -> Option<Pause> {
    let progress = &state.counts.progress;
    if let Some(refreshing) = &state.refreshing {
        // A refresh has a budget of its own.
        return match (run.refresh.stopped, &refreshing.round) {
            (Some(stop), _) => Some(Pause::End(stop)),
            (None, Some(round))
                if matches!(round.budget, Budget::PerDay(_))
                    && run.refresh.paced > now
                    // Grants are spread over the day.
                    && run.refresh.grant.is_none() =>
            {
                Some(Pause::Wait(Some(run.refresh.paced)))
            }
            (None, Some(round)) if is_over(round, run.in_flight(), now) => Some(Pause::End(Stop::BudgetSpent)),
            _ => None,
        };
    }
    let limit = state.settings.limits.pages.unwrap_or(u64::MAX);
    if progress.pages >= limit {
        Some(Pause::End(Stop::PageLimit))
    } else if progress.pages + run.pages_in_flight >= limit {
        Some(Pause::Wait(None))
    } else if are_requests_used_up(state, run) {
        Some(Pause::End(Stop::RequestLimit))
    } else {
        state.stop.reached(&state.settings.goals, progress, now).map(Pause::End)
    }
}

/// Whether the request limit is reached. Board visits over days have only the configured limit.
fn are_requests_used_up(state: &State, run: &Run) -> bool {
    let limits = &state.settings.limits;
    let most = match state.settings.watch {
        Some(_) => limits.requests.and(run.allowed.or(limits.requests)),
        None => run.allowed.or_else(|| limits.most_requests(limits.pages)),
    };
    let progress = &state.counts.progress;
    let counted = if limits.requests.is_some() { progress.requests } else { progress.answered() };
    most.is_some_and(|most| counted + run.in_flight() >= most)
}

/// What to do with the first URL of a queue.
pub enum HeadRuling {
    /// This group of its host allows no request now.
    Defer(GroupId),
    /// Its score has fallen: it is queued with the lower one.
    Lowered,
    /// It is excluded, or its rank goes to another spelling.
    Removed,
    /// The robots.txt of this URL's origin is requested first.
    Robots(CrawlUrl),
    /// This page, which cannot exist, is requested first.
    Probe(CrawlUrl),
    Fetch(CrawlUrl),
}

/// Decides on a head.
pub fn rule(draft: &mut Draft, head: QueueHead) -> HeadRuling {
    let (state, now, again) = (draft.state, draft.now, head.is_due());
    if let Some(by) = state.hosts.groups.busy(state.hosts.get(head.host).groups(), now) {
        return HeadRuling::Defer(by);
    }
    let url = state.urls.url(head.id);
    // A revisit uses the spelling of the first fetch, and is not checked for traps.
    if !again {
        let queued = state.urls.get(head.id).entry();
        let score = state.current_score(head.id);
        let fallen = |score| queued.priority.is_clearly_above(score);
        if let Some(priority) = score.filter(|&score| fallen(score)) {
            draft.push(Event::Reprioritized { id: head.id, priority });
            return HeadRuling::Lowered;
        }
        if let Some(home) = state.in_preferred_scheme(&url).or_else(|| state.plain(&url)) {
            let to = draft.id(&home, UrlOrigin::Redirect(head.id), "");
            let link = Link::without_page(to, Relevance::ZERO, LinkDecision::Follow(ahead(queued)));
            let link = draft.may_be_queued(to).then_some(link);
            draft.push(Event::SchemeRewritten { id: head.id, link });
            return HeadRuling::Removed;
        }
        if let Some(reason) = state.refuses_now(head.id, &url) {
            draft.push(Event::UrlExcluded { id: head.id, reason });
            return HeadRuling::Removed;
        }
    }
    match permission(state, head.host, &url, again, now) {
        Permission::Refused(reason) => {
            draft.push(Event::UrlExcluded { id: head.id, reason });
            HeadRuling::Removed
        }
        Permission::AskRobots => HeadRuling::Robots(url),
        Permission::Granted => {
            let may_probe = |probe: &CrawlUrl| permission(state, head.host, probe, again, now) == Permission::Granted;
            state.probe(head.host, &url).filter(may_probe).map_or(HeadRuling::Fetch(url), HeadRuling::Probe)
        }
    }
}

#[derive(PartialEq, Eq)]
enum Permission {
    Granted,
    AskRobots,
    Refused(SkipReason),
}

fn permission(state: &State, id: HostId, url: &CrawlUrl, again: bool, now: Millis) -> Permission {
    let (limits, politeness) = (&state.settings.limits, &state.settings.politeness);
    let host = state.hosts.get(id);
    if !again && limits.pages_per_host.is_some_and(|most| host.pages >= most) {
        return Permission::Refused(SkipReason::HostBudget);
    }
    let failing = host.health.is_given_up(limits, politeness, now);
    if !politeness.robots {
        return if failing { Permission::Refused(SkipReason::HostFailing) } else { Permission::Granted };
    }
    let Some(robots) = host.robots(url.is_https()) else { return Permission::AskRobots };
    match robots.permission(url, &host.health, (limits, politeness), host.delay(politeness), now) {
        RobotsPermission::GivenUp => Permission::Refused(SkipReason::RobotsUnreachable),
        RobotsPermission::Forbidden => Permission::Refused(SkipReason::Robots),
        RobotsPermission::FetchFirst if !robots.has_rules() => Permission::AskRobots,
        _ if failing => Permission::Refused(SkipReason::HostFailing),
        RobotsPermission::FetchFirst => Permission::AskRobots,
        RobotsPermission::Allowed => Permission::Granted,
    }
}

/// How a page of the frontier is read.
pub fn page_kind(state: &State, id: UrlId, url: &CrawlUrl, again: bool, now: Millis) -> FetchKind {
    if state.is_sitemap(id, again) {
        return FetchKind::Sitemap(id);
    }
    let pages = state.hosts.of(url).map_or(0, |host| host.pages);
    match state.forums.analysis_for(url, now) {
        Some(look) => FetchKind::Forum(id, look),
        None if state.forums.may_recognise(pages) => FetchKind::Page(id),
        None => FetchKind::Plain(id),
    }
}

/// The request for the robots.txt of a URL's origin: where it was redirected to, if it was.
pub fn robots_request(state: &State, host: HostId, url: &CrawlUrl) -> (CrawlUrl, FetchKind) {
    let https = url.is_https();
    let redirected = state.hosts.get(host).robots(https).and_then(OriginRobots::redirected_to);
    (redirected.cloned().unwrap_or_else(|| url.robots()), FetchKind::Robots { host, https })
}

/// What to do if no queue has anything that may be requested now.
pub fn idle(state: &State, run: &Run, now: Millis) -> Pause {
    if run.in_flight() > 0 {
        return Pause::Wait(state.hosts.next_due());
    }
    if state.counts.progress.queued == 0 || state.is_round_done() {
        return Pause::End(Stop::FrontierEmpty);
    }
    let patience = millis(state.settings.politeness.patience);
    let worth_waiting = state.hosts.waiting().filter(|&(at, host)| {
        let host = state.hosts.get(host);
        host.queued > 0 && (!host.failing || at.since(now) <= patience)
    });
    match worth_waiting.map(|(at, _)| at).chain(state.hosts.groups.next_due()).min() {
        Some(at) => Pause::Wait(Some(at)),
        None => Pause::End(Stop::OnlyUnreachable),
    }
}
