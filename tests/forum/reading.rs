//! Lists and threads of forums in every skin, compared with the forum's own data: posts, authors, times, floors;
//! threads, their replies and times.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use suidao::forum::analysis::{ForumAnalysis, ForumProfile, analyze};
use suidao::forum::{Tree, posts, records};
use suidao::model::{ApproxTime, CrawlUrl, Fetched, Millis, TimeContext};
use suidao::read::dom::Dom;
use suidao::world::forum::{ServedForumPage, ThreadTruth};
use suidao::world::{ActivitySpec, Forum, ForumSpec, Skin};

const DAY: i64 = 86_400;

fn forum(skin: Skin) -> Arc<Forum> {
    let activity =
        ActivitySpec { boards: 5, users: 60, threads_per_day: 12.0, replies: 8.0, days: 14, ..ActivitySpec::default() };
    let spec =
        ForumSpec { skin, activity, threads_per_page: 10, posts_per_page: 8, categories: 2, ..ForumSpec::default() };
    Arc::new(Forum::new(spec))
}

/// The pages of boards and threads, by links from the home page.
fn pages(forum: &Arc<Forum>, now: i64) -> BTreeMap<ServedForumPage, Fetched> {
    let mut found = BTreeMap::new();
    let mut left = VecDeque::from([forum.home()]);
    while let Some(url) = left.pop_front() {
        let kind = forum.kind_of(&url);
        if matches!(kind, ServedForumPage::Duplicate { .. } | ServedForumPage::Functional) || found.contains_key(&kind)
        {
            continue;
        }
        let answer = forum.response(&url, now, found.len() as u64);
        if answer.status == 200 {
            let parsed = suidao::read::parse(&answer);
            left.extend(parsed.document.links.iter().map(|link| link.url.clone()));
        }
        found.insert(kind, answer);
    }
    found
}

/// A count and its total.
#[derive(Clone, Copy, Debug, Default)]
struct Share(usize, usize);

impl Share {
    fn note(&mut self, good: bool) -> bool {
        self.0 += usize::from(good);
        self.1 += 1;
        good
    }

    fn percent(self) -> f64 {
        if self.1 == 0 { 100.0 } else { self.0 as f64 * 100.0 / self.1 as f64 }
    }
}

#[derive(Debug, Default)]
struct Figures {
    posts: Share,
    authors: Share,
    times: Share,
    floors: Share,
    texts: Share,
    titles: Share,
    starters: Share,
    replies: Share,
    last: Share,
    sticky: Share,
    /// Lists on which no post is found, and threads on which no listed thread is found.
    bare_lists: Share,
    bare_threads: Share,
}

fn folded(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace()).collect()
}

fn holds(moment: Option<ApproxTime>, at: i64) -> bool {
    moment.is_some_and(|moment| moment.at <= at && at < moment.at + i64::from(moment.within))
}

fn clock(forum: &Forum, now: i64) -> TimeContext {
    TimeContext::new(Millis(now as u64 * 1000), forum.spec().activity.offset)
}

fn print_wrong(wrong: &str) {
    if std::env::var_os("SUIDAO_TELL").is_some() {
        println!("{wrong}");
    }
}

