//! Why a URL is not fetched: each reason has a name, a sentence for people, and is counted.

use serde::{Deserialize, Serialize};

/// Why a URL was not queued, or not fetched. Each reason is counted and listed in `skipped.csv`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Refusal {
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

impl Refusal {
    /// Whether it is said of a host that could not be had, be it itself or its robots.txt.
    pub fn is_hosts(self) -> bool {
        matches!(self, Self::RobotsUnreachable | Self::HostFailing)
    }

    /// One sentence for people.
    pub fn why(self) -> &'static str {
        match self {
            Self::OffTopicPage => "it was found only on off-topic pages, whose links this strategy does not follow",
            Self::TunnelEnd => "the tunnel it lies in ended: k reached 0 on off-topic pages",
            Self::NoFollow => "its page says nofollow in meta robots, or its links in rel (scope.nofollow)",
            Self::Host => "its host is outside the crawl's scope (scope.allow_hosts, scope.deny_hosts)",
            Self::Extension => "its extension is not a page's (scope.deny_extensions)",
            Self::UrlTooLong => "the URL is longer than scope.max_url_length",
            Self::RepeatingPath => "its path repeats itself, as relative links do that pile up (traps.repeats)",
            Self::TooManySegments => "its path has more than traps.max_segments segments",
            Self::RepeatingQuery => "its query repeats itself (traps.repeats)",
            Self::Series => "the last traps.series pages that are spelt like it brought nothing of their own",
            Self::Mirror => "another host has the same pages, and its page of this path is known (traps.mirrors)",
            Self::NearDuplicate => "it was found only on pages that say what another page says (traps.near_duplicates)",
            Self::Scheme => "its scheme is not among scope.schemes",
            Self::Depth => "it lies more than limits.depth links from the seeds",
            Self::Hops => "it lies behind more than limits.hops off-topic pages in a row",
            Self::Robots => "the host's robots.txt forbids it",
            Self::RobotsUnreachable => "the host's robots.txt could not be fetched, so nothing of the host may be",
            Self::HostBudget => "its host has had limits.pages_per_host pages",
            Self::Redirects => "it is the end of more than limits.redirects redirects in a row",
            Self::HostFailing => "its host failed too often in a row, and for longer than politeness.give_up",
            Self::Copy => "it was found only on pages that call another address their own, and are left to that",
            Self::Unpromising => {
                "a sitemap or a feed names it, and neither its URL nor what is said of it there has to do with the topic"
            }
            Self::SourceLimit => {
                "a sitemap or a feed names it, or it is one, beyond what is taken of one host (sources.per_host)"
            }
            Self::ForeignSource => "a host speaks for itself only in its sitemaps, and this is of another host",
            Self::Port => {
                "its port belongs to a service that is not the web, and browsers refuse such ports too (scope.allow_ports)"
            }
            Self::MissingPages => {
                "the last traps.missing pages of its host were none: it answered that there is no such page"
            }
            Self::ForumFunction => {
                "its host is a forum, and it is neither a board, nor a list of threads, nor a thread: a function, or the same again"
            }
        }
    }
}
