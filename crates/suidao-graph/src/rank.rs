//! Rank of pages: PageRank (Brin and Page 1998) and HITS (Kleinberg 1999), by power iteration.
//!
//! ```text
//! PR(v) = (1 - d)/N + d (sum over u -> v of PR(u) w(u, v) / w(u) + D/N)     D: rank of pages without links
//! a(v) = sum over u -> v of h(u),   h(u) = sum over u -> v of a(v),   each scaled to sum 1
//! ```
//! The links of a page within its host are one vote together (w = 1 shared by all), each link to another host is a
//! vote: a site cannot raise a page by linking to it from everywhere.

use rayon::prelude::*;

use super::graph::LinkGraph;

/// Iteration ends when the values change by less than this in sum, or after [`ROUNDS`].
const TOLERANCE: f64 = 1e-7;
const ROUNDS: usize = 100;

/// PageRank of each page with damping d, in `[0, 1)`; they sum to 1. Empty for a graph without pages.
pub fn page_rank(graph: &LinkGraph, damping: f64) -> Vec<f64> {
    let count = graph.len() as f64;
    let mut ranks = vec![1.0 / count; graph.len()];
    let mut votes: Vec<Votes> = graph.numbers().map(|page| Votes::of(graph, page)).collect();
    for _ in 0..ROUNDS {
        let mut dangling = 0.0;
        for (votes, rank) in votes.iter_mut().zip(&ranks) {
            votes.rank = *rank as f32;
            if votes.inner == 0.0 && votes.outer == 0.0 {
                dangling += rank;
            }
        }
        let base = (1.0 - damping + damping * dangling) / count;
        let received = |page: u32, source: u32| {
            let votes = &votes[source as usize];
            let share = if votes.host == graph.page(page).host { votes.inner } else { votes.outer };
            f64::from(votes.rank) * f64::from(share)
        };
        let rank = |page: u32| {
            let received = graph.sources(page).iter().map(|&source| received(page, source)).sum::<f64>();
            base + damping * received
        };
        let next: Vec<f64> = graph.numbers().into_par_iter().map(rank).collect();
        let change = change(&ranks, &next);
        ranks = next;
        if change < TOLERANCE {
            break;
        }
    }
    ranks
}

fn change(before: &[f64], after: &[f64]) -> f64 {
    before.iter().zip(after).map(|(before, after)| (after - before).abs()).sum()
}

/// Shares of its rank that a page passes on: to each page of its host that it links to, and to each other page.
struct Votes {
    host: u32,
    inner: f32,
    outer: f32,
    rank: f32,
}

impl Votes {
    fn of(graph: &LinkGraph, page: u32) -> Self {
        let host = graph.page(page).host;
        let targets = graph.targets(page);
        let inner = targets.iter().filter(|&&target| graph.page(target).host == host).count();
        let outer = targets.len() - inner;
        let all = (outer + usize::from(inner > 0)) as f64;
        let share = |links: usize, of: f64| if links == 0 { 0.0 } else { of as f32 };
        Self { host, inner: share(inner, 1.0 / (all * inner as f64)), outer: share(outer, 1.0 / all), rank: 0.0 }
    }
}

/// Hubs and authorities; each sums to 1, or is 0 in a graph without links.
#[derive(Clone, Debug, PartialEq)]
pub struct Hits {
    pub hubs: Vec<f64>,
    pub authorities: Vec<f64>,
}

pub fn hits(graph: &LinkGraph) -> Hits {
    let mut hits = Hits { hubs: vec![1.0 / graph.len() as f64; graph.len()], authorities: vec![0.0; graph.len()] };
    let sums = |values: &[f64], links: fn(&LinkGraph, u32) -> &[u32]| {
        let sum = |page: u32| links(graph, page).iter().map(|&page| values[page as usize]).sum::<f64>();
        scaled(graph.numbers().into_par_iter().map(sum).collect())
    };
    for _ in 0..ROUNDS {
        hits.authorities = sums(&hits.hubs, LinkGraph::sources);
        let hubs = sums(&hits.authorities, LinkGraph::targets);
        let change = change(&hits.hubs, &hubs);
        hits.hubs = hubs;
        if change < TOLERANCE {
            break;
        }
    }
    hits
}

fn scaled(mut values: Vec<f64>) -> Vec<f64> {
    let sum: f64 = values.iter().sum();
    if sum > 0.0 {
        values.iter_mut().for_each(|value| *value /= sum);
    }
    values
}
