//! A page as it goes out: one type for every format, so that all say the same of a page under the same names.

use serde::Serialize;
use xxhash_rust::xxh3::xxh3_128;

use super::SeenTimes;
use suidao_page::model::{CrawlUrl, Day, Digest, Millis, Region, Relevance, TermMatch};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Parts {
    /// Main text; of a thread, what its posts say.
    pub text: bool,
    /// Links; of a thread, those of all its pages.
    pub links: bool,
    /// Posts of a thread, and the number of characters of each document's text.
    pub posts: bool,
}

/// A page of the corpus. What formats show of it, and in which order, is [`super::Fields`].
#[derive(Clone, Debug, PartialEq)]
pub struct CorpusDocument {
    /// 32 hexadecimal digits made from the URL alone: the same page has the same one in every export.
    pub id: String,
    pub url: CrawlUrl,
    /// Its host, with the port where it is not the scheme's own.
    pub host: String,
    pub title: String,
    /// Main content, paragraphs separated by a line feed; of a thread, its posts with a blank line between them; empty where
    /// it was not asked for.
    pub text: String,
    /// Characters of it, white space left out.
    pub chars: u32,
    /// ISO 639-3 code, if it could be told.
    pub language: Option<String>,
    /// Who wrote it, as far as it says so.
    pub author: Option<String>,
    /// When it was published, as far as it says so.
    pub published: Option<Day>,
    /// When it was fetched, RFC 3339; of a thread, when the last of its pages was.
    pub fetched: String,
    /// The same in milliseconds since the Unix epoch.
    pub fetched_at: Millis,
    /// The next four in milliseconds since the Unix epoch.
    pub seen: SeenTimes,
    /// When it was fetched first, RFC 3339.
    pub first_seen: String,
    /// When it was last there, RFC 3339: visits that found it as it was are among them.
    pub last_seen: String,
    /// When its text was first seen as it is here, RFC 3339.
    pub last_changed: String,
    /// Different texts seen, one after the other.
    pub versions: u32,
    pub status: u16,
    /// Eq. (1), 0 to 1.
    pub relevance: Relevance,
    pub relevant: bool,
    /// Terms of the topic in it, the most telling first.
    pub terms: Vec<TermMatch>,
    /// Text of the link by which it became known; empty for seeds and redirects.
    pub anchor: String,
    pub scores: QueueScores,
    /// Tunnel depth left on the path that led to it; none is unbounded.
    pub k: Option<u8>,
    /// Off-topic pages since the last relevant one on that path.
    pub hops: u16,
    /// Links since the seed.
    pub depth: u16,
    /// Page or redirect by which it became known; none for a seed.
    pub found_on: Option<CrawlUrl>,
    /// SHA-1 of the body, as WARC writes it.
    pub digest: Digest,
    /// SimHash of the main text, 16 hexadecimal digits.
    pub simhash: String,
    /// The page that says the same and is kept in its place.
    pub duplicate_of: Option<CrawlUrl>,
    /// Another URL the page calls its own address.
    pub canonical: Option<CrawlUrl>,
    /// Most of it is a row of records with links.
    pub listing: bool,
    /// It asks search engines not to keep it.
    pub noindex: bool,
    /// Links as they stand on the page; empty where they were not asked for.
    pub links: Vec<OutLink>,
    /// Posts of a thread, from all its pages; empty where they were not asked for, or the page is none of a thread.
    pub posts: Vec<ForumPost>,
    /// Where its response record lies; of a thread, that of its first page.
    pub warc: WarcLocation,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct QueueScores {
    pub priority: f32,
    pub lane: u8,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct OutLink {
    pub url: CrawlUrl,
    /// Its text; empty if it shows none.
    pub anchor: String,
    pub region: Region,
    /// `rel=nofollow`, `ugc` or `sponsored`.
    pub nofollow: bool,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ForumPost {
    pub author: Option<String>,
    /// When, RFC 3339.
    pub posted: Option<String>,
    /// Its number in the thread, from 1.
    pub floor: Option<u32>,
    pub text: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct WarcLocation {
    pub file: String,
    /// First byte of the record.
    pub offset: u64,
    /// Bytes of the record as packed.
    pub length: u64,
}

pub fn id(url: &CrawlUrl) -> String {
    format!("{:032x}", xxh3_128(url.as_str().as_bytes()))
}
