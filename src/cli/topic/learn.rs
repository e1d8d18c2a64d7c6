//! `suidao topic learn`: from a person's labels to a better lexicon.

use std::path::PathBuf;

use anyhow::{Context, Result, ensure};
use clap::Args;
use suidao::model::CrawlUrl;
use suidao::store::directory::write_whole;
use suidao::topic::{Lexicon, Sample, learn_labels};

use super::{lists, samples};
use crate::cli::Voice;

/// Changed weights shown.
const SHOWN: usize = 10;

/// Arguments.
#[derive(Args)]
pub struct LearnArgs {
    /// Linear lexicon that learns
    pub lexicon: PathBuf,
    /// Labels: URL (or path within --pages), a tab, and 1 for on topic or 0; labels.tsv of `suidao label` is one
    #[arg(long, value_name = "TSV")]
    pub labels: PathBuf,
    /// Where the labelled pages are: a crawl directory, a folder of pages, or a WARC file
    #[arg(long, value_name = "PATH")]
    pub pages: PathBuf,
    /// Lexicon to write; the one that learns unless given
    #[arg(short, long, value_name = "LEXICON")]
    pub output: Option<PathBuf>,
}

/// Runs it.
pub fn run(args: &LearnArgs, voice: Voice) -> Result<()> {
    let name = args.lexicon.display();
    let text = std::fs::read_to_string(&args.lexicon).with_context(|| format!("cannot read the lexicon {name}"))?;
    let lexicon = Lexicon::parse(&text).with_context(|| name.to_string())?;
    let labels = lists::labels(&args.labels)?;
    let label = |sample: &Sample| {
        let url = sample.url.as_ref().map(CrawlUrl::as_str);
        labels.get(sample.source.as_str()).or_else(|| labels.get(url?)).copied()
    };
    let found = samples::from_path(&args.pages)?;
    let all = found.len();
    let labelled: Vec<(Sample, bool)> =
        found.into_iter().filter_map(|sample| label(&sample).map(|label| (sample, label))).collect();
    ensure!(
        !labelled.is_empty(),
        "{} labels none of the {all} pages of {}: its {} lines must name their URLs, or paths within that folder",
        args.labels.display(),
        args.pages.display(),
        labels.len()
    );
    let learnt = learn_labels(&lexicon, &labelled).with_context(|| name.to_string())?;
    let output = args.output.as_ref().unwrap_or(&args.lexicon);
    write_whole(output, |out| Ok(out.write_all(learnt.lexicon.to_toml().as_bytes())?))?;
    if !voice.quiet {
        let (on, off) = learnt.pages;
        say!("{} labels, {on} pages on topic and {off} off topic learnt from", labels.len());
        for (what, up) in [("more", true), ("less", false)] {
            let changed = learnt.changed.iter().filter(|(_, change)| (*change > 0.0) == up).take(SHOWN);
            let words: Vec<String> = changed.map(|(word, change)| format!("{word} {change:+.3}")).collect();
            say!("weighs {what}: {}", words.join(", "));
        }
        say!("written to {}", output.display());
    }
    Ok(())
}
