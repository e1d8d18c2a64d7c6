//! Parses times as forums show them: "2009-05-25 12:01", "昨天 12:01", "3分钟前", "Today at 12:01 PM".
//!
//! A relative time counts whole units, rounded down: "3小时前" is any time within the hour that ended three hours ago. Its
//! months have 30 days and its years 365. A date without a year is the latest in the past. Whether `05/06/2009` is May
//! 6th depends on the forum (`date_order.rs`); with dots, or if the numbers allow nothing else, the day comes first. An
//! explicit zone takes precedence over the forum's own. Times more than a minute in the future are rejected.

mod ago;
mod calendar;
mod hours;
#[cfg(test)]
mod tests;

use std::ops::Range;

use self::ago::ago;
pub(super) use self::calendar::century;
use self::calendar::{date_and_time, near_day};
use self::hours::{TimeOfDay, time_of_day};
use super::cursor::TextCursor;
use suidao_page::model::{ApproxTime, TimeContext};
use suidao_page::read::month_named;

const MINUTE: i64 = 60;
const HOUR: i64 = 3_600;
pub(super) const DAY: i64 = 86_400;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TimeInText {
    pub(super) moment: ApproxTime,
    pub(super) text: Range<usize>,
}

/// Bytes of a text that are searched.
const SEARCHED: usize = 4 << 10;

/// Characters of a text in which a day may be a word alone: in longer ones 今天 is an ordinary word.
const LABEL: usize = 24;

/// First characters of times other than digits and Latin letters.
const BEGINNINGS: &str =
    "刚剛た几数半一两兩二三四五六七八九十〇约上去今昨前おき大星周木金土日月火水早凌清午下晚中傍夜오어民";

/// First two letters of Latin words at the start of a time: days, "just now", "a minute ago", "about", "p.m." and so on.
const LATIN: [&str; 22] = [
    "a ", "a.", "ab", "al", "am", "an", "fr", "ju", "la", "le", "mo", "on", "ov", "p.", "pm", "sa", "su", "th", "to",
    "tu", "we", "ye",
];

fn is_latin_beginning(text: &str) -> bool {
    text.as_bytes().get(..2).is_some_and(|two| LATIN.iter().any(|latin| two.eq_ignore_ascii_case(latin.as_bytes())))
}

/// Whether a word is a month, or a day in another language, and a number follows soon.
fn is_name_beginning(text: &str) -> bool {
    /// Characters up to the number: "aujourd'hui à 10:17".
    const NEAR: usize = 24;
    let word = TextCursor::new(text).letters();
    if !text.chars().take(NEAR).any(|c| c.is_ascii_digit()) || word.len() > NEAR * 2 {
        return false;
    }
    let lower = word.to_lowercase();
    let is_day = |(_, names): &(i64, &[&str])| names.iter().any(|name| name.starts_with(lower.as_str()));
    month_named(&lower).is_some() || calendar::RELATIVE_DAYS_WITH_TIME.iter().any(is_day)
}

pub(super) fn all(text: &str, clock: TimeContext) -> Vec<TimeInText> {
    let mut found = Vec::new();
    let (whole, label) = (text.trim().len(), text.chars().take(LABEL + 1).count() <= LABEL);
    // Without a digit, only a short label can be a time.
    if !label && !text.bytes().take(SEARCHED + 64).any(|byte| byte.is_ascii_digit()) {
        return found;
    }
    let mut at = 0;
    let mut before = ' ';
    while let Some(c) = text[at..].chars().next() {
        if at > SEARCHED {
            break;
        }
        // A time starts at the start of a number or a word.
        let begins = if c.is_ascii_digit() {
            !(before.is_ascii_digit() || at > 1 && is_within_number(&text[..at]))
        } else {
            BEGINNINGS.contains(c)
                || c.is_ascii_alphabetic() && !before.is_ascii_alphanumeric() && is_latin_beginning(&text[at..])
                || c.is_alphabetic() && !before.is_alphanumeric() && is_name_beginning(&text[at..])
                || c.is_numeric() && !before.is_numeric()
        };
        let in_words = begins
            .then(|| at_start(&text[at..], whole, clock))
            .flatten()
            .filter(|(_, length)| label || text[at..at + length].bytes().any(|byte| byte.is_ascii_digit()));
        if let Some((moment, length)) = in_words {
            found.push(TimeInText { moment, text: at..at + length });
            at += length;
            before = ' ';
            continue;
        }
        before = c;
        at += c.len_utf8();
    }
    found
}

