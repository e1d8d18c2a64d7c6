//! Finding out what a forum is made of, from its entrance and a few samples.
//!
//! Li, Cheng, Guo, Zhang 2007, 3.2: the links of the entrance are put into classes, small classes left out; a class is that
//! of the boards if its pages pass the judgement of [`super::board`]. The paper does not say how many are looked at: here two
//! or three of a class, the likeliest class first, until one passes whose pages show records of threads.

use std::collections::{BTreeMap, BTreeSet};

use suidao_page::model::{BoardEntry, CrawlUrl, ForumMap, ForumPageView, PagingRule};

use super::analysis::is_list;
use super::board::{BoardThresholds, classes};
use super::evidence::{Sure, board, key, members};
use super::increment::PAGES;
use super::links::columns;
use super::map::IdPattern;
use super::paging::Paging;
use super::shape::{Class, MatchedUrl, UrlClassifier};

/// Pages looked at before it is given up.
const BUDGET: usize = 36;
/// Samples of a class before it is judged.
const SAMPLES: usize = 3;
/// Threads looked at to see that they hold posts.
const THREADS: usize = 3;

/// Words in the URLs of boards, and of what is none: they only say what is looked at first.
const LIKELY: [&str; 14] =
    ["board", "forum", "fid", "?f=", "/f/", "bbs", "node", "categor", "section", "bid", "kw=", "/c/", "group", "list"];
const UNLIKELY: [&str; 20] = [
    "user",
    "member",
    "profile",
    "uid",
    "space",
    "login",
    "register",
    "search",
    "post",
    "reply",
    "rss",
    "feed",
    "print",
    "help",
    "faq",
    "calendar",
    "attachment",
    "goto",
    "author",
    "logout",
];

/// A forum told by one of its boards, met in passing: its records show authors, times and numbers of replies, as no other
/// list does. None where the page is no such board.
pub fn recognise(sight: &ForumPageView) -> Option<ForumMap> {
    let mut explorer = Explorer::default();
    explorer.see(sight);
    let (_, sure) = board(sight, &explorer.shapes, &BoardThresholds::DOMINANT)?;
    if sure != Sure::Records || !is_list(&sight.records) {
        return None;
    }
    let class = explorer.shapes.shape(&sight.own).class;
    match explorer.finish(Some(class), false) {
        // A page that is the only one of its class is no board among boards.
        ExploreStep::Understood(map) if map.board_classes.iter().any(|class| class.contains('{')) => Some(*map),
        _ => None,
    }
}

/// What to do next.
#[derive(Clone, Debug, PartialEq)]
pub enum ExploreStep {
    /// Look at these.
    Look(Vec<CrawlUrl>),
    /// This is what it is made of.
    Understood(Box<ForumMap>),
    /// It is no forum, as far as can be told: why.
    GivenUp(&'static str),
}

/// What has been looked at so far.
#[derive(Clone, Debug, Default)]
pub struct Explorer {
    /// By the paper's test: exactly one class of threads.
    strict: bool,
    shapes: UrlClassifier,
    seen: Vec<ForumPageView>,
    /// All that was asked for: what is not seen of it could not be had.
    asked: BTreeSet<CrawlUrl>,
}

/// A class that may be that of the boards.
struct Candidate {
    class: Class,
    urls: Vec<CrawlUrl>,
    likely: f64,
}

/// A class whose pages are boards.
struct Found {
    boards: Class,
    sure: Sure,
    passed: usize,
}

impl Explorer {
    /// Nothing looked at yet. `strict`: a board has exactly one class of threads, as the paper says, where others take the
    /// class that stands out.
    pub fn new(strict: bool) -> Self {
        Self { strict, ..Self::default() }
    }

    fn test(&self) -> BoardThresholds {
        if self.strict { BoardThresholds::STRICT } else { BoardThresholds::DOMINANT }
    }

