//! The status page: what somebody wants to see who comes by once a day. English, without scripts; the browser asks again by
//! itself. Pure: the same facts give the same bytes.

use std::fmt::Write;

use crate::html::{self, Column, count, escape, per_cent, table, thousands};
use crate::plot::{self, Along, Interval, Line, Style, curves};
use suidao_crawl::crawl::{HostView, Overview};
use suidao_live::live::{Glance, RecentFailure, RecentPage, Tally, resident_memory};
use suidao_page::model::{CrawlUrl, Millis, Place, Tunnel, span};
use suidao_store::store::date;
use suidao_store::store::harvest::HarvestLine;

use super::metrics::reason_name;

/// Lines of a harvest of which the latest rate is told: a hundred pages each.
const LATEST: usize = 10;
/// Rows of a table.
const ROWS: usize = 12;

/// The whole page; without a glance the crawl has not begun.
pub(super) fn page(directory: &str, tally: &Tally, glance: Option<&Glance>, paused: bool) -> String {
    let title = format!("suidao: {directory}");
    let mut body = format!("<header>\n<h1>Crawl in {}</h1>\n", escape(directory));
    let Some(glance) = glance.filter(|_| tally.ready.is_some()) else {
        body += "<p class=\"lead\">It has not begun: the state of an earlier run is being restored.</p>\n</header>\n";
        body += "<main id=\"main\" tabindex=\"-1\"><p>The page looks again every ten seconds.</p></main>\n";
        return html::page(&title, "en", &[include_str!("status.css")], &body);
    };
    body += &head(tally, glance, paused);
    body += "</header>\n<main id=\"main\" tabindex=\"-1\">\n";
    for section in [
        harvest(&glance.harvest),
        pages(tally),
        queue(&glance.overview),
        hosts(tally, glance),
        errors(tally, &glance.overview),
    ] {
        body += &section;
    }
    body += "</main>\n<footer><p class=\"note\"><a href=\"/metrics\">Metrics for Prometheus</a>. Times are UTC.</p></footer>\n";
    html::page(&title, "en", &[plot::STYLE, include_str!("status.css")], &body)
}

/// What became of one URL, and a form for the next.
pub(super) fn why(directory: &str, typed: &str, told: Result<&str, &str>) -> String {
    let mut body = format!(
        "<header>\n<p><a href=\"/\">Crawl in {}</a></p>\n<h1>Why?</h1>\n</header>\n<main id=\"main\" tabindex=\"-1\">\n{}",
        escape(directory),
        form(typed)
    );
    let _ = match told {
        Ok(story) => writeln!(body, "<pre tabindex=\"0\">{}</pre>", escape(story.trim_end())),
        Err(told) => writeln!(body, "<p>{}</p>", escape(told)),
    };
    body += "</main>\n";
    html::page("suidao: why?", "en", &[include_str!("status.css")], &body)
}

fn form(typed: &str) -> String {
    format!(
        "<form action=\"/why\" method=\"get\">\n<label for=\"url\">How was a URL found, what did it score, why was it \
         refused?</label>\n<input id=\"url\" name=\"url\" type=\"url\" maxlength=\"2000\" autocomplete=\"off\" \
         placeholder=\"http://\" value=\"{}\">\n<button type=\"submit\">Tell</button>\n</form>\n",
        escape(typed)
    )
}

