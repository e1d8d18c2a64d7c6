//! Rows of pages that may have no end: a calendar's months, a list's pages, the combinations of a shop's filters. Which
//! rows a URL lies in is told by its spelling alone; whether a row has ended is another matter ([`super::runs`]), for
//! `/2020/05/` may be a calendar's or an archive's.

use xxhash_rust::xxh3::Xxh3;

use super::Traps;
use suidao_page::model::{CrawlUrl, Refusal};

/// What a row consists of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Dates.
    Calendar,
    /// Pages of a list.
    Pagination,
    /// Combinations of parameters.
    Facets,
}

impl Kind {
    /// Pages in a row that may bring nothing; 0 if there is no limit.
    pub fn limit(self, traps: &Traps) -> u16 {
        match self {
            Self::Calendar => traps.calendar,
            Self::Pagination => traps.pagination,
            Self::Facets => traps.facets,
        }
    }

    /// What a URL is refused for, once the row has ended.
    pub fn refusal(self) -> Refusal {
        match self {
            Self::Calendar => Refusal::Calendar,
            Self::Pagination => Refusal::Pagination,
            Self::Facets => Refusal::Facets,
        }
    }
}

/// A row that a URL lies in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    /// What it consists of.
    pub kind: Kind,
    /// Tells it from all others.
    pub key: u64,
    /// What its relatives share: the months, weeks and days of one calendar are rows of their own.
    stem: u64,
}

/// The rows that a URL lies in, at most 3, in a fixed order.
pub fn rows(url: &CrawlUrl) -> Vec<Row> {
    let mut found = Vec::new();
    let digits = url.path().bytes().any(|byte| byte.is_ascii_digit());
    if !digits && url.query().is_none() {
        return found;
    }
    let pairs = Pairs::of(url);
    let path = if digits { path(url.path()) } else { None };
    let dated = pairs.is_dated();
    let paged = pairs.values.iter().any(|pair| pair.is_page());
    let place = [url.authority().as_bytes(), path.as_ref().map_or(url.path(), |row| &row.masked).as_bytes()];
    let stem = |kind: Kind| {
        let stem = path.as_ref().filter(|row| row.kind == kind).map_or(url.path(), |row| &row.stem);
        hash(kind, &[url.authority().as_bytes(), stem.as_bytes()])
    };
    let calendar = dated || path.as_ref().is_some_and(|row| row.kind == Kind::Calendar);
    if calendar {
        let key = hash(Kind::Calendar, &[place[0], place[1], pairs.masked(|_| true).as_bytes()]);
        found.push(Row { kind: Kind::Calendar, key, stem: stem(Kind::Calendar) });
    } else if paged || path.is_some() {
        let key = hash(Kind::Pagination, &[place[0], place[1], pairs.masked(|pair| pair.is_page()).as_bytes()]);
        found.push(Row { kind: Kind::Pagination, key, stem: stem(Kind::Pagination) });
    }
    let names = pairs.names();
    if names.len() >= 2 {
        let stem = hash(Kind::Facets, &[place[0], url.path().as_bytes()]);
        let set = names.join("&");
        found.push(Row { kind: Kind::Facets, key: hash(Kind::Facets, &[place[0], place[1], set.as_bytes()]), stem });
        // With three parameters and more, each set of names is one of many.
        if names.len() >= 3 {
            found.push(Row { kind: Kind::Facets, key: hash(Kind::Facets, &[place[0], place[1], b"*"]), stem });
        }
    }
    found
}

fn hash(kind: Kind, parts: &[&[u8]]) -> u64 {
    let mut hash = Xxh3::with_seed(kind as u64 + 1);
    for part in parts {
        hash.update(part);
        hash.update(&[0]);
    }
    hash.digest()
}

/// Whether two URLs are relatives: of one row, or of rows of one calendar, list or set of filters.
pub fn are_relatives(row: &Row, page: &CrawlUrl, link: &CrawlUrl, rows: &[Row]) -> bool {
    if row.kind != Kind::Facets {
        return rows.iter().any(|other| other.kind == row.kind && other.stem == row.stem);
    }
    if (page.authority(), page.path()) != (link.authority(), link.path()) {
        return false;
    }
    let (own, other) = (Pairs::of(page).names(), Pairs::of(link).names());
    let shared = own.iter().filter(|name| other.contains(name)).count();
    shared >= 2 || shared == own.len().min(other.len())
}

/// A path with its numbers taken out.
struct PathRow {
    kind: Kind,
    masked: String,
    /// What stands before the first of them.
    stem: String,
}