/// Reads a thread's page; `truth`: its posts with authors, and the floor of the first.
fn thread(forum: &Forum, page: &Fetched, now: i64, at: usize, number: u32, figures: &mut Figures) {
    let per = forum.spec().posts_per_page as usize;
    let first = (number as usize - 1) * per;
    let truth: Vec<_> = forum.posts(at, now).into_iter().enumerate().skip(first).take(per).collect();
    let found = posts(&Tree::of(&Dom::of(page)), clock(forum, now));
    // One skin numbers replies, as some forums do.
    let forum_counts_replies = u32::from(forum.spec().skin == Skin::Path);
    for (floor, (posting, text)) in &truth {
        let text = folded(text);
        let same = |own: &str| {
            let own = folded(own);
            own == text || own.contains(&text) || !own.is_empty() && text.contains(&own)
        };
        // Two posts may have the same text: match by time first.
        let own = found
            .iter()
            .filter(|post| same(&post.text))
            .max_by_key(|post| (holds(post.posted, posting.at), post.number == Some(*floor as u32 + 1)))
            .or_else(|| found.get(floor - first).filter(|_| found.len() == truth.len()));
        let name = forum.user(posting.user);
        if !figures.posts.note(own.is_some()) {
            print_wrong(&format!("{}: no post {} {text}", page.url, floor + 1));
        }
        let Some(own) = own else { continue };
        let checks = [
            figures.authors.note(own.author.as_deref() == Some(&name)),
            figures.times.note(holds(own.posted, posting.at)),
            figures.floors.note(own.number.is_none_or(|own| (own + forum_counts_replies) as usize == floor + 1)),
            figures.texts.note(same(&own.text) && folded(&own.text).len() <= text.len() + 300),
        ];
        if checks.contains(&false) {
            print_wrong(&format!("{}: {checks:?} {name} {} {text}\n    {own:?}", page.url, posting.at));
        }
    }
    // One too many is as wrong as one too few.
    for own in found.iter().skip(truth.len()) {
        figures.posts.note(false);
        print_wrong(&format!("{}: too many {} {own:?}", page.url, truth.len()));
    }
}

fn list(
    forum: &Forum,
    page: &Fetched,
    now: i64,
    board: usize,
    threads: &[ThreadTruth],
    shows: &Shows,
    figures: &mut Figures,
) {
    let is_thread = |url: &CrawlUrl| matches!(forum.kind_of(url), ServedForumPage::Thread { page: 1, .. });
    let found = records(&Tree::of(&Dom::of(page)), &is_thread, clock(forum, now));
    let parsed = suidao::read::parse(page);
    let linked: BTreeSet<usize> = parsed
        .document
        .links
        .iter()
        .filter_map(|link| match forum.kind_of(&link.url) {
            ServedForumPage::Thread { thread, page: 1 }
                if threads[thread].board == board && !shows.on_all_boards.contains(&thread) =>
            {
                Some(thread)
            }
            _ => None,
        })
        .collect();
    let mut seen = BTreeSet::new();
    for record in &found {
        let ServedForumPage::Thread { thread, .. } = forum.kind_of(&record.url) else { continue };
        let truth = &threads[thread];
        seen.insert(thread);
        // Other threads are linked next to the list.
        let bare = record.replies.is_none() && record.last_reply.is_none();
        if truth.board != board || bare && found.iter().any(|other| other.replies.is_some()) {
            continue;
        }
        let posts = forum.posts(thread, now);
        let last = posts.last().unwrap().0;
        let checks = [
            figures.titles.note(record.title.ends_with(&truth.title)),
            figures.starters.note(record.author == Some(forum.user(posts[0].0.user))),
            figures.replies.note(record.replies.unwrap_or(0) == truth.posts - 1),
            !(if truth.sticky { shows.last_of_sticky } else { shows.last })
                || figures.last.note(holds(record.last_reply, last.at)),
            figures.sticky.note(record.sticky == truth.sticky),
        ];
        if checks.contains(&false) {
            print_wrong(&format!("{}: {checks:?} {truth:?} {}\n    {record:?}", page.url, last.at));
        }
    }
    for missing in linked.difference(&seen) {
        figures.titles.note(false);
        print_wrong(&format!("{}: no thread {:?}", page.url, threads[*missing]));
    }
}

/// What a skin shows at all.
struct Shows {
    /// The time of a thread's last reply, and sticky threads.
    last: bool,
    last_of_sticky: bool,
    /// Threads linked next to the lists of all boards.
    on_all_boards: BTreeSet<usize>,
}

