//! The lexicon's file: reading, with errors that name the key, and writing, in one canonical form. A file written by
//! hand needs `name` and `[terms]` only.

use std::fmt::Write as _;

use thiserror::Error;
use toml::{Table, Value};

use super::{Background, DocumentFrequencies, Lexicon, Made, TermFrequency, Threshold, Weights};

/// The version of the file's format that this program writes, and the newest it reads.
pub const FORMAT: i64 = 1;

/// Characters of the longest term. A phrase is looked for word by word wherever it may begin, so one of 300,000 words would
/// be gone through again and again.
const LONGEST_TERM: usize = 100;

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
    #[error("[terms] is empty: a topic needs at least one term, as \"足球\" = 1.0")]
    NoTerms,
    /// An entry of background.df that is not `word=count`.
    #[error("background.df holds {entry:?}, which is not word=pages (a whole number, at most background.pages)")]
    DocumentFrequency {
        /// The entry.
        entry: String,
    },
}

impl Lexicon {
    /// Reads a lexicon. All but `name` and `[terms]` may be left out: then the defaults of [`Lexicon::from_terms`] hold,
    /// and the built-in background counts the words.
    ///
    /// # Errors
    /// [`LexiconError`] if `text` is not TOML or not a lexicon of a format that is known.
    pub fn parse(text: &str) -> Result<Self, LexiconError> {
        let table: Table = toml::from_str(text).map_err(|error: toml::de::Error| {
            let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
            LexiconError::NotToml { line: 1 + before.matches('\n').count(), message: error.message().to_owned() }
        })?;
        let mut top = Section { path: String::new(), table };
        let format = top.integer_or("format", FORMAT)?;
        if format > FORMAT {
            return Err(LexiconError::Newer { found: format });
        }
        in_range("format", format as f64, format == FORMAT, "1")?;
        let name = top.string("name")?;
        let mut made = top.section("made")?;
        let mut threshold = top.section("threshold")?;
        let mut weights = top.section("weights")?;
        let mut url = top.section("url")?;
        let mut background = top.section("background")?;
        let terms = top.section("terms")?.weights()?;
        if terms.is_empty() {
            return Err(LexiconError::NoTerms);
        }
        let default = Self::from_terms("", &[]);
        let background = if background.table.is_empty() {
            Background::built_in().kept(terms.iter().map(|(term, _)| term.as_str()))
        } else {
            let given = background.document_frequencies()?;
            background.end()?;
            given
        };
        let mut lexicon = Self {
            name,
            made: Made {
                method: made.string_or("method", &default.made.method)?,
                date: made.string_or("date", "")?,
                pages: made.count_or("pages", 0)?,
                hosts: made.count_or("hosts", 0)?,
                sources: made.strings("sources")?,
            },
            page: threshold.section("page")?.threshold(default.page)?,
            link: threshold.section("link")?.threshold(default.link)?,
            tf: weights.term_frequency()?,
            weights: weights.link_weights()?,
            terms,
            near: top.section("near")?.weights()?,
            url: url.strings("tokens")?,
            background,
        };
        for section in [made, threshold, weights, url, top] {
            section.end()?;
        }
        lexicon.order();
        Ok(lexicon)
    }

    /// The file: canonical, so equal lexicons have equal texts.
    pub fn to_toml(&self) -> String {
        let mut out = String::with_capacity(64 << 10);
        // Writing to a String cannot fail.
        let _ = self.write(&mut out);
        out
    }

