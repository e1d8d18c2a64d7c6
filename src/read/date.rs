//! When a page was published: what it declares, then what its address says, then what it shows.
//!
//! Apart because dates are written in a dozen ways, and because a page holds many that are not its own (those of other
//! articles, comments, the site's foundation): the rules here say which one is believed. To the day: hours come with time
//! zones that nobody states.

use html5ever::local_name;
use html5ever::tokenizer::Tag;

use super::document::Document;
use super::markup::attribute;
use crate::model::{CrawlUrl, Day};

/// Characters of a block that may be a line of particulars (author, date, tags).
const SHORT: usize = 60;
/// Blocks from the top among which that line is looked for.
const TOP: usize = 40;
/// A page that shows more days than this one after the other is a list of articles, none of whose days is its own.
const FEW: usize = 2;

/// Names of meta elements that say when the page was published (Open Graph, schema.org, Dublin Core, and what Chinese
/// portals have in their place), in lower case.
const PUBLISHED: [&str; 14] = [
    "article:published_time",
    "og:published_time",
    "og:article:published_time",
    "article:create_at",
    "bytedance:published_time",
    "datepublished",
    "publishdate",
    "publish_date",
    "pubdate",
    "publication_date",
    "dc.date.issued",
    "dcterms.created",
    "dc.date.created",
    "sailthru.date",
];

/// Names that may mean a date of change too.
const DATED: [&str; 4] = ["date", "dc.date", "dcterms.date", "og:time"];

/// How a date was declared, the most reliable first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Declared {
    Meta,
    JsonLd,
    Marked,
    Dated,
}

/// What a page's markup says of its date.
#[derive(Debug, Default)]
pub(super) struct Dates {
    best: Option<(Declared, Day)>,
    /// Days of `time` elements without a word on what they are, until there are too many: a page may hold 400,000.
    times: Vec<Day>,
}

impl Dates {
    /// Takes in a start tag.
    pub(super) fn tag(&mut self, tag: &Tag) {
        match tag.name {
            local_name!("meta") => self.meta(tag),
            local_name!("time") => self.time(tag),
            _ => {}
        }
    }

    /// The most reliable of what was declared; nothing of a page that lists others, whose dates those are.
    pub(super) fn best(self, lists: bool) -> Option<Day> {
        if lists {
            return None;
        }
        let time = if self.times.len() <= FEW { self.times.first().copied() } else { None };
        self.best.map(|(_, day)| day).or(time)
    }

    fn declare(&mut self, how: Declared, day: Option<Day>) {
        if let Some(day) = day
            && self.best.is_none_or(|(known, _)| how < known)
        {
            self.best = Some((how, day));
        }
    }

    fn meta(&mut self, tag: &Tag) {
        let named =
            tag.attrs.iter().filter(|attribute| matches!(&*attribute.name.local, "name" | "property" | "itemprop"));
        for name in named.map(|attribute| attribute.value.trim().to_ascii_lowercase()) {
            let how = if PUBLISHED.contains(&name.as_str()) {
                Declared::Meta
            } else if DATED.contains(&name.as_str()) {
                Declared::Dated
            } else {
                continue;
            };
            self.declare(how, attribute(tag, &local_name!("content")).and_then(first));
        }
    }

    fn time(&mut self, tag: &Tag) {
        let value = |name: &str| tag.attrs.iter().find(|attribute| &*attribute.name.local == name).map(|a| &*a.value);
        let Some(day) = value("datetime").and_then(first) else { return };
        let says = |name: &str, word: &str| value(name).is_some_and(|value| value.to_ascii_lowercase().contains(word));
        if value("pubdate").is_some() || says("itemprop", "datepublished") || says("class", "publish") {
            self.declare(Declared::Marked, Some(day));
        } else if !says("itemprop", "modified") && !says("class", "update") {
            few(&mut self.times, day);
        }
    }

    /// Takes in a script of JSON-LD.
    pub(super) fn json_ld(&mut self, script: &str) {
        let dates = script.split("\"datePublished\"").skip(1);
        let value =
            |rest: &str| rest.trim_start().strip_prefix(':').and_then(|rest| first(rest.get(..40).unwrap_or(rest)));
        // A list of articles declares many.
        let mut days: Vec<Day> = dates.filter_map(value).collect();
        days.dedup();
        if days.len() <= FEW {
            self.declare(Declared::JsonLd, days.first().copied());
        }
    }
}

/// The date in a page's address, else the one it shows in its head lines.
pub(super) fn of(document: &Document, url: &CrawlUrl) -> Option<Day> {
    in_path(url.path()).or_else(|| if is_section(url) { None } else { shown(document) })
}

