//! Mirrors: two hosts with the same pages under the same paths: another name of one server, a copy, or a host with and
//! without `www.` (Bharat, Broder, Dean, Henzinger, "A comparison of techniques to find mirrored hosts on the WWW",
//! 2000).
//!
//! Neither of two mirrors is dropped: a page is fetched from the host on which it is first discovered, and not from the
//! other. So an incomplete mirror loses no page.

use rustc_hash::FxHashMap;

use serde::{Deserialize, Serialize};

use suidao_page::model::HostId;

/// Maximum number of pairs of hosts counted.
const MOST: usize = 1 << 14;
/// Minimum number of equal pages per different page.
const SHARE: u32 = 4;

/// Pairs of hosts with equal pages: a fold of a crawl's pages. Memory: 40 bytes per pair.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Mirrors {
    /// Equal and different pages under equal paths; the earlier host first.
    counts: FxHashMap<(HostId, HostId), [u32; 2]>,
    /// Hosts that each host shares a page with.
    partners: FxHashMap<HostId, Vec<HostId>>,
    mirrored: FxHashMap<HostId, Vec<HostId>>,
}

impl Mirrors {
    /// Hosts that have a page with the same path and text as one of this host.
    pub fn partners(&self, host: HostId) -> &[HostId] {
        self.partners.get(&host).map_or(&[], Vec::as_slice)
    }

    /// Counts a path that both hosts have. Returns whether this makes them mirrors, given the number of equal pages
    /// needed.
    pub fn observe(&mut self, one: HostId, other: HostId, equal: bool, enough: u16) -> bool {
        let pair = (one.min(other), one.max(other));
        if one == other || !self.counts.contains_key(&pair) && (self.counts.len() >= MOST || !equal) {
            return false;
        }
        let is_new = !self.counts.contains_key(&pair);
        if is_new {
            self.partners.entry(one).or_default().push(other);
            self.partners.entry(other).or_default().push(one);
        }
        let counts = self.counts.entry(pair).or_default();
        counts[usize::from(!equal)] += 1;
        let [same, different] = *counts;
        equal && same >= u32::from(enough) && same >= SHARE * different && !self.of(one).contains(&other)
    }

    pub fn learn(&mut self, one: HostId, other: HostId) {
        for (host, mirror) in [(one, other), (other, one)] {
            let known = self.mirrored.entry(host).or_default();
            if !known.contains(&mirror) {
                known.push(mirror);
            }
        }
    }

    pub fn of(&self, host: HostId) -> &[HostId] {
        self.mirrored.get(&host).map_or(&[], Vec::as_slice)
    }

    pub fn is_empty(&self) -> bool {
        self.mirrored.is_empty()
    }

    pub fn len(&self) -> usize {
        self.mirrored.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_pages_indicate_a_mirror_and_different_ones_do_not() {
        let (a, b, c) = (HostId(0), HostId(1), HostId(2));
        let mut mirrors = Mirrors::default();
        assert!(!mirrors.observe(b, a, false, 4), "pages that differ change nothing for hosts that share none");
        assert!(mirrors.partners(a).is_empty());
        let result: Vec<bool> = (0..5).map(|_| mirrors.observe(b, a, true, 4)).collect();
        assert_eq!(result, [false, false, false, true, true]);
        mirrors.learn(a, b);
        assert_eq!((mirrors.of(a), mirrors.of(b), mirrors.of(c)), (&[b][..], &[a][..], &[][..]));
        assert!(!mirrors.observe(a, b, true, 4), "known already");
        let result: Vec<bool> = (0..8).map(|n| mirrors.observe(c, a, n != 1, 4)).collect();
        assert_eq!(result, [false, false, false, false, true, true, true, true]);
        assert!((0..20).all(|n| !mirrors.observe(b, c, n % 2 == 0, 4)));
        assert!(!mirrors.observe(a, a, true, 2));
    }
}
