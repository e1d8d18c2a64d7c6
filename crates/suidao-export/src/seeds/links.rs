//! Hosts that relevant pages of a crawl link to and that the crawl has not visited.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use ordered_float::OrderedFloat;

use super::Proposal;
use crate::export::Export;
use suidao_page::model::{CrawlUrl, Relevance};
use suidao_page::topic::Topic;
use suidao_store::corpus::document::OutLink;
use suidao_store::corpus::{Catalogue, Parts, Selection};
use suidao_store::store::directory::WriteError;
use suidao_store::store::{Store, StoreError};

/// Links to a host.
struct HostLinks {
    /// Relevant pages with a link to it, and their hosts.
    pages: u64,
    from: BTreeSet<u32>,
    /// Its link with the highest score, the first of equals, and its anchor.
    best: (Relevance, CrawlUrl, String),
}

/// The hosts by number of hosts, then pages, that link to them; of each the URL of the most promising link.
pub fn of_crawl(
    store: &Store,
    catalogue: &Catalogue,
    topic: &Topic,
    progress: &(dyn Fn() + Sync),
) -> Result<Vec<Proposal>, StoreError> {
    let visited: BTreeSet<&str> = catalogue.entries.iter().map(|entry| catalogue.host(entry)).collect();
    let chosen: Vec<bool> = catalogue.entries.iter().map(|entry| entry.is_whole() && entry.is_relevant()).collect();
    let pages = chosen.iter().filter(|chosen| **chosen).count() as u64;
    let selection = Selection { chosen, pages, excluded: BTreeMap::new() };
    let export = Export { store, catalogue, selection: &selection, progress, extractor: None };
    let mut hosts: BTreeMap<String, HostLinks> = BTreeMap::new();
    let streamed = export.each(
        |page| {
            let links = page.document(Parts { links: true, ..Parts::default() })?.links;
            let on_other_hosts = links.into_iter().filter(|link| !visited.contains(link.url.authority()));
            let scored = on_other_hosts.map(|link| (topic.score_link(&link.url, &link.anchor).1, link));
            Ok((page.entry.host, scored.collect::<Vec<(Relevance, OutLink)>>()))
        },
        |(from, links)| {
            let mut seen: BTreeSet<String> = BTreeSet::new();
            for (score, OutLink { url, anchor, .. }) in links {
                let name = url.authority().to_owned();
                let host = hosts.entry(name.clone()).or_insert_with(|| HostLinks {
                    pages: 0,
                    from: BTreeSet::new(),
                    best: (score, url.clone(), anchor.clone()),
                });
                host.pages += u64::from(seen.insert(name));
                host.from.insert(from);
                if score > host.best.0 {
                    host.best = (score, url, anchor);
                }
            }
            Ok(())
        },
    );
    streamed.map_err(|error: WriteError| error.at(store.directory().root()))?;
    let mut hosts: Vec<HostLinks> = hosts.into_values().collect();
    hosts.sort_by_key(|host| (Reverse(host.from.len()), Reverse(host.pages), Reverse(OrderedFloat(host.best.0.get()))));
    let count = |number: u64, noun: &str| format!("{number} {noun}{}", if number == 1 { "" } else { "s" });
    let proposal = |HostLinks { pages, from, best: (_, url, anchor) }: HostLinks| {
        let (pages, from) = (count(pages, "relevant page"), count(from.len() as u64, "host"));
        let anchor = if anchor.is_empty() { String::new() } else { format!(", as “{anchor}”") };
        Proposal { url, why: format!("linked from {pages} of {from}{anchor}") }
    };
    Ok(hosts.into_iter().map(proposal).collect())
}
