//! What became of one URL, told from the log: its path, its evidence, its scores, k, or its refusal.

use std::fmt::Write;

use rustc_hash::FxHashMap;
use serde_json::{Value, json};

use crate::store::{Record, StoreError};
use suidao_page::model::{
    CrawlUrl, Discovered, Event, Failure, Link, Millis, Origin, Place, Refusal, Settled, Tunnel, UrlId, Verdict,
};
use suidao_page::read::language_tag;

/// Links told at most; the number of all is told too.
const MOST_LINKS: usize = 10;

/// What happened to the URL when it was its turn.
enum Fate {
    Fetched(Box<Settled>, u64),
    Redirected(Option<UrlId>),
    /// Taken under another spelling: the scheme that its host answers, or without a session.
    Moved(Option<UrlId>),
    Failed(Failure),
    Refused(Refusal),
    /// Read as a sitemap or a feed: how many pages were taken of it.
    Listed(usize),
}

/// Everything the log says of one URL.
#[derive(Default)]
pub struct Story {
    /// From the seed to the URL itself.
    path: Vec<Discovered>,
    /// What is known of the pages on the path.
    pages: FxHashMap<UrlId, Box<Settled>>,
    /// Links to it, with the page they stand on.
    links: Vec<(Option<UrlId>, Link)>,
    names: FxHashMap<UrlId, CrawlUrl>,
    retries: Vec<Failure>,
    /// Its host, by name and port, and why its robots.txt could not be had when last it was asked for.
    host: Box<str>,
    unreached: Option<Failure>,
    fate: Option<(Millis, Fate)>,
    /// Visits after it was fetched.
    visits: u64,
    /// Refused at the door: why, and the page it was found on.
    skipped: Option<(Refusal, Option<UrlId>)>,
}

impl Story {
    /// Two passes over the log, `batches` being asked for each: one for who found whom, one for the few that lie on the path.
    /// None if it never occurred.
    ///
    /// # Errors
    /// [`StoreError`] if the log does not read.
    pub fn read<I: Iterator<Item = Result<Record, StoreError>>>(
        batches: impl Fn() -> I,
        url: &CrawlUrl,
    ) -> Result<Option<Self>, StoreError> {
        let mut origins: Vec<Option<UrlId>> = Vec::new();
        let mut story = Self { host: url.authority().into(), ..Self::default() };
        let mut id = None;
        let mut linking: Vec<UrlId> = Vec::new();
        for record in batches() {
            for event in &record?.batch.events {
                match event {
                    Event::Discovered(found) => {
                        origins.push(parent(found.origin));
                        if found.url == *url {
                            id = Some(found.id);
                        }
                    }
                    Event::Skipped { url: skipped, from, reason } if skipped == url => {
                        story.skipped = Some((*reason, *from));
                        linking.extend(*from);
                    }
                    Event::Settled(page) if page.links.iter().any(|link| Some(link.to) == id) => linking.push(page.id),
                    Event::Settled(page) if Some(page.id) == id => linking.extend(page.copy_of),
                    Event::Expanded { id: page, links, .. } | Event::Hinted { id: page, links, .. }
                        if links.iter().any(|link| Some(link.to) == id) =>
                    {
                        linking.push(*page);
                    }
                    Event::Redirected { id: from, link: Some(link), .. }
                    | Event::Moved { id: from, link: Some(link) }
                        if Some(link.to) == id =>
                    {
                        linking.push(*from);
                    }
                    Event::Redirected { id: from, link: Some(link), .. }
                    | Event::Moved { id: from, link: Some(link) }
                        if Some(*from) == id =>
                    {
                        linking.push(link.to);
                    }
                    _ => {}
                }
            }
        }
        if id.is_none() && story.skipped.is_none() {
            return Ok(None);
        }
        // Refused on one link and known by another: what became of it there is its story.
        if id.is_some() {
            story.skipped = None;
        }
        let last = id.or(story.skipped.and_then(|(_, from)| from));
        let path: Vec<UrlId> =
            std::iter::successors(last, |id| origins.get(id.0 as usize).copied().flatten()).collect();
        let mut pages = 0;
        for record in batches() {
            let batch = record?.batch;
            for event in batch.events {
                pages += u64::from(matches!(&event, Event::Settled(page) if page.again.is_none()));
                story.take(event, batch.at, id, &path, &linking, pages);
            }
        }
        Ok(Some(story))
    }

