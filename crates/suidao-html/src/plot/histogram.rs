//! Counts as bars, with a highlighted part of each.

use std::fmt::Write;

use suidao_page::messages::Lang;

use super::scale::Scale;
use super::{escape, levels, rect, svg, width, word};

pub struct Bar<'a> {
    pub name: &'a str,
    pub whole: u64,
    pub part: u64,
}

/// The bars from left to right; `unit` is what is counted, `part` what the highlighted part counts, if anything.
pub fn histogram(bars: &[Bar], title: &str, unit: &str, part: Option<&str>, lang: Lang) -> String {
    let (left, right, top, bottom) = (48.0, 440.0, 30.0, 180.0);
    let largest = bars.iter().map(|bar| bar.whole).max().unwrap_or(0);
    let y = Scale::new(bottom, top, largest as f64, 4.0, false, true).in_language(lang);
    let mut out = word(0.0, 12.0, "axis", unit);
    let mut end = right;
    for (class, name) in part.map(|part| [("c0", part), ("rest", lang.phrase("others"))]).into_iter().flatten() {
        let at = end - width(name);
        out += &word(at, 12.0, "axis", name);
        out += &rect(&format!("bar {class}"), (at - 15.0, 3.0), (10.0, 10.0));
        end = at - 30.0;
    }
    out += &levels(&y, left, right);
    let pitch = (right - left) / bars.len().max(1) as f64;
    let widest = bars.iter().map(|bar| width(bar.name)).fold(0.0, f64::max);
    // Every n-th name, so that they do not overlap.
    let every = ((widest + 8.0) / pitch).ceil().max(1.0) as usize;
    for (number, bar) in bars.iter().enumerate() {
        let x = left + pitch * number as f64;
        let gap = if pitch > 6.0 { 1.0 } else { 0.2 };
        let message = match part {
            Some(part) => lang.text("bar-parts", &[&bar.name, &bar.whole, &unit, &bar.part, &part]),
            None => lang.text("bar-count", &[&bar.name, &bar.whole, &unit]),
        };
        let _ = write!(out, "<g><title>{}</title>", escape(&message));
        for (class, value) in [("bar rest", bar.whole), ("bar c0", bar.part)] {
            // A bar of one page among thousands stays visible.
            let height = (bottom - y.at(value as f64)).max(if value > 0 { 1.0 } else { 0.0 });
            if height > 0.0 {
                out += &rect(class, (x + gap, bottom - height), ((pitch - 2.0 * gap).max(0.5), height));
            }
        }
        out += "</g>";
        if number % every == 0 {
            out += &word(x + pitch / 2.0, bottom + 16.0, "tick middle", bar.name);
        }
    }
    svg("histogram", right + 8.0, bottom + 24.0, title, &out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_show_a_whole_and_its_part() {
        let bars = [
            Bar { name: "2020", whole: 4, part: 1 },
            Bar { name: "2021", whole: 0, part: 0 },
            Bar { name: "2022", whole: 2, part: 2 },
        ];
        let svg = histogram(&bars, "Pages by year", "pages", Some("relevant"), Lang::English);
        // Two bars with two parts each, and two in the key.
        assert_eq!(svg.matches("<rect").count(), 4 + 2, "{svg}");
        assert!(svg.contains("<title>2020: 4 pages, 1 relevant</title>"), "{svg}");
        assert!(svg.contains("y=\"30\" width=\"128.7\" height=\"150\""), "{svg}");
        assert!(svg.contains("aria-label=\"Pages by year\""));
        assert!(!histogram(&[], "none", "pages", Some("relevant"), Lang::English).contains("NaN"));
    }

    #[test]
    fn names_do_not_run_into_one_another() {
        let names: Vec<String> = (0..60).map(|n| format!("2021-{n:02}")).collect();
        let bars: Vec<Bar> = names.iter().map(|name| Bar { name, whole: 1, part: 0 }).collect();
        let shown = histogram(&bars, "t", "pages", Some("relevant"), Lang::English).matches("tick middle").count();
        assert!((5..=8).contains(&shown), "{shown}");
    }
}
