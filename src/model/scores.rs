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
    #[must_use]
    pub fn new(score: f32) -> Self {
        if score.is_nan() { Self(0.0) } else { Self(score.clamp(0.0, 1.0)) }
    }

    /// The plain number.
    #[must_use]
    pub fn get(self) -> f32 {
        self.0
    }

    /// The larger of two.
    #[must_use]
    pub fn max(self, other: Self) -> Self {
        if other.0 > self.0 { other } else { self }
    }
}

/// What the frontier orders by, higher first: a total order, ties are broken by [`super::UrlId`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Priority(pub OrderedFloat<f32>);

impl Priority {
    /// A priority from a number; NaN becomes the lowest.
    #[must_use]
    pub fn new(value: f32) -> Self {
        Self(OrderedFloat(if value.is_nan() { f32::MIN } else { value }))
    }

    /// The plain number.
    #[must_use]
    pub fn get(self) -> f32 {
        self.0.0
    }
}

/// Which of the frontier's queues an entry waits in; what the numbers mean is the [`Discipline`]'s to say.
///
/// [`Discipline`]: crate::crawl::Discipline
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Lane(pub u8);

/// The tunnel counter k of paper 001: how many more off-topic pages a path may cross.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Tunnel {
    /// k left; 0 means the page's outlinks are dropped if it is off topic too.
    Left(u8),
    /// k = ∞: the path has not left the topic since its last relevant page (or seed).
    Unbounded,
}

/// What a link takes over from its path.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Trail {
    /// Links followed since the seed: 0 for a seed.
    pub depth: u16,
    /// Off-topic pages crossed since the last relevant page or seed: 0 on a link of a relevant page.
    pub hops: u16,
    /// The tunnel counter.
    pub k: Tunnel,
    /// The score handed down the path, where the strategy uses one.
    pub inherited: Relevance,
}

impl Trail {
    /// The trail of a seed.
    pub const SEED: Self = Self { depth: 0, hops: 0, k: Tunnel::Unbounded, inherited: Relevance::ONE };
}

/// What speaks for a link, each part by itself: eq. (3)'s three terms.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Evidence {
    /// R_Anchor: relevance of the anchor text.
    pub anchor: Relevance,
    /// R_Context: relevance of the text around the anchor.
    pub context: Relevance,
    /// R_Url: 1 if the URL holds a token of the topic, else 0.
    pub url: Relevance,
}

/// What a strategy says of one outlink.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum Verdict {
    /// Queue it.
    Follow {
        /// Queue to wait in.
        lane: Lane,
        /// Place in that queue.
        priority: Priority,
        /// What it takes over.
        trail: Trail,
    },
    /// Leave it, for a reason that is counted.
    Drop(super::Refusal),
}
