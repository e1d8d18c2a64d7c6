//! A forum watched for days on a virtual clock: boards are visited as often as planned, new posts are fetched soon, and
//! a restart in the middle changes nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use suidao::config::Config;
use suidao::crawl::{Crawl, ForumMode, Next, ResponseMeta, Watch, outcome};
use suidao::forum::board::BoardTest;
use suidao::forum::schedule::ScheduleMethod;
use suidao::model::{Batch, CrawlUrl, Event, Millis, PageKind, UrlId};
use suidao::replay::Web;
use suidao::strategy::Boards;
use suidao::topic::{Lexicon, Topic};
use suidao::world::forum::ServedForumPage;
use suidao::world::{ActivitySpec, Forum, ForumSpec, ForumWeb, Skin};

const DAY: i64 = 86_400;

struct Watched {
    forum: Arc<Forum>,
    web: ForumWeb,
    crawl: Crawl,
    topic: Topic,
    now: Millis,
    batches: Vec<Batch>,
}

fn crawl(forum: &Forum, per_day: u32) -> Crawl {
    let mut config = Config::default();
    config.politeness.delay = 1.0;
    config.crawl.page_threshold = Some(0.0);
    config.scope.allow_hosts.push(forum.home().host().to_owned());
    let topic = Topic::new(Lexicon::from_terms("forum", &[("论坛", 1.0)]));
    let mut settings = suidao::live::crawl_settings(&config, &topic);
    settings.forums = ForumMode::Explore { test: BoardTest::Records, index_pages: Some(100) };
    settings.watch = Some(Watch { per_day: Some(per_day), method: ScheduleMethod::Sqrt });
    Crawl::new(settings, Box::new(Boards))
}

impl Watched {
    fn new(per_day: u32) -> Self {
        let activity = ActivitySpec {
            boards: 4,
            users: 40,
            threads_per_day: 6.0,
            replies: 4.0,
            days: 12,
            ..ActivitySpec::default()
        };
        let spec = ForumSpec { skin: Skin::Discuz, activity, members_only: 0, sub_boards: 0.0, ..ForumSpec::default() };
        let forum = Arc::new(Forum::new(spec));
        let start = forum.spec().activity.start + 6 * DAY;
        let mut crawl = crawl(&forum, per_day);
        let now = Millis(u64::try_from(start).unwrap() * 1000);
        let batches = vec![crawl.seed(&[forum.home()], now)];
        let web = ForumWeb::at(Arc::clone(&forum), start);
        let topic = Topic::new(Lexicon::from_terms("forum", &[("论坛", 1.0)]));
        Self { forum, web, crawl, topic, now, batches }
    }

    /// Runs until so many days after the start.
    fn until(&mut self, days: i64) {
        let end = Millis(u64::try_from(self.forum.spec().activity.start + (6 + days) * DAY).unwrap() * 1000);
        while self.now < end {
            match self.crawl.next(self.now) {
                Next::Fetch(ticket) => {
                    self.web.set(i64::try_from(self.now.0 / 1000).unwrap());
                    let answer = self.web.get(&ticket.url);
                    let read =
                        outcome(&ticket.kind, answer.as_ref().map_err(Clone::clone), None, &self.topic, "suidao");
                    self.now = self.now.after(100);
                    let batch = self.crawl.settle(ticket, read, ResponseMeta::default(), self.now);
                    self.batches.push(batch);
                }
                Next::Record(batch) => self.batches.push(batch),
                Next::Wait(at) => self.now = at.expect("a watch always knows when it continues").max(self.now.after(1)),
                Next::Done(stop) => panic!("a watch does not end: {stop:?}"),
            }
        }
    }

    fn urls(&self) -> BTreeMap<UrlId, CrawlUrl> {
        let events = self.batches.iter().flat_map(|batch| &batch.events);
        events
            .filter_map(|event| match event {
                Event::Discovered(found) => Some((found.id, found.url.clone())),
                _ => None,
            })
            .collect()
    }

    /// Visits of each board on each day after the first.
    fn visits(&self) -> BTreeMap<(UrlId, i64), usize> {
        let mut visits = BTreeMap::new();
        for batch in &self.batches {
            for event in &batch.events {
                if let Event::Forum(step) = event {
                    for board in &step.restarted {
                        let local = i64::try_from(batch.at.0 / 1000).unwrap() + 8 * 3600;
                        *visits.entry((*board, local.div_euclid(DAY))).or_default() += 1;
                    }
                }
            }
        }
        visits
    }
}

#[test]
fn boards_are_visited_at_the_requested_rate_and_new_posts_are_fetched() {
    let mut watched = Watched::new(12);
    watched.until(3);
    let visits = watched.visits();
    let days: BTreeSet<i64> = visits.keys().map(|(_, day)| *day).collect();
    // The first and the last day are incomplete.
    for day in days.iter().skip(1).take(days.len() - 2) {
        let of_day: usize = visits.iter().filter(|((_, of), _)| of == day).map(|(_, count)| count).sum();
        assert!((11..=13).contains(&of_day), "12 visits a day were requested: {visits:?}");
    }
    // Everything posted more than ten hours ago is stored.
    let now = i64::try_from(watched.now.0 / 1000).unwrap();
    let urls = watched.urls();
    let fetched: BTreeSet<usize> = (watched.batches.iter().flat_map(|batch| &batch.events))
        .filter_map(|event| match event {
            Event::PageFetched(settled) if matches!(settled.forum.as_ref()?.kind, PageKind::Thread { .. }) => {
                match watched.forum.kind_of(&urls[&settled.id]) {
                    ServedForumPage::Thread { thread, .. } => Some(thread),
                    _ => None,
                }
            }
            Event::Forum(step) => step.read.first().and_then(|(id, ..)| match watched.forum.kind_of(&urls[id]) {
                ServedForumPage::Thread { thread, .. } => Some(thread),
                _ => None,
            }),
            _ => None,
        })
        .collect();
    let open = watched.forum.threads(now - 10 * 3600).len();
    assert!(fetched.len() >= open, "{} of {open} threads", fetched.len());
    let again =
        watched.batches.iter().flat_map(|batch| &batch.events).filter(|event| matches!(event, Event::PageFetched(_)));
    println!("{} pages for {open} threads in three days", again.count());
}

#[test]
fn a_restart_changes_nothing() {
    let mut whole = Watched::new(12);
    whole.until(1);
    let before = whole.batches.len();
    // A restart has only the log.
    let mut resumed = Watched::new(12);
    resumed.crawl = crawl(&resumed.forum, 12);
    for batch in &whole.batches {
        resumed.crawl.restore(batch);
    }
    resumed.now = whole.now;
    resumed.batches = whole.batches.clone();
    whole.until(2);
    resumed.until(2);
    let kinds = |watched: &Watched| {
        let events = watched.batches[before..].iter().flat_map(|batch| batch.events.clone());
        events.filter(|event| matches!(event, Event::PageFetched(_) | Event::Forum(_))).count()
    };
    assert!(kinds(&whole) > 10);
    let difference = kinds(&whole).abs_diff(kinds(&resumed));
    assert!(difference <= 8, "{} events against {} after a restart", kinds(&whole), kinds(&resumed));
    assert_eq!(whole.visits(), resumed.visits(), "the same boards on the same days");
}
