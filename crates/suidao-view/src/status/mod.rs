//! The status page of a running crawl, and its metrics for Prometheus.
//!
//! Text of pages is hostile, as on the search page: it is escaped, and a content security policy lets the browser load
//! and run nothing. Only addresses, localhost and given names are accepted as host (DNS rebinding).

#[cfg(feature = "cluster")]
mod cluster;
mod facts;
mod metrics;
mod page;

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::body::Body;
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, Method, Response, StatusCode, header};
use tokio::sync::{Mutex, Semaphore, oneshot};

use crate::listen::{is_ours, listen};
use suidao_live::live::{CrawlMonitor, StatusSnapshot, monotonic_now};
use suidao_page::messages::Lang;
use suidao_page::model::CrawlUrl;
use suidao_page::visible;
use suidao_store::corpus::UrlHistory;
use suidao_store::store::{CrawlDirectory, Store, StoreError};

/// Content security policy: show the page, and submit the form here.
const POLICY: &str =
    "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";
/// Shortest time between two requests to the machine.
const FRESH: Duration = Duration::from_secs(1);
/// Longest wait for a busy machine.
const SNAPSHOT_WAIT: Duration = Duration::from_secs(3);
/// Seconds after which the browser reloads the page.
const REFRESH: &str = "10";
const HTML: &str = "text/html; charset=utf-8";
const JSON: &str = "application/json; charset=utf-8";
const TEXT: &str = "text/plain; charset=utf-8";

/// A running status page; ends when it is dropped.
#[derive(Debug)]
pub struct StatusServer {
    address: SocketAddr,
    stop: Option<oneshot::Sender<()>>,
}

