//! A backtracking reader of short texts.

use std::ops::RangeInclusive;

#[derive(Clone)]
pub(super) struct TextCursor<'a> {
    rest: &'a str,
}

impl<'a> TextCursor<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { rest: text }
    }

    pub(super) fn rest(&self) -> &'a str {
        self.rest
    }

    /// Tries to read; restores the position on failure.
    pub(super) fn or<T>(&mut self, read: impl FnOnce(&mut Self) -> Option<T>) -> Option<T> {
        let before = self.rest;
        let found = read(self);
        if found.is_none() {
            self.rest = before;
        }
        found
    }

    /// Skips white space. Returns whether there was any.
    pub(super) fn spaces(&mut self) -> bool {
        let rest = self.rest.trim_start();
        let any = rest.len() < self.rest.len();
        self.rest = rest;
        any
    }

    /// Reads the first of these words that matches, ASCII case ignored.
    pub(super) fn any<'b>(&mut self, words: &[&'b str]) -> Option<&'b str> {
        let rest = self.rest.as_bytes();
        // The first byte rules out most words.
        let first = rest.first()?.to_ascii_lowercase();
        let begins = |word: &&&str| {
            word.as_bytes()[0].to_ascii_lowercase() == first
                && rest.get(..word.len()).is_some_and(|own| own.eq_ignore_ascii_case(word.as_bytes()))
        };
        let word = *words.iter().find(begins)?;
        self.rest = &self.rest[word.len()..];
        Some(word)
    }

    /// Reads a number with exactly this many digits, and returns how many.
    pub(super) fn digits(&mut self, digits: RangeInclusive<usize>) -> Option<(i64, usize)> {
        let length = self.rest.bytes().take_while(u8::is_ascii_digit).count();
        if !digits.contains(&length) || length > 18 {
            return None;
        }
        let number = self.rest[..length].parse().ok()?;
        self.rest = &self.rest[length..];
        Some((number, length))
    }

    pub(super) fn number(&mut self, digits: RangeInclusive<usize>) -> Option<i64> {
        self.digits(digits).map(|(number, _)| number)
    }

    /// Reads a word; a Latin one must not be followed by a letter.
    pub(super) fn word(&mut self, name: &str) -> Option<()> {
        self.any(&[name])?;
        (!name.is_ascii() || !self.rest.starts_with(|c: char| c.is_ascii_alphabetic())).then_some(())
    }

    /// Reads the first matching word that is not followed by a letter.
    pub(super) fn words(&mut self, names: &[&str]) -> Option<()> {
        names.iter().find_map(|name| self.or(|cursor| cursor.word(name)))
    }

    /// Skips bytes of the rest.
    pub(super) fn skip(&mut self, bytes: usize) {
        self.rest = self.rest.get(bytes..).unwrap_or_default();
    }

    /// The letters at the start of the rest, of any script.
    pub(super) fn letters(&self) -> &'a str {
        let in_word = |c: char| c.is_alphabetic() || matches!(c, '\u{300}'..='\u{36f}' | '\u{900}'..='\u{94f}');
        let end = self.rest.find(|c: char| !in_word(c)).unwrap_or(self.rest.len());
        &self.rest[..end]
    }

    /// Reads the first matching name of any script, case ignored, that is not followed by a letter.
    pub(super) fn name(&mut self, names: &[&str]) -> Option<()> {
        names.iter().find_map(|name| {
            let letters = name.chars().count();
            let end = self.rest.char_indices().nth(letters).map_or(self.rest.len(), |(at, _)| at);
            let matches =
                self.rest[..end].to_lowercase() == *name && !self.rest[end..].starts_with(char::is_alphabetic);
            matches.then(|| self.skip(end))
        })
    }

    /// Skips white space, these signs and these words.
    pub(super) fn joints(&mut self, signs: &[&str], words: &[&str]) {
        loop {
            let before = self.rest.len();
            self.spaces();
            let _ = self.any(signs);
            let letters = self.letters();
            if words.iter().any(|word| letters.to_lowercase() == **word) {
                self.skip(letters.len());
            }
            if self.rest.len() == before {
                return;
            }
        }
    }

    /// Reads a number up to 99 in Chinese numerals.
    pub(super) fn hanzi(&mut self) -> Option<i64> {
        const NUMERALS: &str = "一二三四五六七八九";
        let value = |c: char| NUMERALS.chars().position(|numeral| numeral == c).map(|at| at as i64 + 1);
        let mut chars = self.rest.chars();
        let run: Vec<char> = chars.by_ref().take_while(|&c| c == '十' || value(c).is_some()).take(4).collect();
        let number = match *run.as_slice() {
            ['十'] => 10,
            ['十', ones] => 10 + value(ones)?,
            [ones] => value(ones)?,
            [tens, '十'] => value(tens)? * 10,
            [tens, '十', ones] => value(tens)? * 10 + value(ones)?,
            _ => return None,
        };
        self.skip(run.len() * '十'.len_utf8());
        Some(number)
    }
}
