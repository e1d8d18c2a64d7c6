//! On which days of a month to visit a listing page: Liu, Zhang and Li 2018 (基于 Hadoop 的分布式并行增量爬虫技术研究), section 2.3,
//! figs. 2 to 5 and table 6, and the dynamic program that its quadratic problem approximates. Run by
//! `benches/snapshots.rs`. A slot is one snapshot time of the recorded period, in the paper a day.

mod dynamic;
mod listing;
mod measure;
mod miqp;
mod series;
mod similarity;

pub use listing::{Arrivals, SimulatedListing};
pub use measure::PlanMeasure;
pub use miqp::{increment, retained};
pub use series::SnapshotSeries;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SnapshotPlan {
    /// The least sum of similarities between visits, eqs. (7) to (10).
    Miqp,
    /// The most items found in training; exact if items are shown at consecutive slots.
    Dynamic,
    /// A visit every `n / f` slots, from the first.
    Uniform,
}

/// The slots (from 0, ascending) at which to visit a page `f` times in a period, learned from periods with a visit at
/// every slot; all slots if there are at most `f`. Periods of different lengths are cut to the shortest; without
/// periods the plan is empty. `seed` is for [`SnapshotPlan::Miqp`].
pub fn plan(training: &[SnapshotSeries], f: usize, method: SnapshotPlan, seed: u64) -> Vec<usize> {
    let slots = training.iter().map(SnapshotSeries::slots).min().unwrap_or(0);
    if f == 0 || f >= slots {
        return (0..f.min(slots)).collect();
    }
    match method {
        SnapshotPlan::Miqp => increment(training, f, f64::INFINITY, seed),
        SnapshotPlan::Dynamic => dynamic::plan(training, slots, f),
        SnapshotPlan::Uniform => (0..f).map(|visit| visit * slots / f).collect(),
    }
}

#[cfg(test)]
mod tests;
