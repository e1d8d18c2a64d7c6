//! Medians with their intervals, a row per strategy.

use std::fmt::Write;

use super::scale::Scale;
use super::{Interval, LineStyle, line, n, svg, width, word};

pub struct IntervalRow<'a> {
    pub name: &'a str,
    pub style: LineStyle,
    pub at: Interval,
    pub text: String,
    /// It is the best, and highlighted.
    pub ahead: bool,
}

/// Width of the plot with its labels, unless names are very long.
const WIDTH: f64 = 460.0;

const ROW: f64 = 20.0;

pub fn intervals(rows: &[IntervalRow], title: &str, share: bool) -> String {
    let widest = rows.iter().map(|row| width(row.name)).fold(0.0, f64::max);
    let words = rows.iter().map(|row| width(&row.text)).fold(0.0, f64::max);
    let (left, top) = (widest + 12.0, 22.0);
    // As wide as the others, so that letters have the same size.
    let right = (WIDTH - words - 14.0).max(left + 60.0);
    let bottom = top + ROW * rows.len() as f64;
    let largest = rows.iter().map(|row| row.at.range.map_or(row.at.median, |(_, high)| high)).fold(0.0, f64::max);
    let x = Scale::new(left, right, largest, 4.0, share, true);
    let mut out = word(0.0, 12.0, "axis", title);
    for (value, text) in x.ticks() {
        let at = x.at(value);
        out += &line("grid", (at, top), (at, bottom));
        out += &word(at, bottom + 15.0, "tick middle", &text);
    }
    for (number, row) in rows.iter().enumerate() {
        let y = top + ROW * (number as f64 + 0.5);
        let class = row.style.class();
        out += &word(left - 8.0, y + 4.0, if row.ahead { "name end ahead" } else { "name end" }, row.name);
        if let Some((low, high)) = row.at.range {
            out += &line(&format!("whisker {class}"), (x.at(low), y), (x.at(high), y));
        }
        let _ =
            write!(out, "<circle class=\"dot {class}\" cx=\"{}\" cy=\"{}\" r=\"4\"/>", n(x.at(row.at.median)), n(y));
        out += &word(right + 10.0, y + 4.0, "name", &row.text);
    }
    svg("intervals", right + 14.0 + words, bottom + 22.0, title, &out)
}
