//! A comparison as one self-contained HTML page (`report.html`), without scripts and external resources.

mod facts;
mod tables;

use std::collections::BTreeMap;

use minijinja::context;
use minijinja::value::{Serde, Value};

use super::bootstrap::RESAMPLES;
use super::comparison::{Comparison, ComparisonScope, PairedOutcome};
use super::measure::RunMeasure;
use super::tables::{headline, sentence_case};
use facts::ranges;
pub use facts::{ComparisonFacts, TaskFacts};
use suidao_html::plot::{
    self, Along, CurveLine, Interval, IntervalRow, LineStyle, bars, curves, intervals, panels, tunnel_shares,
};
use suidao_html::{self as html, fill, html, thousands};
use suidao_page::messages::Lang;

/// The whole page. The same comparison and facts give the same bytes.
pub fn report(comparison: &Comparison, facts: &ComparisonFacts) -> String {
    let page = Page { comparison, order: order(comparison) };
    let several = comparison.tasks().len() > 1;
    let second = if several { RunMeasure::Recall } else { RunMeasure::Relevant };
    let shown = if comparison.knows(ComparisonScope::All, second) { second } else { RunMeasure::Harvest };
    let pages = comparison.pages();
    let task = |(task, name): (usize, &String)| {
        let scope = ComparisonScope::Task(task);
        let (curves, cutoffs) =
            (page.curves(scope, RunMeasure::Relevant), page.at_cutoffs(scope, RunMeasure::Relevant));
        context! { name, curves, cutoffs, all => page.all_measures(scope) }
    };
    let context = context! {
        several,
        strategies => comparison.strategies().len(),
        tasks => comparison.tasks().iter().enumerate().map(task).collect::<Value>(),
        cases => comparison.cases(ComparisonScope::All),
        pages => thousands(pages as u64),
        ahead => page.ahead(),
        of_crawl => facts.tasks.iter().any(|task| task.web.starts_with("crawl:")),
        cutoffs => page.at_cutoffs(ComparisonScope::All, headline(comparison)),
        intervals => page.intervals(),
        curves => page.curves(ComparisonScope::All, second),
        panels_title => sentence_case(shown.title()),
        panels => html(panels(&page.lines(ComparisonScope::All, shown), shown.title(), shown.is_share(), pages, "ghosts", |value| {
            shown.show(value)
        })),
        tunnels => page.tunnels().map(html),
        paired_outcomes => page.paired_outcomes(),
        facts => Value::from(Serde(facts)),
        seeds => facts.tasks.iter().map(|task| (task.name.clone(), ranges(&task.seeds))).collect::<BTreeMap<_, _>>(),
        cutoff_names => comparison.cutoffs().iter().map(|&cutoff| thousands(cutoff as u64)).collect::<Value>(),
        resamples => RESAMPLES,
    };
    let body = fill(Lang::English, include_str!("report.html"), context);
    html::page("suidao: strategies compared", Lang::English, &[plot::STYLE, include_str!("report.css")], &body)
}

/// Strategies, the best first, ties in the given order. With an oracle by the mean over cutoffs of the share of it,
/// because at the end all are close to it; else by the headline measure at the last cutoff.
fn order(comparison: &Comparison) -> Vec<usize> {
    let last = [comparison.pages()];
    let (measure, cutoffs) = match shares(comparison, ComparisonScope::All) {
        true => (RunMeasure::Oracle, comparison.cutoffs()),
        false => (headline(comparison), &last[..]),
    };
    let sum = |&strategy: &usize| -> f64 {
        let at = |&cutoff: &usize| {
            comparison.at(ComparisonScope::All, strategy, measure, cutoff).map_or(-1.0, |at| at.median)
        };
        cutoffs.iter().map(at).sum()
    };
    let mut order: Vec<usize> = (0..comparison.strategies().len()).collect();
    order.sort_by(|one, other| sum(other).total_cmp(&sum(one)));
    order
}

fn shares(comparison: &Comparison, scope: ComparisonScope) -> bool {
    comparison.oracle().is_some() && comparison.knows(scope, RunMeasure::Oracle)
}

struct Page<'a> {
    comparison: &'a Comparison,
    /// Strategies, the best first.
    order: Vec<usize>,
}

