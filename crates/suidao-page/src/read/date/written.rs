//! Parses dates in text, with time of day and zone. Only the first tokens of a text are searched, so that long texts
//! are cheap.

use super::clock::{ZONES, clock, second, take_clock};
use super::tokens::{DateToken, TokenCursor, TokenKind, tokens};
use crate::model::{Day, Timestamp};
use crate::read::tokens::head;

/// Minutes of a day.
const DAY: i32 = 1_440;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ParsedDate {
    /// In the zone it is written in.
    pub(super) day: Day,
    /// The other reading: `3/4/2019` is in April or March.
    pub(super) or: Option<Day>,
    /// Second of the day.
    pub(super) clock: Option<u32>,
    /// Minutes east of UTC.
    pub(super) offset: Option<i16>,
}

impl ParsedDate {
    pub(super) fn of(day: Day) -> Self {
        Self { day, or: None, clock: None, offset: None }
    }

    /// The instant, if time and zone are known.
    pub(super) fn timestamp(&self) -> Option<Timestamp> {
        Timestamp::of(self.day, self.clock?, self.offset?)
    }

    /// Whether it is in UTC, as programs write it: the page's own day may differ by one.
    pub(super) fn is_utc(&self) -> bool {
        self.offset == Some(0) && self.clock.is_some()
    }

    /// Whether this instant is on `day` in some zone; without time or zone, whether the days are equal.
    pub(super) fn may_be(&self, day: Day) -> bool {
        let (Some(clock), Some(offset)) = (self.clock, self.offset) else { return day == self.day };
        let utc = clock as i32 / 60 - i32::from(offset);
        let in_zone = |zone: i32| self.day.0 + (utc + zone).div_euclid(DAY);
        (in_zone(ZONES.0)..=in_zone(ZONES.1)).contains(&day.0)
    }
}

/// The first date in a text. In a `terse` one (little besides a date) `20190627` and `27.6.19` are dates too.
pub(super) fn first(text: &str, terse: bool) -> Option<ParsedDate> {
    located(text, terse).map(|(_, written)| written)
}

/// The first date and its byte offset.
pub(super) fn located(text: &str, terse: bool) -> Option<(usize, ParsedDate)> {
    let tokens = tokens(text);
    (0..tokens.len()).find_map(|at| Some((tokens[at].start, date_at(&tokens, at, terse)?)))
}

fn date_at(tokens: &[DateToken], at: usize, terse: bool) -> Option<ParsedDate> {
    let (mut written, rest) = day_at(tokens, at, terse)?;
    if written.clock.is_none() {
        (written.clock, written.offset) = clock(rest);
    }
    Some(written)
}

/// A date, and what follows it.
fn day_at<'a>(tokens: &'a [DateToken<'a>], at: usize, terse: bool) -> Found<'a> {
    let start = TokenCursor(&tokens[at..]);
    // A number that continues to the left (`1.2021-03-05`, `-5`) is part of something else.
    let glued = at > 0
        && !tokens[at].spaced
        && matches!(tokens[at - 1].kind, TokenKind::Sign('.' | '/' | '-' | ':'))
        && at > 1
        && matches!(tokens[at - 2].kind, TokenKind::Number { .. })
        && !tokens[at - 1].spaced;
    match tokens[at].kind {
        TokenKind::Number { digits: 8 | 14, .. } if terse => packed(start),
        TokenKind::Number { digits: 4, .. } => year_first(start),
        TokenKind::Number { digits: 1 | 2, .. } if !glued => day_first(start, terse).or_else(|| day_named(start)),
        // Only next to a number can it be a month.
        TokenKind::Word(_) if tokens[at + 1..].iter().take(3).any(DateToken::is_number) => month_named(start),
        TokenKind::Sign('民') => republic(start),
        _ => None,
    }
}

/// The day at the start of a text, if it is written without doubt, and its length in bytes.
pub(super) fn at_start(text: &str) -> Option<(Day, usize)> {
    /// Bytes of the longest date.
    const DATE: usize = 96;
    let text = head(text, DATE);
    let tokens = tokens(text);
    let first = tokens.first().filter(|first| first.start == 0)?;
    let (written, rest) = day_at(&tokens, 0, false)?;
    let end = rest.0.first().map_or(text.len(), |next| next.start);
    // A time between the parts would be lost.
    let plain = written.or.is_none() && written.clock.is_none();
    (plain && !first.spaced).then(|| (written.day, text[..end].trim_end().len()))
}

type Found<'a> = Option<(ParsedDate, TokenCursor<'a>)>;

