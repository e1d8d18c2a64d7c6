//! Dates in URLs, and whether a URL is a listing's.

use super::written::day_of;
use crate::model::{CrawlUrl, Day};

/// Whether a URL is of a list of articles; the dates on such a page are theirs.
pub(in crate::read) fn is_section(url: &CrawlUrl) -> bool {
    const SECTIONS: [&str; 10] =
        ["tag", "tags", "category", "categories", "page", "author", "series", "links", "friends", "about"];
    let mut segments = url.path().split('/').filter(|segment| !segment.is_empty());
    let paged = |query: &str| query.starts_with("page") || query.starts_with("cat") || query.starts_with("tag");
    let home = url.path() == "/" && url.query().is_none_or(paged);
    home || segments.any(|segment| SECTIONS.iter().any(|section| segment.eq_ignore_ascii_case(section)))
}

/// Whether a URL is of an archive: `/2021/03/`, `/archives/2021/`, `/blog/2021/03/05/`. After a title, numbers are the
/// date of that title.
pub(super) fn is_archive(url: &CrawlUrl) -> bool {
    const BEFORE: [&str; 8] = ["archives", "archive", "blog", "date", "news", "daily", "posts", "post"];
    let segments = url.path().split('/').filter(|segment| !segment.is_empty() && !segment.starts_with("index."));
    let mut segments: Vec<&str> = segments.collect();
    if url.query().is_some() {
        return false;
    }
    let number = |segment: &&str| segment.bytes().all(|byte| byte.is_ascii_digit());
    let numbers = segments.iter().rev().take_while(|segment| number(segment)).count();
    let dated = segments.split_off(segments.len() - numbers);
    let of_list = segments.last().is_none_or(|last| BEFORE.iter().any(|name| last.eq_ignore_ascii_case(name)));
    let year = |segment: &str| segment.len() == 4 && (segment.starts_with("19") || segment.starts_with("20"));
    of_list
        && match dated.as_slice() {
            [] => segments.last().is_some_and(|last| last.starts_with("archive")),
            [one] => year(one) && segments.last().is_none_or(|last| !last.starts_with("post")),
            [one, others @ ..] => year(one) && others.len() <= 2 && others.iter().all(|part| part.len() <= 2),
        }
}

/// `/2021/03/05/title`, `/2021-03-05-title`, `/title-2021-03-05`, `/20210305/`, `/2021-03/05/`.
pub(super) fn day(path: &str) -> Option<Day> {
    let segments: Vec<&str> = path.split('/').collect();
    let whole = segments.windows(3).find_map(|window| {
        let [year, month, day] = window else { return None };
        if year.len() == 4 && month.len() <= 2 && day.len() <= 2 { day_of(year, month, day) } else { None }
    });
    let parted = || {
        segments.windows(2).find_map(|window| {
            let [one, two] = window else { return None };
            let (year, month) = one.split_once(['-', '_', '.']).or_else(|| one.split_at_checked(4))?;
            // The rest of the day's segment is the title: `/2021/03/05-title`, `/202103/05/`.
            let digits = two.bytes().take_while(u8::is_ascii_digit).count();
            let apart = two[digits..].is_empty() || two[digits..].starts_with(['-', '_']);
            let fits = year.len() == 4 && month.len() == 2 && digits == 2 && apart;
            fits.then(|| day_of(year, month, &two[..2])).flatten()
        })
    };
    whole.or_else(|| segments.iter().find_map(|segment| in_segment(segment))).or_else(parted)
}

fn in_segment(segment: &str) -> Option<Day> {
    let bytes = segment.as_bytes();
    let digits = |from: usize| bytes[from..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    let mut at = 0;
    while at < bytes.len() {
        let length = digits(at);
        let starts = at == 0 || !bytes[at - 1].is_ascii_alphanumeric();
        if length == 0 || !starts {
            at += length.max(1);
            continue;
        }
        let found = match length {
            // Eight digits are any number, unless they begin the segment or follow a separator.
            8 if at == 0 || matches!(bytes[at - 1], b'-' | b'_' | b'~') => {
                day_of(&segment[at..at + 4], &segment[at + 4..at + 6], &segment[at + 6..at + 8])
            }
            4 => parts(segment, at, [4, 2, 2]).and_then(|[year, month, day]| day_of(year, month, day)),
            2 => parts(segment, at, [2, 2, 4]).and_then(|[day, month, year]| day_of(year, month, day)),
            _ => None,
        };
        if found.is_some() {
            return found;
        }
        at += length;
    }
    None
}

/// Three numbers with the same separator, of at most `most` digits each.
fn parts(segment: &str, at: usize, most: [usize; 3]) -> Option<[&str; 3]> {
    let mut parts = [""; 3];
    let mut rest = &segment[at..];
    let sign = rest.bytes().find(|byte| !byte.is_ascii_digit()).filter(|sign| matches!(sign, b'-' | b'_' | b'.'))?;
    for (number, most) in most.into_iter().enumerate() {
        if number > 0 {
            rest = rest.strip_prefix(char::from(sign))?;
        }
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        if digits == 0 || digits > most || most == 4 && digits < 4 {
            return None;
        }
        (parts[number], rest) = rest.split_at(digits);
    }
    Some(parts)
}

/// Year and month of a URL without a day: `/2021/03/title`.
pub(super) fn month(path: &str) -> Option<(i16, i8)> {
    let segments: Vec<&str> = path.split('/').collect();
    segments.windows(2).find_map(|window| {
        let [year, month] = window else { return None };
        if year.len() != 4 || month.len() != 2 {
            return None;
        }
        day_of(year, month, "1")?;
        Some((year.parse().ok()?, month.parse().ok()?))
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn days_in_addresses() {
        for (path, known) in [
            ("/2021/03/05/title/", true),
            ("/post/2021-03-05-title.html", true),
            ("/post/title-2021-03-05.html", true),
            ("/a/20210305/1.html", true),
            ("/a/t20210305_12.html", false),
            ("/a/title-20210305", true),
            ("/202103/05/title.html", true),
            ("/2021-03/05/c_12.htm", true),
            ("/detail/~05-03-2021-title", true),
            ("/2021/03/title", false),
            ("/12345678/", false),
            ("/2021-03", false),
            ("/2021年", false),
            ("/web/20210305123456/", false),
        ] {
            assert_eq!(day(path), Day::parse("2021-03-05").filter(|_| known), "{path}");
        }
        assert_eq!(month("/a/2021/03/title"), Some((2021, 3)));
    }

    #[test]
    fn archives_are_lists() {
        let archive = |url: &str| is_archive(&CrawlUrl::parse(url).unwrap());
        for url in ["http://a.cn/2021/03/", "http://a.cn/2021", "http://a.cn/archives/", "http://a.cn/blog/2021/03/05/"]
        {
            assert!(archive(url), "{url}");
        }
        for url in [
            "http://a.cn/2021/03/x",
            "http://a.cn/archives/12",
            "http://a.cn/2021/x",
            "http://a.cn/title/2021/03/05/",
            "http://a.cn/2021/03/05/2021/",
        ] {
            assert!(!archive(url), "{url}");
        }
    }

    proptest! {
        #[test]
        fn no_path_panics(path in "[0-9/._~a-zé年-]{0,40}") {
            let _ = (day(&path), month(&path));
        }
    }
}
