//! The expected values of priorities, for strategies whose priorities are not expected rewards: the share of relevant
//! pages among those fetched, by bins of half an octave, made monotone by pooling adjacent violators (Ayer et al. 1955;
//! Zadrozny, Elkan 2002).

use serde::{Deserialize, Serialize};

use suidao_page::model::{Priority, QueueEntry, QueueId};

/// Weight of the overall share in each bin.
const PRIOR: f32 = 4.0;

/// A fold of the fetched pages.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Calibration {
    queues: Vec<(QueueId, Vec<Bin>)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
struct Bin {
    number: u16,
    pages: f32,
    relevant: f32,
    /// The monotone share.
    expected_value: f32,
}

/// Exponent and first bit of the mantissa; 0 for what is not positive.
fn number(priority: Priority) -> u16 {
    let bits = priority.get().to_bits();
    if bits >> 31 == 0 { (bits >> 22) as u16 } else { 0 }
}

impl Calibration {
    pub fn add(&mut self, entry: QueueEntry, relevant: bool) {
        let at = match self.queues.iter().position(|(queue, _)| *queue == entry.queue) {
            Some(at) => at,
            None => {
                self.queues.push((entry.queue, Vec::new()));
                self.queues.len() - 1
            }
        };
        let bins = &mut self.queues[at].1;
        let number = number(entry.priority);
        let at = bins.partition_point(|bin| bin.number < number);
        if bins.get(at).is_none_or(|bin| bin.number != number) {
            bins.insert(at, Bin { number, pages: 0.0, relevant: 0.0, expected_value: 0.0 });
        }
        bins[at].pages += 1.0;
        bins[at].relevant += f32::from(u8::from(relevant));
        pool(bins);
    }

    /// The expected share of relevant pages; 0 before any page.
    pub fn expected_value(&self, queue: QueueId, priority: Priority) -> f32 {
        let Some((_, bins)) = self.queues.iter().find(|(known, _)| *known == queue) else { return 0.0 };
        let at = bins.partition_point(|bin| bin.number <= number(priority));
        bins.get(at.saturating_sub(1)).map_or(0.0, |bin| bin.expected_value)
    }
}

/// Sets the expected values: the monotone shares closest to the observed ones.
fn pool(bins: &mut [Bin]) {
    let (pages, relevant) =
        bins.iter().fold((0.0, 0.0), |(pages, relevant), bin| (pages + bin.pages, relevant + bin.relevant));
    let share = relevant / pages;
    // Blocks: weight, sum, number of bins.
    let mut blocks: Vec<(f32, f32, usize)> = Vec::with_capacity(bins.len());
    for bin in bins.iter() {
        let mut block = (bin.pages + PRIOR, bin.relevant + PRIOR * share, 1);
        while let Some(&(weight, sum, count)) =
            blocks.last().filter(|(weight, sum, _)| sum / weight >= block.1 / block.0)
        {
            block = (block.0 + weight, block.1 + sum, block.2 + count);
            blocks.pop();
        }
        blocks.push(block);
    }
    let worths = blocks.iter().flat_map(|(weight, sum, count)| std::iter::repeat_n(sum / weight, *count));
    for (bin, expected_value) in bins.iter_mut().zip(worths) {
        bin.expected_value = expected_value;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use suidao_page::model::PathState;

    #[test]
    fn worths_are_monotone_shares() {
        let entry = |priority: f32| QueueEntry {
            queue: QueueId::MAIN,
            priority: Priority::new(priority),
            path: PathState::SEED,
        };
        let mut calibration = Calibration::default();
        assert_eq!(calibration.expected_value(QueueId::MAIN, Priority::new(0.5)), 0.0);
        for n in 0..100 {
            calibration.add(entry(0.9), n % 2 == 0);
            calibration.add(entry(0.3), n % 4 == 0);
            // Better than a higher priority: both count as one.
            calibration.add(entry(0.1), n % 3 == 0);
            calibration.add(entry(-1.0), false);
        }
        let expected_value = |priority: f32| calibration.expected_value(QueueId::MAIN, Priority::new(priority));
        let shares = [-1.0, 0.0, 0.1, 0.3, 0.4, 0.9, 5.0].map(expected_value);
        assert!(shares.is_sorted(), "{shares:?}");
        assert!((shares[6] - 0.5).abs() < 0.02 && shares[0] < 0.02, "{shares:?}");
        assert!(shares[2] == shares[3] && (shares[2] - 0.29).abs() < 0.02, "{shares:?}");
    }
}
