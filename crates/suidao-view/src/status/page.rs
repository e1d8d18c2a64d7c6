//! The status page, for a daily look. Without scripts; the browser reloads it. Pure: the same facts give the
//! same bytes.

use std::collections::{BTreeMap, BTreeSet};

use minijinja::{Value, context};

use suidao_crawl::crawl::{HostView, Overview, WaitThreshold};
use suidao_html::plot::{self, Along, CurveLine, Interval, LineStyle, curves};
use suidao_html::{self as html, bytes, fill, html, per_cent, thousands};
use suidao_live::live::{RecentFailure, RecentPage, RunCounts, StatusSnapshot};
use suidao_live::memory::resident_memory;
use suidao_page::messages::Lang;
use suidao_page::model::{CrawlUrl, FailureKind, Millis, QueueEntry};
use suidao_store::store::HarvestTrouble;
use suidao_store::store::harvest::HarvestLine;
use suidao_store::store::{display_time, rfc3339};

use super::metrics::reason_name;

/// Lines of the harvest curve for the latest rate: a hundred pages each.
const LATEST: usize = 10;
const ROWS: usize = 12;

/// The whole page; without a snapshot the crawl has not begun.
pub(super) fn page(
    directory: &str,
    tally: &RunCounts,
    snapshot: Option<&StatusSnapshot>,
    paused: bool,
    lang: Lang,
) -> String {
    let snapshot = snapshot.filter(|_| tally.ready.is_some());
    let result = snapshot.map_or_else(
        || context! {},
        |snapshot| {
            context! {
                last => tally.pages.iter().map(|page| recent(page, lang)).collect::<Value>(),
                failed => failed(tally, lang),
                failures => tally.failures.iter().take(ROWS).map(|failed| failure(failed, lang)).collect::<Value>(),
                slowest => tally.slowest(ROWS).into_iter().map(|(name, pace)| {
                    context! { name, seconds => pace.seconds, responses => pace.responses }
                }).collect::<Value>(),
                harvest => harvest(&snapshot.harvest, lang),
                advice => advice(directory, snapshot, lang),
                ..seen(tally, snapshot, lang)
            }
        },
    );
    let context = context! { directory, begun => snapshot.is_some(), paused, form => form("", lang), ..result };
    let body = fill(lang, include_str!("page.html"), context);
    html::page(
        &format!("suidao{}{directory}", lang.phrase("colon")),
        lang,
        &[plot::STYLE, include_str!("status.css")],
        &body,
    )
}

/// The history of one URL, and a form for the next.
pub(super) fn why(directory: &str, typed: &str, result: Result<&str, &str>, lang: Lang) -> String {
    let context = context! {
        directory,
        form => form(typed, lang),
        story => result.ok().map(str::trim_end),
        problem => result.err()
    };
    let body = fill(lang, include_str!("why.html"), context);
    html::page(
        &format!("suidao{}{}", lang.phrase("colon"), lang.phrase("why-page")),
        lang,
        &[include_str!("status.css")],
        &body,
    )
}

fn form(typed: &str, lang: Lang) -> Value {
    html(fill(lang, include_str!("form.html"), context! { typed }))
}

