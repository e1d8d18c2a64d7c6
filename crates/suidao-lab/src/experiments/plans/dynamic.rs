//! The plan that finds the most, by dynamic programming: what the paper's quadratic problem stands for, without it.
//!
//! Where every item is shown at stamps in a row, an item of a visit is either on the visit before it or was never seen, so
//! what a plan finds is the sum of `|P_j \ P_i|` over its visits `j` and the visits `i` before them: a longest path, found in
//! O(f n²). Where items come back the sum counts them again, and is a bound from above.

use super::series::SnapshotSeries;

/// The plan of so many visits that finds the most; of equal ones the one whose first differing visit is earlier.
pub fn plan(training: &[SnapshotSeries], stamps: usize, visits: usize) -> Vec<usize> {
    // What a visit adds, by the visit before it: visits are numbered from 1, 0 is none.
    let gain = |before: usize, stamp: usize| -> usize {
        training.iter().map(|period| period.gain(before.checked_sub(1), stamp - 1)).sum()
    };
    let gains: Vec<Vec<usize>> = (0..=stamps)
        .map(|before| (0..=stamps).map(|stamp| if stamp > before { gain(before, stamp) } else { 0 }).collect())
        .collect();
    // `[steps][from]`: the most that so many visits after `from` add; none where there is no room for them.
    let mut ahead: Vec<Vec<Option<usize>>> = vec![vec![Some(0); stamps + 1]];
    for of in 0..visits {
        let most = |from: usize| (from + 1..=stamps).filter_map(|to| Some(gains[from][to] + ahead[of][to]?)).max();
        let next = (0..=stamps).map(most).collect();
        ahead.push(next);
    }
    let (mut plan, mut from) = (Vec::with_capacity(visits), 0);
    for rest in ahead[..visits].iter().rev() {
        let value = |to: &usize| rest[*to].map(|rest| gains[from][*to] + rest);
        from = (from + 1..=stamps).rev().max_by_key(value).expect("a plan has no more visits than there are stamps");
        plan.push(from - 1);
    }
    plan
}
