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
}
