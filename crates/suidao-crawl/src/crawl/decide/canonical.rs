//! When a page's canonical URL is accepted, and when its links are judged after all.

use suidao_page::model::{CrawlUrl, Link, LinkDecision, LinkState, Page, QueueEntry, UrlId, UrlOrigin};

use super::ahead;
use crate::crawl::canonical::TextDigest;
use crate::crawl::draft::Draft;

/// The canonical URL that a page claims, if accepted so far: same site, in scope, and with the same text or not fetched
/// yet.
pub fn claimed_url(draft: &mut Draft, id: UrlId, url: &CrawlUrl, page: &Page) -> Option<UrlId> {
    let claimed = draft.preferred(page.canonical.as_ref()?);
    let own = TextDigest::of(&page.sketch)?;
    let state = draft.state;
    let is_forum = state.forums.sites.contains_key(url.authority());
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

/// Whether two URLs belong to one site: the same host, or hosts under one registrable domain.
fn is_one_site(one: &CrawlUrl, other: &CrawlUrl) -> bool {
    let (one, other) = (one.host(), other.host());
    // A host that ends in a number or a bracket is an IP address.
    let is_number = |label: &str| label.bytes().all(|byte| byte.is_ascii_digit());
    let named = |host: &str| !host.ends_with(']') && !host.rsplit('.').next().is_some_and(is_number);
    one == other
        || named(one) && named(other) && psl::domain_str(one).is_some_and(|own| psl::domain_str(other) == Some(own))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_of_one_owner_are_one_site() {
        let url = |text: &str| CrawlUrl::parse(text).unwrap();
        for (one, other, same) in [
            ("http://a.cn/", "https://a.cn:81/x", true),
            ("http://m.a.com.cn/", "http://www.a.com.cn/", true),
            ("http://a.com.cn/", "http://b.com.cn/", false),
            ("http://a.github.io/", "http://b.github.io/", false),
            ("http://127.0.0.1/", "http://127.0.0.1:81/", true),
            ("http://127.0.0.1/", "http://10.0.0.1/", false),
            ("http://[::1]/", "http://[::2]/", false),
        ] {
            assert_eq!(is_one_site(&url(one), &url(other)), same, "{one} {other}");
        }
    }
}
