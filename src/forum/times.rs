//! Times as forums show them: "2009-05-25 12:01", "昨天 12:01", "3分钟前", "Today at 12:01 PM".
//!
//! Apart because a form is a rule of its own, and because each is exact to something else: what is said to the minute is
//! known to the minute. A relative time counts whole units, rounded down, so "3小时前" is an hour that ended three hours
//! ago. Months have 30 days and years 365 there. A date without a year is the latest one past. `05/06/2009` is the fifth
//! of June with dots, or where the numbers leave no choice, and the sixth of May otherwise. A zone that is written beside
//! the time goes before the forum's own. What lies more than a minute ahead is no time of a post.

use std::ops::Range;

use super::cursor::Cursor;
use crate::model::{Clock, Day, Moment};

const MINUTE: i64 = 60;
const HOUR: i64 = 3_600;
const DAY: i64 = 86_400;

/// A time in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Shown {
    pub(super) moment: Moment,
    /// Where it stands.
    pub(super) text: Range<usize>,
}

/// Bytes of a text that are searched.
const SEARCHED: usize = 4 << 10;

/// Characters of a text in which a day may be named by a word alone: in a longer one 今天 is a word among others.
const LABEL: usize = 24;

/// What a time begins with beside digits and Latin letters.
const BEGINNINGS: &str = "刚剛た几数半一两兩二三四五六七八九十约上去今昨前おき大星周木金土日月火水早凌清午下晚中傍夜";

/// The times in a text, in order.
pub(super) fn all(text: &str, clock: Clock) -> Vec<Shown> {
    let mut found = Vec::new();
    let (whole, label) = (text.trim().len(), text.chars().take(LABEL + 1).count() <= LABEL);
    // Without a digit or a word of a label there is none.
    if !label && !text.bytes().take(SEARCHED + 64).any(|byte| byte.is_ascii_digit()) {
        return found;
    }
    let mut at = 0;
    let mut before = ' ';
    while let Some(c) = text[at..].chars().next() {
        if at > SEARCHED {
            break;
        }
        // A time begins with a digit or a word, at its beginning.
        let begins = if c.is_ascii_digit() {
            !(before.is_ascii_digit() || at > 1 && is_within_number(&text[..at]))
        } else {
            BEGINNINGS.contains(c) || c.is_ascii_alphabetic() && !before.is_ascii_alphanumeric()
        };
        let shown = begins.then(|| at_start(&text[at..], whole, clock)).flatten().filter(|(_, length)| {
            label || text[at..at + length].bytes().any(|byte| byte.is_ascii_digit())
        });
        if let Some((moment, length)) = shown {
            found.push(Shown { moment, text: at..at + length });
            at += length;
            before = ' ';
            continue;
        }
        before = c;
        at += c.len_utf8();
    }
    found
}

/// The first time in a text.
#[cfg(test)]
fn first(text: &str, clock: Clock) -> Option<Moment> {
    all(text, clock).first().map(|shown| shown.moment)
}

/// The time that an attribute holds: `datetime`, a `title`, seconds or milliseconds since 1970.
pub(super) fn of_attribute(value: &str, clock: Clock) -> Option<Moment> {
    if matches!(value.len(), 10 | 13) && value.bytes().all(|byte| byte.is_ascii_digit()) {
        let number: i64 = value.parse().ok()?;
        let seconds = if value.len() == 13 { number / 1000 } else { number };
        return past(Moment { at: seconds, within: 1 }, clock);
    }
    let found = all(value, clock).into_iter().next()?;
    // A sentence that mentions a time is not the time of anything.
    (value.len() - found.text.len() <= 24).then_some(found.moment)
}

/// Whether a digit behind this text would be part of a number with a point or a sign: "1.2009".
fn is_within_number(before: &str) -> bool {
    let mut back = before.chars().rev();
    matches!(back.next(), Some('.' | ',' | '-' | '/' | ':')) && back.next().is_some_and(|c| c.is_ascii_digit())
}

fn now(clock: Clock) -> i64 {
    i64::try_from(clock.now.0 / 1000).unwrap_or(i64::MAX / 4)
}

/// The day it is at the forum, in days since 1970.
fn today(clock: Clock) -> i64 {
    (now(clock) + i64::from(clock.offset)).div_euclid(DAY)
}

