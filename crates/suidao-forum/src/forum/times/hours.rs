//! The time of day, with an optional zone.

use super::super::cursor::TextCursor;
use super::{HOUR, MINUTE};

#[derive(Clone, Copy)]
pub(super) struct TimeOfDay {
    pub(super) seconds: i64,
    pub(super) within: u32,
    /// Explicit UTC offset in seconds.
    pub(super) offset: Option<i32>,
}

/// A time of day after a date, separated by white space, signs and words.
pub(super) fn joined_time(cursor: &mut TextCursor) -> Option<TimeOfDay> {
    const SIGNS: [&str; 14] = ["T", ",", "@", "|", "-", "–", "—", "»", "・", ":", "の", "·", ".", "，"];
    const WORDS: [&str; 19] = [
        "at", "um", "à", "às", "a", "as", "las", "om", "alle", "ore", "kl", "klo", "в", "о", "г", "saat", "uhr", "lúc",
        "στις",
    ];
    cursor.spaces();
    let _ = cursor.any(&SIGNS);
    cursor.joints(&[",", ".", "-"], &WORDS);
    time_of_day(cursor)
}

/// "10.17" after a date with dots.
pub(super) fn dotted_time(cursor: &mut TextCursor) -> Option<TimeOfDay> {
    const WORDS: [&str; 6] = ["kl", "klo", "alle", "ore", "um", "at"];
    if !cursor.spaces() && cursor.any(&[","]).is_none() {
        return None;
    }
    cursor.joints(&[",", "."], &WORDS);
    let hour = cursor.number(1..=2)?;
    cursor.any(&["."])?;
    let minute = cursor.number(2..=2)?;
    let ends = !cursor.rest().starts_with(['.', ':']) || !cursor.rest()[1..].starts_with(|c: char| c.is_ascii_digit());
    (ends && hour < 24 && minute < 60).then_some(TimeOfDay {
        seconds: hour * HOUR + minute * MINUTE,
        within: MINUTE as u32,
        offset: None,
    })
}

/// Half of the day, for 12-hour clocks.
#[derive(Clone, Copy)]
pub(super) enum Half {
    Early,
    Late,
    Night,
    Noon,
}

/// Words before or after the hours.
pub(super) const HALVES: [(Half, &[&str]); 4] = [
    (Half::Early, &["上午", "早上", "凌晨", "清晨", "午前", "早晨", "오전", "am", "a.m."]),
    (Half::Late, &["下午", "午後", "傍晚", "夜间", "오후", "pm", "p.m."]),
    (Half::Night, &["晚上"]),
    (Half::Noon, &["中午"]),
];

pub(super) fn time_of_day(cursor: &mut TextCursor) -> Option<TimeOfDay> {
    let half = |cursor: &mut TextCursor| {
        HALVES.into_iter().find(|(_, names)| cursor.words(names).is_some()).map(|(half, _)| half)
    };
    let prefix = half(cursor);
    cursor.spaces();
    let mut hour = cursor.number(1..=2)?;
    let separator = cursor.any(&[":", "：", "時", "时", "点", "點", "시", "h"])?;
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
    } else if cursor.any(&["分", "분"]).is_some() {
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
        Some(Half::Late | Half::Night) if hour < 12 => hour += 12,
        Some(Half::Noon) if hour < 11 => hour += 12,
        Some(Half::Early | Half::Night) if hour == 12 => hour = 0,
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
fn zone(cursor: &mut TextCursor) -> Option<i32> {
    let spaced = cursor.spaces();
    if !spaced && cursor.or(|cursor| cursor.word("z")).is_some() {
        return Some(0);
    }
    if cursor.or(|cursor| cursor.word("jst")).is_some() {
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
