//! Whether answers have to do with the scores at all.
//!
//! The share of pairs of a relevant and another page of which the relevant one has the higher score is the area under the ROC
//! curve (Hanley, McNeil, Radiology 143, 1982); by chance it is a half. The test is Mann's and Whitney's (1947), one-sided.

use serde::Serialize;

use suidao_page::model::Relevance;

/// With fewer answers on a side nothing is said.
const FEW: usize = 5;

/// One in a hundred answers by chance pass for answers: the normal quantile of 99%.
const Z: f64 = 2.326_348;

/// Why answers look like noise.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Noise {
    /// All are the same, whatever the page's score.
    AllAlike {
        /// That is: relevant.
        relevant: bool,
    },
    /// They do not go with the scores.
    Unrelated {
        /// Share of pairs that are in order; 0.5 by chance.
        in_order: f64,
    },
}

/// Whether the labels of pages, given with their scores, look like noise; nothing where there are too few to tell.
pub(super) fn noise(threshold: f64, labels: &[(Relevance, bool)]) -> Option<Noise> {
    let above = labels.iter().filter(|(score, _)| f64::from(score.get()) >= threshold).count();
    if above < FEW || labels.len() - above < FEW {
        return None;
    }
    let yes: Vec<f32> = labels.iter().filter(|(_, label)| *label).map(|(score, _)| score.get()).collect();
    let no: Vec<f32> = labels.iter().filter(|(_, label)| !*label).map(|(score, _)| score.get()).collect();
    match (yes.len(), no.len()) {
        (_, 0) => return Some(Noise::AllAlike { relevant: true }),
        (0, _) => return Some(Noise::AllAlike { relevant: false }),
        (yes, no) if yes < FEW || no < FEW => return None,
        _ => {}
    }
    let order = |one: &f32, other: &f32| match one.total_cmp(other) {
        std::cmp::Ordering::Greater => 1.0,
        std::cmp::Ordering::Equal => 0.5,
        std::cmp::Ordering::Less => 0.0,
    };
    let (some, others) = (yes.len() as f64, no.len() as f64);
    let in_order =
        yes.iter().flat_map(|one| no.iter().map(move |other| order(one, other))).sum::<f64>() / (some * others);
    let deviation = ((some + others + 1.0) / (12.0 * some * others)).sqrt();
    (in_order < 0.5 + Z * deviation).then_some(Noise::Unrelated { in_order })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(count: usize, label: impl Fn(usize) -> bool) -> Vec<(Relevance, bool)> {
        (0..count).map(|n| (Relevance::new(n as f32 / count as f32), label(n))).collect()
    }

    #[test]
    fn answers_that_do_not_go_with_the_scores_are_noise() {
        assert_eq!(noise(0.5, &labels(60, |_| true)), Some(Noise::AllAlike { relevant: true }));
        assert_eq!(noise(0.5, &labels(60, |_| false)), Some(Noise::AllAlike { relevant: false }));
        assert!(matches!(noise(0.5, &labels(60, |n| n % 2 == 0)), Some(Noise::Unrelated { .. })));
        let turned = noise(0.5, &labels(60, |n| n < 30));
        assert_eq!(turned, Some(Noise::Unrelated { in_order: 0.0 }));
        // Answers of somebody who reads, who is wrong now and then or has another threshold in mind.
        assert_eq!(noise(0.5, &labels(60, |n| n >= 45)), None);
        assert_eq!(noise(0.5, &labels(60, |n| (n >= 30) != (n % 6 == 0))), None);
        // All that were asked about are above: that they are relevant is no wonder.
        assert_eq!(noise(0.0, &labels(60, |_| true)), None);
        assert_eq!(noise(0.5, &labels(60, |n| n % 20 == 0)), None, "three answers tell nothing");
    }
}
