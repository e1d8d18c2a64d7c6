//! Closed-form instants of a day's visits, in hours: evenly spaced, or dividing the area under a profile equally.

use super::{Horizon, Profile};

/// Evenly spaced: including the gaps at both ends of the day, or the one over midnight.
pub(super) fn even(visits: usize, horizon: Horizon) -> Vec<f64> {
    let count = visits as f64;
    let at = |visit: usize| match horizon {
        Horizon::Day => (visit + 1) as f64 / (count + 1.0),
        Horizon::Week => (visit as f64 + 0.5) / count,
    };
    (0..visits).map(|visit| 24.0 * at(visit)).collect()
}

/// The boundaries of visits + 1 equal areas: algorithm BRA. As printed it cannot pass two boundaries in one hour, and
/// it compares before it adds the hour; here a boundary is the intended quantile.
pub(super) fn equal_areas(profile: &Profile, visits: usize) -> Vec<f64> {
    (1..=visits).map(|visit| profile.quantile(visit as f64 / (visits as f64 + 1.0))).collect()
}

/// The midpoints of equal areas, so that the gap over midnight is like the others.
pub(super) fn middles(profile: &Profile, visits: usize) -> Vec<f64> {
    (0..visits).map(|visit| profile.quantile((visit as f64 + 0.5) / visits as f64)).collect()
}
