//! A fetched answer, and what reading made of it.

use bytes::Bytes;
use serde::{Deserialize, Serialize};

use super::{CrawlUrl, Day, Evidence, Relevance};

/// An HTTP answer, as it came: what the fetcher or a recorded web hands to the reader.
#[derive(Clone, Debug, PartialEq)]
pub struct Fetched {
    /// The URL that was asked for.
    pub url: CrawlUrl,
    /// HTTP status.
    pub status: u16,
    /// Header fields in the order received, names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body without transfer and content encoding.
    pub body: Bytes,
    /// The body as it was on the wire (still content-encoded), where that differs from `body`: what the archive keeps.
    pub wire: Option<Bytes>,
}

impl Fetched {
    /// First value of a header field; `name` in lower case.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(field, _)| field == name).map(|(_, value)| value.as_str())
    }

    /// Media type without parameters, lower case; empty if not stated.
    #[must_use]
    pub fn media_type(&self) -> String {
        let value = self.header("content-type").unwrap_or_default();
        value.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
    }
}

/// SHA-1 of the body as sent without encodings: equal bytes, equal digest (the WARC payload digest).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest(pub [u8; 20]);

impl Serialize for Digest {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        // As WARC writes it where people read, as bytes in the log.
        if serializer.is_human_readable() { serializer.collect_str(self) } else { self.0.serialize(serializer) }
    }
}

impl<'de> Deserialize<'de> for Digest {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        if !deserializer.is_human_readable() {
            return <[u8; 20]>::deserialize(deserializer).map(Self);
        }
        let text = String::deserialize(deserializer)?;
        let bytes = text.strip_prefix("sha1:").and_then(|text| data_encoding::BASE32.decode(text.as_bytes()).ok());
        let bytes = bytes.and_then(|bytes| bytes.try_into().ok());
        bytes.map(Self).ok_or_else(|| serde::de::Error::custom("no digest: sha1: and 32 characters of base 32"))
    }
}

impl std::fmt::Display for Digest {
    /// `sha1:` and base 32, as WARC writes it.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "sha1:{}", data_encoding::BASE32.encode(&self.0))
    }
}

/// What was wrong with a page; reading goes on regardless.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Defect {
    /// Bytes that do not decode in the page's charset; so many were replaced.
    BrokenBytes(u32),
    /// The declared charset is not the one the bytes are in.
    WrongCharset {
        /// What the page says.
        declared: String,
    },
    /// Neither HTML nor plain text.
    NotText,
    /// Nothing left after the navigation was taken away.
    NoContent,
    /// The tree was deeper, or the links more, than is read; the rest was left out.
    CutShort,
}

/// Where on the page a link stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Region {
    /// In the main content.
    Content,
    /// Among the tags, categories and other particulars that the page gives of itself.
    Label,
    /// In navigation, sidebar, footer or other furniture.
    Navigation,
}

/// What is kept of a page's main text beside the text: enough to choose pages, and to find near-duplicates, without
/// reading them again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sketch {
    /// Characters of the main text, white space left out.
    pub chars: u32,
    /// Digest of the main text, folded: equal texts, equal digests. 0 where there is none.
    pub digest: u64,
    /// SimHash of the main text (Charikar 2002): texts that share most of their words differ in few bits.
    pub simhash: u64,
}

/// A link out of a page, with what speaks for it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Outlink {
    /// Where it leads.
    pub url: CrawlUrl,
    /// Its text, white space folded, at most 80 characters.
    pub anchor: String,
    /// Eq. (3)'s parts.
    pub evidence: Evidence,
    /// Eq. (3): w1·anchor + w2·context + w3·url.
    pub relevance: Relevance,
    /// Where it stands.
    pub region: Region,
    /// Hash of the tag names and classes (digits left out) from the root to it: links of one block of a template share it.
    pub path: u32,
    /// `rel=nofollow`, `ugc` or `sponsored`.
    pub nofollow: bool,
}

/// A term of the topic found in a page.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TermMatch {
    /// The term, as the lexicon writes it.
    pub term: String,
    /// How often it occurs in title and main content.
    pub count: u32,
}

/// What reading made of an answer. Reading never fails: what went wrong stands in `defects`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Page {
    /// Title, white space folded; empty if there is none.
    pub title: String,
    /// Main content: paragraphs separated by one line feed.
    pub text: String,
    /// ISO 639-3 code of the language (`cmn`, `eng`), if it could be told.
    pub language: Option<String>,
    /// The charset the body was decoded with (a WHATWG name).
    pub charset: String,
    /// Eq. (1): Sim of title and main content with the topic.
    pub relevance: Relevance,
    /// Terms of the topic in it, the most telling first, at most 12.
    pub terms: Vec<TermMatch>,
    /// How many links away from the topic it is by its words (0: on it), where the topic knows layers and it is in one.
    pub layer: Option<u8>,
    /// Digest of the body.
    pub digest: Digest,
    /// Each URL once (its best-scored link), in order of first appearance; the page itself left out.
    pub outlinks: Vec<Outlink>,
    /// `meta name=robots` or `X-Robots-Tag` forbid to keep the page.
    pub noindex: bool,
    /// Most of it is a row of records, each with a link of its own to a page of the same host.
    pub listing: bool,
    /// They ask that none of its links be followed.
    pub nofollow: bool,
    /// Another URL the page calls its own address (`rel=canonical`).
    pub canonical: Option<CrawlUrl>,
    /// Sketch of its main text.
    pub sketch: Sketch,
    /// When it was published, as far as it says so.
    pub published: Option<Day>,
    /// What was wrong with it.
    pub defects: Vec<Defect>,
}
