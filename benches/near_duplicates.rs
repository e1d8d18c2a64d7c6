//! Which fingerprint finds near-duplicates of Chinese pages best? SimHash over single characters, three in a row (what every
//! page gets), against SimHash over jieba's words and MinHash over them, on pages of a recorded web. The truth is the exact Jaccard
//! index of the sets of five characters in a row, which is neither's own feature.
//!
//! `SUIDAO_HOSTS=WEB/hosts cargo bench --bench near_duplicates` (a folder with a directory for each host).
#![allow(clippy::unwrap_used, clippy::disallowed_methods, missing_docs)] // a bench may; it is timed by the wall clock

use std::path::{Path, PathBuf};
use std::time::Instant;

use bytes::Bytes;
use suidao::model::{CrawlUrl, Fetched};
use suidao::text::simhash::{distance, sketch};
use suidao::text::{cut, fold};
use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

/// Pages that are compared, each with each.
const PAGES: usize = 4000;
/// Pages of one host at most, so that no template is most of it.
const PER_HOST: usize = 120;
/// Characters of a text that fingerprints are asked about.
const SHORTEST: usize = 120;
/// Hashes of a MinHash.
const HASHES: usize = 64;

struct Page {
    shingles: Vec<u64>,
    simhash: u64,
    of_words: u64,
    of_rows: u64,
    minhash: Vec<u32>,
}

fn files(dir: &Path, found: &mut Vec<PathBuf>) {
    let mut entries: Vec<PathBuf> = std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            files(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "html") {
            found.push(path);
        }
    }
}

fn text_of(path: &Path) -> String {
    let url = CrawlUrl::parse("http://a.test/page/").unwrap();
    let headers = vec![("content-type".to_owned(), "text/html".to_owned())];
    let body = Bytes::from(std::fs::read(path).unwrap());
    suidao::read::parse(&Fetched { url, status: 200, headers, body, wire: None, asked: None, rendered: None }).text
}

fn simhash(features: impl Iterator<Item = u64>) -> u64 {
    let mut sums = [0_i32; 64];
    for feature in features {
        for (bit, sum) in sums.iter_mut().enumerate() {
            *sum += if feature >> bit & 1 == 1 { 1 } else { -1 };
        }
    }
    (0..64).filter(|bit| sums[*bit] > 0).fold(0, |hash, bit| hash | 1 << bit)
}

fn jaccard(one: &[u64], other: &[u64]) -> f64 {
    let (mut both, mut at, mut to) = (0_usize, 0, 0);
    while at < one.len() && to < other.len() {
        match one[at].cmp(&other[to]) {
            std::cmp::Ordering::Equal => {
                both += 1;
                at += 1;
                to += 1;
            }
            std::cmp::Ordering::Less => at += 1,
            std::cmp::Ordering::Greater => to += 1,
        }
    }
    both as f64 / (one.len() + other.len() - both).max(1) as f64
}

