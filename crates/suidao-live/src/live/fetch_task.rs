//! The work for one ticket of a live crawl: it is fetched on the runtime's threads, parsed on others and, if a browser
//! renders it, parsed again.

use std::sync::Arc;
use std::time::Instant;

use bytes::Bytes;

use super::parse_pool::{ParseFailure, ParsePool};
use super::{CrawlMonitor, monotonic_now, now};
use crate::fetch::render::{RenderFailure, RenderMode, Renderer};
use crate::fetch::{Fetcher, retry_after};
use suidao_crawl::crawl::{FetchKind, FetchOutcome, ResponseMeta, Ticket, outcome};
use suidao_page::model::{Failure, FailureKind, Fetched};
use suidao_page::read::scripts::wants_browser;
use suidao_page::topic::Topic;

/// The result of a ticket, parsed.
pub struct FetchResult {
    /// When the request was sent.
    pub begun: Instant,
    pub ticket: Ticket,
    pub outcome: FetchOutcome,
    pub meta: ResponseMeta,
    /// It should have been rendered and was not, because the crawl is stopping.
    pub not_rendered: bool,
    /// The response, if it is to be archived.
    pub fetched: Option<Fetched>,
}

/// What tasks need. Clones share it.
#[derive(Clone)]
pub struct FetchTask {
    pub fetcher: Fetcher,
    pub renderer: Option<Renderer>,
    pub parsers: ParsePool,
    pub topic: Arc<Topic>,
    /// The product token for robots directives of pages.
    pub robot: Arc<str>,
    /// Receives the durations.
    pub monitor: Option<Arc<CrawlMonitor>>,
}

impl FetchTask {
    /// Does the work of a ticket; the request goes out now (`begun`).
    pub async fn run(self, ticket: Ticket, begun: Instant) -> FetchResult {
        let Self { fetcher, renderer, parsers, topic, robot, monitor } = self;
        let (url, known) = (ticket.url.clone(), ticket.validators.clone());
        let fetch = tokio::spawn(async move {
            let mut sent = monotonic_now();
            let (mut response, mut delivery) = fetcher.fetch_from(&url, known.as_deref()).await;
            let by_proxy = response.as_ref().is_err_and(|failure| failure.kind == FailureKind::Proxy);
            // The proxy may have been overloaded for a moment. If it is gone the crawl stops, and no page is lost.
            if by_proxy && fetcher.check_proxy().await.is_ok() {
                sent = monotonic_now();
                (response, delivery) = fetcher.fetch_from(&url, known.as_deref()).await;
            }
            let latency = u64::try_from(monotonic_now().duration_since(sent).as_millis()).ok();
            (response, ResponseMeta { latency, from: delivery.from, new_cookies: delivery.new_cookies })
        });
        // If a library panics the page fails, instead of blocking the crawl.
        let (response, meta) = fetch.await.unwrap_or_else(|_| (Err(broken()), ResponseMeta::default()));
        if let Some(monitor) = &monitor {
            let bytes = response.as_ref().map_or(0, |fetched| fetched.wire.as_ref().unwrap_or(&fetched.body).len());
            monitor.fetched(ticket.url.authority(), begun.elapsed().as_secs_f64(), bytes as u64);
        }
        let parse_start = monotonic_now();
        let mut done = read(ticket, begun, response, &parsers, &topic, &robot).await;
        if let Some(monitor) = &monitor {
            monitor.parsing.observe(parse_start.elapsed().as_secs_f64());
        }
        if let Some(renderer) = renderer {
            match rendered(&renderer, &done).await {
                Ok(rendered @ Some(_)) => {
                    let response = done.fetched.clone().map(|fetched| Fetched { rendered, ..fetched });
                    let second = read(done.ticket, begun, response.ok_or_else(broken), &parsers, &topic, &robot).await;
                    let poorer = has_less_text(&second.outcome, &done.outcome);
                    done = if poorer { FetchResult { ticket: second.ticket, ..done } } else { second };
                }
                Ok(None) => {}
                Err(Stopped) => done.not_rendered = true,
            }
        }
        log_outcome(&done.ticket, &done.outcome);
        FetchResult { meta, ..done }
    }
}

/// The failure for a panic.
fn broken() -> Failure {
    Failure { kind: FailureKind::Broken, retry_after: None }
}

fn timed_out() -> FetchOutcome {
    FetchOutcome::Failed(Failure { kind: FailureKind::ReadingTimeout, retry_after: None })
}

