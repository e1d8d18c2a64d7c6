//! Threads and replies of a generated forum over time.
//!
//! Boards' rates are lognormal; threads open as a Poisson process with their board's daily profile; replies come after
//! a heavy-tailed delay, counted by a clock that almost stops at night, and some answer each other within minutes.

use serde::Serialize;

use suidao_page::seeded_rng::SeededRng;

const HOUR: i64 = 3_600;
const DAY: i64 = 86_400;

/// Activity of a Chinese forum by hour of the day: low from 0 to 8, peaks at noon and in the evening.
const ALL: [f64; 24] = [
    0.45, 0.25, 0.14, 0.08, 0.06, 0.07, 0.15, 0.35, 0.9, 1.3, 1.5, 1.55, 1.75, 1.4, 1.3, 1.35, 1.35, 1.15, 1.0, 1.35,
    1.8, 2.0, 1.7, 1.0,
];
/// Profiles of users who write at work and of users who write at night; boards differ in their mix.
const OFFICE: [f64; 24] = [
    0.05, 0.02, 0.02, 0.02, 0.02, 0.02, 0.1, 0.3, 1.5, 2.6, 2.7, 2.3, 1.6, 1.9, 2.6, 2.7, 2.3, 1.2, 0.5, 0.4, 0.4, 0.3,
    0.2, 0.1,
];
const NIGHT: [f64; 24] = [
    2.0, 1.5, 0.9, 0.4, 0.2, 0.1, 0.1, 0.1, 0.2, 0.3, 0.4, 0.5, 0.8, 0.6, 0.5, 0.5, 0.6, 0.8, 1.1, 1.7, 2.4, 3.0, 3.1,
    2.6,
];

/// Coefficient of variation of replies per thread.
const REPLIES_CV: f64 = 1.5;
/// Delay of a reply: Pareto (Lomax) with this shape and this scale in seconds, truncated because the mean is infinite.
const DELAY_SHAPE: f64 = 0.6;
const DELAY_SCALE: f64 = 3_600.0;
/// Share of replies at a uniform time up to the end, which revive old threads; most replies to sticky ones do.
const REVIVED: f64 = 0.03;
const STICKY_REVIVED: f64 = 0.7;
/// Share of replies that follow another within minutes.
const BURSTS: f64 = 0.3;
/// Activity on Saturdays and Sundays, relative to other days.
const WEEKEND: f64 = 0.8;
/// Mean seconds between the posts of a burst.
const BURST: f64 = 150.0;

#[derive(Clone, Debug, PartialEq)]
pub struct ActivitySpec {
    /// Determines everything, together with the other fields.
    pub seed: u64,
    pub boards: usize,
    /// Number of users; a few of them write much.
    pub users: usize,
    /// Weekly mean of threads a day on all boards; at least 0.
    pub threads_per_day: f64,
    /// Coefficient of variation of the boards' rates (lognormal); 0 for equal rates.
    pub cv: f64,
    pub replies: f64,
    /// Number of days.
    pub days: u32,
    /// Start of the first day: local midnight, in seconds since 1970, UTC.
    pub start: i64,
    /// UTC offset in seconds.
    pub offset: i32,
}

