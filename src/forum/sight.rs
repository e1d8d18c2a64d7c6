//! Looking at an answer as a page of a forum. Apart because it is the one door from bytes to what this room decides by.

use std::sync::Arc;

use crate::model::{Clock, CrawlUrl, Fetched, Millis, Moment, Sight, SightLink};
use crate::read::Parsed;

use super::board::{Thresholds, classes, threads};
use super::links::{links, own_url};
use super::map::Keyed;
use super::shape::{Shapes, sessions, without};
use super::{Tree, asks_login, posts, records, times};

/// What is known of a forum before one of its pages is looked at.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Lens {
    /// Classes of its URLs.
    pub shapes: Shapes,
    /// Classes of its threads; where none is known, that which the page itself shows.
    pub threads: Vec<Keyed>,
    /// Its own time, in seconds east of UTC; where it is not known the page itself has to tell.
    pub offset: Option<i32>,
}

/// What a page is looked at with, and when.
#[derive(Clone, Debug, PartialEq)]
pub struct Look {
    /// What is known of the forum.
    pub lens: Arc<Lens>,
    /// When it was asked for: stands in where the server does not say what time it is.
    pub at: Millis,
}

/// Looks at a page of a forum.
#[must_use]
pub fn look(fetched: &Fetched, parsed: &Parsed, look: &Look) -> Sight {
    let links = links(&parsed.document, &fetched.url);
    let tree = Tree::read(fetched);
    // "3分钟前" counts from the server's own clock.
    let now = fetched.header("date").and_then(date).unwrap_or(look.at);
    let names = sessions(parsed.document.links.iter().map(|link| &link.url));
    let is_thread = threads_by(&look.lens, &links);
    let is_thread = |url: &CrawlUrl| is_thread(&without(url, &names));
    let offset = look.lens.offset.unwrap_or_else(|| offset(parsed, now, &links));
    let clock = Clock { now, offset };
    let mut records = records(&tree, &is_thread, clock);
    for record in &mut records {
        record.url = without(&record.url, &names);
    }
    let posts = posts(&tree, clock);
    Sight {
        own: own_url(&parsed.document, &fetched.url),
        login: records.is_empty() && asks_login(&tree),
        posts: posts.into_iter().map(|post| post.posted).collect(),
        records,
        links,
        offset,
    }
}

/// Seconds east of UTC that the times of a page are in: what its language's country has, or more where they would lie in
/// the future otherwise. Forums behind UTC keep the former: their times are all off by the same.
fn offset(parsed: &Parsed, now: Millis, links: &[SightLink]) -> i32 {
    /// The earliest zone: in it no time lies in the future. The second tells times of a clock from those of "3分钟前".
    const EARLIEST: [i32; 2] = [14 * 3600, 13 * 3600];
    /// Bytes of a block that can be a time, or be about one: "It is currently Sat Nov 21, 2026 9:12 pm".
    const SHORT: usize = 160;
    let document = &parsed.document;
    let texts = document
        .blocks
        .iter()
        .map(|block| block.pieces.clone().map(|piece| document.piece(piece)).collect::<Vec<_>>().join(" "));
    let texts: Vec<String> =
        texts.filter(|text| text.len() <= SHORT && text.bytes().any(|byte| byte.is_ascii_digit())).collect();
    let [one, other] = EARLIEST.map(|offset| {
        let clock = Clock { now, offset };
        texts
            .iter()
            .map(|text| times::all(text, clock).into_iter().map(|shown| shown.moment).collect())
            .collect::<Vec<Vec<Moment>>>()
    });
    let now = i64::try_from(now.0 / 1000).unwrap_or(i64::MAX);
    let pairs = one.iter().zip(&other).filter(|(one, other)| one.len() == other.len());
    let ahead = pairs.flat_map(|(one, other)| one.iter().zip(other)).filter_map(|(one, other)| {
        let by_a_clock = other.at - one.at == i64::from(EARLIEST[0] - EARLIEST[1]) && one.within <= 60;
        by_a_clock.then_some(one.at + i64::from(EARLIEST[0]) - now)
    });
    // Zones are half hours apart; a clock may go a minute or two before ours.
    let least = ahead.max().map_or(i64::MIN, |ahead| (ahead - 120).div_euclid(1800) * 1800 + 1800);
    let text: String = links.iter().map(|link| link.text.as_str()).collect();
    let share = |is: fn(char) -> bool| text.chars().filter(|c| is(*c)).count() * 20 > text.chars().count();
    let spoken = if share(|c| ('\u{3040}'..='\u{30ff}').contains(&c)) {
        9 * 3600
    } else if share(|c| ('\u{4e00}'..='\u{9fff}').contains(&c)) {
        8 * 3600
    } else {
        0
    };
    i32::try_from(least.max(spoken).min(i64::from(EARLIEST[0]))).unwrap_or(0)
}

/// Whether a page that nothing is known of is worth a look: it has a row of long links of one class.
#[must_use]
pub fn is_suspect(parsed: &Parsed, own: &CrawlUrl) -> bool {
    let links = links(&parsed.document, own);
    links.len() >= Thresholds::DOMINANT.members
        && threads(&classes(&links, &learnt(&links)), &Thresholds::DOMINANT).is_some()
}

fn learnt(links: &[SightLink]) -> Shapes {
    let mut shapes = Shapes::default();
    shapes.learn(links.iter().map(|link| &link.url));
    shapes
}

/// What tells the URLs of threads: the classes that are known, else the class that stands out on the page.
fn threads_by(lens: &Lens, links: &[SightLink]) -> Box<dyn Fn(&CrawlUrl) -> bool> {
    if lens.threads.is_empty() {
        let mut shapes = lens.shapes.clone();
        shapes.learn(links.iter().map(|link| &link.url));
        let all = classes(links, &shapes);
        let least = Thresholds { members: 2, columns: 8.0, dominance: 0.0 };
        // The widest of many, not the largest alone: names of users may be as many.
        let weight =
            |class: &super::board::LinkClass| class.columns.min(40.0) * (class.members.len().min(40) as f64).sqrt();
        let best = all.iter().filter(|class| threads(std::slice::from_ref(class), &least).is_some());
        let best = best.reduce(|best, other| if weight(other) > weight(best) { other } else { best });
        let best = threads(&all, &Thresholds::DOMINANT).or(best).map(|class| class.class.clone());
        Box::new(move |url| best.as_ref().is_some_and(|class| shapes.shape(url).class == *class))
    } else {
        let (shapes, classes) = (lens.shapes.clone(), lens.threads.clone());
        Box::new(move |url| {
            let shaped = shapes.shape(url);
            classes.iter().any(|class| *class.class() == shaped.class)
        })
    }
}

/// The time of an HTTP date.
fn date(text: &str) -> Option<Millis> {
    let time = jiff::fmt::rfc2822::parse(text).ok()?.timestamp().as_millisecond();
    u64::try_from(time).ok().map(Millis)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_servers_clock_is_read() {
        assert_eq!(date("Thu, 01 Jan 1970 00:01:40 GMT"), Some(Millis(100_000)));
        assert_eq!(date("yesterday"), None);
    }
}
