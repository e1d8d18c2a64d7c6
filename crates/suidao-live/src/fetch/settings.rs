//! The section `[fetch]` of the configuration, and its checks.

use std::collections::BTreeSet;
use std::fmt;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use reqwest::Url;
use reqwest::header::HeaderValue;
use serde::{Deserialize, Serialize};
use suidao_page::model::{size, syntax_problem};
use thiserror::Error;

use super::credentials::{Credential, CredentialError};
use super::guard::Allowed;

/// Longest sensible time limit: a day.
const LONGEST: Duration = Duration::from_secs(86_400);

/// Times are in seconds, sizes in bytes.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct FetchSettings {
    /// Longest wait for name, TCP and TLS together, above 0, at most a day.
    pub connect_timeout: f64,
    /// Longest silence of a server before or within its response, above 0, at most a day.
    pub read_timeout: f64,
    /// Longest time for a whole request, above 0, at most a day.
    pub timeout: f64,
    /// Largest decoded body, at least 1.
    #[serde(deserialize_with = "size::deserialize")]
    pub max_body: usize,
    /// Largest body as transferred, at least 1.
    #[serde(deserialize_with = "size::deserialize")]
    pub max_wire: usize,
    /// Proxy for all requests: `http://[user:password@]host[:port]` or `https://...`. Environment variables are not
    /// read.
    pub proxy: Option<String>,
    /// Whether private and loopback addresses are allowed. Link-local and cloud metadata addresses stay refused.
    pub allow_private: bool,
    /// Single addresses to allow, of any class.
    pub allow_addresses: Vec<IpAddr>,
    /// Name and version in `User-Agent`, before the contact.
    pub user_agent: String,
    /// URL or mail address for site owners; sent as ` (+contact)` after the agent's name.
    pub contact: Option<String>,
    /// Value of `Accept-Language`; empty: not sent.
    pub accept_language: String,
    /// Whether cookies are sent back during one run, and not only within one chain of redirects.
    pub cookies: bool,
    pub credentials: Vec<Credential>,
}

/// Without secrets.
impl fmt::Debug for FetchSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let masked = serde_json::to_string(&self.without_secrets()).map_err(|_| fmt::Error)?;
        write!(f, "Settings {masked}")
    }
}

impl Default for FetchSettings {
    fn default() -> Self {
        Self {
            connect_timeout: 10.0,
            read_timeout: 20.0,
            timeout: 60.0,
            max_body: 10 << 20,
            max_wire: 10 << 20,
            proxy: None,
            allow_private: false,
            allow_addresses: Vec::new(),
            user_agent: concat!("suidao/", env!("CARGO_PKG_VERSION")).to_owned(),
            contact: None,
            accept_language: "zh-CN,zh;q=0.9,en;q=0.8".to_owned(),
            cookies: false,
            credentials: Vec::new(),
        }
    }
}

/// A value that cannot be used. Each message names the key and a valid value.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum SettingsError {
    /// Not the URL of a proxy. The value may contain a password and is omitted.
    #[error("fetch.proxy (--proxy) {problem}; write it as http://host:port")]
    Proxy { problem: String },
    #[error(transparent)]
    Credential(#[from] CredentialError),
    /// A value that is not valid in a header field.
    #[error("fetch.{key} = {value:?}: {problem}")]
    Header { key: &'static str, value: String, problem: &'static str },
}

/// [`FetchSettings`] after checking, in the form that the client needs.
pub(super) struct CheckedSettings {
    pub connect_timeout: Duration,
    pub read_timeout: Duration,
    pub timeout: Duration,
    pub max_body: usize,
    pub max_wire: usize,
    pub proxy: Option<Url>,
    pub allowed: Allowed,
    pub agent: HeaderValue,
    pub accept_language: Option<HeaderValue>,
}

impl FetchSettings {
    /// The `User-Agent`: `suidao/0.1.0 (+contact)`, or without the parentheses.
    pub fn agent(&self) -> String {
        match self.contact.as_deref().map(str::trim) {
            Some(contact) if !contact.is_empty() => format!("{} (+{contact})", self.user_agent.trim()),
            _ => self.user_agent.trim().to_owned(),
        }
    }

    /// The settings without the password of a proxy. Credentials never show theirs.
    pub fn without_secrets(&self) -> Self {
        let mut masked = self.clone();
        if let Some(proxy) = &mut masked.proxy
            && let Some((head, host)) = proxy.rsplit_once('@')
        {
            let scheme = head.split_once("://").map_or("", |(scheme, _)| scheme);
            *proxy = format!("{scheme}://***@{host}");
        }
        masked
    }

    /// Checks the values that do not need the environment or files.
    pub fn check(&self) -> Result<(), SettingsError> {
        self.checked().map(drop)
    }

    pub(super) fn checked(&self) -> Result<CheckedSettings, SettingsError> {
        if self.user_agent.trim().is_empty() {
            let problem = "must not be empty, because a crawler must identify itself";
            return Err(SettingsError::Header { key: "user_agent", value: self.user_agent.clone(), problem });
        }
        let contact = self.contact.as_deref().unwrap_or_default();
        header("contact", contact)?;
        if contact.contains(['(', ')']) {
            let problem = "must not contain brackets, because it is sent in brackets";
            return Err(SettingsError::Header { key: "contact", value: contact.to_owned(), problem });
        }
        header("user_agent", &self.user_agent)?;
        let mut origins = BTreeSet::new();
        for credential in &self.credentials {
            let origin = credential.check()?;
            if !origins.insert(origin.clone()) {
                let problem = "is given twice; use one entry per origin".to_owned();
                return Err(CredentialError { origin, problem }.into());
            }
        }
        let language = header("accept_language", self.accept_language.trim())?;
        Ok(CheckedSettings {
            connect_timeout: seconds(self.connect_timeout),
            read_timeout: seconds(self.read_timeout),
            timeout: seconds(self.timeout),
            max_body: self.max_body,
            max_wire: self.max_wire,
            proxy: self.proxy.as_deref().map(proxy).transpose()?,
            allowed: Allowed {
                private: self.allow_private,
                addresses: self.allow_addresses.iter().map(IpAddr::to_canonical).collect::<Arc<[IpAddr]>>(),
                proxied: self.proxy.is_some(),
                ..Allowed::default()
            },
            agent: header("user_agent", &self.agent())?,
            accept_language: (!language.is_empty()).then_some(language),
        })
    }
}