fn head(tally: &Tally, glance: &Glance, paused: bool) -> String {
    let Overview { progress, hosts, in_flight, .. } = &glance.overview;
    let (since, resumed) = tally.ready.unwrap_or_default();
    let seconds = glance.at.since(since) as f64 / 1000.0;
    let now = progress.pages.saturating_sub(tally.before.pages);
    let mut out = String::new();
    let how = if resumed { "going on from an earlier run" } else { "a new crawl" };
    let left = glance.overview.goals.seconds_left(&tally.before, progress, seconds);
    let left = left.map_or_else(String::new, |left| format!(", about {} left", span(left)));
    let _ = writeln!(
        out,
        "<p class=\"lead\">{} fetched, <strong>{} relevant</strong> ({}); running for {}{left}, {how}.</p>",
        count(progress.pages as usize, "page", "pages"),
        thousands(progress.relevant),
        per_cent(progress.relevant as f64, progress.pages as f64),
        span(seconds),
    );
    let tiles = [
        ("pages a second", format!("{:.1}", now as f64 / seconds.max(1.0)), format!("{} in this run", thousands(now))),
        ("URLs waiting", thousands(progress.queued), format!("{} known", thousands(progress.known))),
        ("under way", thousands(*in_flight), format!("{} not on disk yet", thousands(glance.unwritten))),
        (
            "hosts",
            thousands(progress.hosts_visited),
            format!("{} with relevant pages", thousands(progress.hosts_relevant)),
        ),
        (
            "hosts failing",
            thousands(hosts.failing),
            format!("{} resting, {} ready", thousands(hosts.resting), thousands(hosts.ready)),
        ),
        ("failed", thousands(progress.failed), format!("{} refused", thousands(progress.refused))),
        ("of pages", size(progress.bytes), format!("{} visits again", thousands(progress.visits))),
        ("memory", resident_memory().map_or_else(|| "–".to_owned(), size), "of the process".to_owned()),
    ];
    out += "<ul class=\"tiles\">\n";
    for (name, figure, more) in tiles {
        let _ = writeln!(out, "<li><span>{name}</span> <b>{figure}</b> <small>{more}</small></li>");
    }
    out += "</ul>\n";
    let (link, what) =
        if paused { ("/", "Look again every ten seconds") } else { ("/?refresh=off", "Stop looking again") };
    let _ = writeln!(
        out,
        "<p class=\"note\">As of <time datetime=\"{at}\">{shown}</time>. <a href=\"{link}\">{what}</a></p>",
        at = date(glance.at),
        shown = moment(glance.at),
    );
    out += "<nav aria-label=\"Sections\"><ul>";
    for (id, name) in [
        ("harvest", "Harvest"),
        ("pages", "Last pages"),
        ("queue", "Queue"),
        ("hosts", "Hosts"),
        ("errors", "Failed and refused"),
        ("memory", "Memory"),
    ] {
        let _ = write!(out, "<li><a href=\"#{id}\">{name}</a></li>");
    }
    out + "</ul></nav>\n" + &form("")
}

fn section(id: &str, title: &str, inside: &str) -> String {
    format!("<section id=\"{id}\">\n<h2>{title}</h2>\n{inside}</section>\n")
}

fn harvest(lines: &[HarvestLine]) -> String {
    let Some(last) = lines.last() else { return section("harvest", "Harvest", "<p>No page yet.</p>\n") };
    let all = last.pages as usize;
    let zero = (0, Interval { median: 0.0, range: None });
    let points = lines.iter().map(|line| (line.pages as usize, Interval { median: line.relevant as f64, range: None }));
    let found = Line {
        name: "relevant pages",
        style: Style::Nth(0),
        points: std::iter::once(zero).chain(points).collect(),
        ahead: true,
    };
    let plot = curves(&[found], "relevant pages found", false, Along::pages(all));
    let before = lines.iter().rev().nth(LATEST).copied();
    let (pages, relevant) = before.map_or((0, 0), |line| (line.pages, line.relevant));
    let told = format!(
        "Of the last {}, {} are relevant; of all, {}.",
        count((last.pages - pages) as usize, "page", "pages"),
        per_cent((last.relevant - relevant) as f64, (last.pages - pages) as f64),
        per_cent(last.relevant as f64, last.pages as f64),
    );
    section("harvest", "Harvest", &format!("<p>{told}</p>\n<figure>{plot}</figure>\n"))
}

fn pages(tally: &Tally) -> String {
    let row = |page: &RecentPage| {
        let RecentPage { at, url, title, relevance, relevant, place } = page;
        let verdict = if *relevant { "relevant" } else { "off topic" };
        vec![
            format!("<b>{relevance:.3}</b> <small>{verdict}</small>"),
            page_cell(url, title),
            format!("{:.3}", place.priority.get()),
            k(*place),
            place.trail.depth.to_string(),
            clock(*at),
            why_link(url),
        ]
    };
    let rows: Vec<_> = tally.pages.iter().map(row).collect();
    let columns = [
        Column::Text("relevance"),
        Column::Text("page"),
        Column::Number("score in the queue"),
        Column::Number("k"),
        Column::Number("depth"),
        Column::Number("at"),
        Column::Text("why"),
    ];
    let inside =
        if rows.is_empty() { "<p>No page yet.</p>\n".to_owned() } else { table("the last pages", &columns, &rows) };
    section("pages", "Last pages", &inside)
}

