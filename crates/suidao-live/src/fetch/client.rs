//! The HTTP client: one request at a time, without following redirects or decoding bodies.

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

use super::cookies::{CookieExchange, Cookies};
use super::credentials::ResolvedCredential;
use super::descriptors;
use super::failure;
use super::guard::{Allowed, Guard, Lookup, system};
use super::settings::{CheckedSettings, FetchSettings, SettingsError};
use crate::fetch::LISTS;
use suidao_page::model::{CrawlUrl, Failure, FailureKind, Fetched, Validators};
use suidao_page::read::coding::{self, UnpackError};
use suidao_page::word_list::SectionWords;

/// Asks for pages first, and accepts anything.
const PAGES: &str = "text/html,application/xhtml+xml,text/plain;q=0.9,*/*;q=0.5";

/// Idle connections to one host. More than one is useful only without a politeness delay.
const IDLE_PER_HOST: usize = 64;

/// Maximum number of header fields of a response. Real sites that set many cookies exceed hyper's default of 100.
const MAX_HEADERS: usize = 256;

/// Maximum number of bytes read from the body of a response other than 2xx: only its status counts.
const OTHER_BODY: usize = 64 << 10;

/// Prefixes of media types that are not pages.
static NO_PAGES: SectionWords = SectionWords::of(LISTS, "no pages");

#[derive(Debug, Error)]
pub enum FetcherError {
    #[error(transparent)]
    Settings(#[from] SettingsError),
    #[error("cannot start the HTTP client: {0}")]
    Client(#[source] reqwest::Error),
    #[error("cannot reach the proxy {proxy} ({source}); check fetch.proxy (--proxy)")]
    ProxyUnreachable {
        /// Host and port.
        proxy: String,
        source: io::Error,
    },
}

/// A script or data that a rendered page requests.
#[derive(Clone, Copy, Debug)]
pub(in crate::fetch) struct Subresource<'a> {
    pub page: &'a CrawlUrl,
    /// Its header fields.
    pub fields: &'a [(String, String)],
    /// What a POST sends.
    pub body: Option<&'a str>,
}

/// Fetches any number of URLs at once. Clones share one connection pool and are cheap.
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
    credentials: Arc<FxHashMap<String, HeaderMap>>,
    cookies: Arc<Cookies>,
}

/// What is known about a response besides its content.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Delivery {
    /// The address that answered; `None` without a response, or behind a proxy.
    pub from: Option<IpAddr>,
    /// It redirects to a URL that is sent other cookies now than earlier in this chain of redirects, or, if it is new in
    /// it, cookies of this response.
    pub new_cookies: bool,
}

/// Prints no field, because it holds secrets.
impl fmt::Debug for Fetcher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fetcher").finish_non_exhaustive()
    }
}

impl Fetcher {
    /// Creates a fetcher, and raises the limit of open files of this process as far as permitted. Proxy variables of
    /// the environment are ignored; only variables that credentials name are read.
    ///
    /// If the system has no root certificates, http works, https fails with [`FailureKind::Tls`], and a warning is
    /// logged.
    pub fn new(settings: &FetchSettings) -> Result<Self, FetcherError> {
        Self::with_names(settings, &system())
    }

