//! The checks of every link, in order: session, scheme, nofollow, scope and traps, role in a forum, number, score.

use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet};

use crate::crawl::draft::Draft;
use crate::crawl::tunnels::EndedTunnel;
use crate::strategy::{LinkCandidate, PageVisit};
use crate::trap::series::continues_series;
use suidao_page::model::{
    CrawlUrl, ForumRole, Link, LinkDecision, LinkState, Outlink, QueueEntry, SkipReason, UrlId, UrlOrigin,
};

/// The links of a page that may be followed, each URL once.
pub struct Candidates {
    pub links: Vec<LinkCandidate>,
    pub targets: Vec<UrlId>,
}

/// The page that links are found on.
pub struct LinkingPage<'a> {
    pub id: UrlId,
    pub url: &'a CrawlUrl,
    /// Its own `nofollow`.
    pub nofollow: bool,
    pub is_forum: bool,
    /// Links that its forum wants, with their roles.
    pub roles: &'a FxHashMap<UrlId, ForumRole>,
}

/// Numbers the links of a page that may be followed, and rejects the others.
pub fn candidates(draft: &mut Draft, page: &LinkingPage, outlinks: Vec<Outlink>) -> Candidates {
    let state = draft.state;
    let mut found =
        Candidates { links: Vec::with_capacity(outlinks.len()), targets: Vec::with_capacity(outlinks.len()) };
    let mut seen = FxHashSet::with_capacity_and_hasher(outlinks.len(), FxBuildHasher);
    let known = state.urls.find_all(outlinks.iter().map(|outlink| &outlink.url));
    for (outlink, known) in outlinks.into_iter().zip(known) {
        let (target, known) = match known {
            Some((to, host)) if !state.is_other_scheme(host, &outlink.url) => (outlink.url, Some(to)),
            _ => match state.in_preferred_scheme(&outlink.url) {
                Some(home) => {
                    let known = draft.find(&home);
                    (home, known)
                }
                None => {
                    let known = known.map(|(to, _)| to).or_else(|| draft.find_new(&outlink.url));
                    (outlink.url, known)
                }
            },
        };
        if target == *page.url {
            continue;
        }
        let skip_reason = if draft.settings.scope.nofollow.refuses(page.nofollow, outlink.nofollow) {
            Some(SkipReason::NoFollow)
        } else {
            draft.skip_reason(&target)
        };
        if let Some(reason) = skip_reason {
            draft.reject(&target, Some(page.id), reason);
            continue;
        }
        let role = known.and_then(|to| page.roles.get(&to)).copied();
        if page.is_forum && role.is_none() && is_forum_function(draft, page.url, &target) {
            // A known URL is a board or a thread wanted before, or was excluded before.
            if known.is_none() {
                draft.reject(&target, Some(page.id), SkipReason::ForumFunction);
            }
            continue;
        }
        let to = known.unwrap_or_else(|| draft.discover(&target, UrlOrigin::Link(page.id), &outlink.anchor));
        // Links that differ only in the scheme are one.
        if !seen.insert(to) {
            continue;
        }
        found.targets.push(to);
        let Outlink { scores, relevance, region, dom_path, .. } = outlink;
        found.links.push(LinkCandidate { url: target, scores, relevance, region, dom_path, role });
    }
    found
}

/// Whether a link of a forum page is rejected: it is inside the forum's directory, but neither a board, a list nor a
/// thread.
fn is_forum_function(draft: &Draft, page: &CrawlUrl, target: &CrawlUrl) -> bool {
    target.authority() == page.authority() && draft.state.forums.site(page).is_none_or(|site| site.owns(target))
}

#[derive(Default)]
pub struct JudgedLinks {
    /// Links that the log needs.
    pub links: Vec<Link>,
    /// Targets of the others.
    pub known: Vec<UrlId>,
    /// Fetched pages that the page links to, with the queue entry it would give them.
    pub reached: Vec<(UrlId, QueueEntry)>,
}

