//! The machine over webs of a few lines, without parser and topic: a page has a relevance and links.

#[cfg(test)]
mod bounds;
#[cfg(test)]
mod partitions;
#[cfg(test)]
mod politeness;
#[cfg(test)]
mod restore;
#[cfg(test)]
mod rounds;
#[cfg(test)]
mod spend;

use std::collections::BTreeMap;

use xxhash_rust::xxh3::xxh3_64;

use super::*;
use crate::strategy::scope::CrawlScope;
use crate::strategy::{
    BestFirst, BreadthFirst, Dth, DthVariant, Focus, Strategy, StrategyName, StrategySettings, UrlWeight,
};
use suidao_page::model::*;

/// Parses a web, one page per line: `URL RELEVANCE -> URL RELEVANCE, URL RELEVANCE` (relevance of page and links), `URL
/// => URL` for a redirect, or `URL STATUS!` for a failure.
fn web(text: &str) -> BTreeMap<String, FetchOutcome> {
    let url = |text: &str| CrawlUrl::parse(text).unwrap();
    let line = |line: &str| {
        if let Some((from, to)) = line.split_once(" => ") {
            return (url(from).to_string(), FetchOutcome::Redirect { to: url(to), permanent: true });
        }
        let (head, links) = line.split_once(" -> ").unwrap_or((line, ""));
        let (from, what) = head.trim().rsplit_once(' ').unwrap();
        if let Some(status) = what.strip_suffix('!') {
            let kind = FailureKind::Status(status.parse().unwrap());
            return (url(from).to_string(), FetchOutcome::Failed(Failure { kind, retry_after: None }));
        }
        let outlink = |link: &str| {
            let (to, relevance) = link.trim().rsplit_once(' ').unwrap();
            let relevance = Relevance::new(relevance.parse().unwrap());
            Outlink {
                url: url(to),
                anchor: String::new(),
                scores: LinkScores::default(),
                relevance,
                region: Region::Content,
                dom_path: 0,
                nofollow: false,
            }
        };
        let page = Page {
            title: from.to_owned(),
            relevance: Relevance::new(what.parse().unwrap()),
            bytes: 1_000,
            outlinks: links.split(',').filter(|link| !link.trim().is_empty()).map(outlink).collect(),
            // All texts differ.
            sketch: Sketch {
                chars: 100,
                stub: false,
                digest: xxh3_64(from.as_bytes()),
                simhash: xxh3_64(from.as_bytes()),
            },
            ..Page::default()
        };
        (
            url(from).to_string(),
            FetchOutcome::Page { status: 200, page: Box::new(page), page_view: None, validators: None },
        )
    };
    text.lines().map(str::trim).filter(|text| !text.is_empty()).map(line).collect()
}

fn crawl_settings() -> CrawlSettings {
    CrawlSettings {
        politeness: Politeness { delay: 0.0, robots: false, ..Politeness::default() },
        // These pages have no text, which would end the series of their URLs.
        traps: crate::trap::Traps { series: 0, ..crate::trap::Traps::default() },
        agent: "suidao".into(),
        seed: 1,
        page_threshold: Relevance::new(0.5),
        link_threshold: Relevance::new(0.15),
        forums: ForumMode::Off,
        ..CrawlSettings::default()
    }
}

/// Fetched URLs in order, the batches, the stop reason, the time at the end.
struct Run {
    fetched: Vec<String>,
    batches: Vec<Batch>,
    stop: Stop,
    at: Millis,
    crawl: Crawl,
}

fn seeded(settings: CrawlSettings, strategy: impl Strategy + 'static, seeds: &[&str]) -> (Crawl, Batch) {
    let mut crawl = Crawl::new(settings, Box::new(strategy));
    let seeds: Vec<CrawlUrl> = seeds.iter().map(|seed| CrawlUrl::parse(seed).unwrap()).collect();
    let batch = crawl.seed(&seeds, Millis(0));
    (crawl, batch)
}

/// Runs the crawl with up to `in_flight` tickets, settled oldest first; a request takes 10 ms.
fn drive(mut crawl: Crawl, first: Batch, web: &BTreeMap<String, FetchOutcome>, in_flight: usize) -> Run {
    let mut fetched = Vec::new();
    let mut batches = vec![first];
    let mut at = Millis(0);
    let mut out = std::collections::VecDeque::new();
    loop {
        if out.len() < in_flight {
            match crawl.next(at) {
                Next::Fetch(ticket) => {
                    fetched.push(ticket.url.as_str().trim_start_matches("http://").to_owned());
                    out.push_back(ticket);
                    continue;
                }
                Next::Wait(Some(until)) if out.is_empty() => {
                    at = until;
                    continue;
                }
                Next::Wait(_) => {}
                Next::Record(batch) => {
                    batches.push(batch);
                    continue;
                }
                Next::Done(stop) => {
                    return Run { fetched, batches, stop, at, crawl };
                }
            }
        }
        let ticket: Ticket = out.pop_front().expect("a machine that waits for nothing has something in flight");
        at = at.after(10);
        let missing = FetchOutcome::Failed(Failure { kind: FailureKind::Status(404), retry_after: None });
        let outcome = web.get(ticket.url.as_str()).cloned().unwrap_or(missing);
        batches.push(crawl.settle(ticket, outcome, ResponseMeta::default(), at));
    }
}

fn run(settings: CrawlSettings, strategy: impl Strategy + 'static, text: &str) -> Run {
    let (crawl, batch) = seeded(settings, strategy, &["http://s.cn/"]);
    drive(crawl, batch, &web(text), 1)
}

/// Two islands with three off-topic pages between them; the link at the entrance has no topic terms, those inside do.
const ISLANDS: &str = "
    http://s.cn/ 0.9 -> http://s.cn/a 0.3, http://s.cn/off 0
    http://s.cn/a 0.8 -> http://s.cn/ 0.3
    http://s.cn/off 0.1 -> http://t.cn/1 0.2, http://t.cn/x 0
    http://t.cn/1 0 -> http://t.cn/2 0.4
    http://t.cn/2 0 -> http://i.cn/ 0.6
    http://t.cn/x 0 -> http://t.cn/y 0
    http://t.cn/y 0
    http://i.cn/ 0.7 -> http://i.cn/b 0.1
    http://i.cn/b 0.9
";

