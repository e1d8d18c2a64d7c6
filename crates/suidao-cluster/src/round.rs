//! A refresh of the crawl: its round is a value on the server, and so are the requests that each partition may send.
//!
//! Each partition chooses its pages as a crawl on one machine does, and reports how many visits it could make, by value.
//! All reports together give the value at which the budget ends; grants go to the visits above it, in portions, and new
//! links and changed values are in the next reports. How many requests of its grants a partition has sent follows from
//! its log, so none is lost or counted twice when a worker dies.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use suidao_crawl::crawl::{FIRST, LAST, RoundShare};
use suidao_crawl::revisit::settings::RefreshSettings;
use suidao_page::model::{Budget, Millis};

use crate::error::ClusterError;
use crate::nats::Streams;

/// Key of the round.
const KEY: &str = "round";
/// Key of the grants.
const GRANTS: &str = "grants";
/// Largest portion, in requests.
const MAX_PORTION: u64 = 64;
const HOUR: u64 = 3_600_000;
const DAY: u64 = 86_400_000;

/// A round of the whole crawl, or its endless refresh.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClusterRound {
    pub begun: Millis,
    pub budget: Budget,
    pub settings: RefreshSettings,
    /// Share of relevant pages of the whole crawl when it began.
    pub harvest_rate: f64,
    /// It is over: workers crawl.
    pub over: bool,
}

/// Requests of the round that each partition may send in all.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Grants {
    granted: BTreeMap<u32, u64>,
    /// Of an endless refresh: requests that its days have brought so far, and until when they are counted.
    brought: u64,
    counted: Millis,
}

/// A partition as all workers see it.
pub(crate) type Shares<'a> = BTreeMap<u32, &'a RoundShare>;

impl Grants {
    pub fn of(&self, partition: u32) -> u64 {
        self.granted.get(&partition).copied().unwrap_or(0)
    }

    /// Requests of the budget so far; none without a limit.
    fn limit(&mut self, budget: Budget, now: Millis) -> Option<u64> {
        match budget {
            Budget::Round { requests, .. } => requests,
            Budget::Spent => Some(0),
            Budget::PerDay(per_day) => {
                let per_day = per_day.max(1);
                if self.counted == Millis(0) {
                    (self.counted, self.brought) = (now, 1);
                }
                // After a pause, at most one hour's requests are made up for.
                let earliest = now.0.saturating_sub(HOUR.max(DAY / per_day));
                let counted = self.counted.0.max(earliest);
                let more = now.0.saturating_sub(counted) * per_day / DAY;
                self.brought += more;
                self.counted = Millis(if more > 0 { counted + (more * DAY).div_ceil(per_day) } else { counted });
                Some(self.brought)
            }
        }
    }

    /// Grants a partition that has none left a portion for what it could request above the value at which the budget
    /// ends. `partitions`: of the crawl, all of which choose their pages before the first visit.
    fn grant(&mut self, partition: u32, shares: &Shares, partitions: u32, limit: Option<u64>) {
        let Some(own) = shares.get(&partition) else { return };
        if self.of(partition) > own.begun {
            return;
        }
        let Some(limit) = limit else {
            self.granted.insert(partition, u64::MAX);
            return;
        };
        let left = limit.saturating_sub(self.granted.values().sum());
        let most = (left / 16).clamp(1, MAX_PORTION).min(left);
        let planned = shares.len() == partitions as usize && shares.values().all(|share| share.planned);
        let portion = if planned {
            // What is granted but not yet sent is among what the others could request.
            let sent: u64 = shares.values().map(|share| share.begun).sum();
            above_price(own, shares, limit.saturating_sub(sent))
        } else {
            own.wanted.get(&FIRST).copied().unwrap_or(0)
        };
        if portion > 0 {
            self.granted.insert(partition, own.begun + portion.min(most));
        }
    }
}

/// Whether new links may be requested before visits: while they had at most half of the requests.
pub(crate) fn follows(shares: &Shares) -> bool {
    let sum = |of: fn(&RoundShare) -> u64| shares.values().map(|share| of(share)).sum::<u64>();
    2 * sum(|share| share.spent_on_new) <= sum(|share| share.spent)
}

/// How many requests of a partition are above the value at which `left` requests end, if all partitions send theirs by
/// value.
fn above_price(own: &RoundShare, shares: &Shares, left: u64) -> u64 {
    let follows = follows(shares);
    // New links come first, or last.
    let at = |share: &RoundShare, level: i16| {
        let links = if (level == FIRST) == follows && matches!(level, FIRST | LAST) { share.new_links } else { 0 };
        links + share.wanted.get(&level).copied().unwrap_or(0)
    };
    let mut levels: Vec<i16> = shares.values().flat_map(|share| share.wanted.keys().copied()).collect();
    levels.extend([FIRST, LAST]);
    levels.sort_unstable_by(|a, b| b.cmp(a));
    levels.dedup();
    let (mut left, mut mine) = (left, 0);
    for level in levels {
        let all: u64 = shares.values().map(|share| at(share, level)).sum();
        let own = at(own, level);
        if all > left {
            // In proportion, rounded up: what is left at the end goes to who asks first.
            return mine + (own * left).div_ceil(all);
        }
        mine += own;
        left -= all;
    }
    mine
}

impl ClusterRound {
    /// The round of a crawl, unless it is over.
    pub(crate) async fn read(streams: &Streams) -> Result<Option<Self>, ClusterError> {
        Ok(streams.read::<Self>(KEY).await?.map(|(round, _)| round).filter(|round| !round.over))
    }

