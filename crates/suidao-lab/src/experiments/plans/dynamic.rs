//! The optimal plan by dynamic programming: the problem that the paper's quadratic problem approximates.
//!
//! If every item is shown at consecutive slots, an item of a visit is either in the previous visit or was never seen.
//! So a plan finds the sum of `|P_j \ P_i|` over its visits `j` and their previous visits `i`: a longest path, found in
//! O(f n²). If items return, the sum counts them again and is an upper bound.

use super::series::SnapshotSeries;

/// The plan of `visits` visits that finds the most; of equal ones the first in lexicographic order.
pub fn plan(training: &[SnapshotSeries], slots: usize, visits: usize) -> Vec<usize> {
    // Gain of a visit, given the previous one: visits count from 1, 0 is none.
    let gain = |before: usize, slot: usize| -> usize {
        training.iter().map(|period| period.gain(before.checked_sub(1), slot - 1)).sum()
    };
    let gains: Vec<Vec<usize>> = (0..=slots)
        .map(|before| (0..=slots).map(|slot| if slot > before { gain(before, slot) } else { 0 }).collect())
        .collect();
    // `[steps][from]`: the maximum gain of that many visits after `from`; `None` if there is no room for them.
    let mut ahead: Vec<Vec<Option<usize>>> = vec![vec![Some(0); slots + 1]];
    for of in 0..visits {
        let most = |from: usize| (from + 1..=slots).filter_map(|to| Some(gains[from][to] + ahead[of][to]?)).max();
        let next = (0..=slots).map(most).collect();
        ahead.push(next);
    }
    let (mut plan, mut from) = (Vec::with_capacity(visits), 0);
    for rest in ahead[..visits].iter().rev() {
        let value = |to: &usize| rest[*to].map(|rest| gains[from][*to] + rest);
        from = (from + 1..=slots).rev().max_by_key(value).expect("a plan has no more visits than there are slots");
        plan.push(from - 1);
    }
    plan
}
