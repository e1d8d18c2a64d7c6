//! Queue entries in words.

use suidao_page::messages::Lang;
use suidao_page::model::{QueueEntry, TunnelBudget};

pub(super) fn describe_k(entry: QueueEntry) -> String {
    match entry.path.k {
        TunnelBudget::Unbounded => "k ∞".to_owned(),
        TunnelBudget::Left(left) => format!("k {left}"),
    }
}

pub(super) fn describe_entry(entry: QueueEntry, detailed: bool, lang: Lang) -> String {
    let queue = if detailed { lang.text("why-in-queue", &[&entry.queue.0, &describe_k(entry)]) } else { String::new() };
    let priority = format!("{:.3}", entry.priority.get());
    lang.text("why-entry", &[&priority, &queue, &entry.path.hops, &entry.path.depth])
}

/// How a URL was queued: as a seed or by a link.
pub(super) fn how_queued(entry: QueueEntry, is_seed: bool, detailed: bool, lang: Lang) -> String {
    let described = describe_entry(entry, detailed, lang);
    match (is_seed, detailed) {
        (true, false) => lang.text("why-queued-seed", &[&format!("{:.3}", entry.priority.get())]),
        (true, true) => lang.text("why-queued-seed-with", &[&described]),
        (false, _) => lang.text("why-queued", &[&described]),
    }
}