    /// Writes a round, with nothing granted.
    pub(crate) async fn begin(&self, streams: &Streams) -> Result<(), ClusterError> {
        streams.put(GRANTS, &Grants::default()).await?;
        streams.put(KEY, self).await
    }

    /// Marks the round as over: the next workers crawl.
    pub(crate) async fn end(streams: &Streams) -> Result<(), ClusterError> {
        match Self::read(streams).await? {
            Some(round) => streams.put(KEY, &Self { over: true, ..round }).await,
            None => Ok(()),
        }
    }
}

/// The grants of the round.
pub(crate) async fn read(streams: &Streams) -> Result<Grants, ClusterError> {
    Ok(streams.read(GRANTS).await?.map_or_else(Grants::default, |(grants, _)| grants))
}

/// Grants requests to the partitions `wanting`, best first, and takes back what those in `idle` have not used.
pub(crate) async fn exchange(
    streams: &Streams,
    budget: Budget,
    (partitions, shares): (u32, &Shares<'_>),
    wanting: &[u32],
    idle: &[u32],
    now: Millis,
) -> Result<Grants, ClusterError> {
    loop {
        let (before, revision) = streams.read::<Grants>(GRANTS).await?.unwrap_or_default();
        let mut grants = before.clone();
        for partition in idle {
            grants.granted.insert(*partition, shares.get(partition).map_or(0, |share| share.begun));
        }
        let limit = grants.limit(budget, now);
        for partition in wanting {
            grants.grant(*partition, shares, partitions, limit);
        }
        if grants == before || streams.write(GRANTS, &grants, revision).await?.is_some() {
            return Ok(grants);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn share(planned: bool, begun: u64, wanted: &[(i16, u64)]) -> RoundShare {
        RoundShare { planned, begun, spent: begun, wanted: wanted.iter().copied().collect(), ..RoundShare::default() }
    }

    fn shares(all: &[RoundShare]) -> Shares<'_> {
        (0..).zip(all).collect()
    }

    #[test]
    fn visits_above_the_common_price_are_granted() {
        let all =
            [share(true, 0, &[(40, 10), (8, 50)]), share(true, 0, &[(16, 5), (8, 150)]), share(true, 0, &[(0, 9)])];
        let shares = shares(&all);
        // 15 above level 8, and the rest of the 40 in proportion 1 to 3.
        assert_eq!(above_price(&all[0], &shares, 40), 10 + 7);
        assert_eq!(above_price(&all[1], &shares, 40), 5 + 19);
        assert_eq!(above_price(&all[2], &shares, 40), 0);
        assert_eq!(above_price(&all[2], &shares, 1_000), 9);
    }

    #[test]
    fn nothing_but_sitemaps_is_granted_before_all_have_chosen() {
        let mut all = vec![share(true, 0, &[(40, 10)]), share(false, 0, &[(FIRST, 2)])];
        let mut grants = Grants::default();
        (0..2).for_each(|partition| grants.grant(partition, &shares(&all), 2, Some(640)));
        assert_eq!((grants.of(0), grants.of(1)), (0, 2));
        all[1] = share(true, 2, &[(50, 3)]);
        (0..2).for_each(|partition| grants.grant(partition, &shares(&all), 3, Some(640)));
        assert_eq!((grants.of(0), grants.of(1)), (0, 2), "one partition has not reported");
        (0..2).for_each(|partition| grants.grant(partition, &shares(&all), 2, Some(640)));
        assert_eq!((grants.of(0), grants.of(1)), (10, 5));
    }

    #[test]
    fn the_budget_is_kept_and_used_up() {
        let mut grants = Grants::default();
        let mut all = vec![share(true, 0, &[(40, 500)]), share(true, 0, &[(39, 500)]), share(true, 0, &[(38, 500)])];
        for _ in 0..1_000 {
            for partition in 0..3 {
                grants.grant(partition, &shares(&all), 3, Some(700));
                let part = &mut all[partition as usize];
                let more = grants.of(partition) - part.begun;
                part.begun += more;
                *part.wanted.values_mut().next().unwrap() -= more;
            }
        }
        assert_eq!(all.iter().map(|part| part.begun).collect::<Vec<_>>(), [500, 200, 0]);
    }

    #[test]
    fn new_links_come_first_until_they_had_half() {
        let mut all = [share(true, 10, &[(8, 50)]), share(true, 10, &[(16, 50)])];
        all[0].new_links = 4;
        assert!(follows(&shares(&all)));
        assert_eq!(above_price(&all[0], &shares(&all), 20), 4);
        all[0].spent_on_new = 11;
        assert_eq!(above_price(&all[0], &shares(&all), 20), 0);
        assert_eq!(above_price(&all[0], &shares(&all), 104), 54, "then they come last");
    }

    #[test]
    fn an_endless_refresh_has_so_many_requests_a_day() {
        let mut grants = Grants::default();
        let begun = 1_700_000_000_000;
        let mut last = 0;
        for second in 0..86_400 {
            last = grants.limit(Budget::PerDay(5_000), Millis(begun + second * 1_000)).unwrap();
        }
        assert!((4_990..=5_002).contains(&last), "{last}");
        let later = grants.limit(Budget::PerDay(5_000), Millis(begun + 3 * DAY)).unwrap();
        assert!(later - last <= 5_000 / 24 + 1, "a pause is not made up for: {last} then {later}");
        let mut rare = Grants::default();
        for day in 0..10 {
            last = rare.limit(Budget::PerDay(1), Millis(begun + day * DAY)).unwrap();
        }
        assert_eq!(last, 10);
    }
}
