//! The lexicon's file: reading. A file written by hand needs `name` and `[terms]` only.

mod error;
mod section;
mod write;

use toml::Table;

pub use error::{FORMAT, LexiconError};
use section::{ABOVE_0, SIGNED, Section, in_range};
use write::FIRST_FORMAT;

use super::{Background, Lexicon, Made};

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
        in_range("format", format as f64, format >= FIRST_FORMAT, "1 or 2")?;
        let name = top.string("name")?;
        let mut made = top.section("made")?;
        let mut threshold = top.section("threshold")?;
        let mut weights = top.section("weights")?;
        let mut url = top.section("url")?;
        let mut background = top.section("background")?;
        let linear = top.section("linear")?;
        let (terms, linear) = if linear.table.is_empty() {
            (top.section("terms")?.weights(&ABOVE_0)?, None)
        } else {
            let terms = top.section("terms")?.weights(&SIGNED)?;
            let mut weights = |key: &str| top.section(key)?.weights(&SIGNED);
            let further = [weights("tags")?, weights("anchors")?, weights("urls")?];
            let linear = linear.linear(&terms, further, top.section("learnt")?)?;
            (terms, Some(linear))
        };
        if !terms.iter().any(|(_, weight)| *weight > 0.0) {
            return Err(LexiconError::NoTerms);
        }
        let default = Self::from_terms("", &[]);
        let background = if background.table.is_empty() {
            let tags = linear.iter().flat_map(|linear| &linear.tags);
            Background::built_in().kept(terms.iter().chain(tags).map(|(term, _)| term.as_str()))
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
            linear,
            near: top.section("near")?.weights(&ABOVE_0)?,
            url: url.strings("tokens")?,
            background,
        };
        for section in [made, threshold, weights, url, top] {
            section.end()?;
        }
        lexicon.order();
        Ok(lexicon)
    }
}

#[cfg(test)]
mod tests {
    use super::error::LONGEST_TERM;
    use super::*;
    use std::collections::BTreeSet;

    use crate::topic::{Linear, Struck, TermFrequency, Weights};

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
        assert_eq!(error("format = 1", "format = 3"), LexiconError::Newer { found: 3 });
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

    fn linear() -> Lexicon {
        let mut lexicon = sample();
        lexicon.terms.push(("电影".to_owned(), -0.25));
        let struck = Struck { terms: BTreeSet::from(["球".to_owned()]), tags: BTreeSet::new() };
        lexicon.linear = Some(Linear {
            tags: vec![("足球".to_owned(), 0.5)],
            anchors: vec![("比分".to_owned(), 0.2), ("广告".to_owned(), -0.3)],
            urls: vec![("sports".to_owned(), 0.75)],
            border: 0.4,
            middle: -0.1,
            struck,
        });
        lexicon.order();
        lexicon
    }

    #[test]
    fn a_linear_lexicon_is_read_as_it_was_written() {
        let text = linear().to_toml();
        assert!(text.contains("format = 2") && text.contains("\"电影\" = -0.25"), "{text}");
        assert_eq!(Lexicon::parse(&text).unwrap(), linear());
        let error = |from: &str, to: &str| {
            assert!(text.contains(from), "{from}");
            Lexicon::parse(&text.replacen(from, to, 1)).unwrap_err().to_string()
        };
        assert_eq!(error("middle = -0.1", "middle = 0.4"), "linear.middle is 0.4, and must be below linear.border");
        assert!(error("border = 0.4\n", "").starts_with("linear.border is missing"));
        assert_eq!(error("\"电影\" = -0.25", "\"电影\" = nan"), "terms.电影 is NaN, and must be from -100 to 100");
        assert!(error("\"广告\" = -0.3", "\"广告\" = -inf").starts_with("anchors.广告 is -inf"));
        assert!(error("\"足球\" = 0.5", "\"足球\" = \"x\"").starts_with("tags.足球 must be a number"));
        assert!(error("[learnt]", "[learnt]\nurls = []").starts_with("learnt.urls is no key"));
        let signs = text.replace("\"足球\" = 1.0", "\"足球\" = -1.0").replace("cup\" = 0.5", "cup\" = -0.5");
        assert_eq!(Lexicon::parse(&signs.replace(" = 0.1235", " = -0.1")), Err(LexiconError::NoTerms));
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
            let path = format!("{}/lexicons/{name}.toml", env!("CARGO_MANIFEST_DIR"));
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
