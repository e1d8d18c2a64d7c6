//! Reads the user's files: seeds and lexicons. Every error names the file and the line.

use std::path::Path;

use anyhow::{Context, Result, bail};
use suidao::corpus::Catalogue;
use suidao::crawl::OfferedLink;
use suidao::model::{CrawlUrl, PathState, TunnelBudget, UrlError};
use suidao::read::charset::decode;
use suidao::store::{CrawlDirectory, Store, plain_file};
use suidao::strategy::{StrategyName, StrategySettings};
use suidao::text::entries;
use suidao::topic::{ContextGraphModel, Lexicon, Topic};

/// Maximum number of invalid lines reported.
const MAX_REPORTED: usize = 20;

/// Terms of a lexicon used as queries.
const QUERIES: usize = 20;

const HOW: &str = "write a URL as http://host/path or example.org";

/// Several lines of a list that are not URLs, each of which is printed on a line of its own.
#[derive(Debug)]
pub struct WrongLines {
    file: String,
    lines: Vec<String>,
}

impl std::error::Error for WrongLines {}

impl std::fmt::Display for WrongLines {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "{}: {} lines are not URLs to crawl; {HOW}", self.file, self.lines.len())
    }
}

impl WrongLines {
    /// The first lines, and the number of the others.
    pub fn listed(&self) -> impl Iterator<Item = String> + '_ {
        let more = self.lines.len().saturating_sub(MAX_REPORTED);
        let more = (more > 0).then(|| format!("and {more} more lines"));
        self.lines.iter().take(MAX_REPORTED).cloned().chain(more)
    }
}

/// The URLs for a host name without a scheme, with optional port and path: https first, and http if no connection can
/// be made, as in a browser. Both are seeds, so that the host is not bound to https (`scope.downgrade_seeds`).
pub fn without_scheme(word: &str) -> Option<[CrawlUrl; 2]> {
    let host = word.split(['/', '?', '#']).next()?.rsplit_once(':').map_or(word, |(host, _)| host);
    let host = host.split(['/', '?', '#']).next()?.trim_end_matches('.').to_ascii_lowercase();
    // Excludes words like `index.html` and `me@example.org`.
    let is_known =
        psl::suffix(host.as_bytes()).is_some_and(|suffix| suffix.is_known() && suffix.as_bytes().len() < host.len());
    let is_host = is_known || host.parse::<std::net::Ipv4Addr>().is_ok();
    if !is_host || word.contains('@') || word.contains("://") {
        return None;
    }
    let under = |scheme: &str| CrawlUrl::parse(&format!("{scheme}://{word}")).ok();
    Some([under("https")?, under("http")?])
}

/// Reads a list of URLs (the `what` of messages), one per line; a bare host is taken under both schemes.
pub fn urls(path: &Path, what: &str) -> Result<Vec<CrawlUrl>> {
    Ok(lines_of_urls(path, what)?.into_iter().flat_map(|(urls, _)| urls).collect())
}