fn main() {
    let Some(root) = std::env::var_os("SUIDAO_HOSTS").map(PathBuf::from) else {
        println!("near_duplicates: skipped, SUIDAO_HOSTS names no folder of hosts");
        return;
    };
    let mut hosts: Vec<PathBuf> = std::fs::read_dir(&root).unwrap().map(|entry| entry.unwrap().path()).collect();
    hosts.sort();
    let mut texts = Vec::new();
    for host in hosts {
        let mut pages = Vec::new();
        files(&host, &mut pages);
        // Neighbours are likeliest to be alike: runs of pages, not a sample.
        texts.extend(
            pages
                .iter()
                .take(PER_HOST)
                .map(|path| fold(&text_of(path)))
                .filter(|text| text.chars().count() >= SHORTEST),
        );
    }
    texts.truncate(PAGES);
    let mut times = [0.0_f64; 4];
    let mut timed = |at: usize, work: &mut dyn FnMut()| {
        let begun = Instant::now();
        work();
        times[at] += begun.elapsed().as_secs_f64();
    };
    let mut pages = Vec::new();
    for text in &texts {
        let chars: Vec<char> = text.chars().filter(|c| !c.is_whitespace()).collect();
        let mut shingles: Vec<u64> =
            chars.windows(5).map(|five| xxh3_64(five.iter().collect::<String>().as_bytes())).collect();
        shingles.sort_unstable();
        shingles.dedup();
        let mut words: Vec<u64> = Vec::new();
        let mut page = Page { shingles, simhash: 0, of_words: 0, of_rows: 0, minhash: Vec::new() };
        timed(0, &mut || page.simhash = sketch(text).simhash);
        timed(1, &mut || {
            words.clear();
            cut(text, |range| words.push(xxh3_64(text[range].as_bytes())));
            page.of_words = simhash(words.iter().copied());
        });
        timed(2, &mut || {
            let row = |three: &[u64]| xxh3_64_with_seed(&three[0].to_le_bytes(), three[1] ^ three[2].rotate_left(21));
            page.of_rows = simhash(words.windows(3).map(row));
        });
        timed(3, &mut || {
            let rows: Vec<u64> = words
                .windows(3)
                .map(|three| xxh3_64_with_seed(&three[0].to_le_bytes(), three[1] ^ three[2].rotate_left(21)))
                .collect();
            let least = |seed: u64| {
                rows.iter().map(|row| (row.wrapping_mul(seed | 1) ^ seed) >> 32).min().unwrap_or_default() as u32
            };
            page.minhash = (0..HASHES as u64).map(|n| least(xxh3_64(&n.to_le_bytes()))).collect();
        });
        pages.push(page);
    }
    // Of each pair that is similar, or that anything takes for so: Jaccard, distances, agreement of MinHashes.
    let mut pairs: Vec<(f64, [u32; 3], usize)> = Vec::new();
    for (at, one) in pages.iter().enumerate() {
        for other in &pages[at + 1..] {
            let apart = [
                distance(one.simhash, other.simhash),
                distance(one.of_words, other.of_words),
                distance(one.of_rows, other.of_rows),
            ];
            let agree = one.minhash.iter().zip(&other.minhash).filter(|(one, other)| one == other).count();
            let sizes = one.shingles.len().min(other.shingles.len()) as f64
                / one.shingles.len().max(other.shingles.len()).max(1) as f64;
            let maybe = apart.iter().any(|apart| *apart <= 10) || agree * 10 >= HASHES * 6;
            // At most so similar are texts of such lengths; 20 bits apart are those that share nothing much.
            if maybe || sizes >= 0.8 && apart.iter().any(|apart| *apart <= 20) {
                let index = jaccard(&one.shingles, &other.shingles);
                if maybe || index >= 0.8 {
                    pairs.push((index, apart, agree));
                }
            }
        }
    }
    println!("{} pages, {} pairs\n", pages.len(), pages.len() * pages.len().saturating_sub(1) / 2);
    println!(
        "| fingerprint | taken for one | bytes a page | us a page | J >= .9: precision | recall | J >= .8: precision | recall |"
    );
    println!("|---|---|---|---|---|---|---|---|");
    let row = |name: &str, rule: String, bytes: usize, seconds: f64, taken: &dyn Fn(&[u32; 3], usize) -> bool| {
        let mut line = format!("| {name} | {rule} | {bytes} | {:.0} |", seconds * 1e6 / pages.len().max(1) as f64);
        for threshold in [0.9, 0.8] {
            let (mut hit, mut said, mut all) = (0, 0, 0);
            for (index, apart, agree) in &pairs {
                let (is, says) = (*index >= threshold, taken(apart, *agree));
                hit += usize::from(is && says);
                said += usize::from(says);
                all += usize::from(is);
            }
            line += &format!(" {:.3} | {:.3} |", hit as f64 / said.max(1) as f64, hit as f64 / all.max(1) as f64);
        }
        println!("{line}");
    };
    for most in [3, 4, 6, 8] {
        row("SimHash, characters, three in a row", format!("{most} bits"), 8, times[0], &|apart, _| apart[0] <= most);
    }
    for most in [3, 4, 6, 8] {
        row("SimHash, jieba words", format!("{most} bits"), 8, times[1], &|apart, _| apart[1] <= most);
    }
    for most in [3, 4, 6, 8] {
        row("SimHash, jieba words, three in a row", format!("{most} bits"), 8, times[1] + times[2], &|apart, _| {
            apart[2] <= most
        });
    }
    for least in [58, 54, 48] {
        row(
            "MinHash, jieba words, three in a row",
            format!("{least} of 64"),
            4 * HASHES,
            times[1] + times[3],
            &|_, agree| agree >= least,
        );
    }
}
