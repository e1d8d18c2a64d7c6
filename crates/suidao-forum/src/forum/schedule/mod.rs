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
//! | optimum | each next visit where it saves most | least delay by eq. (8), so that eq. (9) holds |

mod allocation;
mod delay;
mod demand;
mod history;
mod instants;
mod optimum;
mod profile;
mod statistics;
#[cfg(test)]
mod tests;

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use ordered_float::OrderedFloat;
use serde::{Deserialize, Serialize};
use strum::{Display, EnumMessage, IntoStaticStr, VariantArray};

pub use delay::mean_delay;
pub use demand::{BoardDemand, BoardStatistics};
pub use history::History;
pub use profile::Profile;
pub use statistics::Statistics;

use optimum::Optimum;

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
    /// Visits with the least total delay (Du, Ma 2010, eq. 9)
    Optimum,
}

impl ScheduleMethod {
    pub const ALL: [Self; 6] = [Self::Era, Self::Wra, Self::Lra, Self::Bra, Self::Sqrt, Self::Optimum];
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
    /// The first visit of the next day, through the week
    #[default]
    Week,
}

/// Importance of a board in the total delay: W_i of eq. (4).
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
pub enum Importance {
    /// Posts of all boards count the same, except for the weights of the forum file
    #[default]
    Equal,
    /// A post also counts the weight of its board, so that busy boards count twice (Du, Ma 2010, table 2)
    Weight,
}

impl Importance {
    /// W_i.
    pub fn of(self, board: &BoardDemand) -> f64 {
        match self {
            Self::Equal => board.importance,
            Self::Weight => board.weight(),
        }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ScheduleObjective {
    pub horizon: Horizon,
    pub importance: Importance,
}

/// Length of a plan in days: more than one if there are more boards than visits per day.
pub fn cycle(boards: usize, per_day: u32) -> u32 {
    u32::try_from(boards).unwrap_or(u32::MAX).div_ceil(per_day.max(1)).max(1)
}

pub fn plan(
    boards: &[BoardDemand],
    per_day: u32,
    method: ScheduleMethod,
    objective: ScheduleObjective,
) -> Vec<Vec<f64>> {
    Planner::new(boards, objective.horizon).plan(per_day, method, objective.importance)
}

/// Computes plans for the same boards; shares what several of them need.
pub struct Planner {
    boards: Vec<Board>,
    horizon: Horizon,
}

struct Board {
    demand: BoardDemand,
    weight: f64,
    profile: Profile,
}

impl Planner {
    pub fn new(boards: &[BoardDemand], horizon: Horizon) -> Self {
        let board = |of: &BoardDemand| Board { demand: *of, weight: of.weight(), profile: of.profile() };
        Self { boards: boards.iter().map(board).collect(), horizon }
    }

    /// Total delay of a day in hours under a plan of one day: eq. (4), a reply counting θ. Infinite if a board with
    /// posts has no visit.
    pub fn total_delay(&self, plan: &[Vec<f64>], importance: Importance) -> f64 {
        let boards = self.boards.iter().zip(plan).filter(|(board, _)| board.weight > 0.0);
        let delay = |(board, instants): (&Board, &Vec<f64>)| {
            importance.of(&board.demand) * board.demand.rate() * mean_delay(&board.profile, instants, self.horizon)
        };
        boards.map(delay).sum()
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
        let value = |board: &Board| {
            if known { importance.of(&board.demand) * board.demand.rate() } else { board.demand.importance }
        };
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
            ScheduleMethod::Optimum => self.most_useful(per_day, &value),
        }
    }

    /// One visit to each board, then each to the board where it shortens the delay most.
    fn most_useful(&self, per_day: u32, value: &dyn Fn(&Board) -> f64) -> Vec<u32> {
        let mut counts = vec![1; self.boards.len()];
        let most = per_day as usize + 2 - self.boards.len().min(per_day as usize + 1);
        let delays: Vec<Vec<f64>> = self.boards.iter().map(|board| self.optimum(board).delays(most)).collect();
        let gain = |board: usize, count: u32| {
            let delays = &delays[board];
            OrderedFloat(value(&self.boards[board]) * (delays[count as usize - 1] - delays[count as usize]))
        };
        // Of equal gains the first board's.
        let mut gains: BinaryHeap<(OrderedFloat<f64>, Reverse<usize>)> = if most > 1 {
            (0..counts.len()).map(|board| (gain(board, 1), Reverse(board))).collect()
        } else {
            BinaryHeap::new()
        };
        for _ in counts.len()..per_day as usize {
            let Some((_, Reverse(board))) = gains.pop() else { break };
            counts[board] += 1;
            if (counts[board] as usize) < most {
                gains.push((gain(board, counts[board]), Reverse(board)));
            }
        }
        counts
    }

    fn optimum<'a>(&self, board: &'a Board) -> Optimum<'a> {
        Optimum { profile: &board.profile, horizon: self.horizon, first: board.demand.first }
    }

    fn place(&self, board: &Board, visits: usize, method: ScheduleMethod) -> Vec<f64> {
        match method {
            ScheduleMethod::Era | ScheduleMethod::Wra => instants::even(visits, self.horizon),
            ScheduleMethod::Lra | ScheduleMethod::Bra => instants::equal_areas(&board.profile, visits),
            ScheduleMethod::Sqrt => match self.horizon {
                Horizon::Week => instants::middles(&board.profile.root().0, visits),
                // The day begins and ends with a visit: these are the boundaries of visits + 1 intervals.
                Horizon::Day => instants::equal_areas(&board.profile.root().0, visits),
            },
            ScheduleMethod::Optimum => self.optimum(board).instants(visits),
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
