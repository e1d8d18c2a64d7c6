//! The plan of a comparison: a TOML file.

use std::path::PathBuf;

use serde::Deserialize;
use suidao_page::toml_error::line_and_message;
use thiserror::Error;

/// Default pages of a run.
const PAGES: usize = 2_000;

const CUTOFFS: [usize; 6] = [500, 1_000, 2_000, 5_000, 10_000, 20_000];

#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// Strategies by name, or by name and parameter; default: all strategies.
    #[serde(default)]
    pub strategies: Vec<String>,
    /// Counted pages of a run; default: the last cutoff, or 2,000.
    pub pages: Option<usize>,
    #[serde(default)]
    pub cutoffs: Vec<usize>,
    #[serde(default, rename = "task")]
    pub tasks: Vec<TaskPlan>,
}

/// One task. Paths are relative to the plan's file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TaskPlan {
    pub name: String,
    /// The web: `hosts:DIR`, `warc:FILE`, `crawl:DIR`, `world:FILE.toml`.
    pub web: String,
    /// The lexicon; a generated web has its own.
    pub lexicon: Option<PathBuf>,
    /// The layers of the strategy context-graph, from `suidao topic layers`.
    pub layers: Option<PathBuf>,
    /// Seed URLs, one per line; a generated web has its own.
    pub seeds: Option<PathBuf>,
    /// Relevant URLs, one per line; default: the lexicon's page threshold, or the truth of a generated web.
    pub truth: Option<PathBuf>,
    /// Hosts to exclude from fetched and relevant pages, one per line.
    pub exclude: Option<PathBuf>,
    /// Queries of a search over the topic, one per line; default: the first terms of the lexicon.
    pub queries: Option<PathBuf>,
    /// Number of generated webs, with the spec's seed and those after it. A recorded web is run once.
    pub random_seeds: Option<u64>,
}

#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum PlanError {
    /// Not TOML, an unknown key, or a value of another kind.
    #[error("line {line}: {what}")]
    Syntax {
        /// From 1.
        line: usize,
        what: String,
    },
    #[error("{0}")]
    Value(String),
}

impl Plan {
    /// Parses a plan.
    ///
    /// # Errors
    /// [`PlanError`] names the line or the value.
    pub fn parse(text: &str) -> Result<Self, PlanError> {
        let text = text.trim_start_matches('\u{feff}');
        toml::from_str(text).map_err(|error| {
            let (line, what) = line_and_message(text, &error);
            PlanError::Syntax { line, what }
        })
    }

    /// Checks the plan without reading other files.
    ///
    /// # Errors
    /// [`PlanError::Value`] describes the problem.
    pub fn check(&self) -> Result<(), PlanError> {
        let wrong = |text: String| Err(PlanError::Value(text));
        if self.tasks.is_empty() {
            return wrong("no [[task]]; add one with name and web".into());
        }
        if self.pages == Some(0) || self.cutoffs.contains(&0) {
            return wrong("pages and cutoffs must be at least 1".into());
        }
        if self.pages.is_some_and(|pages| pages > 10_000_000) {
            return wrong("pages must be at most 10000000".into());
        }
        for (at, task) in self.tasks.iter().enumerate() {
            if task.random_seeds.is_some_and(|seeds| seeds > 10_000) {
                return wrong(format!("task {}: random_seeds must be at most 10000", task.name));
            }
            if self.tasks[..at].iter().any(|other| other.name == task.name) {
                return wrong(format!("two tasks are named {}; give each a different name", task.name));
            }
            if task.random_seeds == Some(0) {
                return wrong(format!("task {}: random_seeds must be at least 1", task.name));
            }
            if task.exclude.is_some() && task.truth.is_none() {
                return wrong(format!("task {}: exclude needs truth", task.name));
            }
        }
        Ok(())
    }

    /// Pages of a run and the cutoffs up to them, ascending; the last cutoff is the end of the run.
    pub fn cutoffs(&self) -> Vec<usize> {
        let pages = self.pages.or_else(|| self.cutoffs.iter().max().copied()).unwrap_or(PAGES);
        let given = if self.cutoffs.is_empty() { &CUTOFFS[..] } else { &self.cutoffs };
        let mut cutoffs: Vec<usize> = given.iter().copied().filter(|&cutoff| cutoff < pages).chain([pages]).collect();
        cutoffs.sort_unstable();
        cutoffs.dedup();
        cutoffs
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TASK: &str = "[[task]]\nname = 'ml'\nweb = 'hosts:WEB'\n";

    #[test]
    fn a_file_defines_the_comparison() {
        let text = format!(
            "strategies = ['breadth-first', 'dth queue']\ncutoffs = [500, 100]\n{TASK}truth = 'ml/truth.txt'\n"
        );
        let plan = Plan::parse(&text).unwrap();
        plan.check().unwrap();
        assert_eq!((plan.strategies.len(), plan.cutoffs()), (2, vec![100, 500]));
        assert_eq!(plan.tasks[0].truth, Some(PathBuf::from("ml/truth.txt")));
        assert_eq!(Plan { pages: Some(300), ..plan.clone() }.cutoffs(), [100, 300]);
        assert_eq!(Plan::default().cutoffs(), [500, 1_000, 2_000]);
        assert_eq!(Plan { pages: Some(40), ..Plan::default() }.cutoffs(), [40]);
    }

    #[test]
    fn what_does_not_fit_is_reported() {
        for (text, result) in [
            (format!("{TASK}lexikon = 'x'"), "line 4: unknown field"),
            ("[[task]]\nweb = 'x'".into(), "missing field `name`"),
            ("pages = 'many'".into(), "line 1"),
            (String::new(), "no [[task]]"),
            (format!("{TASK}{TASK}"), "two tasks are named ml"),
            (format!("pages = 0\n{TASK}"), "at least 1"),
            (format!("{TASK}random_seeds = 0"), "random_seeds must"),
            (format!("{TASK}exclude = 'x'"), "exclude needs truth"),
        ] {
            let error = Plan::parse(&text).and_then(|plan| plan.check()).unwrap_err().to_string();
            assert!(error.contains(result), "{text}: {error}");
        }
    }
}
