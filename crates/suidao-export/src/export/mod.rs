//! The corpus in the formats of other programs, one file per format. A file gets its final name only when it is
//! complete.

mod card;
mod columns;
pub mod engines;
pub mod export_state;
pub mod graph;
pub mod jsonl;
pub mod links;
pub mod markdown;
mod output;
pub mod parquet;
pub mod table;
pub mod text;
pub mod warc;

pub use output::{Output, RowWriter};

use suidao_extract::Extractor;
use suidao_page::read::dom::Dom;
use suidao_page::read::markdown::paragraphs;
use suidao_store::corpus::{Catalogue, CorpusDocument, PageRole, Parts, SelectedDocument, Selection, Streamed, stream};
use suidao_store::store::directory::WriteError;
use suidao_store::store::{Store, StoreError};

pub struct Export<'a> {
    pub store: &'a Store,
    pub catalogue: &'a Catalogue,
    pub selection: &'a Selection,
    pub progress: &'a (dyn Fn() + Sync),
    pub extractor: Option<&'a Extractor>,
}

impl Export<'_> {
    /// The document of a selected page, with what the rules extract.
    pub fn document(&self, chosen: &SelectedDocument, parts: Parts) -> Result<CorpusDocument, StoreError> {
        document(self.extractor, chosen, parts)
    }

    /// Maps each selected page on all cores, and passes the results on in order of fetching.
    pub fn each<T: Send>(
        &self,
        render: impl Fn(&SelectedDocument) -> Result<T, WriteError> + Sync,
        mut write: impl FnMut(T) -> Result<(), WriteError> + Send,
    ) -> Result<Streamed, WriteError> {
        stream(self.store, self.catalogue, self.selection, render, |made| {
            write(made)?;
            (self.progress)();
            Ok(())
        })
    }
}

/// The document of a selected page, with the values and the corrected text that rules extract.
pub fn document(
    extractor: Option<&Extractor>,
    chosen: &SelectedDocument,
    parts: Parts,
) -> Result<CorpusDocument, StoreError> {
    let url = chosen.url()?;
    let Some(extractor) = extractor.filter(|extractor| extractor.applies(url.host())) else {
        return chosen.document(parts);
    };
    let fetched = chosen.fetched()?;
    let dom = Dom::of(&fetched);
    let mut document = chosen.document_of(&dom, parts)?;
    if dom.is_html() {
        let extracted = extractor.extract(&dom);
        document.extracted = extracted.values;
        // The text of a thread is that of its posts.
        if let Some(text) = extracted.text.filter(|_| chosen.entry.role == PageRole::Page) {
            let chars = text.chars().filter(|letter| !letter.is_whitespace()).count();
            document.chars = u32::try_from(chars).unwrap_or(u32::MAX);
            document.text = match parts {
                Parts { text: false, .. } => String::new(),
                Parts { markdown: true, .. } => paragraphs(&text),
                _ => text,
            };
        }
    }
    Ok(document)
}
