//! Random order: every queued URL is equally likely to be next. The lower bound.
//!
//! One random number per URL would favour newcomers, because what is still queued drew badly. So every URL gets a due
//! time, that of its page plus an exponential draw, and the first due is next. The exponential distribution has no
//! memory, so old and new URLs are equal; the draw is a function of the seed and the URL. Exact with one request in
//! flight and no waits for hosts.

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64_with_seed;

use suidao_page::model::{CrawlUrl, LinkDecision, PathState, Priority, QueueEntry, QueueId, TunnelBudget};

use super::interface::{PageVisit, Strategy, merge_paths};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Random {
    pub seed: u64,
}

impl Default for Random {
    fn default() -> Self {
        Self { seed: 1 }
    }
}

impl Random {
    /// Due time of a URL found at `now`; negative, so that the first due ranks highest.
    fn entry(&self, url: &CrawlUrl, now: f32, link_path: PathState) -> QueueEntry {
        let bits = xxh3_64_with_seed(url.as_str().as_bytes(), self.seed);
        let uniform = ((bits >> 40) as f32 + 0.5) / (1u32 << 24) as f32;
        QueueEntry { queue: QueueId::MAIN, priority: Priority::new(-(now - uniform.ln())), path: link_path }
    }
}

impl Strategy for Random {
    fn judge(&self, visit: &PageVisit) -> Vec<LinkDecision> {
        let now = -visit.entry.priority.get();
        let link_path = visit.path_state(TunnelBudget::Unbounded);
        visit.links.iter().map(|link| LinkDecision::Follow(self.entry(&link.url, now, link_path))).collect()
    }

    fn merge(&self, old: QueueEntry, new: QueueEntry) -> QueueEntry {
        QueueEntry { path: merge_paths(old.path, new.path, old.path.inherited.max(new.path.inherited)), ..old }
    }

    fn seed(&self, url: &CrawlUrl) -> QueueEntry {
        self.entry(url, 0.0, PathState::SEED)
    }
}

#[cfg(test)]
mod tests {
    use super::super::interface::tests::links;
    use super::*;

    /// Which of seven links is fetched second: 0 to 3 are those of the seeds, and 4 to 7 the four links of the first
    /// page fetched.
    fn second(seed: u64) -> usize {
        let random = Random { seed };
        let all = links(&[0.0; 8]);
        let mut waiting: Vec<(usize, QueueEntry)> = (0..4).map(|at| (at, random.seed(&all[at].url))).collect();
        let best =
            |waiting: &[(usize, QueueEntry)]| (0..waiting.len()).max_by_key(|&at| waiting[at].1.priority).unwrap();
        let first = best(&waiting);
        let (_, entry) = waiting.remove(first);
        let links = &all[4..];
        let mut visit = super::super::interface::tests::visit(0.0, TunnelBudget::Unbounded, links);
        visit.entry = entry;
        for (at, decision) in random.judge(&visit).into_iter().enumerate() {
            let LinkDecision::Follow(entry) = decision else { panic!("dropped") };
            waiting.push((4 + at, entry));
        }
        waiting[best(&waiting)].0
    }

    #[test]
    fn old_and_new_urls_are_equally_likely() {
        // 3 of 7 queued URLs are old: 1286 of 3000, give or take 27.
        let waited = (0..3000).filter(|&seed| second(seed) < 4).count();
        assert!((1200..1370).contains(&waited), "{waited}");
    }

    #[test]
    fn one_seed_one_order_and_further_links_change_nothing() {
        let url = CrawlUrl::parse("http://h.cn/").unwrap();
        let (one, two) = (Random { seed: 1 }.seed(&url), Random { seed: 2 }.seed(&url));
        assert_eq!(one, Random { seed: 1 }.seed(&url));
        assert!(one.priority != two.priority);
        assert_eq!(Random::default().merge(one, two).priority, one.priority);
    }
}
