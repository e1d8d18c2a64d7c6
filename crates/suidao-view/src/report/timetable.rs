//! When to visit the boards of a forum: their activity from the log, a plan, and a drawing of both.

use std::collections::BTreeMap;
use std::fmt::{self, Display, Formatter};

use serde::Serialize;

use suidao_crawl::crawl::VISITS_A_DAY;
use suidao_forum::forum::map::offset;
use suidao_forum::forum::schedule::{History, Horizon, Importance, Planner, ScheduleMethod, cycle, mean_delay};
use suidao_html::count;
use suidao_html::plot;
use suidao_page::model::{Event, ForumMap, UrlId};
use suidao_store::store::{Store, StoreError};

#[derive(Clone, Copy, Debug)]
pub struct TimetableOptions {
    pub method: ScheduleMethod,
    /// Visits a day, all boards together; by default eight for each.
    pub per_day: Option<u32>,
}

#[derive(Clone, Debug, Serialize)]
pub struct Timetable {
    pub method: ScheduleMethod,
    /// Visits a day, all boards together.
    pub per_day: u32,
    /// Days until the plan repeats.
    pub days: u32,
    /// Time zone of all hours, as an offset from UTC.
    pub offset: String,
    /// The busiest first.
    pub boards: Vec<BoardPlan>,
}

#[derive(Clone, Debug, Serialize)]
pub struct BoardPlan {
    pub url: String,
    /// Its name, or its URL without one.
    pub name: String,
    /// WP of eq. (5).
    pub weight: f64,
    pub new: f64,
    pub replied: f64,
    /// Share of each hour in the posts, eq. (7).
    pub profile: [f64; 24],
    /// Hours after local midnight of the first day, rising.
    pub instants: Vec<f64>,
    /// Expected delay of a post in hours; `None` without posts, or if the plan has several days.
    pub mean_delay: Option<f64>,
}

/// Plans the visits of a crawl's boards from its log. `map` overrides the forum file in the log. `None` if the crawl
/// has no board.
pub fn timetable(
    store: &Store,
    map: Option<ForumMap>,
    options: TimetableOptions,
) -> Result<Option<Timetable>, StoreError> {
    let map = match map {
        Some(map) => map,
        None => last_map(store)?.unwrap_or_default(),
    };
    // A map is checked before it is written; an unchecked one has no offset.
    let east = offset(&map.offset).unwrap_or(0);
    let mut history = History::new(east);
    let mut now = 0;
    for record in store.batches() {
        let batch = record?.batch;
        now = (batch.at.0 / 1_000) as i64;
        batch.events.iter().for_each(|event| history.observe(event));
    }
    let mut means = history.means(now);
    if means.is_empty() {
        return Ok(None);
    }
    means.sort_by(|(_, one), (_, other)| other.weight().total_cmp(&one.weight()));
    let urls = urls(store, &means.iter().map(|(board, _)| *board).collect::<Vec<_>>())?;
    let names: BTreeMap<&str, &str> = map.boards.iter().map(|board| (&*board.url, &*board.name)).collect();

    let statistics: Vec<_> = means.iter().map(|(_, statistics)| *statistics).collect();
    let per_day = options.per_day.unwrap_or(VISITS_A_DAY.saturating_mul(statistics.len() as u32));
    let days = cycle(statistics.len(), per_day);
    let plan = Planner::new(&statistics, Horizon::Periodic).plan(per_day, options.method, Importance::Equal);
    let boards = means.iter().zip(plan).map(|((board, statistics), instants)| {
        let url = urls.get(board).cloned().unwrap_or_default();
        let name = names.get(&*url).filter(|name| !name.is_empty()).map_or(url.clone(), |name| (*name).to_owned());
        let profile = statistics.profile();
        let delay = mean_delay(&profile, &instants, Horizon::Periodic);
        BoardPlan {
            url,
            name,
            weight: statistics.weight(),
            new: statistics.new.iter().sum(),
            replied: statistics.replied.iter().sum(),
            profile: *profile.slots(),
            mean_delay: (days == 1 && statistics.weight() > 0.0 && delay.is_finite()).then_some(delay),
            instants,
        }
    });
    let (hours, minutes) = (east.abs() / 3_600, east.abs() / 60 % 60);
    let sign = if east < 0 { '-' } else { '+' };
    Ok(Some(Timetable {
        method: options.method,
        per_day,
        days,
        offset: format!("{sign}{hours:02}:{minutes:02}"),
        boards: boards.collect(),
    }))
}

