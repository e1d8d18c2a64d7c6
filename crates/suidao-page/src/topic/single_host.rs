//! Which words (columns of rows) occur on one host only: names, slogans, titles. They are part of the training, where
//! they absorb the habits of that host, but are left out of the lexicon, as they do not occur on other hosts.

use rustc_hash::{FxHashMap, FxHashSet};

/// With fewer hosts of samples nothing is left out.
const LEAST_HOSTS: usize = 4;

#[derive(Default)]
pub(super) struct SingleHost<'a> {
    /// The only host of each column; `None` for several.
    hosts: FxHashMap<u32, Option<&'a str>>,
}

impl<'a> SingleHost<'a> {
    pub(super) fn add(&mut self, column: u32, host: &'a str) {
        let known = self.hosts.entry(column).or_insert(Some(host));
        if *known != Some(host) {
            *known = None;
        }
    }

    /// The columns of a single host; none if the samples are from fewer than [`LEAST_HOSTS`] hosts.
    pub(super) fn columns<'b>(self, sample_hosts: impl Iterator<Item = &'b str>) -> FxHashSet<u32> {
        if sample_hosts.collect::<FxHashSet<&str>>().len() < LEAST_HOSTS {
            return FxHashSet::default();
        }
        self.hosts.into_iter().filter(|(_, host)| host.is_some()).map(|(column, _)| column).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_of_one_host_are_found_among_many_hosts_only() {
        let found = |samples: &[&'static str]| {
            let mut hosts = SingleHost::default();
            for (column, host) in [(1, "a.cn"), (1, "a.cn"), (2, "a.cn"), (2, "b.cn"), (2, "b.cn"), (3, "b.cn")] {
                hosts.add(column, host);
            }
            let mut columns: Vec<u32> = hosts.columns(samples.iter().copied()).into_iter().collect();
            columns.sort_unstable();
            columns
        };
        assert_eq!(found(&["a.cn", "b.cn", "c.cn", "d.cn"]), [1, 3]);
        assert!(found(&["a.cn", "b.cn", "c.cn", "a.cn"]).is_empty());
    }
}
