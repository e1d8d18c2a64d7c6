//! How relevant pages were found: tunnels on the paths that led to them, and the terms that tell them.

use std::fmt::Write;

use super::{columns, folded, link, rows, section};
use crate::html::{Column, count, escape, per_cent, thousands};
use crate::plot::{Bar, histogram};
use crate::report::facts::{Facts, Opened, Step, Tunnel};

/// Lengths with a bar of their own; longer tunnels share the last.
const LENGTHS: usize = 20;

pub(super) fn tunnels(facts: &Facts) -> String {
    let tunnels = &facts.tunnels;
    let mut out = section("tunnels", "Tunnels");
    let behind: u64 = tunnels.by_hops.iter().skip(1).sum();
    let all: u64 = tunnels.by_hops.iter().sum();
    if behind == 0 {
        return out + "<p>No relevant page was found behind an off-topic one.</p>\n</section>\n";
    }
    let crossed: u64 = tunnels.by_hops.iter().zip(0..).map(|(pages, hops)| pages * hops).sum();
    let _ = writeln!(
        out,
        "<p>{} ({} of the relevant) were found behind off-topic pages: a crawl that follows only relevant pages would have \
         missed these paths. Off-topic pages in a row before them: {:.1} on average, {} at most.</p>",
        count(behind as usize, "relevant page", "relevant pages"),
        per_cent(behind as f64, all as f64),
        crossed as f64 / behind as f64,
        tunnels.by_hops.len() - 1
    );
    out += &lengths(&tunnels.by_hops);
    if tunnels.opened > 0 {
        let _ = writeln!(
            out,
            "<h3>Hosts they opened</h3>\n<p>{}: the first relevant page there lies behind off-topic pages, and the path came \
             from another host.</p>",
            count(tunnels.opened as usize, "host", "hosts")
        );
        let row = |opened: &Opened| {
            let from = opened.from.as_ref().map_or_else(|| "an off-topic seed".to_owned(), link);
            vec![
                escape(&opened.host),
                thousands(opened.relevant),
                opened.hops.to_string(),
                thousands(opened.first),
                from,
            ]
        };
        let columns = [
            Column::Text("host"),
            Column::Number("relevant pages"),
            Column::Number("off-topic pages before"),
            Column::Number("first as page"),
            Column::Text("last relevant page before"),
        ];
        out += &folded("Hosts opened by tunnels", &columns, tunnels.hosts.iter().map(row).collect(), 10);
    }
    if !tunnels.longest.is_empty() {
        out += "<h3>The longest that paid</h3>\n<p>One for each place where the topic was left.</p>\n";
    }
    for (number, tunnel) in tunnels.longest.iter().enumerate() {
        out += &told(tunnel, number == 0);
    }
    out + "</section>\n"
}

fn lengths(by_hops: &[u64]) -> String {
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
    let told: Vec<String> = bins.iter().take(6).map(|(hops, pages)| format!("{hops}: {pages}")).collect();
    format!(
        "<figure>\n{}<figcaption>Relevant pages by the off-topic pages in a row before them, on the path by which they became \
         known.</figcaption>\n</figure>\n",
        histogram(
            &bars,
            &format!("Relevant pages by length of the tunnel before them; {}", told.join(", ")),
            "relevant pages",
            None
        )
    )
}

fn told(tunnel: &Tunnel, open: bool) -> String {
    let end = tunnel.steps.last().map_or("", |step| step.page.title.as_str());
    let mut out = format!(
        "<details{}>\n<summary>{} crossed, {} behind: {}</summary>\n<ol class=\"path\">\n",
        if open { " open" } else { "" },
        count(tunnel.hops as usize, "off-topic page", "off-topic pages"),
        count(tunnel.paid as usize, "relevant page", "relevant pages"),
        escape(&super::shortened(if end.is_empty() { "(no title)" } else { end }))
    );
    for (number, step) in tunnel.steps.iter().enumerate() {
        out += &told_step(step, number > 0);
    }
    out + "</ol>\n</details>\n"
}

fn told_step(step: &Step, led_to: bool) -> String {
    let class = if step.page.relevant { "on" } else { "off" };
    let how = match (led_to, step.anchor.trim()) {
        (false, _) => String::new(),
        (true, "") => "<span class=\"by\">by a link without text, or a redirect</span> ".to_owned(),
        (true, anchor) => format!("<span class=\"by\">by the link “{}”</span> ", escape(&super::shortened(anchor))),
    };
    format!(
        "<li class=\"{class}\">{how}{} <small>relevance {:.3}, {}, page {}</small></li>\n",
        link(&step.page),
        step.page.relevance.get(),
        if step.page.relevant { "relevant" } else { "off topic" },
        thousands(step.number)
    )
}

pub(super) fn terms(facts: &Facts) -> String {
    let terms = &facts.terms;
    let mut out = section("terms", "Terms of the lexicon");
    let _ = writeln!(
        out,
        "<p>{} found. The log keeps the 12 most telling terms of each page, so counts of frequent but weak terms are too \
         low.</p>",
        count(terms.found.len(), "term was", "terms were")
    );
    if !terms.found.is_empty() {
        out += &folded("Pages by term", &columns("term"), rows(&terms.found), 20);
    }
    match &terms.never {
        None => out += "<p class=\"note\">Give the lexicon with -m to see which of its terms were never found.</p>\n",
        Some(never) if never.is_empty() => out += "<p>Every term of the lexicon was found.</p>\n",
        Some(never) => {
            let words: Vec<String> = never.iter().map(|term| escape(term)).collect();
            let _ = writeln!(
                out,
                "<p>Never among the most telling ({}): {}.</p>",
                thousands(never.len() as u64),
                words.join("、")
            );
        }
    }
    out + "</section>\n"
}
