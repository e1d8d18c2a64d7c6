//! Who may use the service: anybody on this machine, or whoever has the token.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use axum::http::{HeaderMap, HeaderValue, Method, header};

/// Browser sessions that are remembered.
const SESSIONS: usize = 100;
const COOKIE: &str = "suidao-session";

/// What is needed to use the service.
#[derive(Debug, Default)]
pub struct Access {
    /// The token; `None` on a loopback address: everybody on the machine may use it.
    token: Option<String>,
    /// Accepted host names besides addresses and localhost; `None`: all.
    pub(super) names: Option<Vec<String>>,
    /// Whether agents may start, stop and change crawls.
    #[cfg(feature = "mcp")]
    pub(super) control: bool,
    /// Origins of other websites whose scripts may use the API.
    origins: Vec<String>,
    sessions: Mutex<VecDeque<String>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Visitor {
    Known,
    Unknown,
}

impl Access {
    pub fn new(token: Option<String>, names: Option<Vec<String>>, origins: Vec<String>) -> Self {
        Self {
            token,
            names,
            #[cfg(feature = "mcp")]
            control: false,
            origins,
            sessions: Mutex::default(),
        }
    }

    /// The same for agents that may start, stop and change crawls.
    #[cfg(feature = "mcp")]
    pub fn with_control(self, control: bool) -> Self {
        Self { control, ..self }
    }

    /// Whether the request has the token, or the cookie of a session that began with it.
    pub(super) fn visitor(&self, headers: &HeaderMap) -> Visitor {
        let Some(token) = &self.token else { return Visitor::Known };
        let field = |name| headers.get(name).and_then(|value: &HeaderValue| value.to_str().ok()).unwrap_or_default();
        let given = field(header::AUTHORIZATION).strip_prefix("Bearer ").unwrap_or_default();
        let cookies = field(header::COOKIE).split(';').filter_map(|cookie| cookie.trim().split_once('='));
        let session = cookies.filter(|(name, _)| *name == COOKIE).map(|(_, value)| value).next().unwrap_or_default();
        let sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        let known = is_same(given, token) | sessions.iter().fold(false, |known, one| known | is_same(session, one));
        if known { Visitor::Known } else { Visitor::Unknown }
    }

    /// Begins a session with the token: a `Set-Cookie` value. `None` if the token is wrong or there is none.
    pub(crate) fn begin_session(&self, token: &str) -> Option<String> {
        let known = self.token.as_deref().is_some_and(|known| is_same(token.trim(), known));
        let mut random = [0; 16];
        getrandom::fill(&mut random).ok().filter(|()| known)?;
        let session = format!("{:032x}", u128::from_ne_bytes(random));
        let mut sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        sessions.truncate(SESSIONS - 1);
        sessions.push_front(session.clone());
        Some(format!("{COOKIE}={session}; Path=/; HttpOnly; SameSite=Strict"))
    }

    pub(super) fn permits_origin(&self, origin: &HeaderValue) -> bool {
        origin.to_str().is_ok_and(|origin| self.origins.iter().any(|known| known == origin))
    }
}

/// Compares secrets in a time that does not depend on where they differ.
fn is_same(one: &str, other: &str) -> bool {
    let (one, other) = (one.as_bytes(), other.as_bytes());
    let mut difference = one.len() ^ other.len();
    for (at, byte) in other.iter().enumerate() {
        difference |= usize::from(one.get(at).copied().unwrap_or_default() ^ byte);
    }
    std::hint::black_box(difference) == 0
}

/// Whether another website made the browser send this. Browsers state the origin of every request that changes
/// something, and mark requests to local addresses; a followed link is harmless.
pub(super) fn is_from_elsewhere(access: &Access, method: &Method, headers: &HeaderMap) -> bool {
    let field = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default();
    if headers.get(header::ORIGIN).is_some_and(|origin| access.permits_origin(origin)) {
        return false;
    }
    let origin = field("origin");
    let own = origin.split_once("://").is_some_and(|(_, host)| host == field("host"));
    let site = field("sec-fetch-site");
    if *method == Method::GET || *method == Method::HEAD {
        let follows = field("sec-fetch-mode") == "navigate" && field("sec-fetch-dest") == "document";
        return !(site.is_empty() || ["same-origin", "none"].contains(&site) || follows) || !(origin.is_empty() || own);
    }
    !(origin.is_empty() || own) || !(site.is_empty() || ["same-origin", "none"].contains(&site))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(fields: &[(&'static str, &str)]) -> HeaderMap {
        let pair = |(name, value): &(&'static str, &str)| {
            (header::HeaderName::from_static(name), HeaderValue::from_str(value).unwrap())
        };
        fields.iter().map(pair).collect()
    }

    #[test]
    fn only_the_token_or_its_session_opens() {
        let access = Access::new(Some("secret".to_owned()), None, Vec::new());
        let visitor = |fields: &[(&'static str, &str)]| access.visitor(&headers(fields));
        assert_eq!(visitor(&[("authorization", "Bearer secret")]), Visitor::Known);
        for wrong in ["", "Bearer ", "Bearer secre", "Bearer secrets", "secret", "Basic secret"] {
            assert_eq!(visitor(&[("authorization", wrong)]), Visitor::Unknown, "{wrong}");
        }
        assert_eq!(access.begin_session("wrong"), None);
        let cookie = access.begin_session("secret\n").unwrap();
        let (pair, _) = cookie.split_once(';').unwrap();
        assert_eq!(visitor(&[("cookie", &format!("a=b; {pair}"))]), Visitor::Known);
        assert_eq!(visitor(&[("cookie", "suidao-session=")]), Visitor::Unknown);
        assert_eq!(Access::default().visitor(&HeaderMap::new()), Visitor::Known);
        assert_eq!(Access::default().begin_session(""), None);
    }

    #[test]
    fn other_websites_are_refused_unless_named() {
        let access = Access::new(None, None, vec!["https://ui.example.cn".to_owned()]);
        let refused = |method: Method, fields: &[(&'static str, &str)]| {
            is_from_elsewhere(&access, &method, &headers(&[&[("host", "127.0.0.1:8090")], fields].concat()))
        };
        assert!(!refused(Method::POST, &[]), "a program");
        assert!(!refused(Method::POST, &[("origin", "http://127.0.0.1:8090"), ("sec-fetch-site", "same-origin")]));
        assert!(!refused(Method::POST, &[("origin", "https://ui.example.cn"), ("sec-fetch-site", "cross-site")]));
        for elsewhere in ["http://evil.cn", "null", "http://127.0.0.1:1", "https://ui.example.cn.evil.cn"] {
            assert!(refused(Method::POST, &[("origin", elsewhere)]), "{elsewhere}");
            assert!(refused(Method::GET, &[("origin", elsewhere)]), "{elsewhere}");
        }
        assert!(refused(Method::DELETE, &[("sec-fetch-site", "cross-site")]));
        assert!(refused(Method::POST, &[("sec-fetch-site", "same-site")]));
        let link = [("sec-fetch-site", "cross-site"), ("sec-fetch-mode", "navigate"), ("sec-fetch-dest", "document")];
        assert!(!refused(Method::GET, &link) && refused(Method::POST, &link));
        assert!(refused(Method::GET, &[("sec-fetch-site", "cross-site"), ("sec-fetch-mode", "no-cors")]));
    }
}
