//! Exports a crawl of generated pages to every format: pages a second, bytes a second, memory, and the disk's own
//! speed.
//!
//! ```text
//! cargo bench --bench export                                   20,000 pages
//! SUIDAO_PAGES=1000000 SUIDAO_CRAWL=DIR cargo bench --bench export      kept in DIR, and reused
//! ```
//!
//! `SUIDAO_FORMATS=jsonl,parquet` selects formats. MB are decoded HTML; memory is the peak during the export.

#![allow(clippy::disallowed_methods, missing_docs)] // a bench reads the clock and is not a library

mod process;

use std::env;
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Instant;

use rayon::prelude::*;
use suidao::corpus::{Catalogue, DocumentFields, DuplicatePolicy, Filter, Selection};
use suidao::export::engines::{es_bulk, searched};
use suidao::export::{Export, Output, graph, jsonl, parquet, text, warc};
use suidao::index;
use suidao::model::{
    Batch, CrawlUrl, Discovered, Event, Fetched, Millis, PageProcessed, PathState, Priority, QueueEntry, QueueId,
    Relevance, UrlId, UrlOrigin,
};
use suidao::replay::Web;
use suidao::scored;
use suidao::store::{ArchiveSettings, CrawlDirectory, Meta, Store, WarcArchive, WarcEntry, Work, Writer};
use suidao::topic::{Lexicon, Topic};
use suidao::world::{SyntheticWeb, WebSpec, topic_words};

const FORMATS: &str = "jsonl,jsonl.zst,parquet,warc,es-bulk,text,graph,index";

fn number(name: &str, default: u64) -> u64 {
    env::var(name).ok().and_then(|value| value.parse().ok()).unwrap_or(default)
}

fn main() {
    let pages = number("SUIDAO_PAGES", 20_000);
    let scratch = tempfile::tempdir().expect("a temporary directory");
    let root = env::var("SUIDAO_CRAWL").map_or_else(|_| scratch.path().join("crawl"), PathBuf::from);
    let directory = CrawlDirectory::new(&root);
    if !directory.holds_crawl() {
        let begun = Instant::now();
        let bytes = crawl(&directory, pages);
        let seconds = begun.elapsed().as_secs_f64();
        println!("{pages} pages of {:.0} MB read, scored and stored in {seconds:.0} s", bytes as f64 / 1e6);
    }
    let store = Store::open(&directory).expect("the crawl opens");
    let begun = Instant::now();
    let catalogue = Catalogue::read(&store).expect("the log reads");
    let selection = Filter::default().select(&catalogue);
    let best = Filter { duplicates: DuplicatePolicy::Best, ..Filter::default() }.select(&catalogue);
    println!(
        "catalogue of {} pages in {:.1} s, {:.0} MB in use; {} duplicates",
        selection.pages,
        begun.elapsed().as_secs_f64(),
        process::resident() as f64 / 1e6,
        selection.pages - best.pages,
    );
    let html = unpacked(&store, &catalogue, &selection);
    let (write, read) = disk(scratch.path());
    println!("disk: {write:.0} MB/s written and synced, {read:.0} MB/s read back (from memory, if there is room)");
    println!(
        "{:<10}{:>9}{:>9}{:>10}{:>9}{:>12}{:>11}",
        "format", "seconds", "CPU-s", "pages/s", "MB/s", "output MB", "memory MB"
    );
    let out = root.parent().unwrap_or(Path::new(".")).join("suidao-bench-export");
    let formats = env::var("SUIDAO_FORMATS").unwrap_or_else(|_| FORMATS.to_owned());
    for format in formats.split(',') {
        let _ = fs::remove_dir_all(&out);
        fs::create_dir_all(&out).expect("a directory for the output");
        // Resets the kernel's peak of memory.
        let _ = fs::write("/proc/self/clear_refs", "5");
        let (begun, cpu) = (Instant::now(), process::cpu_seconds());
        export(format, &store, &catalogue, &selection, &out);
        let seconds = begun.elapsed().as_secs_f64();
        println!(
            "{format:<10}{seconds:>9.1}{:>9.1}{:>10.0}{:>9.1}{:>12.1}{:>11.0}",
            process::cpu_seconds() - cpu,
            selection.pages as f64 / seconds,
            html as f64 / 1e6 / seconds,
            size(&out) as f64 / 1e6,
            process::most_resident() as f64 / 1e6,
        );
    }
    let _ = fs::remove_dir_all(&out);
}

fn export(format: &str, store: &Store, catalogue: &Catalogue, selection: &Selection, out: &Path) {
    let export = Export { store, catalogue, selection, progress: &|| {}, extractor: None };
    let to = |name: &str| Output::file(out.join(name));
    match format {
        "jsonl" => drop(jsonl::write(&export, &to("x.jsonl"), &DocumentFields::without_links()).expect("jsonl")),
        "jsonl.zst" => {
            jsonl::write(&export, &to("x.jsonl.zst"), &DocumentFields::without_links()).expect("jsonl");
        }
        "parquet" => {
            parquet::write(&export, &to("x.parquet"), &DocumentFields::all()).expect("parquet");
        }
        "warc" => drop(warc::write(&export, &to("x.warc.gz")).expect("warc")),
        "text" => drop(text::write(&export, &to("x.txt"), &Filter::default()).expect("text")),
        "graph" => drop(graph::write(&export, &out.join("x.graphml")).expect("graph")),
        "index" => drop(index::build(store, catalogue, selection, &out.join("index"), None, &|| {}).expect("index")),
        "es-bulk" => {
            let fields = searched();
            let row = |document: &suidao::corpus::CorpusDocument| es_bulk::put("x", document, &fields);
            let done = to("x.bulk.ndjson").rows("bulk.ndjson", |rows| {
                export.each(|chosen| Ok(row(&export.document(chosen, fields.parts())?)?), |row| Ok(rows.add(&row)?))
            });
            done.expect("es-bulk");
        }
        other => panic!("no format {other}: {FORMATS}"),
    }
}

