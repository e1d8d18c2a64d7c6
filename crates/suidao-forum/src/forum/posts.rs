//! The posts of a thread's page: author, time, number and text.
//!
//! Positions identify fields, because all posts share a template: the text is in the position that has most of it and
//! is neither author nor time; numbers rise from post to post. Quotations, elements named as signatures, member details
//! and lines that all posts repeat are not part of the text.

use rustc_hash::{FxHashMap, FxHashSet};

use super::authors::authors;
use super::bodies::bodies;
use super::declared::{complete_posts, items};
use super::fields::{FieldLabel, PostSurroundings, RecordPart, Time, entry, times};
use super::mail::{self, MailHeader};
use super::post_numbers::{post_number, post_numbers};
use super::region::{self, PageStats, PostRole, begins_with_label, digest, role};
use super::signatures::is_separator;
use super::tree::{NodeId, Tree};
use suidao_page::model::{ApproxTime, PostRecord, TimeContext};

pub fn posts(tree: &Tree, clock: TimeContext) -> Vec<PostRecord> {
    read(tree, clock, PageStats::of(tree, clock))
}

/// As [`posts`], for a page known to be a thread's even if it looks like a list.
pub fn posts_of_thread(tree: &Tree, clock: TimeContext) -> Vec<PostRecord> {
    let mut stats = PageStats::of(tree, clock);
    stats.thread = true;
    read(tree, clock, stats)
}

fn read(tree: &Tree, clock: TimeContext, stats: PageStats) -> Vec<PostRecord> {
    let regions = region::posts(tree, &stats, clock);
    let parts: Vec<RecordPart> = regions.iter().map(|roots| RecordPart { tree, roots }).collect();
    let bodies = bodies(tree, &stats, &parts);
    let (heads, lines) = lines(tree, &parts, &bodies, clock);
    let outside: Vec<PostSurroundings> =
        parts.iter().zip(&bodies).map(|(part, body)| PostSurroundings { part, body }).collect();
    let (authors, times) = (authors(&outside, clock), post_times(&outside, clock, stats.thread));
    let (numbers, fragments) = (post_numbers(&outside), fragments(&parts));
    let mut found = Vec::with_capacity(parts.len());
    for (at, (lines, head)) in lines.into_iter().zip(heads).enumerate() {
        // The post's own header takes precedence over the elements around it.
        let (author, posted) = head.map_or((None, None), |head| (head.author, head.posted));
        let post = PostRecord {
            author: author.or_else(|| authors[at].clone()),
            posted: posted.or(times[at]),
            number: numbers[at],
            rules: (0..).zip(&lines).filter(|(_, line)| line.after_rule).map(|(number, _)| number).collect(),
            text: lines.into_iter().map(|line| line.text).collect::<Vec<_>>().join("\n"),
            fragment: fragments[at].clone(),
        };
        if !post.text.is_empty() || post.author.is_some() && post.posted.is_some() {
            found.push(post);
        }
    }
    complete_posts(found, items(tree, clock))
}

/// A line of a post's text.
struct TextLine {
    text: String,
    after_rule: bool,
}

impl AsRef<str> for TextLine {
    fn as_ref(&self) -> &str {
        &self.text
    }
}

/// The lines of each post, and its mail header if it has one.
fn lines(
    tree: &Tree,
    parts: &[RecordPart],
    bodies: &[Vec<NodeId>],
    clock: TimeContext,
) -> (Vec<Option<MailHeader>>, Vec<Vec<TextLine>>) {
    let roots: FxHashSet<NodeId> = parts.iter().flat_map(|part| part.roots.iter().copied()).collect();
    let read = |quotes: bool| -> Vec<Vec<TextLine>> {
        let whole = parts.iter().zip(bodies).map(|(part, body)| {
            let own: &[NodeId] = if body.is_empty() { part.roots } else { body };
            let skip = |node: NodeId| match role(tree, node) {
                _ if own.binary_search(&node).is_ok() => false,
                PostRole::Quote => !quotes,
                PostRole::Boilerplate => body.is_empty() || is_signature(tree, node),
                _ => roots.contains(&node),
            };
            let part = RecordPart { tree, roots: own };
            let lines = part.paragraphs(&skip).into_iter();
            let mut lines: Vec<TextLine> =
                lines.map(|line| TextLine { text: line.text, after_rule: line.after_rule }).collect();
            if body.is_empty() {
                lines.retain(|line| line.text.len() > 60 || !is_metadata_line(&line.text, clock));
            }
            lines
        });
        whole.collect()
    };
    let mut lines = read(false);
    // Some templates mark up every post as a quotation.
    if lines.iter().filter(|lines| lines.is_empty()).count() * 2 > lines.len() {
        let whole = read(true);
        if whole.iter().filter(|lines| lines.is_empty()).count() * 2 <= whole.len() {
            lines = whole;
        }
    }
    let heads: Vec<Option<MailHeader>> = lines.iter().map(|own| mail::head(own, clock)).collect();
    // A single post with a mail header only quotes a mail.
    let mails = heads.iter().flatten().count() * 10 >= lines.len() * 7;
    let heads = if mails { heads } else { vec![None; lines.len()] };
    for (own, head) in lines.iter_mut().zip(&heads) {
        if let Some(head) = head {
            own.drain(..head.lines);
            own.retain(|line| !mail::is_foreign(&line.text));
        }
    }
    let repeated = repeated(&lines);
    for own in &mut lines {
        own.retain(|line| !repeated.contains(line.text.as_str()));
    }
    (heads, lines)
}

