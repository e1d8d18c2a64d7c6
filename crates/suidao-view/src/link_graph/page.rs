//! The facts of a link graph as HTML: a page of its own, and a section of the report.

use minijinja::context;
use minijinja::value::{Serde, Value};

use super::drawing::drawing;
use super::facts::GraphFacts;
use crate::html::{self, fill, html};
use crate::plot;

/// The style of the section, in addition to those of plots and of a report.
pub const STYLE: &str = include_str!("graph.css");

/// The section, as HTML without heading.
pub fn section(facts: &GraphFacts) -> String {
    let context = context! { drawing => drawing(facts).map(html), ..Value::from(Serde(facts)) };
    fill(include_str!("section.html"), context)
}

pub fn page(facts: &GraphFacts) -> String {
    let title = format!("suidao: link graph of the crawl for {}", facts.topic);
    let context = context! { section => html(section(facts)), ..Value::from(Serde(facts)) };
    html::page(&title, "en", &[plot::STYLE, html::REPORT, STYLE], &fill(include_str!("page.html"), context))
}
