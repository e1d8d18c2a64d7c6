//! The texts of the known URLs, by number.
//!
//! Front coding (Witten, Moffat, Bell, "Managing Gigabytes", 2nd edition 1999, section 4.1): for each text, the length
//! of the prefix shared with the previous one, and the rest. Links of one page are consecutive and share host and
//! folder. Reading a text decodes its block from the start.

use std::borrow::Cow;

/// Texts per block; the first is stored whole.
const BLOCK: usize = 16;
/// Blocks per portion: some MB.
const BLOCKS: usize = 1 << 12;

#[derive(Default)]
pub(super) struct Texts {
    portions: Vec<Portion>,
    last: Vec<u8>,
}

/// Some thousand blocks. A full portion has no spare capacity.
#[derive(Default)]
struct Portion {
    packed: Vec<u8>,
    /// Start of each block.
    blocks: Vec<u32>,
    filled: usize,
}

impl Texts {
    pub fn push(&mut self, text: &str) {
        let full = |portion: &Portion| portion.blocks.len() == BLOCKS && portion.filled == BLOCK;
        if self.portions.last().is_none_or(full) {
            if let Some(full) = self.portions.last_mut() {
                full.packed.shrink_to_fit();
            }
            self.portions.push(Portion::default());
        }
        let portion = self.portions.last_mut().expect("pushed if there was none");
        if portion.filled.is_multiple_of(BLOCK) {
            portion.blocks.push(u32::try_from(portion.packed.len()).expect("65,536 URLs are less than 4 GB"));
            portion.filled = 0;
            self.last.clear();
        }
        portion.filled += 1;
        let shared = self.last.iter().zip(text.as_bytes()).take_while(|(own, other)| own == other).count();
        put(&mut portion.packed, shared);
        put(&mut portion.packed, text.len() - shared);
        portion.packed.extend_from_slice(&text.as_bytes()[shared..]);
        self.last.truncate(shared);
        self.last.extend_from_slice(&text.as_bytes()[shared..]);
    }

    /// The text with this number.
    ///
    /// # Panics
    /// If there is none.
    pub fn get(&self, at: usize) -> String {
        let (block, position) = (at / BLOCK, at % BLOCK);
        let portion = &self.portions[block / BLOCKS];
        let mut packed = &portion.packed[portion.blocks[block % BLOCKS] as usize..];
        let mut text = Vec::with_capacity(128);
        for _ in 0..=position {
            packed = next(packed, &mut text);
        }
        String::from_utf8(text).expect("packed from a str")
    }

    /// The texts `from` to `from + count`, each with a line feed after it (URLs contain none). `from` must be the start
    /// of a block.
    pub fn lines(&self, from: usize, count: usize) -> Cow<'_, str> {
        debug_assert_eq!(from % BLOCK, 0, "a text within a block depends on those before it");
        let mut lines = Vec::with_capacity(64 * count);
        let (mut text, mut packed): (Vec<u8>, &[u8]) = (Vec::new(), &[]);
        for at in from..from + count {
            if at.is_multiple_of(BLOCK) {
                let portion = &self.portions[at / BLOCK / BLOCKS];
                packed = &portion.packed[portion.blocks[at / BLOCK % BLOCKS] as usize..];
                text.clear();
            }
            packed = next(packed, &mut text);
            lines.extend_from_slice(&text);
            lines.push(b'\n');
        }
        String::from_utf8(lines).expect("packed from a str").into()
    }

    #[cfg(test)]
    fn memory(&self) -> usize {
        let of = |portion: &Portion| portion.packed.capacity() + portion.blocks.capacity() * size_of::<u32>();
        self.portions.iter().map(of).sum()
    }
}

/// Turns the previous text into the next one; returns the remaining bytes.
fn next<'a>(packed: &'a [u8], text: &mut Vec<u8>) -> &'a [u8] {
    let (shared, packed) = take(packed);
    let (rest, packed) = take(packed);
    text.truncate(shared);
    text.extend_from_slice(&packed[..rest]);
    &packed[rest..]
}

/// Writes a number, seven bits per byte, lowest first.
fn put(packed: &mut Vec<u8>, mut number: usize) {
    while number >= 0x80 {
        packed.push(number as u8 & 0x7f | 0x80);
        number >>= 7;
    }
    packed.push(number as u8);
}

fn take(packed: &[u8]) -> (usize, &[u8]) {
    let (mut number, mut at) = (0, 0);
    loop {
        number |= usize::from(packed[at] & 0x7f) << (7 * at);
        at += 1;
        if packed[at - 1] < 0x80 {
            return (number, &packed[at..]);
        }
    }
}

#[cfg(test)]
mod tests {
    use suidao_features::depth;

    use super::*;

    proptest::proptest! {
        #![proptest_config(proptest::prelude::ProptestConfig::with_cases(depth(32, 256)))]
        #[test]
        fn what_went_in_comes_out(
            texts in proptest::collection::vec("(http://(a|bb)\\.cn/)?(x|yy|文){0,90}", 0..90),
            from in 0_usize..90,
        ) {
            let mut packed = Texts::default();
            texts.iter().for_each(|text| packed.push(text));
            for (at, text) in texts.iter().enumerate() {
                proptest::prop_assert_eq!(&packed.get(at), text);
            }
            let from = from / BLOCK * BLOCK;
            if from < texts.len() {
                let lines: String = texts[from..].iter().map(|text| format!("{text}\n")).collect();
                proptest::prop_assert_eq!(packed.lines(from, texts.len() - from), lines);
            }
        }
    }

    #[test]
    fn the_links_of_pages_take_a_third_of_their_length_over_portions() {
        let mut packed = Texts::default();
        let url =
            |at: usize| format!("https://blog{}.example.com/posts/2021/{:02}/{:x}.html", at / 40, at % 12, at * 7919);
        let many = 2 * BLOCK * BLOCKS + 21;
        let mut length = 0;
        for at in 0..many {
            packed.push(&url(at));
            length += url(at).len();
        }
        for at in (0..many).step_by(997).chain([BLOCK * BLOCKS - 1, BLOCK * BLOCKS, many - 1]) {
            assert_eq!(packed.get(at), url(at));
        }
        assert!(packed.memory() < length / 2, "{} of {length}", packed.memory());
        let last = packed.lines(2 * BLOCK * BLOCKS, 21);
        assert_eq!(last.lines().count(), 21);
        assert!(last.ends_with(&format!("{}\n", url(many - 1))));
    }
}