    fn write(&self, out: &mut String) -> std::fmt::Result {
        let quoted = |text: &str| Value::String(text.to_owned()).to_string();
        writeln!(
            out,
            "# A topic lexicon of suidao. Everything in it may be edited; the crawl that uses it must stand still."
        )?;
        writeln!(out, "format = {FORMAT}\nname = {}\n", quoted(&self.name))?;
        writeln!(out, "[made]\nmethod = {}\ndate = {}", quoted(&self.made.method), quoted(&self.made.date))?;
        writeln!(out, "pages = {}\nhosts = {}\nsources = [", self.made.pages, self.made.hosts)?;
        for source in &self.made.sources {
            writeln!(out, "    {},", quoted(source))?;
        }
        writeln!(out, "]\n")?;
        for (name, what, threshold) in [
            ("page", "a page is on topic: Sim of title and main content, eq. (1), and of its tags", &self.page),
            ("link", "a link is promising: eq. (3)", &self.link),
        ] {
            writeln!(out, "# From this relevance on {what}.\n[threshold.{name}]\nvalue = {:?}", threshold.value)?;
            writeln!(out, "chosen = {}", quoted(&threshold.chosen))?;
            for (key, expected) in [("precision", threshold.precision), ("recall", threshold.recall)] {
                if let Some(expected) = expected {
                    writeln!(out, "{key} = {expected:?}")?;
                }
            }
            writeln!(out)?;
        }
        let Weights { anchor, context, url, near, tags } = self.weights;
        writeln!(out, "# Eq. (3): anchor + context + url = 1. near: what nearness to [near] is worth beside [terms].")?;
        writeln!(out, "# tags: what Sim of a page's own tags adds to that of its text, eq. (1).")?;
        writeln!(
            out,
            "# tf: \"raw\" counts occurrences (eq. 2), \"root\" takes their root, \"log\" 1 + ln of them.\n[weights]"
        )?;
        writeln!(out, "anchor = {anchor:?}\ncontext = {context:?}\nurl = {url:?}\nnear = {near:?}\ntags = {tags:?}")?;
        let tf = TermFrequency::NAMES.iter().find(|(_, tf)| *tf == self.tf).map_or("root", |(name, _)| name);
        writeln!(out, "tf = {}\n", quoted(tf))?;
        for (name, what, terms) in [
            ("terms", "Terms of the topic. Only the ratio of the weights matters.", &self.terms),
            ("near", "Terms of pages that lead to the topic without being of it.", &self.near),
        ] {
            writeln!(out, "# {what}\n[{name}]")?;
            for (term, weight) in terms {
                writeln!(out, "{} = {weight:?}", quoted(term))?;
            }
            writeln!(out)?;
        }
        writeln!(
            out,
            "# Proposed by the program from the URLs of topic pages, to be confirmed by a person: strike out what"
        )?;
        writeln!(out, "# does not lead to the topic.\n[url]\ntokens = [")?;
        for token in &self.url {
            writeln!(out, "    {},", quoted(token))?;
        }
        writeln!(
            out,
            "]\n\n# In how many of the background's pages a word occurs: word=pages, a space inside a term written _;"
        )?;
        writeln!(out, "# other: what is taken for words not listed. IDF = ln(1 + pages / (1 + df)).\n[background]")?;
        let DocumentFrequencies { pages, other, df } = &self.background;
        writeln!(out, "pages = {pages}\nother = {other:?}\ndf = '''")?;
        let mut width = 0;
        for (word, count) in df {
            let entry = format!("{}={count}", word.replace(' ', "_"));
            if width > 0 && width + entry.len() > 116 {
                out.push('\n');
                width = 0;
            }
            if width > 0 {
                out.push(' ');
            }
            width += entry.len() + 1;
            out.push_str(&entry);
        }
        writeln!(out, "\n'''")
    }
}

fn in_range(key: &str, value: f64, inside: bool, range: &'static str) -> Result<(), LexiconError> {
    if inside { Ok(()) } else { Err(LexiconError::Range { key: key.to_owned(), value, range }) }
}

/// A table whose keys are taken out one by one; what is left at the end is unknown.
struct Section {
    /// Dotted key with a dot at its end; empty at the top.
    path: String,
    table: Table,
}

impl Section {
    fn key(&self, key: &str) -> String {
        format!("{}{key}", self.path)
    }

    fn take(&mut self, key: &str) -> Result<Value, LexiconError> {
        self.table.remove(key).ok_or_else(|| LexiconError::Missing { key: self.key(key) })
    }

    fn wrong(&self, key: &str, expected: &'static str) -> LexiconError {
        LexiconError::Type { key: self.key(key), expected }
    }

