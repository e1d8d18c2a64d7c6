//! The summary of a run: the same for all verbs that run the machine, for programs (`Serialize`: `--json`,
//! `summary.json`) and for people (`Display`, in the verb's file).

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::Result;
use serde::Serialize;
use serde_json::{Value, json};
use suidao::config::Config;
use suidao::html::{count, thousands};
use suidao::live::CrawlReport;
use suidao::model::{Failure, SkipReason, Stop, number};
use suidao::store::CrawlDirectory;
use suidao::store::directory::write_own;
use suidao::topic::Topic;
use suidao::visible::Visible;

/// `D`: what only this verb has.
#[derive(Serialize)]
pub struct RunSummary<'a, D> {
    version: &'static str,
    pub topic: &'a str,
    pub lexicon_digest: String,
    pub strategy: String,
    pub in_flight: usize,
    pub stopped: Stopped,
    harvest_rate: f64,
    #[serde(flatten)]
    pub report: &'a CrawlReport,
    this_run: ThisRun,
    pub config: Config,
    #[serde(flatten)]
    pub details: D,
    #[serde(skip)]
    pub output: &'a Path,
    #[serde(skip)]
    pub of_keywords: bool,
}

/// Why a run stopped.
#[derive(Serialize)]
#[serde(untagged)]
pub enum Stopped {
    Because(Stop),
    As(&'static str),
}

#[derive(Serialize)]
struct ThisRun {
    pages: u64,
    seconds: f64,
    resumed: bool,
    idle_host_seconds: f64,
    longest_gap: f64,
}

impl<'a, D> RunSummary<'a, D> {
    /// `output`: the directory of its files.
    pub fn new(
        config: &Config,
        topic: &'a Topic,
        output: &'a CrawlDirectory,
        report: &'a CrawlReport,
        details: D,
    ) -> Self {
        Self {
            version: env!("CARGO_PKG_VERSION"),
            topic: &topic.lexicon().name,
            lexicon_digest: topic.digest(),
            strategy: config.strategy.label(),
            in_flight: config.crawl.in_flight,
            stopped: report.stop.map_or(Stopped::As("interrupted"), Stopped::Because),
            harvest_rate: report.progress.relevant as f64 / report.progress.pages.max(1) as f64,
            this_run: ThisRun {
                pages: report.pages_now,
                seconds: report.seconds,
                resumed: report.resumed,
                idle_host_seconds: seconds(report.wait_costs.idle),
                longest_gap: seconds(report.wait_costs.longest_gap),
            },
            config: config.without_secrets(),
            output: output.root(),
            of_keywords: topic.lexicon().is_of_keywords(),
            report,
            details,
        }
    }

    /// How many pages were fetched, and how many of them are relevant.
    pub fn harvest(&self) -> String {
        let progress = &self.report.progress;
        format!(
            "{}, {} of them relevant to {}: harvest rate {:.1}%",
            count(progress.pages as usize, "page", "pages"),
            thousands(progress.relevant),
            self.topic,
            100.0 * self.harvest_rate,
        )
    }

    pub fn speed(&self) -> String {
        let ThisRun { pages, seconds, .. } = self.this_run;
        format!(
            "This run: {}, {:.0} pages/s.",
            count(pages as usize, "page", "pages"),
            pages as f64 / seconds.max(1e-3)
        )
    }

    /// Hosts and URLs, in a line.
    pub fn hosts(&self) -> String {
        let progress = &self.report.progress;
        format!(
            "{} visited, {} with relevant pages; {} queued, {} failed, {} skipped (reasons in skipped.csv).\n",
            count(progress.hosts_visited as usize, "host", "hosts"),
            thousands(progress.hosts_relevant),
            count(progress.queued as usize, "URL", "URLs"),
            thousands(progress.failed),
            thousands(progress.skipped),
        )
    }

    /// What crawl.spend has cost, in a line; empty if no host waited.
    pub fn waits(&self) -> String {
        match self.this_run {
            ThisRun { idle_host_seconds: 0.0, .. } => String::new(),
            ThisRun { idle_host_seconds, longest_gap, .. } => format!(
                "Idle: {} host-seconds, waiting for better pages on other hosts (crawl.spend); longest time without a page: \
                 {longest_gap:.1} s.\n",
                thousands(idle_host_seconds as u64),
            ),
        }
    }

