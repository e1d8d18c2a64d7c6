//! How fresh a store is kept, by which policy, at equal numbers of requests: simulated days on facts of generated pages,
//! without their text. Freshness and age are integrated over the instants at which pages change, so nothing is sampled.

mod adaptive;
mod crawl_value;
mod ledger;
mod measures;
mod pages;
mod planned;
mod policy;
mod simulation;
mod sitemap;
mod strides;

pub use measures::{Gaps, Outcome, Window};
pub use pages::{Pages, PagesSpec};
pub use policy::{CrawlValue, Policy};
pub use simulation::simulate;
