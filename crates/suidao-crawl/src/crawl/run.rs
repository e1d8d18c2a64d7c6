//! What belongs to one run.

use suidao_page::model::{Budget, Millis};

use super::refresh::{ActiveRound, RefreshRun};
use super::spend::WaitCosts;

/// State that is not in the log: a restart begins with the default.
#[derive(Default)]
pub(super) struct Run {
    /// Maximum number of requests of this run, if pages were [allowed](super::Crawl::allow).
    pub allowed: Option<u64>,
    pub pages_in_flight: u64,
    /// Requests in flight for other than pages.
    pub others_in_flight: u64,
    /// It was restored, and has handed out nothing since.
    pub restored: bool,
    pub refresh: RefreshRun,
    pub wait_costs: WaitCosts,
    /// Why the forum could not be explored, if nothing was learnt: the next run may succeed.
    pub forum_failure: Option<&'static str>,
}

impl Run {
    pub fn in_flight(&self) -> u64 {
        self.pages_in_flight + self.others_in_flight
    }

    /// A request goes out; `again`: for a due page. `round`: the active one.
    pub fn start(&mut self, of_page: bool, again: bool, round: Option<ActiveRound>, now: Millis) {
        *self.counter(of_page) += 1;
        self.refresh.in_flight.all += 1;
        self.refresh.in_flight.due += u64::from(again);
        if let Some(ActiveRound { budget: Budget::PerDay(per_day), .. }) = round {
            // After a pause, at most one hour's requests are made up for.
            let hour_ago = Millis(now.0.saturating_sub(3_600_000));
            self.refresh.paced = self.refresh.paced.max(hour_ago).after(86_400_000 / per_day.max(1));
        }
    }

    /// A request is no longer in flight.
    pub fn finish(&mut self, of_page: bool, again: bool) {
        *self.counter(of_page) -= 1;
        self.refresh.in_flight.all -= 1;
        self.refresh.in_flight.due -= u64::from(again);
    }

    fn counter(&mut self, of_page: bool) -> &mut u64 {
        if of_page { &mut self.pages_in_flight } else { &mut self.others_in_flight }
    }
}