    /// The failing hosts, a few by name with the cause, which hosts in a row share, in a line; empty if there are none.
    pub fn unreached(&self) -> String {
        const NAMED: usize = 3;
        let unreached = &self.report.unreached;
        if unreached.all == 0 {
            return String::new();
        }
        let named: Vec<_> = unreached.hosts.iter().take(NAMED).collect();
        let of_a_cause = |hosts: &[&(Box<str>, Failure)]| {
            let names: Vec<&str> = hosts.iter().map(|(host, _)| &**host).collect();
            format!("{} ({})", names.join(", "), hosts[0].1)
        };
        let causes: Vec<String> = named.chunk_by(|(_, one), (_, next)| one.kind == next.kind).map(of_a_cause).collect();
        let more = unreached.all - named.len() as u64;
        let more = if more > 0 { format!(", and {} more", thousands(more)) } else { String::new() };
        format!(
            "Unreached at the last attempt: {}: {}{more}.\n",
            count(unreached.all as usize, "host", "hosts"),
            causes.join(", ")
        )
    }

    /// Failed URLs by kind, skipped ones by reason, the most frequent first, duplicates, and the results of the trap
    /// rules: a line each, if not empty.
    pub fn losses(&self) -> String {
        let CrawlReport { failures, skipped_by_reason, traps, .. } = self.report;
        let duplicates = match traps.near_duplicates {
            0 => String::new(),
            some => count(some as usize, "page", "pages"),
        };
        let reason = |reason: &SkipReason| json!(reason).as_str().unwrap_or_default().to_owned();
        let traps: Vec<String> = [
            (traps.soft_404, "soft 404", "soft 404s"),
            (traps.session_parameters, "session parameter", "session parameters"),
            (traps.mirrors, "mirror host", "mirror hosts"),
            (traps.ended, "endless URL series stopped", "endless URL series stopped"),
        ]
        .into_iter()
        .filter(|(number, ..)| *number > 0)
        .map(|(number, one, many)| count(number as usize, one, many))
        .collect();
        let line = |what: &str, list: String| if list.is_empty() { list } else { format!("{what}: {list}.\n") };
        line("Failed", most_first(failures, String::clone))
            + &line("Skipped", most_first(skipped_by_reason, reason))
            + &line("Duplicates", duplicates)
            + &line("Traps", traps.join(", "))
    }

    pub fn place(&self) -> String {
        format!("Output: {}", self.output.join("").display())
    }
}

impl<D: Serialize> RunSummary<'_, D> {
    /// As printed with `--json`.
    pub fn value(&self) -> Result<Value> {
        Ok(number::plain(serde_json::to_value(self)?))
    }

    /// Writes `summary.json`, and returns its value.
    pub fn write(&self) -> Result<Value> {
        let value = self.value()?;
        write_summary(&CrawlDirectory::new(self.output), &value)?;
        Ok(value)
    }
}

pub fn write_summary(directory: &CrawlDirectory, summary: &Value) -> Result<()> {
    write_own(&directory.summary_json(), |out| {
        serde_json::to_writer_pretty(Visible::new(&mut *out), summary)?;
        Ok(writeln!(out)?)
    })?;
    Ok(())
}

/// Counts with their names, the most frequent first.
pub fn most_first<K>(counts: &BTreeMap<K, u64>, name: impl Fn(&K) -> String) -> String {
    let mut counts: Vec<(u64, String)> =
        counts.iter().filter(|(_, count)| **count > 0).map(|(key, count)| (*count, name(key))).collect();
    counts.sort_by(|one, other| other.0.cmp(&one.0).then_with(|| one.1.cmp(&other.1)));
    let named: Vec<String> = counts.iter().map(|(count, name)| format!("{} {name}", thousands(*count))).collect();
    named.join(", ")
}

fn seconds(ms: u64) -> f64 {
    ms as f64 / 1_000.0
}
