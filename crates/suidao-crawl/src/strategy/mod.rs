//! Strategies: the score of each link of a page.
//!
//! A strategy is a pure function from a [`PageVisit`] to one [`LinkDecision`] per link. The frontier orders the links,
//! and politeness decides when to fetch. A path's state is in the `PathState` that its links inherit. A strategy that
//! learns also folds events, and has no other memory.

mod best_first;
mod boards;
mod breadth_first;
mod context_graph;
mod dth;
mod fish_search;
mod opic;
mod pagerank;
pub mod port;
mod random;
pub mod scope;
mod shark_search;
mod static_tunnel;
mod tunnel;
mod url_weight;

use serde::de::IntoDeserializer;
use serde::{Deserialize, Serialize};
use strum::{Display, EnumMessage, IntoStaticStr, VariantArray};

pub use best_first::{BestFirst, Focus};
pub use boards::Boards;
pub use breadth_first::BreadthFirst;
pub use context_graph::ContextGraph;
pub use dth::{Dth, DthVariant};
pub use fish_search::FishSearch;
pub use opic::Opic;
pub use pagerank::PageRank;
pub use random::Random;
pub use shark_search::SharkSearch;
pub use static_tunnel::StaticTunnel;
pub use tunnel::TunnelSettings;
pub use url_weight::{UrlWeight, url_weight};

use suidao_page::model::{
    CrawlUrl, Event, ForumRole, LinkDecision, LinkScores, PathState, Priority, QueueEntry, QueueId, QueuePolicy,
    Region, Relevance, TunnelBudget, UrlId,
};

#[derive(Clone, Debug, PartialEq)]
pub struct LinkCandidate {
    pub url: CrawlUrl,
    /// The parts of eq. (3).
    pub evidence: LinkScores,
    /// Eq. (3).
    pub relevance: Relevance,
    pub region: Region,
    /// Hash of the tag names and classes from the root to it.
    pub path: u32,
    /// Its role in a forum, if its host is one.
    pub role: Option<ForumRole>,
}

/// A page just fetched: everything a strategy may use.
#[derive(Clone, Copy, Debug)]
pub struct PageVisit<'a> {
    pub id: UrlId,
    /// Eq. (1) of the page.
    pub relevance: Relevance,
    /// At or above the page threshold.
    pub relevant: bool,
    /// Its queue entry, with the state of the path to it.
    pub place: QueueEntry,
    /// Estimated distance from the topic in links, if the topic has layers and the page is in one.
    pub layer: Option<u8>,
    /// The link threshold of the lexicon, for eq. (3).
    pub link_threshold: Relevance,
    /// The page's links, each URL once.
    pub links: &'a [LinkCandidate],
}

impl PageVisit<'_> {
    /// The path state of every link of this page: one link deeper, and the number of off-topic pages since the last
    /// relevant one.
    pub fn path_state(&self, k: TunnelBudget) -> PathState {
        let link_path = self.place.path;
        PathState {
            depth: link_path.depth.saturating_add(1),
            hops: if self.relevant { 0 } else { link_path.hops.saturating_add(1) },
            k,
            inherited: if self.relevant { self.relevance } else { link_path.inherited },
        }
    }
}

pub trait Strategy: Send + Sync {
    /// One decision per link of the visit, in order.
    fn judge(&self, visit: &PageVisit) -> Vec<LinkDecision>;

    /// The queue entry of a queued URL found again; by default the better rank, the longer tunnel, the shorter path.
    fn merge(&self, old: QueueEntry, new: QueueEntry) -> QueueEntry {
        let better = if new.priority > old.priority { new } else { old };
        QueueEntry { path: merge_paths(old.path, new.path, better.path.inherited), ..better }
    }

    /// Itself, if it learns.
    fn learning(&self) -> Option<&dyn Learning> {
        None
    }

    fn learning_mut(&mut self) -> Option<&mut dyn Learning> {
        None
    }

    /// How the frontier serves the queues.
    fn queue_policy(&self) -> QueuePolicy {
        QueuePolicy::BestFirst
    }

    fn seed(&self, _url: &CrawlUrl) -> QueueEntry {
        QueueEntry { queue: QueueId::MAIN, priority: Priority::new(1.0), path: PathState::SEED }
    }
}

/// What a strategy has learnt from the events: its memory is a fold of them, so that a restart restores it. For such a
/// strategy every link of a page is logged with its scores, not only those that change the state.
pub trait Learning {
    /// Learns from an event. Adds URLs whose score may have risen to `risen`; links of the page just settled may be
    /// omitted.
    fn observe(&mut self, event: &Event, risen: &mut Vec<UrlId>);

    /// The current score of a queued URL: asked for when the URL is queued, has risen, or reaches the head.
    fn current_score(&self, id: UrlId) -> Priority;

