//! Whether a forum writes the month or the day first: what `05/06/2009` means there.
//!
//! Evidence is, in order: dates with a number above 12; dates that would be in the future, days that the page names
//! otherwise, and the order of its dates; else the usage of the language.

use std::collections::BTreeSet;

use suidao_page::model::{CrawlUrl, Day, TimeContext};
use suidao_page::read::writes_month_first;

use super::cursor::TextCursor;
use super::fields::{FieldLabel, label_of};
use super::times::{DAY, all, century, today};
use super::tree::Tree;

/// Bytes of a line that may be a time, or be about one.
const SHORT: usize = 160;

/// Votes for the month first and for the day first. Votes of the pages of a forum add up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DateEvidence {
    sure: [u32; 2],
    likely: [u32; 2],
}

/// Index of the votes.
const MONTH: usize = 0;
const DAY_FIRST: usize = 1;

/// The days that a date with two readings may be, with the month first and with the day first.
type Readings = [i64; 2];

impl DateEvidence {
    pub(super) fn of(tree: &Tree, clock: TimeContext) -> Self {
        let lines = tree.paragraphs(0, &|_| false).into_iter().map(|line| line.text);
        Self::of_lines(lines.filter(|line| line.len() <= SHORT), clock)
    }

    fn of_lines(lines: impl Iterator<Item = String>, clock: TimeContext) -> Self {
        let lines: Vec<String> = lines.filter(|line| line.bytes().any(|byte| byte.is_ascii_digit())).collect();
        let mut found = Self::default();
        let mut doubtful: Vec<Readings> = Vec::new();
        for line in &lines {
            let of_member = label_of(line).has(FieldLabel::MEMBER);
            for (first, second, year) in dates(line) {
                match (first <= 12, second <= 12) {
                    (true, false) => found.sure[MONTH] += 1,
                    (false, true) => found.sure[DAY_FIRST] += 1,
                    (true, true) if !of_member => {
                        doubtful.extend(day(year, first, second).zip(day(year, second, first)).map(|(a, b)| [a, b]));
                    }
                    _ => {}
                }
            }
        }
        if doubtful.is_empty() || found.sure[MONTH] != found.sure[DAY_FIRST] {
            return found;
        }
        let plain = lines.iter().filter(|line| dates(line).is_empty()).flat_map(|line| all(line, clock));
        let days = plain.filter(|time| i64::from(time.moment.within) <= DAY);
        let exact: BTreeSet<i64> =
            days.map(|time| (time.moment.at + i64::from(clock.offset)).div_euclid(DAY)).collect();
        let latest = today(clock) + 1;
        for readings in &doubtful {
            for (at, reading) in readings.iter().enumerate() {
                let other = readings[1 - at];
                let fits = exact.contains(reading) && !exact.contains(&other) || *reading <= latest && other > latest;
                found.likely[at] += u32::from(fits);
            }
        }
        if let Some(ordered) = ordered(&doubtful) {
            found.likely[ordered] += 2;
        }
        found
    }

    #[must_use]
    pub fn and(self, other: Self) -> Self {
        let sum = |one: [u32; 2], other: [u32; 2]| [one[0].saturating_add(other[0]), one[1].saturating_add(other[1])];
        Self { sure: sum(self.sure, other.sure), likely: sum(self.likely, other.likely) }
    }

    /// Whether the month comes first, if the votes decide.
    pub fn month_first(self) -> Option<bool> {
        let most = |[month, day]: [u32; 2]| (month != day).then_some(month > day);
        most(self.sure).or_else(|| most(self.likely))
    }
}

/// Whether the month usually comes first in a language, by its code, on this host. Chinese, Japanese and Korean forums
/// write such dates only if their software is American.
pub(super) fn usage(language: &str, url: &CrawlUrl) -> bool {
    let language = language.to_ascii_lowercase();
    let top = url.host().rsplit('.').next().unwrap_or_default();
    let east = ["zh", "ja", "ko"].iter().any(|code| language.starts_with(code))
        || language.is_empty() && ["cn", "tw", "hk", "jp", "kr"].contains(&top);
    east || writes_month_first(&language, url)
}

fn day(year: i64, month: i64, day: i64) -> Option<i64> {
    let narrow = |number: i64| i8::try_from(number).ok();
    Some(i64::from(Day::of(i16::try_from(year).ok()?, narrow(month)?, narrow(day)?)?.0))
}

/// Dates in a line of which the first or the second number is the month: both, and the year.
fn dates(line: &str) -> Vec<(i64, i64, i64)> {
    let mut found = Vec::new();
    let (mut at, mut before) = (0, ' ');
    while let Some(c) = line[at..].chars().next() {
        let begins = c.is_ascii_digit() && !(before.is_ascii_digit() || matches!(before, '/' | '-' | '.'));
        let mut cursor = TextCursor::new(&line[at..]);
        if begins && let Some(date) = date(&mut cursor) {
            found.push(date);
            at = line.len() - cursor.rest().len();
            before = ' ';
            continue;
        }
        before = c;
        at += c.len_utf8();
    }
    found
}

