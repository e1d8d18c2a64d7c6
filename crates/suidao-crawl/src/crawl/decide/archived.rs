//! Whether the crawl takes a response from an archive, and how its URL is queued.

use crate::crawl::draft::Draft;
use crate::crawl::state::State;
use suidao_page::model::{
    CrawlUrl, Event, Link, LinkDecision, LinkState, PathState, QueueEntry, RefreshStep, Relevance, SkipReason, UrlId,
    UrlOrigin,
};

/// What an archived response is, as far as its head shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ArchivedResponse {
    /// An HTML page.
    Page,
    Redirect(CrawlUrl),
    /// The content of the visit before.
    Unchanged,
    /// Another media type, or a failure: the response of a URL that the crawl has queued, nothing by itself.
    Other,
}

/// Why an archived response is not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum NotTaken {
    /// Outside the scope, or in a trap.
    Skipped(SkipReason),
    /// No page led to its URL, and it is neither a page nor a redirect to an unknown URL.
    Unlinked,
    /// Its URL failed permanently, or was excluded.
    Closed,
    /// The content is unchanged, and no earlier response has it.
    NoPayload,
}

/// Numbers the URL of a response.
pub fn number(
    draft: &mut Draft,
    url: &CrawlUrl,
    response: &ArchivedResponse,
    origin: UrlOrigin,
) -> Result<UrlId, NotTaken> {
    let url = draft.address(url);
    let is_new_target = |draft: &Draft, to: &CrawlUrl| {
        let to = draft.address(to);
        to != url && draft.find(&to).is_none()
    };
    // A redirect to another spelling of the URL that the crawl knows as one.
    if let ArchivedResponse::Redirect(to) = response
        && draft.address(to) == url
    {
        return Err(NotTaken::Unlinked);
    }
    if let Some(id) = draft.find(&url) {
        let may_return = draft.state.urls.get(id).in_another_run;
        return match draft.link_state(id) {
            known if *response == ArchivedResponse::Unchanged && known != LinkState::Fetched => {
                Err(NotTaken::NoPayload)
            }
            LinkState::Dropped if *response == ArchivedResponse::Other => Err(NotTaken::Unlinked),
            LinkState::Failed | LinkState::Excluded if !may_return => Err(NotTaken::Closed),
            _ => Ok(id),
        };
    }
    let is_wanted = match response {
        ArchivedResponse::Page => true,
        ArchivedResponse::Redirect(to) => is_new_target(draft, to),
        ArchivedResponse::Unchanged => return Err(NotTaken::NoPayload),
        ArchivedResponse::Other => false,
    };
    if !is_wanted {
        return Err(NotTaken::Unlinked);
    }
    if let Some(reason) = draft.settings.skip_reason(&url) {
        draft.reject(&url, None, reason);
        return Err(NotTaken::Skipped(reason));
    }
    Ok(draft.id(&url, origin, ""))
}

/// Queues a numbered URL, or makes its page due.
pub fn queue(draft: &mut Draft, id: UrlId, origin: UrlOrigin) {
    let state = draft.state;
    match state.urls.get(id).state {
        // A later answer of the same URL.
        LinkState::Fetched => {
            let step = RefreshStep { due: vec![(id, 0.0)], ..RefreshStep::default() };
            draft.push(Event::Refresh(Box::new(step)));
        }
        known @ (LinkState::Dropped | LinkState::Failed | LinkState::Excluded) => {
            let follow = LinkDecision::Follow(entry(state, id, origin));
            // What failed returns as a seed would.
            let as_seed = origin == UrlOrigin::Seed || known != LinkState::Dropped;
            draft.push(if as_seed {
                Event::SeedJudged(Link::without_page(id, Relevance::ONE, follow))
            } else {
                Event::LinkOffered(Link::without_page(id, Relevance::ZERO, follow))
            });
        }
        LinkState::Queued | LinkState::InFlight | LinkState::Redirected | LinkState::Elsewhere | LinkState::Sent => {}
    }
}

/// The queue entry of a URL that no followed link has led to: of a seed, or else as one link away from a seed.
fn entry(state: &State, id: UrlId, origin: UrlOrigin) -> QueueEntry {
    let entry = state.strategy.seed(&state.urls.url(id));
    let depth = u16::from(origin != UrlOrigin::Seed);
    QueueEntry { path: PathState { depth, ..entry.path }, ..entry }
}
