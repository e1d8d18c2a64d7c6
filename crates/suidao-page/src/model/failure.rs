//! Why a fetch brought no page.

use serde::{Deserialize, Serialize};

/// What went wrong with a fetch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FailureKind {
    /// An answer whose status is neither 2xx nor a redirect.
    Status(u16),
    /// The host name could not be looked up: the resolver failed or did not answer.
    Dns,
    /// No connection.
    Connect,
    /// TLS failed.
    Tls,
    /// A time limit passed.
    Timeout,
    /// The connection broke in the middle, or the answer is not HTTP.
    Broken,
    /// More bytes than allowed, on the wire or unpacked.
    TooLarge,
    /// The content encoding does not unpack.
    Encoding,
    /// The address is private, loopback or link-local, and such are not allowed.
    PrivateAddress,
    /// Not HTML or plain text: this media type.
    MediaType(String),
    /// A redirect without a usable target.
    BadRedirect,
    /// The proxy does not answer.
    Proxy,
    /// The page says what its host says of a page that cannot exist: a soft 404.
    NoSuchPage,
    /// A redirect to the page itself, or to one that led to it.
    RedirectLoop,
    /// Nothing was asked: this process may open no further connection. No crawl is told of it.
    Exhausted,
    /// It came, and reading it took too long.
    ReadingTimeout,
    /// Nothing was asked: the port belongs to a service that is not the web.
    Port,
    /// The host name does not exist, or has no address: the resolver says so.
    NoSuchHost,
    /// The machine answers, and takes no connection at this port.
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
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
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

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.kind {
            FailureKind::Status(status) => write!(f, "the server answered {status}"),
            FailureKind::Dns => f.write_str("the host name could not be looked up: the resolver failed"),
            FailureKind::NoSuchHost => f.write_str("the host name does not exist"),
            FailureKind::Connect => f.write_str("no connection"),
            FailureKind::Refused => f.write_str("the connection was refused"),
            FailureKind::Tls => f.write_str("TLS failed"),
            FailureKind::Timeout => f.write_str("no complete answer within the time limit"),
            FailureKind::Broken => f.write_str("the answer broke off or is not HTTP"),
            FailureKind::TooLarge => f.write_str("the answer is larger than fetch.max_body allows"),
            FailureKind::Encoding => f.write_str("the content encoding does not unpack"),
            FailureKind::PrivateAddress => {
                f.write_str("the address is private, loopback or link-local (--allow-private permits the first two)")
            }
            FailureKind::MediaType(media) => write!(f, "the answer is {media}, not a page"),
            FailureKind::BadRedirect => f.write_str("a redirect without a usable target"),
            FailureKind::Exhausted => f.write_str("too many files and connections are open (ulimit -n)"),
            FailureKind::Port => f.write_str("its port belongs to a service that is not the web (scope.allow_ports)"),
            FailureKind::RedirectLoop => f.write_str("it redirects to itself, or in a circle"),
            FailureKind::Proxy => f.write_str("the proxy does not answer"),
            FailureKind::ReadingTimeout => f.write_str("reading it took longer than crawl.reading_timeout"),
            FailureKind::NoSuchPage => {
                f.write_str("it says what its host says of pages that do not exist (a soft 404)")
            }
        }
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
