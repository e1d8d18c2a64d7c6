//! Serves any [`Web`] as HTTP/1.1 on loopback: as a forward proxy for http, and for every host by its `Host` field.
//!
//! It sends status, fields and body of [`Web::get`]. A failure there (unknown host, broken connection) is a 502 here,
//! as from any proxy; [`Proxied`] does the same without HTTP, so that a replay can be compared with a live crawl.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderName, HeaderValue, Method, Response, StatusCode, header};
use axum::serve::ListenerExt;
use bytes::Bytes;
use tokio::net::TcpListener;
use tokio::sync::oneshot;

use super::response::response;
use suidao_crawl::replay::Web;
use suidao_page::model::{CrawlUrl, Failure, Fetched};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServedRequest {
    /// Requested host name, with the port if it is not 80.
    pub host: String,
    pub path: String,
    pub status: u16,
    pub at: Instant,
}

/// Options of a [`WebServer`]; the default answers immediately and keeps no log.
#[derive(Clone, Copy, Debug, Default)]
pub struct ServerOptions {
    pub delay: Duration,
    /// Keep a [`ServedRequest`] for each request, for [`WebServer::log`].
    pub log: bool,
    /// Port of 127.0.0.1; 0 for a free one.
    pub port: u16,
}

/// A running server. Dropping it closes all its connections.
pub struct WebServer {
    addr: SocketAddr,
    shared: Arc<Shared>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

struct Shared {
    web: Arc<dyn Web>,
    options: ServerOptions,
    requests: AtomicU64,
    log: Mutex<Vec<ServedRequest>>,
}

impl WebServer {
    /// Serves `web` on 127.0.0.1, on a free port, from its own thread.
    ///
    /// # Errors
    /// The system's, without a free port or thread.
    pub fn start(web: Arc<dyn Web>) -> std::io::Result<Self> {
        Self::start_with(web, ServerOptions::default())
    }

