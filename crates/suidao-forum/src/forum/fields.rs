//! Fields of a record: its times, numbers and people, each with labels from nearby words and names.

use std::sync::LazyLock;

use aho_corasick::AhoCorasick;
use rustc_hash::FxHashMap;

use suidao_page::model::{ApproxTime, CrawlUrl, TimeContext};

use super::time_labels::introduces_other_time;
use super::times;
use super::tree::{NodeId, Paragraph, Tree, words_of};

/// Ancestors of a field whose names may label it.
const NAMED: usize = 8;
/// Bytes of a paragraph that may be a line of metadata.
const LINE: usize = 300;
/// Bytes of a tooltip that labels a field.
const TIP: usize = 36;
/// Characters of a person's name.
const NAME: usize = 40;

/// Set of labels of a field.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct FieldLabel(u16);

impl FieldLabel {
    pub(super) const LAST: Self = Self(1);
    pub(super) const CREATED: Self = Self(2);
    pub(super) const REPLIES: Self = Self(4);
    pub(super) const VIEWS: Self = Self(8);
    pub(super) const POSTS: Self = Self(16);
    pub(super) const AUTHOR: Self = Self(32);
    /// Of a member: registration, last visit, possessions; not of the post.
    pub(super) const MEMBER: Self = Self(64);
    pub(super) const EDITED: Self = Self(128);
    /// Other counts, such as votes.
    pub(super) const OTHER: Self = Self(256);

    pub(super) fn has(self, what: Self) -> bool {
        self.0 & what.0 != 0
    }

    pub(super) fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub(super) fn nothing(self) -> bool {
        self.0 == 0
    }
}

/// Words of visible text, in lower case, and their labels.
const SHOWN: [(FieldLabel, &str); 9] = [
    (FieldLabel::LAST, "最后|最後|最新|最終|末次|last|latest|recent|最近|活动|activity|回复于|回复时间|更新"),
    (FieldLabel::CREATED, "创建|发布|发起|started|created|opened|posted|发表|發表|作成|投稿日"),
    (FieldLabel::REPLIES, "回复|回覆|回帖|回应|回應|返信|replies|reply|answers|评论|comments|跟帖|レス|コメント"),
    (FieldLabel::VIEWS, "查看|浏览|瀏覽|阅读|閱讀|点击|點擊|人气|人氣|閲覧|表示数|views|view|reads|hits|访问"),
    (FieldLabel::POSTS, "posts|帖子|messages|投稿数|帖数|文章数"),
    (
        FieldLabel::AUTHOR,
        "作者|楼主|樓主|发帖人|发布者|author|posted by|started by|starter|投稿者|作成者|发起人|著者|by ",
    ),
    (
        FieldLabel::MEMBER,
        "注册|註冊|加入|joined|join date|registered|登録|member since|在线|在線|上次登录|最后登录|last visit|last seen|\
         生日|积分|積分|location",
    ),
    (FieldLabel::EDITED, "编辑|編輯|edited|修改|modified|編集|最后由"),
    (FieldLabel::OTHER, "赞|votes|likes|score|推荐|收藏|いいね|rating|积分|威望"),
];

/// Prefixes and suffixes of class and id words, and their labels; short ones match whole words.
const NAMES: [(FieldLabel, &str); 9] = [
    (FieldLabel::LAST, "last|latest|activity|freshness|recent"),
    (FieldLabel::CREATED, "created|started|starttime|published|create"),
    (FieldLabel::REPLIES, "repl|answer|comment|rep"),
    (FieldLabel::VIEWS, "view|hit|read|visit|click|pv"),
    (FieldLabel::POSTS, "posts|postcount"),
    (FieldLabel::AUTHOR, "author|user|poster|starter|member|username|nick|owner|profile|uid|by"),
    (FieldLabel::MEMBER, "join|regdate|birthday"),
    (FieldLabel::EDITED, "edit|modified|lastmod|pstatus"),
    (FieldLabel::OTHER, "vote|like|score|rank|credit|rating|favo"),
];

/// Words in the URL of a person's page.
const PEOPLE: &str = "user|users|member|memberlist|members|profile|profiles|space|uid|u|author|people|person|home|\
                      accounts|username|userid|uname|userinfo";