/// Asks the strategy, applies the limits, and separates links that change nothing. `left_out`: a reason to follow none
/// of the links.
pub fn judge(draft: &Draft, visit: &PageVisit, targets: &[UrlId], left_out: Option<SkipReason>) -> JudgedLinks {
    let strategy = &draft.state.strategy;
    let learns = strategy.learning().is_some();
    let mut judged = JudgedLinks::default();
    let decisions = strategy.judge(visit);
    let page = (left_out == Some(SkipReason::NearDuplicate)).then(|| draft.state.urls.url(visit.id));
    debug_assert_eq!(decisions.len(), targets.len(), "one decision per link");
    for ((&to, candidate), decision) in targets.iter().zip(visit.links).zip(decisions) {
        let decision = match left_out {
            // Further pages of a list are followed anyway: its first page may repeat the text of a post.
            Some(_) if page.as_ref().is_some_and(|page| continues_series(page, &candidate.url)) => {
                limit(draft, decision)
            }
            Some(reason) => LinkDecision::Drop(reason),
            None => limit(draft, decision),
        };
        let &LinkCandidate { scores, relevance, region, dom_path, .. } = candidate;
        let link = Link { to, region, dom_path, scores, relevance, decision };
        match (draft.link_state(to), decision) {
            (LinkState::Queued | LinkState::InFlight | LinkState::Sent, LinkDecision::Follow(entry))
                if draft.entry(to).is_some_and(|old| strategy.merge(old, entry) != old) =>
            {
                judged.links.push(link);
            }
            (LinkState::Dropped | LinkState::Elsewhere, LinkDecision::Follow(_)) => judged.links.push(link),
            // Logged with its scores: the page may prove not to be a copy.
            (_, LinkDecision::Drop(SkipReason::Copy)) => judged.links.push(link),
            // Logged with its scores even if it changes nothing now: a longer tunnel may revive it.
            (
                LinkState::Dropped | LinkState::Queued | LinkState::Elsewhere | LinkState::Sent,
                LinkDecision::Drop(SkipReason::TunnelEnd),
            ) => judged.links.push(link),
            (LinkState::Dropped, LinkDecision::Drop(_)) if draft.dropped(to).is_none() => judged.links.push(link),
            (LinkState::Fetched, LinkDecision::Follow(entry)) if !learns => {
                judged.known.push(to);
                judged.reached.push((to, entry));
            }
            _ if learns => judged.links.push(link),
            _ => judged.known.push(to),
        }
    }
    judged
}

fn limit(draft: &Draft, decision: LinkDecision) -> LinkDecision {
    let limits = &draft.settings.limits;
    match decision {
        LinkDecision::Follow(entry) if limits.depth.is_some_and(|most| entry.path.depth > most) => {
            LinkDecision::Drop(SkipReason::Depth)
        }
        LinkDecision::Follow(entry) if limits.hops.is_some_and(|most| entry.path.hops > most) => {
            LinkDecision::Drop(SkipReason::Hops)
        }
        decision => decision,
    }
}

/// Judges the logged links of a page as if it had been fetched from this queue entry.
pub fn judge_again(draft: &Draft, id: UrlId, page: &EndedTunnel, on_topic: bool, entry: QueueEntry) -> JudgedLinks {
    let targets: Vec<UrlId> = page.links.iter().map(|link| link.to).collect();
    let candidate = |&Link { to, region, dom_path, scores, relevance, .. }: &Link| LinkCandidate {
        url: draft.state.urls.url(to),
        scores,
        relevance,
        region,
        dom_path,
        role: None,
    };
    let candidates: Vec<LinkCandidate> = page.links.iter().map(candidate).collect();
    let visit = PageVisit {
        id,
        relevance: page.relevance,
        on_topic,
        entry,
        layer: page.layer,
        link_threshold: draft.settings.link_threshold,
        links: &candidates,
    };
    judge(draft, &visit, &targets, None)
}