/// Whether an address is one of a list of articles: the dates on such a page are theirs.
pub(super) fn is_section(url: &CrawlUrl) -> bool {
    const SECTIONS: [&str; 10] =
        ["tag", "tags", "category", "categories", "page", "author", "series", "links", "friends", "about"];
    let mut segments = url.path().split('/').filter(|segment| !segment.is_empty());
    url.path() == "/" || segments.any(|segment| SECTIONS.iter().any(|section| segment.eq_ignore_ascii_case(section)))
}

/// `/2021/03/05/` or `/2021-03-05-title` or `/20210305/`.
fn in_path(path: &str) -> Option<Day> {
    let segments: Vec<&str> = path.split('/').collect();
    let whole = segments.windows(3).find_map(|window| {
        let [year, month, day] = window else { return None };
        if year.len() == 4 && month.len() <= 2 && day.len() <= 2 { date(year, month, day) } else { None }
    });
    whole.or_else(|| {
        segments.iter().find_map(|segment| {
            let digits = segment.bytes().take_while(u8::is_ascii_digit).count();
            match digits {
                8 => date(&segment[..4], &segment[4..6], &segment[6..8]),
                4 if segment[4..].starts_with('-') => first(segment.get(..10)?),
                _ => None,
            }
        })
    })
}

/// The date in a line of particulars near the top of the page, or one that is said to be the date of publication.
fn shown(document: &Document) -> Option<Day> {
    const SAID: [&str; 9] = ["发布", "发表", "時間", "时间", "日期", "posted", "published", "written on", "date:"];
    let mut days = Vec::new();
    let mut text = String::new();
    for block in document.blocks.iter().take(TOP) {
        text.clear();
        for piece in block.pieces.clone() {
            text.push_str(document.piece(piece));
        }
        if text.chars().count() > SHORT {
            continue;
        }
        let Some(day) = first(&text) else { continue };
        let lower = text.to_lowercase();
        if SAID.iter().any(|word| lower.contains(word)) {
            return Some(day);
        }
        few(&mut days, day);
    }
    if days.len() <= FEW { days.first().copied() } else { None }
}

/// Keeps a day, once, as long as there are not more than a few.
fn few(days: &mut Vec<Day>, day: Day) {
    if days.len() <= FEW && !days.contains(&day) {
        days.push(day);
    }
}

/// The first date in a text: `2021-03-05`, `2021/3/5`, `2021.3.5`, `2021年3月5日`, `5 Mar 2021`, `March 5, 2021`.
fn first(text: &str) -> Option<Day> {
    let numeric = text.match_indices(|c: char| c.is_ascii_digit()).find_map(|(at, _)| {
        let apart = !text[..at].ends_with(|c: char| c.is_ascii_digit());
        apart.then(|| numeric(&text[at..])).flatten()
    });
    numeric.or_else(|| worded(text))
}

fn numeric(text: &str) -> Option<Day> {
    let (year, rest) = number(text, 4..=4)?;
    let separator = rest.chars().next().filter(|c| matches!(c, '-' | '/' | '.' | '年'))?;
    let (month, rest) = number(rest[separator.len_utf8()..].trim_start(), 1..=2)?;
    let next = if separator == '年' { '月' } else { separator };
    let (day, _) = number(rest.trim_start().strip_prefix(next)?.trim_start(), 1..=2)?;
    date(year, month, day)
}

/// So many digits at the start, and what follows.
fn number(text: &str, digits: std::ops::RangeInclusive<usize>) -> Option<(&str, &str)> {
    let length = text.bytes().take_while(u8::is_ascii_digit).count();
    digits.contains(&length).then(|| text.split_at(length))
}

/// A month by its English name beside day and year.
fn worded(text: &str) -> Option<Day> {
    const MONTHS: [&str; 12] = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
    let words: Vec<&str> = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    words.windows(3).find_map(|window| {
        let [one, two, year] = window else { return None };
        let (month, day) = if one.starts_with(|c: char| c.is_ascii_digit()) { (two, one) } else { (one, two) };
        let name = month.get(..3)?.to_ascii_lowercase();
        let month = MONTHS.iter().position(|known| *known == name)? + 1;
        let day = day.trim_end_matches(|c: char| c.is_ascii_alphabetic());
        (year.len() == 4).then(|| date(year, &month.to_string(), day)).flatten()
    })
}

