//! What a fetched page leads to.

use rustc_hash::FxHashMap;
use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::failure::failed;
use super::forum::{ForumPageResult, read_forum};
use super::links::{Candidates, LinkingPage, candidates, judge, judge_again};
use super::{canonical, sitemaps};
use crate::crawl::draft::{Decided, Draft};
use crate::crawl::state::State;
use crate::strategy::PageVisit;
use suidao_forum::forum::shape::{sessions, without};
use suidao_page::model::{
    CrawlUrl, Event, Failure, FailureKind, ForumPageView, ForumRole, ForumStep, LinkScores, Millis, Outlink, Page,
    PageChanges, PageProcessed, QueueEntry, Region, Relevance, SkipReason, TrapSignals, UrlId, UrlOrigin, Validators,
};

pub struct FetchedPage {
    pub status: u16,
    pub page: Page,
    pub sight: Option<Box<ForumPageView>>,
    pub validators: Option<Box<Validators>>,
}

pub fn fetched(draft: &mut Draft, id: UrlId, url: &CrawlUrl, fetched: FetchedPage) {
    let FetchedPage { status, mut page, sight, validators } = fetched;
    let state = draft.state;
    let place = state.urls.get(id).place();
    if let Some(known) = state.tracked(id).filter(|known| known.body == page.digest) {
        return draft.push(Event::Unchanged { id, status, since: known.whole, validators });
    }
    if state.is_no_page(id, url, &page) {
        return failed(draft, id, Failure { kind: FailureKind::NoSuchPage, retry_after: None });
    }
    let forum = sight.as_deref().and_then(|sight| read_forum(draft, id, url, sight));
    let roles: FxHashMap<UrlId, ForumRole> =
        forum.iter().flat_map(|(_, result)| &result.wants).map(|want| (want.to, want.role)).collect();
    if let Some((_, result)) = &forum {
        // Without session parameters, so that a link is the same on every visit.
        let names = sessions(page.outlinks.iter().map(|outlink| &outlink.url));
        for outlink in page.outlinks.iter_mut().filter(|_| !names.is_empty()) {
            outlink.url = without(&outlink.url, &names);
        }
        add_wanted(&mut page.outlinks, result);
    }
    state.drop_sessions(&mut page.outlinks);
    let checked = (forum.is_none() && state.tracked(id).is_none()).then(|| state.look_for_traps(id, url, &page));
    let outlinks = outlinks_digest(&page);
    let again = state.tracked(id).map(|known| known.compare(page.sketch.digest, outlinks));
    let linking = LinkingPage { id, url, nofollow: page.nofollow, is_forum: forum.is_some(), roles: &roles };
    let Candidates { links, targets } = candidates(draft, &linking, std::mem::take(&mut page.outlinks));
    let foreign = draft.settings.is_foreign(page.language.as_deref());
    let relevant = page.relevance >= draft.settings.page_threshold && !foreign;
    let is_first = state.hosts.get(state.urls.get(id).host()).pages == 0;
    let feeds = if is_first { std::mem::take(&mut page.feeds) } else { Vec::new() };
    let visit = PageVisit {
        id,
        relevance: page.relevance,
        relevant,
        place,
        layer: page.layer,
        link_threshold: draft.settings.link_threshold,
        links: &links,
    };
    let claim = canonical::claimed_address(draft, id, url, &page);
    // The links of a copy are left to its canonical address, which is fetched in its place.
    let repeats = checked.as_ref().is_some_and(|checked| checked.repeats) && !state.canonicals.is_claimed(id);
    let left_out = claim.map(|_| SkipReason::Copy).or(repeats.then_some(SkipReason::NearDuplicate));
    let mut judged = judge(draft, &visit, &targets, left_out);
    let signs = checked.map_or_else(TrapSignals::default, |checked| {
        let barren = state.is_barren(&checked, (page.sketch, page.listing), &visit, &targets);
        TrapSignals { no_new_content: barren, ..checked.signs }
    });
    judged.links.extend(claim.and_then(|claim| canonical::lead_to(draft, claim, &page, place)));
    let sitemaps = sitemaps::of_productive_host(draft, &visit, &feeds);
    let (forum, result) = forum.unzip();
    // A link not discovered before is a change, wherever on the page it is.
    let brought = |event: &Event| matches!(event, Event::Discovered(found) if found.origin == UrlOrigin::Link(id));
    let again = again.map(|found| PageChanges { links: found.links || draft.events().iter().any(brought), ..found });
    let processed = PageProcessed {
        links: judged.links,
        known: judged.known,
        forum: forum.map(Box::new),
        validators,
        changes: again,
        outlinks_digest: outlinks,
        feeds,
        trap_signals: signs,
        copy_of: claim,
        foreign,
        ..PageProcessed::of(id, status, place, relevant, page)
    };
    draft.push(Event::PageFetched(Box::new(processed)));
    if let Some(sitemaps) = sitemaps {
        draft.push(sitemaps);
    }
    if let Some(due) = result.map(|result| result.due).filter(|due| !due.is_empty()) {
        draft.push(Event::Forum(Box::new(ForumStep { due, ..ForumStep::default() })));
    }
    draft.reach(judged.reached);
}

/// What the applied events lead to: `reached` pages whose links a longer tunnel judges again, conclusions of the trap
/// rules, and pages that proved not to be copies. Otherwise the result would depend on the order of arrival.
pub fn follow_up(state: &State, reached: &mut Vec<(UrlId, QueueEntry)>, now: Millis) -> Option<Decided> {
    let mut draft = Draft::new(state, now);
    while let Some((id, place)) = reached.pop() {
        let Some(ended) = state.ended.get(&id).filter(|ended| place.path.k > ended.place.path.k) else { continue };
        let judged = judge_again(&draft, id, ended, false, place);
        draft.push(Event::Rejudged { id, entry: place, links: judged.links });
        draft.reach(judged.reached);
        return Some(draft.finish());
    }
    if let Some(step) = state.traps.due.first() {
        draft.push(Event::Trap(Box::new(step.clone())));
        return Some(draft.finish());
    }
    let (id, page, relevant) = state.canonicals.refuted()?;
    let judged = judge_again(&draft, id, page, relevant, page.place);
    draft.push(Event::Rejudged { id, entry: page.place, links: judged.links });
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
    let scores: Vec<f32> = result.wants.iter().filter_map(|want| linked.get(&want.url)).copied().collect();
    let mean = Relevance::new(scores.iter().sum::<f32>() / scores.len().max(1) as f32);
    let missing: Vec<Outlink> = result
        .wants
        .iter()
        .filter(|want| !linked.contains_key(&want.url))
        .map(|want| Outlink {
            url: want.url.clone(),
            anchor: want.text.clone(),
            scores: LinkScores::default(),
            relevance: mean,
            region: Region::Content,
            path: 0,
            nofollow: false,
        })
        .collect();
    outlinks.extend(missing);
}
