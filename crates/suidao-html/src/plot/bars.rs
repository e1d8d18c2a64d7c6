//! Bars of a distribution over small integers: tunnel lengths.

use super::scale::Scale;
use super::{LineStyle, levels, rect, svg, word};

/// Longer ones share the last bar.
const MAX_LENGTH: usize = 13;

/// Bars for `counts[1..]`, as shares of their sum, on a scale that ends at `largest`; `note` is below the name.
pub fn bars(name: &str, style: LineStyle, counts: &[u32], largest: f64, note: &str) -> String {
    let (left, right, top, bottom) = (38.0, 216.0, 40.0, 136.0);
    // Ends at the highest bar: with the next round share half of the plot was mostly empty.
    let y = Scale::new(bottom, top, largest, 2.0, true, false);
    let mut out = word(0.0, 13.0, "panel", name) + &word(0.0, 28.0, "axis", note);
    out += &levels(&y, left, right);
    let pitch = (right - left) / MAX_LENGTH as f64;
    for (at, share) in shares(counts).iter().enumerate() {
        let x = left + pitch * at as f64;
        let height = bottom - y.at(*share);
        if height > 0.0 {
            let class = format!("bar {}", style.class());
            out += &rect(&class, (x + 1.0, bottom - height), (pitch - 2.0, height));
        }
        if at % 2 == 0 {
            let text = if at + 1 == MAX_LENGTH { format!("{MAX_LENGTH}+") } else { (at + 1).to_string() };
            out += &word(x + pitch / 2.0, bottom + 15.0, "tick middle", &text);
        }
    }
    svg("small", 220.0, 158.0, &format!("Tunnel lengths: {name}, {note}"), &out)
}

pub fn shares(counts: &[u32]) -> [f64; MAX_LENGTH] {
    let mut out = [0.0; MAX_LENGTH];
    let sum: u32 = counts.iter().skip(1).sum();
    for (at, &count) in counts.iter().skip(1).enumerate() {
        out[at.min(MAX_LENGTH - 1)] += f64::from(count) / f64::from(sum.max(1));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_are_shares_of_what_lies_behind_a_tunnel() {
        let mut counts = vec![100, 2, 1];
        counts.resize(20, 0);
        counts[14] = 1;
        counts[19] = 4;
        let shares = shares(&counts);
        assert_eq!((shares[0], shares[1], shares[12]), (0.25, 0.125, 0.625));
        assert!((shares.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        let svg = bars("dth", LineStyle::Nth(1), &counts, 0.7, "mean 4");
        assert_eq!(svg.matches("<rect").count(), 3);
        assert_eq!(super::shares(&[]), [0.0; MAX_LENGTH]);
    }
}
