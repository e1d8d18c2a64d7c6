//! The threads that a page lists, each with what its line says of it.
//!
//! No template is known: the line is the largest part of the page that holds no other thread's title (`rows.rs`); its
//! numbers, people and times are told by the words beside them, by the names of their elements, by the head of their
//! column, and, where all that is silent, by what the same place holds in the other lines: threads are looked at more
//! often than replied to, and a last reply is later than the post it replies to. A single time in a line that nothing
//! names is taken for the last reply: most forums sort by it.

use rustc_hash::{FxHashMap, FxHashSet};

use super::declared::{complete_threads, items};
use super::fields::{
    Number, Part, Said, Time, entry, initials, is_page_of, is_person, mode, name, numbers, said_by, said_by_names,
    times,
};
use super::region::ranges;
use super::rows::rows;
use super::sticky::sticky;
use super::times::all;
use super::tree::{NodeId, Tree};
use suidao_page::model::{Clock, CrawlUrl, ThreadRecord};

/// Threads of one list.
const RECORDS: usize = 2_000;

/// A thread's line before its fields are read.
pub(super) struct Line<'a> {
    url: &'a CrawlUrl,
    pub(super) title: NodeId,
    pub(super) roots: Vec<NodeId>,
    /// Of the kind that makes the list; others are stickies or of other boxes.
    main: bool,
}

/// The threads listed on a page, in order; `is_thread` tells the addresses of threads. `clock`: see [`Clock`].
pub fn records(tree: &Tree, is_thread: &dyn Fn(&CrawlUrl) -> bool, clock: Clock) -> Vec<ThreadRecord> {
    let lines = lines(tree, is_thread, clock);
    let heads = Heads::of(tree, lines.first());
    let fields: Vec<Fields> = lines.iter().map(|line| Fields::of(tree, line, &heads, is_thread, clock)).collect();
    let counts = Counts::of(&fields);
    let moments = Moments::of(&fields);
    let author = author_place(&fields);
    let marked = sticky(tree, &lines);
    let mut found: Vec<ThreadRecord> = Vec::with_capacity(lines.len());
    for ((line, fields), sticky) in lines.iter().zip(&fields).zip(marked) {
        let (created, last_reply) = moments.read(fields);
        let (replies, views) = counts.read(fields);
        found.push(ThreadRecord {
            url: line.url.clone(),
            title: title(tree, line.title),
            author: fields.author(author),
            replies,
            views,
            created,
            last_reply,
            sticky,
        });
    }
    // A box beside the list names threads too, with less to say of each.
    let parents: FxHashSet<NodeId> =
        lines.iter().filter(|line| line.main).map(|line| tree.parent(line.roots[0])).collect();
    let kind = mode(lines.iter().filter(|line| line.main).map(|line| tree.name(line.roots[0])));
    let mut kept = Vec::with_capacity(found.len());
    for (line, record) in lines.iter().zip(found) {
        let says = record.replies.is_some() || record.last_reply.is_some();
        if line.main || parents.contains(&tree.parent(line.roots[0])) || says && kind == Some(tree.name(line.roots[0]))
        {
            kept.push(record);
        }
    }
    if of_thread(tree, &lines, &kept, clock) {
        return Vec::new();
    }
    complete_threads(kept, items(tree, clock), tree.base(), is_thread)
}

/// Whether the page is a thread's, which links threads beside its posts or within them. Nothing is said of those beside, or
/// their lines hold the smaller part of the page's text; those within have posts around them.
fn of_thread(tree: &Tree, lines: &[Line], records: &[ThreadRecord], clock: Clock) -> bool {
    /// Lines that are a list without a second look.
    const MANY: usize = 4;
    let says = |record: &ThreadRecord| record.replies.is_some() || record.last_reply.is_some();
    let length = |node: NodeId| tree.subtree(node).map(|part| tree.own_text(part).len()).sum::<usize>();
    let own: usize = lines.iter().flat_map(|line| &line.roots).map(|&root| length(root)).sum();
    let beside = !records.iter().any(says) || own * 2 < length(0);
    let titles: FxHashSet<&str> = records.iter().map(|record| record.title.trim_start_matches("Re: ")).collect();
    let people = lines.iter().filter(|line| is_person(tree, line.title)).count();
    if !beside && titles.len() > MANY && titles.len() * 10 >= records.len() * 8 && people * 2 < lines.len() {
        return false;
    }
    let posts = ranges(tree, clock);
    let own = |line: &&Line| line.url == tree.base() || is_person(tree, line.title);
    let within = lines.iter().filter(|line| own(line) || posts.iter().any(|post| post.contains(&line.title))).count();
    !posts.is_empty() && (beside || within * 2 >= lines.len())
}

