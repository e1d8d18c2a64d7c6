//! A changing web at a time that is set, or that runs; what was asked of it, and what is true of it. The one door of this
//! room.

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
    /// Those answered with 304.
    pub not_modified: u64,
}

/// A generated web that changes, and answers as of a time. Served, it is a proxy for hosts named `*.changing.test`.
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
    /// Makes an answer's marks its own where the host has them so.
    requests: AtomicU64,
    asked: Mutex<BTreeMap<CrawlUrl, RequestCount>>,
}

impl ChangingWeb {
    /// The web a spec and a seed describe; its clock stands at day 0 until it is set.
    pub fn new(spec: ChangingSpec, seed: u64) -> Self {
        Self::at_speed(spec, seed, 0.0)
    }

    /// The same with a clock that runs from day 0 on: a day lasts so many of our seconds, more than 0.
    pub fn running(spec: ChangingSpec, seed: u64, day_seconds: f64) -> Self {
        Self::at_speed(spec, seed, DAY / day_seconds)
    }

    fn at_speed(spec: ChangingSpec, seed: u64, speed: f64) -> Self {
        let clock = WorldClock::running(spec.start, speed);
        Self { sites: Sites::new(spec, seed), clock, requests: AtomicU64::new(0), asked: Mutex::default() }
    }

    pub fn spec(&self) -> &ChangingSpec {
        &self.sites.spec
    }

    /// The day by its clock, to the second.
    pub fn day(&self) -> f64 {
        (self.clock.now() - self.sites.spec.start) as f64 / DAY
    }

    pub fn set(&self, day: f64) {
        self.clock.set(self.sites.instant(day));
    }

    /// The answer to a GET with these header fields (names in lower case) on a day, which is counted as a request.
    ///
    /// # Errors
    /// [`Failure`]: other hosts have no address, and none can be connected under https.
    pub fn answer(&self, url: &CrawlUrl, fields: &[(String, String)], day: f64) -> Result<Fetched, Failure> {
        let answer = self.sites.answer(url, fields, day, self.requests.fetch_add(1, Ordering::Relaxed));
        let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        let of_url = asked.entry(url.clone()).or_default();
        of_url.requests += 1;
        of_url.not_modified += u64::from(answer.as_ref().is_ok_and(|answer| answer.status == 304));
        answer
    }

    /// Serves it on a free port of 127.0.0.1, as a proxy.
    ///
    /// # Errors
    /// The system's, if there is no port or thread to be had.
    pub fn serve(self: &Arc<Self>, options: ServerOptions) -> std::io::Result<WebServer> {
        WebServer::start_with(Arc::new(crate::world::Proxied(Arc::clone(self))), options)
    }

    /// What was asked for, by URL.
    pub fn asked(&self) -> BTreeMap<CrawlUrl, RequestCount> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub fn asked_in_all(&self) -> RequestCount {
        self.asked().values().fold(RequestCount::default(), |sum, asked| RequestCount {
            requests: sum.requests + asked.requests,
            not_modified: sum.not_modified + asked.not_modified,
        })
    }

    pub fn seeds(&self) -> Vec<CrawlUrl> {
        (0..self.sites.spec.hosts).map(|host| self.sites.url(host, "/")).collect()
    }

    pub fn listings(&self) -> Vec<CrawlUrl> {
        let listing = |section| self.sites.url(self.sites.host_of(section), &self.sites.listing_path(section));
        (0..self.sites.sections.len()).map(listing).collect()
    }

    /// How a URL's host behaves; none if there is no such host.
    pub fn profile(&self, url: &CrawlUrl) -> Option<&'static HostProfile> {
        self.sites.find_host(url.authority()).map(profile)
    }

    /// The articles published up to a day, by section and in order of publication.
    pub fn articles(&self, day: f64) -> Vec<ArticleTruth> {
        self.sites.articles(day)
    }

    /// Changes so far of the main text of the page that is at this URL on a day; of a home or a listing page, articles it has
    /// shown so far. None if no page is there then.
    pub fn version(&self, url: &CrawlUrl, day: f64) -> Option<u32> {
        self.sites.version(self.sites.find(url)?, day)
    }
}

impl Web for ChangingWeb {
    fn get(&self, url: &CrawlUrl) -> Result<Fetched, Failure> {
        self.get_with(url, &[])
    }

    fn get_with(&self, url: &CrawlUrl, fields: &[(String, String)]) -> Result<Fetched, Failure> {
        self.answer(url, fields, self.day())
    }
}
