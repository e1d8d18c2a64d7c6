//! What the machine knows of each host: when it may be asked again, what its robots.txt says, how it has behaved.
//! Apart because politeness is a state of the host and never the strategy's business: priority orders, the host
//! decides when.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use texting_robots::Robot;

use crate::model::{CrawlUrl, Failure, FailureKind, HostId, Millis, RobotsRules};

/// Most sitemaps taken from one robots.txt: who has more lists them in a sitemap.
const SITEMAPS: usize = 100;

/// `[politeness]` of the configuration. Times in seconds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Politeness {
    /// Least time between the end of one request to a host and the start of the next.
    pub delay: f64,
    /// A Crawl-delay longer than this is cut to it.
    pub max_crawl_delay: f64,
    /// Whether robots.txt is fetched and obeyed (RFC 9309). Turn it off for webs of your own only.
    pub robots: bool,
    /// First wait after a failed request; doubles with each further failure of the host in a row.
    pub backoff: f64,
    /// Longest wait after failures; a longer Retry-After is obeyed.
    pub max_backoff: f64,
    /// First wait after a robots.txt that could not be had, in which all of the host is forbidden; six times longer
    /// with each further one.
    pub robots_retry: f64,
    /// A robots.txt is asked for again after this time.
    pub robots_max_age: f64,
    /// The crawl stops when only hosts are left that fail and may not be asked for longer than this.
    pub patience: f64,
}

impl Default for Politeness {
    fn default() -> Self {
        Self {
            delay: 1.0,
            max_crawl_delay: 60.0,
            robots: true,
            backoff: 5.0,
            max_backoff: 300.0,
            robots_retry: 10.0,
            robots_max_age: 86_400.0,
            patience: 60.0,
        }
    }
}

impl Politeness {
    /// What is wrong with the settings, if anything: the key and the sentence.
    ///
    /// # Errors
    /// The key and what it must be.
    pub fn check(&self) -> Result<(), (&'static str, &'static str)> {
        for (key, value) in [
            ("politeness.delay", self.delay),
            ("politeness.max_crawl_delay", self.max_crawl_delay),
            ("politeness.backoff", self.backoff),
            ("politeness.max_backoff", self.max_backoff),
            ("politeness.robots_retry", self.robots_retry),
            ("politeness.robots_max_age", self.robots_max_age),
            ("politeness.patience", self.patience),
        ] {
            if !(0.0..=1e9).contains(&value) {
                return Err((key, "must be a number of seconds from 0 to 1e9"));
            }
        }
        if self.robots_max_age < 60.0 {
            return Err(("politeness.robots_max_age", "must be at least 60 seconds"));
        }
        Ok(())
    }
}

/// Seconds of the configuration as milliseconds.
pub(super) fn millis(seconds: f64) -> u64 {
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // settings are checked, and `as` saturates
    let ms = (seconds * 1000.0).round() as u64;
    ms
}

/// Rules of one origin (scheme and authority) as they are in force.
pub(super) enum Rules {
    All,
    Parsed(Box<Robot>),
    /// Forbidden until a later try brings rules; so many tries failed.
    Unreachable(u32),
}

pub(super) struct Robots {
    pub rules: Rules,
    /// When they were had.
    pub at: Millis,
}

/// One host: the unit of politeness.
#[derive(Default)]
pub(super) struct Host {
    /// http, https.
    robots: [Option<Robots>; 2],
    /// Where to look for robots.txt next, after a redirect, and how many there were.
    pub robots_redirect: Option<(CrawlUrl, u8)>,
    pub in_flight: bool,
    /// Whether it is asked under https; none while it has not been asked.
    pub https: Option<bool>,
    /// Not to be asked before.
    pub ready_at: Millis,
    /// Pages fetched.
    pub pages: u32,
    /// Whether one of them was relevant.
    pub relevant: bool,
    /// URLs that wait.
    pub queued: u32,
    /// Requests in a row that brought no answer.
    pub failures: u32,
    /// Waits because it fails, not out of politeness.
    pub failing: bool,
}

impl Host {
    fn slot(scheme: &str) -> usize {
        usize::from(scheme == "https")
    }

    pub fn robots(&self, scheme: &str) -> Option<&Robots> {
        self.robots[Self::slot(scheme)].as_ref()
    }

    pub fn set_robots(&mut self, agent: &str, origin: &str, rules: &RobotsRules, at: Millis) {
        let slot = &mut self.robots[Self::slot(origin.split(':').next().unwrap_or_default())];
        let failed = match slot.as_ref().map(|robots| &robots.rules) {
            Some(Rules::Unreachable(failed)) => *failed,
            _ => 0,
        };
        let rules = match rules {
            RobotsRules::AllowAll => Rules::All,
            // A file that cannot be parsed has no rule that could be obeyed.
            RobotsRules::Rules(text) => {
                Robot::new(agent, text).map_or(Rules::All, |robot| Rules::Parsed(Box::new(robot)))
            }
            RobotsRules::Unreachable => Rules::Unreachable(failed + 1),
        };
        *slot = Some(Robots { rules, at });
        self.robots_redirect = None;
    }

