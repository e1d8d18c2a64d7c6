//! Dates in figures and words, and days by name. Names of months, and dates of other scripts, are read as on pages
//! (`read/date` in `suidao-page`).

use super::super::cursor::TextCursor;
use super::hours::{TimeOfDay, dotted_time, joined_time};
use super::{DAY, MINUTE, now, on_day, today};
use suidao_page::model::{ApproxTime, Day, TimeContext};
use suidao_page::read::{date_at_start, month_named};

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
    let with_time = cursor.or(|cursor| {
        if cursor.letters().is_empty() {
            return None;
        }
        let (back, _) = RELATIVE_DAYS_WITH_TIME.into_iter().find(|(_, names)| cursor.name(names).is_some())?;
        Some(on_day(today(clock) - back, Some(joined_time(cursor)?), clock))
    });
    if with_time.is_some() {
        return with_time;
    }
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

/// The same in other languages. Some are also words without a time: `hier` is "here" in German.
pub(super) const RELATIVE_DAYS_WITH_TIME: [(i64, &[&str]); 2] = [
    (
        0,
        &[
            "heute",
            "aujourd'hui",
            "aujourd’hui",
            "hoy",
            "oggi",
            "hoje",
            "avui",
            "vandaag",
            "dzisiaj",
            "dziś",
            "dnes",
            "bugün",
            "сегодня",
            "сьогодні",
            "днес",
            "idag",
            "i dag",
            "tänään",
            "azi",
            "danas",
            "hari ini",
            "hôm nay",
            "σήμερα",
            "오늘",
        ],
    ),
    (
        1,
        &[
            "gestern",
            "hier",
            "ayer",
            "ieri",
            "ontem",
            "ahir",
            "gisteren",
            "wczoraj",
            "včera",
            "dün",
            "вчера",
            "вчора",
            "igår",
            "i går",
            "eilen",
            "tegnap",
            "jučer",
            "juče",
            "kemarin",
            "hôm qua",
            "χθες",
            "어제",
        ],
    ),
];

#[derive(Clone, Copy)]
struct Date {
    year: Option<i64>,
    month: i64,
    day: i64,
    /// Unambiguous: a month by name, or a year with four digits.
    plain: bool,
}

impl Date {
    fn day(self, year: i64) -> Option<i64> {
        let narrow = |number: i64| i8::try_from(number).ok();
        Some(i64::from(Day::of(i16::try_from(year).ok()?, narrow(self.month)?, narrow(self.day)?)?.0))
    }
}

pub(super) fn date_and_time(cursor: &mut TextCursor, whole: usize, clock: TimeContext) -> Option<ApproxTime> {
    let text = cursor.rest();
    let before = text.len();
    let named = cursor.or(|cursor| {
        if weekday(cursor).is_some() {
            let _ = cursor.any(&[",", "."]);
            cursor.spaces();
        }
        date_in_words(cursor)
    });
    let date = named.or_else(|| cursor.or(|cursor| numeric(cursor, clock)));
    let Some(date) = date else {
        // Dates of other scripts, which have all parts.
        let (day, length) = may_be_dated(cursor.rest()).then(|| date_at_start(cursor.rest())).flatten()?;
        cursor.skip(length);
        return Some(on_day(i64::from(day.0), cursor.or(joined_time), clock));
    };
    let length = before - cursor.rest().len();
    let is_dotted = date.plain && text[..length].contains('.');
    let _ = cursor.or(weekday_mark);
    let time = cursor.or(joined_time).or_else(|| if is_dotted { cursor.or(dotted_time) } else { None });
    if !date.plain && time.is_none() && length < whole {
        return None;
    }
    match date.year {
        Some(year) => {
            (1980..2200).contains(&year).then(|| date.day(year)).flatten().map(|day| on_day(day, time, clock))
        }
        None => {
            let year = Day(i32::try_from(today(clock)).ok()?).year();
            // The 29th of February may be years back.
            (0..8).find_map(|back| {
                let moment = on_day(date.day(i64::from(year) - back)?, time, clock);
                (moment.at <= now(clock) + MINUTE).then_some(moment)
            })
        }
    }
}

/// Whether a text begins with a date of another script, or with a year: the others are read above.
fn may_be_dated(text: &str) -> bool {
    /// Characters up to the year.
    const YEAR: usize = 40;
    let mut digits = 0;
    text.chars().take(YEAR).any(|c| {
        digits = if c.is_numeric() || "〇一二三四五六七八九".contains(c) { digits + 1 } else { 0 };
        digits == 4 || c == '民'
    })
}

/// The year of two digits.
pub(in super::super) fn century(year: i64) -> i64 {
    if year < 70 { 2000 + year } else { 1900 + year }
}

