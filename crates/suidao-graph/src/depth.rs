//! The tunnel that each page needs: the least k with which a crawl that follows every link reaches it from the seeds.
//!
//! Tunnelling with a limit of off-topic pages in a row is that of Bergmark, Lagoze and Sbityakov (Focused Crawls,
//! Tunneling, and Digital Libraries, ECDL 2002). k(v) is the least over all paths from a seed to v of the longest run
//! of off-topic pages on the path before v.

use super::graph::LinkGraph;

/// k(v) of each page, `None` for pages not reachable from the seeds. Seeds, and pages that can be reached over pages on topic
/// alone, have 0. Listings on topic count as on topic.
pub fn tunnel_depths(graph: &LinkGraph) -> Vec<Option<u16>> {
    const UNREACHED: u16 = u16::MAX;
    let mut depths: Vec<Option<u16>> = vec![None; graph.len()];
    // The shortest run of off-topic pages that ends with the page, over the paths found so far.
    let mut runs = vec![UNREACHED; graph.len()];
    // Pages by their run, still to be expanded.
    let mut waiting: Vec<Vec<u32>> = vec![Vec::new()];
    for seed in graph.seeds() {
        let run = u16::from(!graph.page(seed).is_on_topic());
        (depths[seed as usize], runs[seed as usize]) = (Some(0), run);
        if waiting.len() <= usize::from(run) {
            waiting.push(Vec::new());
        }
        waiting[usize::from(run)].push(seed);
    }
    let mut k = 0;
    while k < waiting.len() {
        // Runs of at most k: a page on topic starts at 0 again.
        while let Some(run) = (0..=k).find(|&run| !waiting[run].is_empty()) {
            for page in std::mem::take(&mut waiting[run]) {
                if usize::from(runs[page as usize]) != run {
                    continue; // expanded with a shorter run
                }
                for &target in graph.targets(page) {
                    let to = target as usize;
                    let next = if graph.page(target).is_on_topic() { 0 } else { (run as u16).saturating_add(1) };
                    depths[to] = depths[to].or(Some(k as u16));
                    if next < runs[to] {
                        runs[to] = next;
                        if waiting.len() <= usize::from(next) {
                            waiting.push(Vec::new());
                        }
                        waiting[usize::from(next)].push(target);
                    }
                }
            }
        }
        k += 1;
    }
    depths
}
