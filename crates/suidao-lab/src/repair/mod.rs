//! Is a crawl directory sound, and what of it can be mended?
//!
//! The archive is the truth: every page is in it with its URL and time. So the log is kept up to its first damage, or
//! up to the first page whose record is damaged, and from there made anew out of the archive by the machine itself
//! (`rebuild`); a page whose record is lost is thereby a link again that waits to be fetched. Nothing is destroyed:
//! what is replaced goes into a directory `damaged-N` beside it.

mod answers;
mod beside;
mod check;
mod copy;
mod rebuild;

use std::fs::{self, File};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use flate2::{Compression, GzBuilder};
use serde::Serialize;

use suidao_live::config::Config;
use suidao_page::topic::Topic;
use suidao_store::store::directory::{sync_directory, write_own};
use suidao_store::store::harvest::Harvest;
use suidao_store::store::{CrawlDirectory, Meta, Store, StoreError, own, skipped};

pub use check::{Checked, check};

/// How much a finding matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Level {
    /// As it may be: what a kill leaves, or a file that is not the crawl's.
    Note,
    /// Damage that `--repair` mends.
    Mendable,
    /// Something is gone: a page that has to be fetched again, which `--repair` sees to.
    Lost,
    /// Damage that only a person can mend.
    Open,
}

/// Something that was found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// How much it matters.
    pub level: Level,
    /// Of which file or directory.
    pub path: PathBuf,
    /// What it is.
    pub what: String,
}

/// What a repair did.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Repaired {
    /// What was done, a sentence each.
    pub done: Vec<String>,
    /// Where what was replaced lies now.
    pub aside: Option<PathBuf>,
}

/// What a repair needs of the crawl: the lexicon that pages are scored by, and how it was done.
pub struct Means {
    /// The topic.
    pub topic: Topic,
    /// The configuration.
    pub config: Config,
}

/// Mends what a check has found, as far as it can be. `means` are needed where the log is to be made anew, or to be
/// described anew; without them that is left.
///
/// # Errors
/// [`StoreError`] if the disk fails or another crawl runs there; the directory is then as sound as before, and the
/// repair may be run again.
pub fn repair(dir: &CrawlDirectory, means: Option<&Means>) -> Result<Repaired, StoreError> {
    let mut repaired = Repaired::default();
    // A second look, for what the first mending leaves: a tail behind the new log, lists of the new log.
    for _ in 0..4 {
        let checked = check(dir)?;
        if !mend(dir, checked, means, &mut repaired)? {
            break;
        }
    }
    Ok(repaired)
}

/// Whether something was done.
fn mend(
    dir: &CrawlDirectory,
    checked: Checked,
    means: Option<&Means>,
    told: &mut Repaired,
) -> Result<bool, StoreError> {
    let before = told.done.len();
    let plan = &checked.plan;
    for path in &plan.strays {
        move_aside(dir, path, told)?;
        told.done.push(format!("{}: moved aside", path.display()));
    }
    if plan.finish {
        rebuild::put_in_place(dir, told)?;
        told.done.push(format!("{}: put in its place, made anew by a repair that was killed", dir.log().display()));
        return Ok(true);
    }
    for (path, from) in &plan.tails {
        cut(dir, path, *from, told)?;
        told.done.push(format!("{}: cut at byte {from}, behind the last page kept", path.display()));
    }
    for (path, offset, length) in &plan.damaged {
        if pad(dir, path, *offset, *length, told)? {
            told.done.push(format!(
                "{}: {length} damaged bytes at byte {offset} replaced by a record that says so",
                path.display()
            ));
        }
    }
    if plan.rebuild
        && let Some(means) = means
    {
        let made = rebuild::rebuild(dir, &checked, means, told)?;
        told.done.push(made);
    } else if plan.describe
        && let Some(means) = means
    {
        let meta =
            Meta::new(&means.topic.lexicon().name, &means.topic.digest(), &means.config.strategy.label(), plan.begun);
        describe(dir, &meta, told)?;
    }
    if plan.mark {
        let path = dir.acknowledged();
        write_own(&path, |out| Ok(writeln!(out, "{:020}", checked.batches)?))?;
        told.done.push(format!("{}: written anew", path.display()));
    }
    // What was changed is looked at again first.
    let lists = if told.done.len() > before { Vec::new() } else { plan.lists.clone() };
    // Its lock is given back here, for the store to take it.
    drop(checked);
    if !lists.is_empty() {
        write_lists(&Store::open(dir)?)?;
        told.done.extend(lists.iter().map(|path| format!("{}: written anew", path.display())));
    }
    Ok(told.done.len() > before)
}

/// Writes what is made of the log and nothing else.
fn write_lists(store: &Store) -> Result<(), StoreError> {
    let mut harvest = Harvest::default();
    for record in store.batches() {
        harvest.observe(&record?.batch);
    }
    harvest.write(store.directory())?;
    skipped::write(store)?;
    Ok(())
}

fn describe(dir: &CrawlDirectory, meta: &Meta, told: &mut Repaired) -> Result<(), StoreError> {
    let path = dir.meta_json();
    if path.exists() {
        move_aside(dir, &path, told)?;
    }
    write_own(&path, |out| Ok(serde_json::to_writer_pretty(out, meta)?))?;
    told.done.push(format!("{}: written anew", path.display()));
    Ok(())
}

