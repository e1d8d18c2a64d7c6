//! The threads that a page lists, with the fields of their lines.
//!
//! Works without templates: a line is the largest part of the page with a single thread title (`titles.rs`), and
//! `columns.rs` identifies its numbers, people and times.

use rustc_hash::FxHashSet;

use super::columns::{ColumnHeadings, LineCounts, LineFields, TimeColumns, author_place};
use super::declared::{complete_threads, items};
use super::fields::{is_profile_link, mode};
use super::region::ranges;
use super::sticky::sticky;
use super::titles::{ThreadLine, lines};
use super::tree::{NodeId, Tree};
use suidao_page::model::{CrawlUrl, ThreadRecord, TimeContext};

/// The threads listed on a page, in order. `is_thread` recognises URLs of threads.
pub fn records(tree: &Tree, is_thread: &dyn Fn(&CrawlUrl) -> bool, clock: TimeContext) -> Vec<ThreadRecord> {
    let lines = lines(tree, is_thread, clock);
    let heads = ColumnHeadings::of(tree, lines.first());
    let fields: Vec<LineFields> =
        lines.iter().map(|line| LineFields::of(tree, line, &heads, is_thread, clock)).collect();
    let counts = LineCounts::of(&fields);
    let moments = TimeColumns::of(&fields);
    let author = author_place(&fields);
    let marked = sticky(tree, &lines);
    let mut found: Vec<ThreadRecord> = Vec::with_capacity(lines.len());
    for ((line, fields), sticky) in lines.iter().zip(&fields).zip(marked) {
        let (created, last_reply) = moments.read(fields);
        let (replies, views) = counts.read(fields);
        found.push(ThreadRecord {
            url: line.url.clone(),
            title: title(tree, line.title),
            author: fields.author(author),
            replies,
            views,
            created,
            last_reply,
            sticky,
        });
    }
    // A sidebar lists threads too, with fewer fields.
    let parents: FxHashSet<NodeId> =
        lines.iter().filter(|line| line.main).map(|line| tree.parent(line.roots[0])).collect();
    let kind = mode(lines.iter().filter(|line| line.main).map(|line| tree.name(line.roots[0])));
    let mut records = Vec::with_capacity(found.len());
    for (line, record) in lines.iter().zip(found) {
        let full = record.replies.is_some() || record.last_reply.is_some();
        if line.main || parents.contains(&tree.parent(line.roots[0])) || full && kind == Some(tree.name(line.roots[0]))
        {
            records.push(record);
        }
    }
    if of_thread(tree, &lines, &records, clock) {
        return Vec::new();
    }
    complete_threads(records, items(tree, clock), tree.base(), is_thread)
}

/// Whether the page is a thread's and links other threads next to or inside its posts. Links next to posts have no
/// fields, or little of the page's text; links inside have posts around them.
fn of_thread(tree: &Tree, lines: &[ThreadLine], records: &[ThreadRecord], clock: TimeContext) -> bool {
    /// Number of lines that make a list without further tests.
    const MANY: usize = 4;
    let has_replies = |record: &ThreadRecord| record.replies.is_some() || record.last_reply.is_some();
    let length = |node: NodeId| tree.subtree(node).map(|part| tree.own_text(part).len()).sum::<usize>();
    let own: usize = lines.iter().flat_map(|line| &line.roots).map(|&root| length(root)).sum();
    let is_next_to_posts = !records.iter().any(has_replies) || own * 2 < length(0);
    let titles: FxHashSet<&str> = records.iter().map(|record| record.title.trim_start_matches("Re: ")).collect();
    let people = lines.iter().filter(|line| is_profile_link(tree, line.title)).count();
    if !is_next_to_posts && titles.len() > MANY && titles.len() * 10 >= records.len() * 8 && people * 2 < lines.len() {
        return false;
    }
    let posts = ranges(tree, clock);
    let own = |line: &&ThreadLine| line.url == tree.base() || is_profile_link(tree, line.title);
    let within = lines.iter().filter(|line| own(line) || posts.iter().any(|post| post.contains(&line.title))).count();
    !posts.is_empty() && (is_next_to_posts || within * 2 >= lines.len())
}

fn title(tree: &Tree, link: NodeId) -> String {
    let text = tree.text(link);
    let cut = text.trim_end_matches("...").trim_end_matches('…').trim_end();
    // A truncated title is complete in its tooltip.
    match tree.attribute(link, "title") {
        Some(tip) if cut.len() < text.len() && tip.starts_with(cut) => {
            tip.split_whitespace().collect::<Vec<_>>().join(" ")
        }
        _ => text,
    }
}
