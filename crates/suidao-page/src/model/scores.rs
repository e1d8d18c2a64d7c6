//! What pages and links are worth, and what a link takes over from its path.

use ordered_float::OrderedFloat;
use serde::{Deserialize, Serialize};

/// A score in `[0, 1]`, never NaN.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd, Serialize, Deserialize)]
pub struct Relevance(f32);

impl Relevance {
    /// Certainly off topic.
    pub const ZERO: Self = Self(0.0);
    /// Certainly on topic.
    pub const ONE: Self = Self(1.0);

    /// Clamps `score` into `[0, 1]`; NaN becomes 0.
    pub fn new(score: f32) -> Self {
        if score.is_nan() { Self(0.0) } else { Self(score.clamp(0.0, 1.0)) }
    }

    /// The plain number.
    pub fn get(self) -> f32 {
        self.0
    }

    /// The larger of two.
    pub fn max(self, other: Self) -> Self {
        if other.0 > self.0 { other } else { self }
    }
}

/// What the frontier orders by, higher first: a total order, ties are broken by [`super::UrlId`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Priority(pub OrderedFloat<f32>);

impl Priority {
    /// A priority from a number; NaN becomes the lowest.
    pub fn new(value: f32) -> Self {
        Self(OrderedFloat(if value.is_nan() { f32::MIN } else { value }))
    }

    /// The plain number.
    pub fn get(self) -> f32 {
        self.0.0
    }
}

/// Which of the frontier's queues an entry waits in; what the numbers mean is the [`Discipline`]'s to say.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct QueueId(pub u8);

/// The tunnel counter k of paper 001: how many more off-topic pages a path may cross.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TunnelBudget {
    /// k left; 0 means the page's outlinks are dropped if it is off topic too.
    Left(u8),
    /// k = ∞: the path has not left the topic since its last relevant page (or seed).
    Unbounded,
}

/// What a link takes over from its path.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct PathState {
    /// Links followed since the seed: 0 for a seed.
    pub depth: u16,
    /// Off-topic pages crossed since the last relevant page or seed: 0 on a link of a relevant page.
    pub hops: u16,
    /// The tunnel counter.
    pub k: TunnelBudget,
    /// The score handed down the path, where the strategy uses one.
    pub inherited: Relevance,
}

impl PathState {
    /// The trail of a seed.
    pub const SEED: Self = Self { depth: 0, hops: 0, k: TunnelBudget::Unbounded, inherited: Relevance::ONE };
}

/// What speaks for a link, each part by itself: eq. (3)'s three terms.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LinkScores {
    /// R_Anchor: relevance of the anchor text.
    pub anchor: Relevance,
    /// R_Context: relevance of the text around the anchor.
    pub context: Relevance,
    /// R_Url: 1 if the URL holds a token of the topic, else 0.
    pub url: Relevance,
}

/// A place in the frontier, and what goes with it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct QueueEntry {
    /// Queue to wait in.
    pub lane: QueueId,
    /// Rank in that queue.
    pub priority: Priority,
    /// What the link takes over from its path.
    pub trail: PathState,
}

/// What a strategy says of one outlink.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LinkDecision {
    /// Queue it there.
    Follow(QueueEntry),
    /// Leave it, for a reason that is counted.
    Drop(super::SkipReason),
}

/// How the frontier serves its lanes. A lane is served best priority first, ties by discovery, unless said otherwise;
/// when the lane whose turn it is has nothing ready, the turn goes to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum QueuePolicy {
    /// One lane.
    BestFirst,
    /// The tunnel lane, a stack, goes before the main lane.
    Preempt,
    /// So many from the main lane, then one from the tunnel lane, a stack.
    Interleave(u32),
    /// Lanes are integer weights (paper 004): `by_weight` from the heaviest lane, then `at_random` from any.
    WeightThenRandom {
        /// N of rule 4.
        by_weight: u32,
        /// M of rule 4.
        at_random: u32,
    },
    /// The lanes in order, the lowest first.
    LowestFirst,
}

impl QueueId {
    /// Links of relevant pages, and all links where there is one lane only.
    pub const MAIN: Self = Self(0);
    /// Links inside tunnels, where the discipline keeps them apart.
    pub const TUNNEL: Self = Self(1);
}