fn seen(tally: &RunCounts, snapshot: &StatusSnapshot, lang: Lang) -> Value {
    let text = |key: &str, number: u64| lang.text(key, &[&thousands(number)]);
    let Overview {
        progress, hosts, in_flight, queues, wait_threshold, skipped_by_reason, goals, largest, failing, ..
    } = &snapshot.overview;
    let (since, resumed) = tally.ready.unwrap_or_default();
    let seconds = snapshot.at.since(since) as f64 / 1000.0;
    let now = progress.pages.saturating_sub(tally.before.pages);
    let waiting = [hosts.waiting, hosts.ready].map(thousands);
    let figures = [
        (text("relevant-pages", 0), thousands(progress.relevant), text("pages-fetched-n", progress.pages)),
        (text("pages-per-second", 0), format!("{:.1}", now as f64 / seconds.max(1.0)), text("in-this-run", now)),
        (text("urls-queued", 0), thousands(progress.queued), text("known-n", progress.known)),
        (text("requests-in-flight", 0), thousands(*in_flight), text("not-on-disk-n", snapshot.unwritten)),
        (text("hosts", 0), thousands(progress.hosts_visited), text("with-relevant-pages-n", progress.hosts_relevant)),
        (text("failed", 0), thousands(progress.failed), text("skipped-n", progress.skipped)),
        (text("page-data", 0), bytes(progress.bytes), text("revisits-n", progress.visits)),
        (
            text("hosts-failing", 0),
            thousands(hosts.failing),
            lang.text("waiting-for-politeness", &[&waiting[0], &waiting[1]]),
        ),
        (text("memory", 0), resident_memory("self").map_or_else(|| "–".to_owned(), bytes), text("of-the-process", 0)),
    ];
    let host = |host: &HostView| {
        let wait = host.ready_at > snapshot.at;
        let wait = if wait { lang.span(host.ready_at.since(snapshot.at) as f64 / 1000.0) } else { text("now", 0) };
        let HostView { name, pages, relevant, queued, failures, .. } = host;
        context! { name => &**name, pages, relevant, queued, failures, wait }
    };
    let hosts = [(text("most-pages", 0), largest), (text("failing", 0), failing)];
    context! {
        pages => progress.pages,
        relevant => progress.relevant,
        queued => progress.queued,
        running => lang.span(seconds),
        left => goals.seconds_left(&tally.before, progress, seconds).map(|seconds| lang.span(seconds)),
        resumed,
        figures,
        at => rfc3339(snapshot.at),
        shown => lang.date(&display_time(snapshot.at)),
        queues => queues.iter().map(|queue| {
            let heads = queue.heads.iter().map(|(url, entry)| queued(url, *entry));
            context! { number => queue.queue_id.0, heads => heads.collect::<Value>() }
        }).collect::<Value>(),
        held => wait_threshold.map(|threshold| describe(&threshold, lang)),
        hosts => hosts.map(|(title, list)| (title, list.iter().take(ROWS).map(host).collect::<Value>())),
        skipped_urls => skipped_by_reason
            .iter()
            .map(|(reason, urls)| match lang {
                Lang::English => (reason_name(*reason), *urls, Some(reason.why(lang))),
                // Names are English; `skipped.csv` and the metrics have them.
                Lang::Chinese => (reason.why(lang).to_owned(), *urls, None),
            })
            .collect::<Value>(),
    }
}

/// Which URLs wait for better ones, and for which.
pub(super) fn describe(threshold: &WaitThreshold, lang: Lang) -> String {
    let [below, best] = [threshold.below, threshold.best].map(|value| format!("{value:.3}"));
    lang.text("waiting-for-better", &[&below, &best])
}

/// What is wrong with the harvest, and what to do.
fn advice(directory: &str, snapshot: &StatusSnapshot, lang: Lang) -> Option<String> {
    let progress = &snapshot.overview.progress;
    let curve = snapshot.harvest.iter().map(|line| (line.pages, line.relevant));
    let trouble = HarvestTrouble::of(curve, (progress.hosts_relevant, progress.hosts_visited))?;
    Some(trouble.advice(lang, directory))
}

fn harvest(lines: &[HarvestLine], lang: Lang) -> Option<Value> {
    let text = |key| lang.text(key, &[]);
    let [name, label] = [text("relevant-pages"), text("pages-fetched")];
    let last = lines.last()?;
    let zero = (0, Interval { median: 0.0, range: None });
    let points = lines.iter().map(|line| (line.pages as usize, Interval { median: line.relevant as f64, range: None }));
    let found = CurveLine {
        name: &name,
        style: LineStyle::Nth(0),
        points: std::iter::once(zero).chain(points).collect(),
        highlighted: true,
    };
    let plot = curves(
        &[found],
        &text("relevant-pages-found"),
        false,
        Along { label: &label, first: 0, last: last.pages as usize, lang },
    );
    let before = lines.iter().rev().nth(LATEST).copied();
    let (pages, relevant) = before.map_or((0, 0), |line| (line.pages, line.relevant));
    let summary = lang.text(
        "harvest-rate-moving",
        &[
            &(last.pages - pages),
            &per_cent((last.relevant - relevant) as f64, (last.pages - pages) as f64),
            &per_cent(last.relevant as f64, last.pages as f64),
        ],
    );
    Some(context! { summary, plot => html(plot) })
}

