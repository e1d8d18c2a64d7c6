//! What the papers claim, measured on generated data: nothing here is part of a crawl. Each is run by a bench, and what came of
//! it stands in docs/.

pub mod forum;
pub mod freshness;
pub mod plans;
pub mod table7;
