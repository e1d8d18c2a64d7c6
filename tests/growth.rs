//! Time and memory for outside input grow at most linearly with its length.
//!
//! Each case is a piece that is repeated, alone or between others, and read at two lengths, one eight times the other.
//! Time is the thread's own, so that other programs do not count; memory is the peak of allocations. A quadratic step
//! shows as 64 times the time; the bound is 24 times, except for what is too short to be measured. A case over the
//! bound is measured again, and the minimum counts. `SUIDAO_FUZZ_CASES` is the number of random cases of each kind of
//! input.
#![allow(clippy::unwrap_used)] // for tests

use std::io::Write;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use peak_alloc::PeakAlloc;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use rustix::time::{ClockId, clock_gettime};
use suidao::config::Config;
use suidao::crawl::{Crawl, CrawlSettings, FetchKind, FetchOutcome, Robot, outcome};
use suidao::forum::analysis::{ForumAnalysis, posts_of};
use suidao::live;
use suidao::model::{CrawlUrl, Fetched, Millis, UrlId};
use suidao::read::dom::Dom;
use suidao::read::{charset, parse};
use suidao::replay::{TopicalWeb, Web};
use suidao::store::{Responses, WarcIndex};
use suidao::topic::{Lexicon, Topic};

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

/// Memory is measured for the whole process, so one test runs at a time.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Bytes of the short input: of pages, which cost most, and of input that is read faster and needs more to show a
/// difference.
const PAGE: usize = 16 << 10;
const QUICK: usize = 64 << 10;
/// Length of the long input divided by that of the short one.
const TIMES: usize = 8;
/// Permitted growth of time, and seconds that are ignored.
const GROWTH: f64 = 24.0;
const UNSEEN: f64 = 0.03;
/// Measurements before a failure counts.
const TRIES: usize = 10;
/// Permitted bytes of memory per byte of input, in addition to a constant.
const MEMORY_EACH: usize = 120;
const MEMORY_ANY: usize = 64 << 20;

/// Seconds of this thread, and peak bytes.
fn cost(work: impl FnOnce()) -> (f64, usize) {
    let seconds = || {
        let time = clock_gettime(ClockId::ThreadCPUTime);
        #[allow(clippy::cast_precision_loss)] // far below the precision limit
        let seconds = time.tv_sec as f64 + time.tv_nsec as f64 / 1e9;
        seconds
    };
    MEMORY.reset_peak_usage();
    let (before, begun) = (MEMORY.current_usage(), seconds());
    work();
    (seconds() - begun, MEMORY.peak_usage().saturating_sub(before))
}

/// Fails if a long input costs more than its length.
fn grows_with_its_length(name: &str, short: usize, make: &dyn Fn(usize) -> Vec<u8>, read: &dyn Fn(&[u8])) {
    let (short, long) = (make(short), make(short * TIMES));
    // The minimum of some tries; the rest is caused by other programs.
    let (mut least, mut most) = (f64::MAX, f64::MAX);
    for _ in 0..TRIES {
        let (less, _) = cost(|| read(&short));
        let (more, memory) = cost(|| read(&long));
        let allowed = MEMORY_EACH * long.len() + MEMORY_ANY;
        assert!(memory <= allowed, "{name}: {} bytes took {memory} bytes of memory", long.len());
        (least, most) = (least.min(less), most.min(more));
        if most <= GROWTH * least + UNSEEN {
            return;
        }
    }
    panic!("{name}: {} bytes took {most} s, and {} took {least} s", long.len(), short.len());
}

/// `piece` repeated after `head`, with `{}` replaced by a number.
fn repeated(head: &str, piece: &str, bytes: usize) -> Vec<u8> {
    let mut text = String::with_capacity(bytes + piece.len() + 20);
    text.push_str(head);
    let mut number = 0_u32;
    while text.len() < bytes {
        text.push_str(&piece.replace("{}", &number.to_string()));
        number += 1;
    }
    text.into_bytes()
}

