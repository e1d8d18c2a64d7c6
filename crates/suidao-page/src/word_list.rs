//! Word lists in text files: one word per line, `#` before a comment, `[name]` before a section.

use std::ops::Deref;
use std::sync::OnceLock;

/// The words of a section in order, loaded on first use. A word with a blank at either end is quoted.
pub struct SectionWords {
    file: &'static str,
    section: &'static str,
    words: OnceLock<Vec<&'static str>>,
}

impl SectionWords {
    pub const fn of(file: &'static str, section: &'static str) -> Self {
        Self { file, section, words: OnceLock::new() }
    }

    fn read(&self) -> Vec<&'static str> {
        let lines = self.file.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
        let head = |line: &str| line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) == Some(self.section);
        let section = lines.skip_while(|line| !head(line)).skip(1).take_while(|line| !line.starts_with('['));
        let word = |line: &'static str| line.strip_prefix('"').and_then(|line| line.strip_suffix('"')).unwrap_or(line);
        let words: Vec<&'static str> = section.map(word).collect();
        debug_assert!(!words.is_empty(), "no words in section {:?}", self.section);
        words
    }
}

impl Deref for SectionWords {
    type Target = [&'static str];

    fn deref(&self) -> &Self::Target {
        self.words.get_or_init(|| self.read())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sections_hold_words_without_comments_and_keep_blanks_in_quotes() {
        const FILE: &str = "# Head.\n[one]\nb\n\n# Why.\na\n[two]\n\"go to \"\n";
        assert_eq!(*SectionWords::of(FILE, "one"), ["b", "a"]);
        assert_eq!(*SectionWords::of(FILE, "two"), ["go to "]);
    }

    #[test]
    #[should_panic(expected = "no words in section \"three\"")]
    fn a_list_names_a_section_that_there_is() {
        let _ = SectionWords::of("[one]\nb\n", "three").len();
    }
}
