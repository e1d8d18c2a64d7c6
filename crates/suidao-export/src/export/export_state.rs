//! What earlier exports contained, so that the next one writes only what is new, changed or gone.
//!
//! `DIR/exports/NAME.json` has date, format and log length of the last one. `DIR/exports/NAME.pages` has 12 bytes per
//! page: the number of its URL (u32, little endian) and a fingerprint of its exported data (u64). Both are written when
//! the output is complete, so a killed export is repeated in full.

use std::fs::{self, File};
use std::io::{BufReader, Read};
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

use suidao_page::model::UrlId;
use suidao_store::corpus::{Catalogue, CatalogueEntry, Selection};
use suidao_store::store::directory::write_own;
use suidao_store::store::{CrawlDirectory, StoreError, plain_file};

/// Bytes of one page's row.
const ROW: usize = 12;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finished {
    pub format: String,
    /// Its file, directory or address.
    pub output: String,
    /// RFC 3339.
    pub at: String,
    /// Batches of the log at that time.
    pub batches: u64,
    /// Pages in it and in the exports before it.
    pub pages: u64,
}

#[derive(Clone, Debug, PartialEq)]
pub struct ExportChanges {
    pub selection: Selection,
    /// Removed or deselected pages, in order of discovery.
    pub retired: Vec<UrlId>,
}

fn paths(directory: &CrawlDirectory, name: &str) -> (PathBuf, PathBuf) {
    let exports = directory.exports();
    (exports.join(format!("{name}.json")), exports.join(format!("{name}.pages")))
}

/// Numbers and fingerprints of the export `name`, sorted by number, if there was one.
///
/// # Errors
/// [`StoreError::DamagedFile`] if its list is truncated; [`StoreError::Io`].
pub fn read(directory: &CrawlDirectory, name: &str) -> Result<Option<Vec<(UrlId, u64)>>, StoreError> {
    plain_file::check_plain_directory(&directory.exports())?;
    let (result, pages) = paths(directory, name);
    if !result.exists() || !pages.exists() {
        return Ok(None);
    }
    let file = plain_file::open(&pages, File::options().read(true))?;
    let length = file.metadata().map_err(StoreError::io(&pages, "inspect it"))?.len();
    let damaged =
        |what: &str| StoreError::DamagedFile { path: pages.clone(), what: what.to_owned(), can_be_deleted: true };
    if length % ROW as u64 != 0 {
        return Err(damaged("it is truncated"));
    }
    let mut from = BufReader::new(file);
    let mut rows: Vec<(UrlId, u64)> = Vec::new();
    for _ in 0..length / ROW as u64 {
        let mut row = [0; ROW];
        from.read_exact(&mut row).map_err(StoreError::io(&pages, "read it"))?;
        let (id, mark) = row.split_at(4);
        let id = UrlId(id.iter().rev().fold(0, |id, byte| id << 8 | u32::from(*byte)));
        // A sparse file of any size reads as zeros.
        if rows.last().is_some_and(|(last, _)| *last >= id) {
            return Err(damaged("its pages are out of order"));
        }
        rows.push((id, mark.iter().rev().fold(0, |mark, byte| mark << 8 | u64::from(*byte))));
    }
    Ok(Some(rows))
}

/// Records a finished export and the pages now at its target.
pub fn remember(
    directory: &CrawlDirectory,
    name: &str,
    finished: &Finished,
    catalogue: &Catalogue,
    wanted: &Selection,
) -> Result<(), StoreError> {
    let (result, pages) = paths(directory, name);
    let exports = directory.exports();
    plain_file::check_plain_directory(&exports)?;
    fs::create_dir_all(&exports).map_err(StoreError::io(&exports, "create the directory"))?;
    let mut rows: Vec<(UrlId, u64)> = exported(catalogue, wanted).collect();
    rows.sort_unstable();
    write_own(&pages, |out| {
        for (id, mark) in &rows {
            out.write_all(&id.0.to_le_bytes())?;
            out.write_all(&mark.to_le_bytes())?;
        }
        Ok(())
    })?;
    write_own(&result, |out| Ok(serde_json::to_writer_pretty(out, finished)?))
}

