//! Finds the posts of a thread's page among its repeated regions.
//!
//! Every post has a time, and most templates number their posts in an `id` or name their class after them. Each such
//! mark that repeats in one position of the template is tried as the start of posts (`rows.rs` finds the records
//! around it). The posts are the records with most of the page's text and with a time and a person each. A thread with
//! one post is recognised by its mark alone.

use std::ops::Range;

use rustc_hash::{FxHashMap, FxHashSet};

use super::fields::{FieldLabel, RecordPart, entry, is_profile_link, label_by_names, label_of, times};
use super::links::columns;
use super::rows::rows;
use super::tree::{NodeId, Tree};
use suidao_page::model::{CrawlUrl, TimeContext};

/// Maximum number of posts per page.
const POSTS: usize = 1_000;
/// Maximum number of kinds of marks tried.
const KINDS: usize = 64;

/// Words that name a post in an `id` or a class.
const MARKS: &str = "post|posts|pid|msg|message|comment|comments|reply|floor|answer|entry|p|postbit|article|topic";

/// Amount of text before each node, and positions of times and people.
pub(super) struct PageStats {
    /// Visible characters before each node, and those outside links.
    visible: Vec<u32>,
    plain: Vec<u32>,
    times: Vec<NodeId>,
    people: Vec<NodeId>,
    /// The page is known to be a thread's: lines that look like a list are posts.
    pub(super) thread: bool,
}

impl PageStats {
    pub(super) fn of(tree: &Tree, clock: TimeContext) -> Self {
        let (mut visible, mut plain) = (vec![0], vec![0]);
        let mut people = Vec::new();
        let mut link_end = 0;
        for node in 0..tree.len() {
            // Member details are not text of a post.
            let label = || tree.own_text(node).len() < 60 && begins_with_label(tree.own_text(node));
            let hidden = tree.is_hidden(tree.parent(node)) || tree.name(tree.parent(node)) == "script";
            let own = if hidden || label() {
                0
            } else {
                tree.own_text(node).chars().filter(|c| !c.is_whitespace()).count() as u32
            };
            if tree.link(node).is_some() {
                link_end = tree.subtree(node).end;
                if is_profile_link(tree, node) {
                    people.push(node);
                }
            } else if tree.is_element(node) && tree.words(node).any(|word| word == "author" || word == "username") {
                people.push(node);
            }
            visible.push(visible[node] + own);
            plain.push(plain[node] + if node < link_end { 0 } else { own });
        }
        let page = RecordPart { tree, roots: &[0] };
        let times = times(&page, clock, &|_| false).into_iter().filter(|time| time.plain && !time.is_other);
        Self { visible, plain, times: times.map(|time| time.node).collect(), people, thread: false }
    }

    pub(super) fn text(&self, tree: &Tree, node: NodeId) -> u32 {
        let range = tree.subtree(node);
        self.visible[range.end] - self.visible[range.start]
    }

    pub(super) fn plain_of_page(&self) -> u32 {
        self.plain.last().copied().unwrap_or(0)
    }

    pub(super) fn plain(&self, tree: &Tree, roots: &[NodeId]) -> u32 {
        roots.iter().map(|&root| tree.subtree(root)).map(|range| self.plain[range.end] - self.plain[range.start]).sum()
    }

    pub(super) fn has_time(&self, tree: &Tree, node: NodeId) -> bool {
        any_in(&self.times, tree, node)
    }

    pub(super) fn has_person(&self, tree: &Tree, node: NodeId) -> bool {
        any_in(&self.people, tree, node)
    }
}

/// Whether a text begins as details of a member do: "Joined: May 2001", "12 posts". In a sentence such words mean
/// anything.
pub(super) fn begins_with_label(text: &str) -> bool {
    /// Columns of a label.
    const LABEL: usize = 12;
    let text = text.trim_start();
    let end = text.char_indices().map(|(at, c)| at + c.len_utf8()).take_while(|end| columns(&text[..*end]) <= LABEL);
    let start = &text[..end.last().unwrap_or(0)];
    label_of(start).has(FieldLabel::MEMBER.and(FieldLabel::POSTS))
}

