//! Politeness towards hosts that slow down, fail and recover, under a virtual clock.

use core::net::IpAddr;
use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;

/// One request: when it started and ended (or the crawl was killed), its host, and whether the machine knew the
/// address.
#[derive(Clone, Debug)]
pub(super) struct SentRequest {
    pub out: u64,
    back: u64,
    pub url: String,
    known: bool,
}

impl SentRequest {
    fn host(&self) -> &str {
        self.url.split('/').nth(2).unwrap()
    }
}

/// Answer of a web at a time, its latency, and its address.
pub(super) type Response<'a> = &'a dyn Fn(&str, u64) -> (FetchOutcome, u64, Option<IpAddr>);

pub(super) struct SimulatedRun {
    pub requested: Vec<SentRequest>,
    pub batches: Vec<Batch>,
    pub stop: Stop,
    pub at: u64,
    pub crawl: Crawl,
}

impl SimulatedRun {
    pub fn events(&self) -> impl Iterator<Item = &Event> {
        self.batches.iter().flat_map(|batch| &batch.events)
    }

    pub fn to(&self, host: &str) -> Vec<&SentRequest> {
        self.requested.iter().filter(|requested| requested.host() == host).collect()
    }
}

/// Runs to the end, killing and restoring the machine at each of these times.
fn simulate(
    settings: &CrawlSettings,
    seeds: &[&str],
    in_flight: usize,
    kills: &[u64],
    response: Response,
) -> SimulatedRun {
    simulate_with(&|| Box::new(BreadthFirst), settings, seeds, in_flight, kills, response)
}

pub(super) fn simulate_with(
    strategy: &dyn Fn() -> Box<dyn crate::strategy::Strategy>,
    settings: &CrawlSettings,
    seeds: &[&str],
    in_flight: usize,
    kills: &[u64],
    response: Response,
) -> SimulatedRun {
    simulate_restarted(Restart::Log, strategy, settings, seeds, in_flight, kills, response)
}

/// From what a killed machine is restored.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Restart {
    Log,
    Pieces,
    /// The pieces of some batches ago, and the later ones.
    Both,
}

pub(super) fn simulate_restarted(
    restart: Restart,
    strategy: &dyn Fn() -> Box<dyn crate::strategy::Strategy>,
    settings: &CrawlSettings,
    seeds: &[&str],
    in_flight: usize,
    kills: &[u64],
    response: Response,
) -> SimulatedRun {
    let fresh = || Crawl::new(settings.clone(), strategy());
    let seeds: Vec<CrawlUrl> = seeds.iter().map(|seed| CrawlUrl::parse(seed).unwrap()).collect();
    let mut crawl = fresh();
    let mut batches = vec![crawl.seed(&seeds, Millis(0))];
    let mut kills = kills.to_vec();
    kills.sort_unstable_by(|a, b| b.cmp(a));
    let mut requested: Vec<SentRequest> = Vec::new();
    let mut under_way: BTreeMap<(u64, usize), (Ticket, FetchOutcome, ResponseMeta)> = BTreeMap::new();
    let mut at = 0;
    let mut checkpoint = (Vec::new(), 0);
    loop {
        if restart == Restart::Both && (checkpoint.1 == 0 || batches.len() - checkpoint.1 > 4) {
            checkpoint = (crawl.pieces().unwrap().collect(), batches.len());
        }
        if kills.last().is_some_and(|kill| *kill <= at) {
            kills.pop();
            for ((_, number), _) in std::mem::take(&mut under_way) {
                requested[number].back = at;
            }
            let killed = std::mem::replace(&mut crawl, fresh());
            match restart {
                Restart::Log => batches.iter().for_each(|batch| crawl.restore(batch)),
                Restart::Pieces => {
                    assert!(killed.pieces().unwrap().all(|piece| crawl.take_piece(&piece)) && crawl.set_up());
                }
                Restart::Both => {
                    let (pieces, later): &(Vec<Vec<u8>>, usize) = &checkpoint;
                    assert!(pieces.iter().all(|piece| crawl.take_piece(piece)) && crawl.set_up());
                    batches[*later..].iter().for_each(|batch| crawl.restore(batch));
                }
            }
            batches.push(crawl.seed(&seeds, Millis(at)));
        }
        let mut wake = None;
        while under_way.len() < in_flight {
            match crawl.next(Millis(at)) {
                Next::Fetch(ticket) => {
                    let url = ticket.url.to_string();
                    let (outcome, took, from) = response(&url, at);
                    let known = crawl.state.hosts.of(&ticket.url).is_some_and(|host| host.address.is_some());
                    let number = requested.len();
                    requested.push(SentRequest { out: at, back: at + took, url, known });
                    under_way.insert(
                        (at + took, number),
                        (ticket, outcome, ResponseMeta { latency: Some(took), from, new_cookies: false }),
                    );
                }
                Next::Wait(until) => {
                    wake = until;
                    break;
                }
                Next::Record(batch) => batches.push(batch),
                Next::Done(stop) => {
                    return SimulatedRun { requested, batches, stop, at, crawl };
                }
            }
        }
        let due = under_way.keys().next().map(|(due, _)| *due);
        let next = [due, wake.map(|wake| wake.0), kills.last().copied()].into_iter().flatten().min();
        at = next.expect("a machine that waits for nothing has something in flight").max(at);
        while let Some(entry) = under_way.first_entry().filter(|entry| entry.key().0 <= at) {
            let (ticket, outcome, meta) = entry.remove();
            batches.push(crawl.settle(ticket, outcome, meta, Millis(at)));
        }
    }
}

