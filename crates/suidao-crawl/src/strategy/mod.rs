//! Strategies: the score of each link of a page.
//!
//! A strategy is a pure function from a [`PageVisit`] to one [`LinkDecision`](suidao_page::model::LinkDecision) per
//! link. The frontier orders the links, and politeness decides when to fetch. A path's state is in the `PathState` that
//! its links inherit. A strategy that learns also folds events, and has no other memory.

mod best_first;
mod boards;
mod breadth_first;
mod context_graph;
mod dth;
mod fish_search;
mod global_pagerank;
mod interface;
mod opic;
mod pagerank;
pub mod port;
mod random;
pub mod scope;
mod settings;
mod shark_search;
mod static_tunnel;
mod tunnel;
mod url_weight;

pub use best_first::{BestFirst, Focus};
pub use boards::Boards;
pub use breadth_first::BreadthFirst;
pub use context_graph::ContextGraph;
pub use dth::{Dth, DthVariant, KMode};
pub use fish_search::FishSearch;
pub use global_pagerank::GlobalPageRank;
pub use interface::{Learning, LinkCandidate, PageVisit, Strategy};
pub use opic::Opic;
pub use pagerank::{PageRank, PageRankVariant};
pub use random::Random;
pub use settings::{NoStrategy, StrategyName, StrategySettings};
pub use shark_search::SharkSearch;
pub use static_tunnel::StaticTunnel;
use tunnel::TunnelSearch;
pub use tunnel::TunnelSettings;
pub use url_weight::{UrlWeight, url_weight};
