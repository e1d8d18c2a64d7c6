//! `suidao check page`: shows what is read of one page, for people or as JSON.
//!
//! A page of the web is fetched by a crawl of that page alone, in a temporary directory, so that robots.txt, redirects,
//! the address check and all limits apply.

use std::fmt::{self, Display, Formatter};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Result;
use bytes::Bytes;
use clap::Args;
use serde::Serialize;
use serde_json::json;
use suidao::config::Config;
use suidao::extract::{CheckedSelector, PageTree};
use suidao::html::count;
use suidao::live::{self, Job, News};
use suidao::messages::Lang;
use suidao::model::{
    CrawlUrl, Defect, Event, Fetched, LinkScores, Region, Relevance, RelevanceLabel, RobotsRules, SkipReason,
    TermMatch, is_document, number,
};
use suidao::read::dom::Dom;
use suidao::read::{self, CharsetFrom, Parsed};
use suidao::scored;
use suidao::store::archive::ArchiveReader;
use suidao::store::{CrawlDirectory, Store};
use suidao::strategy::StrategyName;
use suidao::topic::{Lexicon, Topic, TopicScores};
use suidao::visible;

use super::{parse, read};
use crate::cli::network::NetworkArgs;
use crate::cli::outcome::{Exit, Verbosity};
use crate::cli::signals::interrupted;
use crate::cli::temporary::temporary_directory;
use crate::cli::{extraction, inputs};

/// Maximum number of links shown to people; JSON has all.
const LINKS: usize = 40;

/// Longest wait for a failing host, in seconds.
const HOST_WAIT: f64 = 5.0;

/// Show what suidao reads on a page.
#[derive(Args)]
#[command(after_help = "Example: suidao check page http://a.cn/post/1 -m lexicons/ml.toml")]
pub struct PageArgs {
    /// Saved page (HTML or text), or the URL of a page to fetch
    #[arg(value_name = "FILE|URL")]
    page: String,
    /// URL of a saved page, to resolve its relative links
    #[arg(long, value_name = "BASE", help_heading = "Input")]
    url: Option<String>,
    /// Lexicon to score by
    #[arg(short = 'm', long, value_name = "LEXICON", help_heading = "Input")]
    lexicon: Option<PathBuf>,
    /// Show the elements that a CSS selector matches, one line of text each
    #[arg(long, value_name = "CSS", conflicts_with = "extract", help_heading = "Input")]
    select: Option<String>,
    /// Show what extraction rules find, as JSON
    #[arg(long, value_name = "FIELDS.toml", help_heading = "Input")]
    extract: Option<PathBuf>,
    /// Print one JSON object
    #[arg(long, help_heading = "Output")]
    json: bool,
    #[command(flatten)]
    network: NetworkArgs,
}

pub fn show(args: &PageArgs, verbosity: Verbosity) -> Result<Exit> {
    let topic = args.lexicon.as_deref().map(inputs::topic).transpose()?;
    let selector = args.select.as_deref().map(CheckedSelector::parse).transpose()?;
    let extractor = args.extract.as_deref().map(extraction::read).transpose()?;
    let remote = CrawlUrl::parse(&args.page).ok().filter(|_| !Path::new(&args.page).exists());
    let config = args.network.load()?;
    let fetched = match remote {
        Some(url) => match fetch(url, config.clone())? {
            Ok(fetched) => {
                args.network.warn_without_contact(&config, verbosity);
                fetched
            }
            Err(why) => {
                errln!("suidao: cannot read {}: {why}", args.page);
                return Ok(Exit::Incomplete);
            }
        },
        None => {
            if args.page.contains("://") && !Path::new(&args.page).exists() {
                parse(&args.page)?;
            }
            let page = saved(&args.page, args.url.as_deref())?;
            if args.url.is_none() && !verbosity.quiet {
                errln!("warning: no --url given, using http://localhost/; the URL affects links, dates and scores");
            }
            page
        }
    };
    if let Some(selector) = selector {
        return selected(&fetched, &selector, args.json);
    }
    if let Some(extractor) = extractor {
        let extracted = extractor.extract(&Dom::of(&fetched));
        outln!("{}", serde_json::to_string_pretty(&json!({ "extracted": extracted.values, "text": extracted.text }))?);
        return Ok(Exit::Done);
    }
    let seen = PageSummary::of(&fetched, live::agent(&config), topic.as_ref());
    if args.json {
        outln!("{}", serde_json::to_string_pretty(&number::plain(serde_json::to_value(&seen)?))?);
    } else {
        outln!("{}", seen.to_string().trim_end_matches('\n'));
    }
    Ok(Exit::Done)
}

