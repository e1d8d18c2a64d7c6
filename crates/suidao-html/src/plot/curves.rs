//! A measure by number of pages, or another number: all strategies in one plot with labels at the ends, and a small
//! plot for each with its interval and the others in grey.

use std::fmt::Write;

use suidao_page::messages::Lang;

use super::scale::Scale;
use super::{Interval, LineStyle, levels, n, svg, width, word};

/// The horizontal axis.
#[derive(Clone, Copy)]
pub struct Along<'a> {
    pub label: &'a str,
    pub first: usize,
    pub last: usize,
    /// The language of the numbers.
    pub lang: Lang,
}

impl Along<'static> {
    pub fn pages(last: usize) -> Self {
        Self { label: "pages fetched", first: 0, last, lang: Lang::English }
    }
}

pub struct CurveLine<'a> {
    pub name: &'a str,
    pub style: LineStyle,
    /// (pages, median and interval), pages rising.
    pub points: Vec<(usize, Interval)>,
    /// The best one is drawn thicker, on top, with a bold name.
    pub highlighted: bool,
}

impl CurveLine<'_> {
    fn class(&self) -> String {
        self.style.class() + if self.highlighted { " ahead" } else { "" }
    }

    fn largest(&self) -> f64 {
        self.points.iter().map(|(_, at)| at.median).fold(0.0, f64::max)
    }
}

/// The largest value shown: the oracle's only if the other lines stay readable.
fn largest(lines: &[CurveLine]) -> f64 {
    let of = |oracle: bool| {
        lines
            .iter()
            .filter(|line| (line.style == LineStyle::Oracle) == oracle)
            .map(CurveLine::largest)
            .fold(0.0, f64::max)
    };
    let (others, oracle) = (of(false), of(true));
    if others > 0.0 && oracle > 2.5 * others { others } else { others.max(oracle) }
}

/// Height of a label's line.
const LABEL: f64 = 14.0;

pub fn curves(lines: &[CurveLine], title: &str, share: bool, along: Along) -> String {
    let last = along.last;
    let widest = lines.iter().map(|line| width(line.name)).fold(0.0, f64::max);
    let (left, top, bottom) = (48.0, 26.0, 300.0_f64.max(26.0 + LABEL * lines.len() as f64));
    // A single line needs no name: the title says what it is.
    let (right, is_single) = if lines.len() == 1 { (560.0, true) } else { (320.0, false) };
    let x = Scale::between(left, right, along.first as f64, last as f64, 4.0).in_language(along.lang);
    let y = Scale::new(bottom, top, largest(lines), 5.0, share, true).in_language(along.lang);
    let mut out = grid(&x, &y);
    out += &word(0.0, 12.0, "axis", title);
    out += &word(right, bottom + 34.0, "axis end", along.label);

    let mut ends = Vec::new();
    // The first lines are on top.
    for line in lines.iter().rev() {
        let (class, dash) = (line.class(), line.style.dash());
        let _ = write!(out, "<path class=\"line {class}\" stroke-dasharray=\"{dash}\" d=\"{}\"/>", path(line, &x, &y));
        let Some((pages, at)) = line.points.last() else { continue };
        let end = (x.at(*pages as f64), y.at(at.median));
        if *pages < last || is_single {
            let _ = write!(out, "<circle class=\"dot {class}\" cx=\"{}\" cy=\"{}\" r=\"3\"/>", n(end.0), n(end.1));
        }
        ends.push((line, end, at.median > y.end));
    }
    if is_single {
        return svg("curves", right + 14.0, bottom + 42.0, title, &out);
    }
    ends.sort_by(|one, other| one.1.1.total_cmp(&other.1.1));
    let wanted: Vec<f64> = ends.iter().map(|(_, end, _)| end.1).collect();
    for ((line, end, above), label) in ends.iter().zip(spread(&wanted, top - 6.0, bottom)) {
        let (class, dash) = (line.class(), line.style.dash());
        let (key, name) = (right + 14.0, right + 42.0);
        // A run that ended early is far from its label: the leader follows the edge.
        let early = if line.points.last().is_some_and(|(pages, _)| *pages < last) { " early" } else { "" };
        out += &super::line(&format!("leader{early} {class}"), *end, (key, label));
        let (x1, x2, y) = (n(key), n(key + 24.0), n(label));
        let _ = write!(
            out,
            "<line class=\"line {class}\" stroke-dasharray=\"{dash}\" x1=\"{x1}\" y1=\"{y}\" x2=\"{x2}\" y2=\"{y}\"/>"
        );
        let text = if *above { format!("{} ↑", line.name) } else { line.name.to_owned() };
        out += &word(name, label + 4.0, if line.highlighted { "name ahead" } else { "name" }, &text);
    }
    svg("curves", right + 54.0 + widest, bottom + 42.0, title, &out)
}