fn count_in(nodes: &[NodeId], tree: &Tree, node: NodeId) -> usize {
    let range = tree.subtree(node);
    nodes.partition_point(|&at| at < range.end) - nodes.partition_point(|&at| at < range.start)
}

fn any_in(nodes: &[NodeId], tree: &Tree, node: NodeId) -> bool {
    let range = tree.subtree(node);
    let first = nodes.partition_point(|&at| at < range.start);
    nodes.get(first).is_some_and(|&at| at < range.end)
}

/// The posts' node ranges, if the page has posts, in order.
pub(super) fn ranges(tree: &Tree, clock: TimeContext) -> Vec<Range<NodeId>> {
    posts(tree, &PageStats::of(tree, clock), clock).iter().map(|roots| range(tree, roots)).collect()
}

/// From the first sibling to the end of the last.
fn range(tree: &Tree, roots: &[NodeId]) -> Range<NodeId> {
    match roots {
        [first, .., last] => *first..tree.subtree(*last).end,
        [one] => tree.subtree(*one),
        [] => 0..0,
    }
}

/// The siblings that form each post, in order.
pub(super) fn posts(tree: &Tree, stats: &PageStats, clock: TimeContext) -> Vec<Vec<NodeId>> {
    let mut cuts: Vec<(f64, Vec<Vec<NodeId>>)> = Vec::new();
    let mut lone: Vec<Vec<NodeId>> = Vec::new();
    for (marked, mut nodes) in marks(tree, stats, clock) {
        nodes.truncate(POSTS);
        let found = match nodes.as_slice() {
            [one] if marked => {
                lone.push(around(tree, stats, *one));
                vec![around(tree, stats, *one)]
            }
            [] | [_] => continue,
            _ => rows(tree, &nodes),
        };
        cuts.push((score(tree, stats, &found), found));
    }
    // Of equal ones the first.
    cuts.sort_by(|one, other| other.0.total_cmp(&one.0));
    let mut cuts = cuts.into_iter().map(|(_, found)| found);
    let Some(mut found) = cuts.next() else { return Vec::new() };
    if are_lines(tree, stats, &found) {
        // A list next to a short post.
        let list_text: u32 = found.iter().map(|roots| stats.plain(tree, roots)).sum();
        let post = cuts.find(|other| {
            let complete = |roots: &Vec<NodeId>| {
                has(roots, |root| stats.has_time(tree, root)) && has(roots, |root| stats.has_person(tree, root))
            };
            other.iter().all(|roots| complete(roots) && found.iter().all(|line| apart(tree, line, roots)))
                && other.iter().map(|roots| stats.plain(tree, roots)).sum::<u32>() >= list_text
                && !are_lines(tree, stats, other)
        });
        let Some(post) = post else { return Vec::new() };
        found = post;
    }
    if found.len() == 1 {
        join(tree, stats, &mut found, lone);
    }
    if let Some(lead) = found.first().and_then(|roots| roots.first()).and_then(|&first| lead(tree, stats, first)) {
        found.insert(0, vec![lead]);
    }
    found
}

/// Adds other single records to a single post, since an opening post and its only reply may have different templates.
fn join(tree: &Tree, stats: &PageStats, found: &mut Vec<Vec<NodeId>>, mut lone: Vec<Vec<NodeId>>) {
    lone.sort_by_key(|roots| (range(tree, roots).len(), range(tree, roots).start));
    for other in lone {
        if found.iter().all(|known| apart(tree, known, &other))
            && has(&other, |root| stats.has_time(tree, root))
            && has(&other, |root| stats.has_person(tree, root))
            && longest_body_text(tree, stats, &other) > 0
            && !are_lines(tree, stats, std::slice::from_ref(&other))
        {
            found.push(other);
        }
    }
    found.sort_by_key(|roots| roots.first().copied());
}

