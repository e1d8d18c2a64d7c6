//! A day of a board: posts of each hour as bars, visits as marks below them.

use super::scale::Scale;
use super::{LineStyle, levels, line, rect, svg, word};

/// A small plot. `slots`: shares of the hours; `largest`: the share at the upper end; `instants`: hours, 0 to 24;
/// `note` is below the name.
pub fn day(name: &str, note: &str, slots: &[f64; 24], largest: f64, instants: &[f64]) -> String {
    let (left, right, top, bottom) = (34.0, 216.0, 40.0, 124.0);
    let y = Scale::new(bottom, top, largest, 2.0, true, false);
    let x = Scale::between(left, right, 0.0, 24.0, 4.0);
    let mut out = word(0.0, 13.0, "panel", name) + &word(0.0, 28.0, "axis", note);
    out += &levels(&y, left, right);
    let pitch = (right - left) / 24.0;
    for (hour, share) in slots.iter().enumerate().filter(|(_, share)| **share > 0.0) {
        let (x, y) = (left + pitch * hour as f64 + 0.5, y.at(*share));
        out += &rect(&format!("bar {}", LineStyle::Nth(0).class()), (x, y), (pitch - 1.0, bottom - y));
    }
    for instant in instants {
        let (at, class) = (x.at(*instant), format!("line {}", LineStyle::Nth(1).class()));
        out += &line(&class, (at, bottom + 2.0), (at, bottom + 12.0));
    }
    for hour in [0.0, 6.0, 12.0, 18.0, 24.0] {
        out += &word(x.at(hour), bottom + 27.0, "tick middle", &format!("{hour}"));
    }
    svg("small", 224.0, 158.0, &format!("{name}: {note}"), &out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_has_a_bar_for_each_busy_hour_and_a_mark_for_each_visit() {
        let mut slots = [0.0; 24];
        slots[9] = 0.75;
        slots[20] = 0.25;
        let svg = day("<公告>", "2 visits", &slots, 0.75, &[9.5, 20.25]);
        assert_eq!((svg.matches("<rect").count(), svg.matches("class=\"line").count()), (2, 2));
        assert!(svg.contains("&lt;公告&gt;") && svg.contains("x=\"102.8\""), "{svg}");
    }
}
