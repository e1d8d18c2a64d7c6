//! Rendered pages in a real headless Chromium: what is read, what a hostile page cannot do, and that archive, exports
//! and replays have the rendered page. The web is a forward proxy on loopback.

use std::collections::BTreeMap;
use std::net::{TcpListener, UdpSocket};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::support::tools::is_for_ci;
use crate::support::{REPLAY_DEFAULTS, Running, as_json, events, export, records, run, suidao, tools, warcio_check};
use bytes::Bytes;
use suidao::config::Config;
use suidao::crawl::Crawl;
use suidao::fetch::render::{RenderFailure, RenderMode, RenderSettings, Renderer, RendererError};
use suidao::fetch::{FetchSettings, Fetcher};
use suidao::live::{self, Job};
use suidao::model::{CrawlUrl, Event, Failure, FailureKind, Fetched};
use suidao::read::parse;
use suidao::replay::{TopicalWeb, Web, replay};
use suidao::store::{CrawlDirectory, Responses};
use suidao::topic::{Lexicon, Topic};
use suidao::world::{ServedRequest, ServerOptions, WebServer};

/// Answers by URL: status, media type and body. robots.txt is missing unless given.
struct Pages(BTreeMap<String, (u16, String, Bytes)>);

impl Web for Pages {
    fn get(&self, url: &CrawlUrl) -> Result<Fetched, Failure> {
        let none = || Failure { kind: FailureKind::Dns, retry_after: None };
        let host = format!("http://{}/", url.authority());
        let (status, media, body) = match self.0.get(url.as_str()) {
            Some(answer) => answer.clone(),
            None if self.0.keys().any(|known| known.starts_with(&host)) => {
                (404, "text/html".to_owned(), Bytes::from_static(b"none"))
            }
            None => return Err(none()),
        };
        let name = if (300..400).contains(&status) { "location" } else { "content-type" };
        let headers = vec![(name.to_owned(), media)];
        Ok(Fetched {
            url: url.clone(),
            status,
            headers,
            body,
            wire: None,
            request_validators: None,
            rendered: None,
            unverified: false,
        })
    }
}

fn web(pages: &[(&str, &str, &str)]) -> Pages {
    let page = |&(url, media, body): &(&str, &str, &str)| {
        let status = media.parse().unwrap_or(200);
        // The body of a redirect is its target.
        let media = if status == 200 { media } else { body };
        (CrawlUrl::parse(url).unwrap().to_string(), (status, media.to_owned(), Bytes::copy_from_slice(body.as_bytes())))
    };
    Pages(pages.iter().map(page).collect())
}

const HTML: &str = "text/html; charset=utf-8";
const JS: &str = "text/javascript";
const JSON: &str = "application/json";

/// A renderer of pages of a served web.
struct Stage {
    server: WebServer,
    web: Arc<Pages>,
    runtime: tokio::runtime::Runtime,
    renderer: Renderer,
    dir: tempfile::TempDir,
}

impl Stage {
    fn new(pages: &[(&str, &str, &str)], settings: RenderSettings) -> Self {
        let web = Arc::new(web(pages));
        let options = ServerOptions { log: true, ..ServerOptions::default() };
        let server = WebServer::start_with(Arc::clone(&web) as Arc<dyn Web>, options).unwrap();
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        let fetcher = Fetcher::new(&FetchSettings { proxy: Some(server.proxy()), ..FetchSettings::default() }).unwrap();
        let settings = RenderSettings { mode: RenderMode::Always, ..settings };
        let dir = tempfile::tempdir().unwrap();
        let profiles = dir.path().join("browser");
        let start = Renderer::start(&settings, &fetcher, Some("suidao"), 4 << 20, &profiles);
        let renderer = runtime.block_on(start).unwrap().unwrap();
        Self { server, web, runtime, renderer, dir }
    }

    fn page(&self, url: &str) -> Fetched {
        self.web.get(&CrawlUrl::parse(url).unwrap()).unwrap()
    }

    fn render(&self, url: &str) -> Result<String, RenderFailure> {
        let made = self.runtime.block_on(self.renderer.render(&self.page(url)))?;
        Ok(String::from_utf8(made.to_vec()).unwrap())
    }

    /// Renders these at the same time.
    fn render_together(&self, urls: &[&str]) -> Vec<Result<String, RenderFailure>> {
        let start = |url: &&str| {
            let (renderer, page) = (self.renderer.clone(), self.page(url));
            self.runtime.spawn(async move { renderer.render(&page).await })
        };
        let renders: Vec<_> = urls.iter().map(start).collect();
        let mut texts = Vec::new();
        for made in renders {
            let html = self.runtime.block_on(made).unwrap();
            texts.push(html.map(|html| String::from_utf8(html.to_vec()).unwrap()));
        }
        texts
    }