/// A small plot for each line; `id` must be unique on the page.
pub fn panels(
    lines: &[CurveLine],
    title: &str,
    share: bool,
    last: usize,
    id: &str,
    show: impl Fn(f64) -> String,
) -> String {
    let (left, right, top, bottom) = (38.0, 208.0, 40.0, 136.0);
    let x = Scale::new(left, right, last as f64, 2.0, false, false);
    let y = Scale::new(bottom, top, largest(lines), 2.0, share, true);
    let ghosts: String = lines.iter().map(|line| format!("<path d=\"{}\"/>", path(line, &x, &y))).collect();
    let mut out = String::from("<div class=\"panels\">\n");
    for (at, line) in lines.iter().enumerate() {
        let class = line.style.class();
        let mut inside = word(0.0, 13.0, "panel", line.name);
        if let Some((pages, end)) = line.points.last() {
            let range = end.range.map_or(String::new(), |(low, high)| format!(" [{}, {}]", show(low), show(high)));
            let ended = if *pages < last { ", ended" } else { "" };
            inside += &word(0.0, 28.0, "axis", &format!("{}{range}{ended}", show(end.median)));
        }
        inside += &grid(&x, &y);
        inside += &match at {
            0 => format!("<g id=\"{id}\" class=\"ghost\">{ghosts}</g>"),
            _ => format!("<use href=\"#{id}\"/>"),
        };
        inside += &band(line, &x, &y);
        let _ = write!(inside, "<path class=\"line {class}\" d=\"{}\"/>", path(line, &x, &y));
        out += &svg("small", 220.0, 158.0, &format!("{title}: {}", line.name), &inside);
    }
    out + "</div>\n"
}

fn grid(x: &Scale, y: &Scale) -> String {
    let mut out = levels(y, x.from, x.to);
    for (value, text) in x.ticks() {
        let at = x.at(value);
        out += &super::line("grid", (at, y.from), (at, y.from + 4.0));
        out += &word(at, y.from + 17.0, "tick middle", &text);
    }
    out
}

fn path(line: &CurveLine, x: &Scale, y: &Scale) -> String {
    let mut out = String::new();
    for (at, (pages, interval)) in line.points.iter().enumerate() {
        let letter = if at == 0 { 'M' } else { 'L' };
        let _ = write!(out, "{letter}{} {}", n(x.at(*pages as f64)), n(y.at(interval.median)));
    }
    out
}

/// The interval as an area; empty without an interval.
fn band(line: &CurveLine, x: &Scale, y: &Scale) -> String {
    let ranges: Vec<(f64, (f64, f64))> =
        line.points.iter().filter_map(|(pages, at)| Some((*pages as f64, at.range?))).collect();
    if ranges.is_empty() {
        return String::new();
    }
    let there = ranges.iter().map(|(pages, (low, _))| (pages, low));
    let back = ranges.iter().rev().map(|(pages, (_, high))| (pages, high));
    let corners: Vec<String> =
        there.chain(back).map(|(pages, value)| format!("{} {}", n(x.at(*pages)), n(y.at(*value)))).collect();
    format!("<path class=\"band {}\" d=\"M{}Z\"/>", line.style.class(), corners.join("L"))
}

/// Positions for labels near the `wanted` ones (which rise), a line apart, between `top` and `bottom`.
fn spread(wanted: &[f64], top: f64, bottom: f64) -> Vec<f64> {
    let mut out: Vec<f64> = Vec::with_capacity(wanted.len());
    for &position in wanted {
        let least = out.last().map_or(top, |last| last + LABEL);
        out.push(position.max(least));
    }
    let mut most = bottom;
    for position in out.iter_mut().rev() {
        *position = position.min(most);
        most = *position - LABEL;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_never_overlap_and_stay_inside() {
        let wanted = [0.0, 1.0, 2.0, 50.0, 99.0, 99.0, 100.0];
        let positions = spread(&wanted, 0.0, 100.0);
        assert!(positions.windows(2).all(|pair| pair[1] - pair[0] >= LABEL - 1e-9), "{positions:?}");
        assert!(positions[0] >= 0.0 && positions[6] <= 100.0, "{positions:?}");
        assert_eq!(spread(&[10.0, 60.0], 0.0, 100.0), [10.0, 60.0], "where there is room they stay");
    }

    #[test]
    fn the_oracle_does_not_press_the_others_to_the_ground() {
        let line = |style, value| CurveLine {
            name: "x",
            style,
            points: vec![(100, Interval { median: value, range: None })],
            highlighted: false,
        };
        let lines = [line(LineStyle::Nth(0), 0.1), line(LineStyle::Oracle, 1.0)];
        assert!((largest(&lines) - 0.1).abs() < 1e-12);
        assert!(curves(&lines, "h", true, Along::pages(100)).contains("x ↑"));
        assert!((largest(&[line(LineStyle::Nth(0), 0.8), line(LineStyle::Oracle, 1.0)]) - 1.0).abs() < 1e-12);
        assert!((largest(&[line(LineStyle::Oracle, 1.0)]) - 1.0).abs() < 1e-12);
    }
}
