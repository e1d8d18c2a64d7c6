//! Random input for every parser of outside data: all bytes must be accepted without a panic.
//!
//! Pages have such tests in `read/`; cookies, robots.txt and addresses in their files. `SUIDAO_FUZZ_CASES` is the
//! number of cases each, by default 100.

use std::io::Write as _;

use bytes::Bytes;
use proptest::prelude::*;
use proptest::sample::select;
use url::Url;

use crate::config::Config;
use crate::crawl::Robot;
use crate::extract::Extractor;
use crate::fetch::retry_after;
use crate::model::{CrawlUrl, Fetched, Millis};
use crate::read::dom::Dom;
use crate::read::{charset, coding, read_sitemap};
use crate::store::{Record, Responses};
use crate::topic::Lexicon;

fn config() -> ProptestConfig {
    let cases = std::env::var("SUIDAO_FUZZ_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(100);
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

/// Text of these pieces, of any characters, or of both.
fn pieces(pieces: &'static [&'static str]) -> impl Strategy<Value = String> {
    let piece = prop_oneof![8 => select(pieces).prop_map(str::to_owned), 2 => "\\PC{0,6}", 1 => "[ -~]{0,9}"];
    prop::collection::vec(piece, 0..14).prop_map(|pieces| pieces.concat())
}

/// `text` with some bytes changed, left out or repeated.
fn damaged(text: &'static [u8]) -> impl Strategy<Value = Vec<u8>> {
    let change = (any::<prop::sample::Index>(), any::<u8>(), 0..4_u8, 1..40_usize);
    prop::collection::vec(change, 0..6).prop_map(move |changes| {
        let mut bytes = text.to_vec();
        for (at, byte, kind, length) in changes {
            if bytes.is_empty() {
                break;
            }
            let at = at.index(bytes.len());
            let end = (at + length).min(bytes.len());
            match kind {
                0 => bytes[at] = byte,
                1 => drop(bytes.drain(at..end)),
                2 => {
                    let again = bytes[at..end].to_vec();
                    bytes.splice(at..at, again);
                }
                _ => bytes.truncate(end),
            }
        }
        bytes
    })
}

const FIELDS: &str = "[[fields]]\nname = \"a\"\nselect = \"div.a > b, td:nth-child(2n+1) + td\"\ntake = \"attr:href\"\ntype = \"url\"\nmany = true\n\
    [[fields]]\nname = \"b\"\njsonld = \"a.b\"\nmicrodata = \"x\"\ntype = \"number\"\n[[pages]]\nhosts = [\"a.cn\"]\ncontent = \"div\"\ndrop = [\"b\"]\n";

const URLS: &[&str] = &[
    "http://",
    "https://",
    "HTTP:/",
    "http:",
    "//",
    "/",
    "\\",
    "a.cn",
    "A.Cn.",
    "xn--fiqs8s.cn",
    "中国.cn",
    "127.0.0.1",
    "0x7f.1",
    "2130706433",
    "[::1]",
    "[::ffff:1.2.3.4]",
    "[",
    "]",
    ":80",
    ":443",
    ":8080",
    ":",
    ":99999",
    "@",
    "user:pw@",
    "?",
    "#",
    "&",
    "=",
    "a=b",
    "sid=1",
    "utm_source=x",
    "%",
    "%2",
    "%2f",
    "%2e",
    "%2E%2e",
    "%41",
    "%e4%b8%ad",
    "%ff",
    "%00",
    "..",
    ".",
    "/../",
    "/./",
    "//",
    ";",
    ";jsessionid=1A",
    ";JSESSIONID=",
    "\t",
    "\n",
    " ",
    "\u{3000}",
    "\0",
    "中",
    "é",
    "'",
    "\"",
    "<",
    "|",
    "*",
    "$",
    "javascript:",
    "data:",
    "file:///",
    "ftp://",
    "%c0%af",
    "\u{ff0f}",
    "\u{3002}",
    "\u{ad}",
    "localhost",
    "-",
    "_",
    "~",
    "index.html",
];

/// What every URL in normal form satisfies.
fn is_normal(url: &CrawlUrl) -> Result<(), TestCaseError> {
    let again = CrawlUrl::parse(url.as_str());
    prop_assert_eq!(again.as_ref(), Ok(url), "normal form is a fixed point");
    let standard = Url::parse(url.as_str());
    prop_assert!(standard.is_ok(), "{} is not a URL", url);
    let standard = standard.expect("looked at");
    prop_assert_eq!(standard.as_str(), url.as_str(), "the standard's spelling");
    prop_assert_eq!(standard.host_str(), Some(url.host()));
    prop_assert_eq!((standard.path(), standard.query()), (url.path(), url.query()));
    prop_assert!(matches!(url.scheme(), "http" | "https") && standard.fragment().is_none());
    prop_assert!(standard.username().is_empty() && standard.password().is_none());
    prop_assert_eq!(CrawlUrl::parse(url.robots().as_str()), Ok(url.robots()));
    prop_assert_eq!(url.to_url(), standard);
    let json = serde_json::to_string(url).expect("a string");
    prop_assert_eq!(&serde_json::from_str::<CrawlUrl>(&json).expect("as written"), url);
    Ok(())
}

fn fetched(path: &str, headers: &[(&str, &str)], body: Vec<u8>) -> Fetched {
    Fetched {
        url: CrawlUrl::parse(&format!("http://a.cn/{path}")).expect("an ordinary one"),
        status: 200,
        headers: headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect(),
        body: Bytes::from(body),
        wire: None,
        request_validators: None,
        rendered: None,
        unverified: false,
    }
}

const ROBOTS: &[&str] = &[
    "User-agent:",
    "user-agent",
    "*",
    "suidao",
    "\n",
    "\r\n",
    "\r",
    "Disallow:",
    "Allow:",
    "Crawl-delay: ",
    "Sitemap: ",
    "/",
    "/a",
    "*",
    "$",
    "%2f",
    "%41",
    "%",
    "#",
    " ",
    "\u{feff}",
    "\0",
    "中",
    ":",
    "1e99",
    "-1",
    "9.9.9",
    "http://a.cn/s.xml",
    "?",
    "=",
    "&",
];

const XML: &[&str] = &[
    "<?xml version=\"1.0\" encoding=\"gbk\"?>",
    "<urlset>",
    "<sitemapindex>",
    "<url>",
    "<loc>",
    "</loc>",
    "</url>",
    "http://a.cn/x",
    "<lastmod>",
    "2024-01-01",
    "2024-01-01T00:00:00+08:00",
    "</lastmod>",
    "<priority>",
    "0.5",
    "<rss>",
    "<channel>",
    "<item>",
    "<link>",
    "</link>",
    "<link href='x'/>",
    "<pubDate>",
    "Mon, 01 Jan 2024 00:00:00 GMT",
    "<feed>",
    "<entry>",
    "<updated>",
    "<![CDATA[",
    "]]>",
    "<!--",
    "-->",
    "<!DOCTYPE a [<!ENTITY b \"&b;&b;\">]>",
    "&b;",
    "&amp;",
    "&#x",
    "&#0;",
    "&#55296;",
    "<",
    ">",
    "</",
    "/>",
    "\n",
    "changefreq",
    "<a:loc xmlns:a=''>",
    "\u{feff}",
    "9999-99-99",
    "-1",
];

const LEXICON: &str = "format = 1\nname = \"体育\"\nlanguage = \"zh\"\n\n[thresholds]\npage = 0.1\nlink = 0.1\n\n\
    [[terms]]\nterm = \"足球\"\nweight = 1.0\n\n[[terms]]\nterm = \"比赛\"\nweight = 0.5\n";

const CONFIG: &str = "[crawl]\nin_flight = 64\n[politeness]\ndelay = 1.0\n[limits]\npages = 10\n[scope]\nallow_hosts = ['a.cn']\n\
    [fetch]\ntimeout = 1.5\nproxy = 'http://a:b@c'\nallow_addresses = ['10.0.0.1']\n[[fetch.credentials]]\norigin = 'a.cn'\nbearer = 'x'\n";

const WARC: &[u8] = b"WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: http://a.cn/a\r\n\
    Content-Type: application/http; msgtype=response\r\nContent-Length: 83\r\n\r\n\
    HTTP/1.1 200\r\nContent-Type: text/html\r\nTransfer-Encoding: chunked\r\n\r\n4\r\n<p>a\r\n0\r\n\r\n\r\n\r\n\
    WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: http://a.cn/c\r\n\
    Content-Type: application/http\r\nContent-Length: 22\r\n\r\nHTTP/1.0 404 Not\r\n\r\nno\r\n\r\n";

proptest! {
    #![proptest_config(config())]

    #[test]
    fn urls(text in pieces(URLS), reference in pieces(URLS), any: String) {
        for text in [&text, &format!("http://a.cn/{text}"), &format!("http://{text}"), &any] {
            let Ok(url) = CrawlUrl::parse(text) else { continue };
            is_normal(&url)?;
            // The normal form has the same host: address checks and requests must agree.
            let raw = Url::parse(text.trim());
            let host = raw.as_ref().ok().and_then(Url::host_str).map(|host| host.trim_end_matches('.'));
            prop_assert_eq!(host, Some(url.host().trim_end_matches('.')), "{:?}", text);
            if let Ok(joined) = url.join(&reference) {
                is_normal(&joined)?;
                let slashes = ['/', '\\'];
                // The parser reads a third slash as an empty host; the standard skips it.
                let host = reference.trim().strip_prefix(slashes).and_then(|rest| rest.strip_prefix(slashes));
                let host = host.map(|rest| format!("//{}", rest.trim_start_matches(slashes)));
                let standard = url.to_url().join(host.as_deref().unwrap_or(reference.trim())).ok();
                let host = standard.as_ref().and_then(Url::host_str).map(|host| host.trim_end_matches('.'));
                prop_assert_eq!(host, Some(joined.host().trim_end_matches('.')), "{:?} on {}", reference, url);
            }
            if let Some(other) = url.under(!url.is_https()) {
                is_normal(&other)?;
            }
        }
    }

    #[test]
    fn robots(text in pieces(ROBOTS), bytes: Vec<u8>, url in pieces(URLS), agent in "[ -~]{0,9}") {
        for text in [text.as_bytes(), &bytes, &[text.as_bytes(), &bytes].concat()] {
            let robot = Robot::new(&agent, text);
            let ruling = robot.ruling(&url);
            prop_assert!(ruling.allowed || ruling.line.is_some());
            prop_assert_eq!(ruling.rule(text).is_some(), ruling.line.is_some());
            prop_assert!(robot.allowed("http://a.cn/robots.txt"));
            prop_assert!(robot.delay.is_none_or(|delay| delay.is_finite() && delay >= 0.0));
        }
    }

    #[test]
    fn charsets(bytes: Vec<u8>, label in select(&["gbk", "utf-8", "big5", "utf-16", "utf-7", "x-user-defined", "iso-2022-jp", "\u{0}", ""][..]),
        pairs in prop::collection::vec((0x81..=0xfe_u8, 0x30..=0xfe_u8), 0..40)) {
        let pairs: Vec<u8> = pairs.into_iter().flat_map(|(high, low)| [high, low]).collect();
        let meta = format!("<meta charset={label}>").into_bytes();
        let field = format!("text/html; charset={label}");
        for body in [&bytes, &pairs, &[&meta[..], &pairs, &bytes].concat(), &[b"\xff\xfe", &bytes[..]].concat()] {
            for content_type in [None, Some(field.as_str())] {
                drop(charset::decode(body, content_type));
            }
        }
    }

    #[test]
    fn codings(names in prop::collection::vec(select(&["gzip", "br", "zstd", "deflate", "x-gzip", "identity", "", "*"][..]), 0..7),
        bytes: Vec<u8>, wrap in 0..5_usize, flip in any::<prop::sample::Index>(), to: u8, limit in 1..5000_usize) {
        use crate::read::coding::packed::{brotli, gzip, raw_deflate, zlib, zstd};
        let plain = bytes.repeat(9);
        let mut packed = match wrap {
            0 => gzip(&plain),
            1 => zlib(&plain),
            2 => raw_deflate(&plain),
            3 => brotli(&plain),
            _ => zstd(&plain),
        };
        let at = flip.index(packed.len());
        packed[at] = to;
        for wire in [&bytes, &packed] {
            if let Ok(Some(coding::Unpacked { body, .. })) = coding::unpack(&names.join(","), wire, limit) {
                prop_assert!(body.len() <= limit);
            }
        }
    }

    #[test]
    fn sitemaps_and_feeds(text in pieces(XML), bytes: Vec<u8>) {
        for body in [text.clone().into_bytes(), bytes.clone(), [text.as_bytes(), &bytes].concat(), text.repeat(20).into_bytes()] {
            let packed = coding::packed::gzip(&body);
            for (path, body) in [("sitemap.xml", body.clone()), ("sitemap.xml.gz", packed), ("list.txt", body)] {
                let found = read_sitemap(&fetched(path, &[], body));
                for page in &found.pages {
                    is_normal(&page.url)?;
                }
            }
        }
    }

    #[test]
    fn archives(damaged in damaged(WARC), bytes: Vec<u8>, pack: bool) {
        for text in [&damaged, &bytes, &[b"WARC/1.1\r\n", &bytes[..]].concat()] {
            let mut file = tempfile::NamedTempFile::new().expect("a file");
            let content = if pack { coding::packed::gzip(text) } else { text.clone() };
            file.write_all(&content).expect("written");
            if let Ok(pages) = Responses::open(file.path(), 1000) {
                let pages: Vec<_> = pages.collect();
                prop_assert!(pages.iter().all(Result::is_ok) && pages.len() <= text.len() / 20 + 1);
            }
        }
    }

    #[test]
    fn lexicons(damaged in damaged(LEXICON.as_bytes()), any: String) {
        for text in [String::from_utf8_lossy(&damaged).into_owned(), any] {
            if let Ok(lexicon) = Lexicon::parse(&text) {
                let again = Lexicon::parse(&lexicon.to_toml());
                prop_assert_eq!(again.ok().map(|again| again.to_toml()), Some(lexicon.to_toml()));
            }
        }
    }

    #[test]
    fn configurations(damaged in damaged(CONFIG.as_bytes()), any: String, key in "[a-z_.]{0,20}", value in "\\PC{0,12}") {
        for text in [damaged, any.into_bytes()] {
            let mut file = tempfile::NamedTempFile::new().expect("a file");
            file.write_all(&text).expect("written");
            for sets in [vec![], vec![format!("fetch.{key}={value}")], vec![format!("{key}={value}"), value.clone()]] {
                if let Ok(config) = Config::load(Some(file.path()), &sets) {
                    prop_assert!(config.check().is_ok());
                    prop_assert!(toml::to_string(&config.without_secrets()).is_ok());
                }
            }
        }
    }

    #[test]
    fn records_of_the_log(bytes: Vec<u8>, long in prop::collection::vec(any::<u8>(), 0..2000)) {
        for bytes in [bytes, long] {
            drop(postcard::from_bytes::<Record>(&bytes));
        }
    }

    #[test]
    fn extraction_rules(rules in damaged(FIELDS.as_bytes()), page in pieces(&["<div class=a>", "<b>1,299", "</div>", "<table><td>", "<script type=application/ld+json>", "{\"a\": [1]}", "</script>", "<base href=", "<a href=x>"])) {
        for rules in [String::from_utf8_lossy(&rules).as_ref(), FIELDS] {
            if let Ok(extractor) = Extractor::parse(rules) {
                let url = CrawlUrl::parse("http://a.cn/").expect("the URL is valid");
                extractor.extract(&Dom::of(&Fetched::html(url, page.clone())));
            }
        }
    }

    #[test]
    fn waits(text in pieces(&["Mon, ", "01 Jan 2024 ", "00:00:00 ", "GMT", "120", "-", ".", "1e9", "Monday, 01-Jan-24 ", "9999999999999999999", "+0800"])) {
        let answer = Fetched { status: 503, ..fetched("", &[("retry-after", &text)], Vec::new()) };
        prop_assert!(retry_after(&answer, Millis(0)).is_none_or(|wait| wait <= 86_400_000));
    }
}
