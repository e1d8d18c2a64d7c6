//! Why a fetch did not return a page.

use serde::{Deserialize, Serialize};
use strum::Display;
use thiserror::Error;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Error)]
#[serde(rename_all = "kebab-case")]
pub enum FailureKind {
    /// Status that is neither 2xx nor a redirect.
    #[error("the server answered with status {0}")]
    Status(u16),
    /// The resolver failed or did not answer.
    #[error("the host name could not be resolved: the resolver failed")]
    Dns,
    #[error("cannot connect to the address")]
    Connect,
    #[error("TLS failed")]
    Tls,
    #[error("no complete response within the time limit")]
    Timeout,
    /// The connection broke during the response, or the response is not HTTP.
    #[error("the response is truncated or not HTTP")]
    Broken,
    /// The body is longer than allowed, encoded or decoded.
    #[error("the response is larger than fetch.max_body")]
    TooLarge,
    #[error("the content encoding cannot be decoded")]
    Encoding,
    /// Private, loopback or link-local address, which the configuration does not allow.
    #[error("the address is private, loopback or link-local (use --allow-private for the first two)")]
    PrivateAddress,
    /// Neither HTML nor plain text but this media type.
    #[error("the response is {0}, not a page")]
    MediaType(String),
    #[error("redirect without a usable target")]
    BadRedirect,
    #[error("the proxy does not respond")]
    Proxy,
    /// Soft 404: the page resembles its host's answer for a page that does not exist.
    #[error("soft 404: the page equals the host's page for missing URLs")]
    NoSuchPage,
    /// Redirect to the page itself or to one earlier in the chain.
    #[error("redirect loop")]
    RedirectLoop,
    /// No request sent: this process cannot open another connection. Never recorded in a crawl.
    #[error("too many open files and connections (see ulimit -n)")]
    Exhausted,
    #[error("parsing took longer than crawl.reading_timeout")]
    ReadingTimeout,
    /// No request sent: the port belongs to a service other than the web.
    #[error("the port is not used for web pages (see scope.allow_ports)")]
    Port,
    /// The resolver reports that the host name does not exist or has no address.
    #[error("the host name does not exist")]
    NoSuchHost,
    /// The host answers, but refuses connections at this port.
    #[error("the connection was refused")]
    Refused,
    /// The answer to a revisit lacks the text that the page had.
    #[error("{0}")]
    TextLost(TextLoss),
}

/// How a revisited page has lost its main text, although its server answers with success.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, Display)]
#[serde(rename_all = "kebab-case")]
pub enum TextLoss {
    /// Too little is left for a document: an empty body, a notice, a login form, a bot challenge.
    #[strum(to_string = "the response has no or little text of the page (a notice, a login form?)")]
    Empty,
    /// Less than a quarter is left.
    #[strum(to_string = "the response has less than a quarter of the page's text")]
    Shortened,
    /// The text that replaces all of it is off topic or a list, and the page was neither.
    #[strum(to_string = "the response has another text than the page")]
    Replaced,
    /// Another page of the host that had another text has the same text now.
    #[strum(to_string = "the response has the text of another page of the host")]
    Shared,
    /// The page forbids indexing for the first time.
    #[strum(to_string = "the response forbids indexing, for the first time")]
    Noindex,
}

impl FailureKind {
    /// Name in events, with the number of a status: `no-such-host`, `status-404`, `media-type`.
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

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Error)]
#[error("{kind}")]
pub struct Failure {
    pub kind: FailureKind,
    /// `Retry-After` in milliseconds.
    pub retry_after: Option<u64>,
}

impl Failure {
    /// Whether another attempt may succeed.
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
    /// Whether the server says that the page is not there, or shows something else in its place.
    pub fn is_missing(&self) -> bool {
        matches!(self.kind, FailureKind::Status(404 | 410) | FailureKind::NoSuchPage | FailureKind::TextLost(_))
    }

    /// Whether the failure concerns the host (down or overloaded) rather than one page.
    pub fn is_host_failure(&self) -> bool {
        // An internal server error often comes from the database; a proxy in front of the server sends 52x and 530.
        let inside = matches!(self.kind, FailureKind::Broken | FailureKind::Status(500 | 520..=530));
        inside || self.is_overload() || self.is_down()
    }

    /// Whether no page could cause it, because the host does not answer at all.
    pub fn is_down(&self) -> bool {
        use FailureKind::{Connect, Dns, NoSuchHost, Refused, Tls};
        matches!(self.kind, Dns | NoSuchHost | Connect | Refused | Tls)
    }

    /// Whether the host is overloaded.
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
