//! Folds text and segments it into words.

use std::ops::Range;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicBool, Ordering};

use jieba_rs::Jieba;

use super::stop::is_stop;

/// jieba with its own dictionary; loading takes 0.4 s and 32 MB, so it is lazy.
static JIEBA: LazyLock<Jieba> = LazyLock::new(|| {
    IS_LOADED.store(true, Ordering::Relaxed);
    Jieba::new()
});

static IS_LOADED: AtomicBool = AtomicBool::new(false);

/// Whether the dictionary is loaded: the first Chinese text does that.
pub fn is_loaded() -> bool {
    IS_LOADED.load(Ordering::Relaxed)
}

/// jieba's hidden Markov model for new words: on, because names missing in dictionaries are good terms.
const HMM: bool = true;

/// Longer runs of letters are hashes and encoded data.
const LONGEST_WORD: usize = 24;

/// Characters whose Simplified form depends on their neighbours (乾隆 but 干净, 计划 but 图画), from fast2s.
const CONTEXTUAL: &str = "兒覆夥藉瞭麽幺於乾著苧闔鍾讎畫";

/// Simplified characters of common words (呵护, 捍卫, 大阪, 呱呱, 磐石) that fast2s takes for Traditional.
const UNCONVERTED: &str = "呵捍阪呱磐";

/// Folded form of every character of the basic plane; 0 for [`CONTEXTUAL`] characters. fast2s needs one to three hash
/// look-ups per character, so the table stores its results.
static FOLDED: LazyLock<Vec<u16>> = LazyLock::new(|| {
    let mut table: Vec<u16> = (0..=u16::MAX).map(fold_alone).collect();
    for contextual in CONTEXTUAL.chars() {
        table[contextual as usize] = 0;
    }
    for unconverted in UNCONVERTED.chars() {
        table[unconverted as usize] = u16::try_from(u32::from(unconverted)).unwrap_or_default();
    }
    table
});

fn fold_alone(code: u16) -> u16 {
    let Some(character) = char::from_u32(u32::from(code)) else { return code };
    let half = match character {
        '\u{ff01}'..='\u{ff5e}' => char::from_u32(u32::from(code) - 0xfee0).unwrap_or(character),
        '\u{3000}' | '\u{a0}' => ' ',
        other => other,
    };
    let mut lower = half.to_lowercase();
    let lower = if lower.len() == 1 { lower.next().unwrap_or(half) } else { half };
    let simple = if is_han(lower) { fast2s::convert(&lower.to_string()).chars().next() } else { None };
    u16::try_from(u32::from(simple.unwrap_or(lower))).unwrap_or(code)
}

/// Lower case, half width, Simplified: the form in which words are compared. Preserves the number of characters.
pub fn fold(text: &str) -> String {
    let mut folded = String::with_capacity(text.len());
    fold_into(text, &mut folded);
    folded
}

/// Appends the folded form of `text`.
pub fn fold_into(text: &str, folded: &mut String) {
    let table: &[u16] = &FOLDED;
    let mut before = '0';
    let mut rest = text.chars();
    while let Some(character) = rest.next() {
        if character.is_ascii() {
            folded.push(character.to_ascii_lowercase());
        } else {
            match table.get(character as usize) {
                Some(0) => {
                    let after = rest.clone().next().unwrap_or('0');
                    let window: String = [before, character, after].into_iter().collect();
                    folded.push(fast2s::convert(&window).chars().nth(1).unwrap_or(character));
                }
                Some(&code) => folded.push(char::from_u32(u32::from(code)).unwrap_or(character)),
                None => folded.push(character),
            }
        }
        before = character;
    }
}

pub fn is_han(character: char) -> bool {
    matches!(character, '\u{4e00}'..='\u{9fff}' | '\u{3400}'..='\u{4dbf}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{323af}' | '々' | '〇')
}

enum CharacterRun {
    Han(Range<usize>),
    /// Letters and digits of other scripts: one word (`gpt4`, `c++`, `c#`).
    Word(Range<usize>),
}

/// Finds runs of Chinese characters and words of other scripts in folded text; everything else separates.
fn runs(text: &str, mut each: impl FnMut(CharacterRun)) {
    let bytes = text.as_bytes();
    let mut rest = text.char_indices().peekable();
    while let Some((start, first)) = rest.next() {
        let mut end = start + first.len_utf8();
        if is_han(first) {
            while let Some((at, next)) = rest.next_if(|&(_, next)| is_han(next)) {
                end = at + next.len_utf8();
            }
            each(CharacterRun::Han(start..end));
        } else if first.is_alphanumeric() {
            while let Some((at, next)) = rest.next_if(|&(_, next)| next.is_alphanumeric() && !is_han(next)) {
                end = at + next.len_utf8();
            }
            let sign = match bytes.get(end) {
                Some(b'+') if bytes.get(end + 1) == Some(&b'+') => 2,
                Some(b'#') if end - start == 1 && first.is_ascii_alphabetic() => 1,
                _ => 0,
            };
            for _ in 0..sign {
                rest.next();
            }
            each(CharacterRun::Word(start..end + sign));
        }
    }
}

