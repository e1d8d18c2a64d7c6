//! The fields of a document that are written.

use serde::ser::{Serialize, SerializeMap, Serializer};

use super::document::{CorpusDocument, Parts};

/// A choice of [`DocumentFields::ALL`], in that order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DocumentFields(Vec<&'static str>);

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown field {0}; choose from {all}", all = DocumentFields::ALL.join(", "))]
pub struct UnknownField(String);

macro_rules! fields {
    ($($name:ident),* $(,)?) => {
        impl DocumentFields {
            /// In the order in which they are written.
            pub const ALL: &'static [&'static str] = &[$(stringify!($name)),*];
        }

        impl Serialize for JsonDocument<'_> {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                let mut map = serializer.serialize_map(Some(self.1.0.len()))?;
                $(if self.1.holds(stringify!($name)) {
                    map.serialize_entry(stringify!($name), &self.0.$name)?;
                })*
                map.end()
            }
        }
    };
}

/// A document with some of its fields, as JSON.
#[derive(Clone, Copy, Debug)]
pub struct JsonDocument<'a>(pub &'a CorpusDocument, pub &'a DocumentFields);

fields!(
    id,
    url,
    host,
    title,
    text,
    chars,
    language,
    author,
    source,
    published,
    fetched,
    first_seen,
    last_seen,
    last_changed,
    versions,
    status,
    relevance,
    relevant,
    terms,
    anchor,
    scores,
    k,
    hops,
    depth,
    found_on,
    digest,
    simhash,
    duplicate_of,
    canonical,
    listing,
    noindex,
    links,
    videos,
    posts,
    extracted,
    warc,
);

impl DocumentFields {
    /// All but `extracted`, which needs rules.
    pub fn all() -> Self {
        Self(Self::ALL.iter().copied().filter(|name| *name != "extracted").collect())
    }

    /// The same without the links, which are as long as the text and rarely needed.
    pub fn without_links() -> Self {
        Self(Self::all().0.into_iter().filter(|name| *name != "links").collect())
    }

    pub fn named<'a>(names: impl IntoIterator<Item = &'a str>) -> Result<Self, UnknownField> {
        let mut wanted = Vec::new();
        for name in names {
            let known = Self::ALL.iter().find(|known| **known == name);
            wanted.push(*known.ok_or_else(|| UnknownField(name.to_owned()))?);
        }
        Ok(Self(Self::ALL.iter().copied().filter(|name| wanted.contains(name)).collect()))
    }

    pub fn with(&self, more: &[&str]) -> Self {
        Self(Self::ALL.iter().copied().filter(|name| self.holds(name) || more.contains(name)).collect())
    }

    pub fn holds(&self, name: &str) -> bool {
        self.0.contains(&name)
    }

    pub fn names(&self) -> impl Iterator<Item = &'static str> + '_ {
        self.0.iter().copied()
    }

    /// The costly parts of a document that these fields need.
    pub fn parts(&self) -> Parts {
        let posts = ["posts", "chars", "author"].iter().any(|field| self.holds(field));
        let media = self.holds("source") || self.holds("videos");
        Parts { text: self.holds("text"), links: self.holds("links"), posts, media, ..Parts::default() }
    }
}
