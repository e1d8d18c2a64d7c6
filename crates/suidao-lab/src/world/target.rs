//! What pages and links of the generated web are, for the files that lay them out, name them and link them.

use super::words::THEMES;

/// Articles on a listing.
pub(super) const PER_LISTING: u64 = 10;

pub(super) mod salt {
    pub const LAYOUT: u64 = 1;
    pub const HOST: u64 = 2;
    pub const SECTION: u64 = 3;
    pub const TUNNEL: u64 = 4;
    pub const DATE: u64 = 5;
    pub const TITLE: u64 = 6;
    pub const TEXT: u64 = 7;
    pub const LINKS: u64 = 8;
    pub const SAMPLE: u64 = 9;
    pub const HEAD: u64 = 10;
    pub const BLOGROLL: u64 = 11;
    pub const AUX: u64 = 12;
    pub const TEMPLATE: u64 = 14;
    pub const HABITS: u64 = 15;
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum PagePosition {
    Home,
    /// From 1.
    Listing(u64),
    /// From 0.
    Article(u64),
    /// Tunnel, and number of its pages before this one.
    Tunnel(usize, u64),
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum AuxPage {
    /// A month of an endless calendar, from January 2000.
    Month(u64),
    /// A members-only page, which robots.txt disallows.
    Private(u64),
    /// A blog's front page and the pages after it: posts.
    Front(u64),
    /// A blog's archive: posts without excerpts.
    Archive(u64),
    /// A category of a blog, with page number.
    Category(u64, u64),
    Tags,
    Blogroll,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum LinkTarget {
    Page(u64),
    /// A page by its second URL.
    AliasUrl(u64),
    Redirect(u64),
    /// The root of a host: its front page, or a redirect.
    Root(u64),
    /// A missing page: 404 on this host.
    Missing(u64, u64),
    NoHost(u64),
    /// An auxiliary page of this host.
    Aux(u64, AuxPage),
}

/// Whether a topic is one that the crawl looks for.
pub(super) fn topic_is_on(topic: usize) -> bool {
    topic < THEMES
}
