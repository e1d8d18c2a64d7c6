//! Stop conditions: pages, relevant pages, bytes, minutes, or an exhausted topic.

use std::collections::VecDeque;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use suidao_page::model::{Event, Millis, Stop, size};

use super::counts::Progress;

/// Maximum number of pages over which a harvest rate is measured: each takes one bit of memory.
const LONGEST: u32 = 1_000_000;

/// `[stop]` of the configuration, and `--stop-when`. The crawl stops at the first condition that is met; unset ones are
/// ignored. All count the whole crawl, earlier runs included, except `minutes`, which count one run, without the time
/// between two runs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct StopConditions {
    /// Fetched pages, relevant or not. Not a key of `[stop]`: this is `limits.pages`, as typed and displayed.
    #[serde(skip_serializing, deserialize_with = "is_a_limit")]
    pub pages: Option<u64>,
    pub relevant: Option<u64>,
    /// Bytes of the pages' bodies, uncompressed.
    #[serde(deserialize_with = "size::optional")]
    pub bytes: Option<u64>,
    pub minutes: Option<f64>,
    /// The topic is exhausted: too few of the last pages are relevant.
    pub harvest: Option<Exhaustion>,
}

/// Less than a share of a number of consecutive pages is relevant. Written `0.05/1000`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Exhaustion {
    /// Share of relevant pages below which the topic is exhausted, in `(0, 1]`.
    pub under: f64,
    /// Number of last pages that count, 1 to 1000000. With fewer pages the condition is not tested.
    pub over: u32,
}

impl StopConditions {
    pub fn pages(pages: u64) -> Self {
        Self { pages: Some(pages), ..Self::default() }
    }

    /// Adds a condition as typed: `pages=1000`, `relevant=500`, `bytes=2GB`, `minutes=60`, `harvest<0.05/1000`.
    pub fn add(&mut self, condition: &str) -> Result<(), String> {
        let ways = "write pages=N, relevant=N, bytes=2GB, minutes=N or harvest<0.05/1000";
        let Some(at) = condition.find(['=', '<']) else { return Err(format!("not a condition; {ways}")) };
        let (key, value) = (condition[..at].trim(), condition[at + 1..].trim());
        let sign = &condition[at..=at];
        let number = || value.parse::<u64>().map_err(|_| format!("{value} is not a whole number; {ways}"));
        match (key, sign) {
            ("pages", "=") => set(&mut self.pages, number()?),
            ("relevant", "=") => set(&mut self.relevant, number()?),
            ("bytes", "=") => set(&mut self.bytes, size::parse(value)?),
            ("minutes", "=") => {
                set(&mut self.minutes, value.parse().map_err(|_| format!("{value} is not a number; {ways}"))?)
            }
            ("harvest", "<") => set(&mut self.harvest, Exhaustion::parse(value)?),
            ("pages" | "relevant" | "bytes" | "minutes" | "harvest", _) => {
                Err(format!("{key} does not take {sign}; {ways}"))
            }
            _ => Err(format!("unknown condition; {ways}")),
        }
    }

    /// Estimated seconds until the first countable condition is met, at the rate from `before` to `now`, which took
    /// `seconds`. None if there is no such condition, or too little data.
    pub fn seconds_left(&self, before: &Progress, now: &Progress, seconds: f64) -> Option<f64> {
        /// Pages (or relevant pages) and seconds needed for an estimate.
        const ENOUGH: (u64, f64) = (10, 3.0);
        let counted = |wanted: Option<u64>, before: u64, now: u64, enough: u64| {
            let (left, done) = (wanted?.saturating_sub(now), now.saturating_sub(before));
            (done >= enough && seconds >= ENOUGH.1).then(|| left as f64 * seconds / done as f64)
        };
        let pages = counted(self.pages, before.pages, now.pages, ENOUGH.0);
        let relevant = counted(self.relevant, before.relevant, now.relevant, ENOUGH.0);
        let bytes = counted(self.bytes, before.bytes, now.bytes, 1);
        let minutes = self.minutes.map(|minutes| (minutes * 60.0 - seconds).max(0.0));
        [pages, relevant, bytes, minutes].into_iter().flatten().min_by(f64::total_cmp)
    }
}

