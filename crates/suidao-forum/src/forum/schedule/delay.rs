//! Delay of posts until the next visit: eq. (8).

use super::{Horizon, Profile};

/// Integral of f(t) (to - t) from `from` to `to`, in hours: the delay of posts between two visits.
pub(super) fn waiting(profile: &Profile, from: f64, to: f64) -> f64 {
    let ((before, area_before), (_, area)) = (profile.integrals(from), profile.integrals(to));
    area - area_before - (to - from) * before
}

/// Mean delay of a post in hours under this profile if the board is visited at these instants (ascending, 0 to 24
/// hours); infinite without visits, unless the day ends with one.
pub fn mean_delay(profile: &Profile, instants: &[f64], horizon: Horizon) -> f64 {
    let (Some(first), Some(last)) = (instants.first(), instants.last()) else {
        return if horizon == Horizon::Day { waiting(profile, 0.0, 24.0) } else { f64::INFINITY };
    };
    let between: f64 = instants.windows(2).map(|pair| waiting(profile, pair[0], pair[1])).sum();
    between
        + match horizon {
            Horizon::Day => waiting(profile, 0.0, *first) + waiting(profile, *last, 24.0),
            Horizon::Week => waiting(profile, *last, first + 24.0),
        }
}