/// Prints what a selector matches; ends with 1 if that is nothing.
fn selected(fetched: &Fetched, selector: &CheckedSelector, json: bool) -> Result<Exit> {
    let texts = PageTree::of(&Dom::of(fetched)).texts(selector);
    if json {
        outln!("{}", serde_json::to_string_pretty(&texts)?);
    } else {
        for text in &texts {
            outln!("{text}");
        }
    }
    if texts.is_empty() {
        errln!("no element matches");
        return Ok(Exit::Incomplete);
    }
    Ok(Exit::Done)
}

/// Builds a response from a saved page.
fn saved(file: &str, url: Option<&str>) -> Result<Fetched> {
    let path = Path::new(file);
    let body = Bytes::from(read(path)?);
    let plain = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("txt"));
    let media = if plain { "text/plain" } else { "text/html" };
    let headers = vec![("content-type".to_owned(), media.to_owned())];
    Ok(Fetched::new(parse(url.unwrap_or("http://localhost/"))?, 200, headers, body))
}

/// Fetches one page as a crawl does; the inner error is the reason of a failure.
fn fetch(url: CrawlUrl, mut config: Config) -> Result<Result<Fetched, String>> {
    config.limits.pages = Some(1);
    config.strategy.name = StrategyName::BreadthFirst;
    config.crawl.forums = false;
    // A person waits for this one.
    config.politeness.patience = config.politeness.patience.min(HOST_WAIT);
    let root = temporary_directory()?;
    // Nothing is scored here, but a crawl needs a topic.
    let topic = Arc::new(Topic::new(Lexicon::from_terms("page", &[("page", 1.0)])));
    let directory = CrawlDirectory::new(root.path());
    let limit = config.fetch.max_body;
    let job = Job::new(topic, vec![url], config, directory);
    let mut why = None;
    let listen = |news: News| {
        if let News::Batch(batch, _) = news {
            for event in &batch.events {
                // The failure before has already given the reason why the host was given up.
                let after =
                    matches!(event, Event::UrlExcluded { reason, .. } if reason.is_host_failure()) && why.is_some();
                why = reason(event).filter(|_| !after).or(why.take());
            }
        }
    };
    live::run(&job, listen, interrupted())?;
    let store = Store::open(&job.directory)?;
    let mut archive = ArchiveReader::new(&job.directory, limit);
    for record in store.batches() {
        let record = record?;
        let settled = record.batch.events.iter().any(|event| matches!(event, Event::PageFetched(_)));
        if let Some(location) = record.response().filter(|_| settled) {
            return Ok(Ok(archive.read_at(location)?));
        }
    }
    Ok(Err(why.unwrap_or_else(|| "interrupted".to_owned())))
}

/// Why an event brings no page, in words.
fn reason(event: &Event) -> Option<String> {
    match event {
        Event::FetchFailed { failure, .. } | Event::FetchRetried { failure, .. } => Some(failure.to_string()),
        Event::LinkRejected { reason, .. } | Event::UrlExcluded { reason, .. } => {
            Some(SkipReason::why(*reason, Lang::English).to_owned())
        }
        Event::Robots { origin, rules: RobotsRules::Unreachable, failure, .. } => {
            let cause = failure.as_ref().map_or_else(String::new, |failure| format!(" ({failure})"));
            Some(format!("{origin}/robots.txt cannot be fetched{cause}, so no page of the host may be fetched"))
        }
        _ => None,
    }
}

