//! Where the documents of a corpus come from: requests of suidao, with or without robots.txt, or archives of another
//! crawler. From the log, the list of imports and the configuration of the last run.

use rustc_hash::FxHashMap;

use suidao_page::model::{CrawlUrl, Event};
use suidao_store::corpus::CatalogueEntry;
use suidao_store::store::{Imports, Store, StoreError, plain_file};

/// At most this many archives are named.
const NAMED: usize = 20;

/// Where the newest version of a page comes from.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Source {
    Archive,
    /// Requested by suidao when it knew the robots.txt of the host.
    Checked,
    #[default]
    Unchecked,
}

pub(super) struct Origin {
    /// Of each page, by its number.
    sources: Vec<Source>,
    /// `politeness.robots` of the last run.
    robots: bool,
    archives: Vec<String>,
    /// Documents so far: all, those from archives, and those requested by suidao with a robots.txt.
    documents: u64,
    from_archives: u64,
    checked: u64,
}

impl Origin {
    pub fn read(store: &Store) -> Result<Self, StoreError> {
        let imports = Imports::read(store.directory(), store.len())?;
        let robots = robots(store)?;
        // Hosts by number, of each URL its host, and of each host whether its robots.txt is known.
        let (mut numbers, mut hosts, mut has_robots) = (FxHashMap::default(), Vec::new(), Vec::new());
        let mut number_of = |host: &str, has_robots: &mut Vec<bool>| {
            numbers.get(host).copied().unwrap_or_else(|| {
                numbers.insert(Box::from(host), has_robots.len());
                has_robots.push(false);
                has_robots.len() - 1
            })
        };
        let mut sources: Vec<Source> = Vec::new();
        for (batch, record) in (0..).zip(store.batches_from(0)) {
            let is_imported = imports.batches().any(|batches| batches.contains(&batch));
            for event in record?.batch.events {
                match event {
                    Event::Discovered(found) => hosts.push(number_of(found.url.authority(), &mut has_robots)),
                    Event::PageFetched(page) => {
                        let at = page.id.0 as usize;
                        sources.resize(sources.len().max(at + 1), Source::default());
                        sources[at] = match hosts.get(at).is_some_and(|host| has_robots[*host]) {
                            _ if is_imported => Source::Archive,
                            true => Source::Checked,
                            false => Source::Unchecked,
                        };
                    }
                    // One from an archive is obeyed, if any is.
                    Event::Robots { origin, .. } | Event::RobotsRedirected { origin, .. } if !is_imported || robots => {
                        if let Ok(url) = CrawlUrl::parse(&origin) {
                            let host = number_of(url.authority(), &mut has_robots);
                            has_robots[host] = true;
                        }
                    }
                    _ => {}
                }
            }
        }
        let archives = imports.files().map(|file| file.name.clone()).collect();
        Ok(Self { sources, robots, archives, documents: 0, from_archives: 0, checked: 0 })
    }

    pub fn count(&mut self, entry: &CatalogueEntry) {
        self.documents += 1;
        match self.sources.get(entry.id.0 as usize) {
            Some(Source::Archive) => self.from_archives += 1,
            Some(Source::Checked) => self.checked += 1,
            _ => {}
        }
    }

    /// Whether every document is from an archive.
    pub fn is_import(&self) -> bool {
        self.documents > 0 && self.from_archives == self.documents
    }

    /// What the corpus is: the beginning of the first sentence.
    pub fn kind(&self) -> &'static str {
        match self.is_import() {
            true => "A text corpus from archives of a web crawl",
            false => "A text corpus from a focused web crawl",
        }
    }

    /// The imported archives, in a line; none if nothing was imported.
    pub fn archives(&self) -> Option<String> {
        let named = self.archives.iter().take(NAMED).map(String::as_str).collect::<Vec<_>>().join(", ");
        match (self.archives.len(), self.archives.len().saturating_sub(NAMED)) {
            (0, _) => None,
            (_, 0) => Some(named),
            (_, more) => Some(format!("{named} and {more} more")),
        }
    }

    /// What is known about robots.txt, in sentences.
    pub fn robots(&self) -> String {
        let requested = self.documents - self.from_archives;
        let own = match self.checked {
            _ if requested == 0 => String::new(),
            0 => "The crawler did not read robots.txt (`politeness.robots = false`).".to_owned(),
            checked if checked < requested => format!(
                "Of {requested} documents, the crawler requested {} without reading robots.txt (`politeness.robots = false`).",
                requested - checked
            ),
            _ if !self.robots => {
                "The crawler read robots.txt, but not in its last run (`politeness.robots = false`).".to_owned()
            }
            _ => "The crawler obeyed robots.txt, which grants no licence.".to_owned(),
        };
        match self.from_archives {
            0 => own,
            archived => format!(
                "{own}{}{archived} documents are from archives of another crawler; whether it obeyed robots.txt is unknown.",
                if own.is_empty() { "" } else { " " }
            ),
        }
    }
}

/// `politeness.robots` in the configuration of the last run.
fn robots(store: &Store) -> Result<bool, StoreError> {
    let path = store.directory().config_toml();
    if !path.exists() {
        return Ok(true);
    }
    let text = plain_file::read_text(&path, plain_file::SMALL)?;
    let config: toml::Table = toml::from_str(&text).map_err(|error: toml::de::Error| StoreError::DamagedFile {
        path,
        what: error.message().to_owned(),
        can_be_deleted: false,
    })?;
    let value = config.get("politeness").and_then(|politeness| politeness.get("robots"));
    Ok(value.and_then(toml::Value::as_bool).unwrap_or(true))
}
