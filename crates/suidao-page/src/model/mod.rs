//! The words everything else is written in: plain values without behaviour that needs the outside world.

mod event;
mod failure;
mod forum;
mod hint;
pub mod number;
mod page;
mod refresh;
mod refusal;
mod rows;
mod scores;
mod time;
mod trap;
mod url;

pub use event::{Batch, Discovered, Event, Link, LinkState, Origin, RobotsRules, Settled, Stop, is_document};
pub use failure::{Failure, FailureKind};
pub use forum::{
    BoardEntry, Clock, ForumMap, ForumPage, ForumStep, IndexPage, Listed, Mark, Moment, PageKind, PagingRule,
    PostRecord, Role, Sight, SightLink, ThreadRecord,
};
pub use hint::{Hint, Hints};
pub use page::{Defect, Digest, Fetched, Outlink, Page, Region, Sketch, TermMatch, Validators};
pub use refresh::{Budget, Found, RefreshStep};
pub use refusal::Refusal;
pub use rows::Rows;
pub use scores::{Discipline, Evidence, Lane, Place, Priority, Relevance, Trail, Tunnel, Verdict};
pub use time::{Day, Millis, Timestamp, span};
pub use trap::{AbsentPage, Signs, TrapStep};
pub use url::{CrawlUrl, HostId, UrlError, UrlId};
