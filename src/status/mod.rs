//! The status page of a crawl that is running, and its metrics for Prometheus. Apart from the crawl, which it sees through
//! [`View`] alone: it answers on a thread of its own, asks the machine at most once a second, and reads the log for one
//! question at a time.
//!
//! What pages say is hostile, as on the search page: it is escaped, and the browser is told to run and to load nothing. A page
//! elsewhere could have a browser ask us under a name of its own that leads here (DNS rebinding), so only addresses, localhost
//! and the names that are given are answered.

mod metrics;
mod page;

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderValue, Method, Response, StatusCode, header};
use tokio::sync::{Mutex, Semaphore, oneshot};

use crate::corpus::Story;
use crate::live::{Glance, View};
use crate::model::CrawlUrl;

/// What a browser may do with a page: show it, and send the form back.
const POLICY: &str =
    "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";
/// The machine is asked no sooner than this after it was asked last.
const FRESH: Duration = Duration::from_secs(1);
/// A machine that is busy for longer is not waited for.
const PATIENCE: Duration = Duration::from_secs(3);
/// Seconds after which a browser asks again.
const REFRESH: &str = "10";
const HTML: &str = "text/html; charset=utf-8";
const TEXT: &str = "text/plain; charset=utf-8";

/// A status page that is being served; ends when it is dropped.
#[derive(Debug)]
pub struct Server {
    address: SocketAddr,
    stop: Option<oneshot::Sender<()>>,
}

impl Server {
    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // Dropped, it resolves.
        self.stop.take();
    }
}

struct Site {
    view: Arc<View>,
    /// The crawl directory, as the user named it.
    directory: String,
    /// Names under which we may be asked, in lower case.
    names: Vec<String>,
    last: Mutex<Option<(Instant, Glance)>>,
    /// The log is read for one at a time.
    reading: Semaphore,
}

/// What is sent back.
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

/// Serves the window of a crawl until the server is dropped. `names`: under which it may be asked for, beside addresses and
/// localhost.
///
/// # Errors
/// The system's, if there is no thread or the socket cannot be used.
pub fn serve(
    listener: std::net::TcpListener,
    view: Arc<View>,
    directory: &str,
    names: &[String],
) -> std::io::Result<Server> {
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
        last: Mutex::new(None),
        reading: Semaphore::new(1),
    };
    std::thread::Builder::new().name("status".to_owned()).spawn(move || {
        runtime.block_on(async {
            let service = Router::new().fallback(respond).with_state(Arc::new(site));
            tokio::select! {
                served = async { axum::serve(listener, service).await } => {
                    if let Err(error) = served {
                        tracing::warn!("the status page is gone: {error}");
                    }
                }
                _ = stopped => {}
            }
        });
        // A story that is being read is not waited for.
        runtime.shutdown_background();
    })?;
    Ok(Server { address, stop: Some(stop) })
}

async fn respond(State(site): State<Arc<Site>>, request: Request) -> Response<Body> {
    let host = request.headers().get(header::HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
    let reply = if !site.answers_to(host) {
        let told = "not asked for under this name: use the address, localhost, or a name of status.names";
        Reply::text(421, told)
    } else if request.method() != Method::GET && request.method() != Method::HEAD {
        Reply::text(405, "only GET")
    } else {
        let query = request.uri().query().unwrap_or_default().to_owned();
        site.get(request.uri().path(), &query).await
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
    if reply.status == 405 {
        headers.insert(header::ALLOW, HeaderValue::from_static("GET, HEAD"));
    }
    response
}

impl Site {
    /// Whether a Host field names us: an address, localhost, or a name that was given.
    fn answers_to(&self, host: &str) -> bool {
        let name = match host.strip_prefix('[') {
            Some(rest) => rest.split(']').next().unwrap_or_default(),
            None => host.split(':').next().unwrap_or_default(),
        };
        let name = name.to_ascii_lowercase();
        name.parse::<IpAddr>().is_ok() || name == "localhost" || self.names.contains(&name)
    }

    async fn get(&self, path: &str, query: &str) -> Reply {
        let asked = |key: &str| {
            let mut pairs = url::form_urlencoded::parse(query.as_bytes());
            pairs.find(|(name, _)| name == key).map(|(_, value)| value.into_owned())
        };
        match path {
            "/" => {
                let paused = asked("refresh").as_deref() == Some("off");
                let body = page::page(&self.directory, &self.view.tally(), self.glance().await.as_ref(), paused);
                Reply { status: 200, media_type: HTML, refreshes: !paused, body }
            }
            "/metrics" => match metrics::text(&self.view, self.glance().await.as_ref()) {
                Ok(body) => Reply { status: 200, media_type: metrics::MEDIA_TYPE, refreshes: false, body },
                Err(error) => Reply::text(500, &error.to_string()),
            },
            "/why" => self.why(&asked("url").unwrap_or_default()).await,
            _ => Reply::text(404, "there are /, /metrics and /why?url="),
        }
    }

    /// Where the crawl stands, as it was said at most a second ago, or as long as it is busy when it was said last.
    async fn glance(&self) -> Option<Glance> {
        let mut last = self.last.lock().await;
        let is_fresh = last.as_ref().is_some_and(|(at, _)| at.elapsed() < FRESH);
        if !is_fresh && let Ok(Some(glance)) = tokio::time::timeout(PATIENCE, self.view.glance()).await {
            *last = Some((clock(), glance));
        }
        last.as_ref().map(|(_, glance)| glance.clone())
    }

    async fn why(&self, typed: &str) -> Reply {
        let page = |status, told: Result<&str, &str>| {
            let body = page::why(&self.directory, typed, told);
            Reply { status, media_type: HTML, refreshes: false, body }
        };
        if typed.is_empty() {
            return page(200, Err("Type a URL."));
        }
        let Ok(url) = CrawlUrl::parse(typed) else {
            return page(400, Err("That is no URL; write it as http://host/path."));
        };
        let Some(log) = self.view.log() else {
            return page(503, Err("The crawl has not begun yet, or is over: use suidao why."));
        };
        let Ok(_turn) = self.reading.try_acquire() else {
            return page(503, Err("Another story is being read from the log; ask again when that is done."));
        };
        let told = tokio::task::spawn_blocking(move || {
            let story = Story::read(|| log.batches(), &url)?;
            Ok::<_, crate::store::StoreError>(story.and_then(|story| story.in_words(&url).ok()))
        });
        match told.await {
            Ok(Ok(Some(story))) => page(200, Ok(&story)),
            Ok(Ok(None)) => page(404, Err("It does not occur in this crawl: no page fetched so far links to it.")),
            Ok(Err(error)) => page(500, Err(&error.to_string())),
            Err(_) => page(500, Err("The story could not be told.")),
        }
    }
}

#[allow(clippy::disallowed_methods)] // how old an answer is; nothing of the crawl is decided by it
fn clock() -> Instant {
    Instant::now()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_our_own_names_are_answered() {
        let site = Site {
            view: Arc::default(),
            directory: String::new(),
            names: vec!["crawler.example.cn".to_owned()],
            last: Mutex::new(None),
            reading: Semaphore::new(1),
        };
        for (host, answers) in [
            ("127.0.0.1:9090", true),
            ("127.0.0.1", true),
            ("[::1]:9090", true),
            ("LocalHost:9090", true),
            ("10.0.0.7:80", true),
            ("Crawler.example.cn:9090", true),
            ("evil.example.com:9090", false),
            ("127.0.0.1.evil.com", false),
            ("localhost.evil.com", false),
            ("", false),
            ("[", false),
        ] {
            assert_eq!(site.answers_to(host), answers, "{host}");
        }
    }
}