/// Splits a table into single words.
fn words(table: &[(FieldLabel, &'static str)]) -> Vec<(FieldLabel, &'static str)> {
    table.iter().flat_map(|(text, words)| words.split('|').map(|word| (*text, word))).collect()
}

/// Labels in a visible text.
pub(super) fn label_of(text: &str) -> FieldLabel {
    // A page has thousands of texts and the table a hundred words: search for all at once.
    static SEARCHER: LazyLock<(AhoCorasick, Vec<(FieldLabel, &str)>)> = LazyLock::new(|| {
        let words = words(&SHOWN);
        let searcher = AhoCorasick::builder().ascii_case_insensitive(true).build(words.iter().map(|(_, word)| word));
        (searcher.expect("few and short words"), words)
    });
    let (searcher, words) = &*SEARCHER;
    let found = searcher.find_overlapping_iter(text).map(|found| words[found.pattern().as_usize()].0);
    found.fold(FieldLabel::default(), FieldLabel::and)
}

/// Labels in the names of an element and of its ancestors up to `row`.
pub(super) fn label_by_names(tree: &Tree, node: NodeId, row: NodeId) -> FieldLabel {
    let mut text = FieldLabel::default();
    let above = std::iter::once(node).chain(tree.ancestors(node)).take_while(|&at| at != row);
    for (steps, at) in above.take(NAMED).enumerate() {
        let mut own = FieldLabel::default();
        for word in tree.words(at) {
            own = own.and(gather(|name| {
                if name.len() < 4 {
                    word == name
                } else {
                    word.starts_with(name) || name.len() > 4 && word.ends_with(name)
                }
            }));
            // Many templates write `lastpost` as one word.
            if word.starts_with("last") || word.contains("reply") {
                own = own.and(gather(|name| name.len() > 3 && word.contains(name)));
            }
        }
        // A tooltip that labels the field: "最后回复时间".
        let tip = ["title", "aria-label"].into_iter().find_map(|name| tree.attribute(at, name));
        if let Some(tip) =
            tip.filter(|tip| steps < 2 && tip.len() <= TIP && !tip.contains(|c: char| c.is_ascii_digit()))
        {
            own = own.and(label_of(tip));
        }
        match tree.attribute(at, "itemprop") {
            Some("author" | "name") => own = own.and(FieldLabel::AUTHOR),
            Some("dateCreated" | "datePublished") => own = own.and(FieldLabel::CREATED),
            Some("dateModified") => own = own.and(FieldLabel::EDITED),
            _ => {}
        }
        // A whole post can be edited and belongs to a member: only names nearby apply to the time.
        let distant = FieldLabel(own.0 & !FieldLabel::EDITED.and(FieldLabel::MEMBER).0);
        text = text.and(if steps < 3 { own } else { distant });
    }
    text
}

/// Union of the labels of the matching words.
fn gather(is: impl Fn(&str) -> bool) -> FieldLabel {
    static WORDS: LazyLock<Vec<(FieldLabel, &str)>> = LazyLock::new(|| words(&NAMES));
    WORDS.iter().filter(|(_, name)| is(name)).fold(FieldLabel::default(), |all, (text, _)| all.and(*text))
}

/// Whether a link leads to a person's page, by its URL.
pub(super) fn is_profile_link(tree: &Tree, link: NodeId) -> bool {
    tree.link(link).is_some_and(|url| {
        let address = [url.path(), url.query().unwrap_or_default()].join("?");
        words_of(&address).iter().any(|word| PEOPLE.split('|').any(|known| known == word))
    })
}

/// Links that show the first letter of another link to the same page: a placeholder for a missing picture.
pub(super) fn initials(part: &RecordPart) -> Vec<NodeId> {
    let tree = part.tree;
    let mut names: FxHashMap<&CrawlUrl, Vec<(NodeId, String)>> = FxHashMap::default();
    for node in part.nodes() {
        if let Some(url) = tree.link(node) {
            let text = tree.text(node).to_lowercase();
            if !text.is_empty() && text.len() <= 4 * NAME {
                names.entry(url).or_default().push((node, text));
            }
        }
    }
    let mut found = Vec::new();
    for links in names.into_values() {
        let Some(longest) = links.iter().map(|(_, text)| text).max_by_key(|text| text.len()) else { continue };
        let short = |text: &str| text.len() < longest.len() && text.chars().count() <= 2 && longest.starts_with(text);
        found.extend(links.iter().filter(|(_, text)| short(text)).map(|(node, _)| *node));
    }
    found.sort_unstable();
    found
}

/// Whether a link leads to another page of `thread`: its text is a page number that its URL contains and the thread's
/// does not, or the number of the first post there.
pub(super) fn is_page_of(tree: &Tree, link: NodeId, thread: &CrawlUrl) -> bool {
    let Some(url) = tree.link(link).filter(|url| url.host() == thread.host() && *url != thread) else { return false };
    let Ok(page) = tree.text(link).trim_matches(|c: char| !c.is_alphanumeric()).parse::<u64>() else { return false };
    let mut own = numbers_of(url.as_str());
    let all = own.len();
    for number in numbers_of(thread.as_str()) {
        if let Some(at) = own.iter().position(|known| *known == number) {
            own.remove(at);
        }
    }
    // A URL that shares nothing with the thread's belongs to something else.
    own.len() < all
        && own.iter().any(|&number| {
            let per_page = number.checked_div(page.saturating_sub(1)).filter(|per| per * (page - 1) == number);
            number == page || per_page.is_some_and(|per| (5..=100).contains(&per))
        })
}

fn numbers_of(address: &str) -> Vec<u64> {
    address.split(|c: char| !c.is_ascii_digit()).filter_map(|digits| digits.parse().ok()).collect()
}

/// Part of a record: one subtree, or several siblings.
pub(super) struct RecordPart<'a> {
    pub(super) tree: &'a Tree,
    pub(super) roots: &'a [NodeId],
}

impl RecordPart<'_> {
    /// The parent of several siblings, or the single root: positions are relative to it.
    pub(super) fn row(&self) -> NodeId {
        match self.roots {
            [one] => *one,
            [first, ..] => self.tree.parent(*first),
            [] => 0,
        }
    }

    pub(super) fn nodes(&self) -> impl Iterator<Item = NodeId> + '_ {
        self.roots.iter().flat_map(|&root| self.tree.subtree(root))
    }

    pub(super) fn paragraphs(&self, skip: &dyn Fn(NodeId) -> bool) -> Vec<Paragraph> {
        self.roots.iter().flat_map(|&root| self.tree.paragraphs(root, skip)).collect()
    }

    pub(super) fn place(&self, node: NodeId) -> u64 {
        self.tree.place(node, self.row())
    }
}