fn queue(overview: &Overview) -> String {
    let mut inside = format!("<p>{} wait.</p>\n", count(overview.progress.queued as usize, "URL", "URLs"));
    for lane in &overview.lanes {
        let row = |(url, place): &(CrawlUrl, Place)| {
            let cells = [format!("{:.3}", place.priority.get()), page_cell(url, ""), k(*place)];
            cells.into_iter().chain([place.trail.depth.to_string(), why_link(url)]).collect()
        };
        let rows: Vec<Vec<String>> = lane.heads.iter().map(row).collect();
        let columns = [
            Column::Number("score"),
            Column::Text("URL"),
            Column::Number("k"),
            Column::Number("depth"),
            Column::Text("why"),
        ];
        let _ = writeln!(inside, "<h3>Lane {}, the best first</h3>", lane.lane.0);
        inside += &table(&format!("the head of lane {}", lane.lane.0), &columns, &rows);
    }
    section("queue", "Queue", &inside)
}

fn hosts(tally: &Tally, glance: &Glance) -> String {
    let mut inside = String::new();
    let row = |host: &HostView| {
        let topic = if host.relevant { "yes" } else { "no" };
        vec![
            escape(&host.name),
            thousands(u64::from(host.pages)),
            topic.to_owned(),
            thousands(u64::from(host.queued)),
            host.failures.to_string(),
            if host.ready_at > glance.at {
                span(host.ready_at.since(glance.at) as f64 / 1000.0)
            } else {
                "now".to_owned()
            },
        ]
    };
    let columns = [
        Column::Text("host"),
        Column::Number("pages"),
        Column::Text("relevant ones"),
        Column::Number("waiting"),
        Column::Number("failures in a row"),
        Column::Number("may be asked in"),
    ];
    for (title, list) in [("Most pages", &glance.overview.largest), ("Failing", &glance.overview.failing)] {
        if !list.is_empty() {
            let rows: Vec<_> = list.iter().take(ROWS).map(row).collect();
            let _ = writeln!(inside, "<h3>{title}</h3>");
            inside += &table(title, &columns, &rows);
        }
    }
    let rows: Vec<_> = tally
        .slowest(ROWS)
        .into_iter()
        .map(|(name, pace)| vec![escape(name), format!("{:.2}", pace.seconds), thousands(pace.answers)])
        .collect();
    if !rows.is_empty() {
        inside += "<h3>Slowest</h3>\n";
        let columns = [Column::Text("host"), Column::Number("seconds an answer"), Column::Number("answers")];
        inside += &table("the slowest hosts", &columns, &rows);
    }
    section("hosts", "Hosts", if inside.is_empty() { "<p>No host was asked yet.</p>\n" } else { &inside })
}

fn errors(tally: &Tally, overview: &Overview) -> String {
    let mut inside = String::new();
    let kinds: std::collections::BTreeSet<&String> = tally.failed.keys().chain(tally.retried.keys()).collect();
    let number =
        |of: &std::collections::BTreeMap<String, u64>, kind| thousands(of.get(kind).copied().unwrap_or_default());
    let rows: Vec<_> = kinds
        .into_iter()
        .map(|kind| vec![escape(kind), number(&tally.failed, kind), number(&tally.retried, kind)])
        .collect();
    if !rows.is_empty() {
        let columns = [Column::Text("failed in this run"), Column::Number("given up"), Column::Number("tried again")];
        inside += &table("failures by kind", &columns, &rows);
    }
    let rows: Vec<_> = overview
        .refusals
        .iter()
        .map(|(reason, number)| vec![escape(&reason_name(*reason)), thousands(*number), escape(reason.why())])
        .collect();
    if !rows.is_empty() {
        let columns = [Column::Text("refused"), Column::Number("URLs"), Column::Text("because")];
        inside += &table("refusals by reason", &columns, &rows);
    }
    let row = |failed: &RecentFailure| {
        let RecentFailure { at, url, failure, again } = failed;
        let then = if *again { "tried again" } else { "given up" };
        vec![page_cell(url, ""), escape(&failure.to_string()), then.to_owned(), clock(*at), why_link(url)]
    };
    let rows: Vec<_> = tally.failures.iter().take(ROWS).map(row).collect();
    if !rows.is_empty() {
        inside += "<h3>Last failures</h3>\n";
        let columns = [
            Column::Text("URL"),
            Column::Text("what"),
            Column::Text("then"),
            Column::Number("at"),
            Column::Text("why"),
        ];
        inside += &table("the last failures", &columns, &rows);
    }
    section("errors", "Failed and refused", if inside.is_empty() { "<p>Nothing.</p>\n" } else { &inside })
}

