//! Finds the publication date of a page from its URL, declarations and text, and decides between them. The result is
//! the day in the page's own zone; time and zone are optional.

mod address;
mod clock;
mod declared;
mod lines;
mod months;
mod names;
mod script;
mod tokens;
mod words;
mod written;

pub(super) use address::is_section;
pub(super) use declared::Dates;
pub use declared::writes_month_first;
pub use months::month as month_named;

use declared::{DateElement, DateKind};
use written::ParsedDate;

use super::document::ParsedDocument;
use crate::model::{CrawlUrl, Day, Timestamp};

/// A page with more consecutive days than this is a list of articles, and none of the days is its own.
const FEW: usize = 2;
/// Maximum characters of text between a heading and its date.
const NEAR: usize = 800;
/// Maximum characters between a date and the heading after it.
const JUST_BEFORE: usize = 80;
/// Characters of an article's text before the next date; in a list the next article follows earlier.
const BODY: usize = 300;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Published {
    pub(super) day: Day,
    /// The instant, if the page states time and zone.
    pub(super) at: Option<Timestamp>,
}

/// The first date in a text, in any of the forms that pages use.
pub fn first_date(text: &str) -> Option<Day> {
    written::first(text, true).map(|date| date.day)
}

/// The day at the start of a text and its length in bytes; none for `3/4/2019`, which has two readings.
pub fn date_at_start(text: &str) -> Option<(Day, usize)> {
    written::at_start(text)
}

pub(super) fn published(mut dates: Dates, document: &ParsedDocument, title: &str, url: &CrawlUrl) -> Option<Published> {
    if address::is_archive(url) {
        return None;
    }
    let address = address::day(url.path()).map(ParsedDate::of);
    if is_section(url) {
        return address.map(|written| Published { day: written.day, at: None });
    }
    dates.finish();
    let lines = lines::dated_lines(document, title);
    let marked = |kinds: &[DateKind]| pick(&dates, kinds);
    // A date far before the headline may be today's.
    let named = choose(&dates, &[DateKind::Time, DateKind::Shown]);
    let near_headline = named.filter(|(_, position)| *position != DatePosition::Before).map(|(mark, _)| mark.written);
    let apart = named.map(|(mark, _)| mark.written);
    let (meta, json_ld) = (dates.meta, one(&dates.json_ld));
    let declared = match (meta, json_ld) {
        // Majority of three.
        (Some(one), Some(other)) if one.day != other.day => {
            let seen = [labelled(&dates), near_headline, lines.labelled, lines.near];
            let seen = seen.into_iter().flatten().next();
            if seen.is_some_and(|seen| other.may_be(seen.day) && !one.may_be(seen.day)) { json_ld } else { meta }
        }
        _ => meta,
    };
    let of_page = |written: &ParsedDate| {
        !dates.marks.iter().any(|mark| mark.kind == DateKind::Other && mark.written.day == written.day)
    };
    let ranked = [
        address,
        declared,
        json_ld,
        marked(&[DateKind::Published]),
        labelled(&dates),
        near_headline,
        lines.labelled,
        lines.near,
        apart,
        dates.dated,
        lines.in_sentence,
        one(&dates.data),
        dates.created,
        one(&dates.json_ld_created),
        marked(&[DateKind::Created]),
        lines.top.filter(of_page),
        lines.lone.filter(of_page),
        dates.changed,
        marked(&[DateKind::Changed]),
        lines.changed,
    ];
    let mut found: Vec<ParsedDate> = ranked.into_iter().flatten().collect();
    let month_first = dates.writes_month_first(url);
    settle(&mut found, month_first, address::month(url.path()));
    let best = *found.first()?;
    let mut day = best.day;
    if best.is_utc() {
        // Sources in the page's own zone precede those that a program wrote in UTC.
        let others = [
            json_ld,
            marked(&[DateKind::Time]),
            marked(&[DateKind::Published]),
            labelled(&dates),
            marked(&[DateKind::Shown]),
            lines.labelled,
            lines.near,
        ];
        let days = others.into_iter().flatten().filter(|other| !other.is_utc());
        let mut days = days.flat_map(|other| [Some(other.day), other.or]).flatten();
        day = days.find(|&other| best.may_be(other)).unwrap_or(day);
    }
    let at = found.iter().filter(|written| written.may_be(day)).find_map(ParsedDate::timestamp);
    Some(Published { day, at })
}

