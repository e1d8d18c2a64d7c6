//! The facts of a crawl as a self-contained HTML page (`report.html`). Pure: the same facts give the same bytes.

use minijinja::context;
use minijinja::value::{Serde, Value};
use suidao_page::model::Stop;

use super::facts::{Bin, HarvestPoint, Histogram, Reason, ReportFacts};
use suidao_html::plot::{self, Along, Bar, CurveLine, Interval, LineStyle, curves, histogram};
use suidao_html::{self as html, fill, html, per_cent, thousands};
use suidao_page::messages::Lang;
use suidao_store::store::HarvestTrouble;

/// Tunnel lengths with a bar of their own; longer ones share the last.
const LENGTHS: usize = 20;

pub fn page(facts: &ReportFacts, lang: Lang) -> String {
    let title = format!("suidao{}{}", lang.phrase("colon"), lang.text("title-topic", &[&facts.crawl.topic]));
    let (published, lengths) = (&facts.published, &facts.lengths);
    let context = context! {
        // A forum crawl without a lexicon counts all pages as relevant.
        scored => !facts.crawl.settings.iter().any(|(key, value)| key == "crawl.page_threshold" && value == "0.0"),
        fetched => fetched(facts, lang),
        stopped => stopped(facts, lang),
        characters => lang.large_number(facts.counts.chars),
        archived => html::bytes(facts.counts.archived),
        quarters => quarters(&facts.harvest.points),
        advice => advice(facts, lang),
        crossed => (0..).zip(&facts.tunnels.by_hops).map(|(hops, pages): (u64, &u64)| pages * hops).sum::<u64>(),
        languages => named(&facts.languages, lang),
        terms => named(&facts.terms, lang),
        published => histogram_in(published, lang),
        lengths => histogram_in(lengths, lang),
        failed => explained(&facts.failed, lang),
        skipped => explained(&facts.skipped, lang),
        plots => context! {
            harvest => harvest(&facts.harvest.points, lang).map(html),
            tunnels => html(tunnels(&facts.tunnels.by_hops, lang)),
            published => html(bars(&published.bins, &lang.text("publication-dates", &[]), lang)),
            lengths => html(bars(&lengths.bins, &lang.text("pages-by-length", &[]), lang)),
        },
        ..Value::from(Serde(facts)),
    };
    let body = fill(lang, include_str!("report.html"), context);
    html::page(&title, lang, &[plot::STYLE, html::REPORT], &body)
}

/// What is wrong with the harvest, and what to do.
fn advice(facts: &ReportFacts, lang: Lang) -> Option<String> {
    let curve = facts.harvest.points.iter().map(|point| (point.pages, point.relevant));
    let trouble = HarvestTrouble::of(curve, (facts.hosts.relevant, facts.hosts.visited))?;
    Some(trouble.advice(lang, "DIR"))
}

/// Why the crawl stopped, as a sentence; an unknown name as it is.
fn stopped(facts: &ReportFacts, lang: Lang) -> String {
    let Some(name) = &facts.crawl.stopped else {
        return lang.text("no-summary", &[]);
    };
    let Ok(stop) = serde_json::from_value::<Stop>(serde_json::Value::from(name.as_str())) else { return name.clone() };
    stop.reason(lang).to_owned()
}

fn fetched(facts: &ReportFacts, lang: Lang) -> String {
    match (&facts.crawl.first, &facts.crawl.last) {
        (Some(first), Some(last)) if first.get(..10) == last.get(..10) => {
            lang.text("from-to", &[&minute(first, lang), &last.get(11..16).unwrap_or_default()])
        }
        (Some(first), Some(last)) => lang.text("from-to", &[&minute(first, lang), &minute(last, lang)]),
        _ => "–".to_owned(),
    }
}

fn quarters(points: &[HarvestPoint]) -> [String; 4] {
    let pages = points.last().map_or(0, |end| end.pages);
    let end = |quarter: u64| {
        let at = points.iter().take_while(|point| point.pages * 4 <= pages * quarter).last();
        at.map_or((0, 0), |point| (point.pages, point.relevant))
    };
    [1, 2, 3, 4].map(|quarter| {
        let (from, to) = (end(quarter - 1), end(quarter));
        per_cent((to.1 - from.1) as f64, (to.0 - from.0) as f64)
    })
}

