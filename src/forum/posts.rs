//! Posts of a thread.
use super::tree::Tree;
use crate::model::{Clock, PostRecord};
/// The posts.
#[must_use]
pub fn posts(_tree: &Tree, _clock: Clock) -> Vec<PostRecord> {
    Vec::new()
}
