//! Which addresses may be asked. A crawler that follows strangers' links must not be led into its owner's network
//! (server-side request forgery), so every address is judged before it is connected to.
//!
//! Names are judged where they are resolved ([`Guard`] is the client's resolver): the connection goes to the very
//! addresses that were judged, so a name that answers differently the second time (DNS rebinding) gains nothing.
//! Addresses written in the URL never reach a resolver and are judged by [`refused`] before the request. With a proxy,
//! names are resolved there, and only such literals and `localhost` can be refused here.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use reqwest::Url;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use thiserror::Error;
use url::Host;

/// Whether `address` belongs to the public Internet.
///
/// Refused are the special-purpose blocks of RFC 6890 and its registry: private, loopback, link-local, unspecified,
/// shared (100.64/10), documentation, benchmarking, multicast, reserved and broadcast; of IPv6 all but global unicast
/// (2000::/3). IPv6 addresses that carry an IPv4 address (v4-mapped, NAT64, 6to4, Teredo) are as public as that is.
#[must_use]
pub fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(v4) => is_public_v4(v4),
        IpAddr::V6(v6) => is_public_v6(v6),
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let refused = match address.octets() {
        [0 | 10 | 127, ..] => true,
        [100, b, ..] => (64..128).contains(&b),
        [169, 254, ..] => true,
        [172, b, ..] => (16..32).contains(&b),
        // IETF protocols, documentation, the former 6to4 relays, private.
        [192, 0, 0 | 2, _] | [192, 88, 99, _] | [192, 168, ..] => true,
        [198, 18 | 19, ..] | [198, 51, 100, _] | [203, 0, 113, _] => true,
        // Multicast, reserved, broadcast.
        [224..=255, ..] => true,
        _ => false,
    };
    !refused
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    let segments = address.segments();
    let v4 = |high: u16, low: u16| is_public_v4(Ipv4Addr::from(u32::from(high) << 16 | u32::from(low)));
    match segments {
        // v4-mapped ::ffff:0:0/96 and the well-known NAT64 prefix 64:ff9b::/96: what is connected to is the IPv4 address.
        [0, 0, 0, 0, 0, 0xffff, high, low] | [0x64, 0xff9b, 0, 0, 0, 0, high, low] => v4(high, low),
        // 6to4: the router's IPv4 address.
        [0x2002, high, low, ..] => v4(high, low),
        // Teredo: server, then client with all bits turned (RFC 4380, 4).
        [0x2001, 0, server_high, server_low, _, _, high, low] => v4(server_high, server_low) && v4(!high, !low),
        // The rest of the IETF's 2001::/23 (benchmarking, ORCHID), documentation.
        [0x2001, 0..0x200, ..] | [0x2001, 0xdb8, ..] => false,
        [0x3fff, 0..0x1000, ..] => false,
        // Outside global unicast: loopback, v4-compatible, discard, local NAT64, ULA, link- and site-local, multicast.
        [first, ..] => first & 0xe000 == 0x2000,
    }
}

/// All addresses of a name are private.
#[derive(Debug, Error)]
#[error("{0} has none but private addresses")]
pub(super) struct AllPrivate(String);

/// Whether `url` names a private address as it stands: a literal address, or, where a proxy resolves names, `localhost`.
///
/// Odd spellings (`2130706433`, `0x7f.1`, `127.0.0.1.`) are no concern here: [`Url`] holds them as plain addresses.
pub(super) fn refused(url: &Url, by_proxy: bool) -> bool {
    match url.host() {
        Some(Host::Ipv4(v4)) => !is_public_v4(v4),
        Some(Host::Ipv6(v6)) => !is_public_v6(v6),
        Some(Host::Domain(name)) => {
            let name = name.trim_end_matches('.');
            by_proxy && (name == "localhost" || name.ends_with(".localhost"))
        }
        None => false,
    }
}

/// The system's resolver, keeping public addresses only.
#[derive(Clone, Copy, Debug)]
pub(super) struct Guard {
    /// Keep all: private addresses are allowed, or the only name ever resolved is the proxy's own.
    pub keep_all: bool,
}

