//! A cluster in virtual time, without a server: a generated web of a million pages on 10,000 hosts, one page of each as a
//! seed, breadth-first, 256 partitions, 1 to 64 workers with 64 requests in flight each. A host is asked once a second, and
//! answers after 500 ms. Links between partitions arrive at once. In the last row one of 8 workers is killed every 10 s
//! and another joins: a moved partition is without a worker for 5 s, and what it had in flight is requested again.
//!
//! ```text
//! cargo bench --bench cluster_world
//! ```
//!
//! `SUIDAO_PAGES` (30000) to fetch. Speed is in pages per virtual second; imbalance is the pages of the busiest worker over
//! the mean.

#![allow(missing_docs)] // a bench is not a library

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, HashSet};

use suidao::cluster::{Assignment, next_partition};
use suidao::config::Config;
use suidao::crawl::{BestValues, Crawl, MAX_WAIT_WITHOUT_PAGE, Next, Partition, ResponseMeta, Ticket};
use suidao::live::crawl_settings;
use suidao::model::{Batch, CrawlUrl, Event, Millis};
use suidao::recorded::{self, Memo};
use suidao::replay::{ReplaySource, TopicalWeb};
use suidao::topic::Topic;
use suidao::world::{SyntheticWeb, WebSpec};

const PARTITIONS: u32 = 256;
const IN_FLIGHT: usize = 64;
const LATENCY: u64 = 500;
/// Between two changes of the workers, and until a moved partition has a worker again.
const CHANGE: u64 = 10_000;
const TAKEOVER: u64 = 5_000;
/// Milliseconds for which the value of a partition's best URL is not found out again.
const FRESH: u64 = 250;

struct Part {
    crawl: Crawl,
    worker: usize,
    wake: Millis,
    is_idle: bool,
    /// Expected values of its best URLs, and when they were found out.
    value: Option<(Millis, BestValues)>,
    /// Requests of an earlier worker come to nothing.
    generation: u64,
}

#[derive(Default)]
struct Worker {
    partitions: Vec<usize>,
    in_flight: usize,
    pages: u64,
    last_page: Millis,
}

struct Cluster<'a, S> {
    source: &'a S,
    parts: Vec<Part>,
    workers: Vec<Worker>,
    /// Responses: when they arrive, their number, the partition and its generation.
    arriving: BinaryHeap<Reverse<(Millis, u64, usize, u64)>>,
    tickets: BTreeMap<u64, Ticket>,
    requests: u64,
    sent: u64,
    repeated: u64,
    pages: u64,
}

