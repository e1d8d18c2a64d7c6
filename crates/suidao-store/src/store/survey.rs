//! Lists the records of one of our WARC files, and skips damage. Every record is unpacked to its end, which checks
//! gzip's checksum, and its block is compared with the digest in its head. Memory does not depend on the size of the
//! file.

use std::fs::File;
use std::io::{self, BufRead, BufReader, ErrorKind, Read, Seek, SeekFrom};
use std::path::Path;

use data_encoding::BASE32;
use flate2::bufread::GzDecoder;
use sha1::{Digest as _, Sha1};

use super::archive::open_archive_file;
use super::error::StoreError;
use super::warc::{GZIP, RecordHeader};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordSpan {
    pub offset: u64,
    pub length: u64,
    /// A complete record, or its damage.
    pub content: Result<(), String>,
    /// `WARC-Target-URI`; of damage if its head is readable.
    pub uri: Option<String>,
}

/// Lists all spans of the WARC file `path` (one gzip member per record) in order, without gaps.
///
/// # Errors
/// [`StoreError::Io`] if the file cannot be read; damage is not an error.
pub fn survey(path: &Path, mut visit: impl FnMut(RecordSpan)) -> Result<(), StoreError> {
    let fail = || StoreError::io(path, "read it");
    let mut input = BufReader::with_capacity(1 << 16, open_archive_file(path)?.1);
    let end = input.seek(SeekFrom::End(0)).map_err(fail())?;
    let mut at = 0;
    let mut damaged: Option<RecordSpan> = None;
    while at < end {
        input.seek(SeekFrom::Start(at)).map_err(fail())?;
        let (read, uri) = member(&mut input);
        match read {
            Ok(()) => {
                damaged.take().into_iter().for_each(&mut visit);
                let next = input.stream_position().map_err(fail())?;
                visit(RecordSpan { offset: at, length: next - at, content: Ok(()), uri });
                at = next;
            }
            Err(error) if !is_damage(&error) => return Err(fail()(error)),
            Err(error) => {
                let next = next_member(&mut input, at + 1, end).map_err(fail())?;
                let what = match error.kind() {
                    ErrorKind::UnexpectedEof => "it is truncated".to_owned(),
                    _ => error.to_string(),
                };
                // Adjacent damage is one span, with the first description.
                let span = damaged.get_or_insert(RecordSpan { offset: at, length: 0, content: Err(what), uri: None });
                span.length = next - span.offset;
                span.uri = span.uri.take().or(uri);
                at = next;
            }
        }
    }
    damaged.into_iter().for_each(visit);
    Ok(())
}

/// Whether an error is about the bytes, not the disk.
fn is_damage(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::InvalidData | ErrorKind::InvalidInput | ErrorKind::UnexpectedEof)
}

fn member(input: &mut BufReader<File>) -> (io::Result<()>, Option<String>) {
    if !input.fill_buf().is_ok_and(|bytes| bytes.starts_with(&GZIP)) {
        return (Err(io::Error::new(ErrorKind::InvalidData, "no record starts here")), None);
    }
    let mut content = BufReader::with_capacity(1 << 14, GzDecoder::new(input));
    let head = match RecordHeader::read(&mut content) {
        Ok(Some(head)) => head,
        Ok(None) => return (Err(ErrorKind::UnexpectedEof.into()), None),
        Err(error) => return (Err(error), None),
    };
    let uri = head.field("warc-target-uri").map(|uri| uri.trim_matches(['<', '>']).to_owned());
    (block(&mut content, &head), uri)
}

fn block(content: &mut impl Read, head: &RecordHeader) -> io::Result<()> {
    let mut sha = Sha1::new();
    let mut left = head.length;
    let mut part = vec![0; 1 << 14];
    while left > 0 {
        let most = usize::try_from(left).unwrap_or(usize::MAX).min(part.len());
        let read = content.read(&mut part[..most])?;
        if read == 0 {
            return Err(ErrorKind::UnexpectedEof.into());
        }
        sha.update(&part[..read]);
        left -= read as u64;
    }
    // To the end, where the checksum is.
    io::copy(content, &mut io::sink())?;
    let wanted = head.field("warc-block-digest").and_then(|digest| digest.strip_prefix("sha1:"));
    if wanted.is_some_and(|wanted| !wanted.eq_ignore_ascii_case(&BASE32.encode(&sha.finalize()))) {
        return Err(io::Error::new(ErrorKind::InvalidData, "the digest of its block differs from that in its header"));
    }
    Ok(())
}

