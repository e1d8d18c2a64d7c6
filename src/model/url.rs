//! A URL in normal form. Apart because equality of `CrawlUrl` is the identity of a page everywhere else.

use serde::{Deserialize, Serialize};
use thiserror::Error;
use url::Url;

/// Number of a URL in order of discovery, from 0; ties in every order are broken by it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct UrlId(pub u32);

/// Number of a host in order of discovery, from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct HostId(pub u32);

/// Why a string is no URL to crawl.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum UrlError {
    /// Not a URL at all.
    #[error("not a URL ({0})")]
    Syntax(#[from] url::ParseError),
    /// `mailto:`, `javascript:`, `ftp:` and the like.
    #[error("scheme {0}: is not http or https")]
    Scheme(String),
    /// No host.
    #[error("it has no host")]
    NoHost,
}

/// An http or https URL in normal form; the only ways in are [`CrawlUrl::parse`] and [`CrawlUrl::join`].
///
/// Normal form: scheme and host in lower case, default port and fragment and credentials removed, dot segments
/// resolved, empty path written `/`, percent escapes in upper case and only where needed, an empty query removed,
/// session ids (`;jsessionid=`, `PHPSESSID`, `sid`) and campaign parameters (`utm_*`, `spm`, `fbclid`, `gclid`) removed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CrawlUrl(Url);

impl CrawlUrl {
    /// Reads an absolute URL.
    ///
    /// # Errors
    /// [`UrlError`] if `text` is not an absolute http or https URL with a host.
    pub fn parse(text: &str) -> Result<Self, UrlError> {
        Self::normal(Url::parse(text.trim())?)
    }

    /// Reads `reference` as found on this page.
    ///
    /// # Errors
    /// [`UrlError`] if the result is not an http or https URL with a host.
    pub fn join(&self, reference: &str) -> Result<Self, UrlError> {
        Self::normal(self.0.join(reference.trim())?)
    }

    fn normal(mut url: Url) -> Result<Self, UrlError> {
        if !matches!(url.scheme(), "http" | "https") {
            return Err(UrlError::Scheme(url.scheme().to_owned()));
        }
        if url.host_str().is_none_or(str::is_empty) {
            return Err(UrlError::NoHost);
        }
        // Asked before set: a URL that is normal already, as all of a log are, is not written anew.
        if url.fragment().is_some() {
            url.set_fragment(None);
        }
        if !url.username().is_empty() || url.password().is_some() {
            // These two fail only on URLs that cannot be a base, which http and https always can.
            let _ = url.set_username("");
            let _ = url.set_password(None);
        }
        if let Some(bare) = url.host_str().and_then(|host| host.strip_suffix('.')) {
            let bare = bare.to_owned();
            if !bare.is_empty() {
                url.set_host(Some(&bare))?;
            }
        }
        if url.path().contains(['%', ';']) {
            let path = without_session(&normal_escapes(url.path()));
            if path != url.path() {
                url.set_path(&path);
            }
        }
        if let Some(query) = url.query() {
            let kept: Vec<String> = query.split('&').filter(|pair| !is_noise(pair)).map(normal_escapes).collect();
            let kept = kept.join("&");
            if kept.is_empty() {
                url.set_query(None);
            } else if Some(kept.as_str()) != url.query() {
                url.set_query(Some(&kept));
            }
        }
        Ok(Self(url))
    }

    /// The whole URL.
    #[must_use]
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }

    /// `http` or `https`.
    #[must_use]
    pub fn scheme(&self) -> &str {
        self.0.scheme()
    }

    /// Host name without port, lower case.
    #[must_use]
    pub fn host(&self) -> &str {
        self.0.host_str().unwrap_or_default()
    }

    /// Host name with the port where it is not the scheme's own: the unit of politeness.
    #[must_use]
    pub fn authority(&self) -> &str {
        self.0.authority()
    }

    /// Scheme, host and port: what a robots.txt speaks for (RFC 9309, 2.3).
    #[must_use]
    pub fn origin(&self) -> String {
        format!("{}://{}", self.scheme(), self.authority())
    }

    /// Path, from `/`.
    #[must_use]
    pub fn path(&self) -> &str {
        self.0.path()
    }

    /// Query without `?`.
    #[must_use]
    pub fn query(&self) -> Option<&str> {
        self.0.query()
    }

    /// The same under the other of http and https; none where a port is given, which only one of them can mean.
    #[must_use]
    pub fn under(&self, https: bool) -> Option<Self> {
        if self.0.port().is_some() {
            return None;
        }
        let mut url = self.0.clone();
        url.set_scheme(if https { "https" } else { "http" }).ok()?;
        Some(Self(url))
    }

    /// Whether the scheme is https.
    #[must_use]
    pub fn is_https(&self) -> bool {
        self.scheme() == "https"
    }

    /// Where this URL's rules for robots are kept.
    #[must_use]
    pub fn robots(&self) -> Self {
        let mut url = self.0.clone();
        url.set_path("/robots.txt");
        url.set_query(None);
        Self(url)
    }

    /// The parsed form, for the fetcher.
    #[must_use]
    pub fn as_url(&self) -> &Url {
        &self.0
    }

    /// 64-bit fingerprint of the normal form: equal URLs have equal fingerprints; unequal ones collide with
    /// probability about n²/2⁶⁵ among n URLs.
    #[must_use]
    pub fn fingerprint(&self) -> u64 {
        xxhash_rust::xxh3::xxh3_64(self.as_str().as_bytes())
    }
}

