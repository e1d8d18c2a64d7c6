//! `suidao topic learn`: improves a lexicon from labelled pages.

use std::path::PathBuf;

use anyhow::{Context, Result, bail, ensure};
use clap::Args;
use suidao::html::count;
use suidao::model::CrawlUrl;
use suidao::store::directory::write_whole;
use suidao::topic::{Sample, learn_from_labels};

use super::{lists, samples};
use crate::cli::export::with_spinner;
use crate::cli::inputs;
use crate::cli::outcome::Verbosity;

/// Maximum number of changes printed in each direction.
const MAX_PRINTED: usize = 10;

#[derive(Args)]
pub struct LearnArgs {
    /// Lexicon to improve
    lexicon: PathBuf,
    /// Labels: URL (or path within --pages), a tab, and 1 or yes (on topic), 0 or no; labels.tsv of `suidao label`
    /// works
    #[arg(long, value_name = "TSV", help_heading = "Input")]
    labels: PathBuf,
    /// Labelled pages: a crawl directory, a folder of pages or a WARC file
    #[arg(long, visible_alias = "crawl", value_name = "PATH", help_heading = "Input")]
    pages: PathBuf,
    /// Lexicon to write [default: the lexicon to improve]
    #[arg(short, long, value_name = "LEXICON", help_heading = "Output")]
    output: Option<PathBuf>,
    /// Replace an existing lexicon with -o
    #[arg(long, requires = "output", help_heading = "Output")]
    force: bool,
}

pub fn run(args: &LearnArgs, verbosity: Verbosity) -> Result<()> {
    let name = args.lexicon.display();
    if let Some(output) =
        args.output.as_ref().filter(|output| **output != args.lexicon && !args.force && output.exists())
    {
        bail!("{}: already exists; choose another name with -o, or replace it with --force", output.display());
    }
    let lexicon = inputs::lexicon(&args.lexicon)?;
    let labels = lists::labels(&args.labels)?;
    let label = |sample: &Sample| {
        let url = sample.url.as_ref().map(CrawlUrl::as_str);
        labels.get(sample.source.as_str()).or_else(|| labels.get(url?)).copied()
    };
    let found = with_spinner("reading the pages", verbosity, || samples::from_path(&args.pages))?;
    let all = found.len();
    let labelled: Vec<(Sample, bool)> =
        found.into_iter().filter_map(|sample| label(&sample).map(|label| (sample, label))).collect();
    ensure!(
        !labelled.is_empty(),
        "{} labels none of the {all} pages of {}; its {} lines must name their URLs, or paths within that folder",
        args.labels.display(),
        args.pages.display(),
        labels.len()
    );
    let learnt = with_spinner("learning", verbosity, || learn_from_labels(&lexicon, &labelled));
    let learnt = learnt.with_context(|| name.to_string())?;
    let output = args.output.as_ref().unwrap_or(&args.lexicon);
    write_whole(output, |out| Ok(out.write_all(learnt.lexicon.to_toml().as_bytes())?))?;
    if !verbosity.quiet {
        outln!("Learnt from {} on topic and {} off topic.", count(learnt.on_topic, "page", "pages"), learnt.off_topic);
        for (what, up) in [("Higher", true), ("Lower", false)] {
            let changes = learnt.changes.iter().filter(|(_, change)| (*change > 0.0) == up).take(MAX_PRINTED);
            let words: Vec<String> = changes.map(|(word, change)| format!("{word} {change:+.3}")).collect();
            outln!("{what} weights: {}", words.join(", "));
        }
        outln!("Wrote {}.", output.display());
    }
    Ok(())
}