fn polite(robots: bool) -> CrawlSettings {
    let politeness = Politeness { robots, patience: 1e6, ..Politeness::default() };
    CrawlSettings { politeness, ..crawl_settings() }
}

fn failed(kind: FailureKind) -> FetchOutcome {
    FetchOutcome::Failed(Failure { kind, retry_after: None })
}

/// The web's page, or 404; robots.txt allows everything.
pub(super) fn page(web: &BTreeMap<String, FetchOutcome>, url: &str) -> FetchOutcome {
    let missing = if url.ends_with("/robots.txt") {
        FetchOutcome::Robots(RobotsRules::AllowAll)
    } else {
        failed(FailureKind::Status(404))
    };
    web.get(url).cloned().unwrap_or(missing)
}

fn star(pages: &[String]) -> BTreeMap<String, FetchOutcome> {
    let links: Vec<String> = pages.iter().map(|page| format!("{page} 0")).collect();
    let all: String = pages.iter().map(|page| format!("{page} 0\n")).collect();
    web(&format!("http://s.cn/ 0.9 -> {}\n{all}", links.join(", ")))
}

fn fetched(run: &SimulatedRun) -> usize {
    run.events().filter(|event| matches!(event, Event::PageFetched(_))).count()
}

#[test]
fn a_host_that_was_down_for_an_hour_loses_no_page() {
    let pages: Vec<String> = (0..20).map(|n| format!("http://t.cn/{n}")).collect();
    let web = star(&pages);
    const HOUR: u64 = 3_600_000;
    let status = FailureKind::Status;
    for kind in [FailureKind::Connect, FailureKind::Timeout, FailureKind::Broken, status(503), status(500), status(522)]
    {
        let response = |url: &str, at: u64| {
            let down = url.contains("t.cn") && (5_000..HOUR).contains(&at);
            (if down { failed(kind.clone()) } else { page(&web, url) }, 100, None)
        };
        let whole = simulate(&polite(true), &["http://s.cn/"], 4, &[], &response);
        assert_eq!((fetched(&whole), whole.stop), (21, Stop::FrontierEmpty), "{kind:?}");
        let down = whole.to("t.cn").iter().filter(|requested| (5_000..HOUR).contains(&requested.out)).count();
        assert!((5..=12).contains(&down), "{kind:?}: {down} requests while it was down");
        // The same with crashes: the waits are restored.
        let kills: Vec<u64> = (1..30).map(|n| n * 120_000).collect();
        let killed = simulate(&polite(true), &["http://s.cn/"], 4, &kills, &response);
        assert_eq!(fetched(&killed), 21);
        let again = killed.to("t.cn").iter().filter(|requested| (5_000..HOUR).contains(&requested.out)).count();
        assert!(again <= down + 1, "{kind:?}: {again} requests with crashes, {down} without");
    }
}