fn numeric(cursor: &mut TextCursor, clock: TimeContext) -> Option<Date> {
    // With dots the day comes first everywhere.
    let is_day_first = |first: i64, second: i64, separator: &str| {
        first > 12 || second <= 12 && (separator == "." || !clock.month_first)
    };
    if let Some(date) = cursor.or(compact) {
        return Some(date);
    }
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
            let (month, day) = if is_day_first(first, second, separator) { (second, first) } else { (first, second) };
            Some(Date { year: Some(third), month, day, plain: true })
        }
        // 09-5-25, and 05/25/09 if it is unambiguous.
        Some((third, _)) if digits == 2 && separator == "-" && second <= 12 => {
            Some(Date { year: Some(century(first)), month: second, day: third, plain: false })
        }
        Some((third, 2)) => {
            let (month, day) = if is_day_first(first, second, separator) { (second, first) } else { (first, second) };
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

/// "20200421", if a time of day follows: alone it is any number.
fn compact(cursor: &mut TextCursor) -> Option<Date> {
    let number = cursor.number(8..=8)?;
    let (year, month, day) = (number / 10_000, number / 100 % 100, number % 100);
    let is_date = (1..=12).contains(&month) && (1..=31).contains(&day);
    let follows = cursor.rest().starts_with(char::is_whitespace) && time_follows(cursor).is_some();
    (is_date && follows).then_some(Date { year: Some(year), month, day, plain: true })
}

fn time_follows(cursor: &TextCursor) -> Option<TimeOfDay> {
    joined_time(&mut cursor.clone())
}

/// "25-May-2009" from the month on.
fn month_after_day(cursor: &mut TextCursor, day: i64) -> Option<Date> {
    let (month, _) = month(cursor)?;
    cursor.any(&["-", "/", "."])?;
    let (year, digits) = cursor.digits(2..=4)?;
    let year = if digits == 2 { century(year) } else { year };
    Some(Date { year: Some(year), month, day, plain: true })
}

/// A month by name, and whether it is an English one: in other languages some are also ordinary words.
fn month(cursor: &mut TextCursor) -> Option<(i64, bool)> {
    const ENGLISH: &str = "janfebmaraprmayjunjulaugsepoctnovdec";
    if let Some(month) = cursor.or(|cursor| {
        let month = cursor.number(1..=2).or_else(|| cursor.hanzi())?;
        cursor.any(&["月", "월"])?;
        (1..=12).contains(&month).then_some(month)
    }) {
        return Some((month, true));
    }
    let name = cursor.letters().to_lowercase();
    let month = month_named(&name)?;
    cursor.skip(cursor.letters().len());
    let _ = cursor.any(&["."]);
    let english = name.get(..3).is_some_and(|start| ENGLISH.as_bytes().chunks(3).any(|own| own == start.as_bytes()));
    Some((i64::from(month), english))
}

/// "25 May 2009", "25th of May", "25. Mai 2009", "20 十一月, 2009", "May 25, 2009", "May 25 '09", "May 25".
fn date_in_words(cursor: &mut TextCursor) -> Option<Date> {
    let day = |cursor: &mut TextCursor| {
        let day = cursor.number(1..=2)?;
        let _ =
            cursor.or(|cursor| ["st", "nd", "rd", "th", "er", "º", "ª", "°"].iter().find_map(|end| cursor.word(end)));
        Some(day)
    };
    // "3. May I ask": the number of a line.
    let mut numbered = false;
    let (day, (month, english)) = match cursor.or(day) {
        Some(day) => {
            numbered = cursor.rest().starts_with('.');
            cursor.joints(&["."], &["of", "de", "di", "del", "den", "d", "η", "го"]);
            (day, month(cursor)?)
        }
        None => {
            let month = month(cursor)?;
            cursor.joints(&["."], &["the", "den"]);
            (day(cursor)?, month)
        }
    };
    let year = cursor.or(|cursor| {
        cursor.joints(&[",", ".", "،"], &["de", "del", "di", "of", "năm", "г", "год"]);
        if cursor.any(&["'", "’"]).is_some() {
            return cursor.number(2..=2).map(century);
        }
        // "May 25 12:01": hours, not a year.
        cursor.digits(4..=4).map(|(year, _)| year)
    });
    // "12 May 25, 2009": the number before belongs to something else.
    if year.is_none() && is_day_and_year(cursor.clone()) {
        return None;
    }
    Some(Date { year, month, day, plain: year.is_some() || english && !numbered })
}

fn is_day_and_year(mut cursor: TextCursor) -> bool {
    cursor.spaces();
    let day = cursor.number(1..=2);
    let _ = cursor.any(&[","]);
    day.is_some() && cursor.spaces() && cursor.digits(4..=4).is_some()
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