    /// The main text of the rendered page.
    fn text(&self, url: &str) -> String {
        let rendered = Some(self.render(url).unwrap().into());
        parse(&Fetched { rendered, ..self.page(url) }).text
    }

    fn requested(&self, path: &str) -> usize {
        self.server.log().iter().filter(|ServedRequest { path: other, .. }| other.starts_with(path)).count()
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        self.runtime.block_on(self.renderer.close());
        let left: Vec<_> = std::fs::read_dir(self.dir.path().join("browser")).into_iter().flatten().collect();
        if !std::thread::panicking() {
            assert!(left.is_empty(), "the browser's files are taken away: {left:?}");
        }
    }
}

/// Browsers keep the cores of a small machine busy, so two tests at a time have one. `None` if there is no browser.
fn turn() -> Option<MutexGuard<'static, ()>> {
    static TURNS: [Mutex<()>; 2] = [Mutex::new(()), Mutex::new(())];
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    tools::browser()?;
    let turn = &TURNS[NEXT.fetch_add(1, Ordering::Relaxed) % TURNS.len()];
    Some(turn.lock().unwrap_or_else(PoisonError::into_inner))
}

const WRITE: &str = "document.getElementById('app').innerHTML = '<h1>标题</h1><p>' + \
    '这段正文由页面中的脚本写入，静态抓取看不到。'.repeat(8) + '</p><a href=/next.html>下一篇</a>';";

#[test]
fn content_made_by_scripts_is_read() {
    let Some(_turn) = turn() else { return };
    let gbk = encoding_rs::GBK.encode("<title>编码</title><div id=app></div><script>document.getElementById('app').innerHTML='<p>'+'编码为国标的页面由脚本写成。'.repeat(9)</script>").0;
    let stage = Stage::new(
        &[
            ("http://a.test/inline", HTML, &format!("<title>内</title><div id=app></div><script>{WRITE}</script>")),
            ("http://a.test/file", HTML, "<div id=app></div><script src=/js/app.js></script>"),
            ("http://a.test/js/app.js", JS, WRITE),
            ("http://a.test/json", HTML, "<div id=app></div><link rel=stylesheet href=/a.css><script src=/js/list.js></script>"),
            (
                "http://a.test/js/list.js",
                JS,
                "addEventListener('load', () => setTimeout(async () => {
                    const list = await (await fetch('/api/list.json?page=1')).json();
                    const more = await new Promise(done => { const x = new XMLHttpRequest(); x.open('GET', '/api/more.json');
                        x.setRequestHeader('X-Requested-With', 'XMLHttpRequest'); x.onload = () => done(JSON.parse(x.responseText)); x.send(); });
                    document.getElementById('app').innerHTML = [...list, ...more].map(t => `<article><p>${t.repeat(6)}</p></article>`).join('');
                }, 100));",
            ),
            ("http://a.test/api/list.json?page=1", JSON, "[\"第一条消息来自接口，内容足够长。\", \"第二条消息也来自接口，内容也够长。\"]"),
            ("http://a.test/api/more.json", JSON, "[\"第三条消息用旧的办法取得，同样够长。\"]"),
            (
                "http://a.test/shadow",
                HTML,
                "<news-item><b slot=who>记者</b></news-item><script>customElements.define('news-item', class extends HTMLElement {
                    constructor() { super(); this.attachShadow({mode: 'open'}).innerHTML =
                        '<article><p>' + '影子树里的正文也要读到，不能漏掉。'.repeat(6) + '</p><p><slot name=who></slot>写于北京，全文到此为止。</p></article>'; } });</script>",
            ),
            ("http://a.test/cross", HTML, "<div id=app></div><script src=http://cdn.test/lib.js></script><script>
                fetch('http://api.test/x.json', {headers: {'X-Own': '1'}}).then(r => r.text()).then(lib);</script>"),
            ("http://cdn.test/lib.js", JS, "function lib(text) { document.getElementById('app').innerHTML = '<p>' + ('库写的：' + text).repeat(9) + '</p>' }"),
            ("http://api.test/x.json", JSON, "不许跨站读取"),
            ("http://a.test/late", HTML, "<div id=app></div><script>history.pushState({}, '', '/deep/er/page');document.getElementById('app').innerHTML='<p>'+'改过地址的页面。'.repeat(20)+'</p><a href=sub.html>相对链接</a>'</script>"),
        ],
        RenderSettings::default(),
    );
    for (path, expected) in [
        ("inline", "这段正文由页面中的脚本写入"),
        ("file", "这段正文由页面中的脚本写入"),
        ("json", "第三条消息用旧的办法取得"),
        ("shadow", "影子树里的正文也要读到"),
        ("late", "改过地址的页面"),
    ] {
        let text = stage.text(&format!("http://a.test/{path}"));
        assert!(text.contains(expected), "{path}: {text}");
    }
    assert!(stage.text("http://a.test/json").contains("第一条消息来自接口"));
    assert!(stage.text("http://a.test/shadow").contains("写于北京"));
    // The browser obeys CORS: this host permits no other origin to read it.
    assert!(!stage.render("http://a.test/cross").unwrap().contains("不许"));
    // Links are resolved against the base address of the page.
    let rendered = Some(stage.render("http://a.test/late").unwrap().into());
    let parsed = parse(&Fetched { rendered, ..stage.page("http://a.test/late") });
    assert_eq!(parsed.document.links[0].url.as_str(), "http://a.test/deep/er/sub.html");
    // A charset other than UTF-8.
    let page = Fetched {
        body: Bytes::from(gbk.into_owned()),
        headers: vec![("content-type".to_owned(), "text/html; charset=gbk".to_owned())],
        ..stage.page("http://a.test/inline")
    };
    let rendered = stage.runtime.block_on(stage.renderer.render(&page)).unwrap();
    let parsed = parse(&Fetched { rendered: Some(rendered), ..page });
    assert!(parsed.text.contains("编码为国标的页面由脚本写成") && parsed.rendered, "{}", parsed.text);
    assert_eq!((parsed.charset.as_str(), parsed.title.as_str()), ("UTF-8", "编码"));
    // The crawl fetches the page once; style sheets never; a script once for all pages.
    assert_eq!((stage.requested("/json"), stage.requested("/a.css"), stage.requested("/js/list.js")), (0, 0, 1));
    assert_eq!(stage.requested("/robots.txt"), 3, "one for each host: {:?}", stage.server.log());
}

