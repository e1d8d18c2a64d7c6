//! Why a URL is not fetched: each reason has a name, a sentence for people, and is counted.

use serde::{Deserialize, Serialize};

/// Why a URL was not queued, or not fetched. Each reason is counted and listed in `skipped.csv`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SkipReason {
    /// Strategy: found on an off-topic page, and the strategy follows only relevant ones.
    OffTopicPage,
    /// Strategy: the tunnel counter k is used up.
    TunnelEnd,
    /// Link says `rel=nofollow`, or its page does.
    NoFollow,
    /// Scope: host not among the allowed ones, or among the refused.
    Host,
    /// Scope: extension of something that is no page.
    Extension,
    /// Scope: URL too long.
    UrlTooLong,
    /// Trap: path segments that repeat.
    RepeatingPath,
    /// Trap: too many path segments.
    TooManySegments,
    /// Trap: a query that repeats itself.
    RepeatingQuery,
    /// Trap: one more page of a series (a calendar, a list, combinations of parameters) that brings nothing.
    Series,
    /// Trap: the same page of a host with the same pages is known.
    Mirror,
    /// Found only on pages that repeat another.
    NearDuplicate,
    /// Scope: scheme is not allowed.
    Scheme,
    /// Cap: too many links from the seed.
    Depth,
    /// Cap: too many off-topic pages in a row.
    Hops,
    /// robots.txt forbids it.
    Robots,
    /// robots.txt could not be had, so all is forbidden for now.
    RobotsUnreachable,
    /// The host's page budget is used up.
    HostBudget,
    /// Too many redirects in a row.
    Redirects,
    /// The host failed too often in a row.
    HostFailing,
    /// A link of a forum that is neither a board, nor a list of threads, nor a thread: a function, or the same again.
    ForumFunction,
    /// Found only on a page that calls another its own address.
    Copy,
    /// Named by a sitemap or a feed, and nothing there says that it is about the topic.
    Unpromising,
    /// A sitemap or a feed, or named by one, beyond what is taken of one host.
    SourceLimit,
    /// A sitemap of another host, or a page that such a one names.
    ForeignSource,
    /// Scope: the port belongs to a service that is not the web.
    Port,
    /// Trap: the host has said of too many pages in a row that there is no such page.
    MissingPages,
}

impl SkipReason {
    /// Whether it is said of a host that could not be had, be it itself or its robots.txt.
    pub fn is_hosts(self) -> bool {
        matches!(self, Self::RobotsUnreachable | Self::HostFailing)
    }

    /// One sentence for people.
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
            Self::HostFailing => "the host failed repeatedly for longer than politeness.give_up",
            Self::Copy => "found only on pages that have another canonical URL",
            Self::Unpromising => "listed in a sitemap or feed, but its URL and entry are off topic",
            Self::SourceLimit => "sitemap or feed entry beyond the limit per host (sources.per_host)",
            Self::ForeignSource => "listed in a sitemap of another host",
            Self::Port => "the port is not used for web pages, and browsers block it too (scope.allow_ports)",
            Self::MissingPages => "the last traps.missing pages of the host were missing (404)",
            Self::ForumFunction => {
                "a forum page that is neither board, list of threads nor thread, or a duplicate URL of one"
            }
        }
    }
}