fn fetched(path: &str, content_type: &str, body: &[u8]) -> Fetched {
    Fetched {
        url: CrawlUrl::parse(&format!("http://a.cn/{path}")).unwrap(),
        status: 200,
        headers: vec![("content-type".to_owned(), content_type.to_owned())],
        body: body.to_vec().into(),
        wire: None,
        request_validators: None,
        rendered: None,
        unverified: false,
    }
}

fn topic() -> Topic {
    let mut lexicon = Lexicon::from_terms("体育", &[("足球", 1.0), ("World Cup", 0.5), ("球", 0.2)]);
    lexicon.near = vec![("比赛".to_owned(), 0.5)];
    lexicon.url = vec!["sports".to_owned()];
    Topic::new(lexicon)
}

/// Random cases of these pieces, run by `try_one`.
fn random(pieces: &'static [&'static str], try_one: impl Fn(&str, &str)) {
    let cases = std::env::var("SUIDAO_FUZZ_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(4);
    let mut runner = TestRunner::deterministic();
    let some = |most: usize| prop::collection::vec(select(pieces), 1..most).prop_map(|pieces| pieces.concat());
    for _ in 0..cases {
        let (head, piece) = (some(4), some(5)).new_tree(&mut runner).unwrap().current();
        try_one(&head, &piece);
    }
}

const HTML: &[&str] = &[
    "<a href=/{}>足</a> ",
    "<a href=/tags/{}>足球{}</a> ",
    "<a href=\"//[{}\">x</a>",
    "<a href=\"",
    "<base href=\"/x/{}/\">",
    "<b>",
    "<i>",
    "</b>",
    "<p>",
    "</p>",
    "<div>",
    "</div>",
    "<div class=\"a b post comment sidebar\">",
    "<div hidden>",
    "<ul><li>",
    "<li>",
    "<table><tr><td>",
    "<tr>",
    "<td>",
    "<h1>x</h1>",
    "<br>",
    "<pre>\n\t \n",
    "<svg><title>",
    "<math>",
    "<select><option>",
    "<script>",
    "</script>",
    "<script type=\"application/ld+json\">{\"author\":{\"name\":\"x\"},\"datePublished\":\"2020-01-01\"}</script>",
    "\"author\":{\"name\":",
    "<style>",
    "<title>",
    "<textarea>",
    "<noscript>",
    "<meta name=author content=x>",
    "<meta name=robots content=noindex>",
    "<meta http-equiv=refresh content='99;url=/{}'>",
    "<meta property=article:published_time content=2020-01-01>",
    "<link rel=canonical href=/{}>",
    "<link rel=alternate type=application/rss+xml href=/{}>",
    "<time datetime=2020-01-01>1月2日</time>",
    "<time datetime=2020-01-01>",
    "<span class=published>3/4/2020</span>",
    "<div class='comment post-date'>2020 年",
    "<script>{\"publishedAt\":\"2020-01-01\",\"pubDate\":",
    "<span class=author>张三</span>",
    "<img alt=xx src=/{}.png>",
    "<a href=/{}><img alt=x>",
    "</a>",
    "<p a b c d e>",
    "<!--",
    "-->",
    "<!-- x -->",
    "<",
    ">",
    "&amp;&#20013;&nbsp;",
    "作者：张三 ",
    "上一篇：",
    "相关文章",
    "2020-01-01 12:00 ",
    "足球比赛，",
    "World Cup ",
    "\u{200b}",
    "\u{3000}",
    " ",
    "\n",
    "a",
    "，",
    "<div id=post_{} class=post><a href=/u/{}>u</a> 2020-01-01 12:00 <p>x</p></div>",
    "<tr><td><a href=/thread-{}-1-1.html>帖子标题{}</a></td><td><a href=/u/{}>u</a></td><td>3/12</td><td>2020-1-1</td></tr>",
    "<dl><dt>",
    "<iframe src=/{}>",
    "<area href=/{}>",
    "<a name=x>",
    "<article itemprop=articleBody>",
];

fn read_page(topic: &Topic, body: &[u8]) {
    let answer = fetched("x/", "text/html; charset=utf-8", body);
    drop(outcome(&FetchKind::Page(UrlId(0)), Ok(&answer), None, topic, "suidao"));
}

fn read_forum(topic: &Topic, body: &[u8]) {
    let answer = fetched("forum-2-1.html", "text/html; charset=utf-8", body);
    let wanted = FetchKind::Forum(UrlId(0), ForumAnalysis { profile: Arc::default(), at: Millis(1_600_000_000_000) });
    drop(outcome(&wanted, Ok(&answer), None, topic, "suidao"));
    drop(posts_of(&Dom::of(&answer), Default::default(), Millis(0)));
}

#[test]
fn pages_of_one_piece() {
    let _alone = alone();
    let topic = topic();
    for piece in HTML {
        grows_with_its_length(piece, PAGE, &|bytes| repeated("", piece, bytes), &|body| read_page(&topic, body));
    }
}

#[test]
fn pages_of_some_pieces() {
    let _alone = alone();
    let topic = topic();
    random(HTML, |head, piece| {
        let name = format!("{head} and {piece}");
        grows_with_its_length(&name, PAGE, &|bytes| repeated(head, piece, bytes), &|body| read_page(&topic, body));
    });
    let base = format!("<base href=\"/{}/\">", "x".repeat(8_000));
    for piece in ["<a href={}>a</a>", "<a href=\"//[{}\">a</a>", "<a href=\"?{}\" class=x>足球</a>"] {
        grows_with_its_length("a long base", PAGE, &|bytes| repeated(&base, piece, bytes), &|body| {
            read_page(&topic, body)
        });
    }
}

/// The number of links is bounded and their surroundings are not, so growth does not show what each link examines:
/// compare with the same links in blocks of their own.
#[test]
fn links_in_one_block_cost_as_much_as_in_many() {
    let _alone = alone();
    let topic = topic();
    for link in
        ["<a href=/{}>足</a> ", "<a href=/tags/{}>足球{}</a> ", "<a href=/{}><img alt=x></a>", "<a href=/{}>，</a>"]
    {
        let page = |apart: &str| repeated("<p>足球</p>", &format!("{link}{apart}"), 2 << 20);
        let (one, many) = (page("     "), page("<p>  "));
        let (mut least, mut most) = (f64::MAX, f64::MAX);
        let is_cheap = (0..TRIES).any(|_| {
            most = most.min(cost(|| read_page(&topic, &one)).0);
            least = least.min(cost(|| read_page(&topic, &many)).0);
            most <= 3.0 * least + UNSEEN
        });
        assert!(is_cheap, "{link} in one block takes {most} s, in many {least} s");
    }
}

#[test]
fn forums() {
    let _alone = alone();
    let topic = topic();
    let rows = HTML.iter().filter(|piece| piece.contains("post") || piece.contains("thread") || piece.contains("<t"));
    for piece in rows {
        grows_with_its_length(piece, PAGE, &|bytes| repeated("", piece, bytes), &|body| read_forum(&topic, body));
    }
    random(HTML, |head, piece| {
        let name = format!("{head} and {piece}");
        grows_with_its_length(&name, PAGE, &|bytes| repeated(head, piece, bytes), &|body| read_forum(&topic, body));
    });
}

#[test]
fn charsets() {
    let _alone = alone();
    let labels = ["gbk", "gb18030", "big5", "shift_jis", "euc-kr", "euc-jp", "iso-2022-jp", "utf-8", "utf-16le"];
    let pieces: [&[u8]; 7] =
        [b"\xff", b"\x81", b"\x81\x30", b"\xc4\xe3\xff", b"\x1b$B\x21\xff", b"\xe4\xb8", b"<meta charset=gbk"];
    for label in labels {
        for piece in pieces {
            let field = format!("text/html; charset={label}");
            let name = format!("{} as {label}", piece.escape_ascii());
            let make = |bytes: usize| piece.iter().copied().cycle().take(bytes).collect();
            grows_with_its_length(&name, QUICK, &make, &|body| drop(charset::decode(body, Some(&field))));
        }
    }
}

#[test]
fn sitemaps_and_feeds() {
    let _alone = alone();
    const XML: &[&str] = &[
        "<urlset>",
        "<url><loc>http://a.cn/{}</loc></url>",
        "<url>",
        "<loc>",
        "<rss><channel>",
        "<item><link>http://a.cn/{}</link><title>x</title></item>",
        "<item>",
        "<description>&lt;b&gt;x",
        "<feed xml:base=\"/x/y/z/\">",
        "<entry xml:base=\"x/\"><link href=\"{}\"/>",
        "<entry>",
        "<![CDATA[",
        "]]>",
        "<!--",
        "&amp;",
        "&b;",
        "<a b='1' c='2'>",
        "</a>",
        "<",
        "x",
        "http://a.cn/{}\n",
    ];
    let topic = topic();
    let read = |body: &[u8]| {
        let answer = fetched("sitemap.xml", "text/xml", body);
        drop(outcome(&FetchKind::Sitemap(UrlId(0)), Ok(&answer), None, &topic, "suidao"));
    };
    for head in ["<urlset>", "<rss><channel>", "<feed>", ""] {
        for piece in XML {
            let name = format!("{head} and {piece}");
            grows_with_its_length(&name, QUICK, &|bytes| repeated(head, piece, bytes), &read);
        }
    }
    random(XML, |head, piece| {
        grows_with_its_length(&format!("{head} and {piece}"), QUICK, &|bytes| repeated(head, piece, bytes), &read);
    });
    let base = format!("<feed xml:base=\"/{}/\">", "x".repeat(4_000));
    let piece = "<entry><link href=\"{}\"/></entry>";
    grows_with_its_length("a long base", QUICK, &|bytes| repeated(&base, piece, bytes), &read);
}

#[test]
fn archives() {
    let _alone = alone();
    let zip = |bytes: &[u8]| {
        let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        packed.write_all(bytes).unwrap();
        packed.finish().unwrap()
    };
    let head =
        "WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: http://a.cn/{}\r\nContent-Type: application/http\r\n";
    let record = format!("{head}Content-Length: 30\r\n\r\nHTTP/1.1 200 OK\r\n\r\n<p>{{}}");
    let lengths = ["1", "40", "3000", "70000", "600000", "5000000", "99999999999"];
    let mut pieces: Vec<String> =
        lengths.map(|length| format!("{head}Content-Length: {length}\r\n\r\nx\r\n\r\n")).into();
    pieces.extend(
        [
            "WARC/1.0\r\n",
            "WARC/1.0\r\nA: b\r\n",
            "WARC/",
            "\r\n",
            "x",
            "\0",
            &record,
            "WARC/1.0\nContent-Length: 0\n\n",
        ]
        .map(str::to_owned),
    );
    let path = tempfile::tempdir().unwrap();
    let path = path.path().join("x.warc");
    let read = |bytes: &[u8]| {
        std::fs::write(&path, bytes).unwrap();
        let Ok(responses) = Responses::open(&path, 100_000) else { return };
        responses.for_each(drop);
        drop(WarcIndex::open(vec![path.clone()], 100_000, |_| ()));
    };
    for piece in &pieces {
        let name = format!("plain: {piece:?}");
        grows_with_its_length(&name, QUICK, &|bytes| repeated(&record, piece, bytes), &read);
        grows_with_its_length(&format!("zip, {name}"), QUICK, &|bytes| zip(&repeated(&record, piece, bytes)), &read);
    }
    // Frames that do not end, are empty, contain each other, or unpack to much.
    let stored = |length: u16| {
        [&[0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 0][..], &length.to_le_bytes(), &(!length).to_le_bytes()].concat()
    };
    let raw = |length: u32| [&[0x28, 0xb5, 0x2f, 0xfd, 0, 0x58][..], &(length << 3).to_le_bytes()[..3]].concat();
    let frames: Vec<(&str, Vec<u8>)> = vec![
        ("members that do not end", zip(record.as_bytes())[..60].to_vec()),
        ("empty members", zip(b"")),
        ("members", zip(record.as_bytes())),
        ("members with other content", zip(b"<html>")),
        ("members within each other", [stored(u16::MAX), b"WARC/1.0\r\n".to_vec()].concat()),
        ("large members", zip(&[b"WARC/1.0\r\nContent-Length: 9\r\n\r\n".to_vec(), vec![0; 1 << 16]].concat())),
        ("gzip magic", vec![0x1f, 0x8b, 8]),
        ("zstd frames within each other", [raw(100_000), b"WARC/1.0\r\n".to_vec()].concat()),
        ("zstd magic", vec![0x28, 0xb5, 0x2f, 0xfd]),
        ("zstd frames", zstd::encode_all(record.as_bytes(), 1).unwrap()),
    ];
    for (name, frame) in &frames {
        let first =
            if frame[0] == 0x1f { zip(record.as_bytes()) } else { zstd::encode_all(record.as_bytes(), 1).unwrap() };
        for first in [first, Vec::new()] {
            let make = |bytes: usize| [first.clone(), frame.repeat(bytes / frame.len())].concat();
            grows_with_its_length(name, QUICK, &make, &read);
        }
    }
    // A bomb costs no memory: no record in it is larger than the limit.
    let bomb = zip(&[record.as_bytes(), &vec![b'x'; 100 << 20]].concat());
    let (_, memory) = cost(|| read(&bomb));
    assert!(memory < 40 << 20, "{memory} bytes");
}

#[test]
fn robots() {
    let _alone = alone();
    const LINES: &[&str] = &[
        "User-agent: *\n",
        "User-agent: suidao\n",
        "User-agent: {}\n",
        "Disallow: /{}\n",
        "Disallow: /*a*b*c*{}$\n",
        "Allow: /a\n",
        "Crawl-delay: 1\n",
        "Sitemap: http://a.cn/{}\n",
        "*",
        "/",
        "%41",
        "#",
        "\n",
        "Disallow: ",
        ":",
    ];
    let long = format!("http://a.cn/{}", "abc".repeat(2_000));
    let read = |body: &[u8]| {
        let robot = Robot::new("suidao", body);
        let _ = (robot.allowed("http://a.cn/abc"), robot.allowed(&long));
    };
    for line in LINES {
        let head = "User-agent: *\n";
        grows_with_its_length(line, QUICK, &|bytes| repeated(head, line, bytes), &read);
    }
    random(LINES, |head, line| {
        grows_with_its_length(&format!("{head} and {line}"), QUICK, &|bytes| repeated(head, line, bytes), &read);
    });
}

#[test]
fn lexicons() {
    let _alone = alone();
    let page = ["足球 比赛 word {} World Cup ", "word ", "a "].map(|words| words.repeat(2_000)).concat();
    let read = |text: &[u8]| {
        if let Ok(lexicon) = Lexicon::parse(std::str::from_utf8(text).unwrap()) {
            drop(outcome(
                &FetchKind::Page(UrlId(0)),
                Ok(&fetched("x/", "text/html; charset=utf-8", page.as_bytes())),
                None,
                &Topic::new(lexicon),
                "suidao",
            ));
        }
    };
    let head = "format = 1\nname = \"x\"\n[terms]\n";
    for term in ["足球{}", "word {}", "word{}", "{} word", "a b c d e f g {}", "足足足足足足{}", "{}", "C++ {}"]
    {
        let line = format!("\"{term}\" = 1.0\n");
        grows_with_its_length(term, PAGE, &|bytes| repeated(head, &line, bytes), &read);
        let near = format!("{head}\"足球\" = 1.0\n[near]\n");
        grows_with_its_length(term, PAGE, &|bytes| repeated(&near, &line, bytes), &read);
    }
    // Of one, two, three and more words with a common beginning.
    let nested = |bytes: usize| {
        let lines: String = (0..bytes / 60).map(|n| format!("\"{}x{n}\" = 1.0\n", "a ".repeat(1 + n % 40))).collect();
        format!("{head}{lines}").into_bytes()
    };
    grows_with_its_length("phrases that begin alike", PAGE, &nested, &read);
    let long = |bytes: usize| format!("{head}\"{}\" = 1.0\n", "word ".repeat(bytes / 5)).into_bytes();
    grows_with_its_length("one long term", PAGE, &long, &read);
    let tokens = |bytes: usize| {
        let tokens: Vec<String> = (0..bytes / 12).map(|n| format!("\"token{n}\"")).collect();
        format!("format = 1\nname = \"x\"\n[url]\ntokens = [{}]\n[terms]\n\"足球\" = 1.0\n", tokens.join(","))
            .into_bytes()
    };
    grows_with_its_length("tokens of URLs", PAGE, &tokens, &read);
}

#[test]
fn configurations() {
    let _alone = alone();
    let read = |text: &[u8]| {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), text).unwrap();
        drop(Config::load(Some(file.path()), &[]));
    };
    for (head, piece) in [
        ("[scope]\nallow_hosts = [", "\"h{}.cn\",\n"),
        ("[scope]\ndeny_extensions = [", "\".e{}\",\n"),
        ("", "[[fetch.credentials]]\norigin = \"a{}.cn\"\nbearer = \"x\"\n"),
        ("[fetch]\nallow_addresses = [", "\"10.0.0.1\",\n"),
        ("", "[x{}]\n"),
        ("", "a{} = 1\n"),
        ("x = ", "["),
        ("", "\n"),
    ] {
        let end = if head.ends_with('[') { "]\n" } else { "" };
        let make = |bytes: usize| [repeated(head, piece, bytes), end.as_bytes().to_vec()].concat();
        grows_with_its_length(&format!("{head}{piece}"), QUICK, &make, &read);
    }
}

