//! Flags and verbs of earlier versions: they are refused with their new spelling.

use clap::error::{ContextKind, ContextValue, Error};

const MOVED: [(&str, &str); 15] = [
    ("--min-relevance", "--where relevance:X.."),
    ("--language", "--where lang:CODES"),
    ("--lang", "--where lang:CODES"),
    ("--host", "--where host:HOST"),
    ("--not-host", "--where -host:HOST"),
    ("--published-from", "--where date:DAY.."),
    ("--published-until", "--where date:..DAY"),
    ("--fetched-from", "--where fetched:DAY.."),
    ("--min-chars", "--where chars:N.."),
    ("--listings", "--where listings:yes"),
    ("--with-noindex", "--where noindex:yes"),
    ("--plan", "--dry-run"),
    ("--per-day", "--watch N"),
    ("watch", "suidao forum crawl --watch"),
    ("status", "suidao crawl --status PORT, or suidao cluster status NAME"),
];

/// Adds the new spelling to the error about an argument or verb that was renamed.
pub fn with_new_spelling<T>(parsed: Result<T, Error>) -> Result<T, Error> {
    parsed.map_err(|mut error| {
        let unknown = [ContextKind::InvalidArg, ContextKind::InvalidSubcommand]
            .into_iter()
            .find_map(|kind| error.get(kind))
            .map(ToString::to_string)
            .unwrap_or_default();
        if let Some((_, new)) = MOVED.iter().find(|(old, _)| *old == unknown) {
            error.remove(ContextKind::SuggestedArg);
            error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![format!("use {new} instead").into()]));
        }
        error
    })
}
