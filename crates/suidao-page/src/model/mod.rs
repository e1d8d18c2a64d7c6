//! Plain values that all other modules share; no I/O.

pub mod address_class;
mod chunked_vec;
mod event;
mod failure;
mod forum;
mod link;
pub mod number;
mod page;
mod refresh;
mod renumber;
mod scores;
mod sitemap;
pub mod size;
mod skip_reason;
mod time;
mod trap;
mod url;

pub use chunked_vec::ChunkedVec;
pub use event::{
    Batch, Discovered, Event, LearntSum, PageProcessed, PageScore, RelevanceLabel, RobotsRules, Stop, SumAbout,
    is_document,
};
pub use failure::{Failure, FailureKind, TextLoss};
pub use forum::{
    ApproxTime, BoardEntry, ForumMap, ForumPage, ForumPageLink, ForumPageView, ForumRole, ForumStep, IndexPage,
    ListedActivity, PageKind, PaginationLink, PagingRule, PostRecord, ThreadRecord, TimeContext,
};
pub use link::{Link, LinkState, UrlOrigin};
pub use page::{Defect, Digest, Fetched, Outlink, Page, Region, Sketch, TermMatch, Validators};
pub use refresh::{AT_ONCE, Budget, PageChanges, RefreshStep};
pub use renumber::Renumber;
pub use scores::{
    LinkDecision, LinkScores, PathState, Priority, QueueEntry, QueueId, QueuePolicy, Relevance, TunnelBudget,
};
pub use sitemap::{SitemapContent, SitemapEntry};
pub use skip_reason::SkipReason;
pub use time::{Day, Millis, Timestamp, span};
pub use trap::{MissingPageResponse, TrapSignals, TrapStep};
pub use url::{CrawlUrl, HostId, UrlError, UrlId, syntax_problem};
