//! Explores the structure of a forum from its entry page and a few samples.
//!
//! Li, Cheng, Guo, Zhang 2007, 3.2: the links of the entry page are grouped into classes, without small ones; a class
//! is that of the boards if its pages pass the test of [`super::board`]. The paper does not give the number of samples:
//! here two or three per class, the likeliest class first, until one passes whose pages have records of threads.

use std::collections::{BTreeMap, BTreeSet};

use suidao_page::model::{BoardEntry, CrawlUrl, ForumMap, ForumPageView, PagingRule};
use suidao_page::word_list::SectionWords;

use super::analysis::is_list;
use super::board::{BoardTest, classes};
use super::evidence::{BoardCertainty, board, key, members};
use super::increment::PAGES;
use super::links::columns;
use super::map::IdPattern;
use super::paging::{PageAddress, Paging};
use super::url_classes::{MatchedUrl, UrlClass, UrlClassifier};
use crate::forum::WORDS;

/// Pages fetched before giving up.
const BUDGET: usize = 36;
/// Samples of a class before it is judged.
const SAMPLES: usize = 3;
/// Threads fetched to check that they have posts, and how many with posts suffice.
const THREADS: usize = 3;
const READ: usize = 2;

/// Words in the URLs of boards, and of other pages: they only determine the order.
static LIKELY: SectionWords = SectionWords::of(WORDS, "board URLs");
static UNLIKELY: SectionWords = SectionWords::of(WORDS, "other URLs");

/// Recognises a forum by one of its boards: its records have authors, times and numbers of replies, unlike any other
/// list. None if the page is not such a board.
pub fn recognise(page_view: &ForumPageView) -> Option<ForumMap> {
    let mut explorer = Explorer::default();
    explorer.add_page(page_view);
    let (_, sure) = board(page_view, &explorer.classifier, BoardTest::Records)?;
    if sure != BoardCertainty::Records || !is_list(&page_view.records) {
        return None;
    }
    let class = explorer.classifier.classify(&page_view.own).class;
    match explorer.finish(Some(class), false) {
        // A class without placeholders has only one member.
        ExploreStep::Understood(map) if map.board_classes.iter().any(|class| class.contains('{')) => Some(*map),
        _ => None,
    }
}

#[derive(Clone, Debug, PartialEq)]
pub enum ExploreStep {
    /// Fetch these samples.
    Fetch(Vec<CrawlUrl>),
    Understood(Box<ForumMap>),
    /// It does not seem to be a forum, for this reason.
    GivenUp(&'static str),
}

/// State of an exploration.
#[derive(Clone, Debug, Default)]
pub struct Explorer {
    test: BoardTest,
    classifier: UrlClassifier,
    seen: Vec<ForumPageView>,
    /// Requested URLs; those not in `seen` could not be fetched.
    requested: BTreeSet<CrawlUrl>,
    /// Targets of redirects, with the URL that the forum links.
    linked: BTreeMap<CrawlUrl, CrawlUrl>,
}

/// A class that may be that of the boards.
struct Candidate {
    class: UrlClass,
    urls: Vec<CrawlUrl>,
    likely: f64,
}

/// A class whose pages are boards.
struct Found {
    boards: UrlClass,
    sure: BoardCertainty,
    passed: usize,
}

impl Explorer {
    pub fn new(test: BoardTest) -> Self {
        Self { test, ..Self::default() }
    }

    /// Adds a fetched page; the first one is the entry page.
    pub fn add_page(&mut self, page_view: &ForumPageView) {
        self.requested.insert(page_view.own.clone());
        self.seen.push(page_view.clone());
        // From all pages together: a link that is rare on one page may be frequent on another.
        self.classifier.learn(self.seen.iter().flat_map(|page_view| &page_view.links).map(|link| &link.url));
    }

    pub fn mark_requested(&mut self, url: &CrawlUrl) {
        self.requested.insert(url.clone());
    }

    pub fn seen(&self) -> &[ForumPageView] {
        &self.seen
    }

