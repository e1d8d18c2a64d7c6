//! Renders one page in one tab: runs its scripts, loads what they request within limits, and copies the DOM when the
//! page is idle or its time is up. Each tab has its own browser context without cookies, storage or cache of other
//! pages.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use data_encoding::BASE64;
use serde_json::{Value, json};
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep_until, timeout};

use super::chrome::Chrome;
use super::gate::{BrowserRequest, GateDecision, decide};
use super::loader::Loader;
use super::pipe::{BrowserEvent, Fault};
use super::{RenderFailure, RenderSettings};
use crate::fetch::LISTS;
use crate::fetch::client::Subresource;
use suidao_page::model::{CrawlUrl, Fetched};
use suidao_page::word_list::SectionWords;

/// Time limit for commands that do not depend on the page.
const COMMAND_TIMEOUT: Duration = Duration::from_secs(10);

/// Time limit for the copy, and for a script to stop.
const COPY_TIMEOUT: Duration = Duration::from_secs(5);

/// Header fields that no longer apply to the response, or would make the browser do more than display it.
static HIDDEN_FIELDS: SectionWords = SectionWords::of(LISTS, "hidden fields");

const SNAPSHOT: &str = include_str!("snapshot.js");
const DISABLE_NETWORK: &str = include_str!("unplug.js");

pub(super) struct RenderLimits<'a> {
    pub settings: &'a RenderSettings,
    /// Maximum number of bytes of the resulting HTML.
    pub max_bytes: usize,
}

/// Runs the scripts of `page` in a tab of `chrome`, and returns the resulting HTML in UTF-8. If the browser is to blame
/// for a failure it gets no more pages.
pub(super) async fn render(
    chrome: &Chrome,
    loader: &Arc<Loader>,
    page: &Fetched,
    limits: &RenderLimits<'_>,
) -> Result<Bytes, RenderFailure> {
    let tab = match timeout(COMMAND_TIMEOUT, Tab::open(chrome)).await {
        Ok(Ok(tab)) => tab,
        Ok(Err(fault)) => {
            chrome.give_up();
            return Err(RenderFailure::Gone(format!("{fault:?}")));
        }
        Err(_) => {
            chrome.give_up();
            return Err(RenderFailure::Gone("it cannot open a tab".to_owned()));
        }
    };
    let mut events = chrome.listen(tab.names());
    let made = tab.show(&mut events, loader, page, limits).await;
    chrome.forget(tab.names());
    drop(events);
    let closed = chrome.pipe.ask(None, "Target.disposeBrowserContext", json!({ "browserContextId": tab.context }));
    if !matches!(timeout(COMMAND_TIMEOUT, closed).await, Ok(Ok(_))) {
        // A tab that does not close would exhaust the machine.
        chrome.give_up();
    }
    made
}

struct Tab<'a> {
    chrome: &'a Chrome,
    context: String,
    /// Its target, which is also its main frame.
    target: String,
    session: String,
}

impl<'a> Tab<'a> {
    async fn open(chrome: &'a Chrome) -> Result<Self, Fault> {
        let text = |value: &Value| value.as_str().map(str::to_owned).ok_or(Fault::Closed);
        let pipe = &chrome.pipe;
        let made = pipe.ask(None, "Target.createBrowserContext", json!({ "disposeOnDetach": true })).await?;
        let context = text(&made["browserContextId"])?;
        let blank = json!({ "url": "about:blank", "browserContextId": context });
        let target = text(&pipe.ask(None, "Target.createTarget", blank).await?["targetId"])?;
        let attached = pipe.ask(None, "Target.attachToTarget", json!({ "targetId": target, "flatten": true })).await?;
        let tab = Self { chrome, session: text(&attached["sessionId"])?, context, target };
        let deny = json!({ "behavior": "deny", "browserContextId": tab.context });
        pipe.ask(None, "Browser.setDownloadBehavior", deny).await?;
        tab.ask("Page.enable", json!({})).await?;
        tab.ask("Page.addScriptToEvaluateOnNewDocument", json!({ "source": DISABLE_NETWORK })).await?;
        Ok(tab)
    }

    fn names(&self) -> [&str; 2] {
        [&self.target, &self.session]
    }

