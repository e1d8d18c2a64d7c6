//! `suidao history`: the visits of one page, from the log: when, what had changed, and how often it changes.

use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use clap::Args;
use serde::Serialize;
use serde_json::{Value, json};
use suidao::config::Config;
use suidao::config::kept::Use;
use suidao::html::count;
use suidao::live;
use suidao::model::{Budget, CrawlUrl, Event, Millis, PageChanges, UrlId, UrlOrigin, number};
use suidao::revisit::history::{Histories, Tracked, days};
use suidao::revisit::settings::RefreshSettings;
use suidao::store::{CrawlDirectory, Location, Store, date};

use super::Exit;

/// List the visits of one page, what changed, and the crawl value of a visit now.
#[derive(Args)]
#[command(after_help = "Example: suidao history ml http://siwei.io/learn/")]
pub struct HistoryArgs {
    /// Crawl directory
    pub directory: PathBuf,
    /// URL of the page
    pub url: String,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Serialize)]
struct Visit {
    at: String,
    status: Option<u16>,
    what: String,
    /// The text differs from that of the visit before.
    changed: bool,
    new_links: u32,
    archive: Option<Location>,
}

pub fn run(args: &HistoryArgs) -> Result<Exit> {
    let url = CrawlUrl::parse(&args.url)
        .with_context(|| format!("{} is not a URL; write it as http://host/path", args.url))?;
    let directory = CrawlDirectory::new(&args.directory);
    let store = Store::open(&directory)?;
    let kept = directory.config_toml();
    let settings =
        if kept.exists() { Config::load_kept(&kept, &[], Use::Reading)?.refresh } else { RefreshSettings::default() };
    let VisitHistory { id, visits, histories, round } = VisitHistory::read(&store, &url, &settings)?;
    let Some(id) = id else {
        bail!("{url} is unknown to the crawl in {}: no fetched page links to it", args.directory.display());
    };
    let page = histories.get(id);
    if args.json {
        let page = page.map(|page| summary(page, &settings));
        let told = number::rounded(json!({ "url": url, "visits": visits, "page": page }));
        outln!("{}", serde_json::to_string_pretty(&told)?);
        return Ok(Exit::Done);
    }
    outln!("{url}");
    if visits.is_empty() {
        outln!("  never fetched; see `suidao why`");
        return Ok(Exit::Done);
    }
    for visit in &visits {
        let status = visit.status.map_or_else(|| "   ".to_owned(), |status| status.to_string());
        let links = match visit.new_links as usize {
            0 => String::new(),
            new => format!(", {}", count(new, "new link", "new links")),
        };
        let place = visit.archive.map_or_else(String::new, |at| format!("  [file {} byte {}]", at.file, at.offset));
        outln!("  {}  {status}  {}{links}{place}", visit.at, visit.what);
    }
    if let Some(page) = page {
        outln!("{}", in_words(page, &settings, round));
    }
    Ok(Exit::Done)
}

struct VisitHistory {
    id: Option<UrlId>,
    visits: Vec<Visit>,
    histories: Histories,
    /// When the last round began.
    round: Option<Millis>,
}

impl VisitHistory {
    fn read(store: &Store, url: &CrawlUrl, settings: &RefreshSettings) -> Result<Self> {
        let mut story = Self { id: None, visits: Vec::new(), histories: Histories::new(settings), round: None };
        for record in store.batches() {
            let record = record?;
            let found = |event: &&Event| matches!(event, Event::Discovered(found) if matches!(found.origin, UrlOrigin::Link(from) if Some(from) == story.id));
            let new_links = record.batch.events.iter().filter(found).count() as u32;
            let at = record.batch.at;
            for event in &record.batch.events {
                let before = story.id.and_then(|id| story.histories.get(id)).is_some();
                let seen = story.histories.observe(event, at);
                match event {
                    Event::Discovered(found) if found.url == *url => story.id = Some(found.id),
                    Event::Refresh(step) if step.budget.is_some_and(|budget| budget != Budget::Spent) => {
                        story.round = Some(at);
                    }
                    _ => {}
                }
                if let Some((status, what, changed)) = tell(event, story.id, before, seen) {
                    let new_links = if matches!(event, Event::PageFetched(_)) && before { new_links } else { 0 };
                    let archive = record.archive.filter(|_| status.is_some());
                    story.visits.push(Visit { at: date(at), status, what, changed, new_links, archive });
                }
            }
        }
        Ok(story)
    }
}

