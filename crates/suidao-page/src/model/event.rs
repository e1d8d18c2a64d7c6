//! The closed vocabulary of what happened. State is a fold of it: the machine, the store, the logs and the exports
//! all learn of the crawl from here and nowhere else. Times are kept outside ([`Batch`]), so that two runs of one
//! crawl can be compared byte for byte.

use core::net::IpAddr;

use serde::{Deserialize, Serialize};

use super::{
    CrawlUrl, Day, Digest, Failure, ForumPage, ForumStep, HostId, LinkDecision, LinkScores, Millis, Page, PageChanges,
    PageKind, Priority, QueueEntry, RefreshStep, Region, Relevance, Sketch, SkipReason, TermMatch, TrapSignals,
    TrapStep, UrlId, Validators,
};

/// How a URL became known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum UrlOrigin {
    /// Given by the user.
    Seed,
    /// Found as a link on this page.
    Link(UrlId),
    /// This URL answered with a redirect to it.
    Redirect(UrlId),
    /// A sitemap or a feed that robots.txt or a page names.
    Named,
    /// This sitemap or feed names it.
    Listed(UrlId),
    /// This page calls it its own address.
    Canonical(UrlId),
}

impl Event {
    /// The links it tells of.
    pub fn links(&self) -> &[Link] {
        match self {
            Self::SeedJudged(link) => std::slice::from_ref(link),
            Self::PageFetched(page) => &page.links,
            Self::Redirected { link, .. } | Self::SchemeRewritten { link, .. } => link.as_slice(),
            Self::SitemapRead { links, .. } | Self::SitemapsQueued { links, .. } | Self::Rejudged { links, .. } => {
                links
            }
            _ => &[],
        }
    }
}

impl Link {
    /// A link that stands on no page: a seed, the target of a redirect.
    pub fn bare(to: UrlId, relevance: Relevance, verdict: LinkDecision) -> Self {
        Self { to, region: Region::Content, path: 0, evidence: LinkScores::default(), relevance, verdict }
    }
}

/// A URL got its number. Numbers are given without gaps, from 0.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Discovered {
    /// Its number.
    pub id: UrlId,
    /// The URL.
    pub url: CrawlUrl,
    /// How it became known.
    pub origin: UrlOrigin,
    /// Text of the link by which it became known; empty for seeds and redirects.
    pub anchor: String,
}

/// What is known of an origin's robots.txt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RobotsRules {
    /// The file, to be obeyed (at most 500 KiB are kept, RFC 9309 2.5).
    Rules(#[serde(with = "as_text")] Vec<u8>),
    /// 4xx: there is none, all is allowed.
    AllowAll,
    /// 5xx or unreachable: all is forbidden until a later try.
    Unreachable,
}

/// Bytes that are text to people and bytes in the log.
mod as_text {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub fn serialize<S: Serializer>(bytes: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
        if serializer.is_human_readable() {
            serializer.collect_str(&String::from_utf8_lossy(bytes))
        } else {
            bytes.serialize(serializer)
        }
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u8>, D::Error> {
        if deserializer.is_human_readable() {
            String::deserialize(deserializer).map(String::into_bytes)
        } else {
            Vec::deserialize(deserializer)
        }
    }
}

/// What was made of one outlink.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Link {
    /// Where it leads.
    pub to: UrlId,
    /// Where on the page it stands.
    pub region: Region,
    /// Hash of the tag names and classes from the root to it.
    pub path: u32,
    /// Eq. (3)'s parts.
    pub evidence: LinkScores,
    /// Eq. (3).
    pub relevance: Relevance,
    /// The strategy's word, after scope and caps.
    pub verdict: LinkDecision,
}

/// Where a URL stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LinkState {
    /// Known, but every link to it was dropped so far.
    Dropped,
    /// Waiting.
    Queued,
    /// Handed out.
    InFlight,
    /// Fetched as a page.
    Fetched,
    /// Answered with a redirect.
    Redirected,
    /// Given up.
    Failed,
    /// Refused after it was queued (robots, budgets).
    Refused,
}

