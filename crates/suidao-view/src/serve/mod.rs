//! A search page for the index of a crawl, without scripts, in Chinese and English.
//!
//! Text of pages is hostile: all of it is escaped, only http and https URLs become links, and headers make the browser
//! run no script and send no referrer. Requests are limited in length, pages and hits.

mod ask;
mod cached;
mod frame;
mod home;
mod results;

use std::future::Future;
use std::sync::Arc;

use axum::body::Body;
use axum::http::request::Parts;
use axum::http::{HeaderName, HeaderValue, Method, Response, StatusCode, header};
use tokio::net::TcpListener;
use tokio::sync::Semaphore;

use crate::listen::{is_ours, listen};
use ask::{Refused, SearchParams};
use suidao_export::index::{Index, IndexError};
use suidao_page::messages::Lang;
use suidao_page::visible;

/// Maximum number of searches at a time, including those whose client is gone.
const SEARCHES: usize = 4;

/// Content security policy: show the page, and submit the form here.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; form-action 'self'; \
    base-uri 'none'; frame-ancestors 'none'";

pub struct SearchSite {
    index: Arc<Index>,
    /// As the user named it.
    directory: String,
    /// The path below which its pages are; empty if it has the whole server.
    base: Arc<str>,
    /// The page of the crawl, if there is one.
    crawl: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HttpReply {
    pub status: u16,
    pub media_type: &'static str,
    pub body: String,
}

impl HttpReply {
    fn html(status: u16, body: String) -> Self {
        Self { status, media_type: "text/html; charset=utf-8", body }
    }
}

impl SearchSite {
    pub fn new(index: Index, directory: &str) -> Self {
        Self { index: Arc::new(index), directory: directory.to_owned(), base: "".into(), crawl: None }
    }

    /// A part of another site: its pages are below the path `base`, and link to that of the crawl.
    pub fn within(index: Arc<Index>, directory: &str, base: &str, crawl: &str) -> Self {
        Self { index, directory: directory.to_owned(), base: base.into(), crawl: Some(crawl.to_owned()) }
    }

    /// Answers a GET request: path, raw query, and `Accept-Language`.
    pub fn get(&self, path: &str, query: &str, accept_language: &str) -> HttpReply {
        let preferred = Lang::preferred(accept_language);
        let params = match SearchParams::read(query, preferred) {
            Ok(params) => params.below(&self.base),
            Err(refused) => return self.refuse(path, preferred, refused),
        };
        let made = match path {
            "/" if params.q.is_empty() => home::page(self, &params),
            // A query typed as part of the address works too.
            "/" => results::page(self, &params),
            "/search" => results::page(self, &params),
            "/page" => cached::page(self, &params),
            "/api/search" => self.json(&params),
            _ => Ok(self.missing(&params)),
        };
        made.unwrap_or_else(|error| {
            tracing::error!(%error, "cannot answer a request");
            let title = params.lang.text("cannot-read-the-index", &[]);
            let message = params.lang.text("cannot-read-log-advice", &[]);
            frame::notice(self, &params, 500, &title, &message)
        })
    }

    fn json(&self, params: &SearchParams) -> Result<HttpReply, IndexError> {
        let answer = self.index.search(&params.request(params.offset, params.limit))?;
        // Equivalent JSON that is safe on a terminal.
        let body = visible::text(&serde_json::to_string_pretty(&answer).unwrap_or_default()).into_owned() + "\n";
        Ok(HttpReply { status: 200, media_type: "application/json; charset=utf-8", body })
    }

    fn missing(&self, params: &SearchParams) -> HttpReply {
        let title = params.lang.text("page-not-found", &[]);
        let message = params.lang.text("not-found-advice", &[]);
        frame::notice(self, params, 404, &title, &message)
    }

