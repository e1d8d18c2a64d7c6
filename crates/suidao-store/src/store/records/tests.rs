//! Files as other software writes them, packed in every way, with every kind of damage.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::sync::LazyLock;

use flate2::Compression;
use flate2::write::GzEncoder;

use super::super::error::StoreError;
use super::super::{ArchivedContent, ArchivedRecords, WarcIndex};
use super::*;
use suidao_page::model::CrawlUrl;

const RECORDS: u32 = 12;

fn url(n: u32) -> String {
    format!("http://a.cn/{n}")
}

/// Text that hardly packs, so that damage in the packed file is damage of the record.
fn body(n: u32) -> String {
    let word = |i: u32| format!("第{}段 {:x}\n\n", i, (i + n * 7919).wrapping_mul(2_654_435_761));
    (0..120).map(word).collect()
}

/// A response record whose `Content-Length` differs by some bytes.
fn record_with(n: u32, more: i64, has_digest: bool) -> Vec<u8> {
    let block = format!("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n{}", body(n));
    let digest = if has_digest {
        format!("WARC-Block-Digest: {}\r\n", warc::digest(&[block.as_bytes()]))
    } else {
        String::new()
    };
    format!(
        "WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: {}\r\n{digest}Content-Type: application/http\r\n\
         Content-Length: {}\r\n\r\n{block}\r\n\r\n",
        url(n),
        block.len() as i64 + more
    )
    .into_bytes()
}

fn record(n: u32) -> Vec<u8> {
    record_with(n, 0, true)
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
    packed.write_all(bytes).unwrap();
    packed.finish().unwrap()
}

fn zstd_with(dictionary: &[u8], bytes: &[u8]) -> Vec<u8> {
    let mut packed = zstd::stream::write::Encoder::with_dictionary(Vec::new(), 3, dictionary).unwrap();
    packed.include_checksum(true).unwrap();
    packed.write_all(bytes).unwrap();
    packed.finish().unwrap()
}

/// The first frame of a `.warc.zst`: the dictionary in a skippable frame.
fn dictionary_frame(dictionary: &[u8]) -> Vec<u8> {
    let mut frame = vec![0x5d, 0x2a, 0x4d, 0x18];
    frame.extend(u32::try_from(dictionary.len()).unwrap().to_le_bytes());
    frame.extend(dictionary);
    frame
}

fn trained() -> Vec<u8> {
    static TRAINED: LazyLock<Vec<u8>> = LazyLock::new(|| {
        let samples: Vec<Vec<u8>> = (0..100).map(record).collect();
        zstd::dict::from_samples(&samples, 10_000).unwrap()
    });
    TRAINED.clone()
}

fn wacz(files: &[(&str, &[u8], bool)]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut archive = rawzip::ZipArchiveWriter::new(&mut out);
    for (name, content, deflate) in files {
        let method = if *deflate { rawzip::CompressionMethod::DEFLATE } else { rawzip::CompressionMethod::STORE };
        let (mut entry, config) = archive.new_file(name).compression_method(method).start().unwrap();
        let descriptor = if *deflate {
            let mut writer = config.wrap(flate2::write::DeflateEncoder::new(&mut entry, Compression::fast()));
            writer.write_all(content).unwrap();
            let (encoder, descriptor) = writer.finish().unwrap();
            encoder.finish().unwrap();
            descriptor
        } else {
            let mut writer = config.wrap(&mut entry);
            writer.write_all(content).unwrap();
            writer.finish().unwrap().1
        };
        entry.finish(descriptor).unwrap();
    }
    archive.finish().unwrap();
    out
}

type Pack = Box<dyn Fn(&[Vec<u8>]) -> Vec<u8>>;