/// Segments folded text and passes the range of each word, without punctuation and white space.
pub fn cut(text: &str, mut each: impl FnMut(Range<usize>)) {
    runs(text, |run| match run {
        CharacterRun::Han(range) => {
            for token in JIEBA.cut(&text[range.clone()], HMM) {
                each(range.start + token.byte_start..range.start + token.byte_end);
            }
        }
        CharacterRun::Word(range) => each(range),
    });
}

/// A word or part of a word from [`cut_all`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WordPart {
    /// Byte range.
    pub range: Range<usize>,
    /// Number of Chinese characters and words of other scripts before it.
    pub place: usize,
    /// Its length in these units.
    pub length: usize,
}

/// Passes every dictionary word in the Chinese parts of folded text, even inside other words, every Chinese character
/// and character of other scripts without spaces, and the words of the rest, by position, the shorter first. Unlike [`cut`] it ignores
/// context: a piece of text gives the same words wherever it occurs. White space between Chinese characters does not
/// end a word, so the range of a word may contain some.
pub fn cut_all(text: &str, mut each: impl FnMut(WordPart)) {
    let mut place = 0;
    // Chinese characters with only white space between them: each with its range.
    let mut spaced: Vec<Range<usize>> = Vec::new();
    let pass_han = |spaced: &mut Vec<Range<usize>>, place: &mut usize, each: &mut dyn FnMut(WordPart)| {
        let joined: String = spaced.iter().map(|range| &text[range.clone()]).collect();
        let words = JIEBA.cut_all(&joined);
        let mut words = words.iter().filter(|word| word.end - word.start > 1).peekable();
        for (number, range) in spaced.iter().enumerate() {
            each(WordPart { range: range.clone(), place: *place + number, length: 1 });
            while let Some(word) = words.next_if(|word| word.start <= number) {
                let range = range.start..spaced[word.end - 1].end;
                each(WordPart { range, place: *place + number, length: word.end - word.start });
            }
        }
        *place += spaced.len();
        spaced.clear();
    };
    runs(text, |run| match run {
        CharacterRun::Han(range) => {
            let is_apart = spaced.last().is_some_and(|last| !text[last.end..range.start].trim().is_empty());
            if is_apart {
                pass_han(&mut spaced, &mut place, &mut each);
            }
            let characters = text[range.clone()].char_indices();
            spaced.extend(characters.map(|(at, c)| range.start + at..range.start + at + c.len_utf8()));
        }
        CharacterRun::Word(range) => {
            pass_han(&mut spaced, &mut place, &mut each);
            for range in syllables(text, range) {
                each(WordPart { range, place, length: 1 });
                place += 1;
            }
        }
    });
    pass_han(&mut spaced, &mut place, &mut each);
}

/// Splits a word into the characters of scripts without spaces and the parts of other scripts, with their signs (`c++`).
fn syllables(text: &str, word: Range<usize>) -> Vec<Range<usize>> {
    let mut parts: Vec<Range<usize>> = Vec::new();
    let mut in_word = false;
    for (at, c) in text[word.clone()].char_indices() {
        let range = word.start + at..word.start + at + c.len_utf8();
        let is_syllable = is_unspaced(c);
        match parts.last_mut().filter(|_| in_word && !is_syllable) {
            Some(last) => last.end = range.end,
            None => parts.push(range),
        }
        in_word = !is_syllable;
    }
    parts
}

/// Characters of scripts in which words are not or not always separated: Thai, Lao, Burmese, Khmer, kana, Hangul.
fn is_unspaced(c: char) -> bool {
    matches!(c, '\u{e00}'..='\u{eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}')
        || matches!(c, '\u{3041}'..='\u{30ff}' | '\u{31f0}'..='\u{31ff}' | '\u{ac00}'..='\u{d7a3}')
}

/// Passes the words of folded text with each Chinese character as a word: fast, and enough to compare whole texts.
pub fn runs_of_one<'a>(text: &'a str, mut each: impl FnMut(&'a str)) {
    runs(text, |run| match run {
        CharacterRun::Han(range) => text[range].split_inclusive(|_| true).for_each(&mut each),
        CharacterRun::Word(range) => each(&text[range]),
    });
}