/// An event about a page: status, words, and whether its text had changed.
fn tell(
    event: &Event,
    id: Option<UrlId>,
    before: bool,
    found: Option<PageChanges>,
) -> Option<(Option<u16>, String, bool)> {
    let of = |other: UrlId| Some(other) == id;
    let without_answer = |what: String| (None, what, false);
    Some(match event {
        Event::PageFetched(page) if of(page.id) && !before => {
            (Some(page.status), format!("first fetch: {}", page.title), true)
        }
        Event::PageFetched(page) if of(page.id) => {
            let found = found.unwrap_or_default();
            let what = match (found.text, found.links) {
                (true, true) => "text and links changed",
                (true, false) => "text changed",
                (false, true) => "links changed, text unchanged",
                (false, false) => "bytes changed, text and links unchanged",
            };
            (Some(page.status), what.to_owned(), found.text)
        }
        Event::Unchanged { id, status, since, .. } if of(*id) => {
            let how = if *status == 304 { "not modified" } else { "identical bytes" };
            (Some(*status), format!("{how} since {}", date(*since)), false)
        }
        Event::Redirected { id, permanent, .. } if of(*id) => {
            without_answer(if *permanent { "moved permanently" } else { "redirected temporarily" }.to_owned())
        }
        Event::FetchRetried { id, failure } if of(*id) => without_answer(format!("{failure}; will be retried")),
        Event::FetchFailed { id, failure } if of(*id) => without_answer(failure.to_string()),
        Event::UrlExcluded { id, reason } if of(*id) => without_answer(format!("skipped: {}", reason.why())),
        Event::PageGone { id, to } if of(*id) => {
            let why = if to.is_some() { "moved" } else { "missing for longer than refresh.grace" };
            without_answer(format!("retired: {why}"))
        }
        _ => return None,
    })
}

fn in_words(page: &Tracked, settings: &RefreshSettings, round: Option<Millis>) -> String {
    let rate = page.rate(settings);
    let every = if rate > 0.0 { format!("every {:.1} days", 1.0 / rate) } else { "never".to_owned() };
    let measured = match page.changes.visits() {
        0 => "not measured yet".to_owned(),
        all => format!("{} of {}", page.changes.changes(), count(all as usize, "interval", "intervals")),
    };
    let told = format!(
        "{} in {}; estimated to change {every} ({measured}).\n{:.2} new links per day; importance {:.3} (relevance {:.3}, {}).",
        count(page.versions as usize, "version", "versions"),
        count(page.visits as usize, "visit", "visits"),
        page.new_links_a_day(settings),
        page.importance(),
        page.relevance,
        count(page.inlinks as usize, "link to it", "links to it"),
    );
    let now = live::now();
    let next = match (page.retired, page.worth(settings, now)) {
        (true, _) => "Retired: it is not requested again.".to_owned(),
        (false, None) => {
            format!("Missing: it is requested again {:.1} days after it was first missing.", settings.grace)
        }
        (false, Some(worth)) => {
            let since = days(now.since(page.asked));
            let of = if round.is_some() { "" } else { "; `suidao refresh` has not run yet" };
            format!("Crawl value of a visit now, {since:.1} days after the last: {:.4}{of}.", worth.value(since))
        }
    };
    told + "\n" + &next
}

fn summary(page: &Tracked, settings: &RefreshSettings) -> Value {
    json!({
        "first_seen": date(page.first),
        "last_seen": date(page.last),
        "last_asked": date(page.asked),
        "last_changed": page.changed.map(date),
        "versions": page.versions,
        "visits": page.visits,
        "changes": page.changes.changes(),
        "changes_a_day": page.rate(settings),
        "new_links_a_day": page.new_links_a_day(settings),
        "importance": page.importance(),
        "relevance": page.relevance,
        "relevant": page.relevant,
        "inlinks": page.inlinks,
        "listing": page.listing,
        "missing_since": page.missing.map(date),
        "retired": page.retired,
        "etag": page.validators.as_ref().and_then(|known| known.etag.clone()),
        "last_modified": page.validators.as_ref().and_then(|known| known.modified.clone()),
    })
}
