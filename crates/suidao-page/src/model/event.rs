//! The events of a crawl. All state is a fold of them: the machine, the store, the logs and the exports read nothing
//! else. Times are kept outside ([`Batch`]), so that two runs of one crawl can be compared byte for byte.

use core::net::IpAddr;

use serde::{Deserialize, Serialize};

use crate::messages::Lang;

use super::{
    CrawlUrl, Day, Digest, Failure, ForumPage, ForumStep, HostId, Link, Millis, Page, PageChanges, PageKind, Priority,
    QueueEntry, RefreshStep, Relevance, Sketch, SkipReason, TermMatch, TrapSignals, TrapStep, UrlId, UrlOrigin,
    Validators,
};

impl Event {
    /// The links in this event.
    pub fn links(&self) -> &[Link] {
        match self {
            Self::SeedJudged(link) | Self::LinkOffered(link) => std::slice::from_ref(link),
            Self::PageFetched(page) => &page.links,
            Self::Redirected { link, .. } | Self::SchemeRewritten { link, .. } => link.as_slice(),
            Self::SitemapRead { links, .. } | Self::SitemapsQueued { links, .. } | Self::Rejudged { links, .. } => {
                links
            }
            _ => &[],
        }
    }

    /// The URL that it is about, unless it is about a host or several URLs, or names the URL itself.
    pub fn url_id(&self) -> Option<UrlId> {
        match self {
            Self::SeedJudged(link) | Self::LinkOffered(link) => Some(link.to),
            Self::PageFetched(page) => Some(page.id),
            Self::Rejudged { id, .. }
            | Self::Redirected { id, .. }
            | Self::Unchanged { id, .. }
            | Self::PageGone { id, .. }
            | Self::FetchRetried { id, .. }
            | Self::FetchFailed { id, .. }
            | Self::UrlExcluded { id, .. }
            | Self::SchemeRewritten { id, .. }
            | Self::Reprioritized { id, .. }
            | Self::SitemapRead { id, .. }
            | Self::Released { id } => Some(*id),
            Self::Discovered(_)
            | Self::LinkRejected { .. }
            | Self::Scheme { .. }
            | Self::Robots { .. }
            | Self::RobotsRedirected { .. }
            | Self::Forum(_)
            | Self::Refresh(_)
            | Self::Trap(_)
            | Self::SitemapsQueued { .. }
            | Self::HostResolved { .. }
            | Self::Rescored { .. }
            | Self::LearntElsewhere { .. } => None,
        }
    }
}

/// A URL got its number. Numbers have no gaps and start at 0.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Discovered {
    pub id: UrlId,
    pub url: CrawlUrl,
    pub origin: UrlOrigin,
    /// Text of the link that led to it; empty for seeds and redirects.
    pub anchor: String,
}

/// The robots.txt of an origin.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RobotsRules {
    /// The file's rules (at most 500 KiB, RFC 9309, 2.5).
    Rules(#[serde(with = "as_text")] Vec<u8>),
    /// 4xx: there is no file, so everything is allowed.
    AllowAll,
    /// 5xx or unreachable: everything is forbidden until a later attempt.
    Unreachable,
}

/// Bytes as text in human-readable formats and as bytes in the log.
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

/// A page was fetched, read and scored.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PageProcessed {
    pub id: UrlId,
    pub status: u16,
    /// Length of the decoded body.
    pub bytes: u32,
    /// The queue entry it was taken from.
    pub queued_as: QueueEntry,
    /// Page relevance, eq. (1).
    pub relevance: Relevance,
    /// `relevance` is at or above the page threshold, and the crawl keeps its language. Listings may be on topic too.
    pub on_topic: bool,
    pub title: String,
    /// Detected language.
    pub language: Option<String>,
    /// Author, if the page names one.
    pub author: Option<String>,
    pub digest: Digest,
    pub terms: Vec<TermMatch>,
    /// The main content is mostly a list of records with links.
    pub listing: bool,
    /// The page forbids indexing.
    pub noindex: bool,
    /// Read from what a browser made of the page after running its scripts.
    pub rendered: bool,
    /// Indexing is forbidden from this time on (`unavailable_after`).
    pub expires: Option<Millis>,
    /// In none of the languages that the crawl keeps, and so not relevant.
    pub foreign: bool,
    pub sketch: Sketch,
    /// Publication date, if the page states one.
    pub published: Option<Day>,
    /// `rel=canonical`, if it names another URL.
    pub canonical: Option<CrawlUrl>,
    /// The canonical URL, if it is trusted: this page's links are not followed unless that URL turns out to differ.
    pub copy_of: Option<UrlId>,
    /// Links to URLs not fetched yet, in order of appearance; all links if the strategy learns from them.
    pub links: Vec<Link>,
    /// The rest of the link graph: links to URLs that are fetched already or that changed nothing.
    pub known: Vec<UrlId>,
    /// The page's part in a forum, if its host is one.
    pub forum: Option<Box<ForumPage>>,
    /// What has changed, if this is a revisit.
    pub changes: Option<PageChanges>,
    /// Digest of the set of links: of the main content, or of all links if the page is a listing.
    pub outlinks_digest: u64,
    /// Feeds that it names, if it is the first page of its host.
    pub feeds: Vec<CrawlUrl>,
    /// `ETag` and `Last-Modified` of this version.
    pub validators: Option<Box<Validators>>,
    /// Signs of a crawler trap.
    pub trap_signals: TrapSignals,
    /// Estimated distance from the topic in links, if the topic has layers and the page is in one.
    pub layer: Option<u8>,
}

