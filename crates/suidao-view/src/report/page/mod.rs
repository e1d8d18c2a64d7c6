//! The facts of a crawl as one HTML page that needs nothing beside it. Pure: the same facts give the same bytes.

mod corpus;
mod left;
mod paths;

use std::fmt::Write;

use percent_encoding::percent_decode_str;

use super::facts::{Bin, Facts, HostRow, Named};
use crate::html::{self, Column, count, definitions, escape, per_cent, table, thousands};
use crate::plot::{self, Along, Bar, Interval, Line, Style, curves, histogram};
use suidao_page::model::CrawlUrl;
use suidao_page::visible::is_hidden;

/// Characters of a title or URL that are shown; the rest stands in the link.
const SHOWN: usize = 80;

/// The whole page.
pub fn page(facts: &Facts) -> String {
    let title = format!("suidao: crawl for {}", facts.crawl.topic);
    let sections = [
        harvest(facts),
        hosts(facts),
        paths::tunnels(facts),
        paths::terms(facts),
        corpus::languages(facts),
        corpus::dates(facts),
        corpus::lengths(facts),
        corpus::duplicates(facts),
        left::exports(facts),
        left::left_out(facts),
        left::queue(facts),
    ];
    let body = format!("{}<main id=\"main\">\n{}</main>\n{}", head(facts), sections.concat(), foot(facts));
    html::page(&title, "en", &[plot::STYLE, include_str!("page.css")], &body)
}

fn head(facts: &Facts) -> String {
    let (crawl, counts) = (&facts.crawl, &facts.counts);
    let mut out = format!("<header>\n<h1>Crawl for <span lang=\"zh\">{}</span></h1>\n", escape(&crawl.topic));
    let _ = writeln!(
        out,
        "<p class=\"lead\">{} on {}; <strong>{} relevant</strong>, a harvest rate of {}.</p>",
        count(counts.pages as usize, "page", "pages"),
        count(facts.hosts.visited as usize, "host", "hosts"),
        thousands(counts.relevant),
        per_cent(counts.relevant as f64, counts.pages as f64)
    );
    let dates = match (&crawl.first, &crawl.last) {
        (Some(first), Some(last)) if first.get(..10) == last.get(..10) => {
            format!("{} to {}", moment(first), last.get(11..16).unwrap_or_default())
        }
        (Some(first), Some(last)) => format!("{} to {}", moment(first), moment(last)),
        _ => "–".to_owned(),
    };
    let tiles = [
        ("pages", thousands(counts.pages), format!("{} URLs known", thousands(counts.known))),
        ("relevant", thousands(counts.relevant), per_cent(counts.relevant as f64, counts.pages as f64)),
        ("hosts", thousands(facts.hosts.visited), format!("{} with relevant pages", thousands(facts.hosts.relevant))),
        (
            "repeated pages",
            thousands(facts.duplicates.repeated),
            format!("in {}", count(facts.duplicates.groups as usize, "group", "groups")),
        ),
        ("characters of text", scaled(counts.chars), format!("{} archived", bytes(counts.archived))),
        ("URLs waiting", thousands(facts.queue.waiting), format!("{} failed", thousands(counts.failed))),
    ];
    out += "<ul class=\"tiles\">\n";
    for (name, figure, more) in tiles {
        let _ = writeln!(out, "<li><span>{name}</span> <b>{figure}</b> <small>{more}</small></li>");
    }
    out += "</ul>\n";
    out += &definitions(&[
        ("strategy", escape(&crawl.strategy)),
        ("fetched (UTC)", dates),
        ("stopped", escape(crawl.stopped.as_deref().unwrap_or("not told: summary.json is missing"))),
    ]);
    out += "<nav aria-label=\"Sections\"><ul>";
    for (id, name) in [
        ("harvest", "Harvest"),
        ("hosts", "Hosts"),
        ("tunnels", "Tunnels"),
        ("terms", "Terms"),
        ("languages", "Languages"),
        ("dates", "Dates"),
        ("lengths", "Lengths"),
        ("duplicates", "Duplicates"),
        ("exports", "Since the last export"),
        ("left-out", "Failed and refused"),
        ("queue", "Queue"),
        ("made", "Settings"),
    ] {
        let _ = write!(out, "<li><a href=\"#{id}\">{name}</a></li>");
    }
    out + "</ul></nav>\n</header>\n"
}

