//! The numbers of posts: "#12", "12楼", "沙发".

use super::cursor::TextCursor;
use super::fields::{PostSurroundings, entry};

/// The number of each post, from a position in which numbers rise from post to post.
pub(super) fn post_numbers(posts: &[PostSurroundings]) -> Vec<Option<u32>> {
    let mut positions: Vec<(u64, Vec<(usize, u32)>)> = Vec::new();
    for (at, post) in posts.iter().enumerate() {
        let tree = post.part.tree;
        for node in post.nodes() {
            if tree.subtree(node).len() > 8 || tree.name(node) == "script" {
                continue;
            }
            let text = if tree.is_element(node) { tree.text(node) } else { tree.own_text(node).trim().to_owned() };
            let numbered = || {
                let called =
                    |word: &str| matches!(word, "no" | "floor" | "num" | "number" | "index" | "postnum" | "position");
                tree.is_element(node) && tree.words(node).any(called)
                    || tree.attribute(node, "itemprop") == Some("position")
            };
            let plain = || text.parse::<u32>().ok().filter(|_| numbered());
            let Some(number) = post_number(&text).or_else(plain).filter(|number| (1..1_000_000).contains(number))
            else {
                continue;
            };
            if let Some(own) = entry(&mut positions, post.part.place(node))
                && own.last().is_none_or(|(last, _)| *last != at)
            {
                own.push((at, number));
            }
        }
    }
    let rising = |own: &[(usize, u32)]| own.windows(2).all(|pair| pair[0].1 < pair[1].1);
    let best = positions.iter().filter(|(_, own)| rising(own) && own.len() * 2 >= posts.len());
    let mut found = vec![None; posts.len()];
    if let Some((_, own)) = best.max_by_key(|(_, own)| own.len()) {
        for &(at, number) in own {
            found[at] = Some(number);
        }
    }
    found
}

/// The post number in a short text: "#12", "12楼", "沙发", "Reply #3", which is the fourth post.
pub(super) fn post_number(text: &str) -> Option<u32> {
    const NAMED: [(&str, u32); 8] =
        [("楼主", 1), ("樓主", 1), ("沙发", 2), ("沙發", 2), ("板凳", 3), ("地板", 4), ("地下室", 5), ("1st", 1)];
    let text = text.trim();
    if text.is_empty() || text.len() > 60 {
        return None;
    }
    for sign in ["#", "＃", "No.", "No．"] {
        if let Some((before, after)) = text.split_once(sign)
            && let Some((count, rest)) = number(after)
            && !rest.starts_with(|c: char| c.is_alphanumeric())
            && before.chars().count() <= 16
        {
            let before = before.to_lowercase();
            let reply = ["reply", "回复", "回帖", "返信"].iter().any(|word| before.contains(word));
            return Some(count + u32::from(reply));
        }
    }
    let bare = text.strip_prefix('第').unwrap_or(text);
    if let Some((count, rest)) = number(bare) {
        let rest = rest.trim();
        let unit = ["楼", "樓", "层", "#", "F", "L", "f", "番"]
            .iter()
            .any(|unit| rest == *unit || rest.starts_with(unit) && rest.len() <= 12 && !unit.is_ascii());
        return unit.then_some(count);
    }
    NAMED.iter().find(|(name, _)| *name == text).map(|(_, number)| *number)
}

fn number(text: &str) -> Option<(u32, &str)> {
    let mut cursor = TextCursor::new(text);
    cursor.spaces();
    let number = cursor.number(1..=6)?;
    Some((u32::try_from(number).ok()?, cursor.rest()))
}
