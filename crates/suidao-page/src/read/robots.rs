//! Robots directives of a page: `meta name=robots` and the header field `X-Robots-Tag`.

use super::sitemap::time;
use crate::model::Millis;

/// Bytes of a list of directives that are read, and of the longest time.
const LONGEST: usize = 4 << 10;
const LONGEST_TIME: usize = 64;

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
        if joined(names).split(|c| !is_of_word(c)).any(|name| self.is_ours(name)) {
            self.read(directives);
        }
    }

    /// Whether a text may contain directives; others need not be stored.
    pub(super) fn is_declared_by(content: &str) -> bool {
        let lower = joined(content).to_ascii_lowercase();
        ["noindex", "nofollow", "none", "unavailable_after"].iter().any(|directive| lower.contains(directive))
    }

    /// Reads a list of directives, which may be addressed (`botname: noindex, nofollow`). They should be separated by
    /// commas; any other sign or blank counts too, since a directive that is overlooked would be disobeyed.
    pub(super) fn read(&mut self, directives: &str) {
        let text = joined(directives);
        let mut ours = true;
        let mut rest = text.as_str();
        loop {
            rest = rest.trim_start_matches(|c| !is_of_word(c));
            let end = rest.find(|c| !is_of_word(c)).unwrap_or(rest.len());
            let (word, after) = rest.split_at(end);
            if word.is_empty() {
                return;
            }
            let value = after.trim_start().strip_prefix(':');
            let word = word.to_ascii_lowercase();
            rest = value.unwrap_or(after);
            match word.as_str() {
                "unavailable_after" => {
                    let (time, later) = first_time(rest);
                    rest = later;
                    if ours {
                        self.expires = self.expires.into_iter().chain(time).min();
                    }
                }
                "max-snippet" | "max-image-preview" | "max-video-preview" if value.is_some() => {
                    rest = rest.trim_start().trim_start_matches(is_of_word);
                }
                "none" | "all" | "index" | "follow" | "noindex" | "nofollow" => self.obey(&word, ours),
                // A robot's name precedes directives for it.
                _ if value.is_some() => ours = self.is_ours(&word) || word == "*",
                _ => word.split(['-', '_']).for_each(|part| self.obey(part, ours)),
            }
        }
    }

    fn is_ours(&self, name: &str) -> bool {
        name.eq_ignore_ascii_case("robots") || name.eq_ignore_ascii_case(self.name)
    }

    fn obey(&mut self, directive: &str, ours: bool) {
        self.noindex |= ours && matches!(directive, "none" | "noindex");
        self.nofollow |= ours && matches!(directive, "none" | "nofollow");
    }
}

/// The time that a text begins with, and what follows it. The time may contain blanks and a comma, so the longest text
/// that is one counts. Without a time all follows.
fn first_time(text: &str) -> (Option<Millis>, &str) {
    let start = text.trim_start_matches([' ', '"', '\'', '“', '=']);
    let head = &start[..start.floor_char_boundary(LONGEST_TIME)];
    let inner = head.char_indices().filter(|(_, c)| matches!(c, ' ' | ',' | ';' | '"' | '\'' | '”')).map(|(at, _)| at);
    let mut ends: Vec<usize> = inner.chain([head.len()]).collect();
    ends.reverse();
    let read = |end: &usize| Some((time::read(&head[..*end])?, *end));
    match ends.iter().find_map(read) {
        Some((time, end)) => (Some(time), &start[end..]),
        None => (None, text),
    }
}

/// Letters of directives and names; everything else separates.
fn is_of_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '*')
}

/// With ASCII punctuation and single blanks, `no-index` or `no index` as `noindex`, and at most [`LONGEST`] bytes.
fn joined(directives: &str) -> String {
    let directives = &directives[..directives.floor_char_boundary(LONGEST)];
    let mut text = String::with_capacity(directives.len());
    for c in directives.chars() {
        match c {
            '\u{200b}' | '\u{feff}' => {}
            '\u{2010}'..='\u{2015}' => text.push('-'),
            '、' | '。' | '·' => text.push(','),
            '\u{ff01}'..='\u{ff5e}' => text.extend(char::from_u32(u32::from(c) - 0xfee0)),
            c if c.is_whitespace() && text.ends_with(' ') => {}
            c => text.push(if c.is_whitespace() { ' ' } else { c }),
        }
    }
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
            "noindex:nofollow",
            "noindex: true, nofollow: true",
            "noindex.nofollow",
            "noindex&nofollow",
            "noindex/nofollow",
            "noindex+nofollow",
            "noindex。nofollow",
            "noindex｜nofollow",
            "noindex-nofollow",
            "noindex_nofollow",
            "no  index no\u{a0}follow",
            "no\u{2011}index, nofollow",
            "\"noindex\",\"nofollow\"",
            "[noindex][nofollow]",
            "noindex=1 nofollow=1",
            "ＮＯＩＮＤＥＸ，ＮＯＦＯＬＬＯＷ",
            "no\u{200b}index nofollow!",
            "robots: noindex nofollow",
            "unavailable_after: Friday, 05-Mar-27 12:00:00 GMT noindex nofollow ",
            "unavailable_after: Friday, 05-Mar-27 12:00:00 GMT é noindex é nofollow é ",
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
        assert_eq!(end("unavailable_after 2021-03-05"), (Some(1_614_902_400), false));
        assert_eq!(end("unavailable_after: \"2021-03-05\", noindex"), (Some(1_614_902_400), true));
        assert_eq!(end("unavailable_after: 2021/03/05"), (Some(1_614_902_400), false));
        assert_eq!(end(&format!("unavailable_after: 2021-03-05 {}", "x ".repeat(40))), (Some(1_614_902_400), false));
        assert_eq!(end("unavailable_after: soon, noindex"), (None, true));
        assert_eq!(end("unavailable_after: 2022-01-01, unavailable_after: 2021-03-05"), (Some(1_614_902_400), false));
    }

    proptest::proptest! {
        #[test]
        fn no_directives_panic(text in "(noindex|no|index|unavailable_after|suidao|[:;, é，。\u{200b}\"=*-]|2021-03-05|GMT){0,20}") {
            let mut robots = RobotsDirectives::named("Suidao");
            robots.read(&text);
            robots.read_meta(&text, &text);
        }
    }
}