fn harvest(facts: &Facts) -> String {
    let harvest = &facts.harvest;
    let mut out = section("harvest", "Harvest");
    let Some(end) = harvest.points.last() else { return out + "<p>No page was fetched.</p>\n</section>\n" };
    let line = |name, style, ahead, value: &dyn Fn(&super::facts::HarvestPoint) -> f64| {
        let points =
            harvest.points.iter().map(|point| (point.pages as usize, Interval { median: value(point), range: None }));
        Line { name, style, points: points.collect(), ahead }
    };
    let mut found = line("relevant pages", Style::Nth(0), true, &|point| point.relevant as f64);
    found.points.insert(0, (0, Interval { median: 0.0, range: None }));
    let all = line("from the start", Style::Nth(6), false, &|point| point.relevant as f64 / point.pages as f64);
    let moving = line("moving", Style::Nth(0), true, &|point| point.moving);
    let pages = end.pages as usize;
    let quarter = |share: usize| {
        let at = harvest.points.iter().take_while(|point| point.pages as usize * 4 <= pages * share).last();
        at.map_or((0, 0), |point| (point.pages, point.relevant))
    };
    let parts: Vec<String> = (1..=4)
        .map(|number| {
            let (from, to) = (quarter(number - 1), quarter(number));
            per_cent((to.1 - from.1) as f64, (to.0 - from.0) as f64)
        })
        .collect();
    let _ = writeln!(
        out,
        "<p>Harvest rate in the four quarters of the crawl: {}. The moving rate is that of the last {}.</p>",
        parts.join(", "),
        count(harvest.window as usize, "page", "pages")
    );
    let _ = writeln!(
        out,
        "<div class=\"pair\">\n<figure>\n{}</figure>\n<figure>\n{}</figure>\n</div>",
        curves(&[found], "Relevant pages found", false, Along::pages(pages)),
        curves(&[moving, all], "Harvest rate", true, Along::pages(pages))
    );
    out + "</section>\n"
}

fn hosts(facts: &Facts) -> String {
    let hosts = &facts.hosts;
    let mut out = section("hosts", "Hosts");
    let _ = writeln!(
        out,
        "<p>{} visited of {} known; {} with relevant pages. {} of the pages lie on the largest host, {} on the ten largest: \
         as concentrated as {:.1} hosts of equal size would be.</p>",
        count(hosts.visited as usize, "host", "hosts"),
        thousands(hosts.known),
        thousands(hosts.relevant),
        per_cent(hosts.largest, 1.0),
        per_cent(hosts.ten_largest, 1.0),
        hosts.effective
    );
    let row = |row: &HostRow| {
        vec![
            escape(&row.host),
            thousands(row.pages),
            thousands(row.relevant),
            rate(row.relevant, row.pages),
            thousands(row.first),
            thousands(row.failed),
            thousands(row.refused),
            thousands(row.waiting),
        ]
    };
    let rows: Vec<Vec<String>> = hosts.rows.iter().map(row).collect();
    let columns = [
        Column::Text("host"),
        Column::Number("pages"),
        Column::Number("relevant"),
        Column::Number("rate"),
        Column::Number("first reached as page"),
        Column::Number("failed"),
        Column::Number("refused"),
        Column::Number("waiting"),
    ];
    out += &folded("Hosts with the most pages", &columns, rows, 15);
    out + "</section>\n"
}

fn foot(facts: &Facts) -> String {
    let crawl = &facts.crawl;
    let mut out = String::from("<footer id=\"made\">\n<h2>Settings</h2>\n");
    out += &definitions(&[
        ("suidao", escape(&crawl.version)),
        ("begun (UTC)", moment(&crawl.begun)),
        ("lexicon", format!("<code>{}</code>", escape(&crawl.lexicon))),
    ]);
    if !crawl.settings.is_empty() {
        out += "<details>\n<summary>All settings</summary>\n<dl>\n";
        for (key, value) in &crawl.settings {
            let _ = writeln!(out, "<dt>{}</dt><dd><code>{}</code></dd>", escape(key), escape(value));
        }
        out += "</dl>\n</details>\n";
    }
    out + "</footer>\n"
}

