//! The corpus: the pages of a crawl as documents, selected, without duplicates.
//!
//! The log has everything but the text ([`Catalogue`]), so pages are selected without parsing ([`Filter`]). Then the
//! selected ones are read from the archive, a portion at a time, on all cores ([`stream()`]).

mod announcements;
mod boilerplate;
mod catalogue;
mod condition;
pub mod document;
mod duplicates;
mod entry;
mod fields;
mod filter;
mod first_posts;
mod forums;
mod names;
mod rescore;
mod stream;
mod thread;
mod thread_boilerplate;
mod topic_samples;
mod url_history;
mod visits;

pub use catalogue::Catalogue;
pub use condition::{Bounds, Condition, ConditionError};
pub use document::{CorpusDocument, Parts, id as document_id};
pub use entry::{CatalogueEntry, PageRole, SeenTimes};
pub use fields::{DocumentFields, JsonDocument, UnknownField};
pub use filter::{DuplicatePolicy, Filter, Selection};
pub use names::UrlNames;
pub use rescore::{SecondOpinions, rescore};
pub use stream::{SelectedDocument, StoredResponse, Streamed, stream};
pub use topic_samples::TopicSamples;
pub use url_history::UrlHistory;

/// Limit of decoded bodies; nothing larger was stored.
pub const MAX_BODY: usize = 1 << 30;

#[doc(hidden)]
pub mod fixture;
