//! Quality of a plan on a period: Liu, Zhang and Li 2018, definitions 7 and 8, and table 7. Plans are ascending slots;
//! visits at slots that the period does not have find nothing.

use super::series::SnapshotSeries;

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PlanMeasure {
    /// Eq. (1): items found, as a share of those that visits at every slot find; 0 to 1, and 1 if there are none.
    pub accuracy: f64,
    /// Eq. (2): items found at the slot at which they were first shown, as a share of the same.
    pub freshness: f64,
    /// The same with the next slot included: the paper's freshness of two days.
    pub two_day_freshness: f64,
    /// Share of the items read that were known already; 0 to 1.
    pub redundancy: f64,
}

impl PlanMeasure {
    pub fn of(period: &SnapshotSeries, plan: &[usize]) -> Self {
        let (mut items, mut found, mut same_day, mut two_days, mut read) = (0, 0, 0, 0, 0);
        let sightings = period.sightings();
        for sightings in sightings.chunk_by(|(a, _), (b, _)| a == b) {
            let (_, first) = sightings[0];
            let mut visits = sightings.iter().filter(|(_, slot)| plan.binary_search(slot).is_ok());
            items += 1;
            if let Some((_, slot)) = visits.next() {
                found += 1;
                same_day += usize::from(*slot == first);
                two_days += usize::from(*slot <= first + 1);
                read += 1 + visits.count();
            }
        }
        let share = |part: usize, whole: usize, none| if whole == 0 { none } else { part as f64 / whole as f64 };
        Self {
            accuracy: share(found, items, 1.0),
            freshness: share(same_day, items, 1.0),
            two_day_freshness: share(two_days, items, 1.0),
            redundancy: share(read - found, read, 0.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::series::tests::{contiguous, new_items};
    use super::*;

    /// Section 3.1.3, what daily visits find; and the plan for 11 visits, with days from 0.
    const NEWNUM: [usize; 30] =
        [64, 11, 12, 10, 8, 12, 0, 0, 8, 11, 9, 11, 9, 0, 0, 10, 9, 16, 11, 11, 0, 0, 14, 14, 12, 7, 11, 0, 0, 15];
    const PLAN: [usize; 11] = [0, 2, 5, 8, 12, 14, 18, 20, 24, 27, 29];

    #[test]
    fn the_printed_series_and_plan_give_what_the_paper_calls_freshness() {
        let month = contiguous(&NEWNUM, 4);
        assert_eq!(new_items(&month), NEWNUM);
        assert_eq!(NEWNUM.iter().sum::<usize>(), 295);
        let measure = PlanMeasure::of(&month, &PLAN);
        assert!(
            (measure.freshness - 143.0 / 295.0).abs() < 1e-12,
            "48.5 %, printed: 46 in training and 42 in the test"
        );
        assert!((measure.two_day_freshness - 225.0 / 295.0).abs() < 1e-12, "76.3 %, printed: 73");
    }

    #[test]
    fn an_item_missed_on_its_first_day_is_accurate_but_not_fresh() {
        let month = contiguous(&[2, 1, 1, 0], 3);
        // Slots 1 and 3: shown are {0, 1, 2} and {2, 3}.
        let measure = PlanMeasure::of(&month, &[1, 3]);
        assert_eq!(measure.accuracy, 1.0);
        assert_eq!(measure.freshness, 0.25);
        assert_eq!(measure.two_day_freshness, 1.0);
        assert_eq!(measure.redundancy, 1.0 / 5.0);
        assert_eq!(PlanMeasure::of(&month, &[3]).accuracy, 0.5);
    }

    #[test]
    fn a_period_without_items_and_a_plan_without_visits_are_measured_too() {
        let nothing = PlanMeasure { accuracy: 1.0, freshness: 1.0, two_day_freshness: 1.0, redundancy: 0.0 };
        assert_eq!(PlanMeasure::of(&SnapshotSeries::default(), &[]), nothing);
        assert_eq!(PlanMeasure::of(&contiguous(&[1], 1), &[]).accuracy, 0.0);
        assert_eq!(PlanMeasure::of(&contiguous(&[1], 1), &[0, 7]).accuracy, 1.0);
    }

    #[test]
    fn what_comes_back_is_found_once() {
        let month = SnapshotSeries::new(vec![vec![1], vec![], vec![1]]);
        let measure = PlanMeasure::of(&month, &[0, 2]);
        assert_eq!((measure.accuracy, measure.redundancy), (1.0, 0.5));
        assert_eq!(PlanMeasure::of(&month, &[2]).freshness, 0.0);
    }
}
