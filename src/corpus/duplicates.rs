//! Groups of pages that say the same: equal main text, or nearly (SimHash within 3 of 64 bits; Manku, Jain, Das Sarma,
//! WWW 2007), or one that calls the other its own address. Apart because it is a policy: sketches in, decisions out.
//!
//! A group is what lies near its leader, the first page of it that was fetched; near members of members do not count, or
//! a row of pages each a little unlike the one before would be one group. Two fingerprints within 3 bits agree in at
//! least one of 4 parts of 16 bits, so leaders are looked up by their parts.

use rustc_hash::FxHashMap;

use super::catalogue::Entry;
use super::visits::Part;
use crate::text::simhash::distance;

/// Bits in which near-duplicates differ at most.
const NEAR: u32 = 3;
/// Bits in which a page and the one it calls its own address differ at most; more, and the claim is taken for a mistake
/// (sites that name their home page on every page).
const CLAIMED: u32 = 16;
/// Texts of fewer characters are what a template leaves on pages that say nothing: equal ones must have one title too.
const TELLING: u32 = 40;
/// Texts of fewer characters are only compared whole: too few words to tell by.
const SHORTEST: u32 = 120;
/// Leaders of one part that are compared, the latest; only pages made to hurt share it with more.
const MOST: usize = 256;

/// Sets [`Entry::duplicate_of`] of every page that is not the one to keep of its group. `canonical` gives for each the
/// page it calls its own address, if that was fetched. The one to keep: an address that a member claims; else the most
/// relevant, the longest, the first.
pub(super) fn mark(entries: &mut [Entry], canonical: &[Option<u32>]) {
    let mut leaders = Leaders::default();
    // Of each page its leader, and once groups are joined the leader of leaders.
    let mut parents: Vec<u32> = Vec::with_capacity(entries.len());
    for (place, entry) in (0..).zip(entries.iter()) {
        let leader = leaders.find(entry);
        if leader.is_none() {
            leaders.add(place, entry);
        }
        parents.push(leader.unwrap_or(place));
    }
    let mut claimed = vec![false; entries.len()];
    for (place, target) in (0..).zip(canonical) {
        let Some(target) = target.filter(|target| *target != place) else { continue };
        let (own, to) = (entries[place as usize].sketch, entries[target as usize].sketch);
        // Whoever copies a page must not say which of them is the original.
        let site = entries[place as usize].host == entries[target as usize].host;
        let documents = [place, target].iter().all(|place| !tells_nothing(&entries[*place as usize]));
        if site && documents && distance(own.simhash, to.simhash) <= CLAIMED {
            claimed[target as usize] = true;
            let (from, into) = (root(&mut parents, place), root(&mut parents, target));
            parents[from as usize] = into;
        }
    }
    let roots: Vec<u32> = (0..entries.len() as u32).map(|place| root(&mut parents, place)).collect();
    let worth = |place: u32| {
        let entry = &entries[place as usize];
        (claimed[place as usize], entry.archived, entry.relevance, entry.sketch.chars)
    };
    let mut best: Vec<u32> = roots.clone();
    for (place, &root) in (0..).zip(&roots) {
        let kept = &mut best[root as usize];
        // The first of equals is kept, whether or not it is the root.
        if worth(place) > worth(*kept) || worth(place) == worth(*kept) && place < *kept {
            *kept = place;
        }
    }
    for (place, &root) in (0..).zip(&roots) {
        let kept = best[root as usize];
        entries[place as usize].duplicate_of = (kept != place).then_some(kept);
    }
}

/// The page at the head of a page's group; paths are halved on the way (Tarjan, van Leeuwen 1984).
fn root(parents: &mut [u32], mut at: u32) -> u32 {
    while parents[at as usize] != at {
        parents[at as usize] = parents[parents[at as usize] as usize];
        at = parents[at as usize];
    }
    at
}

/// The first pages of the groups so far.
#[derive(Default)]
struct Leaders {
    by_text: FxHashMap<u64, u32>,
    /// Fingerprints lie beside the places: a look at each entry would miss the cache every time.
    by_part: FxHashMap<(u8, u16), Vec<(u64, u32)>>,
}

impl Leaders {
    fn find(&self, entry: &Entry) -> Option<u32> {
        if tells_nothing(entry) {
            return None;
        }
        if let Some(&leader) = self.by_text.get(&text(entry)) {
            return Some(leader);
        }
        if entry.sketch.chars < SHORTEST {
            return None;
        }
        let simhash = entry.sketch.simhash;
        let near = parts(simhash).filter_map(|part| self.by_part.get(&part)).flat_map(|leaders| {
            leaders.iter().rev().take(MOST).map(|&(other, leader)| (distance(simhash, other), leader))
        });
        near.filter(|(distance, _)| *distance <= NEAR).min().map(|(_, leader)| leader)
    }

