//! How far what one stamp showed in a few periods is its own, and how far chance: the credibility factor of Bühlmann
//! 1967 (Experience rating and credibility).

/// The weight, 0 to 1, of each stamp's own mean against the mean of all stamps, from counts by period and stamp: `a / (a + v / d)`
/// for `d` periods, where `v` is the variance of a stamp's counts between periods and `a` that of stamps' true means, both
/// estimated without bias (`a` not below 0). One period shows no variance between periods: then `v` is the mean count, as for
/// Poisson arrivals. Counts that do not differ at all are trusted.
pub(super) fn credibility(counts: &[Vec<f64>]) -> f64 {
    let periods = counts.len() as f64;
    let stamps = counts.iter().map(Vec::len).min().unwrap_or(0);
    if stamps < 2 {
        return 1.0;
    }
    let mean = |stamp: usize| counts.iter().map(|period| period[stamp]).sum::<f64>() / periods;
    let means: Vec<f64> = (0..stamps).map(mean).collect();
    let overall = means.iter().sum::<f64>() / stamps as f64;
    let within = if counts.len() == 1 {
        overall
    } else {
        let apart = |stamp: usize| counts.iter().map(|period| (period[stamp] - means[stamp]).powi(2)).sum::<f64>();
        (0..stamps).map(apart).sum::<f64>() / ((periods - 1.0) * stamps as f64)
    };
    let of_means = means.iter().map(|mean| (mean - overall).powi(2)).sum::<f64>() / (stamps as f64 - 1.0);
    let chance = within / periods;
    if chance == 0.0 { 1.0 } else { (of_means - chance).max(0.0) / of_means.max(chance) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_periods_agree_on_is_trusted() {
        assert_eq!(credibility(&[vec![0.0, 9.0, 3.0], vec![0.0, 9.0, 3.0]]), 1.0);
        // The periods contradict each other.
        assert_eq!(credibility(&[vec![0.0, 9.0, 0.0, 9.0], vec![9.0, 0.0, 9.0, 0.0]]), 0.0);
        // Means 1 and 9, variance 32; between periods 2, so 1 for means of two.
        assert_eq!(credibility(&[vec![0.0, 8.0], vec![2.0, 10.0]]), 31.0 / 32.0);
        // Of a single period, means 4: what is as spread as Poisson counts is chance.
        assert_eq!(credibility(&[vec![2.0, 4.0, 6.0]]), 0.0);
        assert!(credibility(&[vec![0.0, 0.0, 12.0]]) > 0.9);
        assert_eq!(credibility(&[]), 1.0);
        assert_eq!(credibility(&[vec![0.0; 3]]), 1.0);
    }
}
