//! Signatures below a separator line or a rule, as in mails and in old templates. What follows `--` may also be a part of
//! the text: it is a signature only if it repeats below another post of the same author.

use rustc_hash::{FxHashMap, FxHashSet};

use suidao_page::model::PostRecord;

/// Maximum number of lines and bytes of a signature.
const LINES: usize = 10;
const BYTES: usize = 1_000;
/// Separator lines per post that are tried, from the last.
const TRIED: usize = 8;

/// Removes the signatures of the posts of a thread.
pub fn cut(posts: &mut [PostRecord]) {
    // The texts above each possible signature of an author: the same post may be there twice.
    let mut above: FxHashMap<(&str, &str), FxHashSet<&str>> = FxHashMap::default();
    for post in posts.iter() {
        let Some(author) = post.author.as_deref() else { continue };
        for Ending { text, signature } in endings(post) {
            above.entry((author, signature)).or_default().insert(text);
        }
    }
    let repeats = |author: &str, signature: &str| above.get(&(author, signature)).is_some_and(|texts| texts.len() > 1);
    let lengths: Vec<Option<usize>> = posts
        .iter()
        .map(|post| {
            let author = post.author.as_deref()?;
            let found = endings(post).into_iter().filter(|ending| repeats(author, ending.signature));
            found.map(|ending| ending.text.len()).min()
        })
        .collect();
    for (post, length) in posts.iter_mut().zip(lengths) {
        if let Some(length) = length {
            post.text.truncate(length);
        }
    }
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
fn is_separator(line: &str) -> bool {
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
        super::cut(&mut posts);
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
}