/// The directory for what is replaced; one for each repair.
fn aside(dir: &CrawlDirectory, told: &mut Repaired) -> Result<PathBuf, StoreError> {
    if let Some(aside) = &told.aside {
        return Ok(aside.clone());
    }
    let free = (1..).map(|n| dir.root().join(format!("damaged-{n}"))).find(|path| !path.exists());
    let path = free.unwrap_or_else(|| dir.root().join("damaged"));
    fs::create_dir(&path).map_err(StoreError::io(&path, "make the directory"))?;
    sync_directory(dir.root())?;
    told.aside = Some(path.clone());
    Ok(path)
}

/// Where a file is moved to: under its own name, or with a number behind it.
fn place(aside: &Path, name: &str) -> PathBuf {
    let numbered = (2..).map(|n| aside.join(format!("{name}.{n}")));
    std::iter::once(aside.join(name)).chain(numbered).find(|path| !path.exists()).unwrap_or_else(|| aside.join(name))
}

fn move_aside(dir: &CrawlDirectory, path: &Path, told: &mut Repaired) -> Result<(), StoreError> {
    let aside = aside(dir, told)?;
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    fs::rename(path, place(&aside, &name)).map_err(StoreError::io(path, "move it aside"))?;
    sync_directory(&aside)
}

/// Keeps a stretch of a file aside, before it is overwritten or cut off.
fn keep_aside(
    dir: &CrawlDirectory,
    path: &Path,
    from: u64,
    length: u64,
    told: &mut Repaired,
) -> Result<(), StoreError> {
    let aside = aside(dir, told)?;
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let mut file = own::open(path, File::options().read(true))?;
    file.seek(SeekFrom::Start(from)).map_err(StoreError::io(path, "read it"))?;
    let mut part = file.take(length);
    write_own(&place(&aside, &format!("{name}.from-{from}")), |out| Ok(std::io::copy(&mut part, out)?))?;
    Ok(())
}

fn cut(dir: &CrawlDirectory, path: &Path, from: u64, told: &mut Repaired) -> Result<(), StoreError> {
    if from == 0 {
        return move_aside(dir, path, told);
    }
    keep_aside(dir, path, from, u64::MAX, told)?;
    let file = own::open(path, File::options().write(true))?;
    file.set_len(from).and_then(|()| file.sync_all()).map_err(StoreError::io(path, "cut it"))
}

/// Puts a record of the same length in the place of damaged bytes, so that all others stay where they are; false where
/// so short a record cannot be.
fn pad(dir: &CrawlDirectory, path: &Path, from: u64, length: u64, told: &mut Repaired) -> Result<bool, StoreError> {
    let Some(record) = padding(from, length).map_err(StoreError::io(path, "pack a record"))? else { return Ok(false) };
    keep_aside(dir, path, from, length, told)?;
    let mut file = own::open(path, File::options().write(true))?;
    let written = file.seek(SeekFrom::Start(from)).and_then(|_| file.write_all(&record)).and_then(|()| file.sync_all());
    written.map_err(StoreError::io(path, "write to it"))?;
    Ok(true)
}

/// The longest record of padding: readers do not take longer comments than 64 KiB.
const PADDING: u64 = 60_000;

/// Gzip members of exactly `length` bytes together, each with a record that says that here was damage. What they are short
/// of is a comment of gzip's (RFC 1952, 2.3), which every reader passes over. None where so little has no room for one.
fn padding(from: u64, length: u64) -> std::io::Result<Option<Vec<u8>>> {
    let mut records = Vec::new();
    let mut left = length;
    while left > 0 {
        // What is left for the last is never too little for one.
        let part = if left <= PADDING { left } else { (left / 2).min(PADDING) };
        let Some(record) = padding_record(from + length - left, part)? else { return Ok(None) };
        records.extend(record);
        left -= part;
    }
    Ok(Some(records))
}

fn padding_record(from: u64, length: u64) -> std::io::Result<Option<Vec<u8>>> {
    const TEXT: &str = "damaged: yes\r\n";
    let head = format!(
        "WARC/1.1\r\nWARC-Type: metadata\r\nWARC-Record-ID: <urn:suidao:damaged:{from}:{length}>\r\n\
         WARC-Date: 1970-01-01T00:00:00Z\r\nContent-Type: application/warc-fields\r\nContent-Length: {}\r\n\r\n{TEXT}\r\n\r\n",
        TEXT.len()
    );
    let pack = |comment: usize| {
        let mut member = GzBuilder::new().comment(vec![b' '; comment]).write(Vec::new(), Compression::best());
        member.write_all(head.as_bytes())?;
        member.finish()
    };
    let least = pack(0)?.len();
    let comment = usize::try_from(length).ok().and_then(|length| length.checked_sub(least));
    comment.map(pack).transpose()
}

#[cfg(test)]
mod tests {
    use super::*;
    use suidao_store::store::survey;

    #[test]
    fn padding_is_a_record_of_the_length_that_is_wanted() {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join("x.warc.gz");
        for length in [300u64, 301, 999, 70_000, 5 << 20] {
            let record = padding(7, length).unwrap().unwrap();
            assert_eq!(record.len() as u64, length);
            fs::write(&path, [record.clone(), record].concat()).unwrap();
            let mut found = Vec::new();
            survey(&path, |stretch| found.push((stretch.length, stretch.content.is_ok()))).unwrap();
            assert!(found.iter().all(|(_, whole)| *whole), "{found:?}");
            assert_eq!(found.iter().map(|(length, _)| length).sum::<u64>(), 2 * length);
        }
        assert_eq!(padding(7, 20).unwrap(), None);
    }
}