/// A day of the web's time: from 1990 on.
fn date(year: &str, month: &str, day: &str) -> Option<Day> {
    let year: i16 = year.parse().ok().filter(|year| (1990..2100).contains(year))?;
    Day::of(year, month.parse().ok()?, day.parse().ok()?)
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use proptest::prelude::*;

    use super::*;
    use crate::model::Fetched;

    fn published(url: &str, html: &str) -> Option<String> {
        let headers = vec![("content-type".to_owned(), "text/html; charset=utf-8".to_owned())];
        let body = Bytes::from(html.to_owned());
        let url = CrawlUrl::parse(url).unwrap();
        let parsed =
            crate::read::parse(&Fetched { url, status: 200, headers, body, wire: None, asked: None, rendered: None });
        parsed.published.map(|day| day.to_string())
    }

    fn of(html: &str) -> Option<String> {
        published("http://a.cn/x", html)
    }

    #[test]
    fn what_is_declared_goes_before_what_is_shown() {
        let day = |text: &str| Some(text.to_owned());
        let meta = "<meta property='article:published_time' content='2021-03-05T08:00:00+08:00'>";
        let ld = "<script type='application/ld+json'>{\"datePublished\": \"2020-01-02\"}</script>";
        let time = "<time itemprop=datePublished datetime=2019-05-06>x</time>";
        let shown = "<p>发布于 2018-07-08</p>";
        assert_eq!(of(&format!("{time}{ld}{shown}{meta}")), day("2021-03-05"));
        assert_eq!(of(&format!("{time}<p>x</p>{ld}{shown}")), day("2020-01-02"));
        assert_eq!(of(&format!("{shown}{time}")), day("2019-05-06"));
        assert_eq!(published("http://a.cn/2017/1/02/x", shown), day("2017-01-02"));
        assert_eq!(of(shown), day("2018-07-08"));
        assert_eq!(published("http://a.cn/tags/x/", &format!("{time}{shown}")), None, "an article's on a list");
        assert_eq!(published("http://a.cn/", shown), None);
        assert_eq!(of("<script>var x = {\"datePublished\": \"2020-01-02\"}</script>"), None);
    }

    #[test]
    fn a_list_of_articles_has_no_date_of_its_own() {
        let list = |item: &dyn Fn(usize) -> String| (1..9).map(item).collect::<String>();
        assert_eq!(of(&list(&|n| format!("<article><time datetime=2021-03-0{n}>x</time></article>"))), None);
        assert_eq!(of(&list(&|n| format!("<p>2021-03-0{n}</p>"))), None);
        assert_eq!(
            of(&format!(
                "<script type='application/ld+json'>[{}]</script>",
                list(&|n| format!("{{\"datePublished\":\"2021-03-0{n}\"}},"))
            )),
            None
        );
        assert_eq!(
            of("<p>张三 2021年 3月 5日 阅读(12)</p><p>正文，写于2019年1月1日的事情</p>").as_deref(),
            Some("2021-03-05")
        );
    }

    #[test]
    fn no_more_days_are_kept_than_tell_a_list() {
        let mut days = Vec::new();
        for n in 0..400_000_u32 {
            few(
                &mut days,
                first(&format!("{}-{:02}-{:02}", 1990 + n / 336 % 40, n / 28 % 12 + 1, n % 28 + 1)).unwrap(),
            );
        }
        assert_eq!(days.len(), FEW + 1);
    }

    #[test]
    fn dates_are_read_in_every_usual_form() {
        for text in [
            "2021-03-05",
            "2021/3/5 10:00",
            "2021.03.05",
            "2021年3月5日",
            "Fri, 05 Mar 2021 10:00:00 GMT",
            "March 5th, 2021",
            "编辑：20210,2021-3-5",
            "5 march 2021",
        ] {
            assert_eq!(first(text).map(|day| day.to_string()).as_deref(), Some("2021-03-05"), "{text}");
        }
        for text in ["2021-13-05", "12021-03-05", "1.2.3", "2021-03", "99 maybe 2021", "1970-01-01", "2021-03/05", ""] {
            assert_eq!(first(text), None, "{text}");
        }
        for (path, day) in [
            ("/2021/03/05/title/", true),
            ("/post/2021-03-05-title.html", true),
            ("/a/20210305/1.html", true),
            ("/2021/03/title", false),
            ("/12345678/", false),
            ("/2021-03", false),
            ("/2021年", false),
        ] {
            assert_eq!(in_path(path).is_some(), day, "{path}");
        }
    }

    proptest! {
        #[test]
        fn no_text_panics(text in "[0-9年月日/.\\- a-zé,]{0,30}") {
            let _ = (first(&text), in_path(&text));
        }
    }
}