impl Display for Timetable {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let days = if self.days == 1 { String::new() } else { format!(" in cycles of {} days", self.days) };
        writeln!(
            out,
            "{} boards, {} visits per day, method {}{days}; times in UTC{}",
            self.boards.len(),
            self.per_day,
            self.method,
            self.offset
        )?;
        for board in &self.boards {
            let delay = board.mean_delay.map_or(String::new(), |delay| format!(", mean delay {delay:.1} h"));
            writeln!(
                out,
                "\n{}\n  weight {:.1} ({:.1} threads, {:.1} replies per day), {}{delay}",
                board.name,
                board.weight,
                board.new,
                board.replied,
                count(board.instants.len(), "visit", "visits")
            )?;
            for line in board.instants.chunks(12) {
                writeln!(out, "  {}", line.iter().map(|instant| clock(*instant)).collect::<Vec<_>>().join(" "))?;
            }
        }
        Ok(())
    }
}

fn last_map(store: &Store) -> Result<Option<ForumMap>, StoreError> {
    let mut last = None;
    for record in store.batches() {
        for event in record?.batch.events {
            let map = match event {
                Event::PageFetched(settled) => settled.forum.and_then(|page| page.map),
                Event::Forum(step) => step.map,
                _ => None,
            };
            last = map.map(|map| *map).or(last);
        }
    }
    Ok(last)
}

fn urls(store: &Store, wanted: &[UrlId]) -> Result<BTreeMap<UrlId, String>, StoreError> {
    let mut urls: BTreeMap<UrlId, String> = wanted.iter().map(|id| (*id, String::new())).collect();
    for record in store.batches() {
        for event in record?.batch.events {
            if let Event::Discovered(found) = event
                && let Some(url) = urls.get_mut(&found.id)
            {
                found.url.as_str().clone_into(url);
            }
        }
    }
    Ok(urls)
}

/// `7:05`; of a later day of a plan `day 2 7:05`.
fn clock(instant: f64) -> String {
    let minutes = (instant * 60.0).round() as u64;
    let (day, minutes) = (minutes / 1440, minutes % 1440);
    let of_day = format!("{}:{:02}", minutes / 60, minutes % 60);
    if day == 0 { of_day } else { format!("day {} {of_day}", day + 1) }
}

impl Timetable {
    /// A plot for each board, all to one scale.
    fn plots(&self) -> Vec<String> {
        let largest = self.boards.iter().flat_map(|board| board.profile).fold(0.0, f64::max);
        let plot = |board: &BoardPlan| {
            let visits = if self.days == 1 {
                count(board.instants.len(), "visit per day", "visits per day")
            } else {
                format!("{} in {} days", count(board.instants.len(), "visit", "visits"), self.days)
            };
            let hours: Vec<f64> = board.instants.iter().map(|instant| instant % 24.0).collect();
            // About as many letters as fit into a small plot.
            let name: String = plot::fitting(&board.name, 215.0);
            plot::day(&name, &format!("weight {:.1}, {visits}", board.weight), &board.profile, largest, &hours)
        };
        self.boards.iter().map(plot).collect()
    }

