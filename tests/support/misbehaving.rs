//! A web server that misbehaves in named ways, one host each, `http://NAME.test/`, reached through it as a proxy.
//! Written on raw TCP, because no library sends this. Besides its front page, which misbehaves, every such host has a
//! good page, `/good`, and no robots.txt, unless that misbehaves.

#![allow(dead_code)] // each test binary uses a part

use std::collections::HashMap;
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant, SystemTime};

pub struct Misbehaviour {
    /// Its name and its host's.
    pub name: &'static str,
    /// What the server does, for the table.
    pub what: &'static str,
    act: fn(&mut Exchange) -> io::Result<After>,
}

impl Misbehaviour {
    pub fn url(&self) -> String {
        format!("http://{}.test/", self.name)
    }

    pub fn good(&self) -> String {
        format!("http://{}.test/good", self.name)
    }

    fn is_about_robots(&self) -> bool {
        self.name.starts_with("robots-")
    }
}

/// What happens to the connection.
enum After {
    Keep,
    Close,
}

use After::{Close, Keep};

/// A request that is being answered.
struct Exchange<'a> {
    stream: &'a mut TcpStream,
    host: &'a str,
    path: &'a str,
    /// Earlier requests for this URL.
    before: usize,
    stopped: &'a AtomicBool,
    port: u16,
}

impl Exchange<'_> {
    fn send(&mut self, bytes: impl AsRef<[u8]>) -> io::Result<()> {
        self.stream.write_all(bytes.as_ref())
    }

    /// A whole answer: end of the status line, more fields with line ends, body.
    fn answer(&mut self, status: &str, fields: &str, body: impl AsRef<[u8]>) -> io::Result<After> {
        let body = body.as_ref();
        let head = format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\n{fields}\r\n", body.len());
        self.send([head.as_bytes(), body].concat())?;
        Ok(Keep)
    }

    fn html(&mut self, body: impl AsRef<[u8]>) -> io::Result<After> {
        self.answer("200 OK", "Content-Type: text/html; charset=utf-8\r\n", body)
    }

    fn moved(&mut self, to: &str) -> io::Result<After> {
        self.answer("301 Moved Permanently", &format!("Location: {to}\r\n"), "")
    }

    /// Sends pieces, so many milliseconds apart, until the client closes.
    fn drip(&mut self, pieces: impl Iterator<Item = Vec<u8>>, pause: u64) -> io::Result<After> {
        for piece in pieces {
            self.send(piece)?;
            self.wait(pause);
            if self.stopped.load(Ordering::Relaxed) {
                break;
            }
        }
        Ok(Close)
    }

    fn wait(&self, ms: u64) {
        let until = Instant::now() + Duration::from_millis(ms);
        while Instant::now() < until && !self.stopped.load(Ordering::Relaxed) {
            std::thread::sleep(Duration::from_millis(ms.min(50)));
        }
    }

    /// Silent for longer than any time limit.
    fn silence(&self) -> io::Result<After> {
        self.wait(60_000);
        Ok(Close)
    }
}

/// A page without a topic.
pub fn page(title: &str, links: &[String]) -> String {
    let links: String = links.iter().map(|link| format!("<p><a href=\"{link}\">{link}</a></p>\n")).collect();
    format!(
        "<!doctype html><html><head><meta charset=utf-8><title>{title}</title></head><body><h1>{title}</h1>\n\
         <p>足球比赛在昨天晚上结束，主队以二比一取胜，球迷们高兴地离开了体育场。{title}的故事就是这样。</p>\n{links}</body></html>"
    )
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packed.write_all(bytes).unwrap();
    packed.finish().unwrap()
}

const OK: &str = "HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n";

/// An HTTP date so many seconds from now.
fn date_in(seconds: u64) -> String {
    let at = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap().as_secs() + seconds;
    jiff::Timestamp::from_second(i64::try_from(at).unwrap()).unwrap().strftime("%a, %d %b %Y %H:%M:%S GMT").to_string()
}

macro_rules! misbehaviours {
    ($($name:literal, $what:literal, $act:expr;)*) => {
        pub const MISBEHAVIOURS: &[Misbehaviour] = &[$(Misbehaviour { name: $name, what: $what, act: $act },)*];
    };
}