#[test]
fn dth_follows_promising_links_and_breadth_first_all_in_order() {
    let dug = run(crawl_settings(), Dth::default(), ISLANDS);
    let order = ["s.cn/", "s.cn/a", "s.cn/off", "t.cn/1", "t.cn/2", "i.cn/", "i.cn/b", "t.cn/x", "t.cn/y"];
    assert_eq!(dug.fetched, order);
    assert_eq!(dug.stop, Stop::FrontierEmpty);
    let flat = run(crawl_settings(), BreadthFirst, ISLANDS);
    let order = ["s.cn/", "s.cn/a", "s.cn/off", "t.cn/1", "t.cn/x", "t.cn/2", "t.cn/y", "i.cn/", "i.cn/b"];
    assert_eq!(flat.fetched, order);
}

#[test]
fn hard_focus_never_sees_the_second_island() {
    let run = run(crawl_settings(), BestFirst { focus: Focus::Hard }, ISLANDS);
    assert_eq!(run.fetched, ["s.cn/", "s.cn/a", "s.cn/off"]);
    assert_eq!(run.crawl.progress().skipped, 2);
}

#[test]
fn the_tunnel_ends_when_k_is_used_up() {
    let text = "
        http://s.cn/ 0 -> http://s.cn/1 0
        http://s.cn/1 0 -> http://s.cn/2 0, http://s.cn/3 0.5
        http://s.cn/2 0 -> http://s.cn/4 0
        http://s.cn/3 0 -> http://s.cn/5 0
        http://s.cn/5 0 -> http://s.cn/6 0
    ";
    let run = run(crawl_settings(), Dth { kdepth: 2, ..Dth::default() }, text);
    // k: /1 gets 1; of its links /3 keeps 1 and /2 gets 0; /5 gets 0, so /6 and /4 are dropped.
    assert_eq!(run.fetched, ["s.cn/", "s.cn/1", "s.cn/3", "s.cn/2", "s.cn/5"]);
    let dropped = run.batches.iter().flat_map(|batch| &batch.events).filter_map(|event| match event {
        Event::PageFetched(page) => {
            Some(page.links.iter().filter(|link| link.decision == LinkDecision::Drop(SkipReason::TunnelEnd)))
        }
        _ => None,
    });
    assert_eq!(dropped.flatten().count(), 2);
}

#[test]
fn a_page_at_the_end_of_a_tunnel_is_expanded_when_a_longer_one_reaches_it() {
    let text = "
        http://s.cn/ 0 -> http://s.cn/end 0.1, http://s.cn/good 0
        http://s.cn/end 0 -> http://s.cn/treasure 0
        http://s.cn/good 0.9 -> http://s.cn/end 0
        http://s.cn/treasure 0.9
    ";
    let run = run(crawl_settings(), Dth { kdepth: 1, ..Dth::default() }, text);
    assert_eq!(run.fetched, ["s.cn/", "s.cn/end", "s.cn/good", "s.cn/treasure"]);
}

#[test]
fn hops_and_depth_are_capped_however_promising_the_links() {
    let trap: String = (0..99).map(|n| format!("http://s.cn/{n} 0 -> http://s.cn/{} 0.9\n", n + 1)).collect();
    let text = format!("http://s.cn/ 0 -> http://s.cn/0 0.9\n{trap}");
    let short = CrawlSettings { limits: CrawlLimits { hops: Some(48), ..CrawlLimits::default() }, ..crawl_settings() };
    assert_eq!(run(short, Dth::default(), &text).fetched.len(), 49);
    let shallow =
        CrawlSettings { limits: CrawlLimits { depth: Some(3), ..CrawlLimits::default() }, ..crawl_settings() };
    assert_eq!(run(shallow, Dth::default(), &text).fetched.len(), 4);
}

#[test]
fn a_random_turn_takes_any_queued_url() {
    // Every second URL is random: over many seeds, the light URL of one host comes before most of the heavy ones.
    let heavy: String = (0..9).map(|n| format!("http://h{n}.cn/ 0\n")).collect();
    let links: Vec<String> = (0..9).map(|n| format!("http://h{n}.cn/ 0")).collect();
    let text = format!(
        "http://s.cn/ 0 -> http://z.cn/a/b/c/d/e/f/g/h 0, {}\n{heavy}http://z.cn/a/b/c/d/e/f/g/h 0\n",
        links.join(", ")
    );
    let place = |seed| {
        let strategy = crate::strategy::UrlWeight { by_weight: 1, at_random: 1 };
        let run = run(CrawlSettings { seed, ..crawl_settings() }, strategy, &text);
        run.fetched.iter().position(|url| url.starts_with("z.cn")).unwrap()
    };
    let places: Vec<usize> = (0..40).map(place).collect();
    assert!(places.iter().filter(|&&place| place < 6).count() > 5, "{places:?}");
    assert!(places.contains(&10), "{places:?}");
}

#[test]
fn a_limit_of_n_pages_gives_n_pages_whatever_is_in_flight() {
    let pages: String = (0..50).map(|n| format!("http://h{n}.cn/ 0.9\n")).collect();
    let links: Vec<String> = (0..70).map(|n| format!("http://h{n}.cn/ 0")).collect();
    let web = web(&format!("http://s.cn/ 0.9 -> {}\n{pages}", links.join(", ")));
    for in_flight in [1, 7, 64] {
        let limits = CrawlLimits { pages: Some(20), ..CrawlLimits::default() };
        let (crawl, batch) = seeded(CrawlSettings { limits, ..crawl_settings() }, BreadthFirst, &["http://s.cn/"]);
        let run = drive(crawl, batch, &web, in_flight);
        assert_eq!((run.crawl.progress().pages, run.stop), (20, Stop::PageLimit), "{in_flight} in flight");
    }
}

#[test]
fn failures_do_not_count_as_pages_and_hosts_have_budgets() {
    let text = "
        http://s.cn/ 0.9 -> http://s.cn/404 0, http://s.cn/a 0, http://s.cn/b 0, http://t.cn/ 0
        http://s.cn/a 0
        http://s.cn/b 0
        http://t.cn/ 0
    ";
    let limits = CrawlLimits { pages_per_host: Some(2), ..CrawlLimits::default() };
    let run = run(CrawlSettings { limits, ..crawl_settings() }, BreadthFirst, text);
    assert_eq!(run.fetched, ["s.cn/", "s.cn/404", "s.cn/a", "t.cn/"]);
    let refused = Event::UrlExcluded { id: UrlId(3), reason: SkipReason::HostBudget };
    assert!(run.batches.iter().any(|batch| batch.events.contains(&refused)));
}

