//! Which partition a name falls into: by a hash that is the same on every machine and in every version, so that what a
//! worker has kept of a host stays its own.

use xxhash_rust::xxh3::xxh3_64;

/// Partition of a name among `partitions`, which must be at least 1: `hash(name) mod k` (paper 002, 2.1).
pub fn part(name: &str, partitions: usize) -> usize {
    (xxh3_64(name.as_bytes()) % partitions as u64) as usize
}

/// Things by partition, in the order in which they came.
pub(super) fn split<T>(things: Vec<T>, partitions: usize, name: impl Fn(&T) -> &str) -> Vec<Vec<T>> {
    let mut parts: Vec<Vec<T>> = (0..partitions).map(|_| Vec::new()).collect();
    for thing in things {
        let part = part(name(&thing), partitions);
        parts[part].push(thing);
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_stays_where_it_is() {
        let hosts = ["tv.sohu.com", "tech.youku.com", "tech.le.com", "news.example.cn"];
        assert_eq!(hosts.map(|host| part(host, 8)), [4, 0, 7, 4]);
    }

    #[test]
    fn partitions_are_about_as_large() {
        let names: Vec<String> = (0..8_000).map(|host| format!("host{host}.test")).collect();
        let parts = split(names, 8, String::as_str);
        assert!(parts.iter().all(|part| (900..1_100).contains(&part.len())));
    }
}
