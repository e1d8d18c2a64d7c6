//! What a failed fetch leads to: another try, or the end of its URL.

use crate::crawl::draft::Draft;
use crate::crawl::health::asks_to_wait;
use crate::crawl::settings::CrawlSettings;
use crate::crawl::state::State;
use suidao_page::model::{Event, Failure, FailureKind, TrapStep, UrlId};

pub fn failed(draft: &mut Draft, id: UrlId, failure: Failure) {
    let state = draft.state;
    let may_be_tried = state.urls.get(id).tries() < draft.settings.limits.retries.min(15);
    if failure.is_transient() && (may_be_tried || is_hosts_fault(state, id, &failure)) {
        return draft.push(Event::FetchRetried { id, failure });
    }
    let gone = matches!(failure.kind, FailureKind::Status(404 | 410) | FailureKind::NoSuchPage);
    // A failing host is not evidence about a page.
    let is_pages = !failure.is_host_failure();
    draft.push(Event::FetchFailed { id, failure });
    if is_pages {
        // It failed without a parameter that it was first fetched with: then that is not a session parameter.
        let host = state.urls.get(id).host();
        for name in state.traps.sessions.needed(host, &state.urls.url(id)) {
            draft.push(Event::Trap(Box::new(TrapStep::NoSession { host, name })));
        }
    }
    if gone && state.tracked(id).is_some() {
        draft.perhaps_gone(id, None);
    }
}

/// Whether the last failure of a page counts against its host: the host has failed as often in a row and a page could
/// not cause that, or it signals overload, or other URLs of the host can show which of the two it is. Never if requests
/// are not spaced, since the same page would be next at once.
fn is_hosts_fault(state: &State, id: UrlId, failure: &Failure) -> bool {
    let CrawlSettings { limits, politeness, .. } = &*state.settings;
    let host = state.hosts.get(state.urls.get(id).host());
    let others = host.queued as usize > host.parked.len();
    let waits = politeness.backoff > 0.0 && limits.retries > 0;
    let is_host = host.health.opens(limits) && (failure.is_down() || asks_to_wait(failure) || others);
    failure.is_host_failure() && waits && !state.is_due(id) && is_host
}