/// Relevant pages found, and the harvest rate.
fn harvest(points: &[HarvestPoint], lang: Lang) -> [String; 2] {
    let text = |key| lang.text(key, &[]);
    let label = text("pages-fetched");
    let along = Along { label: &label, first: 0, last: points.last().map_or(0, |end| end.pages as usize), lang };
    let [relevant, cumulative, moving] = [text("relevant-pages"), text("cumulative"), text("moving")];
    let line = |name, style, ahead, value: fn(&HarvestPoint) -> f64| {
        let points = points.iter().map(|point| (point.pages as usize, Interval { median: value(point), range: None }));
        CurveLine { name, style, points: points.collect(), highlighted: ahead }
    };
    let mut found = line(&relevant, LineStyle::Nth(0), true, |point| point.relevant as f64);
    found.points.insert(0, (0, Interval { median: 0.0, range: None }));
    let all = line(&cumulative, LineStyle::Nth(6), false, |point| point.relevant as f64 / point.pages as f64);
    let recent = line(&moving, LineStyle::Nth(0), true, |point| point.moving);
    [
        curves(&[found], &text("relevant-pages-found"), false, along),
        curves(&[recent, all], &text("harvest-rate"), true, along),
    ]
}

fn tunnels(by_hops: &[u64], lang: Lang) -> String {
    let mut bins: Vec<(String, u64)> = Vec::new();
    for (hops, &pages) in by_hops.iter().enumerate().skip(1) {
        match bins.last_mut() {
            Some((name, sum)) if hops > LENGTHS => {
                *name = format!("{LENGTHS}+");
                *sum += pages;
            }
            _ => bins.push((hops.to_string(), pages)),
        }
    }
    let bars: Vec<Bar> = bins.iter().map(|(name, pages)| Bar { name, whole: *pages, part: *pages }).collect();
    let message: Vec<String> =
        bins.iter().take(6).map(|(hops, pages)| format!("{hops}{}{pages}", lang.phrase("colon"))).collect();
    let title = lang.text("tunnel-lengths-title", &[&message.join(lang.phrase("comma"))]);
    histogram(&bars, &title, &lang.text("relevant-pages", &[]), None, lang)
}

/// Bars of pages with their relevant part; the title has the figures too.
fn bars(bins: &[Bin], title: &str, lang: Lang) -> String {
    let names: Vec<String> = bins.iter().map(|bin| bin.name.text(lang)).collect();
    let bar = |(bin, name): (&Bin, _)| Bar { name, whole: bin.pages, part: bin.relevant };
    let bars: Vec<Bar> = bins.iter().zip(names.iter().map(String::as_str)).map(bar).collect();
    let most = bars.iter().max_by_key(|bar| bar.whole);
    let message = most.map_or(String::new(), |bar| lang.text("maximum-at", &[&thousands(bar.whole), &bar.name]));
    let [unit, part] = [lang.text("pages", &[]), lang.text("relevant", &[])];
    histogram(&bars, &format!("{title}{message}"), &unit, Some(&part), lang)
}

/// An RFC 3339 time to the minute.
fn minute(time: &str, lang: Lang) -> String {
    lang.date(&time.get(..16).unwrap_or(time).replace('T', " "))
}

/// Bins for the templates, with names in a language.
fn named(bins: &[Bin], lang: Lang) -> Value {
    bins.iter()
        .map(|bin| context! { name => bin.name.text(lang), pages => bin.pages, relevant => bin.relevant })
        .collect()
}

fn histogram_in(histogram: &Histogram, lang: Lang) -> Value {
    let Histogram { width, bins, without } = histogram;
    context! { width => width.text(lang), bins => named(bins, lang), without }
}

fn explained(reasons: &[Reason], lang: Lang) -> Value {
    let row = |reason: &Reason| context! { why => reason.why.text(lang), ..Value::from(Serde(reason)) };
    reasons.iter().map(row).collect()
}

#[cfg(test)]
mod tests;