    /// A requested URL redirects.
    pub fn moved(&mut self, from: &CrawlUrl, to: &CrawlUrl) {
        let linked = self.linked.remove(from).unwrap_or_else(|| from.clone());
        self.linked.insert(to.clone(), linked);
    }

    /// The URL by which the forum links a page, if it redirects to the page.
    pub fn linked(&self, own: &CrawlUrl) -> Option<&CrawlUrl> {
        self.linked.get(own)
    }

    /// The longest text of the links to a URL.
    pub fn link_text(&self, url: &CrawlUrl) -> &str {
        let links = self.seen.iter().flat_map(|page_view| &page_view.links).filter(|link| link.url == *url);
        links.map(|link| link.text.as_str()).max_by_key(|text| text.len()).unwrap_or_default()
    }

    /// The URLs of a page: its own, and the one by which the forum links it.
    fn urls<'a>(&'a self, page_view: &'a ForumPageView) -> impl Iterator<Item = &'a CrawlUrl> {
        std::iter::once(&page_view.own).chain(self.linked(&page_view.own))
    }

    fn is_of(&self, page_view: &ForumPageView, is: impl Fn(&UrlClass) -> bool) -> bool {
        self.urls(page_view).any(|url| is(&self.classifier.classify(url).class))
    }

    /// The next step; call it when all requested samples were fetched or failed.
    pub fn next(&self) -> ExploreStep {
        let Some(start) = self.seen.first() else {
            return ExploreStep::GivenUp("its first page cannot be read");
        };
        if start.login {
            return ExploreStep::GivenUp("its first page requires a login");
        }
        let start_is_board = board(start, &self.classifier, self.test);
        if let (Some(_), Ok(home)) = (&start_is_board, start.own.join("./"))
            && !self.requested.contains(&home)
        {
            // Entered at a board: the parent page links to the others.
            return ExploreStep::Fetch(vec![home]);
        }
        let mut found: Vec<Found> = Vec::new();
        for candidate in self.candidates() {
            match self.judge(&candidate) {
                Judged::Sample(urls) if self.seen.len() < BUDGET => return ExploreStep::Fetch(urls),
                Judged::Sample(_) | Judged::Not => {}
                Judged::Boards(sure, passed) => {
                    found.push(Found { boards: candidate.class, sure, passed });
                    if sure == BoardCertainty::Records {
                        break;
                    }
                }
            }
        }
        // The first of the best: candidates are sorted by likelihood.
        let best = found
            .into_iter()
            .reduce(|best, other| if (other.sure, other.passed) > (best.sure, best.passed) { other } else { best });
        match (best, start_is_board) {
            (None, None) if self.seen.len() >= BUDGET => {
                ExploreStep::GivenUp("none of the fetched pages lists threads")
            }
            (None, None) => ExploreStep::GivenUp("no class of its links leads to pages that list threads"),
            (best, _) => self.finish(best.map(|found| found.boards), true),
        }
    }

    /// Classes of the links of the entry page, then of the pages linked from it, the likeliest first.
    fn candidates(&self) -> Vec<Candidate> {
        let mut all: Vec<Candidate> = Vec::new();
        for (depth, page_view) in self.seen.iter().enumerate() {
            let level = usize::from(depth > 0 && !self.is_entrance(page_view));
            for found in classes(&page_view.links, &self.classifier) {
                let urls = found.members.iter().map(|&at| page_view.links[at].url.clone());
                if let Some(known) = all.iter_mut().find(|known| known.class == found.class) {
                    let new: Vec<CrawlUrl> = urls.filter(|url| !known.urls.contains(url)).collect();
                    known.urls.extend(new);
                    continue;
                }
                let texts: Vec<usize> = found
                    .members
                    .iter()
                    .map(|&at| columns(&page_view.links[at].text))
                    .filter(|width| *width > 0)
                    .collect();
                let likely = likelihood(&found.class, &texts) - 4.0 * as_f64(level);
                all.push(Candidate { class: found.class, urls: urls.collect(), likely });
            }
        }
        // "Classes too small are left out" (3.2), unless the forum may have only one board.
        let large = |candidate: &Candidate| candidate.urls.len() >= 2 || candidate.likely >= 2.0;
        all.retain(large);
        all.sort_by(|one, other| other.likely.total_cmp(&one.likely));
        all
    }

