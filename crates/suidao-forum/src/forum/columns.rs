//! Fields of the lines of a thread list: which number is replies or views, which time is the first post or the last
//! reply, who is the author.
//!
//! Evidence is, in order: words nearby, names of elements, column headings, and the values in the same position of the
//! other lines: threads have more views than replies, and a last reply is later than the first post. A single unnamed
//! time is the last reply, because most forums sort by it.

use rustc_hash::{FxHashMap, FxHashSet};

use super::fields::{
    FieldLabel, Number, RecordPart, Time, entry, initials, is_page_of, is_profile_link, label_by_names, label_of, name,
    numbers, times,
};
use super::times::all;
use super::titles::ThreadLine;
use super::tree::{NodeId, Tree};
use suidao_page::model::{ApproxTime, CrawlUrl, TimeContext};

/// Column headings, by column number.
pub(super) struct ColumnHeadings(Vec<(usize, String)>);

impl ColumnHeadings {
    /// Finds the row of headings before the first line, in its table or in a separate one.
    pub(super) fn of(tree: &Tree, first: Option<&ThreadLine>) -> Self {
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
            let headings = cells(row);
            let labelled = headings.iter().filter(|(_, text)| text.len() <= 90 && !label_of(text).nothing()).count();
            if labelled >= 2 && headings.last().is_some_and(|(at, _)| *at == widest) {
                return Self(headings);
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
    label: FieldLabel,
    /// Its address is that of a person's page, or it has a line of its own.
    likely: bool,
}

/// Candidate fields of a line.
pub(super) struct LineFields {
    times: Vec<Time>,
    numbers: Vec<Number>,
    people: Vec<Person>,
    /// A name without a link, labelled as the author.
    plain: Option<String>,
}

impl LineFields {
    pub(super) fn of(
        tree: &Tree,
        line: &ThreadLine,
        headings: &ColumnHeadings,
        is_thread: &dyn Fn(&CrawlUrl) -> bool,
        clock: TimeContext,
    ) -> Self {
        let part = RecordPart { tree, roots: &line.roots };
        let row = part.row();
        // Skip the title, and the page numbers of the thread.
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
            time.label = time.label.and(label_of(headings.text(tree, time.node, row)));
        }
        let in_name = |node: NodeId| skip(node) || tree.link(node).is_some() && is_profile_link(tree, node);
        let mut own_numbers = numbers(&part, clock, &in_name);
        let mut order: FxHashMap<NodeId, usize> = FxHashMap::default();
        for number in &mut own_numbers {
            if number.label.has(FieldLabel::REPLIES) != number.label.has(FieldLabel::VIEWS) {
                continue;
            }
            let names = label_by_names(tree, tree.parent(number.node), row);
            let head = headings.text(tree, number.node, row);
            let both = label_of(head);
            number.label = if names.has(FieldLabel::REPLIES) != names.has(FieldLabel::VIEWS) {
                names
            } else if both.has(FieldLabel::REPLIES) && both.has(FieldLabel::VIEWS) {
                // "回复/查看" over "12/345".
                let cell = tree.ancestors(number.node).find(|&at| matches!(tree.name(at), "td" | "th")).unwrap_or(0);
                let at = order.entry(cell).or_default();
                *at += 1;
                let mut halves = head.split(['/', '|', '·', ' ']).filter(|half| !half.is_empty());
                halves.nth(*at - 1).map_or(FieldLabel::default(), label_of)
            } else {
                number.label.and(names).and(both)
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
                let Some(own) = name(&text, clock)
                    .filter(|own| own.chars().any(|c| !c.is_ascii_digit()) || is_profile_link(tree, link))
                else {
                    continue;
                };
                let label = label_of(&paragraph.text[..start])
                    .and(label_by_names(tree, link, row))
                    .and(label_of(headings.text(tree, link, row)));
                let alone = paragraph.text.trim() == text;
                let likely =
                    is_profile_link(tree, link) || label.has(FieldLabel::AUTHOR) && !label.has(FieldLabel::VIEWS);
                people.push(Person {
                    name: own,
                    place: part.place(tree.parent(link)),
                    label,
                    likely: likely || alone && label.has(FieldLabel::AUTHOR),
                });
            }
            if plain.is_none() && paragraph.text.len() <= 120 {
                plain = plain_author(tree, &paragraph.text, paragraph.node(0), row, headings, line.title, clock);
            }
        }
        Self { times: own_times, numbers: own_numbers, people, plain }
    }

    pub(super) fn author(&self, place: Option<u64>) -> Option<String> {
        let linked = self
            .people
            .iter()
            .find(|person| person.likely && Some(person.place) == place)
            .map(|person| person.name.clone());
        linked.or_else(|| self.plain.clone())
    }
}

/// "作者: 张三", "by ann", a cell under "作者", an element named `author`.
fn plain_author(
    tree: &Tree,
    text: &str,
    node: NodeId,
    row: NodeId,
    headings: &ColumnHeadings,
    title: NodeId,
    clock: TimeContext,
) -> Option<String> {
    let names = label_by_names(tree, tree.parent(node), row);
    let head = label_of(headings.text(tree, node, row));
    let lower = text.to_lowercase();
    let labels = ["作者", "楼主", "发帖人", "投稿者", "posted by", "started by", "by ", "author"];
    let label = labels.iter().find(|label| lower.starts_with(**label)).filter(|_| lower.len() == text.len());
    let above = |node: NodeId| tree.ancestors(node).find(|&at| matches!(tree.name(at), "td" | "th"));
    let called = names.has(FieldLabel::AUTHOR) && !names.has(FieldLabel::LAST)
        || head.has(FieldLabel::AUTHOR) && (above(node) != above(title) || !text.contains([':', '：']));
    if label.is_none() && !called || label_of(&lower).and(names).and(head).has(FieldLabel::LAST) {
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

/// Position of the thread's author in a line: where most lines have a person who is not the last poster.
pub(super) fn author_place(fields: &[LineFields]) -> Option<u64> {
    // Per position: how often it occurs, and its rank in the first line that has it.
    let mut positions: Vec<(u64, (usize, usize))> = Vec::new();
    for own in fields {
        for (order, person) in own.people.iter().enumerate() {
            if person.likely
                && !person.label.has(FieldLabel::LAST)
                && let Some((count, first)) = entry(&mut positions, person.place)
            {
                *first = if *count == 0 { order } else { *first };
                *count += 1;
            }
        }
    }
    let most = positions.iter().map(|(_, (count, _))| *count).max()?;
    let common = positions.into_iter().filter(|(_, (count, _))| *count * 3 >= most * 2);
    common.min_by_key(|(_, (_, first))| *first).map(|(place, _)| place)
}

/// Which numbers of a line are replies and which are views.
pub(super) struct LineCounts {
    replies: Option<u64>,
    /// The count includes the first post.
    with_first: bool,
    views: Option<u64>,
}

impl LineCounts {
    pub(super) fn of(fields: &[LineFields]) -> Self {
        // Per position: its labels, how often it occurs, how often not alone in its line.
        let mut positions: Vec<(u64, (FieldLabel, usize, usize))> = Vec::new();
        for number in fields.iter().flat_map(|own| &own.numbers) {
            if let Some((text, count, in_text)) = entry(&mut positions, number.place) {
                *text = text.and(number.label);
                *count += 1;
                *in_text += usize::from(!number.alone);
            }
        }
        let called = |what: FieldLabel, not: FieldLabel| {
            let named = positions.iter().filter(|(_, (text, ..))| text.has(what) && !text.has(not));
            named.max_by_key(|(_, (_, count, _))| *count).map(|(place, ..)| *place)
        };
        let mut views = called(FieldLabel::VIEWS, FieldLabel::REPLIES);
        let mut replies = called(FieldLabel::REPLIES, FieldLabel::VIEWS);
        let mut with_first = false;
        if replies.is_none() {
            replies = called(FieldLabel::POSTS, FieldLabel::VIEWS.and(FieldLabel::AUTHOR));
            let counts = || fields.iter().filter_map(|own| own.number(replies));
            with_first = replies.is_some() && counts().all(|count| count > 0);
        }
        let labelled = fields.iter().filter(|own| !own.numbers.is_empty()).count();
        let silent = positions.iter().filter(|(place, (text, count, in_text))| {
            let other = text.has(FieldLabel::LAST) || text.has(FieldLabel::OTHER) || text.has(FieldLabel::MEMBER);
            *in_text == 0 && !other && *count * 2 >= labelled && Some(*place) != views && Some(*place) != replies
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

    pub(super) fn read(&self, fields: &LineFields) -> (Option<u32>, Option<u32>) {
        let replies =
            fields.number(self.replies).map(|count| if self.with_first { count.saturating_sub(1) } else { count });
        (replies, fields.number(self.views))
    }
}

impl LineFields {
    fn number(&self, place: Option<u64>) -> Option<u32> {
        self.numbers.iter().find(|number| Some(number.place) == place).map(|number| number.value)
    }
}

/// Which times of a line are the first post and which the last reply, by position.
pub(super) struct TimeColumns {
    created: FxHashSet<u64>,
    last: FxHashSet<u64>,
}

impl TimeColumns {
    pub(super) fn of(fields: &[LineFields]) -> Self {
        // Per position: lines whose label or value indicates the first post, and the last reply.
        let mut votes: FxHashMap<u64, (i32, i32)> = FxHashMap::default();
        for own in fields {
            for time in &own.times {
                let vote = votes.entry(time.place).or_default();
                if time.label.has(FieldLabel::LAST) {
                    vote.1 += 4;
                } else if time.label.has(FieldLabel::CREATED) {
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

    pub(super) fn read(&self, fields: &LineFields) -> (Option<ApproxTime>, Option<ApproxTime>) {
        let find = |positions: &FxHashSet<u64>| {
            fields.times.iter().find(|time| positions.contains(&time.place)).map(|time| time.moment)
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