#[test]
fn a_page_that_breaks_http_costs_its_host_no_more_than_its_own_tries() {
    let pages: Vec<String> = (0..20).map(|n| format!("http://t.cn/{n}")).collect();
    let web = star(&pages);
    let crawled = |bad: &[usize]| {
        let response = |url: &str, _: u64| {
            let is_bad = bad.iter().any(|n| url == format!("http://t.cn/{n}"));
            (if is_bad { failed(FailureKind::Broken) } else { page(&web, url) }, 100, None)
        };
        let run = simulate(&polite(true), &["http://s.cn/"], 4, &[], &response);
        let requested = run.to("t.cn");
        let took = requested.last().unwrap().back - requested.first().unwrap().out;
        (fetched(&run), requested.len() as u64, took)
    };
    let (all, sound, quick) = crawled(&[]);
    assert_eq!(all, 21);
    // Apart, in a row, the first and the last.
    for bad in [&[3][..], &[3, 4], &[2, 9, 16], &[0], &[19]] {
        let (pages, requests, took) = crawled(bad);
        assert_eq!(pages, 21 - bad.len(), "{bad:?}");
        let tries = requests - sound;
        assert!(tries >= 2 * bad.len() as u64, "{bad:?}: {tries} tries more");
        let is_last = bad == [19];
        // With no other page left it is unknown whose fault it is.
        assert!(
            is_last || took <= quick + tries * 1_200,
            "{bad:?}: {took} ms for {tries} tries more, without {quick} ms"
        );
    }
}

#[test]
fn other_hosts_are_crawled_while_one_is_down() {
    let pages: Vec<String> = (0..60).map(|n| format!("http://{}.cn/{n}", if n % 2 == 0 { "t" } else { "u" })).collect();
    let web = star(&pages);
    let response = |url: &str, _: u64| {
        (if url.contains("t.cn") { failed(FailureKind::Timeout) } else { page(&web, url) }, 1_000, None)
    };
    let run = simulate(&polite(true), &["http://s.cn/"], 4, &[], &response);
    assert_eq!(fetched(&run), 31);
    let last = run.to("u.cn").last().unwrap().back;
    assert!(last < 200_000, "thirty pages, a second and a pause of three for each, but {last} ms");
}

#[test]
fn a_failing_page_is_given_up_without_its_host() {
    let pages: Vec<String> = (0..6).map(|n| format!("http://t.cn/{n}")).collect();
    let web = star(&pages);
    for (kind, worst) in [(FailureKind::Timeout, 0), (FailureKind::Status(503), 5)] {
        let bad = format!("http://t.cn/{worst}");
        let response = |url: &str, _: u64| (if url == bad { failed(kind.clone()) } else { page(&web, url) }, 100, None);
        let run = simulate(&polite(false), &["http://s.cn/"], 4, &[], &response);
        assert_eq!((fetched(&run), run.stop), (6, Stop::FrontierEmpty));
        assert_eq!(run.crawl.progress().failed, 1);
        let tries = run.requested.iter().filter(|requested| requested.url == bad).count();
        assert!((3..=4).contains(&tries), "{tries}");
    }
}