/// `20190627`, `20190627101530`.
fn packed(mut at: TokenCursor) -> Found {
    let number = at.number(8..=14)?;
    let (date, time) =
        if number > 99_999_999 { (number / 1_000_000, Some(number % 1_000_000)) } else { (number, None) };
    let mut written = ParsedDate::of(day(date / 10_000, date / 100 % 100, date % 100)?);
    written.clock = time.and_then(|time| second(time / 10_000, time / 100 % 100, time % 100));
    Some((written, at))
}

/// `2021-03-05`, `2021/3/5`, `2021. 3. 5.`, `2021年3月5日`, `2021년 3월 5일`, `2021 Mar 5`.
fn year_first(mut at: TokenCursor) -> Found {
    let year = at.number(4..=4)?;
    let mut named = at;
    named.skip(&['.', '-', ',', '/'], &["de"]);
    if let Some(month) = named.month() {
        named.skip(&['.', '-', ',', '/'], &[]);
        let date = day(year, month, named.number(1..=2)?)?;
        named.skip(&['.'], &[]);
        return Some((ParsedDate::of(date), named));
    }
    let sign =
        at.sign(|sign| matches!(sign, '-' | '/' | '.' | '–' | '−' | '_' | '年' | '년' | '‑' | '－' | '／' | '．'))?;
    let month = at.number(1..=2)?;
    let next = match sign {
        '年' => '月',
        '년' => '월',
        sign => sign,
    };
    at.sign(|sign| sign == next)?;
    let date = day(year, month, at.number(1..=2)?)?;
    at.sign(|sign| matches!(sign, '日' | '号' | '號' | '일') || sign == '.' && next == '.');
    Some((ParsedDate::of(date), at))
}

/// `27.06.2019`, `27/6/2019`, `27-06-2019`, `27. 6. 2019`; `27.6.19` in a terse text.
fn day_first(mut at: TokenCursor, terse: bool) -> Found {
    let (one, digits) = match at.0.first()?.kind {
        TokenKind::Number { value, digits } => (value, digits),
        _ => return None,
    };
    at.number(1..=2)?;
    let sign = at.sign(|sign| matches!(sign, '.' | '/' | '-' | '‑' | '–'))?;
    let apart = at.is_spaced();
    let two = at.number(1..=2)?;
    at.sign(|next| next == sign)?;
    let year = match at.number(4..=4) {
        Some(year) => year,
        None => {
            let short = at.number(2..=2)?;
            let goes_on = !at.is_spaced() && at.sign(|sign| matches!(sign, '.' | '/' | '-' | ':')).is_some();
            if !terse || apart || goes_on || sign == '-' || digits == 1 && sign == '/' {
                return None;
            }
            if short < 70 { 2000 + short } else { 1900 + short }
        }
    };
    let (date, or) = match (day(year, two, one), day(year, one, two).filter(|_| sign != '.')) {
        (Some(first), second) => (first, second.filter(|second| *second != first)),
        (None, Some(second)) => (second, None),
        _ => return None,
    };
    Some((ParsedDate { or, ..ParsedDate::of(date) }, at))
}

/// `5 Mar 2021`, `5. März 2021`, `27 de junio de 2019`, `1er juillet 2019`, `16th of May, 2012`, `27 tháng 6, 2019`.
fn day_named(mut at: TokenCursor) -> Found {
    let number = at.number(1..=2)?;
    at.skip(
        &['.', '-', ',', '/', 'º', '°', 'ª', '\''],
        &["st", "nd", "rd", "th", "er", "de", "di", "d", "of", "den", "η", "го"],
    );
    let month = match at.month() {
        Some(month) => month,
        None => {
            at.word(&["tháng"])?;
            at.number(1..=2)?
        }
    };
    at.skip(&['.', '-', ',', '/', '،', '\'', '’'], &["de", "del", "di", "of", "năm", "г"]);
    let date = |year| day(year, month, number);
    let mut timed = at;
    if let Some(year) = at.number(4..=4) {
        at.skip(&[], &["г", "р"]);
        return Some((ParsedDate::of(date(year)?), at));
    }
    // `27 Jun 10:00:00 2019`.
    let (clock, _) = take_clock(&mut timed)?;
    Some((ParsedDate { clock: Some(clock), ..ParsedDate::of(date(timed.number(4..=4)?)?) }, timed))
}

