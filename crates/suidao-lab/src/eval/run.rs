//! The record of one replay: a step per page, in order of fetching.

use rustc_hash::FxHashMap;

use crate::world::SyntheticWeb;
use suidao_page::model::{Batch, CrawlUrl, Event, PageProcessed, Stop, UrlId, UrlOrigin};

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RunStep {
    /// Whether the page is relevant by ground truth.
    pub relevant: bool,
    /// Length of its tunnel: off-topic pages (by ground truth) in a row before it on the path of its discovery.
    pub hops: u16,
    /// The topic island of the page, if known.
    pub island: Option<u32>,
    /// Whether one of the topic's queries finds it.
    pub hit: bool,
    /// Whether it is among the tenth of the web's pages with the most links to them.
    pub important: bool,
    /// Number of its host, in order of first pages.
    pub host: u32,
}

#[derive(Clone, Debug, PartialEq)]
pub struct StrategyRun {
    /// Identifies web, lexicon and seeds.
    pub task: String,
    pub web: String,
    /// Seed of a generated web and of random choices.
    pub seed: u64,
    pub strategy: String,
    pub steps: Vec<RunStep>,
    /// Number of relevant pages; 0 if unknown.
    pub targets: u32,
    /// Number of topic islands, if known.
    pub islands: Option<u32>,
    /// Number of hosts with pages that links lead to, if known.
    pub hosts: Option<u32>,
    /// Number of important pages, if known.
    pub important: Option<u32>,
    pub stop: Stop,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KnownTruth {
    pub relevant: bool,
    pub island: Option<u32>,
    /// See [`RunStep::hit`].
    pub hit: bool,
    /// See [`RunStep::important`].
    pub important: bool,
}

impl KnownTruth {
    pub fn of(world: &SyntheticWeb, url: &CrawlUrl) -> Self {
        let relevant = world.is_relevant(url);
        let island = world.island(url).filter(|_| relevant).and_then(|island| u32::try_from(island).ok());
        Self { relevant, island, ..Self::default() }
    }
}

/// The parts of a run that events do not contain.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RunMeta {
    /// See [`StrategyRun::task`]. The other fields likewise.
    pub task: String,
    pub web: String,
    pub seed: u64,
    pub strategy: String,
    pub targets: u32,
    pub islands: Option<u32>,
    pub hosts: Option<u32>,
    pub important: Option<u32>,
}

struct Found {
    url: Option<CrawlUrl>,
    origin: UrlOrigin,
    relevant: bool,
    hops: u16,
}

/// Folds the events of one replay into a [`StrategyRun`]. `ask` is called once per page, in order; `None` excludes a
/// page, because of its host or because it is known under another URL.
pub struct Recorder<F> {
    ask: F,
    found: Vec<Found>,
    hosts: FxHashMap<String, u32>,
    steps: Vec<RunStep>,
}

impl<F: FnMut(&CrawlUrl, &PageProcessed) -> Option<KnownTruth>> Recorder<F> {
    pub fn new(ask: F) -> Self {
        Self { ask, found: Vec::new(), hosts: FxHashMap::default(), steps: Vec::new() }
    }

    pub fn fold(&mut self, batch: &Batch) {
        for event in &batch.events {
            match event {
                Event::Discovered(new) => {
                    self.found.push(Found { url: Some(new.url.clone()), origin: new.origin, relevant: false, hops: 0 });
                }
                Event::PageFetched(page) => self.settled(page),
                _ => {}
            }
        }
    }

    pub fn pages(&self) -> usize {
        self.steps.len()
    }

    /// The run, at most `pages` long.
    pub fn finish(mut self, of: RunMeta, stop: Stop, pages: usize) -> StrategyRun {
        self.steps.truncate(pages);
        let RunMeta { task, web, seed, strategy, targets, islands, hosts, important } = of;
        StrategyRun { task, web, seed, strategy, steps: self.steps, targets, islands, hosts, important, stop }
    }

    fn settled(&mut self, page: &PageProcessed) {
        let hops = self.hops(page.id);
        let Some(found) = self.found.get_mut(page.id.0 as usize) else { return };
        let Some(url) = found.url.take() else { return };
        let known = (self.ask)(&url, page);
        found.hops = hops;
        found.relevant = known.map_or_else(|| page.is_relevant_document(), |known| known.relevant);
        let Some(KnownTruth { relevant, island, hit, important }) = known else { return };
        let next = self.hosts.len() as u32;
        let host = *self.hosts.entry(url.authority().to_owned()).or_insert(next);
        self.steps.push(RunStep { relevant, hops, island, hit, important, host });
    }

