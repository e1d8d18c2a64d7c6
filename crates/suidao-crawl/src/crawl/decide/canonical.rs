//! When a page's canonical URL is accepted, and when its links are judged after all.

use suidao_page::model::{CrawlUrl, Link, LinkDecision, LinkState, Page, QueueEntry, UrlId, UrlOrigin};

use super::ahead;
use crate::crawl::canonical::TextDigest;
use crate::crawl::draft::Draft;
use crate::crawl::groups::is_one_site;

/// The canonical URL that a page claims, if accepted so far: same site, in scope, and with the same text or not fetched
/// yet.
pub fn claimed_url(draft: &mut Draft, id: UrlId, url: &CrawlUrl, page: &Page) -> Option<UrlId> {
    let claimed = draft.preferred(page.canonical.as_ref()?);
    let own = TextDigest::of(&page.sketch)?;
    let state = draft.state;
    let is_forum = state.forums.site(url).is_some();
    if claimed == *url || is_forum || !is_one_site(url, &claimed) || draft.settings.skip_reason(&claimed).is_some() {
        return None;
    }
    let is_revisit = state.tracked(id).is_some();
    let Some(known) = draft.find(&claimed) else {
        return (!is_revisit).then(|| draft.id(&claimed, UrlOrigin::Canonical(id), ""));
    };
    let known = state.canonicals.led_to(known);
    // If two pages claim each other, the second one is canonical.
    if known == id || state.canonicals.is_copy(known) {
        return None;
    }
    match draft.link_state(known) {
        LinkState::Fetched => {
            return state.canonicals.text(known).is_some_and(|text| text.is_near(own)).then_some(known);
        }
        LinkState::Dropped | LinkState::Queued | LinkState::InFlight | LinkState::Elsewhere | LinkState::Sent => {}
        LinkState::Redirected | LinkState::Failed | LinkState::Excluded => return None,
    }
    // Pages with different texts may claim it.
    let differs = state.canonicals.claimed_text(known).is_some_and(|first| !first.is_near(own));
    (!differs && !is_revisit).then_some(known)
}

/// The link that queues the canonical URL next.
pub fn lead_to(draft: &Draft, claimed: UrlId, page: &Page, entry: QueueEntry) -> Option<Link> {
    let waits = draft.link_state(claimed) != LinkState::Fetched;
    waits.then(|| Link::without_page(claimed, page.relevance, LinkDecision::Follow(ahead(entry))))
}
