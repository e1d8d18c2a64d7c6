//! A linear support vector machine with squared hinge loss,
//!
//! min ½ |W|² + ½ b² + Σ cᵢ max(0, 1 − yᵢ (W·xᵢ + b))²,
//!
//! solved by dual coordinate descent (Hsieh, Chang, Lin, Keerthi, Sundararajan 2008, algorithm 1 with D = 1/(2cᵢ) and
//! no upper bound). The bias is the weight of a column that is 1 in every row. The costs cᵢ balance the classes: their
//! sums are equal.

use crate::seeded_rng::SeededRng;

/// Largest violation of the optimality conditions at the end, as in liblinear.
const TOLERANCE: f64 = 1e-4;
/// Maximum passes over all rows.
const PASSES: usize = 1_000;

/// A sparse vector: ascending distinct columns with finite values.
pub(super) type Row = Vec<(u32, f32)>;

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Hyperplane {
    /// W, by column.
    pub(super) weights: Vec<f64>,
    /// b.
    pub(super) bias: f64,
}

impl Hyperplane {
    /// W·x + b.
    pub(super) fn score(&self, row: &Row) -> f64 {
        self.bias + row.iter().map(|&(column, value)| self.weights[column as usize] * f64::from(value)).sum::<f64>()
    }
}

/// Separates `positive` from `negative` rows; `cost` is C. `None` if a class is empty. The same rows in the same order
/// give the same plane.
pub(super) fn train(positive: &[Row], negative: &[Row], columns: usize, cost: f64) -> Option<Hyperplane> {
    let unscored = |rows: &[Row]| rows.iter().map(|row| (row.clone(), 0.0)).collect::<Vec<_>>();
    (!positive.is_empty() && !negative.is_empty())
        .then(|| adapt(&unscored(positive), &unscored(negative), columns, cost))
}

/// The change of an existing plane that also separates these rows, each given with its score by that plane (Yang, Yan,
/// Hauptmann 2007, adaptive support vector machines, with squared loss). A class may be empty.
pub(super) fn adapt(positive: &[(Row, f64)], negative: &[(Row, f64)], columns: usize, cost: f64) -> Hyperplane {
    let all = positive.len() + negative.len();
    let rows: Vec<&(Row, f64)> = positive.iter().chain(negative).collect();
    let sign = |row: usize| if row < positive.len() { 1.0 } else { -1.0 };
    // 1 / (2cᵢ)
    let diagonal = |row: usize| {
        let class = if row < positive.len() { positive.len() } else { negative.len() };
        class as f64 / (cost * all as f64)
    };
    let norms: Vec<f64> =
        rows.iter().map(|(row, _)| 1.0 + row.iter().map(|&(_, value)| f64::from(value).powi(2)).sum::<f64>()).collect();
    let mut plane = Hyperplane { weights: vec![0.0; columns], bias: 0.0 };
    let mut alpha = vec![0.0_f64; all];
    let mut order: Vec<usize> = (0..all).collect();
    let mut rng = SeededRng::at(0);
    for _ in 0..PASSES {
        shuffle(&mut order, &mut rng);
        let (mut highest, mut lowest) = (f64::NEG_INFINITY, f64::INFINITY);
        for &at in &order {
            let (y, (row, before)) = (sign(at), rows[at]);
            let gradient = y * (before + plane.score(row)) - 1.0 + diagonal(at) * alpha[at];
            let projected = if alpha[at] == 0.0 { gradient.min(0.0) } else { gradient };
            (highest, lowest) = (highest.max(projected), lowest.min(projected));
            if projected == 0.0 {
                continue;
            }
            let old = alpha[at];
            alpha[at] = (old - gradient / (norms[at] + diagonal(at))).max(0.0);
            let step = (alpha[at] - old) * y;
            plane.bias += step;
            for &(column, value) in row {
                plane.weights[column as usize] += step * f64::from(value);
            }
        }
        if highest - lowest < TOLERANCE {
            break;
        }
    }
    plane
}