    /// Off-topic pages before this one, back to a relevant page or a seed. Redirects are not pages.
    fn hops(&self, id: UrlId) -> u16 {
        let mut at = id;
        loop {
            match self.found.get(at.0 as usize).map(|found| found.origin) {
                // Terminates, because a URL's origin has a smaller number.
                Some(UrlOrigin::Redirect(from) | UrlOrigin::Canonical(from)) if from < at => at = from,
                Some(UrlOrigin::Link(from)) => {
                    return self.found.get(from.0 as usize).map_or(0, |from| match from.relevant {
                        true => 0,
                        false => from.hops.saturating_add(1),
                    });
                }
                Some(
                    UrlOrigin::Seed
                    | UrlOrigin::Offered
                    | UrlOrigin::Redirect(_)
                    | UrlOrigin::Canonical(_)
                    | UrlOrigin::Named
                    | UrlOrigin::Listed(_),
                )
                | None => return 0,
            }
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use suidao_page::model::{Discovered, Millis, Page, PathState, Priority, QueueEntry, QueueId, Relevance};

    /// A hand-made run: one letter per page, `+` relevant, `-` not, each on the host and island of its number.
    pub(in crate::eval) fn by_hand(task: &str, seed: u64, strategy: &str, pages: &str) -> StrategyRun {
        let step = |(at, letter): (usize, char)| RunStep {
            relevant: letter == '+',
            hops: (at % 3) as u16,
            island: (letter == '+').then_some((at / 20) as u32),
            hit: at % 2 == 0,
            important: at % 5 == 0,
            host: (at / 10) as u32,
        };
        StrategyRun {
            task: task.into(),
            web: format!("world:{task}"),
            seed,
            strategy: strategy.into(),
            steps: pages.chars().enumerate().map(step).collect(),
            targets: 40,
            islands: Some(4),
            hosts: Some(40),
            important: Some(60),
            stop: Stop::PageLimit,
        }
    }

    fn discovered(id: u32, url: &str, origin: UrlOrigin) -> Event {
        let url = CrawlUrl::parse(url).unwrap();
        Event::Discovered(Discovered { id: UrlId(id), url, origin, anchor: String::new() })
    }

    fn settled(id: u32, status: u16, relevant: bool) -> Event {
        let place = QueueEntry { queue: QueueId::MAIN, priority: Priority::new(1.0), path: PathState::SEED };
        let relevance = Relevance::new(if relevant { 0.5 } else { 0.1 });
        let page = Page { relevance, bytes: 1_000, ..Page::default() };
        Event::PageFetched(Box::new(PageProcessed::of(UrlId(id), status, place, relevant, page)))
    }

    #[test]
    fn a_replay_becomes_its_steps() {
        let link = |from| UrlOrigin::Link(UrlId(from));
        let events = vec![
            discovered(0, "http://a.cn/", UrlOrigin::Seed),
            discovered(1, "http://a.cn/off", link(0)),
            settled(0, 200, true),
            discovered(2, "http://b.cn/moved", link(1)),
            settled(1, 200, false),
            discovered(3, "http://b.cn/off", UrlOrigin::Redirect(UrlId(2))),
            discovered(4, "http://b.cn/hit", link(3)),
            discovered(5, "http://out.cn/", link(3)),
            discovered(6, "http://b.cn/missing", link(3)),
            settled(3, 200, true),
            settled(5, 200, false),
            settled(6, 404, false),
            settled(4, 200, false),
        ];
        // In the ground truth /hit is relevant and /off is not, regardless of the threshold; out.cn does not count.
        let ask = |url: &CrawlUrl, page: &PageProcessed| {
            let relevant = url.path() == "/hit" || (page.on_topic && url.path() == "/");
            (url.host() != "out.cn" && page.status == 200).then_some(KnownTruth {
                relevant,
                island: relevant.then_some(7),
                ..KnownTruth::default()
            })
        };
        let mut recorder = Recorder::new(ask);
        recorder.fold(&Batch { at: Millis(0), latency: None, events });
        assert_eq!(recorder.pages(), 4);
        let run = recorder.finish(RunMeta { targets: 2, ..RunMeta::default() }, Stop::FrontierEmpty, 9);
        let steps: Vec<_> = run.steps.iter().map(|s| (s.relevant, s.hops, s.island, s.host)).collect();
        let expected = [(true, 0, Some(7), 0), (false, 0, None, 0), (false, 1, None, 1), (true, 2, Some(7), 1)];
        assert_eq!(steps, expected);
    }

    #[test]
    fn a_run_is_cut_at_its_pages() {
        let mut recorder = Recorder::new(|_: &CrawlUrl, page: &PageProcessed| {
            Some(KnownTruth { relevant: page.on_topic, ..KnownTruth::default() })
        });
        let ids = 0..5_u32;
        let mut events: Vec<Event> =
            ids.clone().map(|id| discovered(id, &format!("http://a.cn/{id}"), UrlOrigin::Seed)).collect();
        events.extend(ids.map(|id| settled(id, 200, true)));
        recorder.fold(&Batch { at: Millis(0), latency: None, events });
        assert_eq!(recorder.finish(RunMeta::default(), Stop::PageLimit, 3).steps.len(), 3);
    }
}
