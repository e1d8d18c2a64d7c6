//! What a fetched page leads to.

use rustc_hash::FxHashMap;
use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::failure::failed;
use super::forum::{ForumPageResult, read_forum};
use super::links::{Candidates, JudgedLinks, LinkingPage, candidates, judge, judge_again};
use super::{canonical, sitemaps};
use crate::crawl::draft::{Decided, Draft};
use crate::crawl::state::State;
use crate::strategy::PageVisit;
use suidao_forum::forum::url_classes::{sessions, without};
use suidao_page::model::{
    CrawlUrl, Event, Failure, FailureKind, ForumPageView, ForumRole, ForumStep, LinkScores, Millis, Outlink, Page,
    PageChanges, PageProcessed, QueueEntry, Region, Relevance, SkipReason, TrapSignals, UrlId, UrlOrigin, Validators,
};

pub struct FetchedPage {
    pub status: u16,
    pub page: Page,
    pub page_view: Option<Box<ForumPageView>>,
    pub validators: Option<Box<Validators>>,
}

pub fn fetched(draft: &mut Draft, id: UrlId, url: &CrawlUrl, fetched: FetchedPage) {
    let FetchedPage { status, mut page, page_view, validators } = fetched;
    let state = draft.state;
    let known = state.tracked(id);
    // A header field may forbid indexing of the same bytes.
    if let Some(known) = known.filter(|known| known.body == page.digest && known.noindex == page.noindex) {
        return draft.push(Event::Unchanged { id, status, since: known.whole, validators });
    }
    if state.matches_soft_404(id, url, &page) {
        return failed(draft, id, Failure { kind: FailureKind::NoSuchPage, retry_after: None });
    }
    let foreign = draft.settings.is_foreign(page.language.as_deref());
    let on_topic = page.relevance >= draft.settings.page_threshold && !foreign;
    if let Some(loss) = state.text_loss(id, &page, on_topic, draft.now) {
        return failed(draft, id, Failure { kind: FailureKind::TextLost(loss), retry_after: None });
    }
    let forum = page_view.as_deref().and_then(|page_view| read_forum(draft, id, url, page_view));
    let roles: FxHashMap<UrlId, ForumRole> =
        forum.iter().flat_map(|(_, result)| &result.links).map(|want| (want.to, want.role)).collect();
    if let Some((_, result)) = &forum {
        complete_forum_links(&mut page.outlinks, result);
    }
    state.drop_sessions(&mut page.outlinks);
    let outlinks_digest = outlinks_digest(&page);
    let linking = LinkingPage { id, url, nofollow: page.nofollow, is_forum: forum.is_some(), roles: &roles };
    let Candidates { links, targets } = candidates(draft, &linking, std::mem::take(&mut page.outlinks));
    let visit = PageVisit {
        id,
        relevance: page.relevance,
        on_topic,
        entry: state.urls.get(id).entry(),
        layer: page.layer,
        link_threshold: draft.settings.link_threshold,
        links: &links,
    };
    let Judgement { links, copy_of, trap_signals } = judge_page(draft, url, &page, &linking, (&visit, &targets));
    let is_first = state.hosts.get(state.urls.get(id).host()).pages == 0;
    let feeds = if is_first { std::mem::take(&mut page.feeds) } else { Vec::new() };
    let sitemaps = sitemaps::of_productive_host(draft, &visit, &feeds);
    let (forum, result) = forum.unzip();
    let changes = known.map(|known| {
        let found = known.compare(page.sketch.digest, outlinks_digest);
        PageChanges { links: found.links || has_new_links(draft, id), ..found }
    });
    draft.push(Event::PageFetched(Box::new(PageProcessed {
        links: links.links,
        known: links.known,
        forum: forum.map(Box::new),
        validators,
        changes,
        outlinks_digest,
        feeds,
        trap_signals,
        copy_of,
        foreign,
        ..PageProcessed::of(id, status, visit.entry, visit.on_topic, page)
    })));
    if let Some(sitemaps) = sitemaps {
        draft.push(sitemaps);
    }
    if let Some(due) = result.map(|result| result.due).filter(|due| !due.is_empty()) {
        draft.push(Event::Forum(Box::new(ForumStep { due, ..ForumStep::default() })));
    }
    draft.reach(links.reached);
}

/// Whether the page has a link not discovered before: that is a change, wherever on the page it is.
fn has_new_links(draft: &Draft, id: UrlId) -> bool {
    let is_new = |event: &Event| matches!(event, Event::Discovered(found) if found.origin == UrlOrigin::Link(id));
    draft.events().iter().any(is_new)
}

