//! The history of one URL, from the log: its path, scores, k, and its outcome or the reason why it was skipped.

use std::fmt;

use rustc_hash::{FxHashMap, FxHashSet};
use serde::Serialize;
use serde_json::{Value, json};

use crate::store::{Record, StoreError};
use suidao_page::model::{
    CrawlUrl, Discovered, Event, Failure, Link, LinkDecision, Millis, PageProcessed, QueueEntry, SkipReason,
    TunnelBudget, UrlId, UrlOrigin,
};
use suidao_page::read::language_tag;

/// Most links listed; their total number is given too.
const MOST_LINKS: usize = 10;

/// A link to it and the page with that link; `None` for the list of seeds.
#[derive(Serialize)]
struct Linked {
    on: Option<String>,
    link: Link,
}

/// Everything that the log has about one URL. Serialised for programs, displayed for people.
#[derive(Serialize)]
pub struct UrlHistory {
    url: CrawlUrl,
    /// Its outcome; before one, why it is queued or was skipped.
    fate: Value,
    /// Visits after the first.
    visits_since: u64,
    retries: Vec<Failure>,
    links: Vec<Linked>,
    path: Vec<Discovered>,
    /// The outcome for people: in brief, and with queue and k.
    #[serde(skip)]
    told: [String; 2],
    /// It was skipped because the robots.txt of its host was unreachable: the cause.
    #[serde(skip)]
    is_hosts: bool,
    #[serde(skip)]
    unreached: Option<Failure>,
    /// The pages on the path in words: in brief, and with k.
    #[serde(skip)]
    pages: FxHashMap<UrlId, [String; 2]>,
    #[serde(skip)]
    names: FxHashMap<UrlId, CrawlUrl>,
}

/// The page or redirect whose links an event lists.
fn place_of(event: &Event) -> Option<UrlId> {
    match event {
        Event::PageFetched(page) => Some(page.id),
        Event::Rejudged { id, .. }
        | Event::SitemapRead { id, .. }
        | Event::Redirected { id, .. }
        | Event::SchemeRewritten { id, .. } => Some(*id),
        _ => None,
    }
}

impl UrlHistory {
    /// Reads the log twice, by calls of `batches`: first for the links, then for the few URLs on the path. `None` if the
    /// URL never occurred.
    pub fn read<I: Iterator<Item = Result<Record, StoreError>>>(
        batches: impl Fn() -> I,
        url: &CrawlUrl,
    ) -> Result<Option<Self>, StoreError> {
        let mut origins: Vec<Option<UrlId>> = Vec::new();
        let (mut id, mut skipped) = (None, None);
        let mut mentioned: FxHashSet<UrlId> = FxHashSet::default();
        for record in batches() {
            for event in &record?.batch.events {
                match event {
                    Event::Discovered(found) => {
                        origins.push(parent(found.origin));
                        if found.url == *url {
                            id = Some(found.id);
                        }
                    }
                    Event::LinkRejected { url: refused, from, reason } if refused == url => {
                        skipped = Some((*reason, *from));
                        mentioned.extend(*from);
                    }
                    Event::PageFetched(page) if Some(page.id) == id => mentioned.extend(page.copy_of),
                    event => {
                        let (Some(from), links) = (place_of(event).filter(|_| id.is_some()), event.links()) else {
                            continue;
                        };
                        if Some(from) == id {
                            mentioned.extend(links.iter().map(|link| link.to));
                        } else if links.iter().any(|link| Some(link.to) == id) {
                            mentioned.insert(from);
                        }
                    }
                }
            }
        }
        // Skipped as one link and known by another: the latter decides.
        let skipped = skipped.filter(|_| id.is_none());
        let Some(last) = id.map(Some).or(skipped.map(|(_, from)| from)) else { return Ok(None) };
        let path: FxHashSet<UrlId> =
            std::iter::successors(last, |id| origins.get(id.0 as usize).copied().flatten()).collect();
        mentioned.extend(&path);
        let mut story = Self::of(url.clone());
        let mut pages = 0;
        for record in batches() {
            let batch = record?.batch;
            for event in batch.events {
                pages += u64::from(matches!(&event, Event::PageFetched(page) if page.again.is_none()));
                if let Event::Discovered(found) = &event {
                    if mentioned.contains(&found.id) {
                        story.names.insert(found.id, found.url.clone());
                    }
                    story.path.extend(path.contains(&found.id).then(|| found.clone()));
                }
                if let Event::PageFetched(page) = &event
                    && path.contains(&page.id)
                {
                    let brief = format!("  {:.3} {}", page.relevance.get(), verdict(page));
                    let detailed = format!("{brief}, {}", k_in_words(page.place));
                    story.pages.insert(page.id, [brief, detailed]);
                }
                story.take(event, &time(batch.at), id, pages);
            }
        }
        if story.fate.is_null() {
            let refused = skipped.map(|(reason, _)| reason);
            let standing = [false, true].map(|detailed| story.standing(refused, detailed));
            story.told = standing.each_ref().map(|standing| format!("  {standing}\n"));
            let [_, standing] = standing;
            story.fate = json!({ "standing": standing, "refused": refused });
        }
        Ok(Some(story))
    }

