//! Decides whether a page that is being rendered may make a request. A pure function.
//!
//! Scripts and their data are permitted; the text of a page needs nothing else. Only GET and HEAD are permitted, so
//! nothing on a server changes.

use crate::fetch::LISTS;
use serde_json::Value;

use suidao_page::model::CrawlUrl;
use suidao_page::word_list::SectionWords;

/// Counters and advertisers. They add no text, and a crawler should not be counted.
static COUNTERS: SectionWords = SectionWords::of(LISTS, "counters");

/// Header fields of the browser's request that are forwarded, as far as scripts may set them.
const PASSED: [&str; 3] = ["accept", "referer", "x-requested-with"];

#[derive(Clone, Debug)]
pub(super) struct BrowserRequest {
    /// The browser's id of it.
    pub id: String,
    pub url: String,
    pub method: String,
    /// `Document`, `Script`, `XHR`...
    pub kind: String,
    pub frame: String,
    /// Names in lower case.
    pub fields: Vec<(String, String)>,
}

impl BrowserRequest {
    /// Parses `Fetch.requestPaused`; `None` if a field is missing.
    pub fn read(params: &Value) -> Option<Self> {
        let text = |value: &Value| value.as_str().map(str::to_owned);
        let request = &params["request"];
        let fields = request["headers"].as_object();
        let fields =
            fields.into_iter().flatten().filter_map(|(name, value)| Some((name.to_ascii_lowercase(), text(value)?)));
        Some(Self {
            id: text(&params["requestId"])?,
            url: text(&request["url"])?,
            method: text(&request["method"])?,
            kind: text(&params["resourceType"])?,
            frame: text(&params["frameId"]).unwrap_or_default(),
            fields: fields.collect(),
        })
    }

    /// The header fields to forward.
    pub fn passed(&self) -> Vec<(String, String)> {
        self.fields.iter().filter(|(name, _)| PASSED.contains(&name.as_str())).cloned().collect()
    }
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum GateDecision {
    Load(CrawlUrl),
    /// The page navigates to another.
    Leave(Option<CrawlUrl>),
    /// Answer with an empty style sheet: scripts may wait for one, and text needs no style.
    NoStyle,
    /// Answer a CORS preflight with yes: our fetcher sends the request, without credentials.
    Permit,
    Refuse,
}

/// Decides about a request of the page with the main frame `main`.
pub(super) fn decide(request: &BrowserRequest, main: &str) -> GateDecision {
    let url = request.url.split('#').next().unwrap_or_default();
    let web = url.starts_with("http://") || url.starts_with("https://");
    let url = CrawlUrl::parse(url).ok().filter(|_| web);
    if request.kind == "Document" {
        // Frames are pages of their own.
        return match request.frame == main {
            // Submitting a form leads nowhere that a crawler goes.
            true => GateDecision::Leave(url.filter(|_| request.method == "GET")),
            false => GateDecision::Refuse,
        };
    }
    let Some(url) = url else { return GateDecision::Refuse };
    let host = url.host();
    let counts = |counter: &str| host.strip_suffix(counter).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'));
    if COUNTERS.iter().any(|counter| counts(counter)) {
        return GateDecision::Refuse;
    }
    let streams = request.fields.iter().any(|(name, value)| name == "accept" && value.starts_with("text/event-stream"));
    match (request.kind.as_str(), request.method.as_str()) {
        ("Stylesheet", _) => GateDecision::NoStyle,
        (_, "OPTIONS") => GateDecision::Permit,
        ("XHR" | "Fetch", "GET" | "HEAD") if streams => GateDecision::Refuse,
        ("Script" | "XHR" | "Fetch", "GET" | "HEAD") => GateDecision::Load(url),
        _ => GateDecision::Refuse,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn request(kind: &str, method: &str, url: &str, frame: &str) -> BrowserRequest {
        let headers = json!({ "Accept": "application/json", "Cookie": "a=b", "Authorization": "Basic x" });
        let request = json!({ "url": url, "method": method, "headers": headers });
        let params = json!({ "requestId": "1", "request": request, "resourceType": kind, "frameId": frame });
        BrowserRequest::read(&params).unwrap()
    }

    #[test]
    fn scripts_and_their_data_are_loaded_and_nothing_else() {
        for (kind, method, url, expected) in [
            ("Script", "GET", "https://cdn.test/a.js?v=1", "load"),
            ("XHR", "GET", "http://a.test/data.json", "load"),
            ("Fetch", "HEAD", "http://a.test/data.json", "load"),
            ("XHR", "POST", "http://a.test/api", "refuse"),
            ("XHR", "DELETE", "http://a.test/api", "refuse"),
            ("Preflight", "OPTIONS", "http://b.test/api", "permit"),
            ("Stylesheet", "GET", "http://a.test/a.css", "style"),
            ("Image", "GET", "http://a.test/a.png", "refuse"),
            ("Font", "GET", "http://a.test/a.woff2", "refuse"),
            ("Media", "GET", "http://a.test/a.mp4", "refuse"),
            ("Ping", "POST", "http://a.test/beacon", "refuse"),
            ("Other", "GET", "http://a.test/favicon.ico", "refuse"),
            ("Prefetch", "GET", "http://a.test/next", "refuse"),
            ("WebSocket", "GET", "ws://a.test/", "refuse"),
            ("Script", "GET", "file:///etc/passwd", "refuse"),
            ("Script", "GET", "ftp://a.test/x.js", "refuse"),
            ("Script", "GET", "chrome://version/", "refuse"),
            ("Script", "GET", "https://hm.baidu.com/hm.js?1", "refuse"),
            ("Script", "GET", "https://www.google-analytics.com/ga.js", "refuse"),
            ("Script", "GET", "https://notcnzz.com/a.js", "load"),
            ("Document", "GET", "http://a.test/next", "leave"),
            ("Document", "GET", "file:///etc/passwd", "leave"),
        ] {
            let found = match decide(&request(kind, method, url, "main"), "main") {
                GateDecision::Load(_) => "load",
                GateDecision::Leave(_) => "leave",
                GateDecision::NoStyle => "style",
                GateDecision::Permit => "permit",
                GateDecision::Refuse => "refuse",
            };
            assert_eq!(found, expected, "{kind} {method} {url}");
        }
        assert_eq!(decide(&request("Document", "GET", "http://a.test/f", "frame"), "main"), GateDecision::Refuse);
        assert_eq!(
            decide(&request("Document", "GET", "file:///etc/passwd", "main"), "main"),
            GateDecision::Leave(None)
        );
        let mut stream = request("XHR", "GET", "http://a.test/events", "main");
        stream.fields = vec![("accept".to_owned(), "text/event-stream".to_owned())];
        assert_eq!(decide(&stream, "main"), GateDecision::Refuse);
    }

    #[test]
    fn identifying_header_fields_are_not_forwarded() {
        let passed = request("XHR", "GET", "http://a.test/data.json", "main").passed();
        assert_eq!(passed, [("accept".to_owned(), "application/json".to_owned())]);
    }
}
