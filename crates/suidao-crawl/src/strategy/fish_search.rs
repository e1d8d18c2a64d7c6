//! Fish-search: De Bra, Post 1994, as Hersovici et al. 1998 write it down: a school of fish that breeds where there is
//! food, the first children of a relevant page, and dies of hunger D links after it.
//!
//! ```text
//! page relevant:   its first α width links get 1, the others 0; depth D
//! off topic:       its first width links get 0.5, the others 0; depth of the page - 1
//! at depth 0:      the links of an off-topic page are dropped
//! found again:     the larger score, the larger depth
//! ```
//! The depth is the trail's k. A relevant page at depth 0 has its links followed, as De Bra and Post have it: finding
//! food is what resets the depth.

use serde::{Deserialize, Serialize};

use suidao_page::model::{CrawlUrl, Lane, Place, Priority, Refusal, Trail, Tunnel, Verdict};

use super::{Strategy, Visit};

/// α: how many times the width a relevant page's links are.
const ALPHA: f32 = 1.5;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct FishSearch {
    /// Links of an off-topic page that are taken before the rest.
    pub width: u32,
    /// D: how many links the school swims from a relevant page.
    pub depth: u8,
}

impl Default for FishSearch {
    fn default() -> Self {
        Self { width: 10, depth: 3 }
    }
}

impl Strategy for FishSearch {
    fn judge(&self, visit: &Visit) -> Vec<Verdict> {
        let depth = match visit.place.trail.k {
            _ if visit.relevant => self.depth,
            Tunnel::Unbounded => self.depth.saturating_sub(1),
            Tunnel::Left(0) => return vec![Verdict::Drop(Refusal::TunnelEnd); visit.links.len()],
            Tunnel::Left(left) => left - 1,
        };
        let (score, first) =
            if visit.relevant { (1.0, (ALPHA * self.width as f32) as usize) } else { (0.5, self.width as usize) };
        let place = |at: usize| Place {
            lane: Lane::MAIN,
            priority: Priority::new(if at < first { score } else { 0.0 }),
            trail: visit.trail(Tunnel::Left(depth)),
        };
        (0..visit.links.len()).map(|at| Verdict::Follow(place(at))).collect()
    }

    fn seed(&self, _url: &CrawlUrl) -> Place {
        let trail = Trail { k: Tunnel::Left(self.depth), ..Trail::SEED };
        Place { lane: Lane::MAIN, priority: Priority::new(1.0), trail }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{links, places, visit};
    use super::*;
    use Tunnel::Left;

    fn judge(relevance: f32, k: Tunnel) -> Vec<Option<(u8, f32, Tunnel)>> {
        let links = links(&[0.0; 5]);
        places(&FishSearch { width: 2, depth: 3 }.judge(&visit(relevance, k, &links)))
    }

    #[test]
    fn where_there_is_food_the_school_breeds() {
        let expected = [1.0, 1.0, 1.0, 0.0, 0.0].map(|score| Some((0, score, Left(3))));
        assert_eq!(judge(0.5, Left(1)), expected);
        assert_eq!(judge(0.5, Left(0)), expected, "food at the end of the way");
    }

    #[test]
    fn off_topic_it_thins_out_and_dies() {
        assert_eq!(judge(0.4, Left(3)), [0.5, 0.5, 0.0, 0.0, 0.0].map(|score| Some((0, score, Left(2)))));
        assert_eq!(judge(0.4, Left(1))[0], Some((0, 0.5, Left(0))));
        assert_eq!(judge(0.4, Left(0)), [None; 5]);
    }

    #[test]
    fn a_seed_starts_with_the_whole_depth() {
        let seed = FishSearch::default().seed(&CrawlUrl::parse("http://h.cn/").unwrap());
        assert_eq!((seed.priority.get(), seed.trail.k), (1.0, Left(3)));
    }
}
