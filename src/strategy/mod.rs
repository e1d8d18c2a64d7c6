//! Where to go next: given a page, what each of its links is worth.
//!
//! A strategy is a pure question. It sees a [`Visit`] and answers with a [`Verdict`] per link; the frontier orders, the
//! machine admits, the host decides when. It remembers nothing: what changes lives in the [`Trail`] a link takes over.

mod best_first;
mod breadth_first;
mod dth;
mod pagerank;
pub mod scope;
mod tunnel;
mod url_weight;

use serde::{Deserialize, Serialize};

pub use best_first::{BestFirst, Focus};
pub use breadth_first::BreadthFirst;
pub use dth::{Dth, Reading};
pub use pagerank::PageRank;
pub use tunnel::Tunnel as TunnelSettings;
pub use url_weight::{UrlWeight, url_weight};

use crate::model::{
    CrawlUrl, Discipline, Event, Evidence, Lane, Place, Priority, Region, Relevance, Trail, Tunnel, UrlId, Verdict,
};

/// A link as strategies see it.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidate {
    /// Where it leads.
    pub url: CrawlUrl,
    /// Eq. (3)'s parts.
    pub evidence: Evidence,
    /// Eq. (3).
    pub relevance: Relevance,
    /// Where on the page it stands.
    pub region: Region,
    /// Hash of the tag names and classes from the root to it.
    pub path: u32,
}

/// A page just read: all that a strategy may know.
#[derive(Clone, Copy, Debug)]
pub struct Visit<'a> {
    /// The page's URL by its number.
    pub id: UrlId,
    /// Eq. (1) of the page.
    pub relevance: Relevance,
    /// Whether that reaches the page threshold.
    pub relevant: bool,
    /// The place it was taken from, with the trail that led to it.
    pub place: Place,
    /// The link threshold of the lexicon, for eq. (3).
    pub link_threshold: Relevance,
    /// The page's links, each URL once.
    pub links: &'a [Candidate],
}

impl Visit<'_> {
    /// What every link of this page takes over, whatever the strategy: one link deeper, and the off-topic pages
    /// crossed since the last relevant one.
    #[must_use]
    pub fn trail(&self, k: Tunnel) -> Trail {
        let trail = self.place.trail;
        Trail {
            depth: trail.depth.saturating_add(1),
            hops: if self.relevant { 0 } else { trail.hops.saturating_add(1) },
            k,
            inherited: if self.relevant { self.relevance } else { trail.inherited },
        }
    }
}

/// Decides what the links of a page are worth.
pub trait Strategy: Send + Sync {
    /// One verdict per link of the visit, in its order.
    fn judge(&self, visit: &Visit) -> Vec<Verdict>;

    /// The place of a queued URL that was found again; by default the better rank, the longer tunnel, the shorter path.
    fn merge(&self, old: Place, new: Place) -> Place {
        let better = if new.priority > old.priority { new } else { old };
        Place { trail: merge_trails(old.trail, new.trail, better.trail.inherited), ..better }
    }

    /// Whether it learns from what it [`observe`](Strategy::observe)s: then every link of a page is told, with all that is
    /// known of it, and not only those that change the state.
    fn learns(&self) -> bool {
        false
    }

    /// Learns from what happened. What is remembered is a fold of the events, so that a restart learns it again. URLs
    /// whose worth may have risen go into `risen`; the links of the page just settled need not.
    fn observe(&mut self, _event: &Event, _risen: &mut Vec<UrlId>) {}

    /// The present worth of a URL that waits, where that changes while it waits: asked when it is queued, when it has
    /// risen, and when it comes to the head.
    fn appraise(&self, _id: UrlId) -> Option<Priority> {
        None
    }

    /// How the frontier serves the lanes.
    fn discipline(&self) -> Discipline {
        Discipline::BestFirst
    }

    /// Where a seed waits.
    fn seed(&self, _url: &CrawlUrl) -> Place {
        Place { lane: Lane::MAIN, priority: Priority::new(1.0), trail: Trail::SEED }
    }
}

/// The longest tunnel and the shortest path of two ways to a URL.
fn merge_trails(old: Trail, new: Trail, inherited: Relevance) -> Trail {
    Trail { depth: old.depth.min(new.depth), hops: old.hops.min(new.hops), k: old.k.max(new.k), inherited }
}

/// The strategies by name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum StrategyName {
    /// Dynamic tunnelling heuristic (Jiang, Zhu, Wang 2020), link-scored unless strategy.dth.reading says otherwise
    #[default]
    Dth,
    /// Learns which listings, links and hosts lead to the topic
    Tunnel,
    /// Best first by the relevance of the page a link was found on
    BestFirst,
    /// PageRank over the frontier with a topical gate
    Pagerank,
    /// In order of discovery
    BreadthFirst,
    /// By directory depth of the URL (Tianwang)
    UrlWeight,
}

