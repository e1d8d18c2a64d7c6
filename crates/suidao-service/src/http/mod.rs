//! The service over HTTP: who may ask, and which handler answers.
//!
//! A request is checked in this order: a host of ours (DNS rebinding), not sent by another website (CSRF), a token if
//! one is needed, a known path, known parameters, a body of a permitted size.

mod access;
pub(crate) mod answer;
pub(crate) mod call;
mod crawls;
mod jobs;
mod openapi;
mod pages;
mod routes;
mod topic;

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, to_bytes};
use axum::http::{HeaderValue, Method, Request, Response, header};
use bytes::Bytes;
use suidao_view::listen::{is_ours, listen_with_bodies};
use tokio::net::TcpListener;

pub use access::Access;
pub use openapi::document;

use crate::problem::Problem;
use crate::service::CrawlService;
use crate::web::problem_page;
use access::{Visitor, is_from_elsewhere};
use call::Call;

/// Maximum size of a request's body.
const MAX_BODY: usize = 16 << 20;
/// Time limit of a body.
const BODY_TIME: Duration = Duration::from_secs(60);
/// Time between two looks for readings that nobody uses.
const TIDY: Duration = Duration::from_secs(30);

/// A service with those who may use it.
pub(crate) struct Site {
    pub service: Arc<CrawlService>,
    pub access: Access,
    #[cfg(feature = "mcp")]
    agents: crate::agent::AgentEndpoint,
}

/// Answers requests until `stop` resolves, and then stops all crawls and jobs.
pub async fn serve(listener: TcpListener, service: Arc<CrawlService>, access: Access, stop: impl Future<Output = ()>) {
    let tidying = {
        let service = Arc::clone(&service);
        tokio::spawn(async move {
            service.resume().await;
            loop {
                tokio::time::sleep(TIDY).await;
                service.readings.tidy();
            }
        })
    };
    #[cfg(feature = "mcp")]
    let agents = crate::agent::AgentEndpoint::new(crate::agent::Agent::new(Arc::clone(&service), access.control));
    let site = Arc::new(Site {
        service: Arc::clone(&service),
        access,
        #[cfg(feature = "mcp")]
        agents,
    });
    // Clients that follow events would hold it open.
    let (over, ended) = tokio::sync::oneshot::channel::<()>();
    let stop = async {
        stop.await;
        let _ = over.send(());
    };
    let answer = move |request| respond(Arc::clone(&site), request);
    tokio::select! {
        () = listen_with_bodies(listener, answer, stop) => {}
        () = async {
            let _ = ended.await;
            tokio::time::sleep(Duration::from_secs(2)).await;
        } => {}
    }
    tidying.abort();
    service.close().await;
}

async fn respond(site: Arc<Site>, request: Request<Body>) -> Response<Body> {
    let is_head = request.method() == Method::HEAD;
    let origin = request.headers().get(header::ORIGIN).cloned();
    let permitted = origin.filter(|origin| site.access.permits_origin(origin));
    let is_api = request.uri().path().starts_with("/api/");
    let accept = request.headers().get(header::ACCEPT).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let is_read_by_person = !is_api && accept.contains("text/html");
    let lang = call::language(request.headers());
    let made = admitted(&site, request).await;
    let mut response = made.unwrap_or_else(|problem| match problem.status {
        401 if is_read_by_person => answer::see_other("/login"),
        _ if is_read_by_person => problem_page(lang, &problem),
        _ => answer::problem(&problem),
    });
    let headers = response.headers_mut();
    for (name, value) in [
        (header::CONTENT_SECURITY_POLICY, answer::POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        // Without a referrer browsers hide the origin of forms, too.
        (header::REFERRER_POLICY, "same-origin"),
        (header::CACHE_CONTROL, "no-cache"),
    ] {
        headers.entry(name).or_insert(HeaderValue::from_static(value));
    }
    if let Some(origin) = permitted.filter(|_| is_api) {
        headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
        headers.append(header::VARY, HeaderValue::from_static("origin"));
    }
    if is_head {
        *response.body_mut() = Body::empty();
    }
    response
}

async fn admitted(site: &Arc<Site>, request: Request<Body>) -> Result<Response<Body>, Problem> {
    let (head, body) = request.into_parts();
    let field = |name| head.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default();
    if let Some(names) = &site.access.names
        && !is_ours(field(header::HOST), names)
    {
        let detail = "unknown host name; use the address, or start suidao serve with --name";
        return Err(Problem::new(421, detail));
    }
    if head.method == Method::OPTIONS {
        return Ok(answer::preflight(&site.access, head.headers.get(header::ORIGIN)));
    }
    let path = head.uri.path();
    if is_from_elsewhere(&site.access, &head.method, &head.headers) {
        return Err(Problem::forbidden("requests from other websites are refused; open the page itself"));
    }
    #[cfg(feature = "mcp")]
    if path == "/mcp" {
        if site.access.visitor(&head.headers) == Visitor::Unknown {
            return Err(no_token());
        }
        return Ok(site.agents.answer(Request::from_parts(head, body)).await);
    }
    let (route, parameters) = routes::find(&head.method, path)?;
    if !route.open && site.access.visitor(&head.headers) == Visitor::Unknown {
        return Err(no_token());
    }
    let length = field(header::CONTENT_LENGTH).parse::<usize>().unwrap_or_default();
    if length > MAX_BODY {
        return Err(too_large());
    }
    let body = if route.body.is_some() { read_body(body).await? } else { Bytes::new() };
    let call = Call::new(Arc::clone(site), route, parameters, &head, body)?;
    (route.handler)(call).await
}

fn no_token() -> Problem {
    Problem::new(401, "a token is needed")
}

async fn read_body(body: Body) -> Result<Bytes, Problem> {
    let read = tokio::time::timeout(BODY_TIME, to_bytes(body, MAX_BODY)).await;
    let slow = Problem::new(408, "the body did not arrive in time");
    read.map_err(|_| slow)?.map_err(|_| too_large())
}

fn too_large() -> Problem {
    let detail = format!("the body is cut off, or larger than {} MB", MAX_BODY >> 20);
    Problem::new(413, detail)
}
