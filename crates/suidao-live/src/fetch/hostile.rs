//! The fetcher against hostile servers: time and bytes are bounded, and the page fails.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::io::AsyncWriteExt;
use tokio::net::TcpListener;

use super::guard::Lookup;
use super::loopback::{Act, HELLO, LoopbackServer, failing, get, local, packed, response};
use super::{FetchSettings, Fetcher};
use suidao_page::model::{CrawlUrl, FailureKind};
use suidao_page::read::coding::packed::{brotli, gzip, zlib, zstd};

/// Short time limits, so that tests of slow servers are fast.
fn impatient() -> FetchSettings {
    FetchSettings { read_timeout: 2.0, timeout: 3.0, ..local() }
}

/// A resolver that returns the responses in turn and then repeats the last; counts the lookups.
fn names(responses: &'static [&'static [&'static str]]) -> (Lookup, Arc<Mutex<usize>>) {
    let requested = Arc::new(Mutex::new(0));
    let count = Arc::clone(&requested);
    let lookup: Lookup = Arc::new(move |_| {
        let mut count = count.lock().unwrap();
        let response = responses[(*count).min(responses.len() - 1)];
        *count += 1;
        Box::pin(async move { Ok(response.iter().map(|ip| SocketAddr::new(ip.parse().unwrap(), 0)).collect()) })
    });
    (lookup, requested)
}

/// Two servers under one name and port: the permitted one at 127.0.0.1, the victim at 127.0.0.2.
async fn pair(act: Act) -> (LoopbackServer, LoopbackServer, FetchSettings) {
    let good = LoopbackServer::start(act).await;
    let victim = SocketAddr::new("127.0.0.2".parse().unwrap(), good.address.port());
    let victim = LoopbackServer::start_at(victim, Act::Keep(response("200 OK", "", b"secret"))).await;
    let settings = FetchSettings { allow_addresses: vec!["127.0.0.1".parse().unwrap()], ..FetchSettings::default() };
    (good, victim, settings)
}

#[tokio::test]
async fn what_was_checked_is_what_is_connected_to() {
    // The response changes between check and connect: there is no second lookup.
    let (good, victim, settings) = pair(Act::Close(response("200 OK", "Connection: close\r\n", HELLO))).await;
    let (lookup, requested) = names(&[&["127.0.0.1"], &["127.0.0.2"]]);
    let fetcher = Fetcher::with_names(&settings, &lookup).unwrap();
    let url = CrawlUrl::parse(&format!("http://rebind.cn:{}/", good.address.port())).unwrap();
    assert_eq!(fetcher.fetch(&url, None).await.unwrap().body, HELLO);
    assert_eq!(*requested.lock().unwrap(), 1);
    // The next connection causes a new lookup, which is checked again.
    assert_eq!(fetcher.fetch(&url, None).await.unwrap_err().kind, FailureKind::PrivateAddress);
    assert_eq!((good.heads().len(), *victim.connections.lock().unwrap()), (1, 0));

    // Of two addresses in one response only the permitted one is contacted.
    let (good, victim, settings) = pair(Act::Close(response("200 OK", "Connection: close\r\n", HELLO))).await;
    let (lookup, _) = names(&[&["127.0.0.2", "::1", "127.0.0.1"]]);
    let fetcher = Fetcher::with_names(&settings, &lookup).unwrap();
    let url = CrawlUrl::parse(&format!("http://both.cn:{}/", good.address.port())).unwrap();
    for _ in 0..3 {
        assert_eq!(fetcher.fetch(&url, None).await.unwrap().body, HELLO);
    }
    assert_eq!((good.heads().len(), *victim.connections.lock().unwrap()), (3, 0));
}

#[tokio::test]
async fn a_reused_connection_keeps_its_checked_address_and_alternative_services_are_ignored() {
    let elsewhere = "Alt-Svc: h2=\"127.0.0.2:80\"; ma=9999, h3=\":443\"\r\n";
    let (good, victim, settings) = pair(Act::Keep(response("200 OK", elsewhere, HELLO))).await;
    let (lookup, requested) = names(&[&["127.0.0.1"], &["127.0.0.2"]]);
    let fetcher = Fetcher::with_names(&settings, &lookup).unwrap();
    let url = CrawlUrl::parse(&format!("http://rebind.cn:{}/", good.address.port())).unwrap();
    for _ in 0..3 {
        assert_eq!(fetcher.fetch(&url, None).await.unwrap().body, HELLO);
    }
    assert_eq!((*requested.lock().unwrap(), *good.connections.lock().unwrap()), (1, 1));
    assert_eq!(*victim.connections.lock().unwrap(), 0);
}

#[tokio::test]
async fn metadata_stays_refused_where_private_addresses_are_allowed() {
    let (lookup, _) = names(&[&["169.254.169.254", "fd00:ec2::254", "fe80::1", "::ffff:169.254.169.254"]]);
    let fetcher = Fetcher::with_names(&local(), &lookup).unwrap();
    for url in ["http://names.cn/", "http://169.254.169.254/latest/", "https://[fd00:ec2::254]/", "http://2852039166/"]
    {
        let failure = fetcher.fetch(&CrawlUrl::parse(url).unwrap(), None).await.unwrap_err();
        assert_eq!(failure.kind, FailureKind::PrivateAddress, "{url}");
    }
}

#[tokio::test]
async fn floods_of_header_fields_end() {
    let head = b"HTTP/1.1 200 OK\r\n".to_vec();
    let pause = Duration::from_millis(1);
    for (what, act) in [
        ("fields without end", Act::Drip(head.clone(), b"X: y\r\n".repeat(50), pause)),
        ("a field without end", Act::Drip(b"HTTP/1.1 200 OK\r\nX: ".to_vec(), vec![b'x'; 8192], pause)),
        ("a name without end", Act::Drip(head.clone(), vec![b'x'; 8192], pause)),
        ("a reason without end", Act::Drip(b"HTTP/1.1 200 ".to_vec(), vec![b'x'; 8192], pause)),
        ("cookies without end", Act::Drip(head, b"Set-Cookie: a=b\r\n".repeat(50), pause)),
    ] {
        assert_eq!(failing(&local(), act).await, FailureKind::TooLarge, "{what}");
    }
    // One large cookie is harmless.
    let cookie = format!("Set-Cookie: a={}\r\n", "x".repeat(200_000));
    let fetched = get(&local(), Act::Close(response("200 OK", &cookie, HELLO))).await.unwrap();
    assert_eq!(fetched.body, HELLO);
}

#[tokio::test]
async fn answers_that_never_begin_or_end_do() {
    let pause = Duration::from_millis(20);
    let again = b"HTTP/1.1 102 Processing\r\n\r\n".to_vec();
    for (what, act, kind) in [
        ("1xx without end", Act::Drip(Vec::new(), again, pause), FailureKind::Timeout),
        (
            "a byte now and then",
            Act::Drip(b"HTTP/1.1 200 OK\r\n\r\n".to_vec(), b"x".to_vec(), pause),
            FailureKind::Timeout,
        ),
        (
            "a huge chunk that does not come",
            Act::Stall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n7FFFFFFFFFFFFFFF\r\nx".to_vec()),
            FailureKind::Timeout,
        ),
        ("empty lines before the response", Act::Drip(Vec::new(), b"\r\n".to_vec(), pause), FailureKind::Timeout),
        (
            "fields after the last chunk",
            Act::Drip(
                b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n".to_vec(),
                b"X: y\r\n".repeat(500),
                Duration::from_millis(1),
            ),
            FailureKind::Broken,
        ),
        (
            "an extension of a chunk",
            Act::Drip(
                b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;".to_vec(),
                vec![b'x'; 8192],
                Duration::from_millis(1),
            ),
            FailureKind::Broken,
        ),
        (
            "extensions of many chunks",
            Act::Drip(
                b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n".to_vec(),
                format!("1;{}\r\nx\r\n", "y".repeat(4000)).into_bytes(),
                Duration::from_millis(1),
            ),
            FailureKind::Broken,
        ),
    ] {
        assert_eq!(failing(&impatient(), act).await, kind, "{what}");
    }
}

#[tokio::test]
async fn lengths_that_lie_are_found_out() {
    for (what, lengths, kind) in [
        ("longer", "Content-Length: 9\r\n", FailureKind::Broken),
        ("negative", "Content-Length: -5\r\n", FailureKind::Broken),
        ("signed", "Content-Length: +5\r\n", FailureKind::Broken),
        ("no number", "Content-Length: five\r\n", FailureKind::Broken),
        ("beyond 64 bits", "Content-Length: 99999999999999999999\r\n", FailureKind::Broken),
        ("more than anybody has", "Content-Length: 9223372036854775807\r\n", FailureKind::TooLarge),
        ("two that differ", "Content-Length: 5\r\nContent-Length: 6\r\n", FailureKind::Broken),
        ("a chunk beyond 64 bits", "Transfer-Encoding: chunked\r\n\r\n10000000000000000\r\n", FailureKind::Broken),
        ("a negative chunk", "Transfer-Encoding: chunked\r\n\r\n-5\r\n", FailureKind::Broken),
    ] {
        let bytes = format!("HTTP/1.1 200 OK\r\n{lengths}\r\nwhole").into_bytes();
        assert_eq!(failing(&local(), Act::Close(bytes)).await, kind, "{what}");
    }
    for (what, lengths, body) in [
        ("shorter", "Content-Length: 3\r\n", "who"),
        ("twice the same", "Content-Length: 5\r\nContent-Length: 5\r\n", "whole"),
        ("and chunks", "Content-Length: 99\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nwhole\r\n0\r\n", "whole"),
    ] {
        let bytes = format!("HTTP/1.1 200 OK\r\n{lengths}\r\nwhole").into_bytes();
        assert_eq!(get(&local(), Act::Close(bytes)).await.unwrap().body, body, "{what}");
    }
}

#[tokio::test]
async fn what_is_not_http_is_broken() {
    for (what, bytes) in [
        ("HTTP/0.9", &b"<html>whole</html>"[..]),
        ("HTTP/2 in clear", b"\0\0\x06\x04\0\0\0\0\0\0\x03\0\0\0\x64"),
        ("HTTP/3.0", b"HTTP/3.0 200 OK\r\nContent-Length: 5\r\n\r\nwhole"),
        ("a version of letters", b"HTTP/x.y 200 OK\r\nContent-Length: 5\r\n\r\nwhole"),
        ("another protocol", b"ICY 200 OK\r\nContent-Length: 5\r\n\r\nwhole"),
        ("a status of two digits", b"HTTP/1.1 20 OK\r\nContent-Length: 5\r\n\r\nwhole"),
        ("a status of letters", b"HTTP/1.1 OK 200\r\nContent-Length: 5\r\n\r\nwhole"),
        ("a request", b"GET / HTTP/1.1\r\nHost: a\r\n\r\n"),
    ] {
        assert_eq!(failing(&local(), Act::Close(bytes.to_vec())).await, FailureKind::Broken, "{what}");
    }
    for status in [299, 418, 599, 999] {
        let fetched = get(&local(), Act::Close(response(&format!("{status} X"), "", HELLO))).await.unwrap();
        assert_eq!((fetched.status, &fetched.body[..]), (status, HELLO));
    }
}

#[tokio::test]
async fn no_answer_is_smuggled_into_the_next() {
    // Two answers to one request.
    let two = [response("200 OK", "", HELLO), response("200 OK", "X-Evil: 1\r\n", b"<p>evil")].concat();
    let server = LoopbackServer::start(Act::Keep(two)).await;
    let fetcher = Fetcher::new(&local()).unwrap();
    for _ in 0..4 {
        let fetched = fetcher.fetch(&server.url("/"), None).await.unwrap();
        assert_eq!((&fetched.body[..], fetched.header("x-evil")), (HELLO, None));
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    // A field with a line break inside is invalid, and the rest does not become another field.
    for split in ["Location: /x\rX-Evil: 1\r\n", "Location: /x\0X-Evil: 1\r\n", "X-A: b\r\n X-Evil: 1\r\n"] {
        let fetched = get(&local(), Act::Close(response("302 Found", split, b""))).await;
        if let Ok(fetched) = fetched {
            assert_eq!(fetched.header("x-evil"), None, "{split:?}");
            assert!(
                fetched.headers.iter().all(|(_, value)| !value.contains(['\r', '\n', '\0'])),
                "{:?}",
                fetched.headers
            );
        }
    }
}

#[tokio::test]
async fn bombs_of_every_coding_stop_at_the_limit() {
    let zeros = vec![0; 64 << 20];
    let gz = gzip(&zeros);
    // 64 MiB of zeros by Google's encoder.
    let br = "cbffff3ff82700e2b14020f7fe8fffff7ff04f00c4611180eefd1fffffffe09f0088c30200ddfb3ffeffffc13f0110870500baf77ffcff\
              ff837f02200e0b0074effff8ffff07ff04401c1600e8defff1ffff0ffe0980382c00d0bdffe3ffff1ffc1300715800a07bff37";
    let br = data_encoding::HEXLOWER.decode(br.as_bytes()).unwrap();
    for (coding, wire) in [
        ("gzip", gz.clone()),
        ("deflate", zlib(&zeros)),
        ("br", br.clone()),
        ("zstd", zstd(&zeros)),
        ("gzip, gzip", gzip(&gz)),
        ("gzip, br, zstd", zstd(&brotli(&gz))),
        // Many small gzip members in a row, and a bomb where garbage is tolerated.
        ("gzip", gzip(&zeros[..1 << 20]).repeat(64)),
        ("gzip", [gzip(HELLO), gz].concat()),
    ] {
        assert!(wire.len() < 2 << 20, "{coding} is not a bomb");
        assert_eq!(failing(&local(), Act::Close(packed(coding, &wire))).await, FailureKind::TooLarge, "{coding}");
    }
    // A frame that asks for a window of 2 GiB.
    let window = [0x28, 0xb5, 0x2f, 0xfd, 0x00, 0xa8, 0x01, 0x00, 0x00];
    assert_eq!(failing(&local(), Act::Close(packed("zstd", &window))).await, FailureKind::Encoding);
    let chain = ["gzip"; 500].join(", ");
    assert_eq!(failing(&local(), Act::Close(packed(&chain, &gzip(HELLO)))).await, FailureKind::Encoding);
}

#[tokio::test]
async fn a_handshake_that_never_ends_does() {
    let fetcher = Fetcher::new(&FetchSettings { connect_timeout: 1.0, ..impatient() }).unwrap();
    for (what, drip) in [("silence", &b""[..]), ("a record byte by byte", b"\x16\x03\x03\x40\x00")] {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(async move {
            let (mut stream, _) = listener.accept().await?;
            for byte in drip.iter().chain(std::iter::repeat(&0)) {
                tokio::time::sleep(Duration::from_millis(50)).await;
                if !drip.is_empty() {
                    stream.write_u8(*byte).await?;
                }
            }
            std::io::Result::Ok(())
        });
        let url = CrawlUrl::parse(&format!("https://{address}/")).unwrap();
        assert_eq!(fetcher.fetch(&url, None).await.unwrap_err().kind, FailureKind::Timeout, "{what}");
    }
}
