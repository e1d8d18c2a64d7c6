//! What a schedule knows of a board.

use serde::{Deserialize, Serialize};

use super::{Profile, THETA};

/// Mean posts of a board per day, by local hour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct BoardStatistics {
    /// New threads: g_num of eq. (7).
    pub new: [f64; 24],
    /// Replies: r_num of eq. (7).
    pub replied: [f64; 24],
}

/// The posts of a board, and what they are worth.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BoardDemand {
    pub statistics: BoardStatistics,
    /// Importance of forum and board: W_s · W_p of eq. (5).
    pub importance: f64,
    /// Weight of a reply relative to a new thread: θ of eqs. (3), (5) and (7).
    pub theta: f64,
    /// Hour of the first visit, for the optimum: c1 of eq. (9).
    pub first: Option<f64>,
}

impl From<BoardStatistics> for BoardDemand {
    /// Importance 1 and θ as in the paper.
    fn from(statistics: BoardStatistics) -> Self {
        Self { statistics, importance: 1.0, theta: THETA, first: None }
    }
}

impl BoardDemand {
    /// New threads per day, plus θ times replies.
    pub fn rate(&self) -> f64 {
        self.activity().iter().sum()
    }

    /// Board weight, eq. (5).
    pub fn weight(&self) -> f64 {
        self.importance * self.rate()
    }

    /// Daily profile, eq. (7); even for a board without posts.
    pub fn profile(&self) -> Profile {
        Profile::of(&self.activity()).unwrap_or_else(Profile::even)
    }

    fn activity(&self) -> [f64; 24] {
        std::array::from_fn(|hour| self.statistics.new[hour] + self.theta * self.statistics.replied[hour])
    }
}