/// A link that can be a title: where it leads and how many characters it shows.
type Named<'a> = (NodeId, &'a CrawlUrl, usize);

/// The title links of a page with their lines.
fn lines<'a>(tree: &'a Tree, is_thread: &dyn Fn(&CrawlUrl) -> bool, clock: Clock) -> Vec<Line<'a>> {
    // Links that can be titles, by their place in the template.
    let mut groups: Vec<(u64, Vec<Named>)> = Vec::new();
    let mut known: FxHashMap<u64, usize> = FxHashMap::default();
    for node in 0..tree.len() {
        let Some(url) = tree.link(node).filter(|url| !tree.is_hidden(node) && is_thread(url)) else { continue };
        let text = tree.text(node);
        if !can_be_title(&text, clock) {
            continue;
        }
        let path = tree.path(node);
        let at = *known.entry(path).or_insert_with(|| {
            groups.push((path, Vec::new()));
            groups.len() - 1
        });
        groups[at].1.push((node, url, text.chars().count()));
    }
    // "Go to the first unread post", again and again.
    groups.retain(|(_, links)| {
        let texts: FxHashSet<String> = links.iter().map(|&(node, ..)| tree.text(node)).collect();
        links.len() < 3 || texts.len() * 2 > links.len()
    });
    let best = groups
        .iter()
        .map(|(_, links)| weight(tree, links, clock))
        .enumerate()
        .max_by_key(|&(at, weight)| (weight, usize::MAX - at));
    let Some((main, _)) = best else { return Vec::new() };
    let mut titles: FxHashMap<&CrawlUrl, (NodeId, usize)> = FxHashMap::default();
    for &(node, url, length) in &groups[main].1 {
        let own = titles.entry(url).or_insert((node, length));
        if length > own.1 {
            *own = (node, length);
        }
    }
    let mut anchors: Vec<(NodeId, &CrawlUrl)> = titles.iter().map(|(url, &(node, _))| (node, *url)).collect();
    anchors.sort_unstable_by_key(|&(node, _)| node);
    let nodes: Vec<NodeId> = anchors.iter().map(|&(node, _)| node).collect();
    let mut covered: Vec<(NodeId, NodeId)> = line_rows(tree, &nodes, clock)
        .iter()
        .flatten()
        .map(|&root| (tree.subtree(root).start, tree.subtree(root).end))
        .collect();
    covered.sort_unstable();
    // What stands elsewhere in the template: stickies, other boxes.
    let inside = |node: NodeId| {
        let after = covered.partition_point(|&(start, _)| start <= node);
        after > 0 && node < covered[after - 1].1
    };
    let mut others: FxHashMap<&CrawlUrl, (NodeId, usize)> = FxHashMap::default();
    for &(node, url, length) in
        groups.iter().enumerate().filter(|(at, _)| *at != main).flat_map(|(_, (_, links))| links)
    {
        if titles.contains_key(url) || inside(node) {
            continue;
        }
        let own = others.entry(url).or_insert((node, length));
        if length > own.1 {
            *own = (node, length);
        }
    }
    anchors.extend(others.iter().map(|(url, &(node, _))| (node, *url)));
    anchors.sort_unstable_by_key(|&(node, _)| node);
    anchors.truncate(RECORDS);
    let nodes: Vec<NodeId> = anchors.iter().map(|&(node, _)| node).collect();
    let lines = anchors.into_iter().zip(line_rows(tree, &nodes, clock));
    lines.map(|((title, url), roots)| Line { url, title, roots, main: titles.contains_key(url) }).collect()
}

