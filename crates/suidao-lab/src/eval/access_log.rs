//! Scores any crawler on a generated web, by the requests that the web's server logged: what it found, what it wasted,
//! and whether it was polite.

use std::fmt::Write;

use rustc_hash::{FxHashMap, FxHashSet};
use serde::Serialize;

use crate::world::{ServedUrl, SyntheticWeb};
use suidao_html::thousands;
use suidao_page::model::CrawlUrl;

/// Page counts at which relevant pages are counted.
const CUTOFFS: [u64; 3] = [500, 1_000, 2_000];

/// Seconds between two requests to a host that count as polite.
const POLITE: f64 = 1.0;

#[derive(Clone, Debug, PartialEq)]
pub struct LoggedRequest {
    /// Seconds since the server's start.
    pub at: f64,
    pub url: CrawlUrl,
    pub status: u16,
}

impl LoggedRequest {
    /// A line of the log: seconds, host, path with query, status and bytes, separated by tabs. `None` if it is not one.
    pub fn parse(line: &str) -> Option<Self> {
        let [at, host, path, status, _] = line.split('\t').collect::<Vec<_>>()[..] else { return None };
        let at: f64 = at.parse().ok().filter(|at: &f64| at.is_finite())?;
        Some(Self { at, url: CrawlUrl::parse(&format!("http://{host}{path}")).ok()?, status: status.parse().ok()? })
    }
}

/// After this many pages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ScoreAt {
    pub pages: u64,
    pub relevant: u64,
    /// Islands with a page among them.
    pub islands: u64,
}

