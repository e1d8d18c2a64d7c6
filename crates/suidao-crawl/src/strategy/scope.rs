//! Scope: which URLs may be fetched at all regardless of their score. Pure: a URL in, a skip reason or none out.

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};
use url::Host;

use super::port;
use suidao_page::model::{CrawlUrl, SkipReason};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CrawlScope {
    /// Allowed schemes: `http`, `https`.
    pub schemes: Vec<String>,
    /// If not empty, only these hosts and their subdomains.
    #[serde(deserialize_with = "hosts")]
    pub allow_hosts: Vec<String>,
    /// Never these hosts, nor their subdomains.
    #[serde(deserialize_with = "hosts")]
    pub deny_hosts: Vec<String>,
    /// Excluded extensions of the path's last segment.
    #[serde(deserialize_with = "extensions")]
    pub deny_extensions: Vec<String>,
    /// Maximum length of a URL in bytes; a Chinese character takes nine in a path.
    pub max_url_length: usize,
    /// Ports allowed although they belong to other services.
    pub allow_ports: Vec<u16>,
    /// Whether http and https of a host are one site, fetched under the scheme that works.
    pub one_scheme: bool,
    /// Whether a host that seeds name only under https may get requests under http if its https port cannot be
    /// connected, which an attacker on the path can cause.
    pub downgrade_seeds: bool,
    /// Which `nofollow` marks are obeyed.
    pub nofollow: NoFollow,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NoFollow {
    /// None.
    Ignore,
    /// Those of pages (meta robots, `X-Robots-Tag`), which address crawlers. A link's `rel` only means that the author
    /// does not vouch for the target, and most blogroll links have it: many hosts are reached only through them.
    #[default]
    Pages,
    /// Those of links too.
    Links,
}

impl NoFollow {
    /// Whether a link is rejected, given the `nofollow` of its page and its own.
    pub fn refuses(self, page: bool, link: bool) -> bool {
        match self {
            Self::Ignore => false,
            Self::Pages => page,
            Self::Links => page || link,
        }
    }
}

/// Common extensions of files that are not pages.
const NO_PAGES: &str = "7z aac ai apk arj asx atom avi bin bmp bz2 cab css csv deb dmg doc docx eot eps epub exe flac flv \
    gif gz ico iso jar jpeg jpg js json lzh m3u m3u8 m4a m4v map mid midi mkv mobi mov mp2 mp3 mp4 mpeg mpg msi odp ods \
    odt ogg ogv otf pdf png ppt pptx ps psd qt ra rar rdf rm rmvb rpm rss rtf svg swf tar tbz tgz tif tiff torrent ts \
    ttf txz wav webm webp wma wmv woff woff2 xls xlsx xml xz zip zst";

impl Default for CrawlScope {
    fn default() -> Self {
        Self {
            schemes: vec!["http".into(), "https".into()],
            allow_hosts: Vec::new(),
            deny_hosts: Vec::new(),
            deny_extensions: NO_PAGES.split_whitespace().map(str::to_owned).collect(),
            max_url_length: 1024,
            allow_ports: Vec::new(),
            one_scheme: true,
            downgrade_seeds: false,
            nofollow: NoFollow::default(),
        }
    }
}

impl CrawlScope {
    /// Why `url` is out of scope; `None` if it is in.
    pub fn skip_reason(&self, url: &CrawlUrl) -> Option<SkipReason> {
        if !self.schemes.iter().any(|scheme| scheme == url.scheme()) {
            return Some(SkipReason::Scheme);
        }
        let host = url.host();
        let listed = |hosts: &[String]| hosts.iter().any(|listed| is_under(host, listed));
        if (!self.allow_hosts.is_empty() && !listed(&self.allow_hosts)) || listed(&self.deny_hosts) {
            return Some(SkipReason::Host);
        }
        if let Some(reason) = self.refuses_port(url) {
            return Some(reason);
        }
        if url.as_str().len() > self.max_url_length {
            return Some(SkipReason::UrlTooLong);
        }
        let last = url.path().rsplit('/').next().unwrap_or_default();
        if let Some((_, extension)) = last.rsplit_once('.')
            && self.deny_extensions.iter().any(|denied| denied.eq_ignore_ascii_case(extension))
        {
            return Some(SkipReason::Extension);
        }
        None
    }

    /// [`SkipReason::Port`] if the URL's port belongs to another service and is not allowed.
    pub fn refuses_port(&self, url: &CrawlUrl) -> Option<SkipReason> {
        let is_closed = |port: u16| port::is_non_web_port(port) && !self.allow_ports.contains(&port);
        url.port().is_some_and(is_closed).then_some(SkipReason::Port)
    }
}

/// Host names as in URLs, lower case and punycode; a leading dot or `*.` is ignored.
fn hosts<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    let host = |name: String| {
        let bare = name.trim().trim_start_matches('*').trim_start_matches('.').trim_end_matches('.');
        let wrong = |_| D::Error::custom(format!("{name:?} is not a host; give only its name, such as example.cn"));
        Host::parse(bare).map(|host| host.to_string()).map_err(wrong)
    };
    Vec::<String>::deserialize(deserializer)?.into_iter().map(host).collect()
}