impl Page<'_> {
    fn name(&self, strategy: usize) -> &str {
        &self.comparison.strategies()[strategy]
    }

    fn style(&self, strategy: usize) -> LineStyle {
        match self.comparison.oracle() {
            Some(oracle) if oracle == strategy => LineStyle::Oracle,
            Some(oracle) if oracle < strategy => LineStyle::Nth(strategy - 1),
            _ => LineStyle::Nth(strategy),
        }
    }

    fn contestants(&self) -> Vec<usize> {
        let oracle = self.comparison.oracle();
        self.order.iter().copied().filter(|strategy| Some(*strategy) != oracle).collect()
    }

    /// Strategies for a measure; the oracle's share of itself is omitted.
    fn of(&self, measure: RunMeasure) -> Vec<usize> {
        if measure == RunMeasure::Oracle { self.contestants() } else { self.order.clone() }
    }

    /// Whether it is the best strategy except the oracle, and no other is as good.
    fn is_ahead(&self, strategy: usize) -> bool {
        self.contestants().first() == Some(&strategy) && !self.second().is_some_and(|(_, outcome)| is_tie(outcome))
    }

    /// The second strategy, and the runs of the first against it.
    fn second(&self) -> Option<(usize, PairedOutcome)> {
        let (comparison, contestants) = (self.comparison, self.contestants());
        let (&first, &second) = contestants.first().zip(contestants.get(1))?;
        Some((second, comparison.paired_outcome(ComparisonScope::All, first, second, comparison.pages())))
    }

    /// The best strategy, its lead and the second; `None` without competitors.
    fn ahead(&self) -> Option<Value> {
        let (comparison, contestants, pages) = (self.comparison, self.contestants(), self.comparison.pages());
        let &first = contestants.first()?;
        let at = |measure: RunMeasure, cutoff: usize| {
            comparison.at(ComparisonScope::All, first, measure, cutoff).map(|at| measure.describe(at))
        };
        let conclusion = if shares(comparison, ComparisonScope::All) {
            let cutoffs = comparison.cutoffs().iter();
            let part = |&cutoff: &usize| {
                Some(format!("{} after {}", at(RunMeasure::Oracle, cutoff)?, thousands(cutoff as u64)))
            };
            format!("share of the oracle: {} pages", cutoffs.filter_map(part).collect::<Vec<_>>().join(", "))
        } else {
            let measure = headline(comparison);
            format!("{} {}", at(measure, pages).unwrap_or_default(), measure.title())
        };
        let second = self.second().map(|(second, outcome)| {
            let (second, is_tie) = (self.name(second), is_tie(outcome));
            context! { second, is_tie, wins => outcome.wins, losses => outcome.losses, ties => outcome.ties }
        });
        Some(context! { name => self.name(first), conclusion, ..second.unwrap_or_else(|| context! {}) })
    }

    /// Plots of the share of the oracle at every cutoff (at the last it is near 1 for all), of the headline measure and
    /// of island recall.
    fn intervals(&self) -> Value {
        let comparison = self.comparison;
        let shares = comparison.cutoffs().iter().map(|&cutoff| (RunMeasure::Oracle, cutoff));
        let last = [headline(comparison), RunMeasure::Islands].map(|measure| (measure, comparison.pages()));
        let plot = |(measure, cutoff): (RunMeasure, usize)| {
            let known = |&strategy: &usize| {
                let at = comparison.at(ComparisonScope::All, strategy, measure, cutoff)?;
                let (name, style) = (self.name(strategy), self.style(strategy));
                Some(IntervalRow { name, style, at, text: measure.describe(at), ahead: self.is_ahead(strategy) })
            };
            let mut rows: Vec<IntervalRow> = self.of(measure).iter().filter_map(known).collect();
            rows.sort_by(|one, other| other.at.median.total_cmp(&one.at.median));
            let title = format!("{} after {} pages", sentence_case(measure.title()), thousands(cutoff as u64));
            let known = comparison.knows(ComparisonScope::All, measure) && !rows.is_empty();
            known.then(|| (html(intervals(&rows, &title, measure.is_share())), ""))
        };
        shares.chain(last).filter_map(plot).collect()
    }

    /// Plots of the harvest rate, of the precision of queries (figure 6 of Jiang, Zhu, Wang 2020) and of another measure
    /// (figure 7).
    fn curves(&self, scope: ComparisonScope, second: RunMeasure) -> Value {
        let known = [RunMeasure::Harvest, RunMeasure::Precision, second]
            .into_iter()
            .filter(|&measure| self.comparison.knows(scope, measure));
        let plot = |measure: RunMeasure| {
            let title = sentence_case(measure.title());
            let along = Along::pages(self.comparison.pages());
            let caption = match measure {
                RunMeasure::Harvest => {
                    "Relevant pages per fetched page. A dot marks the end of a run, an arrow a value above the plot."
                }
                RunMeasure::Precision => {
                    "Share of relevant pages among those that the topic's queries find (M/N, Fig. 6 of Jiang, Zhu, Wang 2020). A dot marks the end of a run."
                }
                RunMeasure::Relevant => "Relevant pages found (Fig. 7). A dot marks the end of a run.",
                _ => {
                    "Share of all relevant pages found (Fig. 7, comparable between tasks). A dot marks the end of a run."
                }
            };
            (html(curves(&self.lines(scope, measure), &title, measure.is_share(), along)), caption)
        };
        known.map(plot).collect()
    }

    fn lines(&self, scope: ComparisonScope, measure: RunMeasure) -> Vec<CurveLine<'_>> {
        let line = |&strategy: &usize| {
            let mut points = self.comparison.curve(scope, strategy, measure);
            if !matches!(measure, RunMeasure::Harvest | RunMeasure::Precision) && !points.is_empty() {
                points.insert(0, (0, Interval { median: 0.0, range: points[0].1.range.map(|_| (0.0, 0.0)) }));
            }
            CurveLine {
                name: self.name(strategy),
                style: self.style(strategy),
                points,
                highlighted: self.is_ahead(strategy),
            }
        };
        self.order.iter().map(line).collect()
    }

    /// Figure 5 of Jiang, Zhu, Wang 2020; `None` without tunnels.
    fn tunnels(&self) -> Option<String> {
        let counts: Vec<(usize, Vec<u32>)> = self
            .order
            .iter()
            .map(|&strategy| (strategy, self.comparison.tunnels(ComparisonScope::All, strategy)))
            .collect();
        // Few pages can give a high bar, so strategies with less than a tenth of the maximum do not set the scale.
        let following = |counts: &[u32]| counts.iter().skip(1).sum::<u32>();
        let most = counts.iter().map(|(_, counts)| following(counts)).max().unwrap_or(0);
        let many = counts.iter().filter(|(_, counts)| following(counts) >= most.div_ceil(10));
        let largest = many.flat_map(|(_, counts)| tunnel_shares(counts)).fold(0.0, f64::max);
        let plot = |(strategy, counts): &(usize, Vec<u32>)| {
            bars(self.name(*strategy), self.style(*strategy), counts, largest, &tunnel_note(counts))
        };
        (largest > 0.0).then(|| counts.iter().map(plot).collect())
    }
}

