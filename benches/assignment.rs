//! Share of the partitions that move when a worker joins: by rendezvous hashing with bounded loads, as the cluster
//! does; by the number of the partition modulo the number of workers; and the least possible, the share of the new
//! worker.
//!
//! ```sh
//! cargo bench --bench assignment
//! ```
#![allow(missing_docs)] // a bench may

use suidao::cluster::Assignment;

const PARTITIONS: u32 = 64;

fn names(count: u32) -> impl Iterator<Item = String> {
    (0..count).map(|number| format!("worker-{number}"))
}

fn main() {
    println!("| workers | rendezvous | modulo | share of the new worker | largest load |\n|---|---|---|---|---|");
    for (first, last) in [(1, 1), (2, 3), (4, 7), (8, 15), (16, 31), (32, 63)] {
        let (mut moved, mut modulo, mut least, mut load) = (0.0, 0.0, 0.0, 0.0_f64);
        let steps = f64::from(last - first + 1);
        for workers in first..=last {
            let (before, after) = (names(workers), names(workers + 1));
            let (before, after) = (Assignment::new(PARTITIONS, before), Assignment::new(PARTITIONS, after));
            let share = |count: usize| count as f64 / f64::from(PARTITIONS);
            moved += share((0..PARTITIONS).filter(|p| before.owner(*p) != after.owner(*p)).count());
            modulo += share((0..PARTITIONS).filter(|p| p % workers != p % (workers + 1)).count());
            least += 1.0 / f64::from(workers + 1);
            let most = names(workers).map(|name| before.of(&name).count()).max().unwrap_or(0);
            load = load.max(share(most) * f64::from(workers));
        }
        let percent = |sum: f64| format!("{:.0}%", 100.0 * sum / steps);
        println!("| {first} to {last} | {} | {} | {} | {load:.2} |", percent(moved), percent(modulo), percent(least));
    }
}