#[test]
fn a_failed_page_waits_for_other_pages_of_its_host_also_after_a_restart() {
    let pages: Vec<String> = (0..4).map(|n| format!("http://t.cn/{n}")).collect();
    let web = star(&pages);
    let response = |url: &str, _: u64| {
        let bad = url == "http://t.cn/0";
        (if bad { failed(FailureKind::Status(503)) } else { page(&web, url) }, 100, None)
    };
    // Its third try, the last for now, comes back before the kill.
    let strategy = || -> Box<dyn crate::strategy::Strategy> { Box::new(BreadthFirst) };
    for (restart, kills) in [(Restart::Log, &[][..]), (Restart::Log, &[20_000]), (Restart::Pieces, &[20_000])] {
        let run = simulate_restarted(restart, &strategy, &polite(false), &["http://s.cn/"], 4, kills, &response);
        let requested: Vec<&str> = run.to("t.cn").iter().map(|requested| requested.url.as_str()).collect();
        assert_eq!(requested[..4], ["http://t.cn/0", "http://t.cn/0", "http://t.cn/0", "http://t.cn/1"], "{kills:?}");
        assert_eq!((fetched(&run), run.stop), (4, Stop::FrontierEmpty));
    }
}

#[test]
fn a_dead_host_is_given_up_and_one_that_answered_only_for_a_day() {
    let pages: Vec<String> = (0..20).map(|n| format!("http://t.cn/{n}")).collect();
    let web = star(&pages);
    for (robots, reason) in [(true, SkipReason::RobotsUnreachable), (false, SkipReason::HostFailing)] {
        let response = |url: &str, _: u64| {
            (if url.contains("t.cn") { failed(FailureKind::Dns) } else { page(&web, url) }, 100, None)
        };
        let run = simulate(&polite(robots), &["http://s.cn/"], 4, &[], &response);
        assert_eq!((run.to("t.cn").len(), run.stop), (4, Stop::FrontierEmpty));
        let refused =
            run.events().filter(|event| matches!(event, Event::UrlExcluded { reason: why, .. } if *why == reason));
        assert_eq!(refused.count(), 20);
    }
    let response = |url: &str, at: u64| {
        let dead = url.contains("t.cn") && at > 5_000;
        (if dead { failed(FailureKind::Dns) } else { page(&web, url) }, 100, None)
    };
    let run = simulate(&polite(true), &["http://s.cn/"], 4, &[], &response);
    assert_eq!(run.stop, Stop::FrontierEmpty);
    let requests = run.to("t.cn").len();
    assert!(requests < 45 && run.at > 86_400_000, "{requests} requests in {} ms", run.at);
    let refused = SkipReason::HostFailing;
    assert!(run.events().any(|event| matches!(event, Event::UrlExcluded { reason, .. } if *reason == refused)));
}

#[test]
fn a_dead_link_does_not_delay_the_end_and_the_next_run_retries_a_seed() {
    let web = star(&["http://t.cn/".to_owned(), "http://u.cn/".to_owned()]);
    use FailureKind::{Connect, Dns, NoSuchHost, Refused, Timeout};
    for (robots, kind) in [true, false]
        .into_iter()
        .flat_map(|robots| [Dns, Timeout, Connect, Refused, NoSuchHost].map(|kind| (robots, kind)))
    {
        let tries = match kind {
            NoSuchHost => 1,
            // It may be the fault of the page.
            Timeout if !robots => 3,
            _ => 4,
        };
        let mut settings = polite(robots);
        settings.politeness.patience = 60.0;
        let seeds = ["http://s.cn/", "http://t.cn/"];
        let response = |url: &str, at: u64| {
            let dead = url.contains("t.cn") && at < 1_000_000;
            (if dead { failed(kind.clone()) } else { page(&web, url) }, 100, None)
        };
        let first = simulate(&settings, &seeds, 4, &[], &response);
        assert_eq!((fetched(&first), first.stop), (2, Stop::FrontierEmpty), "robots {robots}, {kind:?}");
        assert_eq!(first.to("t.cn").len(), tries, "{kind:?}, robots {robots}: {:?}", first.to("t.cn"));
        assert!(first.at < 8_000, "{} ms, {kind:?}", first.at);
        let progress = first.crawl.progress();
        assert_eq!(progress.skipped + progress.failed, 1);
        // The next run, when the host has recovered.
        let kills = [1_000_000];
        let mut batches = first.batches;
        let mut crawl = Crawl::new(settings.clone(), Box::new(BreadthFirst));
        batches.iter().for_each(|batch| crawl.restore(batch));
        let seeds = seeds.map(|seed| CrawlUrl::parse(seed).unwrap());
        batches.push(crawl.seed(&seeds, Millis(kills[0])));
        let progress = crawl.progress();
        assert_eq!((progress.skipped, progress.failed, progress.queued), (0, 0, 1), "robots {robots}, {kind:?}");
        let mut now = Millis(kills[0]);
        loop {
            match crawl.next(now) {
                Next::Fetch(ticket) => {
                    let (outcome, ..) = response(ticket.url.as_str(), now.0);
                    crawl.settle(ticket, outcome, ResponseMeta::default(), now);
                }
                Next::Record(_) => {}
                Next::Wait(until) => now = until.unwrap(),
                Next::Done(stop) => {
                    assert_eq!(stop, Stop::FrontierEmpty);
                    break;
                }
            }
        }
        assert_eq!(crawl.progress().pages, 3);
        assert!(now.0 < kills[0] + 60_000, "it waits for nothing of the former run: {now:?}");
    }
}