/// Like [`cut`], with jieba's part of speech (`eng` for words of other scripts).
pub fn cut_tagged(text: &str, mut each: impl FnMut(Range<usize>, &str)) {
    runs(text, |run| match run {
        CharacterRun::Han(range) => {
            for tag in JIEBA.tag(&text[range.clone()], HMM) {
                each(range.start + tag.byte_start..range.start + tag.byte_end, tag.tag);
            }
        }
        CharacterRun::Word(range) => each(range, "eng"),
    });
}

/// Whether a word can be a term: at least two characters, with a letter, not too long, and not a stop word.
pub fn is_term(word: &str) -> bool {
    let mut characters = word.chars();
    let several = characters.next().is_some() && characters.next().is_some();
    several
        && (!word.is_ascii() || word.len() <= LONGEST_WORD && word.bytes().any(|byte| byte.is_ascii_alphabetic()))
        && !is_stop(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        let folded = fold(text);
        let mut words = Vec::new();
        cut(&folded, |range| words.push(folded[range].to_owned()));
        words
    }

    #[test]
    fn folding_makes_one_spelling_of_many() {
        assert_eq!(fold("ＧＰＴ４　機器學習，Ｃ＋＋"), "gpt4 机器学习,c++");
        assert_eq!(fold("乾隆的企畫，乾淨的圖畫"), "乾隆的企划,干净的图画");
        assert_eq!(fold("呵護大阪"), "呵护大阪");
        assert_eq!(fold("İstanbul ÀÉ 𠮷"), "İstanbul àé 𠮷");
    }

    #[test]
    fn words_of_every_script_are_cut() {
        assert_eq!(words("我们用C++和GPT4訓練神經網絡!"), ["我们", "用", "c++", "和", "gpt4", "训练", "神经网络"]);
        assert_eq!(
            words("C# F# a#1 node.js x86-64 1+1 日本のサッカー"),
            ["c#", "f#", "a#", "1", "node", "js", "x86", "64", "1", "1", "日本", "のサッカー"]
        );
        assert!(words(" 。—… \u{0}").is_empty());
    }

    #[test]
    fn every_part_of_a_word_has_its_place() {
        let text = fold("用神經網絡 C++ 㐂吗");
        let mut parts = Vec::new();
        cut_all(&text, |part| parts.push((text[part.range].to_owned(), part.place, part.length)));
        let parts: Vec<(&str, usize, usize)> =
            parts.iter().map(|(word, at, long)| (word.as_str(), *at, *long)).collect();
        let expected = [
            ("用", 0, 1),
            ("神", 1, 1),
            ("神经", 1, 2),
            ("神经网", 1, 3),
            ("神经网络", 1, 4),
            ("经", 2, 1),
            ("网", 3, 1),
            ("网络", 3, 2),
            ("络", 4, 1),
            ("c++", 5, 1),
            ("㐂", 6, 1),
            ("吗", 7, 1),
        ];
        assert_eq!(parts, expected);
    }

    #[test]
    fn terms_are_meaningful_words() {
        for term in ["足球", "gpt4", "c++", "3d", "nba", "ai"] {
            assert!(is_term(term), "{term}");
        }
        for other in ["", "球", "x", "2024", "的", "我们", "the", "版权所有", &"a1".repeat(20)] {
            assert!(!is_term(other), "{other}");
        }
    }

    #[test]
    fn tagging_cuts_as_cutting_does() {
        let text = fold("清华大学的研究人员提出了Transformer模型的新变体。姚明在休斯敦火箭队打球");
        let (mut plain, mut tagged) = (Vec::new(), Vec::new());
        cut(&text, |range| plain.push(range));
        cut_tagged(&text, |range, tag| {
            assert!(!tag.is_empty());
            tagged.push(range);
        });
        assert_eq!(plain, tagged);
    }

    proptest::proptest! {
        #[test]
        fn cutting_keeps_order_and_loses_no_letter(text in "[ -~足球機器學習乾畫の，。　０-９]{0,60}") {
            let folded = fold(&text);
            proptest::prop_assert_eq!(folded.chars().count(), text.chars().count());
            let (mut end, mut pieces) = (0, String::new());
            cut(&folded, |range| {
                assert!(range.start >= end && range.end > range.start);
                end = range.end;
                pieces.extend(folded[range].chars().filter(|character| character.is_alphanumeric()));
            });
            let letters: String = folded.chars().filter(|character| character.is_alphanumeric()).collect();
            proptest::prop_assert_eq!(pieces, letters);
        }
    }
}
