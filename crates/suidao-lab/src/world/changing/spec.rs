//! What a changing web looks like, and how its hosts behave.

/// What a server marks the versions of its pages with, and what it makes of a conditional request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValidatorPolicy {
    /// A strong `ETag`, another for every other body, and `Last-Modified`.
    Strong,
    /// A weak `ETag`, the same while the main text is.
    Weak,
    /// `Last-Modified` alone: of the main text.
    Dated,
    /// Nothing, and conditions are ignored.
    NoValidators,
    /// An `ETag` that is another one in every answer.
    UnstableEtag,
    /// An `ETag` that never changes: 304 to whatever is conditional.
    Always304,
}

/// What a sitemap says of when its pages changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dating {
    Truthful,
    /// Now, always.
    Now,
    /// Nothing.
    Missing,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Feeds {
    /// None.
    None,
    /// RSS 2.0 at `/rss.xml`.
    Rss,
    /// Atom 1.0 at `/atom.xml`.
    Atom,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HostProfile {
    pub name: &'static str,
    /// By what its answers can be validated.
    pub marking: ValidatorPolicy,
    /// Its sitemap, named in robots.txt; none has neither.
    pub sitemap: Option<Dating>,
    /// The sitemap is an index of two parts, the second of them in gzip.
    pub index: bool,
    /// Its feeds, linked by every page.
    pub feeds: Feeds,
}

/// The manners of hosts, in turn.
pub(super) const MANNERS: [HostProfile; 6] = [
    HostProfile {
        name: "strong",
        marking: ValidatorPolicy::Strong,
        sitemap: Some(Dating::Truthful),
        index: true,
        feeds: Feeds::Rss,
    },
    HostProfile {
        name: "weak",
        marking: ValidatorPolicy::Weak,
        sitemap: Some(Dating::Now),
        index: false,
        feeds: Feeds::Atom,
    },
    HostProfile {
        name: "dated",
        marking: ValidatorPolicy::Dated,
        sitemap: Some(Dating::Missing),
        index: false,
        feeds: Feeds::Rss,
    },
    HostProfile {
        name: "bare",
        marking: ValidatorPolicy::NoValidators,
        sitemap: None,
        index: false,
        feeds: Feeds::None,
    },
    HostProfile {
        name: "restless",
        marking: ValidatorPolicy::UnstableEtag,
        sitemap: Some(Dating::Truthful),
        index: false,
        feeds: Feeds::Atom,
    },
    HostProfile { name: "liar", marking: ValidatorPolicy::Always304, sitemap: None, index: false, feeds: Feeds::None },
];

/// The parameters of a [`super::ChangingWeb`]. With one seed, two equal specs give the same web to the byte. At least
/// one host, 1 to 12 sections of it, and one article on a listing page.
#[derive(Clone, Copy, Debug, PartialEq)]
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
    /// Share of pages with advertisements, a clock and a counter that are others every hour.
    pub furnished: f64,
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
            furnished: 0.5,
            days: 60.0,
            start: 1_772_294_400,
        }
    }
}
