//! Why a fetch brought no page.

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// What went wrong with a fetch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Error)]
#[serde(rename_all = "kebab-case")]
pub enum FailureKind {
    /// An answer whose status is neither 2xx nor a redirect.
    #[error("the server answered with status {0}")]
    Status(u16),
    /// The host name could not be looked up: the resolver failed or did not answer.
    #[error("the host name could not be resolved: the resolver failed")]
    Dns,
    #[error("no connection")]
    Connect,
    #[error("TLS failed")]
    Tls,
    #[error("no complete response within the time limit")]
    Timeout,
    /// The connection broke in the middle, or the answer is not HTTP.
    #[error("the response is truncated or not HTTP")]
    Broken,
    /// More bytes than allowed, on the wire or unpacked.
    #[error("the response is larger than fetch.max_body")]
    TooLarge,
    #[error("the content encoding cannot be decoded")]
    Encoding,
    /// The address is private, loopback or link-local, and such are not allowed.
    #[error("the address is private, loopback or link-local (use --allow-private for the first two)")]
    PrivateAddress,
    /// Not HTML or plain text: this media type.
    #[error("the response is {0}, not a page")]
    MediaType(String),
    #[error("redirect without a usable target")]
    BadRedirect,
    #[error("the proxy does not respond")]
    Proxy,
    /// The page says what its host says of a page that cannot exist: a soft 404.
    #[error("soft 404: the text of the host for missing pages")]
    NoSuchPage,
    /// A redirect to the page itself, or to one that led to it.
    #[error("redirect loop")]
    RedirectLoop,
    /// Nothing was asked: this process may open no further connection. No crawl is told of it.
    #[error("too many open files and connections (see ulimit -n)")]
    Exhausted,
    #[error("parsing took longer than crawl.reading_timeout")]
    ReadingTimeout,
    /// Nothing was asked: the port belongs to a service that is not the web.
    #[error("the port is not used for web pages (see scope.allow_ports)")]
    Port,
    /// The host name does not exist, or has no address: the resolver says so.
    #[error("the host name does not exist")]
    NoSuchHost,
    /// The machine answers, and takes no connection at this port.
    #[error("the connection was refused")]
    Refused,
}

impl FailureKind {
    /// Its name as it stands in events, of a status with its number: `no-such-host`, `status-404`, `media-type`.
    pub fn name(&self) -> String {
        match serde_json::to_value(self) {
            Ok(serde_json::Value::String(name)) => name,
            Ok(serde_json::Value::Object(with)) => with.into_iter().next().map_or_else(String::new, |(name, more)| {
                more.as_u64().map_or_else(|| name.clone(), |number| format!("{name}-{number}"))
            }),
            _ => String::new(),
        }
    }
}

/// A fetch that brought no page.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Error)]
#[error("{kind}")]
pub struct Failure {
    /// What went wrong.
    pub kind: FailureKind,
    /// The server asked to wait this long before the next try, in milliseconds.
    pub retry_after: Option<u64>,
}

impl Failure {
    /// Whether another try may go better.
    pub fn is_transient(&self) -> bool {
        match self.kind {
            FailureKind::Status(status) => matches!(status, 408 | 425 | 429 | 500 | 502..=504 | 520..=530),
            FailureKind::Dns
            | FailureKind::Connect
            | FailureKind::Refused
            | FailureKind::Timeout
            | FailureKind::Broken
            | FailureKind::Proxy
            | FailureKind::Exhausted => true,
            _ => false,
        }
    }
}

impl Failure {
    /// Whether it says that the host is down or has too much to do, rather than that one page cannot be had.
    pub fn is_hosts(&self) -> bool {
        // A failure inside the server is often its data base's; 52x and 530 are what a proxy in front of it says of it.
        let inside = matches!(self.kind, FailureKind::Broken | FailureKind::Status(500 | 520..=530));
        inside || self.is_overload() || self.is_down()
    }

    /// Whether no page could cause it: there is nobody to ask.
    pub fn is_down(&self) -> bool {
        use FailureKind::{Connect, Dns, NoSuchHost, Refused, Tls};
        matches!(self.kind, Dns | NoSuchHost | Connect | Refused | Tls)
    }

    /// Whether it says that the host has too much to do.
    pub fn is_overload(&self) -> bool {
        matches!(self.kind, FailureKind::Timeout | FailureKind::Status(429 | 502 | 503 | 504))
    }
}

#[cfg(test)]
mod tests {
    use super::FailureKind;

    #[test]
    fn kinds_have_short_names() {
        let kinds = [FailureKind::Dns, FailureKind::Status(503), FailureKind::MediaType("image/x".into())];
        assert_eq!(kinds.map(|kind| kind.name()), ["dns", "status-503", "media-type"]);
    }
}
