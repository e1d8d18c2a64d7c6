//! The terminal table: strategies by cutoffs.

use super::comparison::{Comparison, ComparisonScope};
use super::measure::RunMeasure;
use suidao_html::thousands;

/// The headline measure: relevant pages for one task; harvest rate for several, because they differ in their number of
/// relevant pages.
pub(super) fn headline(comparison: &Comparison) -> RunMeasure {
    if comparison.tasks().len() == 1 { RunMeasure::Relevant } else { RunMeasure::Harvest }
}

/// Medians with intervals at every cutoff. With an oracle, shares of its result after as many pages, because the last
/// cutoff alone shows little: long runs all come close to it. The last column is the headline measure.
pub fn table(comparison: &Comparison) -> String {
    let (headline, cutoffs, pages) = (headline(comparison), comparison.cutoffs(), comparison.pages());
    let with_oracle = comparison.oracle().is_some() && comparison.knows(ComparisonScope::All, RunMeasure::Oracle);
    let measure = if with_oracle { RunMeasure::Oracle } else { headline };
    let mut columns: Vec<(RunMeasure, usize)> = cutoffs.iter().map(|&cutoff| (measure, cutoff)).collect();
    let mut head = vec!["strategy".to_owned()];
    head.extend(cutoffs.iter().map(|&cutoff| format!("{} pages", thousands(cutoff as u64))));
    if with_oracle {
        columns.push((headline, pages));
        head.push(format!("{}, {} pages", headline.title(), thousands(pages as u64)));
    }
    let mut rows = vec![head];
    for (strategy, name) in comparison.strategies().iter().enumerate() {
        let mut row = vec![name.clone()];
        row.extend(columns.iter().map(|&(measure, cutoff)| {
            let at = comparison.at(ComparisonScope::All, strategy, measure, cutoff);
            at.map_or_else(|| "-".to_owned(), |at| measure.describe(at))
        }));
        rows.push(row);
    }
    let cases = comparison.cases(ComparisonScope::All);
    let range = if cases > 1 { format!(", median [95% interval] of {cases} runs each") } else { String::new() };
    format!("{}{range}\n\n{}", sentence_case(measure.title()), aligned(&rows))
}

/// The first column left-aligned, all others right-aligned.
fn aligned(rows: &[Vec<String>]) -> String {
    let columns = rows.first().map_or(0, Vec::len);
    let width = |column: usize| rows.iter().map(|row| row[column].len()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let mut out = String::new();
    for row in rows {
        for (column, (cell, &width)) in row.iter().zip(&widths).enumerate() {
            out += &if column == 0 { format!("{cell:<width$}") } else { format!("  {cell:>width$}") };
        }
        out.push('\n');
    }
    out
}

pub(super) fn sentence_case(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::super::comparison::tests::comparison;
    use super::*;

    #[test]
    fn strategies_go_down_and_marks_across() {
        let text = table(&comparison(&[]));
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], "Harvest rate, median [95% interval] of 4 runs each");
        assert_eq!(lines.len(), 2 + 1 + 3, "{text}");
        assert!(lines[2].starts_with("strategy") && lines[2].ends_with("200 pages"), "{text}");
        // It ended after 40 pages: 30 relevant of 50, then of 200.
        let early = lines.iter().find(|line| line.starts_with("best-first hard")).unwrap();
        assert!(early.contains("60.0% [60.0%, 60.0%]") && early.ends_with("15.0% [15.0%, 15.0%]"), "{text}");
        assert!(lines[2..].iter().all(|line| line.len() == lines[2].len()), "{text}");
    }

    #[test]
    fn with_an_oracle_its_share_stands_at_every_mark() {
        let text = table(&comparison(&["oracle"]));
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], "Share of the oracle, median [95% interval] of 4 runs each");
        assert_eq!(lines.len(), 2 + 1 + 4, "{text}");
        assert!(lines[2].ends_with("harvest rate, 200 pages"), "{text}");
        let cells = |name: &str| {
            let line = lines.iter().find(|line| line.starts_with(name)).unwrap();
            let cells = line[name.len()..].split("  ").map(str::trim).filter(|cell| !cell.is_empty());
            cells.map(|cell| cell.split(' ').next().unwrap()).collect::<Vec<_>>()
        };
        assert_eq!(cells("breadth-first"), ["14.0%", "12.5%", "12.5%"], "{text}");
        assert_eq!(cells("best-first hard"), ["60.0%", "15.0%", "15.0%"], "{text}");
        assert_eq!(cells("oracle"), ["100.0%"; 3], "{text}");
        assert!(lines[2..].iter().all(|line| line.len() == lines[2].len()), "{text}");
    }
}