/// The new score of a page that was judged again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PageScore {
    /// Number of the batch with its [`Event::PageFetched`].
    pub batch: u64,
    pub relevance: Relevance,
    pub on_topic: bool,
    pub terms: Vec<TermMatch>,
    pub layer: Option<u8>,
}

/// Whether a page is a document: it has a text of its own and is not a listing.
pub fn is_document(listing: bool, sketch: Sketch) -> bool {
    !listing && sketch.is_text()
}

/// The relevance of a page in words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RelevanceLabel {
    Relevant,
    OffTopic,
    /// A listing page on topic.
    Listing,
    /// On topic, with too little text for a document.
    LittleText,
}

impl RelevanceLabel {
    pub fn of(on_topic: bool, listing: bool, sketch: Sketch) -> Self {
        match (on_topic, listing) {
            (false, _) => Self::OffTopic,
            (true, true) => Self::Listing,
            (true, false) if sketch.is_text() => Self::Relevant,
            (true, false) => Self::LittleText,
        }
    }

    pub fn text(self, lang: Lang) -> &'static str {
        match self {
            Self::Relevant => lang.phrase("relevant"),
            Self::OffTopic => lang.phrase("off-topic"),
            Self::Listing => lang.phrase("on-topic-listing-page"),
            Self::LittleText => lang.phrase("on-topic-page-with-little-text"),
        }
    }
}

impl PageProcessed {
    /// Whether it is a relevant document. Only these count in the harvest, for goals, in reports and exports. Links are
    /// scored by [`PageProcessed::on_topic`], because a listing on topic leads to documents.
    pub fn is_relevant_document(&self) -> bool {
        self.on_topic && is_document(self.is_listing(), self.sketch)
    }

    /// Its relevance in words.
    pub fn relevance_label(&self) -> RelevanceLabel {
        RelevanceLabel::of(self.on_topic, self.is_listing(), self.sketch)
    }

    fn is_listing(&self) -> bool {
        match self.forum.as_deref().map(|page| page.kind) {
            Some(PageKind::Index { .. }) => true,
            // Posts are a list of records too, but their links do not lead to documents.
            Some(PageKind::Thread { .. } | PageKind::Postless { .. }) => false,
            _ => self.listing,
        }
    }

    /// Replaces the results of scoring it.
    pub fn rescore(&mut self, score: PageScore) {
        let PageScore { batch: _, relevance, on_topic, terms, layer } = score;
        (self.relevance, self.on_topic, self.terms, self.layer) = (relevance, on_topic, terms, layer);
    }

