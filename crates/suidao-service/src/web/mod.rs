//! The web interface: pages on which a person goes from ten words to a search engine. Rendered here; the little script
//! only refreshes parts of a page and passes keys on.

mod crawl;
mod files;
mod find;
mod frame;
mod label;
mod list;
mod new;
mod progress;
mod terms;

pub(crate) use crawl::{act, live, overview};
pub(crate) use files::{export, files, report};
pub(crate) use find::{described, feed, found};
pub(crate) use frame::problem_page;
pub(crate) use label::{answered, estimated, label, learn};
pub(crate) use list::{enter, list, login, script, speak};
pub(crate) use new::{create, form};
pub(crate) use progress::progress;
pub(crate) use terms::{change, terms};