    fn of(url: CrawlUrl) -> Self {
        Self {
            url,
            fate: Value::Null,
            visits_since: 0,
            retries: Vec::new(),
            links: Vec::new(),
            path: Vec::new(),
            pages: FxHashMap::default(),
            names: FxHashMap::default(),
            told: Default::default(),
            is_hosts: false,
            unreached: None,
        }
    }

    fn take(&mut self, event: Event, at: &str, id: Option<UrlId>, pages: u64) {
        if let Some(from) = place_of(&event) {
            let to_it = event.links().iter().filter(|link| Some(link.to) == id);
            let linked: Vec<Linked> = to_it.map(|link| Linked { on: Some(self.name(from)), link: *link }).collect();
            self.links.extend(linked);
        }
        let name = |link: Option<Link>| link.map(|link| self.name(link.to));
        let once = |told: String| [told.clone(), told];
        let (fate, told) = match event {
            Event::SeedJudged(link) if Some(link.to) == id => return self.links.push(Linked { on: None, link }),
            Event::Robots { origin, failure, .. }
                if origin.split_once("://").is_some_and(|(_, host)| *host == *self.url.authority()) =>
            {
                self.unreached = failure;
                return;
            }
            Event::FetchRetried { id: of, failure } if Some(of) == id => return self.retries.push(failure),
            Event::Unchanged { id: of, .. } if Some(of) == id => {
                self.visits_since += 1;
                return;
            }
            Event::PageFetched(page) if Some(page.id) == id => {
                let mut settled = json!(page);
                // Numbers of other URLs mean nothing to readers.
                if let Some(fields) = settled.as_object_mut() {
                    fields.retain(|name, _| !matches!(name.as_str(), "links" | "known"));
                }
                let fate = json!({ "fetched": at, "page": pages, "settled": settled });
                let told = |detailed| format!("fetched {at} as page {pages}, {}", self.page(&page, detailed));
                (fate, [false, true].map(told))
            }
            Event::SitemapRead { id: of, links, sources, .. } if Some(of) == id => {
                let taken = links.len().saturating_sub(sources.len());
                let told = format!("read {at} as a sitemap or feed: {taken} URLs taken");
                (json!({ "read_as_source": at, "taken": taken }), once(told))
            }
            Event::Redirected { id: of, link, .. } if Some(of) == id => {
                let to = name(link);
                let whither = to.as_deref().unwrap_or("a URL fetched or skipped earlier");
                (json!({ "redirected": at, "to": to }), once(format!("redirected {at} to {whither}")))
            }
            Event::SchemeRewritten { id: of, link } if Some(of) == id => {
                let (to, why) = (name(link), self.spelling(link));
                let whither = to.as_deref().unwrap_or("a URL fetched or skipped earlier");
                (json!({ "moved": at, "to": to, "why": why }), once(format!("replaced {at} {why}: {whither}")))
            }
            Event::FetchFailed { id: of, failure } if Some(of) == id => {
                (json!({ "failed": at, "why": failure.to_string() }), once(format!("failed {at}: {failure}")))
            }
            Event::UrlExcluded { id: of, reason } if Some(of) == id => {
                let why = reason.why();
                self.is_hosts = reason.is_hosts();
                (json!({ "refused": at, "reason": reason, "why": why }), once(format!("skipped {at}: {why}")))
            }
            _ => return,
        };
        // A fetched page stays fetched; `suidao history` lists later visits.
        if self.fate.get("fetched").is_some() {
            self.visits_since += 1;
        } else {
            (self.fate, self.told) = (fate, told.map(|told| format!("  {told}\n")));
        }
    }

    /// Links to it, the best first: followed before dropped, then by scores, then by priority, then in order of
    /// discovery.
    fn judged(&self) -> Vec<&Linked> {
        let mut judged: Vec<&Linked> = self.links.iter().filter(|linked| linked.on.is_some()).collect();
        judged.sort_by(|one, other| {
            let (mine, its) = (followed(&one.link), followed(&other.link));
            let evidence = other.link.relevance.get().total_cmp(&one.link.relevance.get());
            let priority = |place: Option<QueueEntry>| place.map(|place| place.priority);
            let is_followed = its.is_some().cmp(&mine.is_some());
            is_followed.then(evidence).then_with(|| priority(its).cmp(&priority(mine)))
        });
        judged
    }