#[test]
fn one_request_a_host_and_the_delay_between_them() {
    let text = "
        http://s.cn/ 0.9 -> http://s.cn/a 0, http://s.cn/b 0, http://t.cn/ 0
        http://s.cn/a 0
        http://s.cn/b 0
        http://t.cn/ 0
    ";
    let politeness = Politeness { delay: 2.0, robots: false, ..Politeness::default() };
    let (crawl, batch) = seeded(CrawlSettings { politeness, ..crawl_settings() }, BreadthFirst, &["http://s.cn/"]);
    let run = drive(crawl, batch, &web(text), 8);
    assert_eq!(run.fetched, ["s.cn/", "t.cn/", "s.cn/a", "s.cn/b"]);
    assert_eq!(run.at, Millis(10 + 2000 + 10 + 2000 + 10));
}

#[test]
fn transient_failures_are_retried_and_then_given_up() {
    let text = "
        http://s.cn/ 0.9 -> http://s.cn/a 0
        http://s.cn/a 503!
    ";
    let run = run(crawl_settings(), BreadthFirst, text);
    assert_eq!(run.fetched, ["s.cn/", "s.cn/a", "s.cn/a", "s.cn/a"]);
    assert_eq!(run.crawl.progress().failed, 1);
    // Backoff of 5 s and 10 s.
    assert_eq!(run.at, Millis(10 + 10 + 5_000 + 10 + 10_000 + 10));
}

#[test]
fn redirects_are_tickets_of_their_own_and_pass_k_through() {
    let text = "
        http://s.cn/ 0 -> http://s.cn/a 0
        http://s.cn/a => http://t.cn/b
        http://t.cn/b 0 -> http://t.cn/c 0
        http://t.cn/c 0
    ";
    let run = run(crawl_settings(), Dth::default(), text);
    assert_eq!(run.fetched, ["s.cn/", "s.cn/a", "t.cn/b", "t.cn/c"]);
    let entries: Vec<(u16, TunnelBudget)> = run
        .batches
        .iter()
        .flat_map(|batch| &batch.events)
        .filter_map(|event| match event {
            Event::PageFetched(page) => Some((page.queued_as.path.depth, page.queued_as.path.k)),
            _ => None,
        })
        .collect();
    assert_eq!(entries, [(0, TunnelBudget::Unbounded), (1, TunnelBudget::Left(11)), (2, TunnelBudget::Left(10))]);
}

#[test]
fn redirect_loops_and_redirects_out_of_scope_end() {
    let text = "
        http://s.cn/ 0 -> http://s.cn/0 0, http://s.cn/out 0
        http://s.cn/out => http://evil.cn/
    ";
    let chain: String = (0..20).map(|n| format!("http://s.cn/{n} => http://s.cn/{}\n", n + 1)).collect();
    let scope = CrawlScope { deny_hosts: vec!["evil.cn".into()], ..CrawlScope::default() };
    let run = run(CrawlSettings { scope, ..crawl_settings() }, BreadthFirst, &format!("{text}{chain}"));
    assert_eq!(run.fetched, ["s.cn/", "s.cn/0", "s.cn/1", "s.cn/2", "s.cn/3", "s.cn/4", "s.cn/5", "s.cn/out"]);
}

#[test]
fn a_redirect_loop_is_a_failure_and_a_redirect_to_a_fetched_page_is_not() {
    let text = "
        http://s.cn/ 0 -> http://s.cn/wall 0, http://s.cn/1 0, http://s.cn/5 0, http://s.cn/6 0
        http://s.cn/wall => http://s.cn/wall?PHPSESSID=0123456789abcdef
        http://s.cn/1 => http://s.cn/2
        http://s.cn/2 => http://s.cn/3
        http://s.cn/3 => http://s.cn/1
        http://s.cn/5 => http://s.cn/
        http://s.cn/6 => http://s.cn/5
    ";
    let run = run(crawl_settings(), BreadthFirst, text);
    let urls = ["wall", "3"].map(|path| CrawlUrl::parse(&format!("http://s.cn/{path}")).unwrap());
    let events = run.batches.iter().flat_map(|batch| &batch.events);
    let failed: Vec<CrawlUrl> = events
        .filter_map(|event| match event {
            Event::FetchFailed { id, failure } if failure.kind == FailureKind::RedirectLoop => Some(run.crawl.url(*id)),
            _ => None,
        })
        .collect();
    assert_eq!((failed.as_slice(), run.crawl.progress().failed), (&urls[..], 2));
    assert_eq!(run.fetched.len(), 7, "each once: {:?}", run.fetched);
}

fn robots(text: &str) -> FetchOutcome {
    FetchOutcome::Robots(RobotsRules::Rules(text.as_bytes().to_vec()))
}

