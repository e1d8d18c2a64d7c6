//! Links from outside the crawl, named by a person, a file or another crawl. They are checked like all others.

use suidao_page::model::{
    CrawlUrl, Event, Link, LinkDecision, LinkScores, LinkState, PathState, Priority, QueueEntry, QueueId, Region,
    Relevance, UrlId, UrlOrigin,
};

use super::links::judge;
use crate::crawl::draft::Draft;
use crate::crawl::partition::SentLink;
use crate::strategy::{LinkCandidate, PageVisit};

/// A link from outside, with the evidence for it.
#[derive(Clone, Debug, PartialEq)]
pub struct OfferedLink {
    pub url: CrawlUrl,
    /// Text of the link; may be empty.
    pub anchor: String,
    /// The parts of eq. (3).
    pub scores: LinkScores,
    /// Eq. (3).
    pub relevance: Relevance,
    /// The path that the link continues: 0 hops if it was found on a relevant page.
    pub path: PathState,
}

/// Numbers an offered URL, unless it is excluded.
pub fn number(draft: &mut Draft, link: &OfferedLink) -> Option<UrlId> {
    let url = draft.address(&link.url);
    if let Some(reason) = draft.skip_reason(&url) {
        draft.reject(&url, None, reason);
        return None;
    }
    Some(draft.id(&url, UrlOrigin::Offered, &link.anchor))
}

/// Numbers the URL of a link from another partition, unless it is excluded here.
pub fn number_sent(draft: &mut Draft, sent: &SentLink) -> Option<UrlId> {
    let url = draft.address(&sent.url);
    draft.skip_reason(&url).is_none().then(|| draft.id(&url, UrlOrigin::Offered, &sent.anchor))
}

/// Queues the URL of a link from another partition, or improves its rank. The sender's strategy has judged it.
pub fn queue_sent(draft: &mut Draft, id: UrlId, sent: &SentLink) {
    let link = Link { to: id, ..sent.link };
    let LinkDecision::Follow(entry) = link.decision else { return };
    let strategy = &draft.state.strategy;
    match draft.link_state(id) {
        LinkState::Dropped => draft.push(Event::LinkOffered(link)),
        LinkState::Queued | LinkState::InFlight
            if draft.entry(id).is_some_and(|old| strategy.merge(old, entry) != old) =>
        {
            draft.push(Event::LinkOffered(link));
        }
        LinkState::Fetched if strategy.learning().is_none() => draft.reach(vec![(id, entry)]),
        _ => {}
    }
}

/// Queues a numbered URL, or improves its rank, as a link of a page at the end of the offered path.
pub fn queue(draft: &mut Draft, id: UrlId, link: &OfferedLink) {
    let &OfferedLink { scores, relevance, path, .. } = link;
    let url = draft.state.urls.url(id);
    let candidate = LinkCandidate { url, scores, relevance, region: Region::Content, dom_path: 0, role: None };
    let before = PathState { depth: path.depth.saturating_sub(1), hops: path.hops.saturating_sub(1), ..path };
    let visit = PageVisit {
        id,
        relevance: path.inherited,
        on_topic: path.hops == 0,
        entry: QueueEntry { queue: QueueId::MAIN, priority: Priority::new(path.inherited.get()), path: before },
        layer: None,
        link_threshold: draft.settings.link_threshold,
        links: &[candidate],
    };
    for link in judge(draft, &visit, &[id], None).links {
        draft.push(Event::LinkOffered(link));
    }
}
