//! The posts of all pages of a thread as one list. Apart from the reading of a page, which knows no other: here is told which
//! posts of two pages, or of two visits of a page, are one.

use jiff::Timestamp;
use rustc_hash::FxHashMap;

use super::document::Post;
use crate::model::PostRecord;

/// A page of a thread as it was read.
pub(super) struct ThreadPage {
    /// Its number, from 1.
    pub page: u16,
    /// Number of the visit: the higher, the later.
    pub visit: u64,
    /// Its posts, in order.
    pub posts: Vec<PostRecord>,
}

/// A post as it stands so far.
struct Kept {
    post: PostRecord,
    /// The first place that it was seen at.
    at: (u16, usize),
}

/// Merges the pages of a thread. Two posts of different visits are one if they have one anchor; else one number in the
/// thread, and nothing that tells them apart; else one writer, time and text. What was read last is what it says.
pub(super) fn merge(mut pages: Vec<ThreadPage>) -> Vec<PostRecord> {
    pages.sort_by_key(|page| page.visit);
    let mut kept: Vec<Kept> = Vec::new();
    let mut by_anchor: FxHashMap<String, usize> = FxHashMap::default();
    let mut by_floor: FxHashMap<u32, usize> = FxHashMap::default();
    let mut by_text: FxHashMap<String, Vec<usize>> = FxHashMap::default();
    for ThreadPage { page, posts, .. } in pages {
        // Posts of one page are as many as it shows, whatever they say.
        let before = kept.len();
        let mut met = vec![false; before];
        for (number, post) in posts.into_iter().enumerate() {
            let free = |at: &usize| *at < before && !met[*at];
            let known = post.anchor.as_ref().and_then(|anchor| by_anchor.get(anchor)).copied();
            let by_number = || {
                let at = *by_floor.get(&post.floor?)?;
                let other = &kept[at].post;
                let told_apart = post.anchor.is_some() && other.anchor.is_some() || !agree(&post, other);
                (free(&at) && (!told_apart || same_words(&post, other))).then_some(at)
            };
            let by_words = || {
                let all = by_text.get(&post.text)?;
                all.iter().copied().find(|at| free(at) && same_words(&post, &kept[*at].post))
            };
            let known = known.or_else(by_number).or_else(by_words);
            let at = known.unwrap_or(kept.len());
            by_anchor.extend(post.anchor.clone().map(|anchor| (anchor, at)));
            by_floor.extend(post.floor.map(|floor| (floor, at)));
            match kept.get_mut(at) {
                Some(known) => {
                    if let Some(met) = met.get_mut(at) {
                        *met = true;
                    }
                    if known.post.text != post.text {
                        by_text.entry(post.text.clone()).or_default().push(at);
                    }
                    known.at = known.at.min((page, number));
                    known.post.replace(post);
                }
                None => {
                    by_text.entry(post.text.clone()).or_default().push(at);
                    kept.push(Kept { post, at: (page, number) });
                }
            }
        }
    }
    // Some forums repeat the first post on every page: numbers tell better than places.
    if kept.iter().all(|kept| kept.post.floor.is_some()) {
        kept.sort_by_key(|kept| (kept.post.floor, kept.at));
    } else {
        kept.sort_by_key(|kept| kept.at);
    }
    kept.into_iter().map(|kept| kept.post).collect()
}

/// Whether writers and times, as far as both posts have them, can be the same.
fn agree(one: &PostRecord, other: &PostRecord) -> bool {
    /// Seconds between two looks at one post.
    const SLACK: i64 = 60;
    let writers = one.author.as_ref().zip(other.author.as_ref()).is_none_or(|(one, other)| one == other);
    writers && one.posted.zip(other.posted).is_none_or(|(one, other)| one.agrees(other, SLACK))
}

fn same_words(one: &PostRecord, other: &PostRecord) -> bool {
    one.text == other.text && one.author == other.author && agree(one, other)
}

/// A post as it goes out.
pub(super) fn shown(post: PostRecord) -> Post {
    let posted = post.posted.and_then(|moment| Timestamp::from_second(moment.at).ok());
    Post {
        author: post.author,
        posted: posted.map(|posted| posted.to_string()),
        floor: post.floor.filter(|floor| *floor > 0),
        text: post.text,
    }
}