    fn refuse(&self, path: &str, language: Lang, refused: Refused) -> HttpReply {
        let message = refused.message(language);
        if path.starts_with("/api/") {
            let body = visible::text(&serde_json::json!({ "error": message }).to_string()).into_owned() + "\n";
            return HttpReply { status: 400, media_type: "application/json; charset=utf-8", body };
        }
        let title = language.text("invalid-request", &[]);
        frame::notice(self, &SearchParams::nothing(language).below(&self.base), 400, &title, &message)
    }
}

/// Answers requests until `stop` resolves and the current ones are answered. On a local address it accepts only
/// addresses, `localhost` and `names` (in lower case) as host.
pub async fn serve(listener: TcpListener, site: SearchSite, names: Vec<String>, stop: impl Future<Output = ()>) {
    let is_own = listener.local_addr().is_ok_and(|address| address.ip().is_loopback());
    let names = is_own.then(|| Arc::new(names));
    let (site, permits) = (Arc::new(site), Arc::new(Semaphore::new(SEARCHES)));
    let answer = move |head: Parts| {
        let host = head.headers.get(header::HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
        let is_known = names.as_ref().is_none_or(|names| is_ours(host, names));
        respond(is_known.then(|| Arc::clone(&site)), Arc::clone(&permits), head)
    };
    listen(listener, answer, stop).await;
}

/// `site`: `None` if the request is for another host.
async fn respond(site: Option<Arc<SearchSite>>, permits: Arc<Semaphore>, head: Parts) -> Response<Body> {
    const PLAIN: &str = "text/plain; charset=utf-8";
    let read = head.method == Method::GET || head.method == Method::HEAD;
    let languages = head.headers.get(header::ACCEPT_LANGUAGE).and_then(|value| value.to_str().ok());
    let languages = languages.unwrap_or_default().to_owned();
    let lang = Lang::preferred(&languages);
    let reply = if let Some(site) = site.filter(|_| read) {
        let permit = permits.acquire_owned().await;
        // Searching takes time, and must not block the sockets.
        let made = tokio::task::spawn_blocking(move || {
            let _permit = permit;
            site.get(head.uri.path(), head.uri.query().unwrap_or_default(), &languages)
        });
        let made = made.await;
        made.unwrap_or_else(|_| HttpReply::html(500, "<!DOCTYPE html><title>500</title>500".to_owned()))
    } else if read {
        HttpReply { status: 421, media_type: PLAIN, body: lang.text("unknown-site-name", &[]) + "\n" }
    } else {
        HttpReply { status: 405, media_type: PLAIN, body: lang.text("only-get", &[]) + "\n" }
    };
    let mut response = Response::new(Body::from(reply.body));
    *response.status_mut() = StatusCode::from_u16(reply.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let mut set = |name: HeaderName, value: &'static str| {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    };
    set(header::CONTENT_TYPE, reply.media_type);
    set(header::CONTENT_SECURITY_POLICY, POLICY);
    set(header::X_CONTENT_TYPE_OPTIONS, "nosniff");
    set(header::REFERRER_POLICY, "no-referrer");
    set(header::VARY, "accept-language");
    set(header::CACHE_CONTROL, "no-cache");
    if reply.status == 405 {
        set(header::ALLOW, "GET, HEAD");
    }
    response
}

#[cfg(test)]
mod tests {
    use super::*;
    use suidao_html::{address, fill};
    use suidao_store::corpus::fixture::crawl;
    use suidao_store::corpus::{Catalogue, Filter};

    const HOSTILE: &str = "<title>&lt;script&gt;alert(1)&lt;/script&gt; 足球</title><p>足球 \"&gt;&lt;img src=x onerror=alert(1)&gt; \
        &lt;b&gt;篮球&lt;/b&gt;</p><p>发布于 2021-03-05</p>";

    fn site(root: &std::path::Path) -> SearchSite {
        let store = crawl(
            &root.join("crawl"),
            &[
                ("http://a.cn/", HOSTILE),
                ("http://a.cn/2", HOSTILE),
                ("http://b.cn/'\"<x>", "<title>网球</title><p>足球 乒乓球</p>"),
            ],
        );
        let catalogue = Catalogue::read(&store).unwrap();
        let chosen = Filter::default().select(&catalogue);
        suidao_export::index::build(&store, &catalogue, &chosen, &root.join("index"), None, &|| {}).unwrap();
        SearchSite::new(Index::open(&root.join("index")).unwrap(), "it's <here>")
    }

    #[test]
    fn text_of_pages_stays_text() {
        let root = tempfile::tempdir().unwrap();
        let site = site(root.path());
        let answer = site.index.search(&suidao_export::index::Request { limit: 9, ..Default::default() }).unwrap();
        let mut paths = vec![
            ("/".to_owned(), String::new()),
            ("/search".to_owned(), "q=%E8%B6%B3%E7%90%83&duplicates=keep".to_owned()),
            ("/".to_owned(), "q=%E8%B6%B3%E7%90%83".to_owned()),
        ];
        paths.extend(answer.hits.iter().map(|hit| ("/page".to_owned(), format!("id={}", hit.page.id))));
        for (path, query) in paths {
            let reply = site.get(&path, &query, "");
            assert_eq!(reply.status, 200, "{path}?{query}");
            let html = scraper::Html::parse_document(&reply.body);
            assert!(html.errors.is_empty(), "{path}: {:?}", html.errors);
            let hostile = scraper::Selector::parse("script, img, b, x, [onerror]").unwrap();
            assert_eq!(html.select(&hostile).count(), 0, "{}", reply.body);
        }
        let outward = "{% from 'macros.html' import outward %}{{ outward(url, 'x') }}";
        for url in ["javascript:alert(1)", "data:text/html,x"] {
            assert_eq!(fill(Lang::English, outward, minijinja::context! { url }).trim(), "x");
        }
        assert_eq!(address("http://a.cn/%E8%B6%B3%E7%90%83"), "http://a.cn/足球");
        for hidden in ["http://a.cn/%3Cx%3E%20", "http://a.cn/%E2%80%AEx", "http://a.cn/%0Ax", "http://a.cn/%FF"] {
            assert!(!address(hidden).contains(['\u{202e}', '\n', ' ', '\u{fffd}', '<']), "{hidden}");
        }
    }

    #[test]
    fn repeats_are_folded_and_counted_in_the_reader_s_language() {
        let root = tempfile::tempdir().unwrap();
        let site = site(root.path());
        let body = |query: &str, languages: &str| site.get("/search", query, languages).body;
        let english = body("q=%E8%B6%B3%E7%90%83", "en");
        assert!(english.contains("2 pages for “足球”") && english.contains("1 duplicate ·"), "{english}");
        let chinese = body("q=%E8%B6%B3%E7%90%83", "fr, zh-TW;q=0.8, en;q=0.7");
        assert!(chinese.contains("“足球”：2 个网页") && chinese.contains("另有 1 个内容相同"), "{chinese}");
        assert!(chinese.contains("href=\"/search?q=%E8%B6%B3%E7%90%83&amp;lang=en\""), "{chinese}");
        let narrowed = body("q=%E8%B6%B3%E7%90%83&host=b.cn&lang=en", "zh");
        assert!(
            narrowed.contains("1 page for “足球”") && narrowed.contains("aria-label=\"Remove: b.cn\""),
            "{narrowed}"
        );
        assert!(body("q=%E8%B6%B3%E7%90%83&year=1999", "en").contains("Search the whole corpus"));
        assert_eq!(site.get("/", "q=%E8%B6%B3%E7%90%83", "en").body, english, "the home page searches too");
        assert_eq!(site.get("/", "q=", "en").body, site.get("/", "", "en").body);
    }
}
