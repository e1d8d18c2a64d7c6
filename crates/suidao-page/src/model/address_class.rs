//! Classes of network addresses and host names: which are of the public Internet.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use url::Host;

use super::CrawlUrl;

/// Classes of addresses, by increasing danger.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum AddressClass {
    Public,
    /// This machine, its network, and addresses without use in a URL. Contacted if private addresses are allowed.
    Private,
    /// Link-local and cloud metadata, which hands out credentials. Contacted only if the address itself is allowed.
    Metadata,
}

/// Classifies an address.
///
/// Not public are the special-purpose blocks of the registry of RFC 6890 (private, loopback, link-local, unspecified,
/// shared, documentation, benchmarking, multicast, reserved, broadcast), and of IPv6 all but global unicast (2000::/3).
/// IPv6 addresses that contain an IPv4 address (v4-mapped, NAT64, 6to4, Teredo) are classified by that.
pub fn reach(address: IpAddr) -> AddressClass {
    match address {
        IpAddr::V4(v4) => reach_v4(v4),
        IpAddr::V6(v6) => reach_v6(v6),
    }
}

fn reach_v4(address: Ipv4Addr) -> AddressClass {
    let private = match address.octets() {
        // Link-local, where most clouds have their metadata, then those of Alibaba, Oracle and Azure.
        [169, 254, ..] | [100, 100, 100, 200] | [192, 0, 0, 192] | [168, 63, 129, 16] => return AddressClass::Metadata,
        [0 | 10 | 127, ..] => true,
        [100, b, ..] => (64..128).contains(&b),
        [172, b, ..] => (16..32).contains(&b),
        // IETF protocols, documentation, the former 6to4 relays, private.
        [192, 0, 0 | 2, _] | [192, 88, 99, _] | [192, 168, ..] => true,
        [198, 18 | 19, ..] | [198, 51, 100, _] | [203, 0, 113, _] => true,
        // Multicast, reserved, broadcast.
        [224..=255, ..] => true,
        _ => false,
    };
    if private { AddressClass::Private } else { AddressClass::Public }
}

fn reach_v6(address: Ipv6Addr) -> AddressClass {
    let segments = address.segments();
    let v4 = |high: u16, low: u16| reach_v4(Ipv4Addr::from(u32::from(high) << 16 | u32::from(low)));
    match segments {
        [0, 0, 0, 0, 0, 0, 0, 0 | 1] => AddressClass::Private,
        // v4-mapped ::ffff:0:0/96 and the well-known NAT64 prefix 64:ff9b::/96: the connection goes to the IPv4
        // address.
        [0, 0, 0, 0, 0, 0xffff, high, low] | [0x64, 0xff9b, 0, 0, 0, 0, high, low] => v4(high, low),
        // v4-compatible (RFC 4291, 2.5.5.1, deprecated) and local-use NAT64 (RFC 8215): never public.
        [0, 0, 0, 0, 0, 0, high, low] | [0x64, 0xff9b, 1, .., high, low] => v4(high, low).max(AddressClass::Private),
        // 6to4: the router's IPv4 address.
        [0x2002, high, low, ..] => v4(high, low),
        // Teredo: the server's address, then the client's with all bits inverted (RFC 4380, 4).
        [0x2001, 0, server_high, server_low, _, _, high, low] => v4(server_high, server_low).max(v4(!high, !low)),
        // The rest of the IETF's 2001::/23 (benchmarking, ORCHID), documentation.
        [0x2001, 0..0x200, ..] | [0x2001, 0xdb8, ..] => AddressClass::Private,
        [0x3fff, 0..0x1000, ..] => AddressClass::Private,
        // Link-local; the metadata of Amazon (fd00:ec2::/32) and of Google (fd20:ce::254).
        [first, ..] if first & 0xffc0 == 0xfe80 => AddressClass::Metadata,
        [0xfd00, 0xec2, ..] | [0xfd20, 0xce, 0, 0, 0, 0, 0, 0x254] => AddressClass::Metadata,
        // Outside global unicast: discard, ULA, site-local, multicast.
        [first, ..] => {
            if first & 0xe000 == 0x2000 {
                AddressClass::Public
            } else {
                AddressClass::Private
            }
        }
    }
}

/// Names that are private by RFC 6761, 6762 and 8375, and the top-level domain reserved for private use. Needed behind
/// a proxy, which resolves names itself.
pub fn reach_of_name(name: &str) -> AddressClass {
    let name = name.trim_end_matches('.');
    let under = |zone: &str| name.strip_suffix(zone).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'));
    if under("metadata.google.internal") {
        AddressClass::Metadata
    } else if ["localhost", "local", "internal", "home.arpa"].into_iter().any(under) {
        AddressClass::Private
    } else {
        AddressClass::Public
    }
}

/// Names that the public DNS does not know, and a proxy may: from its hosts file, search list or network. Without a
/// proxy their address is checked instead.
pub fn reach_by_proxy(name: &str) -> AddressClass {
    /// Top-level names outside the public DNS: of hosts files, local networks (RFC 6762, appendix G; `home`, `corp` and
    /// `mail` are reserved, ICANN 2018) and Kubernetes.
    const OWN: [&str; 10] =
        ["localdomain", "localdomain4", "localdomain6", "intranet", "private", "corp", "home", "lan", "mail", "svc"];
    let name = name.trim_end_matches('.');
    let top = name.rsplit('.').next().unwrap_or_default();
    // A public web page never has a host name without a dot (`localhost4`, `ip6-loopback`, `kubernetes`, `router`).
    let is_single = top.len() == name.len();
    if is_single || OWN.contains(&top) { AddressClass::Private } else { AddressClass::Public }
}

/// Whether a URL names a host that only its author's machine or network has.
pub fn is_local(url: &CrawlUrl) -> bool {
    let class = match url.to_url().host() {
        Some(Host::Ipv4(v4)) => reach(v4.into()),
        Some(Host::Ipv6(v6)) => reach(v6.into()),
        Some(Host::Domain(name)) => reach_of_name(name).max(reach_by_proxy(name)),
        None => AddressClass::Private,
    };
    class != AddressClass::Public
}
