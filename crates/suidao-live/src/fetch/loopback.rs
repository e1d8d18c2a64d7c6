//! The fetcher against local servers with scripted answers, valid and invalid.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpSocket, TcpStream};

use super::{FetchSettings, Fetcher, FetcherError};
use suidao_page::model::{CrawlUrl, Failure, FailureKind, Fetched, Validators};
use suidao_page::read::coding::packed::{brotli, gzip, raw_deflate, zlib, zstd};

/// What the server does after it has read the head of a request.
#[derive(Clone)]
pub(super) enum Act {
    /// Sends these bytes and closes.
    Close(Vec<u8>),
    /// Sends these bytes and waits for the next request.
    Keep(Vec<u8>),
    /// Sends these bytes, then nothing more.
    Stall(Vec<u8>),
    /// Sends the first bytes, then the second repeatedly, with a pause.
    Drip(Vec<u8>, Vec<u8>, Duration),
}

pub(super) struct LoopbackServer {
    pub address: SocketAddr,
    pub heads: Arc<Mutex<Vec<String>>>,
    /// Number of connections.
    pub connections: Arc<Mutex<usize>>,
}

impl LoopbackServer {
    pub async fn start(act: Act) -> Self {
        Self::start_at("127.0.0.1:0".parse().unwrap(), act).await
    }

    pub async fn start_at(address: SocketAddr, act: Act) -> Self {
        let listener = TcpListener::bind(address).await.unwrap();
        let address = listener.local_addr().unwrap();
        let (heads, connections) = (Arc::default(), Arc::default());
        let server = Self { address, heads: Arc::clone(&heads), connections: Arc::clone(&connections) };
        // Ends with the test's runtime.
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                *connections.lock().unwrap() += 1;
                tokio::spawn(play(stream, act.clone(), Arc::clone(&heads)));
            }
        });
        server
    }

    pub fn url(&self, path: &str) -> CrawlUrl {
        CrawlUrl::parse(&format!("http://{}{path}", self.address)).unwrap()
    }

    pub fn heads(&self) -> Vec<String> {
        self.heads.lock().unwrap().clone()
    }
}

async fn play(mut stream: TcpStream, act: Act, heads: Arc<Mutex<Vec<String>>>) -> std::io::Result<()> {
    loop {
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            head.push(stream.read_u8().await?);
        }
        heads.lock().unwrap().push(String::from_utf8_lossy(&head).into_owned());
        match &act {
            Act::Close(bytes) => {
                stream.write_all(bytes).await?;
                return stream.shutdown().await;
            }
            Act::Keep(bytes) => stream.write_all(bytes).await?,
            Act::Stall(bytes) => {
                stream.write_all(bytes).await?;
                std::future::pending::<()>().await;
            }
            Act::Drip(first, again, pause) => {
                stream.write_all(first).await?;
                loop {
                    tokio::time::sleep(*pause).await;
                    stream.write_all(again).await?;
                }
            }
        }
    }
}

/// A response with a Content-Length.
pub(super) fn response(status: &str, fields: &str, body: &[u8]) -> Vec<u8> {
    let head = format!("HTTP/1.1 {status}\r\n{fields}Content-Length: {}\r\n\r\n", body.len());
    [head.as_bytes(), body].concat()
}

pub(super) fn packed(coding: &str, body: &[u8]) -> Vec<u8> {
    response("200 OK", &format!("Content-Type: text/html\r\nContent-Encoding: {coding}\r\n"), body)
}

pub(super) fn local() -> FetchSettings {
    FetchSettings { allow_private: true, ..FetchSettings::default() }
}

pub(super) async fn get(settings: &FetchSettings, act: Act) -> Result<Fetched, Failure> {
    let server = LoopbackServer::start(act).await;
    Fetcher::new(settings).unwrap().fetch(&server.url("/p"), None).await
}

pub(super) async fn failing(settings: &FetchSettings, act: Act) -> FailureKind {
    get(settings, act).await.unwrap_err().kind
}

pub(super) const HELLO: &[u8] = "<html><p>隧道隧道隧道隧道隧道隧道隧道隧道".as_bytes();

