//! `suidao topic test`: scores pages with a lexicon, and measures it by labels.

use std::collections::HashMap;
use std::path::PathBuf;

use anyhow::{Result, bail};
use clap::Args;
use rayon::prelude::*;
use suidao::html::{count, thousands};
use suidao::model::CrawlUrl;
use suidao::topic::{
    LinkEvaluations, RECALLS, Sample, ThresholdPoint, Topic, TopicEvaluation, evaluate, evaluate_links,
};
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
    /// Instead of pages, test links: precision at three recalls of anchor, context, URL and near terms as evidence that a
    /// link leads to an on-topic document of these pages. On topic is what the labels say, or without labels the lexicon
    #[arg(long, help_heading = "Output")]
    links: bool,
}

type Labels = HashMap<String, bool>;

/// What the labels say of a page.
fn label(labels: &Labels, sample: &Sample) -> Option<bool> {
    let url = sample.url.as_ref().map(CrawlUrl::as_str);
    labels.get(sample.source.as_str()).or_else(|| labels.get(url?)).copied()
}

pub fn run(args: &TestArgs) -> Result<()> {
    let topic = crate::cli::inputs::topic(&args.lexicon)?;
    let labels = args.labels.as_deref().map(lists::labels).transpose()?;
    let samples = samples::from_path(&args.pages)?;
    if args.links {
        return test_links(args, &topic, &samples, labels.as_ref());
    }
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
            labelled.extend(label(labels, sample).map(|label| (scores.relevance, label)));
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

fn test_links(args: &TestArgs, topic: &Topic, samples: &[Sample], labels: Option<&Labels>) -> Result<()> {
    let threshold = topic.page_threshold();
    let verdicts: HashMap<&CrawlUrl, bool> = samples
        .par_iter()
        .filter(|sample| !sample.listing)
        .filter_map(|sample| {
            let on_topic = match labels {
                Some(labels) => label(labels, sample)?,
                None => topic.score_page(&sample.document).relevance >= threshold,
            };
            Some((sample.url.as_ref()?, on_topic))
        })
        .collect();
    let pages: Vec<&Sample> = samples.iter().collect();
    let LinkEvaluations { links, on_topic, by_evidence } =
        evaluate_links(topic.lexicon(), &pages, |url| verdicts.get(url).copied());
    let by = if labels.is_some() { "labels" } else { "the lexicon" };
    if on_topic == 0 || on_topic == links {
        bail!(
            "{}: {} to documents, {} to documents that are on topic by {by}; links to both are needed, so give more pages",
            args.pages.display(),
            count(links, "link", "links"),
            thousands(on_topic as u64)
        );
    }
    outln!(
        "{} to documents, {} to documents that are on topic by {by}",
        count(links, "link", "links"),
        thousands(on_topic as u64)
    );
    let chance = on_topic as f64 / links as f64;
    outln!("precision at recall\t{:.2}\t{:.2}\t{:.2}", RECALLS[0], RECALLS[1], RECALLS[2]);
    outln!("chance\t{chance:.3}\t{chance:.3}\t{chance:.3}");
    for one in by_evidence {
        let [low, half, high] = one.precision;
        outln!("{}\t{low:.3}\t{half:.3}\t{high:.3}", one.evidence);
    }
    Ok(())
}