    /// All plots as one SVG file, two in a row.
    pub fn svg(&self) -> String {
        plot::sheet(&self.plots(), 2, "Posts per hour and visits of the boards")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use suidao_page::model::{
        ApproxTime, Batch, BoardEntry, CrawlUrl, Discovered, ForumStep, IndexPage, ListedActivity, Millis, PageKind,
        Relevance, UrlOrigin,
    };
    use suidao_store::store::{CrawlDirectory, Meta, Record};

    const OPTIONS: TimetableOptions = TimetableOptions { method: ScheduleMethod::Sqrt, per_day: None };
    const DAY: i64 = 86_400;

    /// A crawl of two boards, one of them busy at nine in the morning, with one thread that gets this many replies a
    /// day.
    fn crawl(root: &std::path::Path, map: Option<ForumMap>) -> Store {
        let mut store = Store::resume(
            &CrawlDirectory::new(root),
            &Meta::new("forum", "x", "boards", Relevance::ZERO, Millis(0)),
            "test",
        )
        .unwrap();
        let discovered = |id: u32| {
            let url = CrawlUrl::parse(&format!("http://bbs.example.cn/{id}")).unwrap();
            Event::Discovered(Discovered { id: UrlId(id), url, origin: UrlOrigin::Seed, anchor: String::new() })
        };
        let listed = ListedActivity { last_reply: None, replies: None, sticky: false };
        let posts = (0..20).map(|day| ApproxTime { at: (14_000 + day) * DAY + 3_600, within: 60 }).collect();
        let step = ForumStep {
            map: map.map(Box::new),
            lists: vec![
                IndexPage { board: UrlId(0), page: 1, threads: Vec::new() },
                IndexPage { board: UrlId(1), page: 1, threads: vec![(UrlId(2), listed)] },
            ],
            read: vec![(UrlId(2), PageKind::Thread { thread: UrlId(2), page: 1 }, posts)],
            ..ForumStep::default()
        };
        let mut events: Vec<Event> = (0..3).map(discovered).collect();
        events.push(Event::Forum(Box::new(step)));
        let at = Millis(14_020 * DAY as u64 * 1_000);
        store.append(&[Record { batch: Batch { at, latency: None, events }, archive: None, revisit: false }]).unwrap();
        store
    }

    fn map() -> ForumMap {
        let board = BoardEntry { url: "http://bbs.example.cn/1".into(), name: "<站务>".into(), skip: false };
        ForumMap { offset: "+08:00".into(), boards: vec![board], ..ForumMap::default() }
    }

    #[test]
    fn a_plan_follows_from_the_log() {
        let temp = tempfile::tempdir().unwrap();
        let store = crawl(temp.path(), Some(map()));
        let plan = timetable(&store, None, OPTIONS).unwrap().unwrap();
        assert_eq!((plan.per_day, plan.days, &*plan.offset), (16, 1, "+08:00"));
        let [busy, silent] = &plan.boards[..] else { panic!("{plan:?}") };
        assert_eq!((&*busy.name, &*busy.url), ("<站务>", "http://bbs.example.cn/1"));
        assert!((busy.weight - (1.0 + 19.0 / 2.0) / 20.0).abs() < 1e-6, "{busy:?}");
        assert!(busy.instants.iter().all(|hour| (9.0..10.0).contains(hour)), "local time: {busy:?}");
        assert_eq!((busy.instants.len(), silent.instants.len()), (15, 1), "a silent board is looked at once a day");
        assert_eq!((&*silent.name, silent.mean_delay), ("http://bbs.example.cn/0", None));
        // A corrected file overrides the log.
        let utc = timetable(&store, Some(ForumMap { offset: "+00:00".into(), ..map() }), OPTIONS).unwrap().unwrap();
        assert!(utc.boards[0].instants.iter().all(|hour| (1.0..2.0).contains(hour)));
    }

    #[test]
    fn it_is_drawn() {
        let temp = tempfile::tempdir().unwrap();
        let plan = timetable(&crawl(temp.path(), Some(map())), None, OPTIONS).unwrap().unwrap();
        let svg = plan.svg();
        assert!(svg.contains("&lt;站务&gt;"), "{svg}");
        assert_eq!((svg.matches("<svg").count(), svg.matches("class=\"line").count()), (1, 16), "{svg}");
    }

    #[test]
    fn without_boards_there_is_no_plan() {
        let temp = tempfile::tempdir().unwrap();
        let meta = Meta::new("forum", "x", "boards", Relevance::ZERO, Millis(0));
        let store = Store::resume(&CrawlDirectory::new(temp.path()), &meta, "test").unwrap();
        assert!(timetable(&store, None, OPTIONS).unwrap().is_none());
    }

    #[test]
    fn clocks_are_read_as_people_do() {
        assert_eq!([0.0, 7.0833, 23.999].map(clock), ["0:00", "7:05", "day 2 0:00"]);
        assert_eq!(clock(31.5), "day 2 7:30");
    }
}
