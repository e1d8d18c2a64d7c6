//! What the client's errors mean: from a chain of sources to one [`FailureKind`].
//!
//! reqwest tells only part of it by methods, so the chain is walked. Of a connection three things are done in turn, and
//! each failure is known by what stands in its chain:
//!
//! | step | in the chain | kind |
//! |---|---|---|
//! | name | reqwest's DNS mark (`is_dns`), around this room's [`AllPrivate`] or the system's error | `PrivateAddress`, `NoSuchHost` if the text says that there is none, else `Dns` |
//! | TCP | hyper-util's connect error, whose text begins with `tcp ` | `Refused` if the system says so, else `Connect` |
//! | tunnel through a proxy | hyper-util's tunnel error, whose text begins with `tunnel error` | `Connect` if the proxy refused it, else `Proxy` |
//! | TLS | still `is_connect`, and the peer went away | `Connect` |
//! | | still `is_connect`, and none of these | `Tls` |
//!
//! A machine without descriptors comes first (`Exhausted`), then time limits, whatever step they struck. With a proxy, name and TCP are the proxy's own, so that these
//! mean `Proxy`. All that comes later (the peer closed, the answer is not HTTP) is `Broken`, apart from a head beyond
//! hyper's limits, which is `TooLarge`.

use std::error::Error;

use super::guard::AllPrivate;
use suidao_page::model::FailureKind;

/// The kind of `error`; `by_proxy` if the request went to a proxy, `encrypted` if its URL is https.
pub(super) fn kind(error: &reqwest::Error, by_proxy: bool, encrypted: bool) -> FailureKind {
    let in_chain = |test: &dyn Fn(&(dyn Error + 'static)) -> bool| chain(error).any(test);
    let says = |text: &str| in_chain(&|link| link.to_string().starts_with(text));
    if in_chain(&is_exhausted) {
        FailureKind::Exhausted
    } else if in_chain(&|link| link.is::<AllPrivate>()) {
        FailureKind::PrivateAddress
    } else if error.is_timeout() {
        // Unencrypted requests connect to the proxy and to nothing else.
        if by_proxy && error.is_connect() && !encrypted { FailureKind::Proxy } else { FailureKind::Timeout }
    } else if error.is_dns() {
        match by_proxy {
            true => FailureKind::Proxy,
            false if in_chain(&|link| denies(&link.to_string())) => FailureKind::NoSuchHost,
            false => FailureKind::Dns,
        }
    } else if error.is_builder() {
        // Characters that no name may have.
        FailureKind::NoSuchHost
    } else if error.is_connect() {
        if says("tunnel error: unsuccessful") {
            FailureKind::Connect
        } else if by_proxy && (says("tunnel error") || says("tcp ") || !encrypted) {
            FailureKind::Proxy
        } else if encrypted && !says("tcp ") && !in_chain(&is_gone) {
            FailureKind::Tls
        } else if in_chain(&is_refused) {
            FailureKind::Refused
        } else {
            FailureKind::Connect
        }
    } else if says("message head is too large") {
        FailureKind::TooLarge
    } else {
        FailureKind::Broken
    }
}

/// This process or this machine has no descriptors left, which no host can be blamed for.
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

/// Whether the system's resolver says that there is no such name, or none with an address, and not that it failed. The code of
/// getaddrinfo is lost in the standard library, which keeps its text; of a text that is not known nothing is concluded.
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

/// The peer left in the middle of the handshake, which says nothing of its certificate: a loaded server does so.
fn is_gone(error: &(dyn Error + 'static)) -> bool {
    use std::io::ErrorKind::{BrokenPipe, ConnectionAborted, ConnectionReset, NotConnected, UnexpectedEof};
    let kind = error.downcast_ref::<std::io::Error>().map(std::io::Error::kind);
    matches!(kind, Some(BrokenPipe | ConnectionAborted | ConnectionReset | NotConnected | UnexpectedEof))
}

/// An error's sources, itself left out (its text holds the URL).
fn chain(error: &reqwest::Error) -> impl Iterator<Item = &(dyn Error + 'static)> {
    std::iter::successors(error.source(), |&link| link.source())
}

#[cfg(test)]
mod tests {
    use super::denies;

    #[test]
    fn a_name_that_does_not_exist_is_told_from_a_resolver_that_fails() {
        let text = |said: &str| format!("failed to lookup address information: {said}");
        assert!(denies(&text("Name or service not known")) && denies(&text("Name does not resolve")));
        for said in
            ["Temporary failure in name resolution", "Try again", "Non-recoverable failure in name resolution", ""]
        {
            assert!(!denies(&text(said)), "{said}");
        }
    }
}