fn past(moment: Moment, clock: Clock) -> Option<Moment> {
    (moment.at <= now(clock) + MINUTE && moment.at > 0).then_some(moment)
}

/// A time at the start of a text and its length; `whole`: length of the text it may fill.
fn at_start(text: &str, whole: usize, clock: Clock) -> Option<(Moment, usize)> {
    let mut cursor = Cursor::new(text);
    let moment = ago(&mut cursor, clock)
        .or_else(|| cursor.or(|cursor| dated(cursor, whole, clock)))
        .or_else(|| cursor.or(|cursor| near_day(cursor, clock)))
        .or_else(|| cursor.or(|cursor| bare_clock(cursor, whole, clock)))?;
    let ends_within = cursor.rest().starts_with(|c: char| c.is_ascii_digit());
    past(moment, clock).filter(|_| !ends_within).map(|moment| (moment, text.len() - cursor.rest().len()))
}

/// A time of day on a day (days since 1970), in the zone that is written or the forum's.
fn on_day(day: i64, time: Option<TimeOfDay>, clock: Clock) -> Moment {
    let offset = time.and_then(|time| time.offset).unwrap_or(clock.offset);
    let (seconds, within) = time.map_or((0, DAY as u32), |time| (time.seconds, time.within));
    Moment { at: day * DAY + seconds - i64::from(offset), within }
}

// Relative times.

/// What units of a relative time are called, and their seconds; longer names first.
const UNITS: [(i64, &str); 8] = [
    (1, "秒钟|秒鐘|秒|seconds|second|secs|sec|s"),
    (MINUTE, "分钟|分鐘|分|minutes|minute|mins|min"),
    (HOUR, "个小时|個小時|小时|小時|个钟头|時間|hours|hour|hrs|hr|h"),
    (DAY, "天|日|days|day|d"),
    (7 * DAY, "个星期|個星期|星期|週間|周|週|weeks|week|w"),
    (30 * DAY, "个月|個月|ヶ月|か月|カ月|ヵ月|月|months|month|mo"),
    (365 * DAY, "年|years|year|y"),
    (MINUTE, "m"),
];
/// Numbers in words: one and so on up to ten.
const COUNTS: [(i64, &str); 10] = [
    (1, "一|an |a |one |几"),
    (2, "两|兩|二"),
    (3, "三"),
    (4, "四"),
    (5, "五"),
    (6, "六"),
    (7, "七"),
    (8, "八"),
    (9, "九"),
    (10, "十"),
];
const JUST_NOW: [&str; 13] = [
    "刚刚",
    "剛剛",
    "刚才",
    "剛才",
    "たった今",
    "just now",
    "just a moment ago",
    "moments ago",
    "a moment ago",
    "a few seconds ago",
    "几秒前",
    "几秒钟前",
    "数秒前",
];
const AGO: [&str; 8] = ["前", "之前", "以前", "ago", " ago", "earlier", " earlier", " 前"];

fn ago(cursor: &mut Cursor, clock: Clock) -> Option<Moment> {
    if cursor.any(&JUST_NOW).is_some() {
        return Some(elapsed(0, MINUTE, clock));
    }
    cursor.or(|cursor| {
        if cursor.any(&["less than a minute"]).is_some() {
            cursor.any(&AGO)?;
            return Some(elapsed(0, MINUTE, clock));
        }
        let half = cursor.any(&["半"]).is_some();
        if half {
            cursor.spaces();
            cursor.any(&["小时", "小時", "个小时", "個小時", "个钟头"])?;
            cursor.any(&AGO)?;
            return Some(elapsed(HOUR / 2, HOUR / 2, clock));
        }
        let _ = cursor.any(&["about ", "over ", "almost ", "约"]);
        let (mut total, mut last) = (0i64, 0i64);
        // "3 hours, 20 minutes ago".
        for part in 0..3 {
            let Some((count, unit)) = cursor.or(count_and_unit).filter(|(_, unit)| part == 0 || *unit < last) else {
                break;
            };
            total = total.checked_add(count.checked_mul(unit)?)?;
            last = unit;
            cursor.spaces();
            let _ = cursor.any(&[", ", "and "]);
            cursor.spaces();
        }
        if last == 0 {
            let (length, _) = LAST.into_iter().find(|(_, names)| words(cursor, names).is_some())?;
            return Some(elapsed(0, length, clock));
        }
        cursor.any(&AGO)?;
        Some(elapsed(total, last, clock))
    })
}

