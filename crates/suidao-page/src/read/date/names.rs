//! What the names of elements (`class`, `id`) say of the dates in them.

use std::sync::LazyLock;

use aho_corasick::AhoCorasick;
use rustc_hash::FxHashMap;

use crate::read::tokens::head;

/// Bytes of a name that are read, and bytes of the longest part of one that means something.
const NAME: usize = 300;
const PART: usize = 24;

/// Names that themes and microformats give to the date of publication alone.
const WHOLE: &str = "entry-date|post-date|postdate|article-date|date-header";
/// Parts of names that mean publication.
const PUBLISHED: &str = "published|publish|publishdate|pubdate|pubtime|publication|publishing|publishingdate|publicationdate|posted|\
    datepublished";
/// Parts that mean the last change.
const CHANGED: &str = "modified|modify|updated|update|lastmod|lastmodified|changed|revised|edited";
/// Parts that mean other dates: of an event, of today.
const OTHER: &str = "event|read|reading|birth|expire|expires|expiry|picker|datepicker|today|current|now|copyright|calendar|weather|\
    end|duration|countdown|kickoff|deadline|clock|join|joined|registered";
/// Parts that mean comments, related pages and the like.
const ASIDE: &str = "comment|comments|commentlist|commentmetadata|reply|replies|respond|related|sidebar|widget|recommend|recommended|\
    recent|latest|popular|similar|teaser|teasers|footer|aside|carousel|slider|breaking";
/// What parts end with that mean a date, digits at the end left out.
const DATE: &str = "date|dates|datum|time|timestamp|fecha|created|erstellt|riqi|shijian|fabu";
/// And parts of such an end that do not.
const NO_DATE: &str = "update|candidate|mandate|validate|runtime|lifetime|overtime|sometime|showtime|playtime";

/// What may make a name one of these: only names that hold one of these are taken apart.
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

/// What a class or an id says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct NameSignal {
    /// Microformats and the names that themes give to the date of publication alone.
    pub(super) published: bool,
    /// It holds a date.
    pub(super) dated: bool,
    /// That of the last change.
    pub(super) changed: bool,
    /// A date in it is none of the page's: of an event, of today.
    pub(super) other: bool,
    /// It holds what is said of other pages: comments, lists of related ones.
    pub(super) aside: bool,
}

impl NameSignal {
    /// Takes in the value of a `class` or `id`, the beginning of a long one.
    pub(super) fn read(&mut self, value: &str) {
        let value = head(value, NAME);
        if !STEMS.is_match(value) {
            return;
        }
        value.split_ascii_whitespace().for_each(|class| self.class(class));
    }

    fn class(&mut self, class: &str) {
        let mut dated = false;
        let mut said = [false; 4];
        for part in parts(class) {
            let mut lower = [0; PART];
            let Some(lower) = lower.get_mut(..part.len()) else { continue };
            lower.copy_from_slice(part.as_bytes());
            lower.make_ascii_lowercase();
            let Ok(part) = std::str::from_utf8(lower) else { continue };
            dated |= is_date(part);
            if let Some(part) = PARTS.get(part) {
                said[*part as usize] = true;
            }
        }
        let [published, changed, other, aside] = said;
        let published = published || WHOLE.split('|').any(|name| class.eq_ignore_ascii_case(name));
        self.aside |= aside;
        self.published |= published && !changed && !other;
        self.changed |= changed && !published;
        self.dated |= dated || published || changed;
        self.other |= other && !published;
    }
}

/// Whether a part of a name, in lower case, means date or time.
fn is_date(part: &str) -> bool {
    let part = part.trim_end_matches(|c: char| c.is_ascii_digit());
    let ends = |words: &str| words.split('|').any(|word| part.ends_with(word));
    (ends(DATE) || part.starts_with("date") && !part.starts_with("dateb")) && !ends(NO_DATE)
}

/// The parts of a name between signs and at capital letters (`entry-date`, `publishDate`).
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
