//! Tokens of dates: numbers in the digits of several scripts, words, other signs.

use super::months::month;

/// Maximum tokens per text.
const TOKENS: usize = 96;
/// Bytes of the longest month name.
const MONTH: usize = 40;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TokenKind<'a> {
    Number { value: u64, digits: usize },
    Word(&'a str),
    Sign(char),
}

#[derive(Clone, Copy, Debug)]
pub(super) struct DateToken<'a> {
    pub(super) kind: TokenKind<'a>,
    /// White space precedes it.
    pub(super) spaced: bool,
    /// Offset of its first byte.
    pub(super) start: usize,
}

impl DateToken<'_> {
    pub(super) fn is_number(&self) -> bool {
        matches!(self.kind, TokenKind::Number { .. })
    }
}

pub(super) fn tokens(text: &str) -> Vec<DateToken<'_>> {
    let mut tokens = Vec::new();
    let mut spaced = false;
    let mut chars = text.char_indices().peekable();
    while let Some((start, c)) = chars.next() {
        if tokens.len() == TOKENS {
            break;
        }
        let kind = if let Some(digit) = digit(c) {
            let (mut value, mut digits) = (u64::from(digit), 1);
            while let Some(next) = chars.peek().and_then(|&(_, c)| self::digit(c)) {
                value = value.saturating_mul(10).saturating_add(u64::from(next));
                digits += 1;
                chars.next();
            }
            TokenKind::Number { value, digits }
        } else if hanzi(c).is_some() {
            let mut run = vec![hanzi(c).unwrap_or_default()];
            while let Some(next) = chars.peek().and_then(|&(_, c)| hanzi(c)).filter(|_| run.len() < 8) {
                run.push(next);
                chars.next();
            }
            hanzi_number(&run)
        } else if c.is_whitespace() || matches!(c, '\u{200b}'..='\u{200f}') {
            spaced = true;
            continue;
        } else if c.is_alphabetic() && !is_east_asian(c) {
            // Combining marks are part of Hindi and Arabic words.
            let in_word = |c: char| {
                c.is_alphabetic() && !is_east_asian(c) || matches!(c, '\u{300}'..='\u{36f}' | '\u{900}'..='\u{94f}')
            };
            while chars.next_if(|&(_, next)| in_word(next) && digit(next).is_none()).is_some() {}
            let end = chars.peek().map_or(text.len(), |&(at, _)| at);
            TokenKind::Word(&text[start..end])
        } else {
            TokenKind::Sign(c)
        };
        tokens.push(DateToken { kind, spaced, start });
        spaced = false;
    }
    tokens
}

/// The value of a digit: ASCII, full width, Arabic, Persian, Devanagari, Bengali, Thai.
fn digit(c: char) -> Option<u32> {
    const ZEROS: [char; 6] = ['０', '٠', '۰', '०', '০', '๐'];
    if c.is_ascii_digit() {
        return c.to_digit(10);
    }
    ZEROS.iter().find_map(|&zero| u32::from(c).checked_sub(u32::from(zero)).filter(|value| *value < 10))
}

/// The value of a Chinese numeral; 10 for 十.
fn hanzi(c: char) -> Option<u64> {
    const NUMERALS: [char; 11] = ['〇', '一', '二', '三', '四', '五', '六', '七', '八', '九', '十'];
    if matches!(c, '零' | '○') {
        return Some(0);
    }
    NUMERALS.iter().position(|numeral| *numeral == c).map(|value| value as u64)
}

/// 二〇一九 digit by digit; 二十七 by tens.
fn hanzi_number(run: &[u64]) -> TokenKind<'static> {
    let value = match *run {
        [10] => 10,
        [10, ones] if ones < 10 => 10 + ones,
        [tens, 10] if tens < 10 => tens * 10,
        [tens, 10, ones] if tens < 10 && ones < 10 => tens * 10 + ones,
        _ => run.iter().fold(0, |value, digit| value * 10 + digit),
    };
    TokenKind::Number { value, digits: if run.contains(&10) { 2 } else { run.len() } }
}

fn is_east_asian(c: char) -> bool {
    matches!(c, '\u{1100}'..='\u{11ff}' | '\u{2e80}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}' | '\u{f900}'..='\u{faff}')
}

/// The tokens that are left to parse.
#[derive(Clone, Copy)]
pub(super) struct TokenCursor<'a>(pub(super) &'a [DateToken<'a>]);

impl<'a> TokenCursor<'a> {
    pub(super) fn number(&mut self, digits: std::ops::RangeInclusive<usize>) -> Option<u64> {
        match self.0.first()?.kind {
            TokenKind::Number { value, digits: count } if digits.contains(&count) => {
                self.0 = &self.0[1..];
                Some(value)
            }
            _ => None,
        }
    }

    pub(super) fn sign(&mut self, is: impl Fn(char) -> bool) -> Option<char> {
        match self.0.first()?.kind {
            TokenKind::Sign(sign) if is(sign) => {
                self.0 = &self.0[1..];
                Some(sign)
            }
            _ => None,
        }
    }

    /// Takes one of these lower-case words, in any case.
    pub(super) fn word(&mut self, words: &[&'static str]) -> Option<&'static str> {
        let TokenKind::Word(word) = self.0.first()?.kind else { return None };
        let known = words.iter().find(|known| known.len() == word.len() && is_alike(known, word))?;
        self.0 = &self.0[1..];
        Some(known)
    }

    /// Takes a word of at most `bytes` bytes.
    pub(super) fn short_word(&mut self, bytes: usize) -> Option<&'a str> {
        let TokenKind::Word(word) = self.0.first()?.kind else { return None };
        self.0 = &self.0[1..];
        Some(word).filter(|word| word.len() <= bytes)
    }

    pub(super) fn month(&mut self) -> Option<u64> {
        let TokenKind::Word(word) = self.0.first()?.kind else { return None };
        let month = if word.len() <= MONTH { month(&word.to_lowercase())? } else { return None };
        self.0 = &self.0[1..];
        Some(month.into())
    }

    pub(super) fn is_spaced(&self) -> bool {
        self.0.first().is_some_and(|token| token.spaced)
    }

    /// Skips signs and words allowed between the parts of a date.
    pub(super) fn skip(&mut self, signs: &[char], words: &[&'static str]) {
        while self.sign(|sign| signs.contains(&sign)).is_some() || self.word(words).is_some() {}
    }
}

fn is_alike(known: &str, word: &str) -> bool {
    known.eq_ignore_ascii_case(word) || !word.is_ascii() && word.to_lowercase() == known
}
