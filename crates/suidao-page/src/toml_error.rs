//! Errors of TOML files, in one line.

/// The line (from 1) and the parser's message.
pub fn line_and_message(text: &str, error: &toml::de::Error) -> (usize, String) {
    let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
    (1 + before.matches('\n').count(), message(error))
}

pub fn message(error: &toml::de::Error) -> String {
    error.message().lines().map(str::trim).collect::<Vec<_>>().join(" ")
}
