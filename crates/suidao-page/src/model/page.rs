//! A fetched answer, and what reading made of it.

use std::borrow::Cow;

use bytes::Bytes;
use serde::{Deserialize, Serialize};

use super::{CrawlUrl, Day, LinkScores, Millis, Relevance};

/// Longest validator that is kept, in bytes: usual ones have less than a hundred.
const VALIDATOR: usize = 256;

/// Longest media type that is kept, in characters: two names of 127 (RFC 6838, 4.2).
const MEDIA_TYPE: usize = 255;

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
    /// What the request was conditional on: with it a status of 304 says that the page is as it was.
    pub asked: Option<Box<Validators>>,
    /// What a browser made of the page by running its scripts: HTML in UTF-8, read in the place of `body`.
    pub rendered: Option<Bytes>,
}

impl Fetched {
    /// A page of HTML in UTF-8, as it comes without anything out of the ordinary.
    pub fn html(url: CrawlUrl, body: impl Into<Bytes>) -> Self {
        let headers = vec![("content-type".to_owned(), Self::RENDERED.to_owned())];
        Self { url, status: 200, headers, body: body.into(), wire: None, asked: None, rendered: None }
    }

    /// The answer as it is read: where a browser made something of it, that is the body, and declared as what it is.
    pub fn shown(&self) -> Cow<'_, Self> {
        let Some(rendered) = &self.rendered else { return Cow::Borrowed(self) };
        let mut shown = Self { body: rendered.clone(), wire: None, ..self.clone() };
        shown.headers.retain(|(name, _)| name != "content-type");
        shown.headers.push(("content-type".to_owned(), Self::RENDERED.to_owned()));
        Cow::Owned(shown)
    }

    /// The media type of what a browser made of a page.
    pub const RENDERED: &'static str = "text/html; charset=utf-8";

    /// First value of a header field; `name` in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(field, _)| field == name).map(|(_, value)| value.as_str())
    }

    /// Media type without parameters, lower case, of a longer one the first 255 characters; empty if not stated.
    pub fn media_type(&self) -> String {
        let value = self.header("content-type").unwrap_or_default();
        let value = value.split(';').next().unwrap_or_default().trim();
        value.chars().take(MEDIA_TYPE).map(|letter| letter.to_ascii_lowercase()).collect()
    }

    /// What the next request for it can be conditional on: `etag` and `last-modified` as sent. None without them; one
    /// that is longer than 256 bytes, or could not be sent back as it came, counts as not there. None of a page that a
    /// browser made: what the server marks is not what is shown.
    pub fn validators(&self) -> Option<Box<Validators>> {
        if self.rendered.is_some() {
            return None;
        }
        let kept = |name| self.header(name).map(str::trim).filter(|value| can_be_sent(value)).map(str::to_owned);
        // Sent back, a bare asterisk would mean any page at all.
        let etag = kept("etag").filter(|etag| etag != "*");
        let validators = Validators { etag, modified: kept("last-modified") };
        (!validators.is_empty()).then(|| Box::new(validators))
    }
}

/// What a server marks a version of a page with (RFC 9110, 8.8), word for word: times are not read, for a server may
/// compare the words.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Validators {
    /// `ETag`, strong or weak.
    pub etag: Option<String>,
    /// `Last-Modified`.
    pub modified: Option<String>,
}

impl Validators {
    /// Whether there is none, so that no request can be conditional on them.
    pub fn is_empty(&self) -> bool {
        self.etag.is_none() && self.modified.is_none()
    }

    /// The header fields of a request that is conditional on them, names in lower case. Both may be sent (RFC 9110,
    /// 13.1.3): a server that knows the first leaves the second aside.
    pub fn fields(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let etag = self.etag.as_deref().map(|etag| ("if-none-match", etag));
        etag.into_iter().chain(self.modified.as_deref().map(|modified| ("if-modified-since", modified)))
    }
}

/// Whether a validator goes back as it came: visible characters of ASCII and blanks. Of others it is not known which
/// bytes they were.
fn can_be_sent(value: &str) -> bool {
    (1..=VALIDATOR).contains(&value.len()) && value.bytes().all(|byte| (b' '..=b'~').contains(&byte))
}