/// Start of the next record at or after `from`, or the end of the file.
fn next_member(input: &mut BufReader<File>, from: u64, end: u64) -> io::Result<u64> {
    let mut at = from;
    while at < end {
        input.seek(SeekFrom::Start(at))?;
        let bytes = input.fill_buf()?;
        if bytes.is_empty() {
            break;
        }
        let length = bytes.len();
        match bytes.iter().position(|&byte| byte == GZIP[0]) {
            None => at += length as u64,
            Some(spot) => {
                at += spot as u64;
                input.seek(SeekFrom::Start(at))?;
                let mut start = [0; 3];
                // Deflate is the only method.
                let begins = input.read_exact(&mut start).is_ok() && start == [GZIP[0], GZIP[1], 8];
                input.seek(SeekFrom::Start(at))?;
                if begins
                    && RecordHeader::read(&mut BufReader::new(GzDecoder::new(&mut *input)))
                        .is_ok_and(|head| head.is_some())
                {
                    return Ok(at);
                }
                at += 1;
            }
        }
    }
    Ok(end)
}

#[cfg(test)]
mod tests {
    use super::super::fixture::*;
    use super::super::{CrawlDirectory, Location, WarcArchive, WarcEntry};
    use super::*;
    use suidao_page::model::Millis;

    fn archive(root: &Path) -> (std::path::PathBuf, Vec<Location>) {
        let dir = CrawlDirectory::new(root);
        dir.make().unwrap();
        let mut archive = WarcArchive::resume(&dir, None, settings(1 << 30)).unwrap();
        let at = (0..6)
            .map(|n| archive.add(&WarcEntry::Whole(fetched(n, 3000)), Millis(u64::from(n) * 1000)).unwrap())
            .collect();
        archive.close().unwrap();
        (dir.pages().join("suidao-00000.warc.gz"), at)
    }

    fn stretches(path: &Path) -> Vec<RecordSpan> {
        let mut found = Vec::new();
        survey(path, |span| found.push(span)).unwrap();
        let mut at = 0;
        for span in &found {
            assert_eq!(span.offset, at, "no gap");
            at += span.length;
        }
        assert_eq!(at, std::fs::metadata(path).unwrap().len());
        found
    }

    #[test]
    fn every_record_is_reported_and_damage_costs_only_what_it_struck() {
        let root = tempfile::tempdir().unwrap();
        let (path, at) = archive(root.path());
        let whole = stretches(&path);
        assert_eq!(whole.len(), 13);
        for (n, location) in (0..).zip(&at) {
            let span = whole.iter().find(|span| span.offset == location.offset).unwrap();
            assert_eq!((span.length, span.uri.as_deref()), (location.length, Some(url(n).as_str())));
            assert_eq!(span.content, Ok(()));
        }
        let bytes = std::fs::read(&path).unwrap();
        for (from, length) in
            [(0, 1), (at[2].offset + 40, 3), (at[2].offset, 2), (at[5].end() - 6, 2), (at[3].offset + 300, 900)]
        {
            let mut broken = bytes.clone();
            broken[from as usize..(from + length) as usize].iter_mut().for_each(|byte| *byte ^= 0x5A);
            std::fs::write(&path, &broken).unwrap();
            let found = stretches(&path);
            let damaged: Vec<_> = found.iter().filter(|span| span.content.is_err()).collect();
            assert_eq!(damaged.len(), 1, "{from}");
            assert!(damaged[0].offset <= from && damaged[0].offset + damaged[0].length >= from + length);
            assert_eq!(found.len(), 13, "{from}: all others are whole");
        }
        std::fs::write(&path, &bytes[..at[4].offset as usize + 100]).unwrap();
        let last = stretches(&path).pop().unwrap();
        assert_eq!((last.content, last.uri.as_deref()), (Err("it is truncated".to_owned()), None));
    }

    proptest::proptest! {
        #![proptest_config(proptest::test_runner::Config::with_cases(48))]
        #[test]
        fn no_damage_panics(at in 0.0..1.0f64, noise: Vec<u8>, cut in 0.0..1.0f64) {
            let root = tempfile::tempdir().unwrap();
            let (path, _) = archive(root.path());
            let mut bytes = std::fs::read(&path).unwrap();
            let at = (at * bytes.len() as f64) as usize;
            let end = bytes.len().min(at + noise.len());
            bytes[at..end].copy_from_slice(&noise[..end - at]);
            bytes.truncate((cut * 2.0 * bytes.len() as f64) as usize);
            std::fs::write(&path, &bytes).unwrap();
            if !bytes.is_empty() {
                stretches(&path);
            }
        }
    }
}