fn is_signature(tree: &Tree, node: NodeId) -> bool {
    tree.words(node).any(|word| matches!(word, "sig" | "sign") || word.contains("signature"))
}

/// Lines that nearly all posts have. What is the whole text of many is what people say, and a separator may have a
/// signature below it.
fn repeated(posts: &[Vec<TextLine>]) -> FxHashSet<String> {
    #[derive(Default)]
    struct Seen {
        posts: usize,
        alone: usize,
    }
    let mut counts: FxHashMap<&str, Seen> = FxHashMap::default();
    for lines in posts {
        let own: FxHashSet<&str> = lines.iter().map(|line| line.text.as_str()).collect();
        for line in own.iter().filter(|line| !is_separator(line)) {
            let seen = counts.entry(line).or_default();
            seen.posts += 1;
            seen.alone += usize::from(own.len() == 1);
        }
    }
    let is_of_template =
        |seen: &Seen| seen.posts >= 3 && seen.posts * 10 >= posts.len() * 6 && seen.alone * 3 < seen.posts;
    counts.into_iter().filter(|(_, seen)| is_of_template(seen)).map(|(line, _)| line.to_owned()).collect()
}

/// Whether a line is metadata of the post or its author: a time, a number, a member's rank.
fn is_metadata_line(line: &str, clock: TimeContext) -> bool {
    !super::times::all(line, clock).is_empty() || post_number(line).is_some() || begins_with_label(line)
}

/// The time of each post. `is_thread`: the page is known to be a thread's; on others, the times of last replies belong to
/// a list.
fn post_times(posts: &[PostSurroundings], clock: TimeContext, is_thread: bool) -> Vec<Option<ApproxTime>> {
    // A word near the time, such as a member's rank: the time counts if there is no other.
    let is_labelled = |time: &Time, label| time.label.has(label) && !time.label.has(FieldLabel::CREATED);
    let doubtful = FieldLabel::MEMBER.and(FieldLabel::EDITED).and(FieldLabel::LAST);
    let all: Vec<Vec<Time>> = posts
        .iter()
        .map(|post| {
            let mut own = times(post.part, clock, &post.skips());
            own.retain(|time| !time.is_other && (is_thread || !is_labelled(time, FieldLabel::LAST)));
            // Lines longer than the time count only if there are no others.
            if own.iter().any(|time| time.plain) {
                own.retain(|time| time.plain);
            }
            own
        })
        .collect();
    #[derive(Default)]
    struct Seen {
        posts: usize,
        doubtful: usize,
        /// Rank within a post, and precision in seconds.
        order: usize,
        within: u32,
    }
    let mut positions: Vec<(u64, Seen)> = Vec::new();
    for own in &all {
        for (order, time) in own.iter().enumerate() {
            if let Some(seen) = entry(&mut positions, time.place) {
                seen.order = if seen.posts == 0 { order } else { seen.order };
                seen.posts += 1;
                seen.doubtful += usize::from(is_labelled(time, doubtful));
                seen.within = seen.within.max(time.moment.within.min(86_400));
            }
        }
    }
    let most = positions.iter().map(|(_, seen)| seen.posts).max().unwrap_or(0);
    positions.sort_by_key(|(_, seen)| {
        (seen.posts * 10 < most * 7, seen.doubtful * 2 > seen.posts, seen.within >= 86_400, seen.order)
    });
    let pick = |own: &Vec<Time>| {
        positions.iter().find_map(|(place, _)| own.iter().find(|time| time.place == *place)).map(|time| time.moment)
    };
    all.iter().map(pick).collect()
}

/// The fragment of each post: the first kind of `id`, `name` or fragment that all have and that differs.
fn fragments(parts: &[RecordPart]) -> Vec<Option<String>> {
    let mut kinds: Vec<(u64, Vec<(usize, String)>)> = Vec::new();
    for (at, part) in parts.iter().enumerate() {
        let tree = part.tree;
        for node in part.nodes().filter(|&node| tree.is_element(node)) {
            let fragment =
                tree.attribute(node, "href").and_then(|href| href.split_once('#')).map(|(_, fragment)| fragment);
            let name = tree.attribute(node, "name").filter(|_| tree.name(node) == "a");
            for own in [tree.attribute(node, "id"), name, fragment].into_iter().flatten() {
                if own.len() <= 64
                    && own.bytes().any(|byte| byte.is_ascii_digit())
                    && let Some(known) = entry(&mut kinds, digest(own))
                    && known.last().is_none_or(|(last, _)| *last != at)
                {
                    known.push((at, own.to_owned()));
                }
            }
        }
    }
    let common = kinds.into_iter().find(|(_, own)| {
        let distinct: FxHashSet<&str> = own.iter().map(|(_, name)| name.as_str()).collect();
        own.len() * 10 >= parts.len() * 9 && distinct.len() == own.len()
    });
    let mut found = vec![None; parts.len()];
    for (at, name) in common.map(|(_, own)| own).unwrap_or_default() {
        found[at] = Some(name);
    }
    found
}
