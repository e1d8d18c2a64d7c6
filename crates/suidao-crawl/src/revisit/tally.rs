//! Results of each refresh round. A fold of the log, for `refresh.csv` and the summary of a round.

use rustc_hash::FxHashSet;
use serde::Serialize;

use suidao_page::model::{
    AT_ONCE, Batch, Budget, Event, FailureKind, Millis, PageProcessed, RefreshStep, UrlId, UrlOrigin,
};

/// One round; of an endless refresh, one run.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct RoundTally {
    /// Start, RFC 3339.
    #[serde(skip)]
    pub started: Millis,
    #[serde(skip)]
    pub budget: Budget,
    pub finished: bool,
    /// Known pages chosen.
    pub due: u64,
    pub requests: u64,
    pub visits: u64,
    /// Visits: the text differed.
    pub text_changed: u64,
    /// Visits: the text was the same, the links of the main content differed.
    pub links_changed: u64,
    /// Visits: the bytes differed, text and links were the same.
    pub bytes_changed: u64,
    /// Visits: the same bytes.
    pub identical: u64,
    /// Visits: 304 Not Modified.
    pub not_modified: u64,
    /// Visits: missing (404, 410, a redirect), or failed.
    pub missing: u64,
    /// Visits: answered without the text of the page, which is kept for now.
    pub text_lost: u64,
    /// Visits: retired, because missing for too long or moved.
    pub retired: u64,
    /// Sitemaps and feeds read.
    pub sources: u64,
    /// Pages that they reported as changed.
    pub signals: u64,
    /// Links on visited pages not known before.
    pub new_links: u64,
    /// New pages fetched.
    pub pages: u64,
    pub relevant: u64,
    /// Unanswered requests, also for robots.txt; they count as requests only if a page was due.
    pub unanswered: u64,
}

#[derive(Clone, Debug, Default)]
pub struct Rounds {
    pub rounds: Vec<RoundTally>,
    due: FxHashSet<UrlId>,
    /// Due pages that redirected. One that was sent back with a cookie is due again.
    redirected: FxHashSet<UrlId>,
    found: (Option<UrlId>, u64),
}

impl Rounds {
    /// Folds a batch; pass each once, in order.
    pub fn observe(&mut self, batch: &Batch) {
        for event in &batch.events {
            self.observe_event(event, batch.at);
        }
    }

    fn observe_event(&mut self, event: &Event, at: Millis) {
        if let Event::Refresh(step) = event {
            self.observe_step(step, at);
        }
        let Some(round) = self.rounds.last_mut().filter(|round| !round.finished) else { return };
        round.unanswered += u64::from(event.is_unanswered());
        round.requests += u64::from(event.is_request());
        match event {
            Event::Discovered(found) => {
                let UrlOrigin::Link(from) = found.origin else { return };
                self.found = if self.found.0 == Some(from) { (Some(from), self.found.1 + 1) } else { (Some(from), 1) };
            }
            Event::PageFetched(page) => self.observe_page(page),
            Event::Unchanged { id, status, .. } => {
                self.due.remove(id);
                round.visits += 1;
                if *status == 304 {
                    round.not_modified += 1;
                } else {
                    round.identical += 1;
                }
            }
            Event::Redirected { id, .. } | Event::FetchFailed { id, .. } => {
                let was_due = self.due.remove(id);
                if was_due {
                    if matches!(event, Event::Redirected { .. }) {
                        self.redirected.insert(*id);
                    }
                    let lost = matches!(event, Event::FetchFailed { failure, .. } if matches!(failure.kind, FailureKind::TextLost(_)));
                    round.visits += 1;
                    round.text_lost += u64::from(lost);
                    round.missing += u64::from(!lost);
                }
            }
            Event::SitemapRead { pages, .. } => {
                round.sources += 1;
                round.signals += pages.len() as u64;
            }
            Event::PageGone { .. } => round.retired += 1,
            _ => {}
        }
    }

    fn observe_step(&mut self, step: &RefreshStep, at: Millis) {
        if step.budget.is_some() {
            self.due.clear();
            self.redirected.clear();
        }
        match step.budget {
            Some(Budget::Spent) => {
                if let Some(round) = self.rounds.last_mut() {
                    round.finished = true;
                }
            }
            Some(budget) => self.rounds.push(RoundTally { started: at, budget, ..RoundTally::default() }),
            None => {}
        }
        let Some(round) = self.rounds.last_mut() else { return };
        for (id, value) in &step.due {
            // Sent back to with a cookie: it is requested again at once.
            let is_back = *value == AT_ONCE && self.redirected.remove(id);
            if is_back {
                round.visits -= 1;
                round.missing -= 1;
            } else {
                round.due += 1;
            }
            self.due.insert(*id);
        }
    }

    fn observe_page(&mut self, page: &PageProcessed) {
        let Some(round) = self.rounds.last_mut() else { return };
        let new_links = if self.found.0 == Some(page.id) { self.found.1 } else { 0 };
        self.found = (None, 0);
        let Some(changes) = page.changes else {
            round.pages += 1;
            round.relevant += u64::from(page.is_relevant_document());
            return;
        };
        self.due.remove(&page.id);
        round.visits += 1;
        round.new_links += new_links;
        match (changes.text, changes.links) {
            (true, _) => round.text_changed += 1,
            (false, true) => round.links_changed += 1,
            (false, false) => round.bytes_changed += 1,
        }
    }
}
