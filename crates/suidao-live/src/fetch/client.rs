//! The client: one request at a time, nothing followed, nothing unpacked behind our back.

use std::fmt;
use std::io;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use reqwest::header::{
    ACCEPT, ACCEPT_ENCODING, ACCEPT_LANGUAGE, COOKIE, HeaderMap, HeaderValue, LOCATION, SET_COOKIE, USER_AGENT,
};
use reqwest::{Client, ClientBuilder, Proxy, Response, Url, redirect};
use rustc_hash::FxHashMap;
use thiserror::Error;

use super::cookies::Cookies;
use super::credentials::ResolvedCredential;
use super::descriptors;
use super::failure;
use super::guard::{Allowed, Guard, Lookup, system};
use super::settings::{CheckedSettings, FetchSettings, SettingsError};
use suidao_page::model::{CrawlUrl, Failure, FailureKind, Fetched, Validators};
use suidao_page::read::coding::{self, UnpackError};

/// Pages first, whatever else there is after them.
const PAGES: &str = "text/html,application/xhtml+xml,text/plain;q=0.9,*/*;q=0.5";

/// Idle connections kept to one host: more than one matters only where politeness is switched off.
const IDLE_PER_HOST: usize = 64;

/// Most header fields of one answer; hyper's own limit of 100 is met by real sites that set cookies freely.
const MOST_HEADERS: usize = 256;

/// Most bytes read of the body of an answer that is no page: its status is what counts.
const OTHER_BODY: usize = 64 << 10;

/// What the media types begin with that are clearly none of a page's.
const NO_PAGES: [&str; 35] = [
    "image/",
    "video/",
    "audio/",
    "font/",
    "model/",
    "text/css",
    "text/csv",
    "text/calendar",
    "text/javascript",
    "application/download",
    "application/ecmascript",
    "application/epub",
    "application/font",
    "application/force-download",
    "application/gzip",
    "application/java",
    "application/json",
    "application/msword",
    "application/octet-stream",
    "application/pdf",
    "application/postscript",
    "application/rtf",
    "application/vnd.",
    "application/wasm",
    "application/x-7z",
    "application/x-bzip",
    "application/x-font",
    "application/x-gzip",
    "application/x-javascript",
    "application/x-msdownload",
    "application/x-rar",
    "application/x-shockwave",
    "application/x-tar",
    "application/x-zip",
    "application/zip",
];

/// Why there is no fetcher.
#[derive(Debug, Error)]
pub enum FetcherError {
    /// A setting that cannot be used.
    #[error(transparent)]
    Settings(#[from] SettingsError),
    /// The HTTP client does not start.
    #[error("cannot start the HTTP client: {0}")]
    Client(#[source] reqwest::Error),
    /// Nothing listens where the proxy should be.
    #[error("cannot reach the proxy {proxy} ({source}); check fetch.proxy (--proxy)")]
    ProxyUnreachable {
        /// Host and port.
        proxy: String,
        /// What the system says.
        source: io::Error,
    },
}

/// What a page loads.
#[derive(Clone, Copy, Debug)]
pub(in crate::fetch) struct Subresource<'a> {
    pub page: &'a CrawlUrl,
    /// Header fields that go with the request for it.
    pub fields: &'a [(String, String)],
}

/// Fetches one URL at a time, any number of them at once. Clones share one pool of connections and cost little.
#[derive(Clone)]
pub struct Fetcher {
    client: Client,
    headers: HeaderMap,
    max_body: usize,
    max_wire: usize,
    allowed: Allowed,
    proxy: Option<Url>,
    connect_timeout: Duration,
    /// Sensitive header fields by origin.
    known_to: Arc<FxHashMap<String, HeaderMap>>,
    cookies: Option<Arc<Cookies>>,
}

/// Nothing of it: it holds secrets.
impl fmt::Debug for Fetcher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fetcher").finish_non_exhaustive()
    }
}

impl Fetcher {
    /// A fetcher that keeps to `settings`. The limit of files that this process may have open is raised as far as the
    /// system permits. Proxies named by the environment are not used; of the environment only the
    /// variables that credentials name are read.
    ///
    /// On a machine without certificates of authorities the fetcher works for http; https then fails as
    /// [`FailureKind::Tls`], and a warning is logged.
    ///
    /// # Errors
    /// [`FetcherError::Settings`] for a value that cannot be used, [`FetcherError::Client`] if the client does not
    /// start.
    pub fn new(settings: &FetchSettings) -> Result<Self, FetcherError> {
        Self::with_names(settings, &system())
    }

