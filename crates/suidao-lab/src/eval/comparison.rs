//! Compares strategies on the same webs: medians and intervals of every measure, and paired wins.

use std::cmp::Ordering;

use rayon::prelude::*;

use super::bootstrap::Bootstrap;
use super::measure::{RunMeasure, RunTally, tunnels};
use super::run::StrategyRun;
use suidao_html::plot::Interval;

/// The strategy that knows the truth; other strategies are measured relative to it.
pub const ORACLE: &str = "oracle";

/// Maximum points of a curve.
const DRAWN: usize = 50;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ComparisonScope {
    /// All tasks: the median of the tasks' medians.
    All,
    Task(usize),
}

/// In how many cases one strategy found more than another, equally much, or less.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PairedOutcome {
    pub wins: usize,
    pub ties: usize,
    pub losses: usize,
}

/// One task and random seed: a run per strategy, with its tally at every point.
struct Case {
    task: usize,
    seed: u64,
    runs: Vec<Option<(StrategyRun, Vec<RunTally>)>>,
}

pub struct Comparison {
    strategies: Vec<String>,
    tasks: Vec<String>,
    cutoffs: Vec<usize>,
    /// Ascending page counts of the tallies: every 100 pages, the cutoffs, and the points of curves.
    points: Vec<usize>,
    cases: Vec<Case>,
    /// For all cases, then for each task.
    resamples: Vec<Bootstrap>,
    /// Cached intervals at the cutoffs, by scope, strategy, measure and cutoff.
    at_cutoffs: Vec<Option<Interval>>,
}

impl Comparison {
    /// Groups runs by case; tasks, seeds and strategies keep the order of `runs`. Ignores cutoffs of 0.
    pub fn new(cutoffs: &[usize], runs: Vec<StrategyRun>) -> Self {
        fn number(names: &mut Vec<String>, name: &str) -> usize {
            names.iter().position(|known| known == name).unwrap_or_else(|| {
                names.push(name.to_owned());
                names.len() - 1
            })
        }
        let mut cutoffs: Vec<usize> = cutoffs.iter().copied().filter(|&cutoff| cutoff > 0).collect();
        cutoffs.sort_unstable();
        cutoffs.dedup();
        let last = cutoffs.last().copied().unwrap_or(0);
        let hundreds = (100..=last).step_by(100);
        let drawn = (1..=DRAWN).map(|part| (last * part).div_ceil(DRAWN)).filter(|&point| point > 0);
        let mut points: Vec<usize> = hundreds.chain(drawn).chain(cutoffs.iter().copied()).collect();
        points.sort_unstable();
        points.dedup();

        let (mut strategies, mut tasks, mut cases) = (Vec::new(), Vec::new(), Vec::<Case>::new());
        for run in runs {
            let (task, strategy) = (number(&mut tasks, &run.task), number(&mut strategies, &run.strategy));
            let at = cases.iter().position(|case| case.task == task && case.seed == run.seed).unwrap_or_else(|| {
                cases.push(Case { task, seed: run.seed, runs: Vec::new() });
                cases.len() - 1
            });
            let runs = &mut cases[at].runs;
            if runs.len() <= strategy {
                runs.resize_with(strategy + 1, || None);
            }
            let tallies = run.at(&points);
            runs[strategy] = Some((run, tallies));
        }
        let of = |task| (0..cases.len()).filter(|&case| cases[case].task == task).collect::<Vec<_>>();
        let groups: Vec<Vec<usize>> = (0..tasks.len()).map(of).collect();
        let mut resamples = vec![Bootstrap::new(groups.clone())];
        resamples.extend(groups.into_iter().map(|group| Bootstrap::new(vec![group])));
        let mut made = Self { strategies, tasks, cutoffs, points, cases, resamples, at_cutoffs: Vec::new() };
        let scopes = [ComparisonScope::All].into_iter().chain((0..made.tasks.len()).map(ComparisonScope::Task));
        let cells = scopes.flat_map(|scope| (0..made.strategies.len()).map(move |strategy| (scope, strategy)));
        let cells: Vec<(ComparisonScope, usize)> = cells.collect();
        let of_cell = |&(scope, strategy): &(ComparisonScope, usize)| {
            let cutoffs = |measure| made.cutoffs.iter().map(move |&cutoff| (measure, cutoff));
            let of = RunMeasure::ALL.into_iter().flat_map(cutoffs).map(|(measure, cutoff)| {
                made.interval(scope, strategy, measure, made.points.binary_search(&cutoff).ok()?)
            });
            of.collect::<Vec<_>>()
        };
        made.at_cutoffs = cells.par_iter().flat_map_iter(of_cell).collect();
        made
    }

