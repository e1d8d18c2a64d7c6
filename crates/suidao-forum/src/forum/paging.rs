//! Paging of a list: which number in the URL counts its pages, its first value and its step.
//!
//! Li, Cheng, Guo, Zhang 2007, 3.3: the pages of one board differ in the value of one parameter. Here the texts of the
//! links identify it: if a link with the text 3 leads to `start=40`, pages begin at 0 and are 20 apart.

use std::collections::BTreeMap;
use std::ops::Range;

use suidao_page::model::{CrawlUrl, ForumPageLink, PagingRule};
use suidao_page::word_list::SectionWords;

use super::links::columns;
use super::map::IdPattern;
use super::url_classes::{MatchedUrl, UrlClass, UrlClassifier};
use crate::forum::WORDS;

/// Maximum width of a word for a page (末页, last), in columns.
const WORD: usize = 12;
/// Names of parameters, and words before a number in a path, that count pages or entries; used if link texts show
/// nothing.
static COUNTING: SectionWords = SectionWords::of(WORDS, "page counters");
/// Minimum step of a parameter that counts entries, not pages.
const ENTRIES: i64 = 5;
/// Letters between the URL of a first page and the number of a further one: `/page/2`, `-seite-2`.
const INSERTED: usize = 8;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Paging {
    /// The text of a page's URL before and after the number that counts.
    around: (String, String),
    /// The class of the pages, with `{page}` for that number.
    class: String,
    first: i64,
    step: i64,
    /// Linked pages, by number.
    pages: BTreeMap<i64, CrawlUrl>,
}

/// The URL of a page of a list.
pub struct PageAddress<'a> {
    pub own: &'a CrawlUrl,
    /// Its number, from 1.
    pub page: i64,
    /// URLs of the first page, as far as they are known: its own, and those that redirect to it.
    pub firsts: &'a [CrawlUrl],
}

/// How a link may be another page: a value of its class, or a number in its text.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Group {
    /// The value that may count, all other values, and the class.
    Class(usize, Vec<String>, UrlClass),
    /// The text around the number.
    Text(String, String),
}

struct Member {
    /// Index of the link.
    link: usize,
    matched: MatchedUrl,
    /// The number, in the URL.
    at: Range<usize>,
    value: i64,
}

impl Paging {
    /// The paging of a page of a list; none if its links show none. `keys`: classes with known keys; other values may
    /// differ between pages.
    pub fn of(
        address: &PageAddress,
        links: &[ForumPageLink],
        classifier: &UrlClassifier,
        keys: &[IdPattern],
    ) -> Option<Self> {
        let own = classifier.classify(address.own);
        let others =
            address.firsts.iter().filter(|first| *first != address.own).map(|first| classifier.classify(first));
        let mut best: Option<((usize, usize), Self)> = None;
        for base in std::iter::once(own.clone()).chain(others) {
            let is_first = address.page == 1 || base.url != own.url;
            for (group, members) in groups(&base, is_first, links, classifier, keys) {
                let found = Self::fit(&own, &base, address.page, (&group, &members), links);
                // The first of equals.
                if let Some(found) = found
                    && best.as_ref().is_none_or(|best| found.0 > best.0)
                {
                    best = Some(found);
                }
            }
        }
        best.map(|(_, paging)| paging)
    }

