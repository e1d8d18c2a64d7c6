//! Dates in figures and words, and days by name.

use super::super::cursor::TextCursor;
use super::hours::{TimeOfDay, joined_time};
use super::{DAY, MINUTE, now, on_day, today};
use suidao_page::model::{ApproxTime, Day, TimeContext};

/// Days named relative to today.
pub(super) const RELATIVE_DAYS: [(i64, &[&str]); 4] = [
    (0, &["今天", "今日", "きょう", "today"]),
    (1, &["昨天", "昨日", "きのう", "yesterday"]),
    (2, &["前天", "一昨日", "おととい"]),
    (3, &["大前天"]),
];
/// Days of the week from Thursday, the day of 1970-01-01.
pub(super) const WEEKDAYS: [&[&str]; 7] = [
    &["thursday", "thu", "星期四", "周四", "木曜日"],
    &["friday", "fri", "星期五", "周五", "金曜日"],
    &["saturday", "sat", "星期六", "周六", "土曜日"],
    &["sunday", "sun", "星期日", "周日", "日曜日"],
    &["monday", "mon", "星期一", "周一", "月曜日"],
    &["tuesday", "tue", "星期二", "周二", "火曜日"],
    &["wednesday", "wed", "星期三", "周三", "水曜日"],
];

pub(super) fn near_day(cursor: &mut TextCursor, clock: TimeContext) -> Option<ApproxTime> {
    if let Some((back, _)) = RELATIVE_DAYS.into_iter().find(|(_, names)| cursor.words(names).is_some()) {
        let time = cursor.or(joined_time);
        // "今天天气" is not a time.
        let goes_on = time.is_none() && cursor.rest().starts_with(char::is_alphabetic);
        return (!goes_on).then(|| on_day(today(clock) - back, time, clock));
    }
    let day = weekday(cursor)?;
    let time = cursor.or(joined_time)?;
    let back = (today(clock) - day as i64).rem_euclid(7);
    let moment = on_day(today(clock) - back, Some(time), clock);
    Some(if moment.at > now(clock) + MINUTE { ApproxTime { at: moment.at - 7 * DAY, ..moment } } else { moment })
}

fn weekday(cursor: &mut TextCursor) -> Option<usize> {
    WEEKDAYS.iter().position(|names| cursor.words(names).is_some())
}
pub(super) const MONTHS: [&[&str]; 12] = [
    &["january", "jan"],
    &["february", "feb"],
    &["march", "mar"],
    &["april", "apr"],
    &["may"],
    &["june", "jun"],
    &["july", "jul"],
    &["august", "aug"],
    &["september", "sept", "sep"],
    &["october", "oct"],
    &["november", "nov"],
    &["december", "dec"],
];

#[derive(Clone, Copy)]
struct Date {
    year: Option<i64>,
    month: i64,
    day: i64,
    /// Unambiguous: a month by name, or a year with four digits.
    plain: bool,
}

pub(super) fn date_and_time(cursor: &mut TextCursor, whole: usize, clock: TimeContext) -> Option<ApproxTime> {
    let before = cursor.rest().len();
    let named = cursor.or(|cursor| {
        if weekday(cursor).is_some() {
            let _ = cursor.any(&[",", "."]);
            cursor.spaces();
        }
        date_in_words(cursor)
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
            // The 29th of February may be years back.
            (0..8).find_map(|back| {
                let moment = on_day(days(i64::from(year) - back)?, time, clock);
                (moment.at <= now(clock) + MINUTE).then_some(moment)
            })
        }
    }
}

/// The year of two digits.
fn century(year: i64) -> i64 {
    if year < 70 { 2000 + year } else { 1900 + year }
}

fn numeric(cursor: &mut TextCursor) -> Option<Date> {
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
        // "5月 25, 2009": a translated English format.
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
        // 09-5-25, and 05/25/09 if it is unambiguous.
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
            // "5/12" alone may also be a count of 12 views.
            if separator == "/" && time_follows(cursor).is_none() {
                return None;
            }
            Some(Date { year: None, month: first, day: second, plain: false })
        }
        None => None,
    }
}

fn time_follows(cursor: &TextCursor) -> Option<TimeOfDay> {
    joined_time(&mut cursor.clone())
}

/// "25-May-2009" from the month on.
fn month_after_day(cursor: &mut TextCursor, day: i64) -> Option<Date> {
    let month = month(cursor)?;
    cursor.any(&["-", "/", "."])?;
    let (year, digits) = cursor.digits(2..=4)?;
    let year = if digits == 2 { century(year) } else { year };
    Some(Date { year: Some(year), month, day, plain: true })
}

fn month(cursor: &mut TextCursor) -> Option<i64> {
    let at = MONTHS.iter().position(|names| cursor.words(names).is_some())?;
    let _ = cursor.any(&["."]);
    Some(at as i64 + 1)
}

/// "25 May 2009", "25th of May", "May 25, 2009", "May 25 '09", "May 25".
fn date_in_words(cursor: &mut TextCursor) -> Option<Date> {
    let day = |cursor: &mut TextCursor| {
        let day = cursor.number(1..=2)?;
        let _ = cursor.or(|cursor| ["st", "nd", "rd", "th"].iter().find_map(|end| cursor.word(end)));
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
fn weekday_mark(cursor: &mut TextCursor) -> Option<()> {
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
