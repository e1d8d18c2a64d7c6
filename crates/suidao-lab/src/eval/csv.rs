//! Writes a comparison as CSV files: curves, medians, paired wins.

use std::io::Write;

use serde::Serialize;

use super::comparison::{Comparison, ComparisonScope};
use super::measure::RunMeasure;
use suidao_page::visible::Visible;

/// A line of `curves.csv`: the tally of one run.
#[derive(Serialize)]
struct CurveRow<'a> {
    task: &'a str,
    seed: u64,
    strategy: &'a str,
    pages: usize,
    relevant: usize,
    harvest: f64,
    recall: Option<f64>,
    islands: usize,
    /// N and M: pages that the queries find, and relevant ones among them.
    hits: usize,
    relevant_hits: usize,
    hosts: usize,
}

/// Writes a line per run for every 100 pages and every cutoff. The last line of a run that ended early is its end.
///
/// # Errors
/// Those of the output.
pub fn curves(comparison: &Comparison, out: impl Write) -> Result<(), csv::Error> {
    let mut out = csv::Writer::from_writer(Visible::new(out));
    for (_, run, tallies) in comparison.runs() {
        let result = |point: usize| point.is_multiple_of(100) || comparison.cutoffs().contains(&point);
        for (&point, tally) in comparison.points().iter().zip(tallies) {
            if !result(point) && tally.pages == point {
                continue;
            }
            out.serialize(CurveRow {
                task: &run.task,
                seed: run.seed,
                strategy: &run.strategy,
                pages: tally.pages,
                relevant: tally.relevant,
                harvest: rounded(tally.relevant as f64 / tally.pages.max(1) as f64),
                recall: RunMeasure::Recall.of(run, tally, None).map(rounded),
                islands: tally.islands,
                hits: tally.hits,
                relevant_hits: tally.relevant_hits,
                hosts: tally.hosts,
            })?;
            if tally.pages < point {
                break;
            }
        }
    }
    Ok(out.flush()?)
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SummaryRow<'a> {
    /// Empty for all tasks.
    pub task: &'a str,
    pub strategy: &'a str,
    pub pages: usize,
    pub measure: &'static str,
    pub cases: usize,
    pub median: f64,
    /// Lower end of the 95% interval; `None` for a single case.
    pub low: Option<f64>,
    pub high: Option<f64>,
}

/// Every measure of every strategy at every cutoff, for all tasks (if there are several) and for each.
pub fn summary_rows(comparison: &Comparison) -> Vec<SummaryRow<'_>> {
    let mut rows = Vec::new();
    for (scope, task) in scopes(comparison) {
        for (strategy, name) in comparison.strategies().iter().enumerate() {
            for &pages in comparison.cutoffs() {
                for measure in RunMeasure::ALL {
                    let Some(interval) = comparison.at(scope, strategy, measure, pages) else { continue };
                    rows.push(SummaryRow {
                        task,
                        strategy: name,
                        pages,
                        measure: measure.key(),
                        cases: comparison.cases(scope),
                        median: rounded(interval.median),
                        low: interval.range.map(|(low, _)| rounded(low)),
                        high: interval.range.map(|(_, high)| rounded(high)),
                    });
                }
            }
        }
    }
    rows
}

/// Writes [`summary_rows`]. Errors are those of the output.
pub fn summary(comparison: &Comparison, out: impl Write) -> Result<(), csv::Error> {
    write(summary_rows(comparison), out)
}

/// A line of `wins.csv`: a pair of strategies.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct WinRow<'a> {
    /// Empty for all tasks.
    pub task: &'a str,
    pub pages: usize,
    pub strategy: &'a str,
    pub against: &'a str,
    /// Cases in which the first found more relevant pages.
    pub wins: usize,
    pub ties: usize,
    pub losses: usize,
}

/// Every ordered pair of strategies, at every cutoff.
pub fn win_rows(comparison: &Comparison) -> Vec<WinRow<'_>> {
    let mut rows = Vec::new();
    for (scope, task) in scopes(comparison) {
        for &pages in comparison.cutoffs() {
            for (one, strategy) in comparison.strategies().iter().enumerate() {
                for (other, against) in comparison.strategies().iter().enumerate().filter(|&(other, _)| other != one) {
                    let outcome = comparison.paired_outcome(scope, one, other, pages);
                    let (wins, ties, losses) = (outcome.wins, outcome.ties, outcome.losses);
                    rows.push(WinRow { task, pages, strategy, against, wins, ties, losses });
                }
            }
        }
    }
    rows
}

/// Writes [`win_rows`]. Errors are those of the output.
pub fn wins(comparison: &Comparison, out: impl Write) -> Result<(), csv::Error> {
    write(win_rows(comparison), out)
}

fn write(rows: Vec<impl Serialize>, out: impl Write) -> Result<(), csv::Error> {
    let mut out = csv::Writer::from_writer(Visible::new(out));
    rows.into_iter().try_for_each(|row| out.serialize(row))?;
    Ok(out.flush()?)
}

fn scopes(comparison: &Comparison) -> impl Iterator<Item = (ComparisonScope, &str)> {
    let all = (comparison.tasks().len() > 1).then_some((ComparisonScope::All, ""));
    let each = comparison.tasks().iter().enumerate().map(|(task, name)| (ComparisonScope::Task(task), name.as_str()));
    all.into_iter().chain(each)
}

fn rounded(value: f64) -> f64 {
    (value * 1e6).round() / 1e6
}

#[cfg(test)]
mod tests {
    use super::super::comparison::tests::comparison;
    use super::*;

    fn written(write: impl Fn(&mut Vec<u8>) -> Result<(), csv::Error>) -> String {
        let mut out = Vec::new();
        write(&mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn curves_have_a_line_per_hundred_pages_and_mark() {
        let text = written(|out| curves(&comparison(&[]), out));
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], "task,seed,strategy,pages,relevant,harvest,recall,islands,hits,relevant_hits,hosts");
        assert_eq!(lines[1], "sports & games,1,breadth-first,50,7,0.14,0.175,3,25,0,5");
        let ended: Vec<&&str> =
            lines.iter().filter(|line| line.starts_with("sports & games,1,best-first hard")).collect();
        assert_eq!(ended.len(), 1, "{text}");
        assert!(ended[0].starts_with("sports & games,1,best-first hard,40,30,0.75,0.75"), "{text}");
        // 50, 100, 200 for two strategies, one for the third, in each of four cases.
        assert_eq!(lines.len(), 1 + 4 * 7, "{text}");
    }

    #[test]
    fn the_summary_has_every_median() {
        let comparison = comparison(&["oracle"]);
        let rows = summary_rows(&comparison);
        assert_eq!(rows.len(), 3 * 4 * 2 * RunMeasure::ALL.len());
        let row = rows.iter().find(|row| row.strategy == "dth link-scored" && row.measure == "of_oracle").unwrap();
        assert_eq!((row.task, row.pages, row.cases, row.median, row.low), ("", 50, 4, 0.5, Some(0.5)));
        let text = written(|out| summary(&comparison, out));
        assert!(text.starts_with("task,strategy,pages,measure,cases,median,low,high\n,breadth-first,50,relevant,4,"));
    }

    #[test]
    fn wins_are_reported_both_ways() {
        let text = written(|out| wins(&comparison(&[]), out));
        assert!(text.contains("\n,200,dth link-scored,breadth-first,4,0,0\n"), "{text}");
        assert!(text.contains("\nml,200,breadth-first,dth link-scored,0,0,2\n"), "{text}");
        assert_eq!(text.lines().count(), 1 + 3 * 2 * 6);
    }
}