fn tunnel_note(counts: &[u32]) -> String {
    let following: u64 = counts.iter().skip(1).map(|&count| u64::from(count)).sum();
    if following == 0 {
        return "none".to_owned();
    }
    let hops: u64 = counts.iter().enumerate().skip(1).map(|(hops, &count)| hops as u64 * u64::from(count)).sum();
    let short: u64 = counts.iter().take(7).skip(1).map(|&count| u64::from(count)).sum();
    let share = |part: u64| part as f64 / following as f64;
    format!("{}, mean {:.1}, {:.0}% ≤ 6", thousands(following), share(hops), 100.0 * share(short))
}

/// Whether the first strategy is not better than the second.
fn is_tie(outcome: PairedOutcome) -> bool {
    outcome.wins <= outcome.losses
}

#[cfg(test)]
mod tests {
    use super::super::comparison::tests::comparison;
    use super::super::run::tests::by_hand;
    use super::*;
    use scraper::{Html, Selector};

    fn facts() -> ComparisonFacts {
        let task = TaskFacts {
            name: "sports & games".into(),
            web: "world:<a>.toml".into(),
            seeds: vec![1, 2, 3, 7],
            lexicon: "体育".into(),
            digests: vec!["0123456789abcdef0123".into(), "1".into()],
            page_threshold: [0.05, 0.07],
            link_threshold: [0.15; 2],
            truth: "known from the generated web".into(),
            queries: 20,
        };
        ComparisonFacts {
            version: "9.9.9".into(),
            in_flight: 64,
            command: "suidao compare x.toml".into(),
            tasks: vec![task],
        }
    }

