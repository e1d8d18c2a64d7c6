//! Proposes seeds for a topic: from the links of a crawl ([`of_crawl`]), from an index of a web archive ([`CdxHosts`]),
//! and from a search service ([`search::search`]). A person reads and edits the list.

mod cdx;
mod links;
pub mod search;
mod service;

pub use cdx::CdxHosts;
pub use links::of_crawl;
pub use service::{Service, ServiceError};

use suidao_page::model::CrawlUrl;

/// A proposed seed.
#[derive(Clone, Debug, PartialEq)]
pub struct Proposal {
    pub url: CrawlUrl,
    /// One sentence.
    pub why: String,
}

/// A seeds file: each URL after a comment that states why; a host is proposed once.
pub fn file(topic: &str, proposals: &[Proposal]) -> (String, usize) {
    let mut text = format!("# Proposed seeds for {topic}. Delete those that are not about it.\n");
    let mut hosts: Vec<&str> = Vec::new();
    for Proposal { url, why } in proposals {
        if hosts.contains(&url.authority()) {
            continue;
        }
        hosts.push(url.authority());
        let why: String = why.chars().map(|letter| if letter.is_control() { ' ' } else { letter }).collect();
        text += &format!("# {why}\n{url}\n");
    }
    (text, hosts.len())
}
