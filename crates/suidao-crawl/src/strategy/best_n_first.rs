//! Best-N-first: Menczer, Pant, Srinivasan 2004, section 3.2, with their N = 256. The N best URLs that wait are taken
//! together; what their pages link to waits for the next batch. In between nothing new pushes ahead, so the crawl
//! looks around more than best-first search does.
//!
//! A link is worth what its page is worth, as in soft [`BestFirst`]; what tells the two apart is the discipline.

use serde::{Deserialize, Serialize};

use suidao_page::model::{Discipline, Verdict};

use super::{BestFirst, Focus, Strategy, Visit};

/// Best-first search in batches.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct BestNFirst {
    /// N: URLs in a batch.
    pub n: u32,
}

impl Default for BestNFirst {
    fn default() -> Self {
        Self { n: 256 }
    }
}

impl Strategy for BestNFirst {
    fn judge(&self, visit: &Visit) -> Vec<Verdict> {
        BestFirst { focus: Focus::Soft }.judge(visit)
    }

    fn discipline(&self) -> Discipline {
        Discipline::Batches(self.n)
    }
}