/// Whether a link's text can be a thread's title: not a page's number, an arrow or a time.
fn can_be_title(text: &str, clock: Clock) -> bool {
    const TURNS: [&str; 18] = [
        "末页",
        "尾页",
        "首页",
        "最后一页",
        "下一页",
        "上一页",
        "最后",
        "last",
        "next",
        "prev",
        "previous",
        "first",
        "new",
        "last page",
        "最後",
        "次へ",
        "前へ",
        "go",
    ];
    let bare = text.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
    let letters = bare.chars().any(char::is_alphabetic);
    let timed: usize = all(text, clock).iter().map(|time| time.text.len()).sum();
    letters && !TURNS.contains(&bare.as_str()) && timed * 2 <= text.len()
}

/// How much a group of links looks like the titles of a list: lines that say something count most.
fn weight(tree: &Tree, links: &[(NodeId, &CrawlUrl, usize)], clock: Clock) -> usize {
    let mut seen = FxHashSet::default();
    let nodes: Vec<NodeId> = links.iter().filter(|(_, url, _)| seen.insert(*url)).map(|&(node, ..)| node).collect();
    let says = |roots: &Vec<NodeId>| {
        let part = Part { tree, roots };
        part.nodes().count() < 2_000
            && (!times(&part, clock, &|_| false).is_empty()
                || numbers(&part, clock, &|_| false).iter().any(|number| number.alone))
    };
    let speaking = line_rows(tree, &nodes, clock).iter().filter(|roots| says(roots)).count();
    speaking * 4 + nodes.len()
}

/// The lines around titles; of a single one there is nothing to tell it from but the elements that lists are made of.
fn line_rows(tree: &Tree, titles: &[NodeId], clock: Clock) -> Vec<Vec<NodeId>> {
    let [title] = titles else { return rows(tree, titles) };
    let up = || tree.ancestors(*title).take(8);
    let row = up()
        .find(|&at| matches!(tree.name(at), "tr" | "li" | "article" | "dl"))
        .or_else(|| up().find(|&at| !times(&Part { tree, roots: &[at] }, clock, &|_| false).is_empty()));
    vec![vec![row.unwrap_or_else(|| tree.parent(*title))]]
}

fn title(tree: &Tree, link: NodeId) -> String {
    let text = tree.text(link);
    let cut = text.trim_end_matches("...").trim_end_matches('…').trim_end();
    // A title that was cut short is whole in its tip.
    match tree.attribute(link, "title") {
        Some(tip) if cut.len() < text.len() && tip.starts_with(cut) => {
            tip.split_whitespace().collect::<Vec<_>>().join(" ")
        }
        _ => text,
    }
}

/// What the heads of the columns say, by the column's number.
struct Heads(Vec<(usize, String)>);

impl Heads {
    /// Looks for the row of heads before the first line, in its table or in one of its own.
    fn of(tree: &Tree, first: Option<&Line>) -> Self {
        let Some(line) = first else { return Self(Vec::new()) };
        let is_row = |&at: &NodeId| tree.name(at) == "tr";
        let own = std::iter::once(line.title).chain(tree.ancestors(line.title)).find(is_row);
        let Some(own) = own else { return Self(Vec::new()) };
        let cells = |row: NodeId| -> Vec<(usize, String)> {
            let cells = tree.children(row).filter(|&cell| matches!(tree.name(cell), "td" | "th"));
            cells.map(|cell| (tree.cell(cell), tree.text(cell).to_lowercase())).collect()
        };
        let widest = cells(own).last().map_or(0, |(at, _)| *at);
        for row in (0..own).rev().filter(is_row).take(12) {
            let heads = cells(row);
            let speaking = heads.iter().filter(|(_, text)| text.len() <= 90 && !said_by(text).nothing()).count();
            if speaking >= 2 && heads.last().is_some_and(|(at, _)| *at == widest) {
                return Self(heads);
            }
        }
        Self(Vec::new())
    }

