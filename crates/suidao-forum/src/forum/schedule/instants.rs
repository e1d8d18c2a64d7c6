//! Instants of a day's visits, in hours, by rules that need no search: even ones, and those that cut the area under a
//! profile into equal parts.

use super::{Horizon, Profile};

/// At even distances: within the day those to its ends are the same, round the clock those over midnight.
pub(super) fn even(visits: usize, horizon: Horizon) -> Vec<f64> {
    let count = visits as f64;
    let at = |visit: usize| match horizon {
        Horizon::Day => (visit + 1) as f64 / (count + 1.0),
        Horizon::Periodic => (visit as f64 + 0.5) / count,
    };
    (0..visits).map(|visit| 24.0 * at(visit)).collect()
}

/// The borders between visits + 1 equal areas: algorithm BRA. As printed it cannot cross two borders in one hour, and it
/// compares before it adds the hour; here a border is the quantile that it is meant to be.
pub(super) fn equal_areas(profile: &Profile, visits: usize) -> Vec<f64> {
    (1..=visits).map(|visit| profile.quantile(visit as f64 / (visits as f64 + 1.0))).collect()
}

/// The middles of so many equal areas: no gap over midnight is twice as large as the others.
pub(super) fn middles(profile: &Profile, visits: usize) -> Vec<f64> {
    (0..visits).map(|visit| profile.quantile((visit as f64 + 0.5) / visits as f64)).collect()
}
