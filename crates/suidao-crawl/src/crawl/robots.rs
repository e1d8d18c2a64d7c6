//! robots.txt (RFC 9309): when it is fetched, how long it is valid, what it permits.

use serde::{Deserialize, Serialize};

use suidao_page::model::{CrawlUrl, Millis, RobotsRules};

use super::health::{Health, another_try};
use super::politeness::{Politeness, millis};
use super::rules::Robot;
use super::settings::CrawlLimits;

/// Maximum number of sitemaps taken from one robots.txt.
const SITEMAPS: usize = 100;

/// Minimum time between requests for new rules while old ones apply, in milliseconds.
const STALE_RETRY: u64 = 60_000;

/// State of one origin's robots.txt. A fold of the events.
#[derive(Default, Serialize, Deserialize)]
pub(super) struct OriginRobots {
    /// The current rules; none before the first valid answer, and then everything is disallowed.
    rules: Option<Rules>,
    /// `Crawl-delay` in seconds; remains when the rules are dropped.
    delay: Option<f32>,
    /// When the rules were fetched.
    fetched_at: Millis,
    /// Failed tries since, and the time of the first one.
    failed: u32,
    first: Millis,
    last: Millis,
    /// Target of a redirect, and the number of redirects so far.
    redirect: Option<(CrawlUrl, u8)>,
}

#[derive(Serialize, Deserialize)]
enum Rules {
    All,
    Parsed(Box<Robot>),
}

/// The URL of a `Sitemap` line. It must be absolute, but many are paths or lack the scheme.
fn sitemap(line: &str, origin: &str) -> Option<String> {
    if let Ok(url) = CrawlUrl::parse(line) {
        return Some(url.as_str().to_owned());
    }
    let origin = CrawlUrl::parse(origin).ok()?;
    let first = line.split('/').next().unwrap_or_default().to_ascii_lowercase();
    let site = origin.host().strip_prefix("www.").unwrap_or(origin.host());
    let is_host = !first.is_empty() && (first.starts_with("www.") || first == site || first == *origin.authority());
    let path = line.split('?').next().unwrap_or_default().to_ascii_lowercase();
    let is_path = line.starts_with('/')
        || path.contains("sitemap")
        || [".xml", ".gz", ".txt"].iter().any(|end| path.ends_with(end));
    let url = match is_host {
        true => origin.join(&format!("//{line}")),
        false => origin.join(line),
    };
    url.ok().filter(|_| is_host || is_path).map(|url| url.as_str().to_owned())
}

/// Whether a URL may be fetched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RobotsPermission {
    Allowed,
    Forbidden,
    /// robots.txt must be fetched first.
    FetchFirst,
    /// It could not be fetched for so long that its host is given up.
    GivenUp,
}

impl OriginRobots {
    /// `origin`: whose robots.txt it is.
    pub fn learn(&mut self, origin: &str, agent: &str, rules: &RobotsRules, at: Millis) {
        self.redirect = None;
        self.rules = match rules {
            RobotsRules::AllowAll => {
                self.delay = None;
                Some(Rules::All)
            }
            RobotsRules::Rules(text) => {
                let mut robot = Robot::new(agent, text);
                robot.sitemaps = robot.sitemaps.iter().filter_map(|line| sitemap(line, origin)).collect();
                robot.sitemaps.truncate(SITEMAPS);
                self.delay = robot.delay;
                Some(Rules::Parsed(Box::new(robot)))
            }
            // RFC 9309, 2.4: known rules apply while it is unreachable.
            RobotsRules::Unreachable => {
                if self.failed == 0 {
                    self.first = at;
                }
                self.last = at;
                self.failed = self.failed.saturating_add(1);
                return;
            }
        };
        (self.fetched_at, self.failed) = (at, 0);
    }

    pub fn redirected(&mut self, to: &CrawlUrl) {
        let followed = self.followed() + 1;
        self.redirect = Some((to.clone(), followed));
    }

    pub fn redirected_to(&self) -> Option<&CrawlUrl> {
        self.redirect.as_ref().map(|(to, _)| to)
    }

    /// Redirects of its request so far.
    pub fn followed(&self) -> u8 {
        self.redirect.as_ref().map_or(0, |(_, followed)| *followed)
    }

    pub fn has_rules(&self) -> bool {
        self.rules.is_some()
    }