/// Requests that brought nothing new.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct WastedRequests {
    /// URLs requested before, with or without a session id.
    pub repeated: u64,
    /// Other URLs of pages requested before.
    pub duplicates: u64,
    /// 404, and hosts without an address.
    pub dead: u64,
    /// Pages of endless calendars.
    pub traps: u64,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct PolitenessBroken {
    /// Requests that robots.txt forbids.
    pub forbidden: u64,
    /// Hosts with a page requested before their robots.txt.
    pub hosts_without_robots: u64,
    /// Requests less than a second after the previous one to their host; robots.txt aside.
    pub within_a_second: u64,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct AccessScore {
    pub requests: u64,
    /// Distinct URLs answered with a page: status 200, robots.txt aside.
    pub pages: u64,
    pub relevant: u64,
    pub relevant_in_web: u64,
    pub islands: u64,
    pub islands_in_web: u64,
    pub hosts: u64,
    /// Seconds from the first request to the last.
    pub seconds: f64,
    /// At 500, 1,000 and 2,000 pages, as far as the crawl came.
    pub at: Vec<ScoreAt>,
    pub wasted: WastedRequests,
    pub politeness: PolitenessBroken,
}

impl AccessScore {
    /// Requests in the order of the log.
    pub fn of(world: &SyntheticWeb, requests: &[LoggedRequest]) -> Self {
        let mut score = Self {
            requests: requests.len() as u64,
            relevant_in_web: world.relevant(),
            islands_in_web: world.islands() as u64,
            seconds: requests.last().map_or(0.0, |last| last.at) - requests.first().map_or(0.0, |first| first.at),
            ..Self::default()
        };
        let (mut urls, mut numbers, mut islands) = (FxHashSet::default(), FxHashSet::default(), FxHashSet::default());
        let (mut hosts, mut robots) = (FxHashSet::default(), FxHashSet::default());
        let mut last: FxHashMap<&str, f64> = FxHashMap::default();
        for LoggedRequest { at, url, status } in requests {
            let (kind, host) = (world.kind(url), url.authority());
            if url.path() == "/robots.txt" {
                robots.insert(host);
                continue;
            }
            if last.insert(host, *at).is_some_and(|before| at - before < POLITE) {
                score.politeness.within_a_second += 1;
            }
            score.politeness.forbidden += u64::from(kind == ServedUrl::Forbidden);
            if !urls.insert(url.fingerprint()) {
                score.wasted.repeated += 1;
                continue;
            }
            if *status >= 400 {
                score.wasted.dead += 1;
                continue;
            }
            if hosts.insert(host) && !robots.contains(host) {
                score.politeness.hosts_without_robots += 1;
            }
            if *status != 200 {
                continue;
            }
            score.pages += 1;
            match kind {
                ServedUrl::Trap => score.wasted.traps += 1,
                ServedUrl::Page(number) if !numbers.insert(number) => score.wasted.duplicates += 1,
                ServedUrl::Page(_) if world.is_relevant(url) => {
                    score.relevant += 1;
                    islands.extend(world.island(url));
                }
                _ => {}
            }
            if CUTOFFS.contains(&score.pages) {
                let at = ScoreAt { pages: score.pages, relevant: score.relevant, islands: islands.len() as u64 };
                score.at.push(at);
            }
        }
        score.islands = islands.len() as u64;
        score.hosts = hosts.len() as u64;
        score
    }

    /// Text for a terminal.
    pub fn describe(&self) -> String {
        let mut out = String::new();
        let n = thousands;
        let mut line = |text: String| writeln!(out, "{text}").expect("a string takes everything");
        line(format!(
            "{} requests in {:.0} s, {} pages of {} hosts",
            n(self.requests),
            self.seconds,
            n(self.pages),
            n(self.hosts)
        ));
        for at in &self.at {
            line(format!("after {:>5} pages: {:>5} relevant, {} islands", n(at.pages), n(at.relevant), n(at.islands)));
        }
        line(format!(
            "in all: {} of {} relevant pages, {} of {} islands",
            n(self.relevant),
            n(self.relevant_in_web),
            n(self.islands),
            n(self.islands_in_web)
        ));
        let WastedRequests { repeated, duplicates, dead, traps } = self.wasted;
        line(format!(
            "wasted: {} repeated, {} second URLs of pages, {} dead links, {} trap pages",
            n(repeated),
            n(duplicates),
            n(dead),
            n(traps)
        ));
        let PolitenessBroken { forbidden, hosts_without_robots, within_a_second } = self.politeness;
        line(format!(
            "politeness: {} requests forbidden by robots.txt, {} hosts without asking for robots.txt first, {} requests less \
             than a second after the previous one to their host",
            n(forbidden),
            n(hosts_without_robots),
            n(within_a_second)
        ));
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::world::WebSpec;

    #[test]
    fn a_log_is_counted_request_by_request() {
        let spec = WebSpec {
            pages: 600,
            hosts: 14,
            islands: 5,
            island_pages: [20, 40],
            calendar_hosts: 1.0,
            robots_hosts: 1.0,
            session_hosts: 1.0,
            ..WebSpec::default()
        };
        let world = SyntheticWeb::new(spec).unwrap();
        let relevant = world.seeds()[0].clone();
        let other = world.pages().last().unwrap().0;
        let with = |url: &CrawlUrl, path: &str| url.join(path).unwrap();
        let more = |what: &str| {
            CrawlUrl::parse(&format!("{other}{}{what}", if other.query().is_some() { "&" } else { "?" })).unwrap()
        };
        let lines = [
            (0.0, with(&relevant, "/robots.txt"), 200),
            (0.1, relevant.clone(), 200),
            (0.2, relevant.clone(), 200),
            (2.0, other.clone(), 200),
            (4.0, more("from=related"), 200),
            (5.0, more("PHPSESSID=00000000000000aa"), 200),
            (6.1, with(&other, "/calendar/2024-12.html"), 200),
            (8.0, with(&other, "/private/1.html"), 200),
            (10.0, with(&other, "/nothing"), 404),
        ];
        let line = |(at, url, status): &(f64, CrawlUrl, u16)| {
            format!("{at}\t{}\t{}\t{status}\t9", url.host(), {
                let query = url.query().map_or(String::new(), |query| format!("?{query}"));
                format!("{}{query}", url.path())
            })
        };
        let requests: Vec<LoggedRequest> = lines.iter().map(|it| LoggedRequest::parse(&line(it)).unwrap()).collect();
        let score = AccessScore::of(&world, &requests);
        assert_eq!((score.requests, score.pages, score.relevant, score.islands), (9, 5, 1, 1));
        assert_eq!(score.wasted, WastedRequests { repeated: 2, duplicates: 1, dead: 1, traps: 1 });
        let broken = PolitenessBroken { forbidden: 1, hosts_without_robots: 1, within_a_second: 1 };
        assert_eq!(score.politeness, broken);
        assert!(score.describe().contains("in all: 1 of"));
        assert_eq!(LoggedRequest::parse("x\ty"), None);
    }
}
