//! Kinds of HTML elements.

use std::sync::LazyLock;

use html5ever::LocalName;
use rustc_hash::FxHashSet;

use super::words::{HTML, SectionWords};

type Names = LazyLock<FxHashSet<LocalName>>;

fn names(section: &'static str) -> FxHashSet<LocalName> {
    SectionWords::of(HTML, section).iter().map(|name| LocalName::from(*name)).collect()
}

/// Elements without content and end tag.
pub fn is_void(name: &LocalName) -> bool {
    static VOID: Names = LazyLock::new(|| names("void"));
    VOID.contains(name)
}

/// Elements without readable text.
pub fn is_skipped(name: &LocalName) -> bool {
    static SKIPPED: Names = LazyLock::new(|| names("skipped"));
    SKIPPED.contains(name)
}

/// Elements shown only without scripts or players.
pub fn is_fallback(name: &LocalName) -> bool {
    static FALLBACK: Names = LazyLock::new(|| names("fallback"));
    FALLBACK.contains(name)
}

/// Elements that begin a line of their own.
pub fn is_block(name: &LocalName) -> bool {
    static BLOCK: Names = LazyLock::new(|| names("block"));
    BLOCK.contains(name)
}