    /// As [`Fetcher::new`], with another resolver.
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
            // On a system without root certificates building the client fails. Demo and loopback need none.
            Err(error) => {
                let bare = builder(&checked, &headers, lookup).and_then(|builder| builder.tls_certs_only([]).build());
                let Ok(client) = bare else { return Err(FetcherError::Client(error)) };
                tracing::warn!("no CA certificates found, so https pages will fail; install ca-certificates");
                client
            }
        };
        let mut credentials = FxHashMap::default();
        for credential in &settings.credentials {
            let access = credential.access(&|name| std::env::var(name).ok()).map_err(SettingsError::from)?;
            let ResolvedCredential { origin, headers: own } = access;
            credentials.insert(origin, own);
        }
        Ok(Self {
            client,
            headers,
            max_body: checked.max_body,
            max_wire: checked.max_wire,
            allowed: checked.allowed,
            proxy: checked.proxy,
            connect_timeout: checked.connect_timeout,
            credentials: Arc::new(credentials),
            cookies: Arc::new(Cookies::new(settings.cookies)),
        })
    }

    /// Also permits these ports of other services (`scope.allow_ports`).
    pub fn with_ports(mut self, ports: &[u16]) -> Self {
        self.allowed.ports = ports.into();
        self
    }

    /// Requests `url` once, without following redirects. With `known` the request is conditional (`If-None-Match`,
    /// `If-Modified-Since`).
    ///
    /// Every response is a [`Fetched`], including redirects, errors and 304. Header names are in lower case, in the
    /// order received; fields of one name are placed together where the first was. Values are UTF-8 if they decode as
    /// such, else Latin-1; in `location` other bytes are escaped. `wire` is set if the body was compressed. Of answers
    /// other than 2xx at most 64 KiB of the body are read; it is empty if it is larger or broken. `requested` is what
    /// was sent of `known`.
    ///
    /// # Errors
    /// [`Failure`] if there is no response, the body is too large or broken, the address is private, or the media type
    /// is not that of a page (unchecked for `/robots.txt` and names of sitemaps). `retry_after` is never set; see
    /// [`retry_after`](super::retry_after).
    pub async fn fetch(&self, url: &CrawlUrl, known: Option<&Validators>) -> Result<Fetched, Failure> {
        self.fetch_from(url, known).await.0
    }

    /// As [`Fetcher::fetch`], with what is known about the response.
    pub async fn fetch_from(&self, url: &CrawlUrl, known: Option<&Validators>) -> (Result<Fetched, Failure>, Delivery) {
        let mut delivery = Delivery::default();
        let response = self.exchange(url, known, None, &mut delivery).await;
        delivery.from = delivery.from.filter(|_| self.proxy.is_none());
        (response.map_err(|kind| Failure { kind, retry_after: None }), delivery)
    }

    /// Requests a script or data of a rendered page, as [`Fetcher::fetch`] but of any media type. Its header fields
    /// override ours. Credentials and cookies are sent only if it has the origin of the page.
    pub(super) async fn fetch_part(&self, url: &CrawlUrl, part: &Subresource<'_>) -> Result<Fetched, Failure> {
        self.exchange(url, None, Some(part), &mut Delivery::default())
            .await
            .map_err(|kind| Failure { kind, retry_after: None })
    }

    /// Requests the API of a service, as [`Fetcher::fetch`] but of any media type, with these header fields, such as a
    /// key, and as a POST if there is a `body`.
    pub async fn fetch_service(
        &self,
        url: &CrawlUrl,
        fields: &[(String, String)],
        body: Option<&str>,
    ) -> Result<Fetched, Failure> {
        self.fetch_part(url, &Subresource { page: url, fields, body }).await
    }

    async fn exchange(
        &self,
        url: &CrawlUrl,
        known: Option<&Validators>,
        part: Option<&Subresource<'_>>,
        delivery: &mut Delivery,
    ) -> Result<Fetched, FailureKind> {
        let target = url.to_url();
        if self.allowed.refuses(&target) {
            return Err(FailureKind::PrivateAddress);
        }
        if self.allowed.refuses_port(&target) {
            return Err(FailureKind::Port);
        }
        let kind = |error: reqwest::Error| failure::kind(&error, self.proxy.is_some(), url.scheme() == "https");
        let credentials = if self.credentials.is_empty() { None } else { self.credentials.get(&url.origin()) };
        let own = part.is_none_or(|part| part.page.origin() == url.origin());
        let credentials = credentials.filter(|_| own);
        let mut request = match part.and_then(|part| part.body) {
            Some(body) => self.client.post(target.clone()).body(body.to_owned()),
            None => self.client.get(target.clone()),
        };
        if let Some(secrets) = credentials {
            request = request.headers(secrets.clone());
        }
        // A part of a rendered page is in no chain of redirects.
        let chain = part.is_none().then(|| self.cookies.begin(&target));
        let cookie = match &chain {
            Some(CookieExchange { header, .. }) => header.clone(),
            None => self.cookies.of_run(&target).filter(|_| own),
        };
        if let Some(value) = cookie.filter(|_| credentials.is_none_or(|secrets| !secrets.contains_key(COOKIE))) {
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
        delivery.from = response.remote_addr().map(|address| address.ip());
        let status = response.status().as_u16();
        if status == 407 && self.proxy.is_some() {
            return Err(FailureKind::Proxy);
        }
        let set = response.headers().get_all(SET_COOKIE).iter();
        match chain {
            Some(chain) => {
                let location = response.headers().get(LOCATION).filter(|_| response.status().is_redirection());
                let next = location.and_then(|location| url.join(&escaped(location)).ok()).map(|next| next.to_url());
                delivery.new_cookies = self.cookies.end(chain, &target, set, next.as_ref());
            }
            None if own => self.cookies.take(&target, set),
            None => {}
        }
        let headers = response.headers().iter().map(|(name, value)| match name {
            &LOCATION => (name.as_str().to_owned(), escaped(value)),
            _ => (name.as_str().to_owned(), text(value)),
        });
        let headers = headers.collect();
        let requested = known.map(|known| Box::new(known.clone()));
        let mut fetched = Fetched {
            url: url.clone(),
            status,
            headers,
            body: Bytes::new(),
            wire: None,
            request_validators: requested,
            rendered: None,
            unverified: false,
        };
        if response.status().is_success() {
            let media = fetched.media_type();
            if part.is_none() && is_not_html(&media) && !is_for_crawlers(url) {
                return Err(FailureKind::MediaType(media));
            }
            self.read_body(response, &mut fetched, self.max_wire, self.max_body).await?;
        } else {
            let (max_wire, max_body) = (self.max_wire.min(OTHER_BODY), self.max_body.min(OTHER_BODY));
            // The status counts even if the body is broken.
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
            Ok(Some(unpacked)) => {
                (fetched.body, fetched.unverified) = (unpacked.body, !unpacked.verified);
                fetched.wire = Some(wire);
            }
            Ok(None) if wire.len() > max_body => return Err(FailureKind::TooLarge),
            Ok(None) => fetched.body = wire,
            Err(UnpackError::TooLarge) => return Err(FailureKind::TooLarge),
            Err(UnpackError::Broken) => return Err(FailureKind::Encoding),
        }
        Ok(())
    }

    /// The header fields that every request carries, except `host`, in lower case, for request records in the archive.
    /// Credentials and cookies are not among them.
    pub fn request_headers(&self) -> Vec<(String, String)> {
        self.headers.iter().map(|(name, value)| (name.as_str().to_owned(), text(value))).collect()
    }

    /// Checks that the proxy accepts connections, if one is set.
    pub async fn check_proxy(&self) -> Result<(), FetcherError> {
        let Some(proxy) = &self.proxy else { return Ok(()) };
        let host = proxy.host_str().unwrap_or_default();
        let port = proxy.port_or_known_default().unwrap_or(80);
        // A URL has an IPv6 address in brackets, a resolver needs it without.
        let bare = host.trim_start_matches('[').trim_end_matches(']');
        let connect = tokio::net::TcpStream::connect((bare, port));
        let source = match tokio::time::timeout(self.connect_timeout, connect).await {
            Ok(Ok(_)) => return Ok(()),
            Ok(Err(error)) => error,
            Err(_) => io::Error::new(io::ErrorKind::TimedOut, "no response in time"),
        };
        Err(FetcherError::ProxyUnreachable { proxy: format!("{host}:{port}"), source })
    }
}