/// The row that a path is one of: dates to its end, or a page's number.
fn path(path: &str) -> Option<PathRow> {
    let segments: Vec<&str> = path.split('/').collect();
    if let Some(first) = segments.iter().position(|segment| is_date(segment)) {
        let rest = &segments[first + 1..];
        let goes_on = |segment: &&str| {
            segment.is_empty()
                || is_short_number(segment)
                || matches!(*segment, "page" | "index.html" | "index.htm" | "index.php")
        };
        if rest.iter().all(goes_on) {
            let masked = segments
                .iter()
                .enumerate()
                .map(|(at, segment)| if at < first { (*segment).to_owned() } else { mask(segment) });
            let masked = masked.collect::<Vec<_>>().join("/");
            return Some(PathRow { kind: Kind::Calendar, masked, stem: segments[..first].join("/") });
        }
    }
    for (at, segment) in segments.iter().enumerate().rev() {
        let before = at.checked_sub(1).map(|before| segments[before].to_ascii_lowercase());
        let after_word = is_short_number(segment) && before.as_deref().is_some_and(is_page_word);
        if after_word || names_page(segment) {
            let mut masked = segments.clone();
            masked[at] = "#";
            let stem = segments[..at - usize::from(after_word)].join("/");
            return Some(PathRow { kind: Kind::Pagination, masked: masked.join("/"), stem });
        }
    }
    None
}

fn mask(segment: &str) -> String {
    let mut masked = String::with_capacity(segment.len());
    for c in segment.chars() {
        match c {
            '0'..='9' if masked.ends_with('#') => {}
            '0'..='9' => masked.push('#'),
            c => masked.push(c),
        }
    }
    masked
}

fn is_year(text: &str) -> bool {
    text.len() == 4
        && text.bytes().all(|byte| byte.is_ascii_digit())
        && (text.starts_with("19") || text.starts_with('2'))
}

/// Up to five digits, perhaps with the extension of a page.
fn is_short_number(segment: &str) -> bool {
    let number = segment.split_once('.').map_or(segment, |(number, _)| number);
    (1..=5).contains(&number.len()) && number.bytes().all(|byte| byte.is_ascii_digit())
}

/// `2031`, `203105`, `2031-05`, `2031-05-17.html` and the like.
fn is_date(segment: &str) -> bool {
    let text = match segment.split_once('.') {
        Some((text, "html" | "htm" | "shtml" | "php" | "asp" | "aspx" | "jsp")) => text,
        Some(_) => return false,
        None => segment,
    };
    let number =
        |text: &str, most: u8| text.len() <= 2 && text.parse::<u8>().is_ok_and(|number| (1..=most).contains(&number));
    let mut parts = text.split(['-', '_']);
    let Some(first) = parts.next().filter(|first| first.bytes().all(|byte| byte.is_ascii_digit())) else {
        return false;
    };
    let rest: Vec<&str> = parts.collect();
    match (first.len(), rest.as_slice()) {
        // A number with an extension is a post's.
        (4, []) => is_year(first) && text == segment,
        (4, [month]) => is_year(first) && number(month, 53),
        (4, [month, day]) => is_year(first) && number(month, 12) && number(day, 31),
        (6, []) => is_year(&first[..4]) && number(&first[4..], 12),
        (8, []) => is_year(&first[..4]) && number(&first[4..6], 12) && number(&first[6..], 31),
        _ => false,
    }
}

fn is_page_word(word: &str) -> bool {
    matches!(word, "page" | "p" | "pg" | "pn" | "pages" | "paged")
}

/// `page-3`, `page3.html`, `index_3.html`, `list-2-3.html`, `p3`.
fn names_page(segment: &str) -> bool {
    let lower = segment.to_ascii_lowercase();
    let (stem, extension) = lower.split_once('.').map_or((lower.as_str(), ""), |(stem, extension)| (stem, extension));
    let Some(rest) = ["page", "index", "list", "default"].iter().find_map(|word| stem.strip_prefix(word)) else {
        return false;
    };
    let numbers: Vec<&str> = rest.split(['-', '_']).filter(|part| !part.is_empty()).collect();
    let separated = rest.starts_with(['-', '_']) || stem.starts_with("page");
    (extension.is_empty() || matches!(extension, "html" | "htm" | "shtml" | "php" | "asp" | "aspx" | "jsp"))
        && separated
        && !numbers.is_empty()
        && numbers.iter().all(|part| is_short_number(part))
}

/// One parameter.
struct Pair<'a> {
    name: &'a str,
    value: &'a str,
}

impl Pair<'_> {
    fn is_page(&self) -> bool {
        const COUNTING: [&str; 17] = [
            "page",
            "p",
            "pn",
            "pg",
            "pageno",
            "paged",
            "start",
            "offset",
            "page_no",
            "pagenum",
            "pageindex",
            "page_id",
            "curpage",
            "currentpage",
            "pageid",
            "from",
            "page_num",
        ];
        // `p` and `page_id` are a post's where they are long.
        let most = if matches!(self.name, "p" | "page_id" | "pageid") { 3 } else { 6 };
        (1..=most).contains(&self.value.len())
            && self.value.bytes().all(|byte| byte.is_ascii_digit())
            && COUNTING.iter().any(|name| self.name.eq_ignore_ascii_case(name))
    }

    fn is_date(&self) -> bool {
        const DATES: [&str; 9] = ["date", "ymd", "ym", "month", "m", "day", "week", "from", "to"];
        match self.value.len() {
            6 | 8 => is_date(self.value) && DATES.iter().any(|name| self.name.eq_ignore_ascii_case(name)),
            7 | 9 | 10 => self.value.contains('-') && is_date(self.value),
            4 => is_year(self.value) && self.name.bytes().any(|byte| byte.eq_ignore_ascii_case(&b'y')),
            _ => false,
        }
    }
}

