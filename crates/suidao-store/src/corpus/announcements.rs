//! Posts that staff shows above several threads of a forum, and that belong to none.
//!
//! A question asked in two threads, or a moderator's "moved to the right board", looks much the same, and a post that is
//! left out by mistake is lost. So only a post that is the same one in every thread, by its fragment or its exact time,
//! is an announcement.

use rustc_hash::{FxHashMap, FxHashSet};
use xxhash_rust::xxh3::xxh3_64;

use suidao_forum::forum::analysis::PagePosts;
use suidao_page::model::{ApproxTime, PostRecord};

/// Posts at the top of a page among which an announcement may be.
const TOP: usize = 3;
/// Characters of the shortest announcement: people repeat shorter texts.
const TEXT: usize = 16;
/// Threads that must show an announcement.
const THREADS: usize = 3;
/// Threads, and at least half of those compared, that must show it if it may be older than all of them: then only its
/// place distinguishes it from their first posts.
const MANY: usize = 5;
/// Precision in seconds of a time with hours and minutes.
const MINUTE: u32 = 60;

/// The announcements of a forum.
#[derive(Debug, Default)]
pub(super) struct Announcements {
    known: FxHashSet<(u64, Identity)>,
    has_global_fragments: bool,
}

/// What makes equal posts of several threads one post.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Identity {
    /// Of a forum whose fragments differ in all threads.
    Fragment(String),
    /// At the top of each thread.
    Time(ApproxTime),
}

/// A page that shows a possible announcement, and where.
struct Shown<'a> {
    page: &'a PagePosts,
    at: usize,
}

impl Announcements {
    /// `pages`: the first pages of some threads.
    pub fn of(pages: &[PagePosts]) -> Self {
        let has_global_fragments = are_global(pages);
        let mut shown: FxHashMap<(u64, Identity), Vec<Shown>> = FxHashMap::default();
        for page in pages.iter().filter(|page| page.posts.len() > 1) {
            for (at, post) in page.posts.iter().take(TOP).enumerate() {
                for key in identities(post, at, has_global_fragments) {
                    shown.entry(key).or_default().push(Shown { page, at });
                }
            }
        }
        let is_announcement = |(_, identity): &(u64, Identity), shown: &[Shown]| {
            let threads = threads(shown);
            let is_above_most = threads >= MANY && threads * 2 >= pages.len();
            let is_one_post = matches!(identity, Identity::Fragment(_));
            threads >= THREADS && (is_one_post || is_above_most || shown.iter().any(|shown| !shown.may_open()))
        };
        shown.retain(|key, shown| is_announcement(key, shown));
        Self { known: shown.into_keys().collect(), has_global_fragments }
    }

    /// The position of an announcement above the posts of a page. On a page of its own thread, it may be the first post
    /// below the announcement.
    pub fn position(&self, posts: &[PostRecord]) -> Option<usize> {
        if self.known.is_empty() || posts.len() < 2 {
            return None;
        }
        let is_known = |(at, post): (usize, &PostRecord)| {
            identities(post, at, self.has_global_fragments).iter().any(|key| self.known.contains(key))
        };
        posts.iter().take(TOP).enumerate().position(is_known)
    }
}

impl Shown<'_> {
    /// Whether the post may be the first of this thread: it is the earliest, and no other has the number of the first.
    fn may_open(&self) -> bool {
        let rest = &self.page.posts[self.at + 1..];
        let own = &self.page.posts[self.at];
        let times: Vec<ApproxTime> = rest.iter().filter_map(|post| post.posted).collect();
        // Some forums show the newest post first.
        let rises = times.len() > 1 && times.windows(2).all(|pair| pair[0].at <= pair[1].at);
        let is_later =
            own.posted.zip(times.first()).is_some_and(|(own, next)| own.at >= next.at + i64::from(next.within));
        let is_other = own.number != Some(1) && rest.iter().any(|post| post.number == Some(1));
        !(rises && is_later || is_other)
    }
}

/// What a post would be known by as an announcement.
fn identities(post: &PostRecord, at: usize, has_global_fragments: bool) -> Vec<(u64, Identity)> {
    if post.text.chars().nth(TEXT - 1).is_none() {
        return Vec::new();
    }
    let fragment = post.fragment.clone().filter(|_| has_global_fragments).map(Identity::Fragment);
    let time = post.posted.filter(|time| at == 0 && time.within <= MINUTE && post.author.is_some()).map(Identity::Time);
    let digest = post_digest(post);
    fragment.into_iter().chain(time).map(|identity| (digest, identity)).collect()
}

/// Whether no two posts have the same fragment: where posts are numbered per thread, every thread has a `post-1`.
fn are_global(pages: &[PagePosts]) -> bool {
    let mut known: FxHashMap<&str, u64> = FxHashMap::default();
    pages.iter().flat_map(|page| &page.posts).all(|post| {
        let digest = post_digest(post);
        post.fragment.as_deref().is_none_or(|fragment| *known.entry(fragment).or_insert(digest) == digest)
    })
}

/// Number of different threads: two URLs may lead to one, which shows the same next post.
fn threads(shown: &[Shown]) -> usize {
    let next = |shown: &Shown| {
        let other = if shown.at + 1 < shown.page.posts.len() { shown.at + 1 } else { shown.at - 1 };
        post_digest(&shown.page.posts[other])
    };
    shown.iter().map(next).collect::<FxHashSet<_>>().len()
}