impl Shows {
    fn of(skin: Skin, forum: &Forum, pages: &BTreeMap<ServedForumPage, Fetched>) -> Self {
        let mut boards: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
        for (kind, page) in pages {
            let ServedForumPage::Index { board, .. } = *kind else { continue };
            for link in &suidao::read::parse(page).document.links {
                if let ServedForumPage::Thread { thread, .. } = forum.kind_of(&link.url) {
                    boards.entry(thread).or_default().insert(board);
                }
            }
        }
        let on_all_boards =
            boards.into_iter().filter(|(_, boards)| boards.len() > 1).map(|(thread, _)| thread).collect();
        Self { last: skin != Skin::Bbs, last_of_sticky: !matches!(skin, Skin::Bbs | Skin::Tieba), on_all_boards }
    }
}

fn read(skin: Skin) -> Figures {
    let forum = forum(skin);
    let now = forum.spec().activity.start + 9 * DAY;
    let threads = forum.threads(now);
    let mut figures = Figures::default();
    let profile = Arc::new(ForumProfile { offset: Some(forum.spec().activity.offset), ..ForumProfile::default() });
    let pages = pages(&forum, now);
    let shows = Shows::of(skin, &forum, &pages);
    for (kind, page) in pages {
        if page.status != 200 {
            continue;
        }
        let seen = analyze(
            &Dom::of(&page),
            &suidao::read::parse(&page),
            &ForumAnalysis { profile: Arc::clone(&profile), at: Millis(now as u64 * 1000) },
        );
        match kind {
            ServedForumPage::Index { board, .. } if !forum.boards(now)[board].members_only => {
                list(&forum, &page, now, board, &threads, &shows, &mut figures);
                if !figures.bare_lists.note(seen.posts.is_empty()) {
                    print_wrong(&format!("{}: {} posts in a list", page.url, seen.posts.len()));
                }
            }
            ServedForumPage::Thread { thread: at, page: number } if !threads[at].members_only => {
                thread(&forum, &page, now, at, number, &mut figures);
                if !figures.bare_threads.note(seen.records.is_empty()) {
                    print_wrong(&format!(
                        "{}: {} records in a thread, {:?}",
                        page.url,
                        seen.records.len(),
                        seen.records.first().map(|record| (&record.url, &record.title))
                    ));
                }
            }
            _ => {}
        }
    }
    figures
}

/// Reads a forum of this skin and fails below these hundredths of posts, times and so on.
fn check(skin: Skin) {
    let own = read(skin);
    let shares = [
        ("posts", own.posts, 99.0),
        ("authors", own.authors, 98.0),
        ("times", own.times, 98.0),
        ("floors", own.floors, 98.0),
        ("texts", own.texts, 95.0),
        ("titles", own.titles, 98.0),
        ("starters", own.starters, 98.0),
        ("replies", own.replies, 98.0),
        ("last replies", own.last, 98.0),
        ("sticky", own.sticky, 98.0),
        ("lists without posts", own.bare_lists, 95.0),
        ("threads without records", own.bare_threads, 95.0),
    ];
    let line = shares.map(|(name, Share(good, all), _)| format!("{name} {good}/{all}")).join(", ");
    println!("{skin:?}: {line}");
    let wrong: Vec<_> = shares.iter().filter(|(_, share, least)| share.percent() < *least).collect();
    assert!(wrong.is_empty(), "{skin:?}: {wrong:?}");
}

macro_rules! skins {
    ($($name:ident $skin:ident),*) => {
        $(#[test]
        fn $name() {
            check(Skin::$skin);
        })*

        #[test]
        fn no_skin_is_left_out() {
            assert_eq!(Skin::all(), [$(Skin::$skin),*]);
        }
    };
}

skins!(
    discuz Discuz,
    discuz_static DiscuzStatic,
    phpbb Phpbb,
    vbulletin Vbulletin,
    path Path,
    slug Slug,
    cards Cards,
    query Query,
    tieba Tieba,
    bbs Bbs,
    english English
);