/// Bytes that one page may add to the log.
const LOGGED: usize = 4 << 20;

/// A host with only this page.
struct OnePage(Fetched);

impl Web for OnePage {
    fn get(&self, url: &CrawlUrl) -> Result<Fetched, suidao::model::Failure> {
        let own = url == &self.0.url;
        let other = || Fetched { url: url.clone(), status: 404, body: Vec::new().into(), ..self.0.clone() };
        Ok(if own { self.0.clone() } else { other() })
    }
}

/// Bytes of the largest batch of a crawl that starts with this page.
fn logged(page: Fetched, sets: &[&str]) -> usize {
    let sets: Vec<String> = sets.iter().map(|&set| set.to_owned()).collect();
    let topic = topic();
    let config = Config::load(None, &sets).unwrap();
    let settings: CrawlSettings = live::crawl_settings(&config, &topic);
    let strategy = config.strategy.build(settings.page_threshold);
    let mut crawl = Crawl::new(settings, strategy);
    let (seed, web) = (page.url.clone(), OnePage(page));
    let (mut largest, mut batches) = (0, 0);
    suidao::replay::replay_while(&mut crawl, &[seed], &TopicalWeb { web: &web, topic: &topic }, 1, |batch| {
        largest = largest.max(postcard::to_stdvec(&batch).unwrap().len());
        batches += 1;
        // The rest are missing pages.
        if batches > 40 { std::ops::ControlFlow::Break(()) } else { std::ops::ControlFlow::Continue(()) }
    });
    assert!(batches > 2, "it was fetched");
    largest
}