/// Digest of a post's author and text.
fn post_digest(post: &PostRecord) -> u64 {
    xxh3_64(format!("{}\0{}", post.author.as_deref().unwrap_or_default(), post.text).as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;
    use suidao_forum::forum::date_order::DateEvidence;

    const ADS: &str = "Advertising is not permitted here.";
    const HELP: &str = "My oven does not heat up at all, what can I do?";

    fn post(author: &str, text: &str, at: i64, fragment: &str) -> PostRecord {
        PostRecord {
            author: Some(author.to_owned()),
            text: text.to_owned(),
            posted: (at > 0).then_some(ApproxTime { at: at * 60, within: 60 }),
            fragment: (!fragment.is_empty()).then(|| fragment.to_owned()),
            ..PostRecord::default()
        }
    }

    /// Nine threads of three posts; `edit` changes the posts of each, and `fragment` names them by thread and place.
    fn forum(fragment: fn(usize, usize) -> String, edit: impl Fn(usize, &mut Vec<PostRecord>)) -> Vec<PagePosts> {
        let thread = |thread: usize| {
            let at = |place: usize| (thread * 1_000 + place * 10 + 1_000) as i64;
            let mut posts: Vec<PostRecord> = (0..3)
                .map(|place| {
                    let text = format!("What {place} says about the bread of thread {thread}.");
                    post("ann", &text, at(place), &fragment(thread, place + 1))
                })
                .collect();
            edit(thread, &mut posts);
            PagePosts { posts, offset: 0, month_first: true, dates: DateEvidence::default() }
        };
        (0..9).map(thread).collect()
    }

    fn global(thread: usize, place: usize) -> String {
        format!("p{thread}{place}")
    }

    fn of_thread(_: usize, place: usize) -> String {
        format!("post-{place}")
    }

    fn none(_: usize, _: usize) -> String {
        String::new()
    }

    /// The threads whose pages have an announcement.
    fn announced(pages: &[PagePosts]) -> Vec<usize> {
        let known = Announcements::of(pages);
        (0..pages.len()).filter(|thread| known.position(&pages[*thread].posts).is_some()).collect()
    }

    #[test]
    fn one_post_above_several_threads_is_an_announcement() {
        let above = |at: i64, fragment: &'static str, threads: std::ops::Range<usize>| {
            move |thread: usize, posts: &mut Vec<PostRecord>| {
                if threads.contains(&thread) {
                    posts.insert(0, post("staff", ADS, at, fragment));
                }
            }
        };
        // By its fragment, with any time.
        for at in [0, 5, 90_000] {
            assert_eq!(announced(&forum(global, above(at, "p7000", 2..6))), [2, 3, 4, 5]);
        }
        // By its time, if it is later than the posts of a thread, or above most threads.
        assert_eq!(announced(&forum(none, above(90_000, "", 2..6))), [2, 3, 4, 5]);
        assert_eq!(announced(&forum(of_thread, above(90_000, "notice", 2..6))), [2, 3, 4, 5]);
        assert_eq!(announced(&forum(none, above(5, "", 0..9))).len(), 9);
        // Another text by its author is none, and a page with nothing else keeps it.
        let known = Announcements::of(&forum(global, above(5, "p7000", 2..6)));
        let page = [post("staff", "The rules of this forum.", 5, "p7001"), post("ann", HELP, 50, "p7002")];
        assert_eq!(known.position(&page), None);
        assert_eq!(known.position(&[post("staff", ADS, 5, "p7000")]), None);
    }

    #[test]
    fn equal_posts_of_several_threads_are_kept() {
        let opens = |at: i64, fragment: &'static str, threads: std::ops::Range<usize>| {
            move |thread: usize, posts: &mut Vec<PostRecord>| {
                if threads.contains(&thread) {
                    let own = posts[0].fragment.clone().unwrap_or_default();
                    posts[0] = post("zoe", HELP, at, if fragment.is_empty() { &own } else { fragment });
                }
            }
        };
        let replies = |thread: usize, posts: &mut Vec<PostRecord>| {
            if thread < 6 {
                let own = posts[1].fragment.clone().unwrap_or_default();
                posts[1] = post("staff", "I moved this thread to the right board.", 90_000, &own);
            }
        };
        for fragment in [global as fn(usize, usize) -> String, of_thread, none] {
            // One question in some threads, at one time or at no known time; a moderator's equal reply.
            for threads in [0..2, 0..4] {
                for at in [0, 5] {
                    assert_eq!(announced(&forum(fragment, opens(at, "", threads.clone()))), Vec::<usize>::new());
                }
            }
            assert_eq!(announced(&forum(fragment, replies)), Vec::<usize>::new());
            // Equal days.
            let days = |thread: usize, posts: &mut Vec<PostRecord>| {
                opens(1_440, "", 0..9)(thread, posts);
                posts.iter_mut().for_each(|post| post.posted = Some(ApproxTime { at: 86_400, within: 86_400 }));
            };
            assert_eq!(announced(&forum(fragment, days)), Vec::<usize>::new());
        }
        // Two threads, and one thread under several URLs.
        assert_eq!(announced(&forum(global, opens(5, "p7", 0..2))), Vec::<usize>::new());
        let thread = forum(global, |_, _| {}).remove(0);
        assert_eq!(announced(&vec![thread; 9]), Vec::<usize>::new());
    }
}
