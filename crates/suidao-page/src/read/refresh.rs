//! Parses `meta http-equiv=refresh` and the header field `Refresh`.

/// Longest delay in seconds of a refresh that counts as a redirect, as in "you will be redirected". A later one is a
/// link, because the page can be read until then.
pub(super) const REDIRECT: u32 = 10;

/// Delay in seconds and target, parsed as browsers do; `None` without a target.
pub(super) fn parse(content: &str) -> Option<(u32, &str)> {
    let rest = content.trim_start();
    let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    if digits == 0 && !rest.starts_with('.') {
        return None;
    }
    let delay = if digits == 0 { 0 } else { rest[..digits].parse().unwrap_or(u32::MAX) };
    let rest = rest[digits..].trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
    if !rest.starts_with(|c: char| c == ';' || c == ',' || c.is_ascii_whitespace()) {
        return None;
    }
    let rest = rest.trim_start();
    let rest = rest.strip_prefix([';', ',']).unwrap_or(rest).trim_start();
    let named = rest.get(..3).filter(|word| word.eq_ignore_ascii_case("url"));
    let named = named.and_then(|_| rest[3..].trim_start().strip_prefix('='));
    let target = named.map_or(rest, str::trim_start);
    let target = match target.chars().next() {
        Some(quote @ ('"' | '\'')) => target[1..].split(quote).next().unwrap_or_default(),
        _ => target,
    };
    let target = target.trim();
    (!target.is_empty()).then_some((delay, target))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refreshes_are_read_as_browsers_do() {
        for (content, expected) in [
            ("0;url=/x", Some((0, "/x"))),
            ("0; URL='/x'", Some((0, "/x"))),
            (" 5 , url = \"/x?a=1;b\" ", Some((5, "/x?a=1;b"))),
            ("3.5;/x", Some((3, "/x"))),
            ("0 /x", Some((0, "/x"))),
            (".5;url=/x", Some((0, "/x"))),
            ("99999999999;url=/x", Some((u32::MAX, "/x"))),
            ("0;url='/x' onclick", Some((0, "/x"))),
            ("0;urls/x", Some((0, "urls/x"))),
            ("0;url /x", Some((0, "url /x"))),
            ("30", None),
            ("0;", None),
            ("0;url=", None),
            ("url=/x", None),
            (";url=/x", None),
            ("soon;url=/x", None),
            ("0x;url=/x", None),
            ("5秒;url=/x", None),
            ("", None),
        ] {
            assert_eq!(parse(content), expected, "{content:?}");
        }
    }
}
