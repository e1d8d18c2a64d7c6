//! What a comparison was made with, and how that is told at the foot of its report.

use serde::Serialize;

use super::super::bootstrap::RESAMPLES;
use super::super::comparison::Comparison;
use suidao_view::html::{Column, definitions, escape, table, thousands};

/// What a comparison was made with, for the foot of its report.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Facts {
    /// Version of suidao.
    pub version: String,
    /// Requests under way at one time.
    pub in_flight: usize,
    /// The command, without the place of its output.
    pub command: String,
    /// A line a task.
    pub tasks: Vec<TaskFacts>,
}

/// What a task was.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct TaskFacts {
    /// Its name.
    pub name: String,
    /// The web, as it was named.
    pub web: String,
    /// Random seeds.
    pub seeds: Vec<u64>,
    /// Name of the lexicon.
    pub lexicon: String,
    /// Its digest; every generated world has a lexicon of its own.
    pub digests: Vec<String>,
    /// τ_page: the smallest and the largest.
    pub page_threshold: [f32; 2],
    /// τ_link: the smallest and the largest.
    pub link_threshold: [f32; 2],
    /// What says which pages are relevant.
    pub truth: String,
}

impl TaskFacts {
    /// Takes in another case of the same task.
    pub fn add(&mut self, other: &Self) {
        self.seeds.extend(&other.seeds);
        self.digests
            .extend(other.digests.iter().filter(|digest| !self.digests.contains(digest)).cloned().collect::<Vec<_>>());
        let wider = |[low, high]: [f32; 2], other: [f32; 2]| [low.min(other[0]), high.max(other[1])];
        self.page_threshold = wider(self.page_threshold, other.page_threshold);
        self.link_threshold = wider(self.link_threshold, other.link_threshold);
    }
}

/// How it was made: whoever has this can make it again.
pub(super) fn foot(comparison: &Comparison, facts: &Facts) -> String {
    let marks: Vec<String> = comparison.marks().iter().map(|&mark| thousands(mark as u64)).collect();
    let mut out = String::from("<footer id=\"made\">\n<h3>Made with</h3>\n");
    out += &definitions(&[
        ("suidao", escape(&facts.version)),
        ("command", format!("<code>{}</code>", escape(&facts.command))),
        ("in flight", thousands(facts.in_flight as u64)),
        ("marks", format!("{} pages", marks.join(", "))),
        ("intervals", format!("percentile bootstrap, {} resamples of the runs, paired", thousands(RESAMPLES as u64))),
    ]);
    let columns = [
        Column::Number("task"),
        Column::Text("web"),
        Column::Number("random seeds"),
        Column::Text("lexicon"),
        Column::Text("digest"),
        Column::Number("page threshold"),
        Column::Number("link threshold"),
        Column::Text("relevant is"),
    ];
    let row = |task: &TaskFacts| {
        let first: String = task.digests.iter().flat_map(|digest| digest.chars().take(16)).take(16).collect();
        let more = task.digests.len().saturating_sub(1);
        let digest = if more > 0 { format!("{first} and {more} more") } else { first };
        vec![
            escape(&task.name),
            escape(&task.web),
            ranges(&task.seeds),
            escape(&task.lexicon),
            format!("<code>{}</code>", escape(&digest)),
            span(task.page_threshold),
            span(task.link_threshold),
            escape(&task.truth),
        ]
    };
    out += &table("tasks", &columns, &facts.tasks.iter().map(row).collect::<Vec<_>>());
    out + "<p class=\"note\">A page counts once, when it was answered with 200 and its host is not excluded. A run that ended \
           before a mark is told there as if it had gone on without finding anything.</p>\n</footer>\n"
}

/// One number, or two with a dash.
fn span([low, high]: [f32; 2]) -> String {
    let (low, high) = (format!("{low:.3}"), format!("{high:.3}"));
    if low == high { low } else { format!("{low}–{high}") }
}

/// Rising numbers, runs of them as `1–20`.
fn ranges(numbers: &[u64]) -> String {
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
