//! The page limit of the whole crawl, leased to the partitions in portions. One value on the server holds how many
//! pages each partition may fetch in all; how many it has fetched follows from its log. So no page of the limit is lost
//! or counted twice when a worker dies.

use serde::{Deserialize, Serialize};

use crate::error::ClusterError;
use crate::nats::Streams;

/// Key of the leases.
const KEY: &str = "leases";
/// Largest portion, in pages.
const MAX_PORTION: u64 = 64;

/// Pages that each partition may fetch in all.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Leases {
    granted: Vec<u64>,
}

impl Leases {
    pub fn of(&self, partition: u32) -> u64 {
        self.granted.get(partition as usize).copied().unwrap_or(0)
    }

    /// Grants a partition that has fetched `pages` a further portion of a limit, unless it has pages left. The portion
    /// shrinks with what is left of the limit, so that no partition holds many of the last pages.
    fn lease(&mut self, partition: u32, pages: u64, limit: u64) {
        if self.of(partition) > pages {
            return;
        }
        let left = limit.saturating_sub(self.granted.iter().sum());
        let portion = (left / 16).clamp(1, MAX_PORTION).min(left);
        self.set(partition, self.of(partition).max(pages) + portion);
    }

    fn set(&mut self, partition: u32, pages: u64) {
        let at = partition as usize;
        if self.granted.len() <= at {
            self.granted.resize(at + 1, 0);
        }
        self.granted[at] = pages;
    }
}

/// The leases of the crawl.
pub(crate) async fn read(streams: &Streams) -> Result<Leases, ClusterError> {
    Ok(streams.read(KEY).await?.map_or_else(Leases::default, |(leases, _)| leases))
}

/// Leases pages to the partitions `wanting`, and takes back what those in `idle` have not used. Each comes with the
/// number of pages that it has fetched.
pub(crate) async fn exchange(
    streams: &Streams,
    limit: u64,
    wanting: &[(u32, u64)],
    idle: &[(u32, u64)],
) -> Result<Leases, ClusterError> {
    loop {
        let (before, revision) = streams.read::<Leases>(KEY).await?.unwrap_or_default();
        let mut leases = before.clone();
        for (partition, pages) in idle {
            leases.set(*partition, *pages);
        }
        for (partition, pages) in wanting {
            leases.lease(*partition, *pages, limit);
        }
        if leases == before || streams.write(KEY, &leases, revision).await?.is_some() {
            return Ok(leases);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn portions_shrink_and_end_at_the_limit() {
        let mut leases = Leases::default();
        leases.lease(3, 0, 1_000);
        assert_eq!(leases.of(3), 62);
        leases.lease(3, 10, 1_000);
        assert_eq!(leases.of(3), 62, "it has pages left");
        let mut asked = 0;
        while leases.granted.iter().sum::<u64>() < 1_000 {
            let partition = asked % 5;
            leases.lease(partition, leases.of(partition), 1_000);
            asked += 1;
        }
        assert_eq!(leases.granted.iter().sum::<u64>(), 1_000);
        let before = leases.clone();
        leases.lease(1, leases.of(1), 1_000);
        assert_eq!(leases, before);
        leases.set(0, 0);
        leases.lease(1, leases.of(1), 1_000);
        assert!(leases.of(1) > before.of(1), "what an idle partition returns goes to others");
    }
}
