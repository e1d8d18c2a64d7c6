//! Visit schedules for boards: how often by their activity, at which hours by their daily profile (Du, Ma 2010, section
//! 4.2), and one schedule that is not in the paper.
//!
//! | [`ScheduleMethod`] | visits per board | instants |
//! |---|---|---|
//! | ERA | equal | even |
//! | WRA | eq. (6) | even |
//! | LRA | equal | m + 1 equal areas under the daily profile |
//! | BRA | eq. (6) | the same |
//! | sqrt | by the root of importance times activity | middles of m equal areas under the profile's root; with horizon `day`, boundaries of m + 1 equal areas |

mod allocation;
mod delay;
mod history;
mod instants;
mod profile;
mod statistics;
#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};
use strum::{Display, EnumMessage, IntoStaticStr, VariantArray};

pub use delay::mean_delay;
pub use history::History;
pub use profile::Profile;
pub use statistics::Statistics;

/// Weight of a reply relative to a new thread: θ of eqs. (3), (5) and (7), as in the paper.
pub const THETA: f64 = 0.5;

#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, Display, EnumMessage, IntoStaticStr, VariantArray,
)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum ScheduleMethod {
    /// Equal number of visits per board, evenly spaced
    Era,
    /// Visits in proportion to board weight, evenly spaced
    Wra,
    /// Equal number of visits per board, more in busy hours
    Lra,
    /// Visits in proportion to board weight, more in busy hours (Du, Ma 2010)
    Bra,
    /// Visits in proportion to the square root of the post rate, over boards and hours
    Sqrt,
}

impl ScheduleMethod {
    pub const ALL: [Self; 5] = [Self::Era, Self::Wra, Self::Lra, Self::Bra, Self::Sqrt];
}

/// What follows the last visit of a day.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    Serialize,
    Deserialize,
    Display,
    EnumMessage,
    IntoStaticStr,
    VariantArray,
)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum Horizon {
    /// Midnight, as if an additional visit then fetched all posts (Du, Ma 2010, eq. 8)
    Day,
    /// The first visit of the next day
    #[default]
    Periodic,
}

/// Importance of a board in the total delay: W_i of eq. (4).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Importance {
    /// Every post counts the same, W_i = 1
    #[default]
    Equal,
    /// A post counts the weight of its board, W_i = WP_i
    Weight,
}

impl Importance {
    pub fn of(self, weight: f64) -> f64 {
        match self {
            Self::Equal => 1.0,
            Self::Weight => weight,
        }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ScheduleObjective {
    pub horizon: Horizon,
    pub importance: Importance,
}

/// Mean posts of a board per day, by local hour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct BoardStatistics {
    /// New threads: g_num of eq. (7).
    pub new: [f64; 24],
    /// Replies: r_num of eq. (7).
    pub replied: [f64; 24],
}

impl BoardStatistics {
    /// Board weight, eq. (5): new threads per day, plus replies times [`THETA`]; W_s = W_p = 1.
    pub fn weight(&self) -> f64 {
        self.activity().iter().sum()
    }

    /// Daily profile, eq. (7); even for a board without posts.
    pub fn profile(&self) -> Profile {
        Profile::of(&self.activity()).unwrap_or_else(Profile::even)
    }

    fn activity(&self) -> [f64; 24] {
        std::array::from_fn(|hour| self.new[hour] + THETA * self.replied[hour])
    }
}

/// Length of a plan in days: more than one if there are more boards than visits per day.
pub fn cycle(boards: usize, per_day: u32) -> u32 {
    u32::try_from(boards).unwrap_or(u32::MAX).div_ceil(per_day.max(1)).max(1)
}

pub fn plan(
    statistics: &[BoardStatistics],
    per_day: u32,
    method: ScheduleMethod,
    objective: ScheduleObjective,
) -> Vec<Vec<f64>> {
    Planner::new(statistics, objective.horizon).plan(per_day, method, objective.importance)
}

/// Computes plans for the same boards; shares what several of them need.
pub struct Planner {
    boards: Vec<Board>,
    horizon: Horizon,
}

struct Board {
    weight: f64,
    profile: Profile,
}

impl Planner {
    pub fn new(statistics: &[BoardStatistics], horizon: Horizon) -> Self {
        let board = |of: &BoardStatistics| Board { weight: of.weight(), profile: of.profile() };
        Self { boards: statistics.iter().map(board).collect(), horizon }
    }