impl Resolve for Guard {
    fn resolve(&self, name: Name) -> Resolving {
        let keep_all = self.keep_all;
        Box::pin(async move {
            // Port 0 stands for the URL's own.
            let found: Vec<SocketAddr> = tokio::net::lookup_host((name.as_str(), 0)).await?.collect();
            let some = !found.is_empty();
            let kept: Vec<SocketAddr> =
                found.into_iter().filter(|address| keep_all || is_public(address.ip())).collect();
            if some && kept.is_empty() {
                return Err(AllPrivate(name.as_str().to_owned()).into());
            }
            Ok(Box::new(kept.into_iter()) as Addrs)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn private_addresses_are_refused_up_to_their_last() {
        for (address, public) in [
            ("0.0.0.0", false),
            ("0.255.255.255", false),
            ("1.0.0.0", true),
            ("9.255.255.255", true),
            ("10.0.0.1", false),
            ("11.0.0.0", true),
            ("100.63.255.255", true),
            ("100.64.0.0", false),
            ("100.127.255.255", false),
            ("100.128.0.0", true),
            ("127.0.0.1", false),
            ("127.255.255.254", false),
            ("169.253.0.1", true),
            ("169.254.169.254", false),
            ("172.15.255.255", true),
            ("172.16.0.0", false),
            ("172.31.255.255", false),
            ("172.32.0.0", true),
            ("192.0.0.8", false),
            ("192.0.1.1", true),
            ("192.0.2.1", false),
            ("192.88.99.1", false),
            ("192.167.255.255", true),
            ("192.168.0.1", false),
            ("198.17.255.255", true),
            ("198.18.0.0", false),
            ("198.19.255.255", false),
            ("198.20.0.0", true),
            ("198.51.100.7", false),
            ("203.0.113.7", false),
            ("203.0.114.7", true),
            ("223.255.255.255", true),
            ("224.0.0.1", false),
            ("239.255.255.255", false),
            ("240.0.0.1", false),
            ("255.255.255.255", false),
            ("8.8.8.8", true),
            ("114.114.114.114", true),
            ("::", false),
            ("::1", false),
            ("::8.8.8.8", false),
            ("::ffff:127.0.0.1", false),
            ("::ffff:10.1.2.3", false),
            ("::ffff:8.8.8.8", true),
            ("64:ff9b::127.0.0.1", false),
            ("64:ff9b::169.254.169.254", false),
            ("64:ff9b::8.8.8.8", true),
            ("64:ff9b:1::8.8.8.8", false),
            ("100::1", false),
            ("2001:0:808:808::f7f7:f7f7", true),  // Teredo, client 8.8.8.8
            ("2001:0:808:808::f5ff:fffe", false), // client 10.0.0.1
            ("2001:0:a00:1::f7f7:f7f7", false),   // server 10.0.0.1
            ("2001:2::1", false),
            ("2001:10::1", false),
            ("2001:20::1", false),
            ("2001:200::1", true),
            ("2001:db8::1", false),
            ("2001:da8::1", true),
            ("2002:a00:1::1", false),
            ("2002:c0a8:101::1", false),
            ("2002:808:808::1", true),
            ("2400:3200::1", true),
            ("2606:4700:4700::1111", true),
            ("3fff:fff::1", false),
            ("3fff:1000::1", true),
            ("4000::1", false),
            ("5f00::1", false),
            ("fc00::1", false),
            ("fdff::1", false),
            ("fe80::1", false),
            ("febf::1", false),
            ("fec0::1", false),
            ("ff02::1", false),
        ] {
            assert_eq!(is_public(address.parse().unwrap()), public, "{address}");
        }
    }

    #[test]
    fn odd_spellings_of_literals_are_refused() {
        for url in [
            "http://127.0.0.1/",
            "http://2130706433/",
            "http://0x7f.1/",
            "http://0x7f000001/",
            "http://0177.0.0.1:8080/",
            "http://127.1./",
            "http://１２７.０.０.１/",
            "http://[::1]/",
            "http://[::ffff:7f00:1]/",
            "http://[::ffff:192.168.0.1]/",
            "http://0/",
        ] {
            assert!(refused(&Url::parse(url).unwrap(), false), "{url}");
        }
        for url in ["http://8.8.8.8/", "http://a.cn/", "http://[2400:3200::1]/", "http://127.0.0.1.a.cn/"] {
            assert!(!refused(&Url::parse(url).unwrap(), true), "{url}");
        }
        for url in ["http://localhost/", "http://LocalHost.:80/", "http://a.localhost/"] {
            assert!(refused(&Url::parse(url).unwrap(), true), "{url}");
            assert!(!refused(&Url::parse(url).unwrap(), false), "{url}: left to the resolver");
        }
    }

    #[tokio::test]
    async fn a_name_with_private_addresses_only_is_refused_when_resolved() {
        let name = || "localhost".parse::<Name>().unwrap();
        let error = Guard { keep_all: false }.resolve(name()).await.map(drop).unwrap_err();
        assert!(error.is::<AllPrivate>(), "{error}");
        assert!(Guard { keep_all: true }.resolve(name()).await.unwrap().count() > 0);
    }

    proptest::proptest! {
        #[test]
        fn an_embedded_address_is_never_more_public_than_itself(bits: u32) {
            let v4 = Ipv4Addr::from(bits);
            let [high, low] = [(bits >> 16) as u16, bits as u16];
            for v6 in [
                v4.to_ipv6_mapped(),
                Ipv6Addr::new(0x64, 0xff9b, 0, 0, 0, 0, high, low),
                Ipv6Addr::new(0x2002, high, low, 0, 0, 0, 0, 1),
                Ipv6Addr::new(0x2001, 0, 0x808, 0x808, 0, 0, !high, !low),
            ] {
                proptest::prop_assert_eq!(is_public(v6.into()), is_public(v4.into()), "{}", v6);
            }
            proptest::prop_assert!(!is_public(v4.to_ipv6_compatible().into()));
        }
    }
}
