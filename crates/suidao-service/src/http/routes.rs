//! All routes of the API: the dispatcher, the parameters that are accepted and the OpenAPI document follow from this
//! table.

use std::collections::BTreeMap;
use std::pin::Pin;

use axum::body::Body;
use axum::http::{Method, Response};
use percent_encoding::percent_decode_str;

use super::call::Call;
use super::{crawls, jobs, pages, topic};
use crate::problem::Problem;
use crate::web;

type Answering = Pin<Box<dyn Future<Output = Result<Response<Body>, Problem>> + Send>>;

pub(super) struct Route {
    pub method: Method,
    /// With parts such as `{name}`.
    pub path: &'static str,
    pub summary: &'static str,
    /// Query parameters and what they are.
    pub query: &'static [(&'static str, &'static str)],
    /// Name of the schema of its body; `form` for a form of the web interface.
    pub body: Option<&'static str>,
    /// It needs no token.
    pub open: bool,
    /// Of the search site, which reads its own parameters.
    pub any_query: bool,
    pub handler: fn(Call) -> Answering,
}

const WAIT: (&str, &str) = ("wait", "Seconds to wait for the job, at most 60; by default it is only started");
const WHERE: (&str, &str) = ("where", "Conditions as in suidao export --where, such as relevant:yes lang:zh");
const FORMAT: (&str, &str) = ("format", "json, text, markdown, html (the source, as text) or warc");

/// The marks of routes in the table below.
#[allow(non_camel_case_types)]
enum Mark {
    none,
    open,
    any,
}

macro_rules! routes {
    ($($method:ident $path:literal $summary:literal [$($query:expr),*] $($body:literal)? $(@$open:ident)? => $handler:path;)*) => {
        pub(super) static ROUTES: &[Route] = &[$(Route {
            method: Method::$method,
            path: $path,
            summary: $summary,
            query: &[$($query),*],
            body: routes!(@body $($body)?),
            open: matches!(routes!(@mark $($open)?), Mark::open),
            any_query: matches!(routes!(@mark $($open)?), Mark::any),
            handler: |call| Box::pin($handler(call)),
        }),*];
    };
    (@body) => { None };
    (@body $body:literal) => { Some($body) };
    (@mark) => { Mark::none };
    (@mark $mark:ident) => { Mark::$mark };
}

routes! {
    GET "/healthz" "Whether the service answers" [] @open => jobs::health;
    GET "/robots.txt" "Nothing here is for robots" [] @open => jobs::robots;
    GET "/metrics" "Figures for Prometheus" [] => jobs::metrics;
    GET "/api/v1/openapi.json" "This document" [] => jobs::openapi;
    GET "/api/v1/crawls" "The crawls of the folder, in order of name"
        [("limit", "Maximum number, by default 100"), ("cursor", "next of the last answer")] => crawls::list;
    POST "/api/v1/crawls" "Make a crawl, as a job" [WAIT] "NewCrawl" => crawls::create;
    POST "/api/v1/plans" "Show the first requests of a crawl without making it, as a job" [WAIT] "NewCrawl" => crawls::plan;
    GET "/api/v1/crawls/{name}" "Status: state, figures, curve, newest pages, what it waits for" [] => crawls::status;
    PATCH "/api/v1/crawls/{name}" "Change limits and settings, as a job; a running crawl is resumed with them"
        [WAIT] "CrawlChange" => crawls::change;
    DELETE "/api/v1/crawls/{name}" "Delete a crawl with all its pages"
        [("confirm", "The name of the crawl again")] => crawls::delete;
    POST "/api/v1/crawls/{name}/start" "Start or resume it" [] => crawls::start;
    POST "/api/v1/crawls/{name}/stop" "Stop it after the requests in flight" [] => crawls::stop;
    POST "/api/v1/crawls/{name}/seeds" "Add seeds, also while it runs" [] "Seeds" => crawls::add_seeds;
    POST "/api/v1/crawls/{name}/refresh" "Visit known pages that have probably changed, as a job"
        [WAIT] "Refresh" => crawls::refresh;
    GET "/api/v1/crawls/{name}/events" "Fetched pages and changes of state, as server-sent events"
        [("after", "Number of the last event that was seen; also as Last-Event-ID")] => crawls::events;
    GET "/api/v1/crawls/{name}/pages" "Its pages in order of fetching, with the fields of exports"
        [WHERE, ("fields", "Fields of each page, separated by commas"), ("limit", "Maximum number, by default 50, at most 1000; for jsonl by default all"),
         ("cursor", "next of the last answer"), ("format", "json, or jsonl: a page per line")] => pages::list;
    GET "/api/v1/crawls/{name}/pages/{id}" "A page by its id" [FORMAT] => pages::by_id;
    GET "/api/v1/crawls/{name}/page" "A page by its URL" [("url", "URL of the page"), FORMAT] => pages::by_url;
    GET "/api/v1/crawls/{name}/why" "How a URL was found, what it scored, or why it was skipped"
        [("url", "URL to explain")] => pages::why;
    GET "/api/v1/crawls/{name}/search" "Full-text search"
        [("q", "Query; without one all pages, the most relevant first"), WHERE,
         ("offset", "Hits to skip, at most 1000"), ("limit", "Maximum number of hits, by default 10, at most 100")] => pages::search;
    GET "/api/v1/crawls/{name}/labels/next" "The next pages to label, with an excerpt"
        [("count", "Number of pages, by default 1"), ("sample", "Size of the sample, by default 100")] => topic::next_labels;
    POST "/api/v1/crawls/{name}/labels" "Save answers" [] "Answers" => topic::answer;
    GET "/api/v1/crawls/{name}/labels/estimate" "Precision and recall by the answers, and suggested terms" [] => topic::estimate;
    GET "/api/v1/crawls/{name}/topic" "Terms and thresholds of the topic" [] => topic::topic;
    PATCH "/api/v1/crawls/{name}/topic" "Change terms and threshold; rescore applies them to the pages"
        [] "TopicChange" => topic::change;
    GET "/api/v1/crawls/{name}/topic/lexicon" "The lexicon as TOML" [] => topic::lexicon;
    POST "/api/v1/crawls/{name}/topic/learn" "Improve the topic by the labels and judge all pages again, as a job" [WAIT] => topic::learn;
    POST "/api/v1/crawls/{name}/rescore" "Judge all pages again by the topic as it is, as a job" [WAIT] => topic::rescore;
    GET "/api/v1/crawls/{name}/exports" "Finished exports" [] => pages::exports;
    POST "/api/v1/crawls/{name}/exports" "Make an export, as a job" [WAIT] "NewExport" => pages::export;
    GET "/api/v1/crawls/{name}/exports/{file}" "Download an export" [] => pages::exported;
    DELETE "/api/v1/crawls/{name}/exports/{file}" "Delete an export" [] => pages::delete_export;
    GET "/api/v1/jobs" "Jobs of this run of the service, the newest first" [] => jobs::list;
    GET "/api/v1/jobs/{id}" "A job: state, progress, result" [WAIT] => jobs::show;
    DELETE "/api/v1/jobs/{id}" "Cancel a job" [] => jobs::cancel;
    GET "/login" "The page to log in" [] @open => web::login;
    POST "/login" "Enter with the token" [] "form" @open => web::enter;
    GET "/static/suidao.js" "The script of the pages" [] @open => web::script;
    GET "/lang" "Choose the language" [("to", "en or zh")] @open => web::speak;
    GET "/" "The crawls" [] => web::list;
    GET "/new" "A new crawl" [] => web::form;
    POST "/new" "Check or make it" [] "form" => web::create;
    GET "/jobs/{id}" "The progress of a job" [] => web::progress;
    GET "/c/{name}" "A crawl" [] => web::overview;
    POST "/c/{name}" "Do something with it" [] "form" => web::act;
    GET "/c/{name}/live" "Its progress, a part of the page" [] => web::live;
    GET "/c/{name}/label" "Label pages" [("skip", "URLs to leave out"), ("again", "The URL answered last")] => web::label;
    POST "/c/{name}/label" "Answer" [] "form" => web::answered;
    GET "/c/{name}/estimate" "What the answers say, a part of the page" [] => web::estimated;
    POST "/c/{name}/learn" "Learn from the answers" [] "form" => web::learn;
    GET "/c/{name}/terms" "The terms of the topic" [] => web::terms;
    POST "/c/{name}/terms" "Change them" [] "form" => web::change;
    GET "/c/{name}/files" "Exports" [] => web::files;
    POST "/c/{name}/files" "Make or delete an export" [] "form" => web::export;
    GET "/c/{name}/report" "The report" [] => web::report;
    GET "/c/{name}/search" "Search" [] @any => web::found;
    GET "/c/{name}/search/{page}" "Search" [] @any => web::found;
    GET "/c/{name}/feed" "A search as RSS" [("q", "Query")] => web::feed;
    GET "/c/{name}/opensearch.xml" "OpenSearch description" [] => web::described;
}

