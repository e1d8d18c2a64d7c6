//! Visits per board and day, by weight (eq. 6).

use std::cmp::Reverse;

use ordered_float::OrderedFloat;

/// Distributes `total` visits by weight (at least 0), at least one each, in whole numbers by the largest remainder;
/// equally if all weights are 0. `total` must be at least the number of boards. `free`: further visits of each board
/// that count towards its share.
///
/// A board with a share below one visit gets one, and the others share the rest.
pub(super) fn allocate(weights: &[f64], total: u32, free: u32) -> Vec<u32> {
    let free = f64::from(free);
    let mut counts = vec![1; weights.len()];
    let mut order: Vec<usize> = (0..weights.len()).collect();
    order.sort_by(|&one, &other| weights[other].total_cmp(&weights[one]));
    // In ascending order, because giving one visit to a light board only reduces what remains for heavier ones.
    let mut left = f64::from(total) + free * weights.len() as f64;
    let mut sum: f64 = weights.iter().sum();
    while let Some(&lightest) = order.last().filter(|&&board| !(sum > 0.0 && weights[board] / sum * left >= 1.0 + free))
    {
        if sum <= 0.0 {
            break;
        }
        order.pop();
        left -= 1.0 + free;
        sum -= weights[lightest];
    }
    let share =
        |board: usize| if sum > 0.0 { weights[board] / sum * left - free } else { left / order.len() as f64 - free };
    let mut remainders: Vec<(Reverse<OrderedFloat<f64>>, usize)> = Vec::new();
    for &board in &order {
        let whole = share(board).floor().max(1.0);
        counts[board] = whole as u32;
        remainders.push((Reverse(OrderedFloat(share(board) - whole)), board));
    }
    remainders.sort_unstable();
    let missing = (total as usize).saturating_sub(counts.iter().map(|&count| count as usize).sum());
    for (_, board) in remainders.iter().cycle().take(missing) {
        counts[*board] += 1;
    }
    counts
}