/// "上周", "last week": some day since so long ago.
const LAST: [(i64, &str); 3] =
    [(14 * DAY, "上周|上星期|上週|last week"), (62 * DAY, "上个月|上個月|last month"), (731 * DAY, "去年|last year")];

fn count_and_unit(cursor: &mut Cursor) -> Option<(i64, i64)> {
    let number = cursor.number(1..=4);
    let count = match number {
        Some(count) => count,
        None => COUNTS.into_iter().find(|(_, names)| names.split('|').any(|name| cursor.any(&[name]).is_some()))?.0,
    };
    cursor.spaces();
    let found = UNITS.into_iter().find(|(_, names)| words(cursor, names).is_some());
    found.map(|(seconds, _)| (count, seconds))
}

/// The first of words separated by bars that the text goes on with, with no other letter behind it.
fn words(cursor: &mut Cursor, names: &str) -> Option<()> {
    names.split('|').find_map(|name| cursor.or(|cursor| word(cursor, name)))
}

/// A word that no other letter follows, where it is a Latin one.
fn word(cursor: &mut Cursor, name: &str) -> Option<()> {
    cursor.any(&[name])?;
    (!name.is_ascii() || !cursor.rest().starts_with(|c: char| c.is_ascii_alphabetic())).then_some(())
}

/// `seconds` and up to `within` more ago.
fn elapsed(seconds: i64, within: i64, clock: Clock) -> Moment {
    let at = now(clock).saturating_sub(seconds).saturating_sub(within) + 1;
    Moment { at, within: u32::try_from(within).unwrap_or(u32::MAX) }
}

// Days by name.

/// Days named by how long ago they are.
const NEAR: [(i64, &str); 4] =
    [(0, "今天|今日|きょう|today"), (1, "昨天|昨日|きのう|yesterday"), (2, "前天|一昨日|おととい"), (3, "大前天")];
/// Days of the week from Thursday, as 1970-01-01 was one.
const WEEKDAYS: [&str; 7] = [
    "thursday|thu|星期四|周四|木曜日",
    "friday|fri|星期五|周五|金曜日",
    "saturday|sat|星期六|周六|土曜日",
    "sunday|sun|星期日|周日|日曜日",
    "monday|mon|星期一|周一|月曜日",
    "tuesday|tue|星期二|周二|火曜日",
    "wednesday|wed|星期三|周三|水曜日",
];

fn near_day(cursor: &mut Cursor, clock: Clock) -> Option<Moment> {
    if let Some((back, _)) = NEAR.into_iter().find(|(_, names)| words(cursor, names).is_some()) {
        let time = cursor.or(joined_time);
        // "今天天气" is no time.
        let goes_on = time.is_none() && cursor.rest().starts_with(char::is_alphabetic);
        return (!goes_on).then(|| on_day(today(clock) - back, time, clock));
    }
    let day = weekday(cursor)?;
    let time = cursor.or(joined_time)?;
    let back = (today(clock) - day as i64).rem_euclid(7);
    let moment = on_day(today(clock) - back, Some(time), clock);
    Some(if moment.at > now(clock) + MINUTE { Moment { at: moment.at - 7 * DAY, ..moment } } else { moment })
}

/// A day of the week, from Thursday.
fn weekday(cursor: &mut Cursor) -> Option<usize> {
    WEEKDAYS.iter().position(|names| words(cursor, names).is_some())
}

/// A time of day alone: the latest past one, where it is all the text.
fn bare_clock(cursor: &mut Cursor, whole: usize, clock: Clock) -> Option<Moment> {
    let before = cursor.rest().len();
    let time = time_of_day(cursor)?;
    if before - cursor.rest().len() < whole {
        return None;
    }
    let moment = on_day(today(clock), Some(time), clock);
    Some(if moment.at > now(clock) + MINUTE { Moment { at: moment.at - DAY, ..moment } } else { moment })
}