/// The route of a path, and the parts of the path that it names.
///
/// # Errors
/// Not found, or another method: the parameter then has those that are allowed.
pub(super) fn find(method: &Method, path: &str) -> Result<(&'static Route, BTreeMap<&'static str, String>), Problem> {
    let method = if *method == Method::HEAD { &Method::GET } else { method };
    let mut allowed = Vec::new();
    for route in ROUTES {
        let Some(parts) = matched(route.path, path) else { continue };
        if route.method == *method {
            return Ok((route, parts));
        }
        allowed.push(route.method.as_str());
    }
    if allowed.is_empty() {
        return Err(Problem::said("web-nothing-here", 404, &[&path]));
    }
    let detail = format!("{method} is not possible here; use {}", allowed.join(" or "));
    Err(Problem::new(405, detail).of(&allowed.join(", ")))
}

/// The decoded parts of a path, if it has the form of the pattern.
fn matched(pattern: &'static str, path: &str) -> Option<BTreeMap<&'static str, String>> {
    let mut parts = BTreeMap::new();
    let (mut wanted, mut given) = (pattern.split('/'), path.split('/'));
    loop {
        match (wanted.next(), given.next()) {
            (None, None) => return Some(parts),
            (Some(one), Some(part)) => match one.strip_prefix('{').and_then(|one| one.strip_suffix('}')) {
                Some(name) if !part.is_empty() => {
                    parts.insert(name, percent_decode_str(part).decode_utf8().ok()?.into_owned());
                }
                Some(_) => return None,
                None if one == part => {}
                None => return None,
            },
            _ => return None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_decoded_once_and_methods_told() {
        let found = |method: Method, path: &str| {
            find(&method, path).map(|(route, parts)| (route.path, parts)).map_err(|problem| problem.status)
        };
        let (path, parts) = found(Method::GET, "/api/v1/crawls/%E6%9C%BA%2525/pages/ab").unwrap();
        assert_eq!(path, "/api/v1/crawls/{name}/pages/{id}");
        assert_eq!((parts["name"].as_str(), parts["id"].as_str()), ("机%25", "ab"));
        assert!(found(Method::HEAD, "/healthz").is_ok());
        assert_eq!(found(Method::PUT, "/healthz"), Err(405));
        for path in ["", "/x", "/api/v1/crawls//pages", "/api/v1/crawls/", "/api/v1/crawls/a/b", "/api/v1/crawls/%FF"] {
            assert_eq!(found(Method::GET, path), Err(404), "{path}");
        }
    }
}