impl<S: ReplaySource> Cluster<'_, S> {
    /// Gives the partitions to these workers, of those that have ever been.
    fn assign(&mut self, alive: &[usize], now: Millis) {
        let assignment = Assignment::new(PARTITIONS, alive.iter().map(|number| format!("worker{number}")));
        self.workers.iter_mut().for_each(|worker| worker.partitions.clear());
        for (number, part) in self.parts.iter_mut().enumerate() {
            let owner = assignment.owner(number as u32).and_then(|name| name.strip_prefix("worker")?.parse().ok());
            let owner: usize = owner.expect("each partition has an owner");
            if owner != part.worker {
                if part.worker != usize::MAX {
                    part.generation += 1;
                    part.wake = now.after(TAKEOVER);
                }
                part.worker = owner;
            }
            self.workers[owner].partitions.push(number);
        }
    }

    fn best(&mut self, number: usize, now: Millis) -> BestValues {
        let part = &mut self.parts[number];
        match part.value {
            Some((at, values)) if now.since(at) < FRESH => values,
            _ => part.value.insert((now, part.crawl.best_values(now))).1,
        }
    }

    /// Sends what a worker may send; returns when to ask it again.
    fn send(&mut self, worker: usize, now: Millis, best: f32) -> Millis {
        loop {
            if self.workers[worker].in_flight >= IN_FLIGHT {
                return Millis(u64::MAX);
            }
            let (mut theta, mut candidates, mut wake) = (0.0, Vec::new(), Millis(u64::MAX));
            for number in self.workers[worker].partitions.clone() {
                if self.parts[number].is_idle {
                    continue;
                }
                if self.parts[number].wake > now {
                    wake = wake.min(self.parts[number].wake);
                    continue;
                }
                let values = self.best(number, now);
                theta = values.theta;
                candidates.push((number as u32, values.ready));
            }
            let waiting = !candidates.is_empty();
            let idle = now.since(self.workers[worker].last_page);
            let Some(number) = next_partition(candidates, best, theta, idle) else {
                let patience = self.workers[worker].last_page.after(MAX_WAIT_WITHOUT_PAGE);
                return if waiting { wake.min(patience.max(now.after(1))) } else { wake };
            };
            let part = &mut self.parts[number as usize];
            part.value = None;
            match part.crawl.next(now) {
                Next::Fetch(ticket) => {
                    self.requests += 1;
                    let id = self.requests;
                    self.tickets.insert(id, ticket);
                    self.arriving.push(Reverse((now.after(LATENCY), id, number as usize, part.generation)));
                    self.workers[worker].in_flight += 1;
                }
                Next::Record(batch) => self.deliver(number as usize, &batch, now),
                Next::Wait(until) => part.wake = until.unwrap_or(Millis(u64::MAX)).max(now.after(1)),
                Next::Done(_) => part.is_idle = true,
            }
        }
    }

    fn settle(&mut self, id: u64, number: usize, generation: u64, now: Millis) {
        let Some(ticket) = self.tickets.remove(&id) else { return };
        let part = &mut self.parts[number];
        if part.generation != generation {
            self.repeated += 1;
            part.crawl.requeue_ticket(ticket, now);
            return;
        }
        let outcome = self.source.outcome(&ticket.kind, &ticket.url);
        let meta = ResponseMeta { latency: Some(LATENCY), ..ResponseMeta::default() };
        let batch = part.crawl.settle(ticket, outcome, meta, now);
        let worker = &mut self.workers[part.worker];
        let pages = batch.events.iter().filter(|event| matches!(event, Event::PageFetched(_))).count() as u64;
        worker.pages += pages;
        self.pages += pages;
        if pages > 0 {
            worker.last_page = now;
        }
        (part.wake, part.is_idle, part.value) = (Millis(0), false, None);
        self.deliver(number, &batch, now);
    }

    fn deliver(&mut self, from: usize, batch: &Batch, now: Millis) {
        for link in self.parts[from].crawl.take_leaving(batch) {
            self.sent += 1;
            let owner = &mut self.parts[Partition::number_of(&link.url, PARTITIONS) as usize];
            owner.crawl.receive(&[link], now);
            (owner.is_idle, owner.value) = (false, None);
            if owner.wake == Millis(u64::MAX) {
                owner.wake = now;
            }
        }
    }
}

struct Figures {
    seconds: f64,
    imbalance: f64,
    links: f64,
    repeated: u64,
}

