//! The zero of a rising function.

/// Narrows the interval [`from`, `to`], where `rising` is negative at `from` and not at `to`, down to the last bits.
/// False position that halves the weight of a repeated end (Illinois), and bisection where that is slow, as on a step.
pub(super) fn crossing(mut from: f64, mut to: f64, rising: impl Fn(f64) -> f64) -> (f64, f64) {
    let (mut below, mut above) = (rising(from), rising(to));
    if below >= 0.0 {
        return (from, from);
    }
    let mut width = f64::INFINITY;
    let mut last_side = 0;
    for turn in 0..150 {
        if above <= 0.0 || to - from <= 1e-14 * to.abs().max(from.abs()) {
            break;
        }
        // Two iterations must leave less than a third, or the next one bisects.
        let checked = turn % 3 == 2;
        let slow = checked && to - from > width / 3.0;
        if checked {
            width = to - from;
        }
        let share = if slow { 0.5 } else { (below / (below - above)).clamp(0.0, 1.0) };
        let middle = from + share * (to - from);
        let at = rising(middle);
        if at < 0.0 {
            (from, below) = (middle, at);
            above /= if last_side == 1 && !slow { 2.0 } else { 1.0 };
            last_side = 1;
        } else {
            (to, above) = (middle, at);
            below /= if last_side == -1 && !slow { 2.0 } else { 1.0 };
            last_side = -1;
        }
    }
    if above == 0.0 { (to, to) } else { (from, to) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_finds_roots_of_lines_roots_and_steps() {
        let functions: [(&dyn Fn(f64) -> f64, f64); 5] = [
            (&|x| x - 0.3, 0.3),
            (&|x| x * x * x - 1e-3, 0.1),
            (&|x| if x < 0.7 { -1e-9 } else { 5.0 }, 0.7),
            (&|x| (x - 0.2).cbrt(), 0.2),
            (&|x| x.exp() - 2.0, 2_f64.ln()),
        ];
        for (position, (function, root)) in functions.into_iter().enumerate() {
            let calls = std::cell::Cell::new(0);
            let counted = |x| {
                calls.set(calls.get() + 1);
                function(x)
            };
            let (from, to) = crossing(0.0, 1.0, counted);
            assert!((from - root).abs() < 1e-9 && (to - root).abs() < 1e-9, "{position}: {from} {to}");
            assert!(from <= to && calls.get() < 160, "{position}: {} calls", calls.get());
        }
        assert_eq!(crossing(0.5, 1.0, |x| x), (0.5, 0.5));
    }
}