misbehaviours! {
    // The connection.
    "closes-before-head", "closes the connection instead of answering", |_| Ok(Close);
    "closes-within-head", "closes in the middle of a header field", |exchange| {
        exchange.send("HTTP/1.1 200 OK\r\nContent-Ty").map(|()| Close)
    };
    "closes-after-head", "closes after the head, with a body announced", |exchange| {
        exchange.send(format!("{OK}Content-Length: 5000\r\n\r\n")).map(|()| Close)
    };
    "closes-within-body", "closes in the middle of the body", |exchange| {
        exchange.send(format!("{OK}Content-Length: 5000\r\n\r\n<p>half of")).map(|()| Close)
    };
    "resets-within-body", "sends a TCP reset in the middle of the body", |exchange| {
        // Closing with unread input makes the system send a reset.
        exchange.send(format!("{OK}Content-Length: 5000\r\n\r\n<p>half of")).map(|()| Close)
    };
    "keep-alive-closed", "declares keep-alive and closes after every response", |exchange| {
        let body = page("后来", &[]);
        exchange.answer("200 OK", "Content-Type: text/html\r\nConnection: keep-alive\r\nKeep-Alive: timeout=100\r\n", body)
            .map(|_| Close)
    };
    "never-answers", "takes the request and never answers", |exchange| exchange.silence();
    "slow-head", "sends its head a byte every half second", |exchange| {
        exchange.drip(OK.bytes().cycle().map(|byte| vec![byte]), 500)
    };
    "slow-body", "sends its body a byte a second", |exchange| {
        exchange.send(format!("{OK}Content-Length: 5000\r\n\r\n"))?;
        exchange.drip(std::iter::repeat(b"a".to_vec()), 1000)
    };
    "slow-but-good", "is silent for a second, then answers", |exchange| {
        exchange.wait(1000);
        exchange.html(page("慢的", &[]))
    };
    // The head.
    "garbage", "answers with bytes that are not HTTP", |exchange| {
        let noise: Vec<u8> = (0..4000u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
        exchange.send(noise).map(|()| Close)
    };
    "http-0.9", "answers with a body and no head", |exchange| exchange.send(page("没有头", &[])).map(|()| Close);
    "http-7", "answers in an unknown HTTP version", |exchange| {
        exchange.send("HTTP/7.3 200 OK\r\nContent-Length: 2\r\n\r\nhi").map(|()| Close)
    };
    "status-20", "answers with a status of two digits", |exchange| {
        exchange.send("HTTP/1.1 20 OK\r\nContent-Length: 2\r\n\r\nhi").map(|()| Close)
    };
    "status-999", "answers 999", |exchange| exchange.answer("999 Request denied", "", "no");
    "nul-in-head", "sends NUL bytes in a header field", |exchange| {
        exchange.send("HTTP/1.1 200 OK\r\nContent-Type: text/\0html\r\nX-\0: \0\r\nContent-Length: 2\r\n\r\nhi").map(|()| Close)
    };
    "header-flood", "sends 10,000 header fields", |exchange| {
        let fields: String = (0..10_000).map(|n| format!("X-Field-{n}: {n}\r\n")).collect();
        exchange.answer("200 OK", &fields, page("很多", &[])).map(|_| Close)
    };
    "header-of-10-mb", "sends a header field of 10 MB", |exchange| {
        exchange.send("HTTP/1.1 200 OK\r\nX-Long: ")?;
        exchange.send(vec![b'x'; 10 << 20])?;
        exchange.send("\r\nContent-Length: 2\r\n\r\nhi").map(|()| Close)
    };
    "header-of-300-kb", "sets a cookie of 300 KB", |exchange| {
        let fields = format!("Content-Type: text/html; charset=utf-8\r\nSet-Cookie: c={}\r\n", "x".repeat(300 << 10));
        exchange.answer("200 OK", &fields, page("大饼干", &[]))
    };
    "header-of-noise", "sends a header field of 400 KB of non-text bytes", |exchange| {
        exchange.send("HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nX-Noise: ")?;
        exchange.send(vec![0xE9; 400_000])?;
        let body = page("杂音", &[]);
        exchange.send(format!("\r\nContent-Length: {}\r\n\r\n{body}", body.len())).map(|()| Keep)
    };
    "cookie-flood", "sets 100 cookies of 1 KB", |exchange| {
        let fields: String = (0..100).map(|n| format!("Set-Cookie: c{n}={}; Path=/\r\n", "x".repeat(1000))).collect();
        exchange.answer("200 OK", &format!("Content-Type: text/html\r\n{fields}"), page("饼干", &[]))
    };
    "duplicate-fields", "sends every header field twice, with other values", |exchange| {
        let fields = "Content-Type: text/html; charset=utf-8\r\nContent-Type: text/plain\r\nETag: \"1\"\r\nETag: \"2\"\r\n\
            Server: a\r\nServer: b\r\nLocation: /x\r\nLocation: /y\r\n";
        exchange.answer("200 OK", fields, page("两次", &[]))
    };
    "endless-1xx", "sends informational responses without end", |exchange| {
        exchange.drip(std::iter::repeat(b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n".to_vec()), 5)
    };
    "continue-first", "sends an unrequested 100 Continue before the response", |exchange| {
        exchange.send("HTTP/1.1 100 Continue\r\n\r\n")?;
        exchange.html(page("继续", &[]))
    };
    // Length and framing.
    "length-too-short", "announces 100 bytes and sends more", |exchange| {
        let body = page("太长", &[]);
        exchange.send(format!("{OK}Content-Length: 100\r\n\r\n{body}")).map(|()| Close)
    };
    "length-too-long", "announces more bytes than it sends, and waits", |exchange| {
        exchange.send(format!("{OK}Content-Length: 90000\r\n\r\n{}", page("太短", &[])))?;
        exchange.silence()
    };
    "length-negative", "announces a negative length", |exchange| {
        exchange.send(format!("{OK}Content-Length: -5\r\n\r\nhello")).map(|()| Close)
    };
    "length-twice", "announces two lengths", |exchange| {
        exchange.send(format!("{OK}Content-Length: 5\r\nContent-Length: 7\r\n\r\nhello")).map(|()| Close)
    };
    "chunk-nonsense", "sends chunks whose lengths are not numbers", |exchange| {
        exchange.send(format!("{OK}Transfer-Encoding: chunked\r\n\r\nfive\r\nhello\r\n0\r\n\r\n")).map(|()| Close)
    };
    "endless-chunks", "sends chunks without end", |exchange| {
        exchange.send(format!("{OK}Transfer-Encoding: chunked\r\n\r\n"))?;
        exchange.drip(std::iter::repeat([&b"8000\r\n"[..], &[b'a'; 0x8000], b"\r\n"].concat()), 0)
    };
    "endless-body", "sends a body without length and end", |exchange| {
        exchange.send(format!("{OK}Connection: close\r\n\r\n"))?;
        exchange.drip(std::iter::repeat(b"<p>und so weiter ".repeat(4000)), 0)
    };
    "two-answers", "sends a second, unrequested response after the first", |exchange| {
        exchange.html(page("第一", &[]))?;
        exchange.html(page("第二", &["http://two-answers.test/smuggled".to_owned()]))
    };
    // Content codings.
    "gzip-bomb", "sends 100 KB that unpack to 100 MB", |exchange| {
        let packed = gzip(&vec![b' '; 100 << 20]);
        exchange.answer("200 OK", "Content-Type: text/html\r\nContent-Encoding: gzip\r\n", packed)
    };
    "gzip-broken", "sends gzip that breaks in the middle", |exchange| {
        let mut packed = gzip(page("坏的", &[]).repeat(20).as_bytes());
        let middle = packed.len() / 2;
        packed[middle..].fill(0xA5);
        exchange.answer("200 OK", "Content-Type: text/html\r\nContent-Encoding: gzip\r\n", packed)
    };
    "brotli-that-is-none", "declares br and sends plain text", |exchange| {
        exchange.answer("200 OK", "Content-Type: text/html\r\nContent-Encoding: br\r\n", page("没有压缩", &[]))
    };
    "coding-unknown", "declares an unknown content coding", |exchange| {
        exchange.answer("200 OK", "Content-Type: text/html\r\nContent-Encoding: x-rot13\r\n", page("什么", &[]))
    };
    // Redirects.
    "redirect-loop", "redirects in a circle of two", |exchange| {
        let to = if exchange.path == "/" { "/other" } else { "/" };
        exchange.moved(to)
    };
    "redirect-to-itself", "redirects to itself", |exchange| exchange.moved("/");
    "redirect-chain", "redirects a hundred times in a row", |exchange| {
        let step: u32 = exchange.path.trim_matches('/').parse().unwrap_or(0);
        if step < 100 { exchange.moved(&format!("/{}", step + 1)) } else { exchange.html(page("到了", &[])) }
    };
    "redirect-nowhere", "redirects without Location", |exchange| exchange.answer("302 Found", "", "");
    "redirect-to-file", "redirects to file:///etc/passwd", |exchange| exchange.moved("file:///etc/passwd");
    "redirect-to-script", "redirects to javascript:", |exchange| exchange.moved("javascript:alert(1)");
    "redirect-to-loopback", "redirects to 127.0.0.1", |exchange| {
        let to = format!("http://127.0.0.1:{}/secret", exchange.port);
        exchange.moved(&to)
    };
    "redirect-to-metadata", "redirects to the metadata address of clouds", |exchange| {
        exchange.moved("http://169.254.169.254/latest/meta-data/")
    };
    "redirect-of-100-kb", "redirects to a URL of 100 KB", |exchange| {
        let to = format!("/{}", "long/".repeat(20_000));
        exchange.moved(&to)
    };
    // Statuses.
    "too-many-requests", "answers 429 twice, with Retry-After in seconds, then the page", |exchange| {
        if exchange.before < 2 {
            return exchange.answer("429 Too Many Requests", "Retry-After: 1\r\n", "later");
        }
        exchange.html(page("轻一点", &[]))
    };
    "unavailable-until", "answers 503 once, with Retry-After as a date, then the page", |exchange| {
        if exchange.before < 1 {
            let until = date_in(3);
            return exchange.answer("503 Service Unavailable", &format!("Retry-After: {until}\r\n"), "later");
        }
        exchange.html(page("回来了", &[]))
    };
    "always-500", "answers 500, always", |exchange| exchange.answer("500 Internal Server Error", "", "oops");
    "half-500", "answers 500 every other time", |exchange| {
        if exchange.before % 2 == 0 {
            return exchange.answer("500 Internal Server Error", "", "oops");
        }
        exchange.html(page("一半", &[]))
    };
    "no-content", "answers 204", |exchange| exchange.send("HTTP/1.1 204 No Content\r\n\r\n").map(|()| Keep);
    "partial-content", "answers 206 to a request for the whole", |exchange| {
        exchange.answer("206 Partial Content", "Content-Type: text/html\r\nContent-Range: bytes 0-99/5000\r\n", page("一段", &[]))
    };
    "not-modified", "answers 304 to an unconditional request", |exchange| {
        exchange.send("HTTP/1.1 304 Not Modified\r\n\r\n").map(|()| Keep)
    };
    "switching-protocols", "answers 101", |exchange| {
        exchange.send("HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n").map(|()| Close)
    };
    "soft-404", "answers 200 to everything, with the text of a 404 page", |exchange| {
        let links: Vec<String> = (0..5).map(|n| format!("{}nothing-{n}", if exchange.path == "/" { "/" } else { "/x" })).collect();
        exchange.html(page("您访问的页面不存在", &links))
    };
    // Pages.
    "wrong-charset", "declares utf-8 and sends GBK", |exchange| {
        let (gbk, ..) = encoding_rs::GBK.encode("<title>编码错误</title><p>声明的编码和实际的编码并不是同一个。");
        exchange.html(gbk)
    };
    "nul-in-body", "sends a page with NUL bytes in it", |exchange| {
        let body = page("空的", &["/good".to_owned()]).replace("足球", "足\0球\0");
        exchange.html(body)
    };
    "binary-as-html", "sends noise as text/html", |exchange| {
        let noise: Vec<u8> = (0..200_000u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 11) as u8).collect();
        exchange.html(noise)
    };
    "image", "sends an image", |exchange| exchange.answer("200 OK", "Content-Type: image/png\r\n", b"\x89PNG\r\n\x1a\n");
    "media-type-nonsense", "sends an invalid media type", |exchange| {
        exchange.answer("200 OK", "Content-Type: ;;;///\r\n", page("什么类型", &[]))
    };
    "no-media-type", "sends no Content-Type", |exchange| exchange.answer("200 OK", "", page("不说", &[]));
    "nested-tags", "sends 10,000 nested tags", |exchange| {
        let body = format!("<title>深</title>{}{}", "<div>".repeat(10_000), page("最里面", &["/good".to_owned()]));
        exchange.html(body)
    };
    "megabyte-attribute", "sends an attribute of a megabyte", |exchange| {
        let body = format!("<a href=\"/{}\">长</a>{}", "a".repeat(1 << 20), page("属性", &[]));
        exchange.html(body)
    };
    "megabyte-title", "sends a title of a megabyte", |exchange| exchange.html(page(&"题".repeat(350_000), &[]));
    "100000-links", "links to 100,000 pages of its own", |exchange| {
        if exchange.path != "/" {
            return exchange.html(page(exchange.path, &[]));
        }
        let links: Vec<String> = (0..100_000).map(|n| format!("/{n}")).collect();
        exchange.html(page("很多链接", &links))
    };
    "hostile-links", "links to file:, javascript:, data:, its own address and nowhere", |exchange| {
        let links = ["file:///etc/passwd", "javascript:alert(1)", "data:text/html,x", "ftp://a.test/", "mailto:a@b.cn",
            "http://", "http://[::1", "http://localhost/secret", "http://[::ffff:127.0.0.1]/secret", "http://2130706433/secret",
            "//", "http://a b/"].map(str::to_owned);
        exchange.html(page("坏链接", &links))
    };
    "climbing-paths", "links to paths that climb out of directories", |exchange| {
        let links = ["/../../../../etc/passwd", "/..%2f..%2f..%2fetc%2fpasswd", "/%2e%2e/%2e%2e/x", "/a/..%5c..%5cb", "/nul%00byte"];
        exchange.html(page(exchange.path, &links.map(str::to_owned)))
    };
    // Traps.
    "link-loop", "links its pages in circles, each under many fragments", |exchange| {
        let links = ["/", "/#a", "/#b", "/two", "/two#c", "./", "two"].map(str::to_owned);
        exchange.html(page(exchange.path, &links))
    };
    "session-ids", "gives every link another session id", |exchange| {
        let id = Instant::now().elapsed().as_nanos() as usize + exchange.before * 7919 + exchange.path.len() * 104_729;
        let links: Vec<String> = (0..5).map(|n| format!("/page-{n}?visit={:x}", id.wrapping_mul(2_654_435_761) + n)).collect();
        exchange.html(page(exchange.path, &links))
    };
    "calendar", "has a calendar without end", |exchange| {
        let month: u32 = exchange.path.trim_start_matches("/calendar/").parse().unwrap_or(24_000);
        let links = [month + 1, month.saturating_sub(1)].map(|month| format!("/calendar/{month}"));
        exchange.html(page(&format!("日历 {month}"), &links))
    };
    "deepening-path", "links every page to one a directory deeper", |exchange| {
        let links = ["news/".to_owned(), "list/".to_owned()];
        exchange.html(page(exchange.path, &links))
    };
    // robots.txt.
    "robots-endless", "sends a robots.txt without end", |exchange| {
        exchange.send("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\nUser-agent: *\nAllow: /\n")?;
        exchange.drip(std::iter::repeat(b"# und so weiter\n".repeat(4000)), 0)
    };
    "robots-500", "answers 500 for robots.txt", |exchange| exchange.answer("500 Internal Server Error", "", "oops");
    "robots-never", "never answers for robots.txt", |exchange| exchange.silence();
    "robots-redirects", "redirects robots.txt in a circle", |exchange| exchange.moved("/robots.txt?again");
    "robots-of-2-mb", "forbids all in the first line of a robots.txt of 2 MB", |exchange| {
        let text = format!("User-agent: *\nDisallow: /\n{}", "# filler\n".repeat(230_000));
        exchange.answer("200 OK", "Content-Type: text/plain\r\n", text)
    };
    "robots-html", "sends an HTML page as robots.txt", |exchange| exchange.html(page("首页", &[]));
    "robots-noise", "sends noise as robots.txt", |exchange| {
        let noise: Vec<u8> = (0..50_000u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 11) as u8).collect();
        exchange.answer("200 OK", "Content-Type: text/plain\r\n", noise)
    };
}

/// One request, as it arrived.
#[derive(Clone, Debug)]
pub struct Request {
    pub host: String,
    pub path: String,
    pub at: Instant,
}

/// Pages of each good host.
pub const GOOD_PAGES: usize = 10;
pub const GOOD_HOSTS: usize = 5;

pub fn good_pages() -> Vec<String> {
    (0..GOOD_HOSTS).flat_map(|host| (0..GOOD_PAGES).map(move |n| format!("http://good-{host}.test/{n}"))).collect()
}

/// The server. Stops accepting connections when dropped.
pub struct Misbehaving {
    addr: SocketAddr,
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    stopped: AtomicBool,
    log: Mutex<Vec<Request>>,
    exchange: Mutex<HashMap<String, usize>>,
}

impl Misbehaving {
    pub fn start() -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let addr = listener.local_addr().unwrap();
        let shared = Arc::new(Shared::default());
        let all = Arc::clone(&shared);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                if all.stopped.load(Ordering::Relaxed) {
                    break;
                }
                let shared = Arc::clone(&all);
                std::thread::spawn(move || {
                    // Clients close on bad answers: that is expected.
                    let _ = shared.serve(stream, addr.port());
                });
            }
        });
        Self { addr, shared }
    }

    pub fn proxy(&self) -> String {
        format!("http://{}", self.addr)
    }

    pub fn log(&self) -> Vec<Request> {
        self.shared.log.lock().unwrap().clone()
    }
}

