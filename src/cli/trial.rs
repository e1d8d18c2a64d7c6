//! What a strategy is tried on: a recorded or generated web, with topic, seeds and truth from files, or the generated world's
//! own.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Result, bail};
use suidao::model::CrawlUrl;
use suidao::recorded::{Judge, Opened, Truth, learn};
use suidao::topic::Topic;

use super::inputs;

/// The files that were given.
#[derive(Default)]
pub struct Files<'a> {
    pub lexicon: Option<&'a Path>,
    pub seeds: Option<&'a Path>,
    pub truth: Option<&'a Path>,
    /// Hosts that count for nothing.
    pub exclude: Option<&'a Path>,
}

/// A web and what is looked for in it.
pub struct Trial {
    pub web: Opened,
    pub topic: Topic,
    pub seeds: Vec<CrawlUrl>,
    /// By whose word a page is relevant: the truth given, else the world's own, else the lexicon's threshold.
    pub judge: Judge,
}

impl Trial {
    /// Reads the files; a generated world has all that none is given for.
    pub fn new(web: Opened, files: &Files) -> Result<Self> {
        let topic = match (files.lexicon, &web.world) {
            (Some(path), _) => inputs::topic(path)?,
            (None, Some(world)) => Topic::new(learn(world)?),
            (None, None) => bail!("{} has no built-in lexicon; give one with -m", web.name),
        };
        let seeds = match (files.seeds, &web.world) {
            (Some(path), _) => inputs::urls(path, "seeds")?,
            (None, Some(world)) => world.seeds(),
            (None, None) => bail!("{} has no built-in seeds; give a file of URLs with -s", web.name),
        };
        let judge = match (files.truth, &web.world) {
            (Some(truth), _) => Judge::Truth(Arc::new(Truth::read(truth, files.exclude)?)),
            (None, Some(world)) => Judge::World(Arc::clone(world)),
            (None, None) => Judge::Threshold,
        };
        Ok(Self { web, topic, seeds, judge })
    }
}
