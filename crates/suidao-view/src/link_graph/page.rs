//! The facts of a link graph as an HTML page.

use minijinja::context;
use minijinja::value::{Serde, Value};

use super::drawing::drawing;
use super::facts::GraphFacts;
use suidao_html::plot;
use suidao_html::{self as html, fill, html};
use suidao_page::messages::Lang;

/// The style of the drawing, in addition to those of plots and of a report.
const STYLE: &str = include_str!("graph.css");

/// What follows the head of the page.
fn section(facts: &GraphFacts, lang: Lang) -> String {
    let context = context! { drawing => drawing(facts, lang).map(html), ..Value::from(Serde(facts)) };
    fill(lang, include_str!("section.html"), context)
}

pub fn page(facts: &GraphFacts, lang: Lang) -> String {
    let title = format!("suidao{}{}", lang.phrase("colon"), lang.text("link-graph-of-the-crawl", &[&facts.topic]));
    let context = context! { section => html(section(facts, lang)), ..Value::from(Serde(facts)) };
    html::page(&title, lang, &[plot::STYLE, html::REPORT, STYLE], &fill(lang, include_str!("page.html"), context))
}