/// Fisher and Yates.
fn shuffle(order: &mut [usize], rng: &mut SeededRng) {
    for at in (1..order.len()).rev() {
        order.swap(at, rng.below(at as u64 + 1) as usize);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn objective(plane: &Hyperplane, positive: &[Row], negative: &[Row], cost: f64) -> f64 {
        let all = (positive.len() + negative.len()) as f64;
        let loss = |rows: &[Row], y: f64| -> f64 {
            let each = cost * all / (2.0 * rows.len() as f64);
            rows.iter().map(|row| each * (1.0 - y * plane.score(row)).max(0.0).powi(2)).sum()
        };
        let norm: f64 = plane.weights.iter().map(|weight| weight * weight).sum();
        0.5 * (norm + plane.bias * plane.bias) + loss(positive, 1.0) + loss(negative, -1.0)
    }

    fn rows(seed: u64, count: usize, shift: f32) -> Vec<Row> {
        let mut rng = SeededRng::new(seed, 0, 0);
        (0..count)
            .map(|_| {
                let mut order: Vec<usize> = (0..20).collect();
                shuffle(&mut order, &mut rng);
                let value = |column: usize| (order[column] as f32 - 9.5) / 20.0 + if column < 4 { shift } else { 0.0 };
                (0..20).step_by(1 + order[0] % 3).map(|column| (column as u32, value(column))).collect()
            })
            .collect()
    }

    #[test]
    fn two_rows_are_separated_as_calculated_by_hand() {
        // x = 1 against x = -1, c = C: b = 0, W = 2a, a (2 + 1/(2C)) = 1 for C = 1: a = 0.4, W = 0.8.
        let plane = train(&[vec![(0, 1.0)]], &[vec![(0, -1.0)]], 1, 1.0).unwrap();
        assert!((plane.weights[0] - 0.8).abs() < 1e-4 && plane.bias.abs() < 1e-4, "{plane:?}");
    }

    #[test]
    fn the_solution_is_a_minimum_in_every_direction() {
        let (positive, negative) = (rows(1, 30, 0.3), rows(2, 90, -0.1));
        for cost in [0.3, 1.0, 3.0] {
            let plane = train(&positive, &negative, 20, cost).unwrap();
            let least = objective(&plane, &positive, &negative, cost);
            for column in 0..=20 {
                for step in [-0.01, 0.01] {
                    let mut other = plane.clone();
                    *other.weights.get_mut(column).unwrap_or(&mut other.bias) += step;
                    let value = objective(&other, &positive, &negative, cost);
                    assert!(value > least, "column {column} {step:+}: {value} < {least} at C = {cost}");
                }
            }
        }
    }

    #[test]
    fn classes_are_balanced() {
        let (positive, negative) = (rows(1, 10, 0.3), rows(2, 40, -0.1));
        let twice: Vec<Row> = positive.iter().chain(&positive).cloned().collect();
        let plane = train(&positive, &negative, 20, 1.0).unwrap();
        // The costs grow with the number of rows: 60 against 50.
        let other = train(&twice, &negative, 20, 50.0 / 60.0).unwrap();
        for (one, two) in plane.weights.iter().zip(&other.weights) {
            assert!((one - two).abs() < 1e-3, "{one} {two}");
        }
    }

    #[test]
    fn adapting_changes_only_what_is_wrong() {
        let (positive, negative) = (rows(1, 10, 0.3), rows(2, 10, -0.1));
        let scored = |rows: &[Row], score: f64| rows.iter().map(|row| (row.clone(), score)).collect::<Vec<_>>();
        let right = adapt(&scored(&positive, 1.5), &scored(&negative, -1.5), 20, 1.0);
        assert_eq!(right, Hyperplane { weights: vec![0.0; 20], bias: 0.0 });
        // A single class moves the boundary.
        let wrong = adapt(&[], &scored(&negative, 0.5), 20, 1.0);
        assert!(negative.iter().all(|row| wrong.score(row) < -0.5), "{wrong:?}");
    }

    #[test]
    fn an_empty_class_gives_no_plane() {
        assert_eq!(train(&[], &rows(1, 3, 0.0), 20, 1.0), None);
        assert_eq!(train(&rows(1, 3, 0.0), &[], 20, 1.0), None);
    }
}