    /// The event of a page that was read, without its links.
    pub fn of(id: UrlId, status: u16, entry: QueueEntry, on_topic: bool, page: Page) -> Self {
        Self {
            id,
            status,
            bytes: page.bytes,
            queued_as: entry,
            relevance: page.relevance,
            on_topic,
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
            changes: None,
            outlinks_digest: 0,
            feeds: Vec::new(),
            validators: None,
            trap_signals: TrapSignals::default(),
            layer: page.layer,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Event {
    Discovered(Discovered),
    SeedJudged(Link),
    /// A link was rejected by scope before its URL got a number.
    LinkRejected {
        /// The rejected URL.
        url: CrawlUrl,
        /// The page it was found on; `None` for a seed.
        from: Option<UrlId>,
        reason: SkipReason,
    },
    PageFetched(Box<PageProcessed>),
    /// The links of a fetched page were scored again: a path with more tunnel budget reached the page, or it proved not
    /// to be a copy of its canonical URL.
    Rejudged {
        id: UrlId,
        /// What the page inherits from the new path.
        entry: QueueEntry,
        /// Its links to URLs not fetched yet.
        links: Vec<Link>,
    },
    /// A URL answered with a redirect.
    Redirected {
        id: UrlId,
        /// The target as a link: it inherits path state and queue entry unchanged.
        link: Option<Link>,
        /// Permanent redirect (301, 308).
        permanent: bool,
    },
    /// A revisited page is unchanged: status 304, or the same bytes.
    Unchanged {
        id: UrlId,
        status: u16,
        /// When the stored response was fetched.
        since: Millis,
        /// The current validators, if the response has any.
        validators: Option<Box<Validators>>,
    },
    /// A page is gone: missing for longer than the grace period, or moved permanently.
    PageGone {
        id: UrlId,
        /// Its new URL, if it moved.
        to: Option<UrlId>,
    },
    /// A fetch failed and will be tried again.
    FetchRetried {
        /// The URL.
        id: UrlId,
        failure: Failure,
    },
    /// A fetch failed, and no attempt will follow.
    FetchFailed {
        /// The URL.
        id: UrlId,
        failure: Failure,
    },
    /// A queued URL was excluded when it was taken from the queue.
    UrlExcluded {
        /// The URL.
        id: UrlId,
        reason: SkipReason,
    },
    /// A queued URL changes to the scheme that its host prefers.
    SchemeRewritten {
        /// The URL.
        id: UrlId,
        /// The rewritten URL, unless it is already fetched or excluded; it inherits the queue entry.
        link: Option<Link>,
    },
    /// All URLs of this host use this scheme from now on: the host answered only under it, or redirected to it.
    Scheme {
        host: HostId,
        /// https instead of http.
        https: bool,
    },
    /// A robots.txt was fetched, or the fetch failed.
    Robots {
        host: HostId,
        /// Scheme, host and port that the rules apply to.
        origin: String,
        /// The rules that result.
        rules: RobotsRules,
        /// Why the fetch failed.
        failure: Option<Failure>,
    },
    /// A robots.txt redirects.
    RobotsRedirected {
        host: HostId,
        /// Scheme, host and port that the rules apply to.
        origin: String,
        /// The target.
        to: CrawlUrl,
    },
    /// The strategy lowered the score of a URL at the head of its queue, so it was queued again.
    Reprioritized {
        id: UrlId,
        /// The new priority.
        priority: Priority,
    },
    /// A step of a forum crawl that no page caused.
    Forum(Box<ForumStep>),
    /// A step of a refresh.
    Refresh(Box<RefreshStep>),
    /// What the crawl learned about a host's traps.
    Trap(Box<TrapStep>),
    /// The host has enough relevant pages, so its sitemaps and feeds are read for further pages.
    SitemapsQueued {
        host: HostId,
        /// Its sitemaps and feeds.
        links: Vec<Link>,
    },
    /// A sitemap or feed was read.
    SitemapRead {
        id: UrlId,
        /// Known pages that it lists as changed since their last visit.
        pages: Vec<UrlId>,
        /// Further sitemaps.
        sources: Vec<UrlId>,
        /// Pages never fetched that it lists, and further sitemaps, if discovery through sitemaps is on for the host.
        links: Vec<Link>,
        /// It lists modification times of known pages.
        useful: bool,
        /// Validators for the next conditional request.
        validators: Option<Box<Validators>>,
    },
    /// A host resolved to a new address. Absent behind a proxy.
    HostResolved {
        host: HostId,
        /// The new address.
        address: IpAddr,
    },
    /// A link from outside the crawl was judged.
    LinkOffered(Link),
    /// A URL that waited for better ones is fetched, because no page came for 2 s.
    Released {
        id: UrlId,
    },
    /// Pages were judged again by another lexicon or threshold, in order of their batches. The store gives every reader
    /// of the log the page with its new score.
    Rescored {
        pages: Vec<PageScore>,
    },
    /// What the other partitions of a distributed crawl have learnt: the sums over them that have changed.
    LearntElsewhere {
        sums: Vec<LearntSum>,
    },
}

/// A sum of a learning strategy that is about no single host.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct LearntSum {
    pub about: SumAbout,
    /// Sum of the values, such as the rewards of documents.
    pub value: f32,
    /// Sum of their weights, such as their number.
    pub weight: f32,
}

/// The pages that a [`LearntSum`] is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SumAbout {
    /// All documents.
    Documents,
    /// Hosts discovered by the crawl.
    DiscoveredHosts,
    /// Pages of recommended sites.
    Blogrolls,
    /// Documents linked from this position in the tag tree ([`Link::dom_path`]).
    Position(u32),
    /// Documents under tags and categories of this word, by its hash.
    Word(u64),
}

impl Event {
    /// Whether it reports a request that failed because of the host, which is down or overloaded.
    pub fn is_unanswered(&self) -> bool {
        match self {
            Self::Trap(step) => {
                matches!(&**step, TrapStep::Unanswered { failure, .. } if failure.is_host_failure())
            }
            Self::Robots { failure, .. } => failure.as_ref().is_some_and(Failure::is_host_failure),
            Self::FetchRetried { failure, .. } | Self::FetchFailed { failure, .. } => failure.is_host_failure(),
            _ => false,
        }
    }

