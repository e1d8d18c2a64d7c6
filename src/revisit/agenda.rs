//! The running policy: which page next.

use super::Worth;
use crate::model::{HostId, UrlId};

/// Pages by what a visit is worth.
#[derive(Default)]
pub struct Agenda(Vec<(UrlId, Worth, f64)>);

impl Agenda {
    /// None yet.
    #[must_use]
    pub fn new(_per_host: Option<f64>) -> Self {
        Self::default()
    }

    /// Puts a page on, or anew.
    pub fn put(&mut self, page: UrlId, _host: HostId, worth: Worth, last: f64) {
        self.0.retain(|(id, ..)| *id != page);
        self.0.push((page, worth, last));
    }

    /// The most valuable page, taken off.
    pub fn take(&mut self, now: f64) -> Option<(UrlId, f64)> {
        let value = |(_, worth, last): &(UrlId, Worth, f64)| worth.value(now - last);
        let best = (0..self.0.len()).max_by(|a, b| value(&self.0[*a]).total_cmp(&value(&self.0[*b])))?;
        let page = self.0.swap_remove(best);
        Some((page.0, value(&page)))
    }
}