    fn take(&mut self, event: Event, at: Millis, id: Option<UrlId>, path: &[UrlId], linking: &[UrlId], pages: u64) {
        // A page that was fetched was; what its later visits found is told by `suidao history`.
        let fetched = matches!(self.fate, Some((_, Fate::Fetched(..))));
        let mut fate = |fate: Fate| {
            if fetched {
                self.visits += 1;
            } else {
                self.fate = Some((at, fate));
            }
        };
        match event {
            Event::Discovered(found) => {
                if linking.contains(&found.id) {
                    self.names.insert(found.id, found.url.clone());
                }
                if path.contains(&found.id) {
                    self.names.insert(found.id, found.url.clone());
                    self.path.push(found);
                }
            }
            Event::Seeded(link) if Some(link.to) == id => self.links.push((None, link)),
            Event::Settled(page) => {
                let links = page.links.iter().filter(|link| Some(link.to) == id);
                self.links.extend(links.map(|link| (Some(page.id), *link)));
                if Some(page.id) == id {
                    fate(Fate::Fetched(page.clone(), pages));
                }
                if path.contains(&page.id) {
                    self.pages.insert(page.id, page);
                }
            }
            Event::Hinted { id: page, links, sources, .. } => {
                if Some(page) == id {
                    fate(Fate::Listed(links.len().saturating_sub(sources.len())));
                }
                let links = links.into_iter().filter(|link| Some(link.to) == id);
                self.links.extend(links.map(|link| (Some(page), link)));
            }
            Event::Expanded { id: page, links, .. } => {
                let links = links.into_iter().filter(|link| Some(link.to) == id);
                self.links.extend(links.map(|link| (Some(page), link)));
            }
            Event::Redirected { id: from, link, .. } => {
                if Some(from) == id {
                    fate(Fate::Redirected(link.map(|link| link.to)));
                }
                if let Some(link) = link.filter(|link| Some(link.to) == id) {
                    self.links.push((Some(from), link));
                }
            }
            Event::Moved { id: from, link } => {
                if Some(from) == id {
                    fate(Fate::Moved(link.map(|link| link.to)));
                }
                if let Some(link) = link.filter(|link| Some(link.to) == id) {
                    self.links.push((Some(from), link));
                }
            }
            Event::Robots { origin, failure, .. }
                if origin.split_once("://").is_some_and(|(_, host)| *host == *self.host) =>
            {
                self.unreached = failure;
            }
            Event::Retried { id: of, failure } if Some(of) == id => self.retries.push(failure),
            Event::Failed { id: of, failure } if Some(of) == id => fate(Fate::Failed(failure)),
            Event::Refused { id: of, reason } if Some(of) == id => fate(Fate::Refused(reason)),
            Event::Unchanged { id: of, .. } if Some(of) == id => self.visits += 1,
            _ => {}
        }
    }

    /// Links to it that stand on pages, the best first: those that were followed before those that were dropped, then by their
    /// evidence, then by the place they gave; equal ones as they were found.
    fn judged(&self) -> Vec<&(Option<UrlId>, Link)> {
        let mut judged: Vec<_> = self.links.iter().filter(|(from, _)| from.is_some()).collect();
        let place = |link: &Link| match link.verdict {
            Verdict::Follow(place) => Some(place.priority),
            Verdict::Drop(_) => None,
        };
        judged.sort_by(|(_, one), (_, other)| {
            let (mine, its) = (place(one), place(other));
            let followed = its.is_some().cmp(&mine.is_some());
            let evidence = other.relevance.get().total_cmp(&one.relevance.get());
            followed.then(evidence).then_with(|| its.cmp(&mine))
        });
        judged
    }

    fn name(&self, id: UrlId) -> String {
        self.names.get(&id).map_or_else(|| format!("URL number {}", id.0), ToString::to_string)
    }