#[test]
fn a_hostile_page_reaches_nothing() {
    let Some(_turn) = turn() else { return };
    // Must not be reached: a server at a private address, and a UDP port.
    let private = TcpListener::bind("127.0.0.1:0").unwrap();
    let at = private.local_addr().unwrap();
    private.set_nonblocking(true).unwrap();
    let datagrams = UdpSocket::bind("127.0.0.1:0").unwrap();
    datagrams.set_nonblocking(true).unwrap();
    let stun = datagrams.local_addr().unwrap();
    let tries = format!(
        "const at = '{at}', port = '{port}';
         const add = text => document.getElementById('app').append(text + '。');
         for (const url of ['http://' + at + '/f', 'http://localhost:' + port + '/l', 'http://[::1]:' + port + '/6',
                 'http://2130706433:' + port + '/n', 'http://[::ffff:127.0.0.1]:' + port + '/m',
                 'file:///etc/passwd', 'ftp://' + at + '/', 'chrome://version/', 'http://name.invalid/'])
             fetch(url, {{mode: 'no-cors'}}).then(() => add('had ' + url), () => add('refused'));
         for (const name of ['img', 'script', 'iframe', 'video', 'embed', 'object']) {{
             const e = document.createElement(name); e.src = e.data = 'http://' + at + '/' + name; document.body.append(e);
             const f = document.createElement(name); f.src = f.data = 'file:///etc/passwd'; document.body.append(f); }}
         for (const rel of ['stylesheet', 'prefetch', 'preload', 'preconnect', 'dns-prefetch', 'modulepreload', 'icon', 'manifest', 'prerender']) {{
             const l = document.createElement('link'); l.rel = rel; l.as = 'script'; l.href = 'http://' + at + '/' + rel; document.head.append(l); }}
         navigator.sendBeacon('http://' + at + '/beacon', 'x');
         try {{ new WebSocket('ws://' + at + '/ws') }} catch (e) {{}}
         try {{ new EventSource('http://' + at + '/es') }} catch (e) {{}}
         try {{ const p = new RTCPeerConnection({{iceServers: [{{urls: 'stun:{stun}'}}]}}); p.createDataChannel('x'); p.createOffer().then(o => p.setLocalDescription(o)) }} catch (e) {{}}
         try {{ const w = new Worker(URL.createObjectURL(new Blob([`fetch('http://${{at}}/worker', {{mode:'no-cors'}}); new WebSocket('ws://${{at}}/workersocket')`]))) }} catch (e) {{}}
         try {{ const w = new Worker('/worker.js') }} catch (e) {{}}
         try {{ new WebTransport('https://' + at + '/wt') }} catch (e) {{}}
         try {{ open('http://' + at + '/open') }} catch (e) {{}}
         const frame = document.createElement('iframe'); document.body.append(frame);
         try {{ new frame.contentWindow.WebSocket('ws://' + at + '/framesocket'); frame.contentWindow.fetch('http://' + at + '/frame') }} catch (e) {{}}
         const form = document.createElement('form'); form.method = 'POST'; form.action = 'http://' + at + '/form'; document.body.append(form); form.submit();
         fetch('/post', {{method: 'POST', body: 'x'}}).catch(() => add('no post'));
         fetch('/private/x.json').then(r => add('had the forbidden'), () => add('no forbidden'));
         fetch('/to-private').then(() => add('redirected'), () => add('no redirect'));
         document.cookie = 'a=b'; fetch('/cookie').catch(() => 0);
         const spec = document.createElement('script'); spec.type = 'speculationrules';
         spec.textContent = JSON.stringify({{prefetch: [{{source: 'list', urls: ['http://' + at + '/speculated', '/speculated']}}], prerender: [{{source: 'list', urls: ['/speculated2']}}]}});
         document.head.append(spec);
         setTimeout(() => {{ location = 'file:///etc/passwd' }}, 200); setTimeout(() => {{ location = 'http://' + at + '/away' }}, 300);",
        port = at.port(),
    );
    let to_private = format!("http://{at}/redirected");
    let stage = Stage::new(
        &[
            ("http://a.test/robots.txt", "text/plain", "User-agent: *\nDisallow: /private/\n"),
            (
                "http://a.test/",
                HTML,
                &format!("<p id=app>页面</p><script src=/private/s.js></script><script>{tries}</script>"),
            ),
            ("http://a.test/private/s.js", JS, "document.getElementById('app').append('the forbidden script')"),
            ("http://a.test/private/x.json", JSON, "{}"),
            ("http://a.test/to-private", "302", &to_private),
            ("http://a.test/cookie", JSON, "{}"),
            ("http://a.test/post", JSON, "{}"),
            ("http://a.test/worker.js", JS, "fetch('/fromworker')"),
            // robots.txt is unreachable: nothing is loaded.
            ("http://a.test/closed", HTML, "<div id=app>x</div><script src=http://down.test/s.js></script>"),
            ("http://down.test/robots.txt", "503", "busy"),
            ("http://down.test/s.js", JS, "document.title = 'loaded'"),
            // An overloaded host is asked once, and one with a Crawl-delay at its intervals.
            ("http://a.test/busy", HTML, "<p id=app>忙</p><script src=http://busy.test/1.js></script>"),
            ("http://a.test/busy2", HTML, "<p id=app>忙</p><script src=http://busy.test/2.js></script>"),
            ("http://busy.test/1.js", "429", "text/plain"),
            ("http://busy.test/2.js", JS, "document.title = 'loaded'"),
            (
                "http://a.test/slowly",
                HTML,
                "<p id=app>慢</p><script src=http://slow.test/3.js></script><script src=http://slow.test/4.js></script>",
            ),
            ("http://slow.test/robots.txt", "text/plain", "User-agent: *\nCrawl-delay: 10\n"),
            ("http://slow.test/3.js", JS, "window.first = true"),
            ("http://slow.test/4.js", JS, "document.getElementById('app').append('both')"),
        ],
        RenderSettings { timeout: 8.0, idle: 1.5, ..RenderSettings::default() },
    );
    let html = stage.render("http://a.test/").unwrap();
    for absent in ["had ", "the forbidden", "redirected", "root:"] {
        assert!(!html.contains(absent), "{absent}: {html}");
    }
    for present in ["refused", "no post", "no forbidden", "no redirect", "http-equiv=\"refresh\""] {
        assert!(html.contains(present), "{present}: {html}");
    }
    assert!(private.accept().is_err(), "the private address was connected to");
    assert!(datagrams.recv(&mut [0; 64]).is_err(), "a datagram came out");
    let log = stage.server.log();
    let allowed = ["/robots.txt", "/to-private", "/cookie"];
    let others: Vec<_> = log.iter().filter(|access| !allowed.contains(&access.path.as_str())).collect();
    assert!(others.is_empty(), "{others:?}");
    assert!(!stage.render("http://a.test/closed").unwrap().contains("loaded"));
    assert_eq!(stage.requested("/s.js"), 0);
    for page in ["http://a.test/busy", "http://a.test/busy2"] {
        assert!(!stage.render(page).unwrap().contains("loaded"), "{page}");
    }
    assert_eq!((stage.requested("/1.js"), stage.requested("/2.js")), (1, 0));
    let slowly = stage.render("http://a.test/slowly").unwrap();
    assert!(slowly.contains("both"), "{slowly}");
    let log = stage.server.log();
    let at = |path: &str| log.iter().find(|access| access.path == path).unwrap().at;
    let apart = at("/4.js").max(at("/3.js")) - at("/4.js").min(at("/3.js"));
    // A second, less what the first took to arrive.
    assert!(apart > Duration::from_millis(300), "{apart:?}");
    // The proxy is asked for the robots.txt of a name without an address, and of no private one.
    let hosts = ["a.test", "down.test", "busy.test", "slow.test", "name.invalid"];
    let log = stage.server.log();
    assert!(log.iter().all(|access| hosts.contains(&access.host.as_str())), "{log:?}");
}