/// A post without its text.
pub(super) struct PostSurroundings<'a> {
    pub(super) part: &'a RecordPart<'a>,
    pub(super) body: &'a [NodeId],
}

impl PostSurroundings<'_> {
    pub(super) fn skips(&self) -> impl Fn(NodeId) -> bool + '_ {
        |node| self.body.binary_search(&node).is_ok()
    }

    /// Visible nodes of the post outside its text.
    pub(super) fn nodes(&self) -> impl Iterator<Item = NodeId> + '_ {
        let tree = self.part.tree;
        let mut end = 0;
        self.part.nodes().filter(move |&node| {
            if node >= end && (tree.is_hidden(node) || self.body.binary_search(&node).is_ok()) {
                end = tree.subtree(node).end;
            }
            node >= end
        })
    }
}

#[derive(Clone, Debug)]
pub(super) struct Time {
    pub(super) node: NodeId,
    pub(super) moment: ApproxTime,
    pub(super) label: FieldLabel,
    /// It is not the post's: a label introduces it as a time of the member or of an edit.
    pub(super) is_other: bool,
    pub(super) place: u64,
    /// Whether its line is little more than the time: a time in a sentence is part of a story.
    pub(super) plain: bool,
}

/// The times of a part, in order: exact ones from attributes first.
pub(super) fn times(part: &RecordPart, clock: TimeContext, skip: &dyn Fn(NodeId) -> bool) -> Vec<Time> {
    let tree = part.tree;
    let mut found: Vec<Time> = Vec::new();
    let mut covered: Vec<NodeId> = Vec::new();
    let mut end = 0;
    for node in part.nodes() {
        if node < end || tree.is_hidden(node) {
            continue;
        }
        if skip(node) {
            end = tree.subtree(node).end;
            continue;
        }
        let exact = ["datetime", "data-time", "data-timestamp", "title", "content"].into_iter().find_map(|name| {
            let value = tree.attribute(node, name).filter(|value| value.len() <= 80)?;
            times::of_attribute(value, clock)
        });
        if let Some(moment) = exact
            && tree.subtree(node).len() <= 12
        {
            let label = label_by_names(tree, node, part.row());
            found.push(Time {
                node,
                moment,
                label,
                is_other: names_other(label),
                place: part.place(node),
                plain: true,
            });
            covered.push(node);
            end = tree.subtree(node).end;
        }
    }
    let exact = found.len();
    let skipped = |node: NodeId| skip(node) || covered.binary_search(&node).is_ok();
    // "Joined:" may be on a line of its own above its time.
    let mut line_above = String::new();
    for paragraph in part.paragraphs(&skipped).iter().filter(|paragraph| paragraph.text.len() <= LINE) {
        let mut before = 0;
        for stated in times_in(paragraph, clock) {
            let node = paragraph.node(stated.text.start);
            let start = stated.text.start;
            let stated_label = if start == 0 { line_above.as_str() } else { &paragraph.text[before..start] };
            before = stated.text.end;
            let names = label_by_names(tree, tree.parent(node), part.row());
            let plain = stated.text.len() * 5 >= paragraph.text.len();
            let is_other = names_other(names) || introduces_other_time(stated_label, stated.moment.within);
            let (label, place) = (label_of(stated_label).and(names), part.place(node));
            found.push(Time { node, moment: stated.moment, label, is_other, place, plain });
        }
        let is_label = before == 0 && paragraph.text.len() <= 36;
        line_above = if is_label { paragraph.text.clone() } else { String::new() };
    }
    if exact > 0 {
        // Text before an exact time labels it too.
        for time in &mut found[..exact] {
            let line = tree.own_text(time.node.saturating_sub(1));
            time.label = time.label.and(label_of(line));
            time.is_other |= introduces_other_time(line, time.moment.within);
        }
    }
    found.sort_by_key(|time| time.node);
    let mut positions: Vec<(u64, u64)> = Vec::new();
    for time in &mut found {
        time.place = nth(&mut positions, time.place);
    }
    found
}

