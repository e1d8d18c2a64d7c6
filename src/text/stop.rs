//! Stop words: Chinese, English, and the furniture of web pages, each a list of our own. Apart because the lists are
//! data: one word a line (or several, separated by spaces), `#` starts a comment.

use std::sync::LazyLock;

use rustc_hash::FxHashSet;

const LISTS: [&str; 3] = [include_str!("stop/zh.txt"), include_str!("stop/en.txt"), include_str!("stop/web.txt")];

static WORDS: LazyLock<FxHashSet<&'static str>> = LazyLock::new(|| {
    let lines = LISTS.iter().flat_map(|list| list.lines());
    lines.map(|line| line.split('#').next().unwrap_or_default()).flat_map(str::split_whitespace).collect()
});

/// Whether a folded word says nothing about any topic.
#[must_use]
pub fn is_stop(word: &str) -> bool {
    WORDS.contains(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_stop_word_is_written_as_folding_leaves_it() {
        for word in WORDS.iter() {
            assert_eq!(super::super::fold(word), *word, "the folded text never holds {word}");
        }
        assert!(is_stop("我们") && is_stop("the") && is_stop("首页") && is_stop("copyright"));
        assert!(!is_stop("足球"));
    }
}