fn section(id: &str, title: &str) -> String {
    format!("<section id=\"{id}\">\n<h2>{title}</h2>\n")
}

/// A table of which the rows after the first `shown` are folded away.
fn folded(about: &str, columns: &[Column], mut rows: Vec<Vec<String>>, shown: usize) -> String {
    // A fold for a row or two is not worth it.
    let rest = if rows.len() > shown + 2 { rows.split_off(shown) } else { Vec::new() };
    let mut out = table(about, columns, &rows);
    if !rest.is_empty() {
        let more = format!("{about}, continued");
        let _ = writeln!(
            out,
            "<details>\n<summary>{} more</summary>\n{}</details>",
            rest.len(),
            table(&more, columns, &rest)
        );
    }
    out
}

/// Bars of pages with their relevant part; its name tells the figures too.
fn bars(bins: &[Bin], title: &str) -> String {
    let bars: Vec<Bar> = bins.iter().map(|bin| Bar { name: &bin.name, whole: bin.pages, part: bin.relevant }).collect();
    let most = bins.iter().max_by_key(|bin| bin.pages);
    let told = most.map_or(String::new(), |bin| format!("; most, {}, at {}", thousands(bin.pages), bin.name));
    histogram(&bars, &format!("{title}{told}"), "pages", Some("relevant"))
}

/// Bins as rows of a table.
fn rows(bins: &[Bin]) -> Vec<Vec<String>> {
    let row = |bin: &Bin| {
        vec![escape(&bin.name), thousands(bin.pages), thousands(bin.relevant), rate(bin.relevant, bin.pages)]
    };
    bins.iter().map(row).collect()
}

/// Columns of [`rows`].
fn columns(first: &str) -> [Column<'_>; 4] {
    [Column::Text(first), Column::Number("pages"), Column::Number("relevant"), Column::Number("rate")]
}

/// A share with a bar behind it.
fn rate(part: u64, whole: u64) -> String {
    if whole == 0 {
        return "–".to_owned();
    }
    let share = part as f64 / whole as f64;
    format!("<span class=\"rate\" style=\"--share:{:.3}\">{:.1}%</span>", share, 100.0 * share)
}

/// A page's title as a link to it, with host and path under it.
fn link(page: &Named) -> String {
    let title = if page.title.trim().is_empty() { "(no title)" } else { page.title.trim() };
    format!(
        "<a href=\"{}\" rel=\"noreferrer\">{}</a> <small>{}</small>",
        escape(page.url.as_str()),
        escape(&shortened(title)),
        escape(&readable(&page.url))
    )
}

/// A URL as people read it: without its scheme, escapes undone where they spell text.
fn readable(url: &CrawlUrl) -> String {
    let text = url.as_str().split_once("://").map_or(url.as_str(), |(_, rest)| rest);
    let read = percent_decode_str(text).decode_utf8().ok().filter(|read| !read.contains(is_hidden));
    shortened(read.as_deref().unwrap_or(text))
}

fn shortened(text: &str) -> String {
    if text.chars().count() <= SHOWN {
        return text.to_owned();
    }
    text.chars().take(SHOWN - 1).chain(['…']).collect()
}

/// An RFC 3339 time to the minute.
fn moment(time: &str) -> String {
    escape(&time.get(..16).unwrap_or(time).replace('T', " "))
}

fn scaled(number: u64) -> String {
    match number {
        ..100_000 => thousands(number),
        100_000..10_000_000 => format!("{:.2} M", number as f64 / 1e6),
        _ => format!("{} M", thousands(number / 1_000_000)),
    }
}

fn bytes(number: u64) -> String {
    match number {
        ..1_000_000 => format!("{} kB", thousands(number.div_ceil(1000))),
        1_000_000..1_000_000_000 => format!("{:.1} MB", number as f64 / 1e6),
        _ => format!("{:.2} GB", number as f64 / 1e9),
    }
}

#[cfg(test)]
mod tests;
