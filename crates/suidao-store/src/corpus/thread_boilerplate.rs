//! What the threads of a forum have in common: ends of their titles, posts that staff shows in all, signatures, the order
//! of day and month.

use rustc_hash::{FxHashMap, FxHashSet};

use super::announcements::Announcements;
use suidao_forum::forum::analysis::PagePosts;
use suidao_forum::forum::date_order::DateEvidence;
use suidao_forum::forum::links::columns;
use suidao_forum::forum::signatures::Signatures;

/// Separators between the title of a page and the name of its site.
pub(super) const SEPARATORS: [&str; 11] = [" | ", " - ", " – ", " — ", " · ", " • ", " » ", " « ", " :: ", "｜", "_"];
/// Parts of a title that may be removed at either end.
const PARTS: usize = 4;
/// Characters of a link that may be a part of a title.
const LINK: usize = 3;
/// Titles of which a part must be common to all but a few.
const TITLES: usize = 4;

#[derive(Debug, Default)]
pub(super) struct ThreadBoilerplate {
    /// Parts of titles with their separators, from the outermost.
    ends: Vec<String>,
    starts: Vec<String>,
    /// All titles are the same: the name of the site.
    are_same: bool,
    /// Names of boards.
    boards: FxHashSet<String>,
    announcements: Announcements,
    signatures: Signatures,
    dates: DateEvidence,
}

impl ThreadBoilerplate {
    pub fn of(titles: &[String], boards: FxHashSet<String>, pages: &[PagePosts], signatures: Signatures) -> Self {
        let mut rest: Vec<&str> = titles.iter().map(String::as_str).collect();
        let (mut ends, mut starts) = (Vec::new(), Vec::new());
        for _ in 0..PARTS {
            if let Some(end) = common(&rest, last_part) {
                rest.iter_mut().for_each(|title| *title = title.strip_suffix(end.as_str()).unwrap_or(title));
                ends.push(end);
            } else if let Some(start) = common(&rest, first_part) {
                rest.iter_mut().for_each(|title| *title = title.strip_prefix(start.as_str()).unwrap_or(title));
                starts.push(start);
            } else {
                break;
            }
        }
        let are_same = titles.len() >= TITLES && titles.iter().all(|title| *title == titles[0]);
        let dates = pages.iter().fold(DateEvidence::default(), |dates, page| dates.and(page.dates));
        Self { ends, starts, are_same, boards, announcements: Announcements::of(pages), signatures, dates }
    }

    pub fn announcements(&self) -> &Announcements {
        &self.announcements
    }

    pub fn signatures(&self) -> &Signatures {
        &self.signatures
    }

    pub fn dates(&self) -> DateEvidence {
        self.dates
    }

    /// The title of a thread without the names of site and board. `linked`: the text of a link to it.
    pub fn title<'a>(&self, title: &'a str, linked: &'a str) -> &'a str {
        if self.are_same && linked.chars().count() >= LINK {
            return linked.trim();
        }
        if let Some(own) = linked_part(title, linked) {
            return own;
        }
        let mut rest = title;
        for end in &self.ends {
            rest = rest.strip_suffix(end.as_str()).unwrap_or(rest);
        }
        for start in &self.starts {
            rest = rest.strip_prefix(start.as_str()).unwrap_or(rest);
        }
        if let Some(end) = last_part(rest)
            && self.boards.contains(without_separator(end))
        {
            rest = &rest[..rest.len() - end.len()];
        }
        if rest.trim().is_empty() { title } else { rest.trim() }
    }
}

/// The part that nearly all titles have at one end, if they differ otherwise.
fn common(titles: &[&str], part: fn(&str) -> Option<&str>) -> Option<String> {
    let mut counts: FxHashMap<&str, usize> = FxHashMap::default();
    for found in titles.iter().filter_map(|title| part(title)) {
        *counts.entry(found).or_default() += 1;
    }
    let different: FxHashSet<&str> = titles.iter().copied().collect();
    let is_common = |count: usize| count >= TITLES && count * 10 >= titles.len() * 8 && different.len() >= TITLES;
    counts.into_iter().find(|(_, count)| is_common(*count)).map(|(part, _)| part.to_owned())
}

/// The last part of a title, with its separator.
pub(super) fn last_part(title: &str) -> Option<&str> {
    let at = SEPARATORS.iter().filter_map(|separator| title.rfind(separator)).filter(|at| *at > 0).max()?;
    Some(&title[at..])
}

fn first_part(title: &str) -> Option<&str> {
    let ends = SEPARATORS.iter().filter_map(|separator| title.find(separator).map(|at| at + separator.len()));
    let end = ends.filter(|end| *end < title.len()).min()?;
    Some(&title[..end])
}