    /// The sitemaps that its robots.txt names, under either scheme; of any host.
    pub fn sitemaps(&self) -> impl Iterator<Item = CrawlUrl> {
        let robots = self.robots.iter().flatten().filter_map(|robots| match &robots.rules {
            Rules::Parsed(robot) => Some(robot),
            _ => None,
        });
        robots.flat_map(|robot| &robot.sitemaps).filter_map(|url| CrawlUrl::parse(url).ok()).take(SITEMAPS)
    }

    /// Time between requests: the longer of the setting and the Crawl-delay, which is cut at its maximum.
    pub fn delay(&self, politeness: &Politeness) -> u64 {
        let asked = self.robots.iter().flatten().filter_map(|robots| match &robots.rules {
            Rules::Parsed(robot) => robot.delay.map(f64::from),
            _ => None,
        });
        let asked = asked.fold(0.0, f64::max).min(politeness.max_crawl_delay);
        millis(asked.max(politeness.delay))
    }

    /// Time to wait after a failure: Retry-After, else doubling.
    pub fn backoff(&self, politeness: &Politeness, failure: &Failure) -> u64 {
        let doubled = politeness.backoff * f64::from(1u32 << self.failures.saturating_sub(1).min(16));
        let own = millis(doubled.min(politeness.max_backoff));
        failure.retry_after.map_or(own, |asked| asked.max(own)).max(self.delay(politeness))
    }

    /// Time to wait for the next try at a robots.txt that could not be had.
    pub fn robots_backoff(&self, politeness: &Politeness, scheme: &str) -> u64 {
        let failed = match self.robots(scheme).map(|robots| &robots.rules) {
            Some(Rules::Unreachable(failed)) => *failed,
            _ => 1,
        };
        millis(politeness.robots_retry * 6f64.powi(i32::try_from(failed.saturating_sub(1).min(6)).unwrap_or(6)))
    }
}

/// Whether a failure says that the host cannot be reached, rather than that one page cannot be had.
pub(super) fn is_hosts(failure: &Failure) -> bool {
    matches!(
        failure.kind,
        FailureKind::Dns | FailureKind::Connect | FailureKind::Tls | FailureKind::Timeout | FailureKind::Broken
    ) || matches!(failure.kind, FailureKind::Status(429 | 502 | 503 | 504))
}

/// The hosts, by number and by name.
#[derive(Default)]
pub(super) struct Hosts {
    hosts: Vec<Host>,
    by_name: FxHashMap<Box<str>, HostId>,
    /// Hosts that wait for their time, soonest first.
    timers: BinaryHeap<Reverse<(Millis, u32)>>,
}

impl Hosts {
    /// The number of the host of `url`, and whether it is new.
    pub fn number(&mut self, url: &CrawlUrl) -> (HostId, bool) {
        if let Some(&host) = self.by_name.get(url.authority()) {
            return (host, false);
        }
        let host = HostId(u32::try_from(self.hosts.len()).expect("fewer hosts than URLs"));
        self.hosts.push(Host::default());
        self.by_name.insert(url.authority().into(), host);
        (host, true)
    }

    /// The host of `url`, if it is known.
    pub fn of(&self, url: &CrawlUrl) -> Option<&Host> {
        self.by_name.get(url.authority()).map(|&host| self.get(host))
    }

    /// The number of the host of `url`, if it is known.
    pub fn id_of(&self, url: &CrawlUrl) -> Option<HostId> {
        self.by_name.get(url.authority()).copied()
    }

    /// Every host gets another chance, whatever it did before.
    pub fn forgive(&mut self) {
        for host in &mut self.hosts {
            (host.failures, host.failing) = (0, false);
            for robots in host.robots.iter_mut().flatten() {
                if let Rules::Unreachable(failed) = &mut robots.rules {
                    *failed = 0;
                }
            }
        }
    }

    pub fn get(&self, host: HostId) -> &Host {
        &self.hosts[host.0 as usize]
    }

    pub fn get_mut(&mut self, host: HostId) -> &mut Host {
        &mut self.hosts[host.0 as usize]
    }

    /// The host is not to be asked before `at`.
    pub fn wait_until(&mut self, host: HostId, at: Millis) {
        self.get_mut(host).ready_at = at;
        self.timers.push(Reverse((at, host.0)));
    }

    /// Takes one host whose time has come.
    pub fn due(&mut self, now: Millis) -> Option<HostId> {
        loop {
            let &Reverse((at, host)) = self.timers.peek()?;
            if at > now {
                return None;
            }
            self.timers.pop();
            let host = HostId(host);
            // An outdated timer: the host's time was set anew.
            if self.get(host).ready_at == at && !self.get(host).in_flight {
                return Some(host);
            }
        }
    }

    /// When the next host's time comes.
    pub fn next_due(&self) -> Option<Millis> {
        self.timers.peek().map(|&Reverse((at, _))| at)
    }

    /// Hosts that still wait for their time: when, and which.
    pub fn waiting(&self) -> impl Iterator<Item = (Millis, HostId)> + '_ {
        self.timers
            .iter()
            .map(|&Reverse((at, host))| (at, HostId(host)))
            .filter(|&(at, host)| self.get(host).ready_at == at)
    }
}
