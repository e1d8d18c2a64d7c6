//! The limit of open files and connections, and how long idle connections may occupy a part of it.

use std::time::Duration;

/// Longest time to keep an idle connection: several times the default delay between two requests to a host.
const LONGEST: Duration = Duration::from_secs(10);
/// Shortest time; a shorter one would make connections useless.
const SHORTEST: Duration = Duration::from_secs(1);
/// Requests per second, each to another host, for which a quarter of the descriptors should suffice.
const BUSIEST: u32 = 1_000;
/// If the limit is unknown: the usual default.
const DEFAULT_LIMIT: u64 = 1_024;

/// Raises the limit of open files of this process as far as permitted, and returns it.
pub fn raise() -> u64 {
    #[cfg(unix)]
    {
        use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
        let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
        if current != maximum && setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum }).is_ok() {
            return maximum.unwrap_or(u64::MAX);
        }
        current.unwrap_or(u64::MAX)
    }
    #[cfg(not(unix))]
    DEFAULT_LIMIT
}

/// How long to keep idle connections under this limit.
pub(super) fn idle(limit: u64) -> Duration {
    let share = u32::try_from(limit.max(DEFAULT_LIMIT) / 4).unwrap_or(u32::MAX);
    (Duration::from_secs(1) * share / BUSIEST).clamp(SHORTEST, LONGEST)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn idle_connections_are_kept_as_long_as_there_is_room() {
        let seconds = [0, 1_024, 4_096, 20_000, 65_536, u64::MAX].map(|limit| idle(limit).as_secs_f64());
        assert_eq!(seconds, [1.0, 1.0, 1.024, 5.0, 10.0, 10.0]);
    }

    #[test]
    fn the_limit_is_raised_once() {
        assert!(raise() > 0);
        assert_eq!(raise(), raise());
    }
}
