//! Revisits: a changing web, and a machine that runs day after day on a clock of the test. The generated web knows the
//! truth. No network is used, so days pass at once.

use std::collections::BTreeMap;
use std::sync::Arc;

use suidao::config::Config;
use suidao::crawl::{Crawl, Next, Refresh, ResponseMeta, outcome};
use suidao::live::crawl_settings;
use suidao::model::{Batch, Budget, CrawlUrl, Event, Failure, FailureKind, Fetched, Millis, Stop, UrlId};
use suidao::revisit::tally::{RoundTally, Rounds};
use suidao::topic::{Lexicon, Topic};
use suidao::world::{ChangingSpec, ChangingWeb};

const DAY: f64 = 86_400_000.0;

fn topic() -> Arc<Topic> {
    let text = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/lexicons/sports.toml")).unwrap();
    Arc::new(Topic::new(Lexicon::parse(&text).unwrap()))
}

/// A crawl of a changing web, on a clock that the test sets.
struct Run {
    web: ChangingWeb,
    topic: Arc<Topic>,
    config: Config,
    log: Vec<Batch>,
    now: f64,
    /// Hosts whose names begin with this refuse connections.
    down: &'static str,
}

impl Run {
    fn new(web: ChangingWeb) -> Self {
        let mut config = Config::default();
        config.politeness.delay = 0.0;
        config.refresh.discovery = 0.5;
        Self { web, topic: topic(), config, log: Vec::new(), now: 0.0, down: "nobody" }
    }

    fn millis(&self) -> Millis {
        let start = self.web.spec().start as f64 * 1000.0;
        Millis((start + self.now * DAY) as u64)
    }

    fn machine(&self, budget: Option<Budget>) -> Crawl {
        let mut settings = crawl_settings(&self.config, &self.topic);
        settings.refresh = budget.map(|budget| Refresh { settings: self.config.refresh.clone(), budget });
        let strategy = self.config.strategy.build(settings.page_threshold);
        let mut crawl = Crawl::new(settings, strategy);
        for batch in &self.log {
            crawl.restore(batch);
        }
        crawl
    }

    /// Runs until the machine ends, or is killed after so many requests; returns why it ended.
    fn go(&mut self, crawl: &mut Crawl, most: usize, until: f64) -> Option<Stop> {
        let mut requested = 0;
        loop {
            match crawl.next(self.millis()) {
                Next::Fetch(ticket) => {
                    if requested == most {
                        return None;
                    }
                    requested += 1;
                    // A second per request.
                    self.now += 1.0 / 86_400.0;
                    let mut fields = Vec::new();
                    if let Some(known) = &ticket.validators {
                        fields.extend(known.etag.iter().map(|etag| ("if-none-match".to_owned(), etag.clone())));
                        let since = known.modified.iter();
                        fields.extend(since.map(|at| ("if-modified-since".to_owned(), at.clone())));
                    }
                    let answer = self.web.response(&ticket.url, &fields, self.now);
                    let down = Failure { kind: FailureKind::Refused, retry_after: None };
                    let answer = if ticket.url.authority().starts_with(self.down) { Err(down) } else { answer };
                    let answer: Result<Fetched, Failure> =
                        answer.map(|fetched| Fetched { request_validators: ticket.validators.clone(), ..fetched });
                    let outcome =
                        outcome(&ticket.kind, answer.as_ref().map_err(Clone::clone), None, &self.topic, "suidao");
                    let batch = crawl.settle(ticket, outcome, ResponseMeta::default(), self.millis());
                    self.log.push(batch);
                }
                Next::Record(batch) => self.log.push(batch),
                Next::Wait(Some(at)) => {
                    let start = self.web.spec().start as f64 * 1000.0;
                    self.now = self.now.max((at.0 as f64 - start) / DAY + 1e-9);
                    if self.now > until {
                        return None;
                    }
                }
                Next::Wait(None) => panic!("it waits for nothing"),
                Next::Done(stop) => return Some(stop),
            }
        }
    }

