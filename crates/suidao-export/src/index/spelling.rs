//! One spelling for each word in the search: compatibility characters (half-width kana, Kangxi radicals, ligatures) as
//! their ordinary ones by Unicode's NFKC, Latin letters without accents, then [`fold`]. Beyond [`fold`], it may change
//! the number of characters.

use icu_normalizer::{
    ComposingNormalizer, ComposingNormalizerBorrowed, DecomposingNormalizer, DecomposingNormalizerBorrowed,
};

use suidao_page::text::fold;

const COMPOSED: ComposingNormalizerBorrowed = ComposingNormalizer::new_nfkc();
const DECOMPOSED: DecomposingNormalizerBorrowed = DecomposingNormalizer::new_nfkd();

/// A text in its search spelling.
#[derive(Debug, Default)]
pub(super) struct Spelled {
    pub text: String,
    /// Original byte before each byte of the text, and the end; empty if they are equal.
    origins: Vec<usize>,
}

impl Spelled {
    pub fn new(given: &str) -> Self {
        if given.chars().all(is_plain) {
            return Self::folded(given, fold(given));
        }
        let mut spelled = Self::default();
        let mut at = 0;
        while let Some(length) = cluster(&given[at..]) {
            let text = spell(&given[at..at + length]);
            spelled.origins.extend(std::iter::repeat_n(at, text.len()));
            spelled.text.push_str(&text);
            at += length;
        }
        spelled.origins.push(at);
        // It depends on the neighbours and keeps the number of characters, but not of bytes.
        let folded = Self::folded(&spelled.text, fold(&spelled.text));
        let origins = (0..=folded.text.len()).map(|at| spelled.origin(folded.origin(at))).collect();
        Self { text: folded.text, origins }
    }

    /// `folded` has as many characters as `given`.
    fn folded(given: &str, folded: String) -> Self {
        let lengths = || given.chars().map(char::len_utf8).zip(folded.chars().map(char::len_utf8));
        let mut origins = Vec::new();
        if lengths().any(|(given, folded)| given != folded) {
            let mut at = 0;
            for (given, folded) in lengths() {
                origins.extend(std::iter::repeat_n(at, folded));
                at += given;
            }
            origins.push(at);
        }
        Self { text: folded, origins }
    }

    pub fn origin(&self, at: usize) -> usize {
        self.origins.get(at).copied().unwrap_or(at)
    }
}

/// Characters that [`spell`] leaves to [`fold`]: most of all text.
fn is_plain(c: char) -> bool {
    matches!(c, '\0'..='\u{7f}' | '\u{3000}'..='\u{3098}' | '\u{309b}'..='\u{30ff}' | '\u{4e00}'..='\u{9fff}' | '\u{ac00}'..='\u{d7a3}')
        || matches!(c, '\u{2010}'..='\u{2027}' | '\u{ff01}'..='\u{ff5e}')
}

/// Length of the first character with the marks that belong to it.
fn cluster(text: &str) -> Option<usize> {
    let first = text.chars().next()?;
    let marks = text[first.len_utf8()..].chars().take_while(|c| is_mark(*c)).take(8);
    Some(first.len_utf8() + marks.map(char::len_utf8).sum::<usize>())
}

/// Combining marks, and the half-width voicing marks of kana.
fn is_mark(c: char) -> bool {
    matches!(c, '\u{300}'..='\u{36f}' | '\u{3099}' | '\u{309a}' | '\u{ff9e}' | '\u{ff9f}')
        // Vowels and final consonants of decomposed Hangul.
        || matches!(c, '\u{1160}'..='\u{11ff}')
}

fn spell(cluster: &str) -> String {
    let composed = COMPOSED.normalize(cluster);
    let mut spelled = String::with_capacity(composed.len());
    for c in composed.chars() {
        match c {
            'ß' => spelled.push_str("ss"),
            'æ' | 'Æ' => spelled.push_str("ae"),
            'œ' | 'Œ' => spelled.push_str("oe"),
            'ø' | 'Ø' => spelled.push('o'),
            'ł' | 'Ł' => spelled.push('l'),
            'đ' | 'Đ' => spelled.push('d'),
            'ı' | 'İ' => spelled.push('i'),
            'ё' | 'Ё' => spelled.push('е'),
            'ς' => spelled.push('σ'),
            // Latin, except phonetic letters, and Greek; in other scripts marks make another letter.
            '\u{c0}'..='\u{24f}' | '\u{1e00}'..='\u{1eff}' | '\u{370}'..='\u{3ff}' | '\u{1f00}'..='\u{1fff}' => {
                let mut bytes = [0; 4];
                let letters = DECOMPOSED.normalize(c.encode_utf8(&mut bytes)).into_owned();
                spelled.extend(letters.chars().filter(|c| !is_mark(*c)));
            }
            '\u{300}'..='\u{36f}' if spelled.ends_with(|c: char| c.is_ascii_alphabetic()) => {}
            c => spelled.push(c),
        }
    }
    spelled
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_of_one_word_are_equal() {
        for (one, other) in [
            ("ｶﾀｶﾅ", "カタカナ"),
            ("ﾃﾞｰﾀﾍﾞｰｽ", "データベース"),
            ("テ\u{3099}ータ", "データ"),
            ("⼈⼯智能", "人工智能"),
            ("ﬁle ﬂow", "file flow"),
            ("naïve café", "naive cafe"),
            ("nai\u{308}ve", "naive"),
            ("Straße", "strasse"),
            ("Łódź", "lodz"),
            ("ёлка", "елка"),
            ("Ελλάς", "ελλασ"),
            ("Ἑλλάς", "ελλας"),
            ("①", "1"),
            ("ＧＰＴ４", "gpt4"),
            ("神經網絡", "神经网络"),
            ("\u{1109}\u{1165}\u{110b}\u{116e}\u{11af}", "서울"),
        ] {
            assert_eq!(Spelled::new(one).text, Spelled::new(other).text, "{one}");
        }
        for (one, other) in [("データ", "テータ"), ("й", "и"), ("は", "ば")] {
            assert_ne!(Spelled::new(one).text, Spelled::new(other).text, "{one}");
        }
    }

    proptest::proptest! {
        #[test]
        fn origins_are_boundaries_in_order(text in "[a-z ﾃﾞｶベïßﬁ⼈神經\u{308}\u{300}가İ]{0,20}") {
            let spelled = Spelled::new(&text);
            let ends: Vec<usize> = spelled.text.char_indices().map(|(at, _)| at).chain([spelled.text.len()]).collect();
            let origins: Vec<usize> = ends.iter().map(|at| spelled.origin(*at)).collect();
            proptest::prop_assert!(origins.is_sorted() && origins.iter().all(|at| text.is_char_boundary(*at)));
            proptest::prop_assert_eq!(origins.last(), Some(&text.len()));
        }
    }
}