    fn text(&self, tree: &Tree, node: NodeId, row: NodeId) -> &str {
        let cell =
            tree.ancestors(node).take_while(|&at| at != row).filter(|&at| matches!(tree.name(at), "td" | "th")).last();
        let head = cell.and_then(|cell| self.0.iter().find(|(at, _)| *at == tree.cell(cell)));
        head.map_or("", |(_, text)| text)
    }
}

struct Person {
    name: String,
    place: u64,
    said: Said,
    /// What its address says, or that it has a line of its own.
    likely: bool,
}

/// The parts of a line that can be fields.
struct Fields {
    times: Vec<Time>,
    numbers: Vec<Number>,
    people: Vec<Person>,
    /// A name without a link, where the words around call it the author's.
    plain: Option<String>,
}

impl Fields {
    fn of(tree: &Tree, line: &Line, heads: &Heads, is_thread: &dyn Fn(&CrawlUrl) -> bool, clock: Clock) -> Self {
        let part = Part { tree, roots: &line.roots };
        let row = part.row();
        // The title, and the pages of the thread.
        let skip = |node: NodeId| {
            node == line.title
                || is_page_of(tree, node, line.url)
                || tree.link(node).is_some_and(|url| {
                    url != line.url && is_thread(url) && !tree.text(node).contains(char::is_alphabetic)
                })
        };
        let title = |node: NodeId| node == line.title;
        let mut own_times = times(&part, clock, &title);
        for time in &mut own_times {
            time.said = time.said.and(said_by(heads.text(tree, time.node, row)));
        }
        let in_name = |node: NodeId| skip(node) || tree.link(node).is_some() && is_person(tree, node);
        let mut own_numbers = numbers(&part, clock, &in_name);
        let mut order: FxHashMap<NodeId, usize> = FxHashMap::default();
        for number in &mut own_numbers {
            if number.shown.has(Said::REPLIES) != number.shown.has(Said::VIEWS) {
                continue;
            }
            let names = said_by_names(tree, tree.parent(number.node), row);
            let head = heads.text(tree, number.node, row);
            let both = said_by(head);
            number.shown = if names.has(Said::REPLIES) != names.has(Said::VIEWS) {
                names
            } else if both.has(Said::REPLIES) && both.has(Said::VIEWS) {
                // "回复/查看" over "12/345".
                let cell = tree.ancestors(number.node).find(|&at| matches!(tree.name(at), "td" | "th")).unwrap_or(0);
                let at = order.entry(cell).or_default();
                *at += 1;
                let mut halves = head.split(['/', '|', '·', ' ']).filter(|half| !half.is_empty());
                halves.nth(*at - 1).map_or(Said::default(), said_by)
            } else {
                number.shown.and(names).and(both)
            };
        }
        let initials = initials(&part);
        let mut people = Vec::new();
        let mut plain = None;
        for paragraph in part.paragraphs(&title) {
            let mut last = usize::MAX;
            for &(start, node) in &paragraph.pieces {
                let link =
                    std::iter::once(node).chain(tree.ancestors(node)).take(4).find(|&at| tree.link(at).is_some());
                let Some(link) = link.filter(|&link| link != last && initials.binary_search(&link).is_err()) else {
                    continue;
                };
                last = link;
                if tree.link(link).is_some_and(is_thread) {
                    continue;
                }
                let text = tree.text(link);
                let Some(own) =
                    name(&text, clock).filter(|own| own.chars().any(|c| !c.is_ascii_digit()) || is_person(tree, link))
                else {
                    continue;
                };
                let said = said_by(&paragraph.text[..start])
                    .and(said_by_names(tree, link, row))
                    .and(said_by(heads.text(tree, link, row)));
                let alone = paragraph.text.trim() == text;
                let likely = is_person(tree, link) || said.has(Said::AUTHOR) && !said.has(Said::VIEWS);
                people.push(Person {
                    name: own,
                    place: part.place(tree.parent(link)),
                    said,
                    likely: likely || alone && said.has(Said::AUTHOR),
                });
            }
            if plain.is_none() && paragraph.text.len() <= 120 {
                plain = plain_author(tree, &paragraph.text, paragraph.node(0), row, heads, line.title, clock);
            }
        }
        Self { times: own_times, numbers: own_numbers, people, plain }
    }

