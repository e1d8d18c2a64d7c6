//! Reasons why a URL is not fetched. Each is counted and listed in `skipped.csv`.

use serde::{Deserialize, Serialize};

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

    pub fn why(self) -> &'static str {
        match self {
            Self::OffTopicPage => "found only on off-topic pages, whose links this strategy does not follow",
            Self::TunnelEnd => "the tunnel to it ended: k reached 0 on off-topic pages",
            Self::NoFollow => "nofollow on the page or the link (scope.nofollow)",
            Self::Host => "the host is out of scope (scope.allow_hosts, scope.deny_hosts)",
            Self::Extension => "the file extension is not that of a page (scope.deny_extensions)",
            Self::UrlTooLong => "the URL is longer than scope.max_url_length",
            Self::RepeatingPath => "the path repeats segments, as in a crawler trap (traps.repeats)",
            Self::TooManySegments => "the path has more than traps.max_segments segments",
            Self::RepeatingQuery => "the query repeats parameters (traps.repeats)",
            Self::Series => "the last traps.series pages with this URL pattern had no new content",
            Self::Mirror => "a mirror host already provides this page (traps.mirrors)",
            Self::NearDuplicate => "found only on duplicate pages (traps.near_duplicates)",
            Self::Scheme => "the scheme is not in scope.schemes",
            Self::Depth => "more than limits.depth links from the seeds",
            Self::Hops => "more than limits.hops off-topic pages in a row before it",
            Self::Robots => "disallowed by robots.txt",
            Self::RobotsUnreachable => "the robots.txt of the host cannot be fetched, so its pages may not be fetched",
            Self::HostBudget => "the host reached limits.pages_per_host",
            Self::Redirects => "more than limits.redirects redirects in a row",
            Self::HostFailing => {
                "the host was given up after repeated failures (politeness.give_up, limits.host_failures)"
            }
            Self::Copy => "found only on pages that have another canonical URL",
            Self::Unpromising => "listed in a sitemap or feed, but its URL and entry are off topic",
            Self::SourceLimit => "sitemap or feed entry beyond the limit per host (sources.per_host)",
            Self::ForeignSource => "listed in a sitemap of another host",
            Self::Port => "the port belongs to another service (scope.allow_ports)",
            Self::MissingPages => "the last traps.missing pages of the host were soft 404s",
            Self::ForumFunction => {
                "a forum page that is neither board, list of threads nor thread, or a duplicate URL of one"
            }
        }
    }
}
