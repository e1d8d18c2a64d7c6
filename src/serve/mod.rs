//! A search page for the index of a crawl: HTML made here, without scripts, in Chinese and English. Apart from the index,
//! which answers, and from the verb, which listens for Ctrl-C: here is what a request means and what is sent back.
//!
//! What pages say is hostile. All of it is escaped, only http and https URLs become links, and the browser is told to run
//! nothing and to send no referrer. Requests are bounded in length, pages and hits.

mod ask;
mod home;
mod kept;
mod look;
mod results;

use std::future::Future;
use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderName, HeaderValue, Method, Response, StatusCode, header};
use tokio::net::TcpListener;

use ask::{Asked, Refused};
use look::Tongue;

use crate::index::{Index, IndexError};

/// What a browser may do with a page: show it, and send the form back.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; form-action 'self'; \
    base-uri 'none'; frame-ancestors 'none'";

/// A search page.
pub struct Site {
    index: Index,
    /// The crawl directory, as the user named it.
    directory: String,
}

/// What is sent back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply {
    /// HTTP status.
    pub status: u16,
    /// Media type.
    pub media_type: &'static str,
    /// Its text.
    pub body: String,
}

impl Reply {
    fn html(status: u16, body: String) -> Self {
        Self { status, media_type: "text/html; charset=utf-8", body }
    }
}

impl Site {
    /// A site for the index of the crawl in `directory`.
    #[must_use]
    pub fn new(index: Index, directory: &str) -> Self {
        Self { index, directory: directory.to_owned() }
    }

    /// Answers a GET request: path, query as it stands in the URL, and the languages the browser prefers.
    #[must_use]
    pub fn get(&self, path: &str, query: &str, accept_language: &str) -> Reply {
        let preferred = Tongue::preferred(accept_language);
        let asked = match Asked::read(query, preferred) {
            Ok(asked) => asked,
            Err(refused) => return self.refuse(path, preferred, refused),
        };
        let made = match path {
            "/" => home::page(self, &asked),
            "/search" => results::page(self, &asked),
            "/page" => kept::page(self, &asked),
            "/api/search" => self.json(&asked),
            _ => Ok(self.missing(&asked)),
        };
        made.unwrap_or_else(|error| {
            tracing::error!(%error, "a request could not be answered");
            let (title, told) = asked.tongue.pick(
                ("The index does not read", "Look at what suidao says where it was started."),
                ("索引读取失败", "请查看 suidao 启动处的输出。"),
            );
            look::notice(self, &asked, 500, title, told)
        })
    }

    fn json(&self, asked: &Asked) -> Result<Reply, IndexError> {
        let answer = self.index.search(&asked.request(asked.offset, asked.limit))?;
        let body = serde_json::to_string_pretty(&answer).unwrap_or_default() + "\n";
        Ok(Reply { status: 200, media_type: "application/json; charset=utf-8", body })
    }

    fn missing(&self, asked: &Asked) -> Reply {
        let (title, told) = asked.tongue.pick(
            ("There is no such page", "Search from here, or go to the beginning."),
            ("没有这个页面", "可以在上面搜索，或回到首页。"),
        );
        look::notice(self, asked, 404, title, told)
    }

    fn refuse(&self, path: &str, tongue: Tongue, refused: Refused) -> Reply {
        let told = refused.told(tongue);
        if path.starts_with("/api/") {
            let body = serde_json::json!({ "error": told }).to_string() + "\n";
            return Reply { status: 400, media_type: "application/json; charset=utf-8", body };
        }
        let title = tongue.pick("That cannot be asked", "无法这样查询");
        look::notice(self, &Asked::nothing(tongue), 400, title, told)
    }
}

/// Answers requests until `stop` is there; those under way are answered first.
///
/// # Errors
/// The system's, if the socket breaks.
pub async fn serve(
    listener: TcpListener,
    site: Site,
    stop: impl Future<Output = ()> + Send + 'static,
) -> std::io::Result<()> {
    let service = Router::new().fallback(respond).with_state(Arc::new(site));
    axum::serve(listener, service).with_graceful_shutdown(stop).await
}

async fn respond(State(site): State<Arc<Site>>, request: Request) -> Response<Body> {
    let (head, _) = request.into_parts();
    let read = head.method == Method::GET || head.method == Method::HEAD;
    let reply = if read {
        // Searching is work, and must not hold up the sockets.
        let made = tokio::task::spawn_blocking(move || {
            let languages = head.headers.get(header::ACCEPT_LANGUAGE).and_then(|value| value.to_str().ok());
            site.get(head.uri.path(), head.uri.query().unwrap_or_default(), languages.unwrap_or_default())
        });
        let made = made.await;
        made.unwrap_or_else(|_| Reply::html(500, "<!DOCTYPE html><title>500</title>500".to_owned()))
    } else {
        Reply { status: 405, media_type: "text/plain; charset=utf-8", body: "only GET\n".to_owned() }
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