    /// Whether it is the result of a request.
    pub fn is_request(&self) -> bool {
        self.is_other_request()
            || matches!(
                self,
                Self::PageFetched(_)
                    | Self::Unchanged { .. }
                    | Self::Redirected { .. }
                    | Self::FetchRetried { .. }
                    | Self::FetchFailed { .. }
                    | Self::SitemapRead { .. }
            )
    }

    /// Whether it is the result of a request for a robots.txt, or for a page that cannot exist.
    pub fn is_other_request(&self) -> bool {
        match self {
            Self::Robots { .. } | Self::RobotsRedirected { .. } => true,
            Self::Trap(step) => matches!(&**step, TrapStep::Soft404Probe { .. } | TrapStep::Unanswered { .. }),
            _ => false,
        }
    }
}

/// Events decided at one time, such as those of one processed fetch: one transaction of the store.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Batch {
    pub at: Millis,
    /// Duration of the fetch in milliseconds; `None` without a fetch.
    pub latency: Option<u64>,
    pub events: Vec<Event>,
}

/// Why no URL is left to fetch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stop {
    PageLimit,
    /// The queue is empty.
    FrontierEmpty,
    /// Every queued URL is on a host that fails or whose robots.txt cannot be fetched.
    OnlyUnreachable,
    /// The requests or minutes of a refresh are used up.
    BudgetSpent,
    /// The goal of relevant pages is reached.
    RelevantReached,
    /// The goal of bytes is reached.
    BytesReached,
    /// The time limit is reached.
    TimeUp,
    /// Too few of the last pages were relevant.
    TopicExhausted,
    /// The request limit is reached.
    RequestLimit,
}

impl Stop {
    /// Why a run ended, as one sentence.
    pub fn reason(self, lang: Lang) -> &'static str {
        match self {
            Self::PageLimit => lang.phrase("stopped-pages"),
            Self::FrontierEmpty => lang.phrase("stopped-empty"),
            Self::OnlyUnreachable => lang.phrase("stopped-failing"),
            Self::BudgetSpent => lang.phrase("stopped-budget"),
            Self::RelevantReached => lang.phrase("stopped-relevant"),
            Self::BytesReached => lang.phrase("stopped-bytes"),
            Self::RequestLimit => lang.phrase("stopped-requests"),
            Self::TimeUp => lang.phrase("stopped-minutes"),
            Self::TopicExhausted => lang.phrase("stopped-harvest"),
        }
    }

    /// The reason, and how to continue a crawl that can be continued.
    pub fn advice(self) -> String {
        let step = match self {
            Self::PageLimit => " Rerun with a larger --max-pages (or --stop-when pages=N) to continue.",
            Self::OnlyUnreachable => " Rerun the same command to retry them.",
            Self::RelevantReached => " Rerun with a larger --stop-when relevant=N to continue.",
            Self::BytesReached => " Rerun with a larger --stop-when bytes=N to continue.",
            Self::RequestLimit => " Rerun with a larger --max-requests to continue.",
            Self::TimeUp => " Rerun the same command to continue.",
            Self::TopicExhausted => " Rerun with a lower rate in --stop-when harvest<... to continue.",
            Self::FrontierEmpty | Self::BudgetSpent => "",
        };
        self.reason(Lang::English).to_owned() + step
    }
}
