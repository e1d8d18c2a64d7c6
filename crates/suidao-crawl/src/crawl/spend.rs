//! `crawl.spend`: when a ready URL is left for a better one of a host that will be ready soon.
//!
//! A fetch costs the site, the disk and the budget; waiting costs time. A URL with expected value w is fetched if w >=
//! theta * best, where best is the highest expected value among the hosts that are in flight or ready within [`SOON`].

use serde::de::{Deserializer, Error};
use serde::{Deserialize, Serialize};

use super::calibration::Calibration;
use suidao_page::model::{Event, Millis, UrlId};

/// Milliseconds within which a host counts as ready soon.
pub(super) const SOON: u64 = 5_000;
/// Milliseconds without a page after which one URL is fetched regardless of others.
pub const MAX_WAIT_WITHOUT_PAGE: u64 = 2_000;
/// After this many requests in a row that brought no page, the crawl does not wait for a host.
pub(super) const MAX_WITHOUT_PAGE: u8 = 3;

/// Theta, from 0 (every ready host gets a request, regardless of the expected value of its best URL) to 1 (the crawl
/// waits for the best page).
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct MinimumShare(f64);

impl MinimumShare {
    /// Words for values.
    const NAMES: [(&str, Self); 3] = [("time", Self::TIME), ("balanced", Self::BALANCED), ("pages", Self(0.6))];

    pub const TIME: Self = Self(0.0);
    pub const BALANCED: Self = Self(0.3);

    /// None outside of 0 to 1.
    pub fn new(theta: f64) -> Option<Self> {
        (0.0..=1.0).contains(&theta).then_some(Self(theta))
    }

    pub fn theta(self) -> f64 {
        self.0
    }
}

impl<'de> Deserialize<'de> for MinimumShare {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Value {
            Whole(u8),
            Theta(f64),
            Name(String),
        }
        let spend = match Value::deserialize(deserializer) {
            Ok(Value::Whole(theta)) => Self::new(f64::from(theta)),
            Ok(Value::Theta(theta)) => Self::new(theta),
            Ok(Value::Name(name)) => Self::NAMES.iter().find(|(word, _)| *word == name).map(|(_, spend)| *spend),
            Err(_) => None,
        };
        spend.ok_or_else(|| D::Error::custom("expected a number from 0 to 1, time, balanced or pages"))
    }
}

/// What the rule remembers. A fold of the events.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct WaitState {
    /// When the last page was fetched.
    last_page: Millis,
    /// A URL that is fetched regardless of others, until its result, and since when.
    released: Option<(UrlId, Millis)>,
    pub calibration: Calibration,
}

impl WaitState {
    pub fn observe(&mut self, event: &Event, at: Millis) {
        let id = match event {
            Event::Released { id } => {
                self.released = Some((*id, at));
                return;
            }
            Event::PageFetched(page) => {
                self.last_page = at;
                self.calibration.add(page.queued_as, page.is_relevant_document());
                page.id
            }
            Event::Redirected { id, .. }
            | Event::SchemeRewritten { id, .. }
            | Event::SitemapRead { id, .. }
            | Event::FetchRetried { id, .. }
            | Event::FetchFailed { id, .. }
            | Event::UrlExcluded { id, .. } => *id,
            _ => return,
        };
        self.released.take_if(|(released, _)| *released == id);
    }

    pub fn is_released(&self, id: UrlId) -> bool {
        self.released.is_some_and(|(released, _)| released == id)
    }

    /// When a URL held back is released: after some time without a page. The next one follows at once if that one
    /// brings no page, so that a row of failures does not add up.
    pub fn released_at(&self) -> Millis {
        self.released.map_or(self.last_page, |(_, since)| since).after(MAX_WAIT_WITHOUT_PAGE)
    }
}

/// URLs of ready hosts with lower expected values wait.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WaitThreshold {
    pub below: f32,
    /// Whether expected values are priorities; else they are shares of relevant pages learnt from them.
    pub by_priority: bool,
    /// Highest expected value among the hosts that are ready soon.
    pub best: f32,
}

/// Expected values of the best URLs of a crawl.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BestValues {
    /// Of those that may be requested now.
    pub ready: Option<f32>,
    /// Of these and those that may be requested within 5 s.
    pub soon: Option<f32>,
    /// The share of the best one that a URL needs to be fetched.
    pub theta: f64,
}

/// What holding back costs in one run.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct WaitCosts {
    /// Ready hosts times the milliseconds that they were held back.
    pub idle: u64,
    /// Longest time between two pages, in milliseconds.
    pub longest_gap: u64,
    last_page: Option<Millis>,
    /// The current hold: since when, how many hosts are ready, and the best competing score.
    current: Option<(Millis, u64, f32)>,
}

impl WaitCosts {
    pub(super) fn page(&mut self, now: Millis) {
        let gap = self.last_page.replace(now).map_or(0, |last| now.since(last));
        self.longest_gap = self.longest_gap.max(gap);
    }

    pub(super) fn begin(&mut self, best: f32, ready: usize, now: Millis) {
        self.end(now);
        self.current = Some((now, ready as u64, best));
    }

    pub(super) fn end(&mut self, now: Millis) {
        if let Some((since, ready, _)) = self.current.take() {
            self.idle += ready * now.since(since);
        }
    }

    pub(super) fn best(&self) -> Option<f32> {
        self.current.map(|(_, _, best)| best)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spend_is_a_number_or_a_word() {
        let read =
            |text: &str| toml::from_str::<std::collections::BTreeMap<String, MinimumShare>>(&format!("s = {text}"));
        for (text, theta) in [("0", 0.0), ("1", 1.0), ("0.25", 0.25), ("\"time\"", 0.0), ("\"pages\"", 0.6)] {
            assert_eq!(read(text).unwrap()["s"].theta(), theta, "{text}");
        }
        for text in ["-0.1", "1.5", "2", "\"fast\"", "true", "nan"] {
            assert!(read(text).unwrap_err().to_string().contains("0 to 1"), "{text}");
        }
    }
}
