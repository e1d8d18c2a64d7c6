//! Hosts in an index of a web archive, as CDXJ or as lines of JSON (Common Crawl's CDX server with `output=json`).

use std::cmp::Reverse;
use std::collections::BTreeMap;

use ordered_float::OrderedFloat;
use serde_json::Value;

use super::Proposal;
use suidao_page::model::{CrawlUrl, Relevance};
use suidao_page::topic::Topic;

/// Hosts with URLs that have words of the topic.
#[derive(Debug, Default)]
pub struct CdxHosts {
    hosts: BTreeMap<String, CdxHost>,
    /// Lines read, and lines that are not records of a page.
    pub lines: u64,
    pub unusable: u64,
}

#[derive(Debug)]
struct CdxHost {
    urls: u64,
    /// The URL with the highest score, the first of equals.
    best: (Relevance, CrawlUrl),
}

impl CdxHosts {
    /// Reads a line; one of a failed request, or without words of the topic in its URL, counts for nothing.
    pub fn add(&mut self, line: &str, topic: &Topic) {
        if line.trim().is_empty() {
            return;
        }
        self.lines += 1;
        let record = line.find('{').and_then(|start| serde_json::from_str::<Value>(&line[start..]).ok());
        let Some((record, url)) = record.and_then(|record| {
            let url = CrawlUrl::parse(record["url"].as_str()?).ok()?;
            Some((record, url))
        }) else {
            self.unusable += 1;
            return;
        };
        let failed = record["status"].as_str().is_some_and(|status| !status.starts_with('2'));
        let html = record["mime"].as_str().is_none_or(|mime| mime.contains("html"));
        let score = topic.score_link(&url, "").1;
        if failed || !html || score == Relevance::ZERO {
            return;
        }
        let host = self
            .hosts
            .entry(url.authority().to_owned())
            .or_insert_with(|| CdxHost { urls: 0, best: (score, url.clone()) });
        host.urls += 1;
        if score > host.best.0 {
            host.best = (score, url);
        }
    }

    /// The hosts by number of such URLs; of each the URL with the highest score.
    pub fn proposals(self) -> Vec<Proposal> {
        let mut hosts: Vec<CdxHost> = self.hosts.into_values().collect();
        hosts.sort_by_key(|host| (Reverse(host.urls), Reverse(OrderedFloat(host.best.0.get()))));
        let why =
            |urls: u64| format!("{urls} archived URL{} with words of the topic", if urls == 1 { "" } else { "s" });
        hosts.into_iter().map(|host| Proposal { url: host.best.1, why: why(host.urls) }).collect()
    }
}