    async fn ask(&self, method: &str, params: Value) -> Result<Value, Fault> {
        self.chrome.pipe.ask(Some(&self.session), method, params).await
    }

    async fn show(
        &self,
        events: &mut UnboundedReceiver<BrowserEvent>,
        loader: &Arc<Loader>,
        page: &Fetched,
        limits: &RenderLimits<'_>,
    ) -> Result<Bytes, RenderFailure> {
        let settings = limits.settings;
        let idle = Duration::from_secs_f64(settings.idle);
        let end = Instant::now() + Duration::from_secs_f64(settings.timeout);
        let mut visit = Visit {
            tab: self,
            loader,
            page,
            served: false,
            left: None,
            loaded: false,
            requests: settings.requests,
            bytes: settings.bytes,
            loads: JoinSet::new(),
        };
        self.chrome.pipe.notify(Some(&self.session), "Page.navigate", json!({ "url": page.url.as_str() }));
        let mut idle_at = Instant::now() + idle;
        loop {
            let until = if visit.loaded && visit.loads.is_empty() { idle_at.min(end) } else { end };
            tokio::select! {
                event = events.recv() => match event {
                    None => return Err(RenderFailure::Crashed),
                    Some(event) if event.method == "Target.targetCrashed" => return Err(RenderFailure::Crashed),
                    Some(event) => visit.hear(event),
                },
                Some(loaded) = visit.loads.join_next() => visit.response(loaded.ok()),
                () = sleep_until(until) => break,
            }
            idle_at = Instant::now() + idle;
        }
        // Events are still handled, because a dialog would block the copy, but nothing is loaded.
        visit.requests = 0;
        let left = visit.left.take();
        let mut copy = std::pin::pin!(self.copy(&page.url, left.as_ref(), limits.max_bytes));
        loop {
            tokio::select! {
                made = &mut copy => return made,
                event = events.recv() => match event {
                    None => return Err(RenderFailure::Crashed),
                    Some(event) if event.method == "Target.targetCrashed" => return Err(RenderFailure::Crashed),
                    Some(event) => visit.hear(event),
                },
            }
        }
    }

    /// Copies the DOM.
    async fn copy(&self, url: &CrawlUrl, left: Option<&CrawlUrl>, most: usize) -> Result<Bytes, RenderFailure> {
        match timeout(COPY_TIMEOUT, self.copied(url, left, most)).await {
            Ok(made) => made,
            Err(_) => {
                // A script does not end: it is stopped, and its result so far is used.
                self.chrome.pipe.notify(Some(&self.session), "Runtime.terminateExecution", json!({}));
                timeout(COPY_TIMEOUT, self.copied(url, left, most)).await.unwrap_or(Err(RenderFailure::Busy))
            }
        }
    }

    async fn copied(&self, url: &CrawlUrl, left: Option<&CrawlUrl>, most: usize) -> Result<Bytes, RenderFailure> {
        let gone = |fault: Fault| match fault {
            Fault::Closed => RenderFailure::Crashed,
            Fault::Refused(_) => RenderFailure::Busy,
        };
        // An isolated world, which the page's scripts cannot change.
        let world = json!({ "frameId": self.target, "worldName": "suidao" });
        let world = self.ask("Page.createIsolatedWorld", world).await.map_err(gone)?;
        let left = json!(left.map(CrawlUrl::as_str));
        let expression = format!("{SNAPSHOT}({}, {left}, {most})", json!(url.as_str()));
        let what = json!({
            "expression": expression, "contextId": world["executionContextId"], "returnByValue": true,
        });
        let made = self.ask("Runtime.evaluate", what).await.map_err(gone)?;
        if !made["exceptionDetails"].is_null() {
            tracing::debug!("copying {url} failed: {}", made["exceptionDetails"]);
            return Err(RenderFailure::Busy);
        }
        match made["result"]["value"].as_str() {
            Some("") => Err(RenderFailure::Nothing),
            Some(html) if html.len() <= most => Ok(Bytes::copy_from_slice(html.as_bytes())),
            _ => Err(RenderFailure::TooLarge),
        }
    }
}

