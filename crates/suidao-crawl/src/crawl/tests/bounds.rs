//! Limits that hold for any responses of the web: requests, consecutive soft 404s, ports, and the scheme of a seed.

use super::*;
use crate::crawl::watch::Watch;
use crate::revisit::settings::RefreshSettings;
use suidao_forum::forum::schedule::ScheduleMethod;

fn drive_from(settings: CrawlSettings, seeds: &[&str], web: &BTreeMap<String, FetchOutcome>, in_flight: usize) -> Run {
    let (crawl, batch) = seeded(settings, BreadthFirst, seeds);
    drive(crawl, batch, web, in_flight)
}

fn connect() -> FetchOutcome {
    FetchOutcome::Failed(Failure { kind: FailureKind::Connect, retry_after: None })
}

fn at_once() -> CrawlSettings {
    let politeness = Politeness { delay: 0.0, backoff: 0.0, robots_retry: 0.0, robots: false, ..Politeness::default() };
    CrawlSettings { politeness, ..crawl_settings() }
}

#[test]
fn an_https_seed_is_not_crawled_over_http_because_its_port_refuses() {
    let mut web = web("
        http://t.cn/ 0.9 -> https://t.cn/b 0
        http://t.cn/b 0.9
        http://s.cn/ 0.9 -> http://t.cn/a 0, https://u.cn/ 0
        http://t.cn/a 0.9
        http://u.cn/ 0.9
    ");
    for refused in ["https://t.cn/", "https://t.cn/a", "https://t.cn/b", "https://u.cn/"] {
        web.insert(refused.into(), connect());
    }
    let requested = |settings: CrawlSettings, seeds: &[&str]| {
        let run = drive_from(settings, seeds, &web, 1);
        // The restriction to https is in the log, so a restored machine has it too.
        let mut again = Crawl::new(at_once(), Box::new(BreadthFirst));
        run.batches.iter().for_each(|batch| again.restore(batch));
        let id = again.state.hosts.id_of(&CrawlUrl::parse("http://t.cn/").unwrap()).unwrap();
        assert_eq!(again.state.hosts.get(id).https, run.crawl.state.hosts.get(id).https);
        run.fetched
    };
    // Neither the seed nor a link to its host is downgraded, whichever comes first.
    for seeds in [&["https://t.cn/"][..], &["http://s.cn/", "https://t.cn/"]] {
        let fetched = requested(at_once(), seeds);
        assert!(fetched.iter().all(|url| !url.starts_with("t.cn")), "{fetched:?}");
        assert!(fetched.iter().any(|url| url == "https://t.cn/"), "{fetched:?}");
        // A link is not a seed: old https links are followed under http if the host answers only that.
        assert_eq!(fetched.contains(&"u.cn/".to_owned()), seeds.len() > 1, "{fetched:?}");
    }
    // If seeds name both schemes, or the host redirects under https, both are allowed.
    let named = requested(at_once(), &["https://t.cn/", "http://t.cn/a"]);
    assert!(named.contains(&"t.cn/".to_owned()) && named.contains(&"t.cn/a".to_owned()), "{named:?}");
    let mut free = at_once();
    free.scope.downgrade_seeds = true;
    assert!(requested(free, &["https://t.cn/"]).contains(&"t.cn/b".to_owned()));
}

#[test]
fn a_seed_given_later_as_https_stays_https_and_a_redirect_to_http_under_https_is_followed() {
    let web = web("
        http://s.cn/ 0.9 -> http://t.cn/a 0
        http://t.cn/a 0.9
        https://t.cn/b 0.9
        https://u.cn/ => http://u.cn/
        http://u.cn/ 0.9 -> http://u.cn/c 0
        http://u.cn/c 0.9
    ");
    let (crawl, batch) = seeded(at_once(), BreadthFirst, &["http://s.cn/"]);
    let mut run = drive(crawl, batch, &web, 1);
    let seeds = ["http://s.cn/", "https://t.cn/b", "https://u.cn/"].map(|seed| CrawlUrl::parse(seed).unwrap());
    let batch = run.crawl.seed(&seeds, run.at);
    let run = drive(run.crawl, batch, &web, 1);
    assert_eq!(run.fetched, ["https://t.cn/b", "https://u.cn/", "u.cn/", "u.cn/c"]);
    // Every run passes its seeds again: what was learnt since remains.
    let mut crawl = run.crawl;
    assert_eq!(crawl.seed(&seeds, run.at).events, []);
}

#[test]
fn ports_of_other_services_are_refused_whatever_their_source() {
    let web = web("
        http://s.cn/ 0.9 -> http://s.cn:25/ 0, http://s.cn/r 0, http://s.cn:8080/ 0
        http://s.cn/r => https://s.cn:6379/
        http://s.cn:8080/ 0.9
    ");
    let run = drive_from(at_once(), &["http://s.cn/", "http://t.cn:22/"], &web, 1);
    assert_eq!(run.fetched, ["s.cn/", "s.cn/r", "s.cn:8080/"]);
    assert_eq!(run.crawl.skipped_by_reason()[&SkipReason::Port], 3);
    let mut open = at_once();
    open.scope.allow_ports = vec![22, 25];
    let run = drive_from(open.clone(), &["http://s.cn/", "http://t.cn:22/"], &web, 1);
    assert!(run.fetched.contains(&"s.cn:25/".to_owned()) && run.fetched.contains(&"t.cn:22/".to_owned()));
    // URLs queued while a port was allowed are not requested once it is not.
    let (_, batch) = seeded(open, BreadthFirst, &["http://t.cn:22/"]);
    let mut closed = Crawl::new(at_once(), Box::new(BreadthFirst));
    closed.restore(&batch);
    assert!(matches!(closed.next(Millis(0)), Next::Record(_)));
    assert!(matches!(closed.next(Millis(0)), Next::Done(Stop::FrontierEmpty)));
    assert_eq!(closed.skipped_by_reason()[&SkipReason::Port], 1);
}

/// A page with links to 600 missing pages and one that exists.
fn dead_ends(status: &str) -> BTreeMap<String, FetchOutcome> {
    let links: Vec<String> = (0..600).map(|n| format!("http://s.cn/{n} 0")).collect();
    let dead: String = (0..600).map(|n| format!("http://s.cn/{n} {status}!\n")).collect();
    web(&format!("http://s.cn/ 0.9 -> {}\n{dead}", links.join(", ")))
}

#[test]
fn all_requests_are_counted_and_never_exceed_the_limit() {
    let web = dead_ends("404");
    let limited = |limits: CrawlLimits| CrawlSettings { limits, ..at_once() };
    for (limits, most) in [
        (CrawlLimits { requests: Some(70), ..CrawlLimits::default() }, Some(70)),
        (CrawlLimits { requests: Some(70), pages: Some(5), ..CrawlLimits::default() }, Some(70)),
        (CrawlLimits::default(), None),
    ] {
        for in_flight in [1, 7] {
            let run = drive_from(limited(limits.clone()), &["http://s.cn/"], &web, in_flight);
            let stop = if most.is_some() { Stop::RequestLimit } else { Stop::FrontierEmpty };
            assert_eq!((run.fetched.len(), run.stop), (most.unwrap_or(601), stop));
            assert_eq!(run.crawl.progress().requests, run.fetched.len() as u64);
            // After a restart the same number of requests is left.
            let mut again = Crawl::new(limited(limits.clone()), Box::new(BreadthFirst));
            run.batches.iter().for_each(|batch| again.restore(batch));
            assert_eq!(again.progress(), run.crawl.progress());
            assert!(matches!(again.next(run.at), Next::Done(next) if next == stop));
        }
    }
    // Failures held against a host count only towards a configured limit: retries and waits bound them.
    let down = dead_ends("500");
    let of = |limits: CrawlLimits| drive_from(limited(limits), &["http://s.cn/"], &down, 1);
    let run = of(CrawlLimits { pages: Some(5), host_failures: 10_000, ..CrawlLimits::default() });
    assert_eq!((run.fetched.len(), run.stop), (1 + 3 * 600, Stop::FrontierEmpty));
    let run = of(CrawlLimits { requests: Some(70), host_failures: 10_000, ..CrawlLimits::default() });
    assert_eq!((run.fetched.len(), run.stop), (70, Stop::RequestLimit));
    // A page limit of this run allows as many requests as one of the crawl, but not if boards are watched.
    let links: Vec<String> = (0..1_200).map(|n| format!("http://s.cn/{n} 0")).collect();
    let dead: String = (0..1_200).map(|n| format!("http://s.cn/{n} 404!\n")).collect();
    let more = self::web(&format!("http://s.cn/ 0.9 -> {}\n{dead}", links.join(", ")));
    for (watch, requests) in [(None, 1_050), (Some(Watch { per_day: None, method: ScheduleMethod::Sqrt }), 1_201)] {
        let mut crawl = Crawl::new(CrawlSettings { watch, ..at_once() }, Box::new(BreadthFirst));
        crawl.allow(5);
        let first = crawl.seed(&[CrawlUrl::parse("http://s.cn/").unwrap()], Millis(0));
        assert_eq!(drive(crawl, first, &more, 1).fetched.len(), requests);
    }
    // A host that could not be connected got no request.
    let down: BTreeMap<String, FetchOutcome> = [("http://s.cn/".to_owned(), connect())].into();
    let run = drive_from(at_once(), &["http://s.cn/"], &down, 1);
    assert_eq!((run.fetched.len(), run.crawl.progress().requests), (3, 0));
}

#[test]
fn an_unchanged_page_ends_a_series_of_soft_404s() {
    let web = web("http://s.cn/ 0.9 -> http://s.cn/a 0, http://s.cn/b 0");
    let mut run = drive_from(at_once(), &["http://s.cn/"], &web, 1);
    let id = |path: &str| run.crawl.state.urls.find(&CrawlUrl::parse(&format!("http://s.cn/{path}")).unwrap()).unwrap();
    let (page, gone) = (id(""), id("a"));
    let missing = |crawl: &Crawl| crawl.state.hosts.get(crawl.state.urls.get(page).host()).missing;
    let failure = Failure { kind: FailureKind::NoSuchPage, retry_after: None };
    let events = vec![Event::FetchFailed { id: gone, failure }];
    run.crawl.restore(&Batch { at: run.at, latency: None, events });
    assert_eq!(missing(&run.crawl), 1);
    let events = vec![Event::Unchanged { id: page, status: 304, since: Millis(0), validators: None }];
    run.crawl.restore(&Batch { at: run.at, latency: None, events });
    assert_eq!(missing(&run.crawl), 0);
}

#[test]
fn pages_set_a_limit_of_requests_where_none_is_given() {
    let most =
        |pages, requests, requested| CrawlLimits { pages, requests, ..CrawlLimits::default() }.most_requests(requested);
    assert_eq!(most(Some(40), None, Some(40)), Some(1_400));
    assert_eq!(most(Some(40), Some(9), Some(40)), Some(9));
    assert_eq!(most(None, None, None), None);
    assert_eq!(most(None, None, Some(u64::MAX)), Some(u64::MAX));
}

#[test]
fn a_request_for_a_page_that_cannot_exist_counts_against_a_round() {
    let budget = Budget::Round { requests: Some(9), seconds: None };
    let refresh = Some(Refresh { settings: RefreshSettings::default(), budget });
    let mut crawl = Crawl::new(CrawlSettings { refresh, ..at_once() }, Box::new(BreadthFirst));
    crawl.seed(&[CrawlUrl::parse("http://s.cn/").unwrap()], Millis(0));
    crawl.begin_refresh(Millis(0)).expect("no round is active");
    let mut counts = Vec::new();
    let host = HostId(0);
    let down = Failure { kind: FailureKind::Timeout, retry_after: None };
    let overloaded = Failure { kind: FailureKind::Status(404), retry_after: None };
    for step in [
        TrapStep::Soft404Probe { host, response: None, pages: Vec::new() },
        TrapStep::Unanswered { host, failure: overloaded },
        TrapStep::Unanswered { host, failure: down },
        TrapStep::Session { host, name: "sid".to_owned() },
    ] {
        crawl.restore(&Batch { at: Millis(1), latency: None, events: vec![Event::Trap(Box::new(step))] });
        let round = crawl.state.refreshing.as_ref().unwrap().round.unwrap();
        counts.push((round.spent.all, round.unanswered));
    }
    assert_eq!(counts, [(1, 0), (2, 0), (2, 1), (2, 1)]);
}
