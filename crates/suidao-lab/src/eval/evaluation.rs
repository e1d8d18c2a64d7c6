//! Results of the topic's queries on several crawls, as text, CSV and HTML with the paper's two curves.

use std::fmt::Write;

use minijinja::{Value, context};
use serde::Serialize;

use super::queries::CutoffResult;
use suidao_html::plot::{self, Along, CurveLine, Interval, LineStyle, curves};
use suidao_html::{self as html, fill, html, thousands};
use suidao_page::messages::Lang;
use suidao_page::visible::Visible;

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CrawlEvaluation {
    /// Strategy or directory.
    pub name: String,
    pub cutoffs: Vec<CutoffResult>,
    pub queries: Vec<QueryResult>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct QueryResult {
    pub query: String,
    pub hits: u64,
    pub relevant_hits: u64,
    /// Share of relevant pages among the first ten results; `None` without results.
    pub precision_at_ten: Option<f64>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StrategyEvaluation {
    pub cutoffs: Vec<u64>,
    /// Source of the relevance labels, as a sentence.
    pub judge: String,
    pub crawls: Vec<CrawlEvaluation>,
}

impl StrategyEvaluation {
    /// Text output: a table of the cutoffs, then one of the queries.
    pub fn describe(&self) -> String {
        let width = self.crawls.iter().map(|crawl| crawl.name.chars().count()).max().unwrap_or(0).max(5);
        let mut out =
            format!("{:width$}  {:>7} {:>7} {:>7} {:>9} {:>7}\n", "crawl", "pages", "N", "M", "precision", "R");
        for crawl in &self.crawls {
            for at in &crawl.cutoffs {
                let _ = writeln!(
                    out,
                    "{:width$}  {:>7} {:>7} {:>7} {:>9} {:>7}",
                    crawl.name,
                    at.pages,
                    at.hits,
                    at.relevant_hits,
                    share(at.precision()),
                    at.relevant
                );
            }
        }
        let _ = writeln!(
            out,
            "N: pages that a query finds; M: relevant pages among them; R: relevant pages. {}",
            self.judge
        );
        for crawl in &self.crawls {
            let _ = writeln!(out, "\n{}: precision of the first ten hits, hits, relevant hits", crawl.name);
            for of in &crawl.queries {
                let _ = writeln!(
                    out,
                    "  {:>6} {:>7} {:>7}  {}",
                    share(of.precision_at_ten),
                    of.hits,
                    of.relevant_hits,
                    of.query
                );
            }
        }
        out
    }

    /// A row for each crawl and cutoff. Errors are those of the output.
    pub fn csv(&self, out: impl std::io::Write) -> Result<(), csv::Error> {
        #[derive(Serialize)]
        struct Row<'a> {
            crawl: &'a str,
            pages: u64,
            hits: u64,
            relevant_hits: u64,
            precision: Option<f64>,
            relevant: u64,
        }
        let mut out = csv::Writer::from_writer(Visible::new(out));
        for crawl in &self.crawls {
            for at in &crawl.cutoffs {
                out.serialize(Row {
                    crawl: &crawl.name,
                    pages: at.pages,
                    hits: at.hits,
                    relevant_hits: at.relevant_hits,
                    precision: at.precision().map(|precision| (precision * 1e6).round() / 1e6),
                    relevant: at.relevant,
                })?;
            }
        }
        Ok(out.flush()?)
    }

    /// A self-contained page. Equal evaluations give equal bytes.
    pub fn html(&self) -> String {
        let query = |of: &QueryResult| context! { query => &of.query, numbers => [share(of.precision_at_ten), thousands(of.hits), thousands(of.relevant_hits)] };
        let row = |name: &String, at: &CutoffResult| {
            let [pages, hits, relevant_hits, relevant] =
                [at.pages, at.hits, at.relevant_hits, at.relevant].map(thousands);
            [name.clone(), pages, hits, relevant_hits, share(at.precision()), relevant]
        };
        let rows = self.crawls.iter().flat_map(|crawl| crawl.cutoffs.iter().map(move |at| row(&crawl.name, at)));
        let crawl = |crawl: &CrawlEvaluation| {
            context! {
                name => &crawl.name,
                queries => crawl.queries.iter().map(query).collect::<Value>(),
            }
        };
        let context = context! {
            queries => self.crawls.first().map_or(0, |crawl| crawl.queries.len()),
            cutoffs => self.cutoffs.iter().map(|cutoff| thousands(*cutoff)).collect::<Value>(),
            judge => &self.judge,
            plots => [
                html(self.curve("precision M / N", true, |at| at.precision())),
                html(self.curve("relevant pages R", false, |at| Some(at.relevant as f64))),
            ],
            rows => rows.collect::<Value>(),
            crawls => self.crawls.iter().map(crawl).collect::<Value>(),
        };
        let body = fill(Lang::English, include_str!("evaluation.html"), context);
        html::page("suidao: query results", Lang::English, &[plot::STYLE], &body)
    }

    fn curve(&self, title: &str, is_share: bool, value: impl Fn(&CutoffResult) -> Option<f64>) -> String {
        let best = |crawl: &CrawlEvaluation| crawl.cutoffs.last().and_then(&value).unwrap_or(0.0);
        let most = self.crawls.iter().map(best).fold(0.0, f64::max);
        let lines: Vec<CurveLine> = (0..)
            .zip(&self.crawls)
            .map(|(nth, crawl)| CurveLine {
                name: &crawl.name,
                style: LineStyle::Nth(nth),
                points: crawl
                    .cutoffs
                    .iter()
                    .filter_map(|at| Some((at.pages as usize, Interval { median: value(at)?, range: None })))
                    .collect(),
                // A crawl that stops early has the highest share, which is not an achievement.
                highlighted: !is_share && self.crawls.len() > 1 && best(crawl) >= most && most > 0.0,
            })
            .collect();
        let last = self.crawls.iter().filter_map(|crawl| crawl.cutoffs.last()).map(|at| at.pages as usize).max();
        curves(&lines, title, is_share, Along::pages(last.unwrap_or(1)))
    }
}

fn share(value: Option<f64>) -> String {
    value.map_or_else(|| "–".to_owned(), |value| format!("{:.1}%", 100.0 * value))
}

#[cfg(test)]
mod tests {
    use scraper::{Html, Selector};

    use super::*;

    fn evaluation() -> StrategyEvaluation {
        let at = |pages, hits, relevant_hits, relevant| CutoffResult { pages, hits, relevant_hits, relevant };
        let of = |query: &str, precision_at_ten| QueryResult {
            query: query.to_owned(),
            hits: 4,
            relevant_hits: 3,
            precision_at_ten,
        };
        StrategyEvaluation {
            cutoffs: vec![500, 1000],
            judge: "Relevance is that of the truth.".to_owned(),
            crawls: vec![
                CrawlEvaluation {
                    name: "tunnel".to_owned(),
                    cutoffs: vec![at(500, 100, 50, 60), at(1000, 200, 90, 100)],
                    queries: vec![of("深度 <学习>", Some(0.9)), of("x", None)],
                },
                CrawlEvaluation {
                    name: "dth".to_owned(),
                    cutoffs: vec![at(500, 0, 0, 3), at(700, 10, 5, 8)],
                    queries: vec![],
                },
            ],
        }
    }

    #[test]
    fn it_is_reported_as_text_rows_and_a_page() {
        let evaluation = evaluation();
        let words = evaluation.describe();
        assert!(words.contains("tunnel     1000     200      90     45.0%     100"), "{words}");
        assert!(words.contains("dth         500       0       0         –       3"), "{words}");
        assert!(words.contains(" 90.0%       4       3  深度 <学习>"), "{words}");
        let mut rows = Vec::new();
        evaluation.csv(&mut rows).unwrap();
        let rows = String::from_utf8(rows).unwrap();
        assert!(
            rows.starts_with("crawl,pages,hits,relevant_hits,precision,relevant\ntunnel,500,100,50,0.5,60\n"),
            "{rows}"
        );
        assert!(rows.contains("\ndth,500,0,0,,3\n"), "{rows}");
        let page = Html::parse_document(&evaluation.html());
        assert!(page.errors.is_empty(), "{:?}", page.errors);
        let count = |selector: &str| page.select(&Selector::parse(selector).unwrap()).count();
        assert_eq!((count("svg.curves"), count("h1"), count("main#main"), count("script")), (2, 1, 1, 0));
        assert_eq!(count("tbody tr"), 6);
        let text: String = page.root_element().text().collect();
        assert!(text.contains("深度 <学习>"));
    }
}
