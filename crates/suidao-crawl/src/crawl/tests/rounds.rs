//! A round of revisits over several partitions.

use super::politeness::page;
use super::*;
use crate::revisit::settings::RefreshSettings;

const DAY: u64 = 86_400_000;

/// Two partitions of 64 that own s.cn and t.cn.
struct Parts {
    machines: [Crawl; 2],
    logs: [Vec<Batch>; 2],
    budget: Budget,
}

fn machine(number: u32, budget: Option<Budget>) -> Crawl {
    let partition = Some(Partition { number, count: 64 });
    let refresh = budget.map(|budget| Refresh { settings: RefreshSettings::default(), budget });
    let strategy = StrategySettings::default().named("best-first").unwrap().build(Relevance::new(0.5));
    Crawl::new(CrawlSettings { partition, refresh, harvest_rate: Some(0.0), ..crawl_settings() }, strategy)
}

const HOSTS: [&str; 2] = ["http://s.cn/", "http://t.cn/"];

fn number(url: &str) -> u32 {
    Partition::number_of(&CrawlUrl::parse(url).unwrap(), 64)
}

impl Parts {
    fn crawled(web: &BTreeMap<String, FetchOutcome>, budget: Budget) -> Self {
        let machines = HOSTS.map(|host| machine(number(host), None));
        let mut parts = Self { machines, logs: [Vec::new(), Vec::new()], budget };
        for (at, host) in HOSTS.iter().enumerate() {
            let batch = parts.machines[at].seed(&[CrawlUrl::parse(host).unwrap()], Millis(0));
            parts.logs[at].push(batch);
        }
        for at in [0, 1, 0, 1] {
            parts.run(at, web, Millis(1_000));
        }
        parts.restore();
        parts
    }

    /// Replaces the machines by restored ones that can take part in a round.
    fn restore(&mut self) {
        self.machines = HOSTS.map(|host| machine(number(host), Some(self.budget)));
        for (machine, log) in self.machines.iter_mut().zip(&self.logs) {
            log.iter().for_each(|batch| machine.restore(batch));
        }
    }

    /// Runs a partition until it waits or is done; returns what it has requested.
    fn run(&mut self, at: usize, web: &BTreeMap<String, FetchOutcome>, now: Millis) -> Vec<String> {
        let mut requested = Vec::new();
        loop {
            let batch = match self.machines[at].next(now) {
                Next::Fetch(ticket) => {
                    requested.push(ticket.url.to_string());
                    let outcome = page(web, ticket.url.as_str());
                    self.machines[at].settle(ticket, outcome, ResponseMeta::default(), now)
                }
                Next::Record(batch) => batch,
                Next::Wait(_) | Next::Done(_) => return requested,
            };
            for link in self.machines[at].take_leaving(&batch) {
                let owner = usize::from(number(link.url.as_str()) == number(HOSTS[1]));
                let received = self.machines[owner].receive(&[link], now);
                self.logs[owner].push(received);
            }
            self.logs[at].push(batch);
        }
    }

    fn join(&mut self, begun: Millis) {
        for (machine, log) in self.machines.iter_mut().zip(&mut self.logs) {
            log.extend(machine.join_round(begun, begun));
        }
    }
}

fn before() -> BTreeMap<String, FetchOutcome> {
    web("
        http://s.cn/ 0.9 -> http://s.cn/a 0.9
        http://s.cn/a 0.1
        http://t.cn/ 0.9 -> http://t.cn/b 0.9
        http://t.cn/b 0.1")
}

/// A day later s.cn links to a new page of t.cn.
fn after() -> BTreeMap<String, FetchOutcome> {
    let mut after = web("
        http://s.cn/ 0.9 -> http://s.cn/a 0.9, http://t.cn/new 0.9
        http://s.cn/a 0.1
        http://t.cn/ 0.9 -> http://t.cn/b 0.9
        http://t.cn/b 0.1
        http://t.cn/new 0.9");
    if let Some(FetchOutcome::Page { page, .. }) = after.get_mut("http://s.cn/") {
        page.digest = Digest([1; 20]);
    }
    after
}

const ROUND: Budget = Budget::Round { requests: Some(10), seconds: None };

#[test]
fn partitions_choose_pages_and_request_them_when_they_are_granted() {
    let mut parts = Parts::crawled(&before(), ROUND);
    parts.join(Millis(DAY));
    assert_eq!(parts.run(0, &after(), Millis(DAY)), [""; 0], "nothing is granted");
    let share = parts.machines[0].round_share(Millis(DAY));
    assert!(share.planned && share.wanted.values().sum::<u64>() == 2 && share.begun == 0, "{share:?}");
    parts.machines[0].grant(1, true);
    assert_eq!(parts.run(0, &after(), Millis(DAY)).len(), 1);
    let share = parts.machines[0].round_share(Millis(DAY));
    assert_eq!((share.spent, share.wanted.values().sum::<u64>()), (1, 1));

    // A restored partition stays in the round, with its chosen pages and what it has requested.
    parts.restore();
    parts.join(Millis(DAY));
    let share = parts.machines[0].round_share(Millis(DAY));
    assert_eq!((share.spent, share.wanted.values().sum::<u64>()), (1, 1));
    parts.machines[0].grant(10, true);
    assert_eq!(parts.run(0, &after(), Millis(DAY)).len(), 1);
    assert!(matches!(parts.machines[0].next(Millis(DAY)), Next::Done(_)));
    // The next round begins only after this one.
    assert!(parts.machines[0].join_round(Millis(DAY), Millis(DAY + 1)).is_none());
    assert!(parts.machines[0].end_round(Millis(DAY + 1)).is_some());
    assert!(parts.machines[0].join_round(Millis(2 * DAY), Millis(2 * DAY)).is_some());
}

#[test]
fn new_links_to_other_partitions_are_fetched_in_the_round() {
    for killed in [false, true] {
        let mut parts = Parts::crawled(&before(), ROUND);
        parts.join(Millis(DAY));
        parts.machines.iter_mut().for_each(|machine| machine.grant(10, true));
        // It has nothing left, but may get links.
        assert_eq!(parts.run(1, &after(), Millis(DAY)).len(), 2);
        assert!(matches!(parts.machines[1].next(Millis(DAY)), Next::Done(_)));
        assert_eq!(parts.run(0, &after(), Millis(DAY)).len(), 2);
        if killed {
            parts.restore();
            parts.join(Millis(DAY));
            parts.machines[1].grant(10, true);
        }
        assert_eq!(parts.machines[1].round_share(Millis(DAY)).new_links, 1, "{killed}");
        assert_eq!(parts.run(1, &after(), Millis(DAY)), ["http://t.cn/new"]);
        assert_eq!(parts.machines[1].round_share(Millis(DAY)).spent_on_new, 1);
    }
}

#[test]
fn an_endless_refresh_of_partitions_waits_for_grants() {
    let mut parts = Parts::crawled(&before(), Budget::PerDay(100));
    parts.join(Millis(DAY));
    assert_eq!(parts.run(0, &after(), Millis(DAY)), [""; 0]);
    let mut requested = 0;
    for hour in 0..48 {
        let now = Millis(DAY + hour * 3_600_000);
        assert!(parts.machines[0].round_share(now).wants_something() || requested > 0, "{hour}");
        parts.machines[0].grant(hour + 1, true);
        requested += parts.run(0, &after(), now).len();
    }
    assert!((20..=48).contains(&requested), "{requested}");
}
