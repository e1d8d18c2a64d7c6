//! Repetitive URLs: relative links that accumulate (`/a/b/a/b/a/b`), numbers that do (`/page/2/page/3/page/4`), URLs
//! that contain the URL they came from.

use super::Traps;
use suidao_page::model::{CrawlUrl, SkipReason};

/// Number of segments that may repeat together.
const PERIODS: std::ops::RangeInclusive<usize> = 1..=3;

/// Why a URL looks like a trap by itself; none if it does not.
pub fn skip_reason(traps: &Traps, url: &CrawlUrl) -> Option<SkipReason> {
    if path_repeats(traps.repeats, url.path()) {
        return Some(SkipReason::RepeatingPath);
    }
    if url.query().is_some_and(|query| query_repeats(traps.repeats, query)) {
        return Some(SkipReason::RepeatingQuery);
    }
    let segments = || url.path().split('/').filter(|segment| !segment.is_empty()).count();
    (traps.max_segments > 0 && segments() > traps.max_segments).then_some(SkipReason::TooManySegments)
}

fn path_repeats(times: usize, path: &str) -> bool {
    // Shortcut: most paths are too short to repeat anything.
    if times == 0 || path.bytes().filter(|&byte| byte == b'/').count() < times {
        return false;
    }
    let segments: Vec<&str> = path.split('/').filter(|segment| !segment.is_empty()).collect();
    PERIODS.into_iter().any(|period| {
        segments.windows(times * period).any(|run| {
            let again = |same: fn(&str, &str) -> bool| (period..run.len()).all(|at| same(run[at], run[at - period]));
            // Numbers may vary next to constant words; /2020/05/17 and /1/2/3 have no words.
            let words = || run[..period].iter().any(|segment| !is_number(segment));
            again(|one, other| one == other)
                || period > 1 && words() && again(|one, other| one == other || is_number(one) && is_number(other))
        })
    })
}

fn is_number(segment: &str) -> bool {
    !segment.is_empty() && segment.bytes().all(|byte| byte.is_ascii_digit())
}

/// A repeated pair, or a parameter nested in itself (`?back=/x?back=/x?back=`, plain or escaped, even repeatedly).
fn query_repeats(times: usize, query: &str) -> bool {
    if times == 0 || query.len() < 3 * times {
        return false;
    }
    // A repeatedly escaped percent sign.
    if query.contains("%25252525") {
        return true;
    }
    let pairs: Vec<&str> = query.split('&').filter(|pair| !pair.is_empty()).collect();
    if pairs.len() >= times && pairs.iter().any(|pair| pairs.iter().filter(|other| *other == pair).count() >= times) {
        return true;
    }
    pairs.iter().any(|pair| {
        let Some((name, value)) = pair.split_once('=') else { return false };
        value.len() > name.len() && name.len() > 1 && 1 + inside(name, value) >= times
    })
}

/// How often a parameter of this name occurs in a value.
fn inside(name: &str, value: &str) -> usize {
    let is_start = |at: usize| at == 0 || !value.as_bytes()[at - 1].is_ascii_alphanumeric() || after_escape(value, at);
    let is_end = |at: usize| {
        let rest = &value[at..];
        // Escaped again, %3D is %253D.
        rest.starts_with('=')
            || rest.strip_prefix('%').is_some_and(|rest| rest.trim_start_matches("25").starts_with("3D"))
    };
    value.match_indices(name).filter(|&(at, _)| is_start(at) && is_end(at + name.len())).count()
}

/// Whether the text before `at` ends with an escaped `?`, `&` or `/`.
fn after_escape(value: &str, at: usize) -> bool {
    ["3F", "26", "2F"].iter().any(|code| value[..at].ends_with(code))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ruling(url: &str) -> Option<SkipReason> {
        skip_reason(&Traps::default(), &CrawlUrl::parse(&format!("http://a.cn{url}")).unwrap())
    }

    #[test]
    fn what_piles_up_is_refused() {
        for path in [
            "/x/x/x/",
            "/a/x/x/x",
            "/x/y/x/y/x/y",
            "/x/y/z/x/y/z/x/y/z/1.html",
            "/page/2/page/3/page/4",
            "/t/a/1/b/2/b/3/b/4",
        ] {
            assert_eq!(ruling(path), Some(SkipReason::RepeatingPath), "{path}");
        }
        for query in [
            "/l?back=/l?back=/l?back=/",
            "/l?next=%2Fl%3Fnext%3D%252Fl%253Fnext%253D%25252Fl",
            "/l?a=1&a=1&a=1",
            "/l?u=%2525252525253D",
        ] {
            assert_eq!(ruling(query), Some(SkipReason::RepeatingQuery), "{query}");
        }
        let deep = format!("/{}", (0..21).map(|n| format!("d{n}/")).collect::<String>());
        assert_eq!(ruling(&deep), Some(SkipReason::TooManySegments));
    }

    #[test]
    fn ordinary_addresses_are_not() {
        for url in [
            "/",
            "/2020/2020/x",
            "/2020/05/17/",
            "/1/2/3/4/5/6",
            "/a/b/a/b",
            "/page/2/page/3",
            "/docs/v1/api/v2/api/index.html",
            "/tag?tag=a&tag=b&tag=c",
            "/s?q=%E4%B8%AD%E4%B8%AD%E4%B8%AD",
            "/go?url=http://b.cn/?url=x",
            "/login?return=%2Fa%3Fid%3D3",
        ] {
            assert_eq!(ruling(url), None, "{url}");
        }
        let url = CrawlUrl::parse("http://a.cn/x/x/x?a=1&a=1&a=1").unwrap();
        assert_eq!(skip_reason(&Traps::off(), &url), None);
    }

    proptest::proptest! {
        #[test]
        fn any_url_can_be_asked_about(text in "[ -~é中%/?&=]{0,80}") {
            if let Ok(url) = CrawlUrl::parse(&format!("http://a.cn/{text}")) {
                let _ = skip_reason(&Traps::default(), &url);
            }
        }
    }
}