/// Ways to pack pieces, each of which becomes a frame if there are frames, and whether there are.
fn packs() -> Vec<(&'static str, bool, Pack)> {
    let frames =
        |pack: fn(&[u8]) -> Vec<u8>| move |parts: &[Vec<u8>]| parts.iter().flat_map(|part| pack(part)).collect();
    let dictionary = trained();
    let packed_dictionary = zstd::stream::encode_all(dictionary.as_slice(), 3).unwrap();
    let with = move |header: Vec<u8>| -> Pack {
        let dictionary = dictionary.clone();
        Box::new(move |parts| {
            let frames = parts.iter().flat_map(|part| zstd_with(&dictionary, part));
            dictionary_frame(&header).into_iter().chain(frames).collect()
        })
    };
    vec![
        ("plain", false, Box::new(|parts| parts.concat())),
        ("gzip", true, Box::new(frames(gzip))),
        ("gzip as a whole", false, Box::new(|parts| gzip(&parts.concat()))),
        ("gzip in blocks", false, Box::new(|parts| parts.concat().chunks(1000).flat_map(gzip).collect())),
        ("zstd", true, Box::new(frames(|part| zstd_with(&[], part)))),
        ("zstd as a whole", false, Box::new(|parts| zstd_with(&[], &parts.concat()))),
        ("zstd with a dictionary", true, with(trained())),
        ("zstd with a compressed dictionary", true, with(packed_dictionary)),
    ]
}

/// URLs of the pages of a file in order, and its damage.
fn read(path: &Path) -> (Vec<String>, Vec<WarcDamage>) {
    let mut records = ArchivedRecords::open(path, 100_000).unwrap();
    let mut urls = Vec::new();
    for record in &mut records {
        let ArchivedContent::Response(fetched) = record.unwrap().content else { panic!("a response") };
        let n = fetched.url.path()[1..].parse().unwrap();
        assert!(fetched.body == body(n).as_bytes(), "the body of {n}");
        urls.push(fetched.url.to_string());
    }
    (urls, records.damage().iter().map(|(_, damage)| damage.clone()).collect())
}

/// A file with these bytes.
fn file(root: &Path, bytes: &[u8]) -> std::path::PathBuf {
    let path = root.join("x.warc");
    fs::write(&path, bytes).unwrap();
    path
}

/// Reads a file from start to end and by its index, and returns what is missing of the records and its damage.
fn lost(root: &Path, bytes: &[u8], name: &str) -> (Vec<u32>, WarcDamage) {
    let path = file(root, bytes);
    let (urls, damage) = read(&path);
    let mut seen = Vec::new();
    let index = WarcIndex::open(vec![path], 100_000, |url| seen.push(url.to_string())).unwrap();
    assert_eq!(seen, urls, "{name}");
    for url in urls.iter().step_by(5).chain(urls.last()) {
        let page = index.get(&CrawlUrl::parse(url).unwrap()).unwrap().unwrap();
        assert_eq!(page.url.as_str(), url, "{name}");
        assert!(page.body == body(page.url.path()[1..].parse().unwrap()).as_bytes(), "{name}");
    }
    let missing = (0..RECORDS).filter(|n| !urls.contains(&url(*n))).collect();
    assert!(urls.len() <= RECORDS as usize, "{name}");
    (missing, damage.into_iter().next().unwrap_or_default())
}

#[test]
fn records_are_read_however_they_are_packed() {
    let root = tempfile::tempdir().unwrap();
    let parts: Vec<_> = (0..RECORDS).map(record).collect();
    for (name, _, pack) in packs() {
        assert_eq!(lost(root.path(), &pack(&parts), name), (vec![], WarcDamage::default()), "{name}");
        for deflate in [false, true] {
            let (first, second) = (pack(&parts[..5]), pack(&parts[5..]));
            let bytes = wacz(&[
                ("datapackage.json", b"{}", false),
                ("archive/one.warc.gz", &first, deflate),
                ("indexes/index.cdx.gz", &gzip(b"not a record"), false),
                ("archive/two.WARC", &second, deflate),
                ("pages/pages.jsonl", b"{}", true),
            ]);
            let found = lost(root.path(), &bytes, name);
            assert_eq!(found, (vec![], WarcDamage::default()), "{name} in a WACZ, deflated: {deflate}");
        }
    }
}