// Dates.

const MONTHS: [&str; 12] = [
    "january|jan",
    "february|feb",
    "march|mar",
    "april|apr",
    "may",
    "june|jun",
    "july|jul",
    "august|aug",
    "september|sept|sep",
    "october|oct",
    "november|nov",
    "december|dec",
];

/// Year, month and day as far as they are written.
#[derive(Clone, Copy)]
struct Date {
    year: Option<i64>,
    month: i64,
    day: i64,
    /// Whether it can be taken for nothing else: a month by name, four digits of a year.
    plain: bool,
}

fn dated(cursor: &mut Cursor, whole: usize, clock: Clock) -> Option<Moment> {
    let before = cursor.rest().len();
    let named = cursor.or(|cursor| {
        if weekday(cursor).is_some() {
            let _ = cursor.any(&[",", "."]);
            cursor.spaces();
        }
        worded(cursor)
    });
    let date = match named {
        Some(date) => date,
        None => cursor.or(numeric)?,
    };
    let length = before - cursor.rest().len();
    let _ = cursor.or(weekday_mark);
    let time = cursor.or(joined_time);
    if !date.plain && time.is_none() && length < whole {
        return None;
    }
    let days = |year: i64| {
        let narrow = |number: i64| i8::try_from(number).ok();
        Some(i64::from(Day::of(i16::try_from(year).ok()?, narrow(date.month)?, narrow(date.day)?)?.0))
    };
    match date.year {
        Some(year) => (1980..2200).contains(&year).then(|| days(year)).flatten().map(|day| on_day(day, time, clock)),
        None => {
            let year = Day(i32::try_from(today(clock)).ok()?).year();
            // The 29th of February may lie years back.
            (0..8).find_map(|back| {
                let moment = on_day(days(i64::from(year) - back)?, time, clock);
                (moment.at <= now(clock) + MINUTE).then_some(moment)
            })
        }
    }
}

/// Two digits of a year.
fn century(year: i64) -> i64 {
    if year < 70 { 2000 + year } else { 1900 + year }
}

fn numeric(cursor: &mut Cursor) -> Option<Date> {
    let (first, digits) = cursor.digits(1..=4)?;
    cursor.spaces();
    let separator = cursor.any(&["-", "/", ".", "年", "月"])?;
    cursor.spaces();
    if separator == "月" {
        let day = cursor.number(1..=2)?;
        cursor.spaces();
        if cursor.any(&["日", "号"]).is_some() {
            return Some(Date { year: None, month: first, day, plain: true });
        }
        // "5月 25, 2009": an English form translated.
        cursor.any(&[","])?;
        cursor.spaces();
        let year = cursor.number(4..=4)?;
        return Some(Date { year: Some(year), month: first, day, plain: true });
    }
    if separator == "年" {
        let month = cursor.number(1..=2)?;
        cursor.spaces();
        cursor.any(&["月"])?;
        cursor.spaces();
        let day = cursor.number(1..=2)?;
        cursor.spaces();
        let _ = cursor.any(&["日", "号"]);
        let year = if digits <= 2 { century(first) } else { first };
        return Some(Date { year: Some(year), month, day, plain: true });
    }
    if digits < 3
        && let Some(date) = cursor.or(|cursor| month_after_day(cursor, first))
    {
        return Some(date);
    }
    let (second, _) = cursor.digits(1..=2)?;
    let third = cursor.or(|cursor| {
        cursor.any(&[separator])?;
        cursor.digits(1..=4)
    });
    match third {
        Some((third, _)) if digits == 4 => Some(Date { year: Some(first), month: second, day: third, plain: true }),
        Some((third, 4)) => {
            let day_first = first > 12 || separator == "." && second <= 12;
            let (month, day) = if day_first { (second, first) } else { (first, second) };
            Some(Date { year: Some(third), month, day, plain: true })
        }
        // 09-5-25, and 05/25/09 as far as it can be nothing else.
        Some((third, _)) if digits == 2 && separator == "-" && second <= 12 => {
            Some(Date { year: Some(century(first)), month: second, day: third, plain: false })
        }
        Some((third, 2)) => {
            let day_first = first > 12 || separator == "." && second <= 12;
            let (month, day) = if day_first { (second, first) } else { (first, second) };
            Some(Date { year: Some(century(third)), month, day, plain: false })
        }
        Some(_) => None,
        None if digits <= 2 && separator != "." => {
            // "5/12" alone is as likely twelve views.
            if separator == "/" && time_follows(cursor).is_none() {
                return None;
            }
            Some(Date { year: None, month: first, day: second, plain: false })
        }
        None => None,
    }
}