fn run(
    topic: &Topic,
    source: &impl ReplaySource,
    seeds: &[CrawlUrl],
    count: usize,
    change: bool,
    most: u64,
) -> Figures {
    let sets = ["limits.requests=1000000000000", "strategy.name=breadth-first", "crawl.spend=0"].map(str::to_owned);
    let config = Config::load(None, &sets).expect("the keys are the configuration's");
    let part = |number| {
        let mut settings = crawl_settings(&config, topic);
        settings.partition = Some(Partition { number, count: PARTITIONS });
        let strategy = config.strategy.build(settings.page_threshold);
        let crawl = Crawl::new(settings, strategy);
        Part { crawl, worker: usize::MAX, wake: Millis(0), is_idle: false, value: None, generation: 0 }
    };
    let ever = if change { 1_000 } else { count };
    let mut cluster = Cluster {
        source,
        parts: (0..PARTITIONS).map(part).collect(),
        workers: (0..ever).map(|_| Worker::default()).collect(),
        arriving: BinaryHeap::new(),
        tickets: BTreeMap::new(),
        requests: 0,
        sent: 0,
        repeated: 0,
        pages: 0,
    };
    let (mut alive, mut now): (Vec<usize>, Millis) = ((0..count).collect(), Millis(0));
    cluster.assign(&alive, now);
    for seed in seeds {
        let number = Partition::number_of(seed, PARTITIONS) as usize;
        let batch = cluster.parts[number].crawl.seed(std::slice::from_ref(seed), now);
        cluster.deliver(number, &batch, now);
    }
    let mut next_change = if change { CHANGE } else { u64::MAX };
    while cluster.pages < most {
        // What workers publish twice a second.
        let best = (0..PARTITIONS as usize).filter(|number| !cluster.parts[*number].is_idle).collect::<Vec<_>>();
        let best = best.into_iter().filter_map(|number| cluster.best(number, now).soon).fold(0.0, f32::max);
        let wake = alive.iter().map(|worker| cluster.send(*worker, now, best)).min().unwrap_or(Millis(u64::MAX));
        let arrival = cluster.arriving.peek().map_or(Millis(u64::MAX), |Reverse((at, ..))| *at);
        let then = wake.min(arrival).min(Millis(next_change));
        if then == Millis(u64::MAX) {
            break;
        }
        // All responses of the next 50 ms at once.
        now = now.after(50).max(then);
        while let Some(Reverse((at, id, number, generation))) = cluster.arriving.peek().copied() {
            if at > now {
                break;
            }
            cluster.arriving.pop();
            let worker = cluster.parts[number].worker;
            cluster.workers[worker].in_flight = cluster.workers[worker].in_flight.saturating_sub(1);
            cluster.settle(id, number, generation, now);
        }
        if now.0 >= next_change {
            next_change += CHANGE;
            let new = alive.last().map_or(0, |last| last + 1);
            alive.remove(0);
            alive.push(new);
            cluster.assign(&alive, now);
        }
    }
    let pages: Vec<u64> = cluster.workers.iter().map(|worker| worker.pages).filter(|pages| *pages > 0).collect();
    let mean = cluster.pages as f64 / count as f64;
    Figures {
        seconds: now.0 as f64 / 1_000.0,
        imbalance: pages.iter().copied().max().unwrap_or(0) as f64 / mean,
        links: cluster.sent as f64 / cluster.pages as f64,
        repeated: cluster.repeated,
    }
}

fn main() {
    // `cargo test --benches` passes this flag.
    if std::env::args().any(|argument| argument == "--test") {
        return;
    }
    let most = std::env::var("SUIDAO_PAGES").map_or(30_000, |pages| pages.parse().expect("SUIDAO_PAGES is a number"));
    let spec = WebSpec { pages: 1_000_000, hosts: 10_000, islands: 400, seed: 1, ..WebSpec::demo() };
    let world = SyntheticWeb::new(spec).expect("the web is generated");
    let topic = Topic::new(recorded::learn(&world).expect("the topic is learnt"));
    let memo = Memo::default();
    let source = memo.over(TopicalWeb { web: &world, topic: &topic });
    println!(
        "{:>8}{:>10}{:>10}{:>12}{:>14}{:>12}",
        "workers", "pages/s", "speed-up", "imbalance", "links a page", "repeated"
    );
    let mut hosts = HashSet::new();
    let seeds: Vec<CrawlUrl> =
        world.pages().map(|(url, _)| url).filter(|url| hosts.insert(url.host().to_owned())).collect();
    let mut first = None;
    for (count, change) in
        [(1, false), (2, false), (4, false), (8, false), (16, false), (32, false), (64, false), (8, true)]
    {
        let figures = run(&topic, &source, &seeds, count, change, most);
        let rate = most as f64 / figures.seconds;
        let speed_up = rate / *first.get_or_insert(rate);
        let name = if change { format!("{count}, moving") } else { count.to_string() };
        println!(
            "{name:>8}{rate:>10.0}{speed_up:>10.1}{:>12.2}{:>14.1}{:>12}",
            figures.imbalance, figures.links, figures.repeated
        );
    }
}