    /// Whether this is the page of the forum's directory, fetched because the forum was entered at a board.
    fn is_entrance(&self, page_view: &ForumPageView) -> bool {
        self.seen.first().is_some_and(|start| start.own.join("./").is_ok_and(|home| home == page_view.own))
    }

    fn judge(&self, candidate: &Candidate) -> Judged {
        let of_class = |url: &&CrawlUrl| self.classifier.classify(url).class == candidate.class;
        let (mut passed, mut checked, mut sure) = (0, 0, BoardCertainty::Records);
        for page_view in self.seen.iter().filter(|page_view| self.is_of(page_view, |class| *class == candidate.class)) {
            checked += 1;
            if let Some((_, how)) = board(page_view, &self.classifier, self.test) {
                passed += 1;
                sure = sure.min(how);
            }
        }
        let tried = self.requested.iter().filter(of_class).count();
        let left: Vec<&CrawlUrl> = candidate.urls.iter().filter(|url| !self.requested.contains(*url)).collect();
        // Two that pass suffice, or all there are. A failing class gets three samples, or five if they disagree.
        let enough = passed.min(2);
        let wanted = if passed == 0 { SAMPLES } else { SAMPLES + 2 };
        if passed >= 2 && passed * 2 > checked || passed >= 1 && left.is_empty() {
            return Judged::Boards(sure, passed);
        }
        if left.is_empty() || tried >= wanted {
            return if passed * 2 > checked && enough > 0 { Judged::Boards(sure, passed) } else { Judged::Not };
        }
        // From the front and the middle, because neighbours are similar.
        let middle = left[(left.len() - 1) / 2].clone();
        let urls: BTreeSet<CrawlUrl> =
            if tried == 0 { [left[0].clone(), middle].into() } else { [left[left.len() / 2].clone()].into() };
        Judged::Sample(urls.into_iter().collect())
    }