/// Extensions in lower case, without the dot.
fn extensions<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    let extension = |name: String| {
        let bare = name.trim().trim_start_matches('.').to_ascii_lowercase();
        let sound = !bare.is_empty() && !bare.contains(['.', '/']);
        let wrong =
            || D::Error::custom(format!("{name:?} is not an extension; give what follows the last dot, such as pdf"));
        if sound { Ok(bare) } else { Err(wrong()) }
    };
    Vec::<String>::deserialize(deserializer)?.into_iter().map(extension).collect()
}

fn is_under(host: &str, domain: &str) -> bool {
    host.strip_suffix(domain).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_may_refuse_for_its_links_and_a_link_for_itself_if_asked() {
        use NoFollow::{Ignore, Links, Pages};
        let refused = |whose: NoFollow| [whose.refuses(true, false), whose.refuses(false, true)];
        assert_eq!([Ignore, Pages, Links].map(refused), [[false, false], [true, false], [true, true]]);
    }

    fn skip_reason(scope: &CrawlScope, url: &str) -> Option<SkipReason> {
        scope.skip_reason(&CrawlUrl::parse(url).unwrap())
    }

    #[test]
    fn hosts_count_with_their_subdomains() {
        let scope = CrawlScope {
            allow_hosts: vec!["a.cn".into()],
            deny_hosts: vec!["ads.a.cn".into()],
            ..CrawlScope::default()
        };
        assert_eq!(skip_reason(&scope, "http://a.cn/"), None);
        assert_eq!(skip_reason(&scope, "http://www.a.cn/"), None);
        assert_eq!(skip_reason(&scope, "http://aa.cn/"), Some(SkipReason::Host));
        assert_eq!(skip_reason(&scope, "http://x.ads.a.cn/"), Some(SkipReason::Host));
    }

    #[test]
    fn lists_are_read_as_urls_are() {
        let scope: CrawlScope = toml::from_str(
            "deny_hosts = ['Ads.Example.com', '.a.cn', '*.b.cn.', '中文.cn', '1.2.3.4']\ndeny_extensions = ['.PDF']",
        )
        .unwrap();
        for url in [
            "http://ads.example.com/",
            "http://x.a.cn/",
            "http://a.cn:8080/",
            "http://b.cn/",
            "http://中文.cn/",
            "http://1.2.3.4/",
        ] {
            assert_eq!(skip_reason(&scope, url), Some(SkipReason::Host), "{url}");
        }
        assert_eq!(skip_reason(&scope, "http://c.cn/x.pdf"), Some(SkipReason::Extension));
        for wrong in [
            "deny_hosts = ['http://a.cn']",
            "allow_hosts = ['a.cn:8080']",
            "deny_hosts = ['a.cn/x']",
            "deny_hosts = ['']",
            "deny_extensions = ['tar.gz']",
        ] {
            let message = toml::from_str::<CrawlScope>(wrong).unwrap_err().to_string();
            assert!(message.contains("is not a host") || message.contains("is not an extension"), "{wrong}: {message}");
        }
    }

    #[test]
    fn ports_of_other_services_are_refused_unless_they_are_let_in() {
        let scope = CrawlScope { allow_ports: vec![6379], ..CrawlScope::default() };
        for (url, reason) in [
            ("http://a.cn:25/", Some(SkipReason::Port)),
            ("https://a.cn:22/", Some(SkipReason::Port)),
            ("http://[2400:3200::1]:6667/", Some(SkipReason::Port)),
            ("http://a.cn:0/", Some(SkipReason::Port)),
            ("http://a.cn:11211/", Some(SkipReason::Port)),
            ("http://a.cn:6379/", None),
            ("http://a.cn:8080/", None),
            ("http://a.cn:443/", None),
            ("http://a.cn/:25/", None),
            ("http://[2400:3200::25]/", None),
        ] {
            assert_eq!(skip_reason(&scope, url), reason, "{url}");
        }
        assert_eq!(skip_reason(&CrawlScope::default(), "http://a.cn:6379/"), Some(SkipReason::Port));
    }

    #[test]
    fn what_is_no_page_is_refused() {
        let scope = CrawlScope::default();
        for (url, reason) in [
            ("http://a.cn/b.PDF", Some(SkipReason::Extension)),
            ("http://a.cn/v1.2/b", None),
            ("http://a.cn/b.html?f=x.pdf", None),
        ] {
            assert_eq!(skip_reason(&scope, url), reason, "{url}");
        }
        let long = format!("http://a.cn/{}", "x".repeat(1024));
        assert_eq!(skip_reason(&scope, &long), Some(SkipReason::UrlTooLong));
    }
}
