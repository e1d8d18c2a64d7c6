//! Small artificial crawls for the tests of this module.

use std::io;

use bytes::Bytes;

use super::*;
use suidao_page::model::*;

pub(super) fn url(n: u32) -> CrawlUrl {
    CrawlUrl::parse(&format!("http://h{}.example.cn/体育/page-{n}.html?n={n}", n % 7)).unwrap()
}

/// The response of page `n`: somewhat more than `size` bytes, incompressible.
pub(super) fn fetched(n: u32, size: usize) -> Fetched {
    let mut body = format!("<title>第{n}页</title><p>足球 ").into_bytes();
    let mut state = u64::from(n) + 1;
    while body.len() < size {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        body.extend_from_slice(format!("{:x} 比赛 ", state >> 40).as_bytes());
    }
    Fetched {
        url: url(n),
        status: 200,
        headers: vec![
            ("content-type".into(), "text/html; charset=utf-8".into()),
            ("content-length".into(), body.len().to_string()),
        ],
        body: Bytes::from(body),
        wire: None,
        request_validators: None,
        rendered: None,
        unverified: false,
    }
}

/// As [`fetched`], but of every four answers one is a 304, and one repeats the same bytes.
pub(super) fn warc_entry(n: u32, size: usize) -> WarcEntry {
    let fetched = fetched(n, size);
    let (requested, of) = (Validators { etag: Some("\"1\"".to_owned()), modified: None }, Millis(u64::from(n)));
    match n % 4 {
        1 => WarcEntry::Revisit { fetched, of },
        2 => {
            let requested = Some(Box::new(requested));
            WarcEntry::Revisit {
                fetched: Fetched { status: 304, body: Bytes::new(), request_validators: requested, ..fetched },
                of,
            }
        }
        _ => WarcEntry::Whole(fetched),
    }
}

/// Batch `n` settles page `n` and adds `links` URLs, numbered without gaps; batch 0 also seeds page 0.
pub(super) fn batch(n: u32, links: u32) -> Batch {
    let first = 1 + n * links;
    let follow = |to: u32| Link {
        to: UrlId(to),
        region: Region::Content,
        dom_path: 7,
        scores: LinkScores { anchor: Relevance::new(0.3), ..LinkScores::default() },
        relevance: Relevance::new(0.15),
        decision: LinkDecision::Follow(QueueEntry {
            queue: QueueId(0),
            priority: Priority::new(0.5),
            path: PathState::SEED,
        }),
    };
    let mut events = Vec::new();
    if n == 0 {
        events.push(discovered(0, UrlOrigin::Seed));
        events.push(Event::SeedJudged(follow(0)));
    }
    events.extend((first..first + links).map(|id| discovered(id, UrlOrigin::Link(UrlId(n)))));
    let place = QueueEntry {
        queue: QueueId(1),
        priority: Priority::new(0.25),
        path: PathState { depth: 3, hops: 2, k: TunnelBudget::Left(4), inherited: Relevance::ZERO },
    };
    let page = Page {
        relevance: Relevance::new(0.5),
        title: format!("第{n}页"),
        language: Some("cmn".into()),
        digest: Digest([7; 20]),
        bytes: 1_000,
        terms: vec![TermMatch { term: "足球".into(), count: 3 }],
        sketch: Sketch { chars: 100, ..Sketch::default() },
        ..Page::default()
    };
    events.push(Event::PageFetched(Box::new(PageProcessed {
        links: (first..first + links).map(follow).collect(),
        known: vec![UrlId(0)],
        ..PageProcessed::of(UrlId(n), 200, place, n.is_multiple_of(2), page)
    })));
    Batch { at: Millis(1_700_000_000_123 + u64::from(n) * 1000), latency: None, events }
}

fn discovered(id: u32, origin: UrlOrigin) -> Event {
    Event::Discovered(Discovered { id: UrlId(id), url: url(id), origin, anchor: "体育新闻 更多".into() })
}

pub(super) fn meta() -> Meta {
    Meta::new("体育", "sha1:LEXICON", "dth", Relevance::new(0.5), Millis(1_700_000_000_000))
}

pub(super) fn settings(rotate_at: u64) -> ArchiveSettings {
    let request_headers = vec![("accept".to_owned(), "text/html".to_owned())];
    ArchiveSettings {
        rotate_at,
        user_agent: "suidao/0.1 (+mailto:a@example.cn)".to_owned(),
        request_headers,
        robots: Some(true),
    }
}

/// Opens or resumes the crawl at `root`.
pub(super) fn resume(root: &std::path::Path, rotate_at: u64) -> Result<(Store, WarcArchive), StoreError> {
    let dir = CrawlDirectory::new(root);
    let store = Store::resume(&dir, &meta(), "test")?;
    let archive = WarcArchive::resume(&dir, store.last_location()?, settings(rotate_at))?;
    Ok((store, archive))
}

/// Crawls `pages` of `size` bytes and closes everything.
pub(super) fn crawl(root: &std::path::Path, pages: std::ops::Range<u32>, size: usize, rotate_at: u64) -> Store {
    let (store, archive) = resume(root, rotate_at).unwrap();
    let writer = Writer::spawn(store, archive, |_| {}).unwrap();
    for n in pages {
        writer.submit(Work { batch: batch(n, 3), response: Some(WarcEntry::Whole(fetched(n, size))) }).unwrap();
    }
    writer.finish().unwrap()
}

/// Every WARC file at `root` in order of names, with the URLs of its responses.
pub(super) fn archived(root: &std::path::Path) -> Vec<(String, Vec<String>)> {
    let mut files: Vec<_> = std::fs::read_dir(root.join("pages")).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let urls = |path: &std::path::PathBuf| -> Vec<String> {
        Responses::open(path, 1 << 20).unwrap().map(|fetched| fetched.unwrap().url.to_string()).collect()
    };
    files.iter().map(|path| (path.file_name().unwrap().to_string_lossy().into_owned(), urls(path))).collect()
}

/// Kind and URL of every record of a response in the archive at `root`, complete or not, in order.
pub(super) fn responses(root: &std::path::Path) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for (name, _) in archived(root) {
        let mut text = Vec::new();
        let file = std::fs::File::open(root.join("pages").join(name)).unwrap();
        io::Read::read_to_end(&mut flate2::read::MultiGzDecoder::new(file), &mut text).unwrap();
        let mut rest = &text[..];
        while let Some(head) = warc::RecordHeader::read(&mut rest).unwrap() {
            rest = &rest[usize::try_from(head.length).unwrap()..];
            let kind = head.field("warc-type").unwrap();
            if matches!(kind, "response" | "revisit") {
                found.push((kind.to_owned(), head.field("warc-target-uri").unwrap().to_owned()));
            }
        }
    }
    found
}
