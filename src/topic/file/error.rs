//! Why a text is no lexicon.

use thiserror::Error;

/// The newest version of the file's format that this program reads and writes: 2 has signed weights and `[linear]`. A lexicon
/// that judges by eq. (1) is written as format 1, which every suidao reads.
pub const FORMAT: i64 = 2;

/// Characters of the longest term. A phrase is looked for word by word wherever it may begin, so one of 300,000 words would
/// be gone through again and again.
pub(in crate::topic) const LONGEST_TERM: usize = 100;

/// Why a text is no lexicon.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum LexiconError {
    /// Not TOML.
    #[error("line {line} is not TOML: {message}")]
    NotToml {
        /// From 1.
        line: usize,
        /// What the parser says.
        message: String,
    },
    /// Written by a newer program.
    #[error(
        "it has format {found}, and this suidao reads up to {FORMAT}: use a newer suidao, or build the lexicon anew"
    )]
    Newer {
        /// Its format.
        found: i64,
    },
    /// A key that must be there is not.
    #[error("{key} is missing: add it, or build the lexicon anew with suidao topic build")]
    Missing {
        /// Dotted key.
        key: String,
    },
    /// A key that means nothing.
    #[error("{key} is no key of a lexicon: remove it, or correct its spelling")]
    Unknown {
        /// Dotted key.
        key: String,
    },
    /// A value of another type.
    #[error("{key} must be {expected}")]
    Type {
        /// Dotted key.
        key: String,
        /// What it must be.
        expected: &'static str,
    },
    /// A number outside its range.
    #[error("{key} is {value}, and must be {range}")]
    Range {
        /// Dotted key.
        key: String,
        /// The number.
        value: f64,
        /// What it must be.
        range: &'static str,
    },
    /// A term that no page could hold as one.
    #[error(
        "the term {start}... has more than {LONGEST_TERM} characters: remove it, or write what it says as several terms"
    )]
    TermTooLong {
        /// How it begins.
        start: String,
    },
    /// A topic without terms.
    #[error("[terms] holds no term with a weight above 0: a topic needs at least one, as \"足球\" = 1.0")]
    NoTerms,
    /// An entry of background.df that is not `word=count`.
    #[error("background.df holds {entry:?}, which is not word=pages (a whole number, at most background.pages)")]
    DocumentFrequency {
        /// The entry.
        entry: String,
    },
}