#[test]
fn no_page_makes_the_log_large() {
    let _alone = alone();
    let words = "足球比赛 ".repeat(40);
    let far = "x".repeat(7_000);
    let pages: Vec<(&str, String)> = vec![
        ("long base", format!("<base href=\"/{far}/\">{}", (0..50_000).map(|n| format!("<a href={n}>{words}</a>")).collect::<String>())),
        ("base of 100 KB", format!("<base href=\"/{}/\">{}", far.repeat(15), "<a href=1>x</a>".repeat(5_000))),
        ("long links", (0..50_000).map(|n| format!("<a href=/{n}/{}>{words}</a>", "x".repeat(150))).collect()),
        ("links over max_url_length", (0..5_000).map(|n| format!("<a href=/{n}/{far}>{words}</a>")).collect()),
        ("one link of 9 MB", format!("<a href=/{}>x</a>", "x".repeat(9_000_000))),
        ("a refresh of 9 MB", format!("<meta http-equiv=refresh content='0;url=/{}'>", "x".repeat(9_000_000))),
        ("many hosts", (0..50_000).map(|n| format!("<a href=http://{}{n}.cn/>{words}</a>", "h".repeat(50))).collect()),
        ("title", format!("<title>{}</title><p>x", "题".repeat(2_000_000))),
        ("title when shared", format!("<meta property=og:title content='{}'><p>x", "题".repeat(2_000_000))),
        ("author", format!("<meta name=author content='{}'><p>x", "人".repeat(2_000_000))),
        ("language", format!("<html lang='{}'><p>x", "x".repeat(2_000_000))),
        ("canonical", format!("<link rel=canonical href='/{}'><p>x", "x".repeat(8_000))),
        ("feeds", (0..10_000).map(|n| format!("<link rel=alternate type=application/rss+xml href=/{n}/{far}>")).collect()),
        ("tags", (0..50_000).map(|n| format!("<a href=/tags/{n}>{words}</a><p>x</p>")).collect()),
        (
            "threads",
            (0..20_000)
                .map(|n| format!("<table><tr><td><a href=/thread-{n}-1-1.html>{words}{n}</a><td><a href=/u/{n}>{words}</a><td>3/12<td>2020-1-1 12:00</table>"))
                .collect(),
        ),
    ];
    let fields = [
        ("content-type", "text/html; charset=utf-8".to_owned()),
        ("etag", format!("\"{}\"", "x".repeat(100_000))),
        ("last-modified", "x".repeat(100_000)),
        ("link", format!("</{}>; rel=canonical", "x".repeat(100_000))),
        ("refresh", format!("99;url=/{}", "x".repeat(100_000))),
    ];
    let headers: Vec<_> = fields.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
    for (name, body) in pages {
        let longest = ["strategy.name=\"breadth-first\"", "scope.max_url_length=8192"];
        for (path, sets) in [("", &[][..]), ("forum-2-1.html", &longest)] {
            let page = Fetched { headers: headers.clone(), ..fetched(path, "", body.as_bytes()) };
            let bytes = logged(page, sets);
            assert!(bytes <= LOGGED, "{name}: {bytes} bytes");
        }
    }
    // The reason contains the media type.
    let page = fetched("", &"x".repeat(400_000), b"x");
    assert!(logged(page, &[]) < 10_000);
    // The target of the redirect.
    for (status, field) in [(302, "location"), (200, "refresh")] {
        let headers = vec![(field.to_owned(), format!("0;url=http://b.cn/{}", "x".repeat(400_000)))];
        assert!(logged(Fetched { status, headers, ..fetched("", "", b"x") }, &[]) < 10_000);
    }
}

#[test]
fn what_is_read_of_a_page_is_bounded() {
    let _alone = alone();
    let page = fetched("", "text/html", &repeated("", "<a href=/{}>x</a>", 4 << 20));
    let parsed = parse(&page);
    assert!(parsed.document.links.len() <= 5_000);
    let FetchOutcome::Page { page, .. } = outcome(&FetchKind::Page(UrlId(0)), Ok(&page), None, &topic(), "suidao")
    else {
        panic!("it is a page")
    };
    assert!(page.outlinks.len() <= 5_000 && page.defects.contains(&suidao::model::Defect::CutShort));
}
