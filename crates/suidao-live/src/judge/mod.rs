//! A judge outside of the program: a server of embeddings or chat in OpenAI's form, or a command. It answers texts, and
//! nothing that it does stops a verb: an answer that cannot be used is a [`JudgeFailure`], counted by kind.
//!
//! [`OutsideJudge`] asks (`http.rs`, `command.rs`); `answer.rs` reads what was answered, without I/O. [`Opinions`] is
//! the judge near the boundary of a lexicon, with the verdicts that a crawl directory keeps (`verdicts.rs`).

mod answer;
mod ask;
mod command;
mod failure;
mod http;
mod opinions;
mod settings;
mod verdicts;

pub use answer::{Answer, Verdict};
pub use ask::OutsideJudge;
pub use failure::{Failures, JudgeError, JudgeFailure};
pub use opinions::{OpinionReport, Opinions, OpinionsError};
pub use settings::{JudgeSettings, PROMPT};
