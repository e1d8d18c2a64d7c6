//! Two forums on one host, watched within one budget on a virtual clock.

use std::collections::BTreeMap;
use std::sync::Arc;

use suidao::config::Config;
use suidao::crawl::{Crawl, Exploration, ForumMode, Next, ResponseMeta, Watch, outcome};
use suidao::forum::board::BoardTest;
use suidao::forum::schedule::ScheduleMethod;
use suidao::model::{Batch, CrawlUrl, Event, Failure, Fetched, ForumMap, Millis, UrlId};
use suidao::replay::Web;
use suidao::strategy::Boards;
use suidao::topic::{Lexicon, Topic};
use suidao::world::{ActivitySpec, Forum, ForumSpec, ForumWeb, Skin};

const DAY: i64 = 86_400;
const HOST: &str = "forum.test";
/// Directory of the second forum.
const SECOND: &str = "/club";

/// The first forum is at the root of the host, the second, whose links are relative, in a directory.
struct Host {
    root: ForumWeb,
    club: ForumWeb,
}

impl Web for Host {
    fn get(&self, url: &CrawlUrl) -> Result<Fetched, Failure> {
        let Some(inside) = url.as_str().strip_prefix(&format!("http://{HOST}{SECOND}")) else {
            return self.root.get(url);
        };
        let own = CrawlUrl::parse(&format!("http://{HOST}{inside}")).unwrap();
        self.club.get(&own).map(|page| Fetched { url: url.clone(), ..page })
    }
}

/// Equal activity in both.
fn activity() -> ActivitySpec {
    ActivitySpec { boards: 4, users: 40, threads_per_day: 8.0, replies: 4.0, days: 14, ..ActivitySpec::default() }
}

fn host() -> Host {
    let forum = |skin| {
        let spec = ForumSpec {
            skin,
            host: HOST.to_owned(),
            activity: activity(),
            members_only: 0,
            sub_boards: 0.0,
            ..ForumSpec::default()
        };
        ForumWeb::at(Arc::new(Forum::new(spec)), begin())
    };
    Host { root: forum(Skin::DiscuzStatic), club: forum(Skin::Phpbb) }
}

/// The crawl begins after six days of posts.
fn begin() -> i64 {
    activity().start + 6 * DAY
}

struct Run {
    host: Host,
    crawl: Crawl,
    topic: Topic,
    now: Millis,
    batches: Vec<Batch>,
}

impl Run {
    fn new(mode: ForumMode, per_day: Option<u32>) -> Self {
        let mut config = Config::default();
        config.politeness.delay = 1.0;
        config.crawl.page_threshold = Some(0.0);
        config.scope.allow_hosts.push(HOST.to_owned());
        let topic = Topic::new(Lexicon::from_terms("forum", &[("论坛", 1.0)]));
        let mut settings = suidao::live::crawl_settings(&config, &topic);
        settings.forums = mode;
        settings.watch = per_day.map(|per_day| Watch { per_day: Some(per_day), method: ScheduleMethod::Sqrt });
        let crawl = Crawl::new(settings, Box::new(Boards));
        Self { host: host(), crawl, topic, now: Millis(begin() as u64 * 1000), batches: Vec::new() }
    }

    /// Runs to the end or so many days after the beginning.
    fn until(&mut self, days: i64) {
        let end = Millis((begin() + days * DAY) as u64 * 1000);
        while self.now < end {
            match self.crawl.next(self.now) {
                Next::Fetch(ticket) => {
                    let seconds = (self.now.0 / 1000) as i64;
                    self.host.root.set(seconds);
                    self.host.club.set(seconds);
                    let answer = self.host.get(&ticket.url);
                    let read =
                        outcome(&ticket.kind, answer.as_ref().map_err(Clone::clone), None, &self.topic, "suidao");
                    self.now = self.now.after(100);
                    let batch = self.crawl.settle(ticket, read, ResponseMeta::default(), self.now);
                    self.batches.push(batch);
                }
                Next::Record(batch) => self.batches.push(batch),
                Next::Wait(at) => self.now = at.unwrap_or(end).max(self.now.after(1)),
                Next::Done(_) => return,
            }
        }
    }

    fn urls(&self) -> BTreeMap<UrlId, CrawlUrl> {
        let found = self.batches.iter().flat_map(|batch| &batch.events).filter_map(|event| match event {
            Event::Discovered(found) => Some((found.id, found.url.clone())),
            _ => None,
        });
        found.collect()
    }