/// Writes `pages` pages of a generated web into a crawl directory, as a crawl would; returns the bytes of their HTML.
fn crawl(directory: &CrawlDirectory, pages: u64) -> u64 {
    let spec =
        WebSpec { pages, hosts: (pages / 100).max(20), islands: (pages / 2000).clamp(4, 400), ..WebSpec::default() };
    let world = SyntheticWeb::new(spec).expect("a web");
    let words: Vec<(&str, f64)> = topic_words().map(|word| (word, 1.0)).collect();
    let topic = Topic::new(Lexicon::from_terms("体育", &words));
    let start = Millis(1_750_000_000_000);
    let store =
        Store::resume(directory, &Meta::new("体育", "sha1:BENCH", "breadth-first", Relevance::ZERO, start), "test")
            .expect("a new crawl");
    let settings = ArchiveSettings {
        rotate_at: ArchiveSettings::ROTATE_AT,
        user_agent: "suidao bench".to_owned(),
        request_headers: Vec::new(),
        robots: Some(true),
    };
    let archive = WarcArchive::resume(directory, None, settings).expect("a new archive");
    let writer = Writer::spawn(store, archive, |_| {}).expect("a thread");
    let urls: Vec<CrawlUrl> = world.pages().map(|(url, _)| url).collect();
    let mut bytes = 0;
    for (portion, urls) in urls.chunks(512).enumerate() {
        let first = (portion * 512) as u32;
        let works: Vec<Option<(Work, u64)>> = urls
            .par_iter()
            .enumerate()
            .map(|(at, url)| {
                let fetched = world.get(url).ok()?;
                let length = fetched.body.len() as u64;
                Some((work(UrlId(first + at as u32), fetched, &topic, start), length))
            })
            .collect();
        for (work, length) in works.into_iter().flatten() {
            bytes += length;
            writer.submit(work).expect("the writer continues");
        }
    }
    drop(writer.finish().expect("all is written"));
    bytes
}

fn work(id: UrlId, fetched: Fetched, topic: &Topic, start: Millis) -> Work {
    let page = scored::read(&fetched, topic);
    let origin = if id.0 == 0 { UrlOrigin::Seed } else { UrlOrigin::Link(UrlId(id.0 / 2)) };
    let anchor = if id.0 == 0 { String::new() } else { "体育新闻 更多".to_owned() };
    let found = Discovered { id, url: fetched.url.clone(), origin, anchor };
    let place = QueueEntry { queue: QueueId::MAIN, priority: Priority::new(0.5), path: PathState::SEED };
    let relevant = page.relevance > Relevance::new(0.1);
    let settled = PageProcessed {
        // Each page links to some that were fetched before it.
        known: (1..=20).filter_map(|step| id.0.checked_sub(step * step).map(UrlId)).collect(),
        ..PageProcessed::of(id, fetched.status, place, relevant, page)
    };
    let events = vec![Event::Discovered(found), Event::PageFetched(Box::new(settled))];
    Work {
        batch: Batch { at: start.after(u64::from(id.0) * 10), latency: None, events },
        response: Some(WarcEntry::Whole(fetched)),
    }
}

fn unpacked(store: &Store, catalogue: &Catalogue, selection: &Selection) -> u64 {
    let export = Export { store, catalogue, selection, progress: &|| {}, extractor: None };
    let mut bytes = 0;
    export
        .each(
            |chosen| Ok(chosen.responses[0].fetched()?.body.len() as u64),
            |length| {
                bytes += length;
                Ok(())
            },
        )
        .map_err(|error| error.at(Path::new("the archive")))
        .expect("the archive reads");
    bytes
}

/// MB/s to write and sync a file of 1 GiB, and to read it back.
fn disk(dir: &Path) -> (f64, f64) {
    let path = dir.join("disk");
    let block = vec![0x5a_u8; 8 << 20];
    let begun = Instant::now();
    let mut file = File::create(&path).expect("a file");
    for _ in 0..128 {
        file.write_all(&block).expect("room for 1 GiB");
    }
    file.sync_all().expect("the disk takes it");
    let written = begun.elapsed().as_secs_f64();
    let begun = Instant::now();
    let read = std::io::copy(&mut File::open(&path).expect("the file"), &mut std::io::sink()).expect("it reads");
    let rate = |seconds: f64| read as f64 / 1e6 / seconds;
    let rates = (rate(written), rate(begun.elapsed().as_secs_f64()));
    fs::remove_file(path).expect("the file goes");
    rates
}

fn size(path: &Path) -> u64 {
    let Ok(entries) = fs::read_dir(path) else { return fs::metadata(path).map_or(0, |meta| meta.len()) };
    entries.flatten().map(|entry| size(&entry.path())).sum()
}