fn date(cursor: &mut TextCursor) -> Option<(i64, i64, i64)> {
    let first = cursor.number(1..=2)?;
    let separator = cursor.any(&["/", "-"])?;
    let second = cursor.number(1..=2)?;
    cursor.any(&[separator])?;
    let (year, digits) = cursor.digits(2..=4)?;
    let goes_on = cursor.rest().starts_with(['/', '-', '.']);
    // `09-5-25` begins with the year.
    let year = match digits {
        4 => year,
        2 if separator == "/" => century(year),
        _ => return None,
    };
    (!goes_on && (1..=31).contains(&first) && (1..=31).contains(&second)).then_some((first, second, year))
}

/// Which readings are in order: those of a thread or a list rise or fall. If both are, those that lie closer together.
fn ordered(doubtful: &[Readings]) -> Option<usize> {
    /// Dates in order by chance.
    const FEW: usize = 3;
    let days = |at: usize| doubtful.iter().map(move |readings| readings[at]);
    let distinct = |at: usize| days(at).collect::<BTreeSet<i64>>().len();
    if distinct(MONTH) < FEW {
        return None;
    }
    let breaks = |at: usize| {
        let own: Vec<i64> = days(at).collect();
        let rising = own.windows(2).filter(|pair| pair[0] > pair[1]).count();
        rising.min(own.windows(2).filter(|pair| pair[0] < pair[1]).count())
    };
    let span = |at: usize| days(at).max().unwrap_or(0) - days(at).min().unwrap_or(0);
    let less = |[month, day]: [i64; 2], times: i64| {
        if month * times < day {
            Some(MONTH)
        } else if day * times < month {
            Some(DAY_FIRST)
        } else {
            None
        }
    };
    let breaks = [MONTH, DAY_FIRST].map(|at| breaks(at) as i64);
    less(breaks, 1).or_else(|| less([span(MONTH), span(DAY_FIRST)], 4))
}

#[cfg(test)]
mod tests {
    use super::*;
    use suidao_page::model::Millis;

    fn decided(lines: &[&str]) -> Option<bool> {
        // 2009-06-20.
        let clock = TimeContext::new(Millis(1_245_456_000_000), 0);
        DateEvidence::of_lines(lines.iter().map(|line| (*line).to_owned()), clock).month_first()
    }

    #[test]
    fn the_dates_of_a_page_decide() {
        assert_eq!(decided(&["Posted 05/06/2009 12:01", "Posted 25/05/2009 12:01"]), Some(false));
        assert_eq!(decided(&["Posted 05/06/2009 12:01", "Posted 05/25/2009 12:01"]), Some(true));
        assert_eq!(decided(&["05-06-2009, 12:01 PM", "Join Date: 05-25-2007"]), Some(true), "of members too");
        assert_eq!(decided(&["01/08/2009"]), Some(true), "the other is in the future");
        assert_eq!(decided(&["08/01/2009"]), Some(false));
        assert_eq!(decided(&["05/06/2009 12:01", "Last edited June 5, 2009"]), Some(false), "the day by another name");
        assert_eq!(decided(&["05/06/2009", "2009-05-06 12:01"]), Some(true));
        assert_eq!(decided(&["10/01/2009", "11/01/2009", "12/01/2009", "01/02/2009"]), Some(false), "in order");
        assert_eq!(decided(&["01/10/2009", "01/11/2009", "01/12/2009", "02/01/2009"]), Some(true));
        assert_eq!(decided(&["05/06/2008", "06/06/2008", "07/06/2008"]), Some(false), "closer together");
        assert_eq!(decided(&["05/06/2008", "04/03/2008"]), None);
        assert_eq!(decided(&["5/5/2008", "1.2/3", "10/12", "2009-05-06", "09-05-06", "1/2/3/2009"]), None);
        let day_first = |lines: &[&str]| {
            let clock = TimeContext::new(Millis(1_245_456_000_000), 0);
            DateEvidence::of_lines(lines.iter().map(|line| (*line).to_owned()), clock)
        };
        let pages =
            day_first(&["05/06/2008"]).and(day_first(&["05/25/2008"])).and(day_first(&["25/05/2008", "26/05/2008"]));
        assert_eq!(pages.month_first(), Some(false), "most");
    }

    #[test]
    fn the_language_decides_else() {
        let usage = |language: &str, url: &str| usage(language, &CrawlUrl::parse(url).unwrap());
        assert!(usage("en", "http://a.com/") && usage("en-US", "http://a.com/") && usage("", "http://a.com/"));
        assert!(usage("zh-CN", "http://a.com/") && usage("", "http://a.cn/"));
        assert!(!usage("en-gb", "http://a.com/") && !usage("en", "http://a.co.uk/") && !usage("de", "http://a.com/"));
        assert!(!usage("", "http://a.fr/"));
    }
}
