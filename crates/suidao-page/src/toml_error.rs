//! What is wrong with a TOML file, in words for one line.

/// The line (from 1) and what the parser says of it.
pub fn line_and_message(text: &str, error: &toml::de::Error) -> (usize, String) {
    let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
    (1 + before.matches('\n').count(), message(error))
}

/// What the parser says, in one line.
pub fn message(error: &toml::de::Error) -> String {
    error.message().lines().map(str::trim).collect::<Vec<_>>().join(" ")
}