    /// [`WebServer::start`] with a delay, a log or a port.
    ///
    /// # Errors
    /// The system's, without a free port or thread.
    pub fn start_with(web: Arc<dyn Web>, options: ServerOptions) -> std::io::Result<Self> {
        let listener = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, options.port))?;
        listener.set_nonblocking(true)?;
        let addr = listener.local_addr()?;
        let shared = Arc::new(Shared { web, options, requests: AtomicU64::new(0), log: Mutex::default() });
        let (stop, stopped) = oneshot::channel();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let state = Arc::clone(&shared);
        let serve = async move {
            let listener = TcpListener::from_std(listener)?.tap_io(|stream| {
                // Otherwise small answers wait for the client's acknowledgement; an error only leaves that delay.
                let _ = stream.set_nodelay(true);
            });
            let service = Router::new().fallback(respond).with_state(state);
            tokio::select! {
                ended = async { axum::serve(listener, service).await } => ended,
                _ = stopped => Ok(()),
            }
        };
        let thread = std::thread::Builder::new().name("world".to_owned()).spawn(move || {
            if let Err(error) = runtime.block_on(serve) {
                tracing::error!(%error, "the server of the generated web stopped");
            }
        })?;
        Ok(Self { addr, shared, stop: Some(stop), thread: Some(thread) })
    }

    pub fn addr(&self) -> SocketAddr {
        self.addr
    }

    /// Its URL as a proxy: `http://127.0.0.1:port`.
    pub fn proxy(&self) -> String {
        format!("http://{}", self.addr)
    }

    pub fn requests(&self) -> u64 {
        self.shared.requests.load(Ordering::Relaxed)
    }

    /// Answered requests in order; empty unless [`ServerOptions::log`] is set.
    pub fn log(&self) -> Vec<ServedRequest> {
        self.shared.log.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Drop for WebServer {
    fn drop(&mut self) {
        if let Some(stop) = self.stop.take() {
            let _ = stop.send(());
        }
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// A web as seen through a proxy: failures before a response are 502.
pub struct Proxied<W>(pub W);

impl<W: Web> Web for Proxied<W> {
    fn get(&self, url: &CrawlUrl) -> Result<Fetched, Failure> {
        self.get_with(url, &[])
    }

    fn get_with(&self, url: &CrawlUrl, fields: &[(String, String)]) -> Result<Fetched, Failure> {
        Ok(self.0.get_with(url, fields).unwrap_or_else(|failure| bad_gateway(url, &failure)))
    }
}

fn bad_gateway(url: &CrawlUrl, failure: &Failure) -> Fetched {
    response(url, 502, "text/plain; charset=utf-8", &[], Bytes::from(format!("no response: {failure}\n")))
}

#[allow(clippy::disallowed_methods, reason = "an edge: the log has the time of each request")]
async fn respond(State(shared): State<Arc<Shared>>, request: Request) -> Response<Body> {
    let at = Instant::now();
    shared.requests.fetch_add(1, Ordering::Relaxed);
    if !shared.options.delay.is_zero() {
        tokio::time::sleep(shared.options.delay).await;
    }
    // A proxy's client names the host in the request target, others in the Host field.
    let named = request.uri().authority().map(|authority| authority.as_str().to_owned());
    let field = || request.headers().get(header::HOST).and_then(|host| host.to_str().ok()).map(str::to_owned);
    let host = named.or_else(field).unwrap_or_default();
    let path = request.uri().path_and_query().map_or("/", |path| path.as_str());
    let response = if request.method() != Method::GET {
        plain(StatusCode::METHOD_NOT_ALLOWED, "only GET\n")
    } else if let Ok(url) = CrawlUrl::parse(&format!("http://{host}{path}")) {
        let fields = request
            .headers()
            .iter()
            .filter_map(|(name, value)| Some((name.as_str().to_owned(), value.to_str().ok()?.to_owned())));
        let fields: Vec<(String, String)> = fields.collect();
        send(shared.web.get_with(&url, &fields).unwrap_or_else(|failure| bad_gateway(&url, &failure)))
    } else {
        plain(StatusCode::BAD_REQUEST, "no such host or path\n")
    };
    if shared.options.log {
        let access = ServedRequest { host, path: path.to_owned(), status: response.status().as_u16(), at };
        shared.log.lock().unwrap_or_else(PoisonError::into_inner).push(access);
    }
    response
}

fn plain(status: StatusCode, text: &'static str) -> Response<Body> {
    let mut response = Response::new(Body::from(text));
    *response.status_mut() = status;
    response
}

/// The response as sent: still content-encoded if possible, and without connection-specific fields.
fn send(fetched: Fetched) -> Response<Body> {
    let encoded = fetched.wire.is_some();
    let mut response = Response::new(Body::from(fetched.wire.unwrap_or(fetched.body)));
    *response.status_mut() = StatusCode::from_u16(fetched.status).unwrap_or(StatusCode::BAD_GATEWAY);
    for (name, value) in fetched.headers {
        let length = name == "content-length" && !value.parse().is_ok_and(|length: u64| body_is(&response, length));
        let coding = name == "content-encoding" && !encoded;
        if length || coding || matches!(name.as_str(), "transfer-encoding" | "connection" | "keep-alive") {
            continue;
        }
        if let (Ok(name), Ok(value)) = (HeaderName::try_from(name), HeaderValue::try_from(value)) {
            response.headers_mut().append(name, value);
        }
    }
    response
}

fn body_is(response: &Response<Body>, length: u64) -> bool {
    use axum::body::HttpBody;
    response.body().size_hint().exact() == Some(length)
}

#[cfg(test)]
mod tests {
    use super::super::{SyntheticWeb, WebSpec};
    use super::*;
    use suidao_page::model::FailureKind;

    /// A page of a.test, and no other host.
    struct Greeting;

    impl Web for Greeting {
        fn get(&self, url: &CrawlUrl) -> Result<Fetched, Failure> {
            let headers = vec![("content-type".to_owned(), "text/html".to_owned())];
            let body = Bytes::from_static(b"<p>hello</p>\n");
            let there = Fetched {
                url: url.clone(),
                status: 200,
                headers,
                body,
                wire: None,
                request_validators: None,
                rendered: None,
                unverified: false,
            };
            let missing = Failure { kind: FailureKind::Dns, retry_after: None };
            if url.host() == "a.test" { Ok(there) } else { Err(missing) }
        }
    }

    fn get(
        client: &reqwest::Client,
        runtime: &tokio::runtime::Runtime,
        url: &str,
    ) -> (u16, Vec<(String, String)>, Bytes) {
        runtime.block_on(async {
            let response = client.get(url).send().await.unwrap();
            let field =
                |(name, value): (&HeaderName, &HeaderValue)| (name.to_string(), value.to_str().unwrap().to_owned());
            let fields = response.headers().iter().map(field).collect();
            (response.status().as_u16(), fields, response.bytes().await.unwrap())
        })
    }

    fn client(server: &WebServer) -> (reqwest::Client, tokio::runtime::Runtime) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let _ = rustls::crypto::ring::default_provider().install_default();
        let proxy = reqwest::Proxy::http(server.proxy()).unwrap();
        let client = reqwest::Client::builder().proxy(proxy).redirect(reqwest::redirect::Policy::none());
        (client.build().unwrap(), runtime)
    }

    #[test]
    fn http_brings_what_the_web_gives() {
        let spec = WebSpec { pages: 900, hosts: 16, islands: 5, island_pages: [20, 50], ..WebSpec::default() };
        let world = Arc::new(SyntheticWeb::new(spec.clone()).unwrap());
        let options = ServerOptions { log: true, ..ServerOptions::default() };
        let server = WebServer::start_with(world.clone(), options).unwrap();
        let (client, runtime) = client(&server);
        let direct = Proxied(SyntheticWeb::new(spec).unwrap());
        let home = world.seeds()[0].clone();
        let mut urls: Vec<CrawlUrl> = world.pages().step_by(9).map(|(url, _)| url).collect();
        for other in ["/robots.txt", "/", "/nothing", "http://nowhere.test/x"] {
            urls.push(home.join(other).unwrap());
        }
        for url in &urls {
            let want = direct.get(url).unwrap();
            assert_eq!(get(&client, &runtime, url.as_str()), (want.status, want.headers, want.body), "{url}");
        }
        assert_eq!(server.requests(), urls.len() as u64);
        let log = server.log();
        assert_eq!(log.len(), urls.len());
        let last = log.last().unwrap();
        assert_eq!((last.host.as_str(), last.path.as_str(), last.status), ("nowhere.test", "/x", 502));
    }

    #[test]
    fn a_server_is_found_by_its_host_field_and_stops_when_dropped() {
        use std::io::{Read, Write};
        let server = WebServer::start(Arc::new(Greeting)).unwrap();
        let addr = server.addr();
        let mut stream = std::net::TcpStream::connect(addr).unwrap();
        let ask = |stream: &mut std::net::TcpStream, host: &str| {
            write!(stream, "GET / HTTP/1.1\r\nHost: {host}\r\n\r\n").unwrap();
            let mut response = Vec::new();
            while !response.ends_with(b"\n") || response.windows(4).filter(|at| at == b"\r\n\r\n").count() == 0 {
                let mut part = [0; 4096];
                let count = stream.read(&mut part).unwrap();
                assert_ne!(count, 0, "the connection is kept");
                response.extend_from_slice(&part[..count]);
            }
            String::from_utf8_lossy(&response[..12]).into_owned()
        };
        assert_eq!(ask(&mut stream, "a.test"), "HTTP/1.1 200");
        assert_eq!(ask(&mut stream, "b.test"), "HTTP/1.1 502");
        drop(server);
        assert!(std::net::TcpStream::connect(addr).is_err());
    }

    #[test]
    fn other_methods_and_hosts_are_refused() {
        let server = WebServer::start(Arc::new(Greeting)).unwrap();
        let (client, runtime) = client(&server);
        let posted = runtime.block_on(client.post("http://a.test/").send()).unwrap();
        assert_eq!(posted.status().as_u16(), 405);
        assert_eq!(get(&client, &runtime, "http://b.test/").0, 502);
    }
}