impl StatusServer {
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for StatusServer {
    fn drop(&mut self) {
        // Dropping the sender ends the server.
        self.stop.take();
    }
}

struct Site {
    view: Arc<CrawlMonitor>,
    directory: PathBuf,
    /// Accepted host names, in lower case.
    names: Vec<String>,
    last: Mutex<Last>,
    /// One reader of the log at a time. The permit belongs to the reader, not to the client.
    reading: Arc<Semaphore>,
}

#[derive(Default)]
struct Last {
    /// Time of the last request to it, answered or not.
    last_request: Option<Instant>,
    snapshot: Option<StatusSnapshot>,
}

struct Reply {
    status: u16,
    media_type: &'static str,
    refreshes: bool,
    body: String,
}

impl Reply {
    fn text(status: u16, body: &str) -> Self {
        Self { status, media_type: TEXT, refreshes: false, body: format!("{body}\n") }
    }
}

/// Serves the monitor of a crawl until the server is dropped. `names`: accepted host names besides addresses and
/// localhost.
pub fn serve(
    listener: std::net::TcpListener,
    view: Arc<CrawlMonitor>,
    directory: &Path,
    names: &[String],
) -> std::io::Result<StatusServer> {
    listener.set_nonblocking(true)?;
    let address = listener.local_addr()?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let listener = {
        let _inside = runtime.enter();
        tokio::net::TcpListener::from_std(listener)?
    };
    let (stop, stopped) = oneshot::channel::<()>();
    let site = Site {
        view,
        directory: directory.to_owned(),
        names: names.iter().map(|name| name.to_ascii_lowercase()).collect(),
        last: Mutex::default(),
        reading: Arc::new(Semaphore::new(1)),
    };
    std::thread::Builder::new().name("status".to_owned()).spawn(move || {
        runtime.block_on(async {
            let site = Arc::new(site);
            tokio::select! {
                () = listen(listener, move |head| respond(Arc::clone(&site), head), std::future::pending()) => {}
                _ = stopped => {}
            }
        });
        // Does not wait for a reader of the log.
        runtime.shutdown_background();
    })?;
    Ok(StatusServer { address, stop: Some(stop) })
}

#[cfg(feature = "cluster")]
pub use cluster::serve_cluster;
pub use facts::{facts, page_facts};

async fn respond(site: Arc<Site>, head: Parts) -> Response<Body> {
    guarded(&head, &site.names, async |path, query, lang| site.get(path, query, lang).await).await
}

/// Answers a request to a host of ours by path, query and language, and refuses others.
async fn guarded(
    head: &Parts,
    names: &[String],
    answer: impl AsyncFnOnce(&str, &str, Lang) -> Reply,
) -> Response<Body> {
    let host = field(&head.headers, "host");
    let lang = Lang::preferred(field(&head.headers, "accept-language"));
    let reply = if !is_ours(host, names) {
        Reply::text(421, lang.phrase("unknown-host-name"))
    } else if head.method != Method::GET && head.method != Method::HEAD {
        Reply::text(405, lang.phrase("only-get"))
    } else if is_cross_site(&head.headers, head.uri.path()) {
        Reply::text(403, lang.phrase("blocked-from-other-site"))
    } else {
        answer(head.uri.path(), head.uri.query().unwrap_or_default(), lang).await
    };
    let mut response = Response::new(Body::from(reply.body));
    *response.status_mut() = StatusCode::from_u16(reply.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let headers = response.headers_mut();
    for (name, value) in [
        (header::CONTENT_TYPE, reply.media_type),
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::CACHE_CONTROL, "no-store"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    if reply.refreshes {
        headers.insert(header::REFRESH, HeaderValue::from_static(REFRESH));
    }
    if reply.status == 503 {
        headers.insert(header::RETRY_AFTER, HeaderValue::from_static(REFRESH));
    }
    if reply.status == 405 {
        headers.insert(header::ALLOW, HeaderValue::from_static("GET, HEAD"));
    }
    response
}

fn field<'a>(headers: &'a HeaderMap, name: &str) -> &'a str {
    headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
}

/// Whether another website made the browser send this request. A followed link to the page is harmless, but explaining
/// a URL occupies a core while the log is read. Browsers mark requests to local addresses, and to others under https;
/// to others under http they do not.
fn is_cross_site(headers: &HeaderMap, path: &str) -> bool {
    let follows = field(headers, "sec-fetch-mode") == "navigate" && field(headers, "sec-fetch-dest") == "document";
    field(headers, "sec-fetch-site") == "cross-site" && (path == "/why" || !follows)
}

impl Site {
    async fn get(&self, path: &str, query: &str, lang: Lang) -> Reply {
        let requested = |key: &str| {
            let mut pairs = url::form_urlencoded::parse(query.as_bytes());
            pairs.find(|(name, _)| name == key).map(|(_, value)| value.into_owned())
        };
        match path {
            "/" => {
                let paused = requested("refresh").as_deref() == Some("off");
                let body = page::page(
                    &self.directory.display().to_string(),
                    &self.view.tally(),
                    self.snapshot().await.as_ref(),
                    paused,
                    lang,
                );
                Reply { status: 200, media_type: HTML, refreshes: !paused, body }
            }
            "/metrics" => match metrics::text(&self.view, self.snapshot().await.as_ref()) {
                Ok(body) => Reply { status: 200, media_type: metrics::MEDIA_TYPE, refreshes: false, body },
                Err(error) => Reply::text(500, &error.to_string()),
            },
            "/status.json" => {
                let body = facts(&self.view.tally(), self.snapshot().await.as_ref()).to_string();
                Reply {
                    status: 200,
                    media_type: JSON,
                    refreshes: false,
                    body: visible::text(&body).into_owned() + "\n",
                }
            }
            "/why" => self.why(&requested("url").unwrap_or_default(), lang).await,
            _ => Reply::text(404, lang.phrase("available-paths")),
        }
    }

    /// The status of the crawl, at most a second old, or the last known one while the crawl is busy.
    async fn snapshot(&self) -> Option<StatusSnapshot> {
        // Concurrent clients wait for the same answer, or the same timeout.
        let mut last = self.last.lock().await;
        if last.last_request.is_none_or(|at| at.elapsed() >= FRESH) {
            if let Ok(Some(snapshot)) = tokio::time::timeout(SNAPSHOT_WAIT, self.view.snapshot()).await {
                last.snapshot = Some(snapshot);
            }
            last.last_request = Some(monotonic_now());
        }
        last.snapshot.clone()
    }