/// Converts a time limit, whose range has been checked.
fn seconds(value: f64) -> Duration {
    Duration::try_from_secs_f64(value).unwrap_or(LONGEST)
}

/// Header values are UTF-8 without control characters.
fn header(key: &'static str, value: &str) -> Result<HeaderValue, SettingsError> {
    HeaderValue::from_bytes(value.as_bytes()).map_err(|_| SettingsError::Header {
        key,
        value: value.to_owned(),
        problem: "must be one line without control characters",
    })
}

fn proxy(text: &str) -> Result<Url, SettingsError> {
    let problem = |problem: String| SettingsError::Proxy { problem };
    let url = Url::parse(text.trim()).map_err(|error| problem(format!("is not a URL ({})", syntax_problem(error))))?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(problem(format!("has the scheme {}, not http or https", url.scheme())));
    }
    // As `without_secrets` writes it.
    if url.username() == "***" {
        return Err(problem("contains only the masked password; give the real one with --proxy".to_owned()));
    }
    if url.host_str().is_none_or(str::is_empty) {
        return Err(problem("contains no host".to_owned()));
    }
    Ok(url)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem(change: impl FnOnce(&mut FetchSettings)) -> String {
        let mut settings = FetchSettings::default();
        change(&mut settings);
        settings.check().unwrap_err().to_string()
    }

    #[test]
    fn the_defaults_are_sound_and_name_the_version() {
        let settings = FetchSettings::default();
        settings.check().unwrap();
        assert_eq!(settings.agent(), format!("suidao/{}", env!("CARGO_PKG_VERSION")));
        let empty: FetchSettings = toml::from_str("").unwrap();
        assert_eq!(empty, settings);
    }

    #[test]
    fn every_key_is_read_and_unknown_ones_are_refused() {
        let settings: FetchSettings = toml::from_str(
            "connect_timeout = 1\nread_timeout = 0.25\ntimeout = 3\nmax_body = 4\nmax_wire = 5\nallow_private = true\n\
             proxy = 'http://p.example:3128'\nuser_agent = 'bot/1'\ncontact = 'mailto:a@b.cn'\naccept_language = ''\n\
             cookies = true\nallow_addresses = ['::ffff:10.0.0.1']",
        )
        .unwrap();
        let checked = settings.checked().unwrap();
        assert_eq!(
            (checked.connect_timeout, checked.read_timeout),
            (Duration::from_secs(1), Duration::from_millis(250))
        );
        assert_eq!((checked.max_body, checked.max_wire, checked.allowed.private), (4, 5, true));
        assert_eq!(checked.allowed.addresses[..], ["10.0.0.1".parse::<IpAddr>().unwrap()]);
        assert!(settings.cookies);
        assert_eq!(checked.agent, "bot/1 (+mailto:a@b.cn)");
        assert_eq!(checked.accept_language, None);
        assert!(toml::from_str::<FetchSettings>("timeuot = 3").unwrap_err().to_string().contains("timeuot"));
    }

    #[test]
    fn bad_values_are_named() {
        assert!(problem(|s| s.user_agent = " ".into()).contains("fetch.user_agent"));
        assert!(problem(|s| s.contact = Some("a\r\nX: y".into())).contains("fetch.contact"));
        assert!(problem(|s| s.contact = Some("a) evil (".into())).contains("fetch.contact"));
        assert!(problem(|s| s.accept_language = "zh\n".repeat(2)).contains("fetch.accept_language"));
    }

    #[test]
    fn no_secret_is_shown() {
        let settings: FetchSettings = toml::from_str(
            "proxy = 'http://me:hush@p.cn:1'\n[[credentials]]\norigin = 'a.cn'\nuser = 'me'\npassword = 'hush'",
        )
        .unwrap();
        settings.check().unwrap();
        let shown = [format!("{settings:?}"), toml::to_string(&settings.without_secrets()).unwrap()];
        for shown in shown {
            assert!(!shown.contains("hush") && shown.contains("***") && shown.contains("a.cn"), "{shown}");
        }
        // The hidden parts must be given again.
        let stored: FetchSettings = toml::from_str(&toml::to_string(&settings.without_secrets()).unwrap()).unwrap();
        assert!(stored.check().unwrap_err().to_string().contains("-c"));
        let twice = "[[credentials]]\norigin = 'a.cn'\nbearer = 'x'\n".repeat(2);
        let twice: FetchSettings = toml::from_str(&twice).unwrap();
        assert!(twice.check().unwrap_err().to_string().contains("twice"));
    }

    #[test]
    fn a_proxy_is_an_http_url_and_its_password_is_not_repeated() {
        for bad in ["p.example", "127.0.0.1:3128", "socks5://me:secret@p.example", "http://me:secret@:80", ""] {
            let problem = problem(|s| s.proxy = Some(bad.into()));
            assert!(problem.starts_with("fetch.proxy") && problem.contains("http://host:port"), "{problem}");
            assert!(!problem.contains("secret"), "{problem}");
        }
    }
}