    /// Instants for each board, ascending, in hours after local midnight of the first day of a [`cycle`]. Every board
    /// is visited at least once a day, one without posts at even intervals; all together `per_day` times.
    ///
    /// With fewer visits than boards, a cycle has as many days as needed: the most active boards are visited every day,
    /// as many as possible, and the others in turn, once per cycle.
    pub fn plan(&self, per_day: u32, method: ScheduleMethod, importance: Importance) -> Vec<Vec<f64>> {
        if per_day == 0 {
            return vec![Vec::new(); self.boards.len()];
        }
        let days = cycle(self.boards.len(), per_day) as usize;
        if days > 1 {
            return self.in_turn(days, per_day as usize, method);
        }
        let counts = self.counts(per_day, method, importance);
        self.boards.iter().zip(counts).map(|(board, count)| self.place(board, count as usize, method)).collect()
    }

    fn counts(&self, per_day: u32, method: ScheduleMethod, importance: Importance) -> Vec<u32> {
        // If all weights are 0, all boards count the same.
        let known = self.boards.iter().any(|board| board.weight > 0.0);
        let value = |board: &Board| if known { importance.of(board.weight) * board.weight } else { 1.0 };
        let by = |weight: &dyn Fn(&Board) -> f64, free: u32| {
            allocation::allocate(&self.boards.iter().map(weight).collect::<Vec<_>>(), per_day, free)
        };
        match method {
            ScheduleMethod::Era | ScheduleMethod::Lra => by(&|_| 1.0, 0),
            ScheduleMethod::Wra | ScheduleMethod::Bra => by(&|board| board.weight, 0),
            // The visit at midnight counts as one of the board's.
            ScheduleMethod::Sqrt => {
                by(&|board| value(board).sqrt() * board.profile.root().1, u32::from(self.horizon == Horizon::Day))
            }
        }
    }

    fn place(&self, board: &Board, visits: usize, method: ScheduleMethod) -> Vec<f64> {
        match method {
            ScheduleMethod::Era | ScheduleMethod::Wra => instants::even(visits, self.horizon),
            ScheduleMethod::Lra | ScheduleMethod::Bra => instants::equal_areas(&board.profile, visits),
            ScheduleMethod::Sqrt => match self.horizon {
                Horizon::Periodic => instants::middles(&board.profile.root().0, visits),
                // The day begins and ends with a visit: these are the boundaries of visits + 1 intervals.
                Horizon::Day => instants::equal_areas(&board.profile.root().0, visits),
            },
        }
    }

    /// More boards than visits: some daily, the others in turn.
    fn in_turn(&self, days: usize, per_day: usize, method: ScheduleMethod) -> Vec<Vec<f64>> {
        // daily + (boards - daily) / days <= per_day.
        let daily = (days * per_day - self.boards.len()) / (days - 1);
        let mut order: Vec<usize> = (0..self.boards.len()).collect();
        order.sort_by(|&one, &other| self.boards[other].weight.total_cmp(&self.boards[one].weight));
        let mut out = vec![Vec::new(); order.len()];
        for (rank, board) in order.into_iter().enumerate() {
            let visit = self.place(&self.boards[board], 1, method);
            let on = if rank < daily { 0..days } else { rank % days..rank % days + 1 };
            out[board] = on.flat_map(|day| visit.iter().map(move |hour| hour + 24.0 * day as f64)).collect();
        }
        out
    }
}
