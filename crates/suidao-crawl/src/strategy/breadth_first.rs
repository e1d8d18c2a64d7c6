//! Breadth-first: in order of discovery. The baseline that knows nothing of the topic.

use suidao_page::model::{Lane, Place, Priority, Tunnel, Verdict};

use super::{Strategy, Visit};

#[derive(Clone, Copy, Debug, Default)]
pub struct BreadthFirst;

impl Strategy for BreadthFirst {
    fn judge(&self, visit: &Visit) -> Vec<Verdict> {
        // One rank for all: the tie-break, order of discovery, is the order.
        let place = Place { lane: Lane::MAIN, priority: Priority::new(1.0), trail: visit.trail(Tunnel::Unbounded) };
        vec![Verdict::Follow(place); visit.links.len()]
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{links, places, visit};
    use super::*;

    #[test]
    fn every_link_waits_in_one_line() {
        let links = links(&[0.9, 0.0]);
        let verdicts = BreadthFirst.judge(&visit(0.0, Tunnel::Unbounded, &links));
        assert_eq!(places(&verdicts), [Some((0, 1.0, Tunnel::Unbounded)); 2]);
    }
}
