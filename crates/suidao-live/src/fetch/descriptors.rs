//! How many files and connections the system lets us have open, and for how long idle connections may take some of
//! them.

use std::time::Duration;

/// Longest that an idle connection is kept: some times the usual delay between two requests to a host.
const LONGEST: Duration = Duration::from_secs(10);
/// Shortest: else a connection would be of use to nobody.
const SHORTEST: Duration = Duration::from_secs(1);
/// Requests a second, to a host each, for which a quarter of the descriptors is to be enough.
const BUSIEST: u32 = 1_000;
/// Where the limit is not known: what systems without any other have.
const USUAL: u64 = 1_024;

/// Raises this process's limit of open files as far as the system permits, and gives what it is then.
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
    USUAL
}

/// How long idle connections are kept where so many descriptors may be open.
pub(super) fn idle(limit: u64) -> Duration {
    let share = u32::try_from(limit.max(USUAL) / 4).unwrap_or(u32::MAX);
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