    fn add(&mut self, place: u32, entry: &Entry) {
        if tells_nothing(entry) {
            return;
        }
        self.by_text.insert(text(entry), place);
        if entry.sketch.chars >= SHORTEST {
            for part in parts(entry.sketch.simhash) {
                self.by_part.entry(part).or_default().push((entry.sketch.simhash, place));
            }
        }
    }
}

/// Whether nothing can be told of a page by its text: it has none, or is no document of its own.
fn tells_nothing(entry: &Entry) -> bool {
    entry.sketch.chars == 0 || !matches!(entry.part, Part::Page | Part::Thread)
}

/// What equal texts share: of short ones, which templates leave on many pages, title and text.
fn text(entry: &Entry) -> u64 {
    if entry.sketch.chars < TELLING {
        entry.sketch.digest ^ u64::from(entry.title).wrapping_mul(0x9e37_79b9_7f4a_7c15)
    } else {
        entry.sketch.digest
    }
}

fn parts(simhash: u64) -> impl Iterator<Item = (u8, u16)> {
    (0_u8..4).map(move |part| (part, (simhash >> (16 * part)) as u16))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::model::{Millis, Relevance, Sketch, UrlId};

    fn entry(digest: u64, simhash: u64, relevance: f32, chars: u32) -> Entry {
        Entry {
            id: UrlId(0),
            host: 0,
            title: u32::try_from(simhash & 0xff).unwrap(),
            language: None,
            at: Millis(0),
            relevance: Relevance::new(relevance),
            relevant: false,
            sketch: Sketch { chars, digest, simhash },
            published: None,
            listing: false,
            noindex: false,
            archived: true,
            duplicate_of: None,
            part: Part::Page,
            seen: crate::corpus::Seen::default(),
            further: 0,
        }
    }

    fn marked(mut entries: Vec<Entry>, canonical: &[(usize, u32)]) -> Vec<Option<u32>> {
        let mut targets = vec![None; entries.len()];
        for &(place, target) in canonical {
            targets[place] = Some(target);
        }
        mark(&mut entries, &targets);
        entries.iter().map(|entry| entry.duplicate_of).collect()
    }

    #[test]
    fn equal_and_nearly_equal_texts_are_one_group() {
        let pages = vec![
            entry(1, 0b0, 0.2, 500),
            entry(2, 0b111, 0.3, 500),
            entry(3, 0b1111, 0.1, 500),
            entry(1, 0b0, 0.2, 500),
            entry(4, u64::MAX, 0.9, 500),
            entry(5, 0b1, 0.2, 20),
            entry(5, 0b1, 0.2, 20),
            entry(0, 0, 0.0, 0),
            entry(0, 0, 0.0, 0),
        ];
        let expected = [Some(1), None, None, Some(1), None, None, Some(5), None, None];
        assert_eq!(marked(pages, &[]), expected, "four bits, short texts and no texts are not near");
    }

    #[test]
    fn the_address_a_page_calls_its_own_is_kept_if_it_says_much_the_same() {
        let page = |digest: u64, simhash: u64| entry(digest, simhash, 0.5, 500);
        let pages = vec![page(1, 0xff), page(2, 0), page(3, 0xffff_ffff), page(1, 0xff)];
        assert_eq!(marked(pages.clone(), &[(0, 1)]), [Some(1), None, None, Some(1)]);
        assert_eq!(
            marked(pages.clone(), &[(0, 2), (1, 2), (3, 3)]),
            [None, None, None, Some(0)],
            "a home page claimed by all"
        );
        assert_eq!(marked(pages, &[(0, 1), (1, 0)]), [None, Some(0), None, Some(0)]);
    }

    proptest! {
        #[test]
        fn what_is_kept_repeats_nothing(
            pages in prop::collection::vec((0..6_u64, 0..64_u64, 0..4_u8, 100..300_u32), 0..40),
            claims in prop::collection::vec((0..40_usize, 0..40_u32), 0..20),
        ) {
            let entries: Vec<Entry> = pages
                .iter()
                .map(|&(digest, simhash, relevance, chars)| entry(digest, simhash, f32::from(relevance) / 4.0, chars))
                .collect();
            let count = entries.len();
            let claims: Vec<_> = claims.into_iter().filter(|&(from, to)| from < count && (to as usize) < count).collect();
            let kept = marked(entries, &claims);
            for duplicate_of in kept.iter().flatten() {
                prop_assert_eq!(kept[*duplicate_of as usize], None);
            }
        }
    }
}