    pub fn strategies(&self) -> &[String] {
        &self.strategies
    }

    pub fn tasks(&self) -> &[String] {
        &self.tasks
    }

    /// Cutoffs in pages, ascending.
    pub fn cutoffs(&self) -> &[usize] {
        &self.cutoffs
    }

    /// The last cutoff; 0 without cutoffs.
    pub fn pages(&self) -> usize {
        self.cutoffs.last().copied().unwrap_or(0)
    }

    pub fn oracle(&self) -> Option<usize> {
        self.strategies.iter().position(|name| name == ORACLE)
    }

    pub fn cases(&self, scope: ComparisonScope) -> usize {
        self.cases_of(scope).count()
    }

    pub fn knows(&self, scope: ComparisonScope, measure: RunMeasure) -> bool {
        let strategies = 0..self.strategies.len();
        strategies.into_iter().any(|strategy| self.at(scope, strategy, measure, self.pages()).is_some())
    }

    pub(super) fn runs(&self) -> impl Iterator<Item = (usize, &StrategyRun, &[RunTally])> {
        self.cases.iter().flat_map(|case| {
            case.runs
                .iter()
                .enumerate()
                .filter_map(|(strategy, run)| run.as_ref().map(|(run, tallies)| (strategy, run, tallies.as_slice())))
        })
    }

    pub(super) fn points(&self) -> &[usize] {
        &self.points
    }

    /// Median and interval of a measure at a cutoff; `None` if no run has it.
    pub fn at(&self, scope: ComparisonScope, strategy: usize, measure: RunMeasure, cutoff: usize) -> Option<Interval> {
        let scope = match scope {
            ComparisonScope::All => 0,
            ComparisonScope::Task(task) => 1 + task,
        };
        let cutoff = self.cutoffs.binary_search(&cutoff).ok()?;
        let measure = RunMeasure::ALL.into_iter().position(|known| known == measure)?;
        let cell = (scope * self.strategies.len() + strategy) * RunMeasure::ALL.len() + measure;
        *self.at_cutoffs.get(cell * self.cutoffs.len() + cutoff)?
    }

    /// A measure by pages for a plot, as (pages, interval), up to the end of the longest run.
    pub fn curve(&self, scope: ComparisonScope, strategy: usize, measure: RunMeasure) -> Vec<(usize, Interval)> {
        let longest = self.longest(scope, strategy);
        let step = self.pages().div_ceil(DRAWN).max(1);
        let mut drawn: Vec<usize> = Vec::new();
        let mut before = 0;
        for (at, &point) in self.points.iter().enumerate() {
            if point - before >= step || point == self.pages() {
                drawn.push(at);
                before = point;
            }
        }
        let reached = drawn.iter().take_while(|&&at| self.points[at] < longest).count();
        drawn.truncate(reached + 1);
        let interval = |at: usize| {
            let interval = self.interval(scope, strategy, measure, at)?;
            Some((self.points[at].min(longest), interval))
        };
        drawn.into_par_iter().filter_map(interval).collect()
    }

    pub fn longest(&self, scope: ComparisonScope, strategy: usize) -> usize {
        let length = |case: &Case| Some(case.runs.get(strategy)?.as_ref()?.0.steps.len());
        self.cases_of(scope).filter_map(length).max().unwrap_or(0).min(self.pages())
    }

    /// Cases in which strategy `one` found more, equally many or fewer relevant pages than `other` at a cutoff.
    pub fn paired_outcome(&self, scope: ComparisonScope, one: usize, other: usize, cutoff: usize) -> PairedOutcome {
        let mut outcome = PairedOutcome::default();
        let Ok(point) = self.points.binary_search(&cutoff) else { return outcome };
        for case in self.cases_of(scope) {
            let relevant = |strategy: usize| Some(case.runs.get(strategy)?.as_ref()?.1[point].relevant);
            let (Some(one), Some(other)) = (relevant(one), relevant(other)) else { continue };
            match one.cmp(&other) {
                Ordering::Greater => outcome.wins += 1,
                Ordering::Equal => outcome.ties += 1,
                Ordering::Less => outcome.losses += 1,
            }
        }
        outcome
    }

    /// Tunnel lengths before relevant pages, over all runs of a strategy: see [`tunnels`].
    pub fn tunnels(&self, scope: ComparisonScope, strategy: usize) -> Vec<u32> {
        let mut sum: Vec<u32> = Vec::new();
        for (run, _) in self.cases_of(scope).filter_map(|case| case.runs.get(strategy)?.as_ref()) {
            let lengths = tunnels(run, self.pages());
            sum.resize(sum.len().max(lengths.len()), 0);
            for (sum, length) in sum.iter_mut().zip(lengths) {
                *sum += length;
            }
        }
        sum
    }

