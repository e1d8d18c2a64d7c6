//! Finds the elements with a post's text: the position that has most text over all posts and is neither the author nor
//! the time.

use rustc_hash::FxHashMap;

use super::fields::RecordPart;
use super::region::{PageStats, PostRole, holds_content, role};
use super::tree::{NodeId, Tree};

#[derive(Default)]
struct BodyPosition {
    posts: usize,
    last: usize,
    text: u64,
    times: usize,
    people: usize,
    role: f64,
    order: usize,
    /// Its text differs between posts.
    differs: bool,
}

/// Maximum number of characters of texts that are compared; longer ones differ.
const SHORT: u32 = 200;

pub(super) fn bodies(tree: &Tree, stats: &PageStats, parts: &[RecordPart]) -> Vec<Vec<NodeId>> {
    // A single post has no repeated positions.
    if let [part] = parts
        && let Some(body) = named_body(tree, stats, part)
    {
        return vec![vec![body]];
    }
    let mut positions: FxHashMap<u64, BodyPosition> = FxHashMap::default();
    let mut inherited: FxHashMap<NodeId, f64> = FxHashMap::default();
    for (at, part) in parts.iter().enumerate() {
        let alone = part.roots.len() == 1;
        for node in part.nodes() {
            if !tree.is_element(node) || tree.is_hidden(node) {
                continue;
            }
            let above = inherited.get(&tree.parent(node)).copied().unwrap_or(1.0);
            let own = match role(tree, node) {
                PostRole::Body if above >= 1.0 => 3.0,
                PostRole::Boilerplate if !(alone && node == part.roots[0] || holds_content(tree, stats, node)) => 0.1,
                PostRole::Quote => 0.02,
                _ => 1.0,
            };
            // Everything inside boilerplate is boilerplate, and an element inside a body scores at most as high as the
            // body.
            inherited.insert(node, if above < 1.0 { above.min(own) } else { own.min(1.0) });
            let position = positions.entry(part.place(node)).or_default();
            if position.posts == 0 {
                (position.role, position.order, position.last) =
                    (if above < 1.0 { above } else { own }, node, usize::MAX);
            }
            if position.last != at {
                position.posts += 1;
                position.last = at;
            }
            let length = stats.text(tree, node);
            position.differs = position.differs
                || stats.text(tree, position.order) != length
                || length > 0 && (length > SHORT || tree.text(position.order) != tree.text(node));
            position.text += u64::from(length);
            position.times += usize::from(stats.has_time(tree, node));
            position.people += usize::from(stats.has_person(tree, node));
        }
    }
    let value = |position: &BodyPosition| {
        let mixed = |count: usize| if count * 2 > parts.len() { 0.15 } else { 1.0 };
        // A line that all posts repeat is longer than a short post.
        let own = if position.differs || parts.len() == 1 { 1.0 } else { 0.05 };
        let common = if position.posts * 10 >= parts.len() * 6 { 1.0 } else { 0.2 };
        position.text as f64 * position.role * mixed(position.times) * mixed(position.people) * common * own
    };
    let mut best: Option<(f64, usize, u64)> = None;
    for (&key, position) in &positions {
        let own = (value(position), position.order, key);
        // Of equal ones the outermost.
        if position.text > 0 && best.is_none_or(|best| own.0 > best.0 || own.0 == best.0 && own.1 < best.1) {
            best = Some(own);
        }
    }
    let chosen =
        best.filter(|(_, _, key)| positions[key].times * 2 <= parts.len() || positions[key].people * 2 <= parts.len());
    let Some((_, _, chosen)) = chosen else { return vec![Vec::new(); parts.len()] };
    let body = |part: &RecordPart| {
        let mut end = 0;
        let mut own = Vec::new();
        for node in part.nodes() {
            if node >= end
                && tree.is_element(node)
                && part.place(node) == chosen
                && !(part.roots.len() == 1 && node == part.roots[0])
            {
                own.push(node);
                end = tree.subtree(node).end;
            }
        }
        if own.is_empty() {
            own.extend(named_body(tree, stats, part));
        }
        own
    };
    parts.iter().map(body).collect()
}

/// The innermost element named as content that has most text, for a post whose template differs from the others.
fn named_body(tree: &Tree, stats: &PageStats, part: &RecordPart) -> Option<NodeId> {
    let plain = |node: NodeId| stats.plain(tree, &[node]);
    let bodies: Vec<NodeId> = part
        .nodes()
        .filter(|&node| {
            tree.is_element(node)
                && !part.roots.contains(&node)
                && role(tree, node) == PostRole::Body
                && !(stats.has_time(tree, node) && stats.has_person(tree, node))
                && plain(node) > 0
        })
        .collect();
    let most = bodies.iter().map(|&node| plain(node)).max()?;
    bodies.into_iter().filter(|&node| plain(node) * 10 >= most * 8).min_by_key(|&node| tree.subtree(node).len())
}
