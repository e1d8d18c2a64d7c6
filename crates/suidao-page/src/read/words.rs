//! The word lists in `words/`.

pub(super) use crate::word_list::SectionWords;

pub(super) const AUTHORS: &str = include_str!("words/authors.txt");
pub(super) const HTML: &str = include_str!("words/html.txt");
pub(super) const LANGUAGES: &str = include_str!("words/languages.txt");
pub(super) const LINES: &str = include_str!("words/lines.txt");
pub(super) const ROLES: &str = include_str!("words/roles.txt");
pub(super) const SCRIPTS: &str = include_str!("words/scripts.txt");
pub(super) const SOURCES: &str = include_str!("words/sources.txt");
