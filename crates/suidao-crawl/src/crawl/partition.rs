//! A part of a crawl that several machines share. A fixed hash maps registrable domains to partitions (stage one of the
//! two-stage mapping of Yan and others, 2001), so that all limits of a domain hold within one partition. A partition is
//! a crawl of its own: links to URLs of the others leave it as [`SentLink`]s, and theirs enter it by
//! [`Crawl::receive`](super::Crawl::receive).

use serde::{Deserialize, Serialize};
use suidao_page::model::{CrawlUrl, Event, Link};
use xxhash_rust::xxh3::xxh3_64;

use super::groups::registrable_domain;

/// One of `count` partitions. The count is fixed for the life of a crawl.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Partition {
    /// Below `count`.
    pub number: u32,
    /// At least 1.
    pub count: u32,
}

impl Partition {
    /// The partition of a URL, of `count`: the same for all hosts of a registrable domain, on every machine.
    pub fn number_of(url: &CrawlUrl, count: u32) -> u32 {
        let hash = xxh3_64(registrable_domain(url.host()).as_bytes());
        (hash % u64::from(count.max(1))) as u32
    }

    pub fn owns(self, url: &CrawlUrl) -> bool {
        Self::number_of(url, self.count) == self.number
    }
}

/// A link to a URL of another partition, as the strategy judged it where it was found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SentLink {
    pub url: CrawlUrl,
    /// Text of the link; empty if the URL was known before.
    pub anchor: String,
    /// Its `to` is a number of the sender.
    pub link: Link,
    /// A refresh found it on a page that it visited again.
    pub new: bool,
}

impl SentLink {
    /// A link of a batch just decided, to `url`.
    pub(super) fn of(url: CrawlUrl, link: Link, new: bool, batch: &[Event]) -> Self {
        let anchor = batch.iter().find_map(|event| match event {
            Event::Discovered(found) if found.id == link.to => Some(found.anchor.clone()),
            _ => None,
        });
        Self { url, anchor: anchor.unwrap_or_default(), link, new }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(url: &str, count: u32) -> u32 {
        Partition::number_of(&CrawlUrl::parse(url).unwrap(), count)
    }

    #[test]
    fn hosts_of_a_domain_are_in_one_partition() {
        for count in [1, 2, 7, 64, 65_536] {
            let of_domain = number("http://a.example.com.cn/", count);
            assert!(of_domain < count);
            assert_eq!(of_domain, number("https://b.c.example.com.cn:8443/x?y", count));
            assert_eq!(number("http://alice.github.io/", count), number("http://alice.github.io/b", count));
        }
        assert_ne!(number("http://alice.github.io/", 65_536), number("http://bob.github.io/", 65_536));
    }

    #[test]
    fn the_mapping_never_changes() {
        // A crawl that exists would lose its hosts.
        let urls = ["http://example.cn/", "http://www.example.org/", "http://192.0.2.7/", "http://[2001:db8::1]/"];
        assert_eq!(urls.map(|url| number(url, 64)), [9, 5, 8, 30]);
    }

    #[test]
    fn partitions_are_of_similar_size() {
        let mut sizes = [0_u32; 16];
        (0..16_000).for_each(|n| sizes[number(&format!("http://site{n}.cn/"), 16) as usize] += 1);
        assert!(sizes.iter().all(|size| (880..1_120).contains(size)), "{sizes:?}");
    }
}