    fn crawl(&mut self) {
        let mut crawl = self.machine(None);
        let batch = crawl.seed(&self.web.seeds(), self.millis());
        self.log.push(batch);
        assert!(self.go(&mut crawl, usize::MAX, f64::INFINITY).is_some());
    }

    /// A round with this number of requests on a day.
    fn round(&mut self, day: f64, requests: u64) -> RoundTally {
        self.now = self.now.max(day);
        let mut crawl = self.machine(Some(Budget::Round { requests: Some(requests), seconds: None }));
        self.log.extend(crawl.begin_refresh(self.millis()));
        assert!(self.go(&mut crawl, usize::MAX, f64::INFINITY).is_some());
        self.rounds().pop().unwrap()
    }

    fn rounds(&self) -> Vec<RoundTally> {
        let mut rounds = Rounds::default();
        self.log.iter().for_each(|batch| rounds.observe(batch));
        rounds.rounds
    }

    fn urls(&self) -> Vec<CrawlUrl> {
        let events = self.log.iter().flat_map(|batch| &batch.events);
        let found = events.filter_map(|event| match event {
            Event::Discovered(found) => Some(found.url.clone()),
            _ => None,
        });
        found.collect()
    }

    /// Visits of each page: when, and the result.
    fn visits(&self) -> BTreeMap<UrlId, Vec<(Millis, &Event)>> {
        let mut visits: BTreeMap<UrlId, Vec<(Millis, &Event)>> = BTreeMap::new();
        for batch in &self.log {
            for event in &batch.events {
                let id = match event {
                    Event::PageFetched(page) => page.id,
                    Event::Unchanged { id, .. }
                    | Event::FetchFailed { id, .. }
                    | Event::Redirected { id, .. }
                    | Event::PageGone { id, .. } => *id,
                    _ => continue,
                };
                visits.entry(id).or_default().push((batch.at, event));
            }
        }
        visits
    }
}

fn web() -> ChangingWeb {
    let small =
        ChangingSpec { sections: 1, initial: 12, new_articles: [0.5, 2.0], days: 40.0, ..ChangingSpec::default() };
    ChangingWeb::new(small, 3)
}

#[test]
fn a_round_respects_its_budget_and_its_share_of_discovery() {
    let mut run = Run::new(web());
    run.crawl();
    let pages = run.visits().len();
    let before = run.web.all_requests().requests;
    let round = run.round(3.0, 40);
    assert_eq!(run.web.all_requests().requests - before, 40);
    assert_eq!((round.requests, round.finished), (40, true));
    assert!(round.visits + round.sources >= 20, "{round:?} of {pages}");
    assert!(round.new_links > 0 && round.pages > 0, "three days bring new articles: {round:?}");
    assert!(round.not_modified > 0 && round.text_changed > 0, "{round:?}");
}

#[test]
fn reported_changes_are_exactly_the_real_ones() {
    let mut run = Run::new(web());
    run.crawl();
    for day in 1..6 {
        run.round(f64::from(day) * 2.0, 400);
    }
    let urls = run.urls();
    let start = run.web.spec().start as f64 * 1000.0;
    let day = |at: Millis| (at.0 as f64 - start) / DAY;
    let (mut changed, mut same, mut missed) = (0, 0, 0);
    for (id, visits) in run.visits() {
        let url = &urls[id.0 as usize];
        let always_304 = run.web.profile(url).is_some_and(|profile| profile.name == "liar");
        for pair in visits.windows(2) {
            let ((before, _), (at, event)) = (pair[0], pair[1]);
            let (Some(old), Some(new)) = (run.web.version(url, day(before)), run.web.version(url, day(at))) else {
                continue;
            };
            match event {
                Event::PageFetched(page) if page.changes.unwrap().text || page.changes.unwrap().links => {
                    changed += 1;
                    // A page's lists of other pages change with those.
                    assert!(new > old || !page.changes.unwrap().text || url.path() == "/" || always_304, "{url}");
                }
                Event::Unchanged { .. } | Event::PageFetched(_) if new > old => {
                    // The server reports no change, and the crawl cannot know better at once.
                    assert!(always_304, "{url} changed between {} and {}", day(before), day(at));
                    missed += 1;
                }
                _ => same += 1,
            }
        }
    }
    assert!(changed > 20 && same > 20, "{changed} {same} {missed}");
}

