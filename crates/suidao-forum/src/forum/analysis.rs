//! Analyses a response as a page of a forum.

use std::sync::Arc;

use suidao_page::model::{CrawlUrl, ForumPageLink, ForumPageView, Millis, PostRecord, ThreadRecord, TimeContext};
use suidao_page::read::dom::Dom;
use suidao_page::read::{self, Parsed};

use super::board::{BoardThresholds, LinkClass, classes, threads};
use super::clock::{KnownTimes, PageClock, offset};
use super::date_order::DateEvidence;
use super::links::{add_options, links, own_url};
use super::map::IdPattern;
use super::url_classes::{UrlClassifier, sessions, without};
use super::{Tree, asks_login, posts, posts_of_thread, records};

/// What is known of a forum before one of its pages is analysed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ForumProfile {
    /// Classes of its URLs.
    pub classifier: UrlClassifier,
    /// URL classes of its threads; if none is known, the page's own links decide.
    pub threads: Vec<IdPattern>,
    /// UTC offset in seconds; if unknown, it is estimated from the page.
    pub offset: Option<i32>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct ForumAnalysis {
    pub profile: Arc<ForumProfile>,
    /// Time of the request, used if the server sends no Date header.
    pub at: Millis,
}

pub fn analyze(dom: &Dom, parsed: &Parsed, analysis: &ForumAnalysis) -> ForumPageView {
    Lists::of(dom, parsed, analysis).whole(dom.url(), parsed)
}

/// Analyses a page of an unknown site. None if it does not list threads as a board does: then it cannot reveal a forum
/// ([`super::explore::recognise`]), and the full analysis is skipped.
pub fn quick_check(dom: &Dom, parsed: &Parsed) -> Option<ForumPageView> {
    if !is_suspect(parsed, dom.url()) {
        return None;
    }
    // Earlier than any page: without a Date header, relative times have no date.
    let analysis = ForumAnalysis { profile: Arc::default(), at: Millis(0) };
    let lists = Lists::of(dom, parsed, &analysis);
    is_list(&lists.records).then(|| lists.whole(dom.url(), parsed))
}

/// The threads that a page lists.
struct Lists {
    tree: Tree,
    links: Vec<ForumPageLink>,
    records: Vec<ThreadRecord>,
    clock: TimeContext,
}

impl Lists {
    fn of(dom: &Dom, parsed: &Parsed, analysis: &ForumAnalysis) -> Self {
        let mut links = links(&parsed.document, dom.url());
        let tree = Tree::of(dom);
        add_options(&mut links, &parsed.document, &tree, dom.url());
        let names = sessions(parsed.document.links.iter().map(|link| &link.url));
        let known = KnownTimes { offset: analysis.profile.offset, month_first: None };
        let offset = |clock| offset(parsed, &links, clock);
        let clock = PageClock::of(&tree, dom.response(), analysis.at, known, offset).context;
        let of_class =
            |threads: &dyn Fn(&CrawlUrl) -> bool| records(&tree, &|url| threads(&without(url, &names)), clock);
        let full = |records: &Vec<ThreadRecord>| records.iter().filter(|record| record.facts() >= 2).count();
        // The first of the best: classes are sorted by likelihood.
        let best = threads_by(&analysis.profile, &links).into_iter().map(|threads| of_class(&*threads));
        let mut records =
            best.reduce(|best, other| if full(&other) > full(&best) { other } else { best }).unwrap_or_default();
        for record in &mut records {
            record.url = without(&record.url, &names);
        }
        Self { tree, links, records, clock }
    }

    /// Completes the analysis of the page.
    fn whole(self, url: &CrawlUrl, parsed: &Parsed) -> ForumPageView {
        let Self { tree, links, records, clock } = self;
        let posts = posts(&tree, clock);
        ForumPageView {
            own: own_url(&parsed.document, url),
            login: records.is_empty() && asks_login(&tree, &posts),
            posts: posts.into_iter().map(|post| post.posted).collect(),
            records,
            links,
            offset: clock.offset,
        }
    }
}

/// Whether these are lines of a board: archives of a blog have dates and perhaps numbers of comments; only a forum
/// shows who opened a thread and how many replies it has.
pub(super) fn is_list(records: &[ThreadRecord]) -> bool {
    /// Minimum number of lines by which a host is recognised as a forum.
    const LEAST: usize = 5;
    let most =
        |has: fn(&ThreadRecord) -> bool| records.iter().filter(|record| has(record)).count() * 5 >= records.len() * 3;
    records.len() >= LEAST
        && most(|record| record.author.is_some())
        && most(|record| record.replies.or(record.views).is_some())
}

