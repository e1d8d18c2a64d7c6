//! TextRank (Mihalcea & Tarau 2004) over segmented words. (The one of jieba-rs segments again and orders its edges by
//! hash.)
//!
//! S(V_i) = (1-d) + d Σ_j e_ji / Σ_k e_jk · S(V_j), with e = co-occurrences within [`SPAN`] words.

use rustc_hash::FxHashMap;

/// Window of co-occurrence in words, including both (jieba's).
pub const SPAN: usize = 5;
/// Damping factor d.
pub const DAMPING: f64 = 0.85;
/// Number of iterations (jieba's).
pub const SWEEPS: usize = 10;

/// Ranks of the vertices `0..vertices`, the highest 1 (all 0 if none occurs). `words`: the text in order, as vertices,
/// with `None` for a word that only fills a position in the window.
pub fn textrank(words: &[Option<u32>], vertices: usize) -> Vec<f64> {
    let mut weights: FxHashMap<(u32, u32), u32> = FxHashMap::default();
    for (at, from) in words.iter().enumerate() {
        let Some(from) = *from else { continue };
        for to in words.iter().take(at + SPAN).skip(at + 1) {
            match *to {
                Some(to) if to != from => *weights.entry((from.min(to), from.max(to))).or_default() += 1,
                _ => {}
            }
        }
    }
    let mut edges: Vec<((u32, u32), u32)> = weights.into_iter().collect();
    edges.sort_unstable();
    let mut neighbours: Vec<Vec<(u32, f64)>> = vec![Vec::new(); vertices];
    let mut outflow = vec![0.0; vertices];
    for &((a, b), weight) in &edges {
        let weight = f64::from(weight);
        neighbours[a as usize].push((b, weight));
        neighbours[b as usize].push((a, weight));
        outflow[a as usize] += weight;
        outflow[b as usize] += weight;
    }
    let mut occurs = vec![false; vertices];
    for vertex in words.iter().flatten() {
        occurs[*vertex as usize] = true;
    }
    let mut rank: Vec<f64> = occurs.iter().map(|&occurs| f64::from(u8::from(occurs))).collect();
    for _ in 0..SWEEPS {
        for vertex in 0..vertices {
            if occurs[vertex] {
                let inflow: f64 = neighbours[vertex]
                    .iter()
                    .map(|&(from, weight)| weight / outflow[from as usize] * rank[from as usize])
                    .sum();
                rank[vertex] = (1.0 - DAMPING) + DAMPING * inflow;
            }
        }
    }
    let highest = rank.iter().copied().fold(0.0, f64::max);
    if highest > 0.0 {
        for rank in &mut rank {
            *rank /= highest;
        }
    }
    rank
}

/// Whether jieba's part of speech makes a word a candidate: nouns and names, verbs and verbal nouns, words of other
/// scripts, and idioms and abbreviations (`l` and `j`).
pub fn is_candidate(tag: &str) -> bool {
    matches!(tag, "v" | "vn" | "eng" | "l" | "j") || tag.starts_with('n')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hub_of_a_star_ranks_highest() {
        // 0 is between the others, which are never in one window.
        let gap = [None; SPAN];
        let mut words = Vec::new();
        for leaf in 1..=3 {
            words.extend([Some(0), Some(leaf)]);
            words.extend(gap);
        }
        let rank = textrank(&words, 5);
        assert_eq!(rank[0], 1.0);
        // A star's fixed point: hub h = .15 + .85 * 3l, leaf l = .15 + .85 h/3. Ten iterations come close.
        let leaf = (0.15 + 0.85 * 0.15 / 3.0) / (1.0 - 0.85 * 0.85);
        let hub = 0.15 + 0.85 * 3.0 * leaf;
        assert!((rank[1] - leaf / hub).abs() < 0.02, "{}", rank[1]);
        assert_eq!(rank[1], rank[3]);
        assert_eq!(rank[4], 0.0, "it does not occur");
    }

    #[test]
    fn words_outside_the_window_do_not_meet() {
        let near = textrank(&[Some(0), Some(1), Some(0), None, None, None, None, Some(2)], 3);
        assert!(near[2] < near[0] && near[2] > 0.0);
        assert!(textrank(&[], 0).is_empty());
        assert_eq!(textrank(&[None], 1), [0.0]);
    }
}
