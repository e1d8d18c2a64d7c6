//! Results of crawls and comparisons of strategies: from the events of replays to measures, intervals, tables and
//! plots.
//!
//! A [`Recorder`] folds one replay into a [`StrategyRun`]; a [`Comparison`] contains the runs of many strategies on the
//! same webs. All output is a function of it, so that repeating a comparison gives the same bytes.

mod access_log;
mod bootstrap;
mod comparison;
pub mod csv;
mod evaluation;
mod graph;
mod measure;
mod oracle;
mod plan;
pub mod queries;
mod report;
mod run;
mod tables;

pub use access_log::{AccessScore, LoggedRequest, PolitenessBroken, ScoreAt, WastedRequests};
pub use bootstrap::{Bootstrap, RESAMPLES};
pub use comparison::{Comparison, ComparisonScope, ORACLE, PairedOutcome};
pub use evaluation::{CrawlEvaluation, QueryResult, StrategyEvaluation};
pub use graph::WebGraph;
pub use measure::{RunMeasure, RunTally, tunnels};
pub use oracle::Oracle;
pub use plan::{Plan, PlanError, TaskPlan};
pub use report::{ComparisonFacts, TaskFacts, report};
pub use run::{KnownTruth, Recorder, RunMeta, RunStep, StrategyRun};
pub use tables::table;
