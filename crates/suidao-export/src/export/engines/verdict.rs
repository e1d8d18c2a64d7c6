//! What a server's bulk API says became of each row, and how long to wait before rows are sent again. Pure, and apart from
//! the push, which has the network.

use std::time::Duration;

use serde_json::Value;

/// The first wait after a refusal; each further one is twice as long.
const FIRST_WAIT: Duration = Duration::from_millis(200);
/// The longest wait, whatever the server asks for.
const LONGEST_WAIT: Duration = Duration::from_secs(60);

/// What became of a row.
#[derive(Debug, PartialEq)]
pub(super) enum Verdict {
    Taken,
    Busy,
    Rejected(String),
}

/// The verdicts in an answer of the bulk API; none if it is not one, or not of so many rows.
pub(super) fn verdicts(answer: &[u8], rows: usize) -> Option<Vec<Verdict>> {
    let answer: Value = serde_json::from_slice(answer).ok()?;
    let items = answer.get("items")?.as_array()?;
    let verdict = |item: &Value| {
        let (action, result) = item.as_object()?.iter().next()?;
        let status = result.get("status")?.as_u64()?;
        Some(match status {
            200..=299 => Verdict::Taken,
            // What is to be gone is gone.
            404 if action == "delete" => Verdict::Taken,
            // 403: the server takes no writes for now, as when its disk is full.
            403 | 429 | 500..=599 => Verdict::Busy,
            _ => {
                let error = result.get("error");
                let part = |name: &str| error.and_then(|error| error.get(name)).and_then(Value::as_str);
                let reason = part("reason").or(part("type")).unwrap_or("no reason given");
                Verdict::Rejected(format!("{status}: {}", reason.chars().take(300).collect::<String>()))
            }
        })
    };
    let verdicts: Vec<Verdict> = items.iter().map(verdict).collect::<Option<_>>()?;
    (verdicts.len() == rows).then_some(verdicts)
}

/// Waits that grow, until patience ends.
pub(super) struct Wait {
    next: Duration,
    pub(super) waited: Duration,
    patience: Duration,
}

impl Wait {
    pub(super) fn new(patience: Duration) -> Self {
        Self { next: FIRST_WAIT.min(patience), waited: Duration::ZERO, patience }
    }

    /// How long to wait now: as long as the server asked for, within bounds; none when patience has ended.
    pub(super) fn next(&mut self, asked: Option<Duration>) -> Option<Duration> {
        if self.waited >= self.patience {
            return None;
        }
        let pause = asked.unwrap_or(self.next).max(Duration::from_millis(10)).min(LONGEST_WAIT);
        let pause = pause.min(self.patience - self.waited);
        self.next = (self.next * 2).min(LONGEST_WAIT);
        self.waited += pause;
        Some(pause)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_row_has_its_verdict() {
        let answer = br#"{"errors":true,"items":[{"index":{"_id":"a","status":201}},{"index":{"status":429,"error":{}}},
            {"delete":{"status":404}},{"index":{"status":400,"error":{"type":"x","reason":"no date"}}},{"index":{"status":404}}]}"#;
        let rejected = |reason: &str| Verdict::Rejected(reason.to_owned());
        let expected =
            [Verdict::Taken, Verdict::Busy, Verdict::Taken, rejected("400: no date"), rejected("404: no reason given")];
        assert_eq!(verdicts(answer, 5).unwrap(), expected);
        assert_eq!(verdicts(answer, 4), None);
        assert_eq!(verdicts(b"<html>", 1), None);
        assert_eq!(verdicts(br#"{"items":[{}]}"#, 1), None);
    }

    #[test]
    fn waits_grow_and_end() {
        let mut wait = Wait::new(Duration::from_secs(2));
        let waits: Vec<u128> = std::iter::from_fn(|| wait.next(None)).map(|pause| pause.as_millis()).collect();
        assert_eq!(waits, [200, 400, 800, 600]);
        let mut asked = Wait::new(Duration::from_secs(100));
        assert_eq!(asked.next(Some(Duration::from_secs(7))), Some(Duration::from_secs(7)));
        assert_eq!(asked.next(Some(Duration::from_secs(1000))), Some(LONGEST_WAIT));
        assert_eq!(Wait::new(Duration::ZERO).next(None), None);
    }
}
