//! A generated web: topic islands joined by off-topic tunnels, in Chinese, on several hosts, with everything a real
//! web has that a crawler trips over. For the demo, the tests, the benches and the experiments.
//!
//! And generated forums, one at a time, under the skins of the software in use ([`Forum`]).
//!
//! A page is a number. Its URL, its text and its links are functions of the seed and that number ([`World`]), so the
//! web costs a few dozen bytes per host, island and bridge and nothing per page. What a web looks like is a [`Spec`].

mod address;
mod answer;
mod blog;
mod change;
pub mod changing;
mod clock;
pub mod forum;
mod html;
mod layout;
mod links;

mod serve;
mod spec;
#[cfg(test)]
mod tests;
mod truth;
mod words;
mod write;

pub use change::{ChangeHistory, Gone, Pattern};
pub use changing::{ChangingSpec, ChangingWeb};
pub use forum::{
    Activity, ActivitySpec, BoardActivity, BoardTruth, Forum, ForumSpec, ForumWeb, Posting, ServedForumPage, Skin,
    ThreadActivity, ThreadTruth,
};
pub use serve::{Proxied, ServedRequest, ServerOptions, WebServer};
pub use spec::{PathShape, SpecError, WebSpec};
pub use truth::SyntheticWeb;
pub use words::topic_words;
