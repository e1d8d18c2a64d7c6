//! Plots as SVG, written by hand: colours are CSS variables and text is text, so that one page serves screen, dark
//! screen and paper. (plotters draws with fixed colours and sizes, and knows no style sheet.)
//!
//! Apart from what is plotted: comparisons of strategies and the report on a crawl draw with the same hand.
//! Every plot has a viewBox and no size: the page decides how large it is. Units are about CSS pixels.

mod bars;
mod curves;
mod histogram;
mod intervals;
mod scale;

pub use bars::{bars, shares as tunnel_shares};
pub use curves::{Line, curves, panels};
pub use histogram::{Bar, histogram};
pub use intervals::{Row, intervals};

use crate::html::escape;

/// What a page with plots needs beside the base of its style.
pub const STYLE: &str = include_str!("plot.css");

/// A value, and the range it may lie in.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// The value; of several cases, their median.
    pub median: f64,
    /// Its 95% interval; none for a single case.
    pub range: Option<(f64, f64)>,
}

/// Colours of the style sheet, told apart also by the colour-blind (after Okabe and Ito 2008).
const COLOURS: usize = 7;

/// Dash patterns: one for each round through the colours.
const DASHES: [&str; 4] = ["none", "7 3", "2 3", "9 3 2 3"];

/// How a strategy is drawn, wherever it is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// The n-th of the strategies compared.
    Nth(usize),
    /// What knows the truth.
    Oracle,
}

impl Style {
    /// Class that sets its colour.
    fn class(self) -> String {
        match self {
            Self::Nth(n) => format!("c{}", n % COLOURS),
            Self::Oracle => "co".to_owned(),
        }
    }

    fn dash(self) -> &'static str {
        match self {
            Self::Nth(n) => DASHES[n / COLOURS % DASHES.len()],
            Self::Oracle => "1 4",
        }
    }
}

/// A coordinate, to a tenth.
fn n(value: f64) -> String {
    let tenths = (value * 10.0).round() / 10.0;
    // -0 is 0.
    format!("{}", if tenths == 0.0 { 0.0 } else { tenths })
}

/// An image of this size that says `title` to those who do not see it.
fn svg(class: &str, width: f64, height: f64, title: &str, inside: &str) -> String {
    format!(
        "<svg class=\"{class}\" viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"{}\">{inside}</svg>\n",
        n(width),
        n(height),
        escape(title)
    )
}

/// A word at a place; `class` says how it is anchored.
fn word(x: f64, y: f64, class: &str, text: &str) -> String {
    format!("<text x=\"{}\" y=\"{}\" class=\"{class}\">{}</text>", n(x), n(y), escape(text))
}

/// About how wide a text is drawn, in units.
fn width(text: &str) -> f64 {
    // Han letters are square.
    text.chars().map(|letter| if letter.is_ascii() { 6.8 } else { 12.0 }).sum()
}