/// Resolves dates with two readings: as in the URL or another date, else by the usage of the page's language.
fn settle(found: &mut [ParsedDate], month_first: bool, month: Option<(i16, i8)>) {
    for at in 0..found.len() {
        let Some(or) = found[at].or else { continue };
        let day = found[at].day;
        let other = |wanted: Day| found.iter().enumerate().any(|(n, w)| n != at && w.or.is_none() && w.may_be(wanted));
        let in_month = |day: Day| {
            let text = day.to_string();
            month.is_some_and(|(year, month)| text.starts_with(&format!("{year:04}-{month:02}-")))
        };
        let sure = |day: Day| in_month(day) || other(day);
        if sure(or) && !sure(day) || month_first && !sure(day) {
            found[at].day = or;
        }
    }
}

/// The first of a few dates; `None` for many, which are a list's.
fn one(written: &[ParsedDate]) -> Option<ParsedDate> {
    let mut days = Vec::new();
    written.iter().for_each(|written| few(&mut days, written.day));
    if days.len() <= FEW { written.first().copied() } else { None }
}

/// The date of an element that is explicitly for publication.
fn labelled(dates: &Dates) -> Option<ParsedDate> {
    let labelled: Vec<ParsedDate> =
        dates.marks.iter().filter(|mark| mark.labelled && !mark.aside).map(|mark| mark.written).collect();
    one(&labelled)
}

/// Position of a marked element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum DatePosition {
    /// Next to a heading, or on a page without headings.
    Near,
    /// Far before all headings.
    Before,
    /// Elsewhere.
    Elsewhere,
}

fn pick(dates: &Dates, kinds: &[DateKind]) -> Option<ParsedDate> {
    choose(dates, kinds).map(|(mark, _)| mark.written)
}

/// The marked element of these kinds with the page's date. Ignores comments and similar, unless explicitly for
/// publication and next to a heading. With few days: the first next to a heading. With many: only if an article's text
/// is between it and the next.
fn choose(dates: &Dates, kinds: &[DateKind]) -> Option<(DateElement, DatePosition)> {
    let spot = |mark: &DateElement| {
        let near = |heading: &usize| *heading <= mark.at + JUST_BEFORE && mark.at <= *heading + NEAR;
        if dates.headings.is_empty() || dates.headings.iter().any(near) {
            DatePosition::Near
        } else if dates.headings.iter().all(|heading| *heading > mark.at) {
            DatePosition::Before
        } else {
            DatePosition::Elsewhere
        }
    };
    let of = |aside: bool| -> Vec<DateElement> {
        dates.marks.iter().filter(|mark| kinds.contains(&mark.kind) && mark.aside == aside).copied().collect()
    };
    let mut marks = of(false);
    if marks.is_empty() && kinds.contains(&DateKind::Published) {
        marks = of(true);
        marks.retain(|mark| spot(mark) == DatePosition::Near);
    }
    // Attribute and text of one element are one date.
    marks.dedup_by_key(|mark| mark.at);
    let mut days = Vec::new();
    marks.iter().for_each(|mark| few(&mut days, mark.written.day));
    let near = marks.iter().position(|mark| spot(mark) == DatePosition::Near);
    let at = match near {
        Some(at) if days.len() <= FEW => at,
        None if days.len() <= FEW => 0,
        Some(at) => {
            let next = marks[at..].iter().find(|mark| mark.written.day != marks[at].written.day);
            next.is_none_or(|next| next.at.saturating_sub(marks[at].at) >= BODY).then_some(at)?
        }
        None => return None,
    };
    let mark = *marks.get(at)?;
    Some((mark, spot(&mark)))
}

/// Adds a day once, up to one more than [`FEW`].
fn few(days: &mut Vec<Day>, day: Day) {
    if days.len() <= FEW && !days.contains(&day) {
        days.push(day);
    }
}

#[cfg(test)]
mod tests;