#[test]
fn damage_of_one_record_costs_that_record() {
    let root = tempfile::tempdir().unwrap();
    let whole: Vec<_> = (0..RECORDS).map(record).collect();
    let absent = |part: &[u8]| String::from_utf8(part.to_vec()).unwrap().replacen("Content-Length", "X-Length", 1);
    let no_head = |part: &[u8]| String::from_utf8(part.to_vec()).unwrap().replacen("WARC/1.0", "WORC/1.0", 1);
    for at in [0, 5, RECORDS - 1] {
        let mut damaged: Vec<(String, Vec<u8>)> = Vec::new();
        for more in [-2000, -7, 7, 300, 9_000, 150_000, 90_000_000_000_000] {
            for has_digest in [true, false] {
                damaged.push((format!("length {more:+} digest {has_digest}"), record_with(at, more, has_digest)));
            }
        }
        damaged.push(("no length".to_owned(), absent(&record(at)).into_bytes()));
        damaged.push(("no version".to_owned(), no_head(&record(at)).into_bytes()));
        damaged.push(("cut".to_owned(), record(at)[..700].to_vec()));
        damaged.push(("cut within its head".to_owned(), record(at)[..60].to_vec()));
        damaged.push(("only its head".to_owned(), {
            let text = record(at);
            let end = memmem::find(&text, b"\r\n\r\n").unwrap();
            text[..end + 4].to_vec()
        }));
        for (what, part) in damaged {
            let mut parts = whole.clone();
            parts[at as usize] = part;
            for (name, _, pack) in packs() {
                let (missing, damage) = lost(root.path(), &pack(&parts), name);
                assert_eq!(missing, [at], "{name}, {what} of record {at}: {damage}");
                assert!(damage.records + damage.other > 0, "{name}, {what} of record {at}: {damage}");
            }
        }
    }
}

#[test]
fn what_is_between_records_costs_none() {
    let root = tempfile::tempdir().unwrap();
    let whole: Vec<_> = (0..RECORDS).map(record).collect();
    for junk in [&b"wget: no space left\n"[..], b"WARC/1.0\r\n", &[0; 3000], &[0x1f, 0x8b, 8, 0], b"\xef\xbb\xbf"] {
        for at in [0, 4, RECORDS as usize] {
            let mut parts = whole.clone();
            parts.insert(at, junk.to_vec());
            for (name, is_framed, pack) in packs() {
                let (missing, damage) = lost(root.path(), &pack(&parts), name);
                assert!(missing.is_empty(), "{name}, {junk:?} before {at}: {missing:?}, {damage}");
                assert!(!damage.is_empty(), "{name}, {junk:?} before {at}");
                // Not packed itself.
                if is_framed {
                    let (before, after) = (pack(&whole[..at]), pack(&whole[at..]));
                    let after = if name.contains("dictionary") && at > 0 { &after[pack(&[]).len()..] } else { &after };
                    let (missing, damage) = lost(root.path(), &[&before, junk, after].concat(), name);
                    assert!(missing.is_empty(), "{name}, raw {junk:?} before {at}: {missing:?}, {damage}");
                    assert!(!damage.is_empty(), "{name}, raw {junk:?} before {at}");
                }
            }
        }
    }
}

