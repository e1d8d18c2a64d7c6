//! Inputs of a comparison, for the footer of its report.

use serde::Serialize;

#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ComparisonFacts {
    pub version: String,
    pub in_flight: usize,
    /// The command, without the output path.
    pub command: String,
    pub tasks: Vec<TaskFacts>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct TaskFacts {
    pub name: String,
    pub web: String,
    pub seeds: Vec<u64>,
    pub lexicon: String,
    /// Its digests; every generated web has its own lexicon.
    pub digests: Vec<String>,
    /// τ_page: minimum and maximum.
    pub page_threshold: [f32; 2],
    /// τ_link: minimum and maximum.
    pub link_threshold: [f32; 2],
    pub truth: String,
    /// Number of queries for M and N.
    pub queries: usize,
}

impl TaskFacts {
    pub fn add(&mut self, other: &Self) {
        self.seeds.extend(&other.seeds);
        self.digests
            .extend(other.digests.iter().filter(|digest| !self.digests.contains(digest)).cloned().collect::<Vec<_>>());
        let wider = |[low, high]: [f32; 2], other: [f32; 2]| [low.min(other[0]), high.max(other[1])];
        self.page_threshold = wider(self.page_threshold, other.page_threshold);
        self.link_threshold = wider(self.link_threshold, other.link_threshold);
    }
}

/// Ascending numbers, with ranges as `1–20`.
pub(super) fn ranges(numbers: &[u64]) -> String {
    let mut out: Vec<(u64, u64)> = Vec::new();
    for &number in numbers {
        match out.last_mut() {
            Some((_, last)) if last.checked_add(1) == Some(number) => *last = number,
            _ => out.push((number, number)),
        }
    }
    let words = out.iter().map(|&(from, to)| if from == to { from.to_string() } else { format!("{from}–{to}") });
    words.collect::<Vec<_>>().join(", ")
}
