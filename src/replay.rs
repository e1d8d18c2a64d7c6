//! The driver without a network: a recorded or generated web, and a virtual clock.

use crate::model::{CrawlUrl, Failure, Fetched};

/// A web that answers from memory or disk.
pub trait Web {
    /// The answer to a GET of `url`, redirects and error statuses included.
    ///
    /// # Errors
    /// [`Failure`] where a live fetch would have failed before an answer.
    fn get(&self, url: &CrawlUrl) -> Result<Fetched, Failure>;
}
