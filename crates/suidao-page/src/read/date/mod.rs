//! When a page was published: what its address says, what it declares, what it shows, and which of these is believed.
//!
//! What is compared is the day, the one of the page's own zone; time and zone are kept beside it where they are known.

mod address;
mod clock;
mod declared;
mod months;
mod names;
mod script;
mod shown;
mod tokens;
mod words;
mod written;

pub(super) use address::is_section;
pub(super) use declared::Dates;

use declared::{DateElement, DateKind};
use written::ParsedDate;

use super::document::ParsedDocument;
use crate::model::{CrawlUrl, Day, Timestamp};

/// A page that shows more days than this one after the other is a list of articles, none of whose days is its own.
const FEW: usize = 2;
/// Characters of text behind a heading in which the date of what it heads stands.
const NEAR: usize = 800;
/// And before a heading.
const JUST_BEFORE: usize = 80;
/// Characters of text that an article has before the next date, where a list has the next article.
const BODY: usize = 300;

/// The date of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Published {
    pub(super) day: Day,
    /// The instant, where the page tells time and zone of it.
    pub(super) at: Option<Timestamp>,
}

/// Decides on the date of a page with this markup, title, text and address.
pub(super) fn published(mut dates: Dates, document: &ParsedDocument, title: &str, url: &CrawlUrl) -> Option<Published> {
    if address::is_archive(url) {
        return None;
    }
    let address = address::day(url.path()).map(ParsedDate::of);
    if is_section(url) {
        return address.map(|written| Published { day: written.day, at: None });
    }
    dates.finish();
    let shown = shown::shown(document, title);
    let marked = |kinds: &[DateKind]| pick(&dates, kinds);
    // What stands far before the headline may be the day the page was sent.
    let named = choose(&dates, &[DateKind::Time, DateKind::Shown]);
    let beside = named.filter(|(_, place)| *place != Place::Before).map(|(mark, _)| mark.written);
    let apart = named.map(|(mark, _)| mark.written);
    let (meta, json_ld) = (dates.meta, one(&dates.json_ld));
    let declared = match (meta, json_ld) {
        // Two of three.
        (Some(one), Some(other)) if one.day != other.day => {
            let seen = [said(&dates), beside, shown.said, shown.near];
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
        said(&dates),
        beside,
        shown.said,
        shown.near,
        apart,
        dates.dated,
        shown.told,
        one(&dates.data),
        dates.created,
        one(&dates.json_ld_created),
        marked(&[DateKind::Created]),
        shown.top.filter(of_page),
        shown.lone.filter(of_page),
        dates.changed,
        marked(&[DateKind::Changed]),
        shown.changed,
    ];
    let mut found: Vec<ParsedDate> = ranked.into_iter().flatten().collect();
    let month_first = dates.writes_month_first(url);
    settle(&mut found, month_first, address::month(url.path()));
    let best = *found.first()?;
    let mut day = best.day;
    if best.is_utc() {
        // What tells the page's own zone, or what it shows, goes before what a program wrote in UTC.
        let others = [
            json_ld,
            marked(&[DateKind::Time]),
            marked(&[DateKind::Published]),
            said(&dates),
            marked(&[DateKind::Shown]),
            shown.said,
            shown.near,
        ];
        let days = others.into_iter().flatten().filter(|other| !other.is_utc());
        let mut days = days.flat_map(|other| [Some(other.day), other.or]).flatten();
        day = days.find(|&other| best.may_be(other)).unwrap_or(day);
    }
    let at = found.iter().filter(|written| written.may_be(day)).find_map(ParsedDate::timestamp);
    Some(Published { day, at })
}

/// Decides between day and month where a date can mean two: the one that the address or another date says too, else the
/// usage of the page's language.
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

/// The first of a few dates; none of many, which are a list's.
fn one(written: &[ParsedDate]) -> Option<ParsedDate> {
    let mut days = Vec::new();
    written.iter().for_each(|written| few(&mut days, written.day));
    if days.len() <= FEW { written.first().copied() } else { None }
}

/// The date that an element named after dates says is that of publication.
fn said(dates: &Dates) -> Option<ParsedDate> {
    let said: Vec<ParsedDate> =
        dates.marks.iter().filter(|mark| mark.said && !mark.aside).map(|mark| mark.written).collect();
    one(&said)
}

/// Where a marked element stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// Beside a heading, or on a page without any.
    Near,
    /// Far before all headings.
    Before,
    /// Anywhere else.
    Elsewhere,
}

fn pick(dates: &Dates, kinds: &[DateKind]) -> Option<ParsedDate> {
    choose(dates, kinds).map(|(mark, _)| mark.written)
}

/// The marked element of these kinds whose date is the page's, those among comments and the like left out (unless one that
/// names publication stands beside a heading): where there are few days, the first beside a heading; where there are many,
/// only if an article's text stands between it and the next.
fn choose(dates: &Dates, kinds: &[DateKind]) -> Option<(DateElement, Place)> {
    let place = |mark: &DateElement| {
        let near = |heading: &usize| *heading <= mark.at + JUST_BEFORE && mark.at <= *heading + NEAR;
        if dates.headings.is_empty() || dates.headings.iter().any(near) {
            Place::Near
        } else if dates.headings.iter().all(|heading| *heading > mark.at) {
            Place::Before
        } else {
            Place::Elsewhere
        }
    };
    let of = |aside: bool| -> Vec<DateElement> {
        dates.marks.iter().filter(|mark| kinds.contains(&mark.kind) && mark.aside == aside).copied().collect()
    };
    let mut marks = of(false);
    if marks.is_empty() && kinds.contains(&DateKind::Published) {
        marks = of(true);
        marks.retain(|mark| place(mark) == Place::Near);
    }
    // An attribute and the text of one element are one date.
    marks.dedup_by_key(|mark| mark.at);
    let mut days = Vec::new();
    marks.iter().for_each(|mark| few(&mut days, mark.written.day));
    let near = marks.iter().position(|mark| place(mark) == Place::Near);
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
    Some((mark, place(&mark)))
}

/// Keeps a day, once, as long as there are not more than a few.
fn few(days: &mut Vec<Day>, day: Day) {
    if days.len() <= FEW && !days.contains(&day) {
        days.push(day);
    }
}

#[cfg(test)]
mod tests;
