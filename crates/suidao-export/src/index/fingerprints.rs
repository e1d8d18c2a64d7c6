//! What an index has of each page, so that an update adds only what is new or changed: a file of one number (u64,
//! little endian) per page of the catalogue, 0 for pages that are not in the index.

use std::fs;
use std::io;
use std::path::Path;

use xxhash_rust::xxh3::xxh3_64;

use crate::export::export_state::fingerprint;
use suidao_store::corpus::{Catalogue, CatalogueEntry, Selection};
use suidao_store::store::Store;

const FILE: &str = "pages.fingerprints";

/// The fingerprints of an index of these pages.
pub(super) fn of_pages(store: &Store, catalogue: &Catalogue, selection: &Selection) -> Vec<u64> {
    // Judging again may change the terms of a page and not its relevance.
    let rescored = store.meta().rescoring.as_ref().map_or(0, |rescoring| rescoring.at.0);
    let of_page = |entry: &CatalogueEntry| {
        let bytes: Vec<u8> = [fingerprint(entry), entry.at.0, rescored].iter().flat_map(|n| n.to_le_bytes()).collect();
        xxh3_64(&bytes).max(1)
    };
    let pages = catalogue.entries.iter().zip(&selection.chosen);
    pages.map(|(entry, chosen)| if *chosen { of_page(entry) } else { 0 }).collect()
}

/// The fingerprints of the index in a directory, if it has any.
pub(super) fn read(directory: &Path) -> Option<Vec<u64>> {
    let bytes = fs::read(directory.join(FILE)).ok()?;
    let (rows, rest) = bytes.as_chunks();
    rest.is_empty().then(|| rows.iter().map(|row| u64::from_le_bytes(*row)).collect())
}

pub(super) fn write(directory: &Path, fingerprints: &[u64]) -> io::Result<()> {
    let bytes: Vec<u8> = fingerprints.iter().flat_map(|number| number.to_le_bytes()).collect();
    fs::write(directory.join(FILE), bytes)
}