#[tokio::test]
async fn an_answer_comes_as_it_was_sent() {
    let fields = "Content-Type: Text/HTML; charset=gbk\r\nX-One: 1\r\nSet-Cookie: a\r\nX-Two: 2\r\nSet-Cookie: b\r\n\
                  X-Latin: caf\u{0}\r\nX-Utf: 隧道\r\n";
    let mut bytes = response("200 Fine", fields, HELLO);
    *bytes.iter_mut().find(|byte| **byte == 0).unwrap() = 0xe9;
    let settings = FetchSettings { contact: Some("https://a.cn/bot".into()), ..local() };
    let server = LoopbackServer::start(Act::Keep(bytes)).await;
    let fetcher = Fetcher::new(&settings).unwrap();
    let fetched = fetcher.fetch(&server.url("/a?b=1"), None).await.unwrap();

    assert_eq!((fetched.status, &fetched.body[..], &fetched.wire), (200, HELLO, &None));
    assert_eq!(fetched.url, server.url("/a?b=1"));
    let names: Vec<&str> = fetched.headers.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(
        names,
        ["content-type", "x-one", "set-cookie", "set-cookie", "x-two", "x-latin", "x-utf", "content-length"]
    );
    assert_eq!(fetched.media_type(), "text/html");
    assert_eq!((fetched.header("x-latin"), fetched.header("x-utf")), (Some("café"), Some("隧道")));

    let heads = server.heads();
    let head = heads[0].as_str();
    assert!(head.starts_with("GET /a?b=1 HTTP/1.1\r\n"), "{head}");
    let fields = head.lines().skip(1).filter(|line| !line.is_empty()).map(str::to_lowercase);
    let mut sent: Vec<String> = fields.filter(|field| !field.starts_with("host:")).collect();
    let mut message: Vec<String> =
        fetcher.request_headers().iter().map(|(name, value)| format!("{name}: {value}").to_lowercase()).collect();
    sent.sort();
    message.sort();
    assert_eq!(sent, message);
    assert!(
        message.iter().any(|field| field.contains("suidao/") && field.ends_with("(+https://a.cn/bot)")),
        "{message:?}"
    );
    assert!(message.contains(&"accept-encoding: gzip, br, zstd, deflate".to_owned()), "{message:?}");
}

#[tokio::test]
async fn a_request_is_conditional_on_what_is_known() {
    let (etag, date) = ("W/\"1-a\"", "Sun, 06 Nov 1994 08:49:37 GMT");
    let server =
        LoopbackServer::start(Act::Keep(b"HTTP/1.1 304 Not Modified\r\nETag: W/\"1-a\"\r\n\r\n".to_vec())).await;
    let fetcher = Fetcher::new(&local()).unwrap();
    let known = |etag: Option<&str>, modified: Option<&str>| Validators {
        etag: etag.map(str::to_owned),
        modified: modified.map(str::to_owned),
    };
    for (known, sent) in [
        (known(Some(etag), Some(date)), vec![("if-modified-since", date), ("if-none-match", etag)]),
        (known(None, Some(date)), vec![("if-modified-since", date)]),
        (known(Some(etag), None), vec![("if-none-match", etag)]),
        (known(None, None), vec![]),
    ] {
        let fetched = fetcher.fetch(&server.url("/"), Some(&known)).await.unwrap();
        assert_eq!((fetched.status, fetched.body.len(), fetched.header("etag")), (304, 0, Some(etag)));
        assert_eq!(fetched.request_validators.as_deref(), Some(&known).filter(|known| !known.is_empty()));
        let head = server.heads().pop().unwrap();
        let fields = head.lines().filter_map(|line| line.split_once(": "));
        let mut fields: Vec<_> = fields.filter(|(name, _)| name.to_lowercase().starts_with("if-")).collect();
        fields.sort();
        assert_eq!(fields, sent, "{head}");
    }
    assert_eq!(*server.connections.lock().unwrap(), 1, "a response without a body ends at its head");
    assert_eq!(fetcher.fetch(&server.url("/"), None).await.unwrap().request_validators, None);
}

#[tokio::test]
async fn connections_are_reused() {
    let server = LoopbackServer::start(Act::Keep(response("200 OK", "", HELLO))).await;
    let fetcher = Fetcher::new(&local()).unwrap();
    for _ in 0..5 {
        fetcher.clone().fetch(&server.url("/"), None).await.unwrap();
    }
    assert_eq!((server.heads().len(), *server.connections.lock().unwrap()), (5, 1));
}

