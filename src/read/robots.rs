//! What a page asks of robots: `meta name=robots` and the header field `X-Robots-Tag`.
//! Apart because both write the same directives, and the field may address one robot by name.

/// Directives for the page as a whole; once said, never taken back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Robots {
    pub(super) noindex: bool,
    pub(super) nofollow: bool,
}

impl Robots {
    /// Takes in a comma-separated list of directives, which may be addressed (`botname: noindex, nofollow`).
    pub(super) fn read(&mut self, directives: &str) {
        let mut ours = true;
        for directive in directives.split(',') {
            let mut word = directive.trim();
            if let Some((name, rest)) = word.split_once(':') {
                let name = name.trim();
                // These directives have a value of their own.
                if name.eq_ignore_ascii_case("unavailable_after") || name.to_ascii_lowercase().starts_with("max-") {
                    continue;
                }
                ours = name.eq_ignore_ascii_case("suidao") || name == "*";
                word = rest.trim();
            }
            let none = word.eq_ignore_ascii_case("none");
            self.noindex |= ours && (none || word.eq_ignore_ascii_case("noindex"));
            self.nofollow |= ours && (none || word.eq_ignore_ascii_case("nofollow"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(directives: &str) -> (bool, bool) {
        let mut robots = Robots::default();
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
    }
}
