//! Similarity of a page's snapshots over time: Liu, Zhang and Li 2018, eqs. (3) to (7).

use super::series::{SnapshotSeries, in_both};

/// Eq. (3): the share of the items of either snapshot that both show; 1 for two empty snapshots.
fn similarity(a: &[u32], b: &[u32]) -> f64 {
    let both = in_both(a, b);
    let either = a.len() + b.len() - both;
    if either == 0 { 1.0 } else { both as f64 / either as f64 }
}

/// Eq. (4): the similarity of every slot but the first to the previous one.
pub(super) fn similarity_series(series: &SnapshotSeries) -> Vec<f64> {
    (1..series.slots()).map(|slot| similarity(series.items_at(slot - 1), series.items_at(slot))).collect()
}

/// The time-aware similarity matrix M: symmetric, cells in 0 to 1, ones on the diagonal.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Matrix {
    size: usize,
    cells: Vec<f64>,
}

impl Matrix {
    /// Eqs. (5) and (6) from the similarity series of each period: products of the similarities between two slots,
    /// averaged over periods. Series of different lengths are cut to the shortest; without series the matrix is empty.
    pub fn chained(periods: &[Vec<f64>]) -> Self {
        let size = periods.iter().map(|period| period.len() + 1).min().unwrap_or(0);
        let product = |(i, j): (usize, usize)| {
            let (from, to) = (i.min(j), i.max(j));
            let products = periods.iter().map(|period| period[from..to].iter().product::<f64>());
            products.sum::<f64>() / periods.len() as f64
        };
        let cells = (0..size).flat_map(|i| (0..size).map(move |j| (i, j))).map(product);
        Self { size, cells: cells.collect() }
    }

    pub fn size(&self) -> usize {
        self.size
    }

    /// Both below [`Matrix::size`].
    pub fn at(&self, i: usize, j: usize) -> f64 {
        self.cells[i * self.size + j]
    }

    /// The submatrix of some slots, each below [`Matrix::size`].
    pub fn among(&self, slots: &[usize]) -> Self {
        let cells = slots.iter().flat_map(|&i| slots.iter().map(move |&j| self.at(i, j)));
        Self { size: slots.len(), cells: cells.collect() }
    }

    /// Eq. (7), summed over the plan (as printed the sums run over all slots, and all plans would be equal).
    pub fn cost(&self, plan: &[usize]) -> f64 {
        plan.iter().flat_map(|&i| plan.iter().map(move |&j| self.at(i, j))).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn snapshots_are_alike_by_what_they_share() {
        assert_eq!(similarity(&[1, 2, 3], &[2, 3, 4]), 0.5);
        assert_eq!(similarity(&[1], &[2]), 0.0);
        assert_eq!(similarity(&[], &[1]), 0.0);
        assert_eq!(similarity(&[], &[]), 1.0);
        // Table 3: 2017-11-03 to 2017-11-05.
        let table = SnapshotSeries::new(vec![(4..=8).collect(), (4..=9).collect(), (4..=9).collect()]);
        assert_eq!(similarity_series(&table), [5.0 / 6.0, 1.0]);
    }

    #[test]
    fn products_come_before_the_mean() {
        let matrix = Matrix::chained(&[vec![1.0, 0.5, 0.2], vec![0.0, 0.5, 0.4]]);
        assert_eq!(matrix.size(), 4);
        assert_eq!(matrix.at(0, 1), 0.5);
        // The product of the means would be 0.25 for both.
        assert_eq!(matrix.at(0, 2), 0.25);
        assert!((matrix.at(1, 3) - (0.1 + 0.2) / 2.0).abs() < 1e-12);
        assert!((matrix.at(0, 3) - 0.1 / 2.0).abs() < 1e-12);
        assert_eq!(matrix.at(3, 0), matrix.at(0, 3));
        assert_eq!(matrix.at(2, 2), 1.0);
        assert_eq!(matrix.cost(&[0, 1]), 3.0);
        assert_eq!(matrix.among(&[0, 2]).cost(&[0, 1]), matrix.cost(&[0, 2]));
        assert_eq!(Matrix::chained(&[]).size(), 0);
    }
}
