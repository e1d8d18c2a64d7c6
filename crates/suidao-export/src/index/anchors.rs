//! What other pages call a page: the texts of the links to it.
//!
//! Memory: 8 texts of 80 characters a page at most, 200 bytes a page as webs are; and 8 bytes for each known URL.

use rustc_hash::FxHashMap;

use suidao_page::model::{Event, Origin, UrlId};
use suidao_page::text::fold;
use suidao_store::corpus::{Catalogue, Filter, Part, Parts, stream};
use suidao_store::store::directory::WriteError;
use suidao_store::store::{Store, StoreError};

/// Texts of one page.
const MOST: usize = 8;
/// Characters of one text.
const LONGEST: usize = 80;

/// Texts of links by the page they lead to, an index into the catalogue's entries; each once, in the order of fetching.
#[derive(Debug)]
pub(super) struct Anchors(Vec<Vec<Box<str>>>);

impl Anchors {
    /// Reads the links of all pages; `tell` is told of each page.
    pub(super) fn read(store: &Store, catalogue: &Catalogue, tell: &(dyn Fn() + Sync)) -> Result<Self, WriteError> {
        let targets = targets(store, catalogue)?;
        let mut found = Self(vec![Vec::new(); catalogue.entries.len()]);
        let all = Filter::default().select(catalogue);
        stream(
            store,
            catalogue,
            &all,
            |chosen| {
                let links = chosen.document(Parts { links: true, ..Parts::default() })?.links;
                let known = links.into_iter().filter_map(|link| {
                    let to = *targets.get(&link.url.fingerprint())?;
                    (to as usize != chosen.number).then_some((to, link.anchor))
                });
                Ok(known.collect::<Vec<_>>())
            },
            |links| {
                for (to, text) in links {
                    found.add(to, &text);
                }
                tell();
                Ok(())
            },
        )?;
        Ok(found)
    }

    fn add(&mut self, to: u32, text: &str) {
        let texts = &mut self.0[to as usize];
        let text: String = text.trim().chars().take(LONGEST).collect();
        // Page numbers and arrows name nothing.
        let names = text.chars().filter(|character| character.is_alphabetic()).count() > 1;
        if names && texts.len() < MOST && !texts.iter().any(|known| fold(known) == fold(&text)) {
            texts.push(text.into());
        }
    }

    /// Those of one page.
    pub(super) fn of(&self, page: usize) -> &[Box<str>] {
        self.0.get(page).map_or(&[], Vec::as_slice)
    }
}

/// The page to which a URL led in the end, by the URL's fingerprint: itself, or through redirects.
fn targets(store: &Store, catalogue: &Catalogue) -> Result<FxHashMap<u64, u32>, StoreError> {
    let mut known: Vec<u64> = Vec::new();
    let mut moved: Vec<(UrlId, UrlId)> = Vec::new();
    for record in store.batches() {
        for event in record?.batch.events {
            match event {
                Event::Discovered(found) => {
                    known.push(found.url.fingerprint());
                    if let Origin::Redirect(from) = found.origin {
                        moved.push((from, found.id));
                    }
                }
                Event::Redirected { id, link: Some(link), .. } | Event::Moved { id, link: Some(link) } => {
                    moved.push((id, link.to));
                }
                _ => {}
            }
        }
    }
    let mut pages: FxHashMap<UrlId, u32> = (0..)
        .zip(&catalogue.entries)
        .map(|(at, entry)| match entry.part {
            Part::Further(place) | Part::Copy(place) => (entry.id, place),
            _ => (entry.id, at),
        })
        .collect();
    // What is redirected was known before what it leads to, as a rule: the last links of a chain come first so.
    for (from, to) in moved.iter().rev() {
        if let Some(&page) = pages.get(to) {
            pages.entry(*from).or_insert(page);
        }
    }
    let fingerprint = |id: &UrlId| known.get(id.0 as usize).copied();
    Ok(pages.iter().filter_map(|(id, &page)| Some((fingerprint(id)?, page))).collect())
}
