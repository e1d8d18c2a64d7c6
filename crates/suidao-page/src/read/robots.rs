//! Robots directives of a page: `meta name=robots` and the header field `X-Robots-Tag`.

use super::sitemap::time;
use crate::model::Millis;

/// Maximum number of words after a time that are tried as part of it.
const MAX_WORDS: usize = 12;

/// Directives for the page, accumulated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RobotsDirectives<'a> {
    /// The name of this robot.
    name: &'a str,
    pub(super) noindex: bool,
    pub(super) nofollow: bool,
    /// From this time on the page counts as noindex.
    pub(super) expires: Option<Millis>,
}

impl<'a> RobotsDirectives<'a> {
    pub(super) fn named(name: &'a str) -> Self {
        Self { name, noindex: false, nofollow: false, expires: None }
    }

    /// Reads a `meta` element if it addresses this robot, alone or in a list of names.
    pub(super) fn read_meta(&mut self, names: &str, directives: &str) {
        let is_ours = |name: &str| name.eq_ignore_ascii_case("robots") || name.eq_ignore_ascii_case(self.name);
        if names.split(is_separator).any(is_ours) {
            self.read(directives);
        }
    }

    /// Whether a text may contain directives; others need not be stored.
    pub(super) fn is_declared_by(content: &str) -> bool {
        let lower = joined(content).to_ascii_lowercase();
        ["noindex", "nofollow", "none", "unavailable_after"].iter().any(|directive| lower.contains(directive))
    }

    /// Reads a list of directives, which may be addressed (`botname: noindex, nofollow`). They should be separated by
    /// commas; blanks, semicolons and Chinese punctuation count too, since a directive that is overlooked would be
    /// disobeyed.
    pub(super) fn read(&mut self, directives: &str) {
        let text = joined(directives);
        let mut ours = true;
        let mut rest = text.as_str();
        while !rest.is_empty() {
            let (directive, later) = rest.split_once([',', ';']).unwrap_or((rest, ""));
            let mut words = directive.trim();
            let mut next = later;
            // A robot name may precede a directive with a value of its own.
            while let Some((name, value)) = words.split_once(':') {
                // Directives without a comma before the name.
                let (before, name) = name.trim().rsplit_once(is_separator).unwrap_or(("", name.trim()));
                self.obey(before, ours);
                let value = value.trim();
                match name.to_ascii_lowercase().as_str() {
                    "unavailable_after" => {
                        (words, next) = self.expire(value, later, ours);
                        break;
                    }
                    "max-snippet" | "max-image-preview" | "max-video-preview" => {
                        words = value.split_once(is_separator).map_or("", |(_, rest)| rest);
                    }
                    _ => {
                        ours = name.eq_ignore_ascii_case(self.name) || name == "*";
                        words = value;
                    }
                }
            }
            self.obey(words, ours);
            rest = next;
        }
    }

    /// Directives without a value.
    fn obey(&mut self, words: &str, ours: bool) {
        for word in words.split(is_separator).filter(|_| ours) {
            let none = word.eq_ignore_ascii_case("none");
            self.noindex |= none || word.eq_ignore_ascii_case("noindex");
            self.nofollow |= none || word.eq_ignore_ascii_case("nofollow");
        }
    }

    /// Reads a time, which may contain a comma and continue in `later`. Returns what follows it in `value`, and the
    /// directives after that. Ignores an invalid time.
    fn expire<'t>(&mut self, value: &'t str, later: &'t str, ours: bool) -> (&'t str, &'t str) {
        let (more, following) = later.split_once([',', ';']).unwrap_or((later, ""));
        let (time, words, rest) = match first_time(value) {
            Some((time, words)) => (Some(time), words, later),
            None => match first_time(&format!("{value},{more}")) {
                Some((time, words)) => (Some(time), &more[more.len() - words.len()..], following),
                None => (None, value, later),
            },
        };
        if ours {
            self.expires = self.expires.into_iter().chain(time).min();
        }
        (words, rest)
    }
}

/// The time that a text begins with, up to a blank, and what follows it.
fn first_time(text: &str) -> Option<(Millis, &str)> {
    let blanks = text.match_indices(char::is_whitespace).map(|(at, _)| at);
    let mut ends: Vec<usize> = blanks.chain([text.len()]).collect();
    ends.reverse();
    ends.truncate(MAX_WORDS);
    ends.into_iter().find_map(|end| Some((time::read(&text[..end])?, text[end..].trim())))
}

fn is_separator(c: char) -> bool {
    c.is_whitespace() || matches!(c, ',' | ';' | '|' | '+' | '/' | '，' | '、' | '；')
}