    /// Takes in a page that was looked at; the first is the entrance.
    pub fn see(&mut self, sight: &ForumPageView) {
        self.asked.insert(sight.own.clone());
        self.seen.push(sight.clone());
        // From all pages together: what one links once may be linked often by another.
        self.shapes.learn(self.seen.iter().flat_map(|sight| &sight.links).map(|link| &link.url));
    }

    /// Notes what was asked for.
    pub fn ask(&mut self, url: &CrawlUrl) {
        self.asked.insert(url.clone());
    }

    /// Pages seen so far, in order.
    pub fn seen(&self) -> &[ForumPageView] {
        &self.seen
    }

    /// Decides, once all that was asked for is seen or could not be had.
    pub fn next(&self) -> ExploreStep {
        let Some(start) = self.seen.first() else {
            return ExploreStep::GivenUp("its first page cannot be read");
        };
        if start.login {
            return ExploreStep::GivenUp("its first page requires a login");
        }
        let start_is_board = board(start, &self.shapes, &self.test());
        if let (Some(_), Ok(home)) = (&start_is_board, start.own.join("./"))
            && !self.asked.contains(&home)
        {
            // Entered at a board: the others are linked from above.
            return ExploreStep::Look(vec![home]);
        }
        let mut found: Vec<Found> = Vec::new();
        for candidate in self.candidates() {
            match self.judge(&candidate) {
                Judged::Sample(urls) if self.seen.len() < BUDGET => return ExploreStep::Look(urls),
                Judged::Sample(_) | Judged::Not => {}
                Judged::Boards(sure, passed) => {
                    found.push(Found { boards: candidate.class, sure, passed });
                    if sure == Sure::Records {
                        break;
                    }
                }
            }
        }
        // The first of the best: candidates come by likelihood.
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

    /// Classes of the links of the entrance, then of the pages behind it, the likeliest first.
    fn candidates(&self) -> Vec<Candidate> {
        let mut all: Vec<Candidate> = Vec::new();
        for (depth, sight) in self.seen.iter().enumerate() {
            let level = usize::from(depth > 0 && !self.is_entrance(sight));
            for found in classes(&sight.links, &self.shapes) {
                let urls = found.members.iter().map(|&at| sight.links[at].url.clone());
                if let Some(known) = all.iter_mut().find(|known| known.class == found.class) {
                    let new: Vec<CrawlUrl> = urls.filter(|url| !known.urls.contains(url)).collect();
                    known.urls.extend(new);
                    continue;
                }
                let texts: Vec<usize> =
                    found.members.iter().map(|&at| columns(&sight.links[at].text)).filter(|width| *width > 0).collect();
                let likely = likelihood(&found.class, &texts) - 4.0 * as_f64(level);
                all.push(Candidate { class: found.class, urls: urls.collect(), likely });
            }
        }
        // "Classes too small are left out" (3.2), except where a forum has but one board.
        let large = |candidate: &Candidate| candidate.urls.len() >= 2 || candidate.likely >= 2.0;
        all.retain(large);
        all.sort_by(|one, other| other.likely.total_cmp(&one.likely));
        all
    }

    /// The page in whose directory all is: looked at because the forum was entered at a board.
    fn is_entrance(&self, sight: &ForumPageView) -> bool {
        self.seen.first().is_some_and(|start| start.own.join("./").is_ok_and(|home| home == sight.own))
    }

    fn judge(&self, candidate: &Candidate) -> Judged {
        let of_class = |url: &&CrawlUrl| self.shapes.shape(url).class == candidate.class;
        let (mut passed, mut looked, mut sure) = (0, 0, Sure::Records);
        for sight in self.seen.iter().filter(|sight| of_class(&&sight.own)) {
            looked += 1;
            if let Some((_, how)) = board(sight, &self.shapes, &self.test()) {
                passed += 1;
                sure = sure.min(how);
            }
        }
        let tried = self.asked.iter().filter(of_class).count();
        let left: Vec<&CrawlUrl> = candidate.urls.iter().filter(|url| !self.asked.contains(*url)).collect();
        // Two that pass are enough, or all there are. What fails is looked at three times, and five where they disagree.
        let enough = passed.min(2);
        let wanted = if passed == 0 { SAMPLES } else { SAMPLES + 2 };
        if passed >= 2 && passed * 2 > looked || passed >= 1 && left.is_empty() {
            return Judged::Boards(sure, passed);
        }
        if left.is_empty() || tried >= wanted {
            return if passed * 2 > looked && enough > 0 { Judged::Boards(sure, passed) } else { Judged::Not };
        }
        // From the front, the middle and the end: neighbours are alike.
        let number = if tried == 0 { 2 } else { 1 };
        let at = |n: usize| left[n * (left.len() - 1) / number.max(1)].clone();
        let urls: BTreeSet<CrawlUrl> =
            if number == 2 { [at(0), at(1)].into() } else { [left[left.len() / 2].clone()].into() };
        Judged::Sample(urls.into_iter().collect())
    }

    /// Looks at a thread, and puts everything together.
    fn finish(&self, boards: Option<Class>, look: bool) -> ExploreStep {
        // The entrance shows last posts, by links of another class: it counts where there is nothing else.
        let is_board = |sight: &&ForumPageView| match &boards {
            Some(class) => self.shapes.shape(&sight.own).class == *class,
            None => self.seen.first() == Some(sight),
        };
        let pages: Vec<(&ForumPageView, Class)> = self
            .seen
            .iter()
            .filter(is_board)
            .filter_map(|sight| board(sight, &self.shapes, &self.test()).map(|(threads, _)| (sight, threads)))
            .collect();
        let thread_classes = self.thread_classes(&pages);
        let Some(first) = thread_classes.first() else {
            return ExploreStep::GivenUp("no class of its links leads to pages that list threads");
        };
        let of_thread =
            |url: &CrawlUrl| thread_classes.iter().any(|class| self.shapes.shape(url).class == *class.class());
        let threads: Vec<&ForumPageView> = self.seen.iter().filter(|sight| of_thread(&sight.own)).collect();
        if look
            && !threads.iter().any(|sight| !sight.posts.is_empty())
            && threads.len() < THREADS
            && self.seen.len() < BUDGET + THREADS
        {
            // The longest shows how threads go on.
            let mut records: Vec<_> =
                pages.iter().flat_map(|(sight, _)| &sight.records).filter(|r| of_thread(&r.url)).collect();
            records.sort_by_key(|record| (record.sticky, u32::MAX - record.replies.unwrap_or(0)));
            let unseen = |url: &&CrawlUrl| !self.asked.contains(*url);
            let linked =
                pages.iter().flat_map(|(sight, _)| members(sight, first.class(), &self.shapes).map(|(url, _)| url));
            if let Some(url) = records.iter().map(|record| &record.url).chain(linked).find(unseen) {
                return ExploreStep::Look(vec![url.clone()]);
            }
        }
        let rules = |sights: &mut dyn Iterator<Item = &ForumPageView>, keys: &[IdPattern]| {
            let mut rules: Vec<PagingRule> = Vec::new();
            for sight in sights {
                let rule = Paging::of(&sight.own, 1, &sight.links, &self.shapes, keys).map(|paging| paging.rule());
                rules.extend(rule.filter(|rule| !rules.contains(rule)));
            }
            rules
        };
        let board_pages = rules(&mut pages.iter().map(|(sight, _)| *sight), &[]);
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
            slugs: self.shapes.slugs().clone(),
        }))
    }

    fn thread_classes(&self, pages: &[(&ForumPageView, Class)]) -> Vec<IdPattern> {
        let mut groups: BTreeMap<Class, Vec<Vec<MatchedUrl>>> = BTreeMap::new();
        let mut order: Vec<Class> = Vec::new();
        for (sight, class) in pages {
            // The records' own links are the titles'; a class has further links, to last posts and further pages.
            let titles: Vec<MatchedUrl> = sight.records.iter().map(|record| self.shapes.shape(&record.url)).collect();
            let titles: Vec<MatchedUrl> = titles.into_iter().filter(|shaped| shaped.class == *class).collect();
            let linked = || members(sight, class, &self.shapes).filter(|(_, text)| columns(text) >= 6);
            let group =
                if titles.is_empty() { linked().map(|(url, _)| self.shapes.shape(url)).collect() } else { titles };
            if !order.contains(class) {
                order.push(class.clone());
            }
            groups.entry(class.clone()).or_default().push(group);
        }
        order.iter().map(|class| key(class, &groups[class], &BTreeSet::new())).collect()
    }

    fn board_class(&self, class: &Class, rules: &[PagingRule]) -> IdPattern {
        let links = |sight: &ForumPageView| {
            members(sight, class, &self.shapes).map(|(url, _)| self.shapes.shape(url)).collect()
        };
        let groups: Vec<Vec<MatchedUrl>> = self.seen.iter().take(1).map(links).collect();
        let all: Vec<Vec<MatchedUrl>> =
            if groups.iter().any(|group| group.len() >= 2) { groups } else { self.seen.iter().map(links).collect() };
        key(class, &all, &rules.iter().filter_map(|rule| paged_slot(rule, class)).collect())
    }

    /// Every board linked from a page seen, and the pages seen that are some.
    fn boards(&self, classes: &[IdPattern], pages: &[(&ForumPageView, Class)]) -> Vec<BoardEntry> {
        let mut boards: Vec<BoardEntry> = Vec::new();
        let mut keys: BTreeSet<String> = BTreeSet::new();
        for link in self.seen.iter().flat_map(|sight| &sight.links) {
            let shaped = self.shapes.shape(&link.url);
            let Some(key) = classes.iter().find_map(|class| class.key(&shaped)) else { continue };
            if keys.insert(key) {
                boards.push(BoardEntry { url: link.url.to_string(), name: link.text.clone(), skip: false });
            }
        }
        for (sight, _) in pages {
            let shaped = self.shapes.shape(&sight.own);
            let key = classes.iter().find_map(|class| class.key(&shaped)).unwrap_or_else(|| sight.own.to_string());
            // The entrance that lists what is new is no board where there are others.
            let is_extra = !boards.is_empty() && classes.iter().all(|class| *class.class() != shaped.class);
            if !is_extra && keys.insert(key) {
                boards.push(BoardEntry { url: sight.own.to_string(), name: String::new(), skip: false });
            }
        }
        boards
    }
}

