//! What the link graph of a crawl shows: islands of relevant pages, the gates and tunnels that lead to them, the pages
//! with the highest PageRank, and how hosts are connected.
//!
//! [`gather()`] reads the graph and derives the facts; they print as text, and [`page()`] makes an HTML page of them.

mod dot;
mod drawing;
mod facts;
mod gather;
mod page;
mod text;

pub use dot::dot;
pub use facts::{Connection, GraphFacts, GraphHost, IslandFacts, LinkedPage, Path, TunnelShare};
pub use gather::gather;
pub use page::page;
