//! Makes spider's requests: one at a time per host, with its delay, if its robots.txt allows them, hop by hop.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use reqwest::StatusCode;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use spider::fetch_engine::{EngineError, EngineRequest, EngineResponse, HttpFetchEngine};
use suidao_live::fetch::{Fetcher, RobotsAccess};
use suidao_page::model::{CrawlUrl, Failure, FailureKind, Fetched};
use suidao_page::read;
use tokio::sync::Mutex;
use tokio::task::spawn_blocking;
use tokio::time::{Instant, sleep_until};

use crate::judge::Judge;
use crate::staging::Staging;

/// Maximum number of redirects in a row.
const HOPS: usize = 5;

/// State shared by all requests of a crawl.
pub struct Shared {
    pub fetcher: Fetcher,
    pub judge: Judge,
    pub staging: Staging,
    /// Product token for robots.txt.
    pub agent: String,
    pub robots: bool,
    pub delay: Duration,
    pub hosts: Mutex<BTreeMap<String, Arc<Mutex<Host>>>>,
}

/// A host with scheme and port. Its lock is held during a request.
#[derive(Default)]
pub struct Host {
    next: Option<Instant>,
    robots: Option<RobotsAccess>,
}

#[derive(Clone)]
pub struct GuidedEngine(pub Arc<Shared>);

#[async_trait::async_trait]
impl HttpFetchEngine for GuidedEngine {
    async fn fetch(&self, request: EngineRequest<'_>) -> Result<EngineResponse, EngineError> {
        let requested = CrawlUrl::parse(request.url).map_err(|_| EngineError::Request)?;
        let mut url = requested.clone();
        for _ in 0..=HOPS {
            let fetched = self.0.fetch_when_allowed(&url).await?;
            let target = fetched.header("location").and_then(|location| url.join(location).ok());
            if let Some(target) = target.filter(|_| matches!(fetched.status, 301 | 302 | 303 | 307 | 308)) {
                url = target;
                continue;
            }
            let shared = Arc::clone(&self.0);
            let judged = spawn_blocking(move || {
                let is_page = (200..300).contains(&fetched.status);
                let reopened = if is_page { shared.judge.judge(&requested, &fetched) } else { Vec::new() };
                response(&requested, &fetched, &reopened)
            });
            return judged.await.map_err(|_| {
                EngineError::Other("the parser panicked on the page, so it is skipped; please report it".to_owned())
            });
        }
        Err(EngineError::Other(format!("more than {HOPS} redirects in a row")))
    }
}

impl Shared {
    /// Requests a URL once its host may get a request, and archives the response.
    async fn fetch_when_allowed(&self, url: &CrawlUrl) -> Result<Fetched, EngineError> {
        let host = Arc::clone(self.hosts.lock().await.entry(url.origin()).or_default());
        let mut host = host.lock().await;
        if self.robots && url.path() != "/robots.txt" {
            if host.robots.is_none() {
                host.robots = Some(self.rules(&mut host.next, url).await);
            }
            let allowed = match &host.robots {
                Some(RobotsAccess::Rules(robot)) => robot.allowed(url.as_str()),
                Some(RobotsAccess::Nothing) => false,
                Some(RobotsAccess::All) | None => true,
            };
            if !allowed {
                return Err(EngineError::Status(403));
            }
        }
        let delay = match &host.robots {
            Some(RobotsAccess::Rules(robot)) => {
                self.delay.max(Duration::from_secs_f32(robot.delay.unwrap_or(0.0).clamp(0.0, 60.0)))
            }
            _ => self.delay,
        };
        self.request(&mut host.next, url, delay).await.map_err(|failure| engine_error(failure.kind))
    }

    async fn request(&self, next: &mut Option<Instant>, url: &CrawlUrl, delay: Duration) -> Result<Fetched, Failure> {
        if let Some(next) = *next {
            sleep_until(next).await;
        }
        let response = self.fetcher.fetch(url, None).await;
        *next = Some(Instant::now() + delay);
        let fetched = response?;
        self.staging.add(fetched.clone()).map_err(|_| Failure { kind: FailureKind::Broken, retry_after: None })?;
        Ok(fetched)
    }

    /// The rules of the origin of `url`.
    async fn rules(&self, next: &mut Option<Instant>, url: &CrawlUrl) -> RobotsAccess {
        let mut at = url.robots();
        for _ in 0..=RobotsAccess::HOPS {
            let response = self.request(next, &at, self.delay).await.ok();
            match RobotsAccess::of(&self.agent, &at, response.as_ref()) {
                Ok(access) => return access,
                Err(target) => at = target,
            }
        }
        RobotsAccess::All
    }
}

/// The response as spider expects it: HTML in UTF-8, other bodies as they are. spider takes each page's links once, so
/// those that are to be followed now, of pages it has seen, are appended to this page.
fn response(requested: &CrawlUrl, fetched: &Fetched, reopened: &[CrawlUrl]) -> EngineResponse {
    let body = read::html(fetched).map(|mut html| {
        for url in reopened {
            // A URL in normal form has no quotation mark.
            html.push_str(&format!("\n<a href=\"{}\"></a>", url.as_str().replace('&', "&amp;")));
        }
        html
    });
    let mut headers = HeaderMap::new();
    for (name, value) in &fetched.headers {
        if !matches!(name.as_str(), "content-encoding" | "content-length" | "transfer-encoding")
            && let (Ok(name), Ok(value)) = (HeaderName::try_from(name.as_str()), HeaderValue::try_from(value.as_str()))
        {
            headers.append(name, value);
        }
    }
    EngineResponse {
        status_code: StatusCode::from_u16(fetched.status).unwrap_or(StatusCode::BAD_GATEWAY),
        final_url: (fetched.url != *requested).then(|| fetched.url.as_str().to_owned()),
        headers,
        body: body.map_or_else(|| fetched.body.to_vec(), String::into_bytes),
        served: true,
        ..EngineResponse::default()
    }
}

fn engine_error(kind: FailureKind) -> EngineError {
    match kind {
        FailureKind::Timeout => EngineError::Timeout,
        FailureKind::Tls => EngineError::TlsHandshake,
        FailureKind::Dns => EngineError::Dns,
        FailureKind::Connect => EngineError::ConnectRefused,
        FailureKind::Status(status) => EngineError::Status(status),
        // spider has no kind for these.
        other => EngineError::Other(other.to_string()),
    }
}
