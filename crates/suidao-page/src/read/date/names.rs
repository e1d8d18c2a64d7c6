//! Meaning of `class` and `id` names for the dates in an element.

use std::sync::LazyLock;

use aho_corasick::AhoCorasick;
use rustc_hash::FxHashMap;

use crate::read::tokens::head;

/// Bytes of a name to read, and bytes of its longest meaningful part.
const NAME: usize = 300;
const PART: usize = 24;

/// Whole names that themes and microformats use for the publication date only.
const WHOLE: &str = "entry-date|post-date|postdate|article-date|date-header";
/// Parts that mean publication.
const PUBLISHED: &str = "published|publish|publishdate|pubdate|pubtime|publication|publishing|publishingdate|publicationdate|posted|\
    datepublished";
/// Parts that mean the last modification.
const CHANGED: &str = "modified|modify|updated|update|lastmod|lastmodified|changed|revised|edited";
/// Parts that mean other dates: an event, today.
const OTHER: &str = "event|read|reading|birth|expire|expires|expiry|picker|datepicker|today|current|now|copyright|calendar|weather|\
    end|duration|countdown|kickoff|deadline|clock|join|joined|registered";
/// Parts that mean comments, related pages and similar.
const ASIDE: &str = "comment|comments|commentlist|commentmetadata|reply|replies|respond|related|sidebar|widget|recommend|recommended|\
    recent|latest|popular|similar|teaser|teasers|footer|aside|carousel|slider|breaking";
/// Endings of parts that mean a date, without digits at the end.
const DATE: &str = "date|dates|datum|time|timestamp|fecha|created|erstellt|riqi|shijian|fabu";
/// Words with such an ending that do not mean a date.
const NO_DATE: &str = "update|candidate|mandate|validate|runtime|lifetime|overtime|sometime|showtime|playtime";

/// Prefilter: only names that contain one of these are split into parts.
static STEMS: LazyLock<AhoCorasick> = LazyLock::new(|| {
    const STEMS: &str = "date|datum|time|publi|pubd|posted|creat|fecha|stamp|erstell|modif|updat|changed|comment|repl|respon|relat|\
        sidebar|widget|recommend|recent|latest|popular|similar|teaser|footer|aside|fabu|shijian|riqi|carousel|slider|\
        breaking|lastmod|revised|edited";
    let built = AhoCorasick::builder().ascii_case_insensitive(true).build(STEMS.split('|'));
    built.expect("a few words make a small automaton")
});

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Published,
    Changed,
    Other,
    Aside,
}

static PARTS: LazyLock<FxHashMap<&'static str, Part>> = LazyLock::new(|| {
    let of = |words: &'static str, part| words.split('|').map(move |word| (word, part));
    let named = of(PUBLISHED, Part::Published).chain(of(CHANGED, Part::Changed));
    named.chain(of(OTHER, Part::Other)).chain(of(ASIDE, Part::Aside)).collect()
});

/// Meaning of a class or id.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct NameSignal {
    /// Used for the publication date only.
    pub(super) published: bool,
    /// Contains a date.
    pub(super) dated: bool,
    /// A modification date.
    pub(super) changed: bool,
    /// A date of something else: an event, today.
    pub(super) other: bool,
    /// About other pages: comments, related pages.
    pub(super) aside: bool,
}

impl NameSignal {
    /// Reads a `class` or `id`, cut to [`NAME`] bytes.
    pub(super) fn read(&mut self, value: &str) {
        let value = head(value, NAME);
        if !STEMS.is_match(value) {
            return;
        }
        value.split_ascii_whitespace().for_each(|class| self.class(class));
    }

    fn class(&mut self, class: &str) {
        let mut dated = false;
        let mut text = [false; 4];
        for part in parts(class) {
            let mut lower = [0; PART];
            let Some(lower) = lower.get_mut(..part.len()) else { continue };
            lower.copy_from_slice(part.as_bytes());
            lower.make_ascii_lowercase();
            let Ok(part) = std::str::from_utf8(lower) else { continue };
            dated |= is_date(part);
            if let Some(part) = PARTS.get(part) {
                text[*part as usize] = true;
            }
        }
        let [published, changed, other, aside] = text;
        let published = published || WHOLE.split('|').any(|name| class.eq_ignore_ascii_case(name));
        self.aside |= aside;
        self.published |= published && !changed && !other;
        self.changed |= changed && !published;
        self.dated |= dated || published || changed;
        self.other |= other && !published;
    }
}

/// Whether a lower-case part means date or time.
fn is_date(part: &str) -> bool {
    let part = part.trim_end_matches(|c: char| c.is_ascii_digit());
    let ends = |words: &str| words.split('|').any(|word| part.ends_with(word));
    (ends(DATE) || part.starts_with("date") && !part.starts_with("dateb")) && !ends(NO_DATE)
}

/// Splits a name at signs and capital letters (`entry-date`, `publishDate`).
fn parts(name: &str) -> impl Iterator<Item = &str> {
    name.split(|c: char| c.is_ascii() && !c.is_ascii_alphanumeric()).flat_map(|part| {
        let bytes = part.as_bytes();
        let mut start = 0;
        let mut at = 0;
        std::iter::from_fn(move || {
            while at < bytes.len() {
                at += 1;
                let capital = at < bytes.len() && bytes[at].is_ascii_uppercase() && bytes[at - 1].is_ascii_lowercase();
                if capital || at == bytes.len() {
                    let part = part.get(start..at);
                    start = at;
                    return part;
                }
            }
            None
        })
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn named(value: &str) -> NameSignal {
        let mut named = NameSignal::default();
        named.read(value);
        named
    }

    #[test]
    fn names_of_classes() {
        for name in [
            "published",
            "entry-date",
            "dt-published",
            "_publishingdate",
            "node__publication-date",
            "page-published-date",
            "posted-on",
        ] {
            assert!(named(name).published, "{name}");
        }
        for name in [
            "date",
            "datum",
            "postDate",
            "created-post",
            "meta__date",
            "date2",
            "entry-top-info-time",
            "event_date",
            "headline--datum",
        ] {
            assert!(named(name).dated, "{name}");
        }
        for name in ["updated", "update", "candidate", "readingline", "mandate-x", "timeline"] {
            assert!(!named(name).published, "{name}");
            assert!(!named(name).dated || named(name).changed, "{name}");
        }
        assert!(named("comment-meta").aside && named("event-date").other && named("last-updated").changed);
        assert!(!named("é-date-日").published && named("é-date-日").dated);
    }

    proptest! {
        #[test]
        fn no_name_panics(value in "[a-zA-Zé日 _-]{0,40}date\\PC{0,300}") {
            let _ = named(&value);
        }
    }
}