    /// The paging of a group of links, with its certainty and the number of links that fit.
    fn fit(
        own: &MatchedUrl,
        base: &MatchedUrl,
        page: i64,
        (group, members): (&Group, &[Member]),
        links: &[ForumPageLink],
    ) -> Option<((usize, usize), Self)> {
        // Links to the page itself are the numbers of posts, or the current page in the bar.
        let is_other = |member: &&Member| member.matched.url != own.url;
        let example = members.iter().find(is_other)?;
        let mut pairs: Vec<(i64, i64, usize)> = Vec::new();
        let mut next: Option<(u8, i64)> = None;
        for member in members.iter().filter(is_other) {
            for mark in &links[member.link].marks {
                pairs.extend(mark.number.map(|number| (number, member.value, mark.block)));
                if mark.next > next.map_or(0, |(sure, _)| sure) {
                    next = Some((mark.next, member.value));
                }
            }
        }
        let own_value = match group {
            Group::Class(slot, _, class) => (own.class == *class).then(|| own.number(*slot)).flatten(),
            Group::Text(before, after) => number_between(own.url.as_str(), before, after),
        };
        let mut known = pairs.clone();
        known.extend(own_value.map(|value| (page, value, usize::MAX)));
        let more = example.matched.slots.len().saturating_sub(base.slots.len());
        let counts = |member: &Member| {
            counts(&member.matched.url, member.at.start)
                && (own_value.is_some() || matches!(group, Group::Text(..)) || more == 1)
        };
        let (first, step) = line(&known).or_else(|| {
            // A first page is never a next page, even if counting starts at 0.
            let later = |value: &i64| own_value.is_some() || *value >= 2;
            // Nor is one that is called the last.
            let is_last =
                |member: &&Member| links[member.link].marks.iter().any(|mark| mark.number.is_none() && mark.next == 0);
            let silent = || {
                let members = members.iter().filter(|member| counts(member) && !is_last(member));
                members.map(|member| member.value).filter(later).min()
            };
            let value = next.map(|(_, value)| value).or_else(silent)?;
            match own_value {
                Some(own) if value > own => {
                    let (first, step) = (own - (value - own) * (page - 1), value - own);
                    (0..=step).contains(&first).then_some((first, step))
                }
                Some(_) => None,
                None => single(2, value),
            }
        })?;
        // The page's own value must lie on the line too.
        if own_value.is_some_and(|value| value != first + step * (page - 1)) {
            return None;
        }
        let number = |value: i64| ((value - first) % step == 0 && value >= first).then(|| (value - first) / step + 1);
        // A single number may be a count that happens to equal an id.
        let labels: std::collections::BTreeSet<i64> = pairs.iter().map(|(label, ..)| *label).collect();
        if next.is_none() && labels.len() == 1 && more > 1 && !counts_by_name(example) {
            return None;
        }
        let fits = pairs.iter().filter(|(label, value, _)| number(*value) == Some(*label)).count();
        // A single matching number is weak evidence; several in one line of the page, or a word next to it, are strong.
        let mut blocks: BTreeMap<usize, usize> = BTreeMap::new();
        for (label, value, block) in &pairs {
            *blocks.entry(*block).or_default() += usize::from(number(*value) == Some(*label));
        }
        let in_line = blocks.values().copied().max().unwrap_or(0);
        let mut pages = BTreeMap::new();
        for member in members {
            if let Some(number) = number(member.value) {
                pages.entry(number).or_insert_with(|| member.matched.url.clone());
            }
        }
        let sure = 2 * in_line.min(4)
            + 3 * usize::from(next.map_or(0, |(sure, _)| sure))
            + usize::from(fits * 2 > pairs.len());
        let text = example.matched.url.as_str();
        let around = (text[..example.at.start].to_owned(), text[example.at.end..].to_owned());
        Some(((sure, fits), Self { around, class: class_with_page(example), first, step, pages }))
    }

    /// The page after the `page`th: as linked, or built by the rule if only later ones are linked; none after the last.
    pub fn after(&self, page: i64) -> Option<CrawlUrl> {
        let last = *self.pages.keys().next_back()?;
        if page >= last {
            return None;
        }
        let built = || {
            let (before, after) = &self.around;
            CrawlUrl::parse(&format!("{before}{}{after}", self.first + self.step * page)).ok()
        };
        self.pages.get(&(page + 1)).cloned().or_else(built)
    }

    /// The rule for the forum file: the class of the pages, with `{page}` for the counting value.
    pub fn rule(&self) -> PagingRule {
        PagingRule { pages: self.class.clone(), first: self.first, step: self.step, unlinked: false }
    }
}

