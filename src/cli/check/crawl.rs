//! `suidao check crawl`: whether a crawl directory is sound, and its repair.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use clap::Args;
use serde_json::json;
use suidao::config::Config;
use suidao::config::kept::Use;
use suidao::repair::{Checked, Level, Means, Repaired, check, repair};
use suidao::store::CrawlDirectory;

use crate::cli::{Exit, inputs};

/// Looks through a crawl directory: log, archive and lists, whether each is whole and whether they agree.
///
/// Nothing is changed without --repair. A line a finding: `note` is as it may be, `mendable` is what --repair mends, `lost`
/// are pages that have to be fetched again (--repair sees to it that the next crawl does), `open` is left to you. The exit
/// code is 0 if there are no findings but notes, 1 if there are, 2 if there is no crawl.
#[derive(Args)]
#[command(after_help = "Example: suidao check crawl ml --repair")]
pub struct CrawlCheckArgs {
    /// Crawl directory
    directory: PathBuf,
    /// Mend what can be mended; what is replaced is moved into DIRECTORY/damaged-1
    #[arg(long)]
    repair: bool,
    /// Lexicon, where the copy in the directory is lost too
    #[arg(short = 'm', long = "model", visible_alias = "lexicon", value_name = "LEXICON")]
    lexicon: Option<PathBuf>,
    /// Configuration file, where the copy in the directory is lost too
    #[arg(short, long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Write one JSON object
    #[arg(long)]
    json: bool,
}

pub fn run(args: &CrawlCheckArgs) -> Result<Exit> {
    let directory = CrawlDirectory::new(&args.directory);
    let mut checked = check(&directory)?;
    let mut repaired = None;
    if args.repair {
        directory.check_pages()?;
        if !args.json {
            findings(&checked)?;
        }
        let means = if checked.needs_means() { Some(means(args, &directory)?) } else { None };
        // Its lock is given back, for the repair to take it.
        drop(checked);
        repaired = Some(repair(&directory, means.as_ref())?);
        checked = check(&directory)?;
    }
    tell(args, &checked, repaired.as_ref())?;
    Ok(if checked.is_sound() { Exit::Done } else { Exit::Short })
}

/// Lexicon and configuration of the crawl, or the ones given in their place.
fn means(args: &CrawlCheckArgs, directory: &CrawlDirectory) -> Result<Means> {
    let (kept_topic, kept_config) = (directory.topic_toml(), directory.config_toml());
    let topic = match &args.lexicon {
        Some(path) => inputs::topic(path),
        None if kept_topic.exists() => inputs::kept_topic(&kept_topic),
        None => bail!(
            "{}: is missing, and the log cannot be made anew without; give the lexicon with -m",
            kept_topic.display()
        ),
    };
    let topic = topic.context("give the crawl's lexicon with -m")?;
    let config = match &args.config {
        None if kept_config.exists() => Config::load_kept(&kept_config, &[], Use::Reading),
        given => Config::load(given.as_deref(), &[]),
    };
    let config = config.context("give the crawl's configuration with -c")?;
    Ok(Means { topic: inputs::layered(topic, &config.strategy)?, config })
}

fn findings(checked: &Checked) -> Result<()> {
    for finding in &checked.findings {
        let level = match finding.level {
            Level::Note => "note",
            Level::Mendable => "mendable",
            Level::Lost => "lost",
            Level::Open => "open",
        };
        say!("{level}: {}: {}", finding.path.display(), finding.what);
    }
    Ok(())
}

fn tell(args: &CrawlCheckArgs, checked: &Checked, repaired: Option<&Repaired>) -> Result<()> {
    if args.json {
        let mut shown = serde_json::to_value(checked)?;
        shown["sound"] = json!(checked.is_sound());
        shown["repaired"] = json!(repaired);
        say!("{}", serde_json::to_string_pretty(&shown)?);
        return Ok(());
    }
    if let Some(repaired) = repaired {
        for done in &repaired.done {
            say!("mended: {done}");
        }
        if let Some(aside) = &repaired.aside {
            say!("mended: what was replaced lies in {}", aside.display());
        }
    }
    findings(checked)?;
    say!("{}", in_words(&args.directory, checked, args.repair));
    Ok(())
}

fn in_words(directory: &Path, checked: &Checked, repair: bool) -> String {
    let count = |level: Level| checked.findings.iter().filter(|finding| finding.level == level).count();
    let holds = format!(
        "{}: {} pages in {} batches, {} answers in {} WARC files",
        directory.display(),
        checked.pages,
        checked.batches,
        checked.answers,
        checked.files
    );
    if checked.is_sound() {
        return format!("{holds}: sound.");
    }
    let advice = match () {
        () if count(Level::Mendable) + count(Level::Lost) > 0 && !repair => " --repair mends what can be mended.",
        () => "",
    };
    format!(
        "{holds}: {} to mend, {} lost, {} for you to see to.{advice}",
        count(Level::Mendable),
        count(Level::Lost),
        count(Level::Open)
    )
}
