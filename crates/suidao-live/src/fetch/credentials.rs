//! Passwords, tokens and header fields of `[[fetch.credentials]]`.
//!
//! They are sent only to their origin (scheme, host and port); each request, redirects included, is matched separately.
//! They are never printed: a [`Secret`] shows as `***`, header values are marked as sensitive, and request records
//! contain only what all requests have in common.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;

use data_encoding::BASE64;
use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderName, HeaderValue};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use thiserror::Error;

use crate::fetch::LISTS;
use suidao_page::model::CrawlUrl;
use suidao_page::word_list::SectionWords;

/// Replaces a secret in output.
const HIDDEN: &str = "***";

/// A text that is never shown: `Debug` and serde write `***`.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(HIDDEN)
    }
}

impl Serialize for Secret {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(HIDDEN)
    }
}

impl<'de> Deserialize<'de> for Secret {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        // The library's own message would contain the value.
        let text = String::deserialize(deserializer);
        text.map(Self).map_err(|_| serde::de::Error::custom("a secret must be a quoted string"))
    }
}

/// One entry of `[[fetch.credentials]]`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Credential {
    /// Scheme, host and port: `https://a.cn`, `https://a.cn:8443`. The default scheme is https; http must be explicit.
    pub origin: String,
    /// User of basic authentication (RFC 7617).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub password: Option<Secret>,
    /// Environment variable with the password.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub password_env: Option<String>,
    /// Bearer token (RFC 6750).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bearer: Option<Secret>,
    /// Environment variable with the token.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bearer_env: Option<String>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub headers: BTreeMap<String, Secret>,
    /// Header fields and the environment variables with their values.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub headers_env: BTreeMap<String, String>,
}

/// A credential with its secrets resolved.
pub(super) struct ResolvedCredential {
    /// In the form of [`CrawlUrl::origin`].
    pub origin: String,
    /// Marked as sensitive.
    pub headers: HeaderMap,
}

/// An entry of `[[fetch.credentials]]` that cannot be used, without its secrets.
#[derive(Clone, Debug, PartialEq, Error)]
#[error("fetch.credentials of {origin:?} {problem}")]
pub struct CredentialError {
    pub origin: String,
    pub problem: String,
}

/// Looks up environment variables by name.
pub(super) type Environment<'a> = &'a dyn Fn(&str) -> Option<String>;

impl Credential {
    /// Checks everything that does not need the environment.
    pub(super) fn check(&self) -> Result<String, CredentialError> {
        let wrong = |problem: &str| Err(self.wrong(problem));
        if self.origin.contains('@') {
            return wrong("must not contain a user; set user and password_env");
        }
        let Some(origin) = self.parsed() else {
            return wrong("is not an origin; give scheme, host and port, such as https://a.cn:8443");
        };
        if [&self.password, &self.bearer].into_iter().flatten().chain(self.headers.values()).any(|s| s.0 == HIDDEN) {
            return wrong(
                "contains only the masked secret; give the configuration that contains it (-c), or name an environment variable",
            );
        }
        if self.password.is_some() && self.password_env.is_some() || self.bearer.is_some() && self.bearer_env.is_some()
        {
            return wrong("has a secret both in the file and in the environment; give one");
        }
        let password = self.password.is_some() || self.password_env.is_some();
        let bearer = self.bearer.is_some() || self.bearer_env.is_some();
        if self.user.is_some() != password {
            return wrong("needs user and password (or password_env) together");
        }
        if self.user.as_ref().is_some_and(|user| user.contains(':')) {
            return wrong("has a user name with a colon, which basic authentication does not allow");
        }
        if self.user.is_some() && bearer {
            return wrong("has both a password and a token; give one");
        }
        let names = || self.headers.keys().chain(self.headers_env.keys());
        for name in names() {
            let name = name.to_ascii_lowercase();
            if HeaderName::from_bytes(name.as_bytes()).is_err() || NOT_OURS.contains(&name.as_str()) {
                return Err(self.wrong(&format!("sets the header field {name:?}, which is not allowed")));
            }
        }
        let mut sorted: Vec<String> = names().map(|name| name.to_ascii_lowercase()).collect();
        sorted.sort();
        if sorted.windows(2).any(|pair| pair[0] == pair[1])
            || (password || bearer) && sorted.iter().any(|name| name == "authorization")
        {
            return wrong("sets one header field twice");
        }
        if !password && !bearer && names().next().is_none() {
            return wrong("is empty; set user, bearer or headers, or a key that ends in _env");
        }
        Ok(origin)
    }

