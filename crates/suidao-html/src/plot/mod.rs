//! Plots as SVG, written by hand: colours are CSS variables and text is text, so that one page works on screen, dark
//! screen and paper. (plotters has fixed colours and sizes and no style sheets.)
//!
//! Every plot has a viewBox and no size, which the page sets. Units are about CSS pixels.

mod bars;
mod curves;
mod day;
mod histogram;
mod intervals;
mod scale;

pub use bars::{bars, shares as tunnel_shares};
pub use curves::{Along, CurveLine, curves, panels};
pub use day::day;
pub use histogram::{Bar, histogram};
pub use intervals::{IntervalRow, intervals};

use crate::{COLOURS as FRAME, escape};
use scale::Scale;

/// The style of plots, in addition to the base style.
pub const STYLE: &str = include_str!("plot.css");

/// A value and its interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// The value; of several cases, their median.
    pub median: f64,
    /// Its 95% interval; `None` for a single case.
    pub range: Option<(f64, f64)>,
}

/// Colours of the style sheet, distinguishable by colour-blind people (after Okabe and Ito 2008).
const COLOURS: usize = 7;

/// Margin of a plot in a file of its own.
const MARGIN: f64 = 12.0;

/// Dash patterns: one for each round through the colours.
const DASHES: [&str; 4] = ["none", "7 3", "2 3", "9 3 2 3"];

/// The style of a strategy in all plots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineStyle {
    Nth(usize),
    Oracle,
}

impl LineStyle {
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
    // -0 becomes 0.
    format!("{}", if tenths == 0.0 { 0.0 } else { tenths })
}

/// A line between two points.
fn line(class: &str, from: (f64, f64), to: (f64, f64)) -> String {
    let [x1, y1, x2, y2] = [from.0, from.1, to.0, to.1].map(n);
    format!("<line class=\"{class}\" x1=\"{x1}\" y1=\"{y1}\" x2=\"{x2}\" y2=\"{y2}\"/>")
}

/// A rectangle by its upper left corner and its size.
fn rect(class: &str, corner: (f64, f64), size: (f64, f64)) -> String {
    let [x, y, width, height] = [corner.0, corner.1, size.0, size.1].map(n);
    format!("<rect class=\"{class}\" x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\"/>")
}

/// A horizontal line at each tick, with its value.
fn levels(y: &Scale, left: f64, right: f64) -> String {
    let level = |(value, text): (f64, String)| {
        let at = y.at(value);
        line("grid", (left, at), (right, at)) + &word(left - 6.0, at + 4.0, "tick end", &text)
    };
    y.ticks().into_iter().map(level).collect()
}

/// An image of this size with `title` as its text alternative.
pub fn svg(class: &str, width: f64, height: f64, title: &str, inside: &str) -> String {
    format!(
        "<svg class=\"{class}\" viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"{}\">{inside}</svg>\n",
        n(width),
        n(height),
        escape(title)
    )
}

/// A plot as a file of its own: with styles, colours for light and dark, and a margin.
pub fn file(svg: &str) -> String {
    let (width, height) = size(svg);
    let view = format!("viewBox=\"0 0 {} {}\"", n(width), n(height));
    let (width, height) = (width + 2.0 * MARGIN, height + 2.0 * MARGIN);
    let margin = format!("viewBox=\"-{MARGIN} -{MARGIN} {} {}\"", n(width), n(height));
    let head = format!("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{}\" height=\"{}\" ", n(width), n(height));
    let ground = "svg { background: var(--ground); }\n";
    svg.replacen("<svg ", &head, 1).replacen(&view, &margin, 1).replacen(
        '>',
        &format!("><style>\n{FRAME}{STYLE}{ground}</style>"),
        1,
    )
}

/// Small plots of one size as one file, in rows of `columns`.
pub fn sheet(plots: &[String], columns: usize, title: &str) -> String {
    let (width, height) = plots.first().map_or((0.0, 0.0), |plot| size(plot));
    let (width, height, columns) = (width + 2.0 * MARGIN, height + 2.0 * MARGIN, columns.clamp(1, plots.len().max(1)));
    let mut inside = String::new();
    for (position, plot) in plots.iter().enumerate() {
        let (x, y) = (width * (position % columns) as f64, height * (position / columns) as f64);
        // The content of the element, which contains no other svg element.
        let plot =
            plot.split_once('>').and_then(|(_, rest)| rest.rsplit_once("</svg>")).map_or("", |(inside, _)| inside);
        inside += &format!("<g transform=\"translate({} {})\">{plot}</g>", n(x), n(y));
    }
    let rows = plots.len().div_ceil(columns) as f64;
    file(&svg("small", width * columns as f64 - 2.0 * MARGIN, height * rows - 2.0 * MARGIN, title, &inside))
}

fn size(svg: &str) -> (f64, f64) {
    let view = svg.split_once("viewBox=\"0 0 ").and_then(|(_, rest)| rest.split_once('"')).map_or("", |(size, _)| size);
    let mut sides = view.split(' ').map(|side| side.parse().unwrap_or(0.0));
    (sides.next().unwrap_or(0.0), sides.next().unwrap_or(0.0))
}

/// The part of a text that fits into `units`, with `…` if it is cut.
pub fn fitting(text: &str, units: f64) -> String {
    if width(text) <= units {
        return text.to_owned();
    }
    let mut used = width("…");
    let fits = |letter: &char| {
        used += width(letter.encode_utf8(&mut [0; 4]));
        used <= units
    };
    text.chars().take_while(fits).chain(['…']).collect()
}

/// A word at a position; `class` sets its alignment.
pub fn word(x: f64, y: f64, class: &str, text: &str) -> String {
    format!("<text x=\"{}\" y=\"{}\" class=\"{class}\">{}</text>", n(x), n(y), escape(text))
}

/// Approximate width of a text, in units.
fn width(text: &str) -> f64 {
    // Han characters are square.
    text.chars().map(|letter| if letter.is_ascii() { 6.8 } else { 12.0 }).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plot_as_a_file_has_its_style_and_a_margin() {
        let file = file(&svg("curves", 100.0, 50.5, "a > b & c", "<path d=\"M0 0\"/>"));
        assert!(
            file.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"124\" height=\"74.5\" class="),
            "{file}"
        );
        assert!(
            file.contains("viewBox=\"-12 -12 124 74.5\"") && file.contains("aria-label=\"a &gt; b &amp; c\"><style>")
        );
        let small = svg("small", 10.0, 20.0, "x", "<path d=\"M1 1\"/>");
        let sheet = sheet(&[small.clone(), small.clone(), small], 2, "all");
        assert_eq!((sheet.matches("<svg").count(), sheet.matches("<path").count()), (1, 3), "{sheet}");
        assert!(sheet.contains("translate(34 0)") && sheet.contains("translate(0 44)"), "{sheet}");
        assert_eq!((fitting("板块", 30.0), fitting("板块板块", 40.0)), ("板块".to_owned(), "板块…".to_owned()));
        assert!(file.contains("--ink:") && file.contains("--c0:") && file.ends_with("<path d=\"M0 0\"/></svg>\n"));
    }
}