impl std::fmt::Display for CrawlUrl {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Serialize for CrawlUrl {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for CrawlUrl {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = <std::borrow::Cow<'de, str>>::deserialize(deserializer)?;
        Self::parse(&text).map_err(serde::de::Error::custom)
    }
}

/// Campaign and session parameters: they change the URL and not the page.
fn is_noise(pair: &str) -> bool {
    let name = pair.split('=').next().unwrap_or_default().to_ascii_lowercase();
    name.is_empty()
        || name.starts_with("utm_")
        || matches!(name.as_str(), "spm" | "fbclid" | "gclid" | "jsessionid" | "phpsessid" | "sid" | "sessionid")
}

fn without_session(path: &str) -> String {
    if !path.contains(';') {
        return path.to_owned();
    }
    match path.to_ascii_lowercase().find(";jsessionid=") {
        Some(at) => path[..at].to_owned(),
        None => path.to_owned(),
    }
}

/// Percent escapes in upper case, and those of unreserved characters (RFC 3986, 2.3) undone.
fn normal_escapes(text: &str) -> String {
    if !text.contains('%') {
        return text.to_owned();
    }
    let bytes = text.as_bytes();
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    while at < bytes.len() {
        let escape = (bytes[at] == b'%').then(|| text.get(at + 1..at + 3)).flatten();
        if let Some(code) = escape.and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
            if code.is_ascii_alphanumeric() || matches!(code, b'-' | b'.' | b'_' | b'~') {
                out.push(char::from(code));
            } else {
                out.push('%');
                out.extend([bytes[at + 1], bytes[at + 2]].map(|digit| char::from(digit.to_ascii_uppercase())));
            }
            at += 3;
        } else {
            // `Url` hands out ASCII only, so a byte is a character.
            out.push(char::from(bytes[at]));
            at += 1;
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn normal(text: &str) -> String {
        CrawlUrl::parse(text).unwrap().as_str().to_owned()
    }

    #[test]
    fn one_page_has_one_spelling() {
        for spelling in [
            "http://Example.CN:80/a/../b/%7euser/%e4%b8%ad?utm_source=x#top",
            "http://example.cn/b/~user/中",
            " http://user:pw@example.cn./b/~user/%E4%B8%AD? ",
            "http://example.cn/b/~user/中;jsessionid=12AB",
            "http://example.cn/b/~user/中?&PHPSESSID=1&sid=2",
        ] {
            assert_eq!(normal(spelling), "http://example.cn/b/~user/%E4%B8%AD", "{spelling}");
        }
        assert_eq!(normal("https://a.cn"), "https://a.cn/");
        assert_eq!(normal("http://a.cn/x?b=2&a=1&utm_medium=q"), "http://a.cn/x?b=2&a=1");
        assert_eq!(normal("http://a.cn/100%"), "http://a.cn/100%");
    }

    #[test]
    fn other_schemes_are_refused() {
        assert!(matches!(CrawlUrl::parse("mailto:a@b.cn"), Err(UrlError::Scheme(_))));
        assert!(matches!(CrawlUrl::parse("体育"), Err(UrlError::Syntax(_))));
        let page = CrawlUrl::parse("http://a.cn/x/y").unwrap();
        assert!(page.join("javascript:void(0)").is_err());
        assert_eq!(page.join("../z?q=1#f").unwrap().as_str(), "http://a.cn/z?q=1");
    }

    proptest::proptest! {
        #[test]
        fn normal_form_is_a_fixed_point(path in "[ -~é中%/.?&=;]{0,40}") {
            if let Ok(once) = CrawlUrl::parse(&format!("http://h.cn/{path}")) {
                let twice = CrawlUrl::parse(once.as_str()).unwrap();
                proptest::prop_assert_eq!(once, twice);
            }
        }
    }
}