/// Parses a response.
async fn read(
    ticket: Ticket,
    begun: Instant,
    response: Result<Fetched, Failure>,
    parsers: &ParsePool,
    topic: &Arc<Topic>,
    robot: &Arc<str>,
) -> FetchResult {
    let (kind, topic, robot) = (ticket.kind.clone(), Arc::clone(topic), Arc::clone(robot));
    let read = parsers.run(move || {
        let wait = response.as_ref().ok().and_then(|fetched| retry_after(fetched, now()));
        let outcome = outcome(&kind, response.as_ref().map_err(Clone::clone), wait, &topic, &robot);
        (outcome, response)
    });
    let (outcome, response) = match read.await {
        Ok((outcome, response)) => (outcome, response.ok()),
        // If a library panics the page fails.
        Err(ParseFailure::Panicked) => {
            tracing::error!(url = %ticket.url, "parsing this page panicked, so it is skipped; please report it");
            (FetchOutcome::Failed(broken()), None)
        }
        Err(ParseFailure::TimedOut) => {
            tracing::error!(
                url = %ticket.url,
                "parsing this page took longer than crawl.reading_timeout, so it is skipped; please report it"
            );
            (timed_out(), None)
        }
        // The log has no other kind for this.
        Err(ParseFailure::NoThread) => {
            tracing::error!(
                url = %ticket.url,
                "not parsed: all parser threads are stuck in other pages; restart the crawl"
            );
            (timed_out(), None)
        }
    };
    let fetched = response.filter(|_| is_archived(&ticket.kind, &outcome));
    FetchResult { begun, ticket, outcome, meta: ResponseMeta::default(), not_rendered: false, fetched }
}

/// Whether a response goes to the archive.
pub(crate) fn is_archived(kind: &FetchKind, outcome: &FetchOutcome) -> bool {
    matches!(
        (kind, outcome),
        (
            FetchKind::Page(_) | FetchKind::Plain(_) | FetchKind::Forum(..) | FetchKind::Soft404Probe(_),
            FetchOutcome::Page { .. } | FetchOutcome::Redirect { .. } | FetchOutcome::Unchanged
        )
    )
}

/// Whether the rendered page has much less text than the response: its scripts failed and removed it.
fn has_less_text(rendered: &FetchOutcome, sent: &FetchOutcome) -> bool {
    match (rendered, sent) {
        (FetchOutcome::Page { page: rendered, .. }, FetchOutcome::Page { page: sent, .. }) => {
            rendered.sketch.chars < sent.sketch.chars / 2
        }
        (FetchOutcome::Redirect { .. }, _) => false,
        _ => true,
    }
}

/// The crawl is stopping.
struct Stopped;

/// The rendered page, if it needs rendering and that succeeds; else the server's answer is used.
async fn rendered(renderer: &Renderer, done: &FetchResult) -> Result<Option<Bytes>, Stopped> {
    let (FetchOutcome::Page { page, .. }, Some(fetched)) = (&done.outcome, &done.fetched) else { return Ok(None) };
    let html = matches!(fetched.media_type().as_str(), "text/html" | "application/xhtml+xml" | "");
    let wanted = match renderer.mode() {
        RenderMode::Never => false,
        RenderMode::Auto => wants_browser(fetched, page),
        RenderMode::Always => true,
    };
    if !html || !wanted {
        return Ok(None);
    }
    let url = &fetched.url;
    match renderer.render(fetched).await {
        Ok(rendered) => {
            tracing::debug!("{url} rendered: {} bytes", rendered.len());
            Ok(Some(rendered))
        }
        Err(RenderFailure::Stopped) => Err(Stopped),
        Err(failure) => {
            tracing::debug!("{url} not rendered, parsing it as sent: {failure}");
            Ok(None)
        }
    }
}

/// Logs the outcome of a ticket, for `-v`.
fn log_outcome(ticket: &Ticket, outcome: &FetchOutcome) {
    let url = &ticket.url;
    match outcome {
        FetchOutcome::Page { status, page, .. } => {
            tracing::debug!("{url} status {status}, relevance {:.3}", page.relevance.get())
        }
        FetchOutcome::Unchanged => tracing::debug!("{url} unchanged"),
        FetchOutcome::Redirect { to, .. } => tracing::debug!("{url} redirects to {to}"),
        FetchOutcome::Sitemap(content, _) => tracing::debug!("{url} lists {} pages", content.pages.len()),
        FetchOutcome::Robots(_) => tracing::debug!("{url} fetched (or absent)"),
        FetchOutcome::Failed(failure) => tracing::debug!("{url} failed: {failure}"),
    }
}
