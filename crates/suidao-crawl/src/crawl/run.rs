//! What belongs to one run.

use suidao_page::model::Millis;

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
    /// An endless refresh had no page worth a visit; it plans again at this time.
    pub plans_again: Option<Millis>,
}

impl Run {
    pub fn in_flight(&self) -> u64 {
        self.pages_in_flight + self.others_in_flight
    }
}