pub(super) fn without_separator(part: &str) -> &str {
    let separator = SEPARATORS.iter().find(|separator| part.starts_with(**separator));
    part[separator.map_or(0, |separator| separator.len())..].trim()
}

/// The part of a title that a link to the page has too: lists show the titles of threads. If the link may be only a part
/// of the thread's title, up to the next separators.
fn linked_part<'a>(title: &'a str, linked: &str) -> Option<&'a str> {
    let whole = linked.trim();
    let linked = whole.trim_end_matches("...").trim_end_matches('…').trim();
    if linked.is_empty() {
        return None;
    }
    let is_word_at = |text: Option<char>| text.is_some_and(char::is_alphanumeric);
    let is_bounded = |from: usize| {
        let (before, after) = (&title[..from], &title[from + linked.len()..]);
        !is_word_at(before.chars().next_back()) && !is_word_at(after.chars().next())
    };
    let around = |from: usize| {
        let to = from + linked.len();
        let ends =
            SEPARATORS.iter().filter_map(|separator| title[..from].rfind(separator).map(|at| at + separator.len()));
        let start = ends.max().unwrap_or(0);
        let end = SEPARATORS.iter().filter_map(|separator| title[to..].find(separator).map(|at| to + at)).min();
        title[start..end.unwrap_or(title.len())].trim()
    };
    // The words may also be a part of the name of the site.
    let places = title.match_indices(linked).map(|(from, _)| (from, around(from)));
    let (from, best) = places.min_by_key(|(_, part)| part.len())?;
    // "new" in "What is new".
    let is_most = columns(linked) * 2 >= columns(best);
    if whole == linked && is_most && is_bounded(from) && linked.chars().count() >= LINK {
        return Some(&title[from..from + linked.len()]);
    }
    (best == linked || linked.chars().count() >= LINK).then_some(best)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(titles: &[&str], boards: &[&str]) -> ThreadBoilerplate {
        let titles: Vec<String> = titles.iter().map(|title| (*title).to_owned()).collect();
        ThreadBoilerplate::of(
            &titles,
            boards.iter().map(|name| (*name).to_owned()).collect(),
            &[],
            Signatures::default(),
        )
    }

    #[test]
    fn the_names_of_site_and_board_are_no_part_of_a_title() {
        let own = ["怎么备份 - 安全", "C++ - 入门", "三", "四", "五", "六"];
        let templates: [fn(&str) -> String; 6] = [
            |title| format!("{title} - 长桥社区"),
            |title| format!("{title} - 运维 - 长桥社区 - Powered by Discuz!"),
            |title| format!("{title} | 长桥社区"),
            |title| format!("长桥社区 • 查看主题 - {title}"),
            |title| format!("{title}_运维_长桥社区"),
            |title| format!("长桥社区 :: {title}"),
        ];
        for template in templates {
            let titles: Vec<String> = own.iter().map(|title| template(title)).collect();
            let titles: Vec<&str> = titles.iter().map(String::as_str).collect();
            let learnt = of(&titles, &["运维"]);
            for (title, own) in titles.iter().zip(own) {
                assert_eq!(learnt.title(title, own), own, "by its link");
                assert_eq!(learnt.title(title, ""), own, "by its template");
                assert_eq!(of(&[], &[]).title(title, own), own, "of a single thread");
            }
        }
    }

    #[test]
    fn a_link_may_cut_a_title_and_leave_out_its_prefix() {
        let plain = of(&[], &[]);
        assert_eq!(plain.title("[求助] 怎么备份数据库 - 运维 - 长桥", "怎么备份数..."), "[求助] 怎么备份数据库");
        for title in ["长桥: 怎么备份数据库?", "怎么备份数据库? 长桥", "怎么备份数据库? (Page 1 of 3) - 长桥"]
        {
            assert_eq!(plain.title(title, "怎么备份数据库?"), "怎么备份数据库?", "{title}");
        }
        assert_eq!(
            plain.title("What is new in the baking of bread - Bakers", "new"),
            "What is new in the baking of bread"
        );
        assert_eq!(plain.title("怎么备份数据库 - 长桥", "怎么备份数"), "怎么备份数据库", "cut without a sign");
        assert_eq!(plain.title("怎么备份 - 长桥", "首页"), "怎么备份 - 长桥");
        assert_eq!(plain.title("怎么备份", ""), "怎么备份");
        assert_eq!(plain.title("Bread Forum • View topic - Bread", "Bread"), "Bread");
        assert_eq!(plain.title("问答 - 一问一答", "问"), "问答 - 一问一答");
        let same = of(&["长桥"; 8], &[]);
        assert_eq!((same.title("长桥", ""), same.title("长桥", "怎么备份")), ("长桥", "怎么备份"));
    }
}