impl std::fmt::Display for StrategyName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Dth => "dth",
            Self::Tunnel => "tunnel",
            Self::BestFirst => "best-first",
            Self::Pagerank => "pagerank",
            Self::BreadthFirst => "breadth-first",
            Self::UrlWeight => "url-weight",
        })
    }
}

/// `[strategy]` of the configuration: which one, and each one's parameters.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Settings {
    /// Which strategy drives the crawl.
    pub name: StrategyName,
    /// Parameters of `dth`.
    pub dth: Dth,
    /// Parameters of `tunnel`.
    pub tunnel: TunnelSettings,
    /// Parameters of `best-first`.
    pub best_first: BestFirst,
    /// Parameters of `pagerank`.
    pub pagerank: PageRank,
    /// Parameters of `url-weight`.
    pub url_weight: UrlWeight,
}

impl Settings {
    /// The strategy chosen.
    #[must_use]
    pub fn build(&self, page_threshold: Relevance) -> Box<dyn Strategy> {
        match self.name {
            StrategyName::Dth => Box::new(self.dth.clone()),
            StrategyName::Tunnel => Box::new(tunnel::Learner::new(self.tunnel.clone(), page_threshold)),
            StrategyName::BestFirst => Box::new(self.best_first.clone()),
            StrategyName::Pagerank => Box::new(self.pagerank.clone()),
            StrategyName::BreadthFirst => Box::new(BreadthFirst),
            StrategyName::UrlWeight => Box::new(self.url_weight.clone()),
        }
    }

    /// The strategy with what tells its variants apart: `dth link-scored`, `best-first hard`.
    #[must_use]
    pub fn label(&self) -> String {
        match self.name {
            StrategyName::Dth => format!("dth {}", self.dth.reading),
            StrategyName::BestFirst => format!("best-first {}", self.best_first.focus),
            name => name.to_string(),
        }
    }

    /// What is wrong with the parameters, if anything: the key and the sentence.
    ///
    /// # Errors
    /// The key and what it must be.
    pub fn check(&self) -> Result<(), (&'static str, &'static str)> {
        if self.dth.kdepth == 0 {
            return Err(("strategy.dth.kdepth", "must be at least 1"));
        }
        if self.dth.interleave == 0 {
            return Err(("strategy.dth.interleave", "must be at least 1"));
        }
        if !(0.0..1.0).contains(&self.pagerank.damping) {
            return Err(("strategy.pagerank.damping", "must lie in [0, 1)"));
        }
        if self.url_weight.at_random == 0 || self.url_weight.by_weight < self.url_weight.at_random {
            return Err(("strategy.url-weight.by-weight", "must be at least at-random, which must be at least 1"));
        }
        Ok(())
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Links with these relevances.
    pub(crate) fn links(relevances: &[f32]) -> Vec<Candidate> {
        let candidate = |(at, &relevance): (usize, &f32)| Candidate {
            url: CrawlUrl::parse(&format!("http://h.cn/{at}")).unwrap(),
            evidence: Evidence::default(),
            relevance: Relevance::new(relevance),
            region: Region::Content,
            path: 0,
        };
        relevances.iter().enumerate().map(candidate).collect()
    }

    /// A page of this relevance, reached with this k, seen with thresholds of 0.5 and 0.15.
    pub(crate) fn visit(relevance: f32, k: Tunnel, links: &[Candidate]) -> Visit<'_> {
        Visit {
            id: UrlId(0),
            relevance: Relevance::new(relevance),
            relevant: relevance >= 0.5,
            place: Place {
                lane: Lane::MAIN,
                priority: Priority::new(0.4),
                trail: Trail { depth: 3, hops: 2, k, inherited: Relevance::new(0.6) },
            },
            link_threshold: Relevance::new(0.15),
            links,
        }
    }

    /// Lane, priority and k of each verdict; `None` for drops.
    pub(crate) fn places(verdicts: &[Verdict]) -> Vec<Option<(u8, f32, Tunnel)>> {
        let place = |verdict: &Verdict| match verdict {
            Verdict::Follow(place) => Some((place.lane.0, place.priority.get(), place.trail.k)),
            Verdict::Drop(_) => None,
        };
        verdicts.iter().map(place).collect()
    }

    #[test]
    fn a_url_found_again_keeps_the_best_of_both_ways() {
        let place = |priority, hops, k| Place {
            lane: Lane::MAIN,
            priority: Priority::new(priority),
            trail: Trail { depth: hops + 1, hops, k, inherited: Relevance::new(priority) },
        };
        let merged = BreadthFirst.merge(place(0.2, 5, Tunnel::Left(9)), place(0.7, 6, Tunnel::Left(3)));
        assert_eq!((merged.priority.get(), merged.trail.hops, merged.trail.k), (0.7, 5, Tunnel::Left(9)));
        assert!((merged.trail.inherited.get() - 0.7).abs() < 1e-6);
    }
}
