//! The sample of pages to label: random, stratified by relevance, equally many of each stratum.
//!
//! Within a stratum pages are ordered by a hash of their URLs, so the first n are a simple random sample without
//! replacement, and each of its N pages is among them with probability n / N. A sample stays one when more answers
//! follow.

use xxhash_rust::xxh3::xxh3_64;

use suidao_page::model::Relevance;

/// Lower bounds of the strata as multiples of the threshold: narrow near it.
const BOUNDS: [f64; 8] = [0.0, 0.25, 0.5, 0.8, 1.0, 1.25, 2.0, 3.0];

#[derive(Clone, Debug, PartialEq)]
pub struct Strata {
    threshold: f64,
    pages: [u64; BOUNDS.len()],
}

impl Strata {
    /// The stratum that starts at the threshold.
    pub const THRESHOLD: usize = 4;

    /// Counts pages of these scores in strata around a threshold.
    pub fn new(threshold: Relevance, scores: impl Iterator<Item = Relevance>) -> Self {
        let mut strata = Self { threshold: f64::from(threshold.get()), pages: [0; BOUNDS.len()] };
        scores.for_each(|score| strata.pages[strata.of(score)] += 1);
        strata
    }

    pub fn threshold(&self) -> f64 {
        self.threshold
    }

    pub fn of(&self, score: Relevance) -> usize {
        let score = f64::from(score.get());
        BOUNDS[1..].iter().take_while(|bound| score >= *bound * self.threshold).count()
    }

    /// Lowest score of each stratum, and its number of pages.
    pub fn each(&self) -> impl Iterator<Item = (f64, u64)> {
        BOUNDS.iter().zip(self.pages).map(|(bound, pages)| (bound * self.threshold, pages))
    }

    /// The pages to label, in order: indexes into `pages`, which gives each page's score, its URL and whether it has a
    /// label. Labelled ones count towards the sample.
    ///
    /// Each stratum gives a page in turn, so that an early end leaves equally many of each, and the order reveals no
    /// scores.
    pub fn draw(&self, pages: &[(Relevance, &str, bool)], sample: usize) -> Vec<usize> {
        let hash = |position: usize| xxh3_64(pages[position].1.as_bytes());
        let mut positions: Vec<usize> = (0..pages.len()).collect();
        positions.sort_by_key(|&position| (!pages[position].2, hash(position)));
        let mut drawn = [0; BOUNDS.len()];
        let turn = |position: usize| {
            let turn = &mut drawn[self.of(pages[position].0)];
            *turn += 1;
            (*turn, hash(position), position)
        };
        let mut turns: Vec<(usize, u64, usize)> = positions.into_iter().map(turn).collect();
        turns.sort_unstable();
        turns.truncate(sample);
        turns.into_iter().map(|(_, _, position)| position).filter(|&position| !pages[position].2).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scores(count: usize) -> Vec<Relevance> {
        (0..count).map(|n| Relevance::new((n as f32 / count as f32).powi(3))).collect()
    }

    #[test]
    fn the_threshold_parts_the_strata() {
        let strata = Strata::new(
            Relevance::new(0.1),
            [0.0, 0.024, 0.025, 0.0999, 0.1, 0.13, 0.25, 0.9].map(Relevance::new).into_iter(),
        );
        assert_eq!(strata.pages, [2, 1, 0, 1, 1, 1, 1, 1]);
        assert_eq!(strata.of(Relevance::new(strata.threshold() as f32)), Strata::THRESHOLD);
    }

    /// Sample sizes of the strata.
    fn drawn(scores: &[Relevance], sample: usize) -> [usize; BOUNDS.len()] {
        let strata = Strata::new(Relevance::new(0.1), scores.iter().copied());
        let urls: Vec<String> = (0..scores.len()).map(|n| n.to_string()).collect();
        let pages: Vec<_> = scores.iter().zip(&urls).map(|(score, url)| (*score, url.as_str(), false)).collect();
        let mut drawn = [0; BOUNDS.len()];
        strata.draw(&pages, sample).into_iter().for_each(|place| drawn[strata.of(scores[place])] += 1);
        drawn
    }

    #[test]
    fn equally_many_are_asked_about_and_all_where_there_are_few() {
        let scores = scores(4000);
        assert_eq!(drawn(&scores, 200), [25; BOUNDS.len()]);
        assert_eq!(drawn(&scores, 9_999).iter().sum::<usize>(), 4000);
        assert_eq!(drawn(&[0.0, 0.0, 0.0, 0.5].map(Relevance::new), 3), [2, 0, 0, 0, 0, 0, 0, 1]);
    }

    #[test]
    fn a_sample_goes_on_where_it_stopped() {
        let scores = scores(1000);
        let strata = Strata::new(Relevance::new(0.1), scores.iter().copied());
        let urls: Vec<String> = (0..1000).map(|n| format!("http://a.cn/{n}")).collect();
        let pages = |known: &[usize]| -> Vec<(Relevance, &str, bool)> {
            let page = |(n, url)| (scores[n], String::as_str(url), known.contains(&n));
            urls.iter().enumerate().map(page).collect()
        };
        let all = strata.draw(&pages(&[]), 100);
        assert_eq!(all.len(), 100);
        let rest = strata.draw(&pages(&all[..30]), 100);
        let sorted = |positions: &[usize]| {
            let mut positions = positions.to_vec();
            positions.sort_unstable();
            positions
        };
        assert_eq!(sorted(&[&all[..30], &rest[..]].concat()), sorted(&all), "nothing twice, and the same pages");
        // Every tenth of the order has pages from below and above.
        let above = |position: &usize| strata.of(scores[*position]) >= Strata::THRESHOLD;
        assert!(all.chunks(20).all(|part| part.iter().any(above) && !part.iter().all(above)));
    }
}
