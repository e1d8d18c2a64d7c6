//! The history of one URL, from the log: its path, scores, k, its outcome or the reason why it was skipped, and its
//! visits.

mod words;

use std::fmt;

use rustc_hash::{FxHashMap, FxHashSet};
use serde::Serialize;
use serde_json::{Value, json};

use crate::store::{Location, Record, StoreError, display_time};
use suidao_page::messages::Lang;
use suidao_page::model::{
    CrawlUrl, Discovered, Event, Failure, Link, LinkDecision, PageChanges, PageProcessed, Priority, QueueEntry,
    Relevance, SkipReason, UrlId, UrlOrigin,
};
use suidao_page::read::language_tag;
use words::{describe_entry, describe_k, how_queued};

/// Maximum number of links listed; their total number is given too.
const MAX_LINKS: usize = 10;

/// A link to it and the page with that link; `None` for a seed and for a URL of `--add`.
#[derive(Serialize)]
struct Linked {
    page: Option<String>,
    link: Link,
    /// It came with `--add` and is judged as a link.
    #[serde(skip)]
    is_added: bool,
}

/// A request for the URL, or a decision that replaced one.
#[derive(Default, Serialize)]
struct Visit {
    at: String,
    status: Option<u16>,
    description: String,
    /// The text differs from that of the visit before.
    text_changed: bool,
    /// URLs never seen before that the page links to.
    new_links: usize,
    archive: Option<Location>,
}

/// Everything that the log has about one URL, in words of a language. Serialised for programs, displayed for people.
#[derive(Serialize)]
pub struct UrlHistory {
    url: CrawlUrl,
    #[serde(skip)]
    lang: Lang,
    /// Its outcome; before one, why it is queued or was skipped.
    outcome: Value,
    visits: Vec<Visit>,
    links: Vec<Linked>,
    path: Vec<Discovered>,
    /// The outcome for people: in brief, and with queue and k.
    #[serde(skip)]
    summary: [String; 2],
    /// What revisits found instead of the page, if that does not replace it or has removed it.
    #[serde(skip_serializing_if = "Option::is_none")]
    since: Option<String>,
    /// It waits for its host, or was skipped because of it.
    #[serde(skip)]
    depends_on_host: bool,
    /// Until when it waited for better URLs.
    #[serde(skip_serializing_if = "Option::is_none")]
    held_until: Option<String>,
    /// Why the last request for the robots.txt of its host failed, if it did.
    #[serde(skip)]
    robots_failure: Option<Failure>,
    /// The pages on the path in words: in brief, and with k.
    #[serde(skip)]
    page_summaries: FxHashMap<UrlId, [String; 2]>,
    #[serde(skip)]
    names: FxHashMap<UrlId, CrawlUrl>,
}

