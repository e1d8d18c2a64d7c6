//! The tables of the report on a comparison: measures at the marks, wins of every pair, all measures at the end.

use std::fmt::Write;

use super::super::comparison::Scope;
use super::super::measure::Measure;
use super::{Page, shares};
use suidao_view::html::{escape, thousands};
use suidao_view::plot::Interval;

impl Page<'_> {
    /// Tables with strategies down and marks across: the share of the oracle, then the measure. One beside the other
    /// would be wider than the page.
    pub(super) fn at_marks(&self, scope: Scope, measure: Measure) -> String {
        let comparison = self.comparison;
        let mut out = String::new();
        for measure in shares(comparison, scope).then_some(Measure::Oracle).into_iter().chain([measure]) {
            let _ = write!(
                out,
                "<div class=\"wide\"><table class=\"marks\">\n<thead><tr><th rowspan=\"2\" scope=\"col\">strategy</th>\
                 <th colspan=\"{}\" scope=\"colgroup\">{} after</th></tr><tr>",
                comparison.marks().len().max(1),
                measure.title()
            );
            for &mark in comparison.marks() {
                let _ = write!(out, "<th scope=\"col\">{} pages</th>", thousands(mark as u64));
            }
            out += "</tr></thead>\n<tbody>\n";
            let of = if measure == Measure::Oracle { self.rivals() } else { self.order.clone() };
            for strategy in of {
                let class = if self.is_ahead(strategy) { " class=\"ahead\"" } else { "" };
                let _ = write!(out, "<tr{class}><th scope=\"row\">{}</th>", escape(self.name(strategy)));
                for &mark in comparison.marks() {
                    out += &cell(measure, comparison.at(scope, strategy, measure, mark));
                }
                out += "</tr>\n";
            }
            out += "</tbody></table></div>\n";
        }
        out
    }

    /// Who has found more, in how many cases, for every pair.
    pub(super) fn duels(&self) -> String {
        let comparison = self.comparison;
        let (cases, pages) = (comparison.cases(Scope::All), comparison.pages());
        let mut out = String::from("<section id=\"wins\">\n<h2>Wins of every pair</h2>\n");
        let _ = write!(
            out,
            "<p>Runs in which the strategy of the row has found more relevant pages in {} than that of the column, then \
             those in which it has found fewer; of {cases}, the rest are draws.</p>\n\
             <div class=\"wide\"><table class=\"duels\">\n<thead><tr><th scope=\"col\">strategy</th>",
            thousands(pages as u64)
        );
        for (number, &strategy) in self.order.iter().enumerate() {
            let _ = write!(
                out,
                "<th scope=\"col\"><abbr title=\"{}\">{}</abbr></th>",
                escape(self.name(strategy)),
                number + 1
            );
        }
        out += "</tr></thead>\n<tbody>\n";
        for (number, &one) in self.order.iter().enumerate() {
            let _ = write!(out, "<tr><th scope=\"row\">{} {}</th>", number + 1, escape(self.name(one)));
            for &other in &self.order {
                if one == other {
                    out += "<td></td>";
                    continue;
                }
                let duel = comparison.duel(Scope::All, one, other, pages);
                let lead = duel.wins as f64 - duel.losses as f64;
                let share = 0.45 * lead.abs() / cases.max(1) as f64;
                let class = if lead > 0.0 { "won" } else { "lost" };
                let _ = write!(
                    out,
                    "<td class=\"{class}\" style=\"--share:{share:.2}\">{}–{}</td>",
                    duel.wins, duel.losses
                );
            }
            out += "</tr>\n";
        }
        out + "</tbody></table></div>\n</section>\n"
    }

    /// All measures at the last mark.
    pub(super) fn all_measures(&self, scope: Scope, several: bool) -> String {
        let comparison = self.comparison;
        let mut out = String::new();
        let pages = comparison.pages();
        let _ = writeln!(
            out,
            "<details{}>\n<summary>All measures after {} pages</summary>",
            if several { "" } else { " open" },
            thousands(pages as u64)
        );
        out += "<div class=\"wide\"><table>\n<thead><tr><th scope=\"col\">strategy</th>";
        let known = Measure::ALL.into_iter().filter(|&measure| comparison.knows(scope, measure));
        let known: Vec<Measure> = known.collect();
        for measure in &known {
            let _ = write!(out, "<th scope=\"col\">{}</th>", measure.title());
        }
        out += "</tr></thead>\n<tbody>\n";
        for &strategy in &self.order {
            let _ = write!(out, "<tr><th scope=\"row\">{}</th>", escape(self.name(strategy)));
            for &measure in &known {
                out += &cell(measure, comparison.at(scope, strategy, measure, pages));
            }
            out += "</tr>\n";
        }
        out + "</tbody></table></div>\n</details>\n"
    }
}

fn cell(measure: Measure, at: Option<Interval>) -> String {
    let Some(at) = at else { return "<td>–</td>".to_owned() };
    let median = measure.show(at.median);
    match at.range {
        Some((low, high)) => {
            format!("<td>{median} <small>[{}, {}]</small></td>", measure.show(low), measure.show(high))
        }
        None => format!("<td>{median}</td>"),
    }
}