    fn author(&self, place: Option<u64>) -> Option<String> {
        let linked = self
            .people
            .iter()
            .find(|person| person.likely && Some(person.place) == place)
            .map(|person| person.name.clone());
        linked.or_else(|| self.plain.clone())
    }
}

/// "作者: 张三", "by ann", a cell below "作者", an element called `author`.
fn plain_author(
    tree: &Tree,
    text: &str,
    node: NodeId,
    row: NodeId,
    heads: &Heads,
    title: NodeId,
    clock: Clock,
) -> Option<String> {
    let names = said_by_names(tree, tree.parent(node), row);
    let head = said_by(heads.text(tree, node, row));
    let lower = text.to_lowercase();
    let labels = ["作者", "楼主", "发帖人", "投稿者", "posted by", "started by", "by ", "author"];
    let label = labels.iter().find(|label| lower.starts_with(**label)).filter(|_| lower.len() == text.len());
    let above = |node: NodeId| tree.ancestors(node).find(|&at| matches!(tree.name(at), "td" | "th"));
    let called = names.has(Said::AUTHOR) && !names.has(Said::LAST)
        || head.has(Said::AUTHOR) && (above(node) != above(title) || !text.contains([':', '：']));
    if label.is_none() && !called || said_by(&lower).and(names).and(head).has(Said::LAST) {
        return None;
    }
    let text = label.map_or(text, |label| &text[label.len()..]);
    let end = all(text, clock).first().map_or(text.len(), |time| time.text.start);
    let own = text[..end]
        .split(" - ")
        .next()
        .unwrap_or_default()
        .split(['|', '·', ',', '，', '»', '•'])
        .next()
        .unwrap_or_default();
    name(own, clock).filter(|own| own.chars().any(char::is_alphabetic))
}

/// The place of the thread's author in a line: where most lines have a person who did not reply last.
fn author_place(fields: &[Fields]) -> Option<u64> {
    // For each place: how many are there, and after how many others the first of them.
    let mut places: Vec<(u64, (usize, usize))> = Vec::new();
    for own in fields {
        for (order, person) in own.people.iter().enumerate() {
            if person.likely
                && !person.said.has(Said::LAST)
                && let Some((count, first)) = entry(&mut places, person.place)
            {
                *first = if *count == 0 { order } else { *first };
                *count += 1;
            }
        }
    }
    let most = places.iter().map(|(_, (count, _))| *count).max()?;
    let common = places.into_iter().filter(|(_, (count, _))| *count * 3 >= most * 2);
    common.min_by_key(|(_, (_, first))| *first).map(|(place, _)| place)
}

/// Which numbers of a line are replies and which are views.
struct Counts {
    replies: Option<u64>,
    /// The count is of posts, the first among them.
    with_first: bool,
    views: Option<u64>,
}