fn apart(tree: &Tree, one: &[NodeId], other: &[NodeId]) -> bool {
    let (one, other) = (range(tree, one), range(tree, other));
    one.end <= other.start || other.end <= one.start
}

fn has(roots: &[NodeId], what: impl Fn(NodeId) -> bool) -> bool {
    roots.iter().any(|&root| what(root))
}

/// Characters outside links in the largest element named as content.
fn longest_body_text(tree: &Tree, stats: &PageStats, roots: &[NodeId]) -> u32 {
    let bodies = roots.iter().flat_map(|&root| tree.subtree(root)).filter(|&node| role(tree, node) == PostRole::Body);
    bodies.map(|node| stats.plain(tree, &[node])).max().unwrap_or(0)
}

/// The opening post, if its template differs from the replies': the part before them, or before their container, with a
/// time, a person and an element named as content.
fn lead(tree: &Tree, stats: &PageStats, first: NodeId) -> Option<NodeId> {
    const STEPS: usize = 4;
    for at in std::iter::once(first).chain(tree.ancestors(first)).take_while(|&at| at != 0).take(STEPS) {
        let before = tree.children(tree.parent(at)).take_while(|&sibling| sibling < at);
        let opens = |&node: &NodeId| {
            let speaks = || longest_body_text(tree, stats, &[node]) >= 5;
            tree.is_element(node) && stats.has_time(tree, node) && stats.has_person(tree, node) && speaks()
        };
        if let Some(own) = before.filter(opens).last() {
            return Some(own);
        }
    }
    None
}

/// Whether the records are lines of a list: nearly each has, in the same position, a link of its own that is long
/// enough for a title, and little other text.
fn are_lines(tree: &Tree, stats: &PageStats, found: &[Vec<NodeId>]) -> bool {
    /// Mean and minimum columns of a title, and maximum number of other characters: an abstract is shorter than a post
    /// with a title of its own.
    const TITLE: (usize, usize) = (12, 6);
    const ABSTRACT: usize = 200;
    #[derive(Default)]
    struct TemplatePosition<'a> {
        urls: FxHashSet<&'a CrawlUrl>,
        texts: FxHashSet<String>,
        columns: usize,
    }
    // "张三 发表于 昨天 12:01" above a quotation is not a title.
    let quoted = |node: NodeId| tree.ancestors(node).take(6).any(|up| role(tree, up) == PostRole::Quote);
    let plain: u32 = found.iter().map(|roots| stats.plain(tree, roots)).sum();
    if stats.thread || found.is_empty() || plain as usize > ABSTRACT * found.len() {
        return false;
    }
    let mut positions: Vec<(u64, TemplatePosition)> = Vec::new();
    for roots in found {
        let part = RecordPart { tree, roots };
        for node in part.nodes() {
            let Some(url) = tree.link(node).filter(|_| !tree.is_hidden(node) && !is_profile_link(tree, node)) else {
                continue;
            };
            if quoted(node) {
                continue;
            }
            // "第12楼" is not a title, nor is a time, and "Re: title" is the thread's.
            let text: String = tree.text(node).to_lowercase().chars().filter(|c| c.is_alphabetic()).collect();
            let text =
                ["re", "回复", "答复"].iter().find_map(|reply| text.strip_prefix(reply)).unwrap_or(&text).to_owned();
            let columns = columns(&text);
            if columns >= TITLE.1
                && let Some(place) = entry(&mut positions, part.place(node))
                && place.urls.insert(url)
            {
                place.columns += columns;
                place.texts.insert(text);
            }
        }
    }
    positions.iter().any(|(_, place)| {
        let own = place.urls.len().min(place.texts.len());
        // A single line must consist of its title.
        own * 10 >= found.len() * 7
            && place.columns >= TITLE.0 * place.urls.len()
            && (found.len() > 1 || place.columns > plain as usize)
    })
}