    pub fn memory(&self) -> u64 {
        if let Some(Rules::Parsed(robot)) = &self.rules { robot.memory() as u64 } else { 0 }
    }

    pub fn fetched_at(&self) -> Millis {
        self.fetched_at
    }

    /// Drops everything but the delay: it is fetched again before the next page.
    pub fn forget(&mut self) {
        *self = Self { delay: self.delay, ..Self::default() };
    }

    /// Extends the known rules from `at` on; false if there are none.
    pub fn renew(&mut self, at: Millis) -> bool {
        self.fetched_at = at;
        self.rules.is_some()
    }

    pub fn reset_failures(&mut self) {
        self.failed = 0;
    }

    pub fn delay(&self) -> Option<f64> {
        self.delay.map(f64::from)
    }

    /// The sitemaps that it names, of any host.
    pub fn sitemaps(&self) -> impl Iterator<Item = CrawlUrl> {
        let robot = match &self.rules {
            Some(Rules::Parsed(robot)) => Some(robot),
            _ => None,
        };
        robot.into_iter().flat_map(|robot| &robot.sitemaps).filter_map(|url| CrawlUrl::parse(url).ok())
    }

    /// Milliseconds until the next try after a failed one.
    pub fn backoff(&self, politeness: &Politeness, retry_after: Option<u64>) -> u64 {
        let further = i32::try_from(self.failed.saturating_sub(1).min(12)).unwrap_or(12);
        let own = politeness.robots_retry * 6f64.powi(further);
        millis(own.min(politeness.max_backoff)).max(retry_after.unwrap_or(0))
    }

    /// `delay`: milliseconds between requests to the host; the rules must be valid for longer.
    pub fn permission(
        &self,
        url: &CrawlUrl,
        health: &Health,
        terms: (&CrawlLimits, &Politeness),
        delay: u64,
        now: Millis,
    ) -> RobotsPermission {
        let (limits, politeness) = terms;
        let Some(rules) = &self.rules else {
            let unknown = health.is_unknown() && health.is_given_up(limits, politeness, now);
            let given_up = self.failed > 0 && (unknown || self.is_given_up(health, limits, politeness, now));
            return if given_up { RobotsPermission::GivenUp } else { RobotsPermission::FetchFirst };
        };
        let fresh = now.since(self.fetched_at) <= millis(politeness.robots_max_age).max(delay.saturating_mul(2));
        let tried = self.failed > 0 && now.since(self.last) < self.backoff(politeness, None).max(STALE_RETRY);
        match rules {
            _ if !fresh && !tried => RobotsPermission::FetchFirst,
            Rules::Parsed(robot) if !robot.allowed(url.as_str()) => RobotsPermission::Forbidden,
            Rules::All | Rules::Parsed(_) => RobotsPermission::Allowed,
        }
    }

    fn is_given_up(&self, health: &Health, limits: &CrawlLimits, politeness: &Politeness, now: Millis) -> bool {
        if politeness.robots_retry <= 0.0 {
            // Without waits, more tries would have the same result.
            return self.failed > u32::from(limits.retries);
        }
        let span = millis(politeness.give_up);
        let long = !health.has_answered() || self.last.since(self.first) >= span;
        self.failed >= limits.host_failures.max(1)
            && long
            && (span == 0 || now.since(self.last) < another_try(politeness))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sitemaps_are_resolved() {
        for (line, expected) in [
            ("http://x.cn/1.xml", Some("http://x.cn/1.xml")),
            ("/s.xml", Some("https://www.a.cn/s.xml")),
            ("/feed", Some("https://www.a.cn/feed")),
            ("sitemap.xml", Some("https://www.a.cn/sitemap.xml")),
            ("sitemap.php", Some("https://www.a.cn/sitemap.php")),
            ("sitemap_index.xml?x=1", Some("https://www.a.cn/sitemap_index.xml?x=1")),
            ("//b.cn/s.xml", Some("https://b.cn/s.xml")),
            ("www.a.cn/s.xml", Some("https://www.a.cn/s.xml")),
            ("a.cn/s.xml", Some("https://a.cn/s.xml")),
            ("none", None),
            ("", None),
        ] {
            assert_eq!(sitemap(line, "https://www.a.cn").as_deref(), expected, "{line}");
        }
    }
}
