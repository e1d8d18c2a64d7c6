//! `suidao crawl --dry-run`: the first requests and their reasons. Fetches and writes nothing.

use std::path::Path;

use anyhow::{Context, Result};
use serde_json::{Value, json};
use suidao::config::Config;
use suidao::crawl::{Crawl, Seeding, SimulatedRequest, SimulatedStep, simulate};
use suidao::html::count;
use suidao::live::{crawl_settings, now};
use suidao::model::{CrawlUrl, Event, QueueEntry, SkipReason, Stop, TunnelBudget, UrlId, UrlOrigin, number};
use suidao::store::{CrawlDirectory, Meta, Store};
use suidao::topic::Topic;

use super::Exit;
use super::check::config::request_limit;

pub struct DryRunOptions<'a> {
    pub lexicon: &'a Path,
    pub most: usize,
    pub json: bool,
    /// With queue and k of each URL.
    pub detailed: bool,
}

pub fn show(
    options: &DryRunOptions,
    config: &Config,
    topic: &Topic,
    seeds: &[CrawlUrl],
    directory: &CrawlDirectory,
) -> Result<Exit> {
    let settings = crawl_settings(config, topic);
    let threshold = settings.page_threshold;
    let strategy = config.strategy.build(settings.page_threshold);
    let mut crawl = Crawl::new(settings, strategy);
    // Indexed by number: the page on which it was found; a seed's origin has its own fields.
    let mut origins: Vec<UrlOrigin> = Vec::new();
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
        let label = config.strategy.label();
        let meta = Meta::new(&topic.lexicon().name, &topic.digest(), &label, threshold, now());
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
    let (requests, stop) = simulate(&mut crawl, now(), config.crawl.in_flight, options.most);
    let refused =
        |seed: &CrawlUrl| config.scope.refuses(seed).or_else(|| suidao::trap::path::refuses(&config.traps, seed));
    let from = |id: UrlId| match origins.get(id.0 as usize) {
        Some(UrlOrigin::Seed) => "seed".to_owned(),
        Some(UrlOrigin::Offered) => "added with --add".to_owned(),
        Some(UrlOrigin::Link(page)) => format!("linked from {}", crawl.url(*page)),
        Some(UrlOrigin::Redirect(page)) => format!("redirected from {}", crawl.url(*page)),
        Some(UrlOrigin::Listed(source)) => format!("listed in {}", crawl.url(*source)),
        Some(UrlOrigin::Canonical(copy)) => format!("canonical URL of {}", crawl.url(*copy)),
        Some(UrlOrigin::Named) | None => "listed in robots.txt, a page or a sitemap".to_owned(),
    };
    if options.json {
        for seed in seeds {
            let refusal = refused(seed);
            outln!("{}", json!({ "seed": seed, "skip_reason": refusal, "why": refusal.map(SkipReason::why) }));
        }
        for (rank, request) in requests.iter().enumerate() {
            outln!("{}", number::plain(describe(rank + 1, request, &from, false).1));
        }
        outln!(
            "{}",
            number::plain(json!({ "summary": {
            "topic": topic.lexicon().name, "strategy": config.strategy.label(), "resumes": resumed,
            "pages": progress.pages, "queued": progress.queued, "known": progress.known, "stop": stop,
            "config": config.without_secrets(),
        } }))
        );
        return Ok(Exit::Done);
    }
    let lexicon = topic.lexicon();
    let terms = lexicon.terms.len();
    outln!(
        "# topic {} ({terms} terms, {}), strategy {}",
        lexicon.name,
        options.lexicon.display(),
        config.strategy.label()
    );
    if resumed {
        let (pages, queued) = (progress.pages, progress.queued);
        outln!(
            "# would resume the crawl in {}: {pages} pages fetched, {queued} URLs queued",
            directory.root().display()
        );
    } else {
        outln!("# would start a crawl in {}", directory.root().display());
    }
    let inside = seeds.iter().filter(|seed| refused(seed).is_none()).count();
    outln!("# {}, {inside} in scope", count(seeds.len(), "seed", "seeds"));
    for seed in seeds {
        if let Some(reason) = refused(seed) {
            outln!("#   skipped: {seed} ({})", reason.why());
        }
    }
    outln!("#\n# first requests, {} at a time, assuming 0.1 s per response and no new links:", config.crawl.in_flight);
    let mut rank = 1;
    let is_robots = |request: &SimulatedRequest| request.turn == SimulatedStep::Robots;
    for chunk in requests.chunk_by(|one, next| is_robots(one) && is_robots(next)).take(options.most) {
        match chunk {
            [first, _, ..] => {
                outln!("# {rank:>4} {:>7.1} s  {} robots.txt requests", first.after as f64 / 1_000.0, chunk.len())
            }
            _ => outln!("# {}", describe(rank, &chunk[0], &from, options.detailed).0),
        }
        rank += chunk.len();
    }
    match stop {
        Some(Stop::FrontierEmpty) => outln!("# then only links found on these pages"),
        Some(stop) => outln!("# then: {}", stop.reason()),
        None => {}
    }
    outln!("#\n# Nothing was fetched or written. Effective configuration:\n{}", request_limit(config));
    outln!("{}", toml::to_string(&config.without_secrets()).context("cannot print the configuration")?.trim_end());
    Ok(Exit::Done)
}

/// A request for people and for programs.
fn describe(
    rank: usize,
    request: &SimulatedRequest,
    from: &dyn Fn(UrlId) -> String,
    detailed: bool,
) -> (String, Value) {
    let SimulatedRequest { after, url, turn } = request;
    let (text, mut value) = match turn {
        SimulatedStep::Absent => {
            (format!("{url}  (to see how the host answers for a missing page)"), json!({ "soft_404_probe": url }))
        }
        SimulatedStep::Robots => (format!("{url}  (robots.txt comes first)"), json!({ "robots": url })),
        SimulatedStep::Page(id, entry) => {
            let found = from(*id);
            let text = format!("{url}  ({}; {found})", in_words(*entry, detailed));
            (text, json!({ "page": url, "queued_as": entry, "origin": found }))
        }
        SimulatedStep::Refused(_, reason) => {
            let why = reason.why();
            (format!("skipped {url}: {why}"), json!({ "skipped": url, "reason": reason, "why": why }))
        }
    };
    (value["rank"], value["after_ms"]) = (json!(rank), json!(after));
    (format!("{rank:>4} {:>7.1} s  {text}", *after as f64 / 1_000.0), value)
}

fn in_words(entry: QueueEntry, detailed: bool) -> String {
    let queue = match entry.path.k {
        _ if !detailed => String::new(),
        TunnelBudget::Unbounded => format!("queue {}, k ∞, ", entry.queue.0),
        TunnelBudget::Left(left) => format!("queue {}, k {left}, ", entry.queue.0),
    };
    format!("priority {:.3}, {queue}depth {}", entry.priority.get(), entry.path.depth)
}