fn score(tree: &Tree, stats: &PageStats, found: &[Vec<NodeId>]) -> f64 {
    let count = found.len() as f64;
    let share = |what: &dyn Fn(NodeId) -> bool| found.iter().filter(|roots| has(roots, what)).count() as f64 / count;
    let complete =
        0.2 + 0.4 * share(&|root| stats.has_time(tree, root)) + 0.4 * share(&|root| stats.has_person(tree, root));
    let text: u32 = found.iter().map(|roots| stats.plain(tree, roots)).sum();
    if let [one] = found {
        // A single record could be the whole page: weight it by the share of its content.
        let (spoken, whole) = (f64::from(longest_body_text(tree, stats, one)), f64::from(text).max(1.0));
        return (spoken * spoken / whole).max(whole * 0.2) * complete.powi(2) * 0.7;
    }
    // Every post has a time. Of two partitions of the same text the finer one has the posts, the coarser one the page's
    // sections.
    let timed = if share(&|root| stats.has_time(tree, root)) < 0.75 { 0.3 } else { 1.0 };
    timed * f64::from(text) * complete.powi(2) * count.sqrt()
}

/// The part around a single mark that has a time and a person, if it adds little else; for an empty mark, the part
/// after it.
fn around(tree: &Tree, stats: &PageStats, mark: NodeId) -> Vec<NodeId> {
    // A person named in a text is not its author.
    let named = if role(tree, mark) == PostRole::Body { count_in(&stats.people, tree, mark) } else { 0 };
    let complete = |node: NodeId| stats.has_time(tree, node) && count_in(&stats.people, tree, node) > named;
    let own = stats.text(tree, mark);
    if own == 0 {
        let following = tree.children(tree.parent(mark)).filter(|&sibling| sibling > mark && tree.is_element(sibling));
        if let Some(post) = following.take(2).find(|&sibling| complete(sibling)) {
            return vec![mark, post];
        }
    }
    let mut up = std::iter::once(mark).chain(tree.ancestors(mark).take_while(|&up| up != 0));
    vec![up.find(|&node| complete(node)).filter(|&node| stats.text(tree, node) <= own * 2 + 200).unwrap_or(mark)]
}

/// Possible marks of posts: nodes in the same position of the template, and whether their names suggest posts.
fn marks(tree: &Tree, stats: &PageStats, clock: TimeContext) -> Vec<(bool, Vec<NodeId>)> {
    let mut kinds: Vec<(bool, Vec<NodeId>)> = Vec::new();
    let mut known: FxHashMap<(u8, u64), usize> = FxHashMap::default();
    let mut add = |kind: (u8, u64), node: NodeId| {
        let at = *known.entry(kind).or_insert_with(|| {
            kinds.push((kind.0 > 0, Vec::new()));
            kinds.len() - 1
        });
        kinds[at].1.push(node);
    };
    let mut last = "";
    for time in times(&RecordPart { tree, roots: &[0] }, clock, &|_| false) {
        if time.plain && !time.is_other {
            add((0, tree.path(time.node)), time.node);
        }
    }
    for node in (1..tree.len()).filter(|&node| tree.is_element(node) && !tree.is_hidden(node)) {
        if let Some(id) = tree.attribute(node, "id").or_else(|| tree.attribute(node, "name"))
            && (is_numbered(tree, node)
                || id.ends_with(|c: char| c.is_ascii_digit())
                    && stats.has_time(tree, node)
                    && stats.has_person(tree, node))
        {
            // The old `name` attribute of a link often repeats the id.
            if id != last {
                add((1, digest(id)), node);
            }
            last = id;
        }
        let class = tree.attribute(node, "class").unwrap_or_default();
        let called = tree.name(node) == "article"
            || super::tree::words_of(class).iter().any(|word| word != "p" && is_mark(word) || word.starts_with("post"))
            || tree
                .attribute(node, "itemtype")
                .is_some_and(|kind| kind.ends_with("Comment") || kind.ends_with("Posting"));
        if called {
            add((2, tree.path(node)), node);
        }
    }
    // Nodes in order; the most frequent kinds first.
    kinds.sort_by_key(|(_, nodes)| usize::MAX - nodes.len());
    kinds.truncate(KINDS);
    kinds
}