    /// How the spelling differs under which it was taken.
    fn spelling(&self, url: &CrawlUrl, to: Option<UrlId>) -> &'static str {
        match to.and_then(|to| self.names.get(&to)) {
            Some(to) if to.scheme() != url.scheme() => "under the scheme that its host answers",
            Some(_) => "without the parameter that is a session's",
            None => "under the scheme that its host answers, or without a parameter that is a session's",
        }
    }

    /// Why it waits or was left, where nothing happened to it yet.
    fn standing(&self) -> String {
        if let Some((reason, _)) = self.skipped {
            return format!("refused: {}", reason.why());
        }
        let places = self.links.iter().filter_map(|(_, link)| match link.verdict {
            Verdict::Follow(place) => Some(place),
            Verdict::Drop(_) => None,
        });
        match (places.max_by_key(|place| (std::cmp::Reverse(place.lane), place.priority)), self.links.last()) {
            (Some(place), _) => format!("queued: {}", place_in_words(place)),
            (None, Some((_, Link { verdict: Verdict::Drop(reason), .. }))) => format!("left out: {}", reason.why()),
            (None, _) => "known, and no link to it was judged".to_owned(),
        }
    }

    /// For people, in lines.
    ///
    /// # Errors
    /// None: a string takes what is written to it.
    pub fn in_words(&self, url: &CrawlUrl) -> Result<String, std::fmt::Error> {
        let mut out = format!("{url}\n");
        match &self.fate {
            Some((at, Fate::Fetched(page, number))) => {
                writeln!(out, "  fetched {} as page {number}, status {}: {}", time(*at), page.status, page.title)?;
                if page.rendered {
                    writeln!(out, "  a browser ran its scripts before it was read")?;
                }
                let verdict = verdict(page);
                writeln!(out, "  relevance {:.3}: {verdict}", page.relevance.get())?;
                if page.terms.is_empty() {
                    writeln!(out, "  no term of the topic")?;
                } else {
                    let terms = page.terms.iter().map(|found| format!("{} ×{}", found.term, found.count));
                    writeln!(out, "  terms: {}", terms.collect::<Vec<_>>().join(", "))?;
                }
                if page.foreign {
                    let language = page.language.as_deref().map_or("cannot be told", language_tag);
                    writeln!(out, "  its language ({language}) is none of those that are kept: it is not exported")?;
                }
                if page.noindex {
                    writeln!(out, "  it asks not to be kept (noindex): it is exported only with --with-noindex")?;
                }
                match (&page.canonical, page.copy_of) {
                    (Some(_), Some(of)) => {
                        writeln!(
                            out,
                            "  it calls {} its own address: that is kept in its place if it says the same",
                            self.name(of)
                        )?;
                    }
                    (Some(claimed), None) => {
                        writeln!(out, "  it calls {claimed} its own address, which is not believed")?
                    }
                    _ => {}
                }
                writeln!(out, "  it waited with {}", place_in_words(page.place))?;
            }
            Some((at, Fate::Redirected(to))) => {
                let to = to.map_or_else(|| "a URL that was fetched or refused before".into(), |to| self.name(to));
                writeln!(out, "  redirected {} to {to}", time(*at))?;
            }
            Some((at, Fate::Moved(to))) => {
                let name = to.map_or_else(|| "which was fetched or refused before".into(), |to| self.name(to));
                writeln!(out, "  taken {} {}: {name}", time(*at), self.spelling(url, *to))?;
            }
            Some((at, Fate::Listed(taken))) => {
                writeln!(out, "  read {} as a sitemap or a feed: {taken} URLs were taken of it", time(*at))?;
            }
            Some((at, Fate::Failed(failure))) => writeln!(out, "  given up {}: {failure}", time(*at))?,
            Some((at, Fate::Refused(reason))) => {
                writeln!(out, "  refused {}: {}", time(*at), reason.why())?;
                if let Some(failure) = self.unreached.as_ref().filter(|_| reason.is_hosts()) {
                    writeln!(out, "  when the host was last asked for its robots.txt: {failure}")?;
                }
            }
            None => writeln!(out, "  {}", self.standing())?,
        }
        if self.visits > 0 {
            let times = if self.visits == 1 { "once".to_owned() } else { format!("{} times", self.visits) };
            writeln!(out, "  visited {times} since: `suidao history` tells what was found")?;
        }
        for failure in &self.retries {
            writeln!(out, "  failed before and tried again: {failure}")?;
        }
        let judged = self.judged();
        if !judged.is_empty() {
            writeln!(out, "links that counted, the best first: {}", judged.len())?;
        }
        for (from, link) in judged.iter().take(MOST_LINKS) {
            let evidence = link.evidence;
            writeln!(
                out,
                "  {:.3} = anchor {:.3}, context {:.3}, URL {:.0}; {}; on {}",
                link.relevance.get(),
                evidence.anchor.get(),
                evidence.context.get(),
                evidence.url.get(),
                match link.verdict {
                    Verdict::Follow(place) => place_in_words(place),
                    Verdict::Drop(reason) => format!("dropped: {}", reason.why()),
                },
                from.map_or_else(|| "the seed list".into(), |from| self.name(from)),
            )?;
        }
        if judged.len() > MOST_LINKS {
            writeln!(out, "  and {} more that gave no more (--json lists all)", judged.len() - MOST_LINKS)?;
        }
        writeln!(out, "path:")?;
        for found in &self.path {
            let how = match found.origin {
                Origin::Seed => "seed".to_owned(),
                Origin::Named => "sitemap or feed named by robots.txt or a page".to_owned(),
                Origin::Listed(_) if found.anchor.is_empty() => "named there".to_owned(),
                Origin::Listed(_) => format!("named there as “{}”", found.anchor),
                Origin::Canonical(_) => "the address that page calls its own".to_owned(),
                Origin::Link(_) if found.anchor.is_empty() => "link without text".to_owned(),
                Origin::Link(_) => format!("link “{}”", found.anchor),
                Origin::Redirect(_) => "redirect".to_owned(),
            };
            let page = self.pages.get(&found.id).map_or_else(String::new, |page| {
                let verdict = verdict(page);
                format!("  {:.3} {verdict}, {}", page.relevance.get(), k_in_words(page.place))
            });
            writeln!(out, "  {} ({how}){page}", found.url)?;
        }
        if self.skipped.is_some() {
            writeln!(out, "  {url} (refused)")?;
        }
        Ok(out)
    }

    /// For programs.
    pub fn as_json(&self, url: &CrawlUrl) -> Value {
        let fate = match &self.fate {
            Some((at, Fate::Fetched(page, number))) => {
                let mut settled = json!(page);
                if let Some(settled) = settled.as_object_mut() {
                    // Numbers of other URLs, which mean nothing by themselves.
                    settled.remove("links");
                    settled.remove("known");
                }
                json!({ "fetched": time(*at), "page": number, "settled": settled })
            }
            Some((at, Fate::Redirected(to))) => json!({ "redirected": time(*at), "to": to.map(|to| self.name(to)) }),
            Some((at, Fate::Moved(to))) => json!({
                "moved": time(*at),
                "to": to.map(|to| self.name(to)),
                "why": self.spelling(url, *to),
            }),
            Some((at, Fate::Listed(taken))) => json!({ "read_as_source": time(*at), "taken": taken }),
            Some((at, Fate::Failed(failure))) => json!({ "failed": time(*at), "why": failure.to_string() }),
            Some((at, Fate::Refused(reason))) => json!({ "refused": time(*at), "reason": reason, "why": reason.why() }),
            None => json!({ "standing": self.standing(), "refused": self.skipped.map(|(reason, _)| reason) }),
        };
        let links =
            self.links.iter().map(|(from, link)| json!({ "on": from.map(|from| self.name(from)), "link": link }));
        json!({
            "url": url,
            "fate": fate,
            "visits_since": self.visits,
            "retries": self.retries,
            "links": links.collect::<Vec<_>>(),
            "path": self.path,
        })
    }
}

