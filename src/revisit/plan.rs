//! One round: which pages are worth the requests there are. Apart from the running policy because a round ends: it ranks all
//! pages at one moment, exactly, and keeps nothing.

use ordered_float::OrderedFloat;
use rustc_hash::FxHashMap;

use super::Worth;
use crate::model::{HostId, UrlId};

/// A page that could be visited.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Choice {
    /// The page.
    pub page: UrlId,
    /// Its host.
    pub host: HostId,
    /// What makes a visit worth its request.
    pub worth: Worth,
    /// Day of the last visit.
    pub last: f64,
}

/// The `most` pages whose visits are worth most on the day `now`, with these values, best first and on ties in order of
/// discovery; at most `per_host` of one host. Pages not worth a visit at all are not among them.
#[must_use]
pub fn plan(pages: impl Iterator<Item = Choice>, now: f64, most: usize, per_host: Option<usize>) -> Vec<(UrlId, f64)> {
    let valued = pages.map(|choice| (choice.worth.value(now - choice.last), choice.page, choice.host));
    let mut ranked: Vec<(f64, UrlId, HostId)> = valued.filter(|(value, ..)| *value > 0.0).collect();
    let rank = |&(value, page, _): &(f64, UrlId, HostId)| (std::cmp::Reverse(OrderedFloat(value)), page);
    if per_host.is_none() && most < ranked.len() {
        ranked.select_nth_unstable_by_key(most, rank);
        ranked.truncate(most);
    }
    ranked.sort_unstable_by_key(rank);
    let mut taken: FxHashMap<HostId, usize> = FxHashMap::default();
    let allowed = |&(.., host): &(f64, UrlId, HostId)| {
        per_host.is_none_or(|cap| {
            let count = taken.entry(host).or_default();
            *count += 1;
            *count <= cap
        })
    };
    ranked.into_iter().filter(allowed).take(most).map(|(value, page, _)| (page, value)).collect()
}