    /// Fetches a thread (with `fetch_thread`), then builds the map.
    fn finish(&self, boards: Option<UrlClass>, fetch_thread: bool) -> ExploreStep {
        // The entry page shows last posts with links of another class: it counts only without other boards.
        let is_board = |page_view: &&ForumPageView| match &boards {
            Some(class) => self.is_of(page_view, |own| own == class),
            None => self.seen.first() == Some(page_view),
        };
        let pages: Vec<(&ForumPageView, UrlClass)> = self
            .seen
            .iter()
            .filter(is_board)
            .filter_map(|page_view| {
                board(page_view, &self.classifier, self.test).map(|(threads, _)| (page_view, threads))
            })
            .collect();
        let mut thread_classes = self.thread_classes(&pages);
        if fetch_thread && thread_classes.len() > 1 {
            if let Some(sample) = self.unread_class(&pages, &thread_classes) {
                return ExploreStep::Fetch(vec![sample]);
            }
            self.keep_classes_with_posts(&mut thread_classes);
        }
        let Some(first) = thread_classes.first() else {
            return ExploreStep::GivenUp("no class of its links leads to pages that list threads");
        };
        let is_thread = |own: &UrlClass| thread_classes.iter().any(|class| own == class.class());
        let of_thread = |url: &CrawlUrl| is_thread(&self.classifier.classify(url).class);
        let threads: Vec<&ForumPageView> =
            self.seen.iter().filter(|page_view| self.is_of(page_view, is_thread)).collect();
        if fetch_thread
            && threads.iter().filter(|page_view| !page_view.posts.is_empty()).count() < READ
            && threads.len() < THREADS
            && self.seen.len() < BUDGET + THREADS
        {
            // The longest thread shows how pages continue.
            let mut records: Vec<_> =
                pages.iter().flat_map(|(page_view, _)| &page_view.records).filter(|r| of_thread(&r.url)).collect();
            records.sort_by_key(|record| (record.sticky, u32::MAX - record.replies.unwrap_or(0)));
            let unseen = |url: &&CrawlUrl| !self.requested.contains(*url);
            let linked = pages
                .iter()
                .flat_map(|(page_view, _)| members(page_view, first.class(), &self.classifier).map(|(url, _)| url));
            if let Some(url) = records.iter().map(|record| &record.url).chain(linked).find(unseen) {
                return ExploreStep::Fetch(vec![url.clone()]);
            }
        }
        let rules = |page_views: &mut dyn Iterator<Item = &ForumPageView>, keys: &[IdPattern]| {
            let mut rules: Vec<PagingRule> = Vec::new();
            for page_view in page_views {
                let firsts: Vec<CrawlUrl> = self.linked(&page_view.own).cloned().into_iter().collect();
                let address = PageAddress { own: &page_view.own, page: 1, firsts: &firsts };
                let rule = Paging::of(&address, &page_view.links, &self.classifier, keys).map(|paging| paging.rule());
                rules.extend(rule.filter(|rule| !rules.contains(rule)));
            }
            rules
        };
        let board_pages = rules(&mut pages.iter().map(|(page_view, _)| *page_view), &[]);
        let thread_pages = rules(&mut threads.into_iter(), &thread_classes);
        let board_classes: Vec<IdPattern> = boards.iter().map(|class| self.board_class(class, &board_pages)).collect();
        let start = &self.seen[0];
        ExploreStep::Understood(Box::new(ForumMap {
            start: start.own.to_string(),
            index_pages: PAGES,
            offset: offset(&self.seen),
            boards: self.boards(&board_classes, &pages),
            board_classes: board_classes.iter().map(IdPattern::text).collect(),
            thread_classes: thread_classes.iter().map(IdPattern::text).collect(),
            board_pages,
            thread_pages,
            slugs: self.classifier.slugs().clone(),
            ..ForumMap::default()
        }))
    }

    /// A member of the first of these classes of which none was requested.
    fn unread_class(&self, pages: &[(&ForumPageView, UrlClass)], classes: &[IdPattern]) -> Option<CrawlUrl> {
        let is_of = |url: &CrawlUrl, class: &IdPattern| self.classifier.classify(url).class == *class.class();
        let unread = classes.iter().find(|class| !self.requested.iter().any(|url| is_of(url, class)))?;
        let links = pages.iter().flat_map(|(page_view, _)| &page_view.links).map(|link| &link.url);
        links.into_iter().find(|url| is_of(url, unread)).cloned()
    }

    /// A list of threads may link the profiles of authors in the same way as threads, but these show no posts.
    fn keep_classes_with_posts(&self, classes: &mut Vec<IdPattern>) {
        let has_posts = |class: &IdPattern| {
            let is_of = |page_view: &&ForumPageView| self.is_of(page_view, |own| own == class.class());
            self.seen.iter().filter(is_of).any(|page_view| !page_view.posts.is_empty())
        };
        if classes.iter().any(has_posts) {
            classes.retain(has_posts);
        }
    }

    fn thread_classes(&self, pages: &[(&ForumPageView, UrlClass)]) -> Vec<IdPattern> {
        let mut groups: BTreeMap<UrlClass, Vec<Vec<MatchedUrl>>> = BTreeMap::new();
        let mut order: Vec<UrlClass> = Vec::new();
        for (page_view, class) in pages {
            // The records' links are those of titles; a class also has links to last posts and later pages.
            let titles: Vec<MatchedUrl> =
                page_view.records.iter().map(|record| self.classifier.classify(&record.url)).collect();
            let titles: Vec<MatchedUrl> = titles.into_iter().filter(|matched| matched.class == *class).collect();
            let linked = || members(page_view, class, &self.classifier).filter(|(_, text)| columns(text) >= 6);
            let group = if titles.is_empty() {
                linked().map(|(url, _)| self.classifier.classify(url)).collect()
            } else {
                titles
            };
            if !order.contains(class) {
                order.push(class.clone());
            }
            groups.entry(class.clone()).or_default().push(group);
        }
        order.iter().map(|class| key(class, &groups[class], &BTreeSet::new())).collect()
    }