    fn cases_of(&self, scope: ComparisonScope) -> impl Iterator<Item = &Case> {
        self.cases.iter().filter(move |case| scope == ComparisonScope::All || scope == ComparisonScope::Task(case.task))
    }

    fn interval(&self, scope: ComparisonScope, strategy: usize, measure: RunMeasure, point: usize) -> Option<Interval> {
        let value = |case: &Case| {
            let (run, tallies) = case.runs.get(strategy)?.as_ref()?;
            let oracle = self.oracle().and_then(|oracle| case.runs.get(oracle)?.as_ref());
            measure.of(run, &tallies[point], oracle.map(|(_, tallies)| &tallies[point]))
        };
        let values: Vec<Option<f64>> = self.cases.iter().map(value).collect();
        let resamples = match scope {
            ComparisonScope::All => &self.resamples[0],
            ComparisonScope::Task(task) => self.resamples.get(1 + task)?,
        };
        resamples.interval(&values)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::super::run::tests::by_hand;
    use super::*;

    /// Two tasks with two seeds each and three strategies, one of which ends early.
    pub(in crate::eval) fn comparison(extra: &[&str]) -> Comparison {
        let mut runs = Vec::new();
        for task in ["sports & games", "ml"] {
            for seed in 1..=2 {
                let more = "-+".repeat(seed as usize);
                runs.push(by_hand(task, seed, "breadth-first", &("-+------".repeat(30) + &more)));
                runs.push(by_hand(task, seed, "dth link-scored", &("-++-".repeat(60) + &more)));
                runs.push(by_hand(task, seed, "best-first hard", &"++-+".repeat(10)));
                runs.extend(extra.iter().map(|name| by_hand(task, seed, name, &"+".repeat(250))));
            }
        }
        Comparison::new(&[200, 50], runs)
    }

    #[test]
    fn medians_are_of_the_runs_side_by_side() {
        let comparison = comparison(&["oracle"]);
        assert_eq!(comparison.strategies(), ["breadth-first", "dth link-scored", "best-first hard", "oracle"]);
        assert_eq!(
            (comparison.cutoffs(), comparison.cases(ComparisonScope::All), comparison.cases(ComparisonScope::Task(1))),
            (&[50, 200][..], 4, 2)
        );
        let at = |strategy, measure, cutoff| {
            comparison.at(ComparisonScope::All, strategy, measure, cutoff).map(|i| i.median)
        };
        assert_eq!(at(0, RunMeasure::Relevant, 200), Some(25.0));
        assert_eq!(at(1, RunMeasure::Oracle, 200), Some(0.5));
        assert_eq!(at(2, RunMeasure::Harvest, 200), Some(0.15), "of 200 pages, though it ended at 40");
        assert_eq!(at(1, RunMeasure::Relevant, 70), None, "no cutoff");
    }

    #[test]
    fn without_an_oracle_there_is_no_share_of_it() {
        let comparison = comparison(&[]);
        assert!(
            !comparison.knows(ComparisonScope::All, RunMeasure::Oracle)
                && comparison.knows(ComparisonScope::All, RunMeasure::Islands)
        );
    }

    #[test]
    fn curves_end_where_the_longest_run_ends() {
        let comparison = comparison(&[]);
        let last = |strategy| {
            comparison.curve(ComparisonScope::Task(0), strategy, RunMeasure::Relevant).last().copied().unwrap()
        };
        assert_eq!(last(0).0, 200);
        assert_eq!((last(2).0, last(2).1.median), (40, 30.0));
    }

    #[test]
    fn paired_outcomes_are_counted_per_case() {
        let comparison = comparison(&[]);
        let outcome = |one, other, cutoff| comparison.paired_outcome(ComparisonScope::All, one, other, cutoff);
        assert_eq!(outcome(1, 0, 200), PairedOutcome { wins: 4, ties: 0, losses: 0 });
        assert_eq!(outcome(0, 1, 200), PairedOutcome { wins: 0, ties: 0, losses: 4 });
        assert_eq!(outcome(2, 2, 50).ties, 4);
    }

    #[test]
    fn tunnels_are_those_of_all_runs() {
        let comparison = comparison(&[]);
        let tunnels = comparison.tunnels(ComparisonScope::Task(0), 2);
        assert_eq!(tunnels.iter().sum::<u32>(), 60);
        assert_eq!(comparison.tunnels(ComparisonScope::All, 2).iter().sum::<u32>(), 120);
    }
}
