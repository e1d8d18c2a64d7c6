//! A request that was admitted: its parameters, body and conditions.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::body::Body;
use axum::http::request::Parts;
use axum::http::{HeaderMap, Response, header};
use bytes::Bytes;
use serde::de::DeserializeOwned;
use suidao_page::messages::Lang;
use url::form_urlencoded;

use super::routes::Route;
use super::{Site, answer};
use crate::folder::CrawlName;
use crate::jobs::{JobState, ServiceJob};
use crate::problem::Problem;
use crate::service::CrawlService;

/// Longest wait for a job in one request.
const LONGEST_WAIT: u64 = 60;

pub(crate) struct Call {
    pub site: Arc<Site>,
    path: BTreeMap<&'static str, String>,
    query: BTreeMap<String, String>,
    pub raw_query: String,
    headers: HeaderMap,
    body: Bytes,
    /// Chosen, or preferred by the browser.
    pub lang: Lang,
}

/// The fields of a form.
pub(crate) type Form = BTreeMap<String, String>;

impl Call {
    /// # Errors
    /// Names a parameter that the route does not have.
    pub(super) fn new(
        site: Arc<Site>,
        route: &'static Route,
        path: BTreeMap<&'static str, String>,
        head: &Parts,
        body: Bytes,
    ) -> Result<Self, Problem> {
        let lang = language(&head.headers);
        let pairs = form_urlencoded::parse(head.uri.query().unwrap_or_default().as_bytes());
        let query: BTreeMap<String, String> =
            pairs.map(|(name, value)| (name.into_owned(), value.into_owned())).collect();
        let is_known = |name: &str| route.query.iter().any(|(known, _)| *known == name);
        if let Some(unknown) = query.keys().find(|name| !route.any_query && !is_known(name)) {
            let known: Vec<&str> = route.query.iter().map(|(name, _)| *name).collect();
            let known =
                if known.is_empty() { "it has none".to_owned() } else { format!("it has {}", known.join(", ")) };
            return Err(Problem::parameter(unknown, format!("{} has no parameter {unknown}; {known}", route.path)));
        }
        let raw_query = head.uri.query().unwrap_or_default().to_owned();
        let call = Self { site, path, query, raw_query, headers: head.headers.clone(), body, lang };
        // Before anything is done.
        call.number("wait", 0, LONGEST_WAIT as usize)?;
        Ok(call)
    }

    pub fn service(&self) -> &Arc<CrawlService> {
        &self.site.service
    }

    /// The crawl that the path names.
    pub fn crawl(&self) -> Result<CrawlName, Problem> {
        CrawlName::parse(self.part("name"))
    }

    /// A part of the path.
    pub fn part(&self, name: &str) -> &str {
        self.path.get(name).map_or("", String::as_str)
    }

    /// A parameter that is not empty.
    pub fn param(&self, name: &str) -> Option<&str> {
        self.query.get(name).map(|value| value.trim()).filter(|value| !value.is_empty())
    }

    pub fn number(&self, name: &str, default: usize, most: usize) -> Result<usize, Problem> {
        let Some(text) = self.param(name) else { return Ok(default) };
        let number = text.parse().ok().filter(|number| *number <= most);
        number.ok_or_else(|| Problem::parameter(name, format!("{text:?} is not a number from 0 to {most}")))
    }

    pub fn header(&self, name: header::HeaderName) -> &str {
        self.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
    }

    /// The fields of a form.
    pub fn form(&self) -> Result<Form, Problem> {
        if !self.header(header::CONTENT_TYPE).starts_with("application/x-www-form-urlencoded") {
            return Err(Problem::parameter("content-type", "send the body as application/x-www-form-urlencoded"));
        }
        // Browsers end the lines of text areas with CR LF.
        let pairs = form_urlencoded::parse(&self.body);
        Ok(pairs.map(|(name, value)| (name.into_owned(), value.replace("\r\n", "\n"))).collect())
    }

    /// The body as JSON; an empty one is an empty object. A browser's form cannot send this media type.
    pub fn json<T: DeserializeOwned>(&self) -> Result<T, Problem> {
        let media_type = self.header(header::CONTENT_TYPE);
        if !self.body.is_empty() && !media_type.to_ascii_lowercase().starts_with("application/json") {
            return Err(Problem::parameter("content-type", "send the body as application/json"));
        }
        let text: &[u8] = if self.body.is_empty() { b"{}" } else { &self.body };
        serde_json::from_slice(text).map_err(|error| {
            // serde names an unknown field within grave accents.
            let message = error.to_string();
            let problem = Problem::bad(format!("the body is not what is expected: {message}"));
            match message.split('`').nth(1) {
                Some(field) => problem.of(field),
                None => problem,
            }
        })
    }

    /// Answers with a job: at once, or after waiting for its end as long as `wait` says.
    pub async fn job(&self, job: Arc<ServiceJob>) -> Result<Response<Body>, Problem> {
        let wait = self.number("wait", 0, LONGEST_WAIT as usize)? as u64;
        if wait > 0 {
            let _ = tokio::time::timeout(std::time::Duration::from_secs(wait), job.over()).await;
        }
        match job.state() {
            JobState::Failed(problem) => Err(problem),
            state => {
                let status = if state.is_over() { 200 } else { 202 };
                let mut response = answer::json(status, &job.json());
                let place = format!("/api/v1/jobs/{}", job.id);
                response.headers_mut().extend(place.parse().ok().map(|place| (header::LOCATION, place)));
                Ok(response)
            }
        }
    }

    /// The answer of `make`, unless the client has this version of it.
    pub async fn versioned<F>(&self, version: &str, make: F) -> Result<Response<Body>, Problem>
    where
        F: Future<Output = Result<Response<Body>, Problem>>,
    {
        let etag = format!("W/\"{version}\"");
        let known = self.header(header::IF_NONE_MATCH).split(',').any(|known| known.trim() == etag);
        if known {
            return Ok(answer::not_modified(&etag));
        }
        Ok(answer::tagged(make.await?, &etag))
    }
}

/// The language that the visitor chose, or that the browser prefers.
pub(super) fn language(headers: &HeaderMap) -> Lang {
    let field = |name| headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let cookies = field(header::COOKIE).split(';').filter_map(|cookie| cookie.trim().split_once('='));
    let chosen = cookies.filter(|(name, _)| *name == "suidao-lang").find_map(|(_, code)| Lang::named(code));
    chosen.unwrap_or_else(|| Lang::preferred(field(header::ACCEPT_LANGUAGE)))
}
