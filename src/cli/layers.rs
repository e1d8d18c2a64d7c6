//! `suidao topic layers`: learns the layers of a context graph from a recorded web.

use std::path::PathBuf;

use anyhow::{Context, Result, ensure};
use clap::Args;
use rayon::prelude::*;
use suidao::config::Config;
use suidao::eval::WebGraph;
use suidao::live;
use suidao::read::{self, ParsedDocument};
use suidao::recorded::{RelevanceJudge, WebName};
use suidao::replay::TopicalWeb;
use suidao::store::directory::write_whole;
use suidao::topic::{ContextGraphModel, LAST_LAYER, UNREACHABLE};

use super::outcome::Verbosity;
use super::trial::{Trial, TrialArgs};

/// Pages per layer: enough for significant words, few enough for the memory.
const SAMPLE: usize = 500;

/// `suidao topic layers`.
#[derive(Args)]
pub struct LayersArgs {
    /// Recorded web to train on: hosts:DIR, warc:FILE, crawl:DIR or world:FILE.toml
    web: String,
    #[command(flatten)]
    trial: TrialArgs,
    /// File of layers to write, the value of strategy.context-graph.model; an existing file is replaced
    #[arg(short, long, value_name = "FILE", help_heading = "Output")]
    output: PathBuf,
    /// Read at most N pages
    #[arg(long, value_name = "N", default_value_t = 20_000, help_heading = "Limits")]
    max_pages: u64,
}

pub fn run(args: &LayersArgs, verbosity: Verbosity) -> Result<()> {
    let web = WebName::parse(&args.web, ".".as_ref())?.open()?;
    let Trial { web, topic, seeds, judge } = Trial::new(web, &args.trial)?;
    let source = TopicalWeb { web: &*web.web, topic: &topic };
    let settings = live::crawl_settings(&Config::default(), &topic);
    let mut judge = RelevanceJudge::new(judge);
    let graph = WebGraph::read(settings, args.max_pages, &seeds, &source, |url, page| judge.is_relevant(url, page));
    let pages = sample(&graph.layers(LAST_LAYER));
    ensure!(!pages.is_empty(), "the seeds lead to no page in {}; check -s", args.web);
    let documents: Vec<(u8, ParsedDocument)> = pages
        .par_iter()
        .filter_map(|&(node, class)| Some((class, read::parse(&web.web.get(graph.url(node)).ok()?).document)))
        .collect();
    let layers = ContextGraphModel::learn(&documents)
        .with_context(|| format!("cannot build a context graph from {}", args.web))?;
    write_whole(&args.output, |out| Ok(out.write_all(layers.to_toml().as_bytes())?))?;
    if !verbosity.quiet {
        for (layer, count) in layers.pages().iter().enumerate() {
            match u8::try_from(layer) {
                Ok(UNREACHABLE) => outln!("other pages: {count} used"),
                _ => outln!("layer {layer}: {count} pages used"),
            }
        }
        outln!("Wrote {} ({} words)", args.output.display(), layers.words());
    }
    Ok(())
}

/// At most [`SAMPLE`] pages of each class, evenly over the order of discovery.
fn sample(pages: &[(u32, Option<u8>)]) -> Vec<(u32, u8)> {
    let of_class = |class: u8| {
        let all: Vec<u32> =
            pages.iter().filter(|(_, layer)| layer.unwrap_or(UNREACHABLE) == class).map(|&(node, _)| node).collect();
        let taken = all.len().min(SAMPLE);
        (0..taken).map(move |at| (all[at * all.len() / taken], class)).collect::<Vec<_>>()
    };
    (0..=UNREACHABLE).flat_map(of_class).collect()
}