#[test]
fn endless_pages_are_cut_off() {
    if is_for_ci("endless pages in a browser") {
        return;
    }
    let Some(_turn) = turn() else { return };
    let stage = Stage::new(
        &[
            (
                "http://a.test/alert",
                HTML,
                "<p id=app>前</p><script>for (let i = 0; i < 50; i++) alert(i); confirm(1); prompt(2); document.getElementById('app').append('警告之后'); print()</script>",
            ),
            (
                "http://a.test/timer",
                HTML,
                "<p id=app>定时</p><script>setInterval(() => document.getElementById('app').append('次'), 1)</script>",
            ),
            (
                "http://a.test/poll",
                HTML,
                "<p id=app>轮询</p><script>setInterval(() => fetch('/data.json?' + Math.random()), 20)</script>",
            ),
            (
                "http://a.test/loop",
                HTML,
                "<p id=app>循环之前</p><script>setTimeout(() => { while (true) {} }, 50)</script>",
            ),
            ("http://a.test/atonce", HTML, "<p id=app>一来就循环</p><script>while (true) {}</script>"),
            (
                "http://a.test/reload",
                HTML,
                "<p id=app>重新</p><script>location.reload(); setTimeout(() => location.reload(), 50)</script>",
            ),
            (
                "http://a.test/elsewhere",
                HTML,
                "<p id=app>搬家</p><script>location.href = 'http://b.test/new?x=1'</script>",
            ),
            ("http://b.test/new?x=1", HTML, "新家"),
            (
                "http://a.test/popups",
                HTML,
                "<p id=app>弹窗</p><script>for (let i = 0; i < 200; i++) window.open('/p' + i)</script>",
            ),
            (
                "http://a.test/huge",
                HTML,
                "<p id=app>大</p><script>const t = '很多字'.repeat(1000); for (let i = 0; i < 1500; i++) { const p = document.createElement('p'); p.textContent = t; document.body.append(p) }</script>",
            ),
            (
                "http://a.test/deep",
                HTML,
                "<p id=app>深</p><script>let e = document.body; for (let i = 0; i < 20000; i++) { const d = document.createElement('div'); e.append(d); e = d }</script>",
            ),
            (
                "http://a.test/heap",
                HTML,
                "<p id=app>堆</p><script>const a = []; while (true) a.push(new Array(100000).fill({}))</script>",
            ),
            (
                "http://a.test/hijack",
                HTML,
                "<p id=app>改写</p><script>Document.prototype.createElement = Node.prototype.appendChild = JSON.stringify = String = null; Object.defineProperty(Element.prototype, 'outerHTML', {get() { return 'lie' }}); document.implementation.createHTMLDocument = null</script>",
            ),
            ("http://a.test/gone", HTML, "<script>document.documentElement.remove()</script>"),
            (
                "http://a.test/unload",
                HTML,
                "<p id=app>不让走</p><script>onbeforeunload = e => { e.preventDefault(); return 'x' }</script>",
            ),
            (
                "http://a.test/after",
                HTML,
                "<p id=app>之后</p><script>document.getElementById('app').append('还能用')</script>",
            ),
        ],
        RenderSettings { timeout: 8.0, tabs: 4, requests: 10, memory: 400 << 20, ..RenderSettings::default() },
    );
    let begun = Instant::now();
    assert!(stage.render("http://a.test/alert").unwrap().contains("警告之后"));
    // Each of these uses up its time.
    let waited = [("timer", "定时次次"), ("poll", "轮询"), ("reload", "重新"), ("popups", "弹窗")];
    let urls = waited.map(|(path, _)| format!("http://a.test/{path}"));
    for ((path, expected), html) in waited.iter().zip(stage.render_together(&urls.each_ref().map(String::as_str))) {
        assert!(html.as_ref().is_ok_and(|html| html.contains(expected)), "{path}: {html:?}");
    }
    assert!(stage.requested("/data.json") <= 10, "{}", stage.requested("/data.json"));
    // An endless script is stopped, and what was there before is read; at worst the server's answer is used.
    for made in stage.render_together(&["http://a.test/loop", "http://a.test/atonce", "http://a.test/heap"]) {
        match made {
            Ok(html) => assert!(html.contains("循环") || html.contains("堆"), "{html}"),
            Err(failure) => assert!(matches!(failure, RenderFailure::Busy | RenderFailure::Crashed), "{failure}"),
        }
    }
    let moved = stage.render("http://a.test/elsewhere").unwrap();
    assert!(moved.contains("content=\"0;url=http://b.test/new?x=1\""), "{moved}");
    assert_eq!((stage.requested("/new"), stage.requested("/p1"), stage.requested("/reload")), (0, 0, 0));
    assert_eq!(stage.render("http://a.test/huge"), Err(RenderFailure::TooLarge));
    // Too deep even for the browser: its answer depends on the version.
    match stage.render("http://a.test/deep") {
        Ok(html) => assert!(html.contains("深")),
        Err(failure) => assert_eq!(failure, RenderFailure::Crashed),
    }
    assert!(stage.render("http://a.test/hijack").unwrap().contains("改写"));
    assert!(!stage.render("http://a.test/gone").unwrap_or_default().contains("script"));
    assert!(stage.render("http://a.test/unload").unwrap().contains("不让走"));
    assert!(stage.render("http://a.test/after").unwrap().contains("还能用"));
    // Generous: the machine may be busy, but none of these may hang.
    assert!(begun.elapsed() < Duration::from_secs(400), "{:?}", begun.elapsed());
}

