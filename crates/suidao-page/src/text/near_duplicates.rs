//! An index of sketches that finds equal and nearly equal texts (SimHash within 3 of 64 bits; Manku, Jain, Das Sarma,
//! "Detecting near-duplicates for web crawling", WWW 2007).
//!
//! A page is compared with representatives only, the first page of each group; otherwise a chain of small differences
//! would join different pages. Two fingerprints within 3 bits agree in at least one of 4 parts of 16 bits, so
//! representatives are looked up by part.

use rustc_hash::FxHashMap;

use serde::{Deserialize, Serialize};

use super::simhash::distance;
use crate::model::Sketch;

/// Maximum bits in which near-duplicates differ.
pub const NEAR: u32 = 3;
/// Shorter texts (in characters) are a template's remains on empty pages: equal ones also need the same title.
const MEANINGFUL: u32 = 40;
/// Shorter texts (in characters) are near-duplicates only if equal, because they have too few words.
const SHORTEST: u32 = 120;
/// Maximum representatives compared per part, the latest first; only adversarial pages share a part with more.
const MOST: usize = 256;

/// Representatives of all groups. Memory: 80 bytes each, and 8 MB for the full index of parts.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct NearDuplicateIndex {
    by_text: FxHashMap<u64, Representative>,
    /// By index and value of a part: representatives, each with the other 32 bits of its fingerprint, because reading
    /// them elsewhere would be a cache miss each.
    by_part: FxHashMap<(u8, u16), Vec<(u32, u32)>>,
    /// Fingerprint and page by number.
    leaders: Vec<(u64, Representative)>,
}

/// The first page of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Representative {
    pub page: u32,
    pub title: u32,
}

impl NearDuplicateIndex {
    /// The nearest representative that is equal or a near-duplicate, the first of equals. `title`: hash of the page's
    /// title.
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

    /// Adds a page for which [`NearDuplicateIndex::find`] found none.
    pub fn add(&mut self, page: u32, sketch: Sketch, title: u32) {
        if sketch.chars == 0 {
            return;
        }
        let leader = Representative { page, title };
        self.by_text.insert(text(sketch, title), leader);
        if sketch.chars >= SHORTEST {
            let number = u32::try_from(self.leaders.len())
                .expect("fewer representatives than pages, which have numbers of 32 bits");
            self.leaders.push((sketch.simhash, leader));
            for part in 0..4 {
                let position = self.by_part.entry(part_of(sketch.simhash, part)).or_default();
                position.push((rest(sketch.simhash, part), number));
            }
        }
    }
}

/// Key of equal texts: for short ones, which templates leave on many pages, it includes the title.
fn text(sketch: Sketch, title: u32) -> u64 {
    if sketch.chars < MEANINGFUL {
        sketch.digest ^ u64::from(title).wrapping_mul(0x9e37_79b9_7f4a_7c15)
    } else {
        sketch.digest
    }
}

#[allow(clippy::cast_possible_truncation)] // 16 bits
fn part_of(simhash: u64, part: u8) -> (u8, u16) {
    (part, (simhash >> (16 * part)) as u16)
}

/// 32 bits outside a part.
#[allow(clippy::cast_possible_truncation)] // 32 bits
fn rest(simhash: u64, part: u8) -> u32 {
    simhash.rotate_right(16 * (u32::from(part) + 1)) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sketch(simhash: u64) -> Sketch {
        Sketch { chars: 500, stub: false, digest: simhash.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1, simhash }
    }

    proptest::proptest! {
        #[test]
        fn whatever_three_bits_change_it_is_found(simhash: u64, bits in proptest::collection::vec(0..64_u32, 0..6)) {
            let mut near_duplicates = NearDuplicateIndex::default();
            near_duplicates.add(7, sketch(simhash), 0);
            let other = bits.iter().fold(simhash, |hash, bit| hash ^ 1 << bit);
            let near = distance(simhash, other) <= NEAR;
            proptest::prop_assert_eq!(near_duplicates.find(sketch(other), 1).map(|leader| leader.page), near.then_some(7));
        }
    }

    #[test]
    fn short_texts_are_compared_whole_and_shortest_with_their_title() {
        let mut near_duplicates = NearDuplicateIndex::default();
        let short = |chars, digest| Sketch { chars, stub: false, digest, simhash: 5 };
        near_duplicates.add(1, short(60, 11), 0);
        near_duplicates.add(2, short(20, 12), 0);
        let page = |sketch, title| near_duplicates.find(sketch, title).map(|leader| leader.page);
        assert_eq!((page(short(60, 11), 3), page(short(60, 13), 0)), (Some(1), None));
        assert_eq!((page(short(20, 12), 0), page(short(20, 12), 3)), (Some(2), None));
        assert_eq!(near_duplicates.find(Sketch::default(), 0), None);
    }
}
