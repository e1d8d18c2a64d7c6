//! Documents of a crawl to learn a topic from.

use rustc_hash::FxHashSet;

use super::catalogue::Catalogue;
use super::entry::CatalogueEntry;
use super::filter::Selection;
use super::names::UrlNames;
use super::stream::stream;
use crate::store::{Store, StoreError};
use suidao_page::model::{CrawlUrl, UrlId};
use suidao_page::topic::Sample;

/// Documents on topic, and others of the same hosts.
#[derive(Debug, Default)]
pub struct TopicSamples {
    pub samples: Vec<Sample>,
    pub background: Vec<Sample>,
}

impl TopicSamples {
    /// At most `most` relevant documents and three times as many others of their hosts, both spread evenly over the
    /// crawl.
    ///
    /// # Errors
    /// [`StoreError`] if log or archive cannot be read.
    pub fn relevant(store: &Store, catalogue: &Catalogue, most: usize) -> Result<Self, StoreError> {
        let on_topic = drawn(catalogue, most, |entry| entry.on_topic);
        let hosts: FxHashSet<u32> = on_topic.iter().map(|&position| catalogue.entries[position].host).collect();
        let others = drawn(catalogue, 3 * most, |entry| !entry.on_topic && hosts.contains(&entry.host));
        read(store, catalogue, on_topic.into_iter().chain(others))
    }

    /// At most `most` relevant documents and three times as many others, both spread evenly over the crawl.
    ///
    /// # Errors
    /// As [`Self::relevant`].
    pub fn both(store: &Store, catalogue: &Catalogue, most: usize) -> Result<Self, StoreError> {
        let on_topic = drawn(catalogue, most, |entry| entry.on_topic);
        let others = drawn(catalogue, 3 * most, |entry| !entry.on_topic);
        read(store, catalogue, on_topic.into_iter().chain(others))
    }

    /// At most `most` documents, spread evenly over the crawl; no others.
    ///
    /// # Errors
    /// As [`Self::relevant`].
    pub fn all(store: &Store, catalogue: &Catalogue, most: usize) -> Result<Self, StoreError> {
        let Self { mut samples, background } = read(store, catalogue, drawn(catalogue, most, |_| true).into_iter())?;
        samples.extend(background);
        Ok(Self { samples, background: Vec::new() })
    }

    /// At most `most` other pages of the paths by which these documents were found, up to [`PATH`] links back: mostly
    /// listings, which link to them or lie in tunnels to them.
    ///
    /// # Errors
    /// As [`Self::relevant`].
    pub fn linking(&self, store: &Store, catalogue: &Catalogue, most: usize) -> Result<Vec<Sample>, StoreError> {
        let names = UrlNames::read(store, catalogue)?;
        let own = self.samples.iter().chain(&self.background).filter_map(|sample| sample.url.as_ref());
        let own: FxHashSet<&CrawlUrl> = own.collect();
        let documents: FxHashSet<UrlId> = names.iter().filter(|(_, url)| own.contains(url)).map(|(id, _)| id).collect();
        let path = |id: &UrlId| std::iter::successors(names.found_on(*id), |id| names.found_on(*id)).take(PATH);
        let on_paths: FxHashSet<UrlId> = documents.iter().flat_map(path).collect();
        let is_wanted = |entry: &CatalogueEntry| on_paths.contains(&entry.id) && !documents.contains(&entry.id);
        let found: Vec<usize> = (0..)
            .zip(&catalogue.entries)
            .filter(|(_, entry)| entry.is_whole() && is_wanted(entry))
            .map(|(position, _)| position)
            .collect();
        let Self { mut samples, background } = read(store, catalogue, evenly(&found, most).into_iter())?;
        samples.extend(background);
        Ok(samples)
    }
}

/// Links from a document back to the first page of its path.
const PATH: usize = 3;

/// Positions of at most `most` documents.
fn drawn(catalogue: &Catalogue, most: usize, is_wanted: impl Fn(&CatalogueEntry) -> bool) -> Vec<usize> {
    let is_usable = |entry: &CatalogueEntry| {
        entry.is_whole() && entry.is_document() && !entry.foreign && entry.duplicate_of.is_none()
    };
    let found: Vec<usize> = (0..)
        .zip(&catalogue.entries)
        .filter(|(_, entry)| is_usable(entry) && is_wanted(entry))
        .map(|(position, _)| position)
        .collect();
    evenly(&found, most)
}

fn evenly(found: &[usize], most: usize) -> Vec<usize> {
    let number = found.len().min(most);
    (0..number).map(|n| found[n * found.len() / number]).collect()
}

fn read(
    store: &Store,
    catalogue: &Catalogue,
    positions: impl Iterator<Item = usize>,
) -> Result<TopicSamples, StoreError> {
    let mut selection = Selection::none(catalogue);
    for position in positions {
        selection.chosen[position] = true;
        selection.pages += 1;
    }
    let mut found = TopicSamples::default();
    stream(
        store,
        catalogue,
        &selection,
        |document| Ok((document.entry.on_topic, document.sample()?)),
        |(on_topic, sample)| {
            if on_topic { &mut found.samples } else { &mut found.background }.push(sample);
            Ok(())
        },
    )
    .map_err(|error| error.at(store.directory().root()))?;
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::super::fixture::crawl;
    use super::*;

    #[test]
    fn others_come_from_the_hosts_of_relevant_documents() {
        let root = tempfile::tempdir().unwrap();
        // Different texts, or they were duplicates.
        let text = |n: usize| {
            let topic = if n.is_multiple_of(3) { "足球 篮球" } else { "围棋 象棋" };
            (0..40).map(|i| format!("{topic} w{} ", (n * 641 + i * 97) % 9973)).collect::<String>()
        };
        // Host 2 has no relevant page.
        let pages: Vec<(String, String)> = (0..300)
            .map(|n| {
                let host = if n % 3 == 2 { 2 } else { n % 2 };
                (format!("http://h{host}.cn/{n}"), format!("<title>{n}</title><p>{}{n}", text(n)))
            })
            .collect();
        let pages: Vec<(&str, &str)> = pages.iter().map(|(u, h)| (u.as_str(), h.as_str())).collect();
        let store = crawl(root.path(), &pages);
        let catalogue = Catalogue::read(&store).unwrap();
        let TopicSamples { samples, background } = TopicSamples::relevant(&store, &catalogue, 20).unwrap();
        assert_eq!((samples.len(), background.len()), (20, 60));
        assert!(samples.iter().all(|sample| sample.document.text.contains("足球")));
        assert!(background.iter().all(|sample| sample.host != "h2.cn" && sample.document.text.contains("围棋")));
        assert!(samples.iter().any(|sample| sample.source.ends_with("/0")), "from the beginning on");
        assert!(samples.iter().any(|sample| sample.source.ends_with("/285")), "to the end");
        let both = TopicSamples::both(&store, &catalogue, 20).unwrap();
        assert_eq!((both.samples.len(), both.background.len()), (20, 60));
        assert!(both.background.iter().any(|sample| sample.host == "h2.cn"));
        let all = TopicSamples::all(&store, &catalogue, 1_000).unwrap();
        assert_eq!((all.samples.len(), all.background.len()), (300, 0));
    }
}
