//! Stop words: Chinese, English and the boilerplate of web pages, each from its own list.

use std::sync::LazyLock;

use rustc_hash::FxHashSet;

const FUNCTION: [&str; 2] = [include_str!("stop/zh.txt"), include_str!("stop/en.txt")];
const BOILERPLATE: [&str; 1] = [include_str!("stop/web.txt")];

type Words = FxHashSet<&'static str>;

static FUNCTION_WORDS: LazyLock<Words> = LazyLock::new(|| words(&FUNCTION));
static BOILERPLATE_WORDS: LazyLock<Words> = LazyLock::new(|| words(&BOILERPLATE));

fn words(lists: &[&'static str]) -> Words {
    let lines = lists.iter().flat_map(|list| list.lines());
    lines.map(|line| line.split('#').next().unwrap_or_default()).flat_map(str::split_whitespace).collect()
}

/// Whether a folded word is unrelated to every topic.
pub fn is_stop(word: &str) -> bool {
    is_function_word(word) || BOILERPLATE_WORDS.contains(word)
}

/// Whether a folded word is purely grammatical. Boilerplate words such as 推荐 and `download` are not, because a user may
/// search for them.
pub fn is_function_word(word: &str) -> bool {
    FUNCTION_WORDS.contains(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_stop_word_is_written_as_folding_leaves_it() {
        for word in FUNCTION_WORDS.iter().chain(BOILERPLATE_WORDS.iter()) {
            assert_eq!(super::super::fold(word), *word, "the folded text never holds {word}");
        }
        assert!(is_stop("我们") && is_stop("the") && is_stop("首页") && is_stop("copyright"));
        assert!(!is_stop("足球") && is_function_word("我们") && !is_function_word("首页"));
    }
}
