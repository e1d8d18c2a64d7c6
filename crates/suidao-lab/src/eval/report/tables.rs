//! The tables of the report on a comparison: measures at the marks, wins of every pair, all measures at the end.

use super::super::comparison::Scope;
use super::super::measure::Measure;
use super::super::tables::sentence_case;
use super::{Page, shares};
use suidao_view::html::{Column, escape, table, thousands};

impl Page<'_> {
    /// Tables with strategies down and marks across: the share of the oracle, then the measure. One beside the other
    /// would be wider than the page.
    pub(super) fn at_marks(&self, scope: Scope, measure: Measure) -> String {
        let marks = self.comparison.marks();
        let heads: Vec<String> = marks.iter().map(|&mark| format!("{} pages", thousands(mark as u64))).collect();
        let of_measure = |measure: Measure| {
            let of = if measure == Measure::Oracle { self.rivals() } else { self.order.clone() };
            let row = |&strategy: &usize| {
                let name = escape(self.name(strategy));
                let name = if self.is_ahead(strategy) { format!("<strong>{name}</strong>") } else { name };
                let cells = marks.iter().map(|&mark| self.cell(scope, strategy, measure, mark));
                [name].into_iter().chain(cells).collect::<Vec<String>>()
            };
            let rows: Vec<Vec<String>> = of.iter().map(row).collect();
            let title = format!("{} after", measure.title());
            format!("<h3>{}</h3>\n{}", sentence_case(&title), table(&title, &columns(&heads), &rows))
        };
        shares(self.comparison, scope).then_some(Measure::Oracle).into_iter().chain([measure]).map(of_measure).collect()
    }

    /// Who has found more, in how many cases, for every pair.
    pub(super) fn duels(&self) -> String {
        let comparison = self.comparison;
        let (cases, pages) = (comparison.cases(Scope::All), comparison.pages());
        let cell = |one: usize, other: usize| {
            if one == other {
                return String::new();
            }
            let duel = comparison.duel(Scope::All, one, other, pages);
            let lead = duel.wins as f64 - duel.losses as f64;
            let share = 0.45 * lead.abs() / cases.max(1) as f64;
            let class = if lead > 0.0 { "won" } else { "lost" };
            format!("<span class=\"{class}\" style=\"--share:{share:.2}\">{}–{}</span>", duel.wins, duel.losses)
        };
        let heads: Vec<String> = (1..=self.order.len()).map(|number| number.to_string()).collect();
        let row = |(number, &one): (&String, &usize)| {
            let name = format!("{number} {}", escape(self.name(one)));
            [name].into_iter().chain(self.order.iter().map(|&other| cell(one, other))).collect::<Vec<String>>()
        };
        let rows: Vec<Vec<String>> = heads.iter().zip(&self.order).map(row).collect();
        format!(
            "<section id=\"wins\">\n<h2>Wins of every pair</h2>\n<p>Runs in which the strategy of the row has found more \
             relevant pages in {} than that of the column, then those in which it has found fewer; of {cases}, the rest are \
             draws.</p>\n{}</section>\n",
            thousands(pages as u64),
            table("wins of every pair", &columns(&heads), &rows)
        )
    }

    /// All measures at the last mark.
    pub(super) fn all_measures(&self, scope: Scope, several: bool) -> String {
        let pages = self.comparison.pages();
        let known: Vec<Measure> =
            Measure::ALL.into_iter().filter(|&measure| self.comparison.knows(scope, measure)).collect();
        let heads: Vec<String> = known.iter().map(|measure| measure.title().to_owned()).collect();
        let row = |&strategy: &usize| {
            let cells = known.iter().map(|&measure| self.cell(scope, strategy, measure, pages));
            [escape(self.name(strategy))].into_iter().chain(cells).collect::<Vec<String>>()
        };
        let rows: Vec<Vec<String>> = self.order.iter().map(row).collect();
        format!(
            "<details{}>\n<summary>All measures after {} pages</summary>\n{}</details>\n",
            if several { "" } else { " open" },
            thousands(pages as u64),
            table("all measures", &columns(&heads), &rows)
        )
    }

    fn cell(&self, scope: Scope, strategy: usize, measure: Measure, mark: usize) -> String {
        let Some(at) = self.comparison.at(scope, strategy, measure, mark) else { return "–".to_owned() };
        let median = measure.show(at.median);
        match at.range {
            Some((low, high)) => format!("{median} <small>[{}, {}]</small>", measure.show(low), measure.show(high)),
            None => median,
        }
    }
}

fn columns(heads: &[String]) -> Vec<Column<'_>> {
    [Column::Number("strategy")].into_iter().chain(heads.iter().map(|head| Column::Number(head))).collect()
}
