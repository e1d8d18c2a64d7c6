//! Gathers the facts from log and catalogue: one pass counts, another reads the names of the few pages listed by name.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use rustc_hash::FxHashSet;

use super::accumulator::ReportAccumulator;
use super::bins;
use super::facts::{
    Bin, BinName, CrawlFacts, DuplicateFacts, HarvestFacts, HarvestPoint, HostFacts, HostGroup, HostRow, PathStep,
    QueueFacts, Reason, ReportCounts, ReportFacts, TunnelFacts, TunnelledHost, Tunnels, Why,
};
use super::names::{PageNames, examples, reasons};
use super::suggested_terms::suggested_terms;
use super::tunnels::{TracedTunnels, trace};
use suidao_page::model::UrlId;
use suidao_store::corpus::Catalogue;
use suidao_store::store::skipped::UrlStatus;
use suidao_store::store::{Store, StoreError, rfc3339};

const HOSTS: usize = 30;
/// Maximum number of groups of duplicates listed, and pages of each besides the best.
const GROUPS: usize = 10;
const MEMBERS: usize = 4;
/// Maximum number of best pages, and of them on one host.
const BEST: usize = 10;
const BEST_OF_HOST: usize = 3;
const POINTS: usize = 200;
const LANGUAGES: usize = 12;

/// Gathers the facts of a crawl. `summary`: its `summary.json`, if there is one.
pub fn gather(
    store: &Store,
    catalogue: &Catalogue,
    summary: Option<&serde_json::Value>,
) -> Result<ReportFacts, StoreError> {
    let mut accumulator = ReportAccumulator::new(catalogue);
    for record in store.batches() {
        accumulator.observe(&record?);
    }
    let traced = trace(&accumulator.found, catalogue.hosts.len());
    let groups = groups(catalogue);
    let (failed, skipped) = examples(&accumulator);

    let result = groups.iter().take(GROUPS).flat_map(|(best, others)| others.iter().take(MEMBERS).chain([best]));
    let best = best(catalogue);
    let result = result.copied().chain(traced.pages()).chain(best.iter().copied());
    let mut wanted: FxHashSet<UrlId> = result.map(|position| catalogue.entries[position as usize].id).collect();
    let urls = failed.values().chain(skipped.values()).flat_map(|(_, examples)| examples);
    wanted.extend(urls);
    let names = PageNames::read(store, &wanted, &mut accumulator.skipped)?;
    let named = |position: u32| names.page(catalogue, position);

    let mut skipped: Vec<Reason> = reasons(skipped, &names, |reason| Why::Skipped(*reason));
    names.add_skipped(&mut skipped, &accumulator.skipped);
    let failed = reasons(failed, &names, |&reason| {
        accumulator.reasons.get(usize::from(reason)).cloned().map_or(Why::Unknown, Why::Failed)
    });
    let total = |reasons: &[Reason]| reasons.iter().map(|reason| reason.urls).sum();
    let entries = &catalogue.entries;
    let counts = ReportCounts {
        pages: entries.len() as u64,
        relevant: entries.iter().filter(|entry| entry.is_relevant()).count() as u64,
        known: accumulator.host_of.len() as u64,
        failed: total(&failed),
        skipped: total(&skipped),
        listings: entries.iter().filter(|entry| entry.listing).count() as u64,
        noindex: entries.iter().filter(|entry| entry.noindex).count() as u64,
        archived: accumulator.archived,
        chars: entries.iter().map(|entry| u64::from(entry.sketch.chars)).sum(),
    };
    let group = |(best, others): &(u32, Vec<u32>)| {
        let others_named = others.iter().take(MEMBERS).filter_map(|&position| named(position)).collect();
        Some(HostGroup { pages: others.len() as u64 + 1, representative: named(*best)?, others: others_named })
    };
    Ok(ReportFacts {
        crawl: crawl(store, catalogue, summary),
        counts,
        best: best.into_iter().filter_map(named).collect(),
        harvest: harvest(catalogue),
        hosts: hosts(catalogue, &accumulator),
        languages: languages(catalogue),
        published: bins::published(entries),
        lengths: bins::lengths(entries),
        duplicates: DuplicateFacts {
            groups: groups.len() as u64,
            repeated: groups.iter().map(|(_, others)| others.len() as u64).sum(),
            largest: groups.iter().take(GROUPS).filter_map(group).collect(),
        },
        tunnels: tunnels(catalogue, &traced, &names),
        terms: terms(&accumulator),
        suggested_terms: suggested_terms(store, catalogue)?,
        failed,
        skipped,
        queue: queue(&accumulator),
    })
}

