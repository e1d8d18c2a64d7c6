//! Errors of TOML files, in one line.

/// The line (from 1) and the parser's message.
pub fn line_and_message(text: &str, error: &toml::de::Error) -> (usize, String) {
    let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
    (1 + before.matches('\n').count(), message(error))
}

/// Sections and keys that were renamed: old and new name.
const RENAMED: [(&str, &str); 7] = [
    ("bridge", "links-page"),
    ("bridges", "tunnels"),
    ("bridge_heads", "tunnel_heads"),
    ("reading", "variant"),
    ("made", "provenance"),
    ("made_with", "unsaved_settings"),
    ("neighbour_kin", "same_tag_neighbours"),
];

pub fn message(error: &toml::de::Error) -> String {
    let message = error.message().lines().map(str::trim).collect::<Vec<_>>().join(" ");
    // A key that only suidao writes.
    let message = message.replace(", `unsaved_settings`", "").replace("expected f64", "expected a number");
    let whole = ["u64", "u32", "u16", "u8", "usize"].map(|kind| format!("expected {kind}"));
    let message = whole.iter().fold(message, |message, kind| message.replace(kind, "expected a whole number"));
    let renamed = RENAMED.iter().find(|(old, _)| message.starts_with(&format!("unknown field `{old}`")));
    renamed.map_or(message, |(old, new)| format!("`{old}` was renamed to `{new}`; change it there"))
}
