//! The lexicon of a generated web's topic, learnt from pages that no crawl meets. Apart because the world itself knows
//! words and no scores.

use super::truth::World;
use crate::model::{CrawlUrl, Fetched};
use crate::topic::{Background, LearnError, LearnOptions, Sample, TermFrequency, Topic, Weighting, learn};

/// Topic pages to learn from.
pub const SAMPLES: usize = 60;
/// Off-topic pages to tell them from.
const BACKGROUND: usize = 240;

impl World {
    /// Its topic, learnt from [`SAMPLES`] of its sample pages against background pages.
    ///
    /// # Errors
    /// [`LearnError`] if the sample pages teach nothing, which those of a checked spec never do unless they are noise.
    pub fn learn_topic(&self) -> Result<Topic, LearnError> {
        let sample = |(url, html): (CrawlUrl, String)| {
            let headers = vec![("content-type".to_owned(), "text/html; charset=utf-8".to_owned())];
            Sample::from_fetched(&Fetched { url, status: 200, headers, body: html.into(), wire: None })
        };
        let samples: Vec<Sample> = self.sample_pages(SAMPLES).into_iter().map(sample).collect();
        let background = Background::from_samples(self.background_pages(BACKGROUND).into_iter().map(sample).collect());
        let options = LearnOptions {
            name: "体育".to_owned(),
            date: String::new(),
            sources: vec!["the generated web".to_owned()],
            weighting: Weighting::Lift,
            terms: 100,
            tf: TermFrequency::default(),
            only_index_pages: false,
        };
        Ok(Topic::new(learn(&samples, &background, &options)?.lexicon))
    }
}