/// SHA-1 of the body as sent without encodings (the WARC payload digest), or of what a browser made of it: equal bytes,
/// equal digest.
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
        bytes
            .map(Self)
            .ok_or_else(|| serde::de::Error::custom("invalid digest; expected sha1: and 32 base32 characters"))
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

/// Characters of main text, white space left out, with which a page says something of its own.
const TEXT: u32 = 10;

/// What is kept of a page's main text beside the text: enough to choose pages, and to find near-duplicates, without
/// reading them again. The page's own address in it is left out: it is another on every page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sketch {
    /// Characters of the main text, white space left out.
    pub chars: u32,
    /// Digest of the main text, folded: equal texts, equal digests. 0 where there is none.
    pub digest: u64,
    /// SimHash of the main text (Charikar 2002): texts that share most of their words differ in few bits.
    pub simhash: u64,
}

impl Sketch {
    /// Whether there is enough to say something.
    pub fn is_text(self) -> bool {
        self.chars >= TEXT
    }
}

/// A link out of a page, with what speaks for it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Outlink {
    /// Where it leads.
    pub url: CrawlUrl,
    /// Its text, white space folded, at most 80 characters.
    pub anchor: String,
    /// Eq. (3)'s parts.
    pub evidence: LinkScores,
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
    /// Main content: paragraphs separated by one line feed. Items of lists begin with `- ` or their number; cells of a table's
    /// row are separated by tabs; program code has its lines and their indentation.
    pub text: String,
    /// ISO 639-3 code of the language (`cmn`, `eng`), if it could be told.
    pub language: Option<String>,
    /// Who wrote it, as far as it says so.
    pub author: Option<String>,
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
    /// Length of the body, unpacked.
    pub bytes: u32,
    /// Each URL once (its best-scored link), in order of first appearance; the page itself left out.
    pub outlinks: Vec<Outlink>,
    /// `meta name=robots` or `X-Robots-Tag` forbid to keep the page.
    pub noindex: bool,
    /// From then on it asks the same (`unavailable_after`).
    pub expires: Option<Millis>,
    /// Most of it is a row of records, each with a link of its own to a page of the same host.
    pub listing: bool,
    /// They ask that none of its links be followed.
    pub nofollow: bool,
    /// Another URL the page calls its own address (`rel=canonical`).
    pub canonical: Option<CrawlUrl>,
    /// Feeds it names (RSS, Atom), at most 4.
    pub feeds: Vec<CrawlUrl>,
    /// Sketch of its main text.
    pub sketch: Sketch,
    /// It says of itself that there is no such page, whatever its status.
    pub missing: bool,
    /// When it was published, as far as it says so.
    pub published: Option<Day>,
    /// A browser ran its scripts, and what it made of the page was read.
    pub rendered: bool,
    /// What was wrong with it.
    pub defects: Vec<Defect>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn validators_are_what_can_be_sent_back() {
        let validators = |fields: &[(&str, &str)]| {
            let headers = fields.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
            let url = CrawlUrl::parse("http://a.cn/").unwrap();
            Fetched { url, status: 200, headers, body: Bytes::new(), wire: None, asked: None, rendered: None }
                .validators()
        };
        let date = "Sun, 06 Nov 1994 08:49:37 GMT";
        let both = validators(&[("etag", "W/\"1-a\""), ("last-modified", date)]).unwrap();
        assert_eq!(both.fields().collect::<Vec<_>>(), [("if-none-match", "W/\"1-a\""), ("if-modified-since", date)]);
        let one = validators(&[("etag", "*"), ("last-modified", date)]).unwrap();
        assert_eq!(*one, Validators { etag: None, modified: Some(date.to_owned()) });
        let long = "x".repeat(257);
        for bad in ["", " ", "\"中\"", "\"caf\u{e9}\"", "\"a\tb\"", "\"a\r\nb\"", long.as_str()] {
            assert_eq!(validators(&[("etag", bad)]), None, "{bad:?}");
        }
        assert_eq!(validators(&[("etag", &long[..256])]).unwrap().etag.as_deref(), Some(&long[..256]));
        assert!(validators(&[]).is_none() && Validators::default().is_empty());
    }
}