/// Whether a crawl directory has all seeds of its crawl: the first response comes after the last seed.
pub fn has_seeds(directory: &CrawlDirectory) -> Result<bool> {
    if !directory.holds_crawl() {
        return Ok(false);
    }
    for record in Store::open(directory)?.batches() {
        if record?.batch.latency.is_some() {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The seeds given as arguments, then those of a file.
pub fn seeds(given: &[String], file: Option<&Path>) -> Result<Vec<CrawlUrl>> {
    if given.is_empty() && file.is_none() {
        bail!("no seed is given; give URLs, or a file of URLs with -s");
    }
    let mut seeds = Vec::new();
    for word in given {
        match parse(word) {
            Ok(urls) => seeds.extend(urls),
            Err(error) => bail!("{word} is not a URL to crawl: {error}; {HOW}"),
        }
    }
    seeds.extend(file.map(|file| urls(file, "seeds")).transpose()?.unwrap_or_default());
    Ok(seeds)
}

/// The URL, or for a bare host the URLs, that a word means.
pub fn parse(word: &str) -> Result<Vec<CrawlUrl>, UrlError> {
    match (CrawlUrl::parse(word), without_scheme(word)) {
        (Ok(url), _) => Ok(vec![url]),
        (Err(_), Some(both)) => Ok(both.into()),
        (Err(error), None) => Err(error),
    }
}

/// Reads links to offer to a crawl: URLs, each with a text if something follows it. They rank like links of a page at
/// the page threshold.
pub fn offered(path: &Path, topic: &Topic) -> Result<Vec<OfferedLink>> {
    let inherited = topic.page_threshold();
    let link_path = PathState { depth: 1, hops: 0, k: TunnelBudget::Unbounded, inherited };
    let link = |(url, text): (CrawlUrl, String)| {
        let (scores, relevance) = topic.score_link(&url, &text);
        OfferedLink { url, anchor: text, scores, relevance, path: link_path }
    };
    let lines = lines_of_urls(path, "links")?;
    let links = lines.into_iter().flat_map(|(urls, text)| urls.into_iter().map(move |url| (url, text.clone())));
    Ok(links.map(link).collect())
}

/// The URLs of each line, and the text after them.
fn lines_of_urls(path: &Path, what: &str) -> Result<Vec<(Vec<CrawlUrl>, String)>> {
    let name = path.display();
    let bytes = std::fs::read(path)
        .with_context(|| format!("cannot read the {what} {name}; give a text file with one URL per line"))?;
    // In any Chinese charset, as keywords.
    let text = decode(&bytes, None).text;
    let (mut urls, mut wrong) = (Vec::new(), Vec::new());
    for (number, line) in entries(&text) {
        let (word, text) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let text = text.trim().to_owned();
        match parse(word) {
            Ok(parsed) => urls.push((parsed, text)),
            Err(error) => wrong.push(format!("line {number}: {word} is not a URL to crawl: {error}")),
        }
    }
    match &wrong[..] {
        [] => {}
        [line] => bail!("{name}, {line}; {HOW}"),
        _ => bail!(WrongLines { file: name.to_string(), lines: wrong }),
    }
    if urls.is_empty() {
        bail!("{name} contains no URL; write one per line, for example http://sports.example.cn/");
    }
    Ok(urls)
}

pub fn lexicon(path: &Path) -> Result<Lexicon> {
    let name = path.display();
    let text = std::fs::read_to_string(path)
        .with_context(|| format!("cannot read the lexicon {name}; build one with `suidao topic build -o {name}`"))?;
    Lexicon::parse(&text).with_context(|| format!("invalid lexicon {name}"))
}

/// Reads a lexicon and prepares it for scoring.
pub fn topic(path: &Path) -> Result<Topic> {
    Ok(Topic::new(lexicon(path)?))
}

/// Queries of a search over the topic, one per line; empty lines and `#` comments are skipped.
pub fn queries(path: &Path) -> Result<Vec<String>> {
    let name = path.display();
    let text = std::fs::read_to_string(path)
        .with_context(|| format!("cannot read the queries {name}; give a text file with one query per line"))?;
    let queries: Vec<String> = entries(&text).map(|(_, line)| line.to_owned()).collect();
    if queries.is_empty() {
        bail!("{name} contains no query; write one per line");
    }
    Ok(queries)
}

/// The first terms of the topic's lexicon as queries.
pub fn queries_of(topic: &Topic) -> Vec<String> {
    topic.lexicon().main_terms().iter().take(QUERIES).map(|(term, _)| term.clone()).collect()
}

/// The store of a crawl and its pages, at least one.
pub fn crawl(directory: &Path) -> Result<(Store, Catalogue)> {
    let store = Store::open(&CrawlDirectory::new(directory))?;
    let catalogue = pages(&store)?;
    Ok((store, catalogue))
}

/// The pages of a crawl, at least one.
pub fn pages(store: &Store) -> Result<Catalogue> {
    let catalogue = Catalogue::read(store)?;
    if catalogue.entries.is_empty() {
        bail!("{}: contains no fetched page; run the crawl again", store.directory().root().display());
    }
    Ok(catalogue)
}

/// The lexicon given, or the copy in a crawl directory, which a forum crawl may lack.
pub fn topic_of_crawl(given: Option<&Path>, directory: &CrawlDirectory) -> Result<Option<Topic>> {
    let stored = directory.topic_toml();
    match given {
        Some(path) => topic(path).map(Some),
        None if stored.exists() => stored_topic(&stored).map(Some),
        None => Ok(None),
    }
}

/// As [`topic_of_crawl`], for verbs that need one.
pub fn needed_topic_of_crawl(given: Option<&Path>, directory: &CrawlDirectory) -> Result<Topic> {
    let name = directory.root().display();
    topic_of_crawl(given, directory)?
        .with_context(|| format!("{name}: contains no copy of its lexicon; give the lexicon with -m"))
}

/// Reads the lexicon stored in a crawl directory.
fn stored_topic(path: &Path) -> Result<Topic> {
    let name = path.display();
    let text = plain_file::read_text(path, plain_file::LARGE)?;
    let lexicon = Lexicon::parse(&text).with_context(|| format!("invalid lexicon {name}; give another with -m"))?;
    Ok(Topic::new(lexicon))
}

/// Adds the layers if the strategy needs them.
pub fn layered(topic: Topic, strategy: &StrategySettings) -> Result<Topic> {
    match &strategy.context_graph.model {
        _ if strategy.name != StrategyName::ContextGraph => Ok(topic),
        Some(path) => with_context_graph(topic, Path::new(path)),
        None => {
            bail!("strategy.context-graph.model is not set; name a file of layers written by `suidao topic layers`")
        }
    }
}

/// Adds the layers of a file.
pub fn with_context_graph(topic: Topic, path: &Path) -> Result<Topic> {
    let name = path.display();
    let text = std::fs::read_to_string(path)
        .with_context(|| format!("cannot read the layers {name}; create them with `suidao topic layers -o {name}`"))?;
    let layers = ContextGraphModel::parse(&text).with_context(|| format!("invalid layers file {name}"))?;
    Ok(topic.with_context_graph(layers))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_name_is_a_seed_and_all_that_cannot_be_read_is_reported() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("seeds.txt");
        let read = |text: &str| {
            std::fs::write(&path, text).unwrap();
            urls(&path, "seeds").map(|urls| urls.iter().map(CrawlUrl::to_string).collect::<Vec<_>>())
        };
        let both = [
            "https://example.org/",
            "http://example.org/",
            "https://b.example.cn:8080/x?y=1",
            "http://b.example.cn:8080/x?y=1",
        ];
        assert_eq!(read("example.org\nB.example.cn:8080/x?y=1 a remark\n").unwrap(), both);
        assert_eq!(read("http://a.cn/\n").unwrap(), ["http://a.cn/"]);
        let listed = |text: &str| {
            let error = read(text).unwrap_err();
            error.downcast_ref::<WrongLines>().unwrap().listed().collect::<Vec<_>>().join("\n")
        };
        let message = listed("http://a.cn/\nindex.html\n# fine\nme@example.org\nftp://a.cn/\nlocalhost\n");
        for line in ["line 2: index.html", "line 4: me@example.org", "line 5: ftp://a.cn/", "line 6: localhost"] {
            assert!(message.contains(line), "{message}");
        }
        let many = listed(&"x\n".repeat(30));
        assert!(many.contains("line 20") && !many.contains("line 21") && many.contains("and 10 more lines"), "{many}");
    }
}
