//! Histograms of pages: by date of publication, by length.

use std::collections::BTreeMap;

use super::facts::{Bin, BinName, BinWidth, Histogram};
use suidao_page::model::Day;
use suidao_store::corpus::CatalogueEntry;

/// Maximum number of bins; earlier ones are merged into one.
const MAX_BINS: i64 = 60;

/// Longest span of publications, in months, with a bin per month; else per year.
const MAX_MONTHS: i64 = 48;

/// Pages by year of publication, or by month if that gives few bins.
pub(super) fn published(entries: &[CatalogueEntry]) -> Histogram {
    let months = |day: Day| {
        let text = day.to_string();
        let mut parts = text.splitn(3, '-').map(|part| part.parse::<i64>().unwrap_or(0));
        parts.next().unwrap_or(0) * 12 + parts.next().unwrap_or(1) - 1
    };
    let dated: Vec<(i64, bool)> =
        entries.iter().filter_map(|entry| Some((months(entry.published?), entry.is_relevant()))).collect();
    let (first, last) = ends(&dated);
    let (width, per) = if last - first < MAX_MONTHS { (BinWidth::Month, 1) } else { (BinWidth::Year, 12) };
    let name = |bin: i64| if per == 1 { format!("{}-{:02}", bin / 12, bin % 12 + 1) } else { bin.to_string() };
    let dated = dated.into_iter().map(|(month, relevant)| (month / per, relevant));
    let mut histogram = count_by_bin(dated, |bin| BinName::Date(name(bin)));
    // A few pages with very early dates would shrink the rest to a line at the edge.
    if histogram.bins.len() as i64 > MAX_BINS {
        let early = histogram.bins.len() - MAX_BINS as usize;
        let rest = histogram.bins.split_off(early);
        let first = match rest.first().map(|bin| &bin.name) {
            Some(BinName::Date(first)) => first.clone(),
            _ => String::new(),
        };
        let mut sum = Bin { name: BinName::Before(first), ..Bin::default() };
        for bin in &histogram.bins {
            sum.pages += bin.pages;
            sum.relevant += bin.relevant;
        }
        histogram.bins = std::iter::once(sum).chain(rest).collect();
    }
    let without = entries.iter().filter(|entry| entry.published.is_none()).count() as u64;
    Histogram { width, without, ..histogram }
}

/// Pages by characters of main text: 0, then bins that start at 1, 2 and 5 times powers of ten.
pub(super) fn lengths(entries: &[CatalogueEntry]) -> Histogram {
    let begin = |bin: i64| -> u64 {
        if bin == 0 { 0 } else { [1, 2, 5][((bin - 1) % 3) as usize] * 10_u64.pow(((bin - 1) / 3) as u32) }
    };
    let bin = |chars: u32| (0..).take_while(|&bin| begin(bin) <= u64::from(chars)).last().unwrap_or(0);
    let binned = entries.iter().map(|entry| (bin(entry.sketch.chars), entry.is_relevant()));
    count_by_bin(binned, |bin| BinName::Characters(begin(bin)))
}

fn ends(values: &[(i64, bool)]) -> (i64, i64) {
    let all = || values.iter().map(|(value, _)| *value);
    (all().min().unwrap_or(0), all().max().unwrap_or(0))
}

/// Counts by bin, including empty ones in between.
fn count_by_bin(values: impl Iterator<Item = (i64, bool)>, name: impl Fn(i64) -> BinName) -> Histogram {
    let mut counted: BTreeMap<i64, (u64, u64)> = BTreeMap::new();
    for (bin, relevant) in values {
        let count = counted.entry(bin).or_default();
        count.0 += 1;
        count.1 += u64::from(relevant);
    }
    let ends = counted.first_key_value().zip(counted.last_key_value()).map(|((first, _), (last, _))| *first..=*last);
    let bin = |bin| {
        let (pages, relevant) = counted.get(&bin).copied().unwrap_or_default();
        Bin { name: name(bin), pages, relevant }
    };
    Histogram { bins: ends.into_iter().flatten().map(bin).collect(), ..Histogram::default() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use suidao_page::messages::Lang;
    use suidao_page::model::{Millis, Relevance, Sketch, UrlId};

    fn entry(chars: u32, published: Option<&str>, seconds: u64) -> CatalogueEntry {
        CatalogueEntry {
            title: 0,
            metadata_hash: 0,
            id: UrlId(0),
            host: 0,
            language: None,
            at: Millis(1_700_000_000_000 + 1000 * seconds),
            relevance: Relevance::ZERO,
            on_topic: chars > 100,
            sketch: Sketch { chars, ..Sketch::default() },
            published: published.and_then(Day::parse),
            listing: false,
            noindex: false,
            foreign: false,
            archived: true,
            duplicate_of: None,
            role: suidao_store::corpus::PageRole::Page,
            by_refresh: false,
            seen: suidao_store::corpus::SeenTimes::default(),
            further: 0,
        }
    }

    fn names(histogram: &Histogram) -> Vec<(String, u64, u64)> {
        histogram.bins.iter().map(|bin| (bin.name.text(Lang::English), bin.pages, bin.relevant)).collect()
    }

    fn named(bins: &[(&str, u64, u64)]) -> Vec<(String, u64, u64)> {
        bins.iter().map(|(name, pages, relevant)| ((*name).to_owned(), *pages, *relevant)).collect()
    }

    #[test]
    fn lengths_lie_in_bins_of_one_two_five() {
        let entries: Vec<CatalogueEntry> = [12, 19, 20, 150, 99].map(|chars| entry(chars, None, 0)).to_vec();
        assert_eq!(names(&lengths(&entries)), named(&[("10", 2, 0), ("20", 1, 0), ("50", 1, 0), ("100", 1, 1)]));
        assert_eq!(names(&lengths(&[entry(0, None, 0), entry(4_000_000, None, 0)])).last().unwrap().0, "2M");
        assert!(lengths(&[]).bins.is_empty());
    }

    #[test]
    fn publications_lie_in_months_or_years() {
        let few = [entry(1, Some("2021-11-05"), 0), entry(1, Some("2022-01-31"), 0), entry(1, None, 0)];
        let histogram = published(&few);
        assert_eq!(names(&histogram), named(&[("2021-11", 1, 0), ("2021-12", 0, 0), ("2022-01", 1, 0)]));
        assert_eq!((histogram.width, histogram.without), (BinWidth::Month, 1));
        let many = [entry(1, Some("2010-12-31"), 0), entry(1, Some("2021-01-01"), 0)];
        assert_eq!((names(&published(&many)).len(), &*names(&published(&many))[0].0), (12, "2010"));
        let old = [entry(1, Some("1900-01-01"), 0), entry(1, Some("2021-01-01"), 0)];
        assert_eq!(names(&published(&old))[..1], named(&[("before 1962", 1, 0)]));
        assert_eq!(published(&old).bins[0].name.text(Lang::Chinese), "1962年以前");
    }
}
