//! Paging of a list: which number in the URL counts its pages, its first value and its step.
//!
//! Li, Cheng, Guo, Zhang 2007, 3.3: the pages of one board differ in the value of one parameter. Here the texts of the
//! links identify it: if a link with the text 3 leads to `start=40`, pages begin at 0 and are 20 apart.

use std::collections::BTreeMap;

use suidao_page::model::{CrawlUrl, ForumPageLink, PagingRule};

use super::links::columns;
use super::map::IdPattern;
use super::url_classes::{MatchedUrl, UrlClassifier};

/// Maximum width of a word for a page (末页, last), in columns.
const WORD: usize = 12;
/// Names of parameters that count pages or entries, used if link texts show nothing.
const COUNTING: [&str; 9] = ["page", "p", "pn", "pg", "pageno", "paged", "start", "offset", "page_no"];
/// Minimum step of a parameter that counts entries, not pages.
const ENTRIES: i64 = 5;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Paging {
    /// One of the links.
    example: MatchedUrl,
    /// Which of its values counts.
    slot: usize,
    first: i64,
    step: i64,
    /// Linked pages, by number.
    pages: BTreeMap<i64, CrawlUrl>,
}

/// The value that may count, all other values, and the class.
type Group = (usize, Vec<String>, super::url_classes::UrlClass);

impl Paging {
    /// The paging of the page at `own`, its `page`th (from 1); none if its links show none. `keys`: classes with known
    /// keys; other values may differ between pages.
    pub fn of(
        own: &CrawlUrl,
        page: i64,
        links: &[ForumPageLink],
        classifier: &UrlClassifier,
        keys: &[IdPattern],
    ) -> Option<Self> {
        let own = classifier.classify(own);
        let mut groups: BTreeMap<Group, Vec<(usize, MatchedUrl)>> = BTreeMap::new();
        for (at, link) in links.iter().enumerate() {
            if link.marks.is_empty() && columns(&link.text) > WORD {
                continue;
            }
            let matched = classifier.classify(&link.url);
            for slot in (0..matched.slots.len()).filter(|&slot| matched.number(slot).is_some()) {
                if continues(&own, &matched, slot, keys) {
                    let rest = others(&matched, slot);
                    groups.entry((slot, rest, matched.class.clone())).or_default().push((at, matched.clone()));
                }
            }
        }
        let best = groups
            .into_iter()
            .filter_map(|((slot, ..), members)| Self::fit(&own, page, slot, &members, links))
            // The first of equals: max_by_key would return the last.
            .reduce(|best, other| if other.0 > best.0 { other } else { best });
        best.map(|(_, paging)| paging)
    }

