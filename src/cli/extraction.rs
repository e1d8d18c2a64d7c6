//! Extraction rules of the user, and how often they found something.

use std::path::Path;

use anyhow::{Context, Result};
use suidao::extract::Extractor;
use suidao::html::thousands;

/// Maximum number of lines of hit rates.
const LINES: usize = 20;

pub fn read(path: &Path) -> Result<Extractor> {
    let text = std::fs::read_to_string(path)
        .with_context(|| format!("cannot read the extraction rules {}; check the path", path.display()))?;
    Extractor::parse(&text).with_context(|| format!("invalid extraction rules {}", path.display()))
}

/// Prints how many pages of each host had a value, fields and hosts with the fewest first.
pub fn print_hit_rates(extractor: &Extractor) {
    let mut rates = extractor.hit_rates();
    rates.sort_by_key(|rate| (rate.hits * 1_000 / rate.pages.max(1), std::cmp::Reverse(rate.pages)));
    for rate in rates.iter().take(LINES) {
        errln!("{}: {} of {} pages of {}", rate.field, thousands(rate.hits), thousands(rate.pages), rate.host);
    }
    if rates.len() > LINES {
        errln!("{} more fields of hosts with higher hit rates", thousands((rates.len() - LINES) as u64));
    }
}