    /// The origin in normal form; `None` if the URL has more than an origin.
    fn parsed(&self) -> Option<String> {
        let text = self.origin.trim();
        let whole = if text.contains("://") { text.to_owned() } else { format!("https://{text}") };
        let url = CrawlUrl::parse(&whole).ok()?;
        (url.path() == "/" && url.query().is_none() && !whole.contains(['?', '#'])).then(|| url.origin())
    }

    /// Whether the configuration itself contains a secret.
    pub fn holds_secret(&self) -> bool {
        self.password.is_some() || self.bearer.is_some() || !self.headers.is_empty()
    }

    /// Resolves the secrets.
    pub(super) fn access(&self, environment: Environment) -> Result<ResolvedCredential, CredentialError> {
        let origin = self.check()?;
        let variable = |name: &String| {
            let value = environment(name).filter(|value| !value.is_empty());
            value
                .map(Secret)
                .ok_or_else(|| self.wrong(&format!("needs the environment variable {name}, which is not set")))
        };
        let secret = |given: &Option<Secret>, name: &Option<String>| match (given, name) {
            (Some(secret), _) => Ok(Some(secret.clone())),
            (None, Some(name)) => variable(name).map(Some),
            (None, None) => Ok(None),
        };
        let mut headers = HeaderMap::new();
        let mut set = |name: &str, value: &str| {
            let value = HeaderValue::from_bytes(value.as_bytes());
            let name = HeaderName::from_bytes(name.to_ascii_lowercase().as_bytes());
            let (Ok(name), Ok(mut value)) = (name, value) else {
                return Err(self.wrong("has a secret with control characters, such as a line end"));
            };
            value.set_sensitive(true);
            headers.insert(name, value);
            Ok(())
        };
        if let (Some(user), Some(password)) = (&self.user, secret(&self.password, &self.password_env)?) {
            let pair = BASE64.encode(format!("{user}:{}", password.0).as_bytes());
            set(AUTHORIZATION.as_str(), &format!("Basic {pair}"))?;
        }
        if let Some(token) = secret(&self.bearer, &self.bearer_env)? {
            set(AUTHORIZATION.as_str(), &format!("Bearer {}", token.0))?;
        }
        for (name, value) in &self.headers {
            set(name, &value.0)?;
        }
        for (name, value) in &self.headers_env {
            set(name, &variable(value)?.0)?;
        }
        Ok(ResolvedCredential { origin, headers })
    }

    fn wrong(&self, problem: &str) -> CredentialError {
        // The part before an @ may be a password.
        let origin = self.origin.rsplit('@').next().unwrap_or_default().to_owned();
        CredentialError { origin, problem: problem.to_owned() }
    }
}

/// Header fields that the client sets itself.
static NOT_OURS: SectionWords = SectionWords::of(LISTS, "own fields");

