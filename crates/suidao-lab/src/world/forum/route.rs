//! URL patterns of a forum's pages. A skin has a pattern for each kind of page, which both generates links and parses
//! requests, so that they agree.

use percent_encoding::{NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use serde::Deserialize;

/// A kind of page, as skins write it. Slots of its URL: `{b}` board, `{t}` thread, `{q}` post, `{u}` user, `{p}` page,
/// `{o}` number of threads or posts before the page, `{n}` any number, `{k}` the board's name, `{s}` a slug.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum ForumPageKind {
    Home,
    Index,
    IndexPage,
    Sorted,
    Thread,
    ThreadPage,
    /// URL of the last post of a thread, a redirect or the page itself.
    LastPost,
    /// URL of a post.
    Post,
    Printer,
    ByUser,
    Profile,
    Members,
    Search,
    Calendar,
    Login,
    Register,
    Help,
    Reply,
    NewThread,
    Feed,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Route {
    /// Never [`ForumPageKind::IndexPage`] or [`ForumPageKind::ThreadPage`].
    pub kind: ForumPageKind,
    /// The board, thread, post or user, from 0; the page of the member list; the number of a search or day.
    pub of: usize,
    /// The page of a board or thread, from 1; for [`ForumPageKind::ByUser`] the user.
    pub page: u32,
}

impl Route {
    pub fn new(kind: ForumPageKind, of: usize, page: u32) -> Self {
        Self { kind, of, page }
    }
}

/// Slot values: the visible numbers.
#[derive(Clone, Debug, Default)]
pub(super) struct Slots {
    pub board: u64,
    pub thread: u64,
    pub post: u64,
    pub user: u64,
    pub page: u64,
    pub offset: u64,
    pub number: u64,
    pub name: String,
    pub slug: String,
}

impl Slots {
    fn number(&mut self, slot: u8) -> Option<&mut u64> {
        Some(match slot {
            b'b' => &mut self.board,
            b't' => &mut self.thread,
            b'q' => &mut self.post,
            b'u' => &mut self.user,
            b'p' => &mut self.page,
            b'o' => &mut self.offset,
            b'n' => &mut self.number,
            _ => return None,
        })
    }
}

pub(super) fn fill(pattern: &str, slots: &mut Slots) -> String {
    let mut out = String::with_capacity(pattern.len() + 16);
    let mut parts = pattern.split('{');
    out.push_str(parts.next().unwrap_or_default());
    for part in parts {
        let slot = part.as_bytes()[0];
        match slot {
            b'k' => out.extend(utf8_percent_encode(&slots.name, NON_ALPHANUMERIC)),
            b's' => out.push_str(&slots.slug),
            _ => out.push_str(&slots.number(slot).map_or(0, |number| *number).to_string()),
        }
        out.push_str(&part[2..]);
    }
    out
}

/// Matches a URL's path and query with a pattern; returns the slots and the number of parameters in the pattern. Other
/// parameters are ignored, as forums do.
pub(super) fn read(pattern: &str, path: &str, query: &str) -> Option<(Slots, usize)> {
    let mut slots = Slots::default();
    let (want_path, want_query) = pattern.split_once('?').unwrap_or((pattern, ""));
    take(want_path, path, &mut slots)?;
    let mut named = 0;
    for pair in want_query.split('&').filter(|pair| !pair.is_empty()) {
        let (name, want) = pair.split_once('=').unwrap_or((pair, ""));
        let values = query.split('&').map(|pair| pair.split_once('=').unwrap_or((pair, "")));
        let (_, value) = values.into_iter().find(|(given, _)| *given == name)?;
        take(want, value, &mut slots)?;
        named += 1;
    }
    Some((slots, named))
}

fn take(pattern: &str, text: &str, slots: &mut Slots) -> Option<()> {
    let mut parts = pattern.split('{');
    let mut rest = text.strip_prefix(parts.next().unwrap_or_default())?;
    for part in parts {
        let (slot, literal) = (part.as_bytes()[0], &part[2..]);
        // A slug may contain what follows it, but no slash; the last match counts.
        let segment = &rest[..rest.find('/').unwrap_or(rest.len())];
        let end = match slot {
            b's' | b'k' if literal.is_empty() || literal.starts_with('/') => segment.len(),
            b's' | b'k' => segment.rfind(literal)?,
            _ => rest.bytes().take_while(u8::is_ascii_digit).count(),
        };
        let value = &rest[..end];
        match slots.number(slot) {
            Some(number) => *number = value.parse().ok()?,
            None if slot == b'k' => slots.name = percent_decode_str(value).decode_utf8().ok()?.into_owned(),
            None => {}
        }
        rest = rest[end..].strip_prefix(literal)?;
        if literal.is_empty() && !rest.is_empty() {
            return None;
        }
    }
    (rest.is_empty() || pattern == text).then_some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_filled_is_read() {
        let mut slots = Slots { board: 3, thread: 12, page: 4, name: "足球 吧".to_owned(), ..Slots::default() };
        slots.slug = "a.b-c".to_owned();
        for (pattern, want) in [
            ("/thread-{t}-{p}-1.html", "/thread-12-4-1.html"),
            ("/threads/{s}.{t}/page-{p}", "/threads/a.b-c.12/page-4"),
            ("/f?kw={k}&pn={p}", "/f?kw=%E8%B6%B3%E7%90%83%20%E5%90%A7&pn=4"),
            ("/t/{s}/{t}/{p}", "/t/a.b-c/12/4"),
        ] {
            let url = fill(pattern, &mut slots);
            assert_eq!(url, want);
            let (path, query) = url.split_once('?').unwrap_or((&url, ""));
            let (read, named) = read(pattern, path, query).unwrap();
            assert_eq!((read.page, named), (4, pattern.matches('=').count()), "{pattern}");
            assert!(read.thread == 12 || read.name == "足球 吧");
        }
    }

    #[test]
    fn other_urls_are_not_read() {
        assert!(read("/t/{t}", "/t/12/3", "").is_none());
        assert!(read("/t/{t}", "/t/x", "").is_none());
        assert!(read("/t/{t}", "/t/", "").is_none());
        assert!(read("/a.php?f={b}&x=1", "/a.php", "f=2&x=2").is_none());
        assert!(read("/a.php?f={b}", "/a.php", "x=2&f=2&s=9").is_some());
        assert!(read("/{s}.{t}", "/a/b.3", "").is_none());
    }
}
