//! The input of a trial: a recorded or generated web with topic, seeds and truth from files, or the generated world's
//! own.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Result, bail};
use suidao::model::CrawlUrl;
use suidao::recorded::{GroundTruth, LabelledUrls, OpenedWeb, WebName, learn};
use suidao::store::CrawlDirectory;
use suidao::topic::Topic;

use super::inputs;

#[derive(Default)]
pub struct TrialFiles<'a> {
    pub lexicon: Option<&'a Path>,
    pub seeds: Option<&'a Path>,
    pub truth: Option<&'a Path>,
    pub exclude: Option<&'a Path>,
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
    pub fn new(web: OpenedWeb, files: &TrialFiles) -> Result<Self> {
        let topic = match (files.lexicon, &web.world, &web.name) {
            (None, Some(world), _) => Topic::new(learn(world)?),
            (lexicon, None, WebName::Crawl(path)) => {
                inputs::needed_topic_of_crawl(lexicon, &CrawlDirectory::new(path))?
            }
            (Some(path), ..) => inputs::topic(path)?,
            (None, None, _) => bail!("{} has no built-in lexicon; give one with -m", web.name),
        };
        let seeds = match (files.seeds, &web.world) {
            (Some(path), _) => inputs::urls(path, "seeds")?,
            (None, Some(world)) => world.seeds(),
            (None, None) => bail!("{} has no built-in seeds; give a file of URLs with -s", web.name),
        };
        let judge = match (files.truth, &web.world) {
            (Some(truth), _) => GroundTruth::Truth(Arc::new(LabelledUrls::read(truth, files.exclude)?)),
            (None, Some(world)) => GroundTruth::World(Arc::clone(world)),
            (None, None) => GroundTruth::Threshold,
        };
        Ok(Self { web, topic, seeds, judge })
    }
}
