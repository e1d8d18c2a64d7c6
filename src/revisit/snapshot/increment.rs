//! Algorithm 2 of Liu, Zhang and Li 2018: stamps at which a page is much like the stamp before are left out, and the rest
//! is planned by the quadratic problem.

use super::miqp::solve;
use super::series::Series;
use super::similarity::{Matrix, similarity_series};

/// Which Algorithm 2.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reading {
    /// As printed: the matrix is chained from the similarities that were kept, so what changes on stamps left out is
    /// forgotten; and a page with fewer stamps left than visits is never visited again
    Letter,
    /// The matrix is that of all stamps, rows and columns of those left; a page with fewer stamps left than visits is
    /// visited at all of them
    #[default]
    Mended,
}

/// Algorithm 2 with its parameters. The paper's choice is 11 visits in 30 days and a similarity of 0.65.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Increment {
    /// Visits in a period, f.
    pub visits: usize,
    /// The maximum similarity, δ: stamps at least as similar to the one before are left out; above 1 none is.
    pub most_similar: f64,
    /// As printed or mended.
    pub reading: Reading,
}

impl Increment {
    /// The stamps that are left: the first, and those whose similarity to the one before, mean of the periods, is below the
    /// maximum.
    pub fn retained(&self, training: &[Series]) -> Vec<usize> {
        self.left(&periods(training))
    }

    /// When to visit the page; `None` if the algorithm gives it up. `seed` as for [`plan`](super::plan).
    pub fn plan(&self, training: &[Series], seed: u64) -> Option<Vec<usize>> {
        let periods = periods(training);
        let left = self.left(&periods);
        let matrix = match self.reading {
            Reading::Letter if left.len() < self.visits => return None,
            Reading::Letter => {
                let kept = |period: &Vec<f64>| left.iter().skip(1).map(|stamp| period[stamp - 1]).collect();
                Matrix::chained(&periods.iter().map(kept).collect::<Vec<_>>())
            }
            Reading::Mended => Matrix::chained(&periods).among(&left),
        };
        Some(solve(&matrix, self.visits, seed).into_iter().map(|place| left[place]).collect())
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

    const LETTER: Increment = Increment { visits: 11, most_similar: 0.65, reading: Reading::Letter };
    const MENDED: Increment = Increment { reading: Reading::Mended, ..LETTER };

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
    fn a_page_that_changes_on_ten_days_of_thirty_starves_by_the_letter() {
        let mut new_items = [0; 30];
        new_items.iter_mut().step_by(3).for_each(|count| *count = 6);
        let months = vec![contiguous(&new_items, 3); 2];
        assert_eq!(MENDED.retained(&months), (0..30).step_by(3).collect::<Vec<_>>());
        assert_eq!(LETTER.plan(&months, 1), None);
        let plan = MENDED.plan(&months, 1).unwrap();
        assert_eq!(plan, MENDED.retained(&months));
        assert_eq!(Measure::of(&months[0], &plan).accuracy, 1.0);
        // With as many visits as stamps left both do the same.
        let ten = Increment { visits: 10, ..LETTER };
        assert_eq!(ten.plan(&months, 1), Some(plan));
    }

    #[test]
    fn the_letter_forgets_what_changes_on_days_left_out() {
        // Eight slow days (similarities of 7/9), then three quick ones (0.6, 1/7, 5/11).
        let month = [replaced(&[1, 1, 1, 1, 1, 1, 1, 1, 2, 6, 3])];
        let three = Increment { visits: 3, ..LETTER };
        assert_eq!(three.retained(&month), [0, 9, 10, 11]);
        // As if stamp 9 were like the first by 0.6, which is its likeness to stamp 8.
        assert_eq!(three.plan(&month, 1).unwrap(), [0, 10, 11]);
        let plan = Increment { visits: 3, ..MENDED }.plan(&month, 1).unwrap();
        assert_eq!(plan, [0, 9, 11]);
        assert!(Measure::of(&month[0], &plan).accuracy > Measure::of(&month[0], &[0, 10, 11]).accuracy);
    }

    #[test]
    fn the_mean_of_the_months_decides_what_is_left() {
        let months = [replaced(&[0, 3, 3]), replaced(&[3, 0, 3])];
        assert_eq!(MENDED.retained(&months), [0, 3], "means 0.73, 0.73, 0.45");
        assert_eq!(Increment { most_similar: 1.0, ..MENDED }.retained(&months), [0, 1, 2, 3]);
        assert_eq!(MENDED.plan(&[], 1), Some(Vec::new()));
        assert_eq!(LETTER.plan(&[], 1), None);
        assert_eq!(MENDED.plan(&[Series::default()], 1), Some(Vec::new()));
        assert_eq!(Increment { visits: 0, ..LETTER }.plan(&[], 1), Some(Vec::new()));
    }
}