/// Whether the names of an element label its time as one of the member or of an edit.
fn names_other(names: FieldLabel) -> bool {
    names.has(FieldLabel::MEMBER.and(FieldLabel::EDITED))
}

/// The times of a paragraph. Each element is searched separately, since a page may separate two by nothing else.
fn times_in(paragraph: &Paragraph, clock: TimeContext) -> Vec<times::TimeInText> {
    let text = &paragraph.text;
    let mut found = times::all(text, clock);
    if paragraph.pieces.len() > 1 {
        let ends = paragraph.pieces.iter().skip(1).map(|(start, _)| *start).chain([text.len()]);
        for (&(start, _), end) in paragraph.pieces.iter().zip(ends) {
            for own in times::all(&text[start..end], clock) {
                let range = start + own.text.start..start + own.text.end;
                if !found.iter().any(|time| time.text.start < range.end && range.start < time.text.end) {
                    found.push(times::TimeInText { moment: own.moment, text: range });
                }
            }
        }
        found.sort_by_key(|time| time.text.start);
    }
    found
}

/// A position and an index in it: two lines of one cell have the same position.
fn nth(positions: &mut Vec<(u64, u64)>, position: u64) -> u64 {
    let order = entry(positions, position).map_or(0, |count| {
        *count += 1;
        *count - 1
    });
    position.wrapping_add(order)
}

#[derive(Clone, Debug)]
pub(super) struct Number {
    pub(super) node: NodeId,
    pub(super) value: u32,
    /// Labels from nearby words.
    pub(super) label: FieldLabel,
    /// Whether its line consists of numbers only.
    pub(super) alone: bool,
    /// Its position, and its index there.
    pub(super) place: u64,
}

