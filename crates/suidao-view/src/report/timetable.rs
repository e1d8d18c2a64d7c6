//! When to visit the boards of a crawl's forums: their activity from the log, a plan, and a drawing of both.

use std::collections::BTreeMap;
use std::fmt::{self, Display, Formatter};

use serde::Serialize;

use suidao_crawl::crawl::VISITS_A_DAY;
use suidao_forum::forum::schedule::{
    BoardDemand, History, Horizon, Importance, Planner, ScheduleMethod, ScheduleObjective, cycle, mean_delay,
};
use suidao_forum::forum::site::ForumSite;
use suidao_forum::forum::sites::ForumSites;
use suidao_html::count;
use suidao_html::plot;
use suidao_page::model::{CrawlUrl, Event, ForumMap, IndexPage, UrlId};
use suidao_store::store::{Store, StoreError};

#[derive(Clone, Copy, Debug)]
pub struct TimetableOptions {
    pub method: ScheduleMethod,
    /// Visits a day, all boards together; by default eight for each.
    pub per_day: Option<u32>,
    /// What the delays are computed for.
    pub objective: ScheduleObjective,
}

#[derive(Clone, Debug, Serialize)]
pub struct Timetable {
    pub method: ScheduleMethod,
    pub horizon: Horizon,
    pub importance: Importance,
    /// Visits a day, all boards together.
    pub per_day: u32,
    /// Days until the plan repeats.
    pub days: u32,
    /// Time zones of the hours, one per forum, as an offset from UTC.
    pub offset: String,
    /// Total delay by method, eq. (4), in hours times weight: of a day or of a week, as the horizon. Empty if the plan
    /// has several days.
    pub total_delay: BTreeMap<&'static str, f64>,
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

/// Plans the visits of a crawl's boards from its log. `maps` override the forum files in the log, each that with the
/// same entry page. `None` if the crawl has no board.
pub fn timetable(store: &Store, maps: &[ForumMap], options: TimetableOptions) -> Result<Option<Timetable>, StoreError> {
    let (logged, listed) = forums(store)?;
    let mut sites = ForumSites::default();
    for map in logged.iter().chain(maps) {
        // A map is checked before it is written.
        ForumSite::new(map.clone()).ok().and_then(|site| sites.add(site));
    }
    let urls = urls(store, &listed)?;
    let forum_of = |board: UrlId| {
        let url = urls.get(&board).and_then(|url| CrawlUrl::parse(url).ok());
        let number = url.and_then(|url| sites.of(&url)).unwrap_or(0);
        (number, sites.iter().nth(number).map_or(0, ForumSite::offset))
    };
    let mut history = History::default();
    let mut now = 0;
    for record in store.batches() {
        let batch = record?.batch;
        now = (batch.at.0 / 1_000) as i64;
        batch.events.iter().for_each(|event| history.observe(event, forum_of));
    }
    let demand = |(board, statistics): (UrlId, _)| {
        let site = sites.iter().nth(forum_of(board).0);
        let url = urls.get(&board).and_then(|url| CrawlUrl::parse(url).ok());
        let demand = site.zip(url).map(|(site, url)| site.demand(board, &url, statistics));
        (board, demand.unwrap_or_else(|| statistics.into()))
    };
    let mut demands: Vec<(UrlId, BoardDemand)> = history.means(now).into_iter().map(demand).collect();
    if demands.is_empty() {
        return Ok(None);
    }
    demands.sort_by(|(_, one), (_, other)| other.weight().total_cmp(&one.weight()));
    let maps = sites.iter().map(ForumSite::map);
    let names: BTreeMap<&str, &str> =
        maps.flat_map(|map| &map.boards).map(|board| (&*board.url, &*board.name)).collect();

    let of_boards: Vec<BoardDemand> = demands.iter().map(|(_, demand)| *demand).collect();
    let per_day = options.per_day.unwrap_or(VISITS_A_DAY.saturating_mul(of_boards.len() as u32));
    let days = cycle(of_boards.len(), per_day);
    let ScheduleObjective { horizon, importance } = options.objective;
    let planner = Planner::new(&of_boards, horizon);
    let plan = planner.plan(per_day, options.method, importance);
    let period = if horizon == Horizon::Week { 7.0 } else { 1.0 };
    let total = |method: &ScheduleMethod| {
        let delay = planner.total_delay(&planner.plan(per_day, *method, importance), importance);
        ((*method).into(), period * delay)
    };
    let total_delay = ScheduleMethod::ALL.iter().filter(|_| days == 1).map(total).collect();
    let boards = demands.iter().zip(plan).map(|((board, demand), instants)| {
        let url = urls.get(board).cloned().unwrap_or_default();
        let name = names.get(&*url).filter(|name| !name.is_empty()).map_or(url.clone(), |name| (*name).to_owned());
        let profile = demand.profile();
        let delay = mean_delay(&profile, &instants, horizon);
        BoardPlan {
            url,
            name,
            weight: demand.weight(),
            new: demand.statistics.new.iter().sum(),
            replied: demand.statistics.replied.iter().sum(),
            profile: *profile.slots(),
            mean_delay: (days == 1 && demand.rate() > 0.0 && delay.is_finite()).then_some(delay),
            instants,
        }
    });
    let mut offsets: Vec<String> = Vec::new();
    for site in sites.iter() {
        let offset = &site.map().offset;
        if !offsets.contains(offset) {
            offsets.push(offset.clone());
        }
    }
    Ok(Some(Timetable {
        method: options.method,
        horizon,
        importance,
        per_day,
        days,
        offset: offsets.join(", "),
        total_delay,
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
        if let Some(total) = self.total_delay.get(<&str>::from(self.method)) {
            let period = if self.horizon == Horizon::Week { "week" } else { "day" };
            let others: Vec<String> = ScheduleMethod::ALL
                .iter()
                .map(|&method| <&str>::from(method))
                .filter_map(|name| Some(format!("{name} {:.1}", self.total_delay.get(name)?)))
                .collect();
            writeln!(
                out,
                "total delay {total:.1} h per {period} (horizon {}, importance {}; {})",
                self.horizon,
                self.importance,
                others.join(", ")
            )?;
        }
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

/// The last map of each forum in the log, and the boards that were listed.
fn forums(store: &Store) -> Result<(Vec<ForumMap>, Vec<UrlId>), StoreError> {
    let (mut maps, mut boards): (Vec<ForumMap>, Vec<UrlId>) = (Vec::new(), Vec::new());
    let mut list = |lists: &[IndexPage]| boards.extend(lists.iter().map(|list| list.board));
    for record in store.batches() {
        for event in record?.batch.events {
            let map = match event {
                Event::PageFetched(settled) => settled.forum.and_then(|page| {
                    list(&page.lists);
                    page.map
                }),
                Event::Forum(step) => {
                    list(&step.lists);
                    step.map
                }
                _ => None,
            };
            let Some(map) = map else { continue };
            match maps.iter_mut().find(|known| known.start == map.start) {
                Some(known) => *known = *map,
                None => maps.push(*map),
            }
        }
    }
    boards.sort_unstable();
    boards.dedup();
    Ok((maps, boards))
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

    const OPTIONS: TimetableOptions = TimetableOptions {
        method: ScheduleMethod::Sqrt,
        per_day: None,
        objective: ScheduleObjective { horizon: Horizon::Week, importance: Importance::Equal },
    };
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
        let board = BoardEntry::new("http://bbs.example.cn/1".into(), "<站务>".into());
        let start = "http://bbs.example.cn/".into();
        ForumMap { start, offset: "+08:00".into(), boards: vec![board], ..ForumMap::default() }
    }

    #[test]
    fn a_plan_follows_from_the_log() {
        let temp = tempfile::tempdir().unwrap();
        let store = crawl(temp.path(), Some(map()));
        let plan = timetable(&store, &[], OPTIONS).unwrap().unwrap();
        assert_eq!((plan.per_day, plan.days, &*plan.offset), (16, 1, "+08:00"));
        let [busy, silent] = &plan.boards[..] else { panic!("{plan:?}") };
        assert_eq!((&*busy.name, &*busy.url), ("<站务>", "http://bbs.example.cn/1"));
        assert!((busy.weight - (1.0 + 19.0 / 2.0) / 20.0).abs() < 1e-6, "{busy:?}");
        assert!(busy.instants.iter().all(|hour| (9.0..10.0).contains(hour)), "local time: {busy:?}");
        assert_eq!((busy.instants.len(), silent.instants.len()), (15, 1), "a silent board is looked at once a day");
        assert_eq!((&*silent.name, silent.mean_delay), ("http://bbs.example.cn/0", None));
        // A corrected file overrides the log.
        let utc = timetable(&store, &[ForumMap { offset: "+00:00".into(), ..map() }], OPTIONS).unwrap().unwrap();
        assert!(utc.boards[0].instants.iter().all(|hour| (1.0..2.0).contains(hour)));
        let mut weighted = ForumMap { weight: 2.0, theta: 1.0, ..map() };
        weighted.boards[0].weight = 3.0;
        let weighted = timetable(&store, &[weighted], OPTIONS).unwrap().unwrap();
        assert!((weighted.boards[0].weight - 6.0).abs() < 1e-5, "2 · 3 · (1 + 19) / 20: {:?}", weighted.boards[0]);
        // Total delay of a week: 7 · W_i · rate · mean delay.
        let board = &plan.boards[0];
        let total = 7.0 * board.weight * board.mean_delay.unwrap();
        assert!((plan.total_delay["sqrt"] - total).abs() < 1e-9, "{plan:?}");
        assert!(plan.total_delay["optimum"] <= total && total < plan.total_delay["era"], "{plan:?}");
    }

    #[test]
    fn it_is_drawn() {
        let temp = tempfile::tempdir().unwrap();
        let plan = timetable(&crawl(temp.path(), Some(map())), &[], OPTIONS).unwrap().unwrap();
        let svg = plan.svg();
        assert!(svg.contains("&lt;站务&gt;"), "{svg}");
        assert_eq!((svg.matches("<svg").count(), svg.matches("class=\"line").count()), (1, 16), "{svg}");
    }

    #[test]
    fn without_boards_there_is_no_plan() {
        let temp = tempfile::tempdir().unwrap();
        let meta = Meta::new("forum", "x", "boards", Relevance::ZERO, Millis(0));
        let store = Store::resume(&CrawlDirectory::new(temp.path()), &meta, "test").unwrap();
        assert!(timetable(&store, &[], OPTIONS).unwrap().is_none());
    }

    #[test]
    fn clocks_are_read_as_people_do() {
        assert_eq!([0.0, 7.0833, 23.999].map(clock), ["0:00", "7:05", "day 2 0:00"]);
        assert_eq!(clock(31.5), "day 2 7:30");
    }
}
