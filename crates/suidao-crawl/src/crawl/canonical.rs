//! Canonical URLs: when a page's claim of another address is believed, and what happens to its links meanwhile.
//!
//! The links of a page that names another address of its site wait for that address, which is fetched in the page's
//! place. They are judged after all if the address cannot be fetched, must not be stored, names a third one, or has
//! another text: many sites name their home page, or the first page of a list, on every page.

use rustc_hash::FxHashMap;

use serde::{Deserialize, Serialize};

use suidao_page::model::{
    CrawlUrl, Event, Link, LinkDecision, LinkState, Millis, Page, PageProcessed, QueueEntry, Sketch, SkipReason, UrlId,
    UrlOrigin,
};
use suidao_page::text::simhash::distance;

use super::machine::{Crawl, EndedTunnel};

/// Maximum Hamming distance between the SimHashes of a page and of its canonical address.
const CLAIMED: u32 = 16;
/// Texts with fewer characters must be equal.
const SHORTEST: u32 = 120;
/// Redirects followed from a claimed address.
const REDIRECTS: usize = 5;

/// Digest of a text, enough to compare it with another.
#[derive(Clone, Copy, Serialize, Deserialize)]
struct Text {
    simhash: u64,
    digest: u32,
    chars: u32,
}

impl Text {
    fn of(sketch: &Sketch) -> Option<Self> {
        (sketch.chars > 0).then_some(Self {
            simhash: sketch.simhash,
            digest: sketch.digest as u32,
            chars: sketch.chars,
        })
    }

    fn is_near(self, other: Self) -> bool {
        self.digest == other.digest
            || self.chars.min(other.chars) >= SHORTEST && distance(self.simhash, other.simhash) <= CLAIMED
    }
}

/// Canonical addresses that pages claim. A fold of the events. Memory: about 30 bytes per fetched page.
#[derive(Default, Serialize, Deserialize)]
pub(super) struct Canonicals {
    texts: FxHashMap<UrlId, Text>,
    /// Pages treated as copies, with the canonical address of each.
    copies: FxHashMap<UrlId, UrlId>,
    /// Addresses not fetched yet, with the pages that claim them.
    claims: FxHashMap<UrlId, Vec<UrlId>>,
    /// The claiming pages, with their links.
    held: FxHashMap<UrlId, (EndedTunnel, bool)>,
    moved: FxHashMap<UrlId, UrlId>,
    /// Pages whose links must be judged after all.
    refuted: Vec<UrlId>,
}

impl Canonicals {
    /// Target of a URL's redirect, or of its rewritten spelling.
    pub fn moved_to(&self, id: UrlId) -> Option<UrlId> {
        self.moved.get(&id).copied()
    }

    fn led_to(&self, id: UrlId) -> UrlId {
        let next = |id: &UrlId| self.moved_to(*id);
        std::iter::successors(Some(id), next).take(REDIRECTS).last().unwrap_or(id)
    }

    /// Whether a page claims this address and it is not fetched yet.
    pub fn is_claimed(&self, id: UrlId) -> bool {
        self.claims.contains_key(&id)
    }

    fn refute(&mut self, claimed: UrlId) {
        for page in self.claims.remove(&claimed).into_iter().flatten() {
            self.copies.remove(&page);
            self.refuted.push(page);
        }
    }
}

impl Crawl {
    /// The canonical address that a page claims, if accepted so far: same site, in scope, and with the same text or not
    /// fetched yet.
    pub(super) fn claim_address(
        &mut self,
        events: &mut Vec<Event>,
        id: UrlId,
        url: &CrawlUrl,
        page: &Page,
        now: Millis,
    ) -> Option<UrlId> {
        let claimed = page.canonical.as_ref()?;
        let home = self.in_preferred_scheme(claimed);
        let claimed = home.as_ref().unwrap_or(claimed);
        let own = Text::of(&page.sketch)?;
        let is_forum = self.forums.sites.contains_key(url.authority());
        if claimed == url || is_forum || !is_one_site(url, claimed) || self.refuses(claimed).is_some() {
            return None;
        }
        if let Some(known) = self.urls.find(claimed) {
            let known = self.canonicals.led_to(known);
            // If two pages name each other, the second one is canonical.
            if known == id || self.canonicals.copies.contains_key(&known) {
                return None;
            }
            let text = |id: &UrlId| self.canonicals.texts.get(id).copied();
            match self.urls.get(known).state {
                LinkState::Fetched => return text(&known).is_some_and(|text| text.is_near(own)).then_some(known),
                LinkState::Dropped | LinkState::Queued | LinkState::InFlight => {}
                LinkState::Redirected | LinkState::Failed | LinkState::Refused => return None,
            }
            // Pages with different texts claim it.
            let first = self.canonicals.claims.get(&known).and_then(|pages| text(pages.first()?));
            if first.is_some_and(|first| !first.is_near(own)) || self.tracked(id).is_some() {
                return None;
            }
            return Some(known);
        }
        if self.tracked(id).is_some() {
            return None;
        }
        Some(self.number(events, claimed, UrlOrigin::Canonical(id), "", now))
    }

