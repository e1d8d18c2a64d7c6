//! `suidao graph`: islands, gates, tunnels and PageRank in the link graph of a crawl.

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use clap::Args;
use suidao::html::count;
use suidao::link_graph::{GraphFacts, dot, gather, page};
use suidao::model::number;
use suidao::store::directory::write_whole;

use super::export::{with_progress, with_spinner};
use super::inputs;
use super::outcome::{Exit, Verbosity};
use super::report::language;
use super::source::CrawlSourceArgs;

/// Show the link graph of a crawl: islands of relevant pages, and the tunnels and gates that lead to them.
#[derive(Args)]
#[command(after_help = "Example: suidao graph ml -o ml-graph.html")]
pub struct GraphArgs {
    #[command(flatten)]
    pub source: CrawlSourceArgs,
    /// Write an HTML page with paths and a drawing of the hosts, or the graph of hosts for Graphviz (.dot)
    #[arg(short, long, value_name = "FILE.html|FILE.dot", help_heading = "Output")]
    pub output: Option<PathBuf>,
    /// Print JSON
    #[arg(long, help_heading = "Output")]
    pub json: bool,
    /// Write the gates of islands as a seeds file for another crawl: pages that every path to an island crosses
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub gates_as_seeds: Option<PathBuf>,
}

pub fn run(args: &GraphArgs, verbosity: Verbosity) -> Result<Exit> {
    let ends_in = |path: &Path, ending: &str| path.extension().is_some_and(|found| found.eq_ignore_ascii_case(ending));
    if let Some(path) =
        args.output.as_deref().filter(|path| !["html", "htm", "dot"].iter().any(|end| ends_in(path, end)))
    {
        bail!("{}: the name must end in .html (a page) or .dot (for Graphviz)", path.display());
    }
    let source = args.source.open()?;
    let (store, catalogue) = with_spinner("reading the log", verbosity, || inputs::crawl(source.path()))?;
    let pages = catalogue.entries.len() as u64;
    let facts = with_progress(pages, verbosity, |bar| gather(&store, &catalogue, &|| bar.inc(1)))?;
    if args.json {
        outln!("{}", serde_json::to_string_pretty(&number::plain(serde_json::to_value(&facts)?))?);
    } else {
        outln!("{facts}");
    }
    if let Some(path) = &args.output {
        let text = if ends_in(path, "dot") { dot(&facts) } else { page(&facts, language()) };
        write_whole(path, |out| Ok(out.write_all(text.as_bytes())?))?;
        infoln!(verbosity, "Wrote {}", path.display());
    }
    if let Some(path) = &args.gates_as_seeds {
        let (seeds, gates) = seeds(&facts);
        write_whole(path, |out| Ok(out.write_all(seeds.as_bytes())?))?;
        infoln!(verbosity, "Wrote {} ({})", path.display(), count(gates, "gate", "gates"));
    }
    Ok(Exit::Done)
}

/// A seeds file of the gates of each island, the one next to it first, and their number.
fn seeds(facts: &GraphFacts) -> (String, usize) {
    let mut seeds = format!("# Gates of the crawl for {}: pages that every path to an island crosses\n", facts.topic);
    let mut written = Vec::new();
    for island in &facts.largest {
        let new: Vec<_> = island.gates.iter().rev().filter(|gate| !written.contains(&&gate.url)).collect();
        if let Some(hosts) = (!new.is_empty()).then(|| island.largest_hosts.join(", ")) {
            seeds += &format!("# island {}: {} relevant pages on {hosts}\n", island.number, island.relevant);
        }
        for gate in new {
            seeds += &format!("{}\n", gate.url);
            written.push(&gate.url);
        }
    }
    (seeds, written.len())
}