    fn all<'a>(html: &'a Html, selector: &str) -> Vec<scraper::ElementRef<'a>> {
        html.select(&Selector::parse(selector).unwrap()).collect()
    }

    #[test]
    fn the_page_is_well_formed_and_whole_in_itself() {
        let text = report(&comparison(&["oracle"]), &facts());
        let html = Html::parse_document(&text);
        assert!(html.errors.is_empty(), "{:?}", html.errors);
        assert!(all(&html, "script, link, img, iframe").is_empty());
        assert!(!text.contains("url(") && !text.contains("src="), "nothing from elsewhere");
        let ids: Vec<&str> = all(&html, "[id]").iter().filter_map(|element| element.attr("id")).collect();
        assert_eq!(ids.len(), ids.iter().collect::<std::collections::BTreeSet<_>>().len(), "{ids:?}");
        for link in all(&html, "a[href], use[href]") {
            let target = link.attr("href").unwrap().strip_prefix('#').unwrap();
            assert!(ids.contains(&target), "{target}");
        }
        // Every row of a table is as wide as its head.
        for table in all(&html, "table") {
            let cells = |row: scraper::ElementRef| row.child_elements().count();
            let rows: Vec<usize> = table.select(&Selector::parse("tbody tr").unwrap()).map(cells).collect();
            assert!(rows.windows(2).all(|pair| pair[0] == pair[1]), "{rows:?}");
        }
    }

    #[test]
    fn the_report_states_what_was_compared_and_how() {
        let text = report(&comparison(&["oracle"]), &facts());
        for result in [
            "Best: <strong>dth link-scored</strong>",
            "sports &amp; games",
            "world:&lt;a&gt;.toml",
            "1–3, 7",
            "体育",
            "0123456789abcdef",
            "<dt>in flight</dt><dd>64</dd>",
            "share of the oracle after",
            "island recall",
            "Fig. 5",
            "Fig. 6",
            "Fig. 7",
            "0123456789abcdef and 1 more",
            "0.050–0.070",
            "<td>0.150</td>",
            "9.9.9",
        ] {
            assert!(text.contains(result), "{result}");
        }
        let html = Html::parse_document(&text);
        assert_eq!(all(&html, "#wins tbody tr").len(), 4);
        assert_eq!(all(&html, "section.task").len(), 2);
        assert_eq!(all(&html, "details").len(), 2);
    }

    #[test]
    fn the_oracle_share_is_first_and_the_best_is_bold() {
        let text = report(&comparison(&["oracle"]), &facts());
        let html = Html::parse_document(&text);
        let words = |selector: &str| all(&html, selector).iter().map(|it| it.text().collect()).collect::<Vec<String>>();
        assert_eq!(words("#all h3"), ["Share of the oracle after", "Harvest rate after"]);
        // dth wins although best-first has more at the first cutoff: 60% and 15% against 50% and 50%.
        let rows = words("#all tbody th");
        assert_eq!(rows[..3], ["dth link-scored", "best-first hard", "breadth-first"]);
        assert_eq!(rows[3..], ["oracle", "dth link-scored", "best-first hard", "breadth-first"]);
        assert_eq!(words("#all tbody th strong"), ["dth link-scored"; 2]);
        assert!(words("svg text.name.ahead").iter().all(|name| name == "dth link-scored"));
        assert!(text.contains("share of the oracle: 50.0%"), "{}", words(".lead")[0]);
        let run = |strategy| by_hand("t", 1, strategy, "+-+-");
        let tied = report(&Comparison::new(&[4], vec![run("breadth-first"), run("dth link-scored")]), &facts());
        assert!(
            tied.contains("No strategy is best")
                && !tied.contains("Best:")
                && !tied.contains("<th scope=\"row\"><strong>")
        );
        let one = report(&comparison(&[]), &facts());
        assert!(one.contains("50.0% [50.0%, 50.0%] harvest rate. After 200 pages"), "without an oracle");
    }

    #[test]
    fn equal_comparisons_give_equal_bytes() {
        assert!(report(&comparison(&[]), &facts()) == report(&comparison(&[]), &facts()));
    }

    #[test]
    fn what_is_not_known_is_left_out_and_nothing_breaks() {
        let mut run = by_hand("t", 1, "breadth-first", "----");
        run.targets = 0;
        run.islands = None;
        let text = report(&Comparison::new(&[10], vec![run]), &ComparisonFacts::default());
        assert!(!text.contains("oracle") && !text.contains("island recall") && !text.contains("NaN"), "{text}");
        assert!(text.contains("A single run has no interval"));
        let empty = report(&Comparison::new(&[], vec![]), &ComparisonFacts::default());
        assert!(Html::parse_document(&empty).errors.is_empty());
    }
}
