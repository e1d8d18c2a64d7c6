//! `suidao crawl --dry-run`: what would be fetched first and why. Nothing is fetched, nothing is written.

use std::path::Path;

use anyhow::{Context, Result};
use serde_json::{Value, json};
use suidao::config::Config;
use suidao::crawl::{Crawl, Rehearsed, Seeding, Turn};
use suidao::live::{conditions, now};
use suidao::model::{CrawlUrl, Event, Origin, Place, Refusal, Stop, Tunnel, UrlId, number};
use suidao::store::{CrawlDirectory, Meta, Store};
use suidao::topic::Topic;

use super::Exit;

/// What is asked for.
pub struct Wish<'a> {
    /// The lexicon's file.
    pub lexicon: &'a Path,
    /// So many requests.
    pub most: usize,
    /// As lines of JSON.
    pub json: bool,
}

pub fn show(
    wish: &Wish,
    config: &Config,
    topic: &Topic,
    seeds: &[CrawlUrl],
    directory: &CrawlDirectory,
) -> Result<Exit> {
    let conditions = conditions(config, topic);
    let strategy = config.strategy.build(conditions.page_threshold);
    let mut crawl = Crawl::new(conditions, strategy);
    // By number: the page it was found on; what a seed has is told by the origin.
    let mut origins: Vec<Origin> = Vec::new();
    let mut observe = |event: &Event| {
        if let Event::Discovered(found) = event {
            origins.push(found.origin);
        }
    };
    directory.check_state()?;
    let resumed = directory.holds_crawl();
    if !resumed {
        Store::may_begin(directory)?;
    }
    if resumed {
        let store = Store::open(directory)?;
        let meta = Meta::new(&topic.lexicon().name, &topic.digest(), &config.strategy.label(), now());
        meta.resumes(store.meta(), directory)?;
        for record in store.batches() {
            let batch = record?.batch;
            batch.events.iter().for_each(&mut observe);
            crawl.restore(&batch);
        }
    }
    let (mut seeding, at) = (Seeding::of(seeds), now());
    while let Some(batch) = crawl.seed_portion(&mut seeding, at) {
        batch.events.iter().for_each(&mut observe);
    }
    let progress = crawl.progress();
    let (requests, stop) = crawl.rehearse(now(), config.crawl.in_flight, wish.most);
    let refused =
        |seed: &CrawlUrl| config.scope.refuses(seed).or_else(|| suidao::trap::path::refuses(&config.traps, seed));
    let from = |id: UrlId| match origins.get(id.0 as usize) {
        Some(Origin::Seed) => "seed".to_owned(),
        Some(Origin::Link(page)) => format!("on {}", crawl.url(*page)),
        Some(Origin::Redirect(page)) => format!("redirect of {}", crawl.url(*page)),
        Some(Origin::Listed(source)) => format!("named by {}", crawl.url(*source)),
        Some(Origin::Canonical(copy)) => format!("the address that {} calls its own", crawl.url(*copy)),
        Some(Origin::Named) | None => "named by robots.txt, a page or a sitemap".to_owned(),
    };
    if wish.json {
        for seed in seeds {
            let refusal = refused(seed);
            say!("{}", json!({ "seed": seed, "refused": refusal, "why": refusal.map(Refusal::why) }));
        }
        for (rank, request) in requests.iter().enumerate() {
            say!("{}", number::plain(told(rank + 1, request, &from).1));
        }
        say!(
            "{}",
            number::plain(json!({ "summary": {
            "topic": topic.lexicon().name, "strategy": config.strategy.label(), "resumes": resumed,
            "pages": progress.pages, "queued": progress.queued, "known": progress.known, "ends": stop,
            "config": config.shown(),
        } }))
        );
        return Ok(Exit::Done);
    }
    let lexicon = topic.lexicon();
    let terms = lexicon.terms.len();
    say!("# topic {} ({terms} terms, {}), strategy {}", lexicon.name, wish.lexicon.display(), config.strategy.label());
    if resumed {
        let (pages, queued) = (progress.pages, progress.queued);
        say!("# the crawl goes on in {}: {pages} pages fetched, {queued} URLs queued", directory.root().display());
    } else {
        say!("# the crawl would begin in {}", directory.root().display());
    }
    let inside = seeds.iter().filter(|seed| refused(seed).is_none()).count();
    say!("# {} seeds, {inside} of them in scope", seeds.len());
    for seed in seeds {
        if let Some(reason) = refused(seed) {
            say!("#   refused: {seed} ({})", reason.why());
        }
    }
    say!(
        "#\n# first requests, {} at a time, if each answer takes 0.1 s and brings nothing new:",
        config.crawl.in_flight
    );
    for (rank, request) in requests.iter().enumerate() {
        say!("# {}", told(rank + 1, request, &from).0);
    }
    match stop {
        Some(Stop::FrontierEmpty) => say!("# and then nothing waits, but for what these pages lead to"),
        Some(stop) => say!("# and then: {}", stop.why()),
        None => {}
    }
    say!("#\n# nothing was fetched or written; the configuration in force:\n");
    say!("{}", toml::to_string(&config.shown()).context("the configuration cannot be shown")?.trim_end());
    Ok(Exit::Done)
}

/// A request for people and for programs.
fn told(rank: usize, request: &Rehearsed, from: &dyn Fn(UrlId) -> String) -> (String, Value) {
    let Rehearsed { after, url, turn } = request;
    let (said, mut value) = match turn {
        Turn::Absent => {
            (format!("{url}  (to know what the host says of a page that is not there)"), json!({ "absent": url }))
        }
        Turn::Robots => (format!("{url}  (before the pages of its host)"), json!({ "robots": url })),
        Turn::Page(id, place) => {
            let found = from(*id);
            let said = format!("{url}  ({}; {found})", in_words(*place));
            (said, json!({ "page": url, "place": place, "found": found }))
        }
        Turn::Refused(_, reason) => {
            let why = reason.why();
            (format!("not {url}: {why}"), json!({ "refused": url, "reason": reason, "why": why }))
        }
    };
    (value["rank"], value["after_ms"]) = (json!(rank), json!(after));
    (format!("{rank:>4} {:>7.1} s  {said}", *after as f64 / 1_000.0), value)
}

fn in_words(place: Place) -> String {
    let k = match place.trail.k {
        Tunnel::Unbounded => "∞".to_owned(),
        Tunnel::Left(left) => left.to_string(),
    };
    format!("score {:.3}, lane {}, k {k}, depth {}", place.priority.get(), place.lane.0, place.trail.depth)
}