struct Visit<'a> {
    tab: &'a Tab<'a>,
    loader: &'a Arc<Loader>,
    page: &'a Fetched,
    /// The browser has received the page.
    served: bool,
    /// The address to which its scripts navigated.
    left: Option<CrawlUrl>,
    loaded: bool,
    /// Requests left.
    requests: usize,
    /// Bytes left.
    bytes: usize,
    loads: JoinSet<(String, Option<Fetched>)>,
}

impl Visit<'_> {
    fn hear(&mut self, event: BrowserEvent) {
        match event.method.as_str() {
            "Fetch.requestPaused" => {
                if let Some(request) = BrowserRequest::read(&event.params) {
                    self.decide(request);
                }
            }
            "Page.loadEventFired" => self.loaded = true,
            "Page.javascriptDialogOpening" => {
                let tab = self.tab;
                tab.chrome.pipe.notify(Some(&tab.session), "Page.handleJavaScriptDialog", json!({ "accept": false }));
            }
            _ => {}
        }
    }

    fn decide(&mut self, request: BrowserRequest) {
        match decide(&request, &self.tab.target) {
            GateDecision::Leave(_) if !self.served => {
                self.served = true;
                self.fulfil(&request.id, self.page.status, &self.page.headers, &self.page.body);
            }
            GateDecision::Leave(to) => {
                // The page stays; the crawl decides about the new address.
                self.fail(&request.id, "Aborted");
                if let Some(to) = to.filter(|to| *to != self.page.url) {
                    self.left.get_or_insert(to);
                }
            }
            GateDecision::NoStyle => {
                let css = [("content-type".to_owned(), "text/css".to_owned()), ANY_ORIGIN.map(str::to_owned).into()];
                self.fulfil(&request.id, 200, &css, b"");
            }
            GateDecision::Permit => {
                let permit = |name: &str| (format!("access-control-allow-{name}"), "*".to_owned());
                self.fulfil(&request.id, 204, &["origin", "methods", "headers"].map(permit), b"");
            }
            GateDecision::Load(url) if self.requests > 0 && self.bytes > 0 => {
                self.requests -= 1;
                let (loader, script) = (Arc::clone(self.loader), request.kind == "Script");
                let page = self.page.url.clone();
                self.loads.spawn(async move {
                    let part = Subresource { page: &page, fields: &request.passed(), body: None };
                    (request.id, loader.load(&url, &part, script).await)
                });
            }
            GateDecision::Load(_) | GateDecision::Refuse => self.fail(&request.id, "BlockedByClient"),
        }
    }

    /// Passes a loaded answer to the browser; `None` if loading failed.
    fn response(&mut self, loaded: Option<(String, Option<Fetched>)>) {
        match loaded {
            Some((id, Some(fetched))) if fetched.body.len() <= self.bytes => {
                self.bytes -= fetched.body.len();
                self.fulfil(&id, fetched.status, &fetched.headers, &fetched.body);
            }
            Some((id, _)) => self.fail(&id, "BlockedByClient"),
            None => {}
        }
    }

    fn fulfil(&self, id: &str, status: u16, fields: &[(String, String)], body: &[u8]) {
        if !(200..600).contains(&status) {
            return self.fail(id, "BlockedByClient");
        }
        // The browser would wait for a response that it rejects.
        let visible = |value: &str| value.bytes().all(|byte| (b' '..=b'~').contains(&byte));
        let fields = fields.iter().filter(|(name, value)| !HIDDEN_FIELDS.contains(&name.as_str()) && visible(value));
        let fields: Vec<Value> = fields.map(|(name, value)| json!({ "name": name, "value": value })).collect();
        let response =
            json!({ "requestId": id, "responseCode": status, "responseHeaders": fields, "body": BASE64.encode(body) });
        self.tab.chrome.pipe.notify(None, "Fetch.fulfillRequest", response);
    }

    fn fail(&self, id: &str, reason: &str) {
        self.tab.chrome.pipe.notify(None, "Fetch.failRequest", json!({ "requestId": id, "errorReason": reason }));
    }
}

/// Permits every origin.
const ANY_ORIGIN: [&str; 2] = ["access-control-allow-origin", "*"];
