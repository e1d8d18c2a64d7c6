//! What a user hands in by file: seeds, lexicons, truth; a generated world has its own. Every error names the file and
//! the line.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use suidao::model::CrawlUrl;
use suidao::recorded::{Judge, Opened, Truth, learn};
use suidao::store::own;
use suidao::strategy::{Settings, StrategyName};
use suidao::topic::{Layers, Lexicon, Topic};

/// Reads a list of URLs: one a line; empty lines and `#` comments are left out, and what follows white space is a
/// remark.
pub fn urls(path: &Path, what: &str) -> Result<Vec<CrawlUrl>> {
    let name = path.display();
    let text = std::fs::read_to_string(path)
        .with_context(|| format!("cannot read the {what} {name}; give a text file with one URL a line"))?;
    let mut urls = Vec::new();
    for (at, line) in text.trim_start_matches('\u{feff}').lines().enumerate() {
        let Some(word) = line.split_whitespace().next().filter(|word| !word.starts_with('#')) else { continue };
        match CrawlUrl::parse(word) {
            Ok(url) => urls.push(url),
            Err(error) => {
                bail!("{name}, line {}: {word} is no URL to crawl: {error}; write it as http://host/path", at + 1)
            }
        }
    }
    if urls.is_empty() {
        bail!("{name} holds no URL; write one a line, for example http://sports.example.cn/");
    }
    Ok(urls)
}

/// Reads a lexicon and makes it ready to score.
pub fn topic(path: &Path) -> Result<Topic> {
    let name = path.display();
    let text = std::fs::read_to_string(path)
        .with_context(|| format!("cannot read the lexicon {name}; make one with `suidao topic build -o {name}`"))?;
    let lexicon = Lexicon::parse(&text).with_context(|| format!("the lexicon {name} cannot be used"))?;
    Ok(Topic::new(lexicon))
}

/// Reads the lexicon that a crawl directory keeps.
pub fn kept_topic(path: &Path) -> Result<Topic> {
    let name = path.display();
    let text = own::read_text(path, own::LARGE)?;
    let lexicon =
        Lexicon::parse(&text).with_context(|| format!("the lexicon {name} cannot be used; give it with -m"))?;
    Ok(Topic::new(lexicon))
}

/// The topic with the layers that the strategy needs, if it is one that needs them.
pub fn layered(topic: Topic, strategy: &Settings) -> Result<Topic> {
    match &strategy.context_graph.model {
        Some(path) if strategy.name == StrategyName::ContextGraph => with_layers(topic, Path::new(path)),
        _ => Ok(topic),
    }
}

/// The topic with the layers of a file.
pub fn with_layers(topic: Topic, path: &Path) -> Result<Topic> {
    let name = path.display();
    let text = std::fs::read_to_string(path)
        .with_context(|| format!("cannot read the layers {name}; make them with `suidao topic layers -o {name}`"))?;
    let layers = Layers::parse(&text).with_context(|| format!("the layers {name} cannot be used"))?;
    Ok(topic.with_layers(layers))
}

/// The lexicon given, else the world's own.
pub fn topic_of(path: Option<&Path>, web: &Opened) -> Result<Topic> {
    match (path, &web.world) {
        (Some(path), _) => topic(path),
        (None, Some(world)) => Ok(Topic::new(learn(world)?)),
        (None, None) => bail!("{} has no lexicon of its own; give one with -m", web.name),
    }
}

/// The seeds given, else the world's own.
pub fn seeds_of(path: Option<&Path>, web: &Opened) -> Result<Vec<CrawlUrl>> {
    match (path, &web.world) {
        (Some(path), _) => urls(path, "seeds"),
        (None, Some(world)) => Ok(world.seeds()),
        (None, None) => bail!("{} has no seeds of its own; give a file of URLs with -s", web.name),
    }
}

/// The truth given, else the world's own, else the lexicon's threshold.
pub fn judge_of(truth: Option<&Path>, exclude: Option<&Path>, web: &Opened) -> Result<Judge> {
    Ok(match (truth, &web.world) {
        (Some(truth), _) => Judge::Truth(Arc::new(Truth::read(truth, exclude)?)),
        (None, Some(world)) => Judge::World(Arc::clone(world)),
        (None, None) => Judge::Threshold,
    })
}
