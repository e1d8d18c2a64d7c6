//! Small webs written as text, and comparison with plain definitions on random graphs.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;

use super::*;

/// A web as text: one page per line, `name: targets`. The first letter of a name is its host, the last character its
/// topic: `+` relevant, `=` a listing on topic, `-` off topic. Seeds are marked `*` before the colon.
fn web(text: &str) -> (LinkGraph, Vec<String>) {
    let lines: Vec<(&str, &str)> = text.lines().filter_map(|line| line.trim().split_once(':')).collect();
    let names: Vec<String> = lines.iter().map(|(name, _)| name.trim_end_matches('*').to_owned()).collect();
    let pages = lines.iter().map(|(name, _)| {
        let topic = match name.trim_end_matches('*').chars().last() {
            Some('+') => PageTopic::Relevant,
            Some('=') => PageTopic::Listing,
            _ => PageTopic::OffTopic,
        };
        GraphPage { host: u32::from(name.as_bytes()[0] - b'a'), topic, seed: name.ends_with('*') }
    });
    let number = |name: &str| names.iter().position(|known| known == name).unwrap() as u32;
    let links = (0..).zip(&lines).flat_map(|(source, (_, targets))| {
        targets.split_whitespace().map(move |target| (source, target)).collect::<Vec<_>>()
    });
    let links = links.map(|(source, target)| (source, number(target))).collect();
    (LinkGraph::new(pages.collect(), links), names)
}

fn named(pages: &[u32], names: &[String]) -> String {
    pages.iter().map(|&page| names[page as usize].as_str()).collect::<Vec<_>>().join(" ")
}

/// Two islands, three off-topic pages between them; another way that is longer; a page without links to it.
const TUNNEL: &str = "
    a1+*: a2+ a3=
    a2+: a1+ b1-
    a3=: a4+
    a4+:
    b1-: c1-
    c1-: d1- e1-
    d1-: f1+
    e1-: e2-
    e2-: d1-
    f1+: f2+
    f2+: f1+
    g1+:
";

#[test]
fn islands_gates_depths_and_paths_of_a_small_web() {
    let (graph, names) = web(TUNNEL);
    let islands = Islands::find(&graph);
    let found: Vec<(String, usize, usize)> =
        islands.islands.iter().map(|island| (named(&island.pages, &names), island.relevant, island.core)).collect();
    assert_eq!(found, [("a1+ a2+ a3= a4+".into(), 3, 2), ("f1+ f2+".into(), 2, 2), ("g1+".into(), 1, 1)]);
    assert_eq!(islands.of_page[2], Some(0), "a listing on topic belongs to the island");
    let found = Gates::find(&graph, &islands);
    let gates: Vec<String> = (0..3).map(|island| named(&found.of(island), &names)).collect();
    assert_eq!(gates, ["", "a2+ b1- c1- d1-", ""]);
    assert_eq!(found.gated_islands(), [0, 1, 0, 0, 1, 1, 1, 0, 0, 0, 0, 0]);
    let depths = tunnel_depths(&graph);
    let depth = |name: &str| depths[names.iter().position(|known| known == name).unwrap()];
    assert_eq!([depth("a4+"), depth("b1-"), depth("c1-"), depth("f1+"), depth("f2+")], [0, 0, 1, 3, 3].map(Some));
    assert_eq!(depth("g1+"), None);
    let path = shortest_path(&graph, &islands.islands[0].pages, |page| islands.of_page[page as usize] == Some(1));
    assert_eq!(named(&path.unwrap(), &names), "a2+ b1- c1- d1- f1+");
    assert_eq!(shortest_path(&graph, &[0], |page| names[page as usize] == "g1+"), None);
    let hosts = HostGraph::new(&graph);
    assert_eq!(hosts.hosts[&0], [4, 3]);
    let bridges: Vec<[u32; 2]> = hosts.links.iter().filter(|link| link.bridge).map(|link| link.hosts).collect();
    assert_eq!(bridges, [[0, 1], [1, 2], [3, 5]]);
}