#[tokio::test]
async fn every_coding_is_decoded_and_its_bytes_are_stored() {
    for (coding, wire) in [
        ("gzip", gzip(HELLO)),
        ("x-gzip", gzip(HELLO)),
        ("br", brotli(HELLO)),
        ("zstd", zstd(HELLO)),
        ("deflate", zlib(HELLO)),
        ("deflate", raw_deflate(HELLO)),
        ("gzip, br", brotli(&gzip(HELLO))),
        ("gzip\r\nContent-Encoding: br", brotli(&gzip(HELLO))),
        ("gzip", [gzip(HELLO), b"\r\n<!-- 0.1 s -->".to_vec()].concat()),
    ] {
        let fetched = get(&local(), Act::Keep(packed(coding, &wire))).await.unwrap();
        assert_eq!((&fetched.body[..], fetched.wire.as_deref()), (HELLO, Some(&wire[..])), "{coding}");
    }
    let cut = gzip(HELLO);
    let fetched = get(&local(), Act::Keep(packed("gzip", &cut[..cut.len() - 8]))).await.unwrap();
    assert_eq!((&fetched.body[..], fetched.unverified), (HELLO, true), "without its checksum");
    for coding in ["identity", "gzip", "utf-8", "br", "deflate"] {
        let fetched = get(&local(), Act::Keep(packed(coding, HELLO))).await.unwrap();
        assert_eq!((&fetched.body[..], fetched.wire), (HELLO, None), "{coding} on a plain page");
    }
    let noise = b"\x01\x02\x03\xfe\xff noise";
    for (coding, wire) in
        [("gzip", &cut[..cut.len() - 9]), ("br", noise), ("deflate", noise), ("gzip", noise), ("compress", noise)]
    {
        assert_eq!(failing(&local(), Act::Keep(packed(coding, wire))).await, FailureKind::Encoding, "{coding}");
    }
}

#[tokio::test]
async fn size_limits_hold_on_the_wire_and_unpacked() {
    let settings = FetchSettings { max_body: 10_000, max_wire: 5_000, ..local() };
    let chunk = format!("400\r\n{}\r\n", "x".repeat(0x400)).into_bytes();
    let endless = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n".to_vec();
    for (what, act) in [
        ("a stated length", Act::Stall(b"HTTP/1.1 200 OK\r\nContent-Length: 5001\r\n\r\n".to_vec())),
        ("a bomb", Act::Keep(packed("gzip", &gzip(&[0; 10_001])))),
        ("a bomb in a bomb", Act::Keep(packed("gzip, gzip", &gzip(&gzip(&vec![0; 8 << 20]))))),
        ("no end", Act::Drip(endless, chunk, Duration::from_millis(1))),
        (
            "no end, no length",
            Act::Drip(b"HTTP/1.1 200 OK\r\n\r\n".to_vec(), vec![b'x'; 999], Duration::from_millis(1)),
        ),
    ] {
        assert_eq!(failing(&settings, act).await, FailureKind::TooLarge, "{what}");
    }
    let fits = get(&settings, Act::Keep(packed("gzip", &gzip(&[0; 10_000])))).await.unwrap();
    assert_eq!(fits.body.len(), 10_000);
    let plain = FetchSettings { max_body: 100, ..local() };
    assert_eq!(failing(&plain, Act::Keep(response("200 OK", "", &[b'x'; 101]))).await, FailureKind::TooLarge);
}

#[tokio::test]
async fn silence_and_slowness_end() {
    let silent = FetchSettings { read_timeout: 0.2, ..local() };
    let slow = FetchSettings { timeout: 0.3, ..local() };
    let head = b"HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n".to_vec();
    let pause = Duration::from_millis(20);
    for (what, settings, act) in [
        ("no response", &silent, Act::Stall(Vec::new())),
        ("half a head", &silent, Act::Stall(b"HTTP/1.1 200 OK\r\nContent-".to_vec())),
        ("a head without body", &silent, Act::Stall(head.clone())),
        ("a dripping head", &slow, Act::Drip(b"HTTP/1.1 200 OK\r\nX: ".to_vec(), b"x".to_vec(), pause)),
        ("a dripping body", &slow, Act::Drip(head, b"x".to_vec(), pause)),
    ] {
        assert_eq!(failing(settings, act).await, FailureKind::Timeout, "{what}");
    }
}