enum Judged {
    /// Look at these first.
    Sample(Vec<CrawlUrl>),
    Not,
    Boards(Sure, usize),
}

/// Which value of a class counts its pages, if the class is that of the pages too.
pub fn paged_slot(rule: &PagingRule, class: &Class) -> Option<usize> {
    if rule.pages.replace("{page}", "{n}") != class.as_str() {
        return None;
    }
    Some(rule.pages[..rule.pages.find("{page}")?].matches('{').count())
}

fn likelihood(class: &Class, texts: &[usize]) -> f64 {
    let text = class.as_str().to_ascii_lowercase();
    let has = |words: &[&str]| as_f64(words.iter().filter(|word| text.contains(**word)).count().min(1));
    let mean = as_f64(texts.iter().sum()) / as_f64(texts.len().max(1));
    let shape = if (2.0..=30.0).contains(&mean) { 1.0 } else { -1.0 };
    2.0 * has(&LIKELY) - 3.0 * has(&UNLIKELY) + shape + (as_f64(texts.len()) + 1.0).ln().min(3.0) / 2.0
}

/// The forum's own time: pages without recent times only know what their language's country has, and that is least.
fn offset(seen: &[ForumPageView]) -> String {
    let offset = seen.iter().map(|sight| sight.offset).max().unwrap_or(0);
    let (sign, minutes) = (if offset < 0 { '-' } else { '+' }, offset.abs() / 60);
    format!("{sign}{:02}:{:02}", minutes / 60, minutes % 60)
}

#[allow(clippy::cast_precision_loss)] // counts of links
fn as_f64(count: usize) -> f64 {
    count as f64
}
