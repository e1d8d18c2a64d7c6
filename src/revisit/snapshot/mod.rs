//! On which days of a month to look at a listing page: Liu, Zhang and Li 2018 (基于 Hadoop 的分布式并行增量爬虫技术研究), section 2.3,
//! and the dynamic programme that its quadratic problem stands for.

mod credibility;
mod dynamic;
mod exhaustive;
mod increment;
mod measure;
mod miqp;
mod rounds;
mod series;
mod similarity;

use xxhash_rust::xxh3::xxh3_64_with_seed;

pub use exhaustive::enumerate;
pub use increment::{Increment, Reading};
pub use measure::Measure;
pub use miqp::{local_search, solve};
pub use series::Series;
pub use similarity::{Matrix, similarity, similarity_series};

/// How a plan is made.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Method {
    /// The most items found in training, whether items come back or not; see [`enumerate`] for all plans looked at one by one
    Exhaustive,
    /// The least sum of similarities between visits, eqs. (7) to (10); see [`solve`]
    Miqp,
    /// The most items found in training, each counted once more by `freshness` (at least 0) if it is found on its first
    /// stamp; exact where items are shown at stamps in a row
    Dynamic {
        /// What it is worth that an item is found on the stamp it appears at, beside finding it: 0 is accuracy alone
        freshness: f64,
    },
    /// The same, and training is trusted as far as its periods agree: stamps differ by what they differ in again and again
    /// (Bühlmann 1967), and for the rest visits count by their distance from the one before
    Credible {
        /// As in [`Method::Dynamic`]
        freshness: f64,
    },
    /// The same for a plan that is repeated period after period: no visit is the first. Training periods must follow one
    /// another and number items alike
    Repeated {
        /// As in [`Method::Dynamic`]
        freshness: f64,
    },
    /// A visit every `n / f` stamps, from the first
    Uniform,
    /// Any plan is as likely
    Random,
}

/// The stamps (from 0, ascending) at which to visit a page `f` times in a period, learnt from periods with a visit at every
/// stamp. With no more stamps than visits, all stamps. Periods of different lengths are planned by the stamps that all of them
/// have; no periods give no stamps. `seed` is for [`Method::Random`], and for [`Method::Miqp`] above 30 stamps.
pub fn plan(training: &[Series], f: usize, method: Method, seed: u64) -> Vec<usize> {
    let stamps = training.iter().map(Series::stamps).min().unwrap_or(0);
    if f == 0 || f >= stamps {
        return (0..f.min(stamps)).collect();
    }
    match method {
        Method::Exhaustive => exhaustive::plan(training, stamps, f),
        Method::Miqp => {
            let periods: Vec<Vec<f64>> = training.iter().map(similarity_series).collect();
            solve(&Matrix::chained(&periods), f, seed)
        }
        Method::Dynamic { freshness } => dynamic::Gains::of(training, stamps, freshness).plan(f),
        Method::Credible { freshness } => dynamic::Gains::of(training, stamps, freshness).credible(training).plan(f),
        Method::Repeated { freshness } => rounds::Rounds::of(training, stamps, freshness).plan(f),
        Method::Uniform => (0..f).map(|visit| visit * stamps / f).collect(),
        Method::Random => at_random(stamps, f, seed, 0),
    }
}

/// The `nth` of the random plans of a seed.
fn at_random(stamps: usize, f: usize, seed: u64, nth: u64) -> Vec<usize> {
    let lot = |&stamp: &usize| xxh3_64_with_seed(&[nth.to_le_bytes(), (stamp as u64).to_le_bytes()].concat(), seed);
    let mut plan: Vec<usize> = (0..stamps).collect();
    plan.sort_by_cached_key(lot);
    plan.truncate(f);
    plan.sort_unstable();
    plan
}

#[cfg(test)]
mod tests;