/// With ASCII punctuation, and `no-index` or `no index` as `noindex`.
fn joined(directives: &str) -> String {
    let plain = |c: char| match c {
        '，' | '、' | '|' => ',',
        '；' => ';',
        '：' => ':',
        c => c,
    };
    let text: String = directives.chars().map(plain).collect();
    let lower = text.to_ascii_lowercase();
    let is_apart = |at: usize| {
        let after = &lower[at + 1..];
        lower[..at].ends_with("no") && (after.starts_with("index") || after.starts_with("follow"))
    };
    let joins = |&(at, c): &(usize, char)| !(matches!(c, '-' | '_' | ' ') && is_apart(at));
    text.char_indices().filter(joins).map(|(_, c)| c).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(directives: &str) -> (bool, bool) {
        let mut robots = RobotsDirectives::named("Suidao");
        robots.read(directives);
        (robots.noindex, robots.nofollow)
    }

    #[test]
    fn directives_are_read_as_they_are_written_in_the_wild() {
        assert_eq!(read("index, follow"), (false, false));
        assert_eq!(read("NOINDEX,follow"), (true, false));
        assert_eq!(read(" nofollow "), (false, true));
        assert_eq!(read("none"), (true, true));
        assert_eq!(read("unavailable_after: 25 Jun 2010 15:00:00 PST, noindex"), (true, false));
        assert_eq!(read("otherbot: noindex, nofollow"), (false, false));
        assert_eq!(read("suidao: noindex"), (true, false));
        assert_eq!(read("otherbot: noindex, suidao: nofollow"), (false, true));
        assert_eq!(read("max-snippet:20, noindex"), (true, false));
        assert_eq!(read("max-image-preview:large"), (false, false));
        assert_eq!(read("*: none"), (true, true));
        assert_eq!(read("max-bot: noindex"), (false, false));
        for text in [
            "noindex nofollow",
            "noindex;nofollow",
            "noindex，nofollow",
            "NoIndex、NoFollow",
            "noindex ； nofollow",
            "noindex|nofollow",
            "noindex\tnofollow\n",
            "no-index, no-follow",
            "no index, no follow",
            "index NONE",
            "noindex suidao: nofollow",
            "max-snippet:20 noindex nofollow",
            "unavailable_after: 25 Jun 2010 15:00:00 PST noindex nofollow",
            "＊：x, suidao：noindex，nofollow",
        ] {
            assert_eq!(read(text), (true, true), "{text:?}");
        }
        assert_eq!(read("all follow index"), (false, false));
        assert_eq!(read("noindexing nofollowers"), (false, false));
    }

    #[test]
    fn a_meta_speaks_to_all_robots_or_to_one() {
        let text = |name: &str| {
            let mut robots = RobotsDirectives::named("mybot");
            robots.read_meta(name, "NoIndex");
            robots.noindex
        };
        assert!(
            text("robots, googlebot") && text("googlebot,mybot") && text("googlebot robots") && text("bingbot;robots")
        );
        assert!(!text("googlebot, bingbot") && !text("robotsx"));
        assert!(text(" Robots ") && text("MyBot") && !text("suidao") && !text("googlebot"));
        assert!(RobotsDirectives::is_declared_by("All, NONE") && !RobotsDirectives::is_declared_by("index, follow"));
    }

    #[test]
    fn an_end_is_a_time_that_may_hold_a_comma() {
        let end = |directives: &str| {
            let mut robots = RobotsDirectives::named("Suidao");
            robots.read(directives);
            (robots.expires.map(|at| at.0 / 1000), robots.noindex)
        };
        let noon = 1_614_945_600;
        assert_eq!(end("unavailable_after: 2021-03-05T12:00:00Z"), (Some(noon), false));
        assert_eq!(end("unavailable_after: Fri, 05 Mar 2021 12:00:00 GMT, noindex"), (Some(noon), true));
        assert_eq!(end("unavailable_after: Friday, 05-Mar-21 12:00:00 GMT"), (Some(noon), false));
        assert_eq!(end("unavailable_after: Friday, 05-Mar-21 12:00:00 GMT, noindex"), (Some(noon), true));
        assert_eq!(end("unavailable_after: 05-Mar-2021 04:00:00 PST; noindex"), (Some(noon), true));
        assert_eq!(end("noindex unavailable_after: 05-Mar-2021 12:00:00 GMT"), (Some(noon), true));
        assert_eq!(end("Unavailable_After: 05 Mar 2021 12:00:00 +0000"), (Some(noon), false));
        assert_eq!(end("suidao: unavailable_after: 2021-03-05"), (Some(1_614_902_400), false));
        assert_eq!(end("otherbot: unavailable_after: 2021-03-05"), (None, false));
        assert_eq!(end("unavailable_after: soon, noindex"), (None, true));
        assert_eq!(end("unavailable_after: 2022-01-01, unavailable_after: 2021-03-05"), (Some(1_614_902_400), false));
    }
}