    async fn why(&self, typed: &str, lang: Lang) -> Reply {
        let text = |key: &str| lang.text(key, &[]);
        let page = |status, text: Result<&str, &str>| {
            let body = page::why(&self.directory.display().to_string(), typed, text, lang);
            Reply { status, media_type: HTML, refreshes: false, body }
        };
        if typed.is_empty() {
            return page(200, Err(&text("type-a-url")));
        }
        let Ok(url) = CrawlUrl::parse(typed) else {
            return page(400, Err(&text("why-no-url")));
        };
        let directory = CrawlDirectory::new(&self.directory);
        let story = run_exclusively(&self.reading, move |is_waited_for| {
            let log = Store::open(&directory)?;
            let story = UrlHistory::read(|| log.batches().take_while(|_| is_waited_for()), &url, lang)?;
            Ok::<_, StoreError>(story.map(|story| (story.to_string(), story.queued_at())))
        });
        let Some(story) = story.await else {
            return page(503, Err(&text("why-busy")));
        };
        match story {
            Ok(Ok(Some((mut story, queued)))) => {
                let held = self.snapshot().await.and_then(|snapshot| snapshot.overview.wait_threshold);
                let held =
                    held.filter(|held| held.by_priority && queued.is_some_and(|priority| priority.get() < held.below));
                if let Some(held) = held {
                    story += &page::describe(&held, lang);
                }
                page(200, Ok(&story))
            }
            Ok(Ok(None)) => page(404, Err(&text("why-unknown"))),
            Ok(Err(error)) => page(500, Err(&format!("{} {error}", text("cannot-read-the-log")))),
            Err(_) => page(500, Err(&text("cannot-read-the-log"))),
        }
    }
}

/// Runs work on a thread of its own; `None` if another is running. The permit belongs to the work, because the client
/// may be gone before it ends; the function passed to the work reports whether it should stop early.
async fn run_exclusively<T: Send + 'static>(
    permits: &Arc<Semaphore>,
    work: impl FnOnce(&dyn Fn() -> bool) -> T + Send + 'static,
) -> Option<Result<T, tokio::task::JoinError>> {
    let permit = Arc::clone(permits).try_acquire_owned().ok()?;
    let (requested, _waits) = oneshot::channel::<()>();
    let work = move || {
        let _permit = permit;
        work(&|| !requested.is_closed())
    };
    Some(tokio::task::spawn_blocking(work).await)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn site() -> Site {
        Site {
            view: Arc::default(),
            directory: PathBuf::new(),
            names: vec!["crawler.example.cn".to_owned()],
            last: Mutex::default(),
            reading: Arc::new(Semaphore::new(1)),
        }
    }

    #[tokio::test]
    async fn work_keeps_its_permit_after_the_client_disconnects() {
        let permits = Arc::new(Semaphore::new(1));
        let (end, ended) = std::sync::mpsc::channel::<()>();
        let (begin, begun) = oneshot::channel();
        let (answer, result) = oneshot::channel();
        let work = move |is_waited_for: &dyn Fn() -> bool| {
            begin.send(is_waited_for()).unwrap();
            ended.recv().unwrap();
            answer.send(is_waited_for()).unwrap();
        };
        let asking = {
            let permits = Arc::clone(&permits);
            tokio::spawn(async move { run_exclusively(&permits, work).await })
        };
        assert!(begun.await.unwrap());
        asking.abort();
        assert!(asking.await.unwrap_err().is_cancelled());
        assert!(run_exclusively(&permits, |_| ()).await.is_none(), "the work continues");
        end.send(()).unwrap();
        assert!(!result.await.unwrap(), "the requester is gone");
        while permits.available_permits() == 0 {
            tokio::task::yield_now().await;
        }
        assert_eq!(run_exclusively(&permits, |_| 7).await.unwrap().unwrap(), 7);
    }

    #[tokio::test]
    async fn concurrent_clients_share_one_snapshot_request() {
        let site = Arc::new(site());
        let begun = monotonic_now();
        let looks: Vec<_> = (0..5)
            .map(|_| {
                let site = Arc::clone(&site);
                tokio::spawn(async move { site.snapshot().await.is_none() })
            })
            .collect();
        for look in looks {
            assert!(look.await.unwrap());
        }
        assert!(begun.elapsed() < SNAPSHOT_WAIT + FRESH, "{:?}", begun.elapsed());
    }

    #[test]
    fn cross_site_requests_cannot_start_work() {
        let asks = |fields: [&'static str; 3], path| {
            let names = ["sec-fetch-site", "sec-fetch-mode", "sec-fetch-dest"];
            let fields = names.into_iter().zip(fields).filter(|(_, value)| !value.is_empty());
            let headers = fields
                .map(|(name, value)| (header::HeaderName::from_static(name), HeaderValue::from_static(value)))
                .collect();
            is_cross_site(&headers, path)
        };
        for (fields, path, is_refused) in [
            (["cross-site", "no-cors", "image"], "/why", true),
            (["cross-site", "no-cors", "image"], "/", true),
            (["cross-site", "cors", "empty"], "/metrics", true),
            (["cross-site", "navigate", "iframe"], "/", true),
            (["cross-site", "navigate", "document"], "/", false),
            (["cross-site", "navigate", "document"], "/why", true),
            (["same-origin", "navigate", "document"], "/why", false),
            (["none", "navigate", "document"], "/why", false),
            (["", "", ""], "/why", false),
        ] {
            assert_eq!(asks(fields, path), is_refused, "{fields:?} {path}");
        }
    }
}