/// The posts of a page of a thread, and how its dates were read.
#[derive(Clone, Debug)]
pub struct PagePosts {
    /// In order.
    pub posts: Vec<PostRecord>,
    /// The forum's UTC offset in seconds.
    pub offset: i32,
    pub month_first: bool,
    /// What the page shows of the order of month and day.
    pub dates: DateEvidence,
}

/// Reads a page of a thread. `at`: time of the fetch, used if the server sends no Date header.
pub fn posts_of(dom: &Dom, known: KnownTimes, at: Millis) -> PagePosts {
    let tree = Tree::of(dom);
    let PageClock { context, dates } = PageClock::of(&tree, dom.response(), at, known, |clock| {
        let parsed = read::parse_dom(dom, read::ROBOT);
        offset(&parsed, &links(&parsed.document, dom.url()), clock)
    });
    let posts = posts_of_thread(&tree, context);
    PagePosts { posts, offset: context.offset, month_first: context.month_first, dates }
}

/// Whether a page of an unknown site may be a board: it has a row of long links of one class (there may be as many
/// links to last posts) and about as many numbers that may be replies. Cheap, since it runs on every page.
fn is_suspect(parsed: &Parsed, own: &CrawlUrl) -> bool {
    const ROW: BoardThresholds = BoardThresholds { members: 10, columns: 12.0, dominance: 0.4 };
    let document = &parsed.document;
    if document.links.len() < ROW.members {
        return false;
    }
    // Page numbers are links, and so are most numbers of tags.
    let mut linked = vec![false; document.pieces.len()];
    for link in &document.links {
        linked[link.anchor.clone()].fill(true);
    }
    let plain = (0..document.pieces.len()).filter(|&piece| !linked[piece]);
    let counts = plain.filter(|&piece| may_count(document.piece(piece))).count();
    if counts * 2 < ROW.members {
        return false;
    }
    let links = links(document, own);
    let all = classes(&links, &learnt(&links));
    threads(&all, &ROW).is_some_and(|class| counts * 3 >= class.members.len())
}

/// Whether a text may be a number of replies or views: a number alone or with a matching word, not a date.
fn may_count(text: &str) -> bool {
    const LONGEST: usize = 96;
    const ALONE: usize = 20;
    const WORDS: [&str; 9] = ["repl", "view", "post", "回", "看", "浏", "读", "返", "帖"];
    if text.len() > LONGEST || !text.bytes().any(|byte| byte.is_ascii_digit()) {
        return false;
    }
    let dated = text.contains(['年', '月', ':']) || text.matches(['-', '/', '.']).count() >= 2;
    text.len() <= ALONE && !dated || WORDS.iter().any(|word| text.contains(word))
}

fn learnt(links: &[ForumPageLink]) -> UrlClassifier {
    let mut classifier = UrlClassifier::default();
    classifier.learn(links.iter().map(|link| &link.url));
    classifier
}

type Test = Box<dyn Fn(&CrawlUrl) -> bool>;

/// Tests for thread URLs: the known classes, else candidates: the dominant class of the page, and of many classes the
/// widest.
fn threads_by(profile: &ForumProfile, links: &[ForumPageLink]) -> Vec<Test> {
    const TRIED: usize = 3;
    const LEAST: BoardThresholds = BoardThresholds { members: 2, columns: 8.0, dominance: 0.0 };
    if !profile.threads.is_empty() {
        let (classifier, classes) = (profile.classifier.clone(), profile.threads.clone());
        return vec![Box::new(move |url| {
            let matched = classifier.classify(url);
            classes.iter().any(|class| *class.class() == matched.class)
        })];
    }
    let mut classifier = profile.classifier.clone();
    classifier.learn(links.iter().map(|link| &link.url));
    let all = classes(links, &classifier);
    #[allow(clippy::cast_precision_loss)] // at most 40
    let weight = |class: &LinkClass| class.columns.min(40.0) * (class.members.len().min(40) as f64).sqrt();
    let outstanding = threads(&all, &BoardThresholds::DOMINANT).map(|class| &class.class);
    let mut tried: Vec<&LinkClass> =
        all.iter().filter(|class| threads(std::slice::from_ref(*class), &LEAST).is_some()).collect();
    tried.sort_by(|one, other| weight(other).total_cmp(&weight(one)));
    tried.sort_by_key(|class| Some(&class.class) != outstanding);
    let of_class = |class: &LinkClass| -> Test {
        let (class, classifier) = (class.class.clone(), classifier.clone());
        Box::new(move |url| classifier.classify(url).class == class)
    };
    tried.into_iter().take(TRIED).map(of_class).collect()
}
