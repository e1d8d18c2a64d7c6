//! The input of a trial: a recorded or generated web with topic, seeds and truth from files, or the generated world's
//! own.

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Result, bail};
use clap::Args;
use suidao::model::CrawlUrl;
use suidao::recorded::{GroundTruth, LabelledUrls, OpenedWeb, WebName, learn};
use suidao::store::CrawlDirectory;
use suidao::topic::Topic;

use super::inputs;

#[derive(Args, Default)]
pub struct TrialArgs {
    /// Lexicon of the topic [default: that of the generated web or crawl]
    #[arg(short = 'm', long, value_name = "LEXICON", help_heading = "Input")]
    pub lexicon: Option<PathBuf>,
    /// File of seed URLs, one per line [default for a generated web: its own]
    #[arg(short, long, value_name = "FILE", help_heading = "Input")]
    pub seeds: Option<PathBuf>,
    /// File of relevant URLs, one per line [default: pages that reach the page threshold; of a generated web, its own
    /// list]
    #[arg(long, value_name = "FILE", help_heading = "Input")]
    pub truth: Option<PathBuf>,
    /// File of hosts to ignore, one per line, such as those the lexicon was built from
    #[arg(long, value_name = "FILE", requires = "truth", help_heading = "Input")]
    pub exclude: Option<PathBuf>,
}

/// A web and what to find in it.
pub struct Trial {
    pub web: OpenedWeb,
    pub topic: Topic,
    pub seeds: Vec<CrawlUrl>,
    /// Decides what is relevant: the given truth, else that of the generated web, else the lexicon's threshold.
    pub judge: GroundTruth,
}

impl Trial {
    /// Reads the files; a generated web has its own for those not given.
    pub fn new(web: OpenedWeb, files: &TrialArgs) -> Result<Self> {
        let topic = match (files.lexicon.as_deref(), &web.world, &web.name) {
            (None, Some(world), _) => Topic::new(learn(world)?),
            (lexicon, None, WebName::Crawl(path)) => {
                inputs::needed_topic_of_crawl(lexicon, &CrawlDirectory::new(path))?
            }
            (Some(path), ..) => inputs::topic(path)?,
            (None, None, _) => bail!("{} has no built-in lexicon; give one with -m", web.name),
        };
        let seeds = match (&files.seeds, &web.world) {
            (Some(path), _) => inputs::urls(path, "seeds")?,
            (None, Some(world)) => world.seeds(),
            (None, None) => bail!("{} has no built-in seeds; give a file of URLs with -s", web.name),
        };
        let judge = match (&files.truth, &web.world) {
            (Some(truth), _) => GroundTruth::Truth(Arc::new(LabelledUrls::read(truth, files.exclude.as_deref())?)),
            (None, Some(world)) => GroundTruth::World(Arc::clone(world)),
            (None, None) => GroundTruth::Threshold,
        };
        Ok(Self { web, topic, seeds, judge })
    }
}
