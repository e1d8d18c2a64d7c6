//! `suidao topic test`: scores pages with a lexicon, and measures it by labels.

use std::path::PathBuf;

use anyhow::{Result, bail};
use clap::Args;
use rayon::prelude::*;
use suidao::model::CrawlUrl;
use suidao::topic::{ThresholdPoint, TopicEvaluation, evaluate};
use suidao::visible;

use super::{lists, samples};

#[derive(Args)]
pub struct TestArgs {
    /// Lexicon to test
    #[arg(short = 'm', long, value_name = "LEXICON", help_heading = "Input")]
    lexicon: PathBuf,
    /// Pages: a crawl directory, a folder of .html, .htm and .txt files, or a WARC file
    #[arg(long, visible_alias = "crawl", value_name = "PATH", help_heading = "Input")]
    pages: PathBuf,
    /// Labels: path within the folder (or URL), a tab, and 1 or yes (on topic), 0 or no; labels.tsv of `suidao label`
    /// works
    #[arg(long, value_name = "TSV", help_heading = "Input")]
    labels: Option<PathBuf>,
}

pub fn run(args: &TestArgs) -> Result<()> {
    let topic = crate::cli::inputs::topic(&args.lexicon)?;
    let labels = args.labels.as_deref().map(lists::labels).transpose()?;
    let samples = samples::from_path(&args.pages)?;
    let scores: Vec<_> = samples.par_iter().map(|sample| topic.score(&sample.document)).collect();
    outln!("relevance\tverdict\tpage\tterms");
    let mut labelled = Vec::new();
    let threshold = topic.page_threshold();
    for (sample, scores) in samples.iter().zip(&scores) {
        let verdict = if scores.relevance >= threshold { "on" } else { "off" };
        let terms: Vec<String> =
            scores.terms.iter().take(5).map(|found| format!("{} ×{}", found.term, found.count)).collect();
        let (source, terms) = (visible::line(&sample.source), terms.join(", "));
        outln!("{:.4}\t{verdict}\t{source}\t{terms}", scores.relevance.get());
        if let Some(labels) = &labels {
            let url = sample.url.as_ref().map(CrawlUrl::as_str);
            if let Some(&label) = labels.get(sample.source.as_str()).or_else(|| labels.get(url?)) {
                labelled.push((scores.relevance, label));
            }
        }
    }
    if let (Some(labels), Some(path)) = (&labels, &args.labels) {
        if labelled.is_empty() {
            bail!(
                "{} labels none of the pages; its {} lines must name paths within {} or URLs, such as {}",
                path.display(),
                labels.len(),
                args.pages.display(),
                samples[0].source
            );
        }
        let TopicEvaluation { labelled: pages, on_topic, at, best, average_precision } = evaluate(&labelled, threshold);
        outln!("{pages} labelled pages, {on_topic} on topic; average precision {average_precision:.3}");
        for (which, ThresholdPoint { threshold, precision, recall, f1 }) in [("the lexicon's", at), ("the best", best)]
        {
            outln!("at {which} threshold {threshold:.4}: precision {precision:.3}, recall {recall:.3}, F1 {f1:.3}");
        }
    }
    Ok(())
}