#[test]
fn links_that_the_pages_of_a_host_share_join_no_islands() {
    // Every page of a has b1 in its blogroll; only one mentions c1.
    let (graph, names) = web("
        a1+*: b1+ a2+
        a2+: b1+ a3+ c1+
        a3+: b1+ a4+
        a4+: b1+ a5+
        a5+: b1+
        b1+: b2+
        b2+:
        c1+:
    ");
    let islands = Islands::find(&graph);
    let found: Vec<String> = islands.islands.iter().map(|island| named(&island.pages, &names)).collect();
    assert_eq!(found, ["a1+ a2+ a3+ a4+ a5+ c1+", "b1+ b2+"]);
}

#[test]
fn an_island_with_two_separate_paths_has_no_gate() {
    let (graph, _) = web("
        a1+*: b1- c1-
        b1-: d1+
        c1-: d1+
        d1+:
    ");
    let islands = Islands::find(&graph);
    let gates = Gates::find(&graph, &islands);
    assert_eq!((gates.of(0), gates.of(1), gates.gated_islands()), (Vec::new(), Vec::new(), vec![0; 4]));
}

#[test]
fn graphs_without_pages_links_or_seeds_have_answers() {
    let empty = LinkGraph::new(Vec::new(), vec![(0, 1)]);
    assert!(empty.is_empty() && page_rank(&empty, 0.85).is_empty() && tunnel_depths(&empty).is_empty());
    assert_eq!((hits(&empty).hubs.len(), Gates::find(&empty, &Islands::find(&empty)).gated_islands().len()), (0, 0));
    let (alone, _) = web("a1+:\nb1-:");
    assert_eq!((tunnel_depths(&alone), page_rank(&alone, 0.85)), (vec![None; 2], vec![0.5; 2]));
    assert_eq!(Gates::find(&alone, &Islands::find(&alone)).of(0), [0u32; 0]);
    assert_eq!(hits(&alone).authorities, [0.0; 2]);
}

/// Recursion would overflow the stack here.
#[test]
fn a_chain_of_a_million_pages() {
    const LENGTH: u32 = 1_000_000;
    let page = |number: u32| GraphPage {
        host: number / 1000,
        topic: if number == LENGTH / 2 { PageTopic::OffTopic } else { PageTopic::Relevant },
        seed: number == 0,
    };
    let graph = LinkGraph::new((0..LENGTH).map(page).collect(), (1..LENGTH).map(|to| (to - 1, to)).collect());
    let islands = Islands::find(&graph);
    assert_eq!(islands.islands.iter().map(|island| island.pages.len()).collect::<Vec<_>>(), [500_000, 499_999]);
    assert_eq!(tunnel_depths(&graph)[LENGTH as usize - 1], Some(1));
    let gates = Gates::find(&graph, &islands);
    assert_eq!(
        (gates.of(0).len(), gates.of(1).len()),
        (0, 500_000),
        "all pages of the first island but the seed, and the gap"
    );
    let path = shortest_path(&graph, &[0], |page| page == LENGTH - 1).unwrap();
    assert_eq!(path.len(), LENGTH as usize);
    assert!(HostGraph::new(&graph).links.iter().all(|link| link.bridge));
    assert!((page_rank(&graph, 0.85).iter().sum::<f64>() - 1.0).abs() < 1e-6);
}

/// Pages with (host, topic, seed), and links.
fn graphs() -> impl Strategy<Value = LinkGraph> {
    (2usize..16).prop_flat_map(|count| {
        let number = 0..count as u32;
        let page = (0u32..4, 0u8..3, prop::bool::weighted(0.2)).prop_map(|(host, topic, seed)| GraphPage {
            host,
            topic: [PageTopic::Relevant, PageTopic::Listing, PageTopic::OffTopic][usize::from(topic)],
            seed,
        });
        (prop::collection::vec(page, count), prop::collection::vec((number.clone(), number), 0..40))
            .prop_map(|(pages, links)| LinkGraph::new(pages, links))
    })
}

/// The pages reachable from the seeds without crossing `without`.
fn reached(graph: &LinkGraph, without: Option<u32>) -> BTreeSet<u32> {
    let mut reached: BTreeSet<u32> = graph.seeds().filter(|&seed| Some(seed) != without).collect();
    let mut stack: Vec<u32> = reached.iter().copied().collect();
    while let Some(page) = stack.pop() {
        stack.extend(graph.targets(page).iter().filter(|&&to| Some(to) != without && reached.insert(to)));
    }
    reached
}

/// The pages that a crawl with this k reaches: states are pages with the run of off-topic pages that ends there.
fn within(graph: &LinkGraph, k: u32) -> BTreeSet<u32> {
    let run_at = |page: u32, before: u32| if graph.page(page).is_on_topic() { 0 } else { before + 1 };
    let mut states: BTreeSet<(u32, u32)> = graph.seeds().map(|seed| (seed, run_at(seed, 0))).collect();
    let mut stack: Vec<(u32, u32)> = states.iter().copied().collect();
    while let Some((page, run)) = stack.pop() {
        if run <= k {
            for &to in graph.targets(page) {
                let state = (to, run_at(to, run));
                if states.insert(state) {
                    stack.push(state);
                }
            }
        }
    }
    states.into_iter().map(|(page, _)| page).collect()
}

proptest! {
    #[test]
    fn a_gate_is_a_page_without_which_the_island_is_not_reached(graph in graphs()) {
        let islands = Islands::find(&graph);
        let found = Gates::find(&graph, &islands);
        let mut following = vec![0; graph.len()];
        for (number, island) in (0..).zip(&islands.islands) {
            let members = &island.pages;
            let is_reached = |without| {
                let reached = reached(&graph, without);
                members.iter().any(|page| reached.contains(page))
            };
            let cuts = |page: &u32| {
                !graph.page(*page).seed && islands.of_page[*page as usize] != Some(number) && !is_reached(Some(*page))
            };
            let expected: BTreeSet<u32> = graph.numbers().filter(|page| is_reached(None) && cuts(page)).collect();
            prop_assert_eq!(found.of(number as usize).into_iter().collect::<BTreeSet<u32>>(), expected.clone());
            expected.iter().for_each(|page| following[*page as usize] += 1);
        }
        prop_assert_eq!(found.gated_islands(), following);
    }

    #[test]
    fn a_depth_is_the_least_k_that_reaches_the_page(graph in graphs()) {
        for (page, depth) in (0..).zip(tunnel_depths(&graph)) {
            let expected = (0..=16).find(|&k| within(&graph, k).contains(&page));
            prop_assert_eq!(depth.map(u32::from), expected, "page {}", page);
        }
    }

    #[test]
    fn every_page_on_topic_that_a_link_joins_is_on_the_same_island(graph in graphs()) {
        let islands = Islands::find(&graph);
        let on_islands: usize = islands.islands.iter().map(|island| island.pages.len()).sum();
        prop_assert_eq!(on_islands, islands.of_page.iter().flatten().count());
        for page in graph.numbers().filter(|&page| graph.page(page).topic == PageTopic::Relevant) {
            prop_assert!(islands.of_page[page as usize].is_some());
        }
        // Pages of one component are on one island, at most as many as its core has.
        let mut components: BTreeMap<u32, BTreeSet<Option<u32>>> = BTreeMap::new();
        for (page, component) in islands.component.iter().enumerate() {
            if let Some(component) = component {
                components.entry(*component).or_default().insert(islands.of_page[page]);
            }
        }
        prop_assert!(components.values().all(|islands| islands.len() == 1));
    }

    #[test]
    fn ranks_sum_to_one_and_solve_their_equation(graph in graphs()) {
        let ranks = page_rank(&graph, 0.85);
        prop_assert!((ranks.iter().sum::<f64>() - 1.0).abs() < 1e-6);
        let count = graph.len() as f64;
        let vote = |from: u32, to: u32| {
            let host = |page: u32| graph.page(page).host;
            let inner = graph.targets(from).iter().filter(|&&other| host(other) == host(from)).count();
            let all = graph.targets(from).len() - inner + usize::from(inner > 0);
            if host(from) == host(to) { 1.0 / (all * inner) as f64 } else { 1.0 / all as f64 }
        };
        let dangling: f64 =
            graph.numbers().filter(|&page| graph.targets(page).is_empty()).map(|page| ranks[page as usize]).sum();
        for page in graph.numbers() {
            let given: f64 = graph.sources(page).iter().map(|&from| ranks[from as usize] * vote(from, page)).sum();
            let expected = 0.15 / count + 0.85 * (given + dangling / count);
            prop_assert!((ranks[page as usize] - expected).abs() < 1e-6);
        }
    }
}
