//! SimHash: a 64-bit fingerprint in which similar texts differ in few bits. Charikar, "Similarity estimation techniques
//! from rounding algorithms", STOC 2002; Manku, Jain, Das Sarma, "Detecting near-duplicates for web crawling", WWW
//! 2007, use 3 of 64 bits for web pages.
//!
//! Each Chinese character is a word here, because segmentation costs twenty times as much and every page needs a
//! sketch.
//!
//! Bit b of the fingerprint is 1 if Σ_f (2 h_fb - 1) > 0, over the bits h_fb of the hashes of all feature occurrences
//! f.

use xxhash_rust::xxh3::xxh3_64;

use super::segment::{fold_into, runs_of_one};
use crate::model::Sketch;

/// Bytes of UTF-8, without white space, of the shortest text of a document: 50 ideographs or 150 letters.
const DOCUMENT: usize = 150;

/// Words per feature.
const ROW: usize = 3;

/// The bits of each byte as one byte each, to add to eight counters at once.
const SPREAD: [u64; 256] = {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let mut bit = 0;
        while bit < 8 {
            table[byte] |= (byte as u64 >> bit & 1) << (8 * bit);
            bit += 1;
        }
        byte += 1;
    }
    table
};

/// Number of features per bit; up to 255 are summed in bytes first.
#[derive(Default)]
struct Counters {
    bytes: [u64; 8],
    waiting: u8,
    sums: [[u32; 8]; 8],
    features: u32,
}

impl Counters {
    fn add(&mut self, hash: u64) {
        for (sums, byte) in self.bytes.iter_mut().zip(hash.to_le_bytes()) {
            *sums += SPREAD[byte as usize];
        }
        self.waiting += 1;
        if self.waiting == u8::MAX {
            self.flush();
        }
    }

    fn flush(&mut self) {
        for (sums, bytes) in self.sums.iter_mut().zip(&mut self.bytes) {
            for (sum, byte) in sums.iter_mut().zip(bytes.to_le_bytes()) {
                *sum += u32::from(byte);
            }
            *bytes = 0;
        }
        self.features += u32::from(std::mem::take(&mut self.waiting));
    }

    fn finish(mut self) -> u64 {
        self.flush();
        let bits = self.sums.iter().flatten().enumerate();
        bits.filter(|(_, sum)| **sum * 2 > self.features).fold(0, |hash, (bit, _)| hash | 1 << bit)
    }
}

pub fn sketch(text: &str) -> Sketch {
    let visible = text.chars().filter(|c| !c.is_whitespace());
    let (chars, bytes) = visible.fold((0, 0), |(chars, bytes), c| (chars + 1_usize, bytes + c.len_utf8()));
    if chars == 0 {
        return Sketch::default();
    }
    let mut folded = String::with_capacity(text.len());
    fold_into(text, &mut folded);
    let mut counters = Counters::default();
    // Hashes of the last words, the newest first. A text of fewer than three words has one feature.
    let mut row = [0_u64; ROW];
    let mut words = 0;
    let mut digest = 0_u64;
    runs_of_one(&folded, |word| {
        let hash = xxh3_64(word.as_bytes());
        digest = digest.rotate_left(5).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ hash;
        row.rotate_right(1);
        row[0] = hash;
        words += 1;
        if words >= ROW {
            counters.add(feature(row));
        }
    });
    if words < ROW {
        counters.add(feature(row));
    }
    // Texts without words (signs only) differ by their characters.
    let digest = if words == 0 { xxh3_64(folded.as_bytes()) } else { digest };
    Sketch {
        chars: u32::try_from(chars).unwrap_or(u32::MAX),
        stub: bytes < DOCUMENT,
        digest: digest.max(1),
        simhash: counters.finish(),
    }
}

/// Hash of consecutive words.
fn feature(row: [u64; ROW]) -> u64 {
    let mixed = row.iter().fold(0_u64, |hash, word| hash.rotate_left(23) ^ word.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    // The finalizer of splitmix64 (Steele, Lea, Flood 2014): every bit depends on every word.
    let mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ mixed >> 31
}

/// Number of different bits.
pub fn distance(one: u64, other: u64) -> u32 {
    (one ^ other).count_ones()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn text(seed: usize, words: usize) -> String {
        (0..words)
            .map(|n| char::from_u32(0x4e00 + ((n * n * 31 + n * seed * 7 + seed) % 3000) as u32).unwrap())
            .collect()
    }

    #[test]
    fn a_changed_sentence_moves_few_bits_and_another_text_many() {
        let (one, other) = (text(3, 900), text(11, 900));
        let changed = format!("{}浏览次数：一千二百三十四{}", &one[..300], &one[300..]);
        assert!(distance(sketch(&one).simhash, sketch(&changed).simhash) <= 6);
        assert!(distance(sketch(&one).simhash, sketch(&other).simhash) >= 16);
        assert_ne!(sketch(&one).digest, sketch(&changed).digest);
    }

    #[test]
    fn spelling_and_white_space_make_no_difference_order_does() {
        let (one, same) = (sketch("足球 World\nCup 資訊"), sketch("足球　ｗｏｒｌｄ cup资讯"));
        assert_eq!((one.digest, one.simhash), (same.digest, same.simhash));
        assert_ne!(sketch("一二三四").digest, sketch("一二四三").digest);
        assert_ne!(sketch("一二三四").simhash, sketch("一二四三").simhash);
    }

    #[test]
    fn little_text_has_a_sketch_and_none_has_none() {
        assert_eq!(sketch(" \n"), Sketch::default());
        for text in ["足", "足球", "!!", "?"] {
            assert!(sketch(text).digest != 0 && sketch(text).chars > 0, "{text}");
        }
        assert_ne!(sketch("!!").digest, sketch("?").digest);
    }

    #[test]
    fn a_stub_has_fewer_than_fifty_ideographs_or_three_times_as_many_letters() {
        let of = |text: &str, times| sketch(&text.repeat(times)).is_text();
        assert_eq!(
            ["足 ", "a\n", "é"].map(|text| (1..200).find(|&times| of(text, times))),
            [Some(50), Some(150), Some(75)]
        );
        assert!(!sketch("").is_text());
    }

    proptest! {
        #[test]
        fn counting_in_bytes_is_counting(hashes in prop::collection::vec(any::<u64>(), 0..1200)) {
            let mut counters = Counters::default();
            hashes.iter().for_each(|&hash| counters.add(hash));
            let plain = (0..64).filter(|bit| 2 * hashes.iter().filter(|hash| **hash >> bit & 1 == 1).count() > hashes.len());
            prop_assert_eq!(counters.finish(), plain.fold(0, |hash, bit| hash | 1_u64 << bit));
        }
    }
}
