//! Sitemaps and feeds: which pages a site names, and when each is said to have changed. (What a block of a page is for
//! is told in [`super::hint`].)
//!
//! Read are sitemaps and lists of sitemaps (sitemaps.org 0.9), as XML, as plain text and packed with gzip; RSS 0.9 to 2.0
//! and Atom. As on pages, mistakes of others are forgiven: what stands before a break is taken.

mod score;
pub(super) mod time;
mod xml;

use std::borrow::Cow;
use std::io::Read;

use flate2::bufread::MultiGzDecoder;

use super::charset;
use crate::model::{CrawlUrl, Fetched, Hints, SitemapEntry};
pub use score::score_hints;

/// Most addresses of one file: what the protocol allows in a sitemap.
const MOST: usize = 50_000;
/// Most bytes of all of them, for each of them is logged: 50,000 of 160 bytes. A base that each is joined to (`xml:base`),
/// or letters that are escaped, could make them many times as long as the file.
const ADDRESSES: usize = 8 << 20;
/// Most bytes read of one file, unpacked: what the protocol allows. So a bomb costs no more than a large sitemap.
const BYTES: usize = 52_428_800;
/// Longest address or time, in bytes.
const LONGEST: usize = 4096;
/// Years from which times are believed, and up to which where the server tells no time of its own.
const YEARS: std::ops::Range<i16> = 1990..2100;
/// How far a time may lie behind the server's own, in milliseconds: a local time given without a zone is off by hours.
const AHEAD: u64 = 86_400_000;

/// Reads an answer as a sitemap or a feed, whatever its media type. Never fails: what is neither names nothing. At most
/// 50 MiB of it are read, and at most 50,000 addresses taken.
///
/// An address may be of another host, for feeds gather what others write: whether that is believed is the caller's to say.
/// Times before 1990, and more than a day after the answer's `date` (after 2099 where it has none), are left out.
pub fn hints(fetched: &Fetched) -> Hints {
    let body = unpacked(&fetched.body);
    let decoded = charset::decode(&body, fetched.header("content-type"));
    let text = decoded.text.trim_start();
    let mut hints = if text.starts_with('<') { xml::read(text, &fetched.url) } else { plain(text) };
    let now = fetched.header("date").and_then(time::read);
    let (first, last) = (time::year(YEARS.start), now.map_or(time::year(YEARS.end), |now| now.after(AHEAD)));
    for hint in &mut hints.pages {
        hint.at = hint.at.filter(|at| (first..=last).contains(at));
    }
    hints
}

/// The body without the gzip around it, if there is one; of a broken one what comes before the break.
fn unpacked(body: &[u8]) -> Cow<'_, [u8]> {
    if !body.starts_with(&[0x1f, 0x8b]) {
        return Cow::Borrowed(&body[..body.len().min(BYTES)]);
    }
    let mut plain = Vec::new();
    // What was read before an error stands.
    let _ = MultiGzDecoder::new(body).take(BYTES as u64).read_to_end(&mut plain);
    Cow::Owned(plain)
}

/// A sitemap as plain text: an address a line. Lines that are none are passed over.
fn plain(text: &str) -> Hints {
    let lines = text.lines().filter(|line| line.len() <= LONGEST && line.trim_start().starts_with("http"));
    let urls = lines.filter_map(|line| CrawlUrl::parse(line).ok());
    let mut bytes = 0;
    let fits = |url: &CrawlUrl| {
        let before = bytes;
        bytes += url.as_str().len();
        before < ADDRESSES
    };
    Hints { pages: urls.take(MOST).take_while(fits).map(SitemapEntry::bare).collect(), ..Hints::default() }
}

#[cfg(test)]
mod tests;