/// Warns of a file with a secret that others on this machine can read.
pub fn warn_if_open(path: &Path, what: &str) {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        if std::fs::metadata(path).is_ok_and(|meta| meta.permissions().mode() & 0o077 != 0) {
            tracing::warn!("other users can read the {what} {}; run chmod 600 on it", path.display());
        }
    }
    #[cfg(not(unix))]
    let _ = (path, what);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn credential(toml: &str) -> Credential {
        toml::from_str(toml).unwrap()
    }

    fn environment(name: &str) -> Option<String> {
        match name {
            "PASSWORD" => Some("p:ss wörd".into()),
            "TOKEN" => Some("t0k3n".into()),
            "LINES" => Some("a\r\nX-Evil: 1".into()),
            "EMPTY" => Some(String::new()),
            _ => None,
        }
    }

    #[test]
    fn secrets_become_sensitive_header_fields() {
        for (toml, name, value) in [
            ("origin = 'a.cn'\nuser = 'me'\npassword = 'x'", "authorization", "Basic bWU6eA=="),
            ("origin = 'a.cn'\nuser = 'me'\npassword_env = 'PASSWORD'", "authorization", "Basic bWU6cDpzcyB3w7ZyZA=="),
            ("origin = 'a.cn'\nbearer = 'x'", "authorization", "Bearer x"),
            ("origin = 'a.cn'\nbearer_env = 'TOKEN'", "authorization", "Bearer t0k3n"),
            ("origin = 'a.cn'\nheaders = { X-Key = 'hush' }", "x-key", "hush"),
            ("origin = 'a.cn'\nheaders_env = { X-Key = 'TOKEN' }", "x-key", "t0k3n"),
            ("origin = 'a.cn'\nheaders = { Cookie = 'a=b' }", "cookie", "a=b"),
        ] {
            let access = credential(toml).access(&environment).unwrap();
            let fields: Vec<_> = access.headers.iter().collect();
            assert_eq!(fields.len(), 1, "{toml}");
            assert_eq!((fields[0].0.as_str(), fields[0].1.as_bytes()), (name, value.as_bytes()), "{toml}");
            assert!(fields[0].1.is_sensitive() && !format!("{:?}", access.headers).contains(value), "{toml}");
        }
        for (origin, normal) in [
            ("a.cn", "https://a.cn"),
            ("https://A.cn:443/", "https://a.cn"),
            ("a.cn:8443", "https://a.cn:8443"),
            ("http://a.cn", "http://a.cn"),
            ("https://中国.cn", "https://xn--fiqs8s.cn"),
            ("[2400::1]:8443", "https://[2400::1]:8443"),
        ] {
            let one = Credential { origin: origin.into(), bearer: Some(Secret::new("x")), ..Credential::default() };
            assert_eq!(one.access(&environment).unwrap().origin, normal);
        }
    }

    #[test]
    fn what_cannot_be_used_is_reported_without_the_secret() {
        for (toml, result) in [
            ("origin = 'a.cn'", "is empty"),
            ("bearer = 'hush'", "not an origin"),
            ("origin = 'a.cn/path'\nbearer = 'hush'", "not an origin"),
            ("origin = 'a.cn?x'\nbearer = 'hush'", "not an origin"),
            ("origin = 'ftp://a.cn'\nbearer = 'hush'", "not an origin"),
            ("origin = 'https://me:hush@a.cn'\nbearer = 'hush'", "must not contain a user"),
            ("origin = 'a.cn'\nuser = 'me'", "together"),
            ("origin = 'a.cn'\npassword = 'hush'", "together"),
            ("origin = 'a.cn'\nuser = 'm:e'\npassword = 'hush'", "colon"),
            ("origin = 'a.cn'\nuser = 'me'\npassword = 'hush'\nbearer = 'hush'", "a token"),
            ("origin = 'a.cn'\nbearer = 'hush'\nbearer_env = 'TOKEN'", "give one"),
            ("origin = 'a.cn'\nbearer_env = 'NONE'", "NONE"),
            ("origin = 'a.cn'\nbearer_env = 'EMPTY'", "EMPTY"),
            ("origin = 'a.cn'\nbearer_env = 'LINES'", "control characters"),
            ("origin = 'a.cn'\nheaders = { Host = 'hush' }", "host"),
            ("origin = 'a.cn'\nheaders = { 'a b' = 'hush' }", "a b"),
            ("origin = 'a.cn'\nheaders = { X = 'hush', x = 'hush' }", "twice"),
            ("origin = 'a.cn'\nbearer = 'hush'\nheaders = { Authorization = 'hush' }", "twice"),
            ("origin = 'a.cn'\nbearer = '***'", "-c"),
        ] {
            let one = credential(toml);
            let message = one.access(&environment).map(|_| ()).unwrap_err().to_string();
            assert!(message.contains(result) && message.starts_with("fetch.credentials"), "{toml}: {message}");
            assert!(!message.contains("hush") && !message.contains("X-Evil"), "{toml}: {message}");
            let shown = [format!("{one:?}"), toml::to_string(&one).unwrap(), serde_json::to_string(&one).unwrap()];
            assert!(!shown[..].concat().replace("me:hush@", "").contains("hush"), "{shown:?}");
        }
        for toml in ["origin = 'a.cn'\nbearer = 4711", "origin = 'a.cn'\nheaders = { X = [4711] }"] {
            let error = toml::from_str::<Credential>(toml).unwrap_err();
            assert!(!error.message().contains("4711"), "{}", error.message());
        }
    }
}
