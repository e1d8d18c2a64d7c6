//! The metrics in the OpenMetrics text format of Prometheus, built for each scrape from the crawl's own counts.

use std::fmt::Error;

use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::{ConstCounter, Counter};
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::{ConstGauge, Gauge};
use prometheus_client::registry::{Registry, Unit};

use suidao_live::live::{CrawlMonitor, StatusSnapshot};
use suidao_live::memory::resident_memory;

pub(super) const MEDIA_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

type Labels = Vec<(&'static str, String)>;

/// The whole text; without a snapshot only what does not need the machine.
pub(super) fn text(monitor: &CrawlMonitor, snapshot: Option<&StatusSnapshot>) -> Result<String, Error> {
    let tally = monitor.tally();
    let mut all = Registry::with_prefix("suidao");
    all.register("up_to_date", "Whether the figures are from the current run", gauge(u64::from(snapshot.is_some())));
    if let Some((at, _)) = tally.ready {
        let seconds = at.0 as f64 / 1000.0;
        all.register_with_unit(
            "ready_time",
            "Unix time when the state was restored",
            Unit::Seconds,
            ConstGauge::new(seconds),
        );
    }
    let failed = counters("kind", tally.failed.iter().map(|(kind, count)| (kind.clone(), *count)));
    all.register("failed_urls", "URLs that finally failed in this run", failed);
    let retried = counters("kind", tally.retried.iter().map(|(kind, count)| (kind.clone(), *count)));
    all.register("retried_fetches", "Failed fetches of this run that are retried", retried);
    let robots = ["fetched", "unreachable"].map(str::to_owned).into_iter().zip(tally.robots);
    all.register("robots", "robots.txt requests of this run by outcome", counters("outcome", robots));
    all.register("redirects", "Redirects in this run", ConstCounter::new(tally.redirects));
    all.register_with_unit(
        "received",
        "Body bytes received in this run, as transferred",
        Unit::Bytes,
        ConstCounter::new(monitor.received()),
    );
    all.register_with_unit(
        "fetch_duration",
        "Time from a request to the end of its response",
        Unit::Seconds,
        monitor.fetching.clone(),
    );
    all.register_with_unit(
        "read_duration",
        "Time to parse and score a response",
        Unit::Seconds,
        monitor.parsing.clone(),
    );
    if let Some(StatusSnapshot { overview, unwritten, .. }) = snapshot {
        let progress = overview.progress;
        for (name, help, count) in [
            ("pages", "Pages fetched, earlier runs included", progress.pages),
            ("relevant_pages", "Relevant pages among them", progress.relevant),
            ("requests", "Requests sent, revisits excluded", progress.requests),
            ("visits", "Revisits of pages", progress.visits),
        ] {
            all.register(name, help, ConstCounter::new(count));
        }
        all.register_with_unit(
            "page",
            "Bodies of fetched pages, decoded",
            Unit::Bytes,
            ConstCounter::new(progress.bytes),
        );
        for (name, help, count) in [
            ("queued_urls", "URLs queued", progress.queued),
            ("known_urls", "URLs known", progress.known),
            ("known_hosts", "Hosts known", progress.hosts),
            ("visited_hosts", "Hosts with at least one page fetched", progress.hosts_visited),
            ("relevant_hosts", "Hosts with at least one relevant page fetched", progress.hosts_relevant),
            ("in_flight_requests", "Requests in flight", overview.in_flight),
            ("unwritten_batches", "Finished requests that are not on disk yet", *unwritten),
        ] {
            all.register(name, help, gauge(count));
        }
        let skipped = overview.skipped_by_reason.iter().map(|(reason, count)| (reason_name(*reason), *count));
        all.register("skipped_urls", "URLs skipped, by first reason", counters("reason", skipped));
        let hosts = overview.hosts;
        let states = [
            ("in-flight", hosts.in_flight),
            ("failing", hosts.failing),
            ("waiting", hosts.waiting),
            ("ready", hosts.ready),
            ("idle", hosts.idle),
        ];
        let states = states.into_iter().map(|(state, count)| (state.to_owned(), count));
        all.register("hosts", "Hosts by state", gauges("state", states));
    }
    let mut out = String::new();
    let mut process = Registry::with_prefix("process");
    if let Some(bytes) = resident_memory("self") {
        process.register_with_unit("resident_memory", "Memory of the whole process", Unit::Bytes, gauge(bytes));
    }
    encode(&mut out, &process)?;
    // One end for both.
    out.truncate(out.strip_suffix("# EOF\n").map_or(out.len(), str::len));
    encode(&mut out, &all)?;
    Ok(out)
}

fn gauge(value: u64) -> ConstGauge<i64> {
    ConstGauge::new(i64::try_from(value).unwrap_or(i64::MAX))
}

fn counters(label: &'static str, values: impl Iterator<Item = (String, u64)>) -> Family<Labels, Counter> {
    let family = Family::<Labels, Counter>::default();
    for (value, count) in values {
        family.get_or_create(&vec![(label, value)]).inc_by(count);
    }
    family
}

fn gauges(label: &'static str, values: impl Iterator<Item = (String, u64)>) -> Family<Labels, Gauge> {
    let family = Family::<Labels, Gauge>::default();
    for (value, count) in values {
        family.get_or_create(&vec![(label, value)]).set(i64::try_from(count).unwrap_or(i64::MAX));
    }
    family
}

pub(super) fn reason_name(reason: suidao_page::model::SkipReason) -> String {
    serde_json::to_value(reason).ok().and_then(|name| name.as_str().map(str::to_owned)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_has_help_and_type_and_the_text_ends() {
        let text = text(&CrawlMonitor::default(), Some(&StatusSnapshot::default())).unwrap();
        assert!(text.ends_with("# EOF\n") && text.matches("# EOF").count() == 1, "{text}");
        for line in text.lines().filter(|line| !line.starts_with('#')) {
            let name = line.split(['{', ' ']).next().unwrap();
            let family =
                ["_total", "_bucket", "_sum", "_count"].iter().find_map(|end| name.strip_suffix(end)).unwrap_or(name);
            for what in ["HELP", "TYPE"] {
                assert!(text.contains(&format!("# {what} {family} ")), "{what} of {name}\n{text}");
            }
        }
        for name in ["suidao_pages_total 0", "suidao_fetch_duration_seconds_count 0", "suidao_queued_urls 0"] {
            assert!(text.contains(name), "{name}\n{text}");
        }
    }
}
