//! A generated forum as a [`Web`], at a fixed or running time.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::Forum;
use crate::world::clock::WorldClock;
use suidao_crawl::replay::Web;
use suidao_page::model::{CrawlUrl, Failure, FailureKind, Fetched};

/// A forum that answers as of a time. It answers under its own host and, because it may be served directly, 127.0.0.1
/// and localhost; other hosts have no address.
pub struct ForumWeb {
    forum: Arc<Forum>,
    clock: WorldClock,
    requests: AtomicU64,
}

impl ForumWeb {
    /// A forum whose clock remains at `now` until it is set.
    pub fn at(forum: Arc<Forum>, now: i64) -> Self {
        Self::running(forum, now, 0.0)
    }

    /// A forum whose clock starts at `now` and runs `speed` times as fast as real time.
    pub fn running(forum: Arc<Forum>, now: i64, speed: f64) -> Self {
        Self { forum, clock: WorldClock::running(now, speed), requests: AtomicU64::new(0) }
    }

    pub fn forum(&self) -> &Forum {
        &self.forum
    }

    /// Seconds since 1970 by the forum's clock.
    pub fn now(&self) -> i64 {
        self.clock.now()
    }

    pub fn set(&self, now: i64) {
        self.clock.set(now);
    }
}

impl Web for ForumWeb {
    fn get(&self, url: &CrawlUrl) -> Result<Fetched, Failure> {
        let own = url.authority() == self.forum.spec().host;
        if !own && !matches!(url.host(), "127.0.0.1" | "localhost") {
            return Err(Failure { kind: FailureKind::Dns, retry_after: None });
        }
        if url.is_https() {
            return Err(Failure { kind: FailureKind::Connect, retry_after: None });
        }
        Ok(self.forum.response(url, self.now(), self.requests.fetch_add(1, Ordering::Relaxed)))
    }
}

#[cfg(test)]
mod tests {
    use super::super::ForumSpec;
    use super::*;

    #[test]
    fn its_clock_stands_where_it_is_set() {
        let forum = Arc::new(Forum::new(ForumSpec::default()));
        let start = forum.spec().activity.start;
        let web = ForumWeb::at(Arc::clone(&forum), start + 86_400);
        let before = web.get(&forum.home()).unwrap();
        assert_eq!(before, web.get(&forum.home()).unwrap());
        web.set(start + 2 * 86_400);
        assert_eq!(web.now(), start + 2 * 86_400);
        assert_ne!(before.body, web.get(&forum.home()).unwrap().body);
        let other = CrawlUrl::parse("http://other.test/").unwrap();
        assert_eq!(web.get(&other).unwrap_err().kind, FailureKind::Dns);
        assert!(web.get(&CrawlUrl::parse("http://127.0.0.1:8080/").unwrap()).is_ok());
        let secure = forum.home().under(true).unwrap();
        assert_eq!(web.get(&secure).unwrap_err().kind, FailureKind::Connect, "no port 443");
    }

    #[test]
    fn a_running_clock_runs() {
        let forum = Arc::new(Forum::new(ForumSpec::default()));
        let web = ForumWeb::running(forum, 1_000, 1e9);
        let first = web.now();
        assert!(first >= 1_000 && (0..10_000_000).any(|_| web.now() > first));
    }
}