/// What is read of a page, for programs (`Serialize`) and people (`Display`).
#[derive(Serialize)]
struct PageSummary<'a> {
    url: &'a CrawlUrl,
    title: String,
    author: Option<String>,
    source: Option<String>,
    videos: Vec<CrawlUrl>,
    published: Option<String>,
    published_at: Option<String>,
    language: Option<String>,
    charset: String,
    charset_from: CharsetFrom,
    digest: String,
    noindex: bool,
    nofollow: bool,
    listing: bool,
    canonical: Option<CrawlUrl>,
    feeds: Vec<CrawlUrl>,
    defects: Vec<Defect>,
    chars: u32,
    simhash: String,
    #[serde(flatten)]
    scores: Option<PageScores>,
    text: String,
    links: Vec<LinkSummary>,
}

/// Scores, which need a lexicon.
#[derive(Serialize)]
struct PageScores {
    relevance: Relevance,
    page_threshold: Relevance,
    relevant: bool,
    verdict: &'static str,
    terms: Vec<TermMatch>,
}

#[derive(Serialize)]
struct LinkSummary {
    url: CrawlUrl,
    anchor: String,
    region: Region,
    nofollow: bool,
    #[serde(flatten)]
    scores: Option<ScoredLink>,
}

#[derive(Serialize)]
struct ScoredLink {
    relevance: Relevance,
    scores: LinkScores,
}

impl<'a> PageSummary<'a> {
    fn of(fetched: &'a Fetched, robot: &str, topic: Option<&Topic>) -> Self {
        let parsed = read::parse_dom(&Dom::of(fetched), robot);
        let (charset_from, published_at) = (parsed.charset_from, parsed.published_at);
        let (source, videos) = (parsed.source.clone(), parsed.videos.clone());
        let scores = topic.map_or_else(|| unscored(&parsed), |topic| topic.score(&parsed.document));
        let page = scored::page(parsed, scores, &fetched.url);
        let scores = topic.map(|topic| {
            let on_topic = page.relevance >= topic.page_threshold();
            PageScores {
                relevance: page.relevance,
                page_threshold: topic.page_threshold(),
                relevant: on_topic && is_document(page.listing, page.sketch),
                verdict: RelevanceLabel::of(on_topic, page.listing, page.sketch).text(Lang::English),
                terms: page.terms,
            }
        });
        let links = page.outlinks.into_iter().map(|link| LinkSummary {
            url: link.url,
            anchor: link.anchor,
            region: link.region,
            nofollow: link.nofollow,
            scores: topic.map(|_| ScoredLink { relevance: link.relevance, scores: link.scores }),
        });
        Self {
            url: &fetched.url,
            title: page.title,
            author: page.author,
            source,
            videos,
            published: page.published.map(|day| day.to_string()),
            published_at: published_at.map(|at| at.to_string()),
            language: page.language.as_deref().map(|language| read::language_tag(language).to_owned()),
            charset: page.charset,
            charset_from,
            digest: page.digest.to_string(),
            // Also what asked not to be indexed from a time on that has passed.
            noindex: page.noindex || page.expires.is_some_and(|at| at <= suidao::live::now()),
            nofollow: page.nofollow,
            listing: page.listing,
            canonical: page.canonical,
            feeds: page.feeds,
            defects: page.defects,
            chars: page.sketch.chars,
            simhash: format!("{:016x}", page.sketch.simhash),
            scores,
            text: page.text,
            links: links.collect(),
        }
    }

    fn write_links(&self, out: &mut Formatter<'_>) -> fmt::Result {
        if self.links.is_empty() {
            return Ok(());
        }
        let scores = if self.scores.is_some() { ": relevance (anchor, context, URL)" } else { "" };
        writeln!(out, "\n{}{scores}", count(self.links.len(), "link", "links"))?;
        // The best first; without scores in the page's order.
        let mut links: Vec<&LinkSummary> = self.links.iter().collect();
        let relevance = |link: &LinkSummary| link.scores.as_ref().map_or(0.0, |scores| scores.relevance.get());
        links.sort_by(|one, other| relevance(other).total_cmp(&relevance(one)));
        for link in links.iter().take(LINKS) {
            if let Some(ScoredLink { relevance, scores }) = &link.scores {
                let [anchor, context, url] = [scores.anchor, scores.context, scores.url].map(Relevance::get);
                write!(out, "{:.3} ({anchor:.2}, {context:.2}, {url:.2})  ", relevance.get())?;
            }
            let region = match link.region {
                Region::Content => "content",
                Region::Metadata => "metadata",
                Region::Boilerplate => "boilerplate",
            };
            let nofollow = if link.nofollow { " nofollow" } else { "" };
            writeln!(out, "{region:<12}{} {}{nofollow}", link.url, visible::line(&link.anchor))?;
        }
        if links.len() > LINKS {
            writeln!(out, "and {} more (--json lists all)", links.len() - LINKS)?;
        }
        Ok(())
    }
}

