//! The facts of a link graph as text for a terminal.

use std::fmt;

use super::facts::{GraphFacts, IslandFacts, LinkedPage};
use suidao_html::{address, count, per_cent, thousands};
use suidao_page::visible::line;

/// Islands listed; HTML and JSON have more.
const ISLANDS: usize = 8;
const MAX_RANKED: usize = 5;

impl fmt::Display for GraphFacts {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let pages = count(self.pages as usize, "page", "pages");
        let links = count(self.links as usize, "link", "links");
        writeln!(out, "{pages}, {} relevant; {links} between them", thousands(self.relevant))?;
        let islands = count(self.islands as usize, "island", "islands");
        writeln!(out, "{islands} of relevant pages joined by links:")?;
        for island in self.largest.iter().take(ISLANDS) {
            write!(out, "{island}")?;
        }
        if self.islands > ISLANDS as u64 {
            writeln!(out, "  and {} more: see -o FILE.html or --json", thousands(self.islands - ISLANDS as u64))?;
        }
        writeln!(out, "Relevant pages reached from the seeds with at most k off-topic pages in a row:")?;
        for share in &self.tunnels {
            let part = per_cent(share.relevant as f64, self.relevant as f64);
            writeln!(out, "  k = {:<3} {:>8}  {part:>6}", share.k, thousands(share.relevant))?;
        }
        if self.unreached > 0 {
            let part = per_cent(self.unreached as f64, self.relevant as f64);
            writeln!(out, "  not reachable from the seeds: {} ({part})", thousands(self.unreached))?;
        }
        writeln!(out, "Relevant pages with the highest PageRank (1 is average):")?;
        for page in self.top_by_pagerank.iter().take(MAX_RANKED) {
            writeln!(out, "  {:>7.1}  {}", page.pagerank, named(page))?;
        }
        write!(out, "{} between hosts", count(self.bridges as usize, "bridge", "bridges"))
    }
}

impl fmt::Display for IslandFacts {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let pages = count(self.relevant as usize, "relevant page", "relevant pages");
        let hosts = count(self.hosts as usize, "host", "hosts");
        let names: Vec<String> = self.largest_hosts.iter().map(|host| line(host).into_owned()).collect();
        let more = if self.hosts > self.largest_hosts.len() as u64 { ", ..." } else { "" };
        let reached = match (self.seed, self.k) {
            (true, _) => "has a seed".to_owned(),
            (false, Some(k)) => format!("k = {k}"),
            (false, None) => "not reachable from the seeds".to_owned(),
        };
        writeln!(out, "  {:>2}  {pages} on {hosts} ({}{more}), {reached}", self.number, names.join(", "))?;
        if let Some(path) = self.path.as_ref().filter(|_| !self.seed) {
            let between = path.steps.len().saturating_sub(2);
            let crossed = count(between, "page between", "pages between");
            writeln!(out, "      from island {}, {crossed}:", path.from)?;
            for step in &path.steps {
                let link = if step.anchor.is_empty() {
                    String::new()
                } else {
                    format!("  link “{}”", one_line(&step.anchor))
                };
                writeln!(out, "        {}{link}", address(step.url.as_str()))?;
            }
        }
        if let Some(gate) = self.gates.last() {
            writeln!(out, "      gate: {}", named(gate))?;
        }
        Ok(())
    }
}

fn named(page: &LinkedPage) -> String {
    let title = if page.title.is_empty() { String::new() } else { format!("  {}", one_line(&page.title)) };
    format!("{}{title}", address(page.url.as_str()))
}

/// A text of others on one line, cut to 40 characters.
fn one_line(text: &str) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut short: String = text.chars().take(40).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    line(&short).into_owned()
}
