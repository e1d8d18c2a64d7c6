//! URL weight by directory depth, as the crawler of Tianwang (天网) did: a page is scored by its URL.
//!
//! ```text
//! weight = max(0, 10 - #'/' - #'?' - #'&' - 2 #{search, proxy, gate})
//! ```
//! Counts slashes and question marks of path and query, except a trailing `/` of the path. Rules 1 and 3 of the paper
//! both count the slash and are read as one rule. Rule 4: N by descending weight, then M at random, N >= M >= 1: eleven
//! weights are eleven queues, each in order of discovery.

use serde::{Deserialize, Serialize};

use suidao_page::model::{CrawlUrl, LinkDecision, PathState, Priority, QueueEntry, QueueId, QueuePolicy, TunnelBudget};

use super::interface::{PageVisit, Strategy};

/// The paper's w0.
const HEAVIEST: usize = 10;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct UrlWeight {
    /// N of rule 4: number of URLs taken by descending weight.
    pub by_weight: u32,
    /// M of rule 4: number of URLs then taken at random.
    pub at_random: u32,
}

impl Default for UrlWeight {
    fn default() -> Self {
        Self { by_weight: 3, at_random: 1 }
    }
}

pub fn url_weight(url: &CrawlUrl) -> u8 {
    let path = url.path().strip_suffix('/').unwrap_or(url.path());
    let query = url.query();
    let signs = path.matches('/').count() + query.map_or(0, |query| 1 + query.matches(['&', '/', '?']).count());
    let text = url.as_str().to_ascii_lowercase();
    let gates: usize = ["search", "proxy", "gate"].iter().map(|word| text.matches(word).count()).sum();
    let weight = HEAVIEST.saturating_sub(signs + 2 * gates);
    u8::try_from(weight).expect("at most 10")
}

impl UrlWeight {
    fn entry(url: &CrawlUrl, link_path: PathState) -> QueueEntry {
        QueueEntry { queue: QueueId(url_weight(url)), priority: Priority::new(0.0), path: link_path }
    }
}

impl Strategy for UrlWeight {
    fn judge(&self, visit: &PageVisit) -> Vec<LinkDecision> {
        let link_path = visit.path_state(TunnelBudget::Unbounded);
        visit.links.iter().map(|link| LinkDecision::Follow(Self::entry(&link.url, link_path))).collect()
    }

    fn queue_policy(&self) -> QueuePolicy {
        QueuePolicy::WeightThenRandom { by_weight: self.by_weight, at_random: self.at_random }
    }

    fn seed(&self, url: &CrawlUrl) -> QueueEntry {
        Self::entry(url, PathState::SEED)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weight_falls_with_every_sign() {
        for (url, weight) in [
            ("http://pku.edu.cn/", 10),
            ("http://pku.edu.cn/cs", 9),
            ("http://pku.edu.cn/cs/", 9),
            ("http://pku.edu.cn/a/b/c.html", 7),
            ("http://pku.edu.cn/a?x=1&y=2", 7),
            ("http://search.pku.edu.cn/", 8),
            ("http://pku.edu.cn/Search/gateway?q=1", 3),
            ("http://pku.edu.cn/a/b/c/d/e/f/g/h/i/j/k/l", 0),
        ] {
            assert_eq!(url_weight(&CrawlUrl::parse(url).unwrap()), weight, "{url}");
        }
    }
}
