//! The pages that a round of a refresh would revisit, and why.

use std::fmt::{self, Display, Formatter};

use serde::Serialize;

use suidao_crawl::crawl::PlannedVisit;
use suidao_crawl::revisit::history::{Histories, Tracked, days};
use suidao_crawl::revisit::settings::{RefreshSettings, RevisitPolicy};
use suidao_html::{count, thousands};
use suidao_live::live::{self, Job};
use suidao_page::model::{Budget, CrawlUrl, Millis, span};
use suidao_store::store::{Store, StoreError, display_time};

/// Maximum number of pages and of new URLs on the screen.
const SHOWN: (usize, usize) = (40, 10);

/// What a round would do. As text for people; the pages and URLs are also for programs.
pub struct RefreshPlan {
    /// The best first.
    pub pages: Vec<DuePage>,
    /// Queued URLs for the share of discovery.
    pub waiting: Vec<QueuedUrl>,
    /// Requests of the round.
    requests: usize,
    /// Requests for known pages.
    pub visits: usize,
    known: usize,
    not_due: NotDue,
    next_due: Option<Millis>,
    settings: RefreshSettings,
}

/// A known page, and what a visit is worth.
#[derive(Serialize)]
pub struct DuePage {
    url: CrawlUrl,
    value: f64,
    days_ago: f64,
    visits: u32,
    changes: u32,
    #[serde(skip)]
    compared: u32,
    changes_a_day: f64,
    new_links_a_day: f64,
    leads_to: f64,
    importance: f64,
    relevance: f64,
    inlinks: u32,
    listing: bool,
    missing: bool,
    text_lost: bool,
}

/// A URL that was never fetched.
#[derive(Serialize)]
pub struct QueuedUrl {
    url: CrawlUrl,
    priority: f32,
    #[serde(skip)]
    on_failing_host: bool,
}

impl RefreshPlan {
    /// The plan of a job that refreshes.
    ///
    /// # Errors
    /// [`StoreError`]: the crawl cannot be read.
    pub fn of(job: &Job) -> Result<Self, StoreError> {
        let settings = job.config.refresh.clone();
        let mut crawl = live::machine(job);
        for record in Store::open(&job.directory)?.batches() {
            crawl.restore(&record?.batch);
        }
        let now = live::now();
        let requests = match job.refresh {
            Some(Budget::Round { requests: Some(requests), .. }) => requests,
            _ => settings.requests,
        };
        let requests = usize::try_from(requests).unwrap_or(usize::MAX);
        let planned = crawl.plan(now, requests);
        let none = Histories::default();
        let histories = crawl.histories().unwrap_or(&none);
        let failing: Vec<Box<str>> = crawl.unreached(usize::MAX).hosts.into_iter().map(|(host, _)| host).collect();
        let waiting = if settings.discovery > 0.0 { crawl.waiting(requests) } else { Vec::new() };
        let queued = |(url, priority): (CrawlUrl, f32)| {
            let on_failing_host = failing.iter().any(|host| **host == *url.authority());
            QueuedUrl { url, priority, on_failing_host }
        };
        // a share of a number of requests
        let visits = ((1.0 - settings.discovery) * requests as f64).round() as usize;
        let known = |page: PlannedVisit| Some(DuePage::of(histories.get(page.id)?, page, &settings, now));
        Ok(Self {
            visits: visits.max(requests.saturating_sub(waiting.len())),
            pages: planned.into_iter().filter_map(known).collect(),
            waiting: waiting.into_iter().map(queued).collect(),
            requests,
            known: histories.len(),
            not_due: NotDue::count(histories, &settings, now),
            next_due: crawl.next_due(),
            settings,
        })
    }
}

impl DuePage {
    fn of(
        known: &Tracked,
        PlannedVisit { url, value, .. }: PlannedVisit,
        settings: &RefreshSettings,
        now: Millis,
    ) -> Self {
        Self {
            url,
            value,
            days_ago: days(now.since(known.last_request)),
            visits: known.visits,
            changes: known.changes.changes(),
            compared: known.changes.visits(),
            changes_a_day: known.rate(settings),
            new_links_a_day: known.new_links_a_day(settings),
            leads_to: known.leads_to(),
            importance: known.importance(),
            relevance: known.relevance,
            inlinks: known.inlinks,
            listing: known.listing,
            missing: known.missing.is_some(),
            text_lost: known.text_lost.is_some(),
        }
    }
}

