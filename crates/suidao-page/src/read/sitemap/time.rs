//! Times in sitemaps and feeds.

use jiff::fmt::rfc2822::DateTimeParser;
use jiff::fmt::temporal::Pieces;
use jiff::tz::Offset;

use crate::model::{Day, Millis};

/// Some feeds have the wrong weekday.
const MAIL: DateTimeParser = DateTimeParser::new().relaxed_weekday(true);

/// Parses a time from 1970 on. A year, month or day means its start; without a zone UTC is assumed.
pub(in crate::read) fn read(text: &str) -> Option<Millis> {
    let text = text.trim();
    let mail = |text: &str| MAIL.parse_timestamp(text).ok().map(|time| time.as_millisecond());
    let slashes = || (text.len() <= 32).then(|| text.replace('/', "-"));
    let millis = w3c(text).or_else(|| mail(text)).or_else(|| mail(&rfc_850(text)?)).or_else(|| w3c(&slashes()?))?;
    u64::try_from(millis).ok().map(Millis)
}

/// A date of RFC 850 (`Friday, 05-Mar-21 12:00:00 GMT`), with or without weekday, as RFC 2822 writes it.
fn rfc_850(text: &str) -> Option<String> {
    let date = text.split_once(',').map_or(text, |(_, date)| date).trim();
    let (day, rest) = date.split_once('-')?;
    let (month, rest) = rest.split_once('-')?;
    let is_short = (1..=2).contains(&day.len()) && month.len() == 3;
    is_short.then(|| format!("{day} {month} {rest}"))
}

pub(super) fn year(year: i16) -> Millis {
    Day::of(year, 1, 1).unwrap_or_default().start()
}

/// A year, a month, or a date that may have a time and an offset, also with single digits and after blanks, as in
/// `2021-3-5 20:00:00 +0800`. Milliseconds since the epoch.
fn w3c(text: &str) -> Option<i64> {
    let is_single = |part: &str| part.trim_end_matches(['-', ':', ' ']).len() == 1;
    let parts =
        text.split_inclusive(['-', ':', ' ']).map(|part| if is_single(part) { "0" } else { "" }.to_owned() + part);
    let padded = parts.collect::<String>().replace(" +", "+").replace(" -", "-");
    let missing = match padded.len() {
        4 => "-01-01",
        7 => "-01",
        _ => "",
    };
    let whole = padded + missing;
    let pieces = Pieces::parse(&whole).ok()?;
    let offset = pieces.to_numeric_offset().unwrap_or(Offset::UTC);
    let local = pieces.date().to_datetime(pieces.time().unwrap_or_default());
    Some(offset.to_timestamp(local).ok()?.as_millisecond())
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
            ("20210305", 1_614_902_400_000),
            ("2021-03-05T12:00Z", noon),
            ("2021-03-05T12Z", noon),
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
            ("Friday, 05-Mar-21 12:00:00 GMT", noon),
            ("Fri, 5-Mar-2021 12:00:00 +0000", noon),
            ("05-Mar-21 04:00:00 PST", noon),
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
            "1969-12-31",
            "2021-03-05T12:61Z",
            "2021-03-05T12:00:00+",
            "2021-03-05T12:00:00 CST",
            "２０２１",
            "昨天",
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