/// A page with a link to it, and its title if it has one.
fn page_cell(url: &CrawlUrl, title: &str) -> String {
    let address = escape(url.as_str());
    let link = format!("<a href=\"{address}\" rel=\"noreferrer\">{address}</a>");
    if title.is_empty() { link } else { format!("{} <small>{link}</small>", escape(title)) }
}

fn why_link(url: &CrawlUrl) -> String {
    let asked: String = url::form_urlencoded::byte_serialize(url.as_str().as_bytes()).collect();
    format!("<a href=\"/why?url={}\" aria-label=\"why {}\">why</a>", escape(&asked), escape(url.as_str()))
}

fn k(place: Place) -> String {
    match place.trail.k {
        Tunnel::Unbounded => "∞".to_owned(),
        Tunnel::Left(left) => left.to_string(),
    }
}

fn size(bytes: u64) -> String {
    let bytes = bytes as f64;
    match bytes {
        _ if bytes >= 1e9 => format!("{:.2} GB", bytes / 1e9),
        _ if bytes >= 1e6 => format!("{:.1} MB", bytes / 1e6),
        _ => format!("{:.1} kB", bytes / 1e3),
    }
}

/// `2026-11-22 06:40:12`.
fn moment(at: Millis) -> String {
    date(at).get(..19).map(|text| text.replace('T', " ")).unwrap_or_default()
}

/// `06:40:12`.
fn clock(at: Millis) -> String {
    date(at).get(11..19).map(str::to_owned).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use suidao_crawl::crawl::LaneView;
    use suidao_page::model::{Failure, FailureKind, Lane, Priority, Refusal, Trail};

    #[test]
    fn what_pages_say_stays_text_and_nothing_comes_from_elsewhere() {
        let url = CrawlUrl::parse("http://a.cn/'\"<script>alert(1)</script>?a=1&b=2").unwrap();
        let place = Place { lane: Lane(0), priority: Priority::new(0.5), trail: Trail::SEED };
        let mut tally = Tally::default();
        tally.ready = Some((Millis(0), true));
        tally.pages.push_front(RecentPage {
            at: Millis(5),
            url: url.clone(),
            title: "<img src=x onerror=alert(1)>足球".to_owned(),
            relevance: 0.7,
            relevant: true,
            place,
        });
        let failure = Failure { kind: FailureKind::MediaType("<b>".into()), retry_after: None };
        tally.failures.push_front(RecentFailure { at: Millis(5), url: url.clone(), failure, again: true });
        tally.failed.insert("<i>".to_owned(), 1);
        let overview = Overview {
            lanes: vec![LaneView { lane: Lane(0), heads: vec![(url, place)] }],
            refusals: vec![(Refusal::Robots, 3)],
            ..Overview::default()
        };
        let line = HarvestLine { pages: 100, relevant: 50, harvest_rate: 0.5, mean_k: None, new_hosts: 1 };
        let glance = Glance { at: Millis(90_000), overview, harvest: vec![line], unwritten: 0 };
        for text in [
            page("<dir>", &tally, Some(&glance), false),
            page("<dir>", &tally, None, true),
            why("<dir>", "\"><script>", Ok("<script>")),
            why("<dir>", "x", Err("<b>no</b>")),
        ] {
            let html = scraper::Html::parse_document(&text);
            assert!(html.errors.is_empty(), "{:?}\n{text}", html.errors);
            let hostile = scraper::Selector::parse("script, img, iframe, link, i, [onerror], [src]").unwrap();
            assert_eq!(html.select(&hostile).count(), 0, "{text}");
            let links = scraper::Selector::parse("a").unwrap();
            for link in html.select(&links) {
                let href = link.value().attr("href").unwrap();
                assert!(["/", "#", "http://a.cn/"].iter().any(|start| href.starts_with(start)), "{href}");
            }
        }
    }
}