    /// What it has learnt, in pieces for [`restore`](Learning::restore), in this order. Saves a restart from folding all
    /// events.
    fn snapshot(&self) -> Box<dyn Iterator<Item = Vec<u8>> + '_>;

    /// Restores a piece from the same strategy; false if it is invalid.
    fn restore(&mut self, piece: &[u8]) -> bool;

    /// Whether the restored pieces are complete for `urls` URLs.
    fn is_complete(&self, urls: usize) -> bool;
}

/// The longest tunnel and the shortest path of two ways to a URL.
fn merge_paths(old: PathState, new: PathState, inherited: Relevance) -> PathState {
    PathState { depth: old.depth.min(new.depth), hops: old.hops.min(new.hops), k: old.k.max(new.k), inherited }
}

#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    Serialize,
    Deserialize,
    Display,
    EnumMessage,
    IntoStaticStr,
    VariantArray,
)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum StrategyName {
    /// Learns which listing pages, links and hosts lead to the topic
    #[default]
    Tunnel,
    /// Dynamic tunnelling heuristic (Jiang, Zhu, Wang 2020); see strategy.dth.reading
    Dth,
    /// Best first, by the relevance of the linking page
    BestFirst,
    /// First links of relevant pages, fewer off topic (De Bra, Post 1994)
    FishSearch,
    /// By anchor, context and inherited score of the path (Hersovici et al. 1998)
    SharkSearch,
    /// Crosses at most k off-topic pages in a row (Bergmark, Lagoze, Sbityakov 2002)
    StaticTunnel,
    /// One queue per estimated distance from the topic (Diligenti et al. 2000)
    ContextGraph,
    /// PageRank over the frontier with a topical gate
    Pagerank,
    /// By cash that pages distribute to their links (Abiteboul, Preda, Cobena 2003)
    Opic,
    /// By directory depth of the URL (Tianwang)
    UrlWeight,
    /// In order of discovery
    BreadthFirst,
    /// In random order, as a lower bound
    Random,
}

/// `[strategy]` of the configuration: the strategy, and the parameters of each.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct StrategySettings {
    pub name: StrategyName,
    pub dth: Dth,
    pub tunnel: TunnelSettings,
    pub best_first: BestFirst,
    pub fish_search: FishSearch,
    pub shark_search: SharkSearch,
    pub static_tunnel: StaticTunnel,
    pub context_graph: ContextGraph,
    pub pagerank: PageRank,
    pub url_weight: UrlWeight,
    pub random: Random,
}

/// Why a text does not name a strategy.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoStrategy {
    #[error("unknown strategy {0}; choose one of {1}")]
    Name(String, String),
    #[error("strategy {0} takes no parameter {1} in its name; set it with --set strategy.{0}.KEY=VALUE")]
    Parameter(StrategyName, String),
}

impl NoStrategy {
    fn name(name: &str) -> Self {
        let names: Vec<String> = StrategyName::VARIANTS.iter().map(ToString::to_string).collect();
        Self::Name(name.to_owned(), names.join(", "))
    }
}

/// The variant written like this in a configuration.
fn variant<T: serde::de::DeserializeOwned>(word: &str) -> Option<T> {
    let word: serde::de::value::StrDeserializer<serde::de::value::Error> = word.into_deserializer();
    T::deserialize(word).ok()
}

impl StrategySettings {
    pub fn build(&self, page_threshold: Relevance) -> Box<dyn Strategy> {
        match self.name {
            StrategyName::Dth => Box::new(self.dth.clone()),
            StrategyName::Tunnel => Box::new(tunnel::TunnelSearch::new(self.tunnel.clone(), page_threshold)),
            StrategyName::BestFirst => Box::new(self.best_first.clone()),
            StrategyName::FishSearch => Box::new(self.fish_search.clone()),
            StrategyName::SharkSearch => Box::new(self.shark_search.clone()),
            StrategyName::StaticTunnel => Box::new(self.static_tunnel.clone()),
            StrategyName::ContextGraph => Box::new(self.context_graph.clone()),
            StrategyName::Pagerank => Box::new(self.pagerank.clone()),
            StrategyName::Opic => Box::new(Opic),
            StrategyName::UrlWeight => Box::new(self.url_weight.clone()),
            StrategyName::BreadthFirst => Box::new(BreadthFirst),
            StrategyName::Random => Box::new(self.random.clone()),
        }
    }

