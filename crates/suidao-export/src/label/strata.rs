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

    /// Sample size of each stratum, for a total of `sample`.
    fn allocation(&self, sample: usize) -> Vec<usize> {
        let mut given = vec![0; BOUNDS.len()];
        for _ in 0..sample {
            let open = (0..BOUNDS.len()).filter(|&stratum| (given[stratum] as u64) < self.pages[stratum]);
            let Some(next) = open.min_by_key(|&stratum| given[stratum]) else { break };
            given[next] += 1;
        }
        given
    }

    /// The pages to label, in order: indexes into `pages`, which gives each page's score, its URL and whether it has a
    /// label. Labelled ones count towards the sample.
    pub fn draw(&self, pages: &[(Relevance, &str, bool)], sample: usize) -> Vec<usize> {
        let mut of: [Vec<(u64, usize)>; BOUNDS.len()] = Default::default();
        let mut answered = [0; BOUNDS.len()];
        for (place, (score, url, known)) in pages.iter().enumerate() {
            let stratum = self.of(*score);
            if *known {
                answered[stratum] += 1;
            } else {
                of[stratum].push((xxh3_64(url.as_bytes()), place));
            }
        }
        let mut drawn: Vec<(u64, u64, usize)> = Vec::new();
        for (stratum, wanted) in self.allocation(sample).into_iter().enumerate() {
            let pages = &mut of[stratum];
            pages.sort_unstable();
            let left = wanted.saturating_sub(answered[stratum]).min(pages.len());
            for (number, &(hash, place)) in (0..).zip(&pages[..left]) {
                // Strata are interleaved evenly, so that an early end leaves some of each, and the order reveals no
                // scores.
                let share = (2 * number + 1) * 1_000_000 / (2 * left as u64);
                drawn.push((share + hash % 100_000, hash, place));
            }
        }
        drawn.sort_unstable();
        drawn.into_iter().map(|(_, _, place)| place).collect()
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

    #[test]
    fn equally_many_are_asked_about_and_all_where_there_are_few() {
        let scores = scores(4000);
        let strata = Strata::new(Relevance::new(0.1), scores.iter().copied());
        let given = strata.allocation(200);
        assert!(given.iter().all(|given| *given == 25), "{given:?}");
        assert_eq!(strata.allocation(9_999).iter().sum::<usize>(), 4000);
        let few = Strata::new(Relevance::new(0.1), [0.0, 0.0, 0.0, 0.5].map(Relevance::new).into_iter());
        assert_eq!(few.allocation(3), [2, 0, 0, 0, 0, 0, 0, 1]);
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
        let sorted = |places: &[usize]| {
            let mut places = places.to_vec();
            places.sort_unstable();
            places
        };
        assert_eq!(sorted(&[&all[..30], &rest[..]].concat()), sorted(&all), "nothing twice, and the same pages");
        // Every tenth of the order has pages from below and above.
        let above = |place: &usize| strata.of(scores[*place]) >= Strata::THRESHOLD;
        assert!(all.chunks(20).all(|part| part.iter().any(above) && !part.iter().all(above)));
    }
}
