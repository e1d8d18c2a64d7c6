//! Groups of duplicates: equal main texts, nearly equal ones (SimHash within 3 of 64 bits; Manku, Jain, Das Sarma, WWW
//! 2007), or a page that declares another as its canonical URL.
//!
//! A group is everything near its first page in order of fetching; pages that are only near other members do not count.

use super::entry::{CatalogueEntry, PageRole};
use suidao_page::text::near_duplicates::{NEAR, NearDuplicateIndex};
use suidao_page::text::simhash::distance;

/// Maximum bits by which a page and its canonical URL may differ. If they differ more, the declaration is wrong, as on
/// sites that name their home page on every page.
const MAX_CANONICAL_DISTANCE: u32 = 16;
#[derive(Clone, Copy, Debug)]
pub(super) struct CanonicalClaim {
    /// The page at that address: an index into the catalogue.
    pub to: u32,
    /// The crawl accepted it as an address of the same site.
    pub accepted: bool,
}

/// Sets [`CatalogueEntry::duplicate_of`] of every page that is not the best of its group. `canonical` gives the fetched
/// page that each page declares. The best is the one that a member declares, else the most relevant, the longest, the
/// first. A page whose declaration was accepted is not a document.
pub(super) fn mark_duplicates(entries: &mut [CatalogueEntry], canonical: &[Option<CanonicalClaim>]) {
    let mut representatives = NearDuplicateIndex::default();
    // The first page of each page's group; after groups are joined, the first page of that.
    let mut parents: Vec<u32> = Vec::with_capacity(entries.len());
    for (position, entry) in (0..).zip(entries.iter()) {
        let representative = if is_uninformative(entry) {
            None
        } else {
            representatives.find(entry.sketch, entry.title).map(|representative| representative.page)
        };
        if representative.is_none() && !is_uninformative(entry) {
            representatives.add(position, entry.sketch, entry.title);
        }
        parents.push(representative.unwrap_or(position));
    }
    let mut claimed = vec![false; entries.len()];
    let mut copies = Vec::new();
    for (position, claim) in (0..).zip(canonical) {
        let Some(CanonicalClaim { to: target, accepted }) = claim.filter(|claim| claim.to != position) else {
            continue;
        };
        // Of two pages that declare each other the crawl accepted one.
        let back = canonical.get(target as usize).copied().flatten();
        if !accepted && back.is_some_and(|back| back.accepted && back.to == position) {
            continue;
        }
        let (own, to) = (entries[position as usize].sketch, entries[target as usize].sketch);
        // A near copy of another site's page must not choose the original.
        let site = accepted || entries[position as usize].host == entries[target as usize].host;
        let documents = [position, target].iter().all(|position| !is_uninformative(&entries[*position as usize]));
        // A page with noindex is not better.
        let worse = entries[target as usize].noindex && !entries[position as usize].noindex;
        if documents && !worse && distance(own.simhash, to.simhash) <= if site { MAX_CANONICAL_DISTANCE } else { NEAR }
        {
            claimed[target as usize] = true;
            copies.push(position);
            let (from, into) = (root(&mut parents, position), root(&mut parents, target));
            parents[from as usize] = into;
        }
    }
    let roots: Vec<u32> = (0..entries.len() as u32).map(|position| root(&mut parents, position)).collect();
    let quality = |position: u32| {
        let entry = &entries[position as usize];
        (claimed[position as usize], entry.archived, entry.relevance, entry.sketch.chars)
    };
    let mut best: Vec<u32> = roots.clone();
    for (position, &root) in (0..).zip(&roots) {
        let best_one = &mut best[root as usize];
        // Of equals the first is best, even if it is not the root.
        if quality(position) > quality(*best_one) || quality(position) == quality(*best_one) && position < *best_one {
            *best_one = position;
        }
    }
    for (position, &root) in (0..).zip(&roots) {
        let representative = best[root as usize];
        entries[position as usize].duplicate_of = (representative != position).then_some(representative);
    }
    for position in copies {
        let entry = &mut entries[position as usize];
        if let (Some(representative), PageRole::Page) = (entry.duplicate_of, entry.role) {
            entry.role = PageRole::Copy(representative);
        }
    }
}

/// The root of a page's group, with path halving (Tarjan, van Leeuwen 1984).
fn root(parents: &mut [u32], mut at: u32) -> u32 {
    while parents[at as usize] != at {
        parents[at as usize] = parents[parents[at as usize] as usize];
        at = parents[at as usize];
    }
    at
}

/// Whether the text of a page proves nothing: it is empty, or not a document of its own.
fn is_uninformative(entry: &CatalogueEntry) -> bool {
    entry.sketch.chars == 0 || !matches!(entry.role, PageRole::Page | PageRole::Thread)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use suidao_page::model::{Millis, Relevance, Sketch, UrlId};

    fn entry(digest: u64, simhash: u64, relevance: f32, chars: u32) -> CatalogueEntry {
        CatalogueEntry {
            id: UrlId(0),
            host: 0,
            title: u32::try_from(simhash & 0xff).unwrap(),
            metadata_hash: 0,
            language: None,
            at: Millis(0),
            relevance: Relevance::new(relevance),
            on_topic: false,
            sketch: Sketch { chars, stub: false, digest, simhash },
            published: None,
            listing: false,
            noindex: false,
            foreign: false,
            archived: true,
            duplicate_of: None,
            role: PageRole::Page,
            by_refresh: false,
            seen: crate::corpus::SeenTimes::default(),
            further: 0,
        }
    }

    fn marked(mut entries: Vec<CatalogueEntry>, canonical: &[(usize, u32)]) -> Vec<Option<u32>> {
        let mut targets = vec![None; entries.len()];
        for &(position, target) in canonical {
            targets[position] = Some(CanonicalClaim { to: target, accepted: false });
        }
        mark_duplicates(&mut entries, &targets);
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
    fn a_canonical_url_with_similar_text_represents_the_page() {
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
        fn representatives_are_not_duplicates(
            pages in prop::collection::vec((0..6_u64, 0..64_u64, 0..4_u8, 100..300_u32), 0..40),
            claims in prop::collection::vec((0..40_usize, 0..40_u32), 0..20),
        ) {
            let entries: Vec<CatalogueEntry> = pages
                .iter()
                .map(|&(digest, simhash, relevance, chars)| entry(digest, simhash, f32::from(relevance) / 4.0, chars))
                .collect();
            let count = entries.len();
            let claims: Vec<_> = claims.into_iter().filter(|&(from, to)| from < count && (to as usize) < count).collect();
            let representative = marked(entries, &claims);
            for duplicate_of in representative.iter().flatten() {
                prop_assert_eq!(representative[*duplicate_of as usize], None);
            }
        }
    }
}