    /// These settings with a strategy given by its label ([`StrategySettings::label`]): its name, or its name and the
    /// parameter of its variant: `breadth-first`, `dth queue`, `best-first hard`.
    pub fn named(&self, text: &str) -> Result<Self, NoStrategy> {
        let (name, parameter) =
            text.trim().split_once(' ').map_or((text.trim(), None), |(name, p)| (name, Some(p.trim())));
        let mut settings = self.clone();
        settings.name = variant(name).ok_or_else(|| NoStrategy::name(name))?;
        let Some(word) = parameter else { return Ok(settings) };
        let wrong = || NoStrategy::Parameter(settings.name, word.to_owned());
        match settings.name {
            StrategyName::Dth => settings.dth.reading = variant(word).ok_or_else(wrong)?,
            StrategyName::BestFirst => settings.best_first.focus = variant(word).ok_or_else(wrong)?,
            StrategyName::StaticTunnel => settings.static_tunnel.k = word.parse().map_err(|_| wrong())?,
            StrategyName::Random => settings.random.seed = word.parse().map_err(|_| wrong())?,
            _ => return Err(wrong()),
        }
        Ok(settings)
    }

    /// The strategy with its variant: `dth link-scored`, `best-first hard`.
    pub fn label(&self) -> String {
        match self.name {
            StrategyName::Dth => format!("dth {}", self.dth.reading),
            StrategyName::BestFirst => format!("best-first {}", self.best_first.focus),
            StrategyName::StaticTunnel => format!("static-tunnel {}", self.static_tunnel.k),
            name => name.to_string(),
        }
    }
}

#[cfg(test)]
pub mod tests {
    use super::*;

    pub fn links(relevances: &[f32]) -> Vec<LinkCandidate> {
        let candidate = |(at, &relevance): (usize, &f32)| LinkCandidate {
            url: CrawlUrl::parse(&format!("http://h.cn/{at}")).unwrap(),
            evidence: LinkScores::default(),
            relevance: Relevance::new(relevance),
            region: Region::Content,
            path: 0,
            role: None,
        };
        relevances.iter().enumerate().map(candidate).collect()
    }

    /// A page with this relevance and k, and thresholds of 0.5 and 0.15.
    pub fn visit(relevance: f32, k: TunnelBudget, links: &[LinkCandidate]) -> PageVisit<'_> {
        PageVisit {
            id: UrlId(0),
            relevance: Relevance::new(relevance),
            relevant: relevance >= 0.5,
            place: QueueEntry {
                queue: QueueId::MAIN,
                priority: Priority::new(0.4),
                path: PathState { depth: 3, hops: 2, k, inherited: Relevance::new(0.6) },
            },
            layer: None,
            link_threshold: Relevance::new(0.15),
            links,
        }
    }

    /// Queue, priority and k of each decision; `None` for drops.
    pub fn places(verdicts: &[LinkDecision]) -> Vec<Option<(u8, f32, TunnelBudget)>> {
        let place = |verdict: &LinkDecision| match verdict {
            LinkDecision::Follow(place) => Some((place.queue.0, place.priority.get(), place.path.k)),
            LinkDecision::Drop(_) => None,
        };
        verdicts.iter().map(place).collect()
    }

    #[test]
    fn a_url_found_again_keeps_the_best_of_both_ways() {
        let place = |priority, hops, k| QueueEntry {
            queue: QueueId::MAIN,
            priority: Priority::new(priority),
            path: PathState { depth: hops + 1, hops, k, inherited: Relevance::new(priority) },
        };
        let merged = BreadthFirst.merge(place(0.2, 5, TunnelBudget::Left(9)), place(0.7, 6, TunnelBudget::Left(3)));
        assert_eq!((merged.priority.get(), merged.path.hops, merged.path.k), (0.7, 5, TunnelBudget::Left(9)));
        assert!((merged.path.inherited.get() - 0.7).abs() < 1e-6);
    }

    #[test]
    fn every_label_names_its_strategy() {
        for name in StrategyName::VARIANTS {
            let label = StrategySettings { name: *name, ..StrategySettings::default() }.label();
            assert_eq!(StrategySettings::default().named(&label).map(|found| found.label()), Ok(label));
        }
        for label in ["dth preempt", "dth queue", "dth interleave", "best-first hard", "static-tunnel 4"] {
            assert_eq!(StrategySettings::default().named(label).unwrap().label(), label);
        }
        let based = StrategySettings { dth: Dth { kdepth: 4, ..Dth::default() }, ..StrategySettings::default() };
        assert_eq!(based.named("dth queue").unwrap().dth.kdepth, 4, "what the name does not say stays");
    }

    #[test]
    fn what_names_no_strategy_is_told() {
        let told = |text: &str| StrategySettings::default().named(text).unwrap_err().to_string();
        assert!(told("deep-first").contains("unknown strategy deep-first; choose one of tunnel, dth"));
        assert!(told("dth quick").contains("dth takes no parameter quick"));
        assert!(told("breadth-first 3").contains("strategy.breadth-first.KEY"));
        assert!(told("").contains("choose one of tunnel"));
    }
}
