//! Evaluates relevance against labels: precision, recall, F1, average precision.

use crate::model::Relevance;

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ThresholdPoint {
    /// Scores from here on count as on topic.
    pub threshold: f64,
    /// Precision; 1 if nothing reaches the threshold.
    pub precision: f64,
    pub recall: f64,
    /// Harmonic mean of precision and recall.
    pub f1: f64,
}

#[derive(Clone, Debug, PartialEq)]
pub struct TopicEvaluation {
    /// Labelled items.
    pub labelled: usize,
    /// On-topic items among them.
    pub on_topic: usize,
    /// At the given threshold.
    pub at: ThresholdPoint,
    /// At the threshold with the highest F1, the highest of equals.
    pub best: ThresholdPoint,
    /// Area under precision over recall: Σ (R_n - R_{n-1}) P_n over the distinct scores, highest first.
    pub average_precision: f64,
}

/// Evaluates scores against labels (`true`: on topic).
pub fn evaluate(scored: &[(Relevance, bool)], threshold: Relevance) -> TopicEvaluation {
    let curve = Curve::new(scored, 1.0);
    TopicEvaluation {
        labelled: scored.len(),
        on_topic: scored.iter().filter(|(_, on_topic)| *on_topic).count(),
        at: curve.at(f64::from(threshold.get())),
        best: curve.best(),
        average_precision: curve.average_precision(),
    }
}

/// Precision and recall at every distinct score.
pub(super) struct Curve {
    /// (score, weight of on-topic items at or above it, weight of off-topic items), highest score first.
    steps: Vec<(f64, f64, f64)>,
    on_topic: f64,
}

impl Curve {
    /// An off-topic item counts `off_weight` times, an on-topic one once.
    pub(super) fn new(scored: &[(Relevance, bool)], off_weight: f64) -> Self {
        let mut sorted: Vec<(f64, bool)> =
            scored.iter().map(|(relevance, label)| (f64::from(relevance.get()), *label)).collect();
        sorted.sort_by(|a, b| b.0.total_cmp(&a.0));
        let mut steps: Vec<(f64, f64, f64)> = Vec::new();
        let (mut on, mut off) = (0.0, 0.0);
        for (score, label) in sorted {
            if label {
                on += 1.0;
            } else {
                off += off_weight;
            }
            match steps.last_mut() {
                Some(step) if step.0 == score => *step = (score, on, off),
                _ => steps.push((score, on, off)),
            }
        }
        Self { steps, on_topic: on }
    }

    fn point(&self, threshold: f64, on: f64, off: f64) -> ThresholdPoint {
        let share = |part: f64, whole: f64, empty: f64| if whole > 0.0 { part / whole } else { empty };
        let (precision, recall) = (share(on, on + off, 1.0), share(on, self.on_topic, 0.0));
        ThresholdPoint { threshold, precision, recall, f1: share(2.0 * precision * recall, precision + recall, 0.0) }
    }

    pub(super) fn at(&self, threshold: f64) -> ThresholdPoint {
        let above = self.steps.iter().take_while(|step| step.0 >= threshold);
        let (on, off) = above.last().map_or((0.0, 0.0), |step| (step.1, step.2));
        self.point(threshold, on, off)
    }

    pub(super) fn best(&self) -> ThresholdPoint {
        let mut best = ThresholdPoint { threshold: 1.0, ..self.at(1.0) };
        for (index, &(score, on, off)) in self.steps.iter().enumerate() {
            // Half way to the next score, to tolerate scores slightly below a sample's.
            let next = self.steps.get(index + 1).map_or(score, |step| step.0);
            let point = self.point(f64::midpoint(score, next), on, off);
            if score > 0.0 && point.f1 > best.f1 {
                best = point;
            }
        }
        best
    }

    /// Precision where this share of the on-topic items is reached; among items of equal score they are spread evenly.
    pub(super) fn precision_at(&self, recall: f64) -> f64 {
        let wanted = recall * self.on_topic;
        let (mut on_before, mut off_before) = (0.0, 0.0);
        for &(_, on, off) in &self.steps {
            if on >= wanted && on > on_before {
                let off = off_before + (off - off_before) * (wanted - on_before) / (on - on_before);
                return wanted / (wanted + off);
            }
            (on_before, off_before) = (on, off);
        }
        0.0
    }

    pub(super) fn average_precision(&self) -> f64 {
        let mut area = 0.0;
        let mut before = 0.0;
        for &(score, on, off) in &self.steps {
            let point = self.point(score, on, off);
            area += (point.recall - before) * point.precision;
            before = point.recall;
        }
        area
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scored(pairs: &[(f32, bool)]) -> Vec<(Relevance, bool)> {
        pairs.iter().map(|&(score, label)| (Relevance::new(score), label)).collect()
    }

    #[test]
    fn precision_recall_and_their_best_threshold() {
        let pairs = scored(&[(0.9, true), (0.7, false), (0.5, true), (0.5, true), (0.2, false), (0.0, true)]);
        let result = evaluate(&pairs, Relevance::new(0.6));
        assert_eq!((result.labelled, result.on_topic), (6, 4));
        assert_eq!((result.at.precision, result.at.recall), (0.5, 0.25));
        assert_eq!((result.best.precision, result.best.recall), (0.75, 0.75));
        assert!(result.best.threshold > 0.2 && result.best.threshold < 0.5);
        // .25 · 1 + .5 · 3/4 + .25 · 4/6
        assert!((result.average_precision - (0.25 + 0.375 + 1.0 / 6.0)).abs() < 1e-9);
    }

    #[test]
    fn nothing_on_topic_or_nothing_at_all_is_no_division_by_zero() {
        for pairs in [scored(&[]), scored(&[(0.4, false)])] {
            let result = evaluate(&pairs, Relevance::new(0.1));
            assert_eq!((result.at.recall, result.at.f1, result.average_precision), (0.0, 0.0, 0.0));
            assert!(result.best.threshold > 0.0);
        }
        let all = evaluate(&scored(&[(0.4, true)]), Relevance::new(0.4));
        assert_eq!((all.at.f1, all.best.f1, all.average_precision), (1.0, 1.0, 1.0));
    }

    #[test]
    fn precision_is_read_at_a_recall_also_within_equal_scores() {
        let pairs =
            scored(&[(0.9, true), (0.5, false), (0.0, true), (0.0, true), (0.0, false), (0.0, false), (0.0, true)]);
        let curve = Curve::new(&pairs, 1.0);
        assert_eq!((curve.precision_at(0.25), curve.precision_at(1.0)), (1.0, 4.0 / 7.0));
        assert!((curve.precision_at(0.5) - 2.0 / (2.0 + 1.0 + 2.0 / 3.0)).abs() < 1e-9);
        assert_eq!(Curve::new(&[], 1.0).precision_at(0.5), 0.0);
    }

    #[test]
    fn the_frequent_side_can_be_weighed_down() {
        let pairs = scored(&[(0.9, true), (0.8, false), (0.8, false), (0.3, true)]);
        assert_eq!(Curve::new(&pairs, 1.0).at(0.3).precision, 0.5);
        assert_eq!(Curve::new(&pairs, 0.5).at(0.3).precision, 2.0 / 3.0);
    }
}
