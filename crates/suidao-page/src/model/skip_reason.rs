//! Reasons why a URL is not fetched. Each is counted and listed in `skipped.csv`.

use serde::{Deserialize, Serialize};

use crate::messages::Lang;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SkipReason {
    /// Strategy: found on an off-topic page, and the strategy follows only relevant pages.
    OffTopicPage,
    /// Strategy: the tunnel counter k is 0.
    TunnelEnd,
    /// The link or its page has `nofollow`.
    NoFollow,
    /// Scope: host excluded or not in the allowed list.
    Host,
    /// Scope: file extension of something other than a page.
    Extension,
    UrlTooLong,
    /// Trap: repeated path segments.
    RepeatingPath,
    /// Trap: too many path segments.
    TooManySegments,
    /// Trap: repeated query parameters.
    RepeatingQuery,
    /// Trap: another page of a series (calendar, list, combinations of parameters) without new content.
    Series,
    /// Trap: a mirror host has the same page.
    Mirror,
    /// Found only on near-duplicate pages.
    NearDuplicate,
    /// Scope: scheme not allowed.
    Scheme,
    /// Cap: too many links from the seed.
    Depth,
    /// Cap: too many off-topic pages in a row.
    Hops,
    Robots,
    /// robots.txt could not be fetched, so everything is forbidden for now.
    RobotsUnreachable,
    /// The host's page budget is used up.
    HostBudget,
    Redirects,
    /// The host failed too often in a row.
    HostFailing,
    /// A forum link that leads to neither a board, a thread list nor a thread, or to a page already known.
    ForumFunction,
    /// Found only on a page whose canonical URL is another.
    Copy,
    /// Listed in a sitemap or feed, without a topic term.
    Unpromising,
    /// Beyond the limit of sitemaps, feeds or their pages per host.
    SourceLimit,
    /// A sitemap of another host, or a page listed there.
    ForeignSource,
    Port,
    /// Trap: too many soft 404s of the host in a row.
    MissingPages,
}

impl SkipReason {
    /// Whether the cause is an unreachable host or robots.txt.
    pub fn is_host_failure(self) -> bool {
        matches!(self, Self::RobotsUnreachable | Self::HostFailing)
    }

    /// The reason as a clause.
    pub fn why(self, lang: Lang) -> &'static str {
        match self {
            Self::OffTopicPage => lang.phrase("skip-off-topic-page"),
            Self::TunnelEnd => lang.phrase("skip-tunnel-end"),
            Self::NoFollow => lang.phrase("skip-no-follow"),
            Self::Host => lang.phrase("skip-host"),
            Self::Extension => lang.phrase("skip-extension"),
            Self::UrlTooLong => lang.phrase("skip-url-too-long"),
            Self::RepeatingPath => lang.phrase("skip-repeating-path"),
            Self::TooManySegments => lang.phrase("skip-too-many-segments"),
            Self::RepeatingQuery => lang.phrase("skip-repeating-query"),
            Self::Series => lang.phrase("skip-series"),
            Self::Mirror => lang.phrase("skip-mirror"),
            Self::NearDuplicate => lang.phrase("skip-near-duplicate"),
            Self::Scheme => lang.phrase("skip-scheme"),
            Self::Depth => lang.phrase("skip-depth"),
            Self::Hops => lang.phrase("skip-hops"),
            Self::Robots => lang.phrase("skip-robots"),
            Self::RobotsUnreachable => lang.phrase("skip-robots-unreachable"),
            Self::HostBudget => lang.phrase("skip-host-budget"),
            Self::Redirects => lang.phrase("skip-redirects"),
            Self::HostFailing => lang.phrase("skip-host-failing"),
            Self::Copy => lang.phrase("skip-copy"),
            Self::Unpromising => lang.phrase("skip-unpromising"),
            Self::SourceLimit => lang.phrase("skip-source-limit"),
            Self::ForeignSource => lang.phrase("skip-foreign-source"),
            Self::Port => lang.phrase("skip-port"),
            Self::MissingPages => lang.phrase("skip-missing-pages"),
            Self::ForumFunction => lang.phrase("skip-forum-function"),
        }
    }
}