#[test]
fn a_missing_host_name_is_looked_up_once_while_other_hosts_are_crawled() {
    let pages: Vec<String> = (0..40).map(|n| format!("http://s.cn/{n}")).collect();
    let links = [pages.clone(), vec!["http://t.cn/a".to_owned(), "http://t.cn/b".to_owned()]].concat();
    let web = star(&links);
    for robots in [true, false] {
        for (kind, tries) in [(FailureKind::NoSuchHost, 1), (FailureKind::Dns, 3)] {
            let response = |url: &str, _: u64| {
                (if url.contains("t.cn") { failed(kind.clone()) } else { page(&web, url) }, 100, None)
            };
            let run = simulate(&polite(robots), &["http://s.cn/"], 4, &[], &response);
            let requested = run.to("t.cn").len();
            assert!(
                if tries == 1 { requested == 1 } else { requested >= tries },
                "{requested} tries, {kind:?}, robots {robots}"
            );
            assert_eq!((fetched(&run), run.stop), (41, Stop::FrontierEmpty), "{kind:?}");
        }
    }
}

#[test]
fn the_last_pages_of_a_failing_host_are_all_reported() {
    let pages: Vec<String> = (0..3).map(|n| format!("http://t.cn/{n}")).collect();
    let web = star(&pages);
    for robots in [true, false] {
        for kind in [FailureKind::Status(500), FailureKind::Timeout, FailureKind::Broken] {
            // The first page exists, the others fail.
            let response = |url: &str, _: u64| {
                let bad = url.ends_with("t.cn/1") || url.ends_with("t.cn/2");
                (if bad { failed(kind.clone()) } else { page(&web, url) }, 100, None)
            };
            let run = simulate(&polite(robots), &["http://s.cn/"], 4, &[], &response);
            assert_eq!((fetched(&run), run.stop), (2, Stop::FrontierEmpty), "{kind:?} {robots}");
            assert_eq!((run.crawl.progress().failed, run.crawl.progress().queued), (2, 0), "{kind:?} {robots}");
        }
    }
}

#[test]
fn a_host_that_cannot_be_given_up_yet_causes_no_busy_loop() {
    // A dead host, and one whose Retry-After exceeds the patience.
    let web = star(&["http://t.cn/".to_owned(), "http://u.cn/".to_owned()]);
    let mut settings = polite(true);
    settings.politeness.patience = 60.0;
    let busy = Failure { kind: FailureKind::Status(503), retry_after: Some(80_000_000) };
    let response = |url: &str, _: u64| match url {
        _ if url.contains("t.cn") => (failed(FailureKind::Dns), 100, None),
        "http://u.cn/" => (FetchOutcome::Failed(busy.clone()), 100, None),
        _ => (page(&web, url), 100, None),
    };
    let run = simulate(&settings, &["http://s.cn/"], 4, &[], &response);
    assert_eq!((fetched(&run), run.stop), (1, Stop::OnlyUnreachable));
    assert_eq!((run.crawl.progress().queued, run.crawl.progress().skipped), (1, 1));
}

