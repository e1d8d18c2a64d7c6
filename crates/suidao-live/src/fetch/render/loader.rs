//! Loads the scripts and data of pages that are being rendered, with our fetcher: checks robots.txt of each origin,
//! limits requests to a host, and fetches a shared script once.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rustc_hash::FxHashMap;
use tokio::sync::{OnceCell, Semaphore};
use tokio::time::Instant;

use crate::fetch::Fetcher;
use crate::fetch::client::Subresource;
use crate::fetch::{RobotsAccess, retry_after};
use suidao_page::model::{CrawlUrl, Fetched, Millis};

/// Requests to one host in flight, over all pages. A browser makes six for one page.
const MAX_PER_HOST: usize = 2;

/// Bytes of cached scripts.
const CACHE_BYTES: usize = 64 << 20;

/// How long a script is cached: a visit of a site, not longer than a new version needs.
const SCRIPT_AGE: Duration = Duration::from_secs(3600);

/// How long the robots.txt of an origin is cached. The longest permitted is a day (RFC 9309, 2.4).
const ROBOTS_AGE: Duration = Duration::from_secs(6 * 3600);

/// Pause for an origin whose robots.txt is unreachable.
const UNREACHABLE_AGE: Duration = Duration::from_secs(300);

/// Pause for a host after 429 or 503 without Retry-After.
const BUSY_PAUSE: Duration = Duration::from_secs(60);

/// With a Crawl-delay, requests go one at a time, at most this far apart: longer delays would exceed the time limit of
/// the page.
const MAX_SPACING: Duration = Duration::from_secs(1);

/// Cached origins and hosts; beyond that all are dropped, which costs a robots.txt each.
const MAX_CACHED_HOSTS: usize = 4096;

/// Rate limit of a host.
struct HostRateLimit {
    few: Semaphore,
    /// With a Crawl-delay: when the next request may go out.
    one: tokio::sync::Mutex<Option<Instant>>,
    /// The host is overloaded until then.
    busy: Mutex<Option<Instant>>,
}

impl HostRateLimit {
    fn new() -> Self {
        Self { few: Semaphore::new(MAX_PER_HOST), one: tokio::sync::Mutex::default(), busy: Mutex::default() }
    }

    fn busy(&self) -> MutexGuard<'_, Option<Instant>> {
        self.busy.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[derive(Default)]
struct State {
    robots: FxHashMap<String, (Instant, Arc<OnceCell<RobotsAccess>>)>,
    hosts: FxHashMap<String, Arc<HostRateLimit>>,
    scripts: FxHashMap<CrawlUrl, (Instant, Fetched)>,
    /// Oldest first.
    order: VecDeque<CrawlUrl>,
    bytes: usize,
}

pub(super) struct Loader {
    fetcher: Fetcher,
    /// The robots.txt agent; `None`: robots.txt is ignored.
    agent: Option<String>,
    state: Mutex<State>,
}

impl std::fmt::Debug for Loader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Loader").field("agent", &self.agent).finish_non_exhaustive()
    }
}

