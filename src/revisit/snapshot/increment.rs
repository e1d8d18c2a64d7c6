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
    #[must_use]
    pub fn retained(&self, training: &[Series]) -> Vec<usize> {
        self.left(&periods(training))
    }

    /// When to visit the page; `None` if the algorithm gives it up. `seed` as for [`plan`](super::plan).
    #[must_use]
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