fn time_follows(cursor: &Cursor) -> Option<TimeOfDay> {
    joined_time(&mut cursor.clone())
}

/// "25-May-2009" from the month on.
fn month_after_day(cursor: &mut Cursor, day: i64) -> Option<Date> {
    let month = month(cursor)?;
    cursor.any(&["-", "/", "."])?;
    let (year, digits) = cursor.digits(2..=4)?;
    let year = if digits == 2 { century(year) } else { year };
    Some(Date { year: Some(year), month, day, plain: true })
}

fn month(cursor: &mut Cursor) -> Option<i64> {
    let at = MONTHS.iter().position(|names| words(cursor, names).is_some())?;
    let _ = cursor.any(&["."]);
    Some(at as i64 + 1)
}

/// "25 May 2009", "25th of May", "May 25, 2009", "May 25 '09", "May 25".
fn worded(cursor: &mut Cursor) -> Option<Date> {
    let day = |cursor: &mut Cursor| {
        let day = cursor.number(1..=2)?;
        let _ = cursor.or(|cursor| ["st", "nd", "rd", "th"].iter().find_map(|end| word(cursor, end)));
        Some(day)
    };
    let (day, month) = match cursor.or(day) {
        Some(day) => {
            cursor.spaces();
            let _ = cursor.any(&["of "]);
            (day, month(cursor)?)
        }
        None => {
            let month = month(cursor)?;
            cursor.spaces();
            (day(cursor)?, month)
        }
    };
    let year = cursor.or(|cursor| {
        let _ = cursor.any(&[","]);
        cursor.spaces();
        if cursor.any(&["'", "’"]).is_some() {
            return cursor.number(2..=2).map(century);
        }
        // "May 25 12:01": hours, not a year.
        cursor.digits(4..=4).map(|(year, _)| year)
    });
    Some(Date { year, month, day, plain: true })
}

/// "(月)", "星期一", ", Mon".
fn weekday_mark(cursor: &mut Cursor) -> Option<()> {
    cursor.spaces();
    if cursor.any(&["(", "（"]).is_some() {
        let _ = cursor.any(&["星期", "周"]);
        if weekday(cursor).is_none() {
            cursor.any(&["日", "月", "火", "水", "木", "金", "土", "一", "二", "三", "四", "五", "六"])?;
        }
        return cursor.any(&[")", "）"]).map(|_| ());
    }
    weekday(cursor).map(|_| ())
}

// The time of day.

#[derive(Clone, Copy)]
struct TimeOfDay {
    seconds: i64,
    within: u32,
    /// Seconds east of UTC, where it is written.
    offset: Option<i32>,
}

/// A time of day behind a date: white space, "at", a comma, a "T" between.
fn joined_time(cursor: &mut Cursor) -> Option<TimeOfDay> {
    cursor.spaces();
    let joint = cursor.any(&["T", ",", "at ", "@", "|", "-", "–", "—", "»", "・", ":", "の", "um ", "à "]);
    cursor.spaces();
    if joint == Some(",") {
        let _ = cursor.any(&["at "]);
        cursor.spaces();
    }
    time_of_day(cursor)
}

