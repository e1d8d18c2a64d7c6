//! Maps values to an axis, and chooses its ticks.

use suidao_page::messages::Lang;

/// From 0, or another first value, to somewhat above the largest.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scale {
    /// Position of the first value.
    pub from: f64,
    /// Position of `end`.
    pub to: f64,
    first: f64,
    pub end: f64,
    step: f64,
    /// Values are shares, shown in per cent.
    share: bool,
    lang: Lang,
}

impl Scale {
    /// A scale for values up to `largest` with about `ticks` ticks; ends at a tick if `round`.
    pub fn new(from: f64, to: f64, largest: f64, ticks: f64, share: bool, round: bool) -> Self {
        // Without values any scale is fine.
        let largest = if largest > 0.0 { largest } else { 1.0 };
        let rough = largest / ticks;
        let power = 10_f64.powf(rough.log10().floor());
        let steps = [1.0, 2.0, 2.5, 5.0, 10.0].map(|step| step * power);
        let fits = |step: &f64| *step >= rough * 0.999 && (share || *step >= 1.0) && (share || step.fract() == 0.0);
        let step = steps.into_iter().find(fits).unwrap_or(10.0 * power);
        let mut end = if round { (largest / step - 1e-9).ceil() * step } else { largest };
        if share && round {
            end = end.min(1.0_f64.max(largest));
        }
        Self { from, to, first: 0.0, end, step, share, lang: Lang::English }
    }

    /// A scale from one number to another with about `ticks` ticks.
    pub fn between(from: f64, to: f64, first: f64, last: f64, ticks: f64) -> Self {
        Self { first, end: last, ..Self::new(from, to, last - first, ticks, false, false) }
    }

    /// The same with the numbers of a language.
    pub fn in_language(self, lang: Lang) -> Self {
        Self { lang, ..self }
    }

    /// The position of a value; values beyond the ends are drawn at the ends.
    pub fn at(&self, value: f64) -> f64 {
        self.from + (self.to - self.from) * ((value - self.first) / (self.end - self.first)).clamp(0.0, 1.0)
    }

    pub fn ticks(&self) -> Vec<(f64, String)> {
        let first = (self.first / self.step - 1e-9).ceil() as usize;
        let last = (self.end / self.step + 1e-9).floor() as usize;
        (first..=last).map(|tick| self.step * tick as f64).map(|value| (value, self.word(value))).collect()
    }

    fn word(&self, value: f64) -> String {
        if !self.share {
            return self.lang.round_number(value.round() as u64);
        }
        let per_cent = 100.0 * value;
        let decimals = usize::from((100.0 * self.step).fract().abs() > 1e-6) + usize::from(self.step < 0.000_999);
        format!("{per_cent:.decimals$}%")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(largest: f64, share: bool) -> Vec<String> {
        Scale::new(0.0, 100.0, largest, 4.0, share, true).ticks().into_iter().map(|(_, word)| word).collect()
    }

    #[test]
    fn ticks_are_round_numbers() {
        assert_eq!(words(0.131, true), ["0%", "5%", "10%", "15%"]);
        assert_eq!(words(1.0, true), ["0%", "25%", "50%", "75%", "100%"]);
        assert_eq!(words(0.013, true), ["0.0%", "0.5%", "1.0%", "1.5%"]);
        assert_eq!(words(3_700.0, false), ["0", "1,000", "2,000", "3,000", "4,000"]);
        assert_eq!(words(3.0, false), ["0", "1", "2", "3"]);
        assert_eq!(words(0.0, false), ["0", "1"]);
    }

    #[test]
    fn a_scale_may_begin_anywhere() {
        let scale = Scale::between(0.0, 70.0, 4.0, 11.0, 7.0);
        assert_eq!((scale.at(4.0), scale.at(5.0), scale.at(11.0), scale.at(0.0)), (0.0, 10.0, 70.0, 0.0));
        let words: Vec<String> = scale.ticks().into_iter().map(|(_, word)| word).collect();
        assert_eq!(words, ["4", "5", "6", "7", "8", "9", "10", "11"]);
        let days = Scale::between(0.0, 300.0, 1.0, 31.0, 4.0).ticks();
        assert_eq!(days.iter().map(|(value, _)| *value).collect::<Vec<_>>(), [10.0, 20.0, 30.0]);
    }

    #[test]
    fn values_lie_between_the_ends() {
        let scale = Scale::new(200.0, 0.0, 7.0, 4.0, false, true);
        assert_eq!((scale.end, scale.at(0.0), scale.at(4.0), scale.at(99.0)), (8.0, 200.0, 100.0, 0.0));
    }
}