    fn name(&self, id: UrlId) -> String {
        self.names.get(&id).map_or_else(|| format!("URL number {}", id.0), ToString::to_string)
    }

    fn spelling(&self, to: Option<Link>) -> &'static str {
        match to.and_then(|link| self.names.get(&link.to)) {
            Some(to) if to.scheme() != self.url.scheme() => "by the scheme its host answers",
            Some(_) => "by the URL without its session parameter",
            None => "by the scheme its host answers, or by the URL without its session parameter",
        }
    }

    /// Why it is still queued or was left, if nothing has happened to it yet.
    fn standing(&self, refused: Option<SkipReason>, detailed: bool) -> String {
        if let Some(reason) = refused {
            return format!("skipped: {}", reason.why());
        }
        let places = self.links.iter().filter_map(|linked| followed(&linked.link));
        match (places.max_by_key(|place| (std::cmp::Reverse(place.lane), place.priority)), self.links.last()) {
            (Some(place), _) => format!("queued: {}", place_in_words(place, detailed)),
            (None, Some(Linked { link: Link { verdict: LinkDecision::Drop(reason), .. }, .. })) => {
                format!("not queued: {}", reason.why())
            }
            (None, _) => "known, but no link to it was scored".to_owned(),
        }
    }

    fn page(&self, page: &PageProcessed, detailed: bool) -> String {
        let mut told = vec![format!("status {}: {}", page.status, page.title)];
        let mut tell = |line: String| told.push(line);
        if page.rendered {
            tell("rendered in a browser".to_owned());
        }
        tell(format!("relevance {:.3}: {}", page.relevance.get(), verdict(page)));
        let terms: Vec<String> = page.terms.iter().map(|found| format!("{} ×{}", found.term, found.count)).collect();
        let none = "no topic terms".to_owned();
        tell(if terms.is_empty() { none } else { format!("terms: {}", terms.join(", ")) });
        if page.foreign {
            let language = page.language.as_deref().map_or("unknown", language_tag);
            tell(format!("language {language} is not one of keep.languages: not exported"));
        }
        if page.noindex {
            tell("marked noindex: exported only with --with-noindex".to_owned());
        }
        match (&page.canonical, page.copy_of.map(|of| self.name(of))) {
            (Some(_), Some(of)) => {
                tell(format!("canonical URL {of}: exported in its place if the text is the same"));
            }
            (Some(claimed), None) => tell(format!("canonical URL {claimed}: ignored as implausible")),
            _ => {}
        }
        tell(format!("queued with {}", place_in_words(page.place, detailed)));
        told.join("\n  ")
    }
}

impl fmt::Display for UrlHistory {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let detailed = out.alternate();
        write!(out, "{}\n{}", self.url, self.told[usize::from(detailed)])?;
        if let Some(failure) = self.unreached.as_ref().filter(|_| self.is_hosts && self.fate.get("reason").is_some()) {
            writeln!(out, "  last robots.txt request to the host: {failure}")?;
        }
        if self.visits_since > 0 {
            let times = if self.visits_since == 1 { "once".to_owned() } else { format!("{} times", self.visits_since) };
            writeln!(out, "  revisited {times}; see `suidao history`")?;
        }
        for failure in &self.retries {
            writeln!(out, "  failed earlier and retried: {failure}")?;
        }
        let judged = self.judged();
        if !judged.is_empty() {
            writeln!(out, "scored links to it, best first: {}", judged.len())?;
        }
        for Linked { on, link } in judged.iter().take(MOST_LINKS) {
            let [anchor, context, url] = [link.evidence.anchor, link.evidence.context, link.evidence.url];
            let verdict = match link.verdict {
                LinkDecision::Follow(place) => place_in_words(place, detailed),
                LinkDecision::Drop(reason) => format!("dropped: {}", reason.why()),
            };
            writeln!(
                out,
                "  {:.3} (anchor {:.3}, context {:.3}, URL {:.0}); {verdict}; on {}",
                link.relevance.get(),
                anchor.get(),
                context.get(),
                url.get(),
                on.as_deref().unwrap_or_default(),
            )?;
        }
        if judged.len() > MOST_LINKS {
            writeln!(out, "  and {} more (`suidao why --json` lists all)", judged.len() - MOST_LINKS)?;
        }
        writeln!(out, "path:")?;
        for found in &self.path {
            let how = match found.origin {
                UrlOrigin::Seed => "seed".to_owned(),
                UrlOrigin::Named => "sitemap or feed listed in robots.txt or a page".to_owned(),
                UrlOrigin::Listed(_) if found.anchor.is_empty() => "listed there".to_owned(),
                UrlOrigin::Listed(_) => format!("listed there as “{}”", found.anchor),
                UrlOrigin::Canonical(_) => "canonical URL of that page".to_owned(),
                UrlOrigin::Link(_) if found.anchor.is_empty() => "link without text".to_owned(),
                UrlOrigin::Link(_) => format!("link “{}”", found.anchor),
                UrlOrigin::Redirect(_) => "redirect".to_owned(),
            };
            let page = self.pages.get(&found.id).map_or("", |told| told[usize::from(detailed)].as_str());
            writeln!(out, "  {} ({how}){page}", found.url)?;
        }
        if self.fate.get("standing").is_some() && !self.fate["refused"].is_null() {
            writeln!(out, "  {} (skipped)", self.url)?;
        }
        Ok(())
    }
}

