//! Tables of the comparison report: measures at the cutoffs, paired wins, all measures at the end.

use minijinja::{Value, context};

use super::super::comparison::ComparisonScope;
use super::super::measure::RunMeasure;
use super::super::tables::sentence_case;
use super::{Page, shares};
use suidao_html::{html, thousands};

impl Page<'_> {
    /// Tables of strategies by cutoffs: the share of the oracle, then the measure. Side by side they would be wider
    /// than the page.
    pub(super) fn at_cutoffs(&self, scope: ComparisonScope, measure: RunMeasure) -> Value {
        let cutoffs = self.comparison.cutoffs();
        let of_measure = |measure: RunMeasure| {
            let heads: Value = cutoffs.iter().map(|&cutoff| format!("{} pages", thousands(cutoff as u64))).collect();
            let row = |strategy: usize| {
                let cells: Value = cutoffs.iter().map(|&cutoff| self.cell(scope, strategy, measure, cutoff)).collect();
                context! { name => self.name(strategy), ahead => self.is_ahead(strategy), cells }
            };
            let title = format!("{} after", measure.title());
            let heading = sentence_case(&title);
            (title, heading, heads, self.of(measure).into_iter().map(row).collect::<Value>())
        };
        shares(self.comparison, scope)
            .then_some(RunMeasure::Oracle)
            .into_iter()
            .chain([measure])
            .map(of_measure)
            .collect()
    }

    pub(super) fn paired_outcomes(&self) -> Value {
        let comparison = self.comparison;
        let (cases, pages) = (comparison.cases(ComparisonScope::All), comparison.pages());
        let cell = |one: usize, other: usize| {
            if one == other {
                return Value::from("");
            }
            let outcome = comparison.paired_outcome(ComparisonScope::All, one, other, pages);
            let lead = outcome.wins as f64 - outcome.losses as f64;
            let share = 0.45 * lead.abs() / cases.max(1) as f64;
            let class = if lead > 0.0 { "won" } else { "lost" };
            html(format!(
                "<span class=\"{class}\" style=\"--share:{share:.2}\">{}–{}</span>",
                outcome.wins, outcome.losses
            ))
        };
        let row = |(number, &one): (usize, &usize)| {
            let cells: Value = self.order.iter().map(|&other| cell(one, other)).collect();
            context! { name => format!("{number} {}", self.name(one)), cells }
        };
        context! {
            heads => (1..=self.order.len()).map(|number| number.to_string()).collect::<Value>(),
            rows => (1..).zip(&self.order).map(row).collect::<Value>(),
        }
    }

    pub(super) fn all_measures(&self, scope: ComparisonScope) -> Value {
        let pages = self.comparison.pages();
        let known: Vec<RunMeasure> =
            RunMeasure::ALL.into_iter().filter(|&measure| self.comparison.knows(scope, measure)).collect();
        let row = |&strategy: &usize| {
            let cells: Value = known.iter().map(|&measure| self.cell(scope, strategy, measure, pages)).collect();
            context! { name => self.name(strategy), cells }
        };
        context! {
            heads => known.iter().map(|measure| measure.title()).collect::<Value>(),
            rows => self.order.iter().map(row).collect::<Value>(),
        }
    }

    fn cell(&self, scope: ComparisonScope, strategy: usize, measure: RunMeasure, cutoff: usize) -> Value {
        let Some(at) = self.comparison.at(scope, strategy, measure, cutoff) else { return Value::from("–") };
        let median = measure.show(at.median);
        match at.range {
            Some((low, high)) => {
                html(format!("{median} <small>[{}, {}]</small>", measure.show(low), measure.show(high)))
            }
            None => Value::from(median),
        }
    }
}