#[test]
fn a_killed_round_resumes_and_requests_nothing_twice() {
    for most in [0, 1, 7, 31] {
        let mut run = Run::new(web());
        run.crawl();
        run.now = 3.0;
        let budget = Budget::Round { requests: Some(40), seconds: None };
        let before = run.web.request_counts();
        let mut crawl = run.machine(Some(budget));
        run.log.extend(crawl.begin_refresh(run.millis()));
        assert_eq!(run.go(&mut crawl, most, f64::INFINITY), None);
        drop(crawl);
        let mut crawl = run.machine(Some(budget));
        let again = crawl.begin_refresh(run.millis());
        assert!(again.is_none(), "it continues: {again:?}");
        assert_eq!(run.go(&mut crawl, usize::MAX, f64::INFINITY), Some(Stop::BudgetSpent));
        let rounds = run.rounds();
        assert_eq!((rounds.len(), rounds[0].requests, rounds[0].finished), (1, 40, true));
        for (url, requested) in run.web.request_counts() {
            let times = requested.requests - before.get(&url).map_or(0, |requested| requested.requests);
            // Its host refuses connections, and robots.txt is tried again.
            let dead = url.authority().starts_with("ads.");
            assert!(times <= 1 || dead, "{url} was requested {times} times in a round killed after {most}");
        }
    }
}

#[test]
fn a_crawl_continues_after_a_killed_round_as_without_it() {
    let mut run = Run::new(web());
    run.config.limits.pages = Some(60);
    run.crawl();
    let before = run.machine(None).progress();
    assert_eq!(before.pages, 60);
    run.now = 25.0;
    run.config.refresh.discovery = 0.2;
    let mut crawl = run.machine(Some(Budget::Round { requests: Some(80), seconds: None }));
    run.log.extend(crawl.begin_refresh(run.millis()));
    assert_eq!(run.go(&mut crawl, 70, f64::INFINITY), None);
    let progress = run.machine(None).progress();
    let round = run.rounds().pop().unwrap();
    assert!(round.missing > 0 && round.visits > 15, "{round:?}");
    assert_eq!(progress.pages, before.pages + round.pages, "a page that came again is not a new one");
    let waits = |crawl: &Crawl| crawl.waiting(usize::MAX).into_iter().map(|(url, _)| url).collect::<Vec<_>>();
    let fetched: Vec<UrlId> = run.visits().into_keys().collect();
    let urls = run.urls();
    let crawl = run.machine(None);
    assert!(waits(&crawl).iter().all(|url| !fetched.iter().any(|id| urls[id.0 as usize] == *url)));
    assert_eq!(crawl.progress().queued, waits(&crawl).len() as u64);
}

#[test]
fn a_missing_page_is_kept_for_the_grace_period_and_then_removed() {
    let mut run = Run::new(web());
    run.config.refresh.grace = 4.0;
    run.config.refresh.discovery = 0.0;
    run.crawl();
    for day in 1..10 {
        run.round(f64::from(day) * 3.0, 10_000);
    }
    let urls = run.urls();
    let start = run.web.spec().start as f64 * 1000.0;
    let mut retired = 0;
    for (id, visits) in run.visits() {
        let Some(at) = visits.iter().position(|(_, event)| matches!(event, Event::PageGone { .. })) else { continue };
        retired += 1;
        let url = &urls[id.0 as usize];
        assert_eq!(run.web.version(url, (visits[at].0.0 as f64 - start) / DAY), None, "{url} is still there");
        // One more request if a page still links to it, because it may be back.
        assert!(visits.len() <= at + 3, "{url} was requested after it was given up");
        let is_missing = |event: &Event| match event {
            Event::FetchFailed { failure, .. } => !matches!(failure.kind, FailureKind::TextLost(_)),
            event => !matches!(event, Event::PageFetched(_) | Event::Unchanged { .. }),
        };
        let first = visits.iter().find(|(_, event)| is_missing(event)).unwrap();
        let days = (visits[at].0.0 - first.0.0) as f64 / DAY;
        assert!(days >= 4.0, "{url} was given up after {days} days");
        assert!(visits.iter().filter(|(at, _)| *at >= first.0).count() <= 4, "{url}");
    }
    assert!(retired > 2, "{retired}");
}