/// The numbers of a part outside times, in order.
pub(super) fn numbers(part: &RecordPart, clock: TimeContext, skip: &dyn Fn(NodeId) -> bool) -> Vec<Number> {
    let mut found = Vec::new();
    let mut positions = Vec::new();
    for paragraph in part.paragraphs(skip).iter().filter(|paragraph| paragraph.text.len() <= LINE) {
        let text = &paragraph.text;
        let times = times_in(paragraph, clock);
        let mut spans = Vec::new();
        let ends = paragraph.pieces.iter().skip(1).map(|(start, _)| *start).chain([text.len()]);
        for (&(start, node), end) in paragraph.pieces.iter().zip(ends) {
            for (at, length, value) in counts(&text[start..end]) {
                let (from, to) = (start + at, start + at + length);
                if !times.iter().any(|time| time.text.start < to && from < time.text.end) {
                    spans.push((from, to, node, value));
                }
            }
        }
        let first = spans.first().map_or(0, |span| span.0);
        let label_before =
            label_of(&text[..first]).has(FieldLabel::REPLIES.and(FieldLabel::VIEWS).and(FieldLabel::POSTS));
        let alone = !text.chars().any(|c| c.is_alphabetic() && !matches!(c, 'k' | 'K' | 'w' | 'm' | 'M' | '万' | '千'));
        for (index, &(from, to, node, value)) in spans.iter().enumerate() {
            let before = if index == 0 { 0 } else { spans[index - 1].1 };
            let after = spans.get(index + 1).map_or(text.len(), |next| next.0);
            let label = label_of(if label_before { &text[before..from] } else { &text[to..after] });
            found.push(Number { node, value, label, alone, place: nth(&mut positions, part.place(node)) });
        }
    }
    found
}

/// Counts in a text: start, length, value. "1,234", "1.2k", "3万".
fn counts(text: &str) -> Vec<(usize, usize, u32)> {
    let mut found = Vec::new();
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        if !bytes[at].is_ascii_digit() {
            at += 1;
            continue;
        }
        let start = at;
        while at < bytes.len()
            && (bytes[at].is_ascii_digit()
                || matches!(bytes[at], b',' | b'.') && bytes.get(at + 1).is_some_and(u8::is_ascii_digit))
        {
            at += 1;
        }
        let digits: String = text[start..at].chars().filter(|c| *c != ',').collect();
        let rest = text[at..].trim_start();
        let (scale, unit) = match rest.chars().next() {
            Some(c @ ('k' | 'K' | '千')) => (1e3, c.len_utf8()),
            Some(c @ ('w' | 'W' | '万')) => (1e4, c.len_utf8()),
            Some(c @ ('m' | 'M')) => (1e6, c.len_utf8()),
            _ => (1.0, 0),
        };
        let word = rest[unit..].starts_with(|c: char| c.is_ascii_alphanumeric());
        let scale = if word && unit == 1 { 1.0 } else { scale };
        if scale > 1.0 {
            at = text.len() - rest.len() + unit;
        }
        let before = text[..start].chars().next_back();
        let is_word = before.is_some_and(|c| c.is_ascii_alphabetic() || matches!(c, '.' | '_' | '-'));
        if let Ok(number) = digits.parse::<f64>()
            && !is_word
            && (scale > 1.0 || !digits.contains('.'))
            && number * scale < 4e9
        {
            found.push((start, at - start, (number * scale).round() as u32));
        }
    }
    found
}

/// A person's name, if the text can be one.
pub(super) fn name(text: &str, clock: TimeContext) -> Option<String> {
    let text = text
        .trim()
        .trim_matches(|c: char| matches!(c, ':' | '：' | '|' | '·' | ',' | '(' | ')' | '—' | '-' | '–' | '@'))
        .trim();
    let count = text.chars().count();
    let fits = (1..=NAME).contains(&count) && text.chars().any(char::is_alphanumeric);
    (fits && times::all(text, clock).is_empty()).then(|| text.to_owned())
}

/// The most frequent value; the first of equally frequent ones.
pub(super) fn mode<T: Copy + PartialEq>(values: impl Iterator<Item = T>) -> Option<T> {
    let mut counts: Vec<(T, usize)> = Vec::new();
    for value in values {
        if let Some(count) = entry(&mut counts, value) {
            *count += 1;
        }
    }
    let most = counts.iter().map(|(_, count)| *count).max()?;
    counts.into_iter().find(|(_, count)| *count == most).map(|(value, _)| value)
}

/// The entry of `key`, created on first use. Stores at most 128 keys per page, which bounds the cost of hostile pages.
pub(super) fn entry<K: PartialEq, V: Default>(notes: &mut Vec<(K, V)>, key: K) -> Option<&mut V> {
    let at = notes.iter().position(|(known, _)| *known == key);
    let full = notes.len() >= 128;
    if at.is_none() && !full {
        notes.push((key, V::default()));
    }
    match at {
        Some(at) => notes.get_mut(at),
        None if full => None,
        None => notes.last_mut(),
    }
    .map(|(_, value)| value)
}