impl Display for PageSummary<'_> {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let mut line = |name: &str, value: &str| match value {
            "" => Ok(()),
            value => writeln!(out, "{name:<10}{}", visible::line(value)),
        };
        line("url", self.url.as_str())?;
        line("title", &self.title)?;
        line("author", self.author.as_deref().unwrap_or_default())?;
        line("source", self.source.as_deref().unwrap_or_default())?;
        self.videos.iter().try_for_each(|video| line("video", video.as_str()))?;
        let at = self.published_at.as_ref().map(|at| format!(" ({at})")).unwrap_or_default();
        line("published", &self.published.as_ref().map(|day| format!("{day}{at}")).unwrap_or_default())?;
        line("language", self.language.as_deref().unwrap_or_default())?;
        line("charset", &format!("{} ({})", self.charset, charset_source(self.charset_from)))?;
        if let Some(PageScores { relevance, page_threshold, verdict, terms, .. }) = &self.scores {
            let (relevance, threshold) = (relevance.get(), page_threshold.get());
            line("relevance", &format!("{relevance:.4}, {verdict} (page threshold {threshold:.4})"))?;
            let terms: Vec<String> = terms.iter().map(|term| format!("{} ×{}", term.term, term.count)).collect();
            line("terms", &terms.join(", "))?;
        }
        let asks = [("noindex", self.noindex), ("nofollow", self.nofollow)];
        let asks: Vec<&str> = asks.iter().filter(|(_, requested)| *requested).map(|(name, _)| *name).collect();
        line("robots", &asks.join(", "))?;
        line("canonical", self.canonical.as_ref().map(CrawlUrl::as_str).unwrap_or_default())?;
        for feed in &self.feeds {
            line("feed", feed.as_str())?;
        }
        for defect in &self.defects {
            line("defect", &describe(defect))?;
        }
        let kind = if self.listing { ", listing page" } else { "" };
        line("text", &format!("{}{kind}", count(self.chars as usize, "character", "characters")))?;
        if !self.text.is_empty() {
            writeln!(out, "\n{}", self.text)?;
        }
        self.write_links(out)
    }
}

/// Replaces the scores if there is no topic.
fn unscored(parsed: &Parsed) -> TopicScores {
    let links = vec![(LinkScores::default(), Relevance::ZERO); parsed.document.links.len()];
    TopicScores { relevance: Relevance::ZERO, terms: Vec::new(), layer: None, links }
}

fn charset_source(from: CharsetFrom) -> &'static str {
    match from {
        CharsetFrom::Bom => "from the byte order mark",
        CharsetFrom::Header => "from the HTTP header",
        CharsetFrom::Meta => "from the page",
        CharsetFrom::Bytes => "detected from the bytes",
        CharsetFrom::Guess => "guessed",
        CharsetFrom::Default => "default",
    }
}

fn describe(defect: &Defect) -> String {
    match defect {
        Defect::BrokenBytes(1) => "1 invalid byte sequence replaced".to_owned(),
        Defect::BrokenBytes(count) => format!("{count} invalid byte sequences replaced"),
        Defect::WrongCharset { declared } => format!("declares charset {declared}, which is wrong"),
        Defect::Unverified => "encoded body without a checksum, or with a wrong one".to_owned(),
        Defect::NotText => "neither HTML nor text".to_owned(),
        Defect::NoContent => "no main text, only boilerplate".to_owned(),
        Defect::CutShort => "truncated: too deep, too long or too many links".to_owned(),
    }
}