#[test]
fn robots_txt_is_fetched_first_and_obeyed() {
    let mut web = web("
        http://s.cn/ 0.9 -> http://s.cn/private/x 0, http://s.cn/open 0, http://t.cn/ 0
        http://s.cn/open 0
        http://t.cn/ 0
    ");
    web.insert(
        "http://s.cn/robots.txt".into(),
        robots("User-agent: *\nDisallow: /private\nCrawl-delay: 3\nSitemap: http://x.cn/1.xml\nsitemap:/2"),
    );
    web.insert(
        "http://t.cn/robots.txt".into(),
        FetchOutcome::Redirect { to: CrawlUrl::parse("http://u.cn/r").unwrap(), permanent: false },
    );
    web.insert("http://u.cn/r".into(), robots("User-agent: suidao\nDisallow: /"));
    let politeness = Politeness { delay: 0.0, ..Politeness::default() };
    let (crawl, batch) = seeded(CrawlSettings { politeness, ..crawl_settings() }, BreadthFirst, &["http://s.cn/"]);
    let run = drive(crawl, batch, &web, 1);
    let order = ["s.cn/robots.txt", "s.cn/", "t.cn/robots.txt", "u.cn/r", "s.cn/open"];
    assert_eq!(run.fetched, order);
    assert!(run.at.0 > 6_000, "two waits of 3 s, but it is {:?}", run.at);
    let refused = run.batches.iter().flat_map(|batch| &batch.events);
    assert_eq!(
        refused.filter(|event| matches!(event, Event::UrlExcluded { reason: SkipReason::Robots, .. })).count(),
        2
    );
    let maps = |url| -> Vec<CrawlUrl> {
        let host = run.crawl.state.hosts.of(&CrawlUrl::parse(url).unwrap());
        host.into_iter().flat_map(|host| host.sitemaps()).collect()
    };
    let named = ["http://x.cn/1.xml", "http://s.cn/2"].map(|url| CrawlUrl::parse(url).unwrap());
    assert_eq!(maps("http://s.cn/any"), named, "a path is resolved");
    assert!(maps("http://t.cn/").is_empty() && maps("http://never.cn/").is_empty());
}

#[test]
fn an_unreachable_robots_txt_forbids_all_for_a_while() {
    let mut web = web("http://s.cn/ 0.9");
    let failed = |kind| FetchOutcome::Failed(Failure { kind, retry_after: None });
    web.insert("http://s.cn/robots.txt".into(), failed(FailureKind::Status(503)));
    let politeness = Politeness { delay: 0.0, ..Politeness::default() };
    let (crawl, batch) = seeded(CrawlSettings { politeness, ..crawl_settings() }, BreadthFirst, &["http://s.cn/"]);
    let run = drive(crawl, batch, &web, 1);
    // Retried after 10 s and another 60 s; the next wait, 360 s, exceeds the patience.
    assert_eq!(run.fetched, ["s.cn/robots.txt"; 3]);
    assert_eq!((run.stop, run.crawl.progress().queued), (Stop::OnlyUnreachable, 1));
}

#[test]
fn a_board_that_fails_at_two_visits_failed_once() {
    let (mut crawl, _) = seeded(crawl_settings(), BreadthFirst, &["http://s.cn/"]);
    let failure = Failure { kind: FailureKind::Status(404), retry_after: None };
    let failed = || Event::FetchFailed { id: UrlId(0), failure: failure.clone() };
    let due = Event::Forum(Box::new(ForumStep { due: vec![UrlId(0)], ..ForumStep::default() }));
    for events in [vec![failed()], vec![due], vec![failed()]] {
        crawl.restore(&Batch { at: Millis(0), latency: None, events });
    }
    assert_eq!((crawl.progress().failed, crawl.progress().queued), (1, 0));
}

#[test]
fn a_private_address_is_given_up_at_once_and_by_name() {
    let mut web = web("http://s.cn/ 0.9");
    for path in ["", "robots.txt"] {
        let failure = Failure { kind: FailureKind::PrivateAddress, retry_after: None };
        web.insert(format!("http://s.cn/{path}"), FetchOutcome::Failed(failure));
    }
    let (crawl, batch) = seeded(crawl_settings(), BreadthFirst, &["http://s.cn/"]);
    let run = drive(crawl, batch, &web, 1);
    assert_eq!((run.stop, run.crawl.progress().failed), (Stop::FrontierEmpty, 1));
    assert!(run.at.0 < 10_000, "no second try at robots.txt, but it is {:?}", run.at);
}

#[test]
fn a_failing_host_is_not_requested_again() {
    let links: Vec<String> = (0..20).map(|n| format!("http://dead.cn/{n} 0")).collect();
    let text = format!("http://s.cn/ 0.9 -> {}", links.join(", "));
    let mut web = web(&text);
    for n in 0..20 {
        let failure = Failure { kind: FailureKind::Connect, retry_after: None };
        web.insert(format!("http://dead.cn/{n}"), FetchOutcome::Failed(failure));
    }
    let (crawl, batch) = seeded(crawl_settings(), BreadthFirst, &["http://s.cn/"]);
    let run = drive(crawl, batch, &web, 1);
    assert!(run.fetched.len() <= 11, "{} requests", run.fetched.len());
}

/// A machine restored from a run's first batches, with the rest of the run repeated.
fn resumed(
    strategy: impl Fn() -> Box<dyn Strategy>,
    web: &BTreeMap<String, FetchOutcome>,
    cut: usize,
) -> (Vec<String>, Vec<String>) {
    let seeds = [CrawlUrl::parse("http://s.cn/").unwrap()];
    let mut crawl = Crawl::new(crawl_settings(), strategy());
    let batch = crawl.seed(&seeds, Millis(0));
    let whole = drive(crawl, batch, web, 1);
    let mut restored = Crawl::new(crawl_settings(), strategy());
    let cut = cut.min(whole.batches.len());
    for batch in &whole.batches[..cut] {
        restored.restore(batch);
    }
    let batch = restored.seed(&seeds, Millis(0));
    let rest = drive(restored, batch, web, 1);
    let mut again = whole.fetched[..cut.saturating_sub(1).min(whole.fetched.len())].to_vec();
    again.extend(rest.fetched);
    (whole.fetched, again)
}

fn tangle() -> BTreeMap<String, FetchOutcome> {
    let name = |n: usize| {
        if n == 0 { "http://s.cn/".to_owned() } else { format!("http://h{}.cn/{}{n}", n % 5, "a/".repeat(n % 4)) }
    };
    let line = |n: usize| {
        let links: Vec<String> = (1..6)
            .map(|step| format!("{} {}", name((n * 7 + step * step * 3) % 60), (n * step % 10) as f32 / 20.0))
            .collect();
        let mut links = links;
        links.sort();
        links.dedup_by_key(|link| link.split(' ').next().unwrap().to_owned());
        format!("{} {} -> {}", name(n), if n.is_multiple_of(7) { 0.8 } else { 0.1 }, links.join(", "))
    };
    web(&(0..60).map(line).collect::<Vec<_>>().join("\n"))
}

/// The web, with a claim of another URL on one of its pages.
fn with_claim(text: &str, page: &str, claimed: &str) -> BTreeMap<String, FetchOutcome> {
    let mut web = web(text);
    let Some(FetchOutcome::Page { page, .. }) = web.get_mut(page) else { panic!("no page {page}") };
    page.canonical = Some(CrawlUrl::parse(claimed).unwrap());
    web
}

#[test]
fn the_links_of_a_page_are_judged_if_its_canonical_address_proves_to_be_another_page_under_https() {
    // The claimed URL is queued before its host is known to answer under https, where it was fetched with another text.
    let web = with_claim(
        "http://s.cn/a 0.8 -> http://s.cn/c 0.5
        https://m.s.cn/b 0.8
        http://s.cn/c 0.8",
        "http://s.cn/a",
        "http://m.s.cn/b",
    );
    let mut settings = crawl_settings();
    settings.scope.downgrade_seeds = true;
    let (crawl, batch) = seeded(settings, BreadthFirst, &["http://s.cn/a", "https://m.s.cn/b"]);
    let run = drive(crawl, batch, &web, 2);
    assert!(run.fetched.contains(&"s.cn/c".to_owned()), "{:?}", run.fetched);
}

#[test]
fn links_that_are_judged_again_stay_in_the_layer_of_their_page() {
    let mut web = with_claim(
        "http://s.cn/ 0.1 -> http://s.cn/a 0.5
        http://s.cn/a 0.8 -> http://s.cn/c 0.5
        http://s.cn/b 404!
        http://s.cn/c 0.8",
        "http://s.cn/a",
        "http://s.cn/b",
    );
    let Some(FetchOutcome::Page { page, .. }) = web.get_mut("http://s.cn/a") else { panic!() };
    page.layer = Some(1);
    let (crawl, batch) = seeded(crawl_settings(), crate::strategy::ContextGraph::default(), &["http://s.cn/"]);
    let run = drive(crawl, batch, &web, 1);
    let queued: Vec<QueueId> = (run.batches.iter().flat_map(|batch| &batch.events))
        .filter_map(|event| match event {
            Event::Rejudged { links, .. } => Some(links.iter().filter_map(|link| match link.decision {
                LinkDecision::Follow(entry) => Some(entry.queue),
                LinkDecision::Drop(_) => None,
            })),
            _ => None,
        })
        .flatten()
        .collect();
    assert_eq!(queued, [QueueId(1)]);
}

#[test]
fn offered_links_rank_by_their_evidence_and_a_restart_keeps_them() {
    let link = |url: &str, relevance: f32, hops: u16| OfferedLink {
        url: CrawlUrl::parse(url).unwrap(),
        anchor: String::new(),
        scores: LinkScores::default(),
        relevance: Relevance::new(relevance),
        path: PathState {
            depth: 3,
            hops,
            k: if hops == 0 { TunnelBudget::Unbounded } else { TunnelBudget::Left(2) },
            inherited: Relevance::new(0.6),
        },
    };
    let web = web("http://s.cn/ 0.8 -> http://s.cn/a 0.5
        http://s.cn/a 0.1
        http://o.cn/poor 0.1
        http://o.cn/rich 0.8");
    let (mut crawl, first) = seeded(crawl_settings(), Dth::default(), &["http://s.cn/"]);
    let mut file = link("http://o.cn/x.pdf", 0.9, 0);
    let offered = crawl.offer(
        &[
            link("http://o.cn/poor", 0.1, 2),
            link("http://o.cn/rich", 0.9, 0),
            link("http://s.cn/", 0.9, 0),
            file.clone(),
        ],
        Millis(0),
    );
    assert!(
        offered
            .events
            .iter()
            .any(|event| matches!(event, Event::LinkRejected { reason: SkipReason::Extension, from: None, .. }))
    );
    let mut restored = Crawl::new(crawl_settings(), Box::new(Dth::default()));
    [&first, &offered].into_iter().for_each(|batch| restored.restore(batch));
    let run = drive(crawl, offered, &web, 1);
    assert_eq!(run.fetched, ["s.cn/", "s.cn/a", "o.cn/rich", "o.cn/poor"]);
    let again = drive(restored, first, &web, 1);
    assert_eq!(again.fetched, run.fetched);
    // What was fetched is not fetched again.
    let mut crawl = run.crawl;
    file.url = CrawlUrl::parse("http://o.cn/rich").unwrap();
    assert_eq!(crawl.offer(&[file], Millis(99)).events, []);
}

#[test]
fn a_decision_between_two_answers_has_its_own_time() {
    let mut settings = crawl_settings();
    settings.limits.pages_per_host = Some(1);
    let (mut crawl, _) = seeded(settings, BreadthFirst, &["http://s.cn/", "http://s.cn/a", "http://t.cn/"]);
    let Next::Fetch(first) = crawl.next(Millis(0)) else { panic!() };
    let web = web("http://s.cn/ 0.8");
    crawl.settle(first, web["http://s.cn/"].clone(), ResponseMeta::default(), Millis(10));
    let mut times = Vec::new();
    for at in [50, 60] {
        if let Next::Record(batch) = crawl.next(Millis(at)) {
            times.push((at, batch.at, batch.events.len()));
        }
    }
    assert_eq!(times, [(50, Millis(50), 1)]);
}

/// A crawl is interrupted after `cut` answers: a machine from its pieces continues like one from its events, also when
/// the clock has gone back to 0.
fn compare_restarts(cut: usize, in_flight: usize, which: usize, polite: bool) {
    let strategy = || -> Box<dyn Strategy> {
        let name = match which {
            0 => StrategyName::Tunnel,
            1 => StrategyName::UrlWeight,
            2 => StrategyName::Pagerank,
            _ => StrategyName::Dth,
        };
        StrategySettings { name, ..StrategySettings::default() }.build(Relevance::new(0.5))
    };
    let politeness = Politeness { delay: if polite { 2.0 } else { 0.0 }, robots: polite, ..Politeness::default() };
    let new = || Crawl::new(CrawlSettings { politeness: politeness.clone(), ..crawl_settings() }, strategy());
    let mut web = tangle();
    for host in 0..3 {
        web.insert(format!("http://h{host}.cn/robots.txt"), robots("User-agent: *\nDisallow: /a/a/a/\nCrawl-delay: 3"));
    }
    let (mut live, mut result) = (new(), new());
    let first = live.seed(&[CrawlUrl::parse("http://s.cn/").unwrap()], Millis(0));
    result.restore(&first);
    let (mut at, mut out, mut settled) = (Millis(0), std::collections::VecDeque::new(), 0);
    while settled < cut {
        match live.next(at) {
            Next::Fetch(ticket) => {
                out.push_back(ticket);
                if out.len() < in_flight {
                    continue;
                }
            }
            Next::Record(batch) => {
                result.restore(&batch);
                continue;
            }
            Next::Wait(Some(until)) if out.is_empty() => {
                at = until;
                continue;
            }
            Next::Wait(_) => {}
            Next::Done(_) => break,
        }
        let ticket: Ticket = out.pop_front().unwrap();
        at = at.after(10);
        let missing = FetchOutcome::Failed(Failure { kind: FailureKind::Status(404), retry_after: None });
        let outcome = web.get(ticket.url.as_str()).cloned().unwrap_or(missing);
        result.restore(&live.settle(ticket, outcome, ResponseMeta::default(), at));
        settled += 1;
    }
    let mut restored = new();
    for piece in live.pieces().unwrap() {
        assert!(restored.take_piece(&piece));
    }
    assert!(restored.set_up());
    assert_eq!(restored.progress(), result.progress());
    // One piece missing or doubled: it is detected, or has no visible effect.
    let pieces: Vec<Vec<u8>> = live.pieces().unwrap().collect();
    for (odd, times) in (0..pieces.len()).flat_map(|odd| [(odd, 0), (odd, 2)]) {
        let mut mixed = new();
        let taken = pieces
            .iter()
            .enumerate()
            .all(|(number, piece)| (0..if number == odd { times } else { 1 }).all(|_| mixed.take_piece(piece)));
        if taken && mixed.set_up() {
            drive(mixed, Batch { at, latency: None, events: Vec::new() }, &web, 1);
        }
    }
    let rest = |crawl: Crawl| drive(crawl, Batch { at, latency: None, events: Vec::new() }, &web, 1);
    let (restored, result) = (rest(restored), rest(result));
    assert_eq!(restored.fetched, result.fetched);
    assert_eq!(restored.batches, result.batches);
}

#[test]
fn a_request_in_flight_does_not_delay_its_host_after_a_restart() {
    compare_restarts(2, 2, 0, false);
    compare_restarts(2, 5, 1, false);
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(60))]
    #[test]
    fn a_restored_machine_continues_like_the_original(cut in 1usize..60, which in 0usize..6) {
        let strategy = || -> Box<dyn Strategy> {
            match which {
                0 => Box::new(Dth::default()),
                1 => Box::new(Dth { variant: DthVariant::Interleave, kdepth: 3, ..Dth::default() }),
                2 => Box::new(Dth { variant: DthVariant::Preempt, kdepth: 2, ..Dth::default() }),
                3 => Box::new(BestFirst::default()),
                4 => Box::new(UrlWeight::default()),
                _ => Box::new(crate::strategy::PageRank::default()),
            }
        };
        let (whole, again) = resumed(strategy, &tangle(), cut);
        proptest::prop_assert_eq!(whole, again);
    }

    #[test]
    fn pieces_of_anything_else_are_refused(piece in proptest::collection::vec(0u8.., 0..40)) {
        // It may be valid by chance; it must not panic.
        let mut crawl = Crawl::new(crawl_settings(), Box::new(Dth::default()));
        crawl.take_piece(&piece);
    }

    #[test]
    fn a_machine_from_its_pieces_continues_like_one_from_its_events(
        cut in 1usize..80,
        in_flight in 1usize..12,
        which in 0usize..4,
        polite: bool,
    ) {
        compare_restarts(cut, in_flight, which, polite);
    }

    #[test]
    fn no_page_is_fetched_twice_whatever_is_in_flight(in_flight in 1usize..20) {
        let (crawl, batch) = seeded(crawl_settings(), Dth::default(), &["http://s.cn/"]);
        let mut fetched = drive(crawl, batch, &tangle(), in_flight).fetched;
        let all = fetched.len();
        fetched.sort();
        fetched.dedup();
        proptest::prop_assert_eq!(fetched.len(), all);
    }
}