    /// The same, with names looked up elsewhere.
    pub(super) fn with_names(settings: &FetchSettings, lookup: &Lookup) -> Result<Self, FetcherError> {
        let checked = settings.checked()?;
        let mut headers = HeaderMap::new();
        headers.insert(USER_AGENT, checked.agent.clone());
        headers.insert(ACCEPT, HeaderValue::from_static(PAGES));
        headers.insert(ACCEPT_ENCODING, HeaderValue::from_static(coding::ACCEPTED));
        if let Some(language) = &checked.accept_language {
            headers.insert(ACCEPT_LANGUAGE, language.clone());
        }
        let client = match builder(&checked, &headers, lookup).and_then(ClientBuilder::build) {
            Ok(client) => client,
            // What fails here on a bare machine is the search for certificates; demo and loopback need none.
            Err(error) => {
                let bare = builder(&checked, &headers, lookup).and_then(|builder| builder.tls_certs_only([]).build());
                let Ok(client) = bare else { return Err(FetcherError::Client(error)) };
                tracing::warn!("no CA certificates found, so https pages will fail; install ca-certificates");
                client
            }
        };
        let mut known_to = FxHashMap::default();
        for credential in &settings.credentials {
            let ResolvedCredential { origin, headers: own } = credential.access(&|name| std::env::var(name).ok())?;
            known_to.insert(origin, own);
        }
        Ok(Self {
            client,
            headers,
            max_body: checked.max_body,
            max_wire: checked.max_wire,
            allowed: checked.allowed,
            proxy: checked.proxy,
            connect_timeout: checked.connect_timeout,
            known_to: Arc::new(known_to),
            cookies: settings.cookies.then(Arc::default),
        })
    }

    /// The same, and these ports may be asked although they belong to services that are not the web (`scope.allow_ports`).
    pub fn with_ports(mut self, ports: &[u16]) -> Self {
        self.allowed.ports = ports.into();
        self
    }

    /// Asks for `url` once, following nothing; with `known` under the condition that it is not the version these mark
    /// (`If-None-Match`, `If-Modified-Since`).
    ///
    /// Every answer is a [`Fetched`], whatever its status: redirects (their `location` among the headers) and error
    /// statuses, and 304 where nothing has changed, are judged by the caller; `asked` is what was sent of `known`. Header names are in lower case, in the order received (fields of one name
    /// stand together, where the first stood), values are UTF-8 if they decode as such and Latin-1 otherwise (a
    /// `location` has its bytes escaped instead). `wire` is set where the body was packed. Of answers other than 2xx at most 64 KiB of body are read, and the body is
    /// empty if it is larger or broken.
    ///
    /// # Errors
    /// [`Failure`] if there was no answer, its body is larger than allowed or broken, its address is private, or its
    /// media type is none of a page's (not asked of `/robots.txt` and what is named like a sitemap). `retry_after` is never set: a status that asks to
    /// wait is an answer, see [`retry_after`](super::retry_after).
    pub async fn fetch(&self, url: &CrawlUrl, known: Option<&Validators>) -> Result<Fetched, Failure> {
        self.fetch_from(url, known).await.0
    }

    /// [`Fetcher::fetch`], and the address that answered: none where nothing did, or a proxy stands between.
    pub async fn fetch_from(
        &self,
        url: &CrawlUrl,
        known: Option<&Validators>,
    ) -> (Result<Fetched, Failure>, Option<IpAddr>) {
        let mut from = None;
        let answer = self.exchange(url, known, None, &mut from).await;
        (answer.map_err(|kind| Failure { kind, retry_after: None }), from.filter(|_| self.proxy.is_none()))
    }

    /// Asks once for what a page loads (a script, data), as [`Fetcher::fetch`] does for a page, but of any media type, and
    /// with its own header fields in the place of ours of the same names. What an origin is told of us, and cookies, it is
    /// told only for its own pages.
    ///
    /// # Errors
    /// As [`Fetcher::fetch`].
    pub(super) async fn fetch_part(&self, url: &CrawlUrl, part: &Subresource<'_>) -> Result<Fetched, Failure> {
        self.exchange(url, None, Some(part), &mut None).await.map_err(|kind| Failure { kind, retry_after: None })
    }