fn queued(url: &CrawlUrl, entry: QueueEntry) -> Value {
    context! { url => url.as_str(), score => entry.priority.get(), depth => entry.path.depth }
}

fn recent(page: &RecentPage, lang: Lang) -> Value {
    let RecentPage { at, url, title, relevance, relevance_label, queued_as } = page;
    let relevance_label = relevance_label.text(lang);
    context! { at => clock(*at), title, relevance, relevance_label, ..queued(url, *queued_as) }
}

fn failure(failed: &RecentFailure, lang: Lang) -> Value {
    let RecentFailure { at, url, failure, again } = failed;
    context! { at => clock(*at), url => url.as_str(), what => failure.kind.text(lang), again }
}

/// Kinds of failures, with numbers of URLs given up and retried.
fn failed(tally: &RunCounts, lang: Lang) -> Value {
    let kinds: BTreeSet<&String> = tally.failed.keys().chain(tally.retried.keys()).collect();
    let number = |of: &BTreeMap<String, u64>, kind| of.get(kind).copied().unwrap_or_default();
    let shown = |kind: &str| match lang {
        Lang::English => kind.to_owned(),
        Lang::Chinese => FailureKind::text_of_name(kind, lang),
    };
    kinds.into_iter().map(|kind| (shown(kind), number(&tally.failed, kind), number(&tally.retried, kind))).collect()
}

/// `06:40:12`.
fn clock(at: Millis) -> String {
    rfc3339(at).get(11..19).map(str::to_owned).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use suidao_crawl::crawl::QueueView;
    use suidao_page::model::{Failure, PathState, Priority, QueueId, RelevanceLabel, SkipReason};

    #[test]
    fn text_of_pages_stays_text_and_nothing_is_loaded() {
        let url = CrawlUrl::parse("http://a.cn/'\"<script>alert(1)</script>?a=1&b=2").unwrap();
        let place = QueueEntry { queue: QueueId(0), priority: Priority::new(0.5), path: PathState::SEED };
        let mut tally = RunCounts::default();
        tally.ready = Some((Millis(0), true));
        tally.pages.push_front(RecentPage {
            at: Millis(5),
            url: url.clone(),
            title: "<img src=x onerror=alert(1)>足球".to_owned(),
            relevance: 0.7,
            relevance_label: RelevanceLabel::Relevant,
            queued_as: place,
        });
        let failure = Failure { kind: FailureKind::MediaType("<b>".into()), retry_after: None };
        tally.failures.push_front(RecentFailure { at: Millis(5), url: url.clone(), failure, again: true });
        tally.failed.insert("<i>".to_owned(), 1);
        let overview = Overview {
            queues: vec![QueueView { queue_id: QueueId(0), heads: vec![(url, place)] }],
            skipped_by_reason: vec![(SkipReason::Robots, 3)],
            ..Overview::default()
        };
        let line = HarvestLine { pages: 100, relevant: 50, harvest_rate: 0.5, mean_k: None, new_hosts: 1 };
        let snapshot =
            StatusSnapshot { at: Millis(90_000), overview, harvest: vec![line], ..StatusSnapshot::default() };
        for text in [
            page("<dir>", &tally, Some(&snapshot), false, Lang::English),
            page("<dir>", &tally, None, true, Lang::Chinese),
            why("<dir>", "\"><script>", Ok("<script>"), Lang::English),
            why("<dir>", "x", Err("<b>no</b>"), Lang::Chinese),
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