impl Default for ActivitySpec {
    /// Twelve boards of a Chinese forum for 31 days from Monday, 25 May 2009.
    fn default() -> Self {
        Self {
            seed: 1,
            boards: 12,
            users: 400,
            threads_per_day: 60.0,
            cv: 0.85,
            replies: 5.0,
            days: 31,
            start: 1_243_180_800,
            offset: 8 * 3_600,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Posting {
    /// In seconds since 1970, UTC.
    pub at: i64,
    /// Author, below [`ActivitySpec::users`].
    pub user: u32,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ThreadActivity {
    pub sticky: bool,
    /// Posts by time, the opening one first; never empty.
    pub posts: Vec<Posting>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BoardActivity {
    pub threads: Vec<ThreadActivity>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Activity {
    pub boards: Vec<BoardActivity>,
}

impl Activity {
    /// Deterministic. All posts are in `[start, start + days)`.
    pub fn generate(spec: &ActivitySpec) -> Self {
        let spread = lognormal_spread(spec.cv);
        let rates: Vec<f64> =
            (0..spec.boards).map(|board| lognormal(&mut stream(spec, Salt::Rate, board), spread)).collect();
        let scale = spec.threads_per_day / rates.iter().sum::<f64>();
        let boards = (0..).zip(rates).map(|(board, rate)| BoardActivity::generate(spec, board, scale * rate));
        Self { boards: boards.collect() }
    }
}

impl BoardActivity {
    fn generate(spec: &ActivitySpec, board: usize, threads_per_day: f64) -> Self {
        let mut rng = stream(spec, Salt::Board, board);
        let profile = profile(&mut rng);
        let replies = spec.replies * (0.6 + 0.8 * rng.unit());
        let mut sticky = rng.below(4);

        let mut openings = Vec::new();
        for day in 0..i64::from(spec.days) {
            let midnight = spec.start + day * DAY;
            for _ in 0..rng.poisson(threads_per_day * spec.busy(midnight)) {
                openings.push(midnight + time_of_day(&mut rng, &profile));
            }
        }
        openings.sort_unstable();

        let end = spec.start + i64::from(spec.days) * DAY;
        let spread = lognormal_spread(REPLIES_CV);
        let threads = openings.into_iter().map(|opened| {
            let sticky = sticky > 0 && {
                sticky -= 1;
                true
            };
            let count = replies * lognormal(&mut rng, spread);
            let mut posts = vec![Posting { at: opened, user: user(&mut rng, spec.users) }];
            for _ in 0..rng.poisson(count) {
                let answered = posts[rng.below(posts.len() as u64) as usize].at;
                let at = if posts.len() > 1 && rng.chance(BURSTS) {
                    answered + 1 + (BURST * rng.exponential()) as i64
                } else {
                    let revived = if sticky { STICKY_REVIVED } else { REVIVED };
                    let delay = if rng.chance(revived) {
                        rng.below((end - opened) as u64) as i64
                    } else {
                        // Inverse of the distribution function; replies after the end are dropped.
                        let delay = DELAY_SCALE * ((1.0 - rng.unit()).powf(-1.0 / DELAY_SHAPE) - 1.0);
                        delay.min(1e9) as i64
                    };
                    spec.wait(&profile, opened, 30 + delay)
                };
                let user = user(&mut rng, spec.users);
                if at < end {
                    posts.push(Posting { at, user });
                }
            }
            posts.sort_unstable_by_key(|post| post.at);
            ThreadActivity { sticky, posts }
        });
        Self { threads: threads.collect() }
    }
}

impl ActivitySpec {
    /// Activity of the day that begins at `midnight`, relative to the weekly mean.
    fn busy(&self, midnight: i64) -> f64 {
        // 1 January 1970 was a Thursday.
        let weekday = ((midnight + i64::from(self.offset)).div_euclid(DAY) + 3).rem_euclid(7);
        let day = if weekday >= 5 { WEEKEND } else { 1.0 };
        day * 7.0 / (5.0 + 2.0 * WEEKEND)
    }

    fn hour(&self, at: i64) -> usize {
        ((at + i64::from(self.offset)).rem_euclid(DAY) / HOUR) as usize
    }

    /// The time `delay` seconds after `at`, by a clock that runs with the board's activity: at the normal speed on
    /// average over a day, very slowly at night.
    fn wait(&self, profile: &[f64; 24], at: i64, delay: i64) -> i64 {
        let mean = profile.iter().sum::<f64>() / 24.0;
        // A whole day is equally long by both clocks.
        let mut at = at + delay / DAY * DAY;
        let mut left = (delay % DAY) as f64;
        for _ in 0..=24 {
            let pace = profile[self.hour(at)] / mean;
            let hour = HOUR - (at + i64::from(self.offset)).rem_euclid(HOUR);
            if left <= pace * hour as f64 {
                return at + (left / pace) as i64;
            }
            left -= pace * hour as f64;
            at += hour;
        }
        at
    }
}

#[derive(Clone, Copy)]
enum Salt {
    Rate = 0x666f_7201,
    Board = 0x666f_7202,
}

fn stream(spec: &ActivitySpec, salt: Salt, board: usize) -> SeededRng {
    SeededRng::new(spec.seed, salt as u64, board as u64)
}

/// A board's profile: the forum's, mixed with those of users at work and at night.
fn profile(rng: &mut SeededRng) -> [f64; 24] {
    // Squared, so that most boards are near the forum's profile and a few far from it.
    let (office, night) = (rng.unit().powi(2), rng.unit().powi(2));
    std::array::from_fn(|hour| ALL[hour] + 1.2 * office * OFFICE[hour] + 1.2 * night * NIGHT[hour])
}

/// Random seconds after midnight.
fn time_of_day(rng: &mut SeededRng, profile: &[f64; 24]) -> i64 {
    let mut left = rng.unit() * profile.iter().sum::<f64>();
    for (hour, busy) in (0..).zip(profile) {
        if left < *busy {
            return hour * HOUR + (left / busy * HOUR as f64) as i64;
        }
        left -= busy;
    }
    DAY - 1
}

/// Standard deviation of the logarithm of a lognormal variable with this coefficient of variation.
fn lognormal_spread(cv: f64) -> f64 {
    (1.0 + cv * cv).ln().sqrt()
}

/// Lognormal with mean 1 (Box and Muller 1958).
fn lognormal(rng: &mut SeededRng, spread: f64) -> f64 {
    let radius = (-2.0 * (1.0 - rng.unit()).ln()).sqrt();
    let normal = radius * (std::f64::consts::TAU * rng.unit()).cos();
    (spread * normal - spread * spread / 2.0).exp()
}

/// The density falls with the square root, so that a few users write much.
fn user(rng: &mut SeededRng, users: usize) -> u32 {
    (users as f64 * rng.unit().powi(2)) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    fn posts(activity: &Activity) -> Vec<Posting> {
        activity.boards.iter().flat_map(|board| &board.threads).flat_map(|thread| thread.posts.clone()).collect()
    }

    #[test]
    fn one_seed_gives_one_forum() {
        let spec = ActivitySpec::default();
        assert_eq!(Activity::generate(&spec), Activity::generate(&spec));
        assert_ne!(Activity::generate(&spec), Activity::generate(&ActivitySpec { seed: 2, ..spec }));
    }

    #[test]
    fn threads_and_posts_are_in_order_and_inside_the_days() {
        let spec = ActivitySpec { days: 9, ..ActivitySpec::default() };
        let end = spec.start + 9 * DAY;
        for board in &Activity::generate(&spec).boards {
            assert!(board.threads.is_sorted_by_key(|thread| thread.posts[0].at));
            assert!(board.threads.iter().all(|thread| thread.posts.is_sorted_by_key(|post| post.at)));
            let mut posts = board.threads.iter().flat_map(|thread| &thread.posts);
            assert!(posts.all(|post| (spec.start..end).contains(&post.at)));
            assert!(board.threads.iter().filter(|thread| thread.sticky).count() <= 3);
        }
        assert!(posts(&Activity::generate(&spec)).iter().all(|post| (post.user as usize) < spec.users));
    }

    #[test]
    fn rates_are_as_asked_for() {
        let spec = ActivitySpec { boards: 2_000, threads_per_day: 2_000.0, days: 28, ..ActivitySpec::default() };
        let activity = Activity::generate(&spec);
        let counts: Vec<f64> = activity.boards.iter().map(|board| board.threads.len() as f64 / 28.0).collect();
        let mean = counts.iter().sum::<f64>() / 2_000.0;
        // Poisson counts add mean / 28 to the variance of the rates.
        let variance = counts.iter().map(|count| (count - mean).powi(2)).sum::<f64>() / 2_000.0 - mean / 28.0;
        assert!((mean - 1.0).abs() < 0.02, "{mean}");
        assert!((variance.sqrt() / mean - 0.85).abs() < 0.12, "{}", variance.sqrt() / mean);
        let replies = posts(&activity).len() as f64 / (28.0 * 2_000.0) - 1.0;
        assert!((3.5..5.2).contains(&replies), "some replies come after the end: {replies}");
    }

    #[test]
    fn people_sleep_at_night_and_rest_at_the_weekend() {
        let spec = ActivitySpec { boards: 30, threads_per_day: 900.0, days: 28, ..ActivitySpec::default() };
        let (mut hours, mut weekdays) = ([0; 24], [0; 7]);
        for post in posts(&Activity::generate(&spec)) {
            hours[spec.hour(post.at)] += 1;
            weekdays[((post.at - spec.start) / DAY % 7) as usize] += 1; // the first day is a Monday
        }
        let night: i32 = hours[1..7].iter().sum();
        let evening: i32 = hours[19..23].iter().sum();
        assert!(night * 3 < evening, "{hours:?}");
        assert!(hours[12] > hours[9] && hours[12] > hours[17], "noon: {hours:?}");
        assert!(weekdays[5] + weekdays[6] < weekdays[1] + weekdays[2], "{weekdays:?}");
    }

    #[test]
    fn delays_have_a_heavy_tail_and_bursts() {
        let spec = ActivitySpec { threads_per_day: 600.0, ..ActivitySpec::default() };
        let activity = Activity::generate(&spec);
        let threads = activity.boards.iter().flat_map(|board| &board.threads).filter(|thread| !thread.sticky);
        let (mut delays, mut gaps) = (Vec::new(), Vec::new());
        for thread in threads {
            delays.extend(thread.posts[1..].iter().map(|post| post.at - thread.posts[0].at));
            gaps.extend(thread.posts[1..].windows(2).map(|pair| pair[1].at - pair[0].at));
        }
        let share = |of: &[i64], most: i64| of.iter().filter(|&&value| value <= most).count() as f64 / of.len() as f64;
        assert!((0.4..0.8).contains(&share(&delays, 6 * HOUR)), "{}", share(&delays, 6 * HOUR));
        assert!((0.02..0.15).contains(&(1.0 - share(&delays, 5 * DAY))), "{}", share(&delays, 5 * DAY));
        assert!(share(&gaps, 300) > 0.2, "{}", share(&gaps, 300));
    }

    #[test]
    fn a_spec_without_threads_generates_no_posts() {
        let nothing = |spec: &ActivitySpec| posts(&Activity::generate(spec)).is_empty();
        assert!(nothing(&ActivitySpec { boards: 0, ..ActivitySpec::default() }));
        assert!(nothing(&ActivitySpec { days: 0, ..ActivitySpec::default() }));
        assert!(nothing(&ActivitySpec { threads_per_day: 0.0, ..ActivitySpec::default() }));
        let alone = Activity::generate(&ActivitySpec { users: 0, replies: 0.0, ..ActivitySpec::default() });
        assert!(alone.boards.iter().flat_map(|board| &board.threads).all(|thread| thread.posts.len() == 1));
    }
}
