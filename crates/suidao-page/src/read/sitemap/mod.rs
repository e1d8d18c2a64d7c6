//! Sitemaps and feeds: the pages a site lists, and when each changed.
//!
//! Reads sitemaps and sitemap indexes (sitemaps.org 0.9) as XML, plain text or gzip; RSS 0.9 to 2.0; and Atom. Of a
//! broken file the part before the error counts.

pub(super) mod time;
mod xml;

use std::borrow::Cow;
use std::io::Read;

use flate2::bufread::MultiGzDecoder;

use super::charset;
use crate::model::{CrawlUrl, Fetched, SitemapContent, SitemapEntry};

/// Maximum URLs of one file: the limit of the sitemap protocol.
const MOST: usize = 50_000;
/// Maximum bytes of all URLs, because each is logged: 50,000 of 160 bytes. `xml:base` or escaping could make them many
/// times as long as the file.
const ADDRESSES: usize = 8 << 20;
/// Maximum decoded bytes of one file: the limit of the protocol, also against decompression bombs.
const BYTES: usize = 52_428_800;
/// Maximum bytes of a URL or time.
const LONGEST: usize = 4096;
/// Plausible years; the end counts only without a `date` header.
const YEARS: std::ops::Range<i16> = 1990..2100;
/// Milliseconds that a time may be after the server's: local times without a zone are off by hours.
const AHEAD: u64 = 86_400_000;

/// Reads a response as a sitemap or feed, with any media type. Never fails: other content has no entries. Reads at
/// most 50 MiB and 50,000 URLs.
///
/// URLs may be of other hosts, because feeds aggregate; the caller decides about trust. Ignores times before 1990 and
/// times more than a day after the response's `date` (after 2099 without one).
pub fn read_sitemap(fetched: &Fetched) -> SitemapContent {
    let body = unpacked(&fetched.body);
    let decoded = charset::decode(&body, fetched.content_type().as_deref());
    let text = decoded.text.trim_start();
    let mut content = if text.starts_with('<') { xml::read(text, &fetched.url) } else { plain(text) };
    let now = fetched.header("date").and_then(time::read);
    let (first, last) = (time::year(YEARS.start), now.map_or(time::year(YEARS.end), |now| now.after(AHEAD)));
    for entry in &mut content.pages {
        entry.at = entry.at.filter(|at| (first..=last).contains(at));
    }
    content
}

/// The body without gzip, if any; of a broken one the part before the error.
fn unpacked(body: &[u8]) -> Cow<'_, [u8]> {
    if !body.starts_with(&[0x1f, 0x8b]) {
        return Cow::Borrowed(&body[..body.len().min(BYTES)]);
    }
    let mut plain = Vec::new();
    // What was read before an error is valid.
    let _ = MultiGzDecoder::new(body).take(BYTES as u64).read_to_end(&mut plain);
    Cow::Owned(plain)
}

/// A plain text sitemap: one URL per line; other lines are ignored.
fn plain(text: &str) -> SitemapContent {
    let lines = text.lines().filter(|line| line.len() <= LONGEST && line.trim_start().starts_with("http"));
    let urls = lines.filter_map(|line| CrawlUrl::parse(line).ok());
    let mut bytes = 0;
    let fits = |url: &CrawlUrl| {
        let before = bytes;
        bytes += url.as_str().len();
        before < ADDRESSES
    };
    SitemapContent {
        pages: urls.take(MOST).take_while(fits).map(SitemapEntry::bare).collect(),
        ..SitemapContent::default()
    }
}

#[cfg(test)]
mod tests;