#[test]
fn a_server_that_always_answers_304_is_detected() {
    let mut run = Run::new(web());
    run.config.refresh.discovery = 0.0;
    run.crawl();
    for day in 1..13 {
        run.round(f64::from(day) * 2.0, 10_000);
    }
    let urls = run.urls();
    let start = run.web.spec().start as f64 * 1000.0;
    let late = run
        .visits()
        .into_iter()
        .filter(|(id, _)| run.web.profile(&urls[id.0 as usize]).is_some_and(|profile| profile.name == "liar"));
    let mut unchanged = 0;
    for (_, visits) in late {
        let after = visits.iter().filter(|(at, _)| (at.0 as f64 - start) / DAY > 20.0);
        unchanged += after.filter(|(_, event)| matches!(event, Event::Unchanged { status: 304, .. })).count();
    }
    assert_eq!(unchanged, 0, "its 304 are still believed");
    assert!(run.rounds().last().unwrap().not_modified > 0, "the others are");
}

#[test]
fn an_endless_refresh_waits_when_no_request_is_allowed() {
    let mut run = Run::new(web());
    run.crawl();
    // Every page was just fetched, and may not be requested again for days.
    run.config.refresh.shortest = 2.0;
    run.config.refresh.discovery = 0.0;
    let begun = (run.web.all_requests().requests, run.now);
    let mut crawl = run.machine(Some(Budget::PerDay(96)));
    run.log.extend(crawl.begin_refresh(run.millis()));
    assert_eq!(run.go(&mut crawl, usize::MAX, begun.1 + 1.5), None, "it continues");
    let early = run.web.all_requests().requests - begun.0;
    assert_eq!(run.go(&mut crawl, usize::MAX, begun.1 + 3.5), None);
    let requested = run.web.all_requests().requests - begun.0;
    assert!(early < 40 && requested > early + 100, "{early} {requested}");
}

#[test]
fn a_host_that_was_down_is_requested_again_in_the_next_round() {
    let mut run = Run::new(web());
    run.crawl();
    run.config.refresh.discovery = 0.0;
    run.config.limits.host_failures = 2;
    let urls = run.urls();
    // Two of its pages fail in a row.
    let down: Vec<UrlId> = (0u32..)
        .map(UrlId)
        .zip(&urls)
        .filter(|(_, url)| url.authority().starts_with("bare"))
        .map(|(id, _)| id)
        .collect();
    let failure = Failure { kind: FailureKind::Timeout, retry_after: None };
    let events = down.iter().take(4).map(|id| Event::FetchFailed { id: *id, failure: failure.clone() }).collect();
    let at = run.millis();
    run.log.push(Batch { at, latency: None, events });
    let before = run.visits().values().map(Vec::len).sum::<usize>();
    run.round(3.0, 10_000);
    let urls_of = |run: &Run| {
        let visits = run.visits();
        visits.iter().filter(|(id, seen)| down.contains(id) && seen.len() > 1).count()
    };
    assert!(urls_of(&run) > 5 && run.visits().values().map(Vec::len).sum::<usize>() > before);
}

