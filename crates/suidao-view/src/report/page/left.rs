//! What is left: pages since the last export, URLs that were not fetched and why, the queue.

use std::fmt::Write;

use super::{moment, readable, section};
use crate::html::{Column, count, escape, table, thousands};
use crate::report::facts::{Exported, Facts, Reason};

pub(super) fn exports(facts: &Facts) -> String {
    let mut out = section("exports", "Since the last export");
    if facts.exports.is_empty() {
        return out + "<p>Never exported: all pages are new. <code>suidao export</code> writes them.</p>\n</section>\n";
    }
    let row = |export: &Exported| {
        vec![
            escape(&export.name),
            escape(&export.format),
            escape(&export.output),
            moment(&export.at),
            thousands(export.pages),
            thousands(export.since),
            thousands(export.since_relevant),
        ]
    };
    let columns = [
        Column::Text("export"),
        Column::Text("format"),
        Column::Text("to"),
        Column::Text("at (UTC)"),
        Column::Number("pages then"),
        Column::Number("fetched since"),
        Column::Number("of these relevant"),
    ];
    let rows: Vec<Vec<String>> = facts.exports.iter().map(row).collect();
    out += &table("Exports and pages fetched since", &columns, &rows);
    out + "<p class=\"note\"><code>--since last</code> exports what is new, changed or gone.</p>\n</section>\n"
}

pub(super) fn left_out(facts: &Facts) -> String {
    let mut out = section("left-out", "Failed and refused");
    let _ = writeln!(
        out,
        "<p>{} failed for good, {} refused by the crawl's own will. skipped.csv lists them all; <code>suidao why</code> tells \
         the story of one.</p>",
        count(facts.counts.failed as usize, "fetch", "fetches"),
        count(facts.counts.refused as usize, "URL was", "URLs were")
    );
    for (reasons, name) in [(&facts.failed, "failed, because"), (&facts.refused, "refused, because")] {
        if reasons.is_empty() {
            continue;
        }
        let row = |reason: &Reason| {
            let examples = reason.examples.iter().map(|url| {
                format!("<a href=\"{}\" rel=\"noreferrer\">{}</a>", escape(url.as_str()), escape(&readable(url)))
            });
            vec![
                escape(&reason.why),
                thousands(reason.urls),
                format!("<span class=\"stack\">{}</span>", examples.collect::<Vec<_>>().join(" ")),
            ]
        };
        let rows: Vec<Vec<String>> = reasons.iter().map(row).collect();
        let columns = [Column::Text(name), Column::Number("URLs"), Column::Text("the first of them")];
        out += &table(&format!("URLs {name}"), &columns, &rows);
    }
    out + "</section>\n"
}

pub(super) fn queue(facts: &Facts) -> String {
    let queue = &facts.queue;
    let mut out = section("queue", "Queue");
    if queue.waiting == 0 {
        return out + "<p>Nothing waits.</p>\n</section>\n";
    }
    let _ = writeln!(
        out,
        "<p>{} on {}; the same crawl command with a larger --max-pages goes on with them.</p>",
        count(queue.waiting as usize, "URL waits", "URLs wait"),
        count(queue.hosts as usize, "host", "hosts")
    );
    let rows: Vec<Vec<String>> =
        queue.largest.iter().map(|(host, waiting)| vec![escape(host), thousands(*waiting)]).collect();
    out += &table("Hosts with the most URLs waiting", &[Column::Text("host"), Column::Number("waiting")], &rows);
    out + "</section>\n"
}
