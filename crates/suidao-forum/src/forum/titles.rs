//! Finds the thread titles of a page and the line around each: the links most like titles, and the largest parts of the
//! page with one of them (`rows.rs`).

use rustc_hash::{FxHashMap, FxHashSet};

use super::fields::{RecordPart, numbers, times};
use super::rows::rows;
use super::times::all;
use super::tree::{NodeId, Tree};
use suidao_page::model::{CrawlUrl, TimeContext};

/// Maximum number of threads per list.
const RECORDS: usize = 2_000;

pub(super) struct ThreadLine<'a> {
    pub(super) url: &'a CrawlUrl,
    pub(super) title: NodeId,
    pub(super) roots: Vec<NodeId>,
    /// In the group that forms the list; others are sticky or in other boxes.
    pub(super) main: bool,
}

/// A possible title link: node, URL and number of characters.
type Named<'a> = (NodeId, &'a CrawlUrl, usize);

pub(super) fn lines<'a>(
    tree: &'a Tree,
    is_thread: &dyn Fn(&CrawlUrl) -> bool,
    clock: TimeContext,
) -> Vec<ThreadLine<'a>> {
    // Possible titles, by their position in the template.
    let mut groups: Vec<(u64, Vec<Named>)> = Vec::new();
    let mut known: FxHashMap<u64, usize> = FxHashMap::default();
    for node in 0..tree.len() {
        let Some(url) = tree.link(node).filter(|url| !tree.is_hidden(node) && is_thread(url)) else { continue };
        let text = tree.text(node);
        if !can_be_title(&text, clock) {
            continue;
        }
        let path = tree.path(node);
        let at = *known.entry(path).or_insert_with(|| {
            groups.push((path, Vec::new()));
            groups.len() - 1
        });
        groups[at].1.push((node, url, text.chars().count()));
    }
    // "Go to the first unread post", repeated.
    groups.retain(|(_, links)| {
        let texts: FxHashSet<String> = links.iter().map(|&(node, ..)| tree.text(node)).collect();
        links.len() < 3 || texts.len() * 2 > links.len()
    });
    let best = groups
        .iter()
        .map(|(_, links)| weight(tree, links, clock))
        .enumerate()
        .max_by_key(|&(at, weight)| (weight, usize::MAX - at));
    let Some((main, _)) = best else { return Vec::new() };
    let mut titles: FxHashMap<&CrawlUrl, (NodeId, usize)> = FxHashMap::default();
    for &(node, url, length) in &groups[main].1 {
        let own = titles.entry(url).or_insert((node, length));
        if length > own.1 {
            *own = (node, length);
        }
    }
    let mut anchors: Vec<(NodeId, &CrawlUrl)> = titles.iter().map(|(url, &(node, _))| (node, *url)).collect();
    anchors.sort_unstable_by_key(|&(node, _)| node);
    let nodes: Vec<NodeId> = anchors.iter().map(|&(node, _)| node).collect();
    let mut covered: Vec<(NodeId, NodeId)> = line_rows(tree, &nodes, clock)
        .iter()
        .flatten()
        .map(|&root| (tree.subtree(root).start, tree.subtree(root).end))
        .collect();
    covered.sort_unstable();
    // Links elsewhere in the template: sticky threads, other boxes.
    let inside = |node: NodeId| {
        let after = covered.partition_point(|&(start, _)| start <= node);
        after > 0 && node < covered[after - 1].1
    };
    let mut others: FxHashMap<&CrawlUrl, (NodeId, usize)> = FxHashMap::default();
    for &(node, url, length) in
        groups.iter().enumerate().filter(|(at, _)| *at != main).flat_map(|(_, (_, links))| links)
    {
        if titles.contains_key(url) || inside(node) {
            continue;
        }
        let own = others.entry(url).or_insert((node, length));
        if length > own.1 {
            *own = (node, length);
        }
    }
    anchors.extend(others.iter().map(|(url, &(node, _))| (node, *url)));
    anchors.sort_unstable_by_key(|&(node, _)| node);
    anchors.truncate(RECORDS);
    let nodes: Vec<NodeId> = anchors.iter().map(|&(node, _)| node).collect();
    let lines = anchors.into_iter().zip(line_rows(tree, &nodes, clock));
    lines.map(|((title, url), roots)| ThreadLine { url, title, roots, main: titles.contains_key(url) }).collect()
}

/// Whether a link's text can be a thread's title: not a page number, an arrow or a time.
fn can_be_title(text: &str, clock: TimeContext) -> bool {
    const PAGINATION_WORDS: &str =
        "末页|尾页|首页|最后一页|下一页|上一页|最后|last|next|prev|previous|first|new|last page|最後|次へ|前へ|go";
    let bare = text.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
    let letters = bare.chars().any(char::is_alphabetic);
    let timed: usize = all(text, clock).iter().map(|time| time.text.len()).sum();
    letters && !PAGINATION_WORDS.split('|').any(|word| word == bare) && timed * 2 <= text.len()
}

/// How much a group of links looks like the titles of a list; text in the lines counts most.
fn weight(tree: &Tree, links: &[(NodeId, &CrawlUrl, usize)], clock: TimeContext) -> usize {
    let mut seen = FxHashSet::default();
    let nodes: Vec<NodeId> = links.iter().filter(|(_, url, _)| seen.insert(*url)).map(|&(node, ..)| node).collect();
    let has_fields = |roots: &Vec<NodeId>| {
        let part = RecordPart { tree, roots };
        part.nodes().count() < 2_000
            && (!times(&part, clock, &|_| false).is_empty()
                || numbers(&part, clock, &|_| false).iter().any(|number| number.alone))
    };
    let speaking = line_rows(tree, &nodes, clock).iter().filter(|roots| has_fields(roots)).count();
    speaking * 4 + nodes.len()
}

/// The lines around titles; a single title is delimited only by list elements.
fn line_rows(tree: &Tree, titles: &[NodeId], clock: TimeContext) -> Vec<Vec<NodeId>> {
    let [title] = titles else { return rows(tree, titles) };
    let up = || tree.ancestors(*title).take(8);
    let row = up()
        .find(|&at| matches!(tree.name(at), "tr" | "li" | "article" | "dl"))
        .or_else(|| up().find(|&at| !times(&RecordPart { tree, roots: &[at] }, clock, &|_| false).is_empty()));
    vec![vec![row.unwrap_or_else(|| tree.parent(*title))]]
}