    fn has(&self, key: &str) -> bool {
        self.table.contains_key(key)
    }

    /// A table in it; one that is left out is empty.
    fn section(&mut self, key: &str) -> Result<Self, LexiconError> {
        match self.table.remove(key).unwrap_or_else(|| Value::Table(Table::new())) {
            Value::Table(table) => Ok(Self { path: self.key(key) + ".", table }),
            _ => Err(self.wrong(key, "a table")),
        }
    }

    fn string(&mut self, key: &str) -> Result<String, LexiconError> {
        match self.take(key)? {
            Value::String(text) => Ok(text),
            _ => Err(self.wrong(key, "a string")),
        }
    }

    fn string_or(&mut self, key: &str, default: &str) -> Result<String, LexiconError> {
        if self.has(key) { self.string(key) } else { Ok(default.to_owned()) }
    }

    /// A list; one that is left out is empty.
    fn strings(&mut self, key: &str) -> Result<Vec<String>, LexiconError> {
        if !self.has(key) {
            return Ok(Vec::new());
        }
        let wrong = self.wrong(key, "a list of strings");
        let Value::Array(values) = self.take(key)? else { return Err(wrong) };
        values.iter().map(|value| value.as_str().map(str::to_owned).ok_or_else(|| wrong.clone())).collect()
    }

    fn integer(&mut self, key: &str) -> Result<i64, LexiconError> {
        let wrong = self.wrong(key, "a whole number");
        self.take(key)?.as_integer().ok_or(wrong)
    }

    fn integer_or(&mut self, key: &str, default: i64) -> Result<i64, LexiconError> {
        if self.has(key) { self.integer(key) } else { Ok(default) }
    }

    fn count_or(&mut self, key: &str, default: u32) -> Result<u32, LexiconError> {
        if self.has(key) { self.count(key) } else { Ok(default) }
    }

    fn count(&mut self, key: &str) -> Result<u32, LexiconError> {
        let number = self.integer(key)?;
        let range = |_| LexiconError::Range { key: self.key(key), value: number as f64, range: "0 or more" };
        u32::try_from(number).map_err(range)
    }

    fn number(&mut self, key: &str, low: f64, high: f64, range: &'static str) -> Result<f64, LexiconError> {
        let value = match self.take(key)? {
            Value::Float(value) => value,
            Value::Integer(value) => value as f64,
            _ => return Err(self.wrong(key, "a number")),
        };
        in_range(&self.key(key), value, value >= low && value <= high, range)?;
        Ok(value)
    }

    fn end(mut self) -> Result<(), LexiconError> {
        self.table.keys().next().cloned().map_or(Ok(()), |key| {
            self.path.push_str(&key);
            Err(LexiconError::Unknown { key: self.path })
        })
    }

    fn threshold(mut self, default: Threshold) -> Result<Threshold, LexiconError> {
        if self.table.is_empty() {
            return Ok(default);
        }
        let value = self.number("value", 1e-4, 1.0, "above 0 and at most 1")?;
        let chosen = self.string_or("chosen", "by hand")?;
        let mut expected = [None, None];
        for (key, expected) in ["precision", "recall"].into_iter().zip(&mut expected) {
            if self.has(key) {
                *expected = Some(self.number(key, 0.0, 1.0, "from 0 to 1")?);
            }
        }
        self.end()?;
        Ok(Threshold { value, chosen, precision: expected[0], recall: expected[1] })
    }

    fn term_frequency(&mut self) -> Result<TermFrequency, LexiconError> {
        if !self.has("tf") {
            return Ok(TermFrequency::default());
        }
        let name = self.string("tf")?;
        let known = TermFrequency::NAMES.iter().find(|(known, _)| *known == name);
        known.map(|&(_, tf)| tf).ok_or_else(|| self.wrong("tf", "\"root\", \"raw\" or \"log\""))
    }

