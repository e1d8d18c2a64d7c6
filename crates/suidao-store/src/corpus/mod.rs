//! The corpus: the pages of a crawl as documents, chosen, without duplicates, one after the other.
//!
//! The log answers all but the text ([`Catalogue`]), so pages are chosen before any is read again ([`Filter`]); then
//! the chosen ones are read from the archive, a portion at a time and on all cores ([`stream()`]).

mod catalogue;
pub mod document;
mod duplicates;
mod fields;
mod filter;
mod names;
mod repeats;
mod story;
mod stream;
mod thread;
mod visits;

pub use catalogue::{Catalogue, Entry};
pub use document::{Document, Parts};
pub use fields::{Fields, Shown, UnknownField};
pub use filter::{Duplicates, Filter, Selection};
pub use names::Names;
pub use story::Story;
pub use stream::{Answer, Chosen, Streamed, stream};
pub use visits::{Part, Seen};

#[cfg(any(test, feature = "fixture"))]
pub mod fixture;