#[cfg(test)]
fn first(text: &str, clock: TimeContext) -> Option<ApproxTime> {
    all(text, clock).first().map(|time| time.moment)
}

/// The time in an attribute: `datetime`, a `title`, seconds or milliseconds since 1970.
pub(super) fn of_attribute(value: &str, clock: TimeContext) -> Option<ApproxTime> {
    if matches!(value.len(), 10 | 13) && value.bytes().all(|byte| byte.is_ascii_digit()) {
        let number: i64 = value.parse().ok()?;
        let seconds = if value.len() == 13 { number / 1000 } else { number };
        return past(ApproxTime { at: seconds, within: 1 }, clock);
    }
    let found = all(value, clock).into_iter().next()?;
    // A sentence that mentions a time is not the element's time.
    (value.len() - found.text.len() <= 24).then_some(found.moment)
}

/// Whether a digit after this text would belong to a number with a point or a sign: "1.2009".
fn is_within_number(before: &str) -> bool {
    let mut back = before.chars().rev();
    matches!(back.next(), Some('.' | ',' | '-' | '/' | ':')) && back.next().is_some_and(|c| c.is_ascii_digit())
}

fn now(clock: TimeContext) -> i64 {
    i64::try_from(clock.now.0 / 1000).unwrap_or(i64::MAX / 4)
}

/// The current day at the forum, in days since 1970.
pub(super) fn today(clock: TimeContext) -> i64 {
    (now(clock) + i64::from(clock.offset)).div_euclid(DAY)
}

fn past(moment: ApproxTime, clock: TimeContext) -> Option<ApproxTime> {
    (moment.at <= now(clock) + MINUTE && moment.at > 0).then_some(moment)
}

/// A time at the start of a text and its length; `whole`: length of the text it may fill.
fn at_start(text: &str, whole: usize, clock: TimeContext) -> Option<(ApproxTime, usize)> {
    let mut cursor = TextCursor::new(text);
    let moment = ago(&mut cursor, clock)
        .or_else(|| cursor.or(|cursor| date_and_time(cursor, whole, clock)))
        .or_else(|| cursor.or(|cursor| near_day(cursor, clock)))
        .or_else(|| cursor.or(|cursor| time_and_date(cursor, whole, clock)))
        .or_else(|| cursor.or(|cursor| bare_clock(cursor, whole, clock)))?;
    let ends_within = cursor.rest().starts_with(|c: char| c.is_ascii_digit());
    past(moment, clock).filter(|_| !ends_within).map(|moment| (moment, text.len() - cursor.rest().len()))
}

/// A time of day on a day (days since 1970), in the explicit zone or the forum's.
fn on_day(day: i64, time: Option<TimeOfDay>, clock: TimeContext) -> ApproxTime {
    let offset = time.and_then(|time| time.offset).unwrap_or(clock.offset);
    let (seconds, within) = time.map_or((0, DAY as u32), |time| (time.seconds, time.within));
    ApproxTime { at: day * DAY + seconds - i64::from(offset), within }
}

/// "10:43pm On Apr 13", "10:43, 13/04/2020": a time of day before its date.
fn time_and_date(cursor: &mut TextCursor, whole: usize, clock: TimeContext) -> Option<ApproxTime> {
    let before = cursor.rest().len();
    let time = time_of_day(cursor)?;
    cursor.joints(&[",", "-", "–", "·", "|", "@"], &["on", "am", "le", "el", "il", "em", "den", "op", "в"]);
    let between = before - cursor.rest().len();
    let date = date_and_time(cursor, whole.saturating_sub(between), clock)?;
    // A date with a time of its own.
    (date.within >= DAY as u32).then(|| {
        let day = (date.at + i64::from(clock.offset)).div_euclid(DAY);
        on_day(day, Some(time), clock)
    })
}

/// A time of day without a date: the latest in the past, if the text has nothing else.
fn bare_clock(cursor: &mut TextCursor, whole: usize, clock: TimeContext) -> Option<ApproxTime> {
    let before = cursor.rest().len();
    let time = time_of_day(cursor)?;
    if before - cursor.rest().len() < whole {
        return None;
    }
    let moment = on_day(today(clock), Some(time), clock);
    Some(if moment.at > now(clock) + MINUTE { ApproxTime { at: moment.at - DAY, ..moment } } else { moment })
}
