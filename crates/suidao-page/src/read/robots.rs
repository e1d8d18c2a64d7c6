//! Robots directives of a page: `meta name=robots` and the header field `X-Robots-Tag`.

use super::sitemap::time;
use crate::model::Millis;

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

    /// Reads a `meta` element if it addresses this robot.
    pub(super) fn read_meta(&mut self, name: &str, directives: &str) {
        let name = name.trim();
        if name.eq_ignore_ascii_case("robots") || name.eq_ignore_ascii_case(self.name) {
            self.read(directives);
        }
    }

    /// Whether a text may contain directives; others need not be stored.
    pub(super) fn is_declared_by(content: &str) -> bool {
        let lower = content.to_ascii_lowercase();
        ["noindex", "nofollow", "none", "unavailable_after"].iter().any(|directive| lower.contains(directive))
    }

    /// Reads a comma-separated list, which may be addressed (`botname: noindex, nofollow`).
    pub(super) fn read(&mut self, directives: &str) {
        let mut ours = true;
        let mut rest = directives;
        while !rest.is_empty() {
            let (directive, later) = rest.split_once(',').unwrap_or((rest, ""));
            let mut word = directive.trim();
            let mut next = later;
            // A robot name may precede a directive with a value of its own.
            while let Some((name, value)) = word.split_once(':') {
                let (name, value) = (name.trim().to_ascii_lowercase(), value.trim());
                if name == "unavailable_after" {
                    next = if ours { self.expire(value, later) } else { later };
                    word = "";
                } else if matches!(name.as_str(), "max-snippet" | "max-image-preview" | "max-video-preview") {
                    word = "";
                } else {
                    ours = name.eq_ignore_ascii_case(self.name) || name == "*";
                    word = value;
                }
            }
            let none = word.eq_ignore_ascii_case("none");
            self.noindex |= ours && (none || word.eq_ignore_ascii_case("noindex"));
            self.nofollow |= ours && (none || word.eq_ignore_ascii_case("nofollow"));
            rest = next;
        }
    }

    /// Reads a time, which may contain a comma and continue in `later`; returns the directives after it. Ignores an
    /// invalid time.
    fn expire<'t>(&mut self, value: &str, later: &'t str) -> &'t str {
        let (more, following) = later.split_once(',').unwrap_or((later, ""));
        let whole = format!("{value},{more}");
        let (time, rest) = match time::read(value) {
            Some(time) => (Some(time), later),
            None => match time::read(&whole) {
                Some(time) => (Some(time), following),
                None => (None, later),
            },
        };
        self.expires = match (self.expires, time) {
            (Some(known), Some(time)) => Some(known.min(time)),
            (known, time) => known.or(time),
        };
        rest
    }
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
    }

    #[test]
    fn a_meta_speaks_to_all_robots_or_to_one() {
        let text = |name: &str| {
            let mut robots = RobotsDirectives::named("mybot");
            robots.read_meta(name, "NoIndex");
            robots.noindex
        };
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
        assert_eq!(end("Unavailable_After: 05 Mar 2021 12:00:00 +0000"), (Some(noon), false));
        assert_eq!(end("suidao: unavailable_after: 2021-03-05"), (Some(1_614_902_400), false));
        assert_eq!(end("otherbot: unavailable_after: 2021-03-05"), (None, false));
        assert_eq!(end("unavailable_after: soon, noindex"), (None, true));
        assert_eq!(end("unavailable_after: 2022-01-01, unavailable_after: 2021-03-05"), (Some(1_614_902_400), false));
    }
}
