//! A fetched response, and the page read from it.

use std::borrow::Cow;

use bytes::Bytes;
use serde::{Deserialize, Serialize};

use super::{CrawlUrl, Day, LinkScores, Millis, Relevance};

/// Longest stored validator in bytes; most have less than a hundred.
const VALIDATOR: usize = 256;

/// Longest stored media type in characters: two names of 127 (RFC 6838, 4.2).
const MEDIA_TYPE: usize = 255;

/// An HTTP response: the input of the reader, from the network or a recorded web.
#[derive(Clone, Debug, PartialEq)]
pub struct Fetched {
    pub url: CrawlUrl,
    pub status: u16,
    /// Header fields in the order received, names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body without transfer and content encoding.
    pub body: Bytes,
    /// The body as received (still content-encoded), if that differs from `body`; stored in the archive.
    pub wire: Option<Bytes>,
    /// Validators sent with the request: status 304 then means unchanged.
    pub request_validators: Option<Box<Validators>>,
    /// HTML in UTF-8 that a browser made by running the page's scripts; read instead of `body`.
    pub rendered: Option<Bytes>,
    /// The encoded body lacks its checksum or has a wrong one.
    pub unverified: bool,
}

impl Fetched {
    /// A page of HTML in UTF-8 with status 200.
    pub fn html(url: CrawlUrl, body: impl Into<Bytes>) -> Self {
        Self::new(url, 200, vec![("content-type".to_owned(), Self::RENDERED.to_owned())], body)
    }

    /// A response to an unconditional request, decoded; names of headers in lower case.
    pub fn new(url: CrawlUrl, status: u16, headers: Vec<(String, String)>, body: impl Into<Bytes>) -> Self {
        Self {
            url,
            status,
            headers,
            body: body.into(),
            wire: None,
            request_validators: None,
            rendered: None,
            unverified: false,
        }
    }

    /// The response to read: a rendered page replaces body and media type.
    pub fn as_rendered(&self) -> Cow<'_, Self> {
        let Some(rendered) = &self.rendered else { return Cow::Borrowed(self) };
        let mut page = Self { body: rendered.clone(), wire: None, ..self.clone() };
        page.headers.retain(|(name, _)| name != "content-type");
        page.headers.push(("content-type".to_owned(), Self::RENDERED.to_owned()));
        Cow::Owned(page)
    }

    pub const RENDERED: &'static str = "text/html; charset=utf-8";

    /// First value of a header field; `name` in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(field, _)| field == name).map(|(_, value)| value.as_str())
    }

    /// All values of `Content-Type`, joined; `None` if there is none.
    pub fn content_type(&self) -> Option<Cow<'_, str>> {
        let mut values = self.headers.iter().filter(|(field, _)| field == "content-type").map(|(_, value)| &**value);
        let first = values.next()?;
        Some(values.fold(Cow::Borrowed(first), |joined, value| Cow::Owned(format!("{joined}, {value}"))))
    }

    /// Media type without parameters, in lower case, cut to 255 characters; empty if none is stated.
    ///
    /// As in a browser, the last valid one of several counts (Fetch standard, "extract a MIME type"); but text/html
    /// before a type that says nothing. `*/*` and types of unknown content count as none.
    pub fn media_type(&self) -> String {
        let stated = self.content_type().unwrap_or_default().to_ascii_lowercase();
        let mut quoted = false;
        let is_between = |c: char| {
            quoted ^= c == '"';
            c == ',' && !quoted
        };
        let types: Vec<&str> =
            stated.split(is_between).filter_map(essence).filter(|media| !is_unknown(media)).collect();
        let last = types.last().copied().unwrap_or_default();
        let html = types.iter().find(|media| matches!(**media, "text/html" | "application/xhtml+xml"));
        let media = match html {
            Some(html) if matches!(last, "text/plain" | "application/octet-stream") => html,
            // `html` alone, `text-html`
            None if types.is_empty() && stated.contains("html") => "text/html",
            _ => last,
        };
        media.chars().take(MEDIA_TYPE).collect()
    }

    /// `etag` and `last-modified` for the next conditional request. Ignores values longer than 256 bytes or that cannot
    /// be sent back unchanged. `None` for a rendered page, because the server's validators do not cover its content.
    pub fn validators(&self) -> Option<Box<Validators>> {
        if self.rendered.is_some() {
            return None;
        }
        let validator = |name| self.header(name).map(str::trim).filter(|value| can_be_sent(value)).map(str::to_owned);
        // As a condition, a bare asterisk would match any version.
        let etag = validator("etag").filter(|etag| etag != "*");
        let validators = Validators { etag, modified: validator("last-modified") };
        (!validators.is_empty()).then(|| Box::new(validators))
    }
}

/// The media type that a value begins with: two tokens around a slash. What follows is ignored, also without a
/// semicolon: `text/html: charset=utf-8`.
fn essence(value: &str) -> Option<&str> {
    let value = value.trim();
    let is_token = |byte: &u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(byte);
    let slash = value.find('/').filter(|slash| *slash > 0 && value.as_bytes()[..*slash].iter().all(is_token))?;
    let length = value.as_bytes()[slash + 1..].iter().take_while(|byte| is_token(byte)).count();
    (length > 0).then(|| &value[..slash + 1 + length])
}

/// Whether a media type says that the content is unknown (MIME Sniffing standard, 7).
fn is_unknown(media: &str) -> bool {
    matches!(media, "*/*" | "unknown/unknown" | "application/unknown" | "application/x-unknown-content-type")
}

