//! Times in sitemaps and feeds.

use jiff::fmt::rfc2822::DateTimeParser;

use crate::model::{Day, Millis};

/// Some feeds have the wrong weekday.
const MAIL: DateTimeParser = DateTimeParser::new().relaxed_weekday(true);

/// Parses a time from 1970 on. A year, month or day means its start; without a zone UTC is assumed.
pub(in crate::read) fn read(text: &str) -> Option<Millis> {
    let text = text.trim();
    let millis = w3c(text.as_bytes()).or_else(|| MAIL.parse_timestamp(text).ok().map(|time| time.as_millisecond()))?;
    u64::try_from(millis).ok().map(Millis)
}

pub(super) fn year(year: i16) -> Millis {
    Day::of(year, 1, 1).unwrap_or_default().start()
}

/// `2021`, `2021-03`, `2021-03-05`, `2021-03-05T10:00+08:00`, `2021-03-05T10:00:00.5Z`; also with a blank for the `T`
/// and with `+0800`. Milliseconds since the epoch.
fn w3c(text: &[u8]) -> Option<i64> {
    let mut rest = text;
    let year = number(&mut rest, 4).filter(|year| *year >= 1000)?;
    let (mut month, mut day, mut seconds, mut millis, mut zone) = (1, 1, 0, 0, 0);
    if skip(&mut rest, b"-") {
        month = number(&mut rest, 2)?;
        if skip(&mut rest, b"-") {
            day = number(&mut rest, 2)?;
            if skip(&mut rest, b"Tt ") {
                (seconds, millis) = clock(&mut rest)?;
                skip(&mut rest, b" ");
                zone = offset(&mut rest)?;
            }
        }
    }
    if !rest.is_empty() {
        return None;
    }
    let day = Day::of(i16::try_from(year).ok()?, i8::try_from(month).ok()?, i8::try_from(day).ok()?)?;
    Some((i64::from(day.0) * 86_400 + seconds - zone) * 1000 + millis)
}

/// Second of the day, and milliseconds.
fn clock(rest: &mut &[u8]) -> Option<(i64, i64)> {
    let hour = number(rest, 2)?;
    if !skip(rest, b":") {
        return None;
    }
    let minute = number(rest, 2)?;
    let (mut second, mut millis) = (0, 0);
    if skip(rest, b":") {
        second = number(rest, 2)?;
        if skip(rest, b".,") {
            let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
            let places = rest[..digits].iter().chain(b"000").take(3);
            millis = places.fold(0, |sum, digit| sum * 10 + i64::from(digit - b'0'));
            *rest = &rest[digits..];
        }
    }
    // A leap second counts as the next second.
    (hour <= 24 && minute < 60 && second <= 60).then_some((hour * 3600 + minute * 60 + second, millis))
}

/// Seconds east of UTC.
fn offset(rest: &mut &[u8]) -> Option<i64> {
    if rest.is_empty() || skip(rest, b"Zz") {
        return Some(0);
    }
    let east = if skip(rest, b"+") { 1 } else { -1 };
    if east < 0 && !skip(rest, b"-") {
        return None;
    }
    let hours = number(rest, 2)?;
    skip(rest, b":");
    let minutes = if rest.is_empty() { 0 } else { number(rest, 2)? };
    (hours < 24 && minutes < 60).then_some(east * (hours * 3600 + minutes * 60))
}

/// A number of at most `digits` digits.
fn number(rest: &mut &[u8], digits: usize) -> Option<i64> {
    let length = rest.iter().take(digits).take_while(|byte| byte.is_ascii_digit()).count();
    let (own, behind) = rest.split_at(length);
    *rest = behind;
    (length > 0).then(|| own.iter().fold(0, |sum, digit| sum * 10 + i64::from(digit - b'0')))
}

/// Skips one of these bytes, if it is next.
fn skip(rest: &mut &[u8], any: &[u8]) -> bool {
    let found = rest.first().is_some_and(|byte| any.contains(byte));
    if found {
        *rest = &rest[1..];
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_in_all_their_precisions() {
        let at = |text| read(text).unwrap_or_else(|| panic!("{text}")).0;
        let noon = 1_614_945_600_000;
        for (text, expected) in [
            ("2021", 1_609_459_200_000),
            ("2021-03", 1_614_556_800_000),
            ("2021-03-05", 1_614_902_400_000),
            ("2021-03-05T12:00Z", noon),
            ("2021-03-05T12:00:00Z", noon),
            ("2021-03-05t12:00:00.25z", noon + 250),
            ("2021-03-05T12:00:00.123456789Z", noon + 123),
            ("2021-03-05T20:00:00+08:00", noon),
            ("2021-03-05 20:00:00 +0800", noon),
            ("2021-03-05T20:00:00+08", noon),
            ("2021-03-05T07:30-04:30", noon),
            ("\n 2021-03-05T12:00:00\t", noon),
            ("2021-3-5 12:0:0", noon),
            ("Fri, 05 Mar 2021 12:00:00 GMT", noon),
            ("Fri, 05 Mar 2021 12:00:00 UT", noon),
            ("Fri, 05 Mar 2021 12:00:00 Z", noon),
            ("Mon, 5 Mar 2021 20:00:00 +0800", noon),
            ("5 Mar 21 12:00 +0000", noon),
            ("Fri, 05 Mar 2021 07:00:00 EST", noon),
        ] {
            assert_eq!(at(text), expected, "{text}");
        }
        for text in [
            "",
            "x",
            "21",
            "2021-",
            "2021-3-5x",
            "2021-13-01",
            "2021-02-30",
            "2021-03-05T",
            "2021-03-05T12Z",
            "1969-12-31",
            "2021-03-05T12:61Z",
            "2021-03-05T12:00:00+",
            "2021-03-05T12:00:00 CST",
            "２０２１",
            "昨天",
            "20210305",
            "+021-03-05",
            "Fri, 05 Mär 2021 12:00:00 GMT",
        ] {
            assert_eq!(read(text), None, "{text}");
        }
    }

    proptest::proptest! {
        #[test]
        fn what_is_written_is_read(seconds in 0u64..4_000_000_000, millis in 0u64..1000) {
            let written = jiff::Timestamp::from_millisecond((seconds * 1000 + millis) as i64).unwrap();
            proptest::prop_assert_eq!(read(&written.to_string()), Some(Millis(seconds * 1000 + millis)));
            let mail = jiff::fmt::rfc2822::to_string(&written.to_zoned(jiff::tz::TimeZone::UTC)).unwrap();
            proptest::prop_assert_eq!(read(&mail), Some(Millis(seconds * 1000)));
        }

        #[test]
        fn no_time_panics(text in "[-+:.TZ0-9 a-zA-Z,年]{0,40}") {
            let _ = read(&text);
        }
    }
}
