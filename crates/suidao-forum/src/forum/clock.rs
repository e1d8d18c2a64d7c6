//! The clock of a page: its time zone, the order of day and month, and what relative times count from.

use suidao_page::model::{ApproxTime, Fetched, ForumPageLink, Millis, TimeContext};
use suidao_page::read::Parsed;

use super::date_order::{DateEvidence, usage};
use super::{Tree, times};

/// What is known of a forum's times before one of its pages is read; the rest is estimated from the page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KnownTimes {
    /// UTC offset in seconds.
    pub offset: Option<i32>,
    /// Whether `05/06/2009` is May 6th.
    pub month_first: Option<bool>,
}

pub(super) struct PageClock {
    pub(super) context: TimeContext,
    /// None if the order of day and month was known.
    pub(super) dates: DateEvidence,
}

impl PageClock {
    /// `at`: time of the fetch, used if the server sends no Date header. `offset`: estimates the UTC offset.
    pub(super) fn of(
        tree: &Tree,
        fetched: &Fetched,
        at: Millis,
        known: KnownTimes,
        offset: impl FnOnce(TimeContext) -> i32,
    ) -> Self {
        let mut context = TimeContext::new(clock(fetched, at), known.offset.unwrap_or(0));
        let dates = if known.month_first.is_some() { DateEvidence::default() } else { DateEvidence::of(tree, context) };
        let shown = || dates.month_first().unwrap_or_else(|| usage(tree.language(), &fetched.url));
        context.month_first = known.month_first.unwrap_or_else(shown);
        context.offset = known.offset.unwrap_or_else(|| offset(context));
        Self { context, dates }
    }
}

/// What "3分钟前" counts from: the server's clock.
fn clock(fetched: &Fetched, at: Millis) -> Millis {
    fetched.header("date").and_then(date).unwrap_or(at)
}

/// UTC offset of a page's times in seconds: that of its language's country, or more if times would be in the future
/// otherwise. Forums west of Greenwich get the former, so their times are all off by the same amount.
pub(super) fn offset(parsed: &Parsed, links: &[ForumPageLink], clock: TimeContext) -> i32 {
    /// The earliest zones, in which no time is in the future. The second one separates absolute times from relative
    /// ones.
    const EARLIEST: [i32; 2] = [14 * 3600, 13 * 3600];
    /// Bytes of a block that may be a time, or be about one: "It is currently Sat Nov 21, 2026 9:12 pm".
    const SHORT: usize = 160;
    let document = &parsed.document;
    let texts = document
        .blocks
        .iter()
        .map(|block| block.pieces.clone().map(|piece| document.piece(piece)).collect::<Vec<_>>().join(" "));
    let texts: Vec<String> =
        texts.filter(|text| text.len() <= SHORT && text.bytes().any(|byte| byte.is_ascii_digit())).collect();
    let [one, other] = EARLIEST.map(|offset| {
        let clock = TimeContext { offset, ..clock };
        texts
            .iter()
            .map(|text| times::all(text, clock).into_iter().map(|time| time.moment).collect())
            .collect::<Vec<Vec<ApproxTime>>>()
    });
    let now = i64::try_from(clock.now.0 / 1000).unwrap_or(i64::MAX);
    let pairs = one.iter().zip(&other).filter(|(one, other)| one.len() == other.len());
    let ahead = pairs.flat_map(|(one, other)| one.iter().zip(other)).filter_map(|(one, other)| {
        let by_a_clock = other.at - one.at == i64::from(EARLIEST[0] - EARLIEST[1]) && one.within <= 60;
        by_a_clock.then_some(one.at + i64::from(EARLIEST[0]) - now)
    });
    // Zones are half hours apart; a server's clock may be a minute or two fast.
    let least = ahead.max().map_or(i64::MIN, |ahead| (ahead - 120).div_euclid(1800) * 1800 + 1800);
    let text: String = links.iter().map(|link| link.text.as_str()).collect();
    let share = |is: fn(char) -> bool| text.chars().filter(|c| is(*c)).count() * 20 > text.chars().count();
    let spoken = if share(|c| ('\u{3040}'..='\u{30ff}').contains(&c)) {
        9 * 3600
    } else if share(|c| ('\u{4e00}'..='\u{9fff}').contains(&c)) {
        8 * 3600
    } else {
        0
    };
    i32::try_from(least.max(spoken).min(i64::from(EARLIEST[0]))).unwrap_or(0)
}

fn date(text: &str) -> Option<Millis> {
    let time = jiff::fmt::rfc2822::parse(text).ok()?.timestamp().as_millisecond();
    u64::try_from(time).ok().map(Millis)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_servers_clock_is_read() {
        assert_eq!(date("Thu, 01 Jan 1970 00:01:40 GMT"), Some(Millis(100_000)));
        assert_eq!(date("yesterday"), None);
    }
}
