//! Which page said this before? An index of sketches: equal texts, or nearly (SimHash within 3 of 64 bits; Manku, Jain,
//! Das Sarma, "Detecting near-duplicates for web crawling", WWW 2007).
//!
//! A page is compared with leaders, the first of their kind, only: or a row of pages each a little unlike the one before would
//! be one. Two fingerprints within 3 bits agree in at least one of 4 parts of 16 bits, so leaders are looked up by their parts.

use rustc_hash::FxHashMap;

use serde::{Deserialize, Serialize};

use super::simhash::distance;
use crate::model::Sketch;

/// Bits in which near-duplicates differ at most.
pub const NEAR: u32 = 3;
/// Texts of fewer characters are what a template leaves on pages that say nothing: equal ones must have one title too.
const TELLING: u32 = 40;
/// Texts of fewer characters are only compared whole: too few words to tell by.
const SHORTEST: u32 = 120;
/// Leaders of one part that are compared, the latest; only pages made to hurt share it with more.
const MOST: usize = 256;

/// The first pages of each kind. Memory: 80 bytes for each, and 8 MB for the index of parts when it is full.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct NearDuplicateIndex {
    by_text: FxHashMap<u64, Representative>,
    /// Number of the part and the part: leaders, with 32 bits of their fingerprint that are no part of it. They lie beside
    /// the numbers because a look at each leader would miss the cache every time.
    by_part: FxHashMap<(u8, u16), Vec<(u32, u32)>>,
    /// With their fingerprints, by number.
    leaders: Vec<(u64, Representative)>,
}

/// A page that others are compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Representative {
    /// Which.
    pub page: u32,
    /// Hash of its title.
    pub title: u32,
}

impl NearDuplicateIndex {
    /// The leader that says the same; the nearest, of equals the first. `title`: hash of the page's title.
    pub fn find(&self, sketch: Sketch, title: u32) -> Option<Representative> {
        if sketch.chars == 0 {
            return None;
        }
        if let Some(&leader) = self.by_text.get(&text(sketch, title)) {
            return Some(leader);
        }
        if sketch.chars < SHORTEST {
            return None;
        }
        let near = (0..4).filter_map(|part| Some((part, self.by_part.get(&part_of(sketch.simhash, part))?)));
        let near = near.flat_map(|(part, leaders)| {
            let own = rest(sketch.simhash, part);
            let latest = leaders.iter().rev().take(MOST);
            latest
                .filter(move |(rest, _)| (rest ^ own).count_ones() <= NEAR)
                .map(|&(_, number)| self.leaders[number as usize])
        });
        let near = near.map(|(simhash, leader)| (distance(simhash, sketch.simhash), leader));
        near.filter(|(distance, _)| *distance <= NEAR).min().map(|(_, leader)| leader)
    }

    /// Takes in a leader: a page that [`Twins::find`] finds no other for.
    pub fn add(&mut self, page: u32, sketch: Sketch, title: u32) {
        if sketch.chars == 0 {
            return;
        }
        let leader = Representative { page, title };
        self.by_text.insert(text(sketch, title), leader);
        if sketch.chars >= SHORTEST {
            let number =
                u32::try_from(self.leaders.len()).expect("fewer leaders than pages, which have numbers of 32 bits");
            self.leaders.push((sketch.simhash, leader));
            for part in 0..4 {
                let place = self.by_part.entry(part_of(sketch.simhash, part)).or_default();
                place.push((rest(sketch.simhash, part), number));
            }
        }
    }
}

/// What equal texts share: of short ones, which templates leave on many pages, title and text.
fn text(sketch: Sketch, title: u32) -> u64 {
    if sketch.chars < TELLING {
        sketch.digest ^ u64::from(title).wrapping_mul(0x9e37_79b9_7f4a_7c15)
    } else {
        sketch.digest
    }
}

#[allow(clippy::cast_possible_truncation)] // 16 bits are cut out
fn part_of(simhash: u64, part: u8) -> (u8, u16) {
    (part, (simhash >> (16 * part)) as u16)
}

/// 32 bits beside a part.
#[allow(clippy::cast_possible_truncation)] // 32 bits are cut out
fn rest(simhash: u64, part: u8) -> u32 {
    simhash.rotate_right(16 * (u32::from(part) + 1)) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sketch(simhash: u64) -> Sketch {
        Sketch { chars: 500, digest: simhash.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1, simhash }
    }

    proptest::proptest! {
        #[test]
        fn whatever_three_bits_change_it_is_found(simhash: u64, bits in proptest::collection::vec(0..64_u32, 0..6)) {
            let mut twins = NearDuplicateIndex::default();
            twins.add(7, sketch(simhash), 0);
            let other = bits.iter().fold(simhash, |hash, bit| hash ^ 1 << bit);
            let near = distance(simhash, other) <= NEAR;
            proptest::prop_assert_eq!(twins.find(sketch(other), 1).map(|leader| leader.page), near.then_some(7));
        }
    }

    #[test]
    fn short_texts_are_compared_whole_and_shortest_with_their_title() {
        let mut twins = NearDuplicateIndex::default();
        let short = |chars, digest| Sketch { chars, digest, simhash: 5 };
        twins.add(1, short(60, 11), 0);
        twins.add(2, short(20, 12), 0);
        let page = |sketch, title| twins.find(sketch, title).map(|leader| leader.page);
        assert_eq!((page(short(60, 11), 3), page(short(60, 13), 0)), (Some(1), None));
        assert_eq!((page(short(20, 12), 0), page(short(20, 12), 3)), (Some(2), None));
        assert_eq!(twins.find(Sketch::default(), 0), None);
    }
}
