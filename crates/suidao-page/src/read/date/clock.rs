//! Time of day and zone next to a date.

use super::tokens::{TokenCursor, TokenKind};

/// Range of UTC offsets in minutes.
pub(super) const ZONES: (i32, i32) = (-720, 840);

/// The time of day after a date, and the zone after that.
pub(super) fn clock(mut at: TokenCursor) -> (Option<u32>, Option<i16>) {
    const BETWEEN: [&str; 14] = ["t", "at", "um", "à", "a", "las", "om", "alle", "ore", "kl", "в", "g", "klo", "o"];
    for _ in 0..4 {
        let mut time = at;
        if let Some((clock, offset)) = take_clock(&mut time) {
            return (Some(clock), offset);
        }
        let skipped = at.sign(|sign| matches!(sign, ',' | '-' | '–' | '|' | '@' | '.' | '，' | '·' | '&')).is_some()
            || at.word(&BETWEEN).is_some();
        if !skipped {
            break;
        }
    }
    (None, None)
}

/// `10:15`, `10:15:30.250 +08:00`, `7:05 pm`, `下午 3:05`, `10h15`, `10時15分`.
pub(super) fn take_clock(at: &mut TokenCursor) -> Option<(u32, Option<i16>)> {
    let mut later = false;
    if at.sign(|sign| matches!(sign, '上' | '下')).inspect(|sign| later = *sign == '下').is_some() {
        at.sign(|sign| sign == '午')?;
    }
    let mut hour = at.number(1..=2)?;
    if at.sign(|sign| matches!(sign, ':' | '：' | '时' | '時' | '点' | '點' | '시')).is_none() {
        at.word(&["h"])?;
    }
    let minute = at.number(1..=2)?;
    let mut seconds = 0;
    let mut longer = *at;
    if longer.sign(|sign| matches!(sign, ':' | '：' | '分')).is_some()
        && let Some(count) = longer.number(1..=2)
    {
        (seconds, *at) = (count, longer);
        if longer.sign(|sign| matches!(sign, '.' | ',')).is_some() && longer.number(1..=9).is_some() {
            *at = longer;
        }
    }
    match at.word(&["am", "pm"]) {
        Some("am") if hour == 12 => hour = 0,
        Some("pm") => later = true,
        _ => {}
    }
    if later && hour < 12 {
        hour += 12;
    }
    let clock = second(hour, minute, seconds)?;
    Some((clock, zone(*at)))
}

/// `Z`, `UTC`, `GMT`, `+08:00`, `+0800`, `GMT+8`.
fn zone(mut at: TokenCursor) -> Option<i16> {
    let named = at.word(&["z", "utc", "gmt"]).map(|_| 0);
    let Some(sign) = at.sign(|sign| matches!(sign, '+' | '-' | '−')) else { return named };
    let digits = match at.0.first()?.kind {
        TokenKind::Number { digits, .. } => digits,
        _ => return named,
    };
    let number = at.number(1..=4)?;
    let minutes = match digits {
        3 | 4 => number / 100 * 60 + number % 100,
        _ if at.sign(|sign| sign == ':').is_some() => number * 60 + at.number(2..=2)?,
        // `10:00 - 12` is a range; in zones the hour has a sign, and two digits or `GMT` before it.
        _ if digits == 2 && sign == '+' || named.is_some() => number * 60,
        _ => return named,
    };
    let minutes = i16::try_from(minutes).ok().filter(|minutes| *minutes <= ZONES.1 as i16)?;
    Some(if sign == '+' { minutes } else { -minutes })
}

pub(super) fn second(hour: u64, minute: u64, second: u64) -> Option<u32> {
    let clock = (hour < 24 && minute < 60 && second < 61).then(|| hour * 3_600 + minute * 60 + second.min(59))?;
    u32::try_from(clock).ok()
}