impl Loader {
    pub fn new(fetcher: Fetcher, agent: Option<&str>) -> Self {
        Self { fetcher, agent: agent.map(str::to_owned), state: Mutex::default() }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The answer to a GET of `url`; `None` if robots.txt forbids it or there is no response.
    pub async fn load(&self, url: &CrawlUrl, part: &Subresource<'_>, script: bool) -> Option<Fetched> {
        let Some(apart) = self.allowance(url).await else {
            tracing::debug!("{url} not loaded: disallowed by robots.txt");
            return None;
        };
        if script && let Some(cached) = self.cached(url) {
            return Some(cached);
        }
        let limit = self.rate_limit(url);
        // It is never closed.
        let _permit = limit.few.acquire().await.ok()?;
        let mut next = if apart.is_zero() { None } else { Some(limit.one.lock().await) };
        // Another page may have fetched it meanwhile.
        if script && let Some(cached) = self.cached(url) {
            return Some(cached);
        }
        if let Some(Some(at)) = next.as_deref() {
            tokio::time::sleep_until(*at).await;
        }
        if limit.busy().is_some_and(|until| until > Instant::now()) {
            tracing::debug!("{url} not loaded: too many requests to its host");
            return None;
        }
        let response = self.fetcher.fetch_part(url, part).await;
        if let Some(next) = &mut next {
            **next = Some(Instant::now() + apart);
        }
        match response {
            Ok(fetched) => {
                if matches!(fetched.status, 429 | 503) {
                    // A date counts only with the server's own clock.
                    let wait = retry_after(&fetched, Millis(u64::MAX)).map_or(Duration::ZERO, Duration::from_millis);
                    *limit.busy() = Some(Instant::now() + wait.max(BUSY_PAUSE));
                }
                if script && fetched.status == 200 {
                    self.cache(url, &fetched);
                }
                Some(fetched)
            }
            Err(failure) => {
                tracing::debug!("{url} not loaded: {failure}");
                None
            }
        }
    }

    fn rate_limit(&self, url: &CrawlUrl) -> Arc<HostRateLimit> {
        let mut state = self.state();
        if state.hosts.len() >= MAX_CACHED_HOSTS {
            state.hosts.clear();
        }
        let new = || Arc::new(HostRateLimit::new());
        Arc::clone(state.hosts.entry(url.authority().to_owned()).or_insert_with(new))
    }

    fn cached(&self, url: &CrawlUrl) -> Option<Fetched> {
        let state = self.state();
        let (at, script) = state.scripts.get(url)?;
        (at.elapsed() < SCRIPT_AGE).then(|| script.clone())
    }

    fn cache(&self, url: &CrawlUrl, script: &Fetched) {
        if script.body.len() > CACHE_BYTES / 8 {
            return;
        }
        let mut state = self.state();
        // The browser gets the decoded body.
        let cached = Fetched { wire: None, ..script.clone() };
        match state.scripts.insert(url.clone(), (Instant::now(), cached)) {
            Some((_, previous)) => state.bytes -= previous.body.len(),
            None => state.order.push_back(url.clone()),
        }
        state.bytes += script.body.len();
        while state.bytes > CACHE_BYTES
            && let Some(oldest) = state.order.pop_front()
        {
            if let Some((_, gone)) = state.scripts.remove(&oldest) {
                state.bytes -= gone.body.len();
            }
        }
    }

    /// If robots.txt allows the URL: the delay between requests to its host.
    async fn allowance(&self, url: &CrawlUrl) -> Option<Duration> {
        let Some(agent) = &self.agent else { return Some(Duration::ZERO) };
        let cell = {
            let mut state = self.state();
            if state.robots.len() >= MAX_CACHED_HOSTS {
                state.robots.clear();
            }
            let fresh = || (Instant::now(), Arc::default());
            let (at, cell) = state.robots.entry(url.origin()).or_insert_with(fresh);
            let most = if matches!(cell.get(), Some(RobotsAccess::Nothing)) { UNREACHABLE_AGE } else { ROBOTS_AGE };
            if at.elapsed() > most {
                (*at, *cell) = fresh();
            }
            Arc::clone(cell)
        };
        match cell.get_or_init(|| self.rules(url, agent)).await {
            RobotsAccess::All => Some(Duration::ZERO),
            RobotsAccess::Nothing => None,
            RobotsAccess::Rules(robot) => {
                let most = MAX_SPACING.as_secs_f32();
                let delay = robot.delay.map_or(0.0, |seconds| seconds.clamp(0.0, most));
                robot.allowed(url.as_str()).then_some(Duration::from_secs_f32(delay))
            }
        }
    }
    /// The rules of the origin of `url`.
    async fn rules(&self, url: &CrawlUrl, agent: &str) -> RobotsAccess {
        let mut at = url.robots();
        for _ in 0..=RobotsAccess::HOPS {
            let response = self.fetcher.fetch(&at, None).await.ok();
            match RobotsAccess::of(agent, &at, response.as_ref()) {
                Ok(access) => return access,
                Err(target) => at = target,
            }
        }
        RobotsAccess::All
    }
}