#[tokio::test]
async fn broken_answers_are_named() {
    for (what, bytes) in [
        ("nothing", &b""[..]),
        ("no HTTP", b"SSH-2.0-OpenSSH_9.9\r\n\r\n"),
        ("binary garbage", b"\x00\x01\x02\xff\xfe\r\n\r\n"),
        ("half a head", b"HTTP/1.1 200 OK\r\nContent-"),
        ("a head without body", b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n"),
        ("a cut body", b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf"),
        ("a cut chunk", b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\nhalf"),
        ("a bad chunk", b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nZZ\r\nhalf\r\n"),
        ("no last chunk", b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n"),
    ] {
        assert_eq!(failing(&local(), Act::Close(bytes.to_vec())).await, FailureKind::Broken, "{what}");
    }
    let huge = format!("HTTP/1.1 200 OK\r\nX: {}\r\n\r\n", "x".repeat(2 << 20)).into_bytes();
    assert_eq!(failing(&local(), Act::Close(huge)).await, FailureKind::TooLarge);
    let many = format!("HTTP/1.1 200 OK\r\n{}\r\n", "X: y\r\n".repeat(300)).into_bytes();
    assert_eq!(failing(&local(), Act::Close(many)).await, FailureKind::TooLarge);
}

#[tokio::test]
async fn whole_answers_of_odd_form_are_read() {
    for (what, bytes) in [
        (
            "chunked",
            &b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nwhol\r\n1;x=y\r\ne\r\n0\r\nT: t\r\n\r\n"[..],
        ),
        ("no length", b"HTTP/1.1 200 OK\r\n\r\nwhole"),
        ("HTTP/1.0", b"HTTP/1.0 200 OK\r\n\r\nwhole"),
        ("no reason", b"HTTP/1.1 200\r\nContent-Length: 5\r\n\r\nwhole"),
        ("bare line feeds", b"HTTP/1.1 200 OK\nContent-Length: 5\n\nwhole"),
        ("a bad field", b"HTTP/1.1 200 OK\r\nno field at all\r\nX y: z\r\nContent-Length : 5\r\n\r\nwhole"),
        ("more than stated", b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nwhole and more"),
        ("100 first", b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nwhole"),
    ] {
        let fetched = get(&local(), Act::Close(bytes.to_vec())).await;
        assert_eq!(fetched.map(|fetched| fetched.body), Ok("whole".into()), "{what}");
    }
    let cookies = response("200 OK", &"Set-Cookie: a=b\r\n".repeat(200), b"whole");
    assert_eq!(get(&local(), Act::Close(cookies)).await.unwrap().headers.len(), 201);
}

#[tokio::test]
async fn redirects_and_errors_are_handed_back() {
    for status in ["301 Moved", "302 Found", "303 See", "307 T", "308 P"] {
        // A truncated or too large image is a redirect all the same.
        let bytes =
            format!("HTTP/1.1 {status}\r\nContent-Type: image/png\r\nLocation: /x\r\nContent-Length: 99999\r\n\r\nno");
        let server = LoopbackServer::start(Act::Close(bytes.into_bytes())).await;
        let fetched = Fetcher::new(&local()).unwrap().fetch(&server.url("/"), None).await.unwrap();
        assert_eq!(fetched.status.to_string(), status[..3]);
        assert_eq!((fetched.header("location"), fetched.body.len()), (Some("/x"), 0));
        assert_eq!(server.heads().len(), 1, "not followed");
    }
    // The path 中 in GBK, and in UTF-8.
    for (path, joined) in [(&b"/\xd6\xd0"[..], "http://a.cn/%D6%D0"), ("/中".as_bytes(), "http://a.cn/%E4%B8%AD")] {
        let bytes = [b"HTTP/1.1 302 Found\r\nLocation: ", path, b"\r\n\r\n"].concat();
        let fetched = get(&local(), Act::Close(bytes)).await.unwrap();
        let page = CrawlUrl::parse("http://a.cn/x").unwrap();
        assert_eq!(page.join(fetched.header("location").unwrap()).unwrap().as_str(), joined);
    }
    for (status, length, received) in [(304, 0, 0), (404, 30, 30), (429, 0, 0), (500, 65_536, 65_536), (503, 65_537, 0)]
    {
        let bytes = response(&format!("{status} X"), "Retry-After: 7\r\n", &vec![b'x'; length]);
        let fetched = get(&local(), Act::Close(bytes)).await.unwrap();
        assert_eq!((fetched.status, fetched.body.len()), (status, received));
        assert_eq!(fetched.header("retry-after"), Some("7"));
    }
}

#[tokio::test]
async fn what_is_no_page_is_not_read() {
    for media in ["image/png", "application/PDF; x=y", "application/octet-stream"] {
        // The body never arrives: waiting for it would time out.
        let head = format!("HTTP/1.1 200 OK\r\nContent-Type: {media}\r\nContent-Length: 9\r\n\r\n");
        let kind = failing(&local(), Act::Stall(head.into_bytes())).await;
        let stated = media.split(';').next().unwrap().to_lowercase();
        assert_eq!(kind, FailureKind::MediaType(stated));
    }
    let server =
        LoopbackServer::start(Act::Keep(response("200 OK", "Content-Type: application/octet-stream\r\n", HELLO))).await;
    let fetcher = Fetcher::new(&local()).unwrap();
    for path in ["/robots.txt", "/sitemap.xml", "/a/Map-1.XML.gz?n=1", "/map.txt.gz"] {
        assert_eq!(fetcher.fetch(&server.url(path), None).await.unwrap().body, HELLO);
    }
    for path in ["/robots.txt/", "/a.gz", "/xml"] {
        assert!(fetcher.fetch(&server.url(path), None).await.is_err());
    }
}

#[tokio::test]
async fn private_addresses_are_not_connected_to() {
    let server = LoopbackServer::start(Act::Keep(response("200 OK", "", HELLO))).await;
    let port = server.address.port();
    let [guarded, free] = [FetchSettings::default(), local()].map(|settings| Fetcher::new(&settings).unwrap());
    for host in ["127.0.0.1", "2130706433", "0x7f.1", "[::ffff:127.0.0.1]", "localhost"] {
        let url = CrawlUrl::parse(&format!("http://{host}:{port}/")).unwrap();
        assert_eq!(guarded.fetch(&url, None).await.unwrap_err().kind, FailureKind::PrivateAddress, "{host}");
    }
    assert_eq!(*server.connections.lock().unwrap(), 0);
    for host in ["127.0.0.1", "2130706433", "localhost"] {
        let url = CrawlUrl::parse(&format!("http://{host}:{port}/")).unwrap();
        assert_eq!(free.fetch(&url, None).await.unwrap().body, HELLO, "{host}");
    }
}

/// An address without a listener, reserved as long as the socket is open.
fn address_without_listener() -> (TcpSocket, SocketAddr) {
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let address = socket.local_addr().unwrap();
    (socket, address)
}

#[tokio::test]
async fn what_fails_before_the_answer_is_distinguished() {
    let fetcher = Fetcher::new(&FetchSettings { connect_timeout: 3.0, ..local() }).unwrap();
    let kind = async |url: &str| fetcher.fetch(&CrawlUrl::parse(url).unwrap(), None).await.unwrap_err().kind;
    let (_bound, closed) = address_without_listener();
    assert_eq!(kind(&format!("http://{closed}/")).await, FailureKind::Refused);
    assert_eq!(kind(&format!("https://{closed}/")).await, FailureKind::Refused);
    // A label longer than DNS allows fails in every resolver without a request.
    assert_eq!(kind(&format!("http://{}.invalid/", "x".repeat(70))).await, FailureKind::NoSuchHost);
    assert_eq!(kind("http://a\"b.invalid/").await, FailureKind::NoSuchHost);
    for first in [&b""[..], b"HTTP/1.1 400 Bad\r\n\r\n", &[0x15, 3, 3, 0, 2, 2, 40]] {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                let _ = stream.write_all(first).await;
            }
        });
        assert_eq!(kind(&format!("https://{address}/")).await, FailureKind::Tls, "{first:?}");
    }
}

#[tokio::test]
async fn a_proxy_is_asked_for_all_but_private_literals() {
    let server = LoopbackServer::start(Act::Keep(response("200 OK", "", HELLO))).await;
    // An allowed address permits itself, but not a name that the proxy may resolve to another.
    let settings = FetchSettings {
        proxy: Some(format!("http://me:secret@{}", server.address)),
        allow_addresses: vec!["10.0.0.7".parse().unwrap()],
        ..FetchSettings::default()
    };
    let fetcher = Fetcher::new(&settings).unwrap();
    fetcher.check_proxy().await.unwrap();
    let get = async |url: &str| fetcher.fetch(&CrawlUrl::parse(url).unwrap(), None).await;
    assert_eq!(get("http://no.such.host.invalid/x?y").await.unwrap().body, HELLO);
    for url in ["http://10.0.0.1/", "http://[::1]/", "http://localhost/", "https://a.localhost:8443/"] {
        assert_eq!(get(url).await.unwrap_err().kind, FailureKind::PrivateAddress, "{url}");
    }
    let heads = server.heads();
    assert_eq!(heads.len(), 1);
    assert!(heads[0].starts_with("GET http://no.such.host.invalid/x?y HTTP/1.1\r\n"), "{}", heads[0]);
    assert!(heads[0].to_lowercase().contains("proxy-authorization: basic bwu6c2vjcmv0"), "{}", heads[0]);
    // A proxy with a private name: the user's setting counts.
    let named = FetchSettings {
        proxy: Some(format!("http://localhost:{}", server.address.port())),
        ..FetchSettings::default()
    };
    let named = Fetcher::new(&named).unwrap();
    assert_eq!(named.fetch(&CrawlUrl::parse("http://a.invalid/").unwrap(), None).await.unwrap().status, 200);
}

#[tokio::test]
async fn a_proxys_failures_are_distinguished_from_the_hosts() {
    for (status, http, https) in [
        ("407 Auth", Err(FailureKind::Proxy), FailureKind::Proxy),
        ("502 Bad", Ok(502), FailureKind::Connect),
        // The tunnel is open, and its far end closes it during the handshake.
        ("200 OK", Ok(200), FailureKind::Connect),
    ] {
        let server = LoopbackServer::start(Act::Close(response(status, "", b""))).await;
        let settings = FetchSettings { proxy: Some(format!("http://{}", server.address)), ..FetchSettings::default() };
        let fetcher = Fetcher::new(&settings).unwrap();
        let get = async |url: &str| fetcher.fetch(&CrawlUrl::parse(url).unwrap(), None).await;
        let plain = get("http://a.invalid/").await.map(|fetched| fetched.status).map_err(|failure| failure.kind);
        assert_eq!(plain, http, "{status}");
        assert_eq!(get("https://a.invalid/").await.unwrap_err().kind, https, "{status}");
        assert!(server.heads()[1].starts_with("CONNECT a.invalid:443 "), "{:?}", server.heads());
    }
}

#[tokio::test]
async fn a_proxy_that_is_not_there_is_one_clear_sentence() {
    let (_bound, closed) = address_without_listener();
    let settings = FetchSettings { proxy: Some(format!("http://me:secret@{closed}")), ..FetchSettings::default() };
    let fetcher = Fetcher::new(&settings).unwrap();
    let error = fetcher.check_proxy().await.unwrap_err();
    assert!(matches!(error, FetcherError::ProxyUnreachable { .. }));
    let sentence = error.to_string();
    assert!(sentence.contains(&closed.to_string()) && sentence.contains("--proxy"), "{sentence}");
    assert!(!sentence.contains("secret"), "{sentence}");
    for url in ["http://a.invalid/", "https://a.invalid/"] {
        let failure = fetcher.fetch(&CrawlUrl::parse(url).unwrap(), None).await.unwrap_err();
        assert_eq!((&failure.kind, failure.is_transient()), (&FailureKind::Proxy, true), "{url}");
    }
    Fetcher::new(&FetchSettings::default()).unwrap().check_proxy().await.unwrap();
}

/// Environment variables belong to the process, so the test runs itself again with a proxy variable set.
#[tokio::test]
async fn the_environments_proxy_is_not_used() {
    if std::env::var_os("HTTP_PROXY").is_none() {
        let run = std::process::Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "fetch::loopback::the_environments_proxy_is_not_used"])
            .envs(["HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"].map(|name| (name, "http://127.0.0.1:1")))
            .output()
            .unwrap();
        let message = String::from_utf8_lossy(&run.stdout);
        assert!(run.status.success() && message.contains("1 passed"), "{message}");
    }
    assert_eq!(get(&local(), Act::Keep(response("200 OK", "", HELLO))).await.unwrap().body, HELLO);
}
