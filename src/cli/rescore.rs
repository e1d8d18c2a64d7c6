//! `suidao rescore`: judges the pages of a crawl again.

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Result, bail};
use clap::Args;
use serde_json::json;
use suidao::config::Config;
use suidao::config::stored::ConfigUse;
use suidao::corpus::SecondOpinions;
use suidao::html::{count, thousands};
use suidao::judge::Opinions;
use suidao::live::{self, Job, RescoreReport};
use suidao::store::{CrawlDirectory, Meta, Store};

use super::export::with_progress;
use super::names::between;
use super::network::ConfigArgs;
use super::outcome::{Exit, Verbosity};
use super::second_opinion;
use super::summary::write_summary;
use super::{inputs, report};

/// Judge the stored pages of a crawl by another lexicon or page threshold; nothing is fetched.
///
/// Exports, search, reports and the resumed crawl use the new scores. Links keep the scores that they had when their
/// page was fetched. Of -c and --set only [judge] is used: the other settings are those of the crawl.
#[derive(Args)]
#[command(after_help = "Example: suidao rescore ml -m ml2.toml")]
pub struct RescoreArgs {
    /// Crawl directory
    directory: PathBuf,
    /// Lexicon [default: the copy in the crawl directory]
    #[arg(short = 'm', long, value_name = "LEXICON", help_heading = "Input")]
    lexicon: Option<PathBuf>,
    /// Minimum relevance of an on-topic page, 0 to 1 [default: that of the crawl's configuration, or else of the
    /// lexicon]
    #[arg(long, value_name = "X", value_parser = between(0.0, 1.0), help_heading = "Input")]
    page_threshold: Option<f64>,
    /// Print the result as JSON
    #[arg(long, help_heading = "Output")]
    json: bool,
    /// Of it only `[judge]` is used; the other settings are those of the crawl.
    #[command(flatten)]
    judge: ConfigArgs,
}

pub fn run(args: &RescoreArgs, verbosity: Verbosity) -> Result<Exit> {
    let directory = CrawlDirectory::new(&args.directory);
    let meta = Meta::read(&directory)?;
    let sets: Vec<String> = args.page_threshold.iter().map(|value| format!("crawl.page_threshold={value}")).collect();
    let stored = directory.config_toml();
    let config = match stored.exists() {
        true => Config::load_stored(&stored, &sets, ConfigUse::Offline)?,
        false => Config::load(None, &sets)?,
    };
    let topic = inputs::needed_topic_of_crawl(args.lexicon.as_deref(), &directory)?;
    let topic = Arc::new(inputs::layered(topic, &config.strategy)?);
    let pages = Store::open(&directory)?.len();
    if pages == 0 {
        bail!("{}: contains no fetched page; run the crawl again", args.directory.display());
    }
    let judge = args.judge.load(&[])?.judge;
    let mut opinions = Opinions::open(&judge, topic.lexicon(), &directory)?;
    let job = Job::new(topic, Vec::new(), config, directory);
    // A later version of the program may read pages otherwise, and a repair may have cut off newer scores.
    let is_whole = meta.rescoring.is_some() || !job.directory.root().join("damaged-1").exists();
    let is_current = (&meta.lexicon, meta.version.as_str()) == (&job.topic.digest(), env!("CARGO_PKG_VERSION"));
    // A judge may answer now what it did not before.
    if !judge.is_configured()
        && is_whole
        && is_current
        && meta.page_threshold == live::crawl_settings(&job.config, &job.topic).page_threshold
    {
        if args.json {
            outln!("{}", json!({ "unchanged": true, "page_threshold": meta.page_threshold }));
        } else {
            infoln!(
                verbosity,
                "Nothing to do: the pages have the scores of {} and page threshold {:.3} already.",
                job.topic.lexicon().name,
                meta.page_threshold.get()
            );
        }
        return Ok(Exit::Done);
    }
    if !job.directory.verdicts().exists() {
        second_opinion::announce(&judge, verbosity);
    }
    let done = with_progress(pages, verbosity, |bar| {
        let opinions = opinions.as_mut().map(|opinions| opinions as &mut dyn SecondOpinions);
        live::rescore(&job, opinions, |pages| bar.set_position(pages))
    })?;
    update_summary(&job, &done)?;
    let report = opinions.as_ref().map(Opinions::report);
    if args.json {
        let mut result = json!(done);
        if let (Some(fields), Some(report)) = (result.as_object_mut(), report) {
            fields.insert("second_opinion".to_owned(), json!(report));
        }
        outln!("{}", serde_json::to_string_pretty(&result)?);
    } else if !verbosity.quiet {
        outln!("{}", describe(args, &job, &done));
        if let Some(report) = report {
            outln!("{}", second_opinion::describe(report));
        }
    }
    Ok(Exit::Done)
}

/// Corrects `summary.json`; a killed crawl has none.
fn update_summary(job: &Job, done: &RescoreReport) -> Result<()> {
    let Some(mut summary) = report::summary(&job.directory)? else { return Ok(()) };
    let new = [
        ("topic", json!(job.topic.lexicon().name)),
        ("lexicon_digest", json!(job.topic.digest())),
        ("relevant", json!(done.relevant)),
        ("harvest_rate", json!(done.relevant as f64 / done.pages.max(1) as f64)),
        ("hosts_relevant", json!(done.hosts_relevant)),
    ];
    if let Some(fields) = summary.as_object_mut() {
        fields.extend(new.map(|(key, value)| (key.to_owned(), value)));
    }
    write_summary(&job.directory, &summary)
}

fn describe(args: &RescoreArgs, job: &Job, done: &RescoreReport) -> String {
    let mut text = format!(
        "Judged {} by {}, page threshold {:.3}: {} relevant ({} more, {} fewer).",
        count(done.pages as usize, "page", "pages"),
        job.topic.lexicon().name,
        done.page_threshold.get(),
        thousands(done.relevant),
        thousands(done.gained),
        thousands(done.lost),
    );
    if done.not_stored > 0 {
        text += &format!(
            "\n{} not judged, because the archive lacks the content.",
            count(done.not_stored as usize, "page", "pages")
        );
    }
    let lexicon = args.lexicon.as_ref().map(|path| format!("-m {}", path.display()));
    let threshold = args.page_threshold.map(|value| format!("--set crawl.page_threshold={value}"));
    let flags: Vec<String> = lexicon.into_iter().chain(threshold).collect();
    let flags = if flags.is_empty() { String::new() } else { format!(" with {}", flags.join(" ")) };
    text + &format!("\nTo resume the crawl, repeat its command{flags}.")
}
