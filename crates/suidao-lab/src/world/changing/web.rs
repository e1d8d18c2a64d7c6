//! A changing web at a fixed or running time, with its request counts and ground truth.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use super::sites::{ArticleTruth, Sites, profile};
use super::spec::{ChangingSpec, HostProfile};
use crate::world::clock::WorldClock;
use crate::world::serve::{ServerOptions, WebServer};
use suidao_crawl::replay::Web;
use suidao_page::model::{CrawlUrl, Failure, Fetched};

const DAY: f64 = 86_400.0;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RequestCount {
    pub requests: u64,
    pub not_modified: u64,
}

/// A generated web that changes, and responses as of a time. Served, it is a proxy for hosts named `*.changing.test`.
///
/// ```
/// use suidao_crawl::replay::Web;
/// use suidao_lab::world::{ChangingSpec, ChangingWeb};
///
/// let web = ChangingWeb::new(ChangingSpec::default(), 1);
/// let home = &web.seeds()[0];
/// let before = web.get(home).unwrap();
/// let since = [("if-none-match".to_owned(), before.header("etag").unwrap().to_owned())];
/// assert_eq!(web.get_with(home, &since).unwrap().status, 304);
/// web.set(10.0);
/// assert_eq!(web.get_with(home, &since).unwrap().status, 200);
/// assert!(web.version(home, 10.0) > web.version(home, 0.0));
/// ```
pub struct ChangingWeb {
    pub(super) sites: Sites,
    clock: WorldClock,
    /// Makes validators unique on hosts that need it.
    requests: AtomicU64,
    request_counts: Mutex<BTreeMap<CrawlUrl, RequestCount>>,
}

impl ChangingWeb {
    /// The web of a spec and a seed; its clock remains at day 0 until it is set.
    pub fn new(spec: ChangingSpec, seed: u64) -> Self {
        Self::at_speed(spec, seed, 0.0)
    }

    /// The same with a running clock: a day lasts `day_seconds` real seconds, more than 0.
    pub fn running(spec: ChangingSpec, seed: u64, day_seconds: f64) -> Self {
        Self::at_speed(spec, seed, DAY / day_seconds)
    }

    fn at_speed(spec: ChangingSpec, seed: u64, speed: f64) -> Self {
        let clock = WorldClock::running(spec.start, speed);
        Self { sites: Sites::new(spec, seed), clock, requests: AtomicU64::new(0), request_counts: Mutex::default() }
    }

    pub fn spec(&self) -> &ChangingSpec {
        &self.sites.spec
    }

    /// The clock's day, to the second.
    pub fn day(&self) -> f64 {
        (self.clock.now() - self.sites.spec.start) as f64 / DAY
    }

    pub fn set(&self, day: f64) {
        self.clock.set(self.sites.instant(day));
    }

    /// The answer to a GET with these header fields (names in lower case) on a day. Counts the request.
    ///
    /// # Errors
    /// [`Failure`] for other hosts and for https.
    pub fn response(&self, url: &CrawlUrl, fields: &[(String, String)], day: f64) -> Result<Fetched, Failure> {
        let response = self.sites.response(url, fields, day, self.requests.fetch_add(1, Ordering::Relaxed));
        let mut request_counts = self.request_counts.lock().unwrap_or_else(PoisonError::into_inner);
        let of_url = request_counts.entry(url.clone()).or_default();
        of_url.requests += 1;
        of_url.not_modified += u64::from(response.as_ref().is_ok_and(|response| response.status == 304));
        response
    }

    /// Serves it as a proxy on a free port of 127.0.0.1.
    ///
    /// # Errors
    /// The system's, without a free port or thread.
    pub fn serve(self: &Arc<Self>, options: ServerOptions) -> std::io::Result<WebServer> {
        WebServer::start_with(Arc::new(crate::world::Proxied(Arc::clone(self))), options)
    }

    pub fn request_counts(&self) -> BTreeMap<CrawlUrl, RequestCount> {
        self.request_counts.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub fn all_requests(&self) -> RequestCount {
        self.request_counts().values().fold(RequestCount::default(), |sum, counts| RequestCount {
            requests: sum.requests + counts.requests,
            not_modified: sum.not_modified + counts.not_modified,
        })
    }

    pub fn seeds(&self) -> Vec<CrawlUrl> {
        (0..self.sites.spec.hosts).map(|host| self.sites.url(host, "/")).collect()
    }

    pub fn listings(&self) -> Vec<CrawlUrl> {
        let listing = |section| self.sites.url(self.sites.host_of(section), &self.sites.listing_path(section));
        (0..self.sites.sections.len()).map(listing).collect()
    }

    /// The profile of a URL's host; `None` for unknown hosts.
    pub fn profile(&self, url: &CrawlUrl) -> Option<&'static HostProfile> {
        self.sites.find_host(url.authority()).map(profile)
    }

    /// The articles published up to a day, by section and in order of publication.
    pub fn articles(&self, day: f64) -> Vec<ArticleTruth> {
        self.sites.articles(day)
    }

    /// Number of changes of the main text of the page at this URL; for a home or listing page, number of articles shown
    /// so far. `None` if there is no page on that day.
    pub fn version(&self, url: &CrawlUrl, day: f64) -> Option<u32> {
        self.sites.version(self.sites.find(url)?, day)
    }
}

impl Web for ChangingWeb {
    fn get(&self, url: &CrawlUrl) -> Result<Fetched, Failure> {
        self.get_with(url, &[])
    }

    fn get_with(&self, url: &CrawlUrl, fields: &[(String, String)]) -> Result<Fetched, Failure> {
        self.response(url, fields, self.day())
    }
}