fn set<T>(goal: &mut Option<T>, value: T) -> Result<(), String> {
    match goal.replace(value) {
        None => Ok(()),
        Some(_) => Err("this condition is given twice; give it once".to_owned()),
    }
}

impl Exhaustion {
    /// Parses `0.05/1000`.
    pub fn parse(text: &str) -> Result<Self, String> {
        let wrong = || {
            format!(
                "{text}: expected a share and a number of pages, such as 0.05/1000, with a share above 0 and at most 1 and \
                     1 to {LONGEST} pages"
            )
        };
        let (under, over) = text.split_once('/').ok_or_else(wrong)?;
        let (under, over) =
            (under.trim().parse::<f64>().map_err(|_| wrong())?, over.trim().parse().map_err(|_| wrong())?);
        let fits = under > 0.0 && under <= 1.0 && (1..=LONGEST).contains(&over);
        if fits { Ok(Self { under, over }) } else { Err(wrong()) }
    }
}

impl std::fmt::Display for Exhaustion {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{}", self.under, self.over)
    }
}

impl Serialize for Exhaustion {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Exhaustion {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::parse(&String::deserialize(deserializer)?).map_err(serde::de::Error::custom)
    }
}

fn is_a_limit<'de, D: Deserializer<'de>>(_: D) -> Result<Option<u64>, D::Error> {
    Err(serde::de::Error::custom("unknown key stop.pages; use limits.pages (or --max-pages)"))
}

/// Progress towards the stop conditions that [`Progress`] does not count. A fold of the events and the start of the
/// run.
#[derive(Default, Serialize, Deserialize)]
pub(super) struct StopTracker {
    /// Whether each of the last pages was relevant.
    last: VecDeque<bool>,
    relevant: u32,
    begun: Option<Millis>,
}

impl StopTracker {
    /// Prepares for the next run, which has not begun yet.
    pub fn end(&mut self) {
        self.begun = None;
    }

    #[cfg(test)]
    pub fn recent(&self) -> (Vec<bool>, u32) {
        (self.last.iter().copied().collect(), self.relevant)
    }

    pub fn begin(&mut self, now: Millis) {
        self.begun.get_or_insert(now);
    }

    pub fn observe(&mut self, goals: &StopConditions, event: &Event) {
        let (Some(rule), Event::PageFetched(page)) = (&goals.harvest, event) else { return };
        // A page fetched again is not new for the topic.
        if page.changes.is_some() {
            return;
        }
        let relevant = page.is_relevant_document();
        self.last.push_back(relevant);
        self.relevant += u32::from(relevant);
        if self.last.len() > rule.over as usize {
            self.relevant -= u32::from(self.last.pop_front() == Some(true));
        }
    }

    /// The condition that is met, if any. Requests in flight are settled anyway; if they make the topic productive
    /// again, the crawl continues.
    pub fn reached(&self, goals: &StopConditions, progress: &Progress, now: Millis) -> Option<Stop> {
        let exhausted = |rule: &Exhaustion| {
            // Divide: 7/100 equals the number parsed from `0.07`, but 0.07 × 100 is more than 7.
            self.last.len() >= rule.over as usize && f64::from(self.relevant) / f64::from(rule.over) < rule.under
        };
        if goals.relevant.is_some_and(|wanted| progress.relevant >= wanted) {
            return Some(Stop::RelevantReached);
        }
        if goals.bytes.is_some_and(|wanted| progress.bytes >= wanted) {
            return Some(Stop::BytesReached);
        }
        if goals.harvest.as_ref().is_some_and(exhausted) {
            return Some(Stop::TopicExhausted);
        }
        self.ends(goals).is_some_and(|end| end <= now).then_some(Stop::TimeUp)
    }

