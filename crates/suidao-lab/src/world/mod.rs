//! A generated web for the demo, tests, benches and experiments: topic islands joined by off-topic tunnels, in Chinese,
//! on several hosts, with the traps of real webs. Also generated forums with skins of software in use ([`Forum`]).
//!
//! A page is a number. Its URL, text and links are functions of the seed and that number ([`SyntheticWeb`]), so the web
//! needs a few dozen bytes per host, island and tunnel and nothing per page. A [`WebSpec`] contains its parameters.

mod address;
mod blog;
mod change;
pub mod changing;
mod clock;
pub mod forum;
mod html;
mod layout;
mod links;
mod response;
mod scenario;
mod serve;
mod spec;
mod target;
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
pub use scenario::Scenario;
pub use serve::{Proxied, ServedRequest, ServerOptions, WebServer};
pub use spec::{PathShape, SpecError, WebSpec};
pub use truth::{ServedUrl, SyntheticWeb};
pub use words::topic_words;