fn time_of_day(cursor: &mut Cursor) -> Option<TimeOfDay> {
    // The halves of the day by what stands before or behind the hours.
    const EARLY: &str = "上午|早上|凌晨|清晨|午前|早晨|am|a.m.";
    const LATE: &str = "下午|午後|傍晚|夜间|pm|p.m.";
    const NIGHT: &str = "晚上";
    const NOON: &str = "中午";
    let half =
        |cursor: &mut Cursor| [EARLY, LATE, NIGHT, NOON].into_iter().find(|names| words(cursor, names).is_some());
    let prefix = half(cursor);
    cursor.spaces();
    let mut hour = cursor.number(1..=2)?;
    let separator = cursor.any(&[":", "：", "時", "时", "点", "點"])?;
    cursor.spaces();
    let minute = cursor.digits(1..=2).map(|(minute, _)| minute)?;
    let mut second = None;
    if separator == ":" || separator == "：" {
        second = cursor.or(|cursor| {
            cursor.any(&[":", "："])?;
            cursor.digits(2..=2).map(|(second, _)| second)
        });
        if second.is_some() {
            let _ = cursor.or(|cursor| {
                cursor.any(&[".", ","])?;
                cursor.digits(1..=9).map(|_| ())
            });
        }
    } else if cursor.any(&["分"]).is_some() {
        second = cursor.or(|cursor| {
            let second = cursor.number(1..=2)?;
            cursor.any(&["秒"]).map(|_| second)
        });
    }
    let suffix = cursor.or(|cursor| {
        cursor.spaces();
        half(cursor)
    });
    match suffix.or(prefix) {
        Some(LATE | NIGHT) if hour < 12 => hour += 12,
        Some(NOON) if hour < 11 => hour += 12,
        Some(EARLY | NIGHT) if hour == 12 => hour = 0,
        _ => {}
    }
    if hour > 23 || minute > 59 || second.is_some_and(|second| second > 60) {
        return None;
    }
    let offset = cursor.or(zone);
    let within = if second.is_some() { 1 } else { MINUTE as u32 };
    let seconds = hour * HOUR + minute * MINUTE + second.unwrap_or(0).min(59);
    Some(TimeOfDay { seconds, within, offset })
}