/// The parameters of a URL.
struct Pairs<'a> {
    values: Vec<Pair<'a>>,
}

impl<'a> Pairs<'a> {
    fn of(url: &'a CrawlUrl) -> Self {
        let pairs = url.query().into_iter().flat_map(|query| query.split('&')).filter(|pair| !pair.is_empty());
        let mut values: Vec<Pair> = pairs
            .map(|pair| pair.split_once('=').unwrap_or((pair, "")))
            .map(|(name, value)| Pair { name, value })
            .collect();
        values.sort_by_key(|pair| pair.name);
        Self { values }
    }

    fn is_dated(&self) -> bool {
        self.values.iter().any(Pair::is_date)
    }

    /// Names in order, each once, without that of the page.
    fn names(&self) -> Vec<&'a str> {
        let mut names: Vec<&str> = self.values.iter().filter(|pair| !pair.is_page()).map(|pair| pair.name).collect();
        names.dedup();
        names
    }

    /// Names and values in order, numbers and dates among these taken out.
    fn masked(&self, hide: impl Fn(&Pair) -> bool) -> String {
        let mut text = String::new();
        for pair in &self.values {
            let number = !pair.value.is_empty() && pair.value.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-');
            let value = if number && hide(pair) { "#" } else { pair.value };
            text += &format!("{}={value}&", pair.name);
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(path: &str) -> CrawlUrl {
        CrawlUrl::parse(&format!("http://a.cn{path}")).unwrap()
    }

    fn kinds(path: &str) -> Vec<Kind> {
        rows(&url(path)).iter().map(|row| row.kind).collect()
    }

    fn same(one: &str, other: &str) -> bool {
        rows(&url(one)).iter().zip(rows(&url(other))).all(|(one, other)| one.key == other.key)
    }

    #[test]
    fn rows_are_told_by_their_spelling() {
        use Kind::{Calendar, Facets, Pagination};
        for (path, expected) in [
            ("/", &[][..]),
            ("/post/1234.html", &[]),
            ("/2020/05/17/a-post/", &[]),
            ("/2020/05/17/", &[Calendar]),
            ("/2020/05/", &[Calendar]),
            ("/2020/", &[Calendar]),
            ("/archives/2020/05/page/2/", &[Calendar]),
            ("/calendar/2031-05.html", &[Calendar]),
            ("/cal?month=2031-05", &[Calendar]),
            ("/cal?year=2031&month=5", &[Calendar, Facets]),
            ("/?m=203105", &[Calendar]),
            ("/page/3/", &[Pagination]),
            ("/tag/x/page-3.html", &[Pagination]),
            ("/news/index_3.html", &[Pagination]),
            ("/list?page=3", &[Pagination]),
            ("/?p=3456", &[]),
            ("/list?cat=3&page=3", &[Pagination]),
            ("/shop?color=red&size=3", &[Facets]),
            ("/shop?color=red&size=3&sort=up", &[Facets, Facets]),
            ("/shop?color=red&size=3&page=2", &[Pagination, Facets]),
            ("/show.php?id=3", &[]),
            ("/v1.2/index.html", &[]),
            ("/h2020/", &[]),
        ] {
            assert_eq!(kinds(path), expected, "{path}");
        }
        assert!(
            same("/2020/05/", "/2031/12/") && !same("/2020/05/", "/2020/05/17/") && !same("/a/2020/05/", "/b/2020/05/")
        );
        assert!(same("/tag/x/page/2/", "/tag/x/page/31/") && !same("/tag/x/page/2/", "/tag/y/page/2/"));
        assert!(same("/l?cat=3&page=2", "/l?page=7&cat=3") && !same("/l?cat=3&page=2", "/l?cat=4&page=2"));
        assert!(same("/s?a=1&b=x", "/s?b=y&a=2") && !same("/s?a=1&b=x", "/s?a=1&c=x"));
    }

    #[test]
    fn relatives_are_months_and_days_of_one_calendar() {
        let relatives = |page: &str, link: &str| {
            let (page, link) = (url(page), url(link));
            rows(&page).iter().any(|row| are_relatives(row, &page, &link, &rows(&link)))
        };
        assert!(relatives("/cal/2031/05/", "/cal/2031/05/17/") && relatives("/cal/2031/05/", "/cal/2031/06/"));
        assert!(!relatives("/2020/05/", "/2020/05/17/a-post/") && !relatives("/cal/2031/05/", "/events/7.html"));
        assert!(relatives("/s?color=red&size=1", "/s?color=red") && relatives("/s?a=1&b=2", "/s?a=1&b=2&c=3"));
        assert!(!relatives("/i.php?m=list&cat=2&sort=up", "/i.php?m=show&id=7"));
    }

    proptest::proptest! {
        #[test]
        fn any_url_has_at_most_three_rows(text in "[0-9a-z/?&=._-]{0,60}") {
            if let Ok(url) = CrawlUrl::parse(&format!("http://a.cn/{text}")) {
                proptest::prop_assert!(rows(&url).len() <= 3);
            }
        }
    }
}