#[test]
fn retry_after_is_respected_whatever_else_the_host_has_queued() {
    let web = star(&["http://t.cn/a".to_owned()]);
    let busy = |kind, retry_after| FetchOutcome::Failed(Failure { kind, retry_after });
    for (outcome, pages) in [
        (busy(FailureKind::Status(429), None), 2),
        (busy(FailureKind::Status(503), Some(1_000)), 2),
        // A single page does not show whether it or its host is at fault.
        (busy(FailureKind::Status(503), None), 1),
    ] {
        let response = |url: &str, at: u64| {
            let down = url == "http://t.cn/a" && at < 120_000;
            (if down { outcome.clone() } else { page(&web, url) }, 100, None)
        };
        let run = simulate(&polite(true), &["http://s.cn/"], 4, &[], &response);
        assert_eq!((fetched(&run), run.stop), (pages, Stop::FrontierEmpty), "{outcome:?}");
    }
}

#[test]
fn retry_after_is_obeyed_for_pages_and_robots_and_after_a_crash() {
    let web = star(&["http://t.cn/a".to_owned()]);
    for busy in ["http://t.cn/a", "http://t.cn/robots.txt"] {
        for kill in [None, Some(60_000)] {
            let response = |url: &str, at: u64| {
                let failure = Failure { kind: FailureKind::Status(429), retry_after: Some(600_000) };
                (if url == busy && at < 60_000 { FetchOutcome::Failed(failure) } else { page(&web, url) }, 100, None)
            };
            let kills: Vec<u64> = kill.into_iter().collect();
            let run = simulate(&polite(true), &["http://s.cn/"], 4, &kills, &response);
            let times: Vec<u64> =
                run.requested.iter().filter(|requested| requested.url == busy).map(|requested| requested.out).collect();
            assert_eq!(times.len(), 2, "{busy} {kill:?}");
            assert!(times[1] - times[0] >= 600_000, "{busy} {kill:?}: {times:?}");
            assert_eq!(fetched(&run), 2);
        }
    }
}

#[test]
fn old_rules_apply_while_robots_txt_is_unreachable() {
    let pages: Vec<String> =
        (0..400).map(|n| format!("http://t.cn/{}{n}", if n % 4 == 0 { "no/" } else { "" })).collect();
    let web = star(&pages);
    let rules = || robots("User-agent: *\nDisallow: /no/");
    for kind in [FailureKind::Status(500), FailureKind::Status(503)] {
        let response = |url: &str, at: u64| {
            let outcome = match url {
                "http://t.cn/robots.txt" if at < 60_000 => rules(),
                "http://t.cn/robots.txt" => failed(kind.clone()),
                _ => page(&web, url),
            };
            (outcome, 100, None)
        };
        let mut settings = polite(true);
        settings.politeness.robots_max_age = 60.0;
        let run = simulate(&settings, &["http://s.cn/"], 4, &[], &response);
        assert_eq!((fetched(&run), run.stop), (301, Stop::FrontierEmpty));
        assert!(!run.requested.iter().any(|requested| requested.url.contains("/no/")));
        let times: Vec<u64> = run
            .requested
            .iter()
            .filter(|requested| requested.url.ends_with("t.cn/robots.txt"))
            .map(|requested| requested.out)
            .collect();
        assert!((3..9).contains(&times.len()), "{times:?}");
        assert!(times.windows(2).all(|pair| pair[1] - pair[0] >= 60_000), "{times:?}");
    }
}

