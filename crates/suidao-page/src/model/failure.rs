//! Why a fetch did not return a page.

use std::fmt;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::messages::Lang;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FailureKind {
    /// Status that is neither 2xx nor a redirect.
    Status(u16),
    /// The resolver failed or did not answer.
    Dns,
    Connect,
    Tls,
    Timeout,
    /// The connection broke during the response, or the response is not HTTP.
    Broken,
    /// The body is longer than allowed, encoded or decoded.
    TooLarge,
    Encoding,
    /// Private, loopback or link-local address, which the configuration does not allow.
    PrivateAddress,
    /// Neither HTML nor plain text but this media type.
    MediaType(String),
    BadRedirect,
    Proxy,
    /// Soft 404: the page resembles its host's answer for a page that does not exist.
    NoSuchPage,
    /// Redirect to the page itself or to one earlier in the chain.
    RedirectLoop,
    /// No request sent: this process cannot open another connection. Never recorded in a crawl.
    Exhausted,
    ReadingTimeout,
    /// No request sent: the port belongs to a service other than the web.
    Port,
    /// The resolver reports that the host name does not exist or has no address.
    NoSuchHost,
    /// The host answers, but refuses connections at this port.
    Refused,
    /// The answer to a revisit lacks the text that the page had.
    TextLost(TextLoss),
}

/// How a revisited page has lost its main text, although its server answers with success.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TextLoss {
    /// Too little is left for a document: an empty body, a notice, a login form, a bot challenge.
    Empty,
    /// Less than a quarter is left.
    Shortened,
    /// The text that replaces all of it is off topic or a list, and the page was neither.
    Replaced,
    /// Another page of the host that had another text has the same text now.
    Shared,
    /// The page forbids indexing for the first time.
    Noindex,
}

impl TextLoss {
    fn text(self, lang: Lang) -> &'static str {
        match self {
            Self::Empty => lang.phrase("text-lost-empty"),
            Self::Shortened => lang.phrase("text-lost-shortened"),
            Self::Replaced => lang.phrase("text-lost-replaced"),
            Self::Shared => lang.phrase("text-lost-shared"),
            Self::Noindex => lang.phrase("text-lost-noindex"),
        }
    }
}

impl fmt::Display for FailureKind {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.text(Lang::English))
    }
}

impl FailureKind {
    /// The failure as a clause.
    pub fn text(&self, lang: Lang) -> String {
        match self {
            Self::Status(status) => lang.text("failure-status", &[status]),
            Self::MediaType(media_type) => lang.text("failure-media-type", &[media_type]),
            Self::TextLost(loss) => loss.text(lang).to_owned(),
            Self::Dns => lang.phrase("failure-dns").to_owned(),
            Self::Connect => lang.phrase("failure-connect").to_owned(),
            Self::Tls => lang.phrase("failure-tls").to_owned(),
            Self::Timeout => lang.phrase("failure-timeout").to_owned(),
            Self::Broken => lang.phrase("failure-broken").to_owned(),
            Self::TooLarge => lang.phrase("failure-too-large").to_owned(),
            Self::Encoding => lang.phrase("failure-encoding").to_owned(),
            Self::PrivateAddress => lang.phrase("failure-private-address").to_owned(),
            Self::BadRedirect => lang.phrase("failure-bad-redirect").to_owned(),
            Self::Proxy => lang.phrase("failure-proxy").to_owned(),
            Self::NoSuchPage => lang.phrase("failure-no-such-page").to_owned(),
            Self::RedirectLoop => lang.phrase("failure-redirect-loop").to_owned(),
            Self::Exhausted => lang.phrase("failure-exhausted").to_owned(),
            Self::ReadingTimeout => lang.phrase("failure-reading-timeout").to_owned(),
            Self::Port => lang.phrase("failure-port").to_owned(),
            Self::NoSuchHost => lang.phrase("failure-no-such-host").to_owned(),
            Self::Refused => lang.phrase("failure-refused").to_owned(),
        }
    }

    /// The kind of failure with this name, as a clause; an unknown name as it is.
    pub fn text_of_name(name: &str, lang: Lang) -> String {
        match name {
            "media-type" => lang.phrase("failure-other-type").to_owned(),
            "text-lost" => lang.phrase("failure-text-lost").to_owned(),
            _ => {
                let value = match name.strip_prefix("status-").and_then(|status| status.parse::<u16>().ok()) {
                    Some(status) => serde_json::json!({ "status": status }),
                    None => name.into(),
                };
                serde_json::from_value(value).map_or_else(|_| name.to_owned(), |kind: Self| kind.text(lang))
            }
        }
    }

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
    use super::{FailureKind, Lang};

    #[test]
    fn kinds_have_short_names() {
        let kinds = [FailureKind::Dns, FailureKind::Status(503), FailureKind::MediaType("image/x".into())];
        assert_eq!(kinds.map(|kind| kind.name()), ["dns", "status-503", "media-type"]);
        let text = |name| FailureKind::text_of_name(name, Lang::Chinese);
        assert_eq!(
            ["status-503", "refused", "media-type", "?"].map(text),
            ["服务器返回状态码 503", "连接被拒绝", "响应不是网页", "?"]
        );
    }
}
