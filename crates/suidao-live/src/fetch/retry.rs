//! `Retry-After` (RFC 9110, 10.2.3).

use std::time::UNIX_EPOCH;

use suidao_page::model::{Fetched, Millis};

/// Longest wait that is obeyed: a day, in milliseconds.
const LONGEST: u64 = 86_400_000;

/// The wait that a 429 or 503 answer requests, in milliseconds, at most a day; `now` is since the Unix epoch.
///
/// The header has seconds or an HTTP date (any form of RFC 9110, 5.6.7) of the server's clock: the wait counts from the
/// answer's `Date`, or else from `now`. A date in the past is a wait of 0. `None` for other statuses, and if the header
/// is missing or invalid.
pub fn retry_after(response: &Fetched, now: Millis) -> Option<u64> {
    if !matches!(response.status, 429 | 503) {
        return None;
    }
    let value = response.header("retry-after")?.trim();
    let wait = match value.parse::<f64>() {
        // The cast saturates, and the limit applies afterwards.
        Ok(seconds) if seconds >= 0.0 => (seconds * 1000.0) as u64,
        Ok(_) => return None,
        Err(_) => {
            Millis(date(value)?).since(response.header("date").and_then(|sent| date(sent.trim())).map_or(now, Millis))
        }
    };
    Some(wait.min(LONGEST))
}

/// An HTTP date in milliseconds since the Unix epoch; earlier ones are 0.
fn date(text: &str) -> Option<u64> {
    let since = httpdate::parse_http_date(text).ok()?.duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use suidao_page::model::CrawlUrl;

    fn wait(status: u16, value: &str) -> Option<u64> {
        let fetched = Fetched {
            url: CrawlUrl::parse("http://a.cn/").unwrap(),
            status,
            headers: vec![("retry-after".into(), value.into())],
            body: bytes::Bytes::new(),
            wire: None,
            request_validators: None,
            rendered: None,
            unverified: false,
        };
        // Sun, 06 Nov 1994 08:49:37 GMT is 784111777.
        retry_after(&fetched, Millis(784_111_777_000 - 60_000))
    }

    #[test]
    fn seconds_and_all_forms_of_dates_are_read() {
        for (value, expected) in [
            ("120", Some(120_000)),
            (" 0 ", Some(0)),
            ("1.5", Some(1_500)),
            ("Sun, 06 Nov 1994 08:49:37 GMT", Some(60_000)),
            ("Sunday, 06-Nov-94 08:49:37 GMT", Some(60_000)),
            ("Sun Nov  6 08:49:37 1994", Some(60_000)),
            ("Sun, 06 Nov 1994 08:00:00 GMT", Some(0)),
            ("Sat, 06 Nov 2094 08:00:00 GMT", Some(LONGEST)),
            ("99999999999999999999", Some(LONGEST)),
            ("inf", Some(LONGEST)),
            ("-5", None),
            ("nan", None),
            ("soon", None),
            ("", None),
        ] {
            assert_eq!(wait(429, value), expected, "{value}");
        }
        assert_eq!(wait(503, "7"), Some(7_000));
        assert_eq!(wait(200, "7"), None);
    }

    #[test]
    fn a_server_whose_clock_is_wrong_is_believed_how_long() {
        let fields = [("date", "Sun, 06 Nov 1994 08:49:07 GMT"), ("retry-after", "Sun, 06 Nov 1994 08:49:37 GMT")];
        let fetched = Fetched {
            url: CrawlUrl::parse("http://a.cn/").unwrap(),
            status: 503,
            headers: fields.map(|(name, value)| (name.to_owned(), value.to_owned())).into(),
            body: bytes::Bytes::new(),
            wire: None,
            request_validators: None,
            rendered: None,
            unverified: false,
        };
        for now in [0, 784_111_777_000, u64::MAX] {
            assert_eq!(retry_after(&fetched, Millis(now)), Some(30_000));
        }
    }
}