/// The links that may be other pages of the list at `base`, by what counts.
fn groups(
    base: &MatchedUrl,
    is_first: bool,
    links: &[ForumPageLink],
    classifier: &UrlClassifier,
    keys: &[IdPattern],
) -> BTreeMap<Group, Vec<Member>> {
    let mut groups: BTreeMap<Group, Vec<Member>> = BTreeMap::new();
    for (link, known) in links.iter().enumerate() {
        if known.marks.is_empty() && columns(&known.text) > WORD {
            continue;
        }
        let matched = classifier.classify(&known.url);
        let mut is_of_class = false;
        for slot in 0..matched.slots.len() {
            let Some(value) = matched.number(slot).filter(|_| continues(base, &matched, slot, keys)) else { continue };
            is_of_class = true;
            let group = Group::Class(slot, others(&matched, slot), matched.class.clone());
            let at = matched.slots[slot].at.clone();
            groups.entry(group).or_default().push(Member { link, matched: matched.clone(), at, value });
        }
        // A title with numbers hides the parts of a URL, but not that one is the other with a number added.
        if !is_of_class
            && is_first
            && let Some((at, value)) = inserted(&base.url, &known.url)
        {
            let text = known.url.as_str();
            let group = Group::Text(text[..at.start].to_owned(), text[at.end..].to_owned());
            groups.entry(group).or_default().push(Member { link, matched, at, value });
        }
    }
    groups
}

fn others(matched: &MatchedUrl, slot: usize) -> Vec<String> {
    matched.values().enumerate().filter(|(at, _)| *at != slot).map(|(_, value)| value.to_owned()).collect()
}

/// Whether the parameter's name, or the word before the number, shows that it counts pages.
fn counts(url: &CrawlUrl, number: usize) -> bool {
    let before = &url.as_str()[..number];
    let before = before.strip_suffix(['=', '/', '-', '_']).unwrap_or(before);
    let word = before.rsplit(|c: char| !c.is_ascii_alphabetic() && c != '_').next().unwrap_or_default();
    COUNTING.contains(&word.trim_start_matches('_').to_ascii_lowercase().as_str())
}

fn counts_by_name(member: &Member) -> bool {
    counts(&member.matched.url, member.at.start)
}

/// The class of a page, with `{page}` for the number that counts.
fn class_with_page(member: &Member) -> String {
    let Some(of) = member.matched.slots.iter().position(|slot| slot.at == member.at) else {
        // The number is a part of a word of the class.
        let url = &member.matched.url;
        let start = url.origin().len();
        return format!("{}{{page}}{}", &url.as_str()[start..member.at.start], &url.as_str()[member.at.end..]);
    };
    let mut class = String::new();
    let mut rest = member.matched.class.as_str();
    let mut slot = 0;
    while let Some(from) = rest.find('{') {
        let to = rest[from..].find('}').map_or(rest.len(), |to| from + to + 1);
        class.push_str(&rest[..from]);
        class.push_str(if slot == of { "{page}" } else { &rest[from..to] });
        slot += 1;
        rest = &rest[to..];
    }
    class.push_str(rest);
    class
}

/// The number between two texts that make up the rest of a URL.
fn number_between(url: &str, before: &str, after: &str) -> Option<i64> {
    let number = url.strip_prefix(before)?.strip_suffix(after)?;
    (number.len() < 12 && number.bytes().all(|byte| byte.is_ascii_digit())).then(|| number.parse().ok()).flatten()
}

/// The part of a path before its extension, a last slash or `/index`.
fn stem(path: &str) -> &str {
    let path = path.trim_end_matches('/');
    let stem = path.rsplit_once('.').filter(|(_, ending)| ending.len() <= 5 && !ending.contains('/'));
    let stem = stem.map_or(path, |(stem, _)| stem);
    stem.strip_suffix("/index").unwrap_or(stem)
}

/// The number in the path of `other` without which it is the URL of `first`: `/a-7.html`, `/a-7-2.html`.
fn inserted(first: &CrawlUrl, other: &CrawlUrl) -> Option<(Range<usize>, i64)> {
    if first.authority() != other.authority() || first.query() != other.query() || first == other {
        return None;
    }
    let rest = other.path().strip_prefix(stem(first.path()))?;
    let from = rest.find(|c: char| c.is_ascii_digit())?;
    let to = from + rest[from..].find(|c: char| !c.is_ascii_digit()).unwrap_or(rest[from..].len());
    let between = &rest[..from];
    let letters = between.bytes().filter(u8::is_ascii_alphabetic).count();
    let joins = !between.is_empty()
        && letters <= INSERTED
        && between.bytes().all(|byte| byte.is_ascii_alphabetic() || b"-_/.,~;:!=".contains(&byte));
    if !joins || !stem(&rest[to..]).is_empty() {
        return None;
    }
    let path = other.origin().len() + other.path().len() - rest.len();
    let at = path + from..path + to;
    let value = other.as_str().get(at.clone()).filter(|number| number.len() < 12)?.parse().ok()?;
    Some((at, value))
}

