//! A page as it is exported: one type for all formats, so that they agree.

use serde::Serialize;
use xxhash_rust::xxh3::xxh3_128;

use super::entry::SeenTimes;
use suidao_page::model::{CrawlUrl, Day, Digest, Millis, Region, Relevance, TermMatch};
use suidao_page::read::markdown::{escape, paragraphs};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Parts {
    /// Main text; of a thread, its posts.
    pub text: bool,
    /// The text as Markdown.
    pub markdown: bool,
    /// Links; of a thread, those of all its pages.
    pub links: bool,
    /// Posts of a thread, its author, and the number of characters of each text.
    pub posts: bool,
    /// The medium that the page is taken from, and its videos.
    pub media: bool,
}

/// A page of the corpus. [`super::DocumentFields`] has names and order of its fields.
#[derive(Clone, Debug, PartialEq)]
pub struct CorpusDocument {
    /// 32 hexadecimal digits, a hash of the URL: the same in every export.
    pub id: String,
    pub url: CrawlUrl,
    /// With the port unless it is the default.
    pub host: String,
    pub title: String,
    /// Main content, paragraphs separated by a line feed; of a thread, its posts separated by a blank line. Empty if
    /// not requested.
    pub text: String,
    /// Characters of the text without white space.
    pub chars: u32,
    /// ISO 639-3 code, if it was detected.
    pub language: Option<String>,
    pub author: Option<String>,
    /// The medium that it says it is taken from; `None` if not requested.
    pub source: Option<String>,
    /// Publication date, if it states one; of a thread, that of its first post.
    pub published: Option<Day>,
    /// When it was fetched, RFC 3339; of a thread, its page fetched last.
    pub fetched: String,
    /// The same in milliseconds since the Unix epoch.
    pub fetched_at: Millis,
    /// The next four fields, times in milliseconds since the Unix epoch.
    pub seen: SeenTimes,
    /// RFC 3339.
    pub first_seen: String,
    /// RFC 3339. Includes visits that found it unchanged.
    pub last_seen: String,
    /// When its text was first seen as it is here, RFC 3339.
    pub last_changed: String,
    /// Number of different texts in succession.
    pub versions: u32,
    pub status: u16,
    /// Eq. (1), 0 to 1.
    pub relevance: Relevance,
    pub relevant: bool,
    /// Lexicon terms in it, the most significant first.
    pub terms: Vec<TermMatch>,
    /// Text of the link by which it was found; empty for seeds and redirects.
    pub anchor: String,
    pub scores: QueueScores,
    /// Off-topic pages that may still be crossed on the path to it; `None`: unbounded.
    pub k: Option<u8>,
    /// Off-topic pages since the last on-topic one on that path.
    pub hops: u16,
    /// Links since the seed.
    pub depth: u16,
    /// Page or redirect by which it was found; `None` for a seed.
    pub found_on: Option<CrawlUrl>,
    /// If that is a redirect: where its URL was found, and so on back to a page.
    pub redirect_origins: Vec<CrawlUrl>,
    /// SHA-1 of the body, in the form of WARC.
    pub digest: Digest,
    /// SimHash of the main text, 16 hexadecimal digits.
    pub simhash: String,
    /// The best page of its group of duplicates.
    pub duplicate_of: Option<CrawlUrl>,
    /// Another URL that it declares as its own.
    pub canonical: Option<CrawlUrl>,
    /// Most of it is records with links.
    pub listing: bool,
    /// It asks search engines not to index it.
    pub noindex: bool,
    /// In page order; empty if not requested.
    pub links: Vec<OutLink>,
    /// Files and players of its videos; empty if not requested.
    pub videos: Vec<CrawlUrl>,
    /// Posts from all pages of a thread; empty if not requested, or if it is not a thread.
    pub posts: Vec<ForumPost>,
    /// Values found by extraction rules, by field; empty without rules.
    pub extracted: serde_json::Map<String, serde_json::Value>,
    /// Location of its response record; of a thread, that of its first page.
    pub warc: WarcLocation,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct QueueScores {
    pub priority: f32,
    pub queue: u8,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct OutLink {
    pub url: CrawlUrl,
    /// Link text; empty if it shows none.
    pub anchor: String,
    pub region: Region,
    /// `rel=nofollow`, `ugc` or `sponsored`.
    pub nofollow: bool,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ForumPost {
    pub author: Option<String>,
    /// RFC 3339.
    pub posted: Option<String>,
    /// Its number in the thread, from 1.
    pub floor: Option<u32>,
    pub text: String,
}

impl ForumPost {
    /// The post under a heading with its author and time.
    pub(super) fn markdown(&self) -> String {
        let parts = [self.author.as_deref(), self.posted.as_deref()].into_iter().flatten();
        let heading = escape(&parts.collect::<Vec<_>>().join(", ").replace('\n', " "));
        let heading = if heading.is_empty() { heading } else { format!("## {heading}\n\n") };
        heading + &paragraphs(&self.text)
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct WarcLocation {
    pub file: String,
    pub offset: u64,
    /// Compressed bytes of the record.
    pub length: u64,
}

pub fn id(url: &CrawlUrl) -> String {
    format!("{:032x}", xxh3_128(url.as_str().as_bytes()))
}