    async fn exchange(
        &self,
        url: &CrawlUrl,
        known: Option<&Validators>,
        part: Option<&Subresource<'_>>,
        from: &mut Option<IpAddr>,
    ) -> Result<Fetched, FailureKind> {
        let target = url.to_url();
        if self.allowed.refuses(&target) {
            return Err(FailureKind::PrivateAddress);
        }
        if self.allowed.refuses_port(&target) {
            return Err(FailureKind::Port);
        }
        let kind = |error: reqwest::Error| failure::kind(&error, self.proxy.is_some(), url.scheme() == "https");
        let known_to = if self.known_to.is_empty() { None } else { self.known_to.get(&url.origin()) };
        let own = part.is_none_or(|part| part.page.origin() == url.origin());
        let known_to = known_to.filter(|_| own);
        let mut request = self.client.get(target.clone());
        if let Some(secrets) = known_to {
            request = request.headers(secrets.clone());
        }
        if let Some(cookies) = self.cookies.as_ref().filter(|_| own)
            && let Some(value) = cookies.header(&target)
            && known_to.is_none_or(|secrets| !secrets.contains_key(COOKIE))
        {
            request = request.header(COOKIE, value);
        }
        let known = known.filter(|known| !known.is_empty());
        for (name, value) in known.iter().flat_map(|known| known.fields()) {
            request = request.header(name, value);
        }
        for (name, value) in part.into_iter().flat_map(|part| part.fields) {
            request = request.header(name, value);
        }
        let response = request.send().await.map_err(kind)?;
        *from = response.remote_addr().map(|address| address.ip());
        let status = response.status().as_u16();
        if status == 407 && self.proxy.is_some() {
            return Err(FailureKind::Proxy);
        }
        if let Some(cookies) = self.cookies.as_ref().filter(|_| own) {
            cookies.take(&target, response.headers().get_all(SET_COOKIE).iter());
        }
        let headers = response.headers().iter().map(|(name, value)| match name {
            &LOCATION => (name.as_str().to_owned(), escaped(value)),
            _ => (name.as_str().to_owned(), text(value)),
        });
        let headers = headers.collect();
        let asked = known.map(|known| Box::new(known.clone()));
        let mut fetched =
            Fetched { url: url.clone(), status, headers, body: Bytes::new(), wire: None, asked, rendered: None };
        if response.status().is_success() {
            let media = fetched.media_type();
            if part.is_none() && is_no_page(&media) && !is_for_crawlers(url) {
                return Err(FailureKind::MediaType(media));
            }
            self.read_body(response, &mut fetched, self.max_wire, self.max_body).await?;
        } else {
            let (max_wire, max_body) = (self.max_wire.min(OTHER_BODY), self.max_body.min(OTHER_BODY));
            // The status stands, whatever becomes of the body.
            let _ = self.read_body(response, &mut fetched, max_wire, max_body).await;
        }
        Ok(fetched)
    }

    async fn read_body(
        &self,
        mut response: Response,
        fetched: &mut Fetched,
        max_wire: usize,
        max_body: usize,
    ) -> Result<(), FailureKind> {
        if response.content_length().is_some_and(|stated| stated > max_wire as u64) {
            return Err(FailureKind::TooLarge);
        }
        let mut wire = BytesMut::new();
        let encrypted = fetched.url.scheme() == "https";
        while let Some(chunk) =
            response.chunk().await.map_err(|error| failure::kind(&error, self.proxy.is_some(), encrypted))?
        {
            if chunk.len() > max_wire - wire.len() {
                return Err(FailureKind::TooLarge);
            }
            wire.extend_from_slice(&chunk);
        }
        let wire = wire.freeze();
        let codings: Vec<&str> =
            fetched.headers.iter().filter(|(name, _)| name == "content-encoding").map(|(_, v)| v.as_str()).collect();
        match coding::unpack(&codings.join(","), &wire, max_body) {
            Ok(Some(body)) => (fetched.body, fetched.wire) = (body, Some(wire)),
            Ok(None) if wire.len() > max_body => return Err(FailureKind::TooLarge),
            Ok(None) => fetched.body = wire,
            Err(UnpackError::TooLarge) => return Err(FailureKind::TooLarge),
            Err(UnpackError::Broken) => return Err(FailureKind::Encoding),
        }
        Ok(())
    }

    /// The header fields every request carries beside `host`, names in lower case: for the archive's request records. What
    /// single origins are told of us, and cookies, are not among them.
    pub fn request_headers(&self) -> Vec<(String, String)> {
        self.headers.iter().map(|(name, value)| (name.as_str().to_owned(), text(value))).collect()
    }

    /// Whether the proxy can be connected to, so that a crawl need not begin to find out; fine if there is none.
    ///
    /// # Errors
    /// [`FetcherError::ProxyUnreachable`] if it cannot, within the time limit for connections.
    pub async fn check_proxy(&self) -> Result<(), FetcherError> {
        let Some(proxy) = &self.proxy else { return Ok(()) };
        let host = proxy.host_str().unwrap_or_default();
        let port = proxy.port_or_known_default().unwrap_or(80);
        // An IPv6 address stands in brackets in a URL, and must not for the resolver.
        let bare = host.trim_start_matches('[').trim_end_matches(']');
        let connect = tokio::net::TcpStream::connect((bare, port));
        let source = match tokio::time::timeout(self.connect_timeout, connect).await {
            Ok(Ok(_)) => return Ok(()),
            Ok(Err(error)) => error,
            Err(_) => io::Error::new(io::ErrorKind::TimedOut, "no answer in time"),
        };
        Err(FetcherError::ProxyUnreachable { proxy: format!("{host}:{port}"), source })
    }
}