/// A page was fetched, read and judged.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PageProcessed {
    /// Which.
    pub id: UrlId,
    /// HTTP status.
    pub status: u16,
    /// Length of the body, unpacked.
    pub bytes: u32,
    /// The place it was taken from: lane, score, and what it had taken over from its path.
    pub place: QueueEntry,
    /// Page relevance, eq. (1).
    pub relevance: Relevance,
    /// At or above the page threshold: on the topic, be it a listing.
    pub relevant: bool,
    /// Title.
    pub title: String,
    /// Language, if told.
    pub language: Option<String>,
    /// Who wrote it, as far as it says so.
    pub author: Option<String>,
    /// Digest of the body.
    pub digest: Digest,
    /// Terms of the topic in it.
    pub terms: Vec<TermMatch>,
    /// Most of it is a row of records with links.
    pub listing: bool,
    /// The page asks not to be kept.
    pub noindex: bool,
    /// A browser ran its scripts, and what it made of the page was read.
    pub rendered: bool,
    /// From then on it asks the same (`unavailable_after`).
    pub expires: Option<Millis>,
    /// It is in none of the languages that are kept, and so not relevant.
    pub foreign: bool,
    /// Sketch of its main text.
    pub sketch: Sketch,
    /// When it was published, as far as it says so.
    pub published: Option<Day>,
    /// Another URL the page calls its own address.
    pub canonical: Option<CrawlUrl>,
    /// That address, where it is believed: the links of this page are left to it, until it proves not to hold the same.
    pub copy_of: Option<UrlId>,
    /// Links to URLs not fetched yet, in order of appearance; all links where the strategy learns from them.
    pub links: Vec<Link>,
    /// The rest of the link graph: links to URLs that were fetched before, or that changed nothing.
    pub known: Vec<UrlId>,
    /// What it is as a page of a forum, where its host is one.
    pub forum: Option<Box<ForumPage>>,
    /// It was fetched before, and again to see whether it has changed: what has.
    pub again: Option<PageChanges>,
    /// Digest of the set of links in its main content, of a list of all its links: equal sets, equal digests.
    pub outlinks: u64,
    /// Feeds that it names, where it is the first page of its host.
    pub feeds: Vec<CrawlUrl>,
    /// What the server marks this version with.
    pub validators: Option<Box<Validators>>,
    /// What about it may be a trap's.
    pub signs: TrapSignals,
}

/// Whether a page is a document: it has a text of its own, and is no listing, which is a way to documents.
pub fn is_document(listing: bool, sketch: Sketch) -> bool {
    !listing && sketch.is_text()
}

impl PageProcessed {
    /// Whether it is a relevant document. Only these count: in the harvest, for goals, in reports and exports. What leads on
    /// is judged by [`Settled::relevant`] alone: a listing on the topic is a good way.
    pub fn is_relevant_document(&self) -> bool {
        let listing = match self.forum.as_deref().map(|page| page.kind) {
            Some(PageKind::Index { .. }) => true,
            // Posts are a row too, but not of links to something else.
            Some(PageKind::Thread { .. }) => false,
            _ => self.listing,
        };
        self.relevant && is_document(listing, self.sketch)
    }

    /// What is kept of a page that was read; its links are another matter.
    pub fn of(id: UrlId, status: u16, place: QueueEntry, relevant: bool, page: Page) -> Self {
        Self {
            id,
            status,
            bytes: page.bytes,
            place,
            relevance: page.relevance,
            relevant,
            title: page.title,
            language: page.language,
            author: page.author,
            digest: page.digest,
            terms: page.terms,
            listing: page.listing,
            noindex: page.noindex,
            rendered: page.rendered,
            expires: page.expires,
            foreign: false,
            sketch: page.sketch,
            published: page.published,
            canonical: page.canonical,
            copy_of: None,
            links: Vec::new(),
            known: Vec::new(),
            forum: None,
            again: None,
            outlinks: 0,
            feeds: Vec::new(),
            validators: None,
            signs: TrapSignals::default(),
        }
    }
}