/// What is new, changed or gone in `wanted` since an export with the pages `previous`.
pub fn changes(catalogue: &Catalogue, wanted: &Selection, previous: &[(UrlId, u64)]) -> ExportChanges {
    let mut selection = wanted.clone();
    let mut left: Vec<bool> = vec![true; previous.len()];
    let mut unchanged = 0;
    for (position, entry) in catalogue.entries.iter().enumerate() {
        if !wanted.chosen[position] {
            continue;
        }
        if let Ok(at) = previous.binary_search_by_key(&entry.id, |(id, _)| *id) {
            left[at] = false;
            if previous[at].1 == fingerprint(entry) {
                selection.chosen[position] = false;
                selection.pages -= 1;
                unchanged += 1;
            }
        }
    }
    if unchanged > 0 {
        selection.excluded.insert("unchanged since the last export", unchanged);
    }
    let retired = previous.iter().zip(left).filter(|(_, left)| *left).map(|((id, _), _)| *id).collect();
    ExportChanges { selection, retired }
}

fn exported<'a>(catalogue: &'a Catalogue, wanted: &'a Selection) -> impl Iterator<Item = (UrlId, u64)> + 'a {
    let chosen = catalogue.entries.iter().zip(&wanted.chosen).filter(|(_, chosen)| **chosen);
    chosen.map(|(entry, _)| (entry.id, fingerprint(entry)))
}

/// Fingerprint of a page's exported data, without the time of fetching, or every visit would be a change.
pub(crate) fn fingerprint(entry: &CatalogueEntry) -> u64 {
    let mut text = Vec::with_capacity(32);
    text.extend(entry.sketch.digest.to_le_bytes());
    text.extend(entry.metadata_hash.to_le_bytes());
    text.extend(entry.relevance.get().to_le_bytes());
    text.extend(entry.published.map_or(i32::MIN, |day| day.0).to_le_bytes());
    text.extend(entry.duplicate_of.unwrap_or(u32::MAX).to_le_bytes());
    text.extend([entry.on_topic, entry.listing, entry.noindex].map(u8::from));
    text.extend(entry.further.to_le_bytes());
    xxh3_64(&text)
}

/// Replaces a name that cannot be a file name.
pub fn digest(name: &str) -> u64 {
    xxh3_64(name.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;
    use suidao_store::corpus::Filter;
    use suidao_store::corpus::fixture::crawl;

    #[test]
    fn what_is_new_changed_or_gone_is_reported() {
        let root = tempfile::tempdir().unwrap();
        let pages: Vec<(String, String)> = (0..6)
            .map(|n| (format!("http://h{n}.cn/"), format!("<title>{n}</title><p>足球 第{n}场 比赛 在 {n} 号 举行")))
            .collect();
        let pages: Vec<(&str, &str)> = pages.iter().map(|(u, h)| (u.as_str(), h.as_str())).collect();
        let store = crawl(root.path(), &pages);
        let directory = store.directory().clone();
        let mut catalogue = Catalogue::read(&store).unwrap();
        assert_eq!(read(&directory, "jsonl").unwrap(), None);
        let without = |host: &str, catalogue: &Catalogue| {
            let mut filter = Filter::default();
            filter.add(&format!("-host:{host}")).unwrap();
            filter.select(catalogue)
        };
        let no_zero = without("h0.cn", &catalogue);
        let finished = Finished {
            format: "jsonl".to_owned(),
            output: "x.jsonl".to_owned(),
            at: "2026-01-01T00:00:00Z".to_owned(),
            batches: 6,
            pages: 5,
        };
        remember(&directory, "jsonl", &finished, &catalogue, &no_zero).unwrap();
        let previous = read(&directory, "jsonl").unwrap().unwrap();
        assert_eq!(previous.len(), 5);
        let none = changes(&catalogue, &no_zero, &previous);
        assert_eq!((none.selection.pages, none.retired), (0, vec![]));

        catalogue.entries[2].sketch.digest ^= 1;
        catalogue.entries[4].at = suidao_page::model::Millis(1);
        catalogue.entries[5].metadata_hash ^= 1;
        let no_one = without("h1.cn", &catalogue);
        let some = changes(&catalogue, &no_one, &previous);
        let chosen: Vec<usize> = (0..6).filter(|&position| some.selection.chosen[position]).collect();
        assert_eq!((chosen, some.selection.pages), (vec![0, 2, 5], 3));
        assert_eq!(some.retired, [catalogue.entries[1].id]);
        fs::write(root.path().join("exports/jsonl.pages"), [0; 13]).unwrap();
        assert!(read(&directory, "jsonl").unwrap_err().to_string().contains("jsonl.pages"));
    }
}
