//! Which addresses may be contacted. Links of other people's pages must not lead into the user's network (server-side
//! request forgery).
//!
//! Names are checked when they are resolved ([`Guard`] is the client's resolver), and the connection goes to the
//! addresses that were checked, so DNS rebinding has no effect. Literal addresses never reach a resolver;
//! [`Allowed::refuses`] checks them before the request. A proxy resolves names itself, so only literals and names that
//! are private by convention can be refused there ([`reach_of_name`], [`reach_by_proxy`]).

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::sync::Arc;

use reqwest::Url;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use thiserror::Error;
use url::Host;

use suidao_crawl::strategy::port::is_non_web_port;
use suidao_page::model::address_class::{AddressClass, reach, reach_by_proxy, reach_of_name};

/// What may be contacted besides the public Internet.
#[derive(Clone, Debug, Default)]
pub(super) struct Allowed {
    pub private: bool,
    /// Single addresses, of any class.
    pub addresses: Arc<[IpAddr]>,
    /// A proxy resolves names, so their addresses are unknown.
    pub proxied: bool,
    /// Ports of other services that are allowed.
    pub ports: Arc<[u16]>,
}

impl Allowed {
    pub(super) fn permits(&self, address: IpAddr) -> bool {
        self.permits_reach(reach(address)) || self.addresses.contains(&address.to_canonical())
    }

    fn permits_reach(&self, reach: AddressClass) -> bool {
        match reach {
            AddressClass::Public => true,
            AddressClass::Private => self.private,
            AddressClass::Metadata => false,
        }
    }

    /// Whether `url` has a port of another service.
    pub(super) fn refuses_port(&self, url: &Url) -> bool {
        url.port().is_some_and(|port| is_non_web_port(port) && !self.ports.contains(&port))
    }

    /// Whether `url` must not be contacted, judged by a literal address or a private name. [`Url`] converts
    /// unusual spellings of an address (`2130706433`, `0x7f.1`) to the usual one.
    pub(super) fn refuses(&self, url: &Url) -> bool {
        match url.host() {
            Some(Host::Ipv4(v4)) => !self.permits(v4.into()),
            Some(Host::Ipv6(v6)) => !self.permits(v6.into()),
            // The name may have an address that is allowed: the resolver decides.
            Some(Host::Domain(name)) if !self.proxied => {
                !self.permits_reach(reach_of_name(name)) && self.addresses.is_empty()
            }
            Some(Host::Domain(name)) => !self.permits_reach(reach_of_name(name).max(reach_by_proxy(name))),
            None => true,
        }
    }
}

/// Every address of the name is forbidden.
#[derive(Debug, Error)]
#[error("{0} has only private addresses")]
pub(super) struct AllPrivate(String);

/// Addresses of a name. Port 0 means the port of the URL.
pub(super) type LookupFuture = Pin<Box<dyn Future<Output = io::Result<Vec<SocketAddr>>> + Send>>;

/// Resolves names.
pub(super) type Lookup = Arc<dyn Fn(&str) -> LookupFuture + Send + Sync>;

pub(super) fn system() -> Lookup {
    Arc::new(|name| {
        let name = name.to_owned();
        Box::pin(async move { Ok(tokio::net::lookup_host((name.as_str(), 0)).await?.collect()) })
    })
}

/// A resolver that returns only permitted addresses.
#[derive(Clone)]
pub(super) struct Guard {
    pub lookup: Lookup,
    /// `None`: the only name resolved is that of the proxy, which the user set.
    pub allowed: Option<Allowed>,
}

impl Resolve for Guard {
    fn resolve(&self, name: Name) -> Resolving {
        let Self { lookup, allowed } = self.clone();
        Box::pin(async move {
            let found = lookup(name.as_str()).await?;
            let some = !found.is_empty();
            let may = |address: &SocketAddr| allowed.as_ref().is_none_or(|allowed| allowed.permits(address.ip()));
            let allowed: Vec<SocketAddr> = found.into_iter().filter(may).collect();
            if some && allowed.is_empty() {
                return Err(AllPrivate(name.as_str().to_owned()).into());
            }
            Ok(Box::new(allowed.into_iter()) as Addrs)
        })
    }
}

