//! What is left: URLs that were not fetched and why, the queue.

use std::fmt::Write;

use super::{readable, section};
use crate::html::{Column, count, escape, table, thousands};
use crate::report::facts::{Facts, Reason};

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
    out + "</section>\n"
}
