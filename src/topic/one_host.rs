//! Which words, or other columns of rows, occur on one host only. A machine learns with them, as they take that host's habits upon
//! themselves; they are not written into the lexicon, as they say nothing of other hosts: bloggers' names, slogans, titles of
//! single pages. Average precision on hosts not learnt from is the same with and without them (`benches/judge.rs`).

use rustc_hash::{FxHashMap, FxHashSet};

/// Fewer hosts of samples do not show what is one host's own.
const LEAST_HOSTS: usize = 4;

/// Columns and the hosts that they were seen on.
#[derive(Default)]
pub(super) struct OneHost<'a> {
    /// The host of each column that was seen on one only.
    of: FxHashMap<u32, Option<&'a str>>,
}

impl<'a> OneHost<'a> {
    /// This column occurs on this host.
    pub(super) fn see(&mut self, column: u32, host: &'a str) {
        let of = self.of.entry(column).or_insert(Some(host));
        if *of != Some(host) {
            *of = None;
        }
    }

    /// The columns seen on one host only; none if the samples are of too few hosts to tell.
    pub(super) fn columns<'b>(self, hosts_of_samples: impl Iterator<Item = &'b str>) -> FxHashSet<u32> {
        if hosts_of_samples.collect::<FxHashSet<&str>>().len() < LEAST_HOSTS {
            return FxHashSet::default();
        }
        self.of.into_iter().filter(|(_, host)| host.is_some()).map(|(column, _)| column).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_columns_of_one_host_are_found_and_only_among_many_hosts() {
        let found = |samples: &[&'static str]| {
            let mut hosts = OneHost::default();
            for (column, host) in [(1, "a.cn"), (1, "a.cn"), (2, "a.cn"), (2, "b.cn"), (2, "b.cn"), (3, "b.cn")] {
                hosts.see(column, host);
            }
            let mut columns: Vec<u32> = hosts.columns(samples.iter().copied()).into_iter().collect();
            columns.sort_unstable();
            columns
        };
        assert_eq!(found(&["a.cn", "b.cn", "c.cn", "d.cn"]), [1, 3]);
        assert!(found(&["a.cn", "b.cn", "c.cn", "a.cn"]).is_empty());
    }
}
