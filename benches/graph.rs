//! Seconds and bytes per page of the link graph's answers: `cargo bench --bench graph [-- PAGES]`.
//!
//! The web is drawn: hosts of 200 pages, ten links per page, two in ten to one of 20 other hosts, one page in five on
//! topic.

#![allow(clippy::disallowed_methods)] // a clock is what a benchmark is for

use std::time::Instant;

use peak_alloc::PeakAlloc;
use suidao::graph::{Gates, GraphPage, HostGraph, Islands, LinkGraph, PageTopic, hits, page_rank, tunnel_depths};
use suidao::seeded_rng::SeededRng;

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

const HOST: u64 = 200;
const LINKS: u64 = 10;

fn main() {
    let pages: u64 = std::env::args().filter_map(|argument| argument.parse().ok()).next().unwrap_or(1_000_000);
    let before = MEMORY.current_usage();
    let measured = |name: &str, begun: Instant| {
        let bytes = (MEMORY.peak_usage() - before) / pages as usize;
        println!("{name:16} {:6.2} s  at most {bytes:4} bytes per page", begun.elapsed().as_secs_f64());
        MEMORY.reset_peak_usage();
    };
    let all = Instant::now();
    let begun = Instant::now();
    let mut rng = SeededRng::new(1, 0, 0);
    let page = |number: u64, rng: &mut SeededRng| GraphPage {
        host: (number / HOST) as u32,
        topic: if rng.below(5) == 0 { PageTopic::Relevant } else { PageTopic::OffTopic },
        seed: number < 4,
    };
    let nodes: Vec<GraphPage> = (0..pages).map(|number| page(number, &mut rng)).collect();
    let mut links = Vec::with_capacity((pages * LINKS) as usize);
    for source in 0..pages {
        for _ in 0..LINKS {
            let near = (source / HOST * HOST + rng.below(HOST)).min(pages - 1);
            let other = (source / HOST * 7919 + rng.below(20) * 104_729) * HOST + rng.below(HOST);
            let target = if rng.below(10) < 8 { near } else { other % pages };
            links.push((source as u32, target as u32));
        }
    }
    let graph = LinkGraph::new(nodes, links);
    measured("build", begun);
    let begun = Instant::now();
    let islands = Islands::find(&graph);
    measured("islands", begun);
    let begun = Instant::now();
    let gates = Gates::find(&graph, &islands).gated_islands();
    measured("gates", begun);
    let begun = Instant::now();
    let depths = tunnel_depths(&graph);
    measured("tunnel depths", begun);
    let begun = Instant::now();
    let ranks = page_rank(&graph, 0.85);
    measured("PageRank", begun);
    let begun = Instant::now();
    let authorities = hits(&graph).authorities;
    measured("HITS", begun);
    let begun = Instant::now();
    let hosts = HostGraph::new(&graph);
    measured("hosts", begun);
    println!(
        "{} links, {} islands, {} gates, {} pages reached, {} hosts, {:.2} s in all",
        graph.links(),
        islands.islands.len(),
        gates.iter().filter(|&&behind| behind > 0).count(),
        depths.iter().flatten().count(),
        hosts.hosts.len(),
        all.elapsed().as_secs_f64(),
    );
    assert_eq!((ranks.len(), authorities.len()), (graph.len(), graph.len()));
}
