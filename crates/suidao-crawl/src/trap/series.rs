//! Series of pages that may be endless: a calendar's months, a list's pages, the combinations of a shop's filters. The
//! URLs show the series; [`super::series_tracker`] decides whether it has ended, because `/2020/05/` may be a calendar
//! or an archive.

use xxhash_rust::xxh3::xxh3_64;

use suidao_page::model::CrawlUrl;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UrlSeries {
    /// Host and path with numbers masked: `a.cn/page/#/`.
    path: String,
    /// Names of the parameters, in order, each once.
    names: Vec<String>,
}

impl UrlSeries {
    /// The series of a URL whose path ends in a number or which has a query.
    pub fn of(url: &CrawlUrl) -> Option<Self> {
        let masked = mask_numbers(url.path());
        let pairs = url.query().into_iter().flat_map(|query| query.split('&')).filter(|pair| !pair.is_empty());
        let mut names: Vec<String> = pairs.map(|pair| pair.split('=').next().unwrap_or(pair).to_owned()).collect();
        if masked.is_none() && names.is_empty() {
            return None;
        }
        names.sort_unstable();
        names.dedup();
        let path = masked.as_deref().unwrap_or(url.path());
        Some(Self { path: format!("{}{path}", url.authority()), names })
    }

    pub fn key(&self) -> u64 {
        xxh3_64(format!("{}?{}", self.path, self.names.join("&")).as_bytes())
    }

    /// Whether its pages are combinations of parameters.
    pub fn combines_parameters(&self) -> bool {
        self.names.len() >= 2
    }

    /// Whether the other series is related: months and days of one calendar, a list with one more filter.
    pub fn is_relative(&self, other: &Self) -> bool {
        if self.path == other.path {
            let shared = self.names.iter().filter(|name| other.names.contains(name)).count();
            return shared >= 2 || shared == self.names.len().min(other.names.len());
        }
        let rest = other.path.strip_prefix(&self.path).or_else(|| self.path.strip_prefix(&other.path));
        self.names == other.names && rest.is_some_and(|rest| rest.bytes().all(|byte| matches!(byte, b'#' | b'/')))
    }
}

/// Whether a link leads to a later page of the same list: `/tag/x/page/2/` of `/tag/x/`.
pub fn continues_series(page: &CrawlUrl, link: &CrawlUrl) -> bool {
    let Some(series) = UrlSeries::of(link) else { return false };
    match UrlSeries::of(page) {
        Some(own) => own.is_relative(&series),
        None => page.authority() == link.authority() && link.path().starts_with(page.path()),
    }
}

/// A path that ends in a number, with numbers masked. None if letters follow a digit in a segment: that is a title or a
/// code, shared by few pages.
fn mask_numbers(path: &str) -> Option<String> {
    let is_digit = |c: char| c.is_ascii_digit();
    if !path.trim_end_matches('/').rsplit('/').next()?.contains(is_digit) {
        return None;
    }
    let mask = |segment: &str| -> Option<String> {
        let (name, extension) = segment.split_at(segment.find('.').unwrap_or(segment.len()));
        let Some(first) = name.find(is_digit) else { return Some(segment.to_owned()) };
        let (word, number) = name.split_at(first);
        number.chars().all(|c| is_digit(c) || matches!(c, '-' | '_')).then(|| format!("{word}#{extension}"))
    };
    Some(path.split('/').map(mask).collect::<Option<Vec<String>>>()?.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(path: &str) -> CrawlUrl {
        CrawlUrl::parse(&format!("http://a.cn{path}")).unwrap()
    }

    fn series(path: &str) -> Option<UrlSeries> {
        UrlSeries::of(&url(path))
    }

    #[test]
    fn series_are_reported_by_their_spelling() {
        for path in ["/", "/2020/05/17/a-post/", "/a-post-2-b/", "/3f9c2a.html", "/h2020/x/", "/v1.2/index.html"] {
            assert_eq!(series(path), None, "{path}");
        }
        for (one, other) in [
            ("/2020/05/", "/2031/12/"),
            ("/calendar/2031-05.html", "/calendar/2031-06.html"),
            ("/tag/x/page/2/", "/tag/x/page/31/"),
            ("/news/index_3.html", "/news/index_41.html"),
            ("/l?cat=3&page=2", "/l?page=7&cat=3"),
            ("/s?a=1&b=x", "/s?b=y&a=2"),
            ("/post/1234.html", "/post/1.html"),
        ] {
            assert!(series(one).is_some() && series(one) == series(other), "{one} {other}");
        }
        for (one, other) in [
            ("/2020/05/", "/2020/05/17/"),
            ("/a/2020/05/", "/b/2020/05/"),
            ("/tag/x/page/2/", "/tag/y/page/2/"),
            ("/s?a=1&b=x", "/s?a=1&c=x"),
        ] {
            assert_ne!(series(one), series(other), "{one} {other}");
        }
    }

    #[test]
    fn relatives_are_months_and_days_of_one_calendar() {
        let relatives = |page: &str, link: &str| {
            let (page, link) = (series(page).unwrap(), series(link));
            link.is_some_and(|link| page.is_relative(&link) && link.is_relative(&page))
        };
        assert!(relatives("/cal/2031/05/", "/cal/2031/05/17/") && relatives("/cal/2031/05/", "/cal/2031/06/"));
        assert!(!relatives("/2020/05/", "/2020/05/17/a-post/") && !relatives("/cal/2031/05/", "/events/7.html"));
        assert!(!relatives("/archive/page/2/", "/archive/7.html") && !relatives("/2020/05/", "/2020/05/7.html"));
        assert!(relatives("/s?color=red&size=1", "/s?color=red") && relatives("/s?a=1&b=2", "/s?a=1&b=2&c=3"));
        assert!(!relatives("/i.php?m=list&cat=2&sort=up", "/i.php?m=show&id=7"));
    }

    #[test]
    fn further_pages_of_a_list_are_distinguished_from_its_posts() {
        for (page, link, further) in [
            ("/tag/x/", "/tag/x/page/2/", true),
            ("/tag/x/page/2/", "/tag/x/page/3/", true),
            ("/list", "/list?page=2", true),
            ("/tag/x/", "/post/2.html", false),
            ("/tag/x/", "/about", false),
        ] {
            assert_eq!(continues_series(&url(page), &url(link)), further, "{page} {link}");
        }
    }

    proptest::proptest! {
        #[test]
        fn any_url_can_be_asked_about(text in "[0-9a-z/?&=._-]{0,60}") {
            if let Ok(url) = CrawlUrl::parse(&format!("http://a.cn/{text}")) {
                proptest::prop_assert!(UrlSeries::of(&url).is_none_or(|series| series.is_relative(&series)));
            }
        }
    }
}