#[test]
fn a_redirected_robots_txt_applies_to_its_own_origin_only() {
    let mut web = web("
        http://s.cn/ 0.9 -> http://t.cn/a 0, https://t.cn/b 0
        http://t.cn/a 0.9
        https://t.cn/b 0.9
    ");
    let to = |url: &str| FetchOutcome::Redirect { to: CrawlUrl::parse(url).unwrap(), permanent: false };
    web.insert("http://t.cn/robots.txt".into(), to("http://t.cn/of-http.txt"));
    web.insert("http://t.cn/of-http.txt".into(), robots("User-agent: *\nDisallow: /b"));
    web.insert("https://t.cn/robots.txt".into(), to("https://t.cn/of-https.txt"));
    web.insert("https://t.cn/of-https.txt".into(), robots("User-agent: *\nDisallow: /a"));
    let mut settings = polite(true);
    settings.scope.one_scheme = false;
    let run = simulate(&settings, &["http://s.cn/"], 1, &[], &|url, _| (page(&web, url), 100, None));
    let robots: Vec<&str> =
        run.to("t.cn").iter().map(|requested| requested.url.as_str()).filter(|url| url.ends_with(".txt")).collect();
    assert_eq!(robots.len(), 4, "{robots:?}");
    assert_eq!(fetched(&run), 3);
}

#[test]
fn a_slow_host_is_requested_less_often_and_a_fast_one_at_the_configured_delay() {
    let pages: Vec<String> =
        (0..10).flat_map(|n| [format!("http://slow.cn/{n}"), format!("http://quick.cn/{n}")]).collect();
    let web = star(&pages);
    let response = |url: &str, _: u64| (page(&web, url), if url.contains("slow") { 4_000 } else { 50 }, None);
    let gaps = |politeness: Politeness, host: &str| -> Vec<u64> {
        let settings = CrawlSettings { politeness, ..crawl_settings() };
        let run = simulate(&settings, &["http://s.cn/"], 4, &[], &response);
        run.to(host).windows(2).map(|pair| pair[1].out - pair[0].back).collect()
    };
    let own = || polite(false).politeness;
    assert!(gaps(own(), "slow.cn").iter().all(|gap| *gap == 12_000));
    assert!(gaps(own(), "quick.cn").iter().all(|gap| (1_000..1_250).contains(gap)));
    let bounded = Politeness { max_delay: 5.0, ..own() };
    assert!(gaps(bounded, "slow.cn").iter().all(|gap| *gap == 5_000));
    let at_once = Politeness { delay: 0.0, ..own() };
    assert!(gaps(at_once, "slow.cn").iter().all(|gap| *gap == 0));
}

#[test]
fn the_best_of_the_hosts_throttled_by_their_domain_is_first() {
    // Nine pages, each better than the one before, each with a link to a host of its own under t.cn.
    let links: Vec<String> = (0..9).map(|n| format!("http://p{n}.cn/ 0")).collect();
    let pages: String =
        (0..9).map(|n| format!("http://p{n}.cn/ 0.{n} -> http://h{n}.t.cn/ 0\nhttp://h{n}.t.cn/ 0\n")).collect();
    let web = web(&format!("http://s.cn/ 1 -> {}\n{pages}", links.join(", ")));
    let mut settings = polite(false);
    settings.politeness.per_domain = 1;
    let (crawl, seed) = seeded(settings, BestFirst { focus: Focus::Soft }, &["http://s.cn/"]);
    let run = drive(crawl, seed, &web, 4);
    let order: Vec<&str> = run.fetched.iter().filter(|url| url.starts_with('h')).map(|url| &url[..2]).collect();
    assert_eq!(order.len(), 9);
    // The first host gets a request before all are known.
    assert!(order[1..].is_sorted_by(|one, next| one > next), "{order:?}");
}

/// Checks that two requests of a group are far enough apart, and that not too many run concurrently.
fn spaced(requested: &[&SentRequest], most: usize, apart: u64) -> Result<(), TestCaseError> {
    for (at, one) in requested.iter().enumerate() {
        let under_way = requested[..at].iter().filter(|other| other.back > one.out).count();
        prop_assert!(under_way < most, "{under_way} under way at {one:?}");
        for other in &requested[..at] {
            prop_assert!(one.out >= other.out + apart, "{one:?} after {other:?}");
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]
    #[test]
    fn no_host_is_requested_more_often_than_allowed(
        seed in 0u64..1_000_000,
        hosts in 1usize..9,
        domains in 1usize..4,
        addresses in 1usize..4,
        in_flight in 1usize..12,
        per_domain in 1u32..4,
        per_address in 1u32..4,
        kills in proptest::collection::vec(0u64..60_000, 0..4),
        robots: bool,
        which in 0usize..3,
    ) {
        let strategy = || -> Box<dyn crate::strategy::Strategy> {
            match which {
                0 => Box::new(BreadthFirst),
                1 => Box::new(Dth { variant: DthVariant::Preempt, kdepth: 9, ..Dth::default() }),
                _ => Box::new(UrlWeight::default()),
            }
        };
        let mut politeness = Politeness { robots, per_domain, per_address, patience: 1e6, ..Politeness::default() };
        (politeness.delay, politeness.domain_delay, politeness.address_delay) = (0.7, 0.3, 0.4);
        let name = |n: usize| format!("http://h{n}.d{}.cn", n % domains);
        let pages: Vec<String> = (0..hosts * 6).map(|n| format!("{}/{n}", name(n % hosts))).collect();
        let web = star(&pages);
        // The latency and failure of a request depend on its time and the seed.
        let response = |url: &str, at: u64| {
            let chance = url.bytes().fold(seed ^ at, |sum, byte| sum.wrapping_mul(0x100_0000_01b3) ^ u64::from(byte)) >> 7;
            let host = url.split('/').nth(2).unwrap();
            let number = host.bytes().filter(u8::is_ascii_digit).map(usize::from).next().unwrap_or(0);
            let address = IpAddr::from([9, 9, 9, u8::try_from(number % addresses).unwrap()]);
            let outcome = match chance % 10 {
                // As the only page of its host, it would be given up after its retries, and the rest never found.
                _ if host == "s.cn" => page(&web, url),
                0 => failed(FailureKind::Status(503)),
                1 => failed(FailureKind::Timeout),
                _ => page(&web, url),
            };
            (outcome, 10 + chance % 900, Some(address))
        };
        let settings = CrawlSettings { politeness, ..crawl_settings() };
        let run = simulate_with(&strategy, &settings, &["http://s.cn/"], in_flight, &kills, &response);
        prop_assert_eq!(run.stop, Stop::FrontierEmpty);
        let progress = run.crawl.progress();
        // Refused: a host whose first requests all failed is given up.
        let given_up = usize::try_from(progress.failed + progress.skipped).unwrap();
        prop_assert_eq!(fetched(&run) + given_up, pages.len() + 1, "every page was fetched or given up");

        let all: Vec<&SentRequest> = run.requested.iter().collect();
        let mut groups: BTreeMap<String, Vec<&SentRequest>> = BTreeMap::new();
        for requested in &all {
            let host = requested.host();
            groups.entry(format!("host {host}")).or_default().push(requested);
            let domain = host.split_once('.').map_or(host, |(_, rest)| if rest == "cn" { host } else { rest });
            groups.entry(format!("domain {domain}")).or_default().push(requested);
            if requested.known {
                let number = host.bytes().filter(u8::is_ascii_digit).map(usize::from).next().unwrap_or(0);
                groups.entry(format!("address {}", number % addresses)).or_default().push(requested);
            }
        }
        for (name, group) in groups {
            if name.starts_with("host") {
                for pair in group.windows(2) {
                    prop_assert!(pair[1].out >= pair[0].back + 700, "{:?}", pair);
                }
            } else if name.starts_with("domain") {
                spaced(&group, per_domain as usize, 300)?;
            } else {
                spaced(&group, per_address as usize, 400)?;
            }
        }
    }
}
