//! Which worker crawls which partition: rendezvous hashing (Thaler, Ravishankar 1998) with bounded loads (Mirrokni,
//! Thorup, Zadimoghaddam 2018). A worker that joins or leaves moves only its share of the partitions. The result
//! depends on the names of the workers alone, so all workers that see the same members agree without a coordinator.

use xxhash_rust::xxh3::xxh3_64_with_seed;

/// No worker gets more than this multiple of an even load, rounded up.
const LOAD: f64 = 1.25;

/// The worker of each partition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assignment {
    workers: Vec<String>,
    /// By partition; a position in `workers`.
    owners: Vec<usize>,
}

impl Assignment {
    /// Assigns partitions 0 to `partitions` - 1 to these workers, whose order does not matter.
    pub fn new(partitions: u32, workers: impl IntoIterator<Item = String>) -> Self {
        let mut workers: Vec<String> = workers.into_iter().collect();
        workers.sort();
        workers.dedup();
        let even = f64::from(partitions) / workers.len() as f64;
        let most = (LOAD * even).ceil() as u32;
        let mut loads = vec![0; workers.len()];
        let owner = |partition: u32| {
            let free = (0..workers.len()).filter(|worker| loads[*worker] < most);
            let best = free.max_by_key(|worker| weight(partition, &workers[*worker]))?;
            loads[best] += 1;
            Some(best)
        };
        let owners = (0..partitions).map_while(owner).collect();
        Self { workers, owners }
    }

    /// The partitions of a worker, in order.
    pub fn of<'a>(&'a self, worker: &'a str) -> impl Iterator<Item = u32> + 'a {
        (0..)
            .zip(&self.owners)
            .filter(move |(_, owner)| self.workers[**owner] == worker)
            .map(|(partition, _)| partition)
    }
}

fn weight(partition: u32, worker: &str) -> u64 {
    xxh3_64_with_seed(worker.as_bytes(), u64::from(partition))
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Assignment {
        /// The worker of a partition; none without workers.
        fn owner(&self, partition: u32) -> Option<&str> {
            self.owners.get(partition as usize).map(|worker| self.workers[*worker].as_str())
        }
    }

    fn names(count: usize) -> impl Iterator<Item = String> {
        (0..count).map(|number| format!("worker-{number}"))
    }

    fn moved(before: &Assignment, after: &Assignment, partitions: u32) -> f64 {
        let moved = (0..partitions).filter(|partition| before.owner(*partition) != after.owner(*partition)).count();
        moved as f64 / f64::from(partitions)
    }

    #[test]
    fn no_worker_gets_more_than_a_quarter_above_its_share() {
        for workers in 1..=64 {
            let assignment = Assignment::new(64, names(workers));
            let loads: Vec<usize> = names(workers).map(|worker| assignment.of(&worker).count()).collect();
            assert_eq!(loads.iter().sum::<usize>(), 64);
            assert!(*loads.iter().max().unwrap() as f64 <= (80.0 / workers as f64).ceil(), "{workers}: {loads:?}");
        }
    }

    #[test]
    fn a_worker_that_joins_moves_little_more_than_its_share() {
        let (mut all, mut even) = (0.0, 0.0);
        for workers in 1..64 {
            let (before, after) = (Assignment::new(1024, names(workers)), Assignment::new(1024, names(workers + 1)));
            let share = 1.0 / (workers + 1) as f64;
            let moved = moved(&before, &after, 1024);
            assert!(moved < 2.0 * share + 0.02, "{workers}: {moved} moved, {share} is its share");
            (all, even) = (all + moved, even + share);
        }
        assert!(all < 1.5 * even, "{all} moved, {even} are the shares");
    }

    #[test]
    fn it_depends_on_the_names_alone() {
        let there = Assignment::new(64, names(5));
        assert_eq!(there, Assignment::new(64, names(5).collect::<Vec<_>>().into_iter().rev()));
        assert_eq!(there, Assignment::new(64, names(5).chain(names(3))));
        assert_eq!(Assignment::new(64, []).owner(0), None);
    }
}