fn followed(link: &Link) -> Option<QueueEntry> {
    match link.verdict {
        LinkDecision::Follow(place) => Some(place),
        LinkDecision::Drop(_) => None,
    }
}

fn parent(origin: UrlOrigin) -> Option<UrlId> {
    match origin {
        UrlOrigin::Seed | UrlOrigin::Named => None,
        UrlOrigin::Link(from) | UrlOrigin::Redirect(from) | UrlOrigin::Listed(from) | UrlOrigin::Canonical(from) => {
            Some(from)
        }
    }
}

fn k_in_words(place: QueueEntry) -> String {
    match place.trail.k {
        TunnelBudget::Unbounded => "k ∞".to_owned(),
        TunnelBudget::Left(left) => format!("k {left}"),
    }
}

fn place_in_words(place: QueueEntry, detailed: bool) -> String {
    let queue = if detailed { format!("queue {}, {}, ", place.lane.0, k_in_words(place)) } else { String::new() };
    let pages = if place.trail.hops == 1 { "page" } else { "pages" };
    format!(
        "priority {:.3}, {queue}{} off-topic {pages} since the last relevant one, depth {}",
        place.priority.get(),
        place.trail.hops,
        place.trail.depth,
    )
}

fn time(at: Millis) -> String {
    let timestamp = i64::try_from(at.0).ok().and_then(|ms| jiff::Timestamp::from_millisecond(ms).ok());
    timestamp.map_or_else(|| at.0.to_string(), |timestamp| timestamp.strftime("%Y-%m-%d %H:%M:%S").to_string())
}

fn verdict(page: &PageProcessed) -> &'static str {
    match (page.relevant, page.is_relevant_document()) {
        (_, true) => "relevant",
        (true, false) if page.sketch.is_text() => "on-topic listing page",
        (true, false) => "on-topic page without main text",
        _ => "off topic",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use suidao_page::model::{PathState, Priority, QueueId, Relevance};

    #[test]
    fn links_are_told_by_what_they_gave_and_how_many_more_there_are() {
        let follow = |priority| {
            LinkDecision::Follow(QueueEntry {
                lane: QueueId(0),
                priority: Priority::new(priority),
                trail: PathState::SEED,
            })
        };
        let link = |n: u32, relevance, verdict| Linked {
            on: Some(n.to_string()),
            link: Link::bare(UrlId(0), Relevance::new(relevance), verdict),
        };
        let weak = (0..20).map(|n| link(n, 0.1, follow(0.2)));
        let others = [
            link(30, 0.9, LinkDecision::Drop(SkipReason::TunnelEnd)),
            link(31, 0.5, follow(0.3)),
            link(32, 0.8, follow(0.1)),
            link(33, 0.5, follow(0.4)),
        ];
        let url = CrawlUrl::parse("http://a.cn/").unwrap();
        let story = UrlHistory { links: weak.chain(others).collect(), ..UrlHistory::of(url) };
        let order: Vec<&str> = story.judged().iter().map(|linked| linked.on.as_deref().unwrap()).collect();
        assert_eq!(order[..5], ["32", "33", "31", "0", "1"]);
        assert_eq!(order.last(), Some(&"30"), "what was dropped gave nothing");
        let (told, story_in_detail) = (story.to_string(), format!("{story:#}"));
        assert!(told.contains("scored links to it, best first: 24\n  0.800 ("), "{told}");
        assert!(told.contains("  and 14 more (`suidao why --json` lists all)\n"), "{told}");
        assert!(!told.contains("queue") && story_in_detail.contains("queue 0, k "), "{told}");
    }
}