/// Whether a URL may be another page of the list at `own` if its value `slot` counts.
fn continues(own: &MatchedUrl, other: &MatchedUrl, slot: usize, keys: &[IdPattern]) -> bool {
    let rest = others(other, slot);
    if own.class == other.class {
        let keyed = keys.iter().find(|keyed| *keyed.class() == own.class);
        return match keyed {
            Some(keyed) => !keyed.has(slot) && keyed.key(own) == keyed.key(other),
            None => rest == others(own, slot),
        };
    }
    // The first page rarely has the parameter. All its other values must recur.
    let own_path = own.url.path().trim_end_matches('/');
    let values: Vec<&str> = own.values().collect();
    let mut wanted = values.iter().copied().peekable();
    for value in &rest {
        wanted.next_if(|want| want == value);
    }
    if wanted.peek().is_some() {
        return false;
    }
    let in_query = |at: usize| at >= other.url.as_str().len() - other.url.query().map_or(0, str::len);
    let paging_in_query = in_query(other.slots[slot].at.start);
    // Values that the first page lacks are options (pp=20), never names.
    let more_in_path =
        other.slots.iter().enumerate().filter(|(at, found)| *at != slot && !in_query(found.at.start)).count()
            > own
                .slots
                .iter()
                .filter(|found| found.at.start < own.url.as_str().len() - own.url.query().map_or(0, str::len))
                .count();
    if more_in_path {
        return false;
    }
    let other_path = other.url.path();
    if paging_in_query {
        // `action=show` is not a page of `action=list`, regardless of their numbers.
        let pairs = |url: &CrawlUrl| -> std::collections::BTreeSet<String> {
            url.query().into_iter().flat_map(|query| query.split('&')).map(str::to_owned).collect()
        };
        return other_path.trim_end_matches('/') == own_path && pairs(&own.url).is_subset(&pairs(&other.url));
    }
    // /forum-2.html continues at /forum-2-2.html, /board/7 at /board/7/p/2, / at /page/2.
    let rest = other_path.strip_prefix(stem(own_path)).filter(|rest| !rest.starts_with(|c: char| c.is_ascii_digit()));
    let in_path = |at: usize| at - other.url.origin().len();
    rest.is_some_and(|rest| in_path(other.slots[slot].at.start) >= other_path.len() - rest.len())
}

/// First value and step from pairs of page number and value: the line through most of them.
fn line(pairs: &[(i64, i64, usize)]) -> Option<(i64, i64)> {
    let mut votes: BTreeMap<(i64, i64), usize> = BTreeMap::new();
    for (at, (label, value, _)) in pairs.iter().enumerate() {
        for (other_label, other_value, _) in &pairs[at + 1..pairs.len().min(at + 20)] {
            let (pages, values) = (other_label - label, other_value - value);
            if pages != 0 && values % pages == 0 && values / pages >= 1 {
                let step = values / pages;
                *votes.entry((value - step * (label - 1), step)).or_default() += 1;
            }
        }
    }
    let best = votes.into_iter().reduce(|best, other| if other.1 > best.1 { other } else { best });
    match best {
        Some(((first, step), _)) if (0..=step.max(1)).contains(&first) => Some((first, step)),
        Some(_) => None,
        None => pairs.iter().find_map(|(label, value, _)| single(*label, *value)),
    }
}

/// First value and step from a single page.
fn single(label: i64, value: i64) -> Option<(i64, i64)> {
    if label <= 1 {
        None
    } else if value == label {
        Some((1, 1))
    } else if value == label - 1 {
        Some((0, 1))
    } else if value % (label - 1) == 0 && value / (label - 1) >= ENTRIES {
        Some((0, value / (label - 1)))
    } else {
        None
    }
}

#[cfg(test)]
mod tests;
