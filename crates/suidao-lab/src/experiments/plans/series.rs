//! The items of a listing page at each slot of a period.

/// The items of one page at each slot (snapshot) of one period (in the paper the days of a month): sorted sets of item
/// numbers.
/// Numbers identify items within a period only.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SnapshotSeries {
    snapshots: Vec<Vec<u32>>,
}

impl SnapshotSeries {
    /// From snapshots in order of time; their items may be unordered and repeated.
    pub fn new(mut snapshots: Vec<Vec<u32>>) -> Self {
        for items in &mut snapshots {
            items.sort_unstable();
            items.dedup();
        }
        Self { snapshots }
    }

    pub fn slots(&self) -> usize {
        self.snapshots.len()
    }

    /// The items at a slot, ascending; none at a slot outside the period.
    pub fn items_at(&self, slot: usize) -> &[u32] {
        self.snapshots.get(slot).map_or(&[], Vec::as_slice)
    }

    /// Each item with the slots that show it, ascending by item and slot.
    pub(super) fn sightings(&self) -> Vec<(u32, usize)> {
        let of_slot = |(slot, items): (usize, &Vec<u32>)| items.iter().map(|&item| (item, slot)).collect::<Vec<_>>();
        let mut sightings: Vec<(u32, usize)> = self.snapshots.iter().enumerate().flat_map(of_slot).collect();
        sightings.sort_unstable();
        sightings
    }

    /// Items that a visit at `slot` finds in addition to one at `before`: `|P_slot \ P_before|`; without `before`,
    /// all items.
    pub fn gain(&self, before: Option<usize>, slot: usize) -> usize {
        let items = self.items_at(slot);
        items.len() - before.map_or(0, |before| in_both(self.items_at(before), items))
    }
}

pub(super) fn in_both(a: &[u32], b: &[u32]) -> usize {
    let (mut i, mut j, mut both) = (0, 0, 0);
    while let (Some(x), Some(y)) = (a.get(i), b.get(j)) {
        both += usize::from(x == y);
        i += usize::from(x <= y);
        j += usize::from(y <= x);
    }
    both
}

#[cfg(test)]
pub(super) mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Number of new items at each slot (Newnum of the paper's section 3.1.3). The sum is what visits at every slot
    /// find, `|N_T|`.
    pub fn new_items(period: &SnapshotSeries) -> Vec<usize> {
        let mut first = period.sightings();
        first.dedup_by_key(|(item, _)| *item);
        let mut count = vec![0; period.slots()];
        for (_, slot) in first {
            count[slot] += 1;
        }
        count
    }

    /// New items at each slot, each shown at `life` consecutive slots.
    pub fn contiguous(new_items: &[usize], life: usize) -> SnapshotSeries {
        let mut snapshots = vec![Vec::new(); new_items.len()];
        let mut next = 0;
        for (slot, &count) in new_items.iter().enumerate() {
            for item in next..next + count as u32 {
                for of_slot in snapshots.iter_mut().skip(slot).take(life) {
                    of_slot.push(item);
                }
            }
            next += count as u32;
        }
        SnapshotSeries::new(snapshots)
    }

    /// Periods in which every item is shown at consecutive slots.
    pub fn intervals(
        slots: std::ops::RangeInclusive<usize>,
    ) -> impl proptest::strategy::Strategy<Value = Vec<SnapshotSeries>> {
        slots.prop_flat_map(|slots| {
            let item = (0..slots, 1..6_usize);
            let period = proptest::collection::vec(item, 0..60).prop_map(move |items| {
                let mut snapshots = vec![Vec::new(); slots];
                for (item, (from, life)) in items.into_iter().enumerate() {
                    snapshots
                        .iter_mut()
                        .skip(from)
                        .take(life)
                        .for_each(|of_slot: &mut Vec<u32>| of_slot.push(item as u32));
                }
                SnapshotSeries::new(snapshots)
            });
            proptest::collection::vec(period, 1..4)
        })
    }

    #[test]
    fn an_item_is_new_once() {
        let series = SnapshotSeries::new(vec![vec![3, 1, 3], vec![1], vec![3, 4], vec![]]);
        assert_eq!(series.items_at(0), [1, 3]);
        assert_eq!(new_items(&series), [2, 0, 1, 0]);
        // A returned item is a gain after a visit that missed it.
        assert_eq!(series.gain(Some(1), 2), 2);
        assert_eq!(series.gain(None, 2), 2);
        assert_eq!(series.gain(Some(0), 2), 1);
        assert_eq!(series.gain(None, 9), 0);
    }

    proptest! {
        #[test]
        fn new_items_are_those_that_a_visit_at_every_slot_finds(periods in intervals(1..=12)) {
            for period in periods {
                let gains = (0..period.slots()).map(|slot| period.gain(slot.checked_sub(1), slot));
                prop_assert_eq!(new_items(&period), gains.collect::<Vec<_>>());
            }
        }
    }
}