#[test]
fn an_endless_refresh_spreads_its_requests_over_the_day() {
    let mut run = Run::new(web());
    run.crawl();
    let begun = run.web.all_requests().requests;
    run.now = 1.0;
    let mut crawl = run.machine(Some(Budget::PerDay(96)));
    run.log.extend(crawl.begin_refresh(run.millis()));
    assert_eq!(run.go(&mut crawl, usize::MAX, 4.0), None);
    let requested = run.web.all_requests().requests - begun;
    assert!((280..=300).contains(&requested), "96 a day for three days: {requested}");
    let visits = run.rounds().pop().unwrap();
    assert!(visits.text_changed > 0 && visits.pages > 0, "{visits:?}");
    // Pages are visited in turn, unless one is worth more.
    assert!(visits.visits > 60, "{visits:?}");
}

/// For each request of the last round, in order: whether its host refuses connections.
fn unanswered(run: &Run) -> Vec<bool> {
    let begun = run.rounds().pop().unwrap().started;
    let events = run.log.iter().filter(|batch| batch.at >= begun).flat_map(|batch| &batch.events);
    let requested = events.filter_map(|event| match event {
        Event::PageFetched(_) | Event::Unchanged { .. } | Event::Redirected { .. } => Some(false),
        event => event.is_unanswered().then_some(true),
    });
    requested.collect()
}

#[test]
fn dead_hosts_do_not_delay_the_due_pages_of_a_round() {
    let mut run = Run::new(web());
    run.crawl();
    let urls = run.urls();
    let down = |url: &CrawlUrl| url.authority().starts_with("bare");
    let dead = (0u32..).map(UrlId).zip(&urls).find(|(_, url)| down(url)).unwrap().0;
    let failure = Failure { kind: FailureKind::Refused, retry_after: None };
    run.log.push(Batch { at: run.millis(), latency: None, events: vec![Event::FetchRetried { id: dead, failure }] });
    run.down = "bare";
    let few = run.round(3.0, 30);
    assert!(few.visits > 0 && few.unanswered == 0, "{few:?}");
    // With spare requests they are tried last, and fail.
    let all = run.round(6.0, 10_000);
    let requested = unanswered(&run);
    let first = requested.iter().position(|unanswered| *unanswered).unwrap();
    let others = requested[first..].iter().filter(|unanswered| !**unanswered).count();
    assert!(all.unanswered > 0 && others == 0, "{others} answers came after the first of {requested:?}");
    // They failed a moment ago.
    run.config.refresh.shortest = 5.0;
    let soon = run.round(run.now, 10_000);
    assert_eq!((soon.due, soon.visits, soon.unanswered), (0, 0, 0), "{soon:?}");
}

#[test]
fn without_discovery_only_new_links_are_followed_and_the_first_due_time_is_reported() {
    let mut run = Run::new(web());
    run.config.limits.pages = Some(60);
    run.crawl();
    run.config.refresh.discovery = 0.0;
    run.config.refresh.shortest = 2.0;
    let begun = run.now;
    let early = run.round(begun, 200);
    assert_eq!((early.due, early.requests, early.pages), (0, early.sources, 0), "{early:?}");
    let crawl = run.machine(Some(Budget::Round { requests: Some(200), seconds: None }));
    let start = run.web.spec().start as f64 * 1000.0;
    let first = (crawl.next_due().unwrap().0 as f64 - start) / DAY;
    assert!(first > 2.0 && first < begun + 2.0, "the first page was fetched at the beginning: {first}");
    let (known, before) = (run.urls().len(), run.log.len());
    let later = run.round(3.0, 200);
    assert!(later.visits > 30 && later.pages > 0, "{later:?}");
    let events = run.log[before..].iter().flat_map(|batch| &batch.events);
    let fetched: Vec<UrlId> = events
        .filter_map(|event| match event {
            Event::PageFetched(page) if page.changes.is_none() => Some(page.id),
            _ => None,
        })
        .collect();
    assert_eq!(fetched.len() as u64, later.pages);
    assert!(fetched.iter().all(|id| id.0 as usize >= known), "the queue of the crawl is left alone: {fetched:?}");
}