    fn board_class(&self, class: &UrlClass, rules: &[PagingRule]) -> IdPattern {
        let links = |page_view: &ForumPageView| {
            members(page_view, class, &self.classifier).map(|(url, _)| self.classifier.classify(url)).collect()
        };
        let groups: Vec<Vec<MatchedUrl>> = self.seen.iter().take(1).map(links).collect();
        let all: Vec<Vec<MatchedUrl>> =
            if groups.iter().any(|group| group.len() >= 2) { groups } else { self.seen.iter().map(links).collect() };
        key(class, &all, &rules.iter().filter_map(|rule| paged_slot(rule, class)).collect())
    }

    /// Boards linked from a page seen, and the pages seen that are boards.
    fn boards(&self, classes: &[IdPattern], pages: &[(&ForumPageView, UrlClass)]) -> Vec<BoardEntry> {
        let mut boards: Vec<BoardEntry> = Vec::new();
        let mut keys: BTreeSet<String> = BTreeSet::new();
        for link in self.seen.iter().flat_map(|page_view| &page_view.links) {
            let matched = self.classifier.classify(&link.url);
            let Some(key) = classes.iter().find_map(|class| class.key(&matched)) else { continue };
            if keys.insert(key) {
                boards.push(BoardEntry::new(link.url.to_string(), link.text.clone()));
            }
        }
        for (page_view, _) in pages {
            let key = self.urls(page_view).find_map(|url| {
                let matched = self.classifier.classify(url);
                classes.iter().find_map(|class| class.key(&matched))
            });
            // An entry page that lists new threads is not a board if there are others.
            let is_extra = !boards.is_empty() && key.is_none();
            let key = key.unwrap_or_else(|| page_view.own.to_string());
            if !is_extra && keys.insert(key) {
                boards.push(BoardEntry::new(page_view.own.to_string(), String::new()));
            }
        }
        boards
    }
}

enum Judged {
    /// Fetch these first.
    Sample(Vec<CrawlUrl>),
    Not,
    Boards(BoardCertainty, usize),
}

/// Which value of a class counts pages, if the class includes the later pages.
pub fn paged_slot(rule: &PagingRule, class: &UrlClass) -> Option<usize> {
    if rule.pages.replace("{page}", "{n}") != class.as_str() {
        return None;
    }
    Some(rule.pages[..rule.pages.find("{page}")?].matches('{').count())
}

fn likelihood(class: &UrlClass, texts: &[usize]) -> f64 {
    let text = class.as_str().to_ascii_lowercase();
    let has = |words: &[&str]| as_f64(words.iter().filter(|word| text.contains(**word)).count().min(1));
    let mean = as_f64(texts.iter().sum()) / as_f64(texts.len().max(1));
    let shape = if (2.0..=30.0).contains(&mean) { 1.0 } else { -1.0 };
    2.0 * has(&LIKELY) - 3.0 * has(&UNLIKELY) + shape + (as_f64(texts.len()) + 1.0).ln().min(3.0) / 2.0
}

/// UTC offset of the forum: the maximum over its pages, because a page without recent times has only a guess
/// from its language, which is a minimum.
fn offset(seen: &[ForumPageView]) -> String {
    let offset = seen.iter().map(|page_view| page_view.offset).max().unwrap_or(0);
    let (sign, minutes) = (if offset < 0 { '-' } else { '+' }, offset.abs() / 60);
    format!("{sign}{:02}:{:02}", minutes / 60, minutes % 60)
}

#[allow(clippy::cast_precision_loss)] // counts of links
fn as_f64(count: usize) -> f64 {
    count as f64
}
