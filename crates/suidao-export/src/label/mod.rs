//! What people say of a crawl's pages: which to ask them about, how their answers are kept, and what follows from them.
//!
//! [`Strata`] says which pages to ask about, so that each has a known chance; [`LabelFile`] keeps the answers;
//! [`estimate()`] says how good the crawl's judgement is and which threshold would be better; [`words`] says which
//! words the lexicon lacks or has too many of. All but the file are pure.

mod estimate;
mod excerpt;
mod file;
mod strata;
pub mod words;

pub use estimate::{Estimate, IntervalEstimate, estimate};
pub use excerpt::excerpt;
pub use file::{LabelError, LabelFile, Labels};
pub use strata::Strata;
