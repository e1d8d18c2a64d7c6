//! Files with one entry per line, which people write: URLs, hosts, keywords, queries, labels.

/// The entries with their line numbers from 1, without the white space around them. Empty lines and `#` comments are
/// skipped.
pub fn entries(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let lines = (1..).zip(text.trim_start_matches('\u{feff}').lines()).map(|(number, line)| (number, line.trim()));
    lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_keep_their_line_numbers() {
        let text = "\u{feff}# words\r\n 足球 \r\n\r\n篮球\t2\n";
        assert_eq!(entries(text).collect::<Vec<_>>(), [(2, "足球"), (4, "篮球\t2")]);
    }
}
