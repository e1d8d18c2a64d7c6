//! Reads a response and scores it by a topic: [`crate::read`] knows no topic, and [`crate::topic`] no response.

mod outlinks;
mod sitemap;

pub use outlinks::page;
pub use sitemap::score_entries;

use crate::model::{Fetched, Page};
use crate::read::parse;
use crate::topic::Topic;

/// Reads and scores a response.
pub fn read(fetched: &Fetched, topic: &Topic) -> Page {
    let parsed = parse(fetched);
    let scores = topic.score(&parsed.document);
    page(parsed, scores, &fetched.url)
}