/// `March 5, 2021`, `Jun 27th 2019`, `Jun 27 10:00:00 CST 2019`.
fn month_named(mut at: TokenCursor) -> Found {
    let month = at.month()?;
    at.skip(&['.', '-', ',', '/'], &["the"]);
    let number = at.number(1..=2)?;
    let before_time = at;
    at.skip(&['.', '-', ',', '/', '،', '\''], &["st", "nd", "rd", "th", "de", "of"]);
    if let Some(year) = at.number(4..=4) {
        return Some((ParsedDate::of(day(year, month, number)?), at));
    }
    let mut timed = before_time;
    let (clock, mut offset) = take_clock(&mut timed)?;
    if let Some(zone) = timed.short_word(4) {
        offset = offset.or((zone == "UTC" || zone == "GMT").then_some(0));
    }
    let year = timed.number(4..=4)?;
    Some((ParsedDate { clock: Some(clock), offset, ..ParsedDate::of(day(year, month, number)?) }, timed))
}

/// `民國108年6月27日`.
fn republic(mut at: TokenCursor) -> Found {
    at.sign(|sign| sign == '民')?;
    at.sign(|sign| matches!(sign, '國' | '国'))?;
    let year = at.number(1..=3)?;
    at.sign(|sign| sign == '年')?;
    let month = at.number(1..=2)?;
    at.sign(|sign| sign == '月')?;
    let date = day(year + 1911, month, at.number(1..=2)?)?;
    at.sign(|sign| sign == '日');
    Some((ParsedDate::of(date), at))
}

/// A Unix time in seconds or milliseconds.
pub(super) fn epoch(text: &str) -> Option<ParsedDate> {
    let number: i64 = text.trim().parse().ok()?;
    let seconds = if number > 100_000_000_000 { number / 1_000 } else { number };
    // From 1995 to 2100; smaller numbers often mean something else.
    let seconds = Some(seconds).filter(|seconds| (788_918_400..4_102_444_800).contains(seconds))?;
    let day = Day(i32::try_from(seconds.div_euclid(86_400)).ok()?);
    let clock = u32::try_from(seconds.rem_euclid(86_400)).ok();
    Some(ParsedDate { clock, offset: Some(0), ..ParsedDate::of(day) })
}

/// A day from 1990 on, when the web began.
fn day(year: u64, month: u64, day: u64) -> Option<Day> {
    let year = i16::try_from(year).ok().filter(|year| (1990..2100).contains(year))?;
    Day::of(year, i8::try_from(month).ok()?, i8::try_from(day).ok()?)
}