    /// Scheduled visits on the local day so many days after the beginning, by board.
    fn visits(&self, day: i64) -> BTreeMap<String, usize> {
        let (urls, mut visits) = (self.urls(), BTreeMap::new());
        let local = |batch: &Batch| ((batch.at.0 / 1000) as i64 + 8 * 3600).div_euclid(DAY);
        let first = (begin() + 8 * 3600).div_euclid(DAY);
        for batch in self.batches.iter().filter(|batch| local(batch) == first + day) {
            for event in &batch.events {
                let Event::Forum(step) = event else { continue };
                for board in &step.restarted {
                    *visits.entry(urls[board].as_str().to_owned()).or_default() += 1;
                }
            }
        }
        visits
    }
}

fn map(start: &str, weight: f64) -> ForumMap {
    let mut run = Run::new(ForumMode::Discover { test: BoardTest::Records }, None);
    run.batches.push(run.crawl.seed(&[CrawlUrl::parse(start).unwrap()], run.now));
    run.until(1);
    match run.crawl.forum() {
        Exploration::Understood(map) => ForumMap { weight, ..map },
        other => panic!("{start}: {other:?}"),
    }
}

fn watched(weight: f64, per_day: u32, days: i64) -> Run {
    let maps = vec![map(&format!("http://{HOST}/"), 1.0), map(&format!("http://{HOST}{SECOND}/"), weight)];
    let mut run = Run::new(ForumMode::Follow(maps), Some(per_day));
    let first = run.crawl.visit_boards(run.now).expect("boards are queued");
    run.batches.push(first);
    run.until(days);
    run
}

fn is_second(url: &str) -> bool {
    url.starts_with(&format!("http://{HOST}{SECOND}/"))
}

#[test]
fn visits_of_two_forums_of_a_host_share_one_budget_by_value() {
    const M: usize = 60;
    let run = watched(4.0, M as u32, 5);
    // The first day is that of the first crawl, and the last is incomplete.
    for day in 2..=3 {
        let visits = run.visits(day);
        assert_eq!(visits.len(), 8, "all boards of both: {visits:?}");
        let sum = |second: bool| -> usize {
            visits.iter().filter(|(url, _)| is_second(url) == second).map(|(_, count)| count).sum()
        };
        // Instants move when the plan of a day replaces that of the day before.
        assert!((M - 4..=M + 4).contains(&(sum(false) + sum(true))), "{M} visits a day were requested: {visits:?}");
        // sqrt(W λ): equal posts, four times the weight.
        let ratio = sum(true) as f64 / sum(false) as f64;
        assert!((1.75..=2.25).contains(&ratio), "day {day}: {ratio} instead of 2: {visits:?}");
        let counts = |second: bool| {
            let mut counts: Vec<usize> =
                visits.iter().filter(|(url, _)| is_second(url) == second).map(|(_, count)| *count).collect();
            counts.sort_unstable();
            counts
        };
        for (light, heavy) in counts(false).into_iter().zip(counts(true)) {
            assert!(heavy.abs_diff(2 * light) <= 3, "board by board: {visits:?}");
        }
    }
    let urls = run.urls();
    let fetched = run.batches.iter().flat_map(|batch| &batch.events).filter_map(|event| match event {
        Event::PageFetched(page) => page.forum.as_ref().and_then(|forum| forum.kind.thread()).map(|_| page.id),
        _ => None,
    });
    let (mut first, mut second) = (0, 0);
    fetched.for_each(|id| *(if is_second(urls[&id].as_str()) { &mut second } else { &mut first }) += 1);
    assert!(first > 60 && second > 60, "threads of both are read: {first} and {second}");
}

#[test]
fn a_restart_of_two_forums_changes_nothing() {
    let mut whole = watched(4.0, 40, 1);
    let maps = vec![map(&format!("http://{HOST}/"), 1.0), map(&format!("http://{HOST}{SECOND}/"), 4.0)];
    let mut resumed = Run::new(ForumMode::Follow(maps), Some(40));
    for batch in &whole.batches {
        resumed.crawl.restore(batch);
    }
    (resumed.now, resumed.batches) = (whole.now, whole.batches.clone());
    whole.until(2);
    resumed.until(2);
    assert!(whole.visits(1).values().sum::<usize>() > 30);
    assert_eq!(whole.visits(1), resumed.visits(1));
}
