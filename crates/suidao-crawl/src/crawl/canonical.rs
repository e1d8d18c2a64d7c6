//! Canonical URLs: which URLs pages claim, and which claims are decided.
//!
//! The links of a page that claims another URL of its site wait for that URL, which is fetched in the page's place.
//! They are judged after all if the URL cannot be fetched, must not be stored, claims a third one, or has another text:
//! many sites name their home page, or the first page of a list, on every page.

use rustc_hash::FxHashMap;

use serde::{Deserialize, Serialize};

use suidao_page::model::{Event, Link, LinkDecision, PageProcessed, Sketch, SkipReason, UrlId};
use suidao_page::text::simhash::distance;

use super::tunnels::EndedTunnel;

/// Maximum Hamming distance between the SimHashes of a page and of its canonical URL.
const CLAIMED: u32 = 16;
/// Texts with fewer characters must be equal, as for near-duplicates; the traps' limit is a different one.
const SHORTEST: u32 = 120;
/// Redirects followed from a claimed URL.
const REDIRECTS: usize = 5;

/// Digest of a text, enough to compare it with another.
#[derive(Clone, Copy, Serialize, Deserialize)]
pub(super) struct TextDigest {
    simhash: u64,
    digest: u32,
    chars: u32,
}

impl TextDigest {
    pub fn of(sketch: &Sketch) -> Option<Self> {
        (sketch.chars > 0).then_some(Self {
            simhash: sketch.simhash,
            digest: sketch.digest as u32,
            chars: sketch.chars,
        })
    }

    pub fn is_near(self, other: Self) -> bool {
        self.digest == other.digest
            || self.chars.min(other.chars) >= SHORTEST && distance(self.simhash, other.simhash) <= CLAIMED
    }
}

/// Canonical URLs that pages claim. A fold of the events. Memory: about 30 bytes per fetched page.
#[derive(Default, Serialize, Deserialize)]
pub(super) struct Canonicals {
    texts: FxHashMap<UrlId, TextDigest>,
    /// Pages treated as copies, with the canonical URL of each.
    copies: FxHashMap<UrlId, UrlId>,
    /// Claimed URLs not fetched yet, with the pages that claim them.
    claims: FxHashMap<UrlId, Vec<UrlId>>,
    /// The claiming pages, with their links.
    claimants: FxHashMap<UrlId, (EndedTunnel, bool)>,
    moved: FxHashMap<UrlId, UrlId>,
    /// Pages whose links must be judged after all.
    refuted: Vec<UrlId>,
}

impl Canonicals {
    /// Target of a URL's redirect, or of its rewritten spelling.
    pub fn moved_to(&self, id: UrlId) -> Option<UrlId> {
        self.moved.get(&id).copied()
    }

    /// Where the redirects of a URL lead.
    pub fn led_to(&self, id: UrlId) -> UrlId {
        let next = |id: &UrlId| self.moved_to(*id);
        std::iter::successors(Some(id), next).take(REDIRECTS).last().unwrap_or(id)
    }

    /// Whether a page claims this URL and it is not fetched yet.
    pub fn is_claimed(&self, id: UrlId) -> bool {
        self.claims.contains_key(&id)
    }

    /// Whether a page is treated as a copy.
    pub fn is_copy(&self, id: UrlId) -> bool {
        self.copies.contains_key(&id)
    }

    pub fn text(&self, id: UrlId) -> Option<TextDigest> {
        self.texts.get(&id).copied()
    }

    /// The text of the first page that claims this URL.
    pub fn claimed_text(&self, id: UrlId) -> Option<TextDigest> {
        self.claims.get(&id).and_then(|pages| self.text(*pages.first()?))
    }

    /// A page whose links must be judged after all, and whether it is relevant.
    pub fn refuted(&self) -> Option<(UrlId, &EndedTunnel, bool)> {
        self.refuted.iter().find_map(|id| self.claimants.get(id).map(|(page, relevant)| (*id, page, *relevant)))
    }

    /// Folds an event. `is_fetched`: whether a URL is fetched after it. Returns a page whose links are dropped at the
    /// end of its tunnel.
    pub fn observe(&mut self, event: &Event, is_fetched: impl Fn(UrlId) -> bool) -> Option<(UrlId, EndedTunnel)> {
        match event {
            Event::PageFetched(page) => self.observe_page(page, is_fetched),
            // It does not redirect any more.
            Event::Unchanged { id, .. } => drop(self.moved.remove(id)),
            Event::FetchFailed { id, .. } | Event::UrlExcluded { id, .. } => self.refute_claims(*id),
            Event::Redirected { id, link, .. } | Event::SchemeRewritten { id, link } => match link {
                Some(Link { to, .. }) => {
                    self.moved.insert(*id, *to);
                    let pages = self.claims.remove(id).unwrap_or_default();
                    for page in &pages {
                        self.copies.insert(*page, *to);
                    }
                    if !pages.is_empty() {
                        self.claims.entry(*to).or_default().extend(pages);
                    }
                }
                None => self.refute_claims(*id),
            },
            Event::Rejudged { id, links, entry } => {
                let (page, _) = self.claimants.remove(id)?;
                self.refuted.retain(|refuted| refuted != id);
                if links.iter().any(|link| link.decision == LinkDecision::Drop(SkipReason::TunnelEnd)) {
                    return Some((*id, EndedTunnel { entry: *entry, links: links.clone(), ..page }));
                }
            }
            _ => {}
        }
        None
    }

    fn observe_page(&mut self, page: &PageProcessed, is_fetched: impl Fn(UrlId) -> bool) {
        let (id, own) = (page.id, TextDigest::of(&page.sketch));
        self.copies.remove(&id);
        self.moved.remove(&id);
        if let Some(own) = own {
            self.texts.insert(id, own);
        }
        for claimant in self.claims.remove(&id).unwrap_or_default() {
            let agree = own.zip(self.text(claimant)).is_some_and(|(own, text)| own.is_near(text));
            if agree && !page.noindex && page.copy_of.is_none() {
                self.claimants.remove(&claimant);
            } else {
                self.refute(claimant);
            }
        }
        let Some(of) = page.copy_of else { return };
        self.copies.insert(id, of);
        if !is_fetched(of) {
            let left = page.links.iter().filter(|link| link.decision == LinkDecision::Drop(SkipReason::Copy));
            let links = left.copied().collect();
            let ended = EndedTunnel { relevance: page.relevance, entry: page.queued_as, links, layer: page.layer };
            self.claimants.insert(id, (ended, page.on_topic));
            self.claims.entry(of).or_default().push(id);
        }
    }

    fn refute_claims(&mut self, claimed: UrlId) {
        for page in self.claims.remove(&claimed).into_iter().flatten() {
            self.refute(page);
        }
    }

    fn refute(&mut self, claimant: UrlId) {
        self.copies.remove(&claimant);
        if self.claimants.contains_key(&claimant) {
            self.refuted.push(claimant);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_texts_must_be_equal() {
        let text = |digest, simhash, chars| TextDigest { simhash, digest, chars };
        assert!(text(1, 0, 500).is_near(text(2, 0xffff, 500)));
        assert!(!text(1, 0, 500).is_near(text(2, 0x1_ffff, 500)));
        assert!(!text(1, 0, 50).is_near(text(2, 0, 500)));
        assert!(text(1, 0, 50).is_near(text(1, 0, 50)));
    }
}
