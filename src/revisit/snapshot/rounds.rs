//! The plan that finds the most when it is repeated, period after period: the last visit of one is the visit before the first
//! of the next. (Counted as in the paper, within one period, a plan goes to the first and the last stamp; repeated, those are
//! two visits within a day.)

use super::credibility::credibility;
use super::dynamic::{ahead, way};
use super::series::{Series, in_both};

/// What a visit adds by stamp and distance from the visit before, in the mean over periods.
pub(super) struct Rounds {
    stamps: usize,
    /// `[stamp * stamps + distance - 1]`, distances 1 to `stamps`.
    cells: Vec<f64>,
}

impl Rounds {
    /// From periods that follow one another, items with the same numbers in all of them. Trusted as far as they agree, for
    /// the rest what visits at this distance add in the mean; and `freshness` times those that the stamp before did not show.
    pub fn of(training: &[Series], stamps: usize, freshness: f64) -> Self {
        let days = training.len() * stamps;
        let shown = |day: usize| training[day / stamps].shown(day % stamps);
        let gain = |day: usize, distance: usize| {
            let items = shown(day);
            (items.len() - in_both(shown(day - distance), items)) as f64
        };
        let daily = |period: usize| (1..stamps).map(|stamp| gain(period * stamps + stamp, 1)).collect();
        let trust = credibility(&(0..training.len()).map(daily).collect::<Vec<Vec<f64>>>());
        let mut cells = vec![0.0; stamps * stamps];
        for distance in 1..=stamps {
            let gains: Vec<f64> = (distance..days).map(|day| gain(day, distance)).collect();
            let mean = |gains: &[f64]| gains.iter().sum::<f64>() / gains.len() as f64;
            // No two stamps of a single period are a period apart: then as many as at the distance below.
            let overall =
                if gains.is_empty() { cells[..distance - 1].last().copied().unwrap_or(0.0) } else { mean(&gains) };
            for stamp in 0..stamps {
                let own: Vec<f64> = (stamp..days)
                    .step_by(stamps)
                    .filter(|day| *day >= distance)
                    .map(|day| gains[day - distance])
                    .collect();
                let own = if own.is_empty() { overall } else { mean(&own) };
                cells[stamp * stamps + distance - 1] = trust * own + (1.0 - trust) * overall;
            }
        }
        let fresh: Vec<f64> = (0..stamps).map(|stamp| freshness * cells[stamp * stamps]).collect();
        for (cells, fresh) in cells.chunks_mut(stamps).zip(fresh) {
            cells.iter_mut().for_each(|cell| *cell += fresh);
        }
        Self { stamps, cells }
    }

    fn at(&self, stamp: usize, distance: usize) -> f64 {
        self.cells[stamp * self.stamps + distance - 1]
    }

    /// The plan of `visits` (1 up to the number of stamps) that adds the most in a round; of equal ones the earliest.
    /// O(visits * stamps^3).
    pub fn plan(&self, visits: usize) -> Vec<usize> {
        let gain = |before: usize, stamp: usize| self.at(stamp, stamp - before);
        let mut best = (f64::NEG_INFINITY, Vec::new());
        for first in 0..=self.stamps - visits {
            let end = (0..self.stamps)
                .map(|last| if last < first { 0.0 } else { self.at(first, self.stamps - last + first) });
            let ahead = ahead(visits - 1, end.collect(), gain);
            if ahead[visits - 1][first] > best.0 {
                let plan = [first].into_iter().chain(way(&ahead, first, gain)).collect();
                best = (ahead[visits - 1][first], plan);
            }
        }
        best.1
    }
}