#[cfg(test)]
mod tests {
    use std::net::{Ipv4Addr, Ipv6Addr};

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
            ("168.63.129.16", false),
            ("168.63.129.17", true),
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
            assert_eq!(reach(address.parse().unwrap()) == AddressClass::Public, public, "{address}");
        }
    }

    fn url(text: &str) -> Url {
        Url::parse(text).unwrap()
    }

    #[test]
    fn odd_spellings_of_literals_are_refused() {
        let guarded = Allowed::default();
        for text in [
            "http://127.0.0.1/",
            "http://2130706433/",
            "http://0x7f.1/",
            "http://0x7f000001/",
            "http://0x7F.0.0.0x1/",
            "http://017700000001/",
            "http://0177.0.0.1:8080/",
            "http://127.1./",
            "http://127.0.1/",
            "http://１２７.０.０.１/",
            "http://①②⑦.0.0.1/",
            "http://127%2e0%2e0%2e1/",
            "http://user@127.0.0.1/",
            "http://8.8.8.8@127.0.0.1/",
            "http://127.0.0.1\\@8.8.8.8/",
            "http://[::1]/",
            "http://[::]/",
            "http://[0:0:0:0:0:0:0:1]/",
            "http://[::ffff:7f00:1]/",
            "http://[::ffff:192.168.0.1]/",
            "http://[::127.0.0.1]/",
            "http://[64:ff9b::a00:1]/",
            "http://[2002:7f00:1::]/",
            "http://0/",
            "http://0.0.0.0/",
            "http://localhost/",
            "http://localhost./",
            "http://LocalHost.:80/",
            "http://a.localhost/",
            "http://printer.local/",
            "http://metadata.google.internal/computeMetadata/v1/",
            "http://169.254.169.254/latest/meta-data/",
            "http://2852039166/",
            "http://[fd00:ec2::254]/",
            "http://[::ffff:a9fe:a9fe]/",
        ] {
            assert!(guarded.refuses(&url(text)), "{text}");
        }
        for text in [
            "http://8.8.8.8/",
            "http://a.cn/",
            "http://[2400:3200::1]/",
            "http://127.0.0.1.a.cn/",
            "http://notlocalhost/",
            "http://localhost.cn/",
            "http://internal.cn/",
        ] {
            assert!(!guarded.refuses(&url(text)), "{text}");
        }
        // The URL parser rejects these, so no link can use them.
        for text in ["http://[fe80::1%25eth0]/", "http://[::1%lo]/", "http://127.0.0.1.1/", "http://256.1.1.1/"] {
            assert!(Url::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn private_addresses_do_not_open_metadata() {
        let private = Allowed { private: true, ..Allowed::default() };
        for text in ["http://127.0.0.1/", "http://10.0.0.1/", "http://localhost/", "http://[fd12::1]/", "http://[::1]/"]
        {
            assert!(!private.refuses(&url(text)), "{text}");
        }
        for text in [
            "http://169.254.169.254/",
            "http://169.254.0.1/",
            "http://100.100.100.200/",
            "http://192.0.0.192/",
            "http://168.63.129.16/",
            "http://[::ffff:169.254.169.254]/",
            "http://[::169.254.169.254]/",
            "http://[64:ff9b::169.254.169.254]/",
            "http://[64:ff9b:1::169.254.169.254]/",
            "http://[2002:a9fe:a9fe::1]/",
            "http://[fe80::1]/",
            "http://[fd00:ec2::254]/",
            "http://[fd20:ce::254]/",
            "http://metadata.google.internal/",
        ] {
            assert!(private.refuses(&url(text)), "{text}");
        }
        let named = Allowed { addresses: ["169.254.169.254".parse().unwrap()].into(), ..Allowed::default() };
        for text in ["http://169.254.169.254/", "http://[::ffff:169.254.169.254]/"] {
            assert!(!named.refuses(&url(text)), "{text}");
        }
        assert!(named.refuses(&url("http://169.254.169.253/")) && named.refuses(&url("http://127.0.0.1/")));
    }

    #[test]
    fn an_address_that_is_allowed_opens_no_name_that_a_proxy_resolves() {
        let here = Allowed { addresses: ["10.0.0.7".parse().unwrap()].into(), ..Allowed::default() };
        let there = Allowed { proxied: true, ..here.clone() };
        for text in ["http://localhost/", "http://metadata.google.internal/", "http://wiki.internal/"] {
            assert!(!here.refuses(&url(text)), "{text}: the resolver judges it");
            assert!(there.refuses(&url(text)), "{text}");
        }
        assert!(!there.refuses(&url("http://10.0.0.7/")) && !there.refuses(&url("http://a.cn/")));
        let private = Allowed { private: true, ..there };
        assert!(!private.refuses(&url("http://wiki.internal/")));
        assert!(private.refuses(&url("http://metadata.google.internal/")));
    }

    #[test]
    fn local_names_are_not_sent_to_a_proxy() {
        let here = Allowed::default();
        let there = Allowed { proxied: true, ..Allowed::default() };
        for text in [
            "http://localhost.localdomain/",
            "http://localhost4/",
            "http://localhost6.localdomain6/",
            "http://ip6-localhost/",
            "http://ip6-loopback:8080/",
            "http://broadcasthost/",
            "http://kubernetes/",
            "http://Router./",
            "http://ai/",
            "http://host.docker.internal/",
            "http://kubernetes.default.svc.cluster.local/",
            "http://kubernetes.default.svc/",
            "http://nas.lan/",
            "http://nas.home/",
            "http://wiki.corp/",
            "http://wiki.intranet/",
            "http://wiki.private./",
        ] {
            assert!(there.refuses(&url(text)), "{text}");
        }
        for text in ["http://lan.cn/", "http://home.example.cn/", "http://localdomain.example.com/", "http://8.8.8.8/"]
        {
            assert!(!there.refuses(&url(text)), "{text}");
        }
        for text in ["http://kubernetes/", "http://nas.lan/"] {
            assert!(!here.refuses(&url(text)), "{text}: without a proxy the resolver's response is judged");
        }
        let private = Allowed { private: true, proxied: true, ..Allowed::default() };
        assert!(!private.refuses(&url("http://nas.lan/")) && !private.refuses(&url("http://kubernetes/")));
    }

    #[test]
    fn ports_of_other_services_are_always_refused() {
        let allowed = Allowed { ports: [25].into(), private: true, ..Allowed::default() };
        for (text, refused) in [
            ("http://a.cn:22/", true),
            ("https://127.0.0.1:6379/", true),
            ("http://a.cn:25/", false),
            ("http://a.cn/", false),
            ("http://a.cn:8080/", false),
        ] {
            assert_eq!(allowed.refuses_port(&url(text)), refused, "{text}");
        }
    }

    fn guard(allowed: Option<Allowed>) -> Guard {
        Guard { lookup: system(), allowed }
    }

    #[tokio::test]
    async fn a_name_with_private_addresses_only_is_refused_when_resolved() {
        let name = || "localhost".parse::<Name>().unwrap();
        let error = guard(Some(Allowed::default())).resolve(name()).await.map(drop).unwrap_err();
        assert!(error.is::<AllPrivate>(), "{error}");
        assert!(guard(None).resolve(name()).await.unwrap().count() > 0);
    }

    #[tokio::test]
    async fn of_public_and_private_addresses_of_a_name_only_the_public_ones_are_used() {
        let lookup: Lookup = Arc::new(|_| {
            let found = ["127.0.0.1:0", "8.8.8.8:0", "[::1]:0", "169.254.169.254:0", "[2400:3200::1]:0"];
            Box::pin(async move { Ok(found.map(|address| address.parse().unwrap()).into()) })
        });
        let resolved = async |allowed| {
            let guard = Guard { lookup: Arc::clone(&lookup), allowed };
            let resolved = guard.resolve("a.cn".parse().unwrap()).await.unwrap();
            resolved.map(|address| address.ip().to_string()).collect::<Vec<_>>()
        };
        assert_eq!(resolved(Some(Allowed::default())).await, ["8.8.8.8", "2400:3200::1"]);
        let private = Allowed { private: true, ..Allowed::default() };
        assert_eq!(resolved(Some(private)).await, ["127.0.0.1", "8.8.8.8", "::1", "2400:3200::1"]);
        assert_eq!(resolved(None).await.len(), 5);
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
                proptest::prop_assert_eq!(reach(v6.into()), reach(v4.into()), "{}", v6);
            }
            proptest::prop_assert!(reach(v4.to_ipv6_compatible().into()) != AddressClass::Public);
        }
    }
}