impl Fetcher {
    /// Whether the host of `url` has an address and takes a connection there, within the time limit for connections.
    /// Nothing is asked of it. For whoever wonders whether the network is there; with a proxy it is the proxy that
    /// would have to be asked ([`Fetcher::check_proxy`]).
    pub async fn reaches(&self, url: &CrawlUrl) -> bool {
        let target = url.to_url();
        let (Some(host), Some(port)) = (target.host_str(), target.port_or_known_default()) else { return false };
        // An IPv6 address stands in brackets in a URL, and must not for the resolver.
        let bare = host.trim_start_matches('[').trim_end_matches(']');
        let connect = async {
            let addresses = tokio::net::lookup_host((bare, port)).await?;
            let mut last = io::Error::from(io::ErrorKind::NotFound);
            for address in addresses.filter(|address| self.allowed.permits(address.ip())) {
                match tokio::net::TcpStream::connect(address).await {
                    Ok(_) => return Ok(()),
                    Err(error) => last = error,
                }
            }
            Err(last)
        };
        matches!(tokio::time::timeout(self.connect_timeout, connect).await, Ok(Ok(())))
    }
}

fn builder(checked: &CheckedSettings, headers: &HeaderMap, lookup: &Lookup) -> Result<ClientBuilder, reqwest::Error> {
    // Fails where a provider is installed already, which then serves.
    let _ = rustls::crypto::ring::default_provider().install_default();
    // With a proxy the only name resolved here is its own, and that is the user's word.
    let allowed = checked.proxy.is_none().then(|| checked.allowed.clone());
    let builder = Client::builder()
        .no_proxy()
        .redirect(redirect::Policy::none())
        .referer(false)
        .default_headers(headers.clone())
        .connect_timeout(checked.connect_timeout)
        .read_timeout(checked.read_timeout)
        .timeout(checked.timeout)
        .tcp_nodelay(true)
        .pool_idle_timeout(descriptors::idle(descriptors::raise()))
        .pool_max_idle_per_host(IDLE_PER_HOST)
        // What browsers forgive.
        .http1_max_headers(MOST_HEADERS)
        .http1_ignore_invalid_headers_in_responses(true)
        .http1_allow_spaces_after_header_name_in_responses(true)
        .http1_allow_obsolete_multiline_headers_in_responses(true)
        .dns_resolver(Guard { lookup: Arc::clone(lookup), allowed });
    Ok(match &checked.proxy {
        Some(proxy) => builder.proxy(Proxy::all(proxy.clone())?),
        None => builder,
    })
}

/// UTF-8 if it is that, else Latin-1, in which all bytes mean something.
fn text(value: &HeaderValue) -> String {
    let bytes = value.as_bytes();
    std::str::from_utf8(bytes).map_or_else(|_| bytes.iter().map(|&byte| char::from(byte)).collect(), str::to_owned)
}

/// As [`text`], but bytes that are no UTF-8 percent-escaped: old Chinese sites redirect to paths in GBK, and these mean
/// the bytes and not Latin-1 letters.
fn escaped(value: &HeaderValue) -> String {
    let bytes = value.as_bytes();
    let escape = |&byte: &u8| if byte.is_ascii() { char::from(byte).to_string() } else { format!("%{byte:02X}") };
    std::str::from_utf8(bytes).map_or_else(|_| bytes.iter().map(escape).collect(), str::to_owned)
}

/// Whether a media type (lower case, without parameters) is clearly none of a page's; what is unclear is read.
fn is_no_page(media: &str) -> bool {
    !media.ends_with("xhtml+xml") && NO_PAGES.iter().any(|prefix| media.starts_with(prefix))
}

/// Whether a URL is named like what is written for crawlers: servers give robots.txt and sitemaps any media type.
fn is_for_crawlers(url: &CrawlUrl) -> bool {
    let path = url.path().to_ascii_lowercase();
    path == "/robots.txt" || [".xml", ".xml.gz", ".txt.gz"].iter().any(|ending| path.ends_with(ending))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_clearly_no_page_is_refused() {
        for media in ["image/svg+xml", "video/mp4", "application/pdf", "application/vnd.ms-excel", "text/css"] {
            assert!(is_no_page(media), "{media}");
        }
        for media in [
            "",
            "html",
            "text/html",
            "text/plain",
            "application/xhtml+xml",
            "application/vnd.wap.xhtml+xml",
            "text/x-odd",
        ] {
            assert!(!is_no_page(media), "{media}");
        }
    }
}