/// What happened.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Event {
    /// A URL got its number.
    Discovered(Discovered),
    /// A seed was queued.
    SeedJudged(Link),
    /// A link was refused before its URL got a number (scope).
    LinkRejected {
        /// The URL.
        url: CrawlUrl,
        /// The page it was found on; none for a seed.
        from: Option<UrlId>,
        /// Why.
        reason: SkipReason,
    },
    /// A page was fetched, read and judged.
    PageFetched(Box<PageProcessed>),
    /// A page whose links had been dropped was found again on a path with more tunnel left, or is no copy of the address that
    /// it calls its own: its links, judged anew.
    Rejudged {
        /// Which page.
        id: UrlId,
        /// What it takes over from the new path.
        place: QueueEntry,
        /// Its links to URLs not fetched yet.
        links: Vec<Link>,
    },
    /// A URL answered with a redirect.
    Redirected {
        /// Which.
        id: UrlId,
        /// The redirect's target as a link: it takes over trail and place unchanged.
        link: Option<Link>,
        /// The server says that it is for good (301, 308).
        permanent: bool,
    },
    /// A page fetched before says what it said: the server says so (304), or the same bytes came.
    Unchanged {
        /// Which.
        id: UrlId,
        /// HTTP status.
        status: u16,
        /// When the answer on record was fetched.
        since: Millis,
        /// What the server marks it with from now on, where it says so.
        validators: Option<Box<Validators>>,
    },
    /// A page fetched before is no longer there: it was missed for longer than the grace, or has moved for good.
    PageGone {
        /// Which.
        id: UrlId,
        /// Where it has moved to, if it has.
        to: Option<UrlId>,
    },
    /// A fetch brought no page; it will be tried again.
    FetchRetried {
        /// Which.
        id: UrlId,
        /// Why.
        failure: Failure,
    },
    /// A fetch brought no page, for good.
    FetchFailed {
        /// Which.
        id: UrlId,
        /// Why.
        failure: Failure,
    },
    /// A queued URL was refused when its turn came.
    UrlExcluded {
        /// Which.
        id: UrlId,
        /// Why.
        reason: SkipReason,
    },
    /// A queued URL goes on under the scheme that its host answers.
    SchemeRewritten {
        /// Which.
        id: UrlId,
        /// The same under the other scheme, if it is not fetched or refused already: it takes over the place.
        link: Option<Link>,
    },
    /// From now on all URLs of the host are taken under this scheme, because it answered under it, not under the
    /// other, or redirected to it.
    Scheme {
        /// The host.
        host: HostId,
        /// https or http.
        https: bool,
    },
    /// A robots.txt was asked for, and this came of it.
    Robots {
        /// The host.
        host: HostId,
        /// Scheme, host and port it speaks for.
        origin: String,
        /// What it says.
        rules: RobotsRules,
        /// Why it could not be had, where that was a failure.
        failure: Option<Failure>,
    },
    /// A robots.txt answered with a redirect.
    RobotsRedirected {
        /// The host.
        host: HostId,
        /// Scheme, host and port it speaks for.
        origin: String,
        /// Where it is said to be.
        to: CrawlUrl,
    },
    /// A URL came to the head and the strategy thinks less of it than when it was queued: it waits on, further back.
    Reprioritized {
        /// Which.
        id: UrlId,
        /// What it is worth now.
        priority: Priority,
    },
    /// A step of a forum's crawl that no page brought.
    Forum(Box<ForumStep>),
    /// A step of a refresh.
    Refresh(Box<RefreshStep>),
    /// What the crawl has come to know of a host's traps.
    Trap(Box<TrapStep>),
    /// A host has proved worth it, so that its sitemaps and feeds are asked for further pages.
    SitemapsQueued {
        /// The host.
        host: HostId,
        /// Its sitemaps and feeds.
        links: Vec<Link>,
    },
    /// A sitemap or a feed was read.
    SitemapRead {
        /// Which.
        id: UrlId,
        /// Pages that it says have changed since they were last there.
        pages: Vec<UrlId>,
        /// Further sitemaps.
        sources: Vec<UrlId>,
        /// Pages never fetched that it names, and further sitemaps, where it is asked for such.
        links: Vec<Link>,
        /// It tells of known pages when they changed.
        useful: bool,
        /// To ask by whether it has changed.
        validators: Option<Box<Validators>>,
    },
    /// A host answered from another address than before; never told where a proxy stands between.
    HostResolved {
        /// The host.
        host: HostId,
        /// The address.
        address: IpAddr,
    },
}

impl Event {
    /// Whether it tells of a request that brought no answer, or none but that the host is out of order.
    pub fn is_unanswered(&self) -> bool {
        match self {
            Self::Robots { failure, .. } => failure.as_ref().is_some_and(Failure::is_hosts),
            Self::FetchRetried { failure, .. } | Self::FetchFailed { failure, .. } => failure.is_hosts(),
            _ => false,
        }
    }
}

/// What one settling brought, at one time: the store's transaction.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Batch {
    /// When.
    pub at: Millis,
    /// How long the fetch took that was settled, in milliseconds; none where there was none.
    pub took: Option<u64>,
    /// What, in order.
    pub events: Vec<Event>,
}

/// Why the machine has nothing more to hand out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stop {
    /// The page limit is reached.
    PageLimit,
    /// Nothing is queued any more.
    FrontierEmpty,
    /// All that is queued lies on hosts that fail or whose robots.txt cannot be had.
    OnlyUnreachable,
    /// The requests or the minutes of a refresh are used up.
    BudgetSpent,
    /// So many relevant pages were asked for, and they are there.
    RelevantReached,
    /// So many bytes were asked for, and they are there.
    BytesReached,
    /// The minutes of the run are over.
    TimeUp,
    /// Too few of the last pages were relevant.
    TopicExhausted,
    /// So many requests went out that no more may.
    RequestLimit,
}

impl Stop {
    /// One sentence for people.
    pub fn why(self) -> &'static str {
        match self {
            Self::PageLimit => {
                "Page limit reached. Rerun with a larger --max-pages (or --stop-when pages=N) to continue."
            }
            Self::FrontierEmpty => "Nothing is left to fetch.",
            Self::OnlyUnreachable => {
                "The remaining hosts fail, or their robots.txt cannot be fetched. Rerun the same command to retry them."
            }
            Self::BudgetSpent => "The budget is used up.",
            Self::RelevantReached => "Limit of relevant pages reached. Rerun with a larger limit to continue.",
            Self::BytesReached => "Limit of bytes reached. Rerun with a larger limit to continue.",
            Self::RequestLimit => {
                "Request limit reached (limits.requests; default: ten for each page of --max-pages, plus 1000). Rerun with a \
                 larger --max-requests to continue."
            }
            Self::TimeUp => "Time limit of this run reached. Rerun the same command to continue.",
            Self::TopicExhausted => {
                "Harvest rate below stop.harvest: too few of the last pages were relevant. Rerun with another threshold to continue."
            }
        }
    }
}
