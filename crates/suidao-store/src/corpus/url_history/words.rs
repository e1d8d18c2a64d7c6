//! Queue entries in words.

use suidao_page::model::{QueueEntry, TunnelBudget};

pub(super) fn describe_k(entry: QueueEntry) -> String {
    match entry.path.k {
        TunnelBudget::Unbounded => "k ∞".to_owned(),
        TunnelBudget::Left(left) => format!("k {left}"),
    }
}

pub(super) fn describe_entry(entry: QueueEntry, detailed: bool) -> String {
    let queue = if detailed { format!("queue {}, {}, ", entry.queue.0, describe_k(entry)) } else { String::new() };
    let pages = if entry.path.hops == 1 { "page" } else { "pages" };
    format!(
        "priority {:.3}, {queue}{} off-topic {pages} since the last on-topic one, depth {}",
        entry.priority.get(),
        entry.path.hops,
        entry.path.depth,
    )
}

/// How a URL was queued: as a seed or by a link.
pub(super) fn how_queued(entry: QueueEntry, is_seed: bool, detailed: bool) -> String {
    if is_seed && !detailed {
        return format!("queued as a seed (priority {:.3})", entry.priority.get());
    }
    format!("queued {}with {}", if is_seed { "as a seed " } else { "" }, describe_entry(entry, detailed))
}
