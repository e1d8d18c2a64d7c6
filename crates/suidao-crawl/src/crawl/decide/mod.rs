//! Decisions: pure functions from a [`Draft`](super::draft::Draft) to events. None changes the state.

pub mod archived;
pub mod canonical;
pub mod choose;
pub mod failure;
pub mod forum;
pub mod links;
pub mod offers;
pub mod page;
pub mod response;
pub mod revisits;
pub mod seeds;
pub mod sitemaps;

use suidao_page::model::{Priority, QueueEntry};

/// The same queue entry, but before all of equal rank.
fn ahead(entry: QueueEntry) -> QueueEntry {
    QueueEntry { priority: Priority::new(entry.priority.get().next_up()), ..entry }
}
