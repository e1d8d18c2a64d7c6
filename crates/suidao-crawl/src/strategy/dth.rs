//! DTH, the dynamic tunnelling heuristic (动态隧道技术): Jiang Kun, Zhu Lei, Wang Yichuan, Computer Systems &
//! Applications 29(3), 2020, Fig. 4. The strategy the crawler is named after.
//!
//! ```text
//! page relevant:             links get pv = Sim(page), k = ∞
//! off topic, k = ∞:          links get pv = 0, k = kdepth - 1
//! off topic, 0 < k < ∞:      a link with R(link) >= τ_link keeps k, any other gets k - 1; pv = 0
//! off topic, k = 0:          its links are dropped
//! ```
//! pv = 0 read literally never lets a tunnel run, since the queue is never empty: how the paper's "depth-first within
//! a tunnel" and "breadth-first among equals" go together is left open. The four [`Reading`]s are the four ways out.

use serde::{Deserialize, Serialize};

use suidao_page::model::{Discipline, Lane, Place, Priority, Refusal, Tunnel, Verdict};

use super::{Strategy, Visit};

/// How links inside a tunnel are queued.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reading {
    /// On a stack that goes before the queue.
    Preempt,
    /// In the queue with pv = 0: behind every link of a relevant page.
    Queue,
    /// In the queue with pv = R(link), eq. (3).
    #[default]
    LinkScored,
    /// On a stack that gets one turn after so many of the queue: the most faithful.
    Interleave,
}

impl std::fmt::Display for Reading {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Preempt => "preempt",
            Self::Queue => "queue",
            Self::LinkScored => "link-scored",
            Self::Interleave => "interleave",
        })
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Dth {
    /// How links inside a tunnel are queued.
    pub reading: Reading,
    /// Length of a tunnel none of whose links promises anything; the paper's 12.
    pub kdepth: u8,
    /// With `interleave`: turns of the queue for one of the stack.
    pub interleave: u32,
}

impl Default for Dth {
    fn default() -> Self {
        Self { reading: Reading::LinkScored, kdepth: 12, interleave: 4 }
    }
}

impl Strategy for Dth {
    fn judge(&self, visit: &Visit) -> Vec<Verdict> {
        if visit.relevant {
            let place = Place {
                lane: Lane::MAIN,
                priority: Priority::new(visit.relevance.get()),
                trail: visit.trail(Tunnel::Unbounded),
            };
            return vec![Verdict::Follow(place); visit.links.len()];
        }
        let k = visit.place.trail.k;
        let tunnel = |link: &super::Candidate| {
            let left = match k {
                Tunnel::Left(0) => return Verdict::Drop(Refusal::TunnelEnd),
                // No link is tested at the entry of a tunnel.
                Tunnel::Unbounded => self.kdepth - 1,
                Tunnel::Left(left) if link.relevance >= visit.link_threshold => left,
                Tunnel::Left(left) => left - 1,
            };
            let (lane, priority) = match self.reading {
                Reading::Queue => (Lane::MAIN, 0.0),
                Reading::LinkScored => (Lane::MAIN, link.relevance.get()),
                // On the stack the children of one page go by R.
                Reading::Preempt | Reading::Interleave => (Lane::TUNNEL, link.relevance.get()),
            };
            let trail = visit.trail(Tunnel::Left(left));
            Verdict::Follow(Place { lane, priority: Priority::new(priority), trail })
        };
        visit.links.iter().map(tunnel).collect()
    }

    fn merge(&self, old: Place, new: Place) -> Place {
        // The main lane goes before the stack, whatever the numbers say: they mean different things.
        let better = if (new.lane.0, std::cmp::Reverse(new.priority)) < (old.lane.0, std::cmp::Reverse(old.priority)) {
            new
        } else {
            old
        };
        Place { trail: super::merge_trails(old.trail, new.trail, better.trail.inherited), ..better }
    }

    fn discipline(&self) -> Discipline {
        match self.reading {
            Reading::Preempt => Discipline::Preempt,
            Reading::Queue | Reading::LinkScored => Discipline::BestFirst,
            Reading::Interleave => Discipline::Interleave(self.interleave),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{links, places, visit};
    use super::*;
    use Tunnel::{Left, Unbounded};

    fn judge(reading: Reading, relevance: f32, k: Tunnel) -> Vec<Option<(u8, f32, Tunnel)>> {
        let links = links(&[0.0, 0.15, 0.1499]);
        places(&Dth { reading, ..Dth::default() }.judge(&visit(relevance, k, &links)))
    }

    #[test]
    fn a_relevant_page_ends_the_tunnel() {
        for reading in [Reading::Preempt, Reading::Queue, Reading::LinkScored, Reading::Interleave] {
            assert_eq!(judge(reading, 0.75, Left(0)), [Some((0, 0.75, Unbounded)); 3]);
        }
    }

    #[test]
    fn the_first_off_topic_page_opens_a_tunnel_without_testing_links() {
        assert_eq!(judge(Reading::Queue, 0.1, Unbounded), [Some((0, 0.0, Left(11))); 3]);
    }

    #[test]
    fn promising_links_keep_k_and_others_use_it_up() {
        let expected = [Some((0, 0.0, Left(4))), Some((0, 0.15, Left(5))), Some((0, 0.1499, Left(4)))];
        assert_eq!(judge(Reading::LinkScored, 0.1, Left(5)), expected);
        let stacked = [Some((1, 0.0, Left(0))), Some((1, 0.15, Left(1))), Some((1, 0.1499, Left(0)))];
        assert_eq!(judge(Reading::Interleave, 0.1, Left(1)), stacked);
    }

    #[test]
    fn at_k_0_the_links_are_dropped() {
        assert_eq!(judge(Reading::Preempt, 0.1, Left(0)), [None; 3]);
    }

    #[test]
    fn hops_count_the_off_topic_pages_of_the_tunnel() {
        let links = links(&[0.5]);
        let hops = |relevance| match Dth::default().judge(&visit(relevance, Left(5), &links))[0] {
            Verdict::Follow(place) => (place.trail.depth, place.trail.hops),
            Verdict::Drop(_) => panic!("dropped"),
        };
        assert_eq!(hops(0.1), (4, 3));
        assert_eq!(hops(0.9), (4, 0));
    }

    #[test]
    fn the_queue_outranks_the_stack() {
        let place = |lane, priority| Place {
            lane,
            priority: Priority::new(priority),
            trail: visit(0.0, Left(3), &[]).place.trail,
        };
        let merged = Dth::default().merge(place(Lane::TUNNEL, 0.9), place(Lane::MAIN, 0.5));
        assert_eq!((merged.lane, merged.priority.get()), (Lane::MAIN, 0.5));
    }
}