impl Fetcher {
    /// Whether the host of `url` resolves and accepts a connection, within the time limit. Sends no request. Behind a
    /// proxy use [`Fetcher::check_proxy`].
    pub async fn reaches(&self, url: &CrawlUrl) -> bool {
        let target = url.to_url();
        let (Some(host), Some(port)) = (target.host_str(), target.port_or_known_default()) else { return false };
        // As in `check_proxy`.
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
    // Fails if a provider is already installed, which is then used.
    let _ = rustls::crypto::ring::default_provider().install_default();
    // Behind a proxy the only name resolved here is the proxy's own, which the user set.
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
        // The archive has the bytes as they were sent, and limits count them, even if another crate enables decoding.
        .no_gzip()
        .no_brotli()
        .no_deflate()
        .no_zstd()
        .pool_idle_timeout(descriptors::idle(descriptors::raise()))
        .pool_max_idle_per_host(IDLE_PER_HOST)
        // Browsers accept these too.
        .http1_max_headers(MAX_HEADERS)
        .http1_ignore_invalid_headers_in_responses(true)
        .http1_allow_spaces_after_header_name_in_responses(true)
        .http1_allow_obsolete_multiline_headers_in_responses(true)
        .dns_resolver(Guard { lookup: Arc::clone(lookup), allowed });
    Ok(match &checked.proxy {
        Some(proxy) => builder.proxy(Proxy::all(proxy.clone())?),
        None => builder,
    })
}

/// Decodes UTF-8, or else Latin-1, in which every byte has a meaning.
fn text(value: &HeaderValue) -> String {
    let bytes = value.as_bytes();
    std::str::from_utf8(bytes).map_or_else(|_| bytes.iter().map(|&byte| char::from(byte)).collect(), str::to_owned)
}

/// As [`text`], but percent-escapes bytes that are not UTF-8: old Chinese sites redirect to paths in GBK.
fn escaped(value: &HeaderValue) -> String {
    let bytes = value.as_bytes();
    let escape = |&byte: &u8| if byte.is_ascii() { char::from(byte).to_string() } else { format!("%{byte:02X}") };
    std::str::from_utf8(bytes).map_or_else(|_| bytes.iter().map(escape).collect(), str::to_owned)
}

/// Whether a media type (lower case, without parameters) is certainly not a page.
fn is_not_html(media: &str) -> bool {
    !media.ends_with("xhtml+xml") && NO_PAGES.iter().any(|prefix| media.starts_with(prefix))
}

/// Whether the URL names a robots.txt or sitemap: servers send these with any media type.
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
            assert!(is_not_html(media), "{media}");
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
            assert!(!is_not_html(media), "{media}");
        }
    }
}
