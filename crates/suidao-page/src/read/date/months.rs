//! Names of months, from `words/months.txt`.

use std::sync::LazyLock;

use rustc_hash::FxHashMap;

fn languages() -> impl Iterator<Item = &'static str> {
    include_str!("../words/months.txt").lines().filter(|line| !line.starts_with('#'))
}

static MONTHS: LazyLock<FxHashMap<&'static str, u8>> = LazyLock::new(|| {
    let rows = languages().flat_map(|row| (1u8..).zip(row.split('|')));
    let mut months = FxHashMap::default();
    for (month, name) in rows.flat_map(|(month, names)| names.split(' ').map(move |name| (month, name))) {
        months.entry(name).or_insert(month);
    }
    months
});

/// The month of a name in lower case, in one of the languages of the table.
pub fn month(name: &str) -> Option<u8> {
    MONTHS.get(name).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_has_twelve_months() {
        for row in languages() {
            assert_eq!(row.split('|').count(), 12, "{row}");
            assert_eq!(row.to_lowercase(), row);
        }
        assert_eq!((month("august"), month("août"), month("июня"), month("maybe")), (Some(8), Some(8), Some(6), None));
    }
}