/// "Z", "+08:00", "+0800", "GMT", "UTC+8", "JST".
fn zone(cursor: &mut Cursor) -> Option<i32> {
    let spaced = cursor.spaces();
    if !spaced && cursor.or(|cursor| word(cursor, "z")).is_some() {
        return Some(0);
    }
    if cursor.or(|cursor| word(cursor, "jst")).is_some() {
        return Some(9 * HOUR as i32);
    }
    let named = cursor.any(&["gmt", "utc"]).is_some();
    let signed = cursor.or(|cursor| {
        let sign = if cursor.any(&["+"]).is_some() { 1 } else { cursor.any(&["-", "−"]).map(|_| -1)? };
        let (number, digits) = cursor.digits(1..=4)?;
        let (hours, minutes) = match digits {
            4 => (number / 100, number % 100),
            2 if cursor.any(&[":"]).is_some() => (number, cursor.digits(2..=2)?.0),
            _ if named => (number, 0),
            _ => return None,
        };
        (hours <= 14 && minutes < 60).then(|| sign * (hours * HOUR + minutes * MINUTE) as i32)
    });
    signed.or(named.then_some(0))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::model::Millis;

    /// 2009-06-03 10:00:00 in China, a Wednesday.
    const NOW: i64 = 1_243_994_400;

    fn clock() -> Clock {
        Clock { now: Millis(NOW as u64 * 1000), offset: 8 * 3600 }
    }

    /// Seconds since 1970 of a time in China.
    fn at(text: &str) -> i64 {
        let (day, time) = text.split_once(' ').unwrap();
        let parts: Vec<i64> = time.split(':').map(|part| part.parse().unwrap()).collect();
        i64::from(Day::parse(day).unwrap().0) * DAY + parts[0] * HOUR + parts[1] * MINUTE + parts.get(2).unwrap_or(&0)
            - 8 * HOUR
    }

    #[test]
    fn absolute_times_are_read_in_every_usual_form() {
        for text in [
            "2009-05-25 12:01",
            "2009/5/25 12:01",
            "2009.5.25 12:01",
            "2009年5月25日 12:01",
            "2009年05月25日12时01分",
            "5-25 12:01",
            "05-25 12:01",
            "5月25日 12:01",
            "09-5-25 12:01",
            "25 May 2009, 12:01 pm",
            "Mon May 25, 2009 12:01 pm",
            "May 25, 2009 at 12:01 PM",
            "Monday, May 25th, 2009 - 12:01",
            "05-25-2009, 12:01 PM",
            "05/25/2009 12:01",
            "25.05.2009, 12:01",
            "May 25 '09 12:01",
            "2009 年 5 月 25 日(月) 12:01",
            "2009年5月25日(月) 12:01",
            "2009-5-25 下午 12:01",
            "2009-5-25 中午12:01",
            "发表于 2009-5-25 12:01 | 只看该作者",
            "2009-05-25T12:01+08:00",
            "2009-05-25T04:01Z",
            "Mon, 25 May 2009 05:01 +0100",
            "25-May-2009 12:01",
            "2009-05-25 12:01 +08:00",
            "on: May 25, 2009, 12:01:00 pm",
            "2009-05-25, 12:01 星期一",
            "周一 2009-5-25 12:01",
            "周一 5月 25, 2009 12:01 pm",
        ] {
            let moment = first(text, clock()).unwrap_or_else(|| panic!("{text}"));
            let within = if text.contains(":01:00") { 1 } else { 60 };
            assert_eq!(moment, Moment { at: at("2009-05-25 12:01"), within }, "{text}");
        }
        let seconds = first("2009-5-25 12:01:33", clock()).unwrap();
        assert_eq!(seconds, Moment { at: at("2009-05-25 12:01:33"), within: 1 });
        for text in ["2009-05-25", "May 25, 2009", "25.5.2009", "5-25", "5月25日", "Mon 25 May 2009", "May 25 '09"] {
            let moment = first(text, clock()).unwrap_or_else(|| panic!("{text}"));
            assert_eq!(moment, Moment { at: at("2009-05-25 00:00"), within: 86_400 }, "{text}");
        }
        let year_missing = first("12-25 12:01", clock()).unwrap();
        assert_eq!(year_missing.at, at("2008-12-25 12:01"), "the latest past one");
    }

    #[test]
    fn halves_of_the_day_are_told() {
        for (text, time) in [
            ("2009-5-25 12:30 am", "00:30"),
            ("2009-5-25 12:30 PM", "12:30"),
            ("2009-5-25 1:05 pm", "13:05"),
            ("2009-5-25 凌晨 1:05", "01:05"),
            ("2009-5-25 晚上 11:05", "23:05"),
            ("2009-5-25 中午11:05", "11:05"),
            ("2009-5-25 下午8:05", "20:05"),
            ("2009年5月25日 午後 3:05", "15:05"),
            ("2009-5-25 上午 12:05", "00:05"),
        ] {
            assert_eq!(first(text, clock()).unwrap().at, at(&format!("2009-05-25 {time}")), "{text}");
        }
    }

    #[test]
    fn relative_times_count_from_the_fetch() {
        for (text, from, to) in [
            ("刚刚", 0, 60),
            ("just now", 0, 60),
            ("3分钟前", 180, 240),
            ("3分前", 180, 240),
            ("5 minutes ago", 300, 360),
            ("半小时前", 1800, 3600),
            ("2 小时前", 7200, 10800),
            ("2小时前 来自 某人", 7200, 10800),
            ("an hour ago", 3600, 7200),
            ("about 3 hours ago", 10800, 14400),
            ("3天前", 259_200, 345_600),
            ("两天前", 172_800, 259_200),
            ("1周前", 604_800, 1_209_600),
            ("2个月前", 5_184_000, 7_776_000),
            ("1年前", 31_536_000, 63_072_000),
            ("3 小时 20 分钟前", 12_000, 12_060),
            ("3 hours, 20 minutes ago", 12_000, 12_060),
            ("10秒前", 10, 11),
            ("less than a minute ago", 0, 60),
            ("2d ago", 172_800, 259_200),
            ("1 day ago", 86_400, 172_800),
        ] {
            let moment = first(text, clock()).unwrap_or_else(|| panic!("{text}"));
            assert_eq!((NOW - moment.at, i64::from(moment.within)), (to - 1, to - from), "{text}");
        }
        for (text, time) in [
            ("昨天 12:01", "2009-06-02 12:01"),
            ("前天 08:30", "2009-06-01 08:30"),
            ("今天 09:01", "2009-06-03 09:01"),
            ("Today at 09:01 AM", "2009-06-03 09:01"),
            ("Yesterday, 12:01 PM", "2009-06-02 12:01"),
            ("今日 9:01", "2009-06-03 09:01"),
            ("昨日 12:01", "2009-06-02 12:01"),
            ("09:01", "2009-06-03 09:01"),
            ("23:01", "2009-06-02 23:01"),
            ("Monday at 12:01 PM", "2009-06-01 12:01"),
            ("昨天\u{a0}12:01", "2009-06-02 12:01"),
        ] {
            assert_eq!(first(text, clock()), Some(Moment { at: at(time), within: 60 }), "{text}");
        }
        assert_eq!(first("昨天", clock()), Some(Moment { at: at("2009-06-02 00:00"), within: 86_400 }));
    }

    #[test]
    fn what_is_no_time_is_none() {
        for text in [
            "12/345",
            "5/12",
            "1.2k",
            "123",
            "2009",
            "2009-13-05",
            "2009-5",
            "25:61",
            "2019-05-25 12:01",
            "3 days",
            "3小时",
            "PHP 5.3.5",
            "192.168.1.1",
            "12:01 vs 3",
            "May",
            "may 2009",
            "1-2-3-4",
            "",
            "前天气",
            "100-200",
            "2009-02-30",
            "1,234",
            "http://a.cn/2009",
            "今天天气不错 3",
        ] {
            assert_eq!(first(text, clock()), None, "{text}");
        }
    }

    #[test]
    fn attributes_hold_exact_times() {
        let exact = Some(Moment { at: at("2009-05-25 12:01:33"), within: 1 });
        for value in [
            "2009-5-25 12:01:33",
            "2009-05-25T12:01:33+08:00",
            "2009-05-25T04:01:33.000Z",
            "1243224093",
            "1243224093000",
        ] {
            assert_eq!(of_attribute(value, clock()), exact, "{value}");
        }
        assert_eq!(of_attribute("a long sentence that says 2009-5-25 12:01:33 and goes on", clock()), None);
    }

    const NAMES: [&str; 12] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

    proptest! {
        #[test]
        fn the_true_time_lies_in_what_is_read(back in 0i64..400 * DAY, form in 0usize..14) {
            let truth = NOW - back;
            let local = truth + 8 * HOUR;
            let day = Day(local.div_euclid(DAY) as i32).to_string();
            let (year, month, date) = (&day[..4], day[5..7].parse::<usize>().unwrap(), day[8..].parse::<i64>().unwrap());
            let second = local.rem_euclid(DAY);
            let (h, m, s) = (second / HOUR, second / MINUTE % 60, second % 60);
            let twelve = (if h % 12 == 0 { 12 } else { h % 12 }, if h < 12 { "am" } else { "pm" });
            let name = NAMES[month - 1];
            let text = match form {
                0 => format!("{day} {h:02}:{m:02}:{s:02}"),
                1 => format!("{year}/{month}/{date} {h}:{m:02}"),
                2 => format!("{year}年{month}月{date}日 {h:02}:{m:02}"),
                3 => format!("{date} {name} {year}, {}:{m:02} {}", twelve.0, twelve.1),
                4 => format!("{name} {date}, {year} at {}:{m:02} {}", twelve.0, twelve.1),
                5 => format!("{}-{month}-{date} {h:02}:{m:02}", &year[2..]),
                6 => format!("{}分钟前", back / 60),
                7 => format!("{} hours ago", back / HOUR),
                8 => format!("{} 天前", back / DAY),
                9 if back < 300 * DAY => format!("{month}-{date} {h:02}:{m:02}"),
                10 if back < 300 * DAY => format!("{month}月{date}日"),
                11 => format!("{}.{}.{year} {h}:{m:02}", date, month),
                12 => format!("{day}T{h:02}:{m:02}:{s:02}+08:00"),
                _ => format!("{day}"),
            };
            if form == 6 && back / 60 > 9999 {
                return Ok(());
            }
            let moment = first(&text, clock());
            prop_assert!(moment.is_some_and(|moment| moment.at <= truth && truth < moment.at + i64::from(moment.within)), "{} {:?} {}", text, moment, truth);
        }

        #[test]
        fn no_text_panics(text in "[0-9年月日前昨天分時:/.\\- a-zé,'+TZ]{0,30}") {
            let _ = (all(&text, clock()), of_attribute(&text, clock()));
        }
    }
}
