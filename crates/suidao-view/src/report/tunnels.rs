//! Tunnels on the paths of discovery: off-topic pages in a row before a relevant one, what they led to, and the hosts
//! they opened. Listings on topic are not off topic.

use super::facts::Tunnels;

/// Maximum number of tunnels listed step by step.
const MAX_TUNNELS: usize = 5;

/// Maximum number of opened hosts listed.
const MAX_HOSTS: usize = 15;

/// Parent of seeds, which have none.
pub(super) const NO_PARENT: u32 = u32::MAX;

/// A page in the tree of discovery. Pages are identified by index: the number of pages fetched before them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TreePage {
    /// Index of the page on which it was found (without redirects), or [`NO_PARENT`].
    pub(super) parent: u32,
    pub(super) host: u32,
    /// A relevant document.
    pub(super) relevant: bool,
    /// It is relevant, or a listing on topic.
    pub(super) on_topic: bool,
    /// Off-topic pages in a row before it, as the strategy recorded them: of all its paths, the fewest.
    pub(super) hops: u32,
}

/// A tunnel: indexes from its beginning to the relevant page at its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TunnelPath {
    pub(super) hops: u32,
    pub(super) led_to: u64,
    pub(super) pages: Vec<u32>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ReachedHost {
    pub(super) host: u32,
    pub(super) relevant: u64,
    pub(super) hops: u32,
    pub(super) first: u32,
    pub(super) from: Option<u32>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct TracedTunnels {
    pub(super) by_hops: Vec<u64>,
    pub(super) longest: Vec<TunnelPath>,
    pub(super) opened_hosts: u64,
    pub(super) hosts: Vec<ReachedHost>,
}

/// Traces all relevant pages back. Parents come before their children. Memory: 16 bytes per page.
///
/// All counts are those that the strategy recorded. A path is shown if it has as many off-topic pages: if a link found
/// later made a shorter path, the log does not record its source.
pub(super) fn trace(pages: &[TreePage], hosts: usize) -> TracedTunnels {
    let at = |position: u32| pages.get(position as usize);
    let mut crossed: Vec<u32> = Vec::with_capacity(pages.len());
    for page in pages {
        let off_topic = at(page.parent).filter(|parent| !parent.on_topic);
        crossed.push(off_topic.map_or(0, |_| crossed[page.parent as usize] + 1));
    }
    let is_shown = |position: u32| {
        let hops = pages[position as usize].hops;
        hops > 0 && crossed[position as usize] == hops
    };
    // Relevant pages found through each page, itself included.
    let mut through: Vec<u32> = pages.iter().map(|page| u32::from(page.relevant)).collect();
    for (position, page) in pages.iter().enumerate().rev() {
        let found = through[position];
        if let Some(parent) = through.get_mut(page.parent as usize) {
            *parent += found;
        }
    }
    let relevant = || (0_u32..).zip(pages).filter(|(_, page)| page.relevant);
    let mut traced = TracedTunnels::default();
    for (_, page) in relevant() {
        let hops = page.hops as usize;
        if traced.by_hops.len() <= hops {
            traced.by_hops.resize(hops + 1, 0);
        }
        traced.by_hops[hops] += 1;
    }

    // From a relevant page back to the last one on topic, or to the seed.
    let back = |position: u32| -> Vec<u32> {
        let steps = std::iter::successors(Some(position), |&position| at(position).map(|page| page.parent));
        let steps = steps.take_while(|&position| at(position).is_some());
        let mut path: Vec<u32> = steps.take(crossed[position as usize] as usize + 2).collect();
        path.reverse();
        path
    };
    let entrance = |path: &[u32]| path[path.len() - 1 - crossed[path[path.len() - 1] as usize] as usize];
    let mut ends: Vec<u32> = relevant().map(|(position, _)| position).filter(|&position| is_shown(position)).collect();
    ends.sort_by_key(|&position| (std::cmp::Reverse(crossed[position as usize]), position));
    let mut entrances = std::collections::BTreeSet::new();
    for position in ends {
        if traced.longest.len() == MAX_TUNNELS {
            break;
        }
        let pages = back(position);
        if entrances.insert(entrance(&pages)) {
            let (hops, led_to) = (crossed[position as usize], u64::from(through[position as usize]));
            traced.longest.push(TunnelPath { hops, led_to, pages });
        }
    }

    let mut of_host: Vec<(u64, u32)> = vec![(0, NO_PARENT); hosts];
    for (position, page) in relevant() {
        if let Some((count, first)) = of_host.get_mut(page.host as usize) {
            *count += 1;
            *first = (*first).min(position);
        }
    }
    for (host, &(count, first)) in (0..).zip(&of_host) {
        if first == NO_PARENT || !is_shown(first) {
            continue;
        }
        let path = back(first);
        if pages[path[0] as usize].host != host {
            let from = Some(path[0]).filter(|&position| pages[position as usize].on_topic);
            traced.hosts.push(ReachedHost { host, relevant: count, hops: crossed[first as usize], first, from });
        }
    }
    traced.opened_hosts = traced.hosts.len() as u64;
    traced.hosts.sort_by_key(|reached| (std::cmp::Reverse(reached.relevant), reached.first));
    traced.hosts.truncate(MAX_HOSTS);
    traced
}

impl TracedTunnels {
    pub(super) fn counts(&self) -> Tunnels {
        Tunnels { by_hops: self.by_hops.clone(), opened_hosts: self.opened_hosts, ..Tunnels::default() }
    }

    pub(super) fn pages(&self) -> impl Iterator<Item = u32> + '_ {
        let origins = self.hosts.iter().filter_map(|reached| reached.from);
        self.longest.iter().flat_map(|path| path.pages.iter().copied()).chain(origins)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RELEVANT: (bool, bool) = (true, true);
    const LISTING: (bool, bool) = (false, true);
    const OFF_TOPIC: (bool, bool) = (false, false);

    /// Pages by parent (-1: none), host, what they are and recorded hops.
    fn pages(result: &[(i64, u32, (bool, bool), u32)]) -> Vec<TreePage> {
        let found = |&(parent, host, (relevant, on_topic), hops): &(i64, u32, (bool, bool), u32)| TreePage {
            parent: u32::try_from(parent).unwrap_or(NO_PARENT),
            host,
            relevant,
            on_topic,
            hops,
        };
        result.iter().map(found).collect()
    }

    #[test]
    fn tunnels_are_traced_back_to_the_last_page_on_topic() {
        // 0 relevant seed; 1, 2 off topic in a row; 3 relevant on another host after both; 4 relevant, found on 3; 5
        // relevant after 1 alone; 6 an off-topic seed, 7 after it on its own host; 8 a listing on topic found on 7, 9
        // found on it; 10 found on 2 first, and later on a relevant page.
        let tree = pages(&[
            (-1, 0, RELEVANT, 0),
            (0, 0, OFF_TOPIC, 0),
            (1, 1, OFF_TOPIC, 1),
            (2, 1, RELEVANT, 2),
            (3, 1, RELEVANT, 0),
            (1, 0, RELEVANT, 1),
            (-1, 2, OFF_TOPIC, 0),
            (6, 2, RELEVANT, 1),
            (7, 2, LISTING, 0),
            (8, 2, RELEVANT, 0),
            (2, 1, RELEVANT, 0),
        ]);
        let traced = trace(&tree, 3);
        assert_eq!(traced.by_hops, [4, 2, 1]);
        // One for each first off-topic page: 5 begins with 1, like 3.
        let longest: Vec<_> = traced.longest.iter().map(|path| (path.hops, path.led_to, path.pages.clone())).collect();
        assert_eq!(longest, [(2, 2, vec![0, 1, 2, 3]), (1, 2, vec![6, 7])]);
        assert_eq!(traced.hosts, [ReachedHost { host: 1, relevant: 3, hops: 2, first: 3, from: Some(0) }]);
        assert_eq!(traced.opened_hosts, 1, "a seed's own host is not opened by a tunnel");
    }

    #[test]
    fn nothing_relevant_is_no_tunnel() {
        let traced = trace(&pages(&[(-1, 0, OFF_TOPIC, 0), (0, 0, OFF_TOPIC, 1)]), 1);
        assert_eq!(traced, TracedTunnels::default());
        assert_eq!(trace(&[], 0), TracedTunnels::default());
    }
}