    /// The link that queues the canonical address next.
    pub(super) fn lead_to(&self, claimed: UrlId, page: &Page, place: QueueEntry) -> Option<Link> {
        let waits = self.urls.get(claimed).state != LinkState::Fetched;
        waits.then(|| Link::bare(claimed, page.relevance, LinkDecision::Follow(Self::ahead(place))))
    }

    /// Judges the links of pages that proved not to be copies.
    pub(super) fn release(&mut self, events: &mut Vec<Event>, now: Millis) {
        while let Some(&id) = self.canonicals.refuted.first() {
            let Some((page, relevant)) = self.canonicals.held.get(&id) else {
                self.canonicals.refuted.remove(0);
                continue;
            };
            let place = page.place;
            let judged = self.judge_anew(id, page, *relevant, place);
            self.tell(events, Event::Rejudged { id, place, links: judged.links }, now);
            self.expand(events, judged.longer, now);
        }
    }

    /// As [`Crawl::release`], outside of settling.
    pub(super) fn release_pending(&mut self, now: Millis) {
        let mut events = std::mem::take(&mut self.pending);
        self.release(&mut events, now);
        self.pending = events;
    }

    /// Whether the language of a page is excluded by `languages`.
    pub(super) fn is_foreign(&self, language: Option<&str>) -> bool {
        let kept = &self.conditions.languages;
        !kept.is_empty() && !language.is_some_and(|language| kept.iter().any(|one| one == language))
    }

    pub(super) fn observe_canonical(&mut self, event: &Event) {
        match event {
            Event::PageFetched(page) => self.observe_text(page),
            Event::FetchFailed { id, .. } | Event::UrlExcluded { id, .. } => self.canonicals.refute(*id),
            Event::Redirected { id, link, .. } | Event::SchemeRewritten { id, link } => match link {
                Some(Link { to, .. }) => {
                    self.canonicals.moved.insert(*id, *to);
                    let pages = self.canonicals.claims.remove(id).unwrap_or_default();
                    for page in &pages {
                        self.canonicals.copies.insert(*page, *to);
                    }
                    if !pages.is_empty() {
                        self.canonicals.claims.entry(*to).or_default().extend(pages);
                    }
                }
                None => self.canonicals.refute(*id),
            },
            Event::Rejudged { id, links, place } => {
                let Some((page, _)) = self.canonicals.held.remove(id) else { return };
                self.canonicals.refuted.retain(|refuted| refuted != id);
                if links.iter().any(|link| link.verdict == LinkDecision::Drop(SkipReason::TunnelEnd)) {
                    self.ended.insert(*id, EndedTunnel { place: *place, links: links.clone(), ..page });
                }
            }
            _ => {}
        }
    }

    fn observe_text(&mut self, page: &PageProcessed) {
        let (id, own) = (page.id, Text::of(&page.sketch));
        self.canonicals.copies.remove(&id);
        if let Some(own) = own {
            self.canonicals.texts.insert(id, own);
        }
        for claimant in self.canonicals.claims.remove(&id).unwrap_or_default() {
            let text = self.canonicals.texts.get(&claimant).copied();
            let agree = own.zip(text).is_some_and(|(own, text)| own.is_near(text));
            if agree && !page.noindex && page.copy_of.is_none() {
                self.canonicals.held.remove(&claimant);
            } else {
                self.canonicals.copies.remove(&claimant);
                self.canonicals.refuted.push(claimant);
            }
        }
        let Some(of) = page.copy_of else { return };
        self.canonicals.copies.insert(id, of);
        if self.urls.get(of).state != LinkState::Fetched {
            let left = page.links.iter().filter(|link| link.verdict == LinkDecision::Drop(SkipReason::Copy));
            let links = left.copied().collect();
            let ended = EndedTunnel { relevance: page.relevance, place: page.place, links };
            self.canonicals.held.insert(id, (ended, page.relevant));
            self.canonicals.claims.entry(of).or_default().push(id);
        }
    }
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

    #[test]
    fn short_texts_must_be_equal() {
        let text = |digest, simhash, chars| Text { simhash, digest, chars };
        assert!(text(1, 0, 500).is_near(text(2, 0xffff, 500)));
        assert!(!text(1, 0, 500).is_near(text(2, 0x1_ffff, 500)));
        assert!(!text(1, 0, 50).is_near(text(2, 0, 500)));
        assert!(text(1, 0, 50).is_near(text(1, 0, 50)));
    }
}
