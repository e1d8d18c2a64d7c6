//! What a changing web looks like, as a person writes it down, and how its hosts behave.

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::world::change::{LivesSpec, LivesSpecError};

/// What a server marks the versions of its pages with, and what it makes of a conditional request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Marking {
    /// A strong `ETag`, another for every other body, and `Last-Modified`.
    Strong,
    /// A weak `ETag`, the same while the main text is.
    Weak,
    /// `Last-Modified` alone: of the main text.
    Dated,
    /// Nothing, and conditions are ignored.
    Bare,
    /// An `ETag` that is another one in every answer.
    Restless,
    /// An `ETag` that never changes: 304 to whatever is conditional.
    Liar,
}

/// What a sitemap says of when its pages changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dating {
    /// When they did.
    Truthful,
    /// Now, always.
    Now,
    /// Nothing.
    Missing,
}

/// Which feeds a site has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Feeds {
    /// None.
    None,
    /// RSS 2.0 at `/rss.xml`.
    Rss,
    /// Atom 1.0 at `/atom.xml`.
    Atom,
}

/// How a host behaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Manner {
    /// First part of its name.
    pub name: &'static str,
    /// By what its answers can be validated.
    pub marking: Marking,
    /// Its sitemap, named in robots.txt; none has neither.
    pub sitemap: Option<Dating>,
    /// The sitemap is an index of two parts, the second of them in gzip.
    pub index: bool,
    /// Its feeds, linked by every page.
    pub feeds: Feeds,
}

/// The manners of hosts, in turn.
pub(super) const MANNERS: [Manner; 6] = [
    Manner {
        name: "strong",
        marking: Marking::Strong,
        sitemap: Some(Dating::Truthful),
        index: true,
        feeds: Feeds::Rss,
    },
    Manner { name: "weak", marking: Marking::Weak, sitemap: Some(Dating::Now), index: false, feeds: Feeds::Atom },
    Manner { name: "dated", marking: Marking::Dated, sitemap: Some(Dating::Missing), index: false, feeds: Feeds::Rss },
    Manner { name: "bare", marking: Marking::Bare, sitemap: None, index: false, feeds: Feeds::None },
    Manner {
        name: "restless",
        marking: Marking::Restless,
        sitemap: Some(Dating::Truthful),
        index: false,
        feeds: Feeds::Atom,
    },
    Manner { name: "liar", marking: Marking::Liar, sitemap: None, index: false, feeds: Feeds::None },
];

/// The parameters of a [`super::ChangingWeb`]. With one seed, two equal specs give the same web to the byte.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ChangingSpec {
    /// Hosts; the manners are taken in turn.
    pub hosts: usize,
    /// Sections of each host, with a listing page each; every other one is about sports.
    pub sections: usize,
    /// Articles of each section that are there on day 0.
    pub initial: u32,
    /// How many of the newest articles a listing page shows; the others fall off.
    pub listed: u32,
    /// Fewest and most new articles of a section in the mean of a day; log-uniform between them.
    pub new_articles: [f64; 2],
    /// Links of an article to older ones of its section.
    pub related: u32,
    /// Share of pages with advertisements, a clock and a counter that are others every hour.
    pub furnished: f64,
    /// How the articles change, in days since each was published.
    pub lives: LivesSpec,
    /// Days with new articles.
    pub days: f64,
    /// When day 0 begins, in seconds since 1970, UTC.
    pub start: i64,
}

impl Default for ChangingSpec {
    /// Six hosts of three sections, for 60 days from 1 March 2026, midnight in China.
    fn default() -> Self {
        Self {
            hosts: 6,
            sections: 3,
            initial: 30,
            listed: 20,
            new_articles: [0.5, 6.0],
            related: 3,
            furnished: 0.5,
            lives: LivesSpec::default(),
            days: 60.0,
            start: 1_772_294_400,
        }
    }
}

/// Why a spec describes no changing web.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum ChangingSpecError {
    /// A field outside its range.
    #[error("the changing web's {field} is {value}; it must be {want}")]
    OutOfRange {
        /// Name of the field.
        field: &'static str,
        /// What it is.
        value: String,
        /// What it may be.
        want: &'static str,
    },
    /// The lives of its pages cannot be drawn.
    #[error(transparent)]
    Lives(#[from] LivesSpecError),
}

impl ChangingSpec {
    /// Whether every field lies in its range.
    pub(super) fn check(&self) -> Result<(), ChangingSpecError> {
        let wrong = |field, value: String, want| Err(ChangingSpecError::OutOfRange { field, value, want });
        for (field, value, least, most, want) in [
            ("hosts", self.hosts, 1, 10_000, "1 to 10000"),
            ("sections", self.sections, 1, 12, "1 to 12"),
            ("initial", self.initial as usize, 0, 1_000_000, "at most 1000000"),
            ("listed", self.listed as usize, 1, 1_000, "1 to 1000"),
            ("related", self.related as usize, 0, 100, "at most 100"),
        ] {
            if !(least..=most).contains(&value) {
                return wrong(field, value.to_string(), want);
            }
        }
        let [least, most] = self.new_articles;
        if !(1e-3 <= least && least <= most && most <= 1e4) {
            return wrong(
                "new_articles",
                format!("[{least}, {most}]"),
                "two numbers from 0.001 to 10000, the lower first",
            );
        }
        if !(0.0..=1.0).contains(&self.furnished) {
            return wrong("furnished", self.furnished.to_string(), "between 0 and 1");
        }
        if !(0.0..=10_000.0).contains(&self.days) {
            return wrong("days", self.days.to_string(), "a number from 0 to 10000");
        }
        // So that every time can be written as a date.
        if !(0..=100_000_000_000).contains(&self.start) {
            return wrong("start", self.start.to_string(), "from 0 to 100000000000");
        }
        Ok(self.lives.check()?)
    }
}
