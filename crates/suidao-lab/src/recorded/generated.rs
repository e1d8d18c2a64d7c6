//! The lexicon of a generated world, learned from sample pages that no crawl reaches.

use super::RecordedError;
use crate::world::SyntheticWeb;
use suidao_page::model::{CrawlUrl, Fetched};
use suidao_page::topic::{Background, LearnOptions, Lexicon, Method, Sample, learn as learn_lexicon};

const SAMPLES: usize = 60;
const BACKGROUND: usize = 240;

/// Learns the lexicon of a world's topic from 60 topic pages and 240 others, all on hosts without incoming links.
///
/// # Errors
/// [`RecordedError::Learn`] if they do not suffice.
pub fn learn(world: &SyntheticWeb) -> Result<Lexicon, RecordedError> {
    let sample = |(url, html): (CrawlUrl, String)| Sample::from_fetched(&Fetched::html(url, html));
    let samples: Vec<Sample> = world.sample_pages(SAMPLES).into_iter().map(sample).collect();
    let background = Background::from_samples(world.background_pages(BACKGROUND).into_iter().map(sample).collect());
    let options =
        LearnOptions { sources: vec!["the generated web".to_owned()], ..LearnOptions::new("体育", Method::Lift) };
    Ok(learn_lexicon(&samples, &background, &options)?.lexicon)
}
