//! What the log holds for each step of a crawl.

use serde::{Deserialize, Serialize};

use super::archive::Location;
use suidao_page::model::Batch;

/// A batch, and the location of its page in the archive.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    pub batch: Batch,
    /// The last archive record of this step.
    pub archive: Option<Location>,
    /// It is a revisit record; the payload is elsewhere.
    pub revisit: bool,
}

impl Record {
    /// Location of this step's response, if it is stored in full.
    pub fn response(&self) -> Option<Location> {
        self.archive.filter(|_| !self.revisit)
    }
}