impl Counts {
    fn of(fields: &[Fields]) -> Self {
        // For each place: what is said of it, how many are there, how many not alone in their line.
        let mut places: Vec<(u64, (Said, usize, usize))> = Vec::new();
        for number in fields.iter().flat_map(|own| &own.numbers) {
            if let Some((said, count, beside)) = entry(&mut places, number.place) {
                *said = said.and(number.shown);
                *count += 1;
                *beside += usize::from(!number.alone);
            }
        }
        let called = |what: Said, not: Said| {
            let named = places.iter().filter(|(_, (said, ..))| said.has(what) && !said.has(not));
            named.max_by_key(|(_, (_, count, _))| *count).map(|(place, ..)| *place)
        };
        let mut views = called(Said::VIEWS, Said::REPLIES);
        let mut replies = called(Said::REPLIES, Said::VIEWS);
        let mut with_first = false;
        if replies.is_none() {
            replies = called(Said::POSTS, Said::VIEWS.and(Said::AUTHOR));
            let counts = || fields.iter().filter_map(|own| own.number(replies));
            with_first = replies.is_some() && counts().all(|count| count > 0);
        }
        let speaking = fields.iter().filter(|own| !own.numbers.is_empty()).count();
        let silent = places.iter().filter(|(place, (said, count, beside))| {
            let other = said.has(Said::LAST) || said.has(Said::OTHER) || said.has(Said::MEMBER);
            *beside == 0 && !other && *count * 2 >= speaking && Some(*place) != views && Some(*place) != replies
        });
        let mut silent = silent.map(|(place, ..)| *place);
        let more = |views: Option<u64>, replies: Option<u64>| {
            let pairs = fields.iter().filter_map(|own| Some((own.number(views)?, own.number(replies)?)));
            let (all, good) =
                pairs.fold((0, 0), |(all, good), (views, replies)| (all + 1, good + usize::from(views >= replies)));
            good * 10 >= all * 9
        };
        match (replies, views) {
            (None, None) => {
                (replies, views) = (silent.next(), silent.next());
                if views.is_some() && !more(views, replies) && more(replies, views) {
                    (replies, views) = (views, replies);
                }
            }
            (None, Some(_)) => replies = silent.find(|&place| more(views, Some(place))),
            (Some(_), None) => views = silent.find(|&place| more(Some(place), replies)),
            _ => {}
        }
        Self { replies, with_first, views }
    }

    fn read(&self, fields: &Fields) -> (Option<u32>, Option<u32>) {
        let replies =
            fields.number(self.replies).map(|count| if self.with_first { count.saturating_sub(1) } else { count });
        (replies, fields.number(self.views))
    }
}

impl Fields {
    fn number(&self, place: Option<u64>) -> Option<u32> {
        self.numbers.iter().find(|number| Some(number.place) == place).map(|number| number.value)
    }
}

/// Which times of a line are of the thread's beginning and which of its last reply, by their places.
struct Moments {
    created: FxHashSet<u64>,
    last: FxHashSet<u64>,
}

impl Moments {
    fn of(fields: &[Fields]) -> Self {
        // For each place: lines where it is called or proves the beginning, and the last reply.
        let mut votes: FxHashMap<u64, (i32, i32)> = FxHashMap::default();
        for own in fields {
            for time in &own.times {
                let vote = votes.entry(time.place).or_default();
                if time.said.has(Said::LAST) {
                    vote.1 += 4;
                } else if time.said.has(Said::CREATED) {
                    vote.0 += 4;
                }
            }
            let latest = own.times.iter().max_by_key(|time| time.moment.at);
            let earliest = own.times.iter().min_by_key(|time| time.moment.at);
            if let (Some(first), Some(last)) = (earliest, latest)
                && !first.moment.agrees(last.moment, 60)
            {
                votes.entry(first.place).or_default().0 += 2;
                votes.entry(last.place).or_default().1 += 2;
            }
        }
        let created = votes.iter().filter(|(_, (created, last))| created > last).map(|(place, _)| *place).collect();
        let last = votes.iter().filter(|(_, (created, last))| last > created).map(|(place, _)| *place).collect();
        Self { created, last }
    }

    fn read(&self, fields: &Fields) -> (Option<suidao_page::model::Moment>, Option<suidao_page::model::Moment>) {
        let find = |places: &FxHashSet<u64>| {
            fields.times.iter().find(|time| places.contains(&time.place)).map(|time| time.moment)
        };
        let (created, last) = (find(&self.created), find(&self.last));
        match (created, last, fields.times.as_slice()) {
            (None, None, [only]) => (None, Some(only.moment)),
            (None, None, [one, other, ..]) => {
                let (first, last) = if one.moment.at <= other.moment.at { (one, other) } else { (other, one) };
                (Some(first.moment), Some(last.moment))
            }
            found => (found.0, found.1),
        }
    }
}