/// Validators of a page version (RFC 9110, 8.8), unparsed: a server may compare them literally.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Validators {
    /// Strong or weak.
    pub etag: Option<String>,
    pub modified: Option<String>,
}

impl Validators {
    /// Whether no conditional request is possible.
    pub fn is_empty(&self) -> bool {
        self.etag.is_none() && self.modified.is_none()
    }

    /// Header fields of a conditional request, names in lower case. Sending both is allowed (RFC 9110, 13.1.3).
    pub fn fields(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let etag = self.etag.as_deref().map(|etag| ("if-none-match", etag));
        etag.into_iter().chain(self.modified.as_deref().map(|modified| ("if-modified-since", modified)))
    }
}

/// Whether a value can be sent back unchanged: visible ASCII and blanks. The original bytes of other characters are
/// lost.
fn can_be_sent(value: &str) -> bool {
    (1..=VALIDATOR).contains(&value.len()) && value.bytes().all(|byte| (b' '..=b'~').contains(&byte))
}

/// SHA-1 of the body without encodings (the WARC payload digest), or of the rendered page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest(pub [u8; 20]);

impl Serialize for Digest {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        // Text as in WARC for human-readable formats, bytes in the log.
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
    /// `sha1:` and base 32, as in WARC.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "sha1:{}", data_encoding::BASE32.encode(&self.0))
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Defect {
    /// Number of byte sequences that do not decode in the page's charset.
    BrokenBytes(u32),
    /// The declared charset is wrong.
    WrongCharset {
        /// The charset that the page declares.
        declared: String,
    },
    /// Neither HTML nor plain text.
    NotText,
    /// The encoded body lacks its checksum or has a wrong one.
    Unverified,
    /// Nothing left without the boilerplate.
    NoContent,
    /// The tree is too deep or the links too many; the rest was ignored.
    CutShort,
}

/// Where on the page a link is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Region {
    /// Main content.
    Content,
    /// Tags, categories and other metadata of the page.
    Metadata,
    /// Navigation, sidebar, footer or other boilerplate.
    Boilerplate,
}

/// Statistics of a page's main text, to choose pages and find near-duplicates without the text. Excludes the page's own
/// URL, because it differs on every copy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sketch {
    /// Characters, without white space.
    pub chars: u32,
    /// Too little text for a document, such as 待更新.
    pub stub: bool,
    /// Digest of the folded text; 0 if there is none.
    pub digest: u64,
    /// SimHash (Charikar 2002): similar texts differ in few bits.
    pub simhash: u64,
}

impl Sketch {
    /// Whether the page has a text of its own.
    pub fn is_text(self) -> bool {
        self.chars > 0 && !self.stub
    }
}

/// A link of a page with its scores.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Outlink {
    pub url: CrawlUrl,
    /// Link text, white space folded, at most 80 characters.
    pub anchor: String,
    /// Eq. (3)'s terms.
    pub scores: LinkScores,
    /// Eq. (3): w1·anchor + w2·context + w3·url.
    pub relevance: Relevance,
    pub region: Region,
    /// Hash of the tag names and classes (digits removed) from the root to the link: the same for all links of one
    /// template block.
    pub dom_path: u32,
    /// `rel=nofollow`, `ugc` or `sponsored`.
    pub nofollow: bool,
}

/// A topic term that occurs in a page.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TermMatch {
    pub term: String,
    /// Occurrences in title and main content.
    pub count: u32,
}

/// A page as read. Reading never fails: problems are listed in `defects`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Page {
    /// White space folded; empty if there is none.
    pub title: String,
    /// Main content: paragraphs separated by one line feed. List items begin with `- ` or their number; table cells are
    /// separated by tabs; program code keeps its lines and indentation.
    pub text: String,
    /// ISO 639-3 code of the language (`cmn`, `eng`), if detected.
    pub language: Option<String>,
    /// Author, if the page names one.
    pub author: Option<String>,
    /// WHATWG name of the charset that the body was decoded with.
    pub charset: String,
    /// Eq. (1): Sim of title and main content with the topic.
    pub relevance: Relevance,
    /// At most 12 topic terms, those with the highest scores first.
    pub terms: Vec<TermMatch>,
    /// Layer in the topic's context graph: predicted links to a relevant page (0: on the topic).
    pub layer: Option<u8>,
    pub digest: Digest,
    /// Length of the decoded body.
    pub bytes: u32,
    /// Each URL once, with its highest score, in order of first appearance; without the page itself.
    pub outlinks: Vec<Outlink>,
    /// `meta name=robots` or `X-Robots-Tag` forbid indexing.
    pub noindex: bool,
    /// Indexing is forbidden from this time on (`unavailable_after`).
    pub expires: Option<Millis>,
    /// The main content is mostly a list of records, each with its own link to the same host.
    pub listing: bool,
    /// `meta name=robots` or `X-Robots-Tag` forbid following its links.
    pub nofollow: bool,
    /// `rel=canonical`, if it names another URL.
    pub canonical: Option<CrawlUrl>,
    /// Its feeds (RSS, Atom), at most 4.
    pub feeds: Vec<CrawlUrl>,
    pub sketch: Sketch,
    /// Its text reports a missing page, with any status.
    pub missing: bool,
    /// Publication date, if the page states one.
    pub published: Option<Day>,
    /// Read from what a browser made of the page after running its scripts.
    pub rendered: bool,
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
            Fetched {
                url,
                status: 200,
                headers,
                body: Bytes::new(),
                wire: None,
                request_validators: None,
                rendered: None,
                unverified: false,
            }
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
