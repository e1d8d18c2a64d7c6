//! A linear support vector machine with squared hinge loss:
//!
//! min ½ |W|² + ½ b² + Σ cᵢ max(0, 1 − yᵢ (W·xᵢ + b))²,
//!
//! solved by dual coordinate descent (Hsieh, Chang, Lin, Keerthi and Sundararajan 2008, "A dual coordinate descent method for
//! large-scale linear SVM", algorithm 1 with D = 1 / 2cᵢ, U = ∞). The bias is the weight of a column that is 1 in every row. The costs
//! cᵢ balance the classes: those of either class add up to the same.

/// Largest violation of the optimality conditions that is left, as in liblinear.
const TOLERANCE: f64 = 1e-4;
/// Passes over all rows after which training ends anyway.
const PASSES: usize = 1_000;

/// A row of the training set: columns in ascending order, each once, with finite values.
pub(super) type Row = Vec<(u32, f32)>;

/// A hyperplane.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Plane {
    /// A weight a column.
    pub weights: Vec<f64>,
    /// What is added to every score; 0 is the border of the classes then.
    pub bias: f64,
}

impl Plane {
    /// W·x + b: positive on the side of the samples.
    pub(super) fn score(&self, row: &Row) -> f64 {
        self.bias + row.iter().map(|&(column, value)| self.weights[column as usize] * f64::from(value)).sum::<f64>()
    }
}

/// Separates `positive` rows from `negative` ones of `columns` columns; `cost` is C. `None` if a class has no row.
///
/// The same rows in the same order give the same plane.
pub(super) fn train(positive: &[Row], negative: &[Row], columns: usize, cost: f64) -> Option<Plane> {
    let without = |rows: &[Row]| rows.iter().map(|row| (row.clone(), 0.0)).collect::<Vec<_>>();
    (!positive.is_empty() && !negative.is_empty()).then(|| adapt(&without(positive), &without(negative), columns, cost))
}

/// What to add to a plane so that it separates further rows too, each with its score so far: the plane there is stands for W = 0
/// (Yang, Yan and Hauptmann 2007, "Cross-domain video concept detection using adaptive SVMs", with squared loss). A class may
/// have no row.
pub(super) fn adapt(positive: &[(Row, f64)], negative: &[(Row, f64)], columns: usize, cost: f64) -> Plane {
    let all = positive.len() + negative.len();
    let rows: Vec<&(Row, f64)> = positive.iter().chain(negative).collect();
    let sign = |row: usize| if row < positive.len() { 1.0 } else { -1.0 };
    // 1 / 2cᵢ.
    let diagonal = |row: usize| {
        let class = if row < positive.len() { positive.len() } else { negative.len() };
        class as f64 / (cost * all as f64)
    };
    let norms: Vec<f64> =
        rows.iter().map(|(row, _)| 1.0 + row.iter().map(|&(_, value)| f64::from(value).powi(2)).sum::<f64>()).collect();
    let mut plane = Plane { weights: vec![0.0; columns], bias: 0.0 };
    let mut alpha = vec![0.0_f64; all];
    let mut order: Vec<usize> = (0..all).collect();
    let mut chance = 0_u64;
    for _ in 0..PASSES {
        shuffle(&mut order, &mut chance);
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

/// Fisher and Yates, by SplitMix64 (Steele, Lea and Flood 2014).
fn shuffle(order: &mut [usize], chance: &mut u64) {
    for at in (1..order.len()).rev() {
        *chance = chance.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = *chance;
        bits = (bits ^ bits >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ bits >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^= bits >> 31;
        order.swap(at, ((u128::from(bits) * (at as u128 + 1)) >> 64) as usize);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is minimised.
    fn objective(plane: &Plane, positive: &[Row], negative: &[Row], cost: f64) -> f64 {
        let all = (positive.len() + negative.len()) as f64;
        let loss = |rows: &[Row], y: f64| -> f64 {
            let each = cost * all / (2.0 * rows.len() as f64);
            rows.iter().map(|row| each * (1.0 - y * plane.score(row)).max(0.0).powi(2)).sum()
        };
        let norm: f64 = plane.weights.iter().map(|weight| weight * weight).sum();
        0.5 * (norm + plane.bias * plane.bias) + loss(positive, 1.0) + loss(negative, -1.0)
    }

    fn rows(seed: u64, count: usize, shift: f32) -> Vec<Row> {
        let mut chance = seed;
        (0..count)
            .map(|_| {
                let mut order: Vec<usize> = (0..20).collect();
                shuffle(&mut order, &mut chance);
                let value = |column: usize| (order[column] as f32 - 9.5) / 20.0 + if column < 4 { shift } else { 0.0 };
                (0..20).step_by(1 + order[0] % 3).map(|column| (column as u32, value(column))).collect()
            })
            .collect()
    }

    #[test]
    fn two_rows_are_separated_as_worked_out_by_hand() {
        // x = 1 against x = -1, c = C: b = 0, W = 2a, a (2 + 1 / 2C) = 1 for C = 1: a = 0.4, W = 0.8.
        let plane = train(&[vec![(0, 1.0)]], &[vec![(0, -1.0)]], 1, 1.0).unwrap();
        assert!((plane.weights[0] - 0.8).abs() < 1e-4 && plane.bias.abs() < 1e-4, "{plane:?}");
    }

    #[test]
    fn no_plane_nearby_is_better() {
        let (positive, negative) = (rows(1, 30, 0.3), rows(2, 90, -0.1));
        for cost in [0.3, 1.0, 3.0] {
            let plane = train(&positive, &negative, 20, cost).unwrap();
            let least = objective(&plane, &positive, &negative, cost);
            for column in 0..=20 {
                for step in [-0.01, 0.01] {
                    let mut other = plane.clone();
                    *other.weights.get_mut(column).unwrap_or(&mut other.bias) += step;
                    let is = objective(&other, &positive, &negative, cost);
                    assert!(is > least, "column {column} {step:+}: {is} < {least} at C = {cost}");
                }
            }
        }
    }

    #[test]
    fn a_class_counts_the_same_however_often_its_rows_come() {
        let (positive, negative) = (rows(1, 10, 0.3), rows(2, 40, -0.1));
        let twice: Vec<Row> = positive.iter().chain(&positive).cloned().collect();
        let plane = train(&positive, &negative, 20, 1.0).unwrap();
        // The costs grow with the number of all rows: 50 of them against 60.
        let other = train(&twice, &negative, 20, 50.0 / 60.0).unwrap();
        for (one, two) in plane.weights.iter().zip(&other.weights) {
            assert!((one - two).abs() < 1e-3, "{one} {two}");
        }
    }

    #[test]
    fn adapting_leaves_alone_what_is_right_already() {
        let (positive, negative) = (rows(1, 10, 0.3), rows(2, 10, -0.1));
        let scored = |rows: &[Row], score: f64| rows.iter().map(|row| (row.clone(), score)).collect::<Vec<_>>();
        let right = adapt(&scored(&positive, 1.5), &scored(&negative, -1.5), 20, 1.0);
        assert_eq!(right, Plane { weights: vec![0.0; 20], bias: 0.0 });
        // One class alone moves the border.
        let wrong = adapt(&[], &scored(&negative, 0.5), 20, 1.0);
        assert!(negative.iter().all(|row| wrong.score(row) < -0.5), "{wrong:?}");
    }

    #[test]
    fn a_class_without_rows_gives_no_plane() {
        assert_eq!(train(&[], &rows(1, 3, 0.0), 20, 1.0), None);
        assert_eq!(train(&rows(1, 3, 0.0), &[], 20, 1.0), None);
    }
}
