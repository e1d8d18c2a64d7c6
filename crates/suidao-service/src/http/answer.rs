//! Answers: JSON, texts, files, problems.

use axum::body::Body;
use axum::http::{HeaderValue, Response, StatusCode, header};
use serde_json::{Value, json};
use suidao_page::model::number;
use suidao_page::visible;

use super::access::Access;
use crate::problem::Problem;

/// Content security policy: scripts and requests of our own only, none within a page.
pub(crate) const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; script-src 'self'; \
    connect-src 'self'; img-src data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

pub(crate) fn bytes(status: u16, media_type: &'static str, body: impl Into<Body>) -> Response<Body> {
    let mut response = Response::new(body.into());
    *response.status_mut() = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(media_type));
    response
}

pub(crate) fn json(status: u16, value: &Value) -> Response<Body> {
    // Equivalent JSON that is safe on a terminal.
    let body = visible::text(&number::plain(value.clone()).to_string()).into_owned() + "\n";
    bytes(status, "application/json; charset=utf-8", body)
}

pub(crate) fn text(media_type: &'static str, body: String) -> Response<Body> {
    bytes(200, media_type, body)
}

pub(crate) fn nothing() -> Response<Body> {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::NO_CONTENT;
    response
}

pub(crate) fn not_modified(etag: &str) -> Response<Body> {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::NOT_MODIFIED;
    tagged(response, etag)
}

pub(crate) fn tagged(mut response: Response<Body>, etag: &str) -> Response<Body> {
    if let Ok(value) = HeaderValue::from_str(etag) {
        response.headers_mut().insert(header::ETAG, value);
    }
    response
}

/// A file to save. Its name is within quotation marks, or encoded (RFC 8187).
pub(crate) fn attachment(mut response: Response<Body>, name: &str) -> Response<Body> {
    let encoded = percent_encoding::utf8_percent_encode(name, percent_encoding::NON_ALPHANUMERIC);
    if let Ok(value) = HeaderValue::from_str(&format!("attachment; filename*=UTF-8''{encoded}")) {
        response.headers_mut().insert(header::CONTENT_DISPOSITION, value);
    }
    response
}

pub(crate) fn see_other(place: &str) -> Response<Body> {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::SEE_OTHER;
    if let Ok(value) = HeaderValue::from_str(place) {
        response.headers_mut().insert(header::LOCATION, value);
    }
    response
}

pub(crate) fn problem(problem: &Problem) -> Response<Body> {
    let body = visible::text(&problem.json().to_string()).into_owned() + "\n";
    let mut response = bytes(problem.status, "application/problem+json; charset=utf-8", body);
    let headers = response.headers_mut();
    match problem.status {
        401 => drop(headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"))),
        503 => drop(headers.insert(header::RETRY_AFTER, HeaderValue::from_static("5"))),
        405 => {
            let allowed = problem.parameter.as_deref().unwrap_or("GET");
            headers.extend(HeaderValue::from_str(allowed).ok().map(|value| (header::ALLOW, value)));
        }
        _ => {}
    }
    response
}

/// The answer to a browser that asks whether a script of another website may send a request.
pub(crate) fn preflight(access: &Access, origin: Option<&HeaderValue>) -> Response<Body> {
    let mut response = nothing();
    if origin.is_some_and(|origin| access.permits_origin(origin)) {
        let headers = response.headers_mut();
        for (name, value) in [
            (header::ACCESS_CONTROL_ALLOW_METHODS, "GET, POST, PUT, PATCH, DELETE"),
            (header::ACCESS_CONTROL_ALLOW_HEADERS, "authorization, content-type, last-event-id"),
            (header::ACCESS_CONTROL_MAX_AGE, "600"),
        ] {
            headers.insert(name, HeaderValue::from_static(value));
        }
    }
    response
}

/// `/robots.txt`: the service is for its owner.
pub(crate) fn robots() -> Response<Body> {
    text("text/plain; charset=utf-8", "User-agent: *\nDisallow: /\n".to_owned())
}

pub(crate) fn health() -> Response<Body> {
    json(200, &json!({ "status": "ok" }))
}
