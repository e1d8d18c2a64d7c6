//! Scores of pages and links, and what a link inherits from its path.

use ordered_float::OrderedFloat;
use serde::{Deserialize, Serialize};

/// A score in `[0, 1]`, never NaN.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd, Serialize, Deserialize)]
pub struct Relevance(f32);

impl Relevance {
    /// Off topic.
    pub const ZERO: Self = Self(0.0);
    /// On topic.
    pub const ONE: Self = Self(1.0);

    /// Clamps `score` into `[0, 1]`; NaN becomes 0.
    pub fn new(score: f32) -> Self {
        if score.is_nan() { Self(0.0) } else { Self(score.clamp(0.0, 1.0)) }
    }

    pub fn get(self) -> f32 {
        self.0
    }

    pub fn max(self, other: Self) -> Self {
        if other.0 > self.0 { other } else { self }
    }
}

/// Frontier order, highest first; [`super::UrlId`] breaks ties.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Priority(pub OrderedFloat<f32>);

impl Priority {
    /// NaN becomes the lowest priority.
    pub fn new(value: f32) -> Self {
        Self(OrderedFloat(if value.is_nan() { f32::MIN } else { value }))
    }

    pub fn get(self) -> f32 {
        self.0.0
    }

    /// Whether it is so much higher that a URL with the other priority must be queued again.
    pub fn is_clearly_above(self, other: Self) -> bool {
        self.get() - other.get() > 0.01
    }
}

/// A queue of the frontier; its meaning depends on [`QueuePolicy`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct QueueId(pub u8);

/// The tunnel counter k (Jiang, Zhu, Wang 2020): how many more off-topic pages a path may cross.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TunnelBudget {
    /// k left; at 0 the outlinks of another off-topic page are dropped.
    Left(u8),
    /// k = ∞: no off-topic page since the last relevant page or seed.
    Unbounded,
}

impl TunnelBudget {
    /// The budget of a link of an off-topic page, for tunnels that cross `depth` pages; none at the end of a tunnel.
    /// `is_free`: the link is promising, so it costs nothing; ignored at the start of a tunnel.
    pub fn count_down(self, depth: u8, is_free: bool) -> Option<Self> {
        match self {
            Self::Unbounded => Some(Self::Left(depth.saturating_sub(1))),
            Self::Left(0) => None,
            Self::Left(left) => Some(Self::Left(left - u8::from(!is_free))),
        }
    }
}

/// What a link inherits from its path.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct PathState {
    /// Links followed since the seed.
    pub depth: u16,
    /// Off-topic pages since the last relevant page or seed; 0 for a link on a relevant page.
    pub hops: u16,
    /// The tunnel counter.
    pub k: TunnelBudget,
    /// Inherited score, if the strategy uses one.
    pub inherited: Relevance,
}

impl PathState {
    pub const SEED: Self = Self { depth: 0, hops: 0, k: TunnelBudget::Unbounded, inherited: Relevance::ONE };
}

/// The terms of eq. (3) for a link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LinkScores {
    /// R_Anchor: relevance of the anchor text.
    pub anchor: Relevance,
    /// R_Context: relevance of the text around the anchor.
    pub context: Relevance,
    /// R_Url: 1 if the URL contains a topic token, else 0.
    pub url: Relevance,
}

/// Queue, priority and path state of a URL in the frontier.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct QueueEntry {
    pub queue: QueueId,
    pub priority: Priority,
    pub path: PathState,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LinkDecision {
    Follow(QueueEntry),
    /// Do not follow it, for this reason.
    Drop(super::SkipReason),
}

/// The order in which the frontier serves its queues. Within a queue the highest priority is first, then the lowest
/// [`super::UrlId`], except in stacks. If a queue has nothing ready, the next one is served.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum QueuePolicy {
    BestFirst,
    /// The tunnel queue, a stack, before the main queue.
    Preempt,
    /// This many from the main queue, then one from the tunnel queue, a stack.
    Interleave(u32),
    /// Queues are integer weights (Tianwang): `by_weight` URLs from the heaviest queue, then `at_random` from any.
    WeightThenRandom {
        /// N of rule 4.
        by_weight: u32,
        /// M of rule 4.
        at_random: u32,
    },
    /// Queues in ascending order.
    LowestFirst,
}

impl QueueId {
    /// Links of relevant pages; all links if there is one queue only.
    pub const MAIN: Self = Self(0);
    /// Links inside tunnels, if the policy separates them.
    pub const TUNNEL: Self = Self(1);
}
