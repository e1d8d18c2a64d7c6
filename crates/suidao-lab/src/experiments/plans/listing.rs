//! Generated snapshots of a listing page: items appear by a pattern, stay for some days, and disappear.

use super::SnapshotSeries;
use suidao_page::seeded_rng::SeededRng;

/// New items of daily visits in the month of Liu, Zhang and Li 2018 (section 3.1.3, Newnum). The first day there has
/// all 64 items of the page; here it is the mean of the other days with any.
const PRINTED: [u32; 30] =
    [11, 11, 12, 10, 8, 12, 0, 0, 8, 11, 9, 11, 9, 0, 0, 10, 9, 16, 11, 11, 0, 0, 14, 14, 12, 7, 11, 0, 0, 15];

const SALT: u64 = 0x6c69_7374;

/// When items appear; 8 a day on average, a Poisson draw each day.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrivals {
    /// The paper's series, on the same days of every period: nothing on two days of seven
    Printed,
    /// Nothing on Saturdays and Sundays, equally many on other days. In periods that are not whole weeks the free days
    /// shift from one to the next
    Weekly,
    Smooth,
    /// Two a day, and fifty at once on a random day in eight
    Bursty,
}

#[derive(Clone, Debug, PartialEq)]
pub struct SimulatedListing {
    /// Determines everything, together with the other fields.
    pub seed: u64,
    pub arrivals: Arrivals,
    /// Mean days that an item is shown, at least 1: 1 plus a Poisson draw.
    pub life: f64,
    /// Probability that an item, each time it disappears, returns for as long again after 1 to 7 days; 0 to 1. If 0,
    /// items are shown on consecutive days.
    pub returning: f64,
    /// Days in a period, with a snapshot each.
    pub days: usize,
}

impl Default for SimulatedListing {
    /// The paper's month; items stay for four days.
    fn default() -> Self {
        Self { seed: 1, arrivals: Arrivals::Printed, life: 4.0, returning: 0.0, days: 30 }
    }
}

impl SimulatedListing {
    /// Consecutive periods. The first begins with a full page.
    pub fn periods(&self, count: usize) -> Vec<SnapshotSeries> {
        let days = (count * self.days) as i64;
        // Earlier items are gone, except for one in millions.
        let before = 28 + (8.0 * self.life) as i64;
        let mut snapshots = vec![Vec::new(); count * self.days];
        let mut items: u32 = 0;
        for day in -before..days {
            let mut rng = SeededRng::new(self.seed, SALT, day as u64);
            let mean = self.mean(day, &mut rng);
            for _ in 0..rng.poisson(mean) {
                let stays = 1 + rng.poisson(self.life - 1.0) as i64;
                let mut from = day;
                while from < days {
                    for on in from.max(0)..(from + stays).min(days) {
                        snapshots[on as usize].push(items);
                    }
                    from += stays + 1 + rng.below(7) as i64;
                    if !rng.chance(self.returning) {
                        break;
                    }
                }
                items += 1;
            }
        }
        let mut snapshots = snapshots.into_iter();
        (0..count).map(|_| SnapshotSeries::new(snapshots.by_ref().take(self.days).collect())).collect()
    }

    /// Mean number of new items on a day; the first day of the first period is 0.
    fn mean(&self, day: i64, rng: &mut SeededRng) -> f64 {
        match self.arrivals {
            Arrivals::Printed => {
                let of_period = day.rem_euclid(self.days.max(1) as i64) as usize;
                f64::from(PRINTED[of_period % PRINTED.len()])
            }
            // As in the paper's month, whose first day ends a free weekend.
            Arrivals::Weekly if matches!(day.rem_euclid(7), 0 | 6) => 0.0,
            Arrivals::Weekly => 11.2,
            Arrivals::Smooth => 8.0,
            Arrivals::Bursty => 2.0 + if rng.chance(0.125) { 48.0 } else { 0.0 },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::series::tests::new_items;
    use super::*;

    #[test]
    fn items_appear_as_printed_and_by_the_calendar() {
        let sum = |arrivals: Arrivals, day: usize| -> usize {
            let of = |seed| {
                new_items(&SimulatedListing { seed, arrivals, ..SimulatedListing::default() }.periods(2)[1])[day]
            };
            (0..50).map(of).sum()
        };
        assert_eq!(sum(Arrivals::Printed, 6) + sum(Arrivals::Printed, 28), 0);
        let of_the_18th = sum(Arrivals::Printed, 17) as f64 / 50.0;
        assert!((of_the_18th - 16.0).abs() < 2.0, "{of_the_18th}");
        // The second period of 30 days begins two days later in the week.
        assert_eq!(sum(Arrivals::Weekly, 4) + sum(Arrivals::Weekly, 5), 0);
        assert!(sum(Arrivals::Weekly, 6) > 0);
        assert!(sum(Arrivals::Smooth, 4) > 0 && sum(Arrivals::Bursty, 4) > 0);
    }

    #[test]
    fn items_stay_as_long_as_they_should_and_come_back_if_they_should() {
        let stays = |listing: &SimulatedListing| {
            let period = &listing.periods(1)[0];
            let gains: usize = (0..30).map(|day: usize| period.gain(day.checked_sub(1), day)).sum();
            let listed: usize = (0..30).map(|day| period.items_at(day).len()).sum();
            (gains, new_items(period).iter().sum::<usize>(), listed as f64 / 30.0)
        };
        let mut stored = 0.0;
        for seed in 0..20 {
            let once = SimulatedListing { seed, arrivals: Arrivals::Smooth, ..SimulatedListing::default() };
            let (gains, items, of_a_day) = stays(&once);
            assert_eq!(gains, items);
            stored += of_a_day / 20.0;
            let (gains, items, _) = stays(&SimulatedListing { returning: 0.5, ..once });
            assert!(gains > items);
        }
        // Little's law: 8 a day for 4 days.
        assert!((stored - 32.0).abs() < 1.5, "{stored}");
    }

    #[test]
    fn a_seed_gives_one_page_and_periods_go_on() {
        let listing = SimulatedListing::default();
        let three = listing.periods(3);
        assert_eq!(three, listing.periods(3));
        assert_ne!(three, SimulatedListing { seed: 2, ..listing.clone() }.periods(3));
        assert!(three.iter().all(|period| period.slots() == 30));
        let [last, next] = [three[0].items_at(29), three[1].items_at(0)];
        assert!(next.iter().any(|item| last.contains(item)), "what is shown stays over the period's end");
        assert_eq!(SimulatedListing { days: 0, ..listing }.periods(2).len(), 2);
    }
}
