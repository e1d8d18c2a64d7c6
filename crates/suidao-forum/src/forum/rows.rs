//! Finds the extent of each record, given one node inside each.
//!
//! A record may be several consecutive siblings: a header and a body in two rows of a table.

use super::fields::mode;
use super::tree::{NodeId, Tree};

/// The siblings that form each record, one entry per node of `anchors` (ascending).
pub(super) fn rows(tree: &Tree, anchors: &[NodeId]) -> Vec<Vec<NodeId>> {
    let count = |node: NodeId| {
        let range = tree.subtree(node);
        anchors.partition_point(|&at| at < range.end) - anchors.partition_point(|&at| at < range.start)
    };
    let mut tops: Vec<NodeId> = anchors
        .iter()
        .map(|&anchor| {
            let mut top = anchor;
            for up in tree.ancestors(anchor).take_while(|&up| up != 0 && count(up) <= 1) {
                top = up;
            }
            top
        })
        .collect();
    // The last of a list, or one in a box of its own, would include the whole page around it.
    if let Some(depth) = mode(tops.iter().map(|&top| tree.depth(top))) {
        for (top, &anchor) in tops.iter_mut().zip(anchors) {
            if tree.depth(*top) < depth {
                let lower = tree.ancestors(anchor).find(|&up| tree.depth(up) == depth);
                *top = lower.unwrap_or(anchor);
            }
        }
    }
    extend(tree, &tops)
}

/// Adds to each record the siblings up to the next one, if their number is constant.
fn extend(tree: &Tree, tops: &[NodeId]) -> Vec<Vec<NodeId>> {
    let mut whole: Vec<Vec<NodeId>> = tops.iter().map(|&top| vec![top]).collect();
    let mut at = 0;
    while at < tops.len() {
        let parent = tree.parent(tops[at]);
        let mut to = at + 1;
        while to < tops.len() && tree.parent(tops[to]) == parent {
            to += 1;
        }
        if to - at > 1 {
            let siblings: Vec<NodeId> = tree.children(parent).filter(|&child| tree.is_element(child)).collect();
            let positions: Vec<usize> =
                tops[at..to].iter().map(|top| siblings.partition_point(|child| child < top)).collect();
            let gaps = || positions.windows(2).map(|pair| pair[1].saturating_sub(pair[0]).saturating_sub(1));
            let gap = mode(gaps()).unwrap_or(0);
            if gap > 0 && gap <= 8 && gaps().filter(|&own| own == gap).count() * 10 >= (to - at - 1) * 6 {
                let classifier = |from: usize| -> Vec<u64> {
                    siblings.iter().skip(from).take(gap).map(|&sibling| tree.shape(sibling)).collect()
                };
                let between = classifier(positions[0] + 1);
                let last = positions[positions.len() - 1];
                let following = classifier(last + 1) == between;
                let before = positions[0] >= gap && classifier(positions[0] - gap) == between && !following;
                for (row, &position) in whole[at..to].iter_mut().zip(&positions) {
                    // A text after the last element has the position of no sibling.
                    let (from, to) =
                        if before { (position - gap, position + 1) } else { (position, position + 1 + gap) };
                    let range = from.min(siblings.len())..to.min(siblings.len());
                    // Siblings after the last record belong to the page.
                    if !before && position == last && !following {
                        continue;
                    }
                    *row = siblings[range].to_vec();
                }
            }
        }
        at = to;
    }
    whole
}

#[cfg(test)]
mod tests {
    use super::*;
    use suidao_page::model::CrawlUrl;

    #[test]
    fn a_text_after_the_last_element_is_in_no_row_of_elements() {
        let tree = Tree::parse("<hr><b>one</b><hr>two", &CrawlUrl::parse("http://a.cn/").unwrap());
        let texts: Vec<NodeId> = (0..tree.len()).filter(|&node| !tree.own_text(node).is_empty()).collect();
        let [first, second] = &rows(&tree, &texts)[..] else { panic!("{texts:?}") };
        assert_eq!(first.iter().map(|&node| tree.name(node)).collect::<Vec<_>>(), ["hr", "b"]);
        assert_eq!(second.iter().map(|&node| tree.name(node)).collect::<Vec<_>>(), ["hr"]);
    }
}
