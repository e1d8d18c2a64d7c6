//! Signatures below a separator line or a rule, as in mails and in old templates. What follows `--` may also be a part of
//! the text: it is a signature only if it repeats below another post of the same author, in any thread of the forum.

use std::hash::{DefaultHasher, Hash, Hasher};

use rustc_hash::FxHashMap;

use suidao_page::model::PostRecord;

/// Maximum number of lines and bytes of a signature.
const LINES: usize = 10;
const BYTES: usize = 1_000;
/// Separator lines per post that are tried, from the last.
const TRIED: usize = 8;

/// Endings of posts that may be signatures. Memory: 24 bytes for each.
#[derive(Clone, Debug, Default)]
pub struct Signatures {
    /// The text above each ending of an author, or that there are several: the same post may be there twice.
    above: FxHashMap<u64, TextAbove>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TextAbove {
    One(u64),
    Several,
}

impl Signatures {
    /// Adds the endings of posts.
    pub fn observe(&mut self, posts: &[PostRecord]) {
        for (author, post) in posts.iter().filter_map(|post| Some((post.author.as_deref()?, post))) {
            for Ending { text, signature } in endings(post) {
                let above = TextAbove::One(digest(text));
                let known = self.above.entry(digest((author, signature))).or_insert(above);
                *known = known.and(above);
            }
        }
    }

    /// Removes the signatures of the posts of a thread. `forum`: endings of its other threads.
    pub fn cut(posts: &mut [PostRecord], forum: Option<&Self>) {
        let mut own = Self::default();
        own.observe(posts);
        let repeats = |author: &str, signature: &str| {
            let key = digest((author, signature));
            let known = [Some(&own), forum].into_iter().flatten().filter_map(|all| all.above.get(&key).copied());
            known.reduce(TextAbove::and) == Some(TextAbove::Several)
        };
        for post in posts {
            let Some(author) = post.author.as_deref() else { continue };
            let found = endings(post).into_iter().filter(|ending| repeats(author, ending.signature));
            if let Some(length) = found.map(|ending| ending.text.len()).min() {
                post.text.truncate(length);
            }
        }
    }
}

impl TextAbove {
    fn and(self, other: Self) -> Self {
        if self == other { self } else { Self::Several }
    }
}

fn digest(of: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    of.hash(&mut hasher);
    hasher.finish()
}

/// A text divided at a separator.
struct Ending<'a> {
    text: &'a str,
    signature: &'a str,
}

fn endings(post: &PostRecord) -> Vec<Ending<'_>> {
    let text = post.text.as_str();
    let starts: Vec<usize> = std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect();
    let mut found = Vec::new();
    for (number, &start) in starts.iter().enumerate().rev() {
        if starts.len() - number > LINES + 1 || text.len() - start > BYTES || found.len() == TRIED {
            break;
        }
        let before = |at: usize| text[..at].trim_end_matches('\n');
        if u32::try_from(number).is_ok_and(|number| post.rules.contains(&number)) && number > 0 {
            found.push(Ending { text: before(start), signature: &text[start..] });
        }
        let end = starts.get(number + 1).copied();
        if let Some(end) = end.filter(|end| is_separator(text[start..*end].trim())) {
            found.push(Ending { text: before(start), signature: &text[end..] });
        }
    }
    found
}

/// `--`, `_____`, `-=-=-`.
pub(super) fn is_separator(line: &str) -> bool {
    const SIGNS: &str = "-_=~*—–─━═";
    line.chars().count() >= 2 && line.chars().all(|c| SIGNS.contains(c))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(posts: &[(&str, &str)]) -> Vec<String> {
        let post = |(author, text): &(&str, &str)| PostRecord {
            author: Some((*author).to_owned()),
            // `|` stands for a rule.
            rules: (0..)
                .zip(text.lines())
                .filter(|(_, line)| line.starts_with('|'))
                .map(|(number, _)| number)
                .collect(),
            text: text.replace('|', ""),
            ..PostRecord::default()
        };
        let mut posts: Vec<PostRecord> = posts.iter().map(post).collect();
        Signatures::cut(&mut posts, None);
        posts.into_iter().map(|post| post.text).collect()
    }

    #[test]
    fn what_repeats_below_posts_of_an_author_is_cut() {
        for line in ["--", "-- ", "---", "_____", "____________________", "==========", "—————", "-=-=-=-"] {
            let posts = [
                ("ann", format!("One\n{line}\nAnn\nof Kent")),
                ("bob", "Two".to_owned()),
                ("ann", format!("Three\nfour\n{line}\nAnn\nof Kent")),
            ];
            let posts: Vec<(&str, &str)> = posts.iter().map(|(author, text)| (*author, text.as_str())).collect();
            assert_eq!(cut(&posts), ["One", "Two", "Three\nfour"], "{line}");
        }
        assert_eq!(
            cut(&[("ann", "One\n|Ann"), ("ann", "Two\n|Ann"), ("ann", "Three\n|four")]),
            ["One", "Two", "Three\nfour"]
        );
        // A picture has no text.
        assert_eq!(cut(&[("ann", "One\n--\nAnn"), ("ann", "--\nAnn")]), ["One", ""]);
    }

    #[test]
    fn what_only_follows_a_line_is_text() {
        for posts in [
            // One post, or another author.
            &[("ann", "One\n--\nAnn"), ("bob", "Two\n--\nAnn")][..],
            &[("ann", "Before\n--\nafter"), ("ann", "More\n--\nand more")],
            &[("ann", "Table\n-----\n1 2\n-----\n3 4"), ("ann", "Table\n-----\n1 3\n-----\n3 5")],
            // The same post on two pages.
            &[("ann", "diff\n---\n+a"), ("ann", "diff\n---\n+a")],
            &[("ann", "Thanks"), ("ann", "Thanks")],
            &[("ann", "One\n--"), ("ann", "Two\n--")],
            &[("ann", "SELECT 1\n-- Ann"), ("ann", "SELECT 2\n-- Ann")],
        ] {
            let texts: Vec<&str> = posts.iter().map(|(_, text)| *text).collect();
            assert_eq!(cut(posts), texts);
        }
    }

    #[test]
    fn other_threads_show_what_repeats() {
        let post =
            |text: &str| PostRecord { author: Some("ann".to_owned()), text: text.to_owned(), ..PostRecord::default() };
        let mut forum = Signatures::default();
        forum.observe(&[post("One\n--\nAnn")]);
        let cut = |text: &str, forum: &Signatures| {
            let mut posts = [post(text)];
            Signatures::cut(&mut posts, Some(forum));
            posts[0].text.clone()
        };
        assert_eq!(cut("Two\n--\nAnn", &forum), "Two");
        // The same post, as part of the forum, and another author's.
        assert_eq!(cut("One\n--\nAnn", &forum), "One\n--\nAnn");
        assert_eq!(cut("Two\n--\nBob", &forum), "Two\n--\nBob");
        forum.observe(&[post("Two\n--\nAnn")]);
        assert_eq!(cut("One\n--\nAnn", &forum), "One");
    }
}
