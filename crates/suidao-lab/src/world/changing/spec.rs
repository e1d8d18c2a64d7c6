//! Parameters of a changing web, and the behaviour of its hosts.

/// The validators of a server's answers, and how it treats conditional requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValidatorPolicy {
    /// A strong `ETag`, different for every body, and `Last-Modified`.
    Strong,
    /// A weak `ETag` that depends on the main text only.
    Weak,
    /// `Last-Modified` of the main text only.
    Dated,
    /// None; conditions are ignored.
    NoValidators,
    /// An `ETag` that differs in every response.
    UnstableEtag,
    /// A constant `ETag`: every conditional request gets 304.
    Always304,
}

/// `lastmod` in a sitemap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dating {
    Truthful,
    /// Always the current time.
    Now,
    Missing,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Feeds {
    None,
    /// RSS 2.0 at `/rss.xml`.
    Rss,
    /// Atom 1.0 at `/atom.xml`.
    Atom,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HostProfile {
    pub name: &'static str,
    /// Its validators.
    pub policy: ValidatorPolicy,
    /// Its sitemap, named in robots.txt; `None` for neither.
    pub sitemap: Option<Dating>,
    /// The sitemap is an index of two parts, the second gzipped.
    pub index: bool,
    /// Its feeds, linked from every page.
    pub feeds: Feeds,
}

/// Profiles, assigned to hosts in turn.
pub(super) const PROFILES: [HostProfile; 6] = [
    HostProfile {
        name: "strong",
        policy: ValidatorPolicy::Strong,
        sitemap: Some(Dating::Truthful),
        index: true,
        feeds: Feeds::Rss,
    },
    HostProfile {
        name: "weak",
        policy: ValidatorPolicy::Weak,
        sitemap: Some(Dating::Now),
        index: false,
        feeds: Feeds::Atom,
    },
    HostProfile {
        name: "dated",
        policy: ValidatorPolicy::Dated,
        sitemap: Some(Dating::Missing),
        index: false,
        feeds: Feeds::Rss,
    },
    HostProfile {
        name: "bare",
        policy: ValidatorPolicy::NoValidators,
        sitemap: None,
        index: false,
        feeds: Feeds::None,
    },
    HostProfile {
        name: "restless",
        policy: ValidatorPolicy::UnstableEtag,
        sitemap: Some(Dating::Truthful),
        index: false,
        feeds: Feeds::Atom,
    },
    HostProfile { name: "liar", policy: ValidatorPolicy::Always304, sitemap: None, index: false, feeds: Feeds::None },
];

/// The parameters of a [`super::ChangingWeb`]. Equal specs and seeds give the same web, byte for byte. Requires at
/// least one host, 1 to 12 sections per host, and one article per listing page.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ChangingSpec {
    /// Number of hosts; profiles are assigned in turn.
    pub hosts: usize,
    /// Each host has a registrable domain of its own.
    pub own_domains: bool,
    /// Sections per host, with a listing page each; every other one is about sports.
    pub sections: usize,
    /// Articles per section on day 0.
    pub initial: u32,
    pub listed: u32,
    /// Range of new articles a day per section; log-uniform.
    pub new_articles: [f64; 2],
    /// Share of pages with advertisements, a clock and a counter that differ every hour.
    pub boilerplate_share: f64,
    /// Days with new articles.
    pub days: f64,
    /// Start of day 0 in seconds since 1970, UTC.
    pub start: i64,
}

impl Default for ChangingSpec {
    /// Six hosts of three sections, for 60 days from 1 March 2026, midnight in China.
    fn default() -> Self {
        Self {
            hosts: 6,
            own_domains: false,
            sections: 3,
            initial: 30,
            listed: 20,
            new_articles: [0.5, 6.0],
            boilerplate_share: 0.5,
            days: 60.0,
            start: 1_772_294_400,
        }
    }
}