    /// The paging of a group of links, with a score.
    fn fit(
        own: &MatchedUrl,
        page: i64,
        slot: usize,
        members: &[(usize, MatchedUrl)],
        links: &[ForumPageLink],
    ) -> Option<(usize, Self)> {
        let value = |matched: &MatchedUrl| matched.number(slot);
        let mut pairs: Vec<(i64, i64, usize)> = Vec::new();
        let mut next: Option<(u8, i64)> = None;
        for (at, matched) in members {
            let value = value(matched)?;
            for mark in &links[*at].marks {
                pairs.extend(mark.number.map(|number| (number, value, mark.block)));
                if mark.next > next.map_or(0, |(sure, _)| sure) {
                    next = Some((mark.next, value));
                }
            }
        }
        let own_value = (own.class == members[0].1.class).then(|| own.number(slot)).flatten();
        let mut known = pairs.clone();
        known.extend(own_value.map(|value| (page, value, usize::MAX)));
        let (first, step) = line(&known).or_else(|| {
            let counts = |matched: &MatchedUrl| {
                matched.counts(slot) && (own_value.is_some() || matched.slots.len() == own.slots.len() + 1)
            };
            // A first page is never a next page, even if counting starts at 0.
            let later = |value: &i64| own_value.is_some() || *value >= 2;
            let silent = || {
                members.iter().filter_map(|(_, matched)| value(matched).filter(|_| counts(matched)).filter(later)).min()
            };
            let value = next.map(|(_, value)| value).or_else(silent)?;
            match own_value {
                Some(own) if value > own => Some((own - (value - own) * (page - 1), value - own)),
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
        let options = members[0].1.slots.len() > own.slots.len() + 1;
        if next.is_none() && labels.len() == 1 && options && !members[0].1.counts(slot) {
            return None;
        }
        let fits = pairs.iter().filter(|(label, value, _)| number(*value) == Some(*label)).count();
        // A single matching number is weak evidence; several in one line of the page, or a word next to it, are strong.
        let mut blocks: BTreeMap<usize, usize> = BTreeMap::new();
        for (label, value, block) in &pairs {
            *blocks.entry(*block).or_default() += usize::from(number(*value) == Some(*label));
        }
        let in_line = blocks.values().copied().max().unwrap_or(0);
        let sure = 2 * in_line.min(4)
            + 3 * usize::from(next.map_or(0, |(sure, _)| sure))
            + usize::from(fits * 2 > pairs.len());
        let mut pages = BTreeMap::new();
        for (_, matched) in members {
            if let Some(number) = value(matched).and_then(number) {
                pages.entry(number).or_insert_with(|| matched.url.clone());
            }
        }
        Some((sure, Self { example: members[0].1.clone(), slot, first, step, pages }))
    }

    /// The page after the `page`th: as linked, or built by the rule if only later ones are linked; none after the last.
    pub fn after(&self, page: i64) -> Option<CrawlUrl> {
        let last = *self.pages.keys().next_back()?;
        if page >= last {
            return None;
        }
        self.pages.get(&(page + 1)).cloned().or_else(|| self.example.with(self.slot, self.first + self.step * page))
    }

    /// The rule for the forum file: the class of the pages, with `{page}` for the counting value.
    pub fn rule(&self) -> PagingRule {
        let mut slot = 0;
        let mut url = String::new();
        let mut rest = self.example.class.as_str();
        while let Some(from) = rest.find('{') {
            let to = rest[from..].find('}').map_or(rest.len(), |to| from + to + 1);
            url.push_str(&rest[..from]);
            url.push_str(if slot == self.slot { "{page}" } else { &rest[from..to] });
            slot += 1;
            rest = &rest[to..];
        }
        url.push_str(rest);
        PagingRule { pages: url, first: self.first, step: self.step, unlinked: false }
    }
}

fn others(matched: &MatchedUrl, slot: usize) -> Vec<String> {
    matched.values().enumerate().filter(|(at, _)| *at != slot).map(|(_, value)| value.to_owned()).collect()
}

impl MatchedUrl {
    /// Whether the parameter's name shows that it counts pages.
    fn counts(&self, slot: usize) -> bool {
        let before = &self.url.as_str()[..self.slots[slot].at.start];
        let name = before.strip_suffix('=').and_then(|before| before.rsplit(['?', '&']).next());
        name.is_some_and(|name| COUNTING.contains(&name.to_ascii_lowercase().as_str()))
    }
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
    let stem = own_path.rsplit_once('.').filter(|(_, ending)| ending.len() <= 5 && !ending.contains('/'));
    let stem = stem.map_or(own_path, |(stem, _)| stem);
    let stem = stem.strip_suffix("/index").unwrap_or(stem);
    other_path.strip_prefix(stem).is_some_and(|rest| !rest.starts_with(|c: char| c.is_ascii_digit()))
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
mod tests {
    use super::super::links::tests::read;
    use super::*;

    fn paging(path: &str, page: i64, body: &str) -> Option<Paging> {
        let (url, links) = read(path, body);
        Paging::of(&url, page, &links, &UrlClassifier::default(), &[])
    }

    fn after(path: &str, page: i64, body: &str) -> Option<String> {
        let url = paging(path, page, body)?.after(page)?;
        Some(format!("{}{}", url.path(), url.query().map(|query| format!("?{query}")).unwrap_or_default()))
    }

    fn rule(path: &str, body: &str) -> (String, i64, i64) {
        let PagingRule { pages, first, step, .. } = paging(path, 1, body).unwrap().rule();
        (pages, first, step)
    }

    #[test]
    fn the_parameter_and_its_step_are_found() {
        let body = "<p><b>1</b> <a href=/viewforum.php?f=2&start=50>2</a> <a href=/viewforum.php?f=2&start=100>3</a> … \
                    <a href=/viewforum.php?f=2&start=450>10</a> <a href=/viewforum.php?f=2&start=50>Next</a>";
        assert_eq!(rule("/viewforum.php?f=2", body), ("/viewforum.php?f={n}&start={page}".into(), 0, 50));
        assert_eq!(paging("/viewforum.php?f=2", 1, body).unwrap().pages.keys().next_back(), Some(&10));
        // Pages that are not linked are built.
        assert_eq!(after("/viewforum.php?f=2&start=150", 4, body).as_deref(), Some("/viewforum.php?f=2&start=200"));
        assert_eq!(after("/viewforum.php?f=2&start=450", 10, body), None);
    }

    #[test]
    fn the_papers_own_example() {
        let url = |page: i64| format!("/forumdisplay.php?f=85&page={page}&sort=lastpost&order=&pp=20&daysprune=-1");
        let body: String = [2, 3, 4].map(|page| format!("<a href='{}'>{page}</a> ", url(page))).concat();
        let found = paging("/forumdisplay.php?f=85", 1, &body).unwrap();
        assert_eq!((found.rule().first, found.rule().step), (1, 1));
        assert_eq!(after(&url(3), 3, &body).as_deref(), Some(&*url(4)));
    }

    #[test]
    fn paths_are_paged_too() {
        let body = "<p><a href=/forum-2-2.html>2</a><a href=/forum-2-3.html>3</a><a href=/forum-2-9.html>末页</a>";
        assert_eq!(rule("/forum-2-1.html", body), ("/forum-{n}-{page}.html".into(), 1, 1));
        assert_eq!(paging("/forum-2.html", 1, body).unwrap().pages.keys().next_back(), Some(&9));
        assert_eq!(after("/board/7", 1, "<a href=/board/7/p/2>下一页</a>").as_deref(), Some("/board/7/p/2"));
        assert_eq!(after("/c/sports/5", 1, "<a href=/c/sports/5?page=2>›</a>").as_deref(), Some("/c/sports/5?page=2"));
        assert_eq!(after("/forum/x.3/", 1, "<a href=/forum/x.3/page-2>2</a>").as_deref(), Some("/forum/x.3/page-2"));
        assert_eq!(after("/", 1, "<p><a href=/?p=1>2</a><a href=/?p=2>3</a>").as_deref(), Some("/?p=1"));
        assert_eq!(
            rule("/i?topic=5.0", "<a href=/i?topic=5.20>2</a> <a href=/i?topic=5.40>3</a>").0,
            "/i?topic={n}.{page}"
        );
    }

    #[test]
    fn what_is_no_paging_is_not_taken_for_it() {
        let show =
            |id: u8| format!("<p><a href='/i?a=show&b=4&id={id}&p=2'>2</a><a href='/i?a=show&b=4&id={id}&p=3'>3</a>");
        let list = "<p><a href='/i?a=list&b=4&p=2'>[2]</a>";
        assert_eq!(after("/i?a=list&b=4", 1, &(show(5) + list)).as_deref(), Some("/i?a=list&b=4&p=2"));
        // Page numbers of threads next to titles, linked counts of replies, another board.
        let body = "<p><a href=/thread-7-2-1.html>2</a><a href=/thread-7-3-1.html>3</a><p><a href=/thread-8-2-1.html>2</a>\
                    <p><a href=/who?t=12>12</a><a href=/who?t=9>3</a><p><a href=/forum-3-1.html>1</a>";
        assert_eq!(paging("/forum-2-1.html", 1, body), None);
        assert_eq!(paging("/t/5", 1, "<p><a href=/t/5/reply/991>12</a><p><a href=/t/5/reply/992>13</a>"), None);
        assert_eq!(paging("/calendar?m=5", 1, "<a href=/day?m=5&d=1>1</a><a href=/day?m=5&d=2>2</a>"), None);
    }

    #[test]
    fn the_parameter_name_decides_if_link_texts_do_not() {
        let body = "<p>1 / 3 页<p><a href='/topic/12/x/?page=2'><i></i></a><a href='/topic/12/x/?page=3'>末页</a>";
        assert_eq!(after("/topic/12/x/", 1, body).as_deref(), Some("/topic/12/x/?page=2"));
        let body = "<a href='/topic/12/x/?page=1'><i></i></a><a href='/topic/12/x/?page=3'><i></i></a>";
        assert_eq!(after("/topic/12/x/?page=2", 2, body).as_deref(), Some("/topic/12/x/?page=3"));
        let one = "<a href='/t?tid=5&page=1&author=7'>only</a><a href='/t?tid=5&page=1&author=8'>only</a>";
        assert_eq!(after("/t?tid=5", 1, one), None);
        assert_eq!(after("/topic/12/x/", 1, "<a href='/topic/12/x/?quote=2'><i></i></a>"), None);
    }

    #[test]
    fn parts_that_distinguish_nothing_may_differ_between_pages() {
        let (url, links) = read(
            "/thread-5-1-9.html",
            "<p><a href=/thread-5-2-0.html>2</a><a href=/thread-5-3-0.html>3</a><p><a href=/thread-6-1-9.html>2</a>",
        );
        let keys = [IdPattern::parse("/thread-{id}-{n}-{n}.html")];
        let paging = Paging::of(&url, 1, &links, &UrlClassifier::default(), &keys).unwrap();
        assert_eq!(paging.after(1).unwrap().path(), "/thread-5-2-0.html");
        assert_eq!(Paging::of(&url, 1, &links, &UrlClassifier::default(), &[]), None);
    }

    #[test]
    fn lists_that_show_only_next_are_followed() {
        let next = |from: i64| format!("<a href='/f?kw=a&pn={}'>下一页</a>", from + 50);
        assert_eq!(after("/f?kw=a", 1, &next(0)).as_deref(), Some("/f?kw=a&pn=50"));
        assert_eq!(after("/f?kw=a&pn=50", 2, &next(50)).as_deref(), Some("/f?kw=a&pn=100"));
        assert_eq!(after("/f?kw=a&pn=100", 3, "<a href='/f?kw=a&pn=50'>上一页</a><a href='/f?kw=a&pn=0'>1</a>"), None);
    }
}