fn crawl(store: &Store, catalogue: &Catalogue, summary: Option<&serde_json::Value>) -> CrawlFacts {
    let meta = store.meta();
    let times = || catalogue.entries.iter().map(|entry| entry.at);
    let mut settings = Vec::new();
    for (section, keys) in summary.and_then(|summary| summary["config"].as_object()).into_iter().flatten() {
        match keys.as_object() {
            Some(keys) => settings.extend(keys.iter().map(|(key, value)| (format!("{section}.{key}"), text_of(value)))),
            None => settings.push((section.clone(), text_of(keys))),
        }
    }
    // Null is the default and carries no information.
    settings.retain(|(_, value)| value != "null");
    CrawlFacts {
        topic: meta.topic.clone(),
        lexicon: meta.lexicon.clone(),
        strategy: meta.strategy.clone(),
        version: meta.version.clone(),
        begun: rfc3339(meta.created),
        first: times().min().map(rfc3339),
        last: times().max().map(rfc3339),
        stopped: summary.and_then(|summary| summary["stopped"].as_str()).map(str::to_owned),
        settings,
    }
}

fn text_of(value: &serde_json::Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// The curve of the crawl, without the pages that refreshes added.
fn harvest(catalogue: &Catalogue) -> HarvestFacts {
    let entries = || catalogue.entries.iter().filter(|entry| !entry.by_refresh);
    let pages = entries().count();
    let window = (pages / 20).clamp(1, 1000);
    let every = pages.div_ceil(POINTS).max(1);
    let mut points = Vec::new();
    let mut sums: Vec<u32> = Vec::with_capacity(pages + 1);
    sums.push(0);
    for (at, entry) in (1..).zip(entries()) {
        let relevant = sums[at - 1] + u32::from(entry.is_relevant());
        sums.push(relevant);
        if at % every == 0 || at == pages {
            let from = at.saturating_sub(window);
            let moving = f64::from(relevant - sums[from]) / (at - from) as f64;
            points.push(HarvestPoint { pages: at as u64, relevant: u64::from(relevant), moving });
        }
    }
    let added = catalogue.entries.len() - pages;
    HarvestFacts { window: window as u64, points, added: added as u64 }
}

fn hosts(catalogue: &Catalogue, accumulator: &ReportAccumulator) -> HostFacts {
    let row = |host: &String| HostRow { host: host.clone(), ..HostRow::default() };
    let mut rows: Vec<HostRow> = catalogue.hosts.iter().map(row).collect();
    for (number, entry) in (1..).zip(&catalogue.entries) {
        if let Some(row) = rows.get_mut(entry.host as usize) {
            row.first = if row.pages == 0 { number } else { row.first };
            row.pages += 1;
            row.relevant += u64::from(entry.is_relevant());
        }
    }
    for (status, &host) in accumulator.statuses.of.iter().zip(&accumulator.host_of) {
        let Some(row) = rows.get_mut(host as usize) else { continue };
        match status {
            UrlStatus::Failed => row.failed += 1,
            UrlStatus::Dropped(_) | UrlStatus::Skipped(_) => row.skipped += 1,
            UrlStatus::Waiting => row.waiting += 1,
            UrlStatus::New | UrlStatus::Done => {}
        }
    }
    let known = rows.len() as u64;
    rows.retain(|row| row.pages > 0);
    rows.sort_by_key(|row| (Reverse(row.pages), row.first));
    let share = |row: &HostRow| row.pages as f64 / catalogue.entries.len().max(1) as f64;
    HostFacts {
        known,
        visited: rows.len() as u64,
        relevant: rows.iter().filter(|row| row.relevant > 0).count() as u64,
        largest: rows.first().map_or(0.0, share),
        rows: rows.into_iter().take(HOSTS).collect(),
    }
}

fn languages(catalogue: &Catalogue) -> Vec<Bin> {
    let mut counted: BTreeMap<Option<&str>, Bin> = BTreeMap::new();
    for entry in &catalogue.entries {
        let language = catalogue.language(entry);
        let name = || language.map_or(BinName::UnknownLanguage, |tag| BinName::Language(tag.to_owned()));
        let bin = counted.entry(language).or_insert_with(|| Bin { name: name(), ..Bin::default() });
        bin.pages += 1;
        bin.relevant += u64::from(entry.is_relevant());
    }
    let mut languages: Vec<Bin> = counted.into_values().collect();
    languages.sort_by_key(|bin| Reverse(bin.pages));
    if languages.len() > LANGUAGES {
        let rest = languages.split_off(LANGUAGES - 1);
        languages.push(Bin {
            name: BinName::More(rest.len()),
            pages: rest.iter().map(|bin| bin.pages).sum(),
            relevant: rest.iter().map(|bin| bin.relevant).sum(),
        });
    }
    languages
}

/// The relevant documents with the highest relevance, by index.
fn best(catalogue: &Catalogue) -> Vec<u32> {
    let all = (0..).zip(&catalogue.entries).filter(|(_, entry)| entry.is_relevant() && entry.duplicate_of.is_none());
    let mut all: Vec<_> = all.collect();
    all.sort_by(|(_, one), (_, other)| other.relevance.get().total_cmp(&one.relevance.get()));
    let mut of_host: BTreeMap<u32, usize> = BTreeMap::new();
    all.retain(|(_, entry)| {
        let pages = of_host.entry(entry.host).or_default();
        *pages += 1;
        *pages <= BEST_OF_HOST
    });
    all.into_iter().take(BEST).map(|(position, _)| position).collect()
}

/// The best page and the others of each group, by index, the largest group first.
fn groups(catalogue: &Catalogue) -> Vec<(u32, Vec<u32>)> {
    let mut groups: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for (position, entry) in (0..).zip(&catalogue.entries) {
        if let Some(best) = entry.duplicate_of {
            groups.entry(best).or_default().push(position);
        }
    }
    let mut groups: Vec<(u32, Vec<u32>)> = groups.into_iter().collect();
    groups.sort_by_key(|(best, others)| (Reverse(others.len()), *best));
    groups
}

fn tunnels(catalogue: &Catalogue, traced: &TracedTunnels, names: &PageNames) -> Tunnels {
    let step = |&position: &u32| {
        let id = catalogue.entries.get(position as usize)?.id;
        let anchor = names.urls.get(&id).map(|(_, anchor)| anchor.clone()).unwrap_or_default();
        Some(PathStep { page: names.page(catalogue, position)?, anchor, number: u64::from(position) + 1 })
    };
    let longest = traced.longest.iter().map(|path| TunnelFacts {
        hops: path.hops,
        led_to: path.led_to,
        steps: path.pages.iter().filter_map(step).collect(),
    });
    let hosts = traced.hosts.iter().map(|opening| TunnelledHost {
        host: catalogue.hosts.get(opening.host as usize).cloned().unwrap_or_default(),
        relevant: opening.relevant,
        hops: opening.hops,
        first: u64::from(opening.first) + 1,
        from: opening.from.and_then(|position| names.page(catalogue, position)),
    });
    Tunnels { longest: longest.collect(), hosts: hosts.collect(), ..traced.counts() }
}

fn terms(accumulator: &ReportAccumulator) -> Vec<Bin> {
    let mut found: Vec<Bin> = accumulator
        .terms
        .iter()
        .map(|(term, &(pages, relevant))| Bin { name: BinName::Term(term.clone()), pages, relevant })
        .collect();
    found.sort_by(|one, other| other.pages.cmp(&one.pages).then_with(|| one.name.cmp(&other.name)));
    found
}

fn queue(accumulator: &ReportAccumulator) -> QueueFacts {
    let all = accumulator.statuses.of.iter().zip(&accumulator.host_of);
    let waiting: Vec<u32> = all.filter(|(status, _)| **status == UrlStatus::Waiting).map(|(_, host)| *host).collect();
    let hosts: FxHashSet<u32> = waiting.iter().copied().collect();
    QueueFacts { waiting: waiting.len() as u64, hosts: hosts.len() as u64 }
}