    /// When the minutes of this run are over.
    pub fn ends(&self, goals: &StopConditions) -> Option<Millis> {
        let length = |minutes: f64| (minutes * 60_000.0).round() as u64;
        Some(self.begun?.after(length(goals.minutes?)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_topic_is_exhausted_under_the_share_and_not_at_it() {
        for over in [50, 100, 300, 1_000, 7_000] {
            for percent in 1..=100 {
                let text = format!("{}.{:02}/{over}", percent / 100, percent % 100);
                let goals =
                    StopConditions { harvest: Some(Exhaustion::parse(&text).unwrap()), ..StopConditions::default() };
                let at = over * percent / 100;
                let reached = |relevant| {
                    let last = VecDeque::from(vec![false; over as usize]);
                    let tracker = StopTracker { last, relevant, begun: None };
                    tracker.reached(&goals, &Progress::default(), Millis(0)).is_some()
                };
                let is_whole = over * percent % 100 == 0;
                assert_eq!(reached(at), !is_whole, "{text} at {at}");
                assert!((at == 0 || reached(at - 1)) && !reached(at + 1), "{text} at {at}");
            }
        }
    }

    #[test]
    fn conditions_are_read_as_they_are_typed() {
        let mut goals = StopConditions::default();
        for condition in ["pages=1000", "relevant = 500", "bytes=2GB", "minutes=1.5", "harvest<0.05/1000"] {
            goals.add(condition).unwrap();
        }
        let harvest = Exhaustion { under: 0.05, over: 1000 };
        let all = StopConditions {
            pages: Some(1000),
            relevant: Some(500),
            bytes: Some(2_000_000_000),
            minutes: Some(1.5),
            harvest: Some(harvest),
        };
        assert_eq!(goals, all);
        let stored = StopConditions { pages: None, ..all };
        assert_eq!(
            toml::from_str::<StopConditions>(&toml::to_string(&goals).unwrap()).unwrap(),
            stored,
            "written and read back"
        );
        assert_eq!(toml::from_str::<StopConditions>("bytes = '1.5 MiB'").unwrap().bytes, Some(1_572_864));
        for wrong in [
            "pages",
            "pages<5",
            "pages=x",
            "pages=1",
            "hosts=5",
            "harvest=0.05/1000",
            "harvest<0/10",
            "harvest<2/10",
            "harvest<0.1",
            "harvest<0.1/0",
            "bytes=2 barrels",
            "bytes=",
            "minutes=soon",
            "",
            "=",
            "harvest<NaN/10",
        ] {
            assert!(goals.clone().add(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn what_is_left_is_reported_by_the_pace_of_the_run_and_the_nearest_goal() {
        let at = |pages, relevant| Progress { pages, relevant, ..Progress::default() };
        let goals =
            StopConditions { pages: Some(1_100), relevant: Some(80), minutes: Some(30.0), ..StopConditions::default() };
        // 100 pages in 50 s: 450 s for 900 more; 20 relevant: 125 s for 50 more.
        let (before, now) = (at(100, 10), at(200, 30));
        assert_eq!(goals.seconds_left(&before, &now, 50.0), Some(125.0));
        let pages = StopConditions { pages: Some(1_100), ..StopConditions::default() };
        assert_eq!(pages.seconds_left(&before, &now, 50.0), Some(450.0));
        assert_eq!(pages.seconds_left(&now, &now, 50.0), None, "nothing came yet");
        assert_eq!(StopConditions::default().seconds_left(&before, &now, 50.0), None);
        let minutes = StopConditions { minutes: Some(1.0), ..StopConditions::default() };
        assert_eq!(minutes.seconds_left(&before, &before, 50.0), Some(10.0));
    }
}