impl Drop for Misbehaving {
    fn drop(&mut self) {
        self.shared.stopped.store(true, Ordering::Relaxed);
        // Wakes the listening thread.
        let _ = TcpStream::connect(self.addr);
    }
}

impl Shared {
    fn serve(&self, mut stream: TcpStream, port: u16) -> io::Result<()> {
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(Duration::from_secs(60)))?;
        stream.set_write_timeout(Some(Duration::from_secs(60)))?;
        loop {
            let Some(url) = head(&mut stream)? else { return Ok(()) };
            let (host, path) = url.strip_prefix("http://").and_then(|url| url.split_once('/')).unwrap_or((&url, ""));
            let path = format!("/{path}");
            self.log.lock().unwrap().push(Request { host: host.to_owned(), path: path.clone(), at: Instant::now() });
            let before = {
                let mut exchange = self.exchange.lock().unwrap();
                let count = exchange.entry(url.clone()).or_default();
                *count += 1;
                *count - 1
            };
            let name = host.strip_suffix(".test").unwrap_or(host);
            let mut exchange =
                Exchange { stream: &mut stream, host, path: &path, before, stopped: &self.stopped, port };
            let after = match MISBEHAVIOURS.iter().find(|one| one.name == name) {
                Some(one) if path.starts_with("/robots.txt") == one.is_about_robots() && path != "/good" => {
                    (one.act)(&mut exchange)?
                }
                Some(_) if path == "/robots.txt" => exchange.answer("404 Not Found", "", "none")?,
                Some(_) if matches!(path.as_str(), "/good" | "/") => {
                    exchange.html(page(&format!("{name}{path}"), &[]))?
                }
                _ => good(&mut exchange, name)?,
            };
            // Unread input would make the system reset the connection.
            if name != "resets-within-body" || path != "/" {
                let _ = stream.read(&mut [0; 1]);
            }
            if matches!(after, Close) {
                return Ok(());
            }
        }
    }
}

/// A good host. The first page of the first one leads to everything.
fn good(exchange: &mut Exchange, name: &str) -> io::Result<After> {
    if !name.starts_with("good-") {
        return exchange.answer("404 Not Found", "", "no such host");
    }
    if exchange.path == "/robots.txt" {
        return exchange.answer("200 OK", "Content-Type: text/plain\r\n", "User-agent: *\nAllow: /\n");
    }
    let mut links = Vec::new();
    if name == "good-0" && exchange.path == "/0" {
        links = good_pages();
        links.extend(MISBEHAVIOURS.iter().flat_map(|one| [one.url(), one.good()]));
    }
    let title = format!("{name}{}", exchange.path);
    exchange.html(page(&title, &links))
}

/// Reads the head of a request except its last byte; returns the URL.
fn head(stream: &mut TcpStream) -> io::Result<Option<String>> {
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r") {
        if stream.read(&mut byte)? == 0 {
            return Ok(None);
        }
        head.push(byte[0]);
        assert!(head.len() < 1 << 20, "a request as long as that is none of ours");
    }
    let line = String::from_utf8_lossy(&head);
    Ok(Some(line.split(' ').nth(1).unwrap_or_default().to_owned()))
}