/// Processes whose command line contains `path`.
fn processes(path: &Path) -> Vec<u32> {
    let path = path.display().to_string();
    let ids = std::fs::read_dir("/proc").unwrap().filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    let names = |id: &u32| {
        let line = std::fs::read(format!("/proc/{id}/cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&line).contains(&path)
    };
    ids.filter(names).collect()
}

fn until(reached: impl Fn() -> bool) -> bool {
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_secs(60) {
        if reached() {
            return true;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    reached()
}

#[test]
fn many_pages_at_a_time_and_a_browser_that_dies() {
    if is_for_ci("a browser that dies") {
        return;
    }
    let Some(_turn) = turn() else { return };
    let names: Vec<String> = (0..24).map(|n| format!("http://h{}.test/{n}", n % 3)).collect();
    let bodies: Vec<String> = (0..24)
        .map(|n| format!("<div id=app></div><script>document.getElementById('app').innerHTML='<p>'+'第{n}页。'.repeat(30)</script>"))
        .collect();
    let pages: Vec<(&str, &str, &str)> =
        names.iter().zip(&bodies).map(|(name, body)| (name.as_str(), HTML, body.as_str())).collect();
    // The browser restarts after 7 pages.
    let stage = Stage::new(&pages, RenderSettings { tabs: 3, pages: 7, ..RenderSettings::default() });
    let all: Vec<_> = names
        .iter()
        .map(|name| {
            let (renderer, page) = (stage.renderer.clone(), stage.page(name));
            stage.runtime.spawn(async move { renderer.render(&page).await })
        })
        .collect();
    for (n, made) in all.into_iter().enumerate() {
        let html = stage.runtime.block_on(made).unwrap().unwrap();
        assert!(String::from_utf8_lossy(&html).contains(&format!("第{n}页。第{n}页。")));
    }
    // The browser crashes between two pages: another replaces it.
    let own = stage.dir.path().canonicalize().unwrap();
    let ids = processes(&own);
    assert!(!ids.is_empty());
    for id in &ids {
        let _ = std::process::Command::new("kill")
            .args(["-9", &id.to_string()])
            .stderr(std::process::Stdio::null())
            .status();
    }
    assert!(until(|| processes(&own).is_empty()));
    assert!(stage.render(&names[0]).is_ok() || stage.render(&names[0]).is_ok(), "the second time at the latest");
    stage.runtime.block_on(stage.renderer.close());
    assert!(until(|| processes(&own).is_empty()), "{:?}", processes(&own));
}

/// A site whose index is built by a script, and whose articles are static.
fn site() -> Vec<(String, &'static str, String)> {
    let mut pages = vec![
        ("http://a.test/".to_owned(), HTML, "<title>足球</title><noscript>请启用 JavaScript</noscript><div id=app></div><script src=/app.js></script>".to_owned()),
        ("http://a.test/app.js".to_owned(), JS, "fetch('/list.json').then(r => r.json()).then(list => { document.getElementById('app').innerHTML =
            '<p>' + '足球比赛的消息，每天更新。'.repeat(20) + '</p>' + list.map(n => `<li><a href=/${n}.html>足球比赛第${n}场</a>`).join('') })".to_owned()),
        ("http://a.test/list.json".to_owned(), JSON, "[1,2,3,4,5,6,7,8,9,10]".to_owned()),
        ("http://a.test/moved".to_owned(), HTML, "<script>location.replace('/1.html')</script>".to_owned()),
    ];
    pages.extend((1..=10).map(|n| {
        let text = format!(
            "<title>第{n}场</title><p>{}</p><script src=/app.js></script>",
            format!("第{n}场足球比赛的详细报道。").repeat(60)
        );
        (format!("http://a.test/{n}.html"), HTML, text)
    }));
    pages
}

fn as_web(site: &[(String, &'static str, String)]) -> Pages {
    let pages: Vec<(&str, &str, &str)> =
        site.iter().map(|(url, media, body)| (url.as_str(), *media, body.as_str())).collect();
    web(&pages)
}

fn config(proxy: &str, sets: &[&str]) -> Config {
    let fixed = ["crawl.in_flight=1", "politeness.delay=0", "politeness.backoff=0", "politeness.robots_retry=0"];
    let sets: Vec<String> = fixed.iter().chain(sets).map(|&set| set.to_owned()).collect();
    let mut config = Config::load(None, &sets).unwrap();
    config.fetch.proxy = Some(proxy.to_owned());
    config
}

#[test]
fn a_crawl_finds_what_only_scripts_show_and_keeps_it() {
    let Some(_turn) = turn() else { return };
    let web = Arc::new(as_web(&site()));
    let options = ServerOptions { log: true, ..ServerOptions::default() };
    let server = WebServer::start_with(Arc::clone(&web) as Arc<dyn Web>, options).unwrap();
    let dir = tempfile::tempdir().unwrap();
    let topic = Arc::new(Topic::new(Lexicon::from_terms("体育", &[("足球", 1.0), ("比赛", 0.8)])));
    let crawl = |name: &str, sets: &[&str]| {
        let config = config(&server.proxy(), sets);
        let seeds = vec![CrawlUrl::parse("http://a.test/").unwrap()];
        let directory = CrawlDirectory::new(dir.path().join(name));
        let job = Job::new(Arc::clone(&topic), seeds, config, directory);
        live::run(&job, |_| {}, std::future::pending()).unwrap();
        let rendered = |event: &Event| matches!(event, Event::PageFetched(page) if page.rendered);
        let records = records(&dir.path().join(name));
        let all: Vec<&Event> = records.iter().flat_map(|record| &record.batch.events).collect();
        let pages = all.iter().filter(|event| matches!(event, Event::PageFetched(_))).count();
        (pages, all.iter().filter(|event| rendered(event)).count())
    };
    assert_eq!(crawl("never", &["render.mode=never"]), (1, 0));
    // The articles have enough text.
    assert_eq!(crawl("auto", &["render.mode=auto"]), (11, 1));
    assert_eq!(crawl("unsaid", &[]), (1, 0), "nothing is rendered without --render");
    assert_eq!(crawl("always", &["render.mode=always"]), (11, 11));

    // Exports read the rendered page.
    let lines = export(&dir.path().join("auto"), &dir.path().join("auto.jsonl"));
    let home = lines.iter().find(|line| line["url"] == "http://a.test/").unwrap();
    assert!(home["text"].as_str().unwrap().contains("足球比赛的消息"), "{home}");
    // The archive has the original answer, followed by the rendered page.
    let warc = dir.path().join("auto/pages/suidao-00000.warc.gz");
    let responses: Vec<Fetched> = Responses::open(&warc, 1 << 20).unwrap().map(Result::unwrap).collect();
    let home = responses.iter().find(|page| page.url.as_str() == "http://a.test/").unwrap();
    assert!(home.body == web.get(&home.url).unwrap().body && home.rendered.is_some());
    assert_eq!(responses.iter().filter(|page| page.rendered.is_some()).count(), 1);
    warcio_check(&[warc]);
    // A replay of the archive gives the events of the crawl.
    struct RecordedWeb(BTreeMap<CrawlUrl, Fetched>);
    impl Web for RecordedWeb {
        fn get(&self, url: &CrawlUrl) -> Result<Fetched, Failure> {
            let missing = Fetched {
                url: url.clone(),
                status: 404,
                headers: Vec::new(),
                body: Bytes::new(),
                wire: None,
                request_validators: None,
                rendered: None,
                unverified: false,
            };
            Ok(self.0.get(url).cloned().unwrap_or(missing))
        }
    }
    let again = RecordedWeb(responses.into_iter().map(|page| (page.url.clone(), page)).collect());
    let config = config(&server.proxy(), &["render.mode=auto"]);
    let settings = live::crawl_settings(&config, &topic);
    let strategy = config.strategy.build(settings.page_threshold);
    let mut machine = Crawl::new(settings, strategy);
    let mut batches = Vec::new();
    let seeds = [CrawlUrl::parse("http://a.test/").unwrap()];
    replay(&mut machine, &seeds, &TopicalWeb { web: &again, topic: &topic }, 1, |batch| batches.push(batch));
    assert_eq!(as_json(&batches), events(&dir.path().join("auto")));
    // The output of `why`.
    let mut why = suidao();
    why.arg("why").arg(dir.path().join("auto")).arg("http://a.test/");
    let printed = run(why).expect(0).out;
    assert!(printed.contains("rendered in a browser"), "{printed}");
}

#[test]
fn a_crawl_that_is_killed_leaves_no_browser() {
    if is_for_ci("a killed crawl with a browser") {
        return;
    }
    let Some(_turn) = turn() else { return };
    let loops = "<title>足球</title><div id=app></div><script>setTimeout(() => { while (true) {} }, 10)</script>";
    let names = ["a", "h1", "h2", "h3", "h4"].map(|name| format!("http://{name}.test/"));
    let bodies = names.each_ref().map(|name| format!("{loops}<p>{name}"));
    let pages = [0, 1, 2, 3, 4].map(|n| (names[n].as_str(), HTML, bodies[n].as_str()));
    let web = web(&pages);
    let server = WebServer::start(Arc::new(web)).unwrap();
    let dir = tempfile::tempdir().unwrap();
    let own = dir.path().canonicalize().unwrap();
    std::fs::write(dir.path().join("l.toml"), Lexicon::from_terms("体育", &[("足球", 1.0)]).to_toml()).unwrap();
    std::fs::write(dir.path().join("s.txt"), "http://a.test/\n").unwrap();
    let crawl = |name: &str, more: &[&str]| {
        let mut command = suidao();
        command.arg("crawl").arg("-m").arg(dir.path().join("l.toml")).arg("-s").arg(dir.path().join("s.txt"));
        command.arg("-o").arg(own.join(name)).args(["--proxy", &server.proxy(), "--contact", "t@example.org"]);
        command.args(REPLAY_DEFAULTS).args(more);
        command
    };
    let busy = ["--render", "always", "--set", "render.timeout=600"];
    let mut running = Running::start(crawl("out", &busy));
    let profiles = own.join("out/state/browser");
    assert!(running.until(|| processes(&profiles).len() >= 3), "{}", running.output("err"));
    running.kill();
    assert!(until(|| processes(&profiles).is_empty()), "{:?}", processes(&profiles));
    // Resuming deletes what it left, and ends.
    run(crawl("out", &["--render", "always", "--set", "render.timeout=2"])).expect(0);
    assert!(!profiles.exists() || std::fs::read_dir(&profiles).unwrap().next().is_none());
    assert!(until(|| processes(&profiles).is_empty()));

    // Stopped while pages wait for the browser: they are not settled, but rendered when the crawl resumes.
    std::fs::write(dir.path().join("s.txt"), "http://h1.test/\nhttp://h2.test/\nhttp://h3.test/\nhttp://h4.test/\n")
        .unwrap();
    let slow = ["--set", "render.mode=always", "--set", "render.timeout=4", "--set", "render.tabs=1"];
    let shown = |name: &str| {
        let records = records(&own.join(name));
        let all = records.iter().flat_map(|record| &record.batch.events);
        let pages = all.filter_map(|event| match event {
            Event::PageFetched(page) => Some(page.rendered),
            _ => None,
        });
        pages.collect::<Vec<_>>()
    };
    let mut running = Running::start(crawl("stopped", &slow));
    assert!(running.until(|| processes(&own.join("stopped/state/browser")).len() >= 4), "{}", running.output("err"));
    running.signal("INT");
    assert_eq!(running.end().code(), 130);
    let before = shown("stopped");
    assert!(before.len() < 4 && before.iter().all(|rendered| *rendered), "{before:?}");
    assert!(until(|| processes(&own).is_empty()));
    run(crawl("stopped", &slow)).expect(0);
    assert_eq!(shown("stopped"), [true; 4]);

    // A missing program is an error before anything starts.
    for (render, expected) in
        [("render.browser=/no/such/chromium", "/no/such/chromium"), ("render.mode=sometimes", "render.mode")]
    {
        let ended = run(crawl("new", &["--render", "auto", "--set", render])).expect(2);
        assert!(ended.err.contains(expected), "{}", ended.err);
        assert!(!own.join("new").exists());
    }
}

#[test]
fn an_unusable_renderer_reports_the_cause() {
    let fetcher = Fetcher::new(&FetchSettings::default()).unwrap();
    let dir = tempfile::tempdir().unwrap();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let start = |settings: RenderSettings| {
        let profiles = dir.path().join("browser");
        runtime.block_on(async { Renderer::start(&settings, &fetcher, None, 1 << 20, &profiles).await }).map(drop)
    };
    let mode = RenderMode::Auto;
    let named = |program: &str| RenderSettings { mode, browser: Some(program.into()), ..RenderSettings::default() };
    assert!(matches!(start(named("/no/such/program")), Err(RendererError::NotAProgram(_))));
    // A program that is not a browser.
    let error = start(named("true")).unwrap_err();
    assert!(matches!(&error, RendererError::NoStart { .. }), "{error}");
    assert!(error.to_string().contains("docs/render.md"), "{error}");
    // With `never` no browser starts.
    start(RenderSettings { mode: RenderMode::Never, ..RenderSettings::default() }).unwrap();
}
