//! Lists the relevant pages of a crawl directory, and what became of its URLs.
//!
//! `cargo run --example read_crawl -- DIR`

use std::collections::BTreeMap;

use suidao::corpus::Catalogue;
use suidao::model::Event;
use suidao::store::{CrawlDirectory, Store};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let directory = CrawlDirectory::new(std::env::args().nth(1).ok_or("give a crawl directory")?);
    let store = Store::open(&directory)?;
    let catalogue = Catalogue::read(&store)?;
    let relevant = catalogue.entries.iter().filter(|page| page.is_relevant());
    println!("{} of {} pages are relevant", relevant.count(), catalogue.entries.len());

    let mut events: BTreeMap<&str, u64> = BTreeMap::new();
    for record in store.batches() {
        for event in record?.batch.events {
            let name = match event {
                Event::PageFetched(_) => "pages fetched",
                Event::Redirected { .. } => "redirects",
                Event::FetchFailed { .. } => "URLs that failed",
                Event::UrlExcluded { .. } | Event::LinkRejected { .. } => "URLs excluded",
                _ => continue,
            };
            *events.entry(name).or_default() += 1;
        }
    }
    for (name, count) in events {
        println!("{count} {name}");
    }
    Ok(())
}