pub(super) fn day_of(year: &str, month: &str, number: &str) -> Option<Day> {
    day(year.parse().ok()?, month.parse().ok()?, number.parse().ok()?)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(text: &str) -> Option<String> {
        first(text, false).map(|written| written.day.to_string())
    }

    #[test]
    fn dates_are_read_in_every_usual_form() {
        for text in [
            "2021-03-05",
            "2021/3/5 10:00",
            "2021.03.05",
            "2021. 3. 5.",
            "2021年3月5日",
            "发布于 2021 年 3 月 5 日",
            "２０２１年３月５日",
            "二〇二一年三月五日",
            "民國110年3月5日",
            "2021년 3월 5일",
            "Fri, 05 Mar 2021 10:00:00 GMT",
            "March 5th, 2021",
            "Fri Mar 5 10:00:00 CST 2021",
            "编辑：20210,2021-3-5",
            "5 march 2021",
            "05.03.2021",
            "5/3/2021",
            "5. März 2021 um 10 Uhr",
            "vendredi 5 mars 2021",
            "5 de marzo de 2021",
            "5 de março de 2021",
            "5 marzo 2021",
            "5 марта 2021 г.",
            "5 maart 2021",
            "5 marca 2021",
            "5 Mart 2021",
            "5 Μαρτίου 2021",
            "2021. március 5.",
            "5 tháng 3, 2021",
            "٥ مارس ٢٠٢١",
            "5-Mar-2021",
        ] {
            assert_eq!(read(text).as_deref(), Some("2021-03-05"), "{text}");
        }
        for text in [
            "2021-13-05",
            "12021-03-05",
            "1.2.3",
            "2021-03",
            "99 maybe 2021",
            "1970-01-01",
            "2021-03/05",
            "",
            "20210305",
            "5.3.21",
            "192.168.1.2021",
        ] {
            assert_eq!(read(text), None, "{text}");
        }
        assert_eq!(read("二〇一九年六月二十七日").as_deref(), Some("2019-06-27"));
        assert_eq!(read("1er juillet 2019").as_deref(), Some("2019-07-01"));
    }

    #[test]
    fn a_date_at_the_start_of_a_text_has_an_end() {
        for (date, rest) in [
            ("2021년 3월 5일", " 오후 3:05"),
            ("5 tháng 3, 2021", " lúc 10:00"),
            ("٥ مارس ٢٠٢١", " 10:00"),
            ("民國110年3月5日", ""),
            ("2021. március 5.", " 10:00"),
            ("5 de março de 2021", ", 10:00"),
        ] {
            let found = at_start(&format!("{date}{rest}"));
            assert_eq!(
                found.map(|(day, length)| (day.to_string(), length)),
                Some(("2021-03-05".to_owned(), date.len()))
            );
        }
        for text in [" 5 March 2021", "on 5 March 2021", "3/4/2021", "5 March 10:00 2021", ""] {
            assert_eq!(at_start(text), None, "{text}");
        }
    }

    #[test]
    fn ambiguous_day_and_month_give_two_readings() {
        let day = |text: &str, terse| first(text, terse).map(|w| (w.day.to_string(), w.or.map(|or| or.to_string())));
        let both = |a: &str, b: Option<&str>| Some((a.to_owned(), b.map(str::to_owned)));
        assert_eq!(day("3/4/2019", false), both("2019-04-03", Some("2019-03-04")));
        assert_eq!(day("3.4.2019", false), both("2019-04-03", None));
        assert_eq!(day("06/13/2019", false), both("2019-06-13", None));
        assert_eq!(day("13.06.2019", false), both("2019-06-13", None));
        assert_eq!(day("02.12.19", true), both("2019-12-02", None));
        assert_eq!(day("20190627", true), both("2019-06-27", None));
    }

    #[test]
    fn time_and_zone_follow_the_date() {
        for (text, at) in [
            ("2021-03-05T08:00:00+08:00", "2021-03-05T08:00:00+08:00"),
            ("2021-03-05T08:00:00.123Z", "2021-03-05T08:00:00Z"),
            ("2021-03-05 08:00:00 -0330", "2021-03-05T08:00:00-03:30"),
            ("Fri, 05 Mar 2021 10:00:00 GMT", "2021-03-05T10:00:00Z"),
            ("5 March 2021, 7:05 pm UTC", "2021-03-05T19:05:00Z"),
            ("13 Jan 2020, 22:11 GMT+10", "2020-01-13T22:11:00+10:00"),
        ] {
            let written = first(text, false).unwrap();
            assert_eq!(written.timestamp().map(|at| at.to_string()).as_deref(), Some(at), "{text}");
        }
        let local = first("2021年3月5日 下午 3:05", false).unwrap();
        assert_eq!((local.clock, local.offset), (Some(54_300), None));
        assert_eq!(epoch("1507287600").unwrap().timestamp().unwrap().to_string(), "2017-10-06T11:00:00Z");
        assert_eq!(epoch("12345"), None);
    }

    #[test]
    fn an_instant_is_of_several_days() {
        let late = first("2018-07-23T16:00:00Z", false).unwrap();
        let day = |text: &str| Day::parse(text).unwrap();
        assert!(late.is_utc() && late.may_be(day("2018-07-24")) && late.may_be(day("2018-07-23")));
        assert!(!late.may_be(day("2018-07-22")));
    }

    proptest! {
        #[test]
        fn no_text_panics(text in "[0-9年月日民國年/.:\\- a-zéТ十一٠T+Z,]{0,40}", terse: bool) {
            if let Some((at, written)) = located(&text, terse) {
                prop_assert!(text.is_char_boundary(at));
                let _ = (written.timestamp(), written.may_be(written.day));
            }
            let _ = epoch(&text);
        }

        #[test]
        fn no_unicode_panics(text in "\\PC{0,40}") {
            let _ = first(&text, true);
        }
    }
}
