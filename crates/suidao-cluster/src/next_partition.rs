//! Which partition of a worker sends the next request: the one with the best URL, but none if that is much worse than
//! the best URL of the whole cluster. This is `crawl.spend` (suidao-crawl, `crawl/spend.rs`), applied to partitions.

use suidao_crawl::crawl::MAX_WAIT_WITHOUT_PAGE;

/// A partition that may send a request: its number, and the expected value of its best URL that may be fetched now. A
/// better URL whose host must still wait does not let the partition's other URLs through. A partition without any URL
/// is asked first, because it may have events to record.
pub(crate) type Candidate = (u32, Option<f32>);

/// The partition to ask. `best` is the highest expected value of all partitions of the cluster; a URL needs the share
/// `theta` of it (`crawl.spend`), unless no page was fetched for `idle` = [`MAX_WAIT_WITHOUT_PAGE`] milliseconds.
pub fn next_partition(
    candidates: impl IntoIterator<Item = (u32, Option<f32>)>,
    best: f32,
    theta: f64,
    idle: u64,
) -> Option<u32> {
    let mut chosen: Option<Candidate> = None;
    for (partition, value) in candidates {
        let Some(own) = value else { return Some(partition) };
        if chosen.is_none_or(|(_, other)| other.is_some_and(|other| own > other)) {
            chosen = Some((partition, value));
        }
    }
    let (partition, value) = chosen?;
    let enough = value.is_some_and(|value| f64::from(value) >= theta * f64::from(best.min(1.0)));
    (enough || idle >= MAX_WAIT_WITHOUT_PAGE).then_some(partition)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_is_asked_unless_it_is_much_worse_than_others() {
        let candidates = [(1, Some(0.2)), (4, Some(0.4)), (7, Some(0.4))];
        assert_eq!(next_partition(candidates, 0.4, 0.3, 0), Some(4), "the first of equals");
        assert_eq!(next_partition(candidates, 0.9, 0.3, 0), Some(4));
        assert_eq!(next_partition(candidates, 0.9, 0.6, 0), None);
        assert_eq!(next_partition(candidates, 0.9, 0.6, MAX_WAIT_WITHOUT_PAGE), Some(4));
        assert_eq!(next_partition(candidates, 9.0, 0.4, 0), Some(4), "nothing is worth more than a page");
        assert_eq!(next_partition([(1, Some(0.2)), (2, None)], 0.9, 0.6, 0), Some(2));
        assert_eq!(next_partition([], 0.9, 0.6, MAX_WAIT_WITHOUT_PAGE), None);
    }
}
