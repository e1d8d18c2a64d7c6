//! Maps the client's errors to one [`FailureKind`].
//!
//! reqwest's methods do not distinguish all of them, so the chain of sources is searched:
//!
//! | step | in the chain | kind |
//! |---|---|---|
//! | name | reqwest's `is_dns`, with [`AllPrivate`] or the system's error | `PrivateAddress`, `NoSuchHost` if the text denies the name, else `Dns` |
//! | TCP | hyper-util's connect error, its text begins with `tcp ` | `Refused` if the system reports that, else `Connect` |
//! | tunnel through a proxy | hyper-util's error, its text begins with `tunnel error` | `Connect` if the proxy refused it, else `Proxy` |
//! | TLS | `is_connect`, and the peer closed the connection | `Connect` |
//! | | `is_connect`, and none of these | `Tls` |
//!
//! Missing descriptors (`Exhausted`) come first, then time limits of any step. With a proxy, name and TCP are those of
//! the proxy and mean `Proxy`. Later failures are `Broken`, except a head beyond hyper's limits, which is `TooLarge`.

use std::error::Error;

use super::guard::AllPrivate;
use suidao_page::model::FailureKind;

/// Classifies `error`; `by_proxy`: the request went to a proxy, `encrypted`: its URL is https.
pub(super) fn kind(error: &reqwest::Error, by_proxy: bool, encrypted: bool) -> FailureKind {
    let in_chain = |test: &dyn Fn(&(dyn Error + 'static)) -> bool| chain(error).any(test);
    let has_cause = |text: &str| in_chain(&|link| link.to_string().starts_with(text));
    if in_chain(&is_exhausted) {
        FailureKind::Exhausted
    } else if in_chain(&|link| link.is::<AllPrivate>()) {
        FailureKind::PrivateAddress
    } else if error.is_timeout() {
        // Unencrypted requests connect to the proxy only.
        if by_proxy && error.is_connect() && !encrypted { FailureKind::Proxy } else { FailureKind::Timeout }
    } else if error.is_dns() {
        match by_proxy {
            true => FailureKind::Proxy,
            false if in_chain(&|link| denies(&link.to_string())) => FailureKind::NoSuchHost,
            false => FailureKind::Dns,
        }
    } else if error.is_builder() {
        // The name has invalid characters.
        FailureKind::NoSuchHost
    } else if error.is_connect() {
        if has_cause("tunnel error: unsuccessful") {
            FailureKind::Connect
        } else if by_proxy && (has_cause("tunnel error") || has_cause("tcp ") || !encrypted) {
            FailureKind::Proxy
        } else if encrypted && !has_cause("tcp ") && !in_chain(&is_gone) {
            FailureKind::Tls
        } else if in_chain(&is_refused) {
            FailureKind::Refused
        } else {
            FailureKind::Connect
        }
    } else if has_cause("message head is too large") {
        FailureKind::TooLarge
    } else {
        FailureKind::Broken
    }
}

/// Whether this process or machine is out of descriptors.
fn is_exhausted(error: &(dyn Error + 'static)) -> bool {
    #[cfg(unix)]
    {
        use rustix::io::Errno;
        let code = error.downcast_ref::<std::io::Error>().and_then(std::io::Error::raw_os_error);
        code.is_some_and(|code| [Errno::MFILE, Errno::NFILE].map(Errno::raw_os_error).contains(&code))
    }
    #[cfg(not(unix))]
    {
        let _ = error;
        false
    }
}

/// Whether the resolver reports that the name does not exist or has no address, rather than that it failed. The
/// standard library drops the code of getaddrinfo and keeps its text. An unknown text proves nothing.
fn denies(text: &str) -> bool {
    // glibc (no name, no address), musl (the same), macOS and BSD, Windows.
    const DENIALS: [&str; 7] = [
        "Name or service not known",
        "No address associated with hostname",
        "Name does not resolve",
        "Name has no usable address",
        "nodename nor servname provided",
        "No such host is known",
        "no data of the requested type",
    ];
    DENIALS.iter().any(|denial| text.contains(denial))
}

fn is_refused(error: &(dyn Error + 'static)) -> bool {
    error.downcast_ref::<std::io::Error>().is_some_and(|error| error.kind() == std::io::ErrorKind::ConnectionRefused)
}

/// Whether the peer closed the connection during the handshake. That proves nothing about its certificate: overloaded
/// servers do so.
fn is_gone(error: &(dyn Error + 'static)) -> bool {
    use std::io::ErrorKind::{BrokenPipe, ConnectionAborted, ConnectionReset, NotConnected, UnexpectedEof};
    let kind = error.downcast_ref::<std::io::Error>().map(std::io::Error::kind);
    matches!(kind, Some(BrokenPipe | ConnectionAborted | ConnectionReset | NotConnected | UnexpectedEof))
}

/// The error's sources, without the error itself, whose text contains the URL.
fn chain(error: &reqwest::Error) -> impl Iterator<Item = &(dyn Error + 'static)> {
    std::iter::successors(error.source(), |&link| link.source())
}

#[cfg(test)]
mod tests {
    use super::denies;

    #[test]
    fn a_name_that_does_not_exist_is_distinguished_from_a_resolver_that_fails() {
        let text = |stated: &str| format!("failed to lookup address information: {stated}");
        assert!(denies(&text("Name or service not known")) && denies(&text("Name does not resolve")));
        for stated in
            ["Temporary failure in name resolution", "Try again", "Non-recoverable failure in name resolution", ""]
        {
            assert!(!denies(&text(stated)), "{stated}");
        }
    }
}
