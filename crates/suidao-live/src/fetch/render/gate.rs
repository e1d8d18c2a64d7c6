//! What a page that is being rendered may load: a pure decision about one request of the browser.
//!
//! Scripts and the data that they ask for are let through; all else is not needed to have the text of a page. Nothing is ever sent that
//! could change something on a server: no method but GET and HEAD.

use serde_json::Value;

use suidao_page::model::CrawlUrl;

/// Counters and advertisers: what they serve adds nothing to a page, and a crawler's visits do not belong in their counts.
const COUNTERS: [&str; 16] = [
    "hm.baidu.com",
    "cpro.baidustatic.com",
    "pos.baidu.com",
    "google-analytics.com",
    "googletagmanager.com",
    "googlesyndication.com",
    "doubleclick.net",
    "cnzz.com",
    "umeng.com",
    "51.la",
    "51yes.com",
    "growingio.com",
    "sensorsdata.cn",
    "mmstat.com",
    "facebook.net",
    "hotjar.com",
];

/// Header fields of the browser's request that go on to the server, as far as the page's scripts may set them.
const PASSED: [&str; 3] = ["accept", "referer", "x-requested-with"];

/// A request that the browser wants to make.
#[derive(Clone, Debug)]
pub(super) struct BrowserRequest {
    /// The browser's own number for it.
    pub id: String,
    /// Where to.
    pub url: String,
    /// GET, POST...
    pub method: String,
    /// `Document`, `Script`, `XHR`...
    pub kind: String,
    /// The frame it comes from.
    pub frame: String,
    /// Header fields, names in lower case.
    pub fields: Vec<(String, String)>,
}

impl BrowserRequest {
    /// What a `Fetch.requestPaused` says; none if it does not say what it must.
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

    /// The header fields that go on to the server.
    pub fn passed(&self) -> Vec<(String, String)> {
        self.fields.iter().filter(|(name, _)| PASSED.contains(&name.as_str())).cloned().collect()
    }
}

/// What becomes of a wish.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum GateDecision {
    /// It is fetched.
    Load(CrawlUrl),
    /// The page wants to be another page.
    Leave(Option<CrawlUrl>),
    /// It is answered with an empty style sheet: scripts wait for theirs, and text has no style.
    NoStyle,
    /// A browser asks whether a script may ask another host (CORS): it may, for it is us who ask, without anybody's rights.
    Permit,
    /// It is not made.
    Refuse,
}

/// What becomes of a request of the page whose main frame is `main`.
pub(super) fn verdict(wish: &BrowserRequest, main: &str) -> GateDecision {
    let url = wish.url.split('#').next().unwrap_or_default();
    let web = url.starts_with("http://") || url.starts_with("https://");
    let url = CrawlUrl::parse(url).ok().filter(|_| web);
    if wish.kind == "Document" {
        // Frames within the page are pages of their own, and no part of its text.
        return match wish.frame == main {
            // A form that is sent leads nowhere that a crawler goes.
            true => GateDecision::Leave(url.filter(|_| wish.method == "GET")),
            false => GateDecision::Refuse,
        };
    }
    let Some(url) = url else { return GateDecision::Refuse };
    let host = url.host();
    let counts = |counter: &str| host.strip_suffix(counter).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'));
    if COUNTERS.into_iter().any(counts) {
        return GateDecision::Refuse;
    }
    let streams = wish.fields.iter().any(|(name, value)| name == "accept" && value.starts_with("text/event-stream"));
    match (wish.kind.as_str(), wish.method.as_str()) {
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

    fn wish(kind: &str, method: &str, url: &str, frame: &str) -> BrowserRequest {
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
            let found = match verdict(&wish(kind, method, url, "main"), "main") {
                GateDecision::Load(_) => "load",
                GateDecision::Leave(_) => "leave",
                GateDecision::NoStyle => "style",
                GateDecision::Permit => "permit",
                GateDecision::Refuse => "refuse",
            };
            assert_eq!(found, expected, "{kind} {method} {url}");
        }
        assert_eq!(verdict(&wish("Document", "GET", "http://a.test/f", "frame"), "main"), GateDecision::Refuse);
        assert_eq!(verdict(&wish("Document", "GET", "file:///etc/passwd", "main"), "main"), GateDecision::Leave(None));
        let mut stream = wish("XHR", "GET", "http://a.test/events", "main");
        stream.fields = vec![("accept".to_owned(), "text/event-stream".to_owned())];
        assert_eq!(verdict(&stream, "main"), GateDecision::Refuse);
    }

    #[test]
    fn nothing_that_names_a_person_goes_on_to_the_server() {
        let passed = wish("XHR", "GET", "http://a.test/data.json", "main").passed();
        assert_eq!(passed, [("accept".to_owned(), "application/json".to_owned())]);
    }
}