impl Display for RefreshPlan {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let visits = self.pages.len().min(self.visits);
        write!(
            out,
            "{} known. A round of {} would revisit {} of them and fetch ",
            count(self.known, "page", "pages"),
            count(self.requests, "request", "requests"),
            thousands(visits as u64),
        )?;
        if self.settings.discovery > 0.0 {
            write!(out, "up to {} queued pages", thousands(self.waiting.len().min(self.requests - visits) as u64))?;
            match self.waiting.iter().filter(|url| url.on_failing_host).count() {
                0 => {}
                some => write!(out, " ({} queued on failing hosts)", thousands(some as u64))?,
            }
            writeln!(out, ".")?;
        } else {
            writeln!(out, "promising pages that these newly link to.")?;
        }
        if self.known > 0 {
            writeln!(out, "{}", self.not_due.describe(&self.settings))?;
        }
        if self.pages.is_empty() {
            writeln!(out, "{}", why_none_is_due(&self.settings, self.next_due))?;
        } else {
            writeln!(out, "\n  value  days ago  changes/day  new links/day  importance  page")?;
        }
        self.pages[..visits].iter().take(SHOWN.0).try_for_each(|page| writeln!(out, "{page}"))?;
        if visits > SHOWN.0 {
            writeln!(out, "... and {} more (--json lists all)", visits - SHOWN.0)?;
        }
        if !self.waiting.is_empty() {
            writeln!(out, "\npriority  never fetched")?;
        }
        let mut waiting = self.waiting.iter().take(SHOWN.1);
        waiting.try_for_each(|QueuedUrl { url, priority, .. }| writeln!(out, "{priority:8.3}  {url}"))
    }
}

/// A line of the table.
impl Display for DuePage {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let Self { value, days_ago, changes_a_day, new_links_a_day, importance, url, .. } = self;
        let value = if *value < 0.001 { format!("{value:.0e}") } else { format!("{value:.3}") };
        write!(
            out,
            "{value:>7}  {days_ago:8.2}  {changes_a_day:11.3}  {new_links_a_day:13.3}  {importance:10.3}  {url}  ("
        )?;
        match self.compared {
            0 => write!(out, "never revisited")?,
            visits => write!(out, "changed on {} of {visits} visits", self.changes)?,
        }
        let missing = match (self.missing, self.text_lost) {
            (true, _) => ", missing",
            (false, true) => ", text lost",
            (false, false) => "",
        };
        let listing = if self.listing { ", listing page" } else { "" };
        write!(out, "{missing}{listing})")
    }
}

/// Known pages that cannot be due now, by reason.
#[derive(Default)]
struct NotDue {
    rested: usize,
    missing: usize,
    retired: usize,
    worthless: usize,
}

impl NotDue {
    fn count(histories: &Histories, settings: &RefreshSettings, now: Millis) -> Self {
        let mut not_due = Self::default();
        for (_, page) in histories.iter() {
            if page.retired {
                not_due.retired += 1;
            } else if page.earliest_revisit(settings) > now {
                *if page.missing.is_some() { &mut not_due.missing } else { &mut not_due.rested } += 1;
            } else if page
                .visit_value(settings)
                .is_none_or(|value| value.value(days(now.since(page.last_request))) <= 0.0)
            {
                not_due.worthless += 1;
            }
        }
        not_due
    }

    fn describe(&self, settings: &RefreshSettings) -> String {
        let rested = match settings.policy {
            RevisitPolicy::Adaptive => "requested within their intervals".to_owned(),
            _ => format!("requested less than {} ago (refresh.shortest)", span(settings.shortest * 86_400.0)),
        };
        let reasons = [
            (self.rested, rested),
            (self.missing, format!("missing for less than {} (refresh.grace)", span(settings.grace * 86_400.0))),
            (self.retired, "retired".to_owned()),
            (self.worthless, "irrelevant and without links to relevant pages".to_owned()),
        ];
        let reasons: Vec<String> = reasons
            .into_iter()
            .filter(|(pages, _)| *pages > 0)
            .map(|(pages, why)| format!("{} {why}", thousands(pages as u64)))
            .collect();
        if reasons.is_empty() {
            "Every page may be due.".to_owned()
        } else {
            format!("Not due: {}.", reasons.join(", "))
        }
    }
}

/// Why no page is due, and when the first will be.
pub fn why_none_is_due(settings: &RefreshSettings, next: Option<Millis>) -> String {
    let now = live::now();
    match next {
        None => "No page is due: none is fetched yet, or all are retired.".to_owned(),
        Some(at) if at > now => format!(
            "No page is due: all were requested less than refresh.shortest ({}) ago, wait for refresh.grace after going \
             missing, or wait for the interval of refresh.policy. The first is due in {}, at {} UTC. Use --set refresh.shortest=0 to revisit at once.",
            span(settings.shortest * 86_400.0),
            span(at.since(now) as f64 / 1000.0),
            display_time(at),
        ),
        Some(_) => "No page is due: no visit has a crawl value above 0 yet. See `suidao refresh --dry-run`.".to_owned(),
    }
}