    fn link_weights(&mut self) -> Result<Weights, LexiconError> {
        let mut share = |key, default| {
            if self.has(key) { self.number(key, 0.0, 1.0, "from 0 to 1") } else { Ok(default) }
        };
        let default = Weights::default();
        let weights = Weights {
            anchor: share("anchor", default.anchor)?,
            context: share("context", default.context)?,
            url: share("url", default.url)?,
            near: share("near", default.near)?,
            tags: share("tags", default.tags)?,
        };
        let sum = weights.anchor + weights.context + weights.url;
        in_range("weights.anchor + context + url", sum, (sum - 1.0).abs() < 1e-3, "1")?;
        Ok(weights)
    }

    fn weights(mut self) -> Result<Vec<(String, f64)>, LexiconError> {
        let terms: Vec<String> = self.table.keys().cloned().collect();
        let weigh = |term: String| {
            if term.chars().nth(LONGEST_TERM).is_some() {
                return Err(LexiconError::TermTooLong { start: term.chars().take(40).collect() });
            }
            let weight = self.number(&term, 1e-4, 1e6, "above 0")?;
            Ok((term, weight))
        };
        terms.into_iter().map(weigh).collect()
    }

    fn document_frequencies(&mut self) -> Result<DocumentFrequencies, LexiconError> {
        let pages = self.count("pages")?;
        in_range("background.pages", f64::from(pages), pages > 0, "1 or more")?;
        let other = self.number("other", 0.0, f64::from(pages), "from 0 to background.pages")?;
        let parse = |entry: &str| {
            let (word, count) = entry.rsplit_once('=')?;
            let count = count.parse().ok().filter(|&count: &u32| count <= pages)?;
            Some((word.replace('_', " "), count))
        };
        let text = self.string("df")?;
        let entries = text.split_whitespace();
        let df = entries.map(|entry| {
            parse(entry).ok_or_else(|| LexiconError::DocumentFrequency { entry: entry.chars().take(80).collect() })
        });
        Ok(DocumentFrequencies { pages, other, df: df.collect::<Result<_, _>>()? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Lexicon {
        let mut lexicon = Lexicon::from_terms("体育", &[("足球", 1.0), ("world cup", 0.5), ("C++ \"x\"", 0.123_456)]);
        lexicon.near = vec![("学校".to_owned(), 0.3)];
        lexicon.url = vec!["sports".to_owned()];
        lexicon.page.precision = Some(0.75);
        lexicon.made.sources = vec!["pages/".to_owned(), "a \\ b".to_owned()];
        lexicon.background.pages = 100;
        lexicon.background.df = vec![("world cup".to_owned(), 3), ("c++".to_owned(), 40), ("足球".to_owned(), 3)];
        lexicon.order();
        lexicon
    }

    #[test]
    fn a_term_that_no_page_could_hold_is_refused() {
        let with = |term: &str| Lexicon::parse(&format!("format = 1\nname = \"x\"\n[terms]\n\"{term}\" = 1.0\n"));
        assert!(with(&"词".repeat(LONGEST_TERM)).is_ok());
        let error = with(&"词".repeat(LONGEST_TERM + 1)).unwrap_err().to_string();
        assert!(error.starts_with("the term 词词") && error.contains("100 characters"), "{error}");
    }

    #[test]
    fn writing_and_reading_gives_the_same_lexicon() {
        let lexicon = sample();
        let text = lexicon.to_toml();
        let again = Lexicon::parse(&text).unwrap();
        assert_eq!(again, lexicon);
        assert_eq!(again.to_toml(), text);
        assert_eq!(again.digest(), lexicon.digest());
        assert_eq!(lexicon.digest().len(), 40);
        assert_ne!(Lexicon::from_terms("体育", &[("足球", 1.0)]).digest(), lexicon.digest());
    }

    #[test]
    fn what_is_wrong_is_said_by_name() {
        let text = sample().to_toml();
        let error = |from: &str, to: &str| {
            assert!(text.contains(from), "{from}");
            Lexicon::parse(&text.replacen(from, to, 1)).unwrap_err()
        };
        let key = |key: &str| key.to_owned();
        assert!(matches!(error("[made]", "[made"), LexiconError::NotToml { line: 5, .. }));
        assert_eq!(error("format = 1", "format = 2"), LexiconError::Newer { found: 2 });
        assert!(matches!(error("format = 1", "format = 0"), LexiconError::Range { .. }));
        assert_eq!(error("name = \"体育\"\n", ""), LexiconError::Missing { key: key("name") });
        assert_eq!(error("value = 0.09\n", ""), LexiconError::Missing { key: key("threshold.page.value") });
        assert_eq!(error("pages = 100\n", ""), LexiconError::Missing { key: key("background.pages") });
        assert_eq!(error("near = 0.5", "near = 0.5\nnearby = 1"), LexiconError::Unknown { key: key("weights.nearby") });
        assert_eq!(error("[url]", "[urls]\n[url]"), LexiconError::Unknown { key: key("urls") });
        assert!(matches!(error("anchor = 0.5", "anchor = 0.9"), LexiconError::Range { .. }));
        assert!(matches!(error("\"足球\" = 1.0", "\"足球\" = 0"), LexiconError::Range { .. }));
        assert!(matches!(error("\"足球\" = 1.0", "\"足球\" = \"1\""), LexiconError::Type { .. }));
        assert!(matches!(error("value = 0.09", "value = nan"), LexiconError::Range { .. }));
        assert!(matches!(error("tf = \"root\"", "tf = \"bm25\""), LexiconError::Type { .. }));
        assert_eq!(error("c++=40", "c++=4o"), LexiconError::DocumentFrequency { entry: key("c++=4o") });
        assert_eq!(error("c++=40", "c++=400"), LexiconError::DocumentFrequency { entry: key("c++=400") });
        assert_eq!(Lexicon::parse(""), Err(LexiconError::Missing { key: key("name") }));
        assert_eq!(Lexicon::parse("name = 'x'"), Err(LexiconError::NoTerms));
        assert!(matches!(error("context = 0.3\n", "context = 0.4\n"), LexiconError::Range { .. }));
        let empty = Lexicon::from_terms("x", &[]).to_toml();
        assert_eq!(Lexicon::parse(&empty), Err(LexiconError::NoTerms));
        assert_eq!(error("value = 0.09\n", "").to_string().lines().count(), 1);
    }

    #[test]
    fn a_name_and_terms_are_enough() {
        let lexicon = Lexicon::parse("name = '体育'\n[terms]\n'足球' = 2\n'world cup' = 1.0\n").unwrap();
        let default = Lexicon::from_terms("体育", &[("足球", 2.0), ("world cup", 1.0)]);
        assert_eq!(Lexicon { background: default.background.clone(), ..lexicon.clone() }, default);
        assert!(lexicon.background.pages > 1000 && lexicon.background.df.iter().any(|(word, _)| word == "足球"));
        assert_eq!(Lexicon::parse(&lexicon.to_toml()).unwrap(), lexicon);
        let part = "name = 'x'\n[threshold.page]\nvalue = 0.2\n[weights]\ntf = 'log'\n[terms]\na = 1\n[url]\n";
        let part = Lexicon::parse(part).unwrap();
        assert_eq!((part.page.value, part.tf, part.weights), (0.2, TermFrequency::Log, Weights::default()));
        assert_eq!((part.page.chosen.as_str(), part.link.value, part.url.len()), ("by hand", default.link.value, 0));
    }

    #[test]
    fn the_lexicons_shipped_are_read_and_canonical() {
        for name in ["sports", "ml", "security", "literature"] {
            let path = format!("{}/../../lexicons/{name}.toml", env!("CARGO_MANIFEST_DIR"));
            let text = std::fs::read_to_string(&path).unwrap();
            let lexicon = Lexicon::parse(&text).unwrap();
            assert!(lexicon.to_toml() == text, "{path}: what suidao writes differs from the file");
            assert!(lexicon.terms.len() >= 90, "{path}");
        }
    }

    proptest::proptest! {
        #[test]
        fn reading_never_panics(text in "(format = 1\n)?(\\[[a-z]{0,5}\\]\n|[a-z]{1,4} = [0-9a-z\"\\[\\]]{0,4}\n){0,6}") {
            let _ = Lexicon::parse(&text);
        }
    }
}
