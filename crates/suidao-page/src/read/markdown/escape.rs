//! Text that Markdown shows as it is: what it would interpret is escaped. Formulas between dollar signs stay.

/// Maximum bytes of a formula in running text.
const FORMULA: usize = 1_000;

/// Lines of text as paragraphs.
pub fn paragraphs(text: &str) -> String {
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    lines.map(escape).collect::<Vec<_>>().join("\n\n")
}

/// A text of its own.
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + text.len() / 16);
    escape_into(&mut out, text);
    out
}

/// Appends text. A line feed is a line break.
pub(super) fn escape_into(out: &mut String, text: &str) {
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        if let Some((tex, length)) = formula(rest) {
            out.push_str(&tex);
            rest = &rest[length..];
            continue;
        }
        rest = &rest[c.len_utf8()..];
        let next = rest.chars().next();
        if c == '\n' {
            out.push_str("\\\n");
            continue;
        }
        // Another element may follow the text.
        let ends = next.is_none_or(char::is_whitespace);
        let line = end_of_line(out);
        let is_number = || !line.is_empty() && line.len() < 10 && line.bytes().all(|byte| byte.is_ascii_digit());
        let is_word = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
        let is_interpreted = match c {
            '\\' | '`' | '*' | '[' | ']' | '<' | '|' | '$' => true,
            // URLs in the text stay whole.
            '_' => !(is_word(line.chars().next_back()) && is_word(next)),
            '~' => !line.ends_with('/'),
            '&' => next.is_none_or(|next| next.is_ascii_alphanumeric() || next == '#'),
            '!' => next.is_none(),
            '>' | '=' => line.is_empty(),
            '#' | '+' | '-' => line.is_empty() && (ends || next == Some(c)),
            '.' | ')' => ends && is_number(),
            _ => false,
        };
        if is_interpreted {
            out.push('\\');
        }
        out.push(c);
    }
}

/// The last line, or its last few bytes.
fn end_of_line(text: &str) -> &str {
    let end = &text[text.floor_char_boundary(text.len().saturating_sub(12))..];
    &end[end.rfind('\n').map_or(0, |at| at + 1)..]
}

/// The formula with which a text begins, and how long it is: `$a_1$`, `$$a$$`, `\(a\)` or `\[a\]`.
fn formula(text: &str) -> Option<(String, usize)> {
    let (open, close, shown) = [("$$", "$$", "$$"), ("$", "$", "$"), ("\\(", "\\)", "$"), ("\\[", "\\]", "$$")]
        .into_iter()
        .find(|(open, ..)| text.starts_with(open))?;
    let inner = &text[open.len()..];
    let inner = &inner[..inner[..inner.floor_char_boundary(FORMULA)].find(close)?];
    let after = text[open.len() + inner.len() + close.len()..].chars().next();
    // `$5 and $6` are prices, `$HOME/$USER` is a path.
    let is_name =
        |tex: &str| tex.len() < 5 && tex.starts_with(char::is_alphabetic) && tex.chars().all(char::is_alphanumeric);
    let is_priced = open == "$"
        && (inner.starts_with(' ')
            || inner.ends_with(' ')
            || !(inner.contains(['\\', '^', '_', '{', '=']) || is_name(inner))
            || after.is_some_and(|c| c.is_ascii_alphanumeric()));
    let tex = tex(inner).filter(|_| !is_priced)?;
    Some((format!("{shown}{tex}{shown}"), open.len() + inner.len() + close.len()))
}

/// TeX that no reader takes for markup; `None` if it cannot be one formula.
pub(super) fn tex(source: &str) -> Option<String> {
    let source = source.trim();
    let is_one = !source.is_empty() && !source.contains(['$', '`']);
    let tex = source.replace('\n', " ").replace('<', "\\lt ").replace("](", "] (");
    is_one.then(|| tex.replace("\\|", "\\Vert ").replace('|', "\\vert "))
}