fn is_mark(word: &str) -> bool {
    MARKS.split('|').any(|mark| mark == word)
}

/// Whether an element has the number of a post as its `id` or `name`.
pub(super) fn is_numbered(tree: &Tree, node: NodeId) -> bool {
    let id = tree.attribute(node, "id").or_else(|| tree.attribute(node, "name")).unwrap_or_default();
    id.ends_with(|c: char| c.is_ascii_digit())
        && (super::tree::words_of(id).iter().any(|word| is_mark(word))
            || tree.name(node) == "a" && id.bytes().all(|byte| byte.is_ascii_digit()))
}

/// FNV-1a hash of an id without its digits.
pub(super) fn digest(id: &str) -> u64 {
    let letters = id.bytes().filter(|byte| !byte.is_ascii_digit());
    letters.fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

/// Role of an element within a post, by its names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PostRole {
    Body,
    /// Author details, buttons, footer: not the text.
    Boilerplate,
    Quote,
    Silent,
}

/// What the names of an element mean.
#[derive(Clone, Copy, Debug, Default)]
struct NamedRoles {
    body: bool,
    boilerplate: bool,
    quote: bool,
}

fn named_roles(tree: &Tree, node: NodeId) -> NamedRoles {
    const BODY: &str = "content|message|body|text|msg|markdown|cooked|entry";
    const BOILERPLATE: &str = "author|user|profile|poster|avatar|side|stat|meta|sig|sign|foot|footer|action|actions|button|buttons|\
                             tool|tools|toolbar|menu|control|controls|nav|share|signature|rate|vote|votes|pager|badge|details|info|\
                             attribution|tip|tips|related|ad|ads|permalink|date|time|reactions|likes|member|joined";
    let mut roles = NamedRoles::default();
    for word in tree.words(node) {
        roles.quote |= word.contains("quote") && !word.contains("blockquote");
        roles.boilerplate |= BOILERPLATE.split('|').any(|known| known == word)
            || word.contains("signature")
            || ["poster", "author", "user", "profile", "avatar"]
                .iter()
                .any(|name| word.starts_with(name) || word.ends_with(name));
        roles.body |= BODY.split('|').any(|known| word.contains(known)) && !word.starts_with("context");
    }
    roles
}

/// The role of an element by its own names.
pub(super) fn role(tree: &Tree, node: NodeId) -> PostRole {
    if tree.attribute(node, "itemprop").is_some_and(|name| matches!(name, "text" | "articleBody")) {
        return PostRole::Body;
    }
    let NamedRoles { body, boilerplate, quote } = named_roles(tree, node);
    if quote || tree.name(node) == "blockquote" && !body {
        PostRole::Quote
    } else if boilerplate {
        PostRole::Boilerplate
    } else if body {
        PostRole::Body
    } else {
        PostRole::Silent
    }
}

/// Whether an element is named as content and as boilerplate, such as `messageInfo`, and consists of content, without
/// the boilerplate in it.
pub(super) fn holds_content(tree: &Tree, stats: &PageStats, node: NodeId) -> bool {
    if !named_roles(tree, node).body {
        return false;
    }
    let (mut boilerplate, mut end) = (0, 0);
    for inner in tree.subtree(node).skip(1) {
        if inner >= end && role(tree, inner) == PostRole::Boilerplate {
            boilerplate += stats.plain(tree, &[inner]);
            end = tree.subtree(inner).end;
        }
    }
    longest_body_text(tree, stats, &[node]) * 2 > stats.plain(tree, &[node]).saturating_sub(boilerplate)
}

/// Whether a link leads to a person, by its URL or by the names of its elements.
pub(super) fn is_author_link(tree: &Tree, link: NodeId, row: NodeId) -> bool {
    is_profile_link(tree, link) || label_by_names(tree, link, row).has(FieldLabel::AUTHOR)
}
