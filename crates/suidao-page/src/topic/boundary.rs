//! Chooses the boundary of a linear judge on held-out pages.
//!
//! The background of a user contains pages of the topic that nobody listed. Its share on topic is estimated as the
//! least ratio, over all boundaries, of the shares of background and samples beyond the boundary (Blanchard, Lee, Scott
//! 2010, semi-supervised novelty detection).

/// Share of off-topic background pages that may reach the boundary.
pub(super) const FALSE_POSITIVES: f64 = 0.03;
/// The boundary is not raised above what this share of the samples reach.
const KEPT: f64 = 0.5;
/// Boundaries that fewer of the samples reach are too uncertain.
const LEAST_RECALL: f64 = 0.3;
/// Above this estimate samples and background are not separable, and the estimate is useless.
const MAX_ON_TOPIC: f64 = 0.5;
/// Distance of the boundary from the score of a page that must not reach it.
const STEP: f64 = 5e-5;

/// Scores of samples and background pages, each by a model that did not learn from the page's host.
pub(super) struct HeldOutScores {
    /// Highest first; whether it is a sample.
    scores: Vec<(f64, bool)>,
    samples: f64,
    background: f64,
}

/// A boundary and what it achieves.
pub(super) struct Boundary {
    pub(super) score: f64,
    /// Share of the samples beyond it.
    pub(super) recall: f64,
    /// Share of the off-topic background pages beyond it.
    pub(super) false_positives: f64,
}

impl HeldOutScores {
    /// `None` without samples or without background.
    pub(super) fn new(mut scores: Vec<(f64, bool)>) -> Option<Self> {
        scores.sort_by(|a, b| b.0.total_cmp(&a.0));
        let samples = scores.iter().filter(|(_, sample)| *sample).count() as f64;
        let background = scores.len() as f64 - samples;
        (samples > 0.0 && background > 0.0).then_some(Self { scores, samples, background })
    }

    /// Each score with the shares of the samples and of the background that reach it.
    fn shares(&self) -> impl Iterator<Item = (f64, f64, f64)> {
        let (mut samples, mut background) = (0.0, 0.0);
        self.scores.iter().map(move |&(score, sample)| {
            *if sample { &mut samples } else { &mut background } += 1.0;
            (score, samples / self.samples, background / self.background)
        })
    }

    /// Share of the background that is on topic.
    fn on_topic(&self) -> f64 {
        let reached = self.shares().filter(|&(_, samples, _)| samples >= LEAST_RECALL);
        let share = reached.map(|(_, samples, background)| background / samples).fold(1.0, f64::min);
        if share > MAX_ON_TOPIC { 0.0 } else { share }
    }

    /// The lowest boundary, at least 0, that at most [`FALSE_POSITIVES`] of the off-topic pages or less than [`KEPT`]
    /// of the samples reach. With a background of `random` pages always the latter, because real pages score higher.
    pub(super) fn boundary(&self, random: bool) -> Boundary {
        let on_topic = self.on_topic();
        let wrong = |samples: f64, background: f64| ((background - on_topic * samples) / (1.0 - on_topic)).max(0.0);
        let mut boundary = Boundary { score: 0.0, recall: 0.0, false_positives: 0.0 };
        for (score, samples, background) in self.shares() {
            let false_positives = wrong(samples, background);
            if score < 0.0 {
                break;
            }
            if (random || false_positives > FALSE_POSITIVES) && boundary.recall >= KEPT {
                boundary.score = score + STEP;
                break;
            }
            boundary = Boundary { score: 0.0, recall: samples, false_positives };
        }
        boundary
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scores(samples: &[f64], background: &[f64]) -> HeldOutScores {
        let all = samples.iter().map(|&score| (score, true)).chain(background.iter().map(|&score| (score, false)));
        HeldOutScores::new(all.collect()).unwrap()
    }

    #[test]
    fn few_off_topic_pages_reach_the_boundary() {
        let background: Vec<f64> = (0..100).map(|at| f64::from(at) / 100.0).collect();
        let boundary = scores(&[2.0, 1.5, 0.98, 0.5], &background).boundary(false);
        assert!(boundary.score > 0.96 && boundary.score < 0.97, "{}", boundary.score);
        assert_eq!((boundary.recall, boundary.false_positives), (0.75, 0.03));
        let apart = scores(&[2.0, 1.5], &[-1.0, -2.0]).boundary(false);
        assert_eq!((apart.score, apart.recall, apart.false_positives), (0.0, 1.0, 0.0));
    }

    #[test]
    fn half_of_the_samples_reach_the_boundary() {
        let background: Vec<f64> = (0..100).map(|at| 1.0 + f64::from(at) / 100.0).collect();
        let boundary = scores(&[1.6, 1.4, 0.5, 0.4], &background).boundary(false);
        assert!(boundary.score > 1.3 && boundary.score < 1.41, "{}", boundary.score);
        assert_eq!(boundary.recall, 0.5);
        let random = scores(&[2.0, 1.0, 0.5, 0.4], &[-1.0]).boundary(true);
        assert_eq!((random.score, random.recall), (0.5 + STEP, 0.5));
    }

    #[test]
    fn on_topic_pages_in_the_background_do_not_raise_the_boundary() {
        let samples: Vec<f64> = (0..100).map(|at| 1.0 + f64::from(at) / 100.0).collect();
        let mut background = vec![-1.0; 800];
        background.extend((0..200).map(|at| 1.0 + f64::from(at) / 200.0));
        let boundary = scores(&samples, &background).boundary(false);
        assert!(boundary.score <= 1.0 && boundary.recall > 0.95, "{} {}", boundary.score, boundary.recall);
    }

    #[test]
    fn without_one_of_the_two_nothing_is_known() {
        assert!(HeldOutScores::new(vec![(1.0, true)]).is_none() && HeldOutScores::new(Vec::new()).is_none());
    }
}