fn parent(origin: Origin) -> Option<UrlId> {
    match origin {
        Origin::Seed | Origin::Named => None,
        Origin::Link(from) | Origin::Redirect(from) | Origin::Listed(from) | Origin::Canonical(from) => Some(from),
    }
}

fn k_in_words(place: Place) -> String {
    match place.trail.k {
        Tunnel::Unbounded => "k ∞".to_owned(),
        Tunnel::Left(left) => format!("k {left}"),
    }
}

fn place_in_words(place: Place) -> String {
    format!(
        "priority {:.3}, lane {}, {}, {} off-topic pages since the last relevant one, depth {}",
        place.priority.get(),
        place.lane.0,
        k_in_words(place),
        place.trail.hops,
        place.trail.depth,
    )
}

fn time(at: Millis) -> String {
    let timestamp = i64::try_from(at.0).ok().and_then(|ms| jiff::Timestamp::from_millisecond(ms).ok());
    timestamp.map_or_else(|| at.0.to_string(), |timestamp| timestamp.strftime("%Y-%m-%d %H:%M:%S").to_string())
}

fn verdict(page: &Settled) -> &'static str {
    match (page.relevant, page.is_relevant_document()) {
        (_, true) => "relevant",
        (true, false) if page.sketch.is_text() => "a listing on the topic",
        (true, false) => "on the topic, without a text of its own",
        _ => "off topic",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use suidao_page::model::{Lane, Priority, Relevance, Trail};

    #[test]
    fn links_are_told_by_what_they_gave_and_how_many_more_there_are() {
        let follow =
            |priority| Verdict::Follow(Place { lane: Lane(0), priority: Priority::new(priority), trail: Trail::SEED });
        let link =
            |n: u32, relevance, verdict| (Some(UrlId(n)), Link::bare(UrlId(0), Relevance::new(relevance), verdict));
        let weak = (0..20).map(|n| link(n, 0.1, follow(0.2)));
        let others = [
            link(30, 0.9, Verdict::Drop(Refusal::TunnelEnd)),
            link(31, 0.5, follow(0.3)),
            link(32, 0.8, follow(0.1)),
            link(33, 0.5, follow(0.4)),
        ];
        let story = Story { links: weak.chain(others).collect(), ..Story::default() };
        let order: Vec<u32> = story.judged().iter().map(|(from, _)| from.unwrap().0).collect();
        assert_eq!(order[..5], [32, 33, 31, 0, 1]);
        assert_eq!(order.last(), Some(&30), "what was dropped gave nothing");
        let told = story.in_words(&CrawlUrl::parse("http://a.cn/").unwrap()).unwrap();
        assert!(told.contains("links that counted, the best first: 24\n  0.800 = "), "{told}");
        assert!(told.contains("  and 14 more that gave no more (--json lists all)\n"), "{told}");
    }
}