/// The page or redirect whose links an event lists.
fn source_of(event: &Event) -> Option<UrlId> {
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
    /// Reads the log twice, by calls of `batches`: first for the links, then for the few URLs on the path. `None` if
    /// the URL never occurred.
    pub fn read<I: Iterator<Item = Result<Record, StoreError>>>(
        batches: impl Fn() -> I,
        url: &CrawlUrl,
        lang: Lang,
    ) -> Result<Option<Self>, StoreError> {
        let mut origins: Vec<Option<UrlId>> = Vec::new();
        let (mut id, mut skipped) = (None, None);
        let mut mentioned: FxHashSet<UrlId> = FxHashSet::default();
        for record in batches() {
            for event in &record?.batch.events {
                match event {
                    Event::Discovered(found) => {
                        origins.push(found.origin.source());
                        if found.url == *url {
                            id = Some(found.id);
                        }
                    }
                    Event::LinkRejected { url: rejected, from, reason } if rejected == url => {
                        skipped = Some((*reason, *from));
                        mentioned.extend(*from);
                    }
                    Event::PageFetched(page) if Some(page.id) == id => mentioned.extend(page.copy_of),
                    event => {
                        let (Some(from), links) = (source_of(event).filter(|_| id.is_some()), event.links()) else {
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
        // If one link was skipped and another accepted, the accepted one counts.
        let skipped = skipped.filter(|_| id.is_none());
        let Some(last) = id.map(Some).or(skipped.map(|(_, from)| from)) else { return Ok(None) };
        let path: FxHashSet<UrlId> =
            std::iter::successors(last, |id| origins.get(id.0 as usize).copied().flatten()).collect();
        mentioned.extend(&path);
        let mut history = Self::of(url.clone(), lang);
        let mut pages = 0;
        for record in batches() {
            let Record { batch, archive, .. } = record?;
            let is_new = |event: &&Event| matches!(event, Event::Discovered(found) if id.is_some_and(|id| found.origin == UrlOrigin::Link(id)));
            let discovered = batch.events.iter().filter(is_new).count();
            for event in batch.events {
                if let Some(visit) = visit(&event, id, discovered, lang) {
                    let archive = archive.filter(|_| visit.status.is_some());
                    history.visits.push(Visit { at: lang.date(&display_time(batch.at)), archive, ..visit });
                }
                if let Event::Discovered(found) = &event {
                    if mentioned.contains(&found.id) {
                        history.names.insert(found.id, found.url.clone());
                    }
                    history.path.extend(path.contains(&found.id).then(|| found.clone()));
                }
                if let Event::PageFetched(page) = &event {
                    pages += u64::from(page.changes.is_none());
                    if path.contains(&page.id) {
                        let brief = format!("  {:.3} {}", page.relevance.get(), page.relevance_label().text(lang));
                        let detailed = format!("{brief}{}{}", lang.phrase("comma"), describe_k(page.queued_as));
                        history.page_summaries.insert(page.id, [brief, detailed]);
                    }
                }
                history.take(event, &lang.date(&display_time(batch.at)), id, pages);
            }
        }
        if history.outcome.is_null() {
            let reason = skipped.map(|(reason, _)| reason);
            let status = [false, true].map(|detailed| history.status(reason, detailed));
            history.summary = status.each_ref().map(|status| format!("  {status}\n"));
            let [_, status] = status;
            history.outcome = json!({ "status": status, "reason": reason });
            history.depends_on_host = reason.is_none();
        }
        Ok(Some(history))
    }

    fn of(url: CrawlUrl, lang: Lang) -> Self {
        Self {
            url,
            lang,
            outcome: Value::Null,
            visits: Vec::new(),
            links: Vec::new(),
            path: Vec::new(),
            page_summaries: FxHashMap::default(),
            names: FxHashMap::default(),
            summary: Default::default(),
            since: None,
            depends_on_host: false,
            held_until: None,
            robots_failure: None,
        }
    }

    fn take(&mut self, event: Event, at: &str, id: Option<UrlId>, pages: u64) {
        if let Some(from) = source_of(&event) {
            let to_it = event.links().iter().filter(|link| Some(link.to) == id);
            let linked: Vec<Linked> =
                to_it.map(|link| Linked { page: Some(self.name(from)), link: *link, is_added: false }).collect();
            self.links.extend(linked);
        }
        let lang = self.lang;
        let name = |link: Option<Link>| link.map(|link| self.name(link.to));
        let known = || lang.phrase("why-a-known-url");
        let same = |summary: String| [summary.clone(), summary];
        let (outcome, summary) = match event {
            Event::SeedJudged(link) if Some(link.to) == id => {
                return self.links.push(Linked { page: None, link, is_added: false });
            }
            Event::LinkOffered(link) if Some(link.to) == id => {
                return self.links.push(Linked { page: None, link, is_added: true });
            }
            Event::Robots { origin, failure, .. }
                if origin.split_once("://").is_some_and(|(_, host)| *host == *self.url.authority()) =>
            {
                self.robots_failure = failure;
                return;
            }
            Event::Released { id: of } if Some(of) == id => {
                self.held_until = Some(at.to_owned());
                return;
            }
            Event::PageFetched(page) if Some(page.id) == id => {
                let mut page_json = json!(page);
                // Numbers of other URLs mean nothing to readers.
                if let Some(fields) = page_json.as_object_mut() {
                    fields.retain(|name, _| !matches!(name.as_str(), "links" | "known"));
                }
                // A revisit replaces the page, which keeps its number.
                let first = self.outcome.get("fetched").and_then(Value::as_str).map(str::to_owned);
                let number = self.outcome.get("number").and_then(Value::as_u64).unwrap_or(pages);
                let (fetched, visited) = first.map_or((at.to_owned(), ""), |first| (first, at));
                let outcome = json!({ "fetched": fetched, "visited": at, "number": number, "page": page_json });
                let version = if visited.is_empty() { String::new() } else { lang.text("why-version-of", &[&visited]) };
                let summary =
                    |detailed| lang.text("why-fetched", &[&fetched, &number, &version, &self.page(&page, detailed)]);
                let summary = [false, true].map(summary);
                (self.outcome, self.since) = (Value::Null, None);
                (outcome, summary)
            }
            Event::Unchanged { id: of, .. } if Some(of) == id => {
                self.since = None;
                return;
            }
            Event::PageGone { id: of, to } if Some(of) == id => {
                self.since = Some(match to {
                    Some(_) => lang.text("why-removed-moved", &[&at]),
                    None => lang.text("why-removed-missing", &[&at]),
                });
                return;
            }
            Event::SitemapRead { id: of, links, sources, .. } if Some(of) == id => {
                let queued = links.len().saturating_sub(sources.len());
                let summary = lang.text("why-sitemap", &[&at, &queued]);
                (json!({ "sitemap_read": at, "queued": queued }), same(summary))
            }
            Event::Redirected { id: of, .. } if Some(of) == id && self.is_page() => {
                self.since =
                    self.since.take().or_else(|| Some(lang.text("why-kept", &[&at, &lang.phrase("why-it-redirects")])));
                return;
            }
            Event::FetchFailed { id: of, failure } if Some(of) == id && self.is_page() => {
                if failure.is_missing() {
                    self.since =
                        self.since.take().or_else(|| Some(lang.text("why-kept", &[&at, &failure.kind.text(lang)])));
                }
                return;
            }
            Event::Redirected { id: of, link, .. } if Some(of) == id => {
                let to = name(link);
                let target = to.as_deref().unwrap_or_else(known);
                (json!({ "redirected": at, "to": to }), same(lang.text("why-redirected", &[&at, &target])))
            }
            Event::SchemeRewritten { id: of, link } if Some(of) == id => {
                let (to, why) = (name(link), self.rewrite_reason(link));
                let target = to.as_deref().unwrap_or_else(known);
                let summary = lang.text("why-replaced", &[&at, &why, &target]);
                (json!({ "rewritten": at, "to": to, "why": why }), same(summary))
            }
            Event::FetchFailed { id: of, failure } if Some(of) == id => {
                let failure = failure.kind.text(lang);
                (json!({ "failed": at, "failure": failure }), same(lang.text("why-failed", &[&at, &failure])))
            }
            Event::UrlExcluded { id: of, reason } if Some(of) == id => {
                let why = reason.why(lang);
                self.depends_on_host = reason.is_host_failure();
                (
                    json!({ "skipped": at, "reason": reason, "why": why }),
                    same(lang.text("why-skipped-at", &[&at, &why])),
                )
            }
            _ => return,
        };
        // A revisit without a page does not replace the page.
        if self.outcome.get("fetched").is_none() {
            (self.outcome, self.summary) = (outcome, summary.map(|summary| format!("  {summary}\n")));
        }
    }

    fn is_page(&self) -> bool {
        self.outcome.get("fetched").is_some()
    }

    /// Links to it, the best first: followed before dropped, then by scores, then by priority, then in order of
    /// discovery.
    fn scored_links(&self) -> Vec<&Linked> {
        let mut links: Vec<&Linked> =
            self.links.iter().filter(|linked| linked.page.is_some() || linked.is_added).collect();
        links.sort_by(|one, other| {
            let (mine, its) = (followed(&one.link), followed(&other.link));
            let evidence = other.link.relevance.get().total_cmp(&one.link.relevance.get());
            let priority = |entry: Option<QueueEntry>| entry.map(|entry| entry.priority);
            let is_followed = its.is_some().cmp(&mine.is_some());
            is_followed.then(evidence).then_with(|| priority(its).cmp(&priority(mine)))
        });
        links
    }

    /// The best priority that a link gave it, if it waits in the queue.
    pub fn queued_at(&self) -> Option<Priority> {
        let is_queued = self.outcome.get("status").is_some() && self.outcome["reason"].is_null();
        let entries = self.links.iter().filter_map(|linked| followed(&linked.link)).filter(|_| is_queued);
        entries.map(|entry| entry.priority).max()
    }

    fn is_seed(&self) -> bool {
        self.links.iter().any(|linked| linked.page.is_none() && !linked.is_added)
    }

    fn name(&self, id: UrlId) -> String {
        self.names.get(&id).map_or_else(|| self.lang.text("why-url-number", &[&id.0]), ToString::to_string)
    }

    fn rewrite_reason(&self, to: Option<Link>) -> &'static str {
        match to.and_then(|link| self.names.get(&link.to)) {
            Some(to) if to.scheme() != self.url.scheme() => self.lang.phrase("why-by-scheme"),
            Some(_) => self.lang.phrase("why-by-session"),
            None => self.lang.phrase("why-by-either"),
        }
    }

    /// Why it is still queued or was left, if nothing has happened to it yet.
    fn status(&self, skipped: Option<SkipReason>, detailed: bool) -> String {
        let lang = self.lang;
        if let Some(reason) = skipped {
            return lang.text("why-skipped", &[&reason.why(lang)]);
        }
        let entries = self.links.iter().filter_map(|linked| followed(&linked.link));
        match (entries.max_by_key(|entry| (std::cmp::Reverse(entry.queue), entry.priority)), self.links.last()) {
            (Some(entry), _) => how_queued(entry, self.is_seed(), detailed, lang),
            (None, Some(Linked { link: Link { decision: LinkDecision::Drop(reason), .. }, .. })) => {
                lang.text("why-not-queued", &[&reason.why(lang)])
            }
            (None, _) => lang.text("why-no-link-scored", &[]),
        }
    }

    fn page(&self, page: &PageProcessed, detailed: bool) -> String {
        let lang = self.lang;
        let mut lines = vec![lang.text("why-status", &[&page.status, &page.title])];
        let mut add = |line: String| lines.push(line);
        if page.rendered {
            add(lang.text("why-rendered", &[]));
        }
        // Only a threshold of 0 accepts a page without a topic term, as in a forum crawl without a lexicon.
        let without_topic = page.on_topic && page.relevance == Relevance::ZERO;
        let reason = if without_topic { lang.phrase("why-threshold-0") } else { "" };
        let relevance = format!("{:.3}", page.relevance.get());
        add(lang.text("why-relevance", &[&relevance, &page.relevance_label().text(lang), &reason]));
        let terms: Vec<String> = page.terms.iter().map(|found| format!("{} ×{}", found.term, found.count)).collect();
        add(match terms.as_slice() {
            [] => lang.text("why-no-terms", &[]),
            terms => lang.text("why-terms", &[&terms.join(lang.phrase("list-separator"))]),
        });
        if page.foreign {
            let language = page.language.as_deref().map(|code| lang.language(language_tag(code)));
            add(lang.text("why-foreign", &[&language.unwrap_or_else(|| lang.phrase("unknown"))]));
        }
        if page.noindex {
            add(lang.text("why-noindex", &[]));
        }
        match (&page.canonical, page.copy_of.map(|of| self.name(of))) {
            (Some(_), Some(of)) => {
                add(lang.text("why-canonical", &[&of]));
            }
            (Some(claimed), None) => {
                add(lang.text("why-canonical-ignored", &[claimed]));
            }
            _ => {}
        }
        add(how_queued(page.queued_as, self.is_seed(), detailed, lang));
        lines.join("\n  ")
    }
}

impl fmt::Display for UrlHistory {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (detailed, lang) = (out.alternate(), self.lang);
        write!(out, "{}\n{}", self.url, self.summary[usize::from(detailed)])?;
        if let Some(since) = &self.since {
            writeln!(out, "  {since}")?;
        }
        if let Some(failure) =
            self.robots_failure.as_ref().filter(|_| self.depends_on_host && self.outcome.get("reason").is_some())
        {
            let waits = self.outcome["reason"].is_null();
            let waits = if waits { lang.phrase("why-host-waits") } else { "" };
            writeln!(out, "  {}", lang.text("why-robots", &[&failure.kind.text(lang), &waits]))?;
        }
        if let Some(at) = &self.held_until {
            writeln!(out, "  {}", lang.text("why-held-until", &[at]))?;
        }
        // A single visit is the outcome, except a failure of a URL that is queued again.
        let are_shown = self.visits.len() > 1 || self.outcome.get("status").is_some() && !self.visits.is_empty();
        if are_shown {
            writeln!(out, "{}", lang.phrase("why-visits"))?;
        }
        for visit in self.visits.iter().filter(|_| are_shown) {
            let status = visit.status.map_or_else(|| "   ".to_owned(), |status| status.to_string());
            write!(out, "  {}  {status}  {}", visit.at, visit.description)?;
            if visit.new_links > 0 {
                write!(out, "{}", lang.text("why-new-links", &[&visit.new_links]))?;
            }
            let location = visit.archive.map(|at| lang.text("why-location", &[&at.file, &at.offset]));
            writeln!(out, "{}", location.unwrap_or_default())?;
        }
        writeln!(out, "{}", lang.phrase("why-path"))?;
        for found in &self.path {
            let how = match found.origin {
                UrlOrigin::Seed => lang.text("why-seed", &[]),
                UrlOrigin::Offered => lang.text("why-added", &[]),
                UrlOrigin::Named => lang.text("why-named", &[]),
                UrlOrigin::Listed(_) if found.anchor.is_empty() => lang.text("why-listed", &[]),
                UrlOrigin::Listed(_) => lang.text("why-listed-as", &[&found.anchor]),
                UrlOrigin::Canonical(_) => lang.text("why-canonical-of", &[]),
                UrlOrigin::Link(_) if found.anchor.is_empty() => lang.text("why-link-without-text", &[]),
                UrlOrigin::Link(_) => lang.text("why-link", &[&found.anchor]),
                UrlOrigin::Redirect(_) => lang.text("why-redirect", &[]),
            };
            let page = self.page_summaries.get(&found.id).map_or("", |summary| summary[usize::from(detailed)].as_str());
            writeln!(out, "  {}{page}", lang.text("why-bracketed", &[&found.url, &how]))?;
        }
        if self.outcome.get("status").is_some() && !self.outcome["reason"].is_null() {
            writeln!(out, "  {}", lang.text("why-bracketed", &[&self.url, &lang.phrase("skipped")]))?;
        }
        let links = self.scored_links();
        if !links.is_empty() {
            writeln!(out, "{}", lang.text("why-scored-links", &[&links.len()]))?;
        }
        for Linked { page: on, link, is_added } in links.iter().take(MAX_LINKS) {
            let [anchor, context, url] =
                [link.scores.anchor, link.scores.context, link.scores.url].map(|part| part.get());
            let score = match link.relevance.get() {
                0.0 => lang.text("why-score-0", &[]),
                score => {
                    let [score, anchor, context, url] = [score, anchor, context, url].map(|part| format!("{part:.3}"));
                    lang.text("why-score", &[&score, &anchor, &context, &url])
                }
            };
            let decision = match link.decision {
                LinkDecision::Follow(entry) => describe_entry(entry, detailed, lang),
                LinkDecision::Drop(reason) => lang.text("why-dropped", &[&reason.why(lang)]),
            };
            let on = match is_added {
                true => lang.text("why-added", &[]),
                false => lang.text("why-on", &[&on.as_deref().unwrap_or_default()]),
            };
            writeln!(out, "  {}", [score, decision, on].join(lang.phrase("why-separator")))?;
        }
        if links.len() > MAX_LINKS {
            writeln!(out, "  {}", lang.text("why-more-links", &[&(links.len() - MAX_LINKS)]))?;
        }
        Ok(())
    }
}

/// A visit of the URL, without time and archive. `new_links`: URLs first found in its batch.
fn visit(event: &Event, id: Option<UrlId>, new_links: usize, lang: Lang) -> Option<Visit> {
    let of = |other: UrlId| Some(other) == id;
    let answered = |status: u16, description: String| Visit { status: Some(status), description, ..Visit::default() };
    let unanswered = |description: String| Visit { description, ..Visit::default() };
    Some(match event {
        Event::PageFetched(page) if of(page.id) => match page.changes {
            None => Visit { text_changed: true, ..answered(page.status, lang.text("why-first-fetch", &[&page.title])) },
            Some(PageChanges { text, links }) => {
                let description = match (text, links) {
                    (true, true) => lang.text("why-text-and-links", &[]),
                    (true, false) => lang.text("why-text", &[]),
                    (false, true) => lang.text("why-links", &[]),
                    (false, false) => lang.text("why-bytes", &[]),
                };
                Visit { text_changed: text, new_links, ..answered(page.status, description) }
            }
        },
        Event::Unchanged { id, status, since, .. } if of(*id) => {
            let since = lang.date(&display_time(*since));
            answered(
                *status,
                match status {
                    304 => lang.text("why-not-modified", &[&since]),
                    _ => lang.text("why-identical", &[&since]),
                },
            )
        }
        Event::Redirected { id, permanent, .. } if of(*id) => unanswered(match permanent {
            true => lang.text("why-moved-permanently", &[]),
            false => lang.text("why-redirected-temporarily", &[]),
        }),
        Event::FetchRetried { id, failure } if of(*id) => {
            unanswered(lang.text("why-retried", &[&failure.kind.text(lang)]))
        }
        Event::FetchFailed { id, failure } if of(*id) => unanswered(failure.kind.text(lang)),
        Event::UrlExcluded { id, reason } if of(*id) => unanswered(lang.text("why-skipped", &[&reason.why(lang)])),
        Event::PageGone { id, to } if of(*id) => unanswered(match to {
            Some(_) => lang.text("why-retired-moved", &[]),
            None => lang.text("why-retired-missing", &[]),
        }),
        _ => return None,
    })
}

fn followed(link: &Link) -> Option<QueueEntry> {
    match link.decision {
        LinkDecision::Follow(entry) => Some(entry),
        LinkDecision::Drop(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{crawl, revisited};
    use super::*;
    use suidao_page::model::{FailureKind, PathState, Priority, QueueId, Relevance};

    #[test]
    fn visits_are_listed_with_what_had_changed() {
        let root = tempfile::tempdir().unwrap();
        let store = crawl(root.path(), &[("http://a.cn/1", "<title>球讯</title><p>足球")]);
        let url = CrawlUrl::parse("http://a.cn/1").unwrap();
        let history = UrlHistory::read(|| store.batches(), &url, Lang::English).unwrap().unwrap();
        assert!(
            !history.to_string().contains("visits:") && history.visits[0].description == "first fetch: 球讯",
            "{history}"
        );
        let mut revisit = store.batch(0).unwrap().batch;
        let first = revisit.at;
        for event in &mut revisit.events {
            if let Event::PageFetched(page) = event {
                page.changes = Some(PageChanges { text: true, links: false });
            }
        }
        drop(store);
        let store = revisited(root.path(), revisit, first);
        let history = UrlHistory::read(|| store.batches(), &url, Lang::English).unwrap().unwrap();
        let [before, after] = history.visits.as_slice() else { panic!("{history}") };
        assert!(before.archive.is_some() && after.text_changed && after.archive > before.archive, "{history}");
        let text = history.to_string();
        assert!(text.contains("visits:\n") && text.contains("  200  text changed  [file 1 byte "), "{text}");
        assert!(text.contains("fetched ") && text.contains(" as page 1, version of "), "{text}");
        let chinese = UrlHistory::read(|| store.batches(), &url, Lang::Chinese).unwrap().unwrap().to_string();
        assert!(chinese.contains("访问：\n") && chinese.contains("  200  正文有变化  [文件 1，字节 "), "{chinese}");
        assert!(
            chinese.contains(" 抓取，第 1 个网页，") && chinese.contains(" 的版本，状态码 200：球讯\n"),
            "{chinese}"
        );
    }

    #[test]
    fn a_queued_url_shows_why_its_host_or_its_first_fetch_failed() {
        let failure = |kind| Failure { kind, retry_after: None };
        let visit = |description: String| Visit {
            at: String::new(),
            status: None,
            description,
            text_changed: false,
            new_links: 0,
            archive: None,
        };
        let url = CrawlUrl::parse("http://a.cn/").unwrap();
        let mut history = UrlHistory::of(url, Lang::English);
        history.outcome = json!({ "status": "queued", "reason": null });
        history.depends_on_host = true;
        assert!(!history.to_string().contains("visits:"), "{history}");
        history.robots_failure = Some(failure(FailureKind::Connect));
        history.visits.push(visit(format!("{}; will be retried", failure(FailureKind::Timeout))));
        let text = history.to_string();
        assert!(text.contains(&format!("  last robots.txt request to the host: {};", FailureKind::Connect)), "{text}");
        assert!(
            text.contains("visits:\n") && text.contains(&format!("{}; will be retried", FailureKind::Timeout)),
            "{text}"
        );
    }

    #[test]
    fn links_are_listed_by_score_with_the_number_of_further_links() {
        let follow = |priority| {
            LinkDecision::Follow(QueueEntry {
                queue: QueueId(0),
                priority: Priority::new(priority),
                path: PathState::SEED,
            })
        };
        let link = |n: u32, relevance, decision| Linked {
            page: Some(n.to_string()),
            link: Link::without_page(UrlId(0), Relevance::new(relevance), decision),
            is_added: false,
        };
        let weak = (0..20).map(|n| link(n, 0.1, follow(0.2)));
        let others = [
            link(30, 0.9, LinkDecision::Drop(SkipReason::TunnelEnd)),
            link(31, 0.5, follow(0.3)),
            link(32, 0.8, follow(0.1)),
            link(33, 0.5, follow(0.4)),
        ];
        let url = CrawlUrl::parse("http://a.cn/").unwrap();
        let history = UrlHistory { links: weak.chain(others).collect(), ..UrlHistory::of(url, Lang::English) };
        let order: Vec<&str> = history.scored_links().iter().map(|linked| linked.page.as_deref().unwrap()).collect();
        assert_eq!(order[..5], ["32", "33", "31", "0", "1"]);
        assert_eq!(order.last(), Some(&"30"), "dropped links come last");
        let (brief, detailed) = (history.to_string(), format!("{history:#}"));
        assert!(brief.contains("24 scored links to it, highest priority first:\n  score 0.800 ("), "{brief}");
        assert!(brief.contains("  and 14 more (`suidao why --json` lists all)\n"), "{brief}");
        assert!(!brief.contains("queue") && detailed.contains("queue 0, k "), "{brief}");
    }
}
