//! Algorithm 2 of Liu, Zhang and Li 2018: stamps at which a page is much like the stamp before are left out, and the rest
//! is planned by the quadratic problem.

use super::miqp::solve;
use super::series::Series;
use super::similarity::{Matrix, similarity_series};

/// Algorithm 2 with its parameters. The paper's choice is 11 visits in 30 days and a similarity of 0.65.
///
/// As printed the matrix is chained from the similarities that were kept, so what changes on stamps left out is forgotten,
/// and a page with fewer stamps left than visits is never visited again. Here it is that of all stamps, rows and columns of
/// those left, and such a page is visited at all of them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Increment {
    /// Visits in a period, f.
    pub visits: usize,
    /// The maximum similarity, δ: stamps at least as similar to the one before are left out; above 1 none is.
    pub most_similar: f64,
}

impl Increment {
    /// The stamps that are left: the first, and those whose similarity to the one before, mean of the periods, is below the
    /// maximum.
    pub fn retained(&self, training: &[Series]) -> Vec<usize> {
        self.left(&periods(training))
    }

    /// When to visit the page. `seed` as for [`plan`](super::plan).
    pub fn plan(&self, training: &[Series], seed: u64) -> Vec<usize> {
        let periods = periods(training);
        let left = self.left(&periods);
        let matrix = Matrix::chained(&periods).among(&left);
        solve(&matrix, self.visits, seed).into_iter().map(|place| left[place]).collect()
    }

    fn left(&self, periods: &[Vec<f64>]) -> Vec<usize> {
        let Some(stamps) = periods.iter().map(|period| period.len() + 1).min() else { return Vec::new() };
        let mean = |stamp: usize| periods.iter().map(|period| period[stamp - 1]).sum::<f64>() / periods.len() as f64;
        (0..stamps).filter(|&stamp| stamp == 0 || mean(stamp) < self.most_similar).collect()
    }
}

/// The similarity series of each period; of none, if there is a period without stamps.
fn periods(training: &[Series]) -> Vec<Vec<f64>> {
    if training.iter().any(|period| period.stamps() == 0) {
        return Vec::new();
    }
    training.iter().map(similarity_series).collect()
}

#[cfg(test)]
mod tests {
    use super::super::measure::Measure;
    use super::super::series::tests::contiguous;
    use super::*;

    const PRINTED: Increment = Increment { visits: 11, most_similar: 0.65 };

    /// Eight items, of which so many are replaced at each stamp.
    fn replaced(counts: &[u32]) -> Series {
        let mut first = 0;
        let mut shown = vec![(0..8).collect::<Vec<u32>>()];
        for count in counts {
            first += count;
            shown.push((first..first + 8).collect());
        }
        Series::new(shown)
    }

    #[test]
    fn a_page_that_changes_on_ten_days_of_thirty_is_visited_on_these() {
        let mut new_items = [0; 30];
        new_items.iter_mut().step_by(3).for_each(|count| *count = 6);
        let months = vec![contiguous(&new_items, 3); 2];
        assert_eq!(PRINTED.retained(&months), (0..30).step_by(3).collect::<Vec<_>>());
        let plan = PRINTED.plan(&months, 1);
        assert_eq!(plan, PRINTED.retained(&months));
        assert_eq!(Measure::of(&months[0], &plan).accuracy, 1.0);
    }

    #[test]
    fn the_mean_of_the_months_decides_what_is_left() {
        let months = [replaced(&[0, 3, 3]), replaced(&[3, 0, 3])];
        assert_eq!(PRINTED.retained(&months), [0, 3], "means 0.73, 0.73, 0.45");
        assert_eq!(Increment { most_similar: 1.0, ..PRINTED }.retained(&months), [0, 1, 2, 3]);
        assert_eq!(PRINTED.plan(&[], 1), Vec::<usize>::new());
        assert_eq!(PRINTED.plan(&[Series::default()], 1), Vec::<usize>::new());
    }
}
