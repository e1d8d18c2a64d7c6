//! `rel=canonical` in the header field `Link` (RFC 8288).

/// The target of the first link with the relation `canonical`.
pub(super) fn canonical(field: &str) -> Option<&str> {
    let mut rest = field;
    loop {
        rest = rest.trim_start_matches(|c: char| c == ',' || c.is_whitespace());
        let (reference, parameters) = rest.strip_prefix('<')?.split_once('>')?;
        let end = unquoted(parameters, ',').unwrap_or(parameters.len());
        if is_canonical(&parameters[..end]) {
            return Some(reference.trim());
        }
        rest = &parameters[end..];
    }
}

/// Whether the first `rel` parameter contains `canonical`; later ones are ignored (RFC 8288, 3.3).
fn is_canonical(mut parameters: &str) -> bool {
    while let Some((_, rest)) = parameters.split_once(';') {
        let end = unquoted(rest, ';').unwrap_or(rest.len());
        if let Some((name, value)) = rest[..end].split_once('=')
            && name.trim().eq_ignore_ascii_case("rel")
        {
            let relations = value.trim().trim_matches('"').split_ascii_whitespace();
            return relations.into_iter().any(|relation| relation.eq_ignore_ascii_case("canonical"));
        }
        parameters = &rest[end..];
    }
    false
}

/// Position of the first `mark` outside quotes.
fn unquoted(text: &str, mark: char) -> Option<usize> {
    let mut quoted = false;
    let mut escaped = false;
    text.char_indices().find_map(|(at, c)| {
        quoted ^= c == '"' && !escaped;
        escaped = quoted && c == '\\' && !escaped;
        (c == mark && !quoted).then_some(at)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_canonical_link_is_found_among_others() {
        for (field, expected) in [
            ("<http://a.cn/x>; rel=\"canonical\"", Some("http://a.cn/x")),
            ("</a,b;c>; REL=Canonical", Some("/a,b;c")),
            (
                "</style.css>; rel=preload; as=style, </x>; title=\"a, b; rel=x\"; rel=\"canonical nofollow\"",
                Some("/x"),
            ),
            ("</x>;rel=next;rel=canonical", None),
            ("</x>; title=canonical", None),
            ("</x>; rel=alternate", None),
            ("http://a.cn/x; rel=canonical", None),
            ("</x", None),
            ("</x>; title=\"open, </y>; rel=canonical", None),
            ("", None),
        ] {
            assert_eq!(canonical(field), expected, "{field}");
        }
    }
}
