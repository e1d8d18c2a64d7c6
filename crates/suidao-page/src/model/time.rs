//! Time as a plain number: the driver passes it in, and nothing here reads a clock.

use serde::{Deserialize, Serialize};

/// Milliseconds since the Unix epoch (live) or since the start of the crawl (replay).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Millis(pub u64);

impl Millis {
    /// Saturates at the end of time.
    pub fn after(self, ms: u64) -> Self {
        Self(self.0.saturating_add(ms))
    }

    /// Milliseconds from `earlier` to this instant; 0 if `earlier` is later.
    pub fn since(self, earlier: Self) -> u64 {
        self.0.saturating_sub(earlier.0)
    }
}

/// A duration for users, in its two largest units.
pub fn span(seconds: f64) -> String {
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // saturates
    let seconds = seconds.round() as u64;
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3600 => format!("{} min {} s", seconds / 60, seconds % 60),
        3600..86_400 => format!("{} h {} min", seconds / 3600, seconds % 3600 / 60),
        _ => format!("{} d {} h", seconds / 86_400, seconds % 86_400 / 3600),
    }
}

/// A calendar day, in days since 1970-01-01: the only precision that pages reliably state. Text form `2021-03-05`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Day(pub i32);

impl Day {
    /// `None` if the date does not exist (proleptic Gregorian).
    pub fn of(year: i16, month: i8, day: i8) -> Option<Self> {
        let date = jiff::civil::Date::new(year, month, day).ok()?;
        let days = date.since(jiff::civil::Date::constant(1970, 1, 1)).ok()?.get_days();
        Some(Self(days))
    }

    /// The day of an instant since the Unix epoch (UTC).
    pub fn at(instant: Millis) -> Self {
        Self(i32::try_from(instant.0 / 86_400_000).unwrap_or(i32::MAX))
    }

    /// The first instant of the day (UTC); the epoch for earlier days.
    pub fn start(self) -> Millis {
        Millis(u64::try_from(self.0).unwrap_or(0) * 86_400_000)
    }

    pub fn year(self) -> i16 {
        let date = jiff::civil::Date::constant(1970, 1, 1);
        date.checked_add(jiff::Span::new().days(self.0.clamp(-719_000, 2_900_000))).map_or(1970, |date| date.year())
    }

    pub fn parse(text: &str) -> Option<Self> {
        let mut parts = text.splitn(3, '-');
        let mut number = || parts.next().filter(|part| part.bytes().all(|byte| byte.is_ascii_digit()));
        let (year, month, day) = (number()?, number()?, number()?);
        Self::of(year.parse().ok()?, month.parse().ok()?, day.parse().ok()?)
    }

    /// First and last day of a year, a month or a day: `2021`, `2021-03`, `2021-03-05`.
    pub fn period(text: &str) -> Option<(Self, Self)> {
        if let Some(day) = Self::parse(text) {
            return Some((day, day));
        }
        let (year, month) = match text.split_once('-') {
            Some((year, month)) => (year.parse().ok()?, Some(month.parse::<i8>().ok()?)),
            None => (text.parse::<i16>().ok()?, None),
        };
        let next = match month {
            Some(12) | None => Self::of(year.checked_add(1)?, 1, 1)?,
            Some(month) => Self::of(year, month.checked_add(1)?, 1)?,
        };
        Some((Self::of(year, month.unwrap_or(1), 1)?, Self(next.0 - 1)))
    }
}

/// An instant with its original UTC offset, written as RFC 3339 (`2021-03-05T08:00:00+08:00`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Timestamp {
    seconds: i64,
    /// Minutes east of UTC, less than a day.
    offset: i16,
}

impl Timestamp {
    /// From a day, a second of it and an offset; `None` if out of range.
    pub fn of(day: Day, second: u32, offset: i16) -> Option<Self> {
        let local = i64::from(day.0) * 86_400 + i64::from(second);
        (second < 86_400 && offset.abs() < 1_440).then(|| Self { seconds: local - i64::from(offset) * 60, offset })
    }
}

impl std::fmt::Display for Timestamp {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let local = self.seconds + i64::from(self.offset) * 60;
        let second = local.rem_euclid(86_400);
        let day = Day(i32::try_from(local.div_euclid(86_400)).unwrap_or_default());
        write!(f, "{day}T{:02}:{:02}:{:02}", second / 3_600, second / 60 % 60, second % 60)?;
        match self.offset {
            0 => f.write_str("Z"),
            east => {
                let (sign, minutes) = (if east < 0 { '-' } else { '+' }, east.abs());
                write!(f, "{sign}{:02}:{:02}", minutes / 60, minutes % 60)
            }
        }
    }
}

impl std::fmt::Display for Day {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let epoch = jiff::civil::Date::constant(1970, 1, 1);
        let date = epoch.checked_add(jiff::Span::new().days(self.0.clamp(-719_000, 2_900_000)));
        write!(f, "{}", date.unwrap_or(epoch))
    }
}

impl Serialize for Day {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if serializer.is_human_readable() { serializer.collect_str(self) } else { self.0.serialize(serializer) }
    }
}

impl<'de> Deserialize<'de> for Day {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        if !deserializer.is_human_readable() {
            return i32::deserialize(deserializer).map(Self);
        }
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).ok_or_else(|| serde::de::Error::custom("invalid date; expected year-month-day"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_read_and_write_as_dates() {
        assert_eq!(Day::parse("1970-01-01"), Some(Day(0)));
        assert_eq!(Day::parse("2021-03-05"), Day::of(2021, 3, 5));
        for text in ["2021-02-30", "2021-3", "x", "-1-1-1", "2021-03-05T10", ""] {
            assert_eq!(Day::parse(text), None, "{text}");
        }
        let day = Day::parse("2024-02-29").unwrap();
        assert_eq!((day.to_string().as_str(), Day::at(day.start())), ("2024-02-29", day));
        assert_eq!(serde_json::from_str::<Day>(&serde_json::to_string(&day).unwrap()).unwrap(), day);
        assert_eq!(postcard::from_bytes::<Day>(&postcard::to_stdvec(&day).unwrap()).unwrap(), day);
        assert_eq!(Day(i32::MAX).to_string().len(), "9910-01-01".len());
    }

    #[test]
    fn instants_are_written_with_their_zone() {
        let written = |day: &str, second, offset| {
            Timestamp::of(Day::parse(day).unwrap(), second, offset).map(|at| at.to_string())
        };
        assert_eq!(written("2021-03-05", 8 * 3_600 + 61, 480).as_deref(), Some("2021-03-05T08:01:01+08:00"));
        assert_eq!(written("2021-03-05", 86_399, -210).as_deref(), Some("2021-03-05T23:59:59-03:30"));
        assert_eq!(written("1969-12-31", 0, 0).as_deref(), Some("1969-12-31T00:00:00Z"));
        assert_eq!((written("2021-03-05", 86_400, 0), written("2021-03-05", 0, 1_440)), (None, None));
    }
}