#[test]
fn a_host_is_crawled_under_the_scheme_it_answers() {
    let connect = || FetchOutcome::Failed(Failure { kind: FailureKind::Connect, retry_after: None });
    let mut web = web("
        http://s.cn/ 0.9 -> https://s.cn/a 0, http://s.cn/a 0, https://t.cn/ 0, http://u.cn/ 0
        http://s.cn/a 0.9
        http://t.cn/ 0.9 -> https://t.cn/b 0
        http://t.cn/b 0.9
        http://u.cn/ => https://u.cn/
        https://u.cn/ 0.9 -> http://u.cn/c 0
        https://u.cn/c 0.9
    ");
    for robots in ["http://s.cn", "http://t.cn", "http://u.cn", "https://u.cn"] {
        web.insert(format!("{robots}/robots.txt"), FetchOutcome::Robots(RobotsRules::AllowAll));
    }
    web.insert("https://t.cn/robots.txt".into(), connect());
    for robots in [false, true] {
        let politeness = Politeness { delay: 0.0, robots, ..Politeness::default() };
        let mut web = web.clone();
        web.insert("https://t.cn/".into(), connect());
        let (crawl, batch) = seeded(CrawlSettings { politeness, ..crawl_settings() }, BreadthFirst, &["http://s.cn/"]);
        let run = drive(crawl, batch, &web, 1);
        let mut pages: Vec<String> =
            run.fetched.into_iter().filter(|url| !url.contains("robots.txt") && url != "https://t.cn/").collect();
        pages.sort();
        assert_eq!(
            pages,
            ["https://u.cn/", "https://u.cn/c", "s.cn/", "s.cn/a", "t.cn/", "t.cn/b", "u.cn/"],
            "{robots}"
        );
        assert_eq!((run.crawl.progress().pages, run.crawl.progress().failed), (6, 0));
    }
}

#[test]
fn a_host_that_mixes_schemes_loses_no_page() {
    let web = web("
        http://s.cn/ 0.9 -> http://s.cn/login 0, http://s.cn/r 0, http://s.cn/q 0
        http://s.cn/login => https://s.cn/login
        https://s.cn/login 0.1
        https://s.cn/r => http://s.cn/r
        http://s.cn/r 0.9
        http://s.cn/q 0.9
        https://s.cn/q => http://s.cn/q
    ");
    let (crawl, batch) = seeded(crawl_settings(), BreadthFirst, &["http://s.cn/"]);
    let run = drive(crawl, batch, &web, 1);
    assert_eq!(run.crawl.progress().pages, 4, "{:?}", run.fetched);
}

#[test]
fn links_are_judged_when_the_canonical_url_is_fetched_under_another_scheme() {
    let mut web = web("
        http://s.cn/p 0.9 -> http://s.cn/x 0.9
        http://s.cn/x 0.9
        https://w.s.cn/c 0.9
    ");
    let Some(FetchOutcome::Page { page, .. }) = web.get_mut("http://s.cn/p") else { panic!("a page") };
    page.canonical = CrawlUrl::parse("http://w.s.cn/c").ok();
    page.sketch.chars = 1_000;
    let seeds = ["http://s.cn/p", "https://w.s.cn/c", "http://w.s.cn/c"];
    let (crawl, batch) = seeded(crawl_settings(), BreadthFirst, &seeds);
    let run = drive(crawl, batch, &web, 2);
    assert_eq!(run.fetched, ["s.cn/p", "https://w.s.cn/c", "s.cn/x"]);
}

#[test]
fn a_url_that_waits_is_not_counted_as_refused_because_too_many_redirects_lead_to_it() {
    let web = web("
        http://s.cn/ 0.9 -> http://s.cn/a 0.5, http://s.cn/b 0.5
        http://s.cn/a => http://s.cn/b
        http://s.cn/b 0.9
    ");
    let limits = CrawlLimits { redirects: 0, ..CrawlLimits::default() };
    let (crawl, batch) = seeded(CrawlSettings { limits, ..crawl_settings() }, BreadthFirst, &["http://s.cn/"]);
    let run = drive(crawl, batch, &web, 1);
    assert_eq!((run.crawl.progress().pages, run.crawl.progress().skipped), (2, 0));
}

#[test]
fn a_longer_tunnel_to_a_page_in_flight_counts() {
    let web = web("
        http://s.cn/ 0 -> http://a.cn/ 0, http://b.cn/ 0
        http://a.cn/ 0.9 -> http://b.cn/ 0
        http://b.cn/ 0 -> http://c.cn/ 0
        http://c.cn/ 0.9
    ");
    for in_flight in [1, 2] {
        let (crawl, batch) = seeded(crawl_settings(), Dth { kdepth: 1, ..Dth::default() }, &["http://s.cn/"]);
        let mut fetched = drive(crawl, batch, &web, in_flight).fetched;
        fetched.sort();
        assert_eq!(fetched, ["a.cn/", "b.cn/", "c.cn/", "s.cn/"], "{in_flight} in flight");
    }
}

proptest::proptest! {
    #![proptest_config(proptest::test_runner::Config::with_cases(60))]

    /// However the clock jumps, even by years back or forth, the machine neither panics nor loses or doubles a page,
    /// and requeued tickets change only the order.
    #[test]
    fn clock_jumps_and_requeued_tickets_lose_no_page(
        jumps in proptest::collection::vec((0u64..40, proptest::num::i64::ANY, 0u8..4), 1..40),
        in_flight in 1usize..6,
    ) {
        let name = |n: usize| if n == 0 { "http://s.cn/".to_owned() } else { format!("http://h{}.cn/{n}", n % 4) };
        let line = |n: usize| format!("{} 0.8 -> {} 0.5, {} 0.5", name(n), name((n * 2 + 1) % 40), name((n * 2 + 2) % 40));
        let web = web(&(0..30).map(line).collect::<Vec<_>>().join("\n"));
        let polite = CrawlSettings { politeness: Politeness { delay: 1.0, robots: false, ..Politeness::default() }, ..crawl_settings() };
        let (crawl, first) = seeded(polite.clone(), BreadthFirst, &["http://s.cn/"]);
        let mut wanted = drive(crawl, first, &web, 1).fetched;
        wanted.sort();
        let (mut crawl, first) = seeded(polite.clone(), BreadthFirst, &["http://s.cn/"]);
        let mut batches = vec![first];
        let mut fetched = Vec::new();
        let mut at = Millis(1_000_000);
        let mut out = std::collections::VecDeque::new();
        let mut jumps = jumps.into_iter().cycle();
        for turn in 0..20_000u32 {
            let (steps, jump, act) = jumps.next().unwrap();
            // Few enough jumps that the waits between them end.
            at = if turn % 37 == 0 { Millis(at.0.saturating_add_signed(jump >> (jump as u64 % 50))) } else { at.after(steps * 100) };
            let mut idle = false;
            if out.len() < in_flight {
                match crawl.next(at) {
                    Next::Fetch(ticket) => out.push_back(ticket),
                    Next::Record(batch) => batches.push(batch),
                    Next::Wait(Some(until)) if out.is_empty() => at = at.max(until),
                    Next::Wait(_) => idle = true,
                    Next::Done(_) if out.is_empty() => break,
                    Next::Done(_) => idle = true,
                }
            }
            let due = idle || out.len() == in_flight || act == 0;
            if let Some(ticket) = due.then(|| out.pop_front()).flatten() {
                if act == 1 && turn % 3 == 0 {
                    crawl.requeue_ticket(ticket, at);
                    continue;
                }
                fetched.push(ticket.url.as_str().trim_start_matches("http://").to_owned());
                let missing = FetchOutcome::Failed(Failure { kind: FailureKind::Status(404), retry_after: None });
                let outcome = web.get(ticket.url.as_str()).cloned().unwrap_or(missing);
                batches.push(crawl.settle(ticket, outcome, ResponseMeta::default(), at));
            }
        }
        fetched.sort();
        proptest::prop_assert_eq!(fetched, wanted);
        // Whatever the times are, the log restores the state.
        let mut again = Crawl::new(polite, Box::new(BreadthFirst));
        batches.iter().for_each(|batch| again.restore(batch));
        let progress = |crawl: &Crawl| (crawl.progress().pages, crawl.progress().failed, crawl.progress().queued);
        proptest::prop_assert_eq!(progress(&again), progress(&crawl));
    }
}

/// A chain of pages, relevant or not according to the letters, each with a second link off the chain.
fn chain(relevant: &str) -> BTreeMap<String, FetchOutcome> {
    let line = |(n, kind): (usize, char)| {
        let worth = if kind == '+' { 0.9 } else { 0.1 };
        format!("http://s{n}.cn/ {worth} -> http://s{}.cn/ 0\n", n + 1)
    };
    web(&relevant.chars().enumerate().map(line).collect::<String>())
}

fn towards(goals: &[&str], relevant: &str, in_flight: usize) -> Run {
    let mut wanted = StopConditions::default();
    goals.iter().for_each(|goal| wanted.add(goal).unwrap());
    let limits = CrawlLimits { pages: wanted.pages, ..CrawlLimits::default() };
    let (crawl, batch) =
        seeded(CrawlSettings { goals: wanted, limits, ..crawl_settings() }, BreadthFirst, &["http://s0.cn/"]);
    drive(crawl, batch, &chain(relevant), in_flight)
}

#[test]
fn a_crawl_stops_at_the_first_goal_it_reaches() {
    let pages = "++-+-----+--++++++++";
    for (goals, fetched, stop) in [
        (&["pages=7"][..], 7, Stop::PageLimit),
        (&["relevant=3"], 4, Stop::RelevantReached),
        (&["relevant=3", "pages=3"], 3, Stop::PageLimit),
        (&["bytes=4500"], 5, Stop::BytesReached),
        // Of all windows of four pages, the one at the eighth page has the fewest relevant ones.
        (&["harvest<0.25/4"], 8, Stop::TopicExhausted),
        (&["harvest<0.1/8"], 20, Stop::FrontierEmpty),
        (&["relevant=100"], 20, Stop::FrontierEmpty),
        // A request takes 10 ms.
        (&["minutes=0.001"], 6, Stop::TimeUp),
    ] {
        for in_flight in [1, 8] {
            let run = towards(goals, pages, in_flight);
            assert_eq!((run.crawl.progress().pages, run.stop), (fetched, stop), "{goals:?}, {in_flight} in flight");
        }
    }
}

#[test]
fn a_restart_does_not_change_the_progress_to_a_goal() {
    let whole = towards(&["harvest<0.25/4"], "++-+-----+--++++", 1);
    for cut in 0..whole.batches.len() {
        let goals = StopConditions { harvest: Some(Exhaustion { under: 0.25, over: 4 }), ..StopConditions::default() };
        let mut crawl = Crawl::new(CrawlSettings { goals, ..crawl_settings() }, Box::new(BreadthFirst));
        whole.batches[..=cut].iter().for_each(|batch| crawl.restore(batch));
        let again = crawl.seed(&[], Millis(0));
        let rest = drive(crawl, again, &chain("++-+-----+--++++"), 1);
        assert_eq!((rest.crawl.progress(), rest.stop), (whole.crawl.progress(), whole.stop), "cut after {cut}");
    }
}

#[test]
fn a_limit_of_minutes_applies_to_one_run_and_ends_waits() {
    let goals = StopConditions { minutes: Some(1.0), ..StopConditions::default() };
    let politeness = Politeness { delay: 45.0, robots: false, ..Politeness::default() };
    let settings = CrawlSettings { goals, politeness, ..crawl_settings() };
    let text = "
        http://s.cn/ 0.9 -> http://s.cn/a 0, http://s.cn/b 0, http://s.cn/c 0
        http://s.cn/a 0
        http://s.cn/b 0
        http://s.cn/c 0
    ";
    let (crawl, batch) = seeded(settings.clone(), BreadthFirst, &["http://s.cn/"]);
    let first = drive(crawl, batch, &web(text), 1);
    assert_eq!((first.fetched.len(), first.stop, first.at), (2, Stop::TimeUp, Millis(60_000)));
    let mut crawl = Crawl::new(settings, Box::new(BreadthFirst));
    first.batches.iter().for_each(|batch| crawl.restore(batch));
    // The second run begins later and has its own minute.
    let batch = crawl.seed(&[], Millis(50_000));
    assert_eq!(drive(crawl, batch, &web(text), 1).fetched.len(), 1);
}

#[test]
fn a_simulation_lists_requests_in_order() {
    let run = run(
        CrawlSettings { limits: CrawlLimits { pages: Some(3), ..CrawlLimits::default() }, ..crawl_settings() },
        Dth::default(),
        ISLANDS,
    );
    let restored = || {
        let mut crawl = Crawl::new(crawl_settings(), Box::new(Dth::default()));
        run.batches.iter().for_each(|batch| crawl.restore(batch));
        crawl
    };
    let (result, stop) = simulate(&mut restored(), Millis(5_000), 1, 10);
    let urls: Vec<&str> = result.iter().map(|result| result.url.as_str()).collect();
    // The links of the pages are not known yet.
    assert_eq!(urls, ["http://t.cn/1", "http://t.cn/x"]);
    assert_eq!(stop, Some(Stop::FrontierEmpty));
    assert!(matches!(result[0].step, SimulatedStep::Page(_, entry) if entry.path.depth == 2), "{:?}", result[0]);
    let mut crawl = restored();
    let overview = crawl.overview(Millis(5_000), 5);
    let heads: Vec<&str> = overview.queues.iter().flat_map(|queue| &queue.heads).map(|(url, _)| url.as_str()).collect();
    assert_eq!(heads, urls, "the heads are what leaves first");
    assert_eq!(overview.largest[0].name.as_ref(), "s.cn");
    assert_eq!((overview.largest[0].pages, overview.hosts.ready), (3, 1));
    assert!(
        matches!(crawl.next(Millis(5_000)), Next::Fetch(ticket) if ticket.url.as_str() == urls[0]),
        "nothing changed"
    );
}

#[test]
fn a_simulation_fetches_robots_txt_first_and_respects_the_delay() {
    let politeness = Politeness { delay: 2.0, ..Politeness::default() };
    let seeds = ["http://s.cn/", "http://s.cn/b", "http://t.cn/"];
    let (mut crawl, _) = seeded(CrawlSettings { politeness, ..crawl_settings() }, BreadthFirst, &seeds);
    let (result, _) = simulate(&mut crawl, Millis(0), 4, 9);
    let result: Vec<(&str, bool, u64)> = result
        .iter()
        .map(|result| (result.url.as_str(), result.step == SimulatedStep::Robots, result.after / 1000))
        .collect();
    assert_eq!(
        result,
        [
            ("http://s.cn/robots.txt", true, 0),
            ("http://t.cn/robots.txt", true, 0),
            ("http://s.cn/", false, 2),
            ("http://t.cn/", false, 2),
            ("http://s.cn/b", false, 4),
        ]
    );
}
