//! Medians with percentile bootstrap intervals: Efron, Bootstrap Methods, Annals of Statistics 7(1), 1979.

use xxhash_rust::xxh3::xxh3_64_with_seed;

use suidao_html::plot::Interval;

pub const RESAMPLES: usize = 1_000;

/// Fixed, so that the same runs give the same intervals.
const SEED: u64 = 1_979;

/// Cases drawn with replacement, [`RESAMPLES`] times. The statistic is the median over groups (tasks) of the medians of
/// their cases (seeds), so that a task with many seeds counts no more than one with few. Each resample draws groups,
/// then cases within each, as many as there are.
pub struct Bootstrap {
    groups: Vec<Vec<usize>>,
    /// For each resample the drawn groups, each as drawn cases.
    draws: Vec<Vec<Vec<usize>>>,
}

impl Bootstrap {
    pub fn new(groups: Vec<Vec<usize>>) -> Self {
        let mut turn = 0_u64;
        let mut below = |end: usize| {
            turn += 1;
            let bits = xxh3_64_with_seed(&turn.to_le_bytes(), SEED);
            ((u128::from(bits) * end as u128) >> 64) as usize
        };
        let draws = (0..RESAMPLES).map(|_| {
            let groups = (0..groups.len()).map(|_| {
                let group = &groups[below(groups.len())];
                (0..group.len()).map(|_| group[below(group.len())]).collect()
            });
            groups.collect()
        });
        let draws = draws.collect();
        Self { groups, draws }
    }

    /// The median of `values` (one per case) with its interval; `None` if no case has a value. Cases without a value
    /// are ignored.
    pub fn interval(&self, values: &[Option<f64>]) -> Option<Interval> {
        let mut scratch = Scratch::default();
        let median = scratch.statistic(&self.groups, values)?;
        let cases = self.groups.iter().flatten().filter(|&&case| values[case].is_some()).count();
        if cases < 2 {
            return Some(Interval { median, range: None });
        }
        let mut found: Vec<f64> = self.draws.iter().filter_map(|draw| scratch.statistic(draw, values)).collect();
        found.sort_unstable_by(f64::total_cmp);
        Some(Interval { median, range: Some((percentile(&found, 0.025), percentile(&found, 0.975))) })
    }
}

/// Reused buffers.
#[derive(Default)]
struct Scratch {
    cases: Vec<f64>,
    groups: Vec<f64>,
}

impl Scratch {
    fn statistic(&mut self, groups: &[Vec<usize>], values: &[Option<f64>]) -> Option<f64> {
        self.groups.clear();
        for group in groups {
            self.cases.clear();
            self.cases.extend(group.iter().filter_map(|&case| values[case]));
            self.groups.extend(median(&mut self.cases));
        }
        median(&mut self.groups)
    }
}

/// The mean of the middle two for an even number.
fn median(values: &mut [f64]) -> Option<f64> {
    if values.is_empty() {
        return None;
    }
    values.sort_unstable_by(f64::total_cmp);
    let half = values.len() / 2;
    Some(if values.len() % 2 == 1 { values[half] } else { f64::midpoint(values[half - 1], values[half]) })
}

/// The `p`-th quantile of sorted, non-empty values by linear interpolation (Hyndman and Fan 1996, type 7).
fn percentile(sorted: &[f64], p: f64) -> f64 {
    let at = p * (sorted.len() - 1) as f64;
    let below = at.floor() as usize;
    let above = (below + 1).min(sorted.len() - 1);
    sorted[below] + (at - below as f64) * (sorted[above] - sorted[below])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn some(values: &[f64]) -> Vec<Option<f64>> {
        values.iter().copied().map(Some).collect()
    }

    fn one_group(n: usize) -> Bootstrap {
        Bootstrap::new(vec![(0..n).collect()])
    }

    #[test]
    fn medians_and_percentiles_by_hand() {
        assert_eq!(median(&mut []), None);
        assert_eq!(median(&mut [3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(&mut [4.0, 1.0, 2.0, 3.0]), Some(2.5));
        assert!((percentile(&[0.0, 10.0, 20.0], 0.025) - 0.5).abs() < 1e-12);
        assert!((percentile(&[5.0], 0.975) - 5.0).abs() < 1e-12);
    }

    #[test]
    fn a_single_case_has_no_interval_and_none_no_median() {
        assert_eq!(one_group(1).interval(&some(&[3.0])), Some(Interval { median: 3.0, range: None }));
        assert_eq!(one_group(2).interval(&[None, Some(3.0)]), Some(Interval { median: 3.0, range: None }));
        assert_eq!(one_group(2).interval(&[None, None]), None);
    }

    #[test]
    fn the_same_cases_give_the_same_interval() {
        let values = some(&[1.0, 5.0, 2.0, 8.0, 3.0, 3.5]);
        let interval = one_group(6).interval(&values).unwrap();
        assert_eq!(Some(interval), one_group(6).interval(&values));
        let (low, high) = interval.range.unwrap();
        assert!(low >= 1.0 && low <= interval.median && interval.median <= high && high <= 8.0, "{interval:?}");
    }

    #[test]
    fn resamples_are_shared_so_a_difference_that_is_constant_stays() {
        let resamples = one_group(7);
        let values = [1.0, 9.0, 4.0, 4.0, 6.0, 2.0, 7.0];
        let one = resamples.interval(&some(&values)).unwrap();
        let other = resamples.interval(&some(&values.map(|value| value + 100.0))).unwrap();
        let ((low, high), (other_low, other_high)) = (one.range.unwrap(), other.range.unwrap());
        assert!((other_low - low - 100.0).abs() < 1e-9 && (other_high - high - 100.0).abs() < 1e-9);
    }

    /// The interval must contain the true median about 19 times in 20; 20 uniform draws per trial.
    #[test]
    fn intervals_cover_the_true_median() {
        let resamples = one_group(20);
        let mut covered = 0;
        for trial in 0..200_u64 {
            let draw = |at: u64| xxh3_64_with_seed(&at.to_le_bytes(), trial) as f64 / u64::MAX as f64;
            let values: Vec<_> = (0..20).map(|at| Some(draw(at))).collect();
            let (low, high) = resamples.interval(&values).unwrap().range.unwrap();
            covered += usize::from(low <= 0.5 && 0.5 <= high);
        }
        assert!((180..=199).contains(&covered), "{covered} of 200");
    }

    #[test]
    fn a_task_with_many_seeds_weighs_no_more_than_one_with_few() {
        let resamples = Bootstrap::new(vec![vec![0], vec![1], (2..12).collect()]);
        let values: Vec<_> = (0..12).map(|case| Some(if case < 2 { 1.0 } else { 9.0 })).collect();
        assert!((resamples.interval(&values).unwrap().median - 1.0).abs() < 1e-12);
    }
}