#[test]
fn bytes_that_do_not_unpack_cost_their_record() {
    let root = tempfile::tempdir().unwrap();
    let parts: Vec<_> = (0..RECORDS).map(record).collect();
    for (name, is_framed, pack) in packs() {
        let bytes = pack(&parts);
        let start = pack(&parts[..4]).len();
        let end = pack(&parts[..5]).len();
        let part = (end - start) / 8;
        for (from, length) in [(start, 4), (start, 40), (start + 3 * part, part), (start + 4 * part, 1)] {
            let mut broken = bytes.clone();
            broken[from..from + length].iter_mut().for_each(|byte| *byte ^= 0x5a);
            let path = file(root.path(), &broken);
            if !is_framed {
                // A block or the rest of the file is lost, and nothing panics.
                let found = ArchivedRecords::open(&path, 100_000).unwrap().filter(Result::is_ok).count();
                assert!(found >= 3 || name == "zstd as a whole", "{name} at {from}: {found}");
                continue;
            }
            let (missing, damage) = lost(root.path(), &broken, name);
            assert!(missing == [4] && damage.records == 1, "{name} at {from}: {missing:?}, {damage}");
        }
        if is_framed {
            // A wrong checksum, of a record whose digest or length shows that it is complete.
            let mut broken = bytes.clone();
            broken[end - 3] ^= 0x5a;
            if name.starts_with("gzip") {
                broken[end - 7] ^= 0x5a;
            }
            let (missing, damage) = lost(root.path(), &broken, name);
            match name.starts_with("gzip") {
                true => assert!(missing.is_empty() && damage.other == 1, "{name}: {missing:?}, {damage}"),
                // zstd gives no byte of a frame that it has checked as a whole.
                false => assert!(missing == [4] && damage.records == 1, "{name}: {missing:?}, {damage}"),
            }
            // Cut within the last frames.
            let cut = pack(&parts[..RECORDS as usize - 1]).len();
            for length in [cut + 5, cut + 9, cut + 500] {
                let (missing, damage) = lost(root.path(), &bytes[..length], name);
                assert!(missing == [RECORDS - 1] && damage.records == 1, "{name} to {length}: {damage}");
                assert!(damage.to_string().contains(" at byte "), "{damage}");
            }
        }
    }
    // Without the last 8 bytes everything is there.
    let packed = packs().remove(1).2(&parts);
    let (missing, damage) = lost(root.path(), &packed[..packed.len() - 8], "no trailer");
    assert!(missing.is_empty() && damage.records == 0, "{damage}");
}

#[test]
fn a_wacz_without_its_directory_has_its_records() {
    let root = tempfile::tempdir().unwrap();
    let parts: Vec<_> = (0..RECORDS).map(record).collect();
    let packed = parts.iter().flat_map(|part| gzip(part)).collect::<Vec<u8>>();
    let whole = wacz(&[("datapackage.json", b"{}", false), ("archive/data.warc.gz", &packed, false)]);
    let end = memmem::find(&whole, b"PK\x01\x02").unwrap();
    let (missing, damage) = lost(root.path(), &whole[..end], "no directory");
    assert!(missing.is_empty() && !damage.is_empty(), "{missing:?}, {damage}");
    let (missing, _) = lost(root.path(), &whole[..packed.len() / 2], "half");
    assert_eq!(missing, (RECORDS / 2 - 1..RECORDS).collect::<Vec<_>>());
}