/// What the trap rules and the strategy decide about a page and its links.
struct Judgement {
    links: JudgedLinks,
    /// Its canonical URL, if the page is a copy.
    copy_of: Option<UrlId>,
    trap_signals: TrapSignals,
}

fn judge_page(
    draft: &mut Draft,
    url: &CrawlUrl,
    page: &Page,
    linking: &LinkingPage,
    (visit, targets): (&PageVisit, &[UrlId]),
) -> Judgement {
    let (state, id) = (draft.state, visit.id);
    let is_checked = !linking.is_forum && state.tracked(id).is_none();
    let checked = is_checked.then(|| state.look_for_traps(id, url, page));
    let copy_of = canonical::claimed_url(draft, id, url, page);
    // The links of a copy are not followed: its canonical URL is fetched in its place.
    let repeats = checked.as_ref().is_some_and(|checked| checked.repeats) && !state.canonicals.is_claimed(id);
    let left_out = copy_of.map(|_| SkipReason::Copy).or(repeats.then_some(SkipReason::NearDuplicate));
    let mut links = judge(draft, visit, targets, left_out);
    links.links.extend(copy_of.and_then(|address| canonical::lead_to(draft, address, page, visit.entry)));
    let trap_signals = checked.map_or_else(TrapSignals::default, |checked| {
        let no_new_content = state.adds_nothing_new(&checked, (page.sketch, page.listing), visit, targets);
        TrapSignals { no_new_content, ..checked.signals }
    });
    Judgement { links, copy_of, trap_signals }
}

/// Removes session parameters from the links of a forum page, so that a link is the same on every visit, and adds the
/// links that the forum needs.
fn complete_forum_links(outlinks: &mut Vec<Outlink>, result: &ForumPageResult) {
    let names = sessions(outlinks.iter().map(|outlink| &outlink.url));
    for outlink in outlinks.iter_mut().filter(|_| !names.is_empty()) {
        outlink.url = without(&outlink.url, &names);
    }
    add_wanted(outlinks, result);
}

/// What the applied events lead to: `reached` pages whose links a longer tunnel judges again, conclusions of the trap
/// rules, and pages that proved not to be copies. Otherwise the result would depend on the order of arrival.
pub fn follow_up(state: &State, reached: &mut Vec<(UrlId, QueueEntry)>, now: Millis) -> Option<Decided> {
    let mut draft = Draft::new(state, now);
    while let Some((id, entry)) = reached.pop() {
        let Some(ended) = state.ended.get(&id).filter(|ended| entry.path.k > ended.entry.path.k) else { continue };
        let judged = judge_again(&draft, id, ended, false, entry);
        draft.push(Event::Rejudged { id, entry, links: judged.links });
        draft.reach(judged.reached);
        return Some(draft.finish());
    }
    if let Some(step) = state.traps.due.first() {
        draft.push(Event::Trap(Box::new(step.clone())));
        return Some(draft.finish());
    }
    let (id, page, relevant) = state.canonicals.refuted()?;
    let judged = judge_again(&draft, id, page, relevant, page.entry);
    draft.push(Event::Rejudged { id, entry: page.entry, links: judged.links });
    draft.reach(judged.reached);
    Some(draft.finish())
}

/// Order-independent digest of the links in the main content. For listings, and pages without content links, of all
/// links.
fn outlinks_digest(page: &Page) -> u64 {
    let all = page.listing || page.outlinks.iter().all(|link| link.region != Region::Content);
    let links = page.outlinks.iter().filter(|link| all || link.region == Region::Content);
    let mut set: Vec<u64> = links.map(|link| link.url.fingerprint()).collect();
    set.sort_unstable();
    set.dedup();
    set.iter().fold(0, |digest, link| xxh3_64_with_seed(&link.to_le_bytes(), digest))
}

/// Adds links that a forum needs and the page lacks, or has in another spelling. They score the average of the page's
/// other links of the forum.
fn add_wanted(outlinks: &mut Vec<Outlink>, result: &ForumPageResult) {
    let linked: FxHashMap<&CrawlUrl, f32> =
        outlinks.iter().map(|outlink| (&outlink.url, outlink.relevance.get())).collect();
    let scores: Vec<f32> = result.links.iter().filter_map(|want| linked.get(&want.url)).copied().collect();
    let mean = Relevance::new(scores.iter().sum::<f32>() / scores.len().max(1) as f32);
    let missing: Vec<Outlink> = result
        .links
        .iter()
        .filter(|want| !linked.contains_key(&want.url))
        .map(|want| Outlink {
            url: want.url.clone(),
            anchor: want.text.clone(),
            scores: LinkScores::default(),
            relevance: mean,
            region: Region::Content,
            dom_path: 0,
            nofollow: false,
        })
        .collect();
    outlinks.extend(missing);
}