#[test]
fn files_of_other_kinds_are_refused_with_what_to_do() {
    let root = tempfile::tempdir().unwrap();
    let arc =
        b"filedesc://x.arc 0.0.0.0 20050601 text/plain 76\n1 0 Org\nURL IP Archive-date Content-type Archive-length\n";
    let shared = {
        // Two entries that claim the same bytes.
        let mut bytes = wacz(&[("a.warc", &record(1).repeat(9), false), ("b.warc", &record(2), false)]);
        let first = memmem::find(&bytes, b"PK\x01\x02").unwrap();
        let second = first + memmem::find(&bytes[first + 4..], b"PK\x01\x02").unwrap() + 4;
        bytes.copy_within(first + 42..first + 46, second + 42);
        bytes.copy_within(first + 20..first + 28, second + 20);
        bytes
    };
    let bomb = wacz(&[("a.warc", &[vec![b'W'; 10], vec![0; 4 << 20]].concat(), true)]);
    for (bytes, expected) in [
        (&arc[..], "ARC file, the format before WARC; convert it first: `warcio recompress"),
        (&gzip(arc), "ARC file, the format before WARC; convert it first: `warcio recompress"),
        (b"", "it is empty"),
        (b"<html>", "neither WARC/ nor gzip, zstd or a WACZ"),
        (b"BZh91AY", "bunzip2"),
        (b"\xfd7zXZ\0", "unxz"),
        (&wacz(&[("a.html", b"<p>", false)]), "a ZIP file without a WARC file in it"),
        (&bomb, "unpacks to too much"),
        (&shared, "overlaps others"),
    ] {
        let path = file(root.path(), bytes);
        let Err(error) = ArchivedRecords::open(&path, 1000) else { panic!("{expected}") };
        let message = error.to_string();
        assert!(message.contains(expected) && message.contains("x.warc"), "{message}");
    }
    let index = |files: &[(&str, &[u8])]| {
        let paths = files.iter().map(|(name, bytes)| {
            let path = root.path().join(name);
            fs::write(&path, bytes).unwrap();
            path
        });
        WarcIndex::open(paths.collect(), 100_000, |_| ())
    };
    for bytes in [gzip(b"<html>"), zstd_with(&[], b"<html>"), b"WARC/1.0\r\n\r\n".to_vec()] {
        let message = index(&[("bad", &bytes)]).unwrap_err().to_string();
        assert!(message.contains("no record in it can be read"), "{message}");
        // Beside a good one it is skipped, and the good one is read.
        assert_eq!(index(&[("bad", &bytes), ("good", &record(1))]).unwrap().len(), 1);
    }
    assert_eq!(index(&[("bad", arc), ("good", &record(1))]).unwrap().len(), 1);
    let missing = WarcIndex::open(vec![root.path().join("none"), root.path().join("good")], 1000, |_| ());
    assert!(matches!(missing, Err(StoreError::Io { .. })), "a file that does not exist is an error");
}

#[test]
fn records_over_the_limit_are_skipped_and_the_next_are_read() {
    let root = tempfile::tempdir().unwrap();
    let large = |n: u32, length: usize, declared: usize| {
        let head = format!("HTTP/1.1 200 OK\r\n\r\n{}", "x\n".repeat(length / 2));
        format!(
            "WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: {}\r\nContent-Type: application/http\r\n\
             Content-Length: {}\r\n\r\n{head}\r\n\r\n",
            url(n),
            head.len() + declared - length
        )
        .into_bytes()
    };
    let size = 4 << 20;
    for declared in [size, size + 400, size - 401, 3 * size] {
        let parts: Vec<_> = (0..RECORDS).map(|n| if n == 5 { large(n, size, declared) } else { record(n) }).collect();
        for (name, _, pack) in packs() {
            let path = file(root.path(), &pack(&parts));
            let mut records = ArchivedRecords::open(&path, 100_000).unwrap();
            let found = records.by_ref().filter(Result::is_ok).count();
            assert_eq!(found, RECORDS as usize - 1, "{name}, {declared}");
            let too_large = records.passed().get("too large").copied().unwrap_or_default();
            assert_eq!(too_large, u64::from(declared == size), "{name}, {declared}");
            assert_eq!(records.damage().len(), usize::from(declared != size), "{name}, {declared}");
        }
    }
}

proptest::proptest! {
    #![proptest_config(proptest::test_runner::Config::with_cases(64))]
    #[test]
    fn any_damage_is_survived(which in 0..8_usize, at in 0.0..1.0_f64, noise: Vec<u8>, cut in 0.5..1.5_f64) {
        let root = tempfile::tempdir().unwrap();
        let parts: Vec<_> = (0..RECORDS).map(record).collect();
        let mut bytes = packs().remove(which).2(&parts);
        let at = (at * bytes.len() as f64) as usize;
        let end = bytes.len().min(at + noise.len());
        bytes[at..end].copy_from_slice(&noise[..end - at]);
        bytes.truncate((cut * bytes.len() as f64) as usize);
        let path = file(root.path(), &bytes);
        if let Ok(records) = ArchivedRecords::open(&path, 100_000) {
            let found = records.map(|record| record.is_ok()).collect::<Vec<_>>();
            proptest::prop_assert!(found.iter().all(|ok| *ok) && found.len() <= RECORDS as usize);
        }
    }
}
