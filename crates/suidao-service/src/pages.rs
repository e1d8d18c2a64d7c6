//! The pages of a crawl: lists by conditions, and one page in several forms.

use std::sync::Arc;

use serde_json::Value;
use suidao_page::messages::Lang;
use suidao_page::model::{CrawlUrl, number};
use suidao_page::visible;
use suidao_store::corpus::{
    DocumentFields, Filter, JsonDocument, Parts, SelectedDocument, Selection, UrlHistory, document_id, stream,
};
use suidao_store::store::Store;
use suidao_store::store::directory::WriteError;
use tokio::sync::mpsc;

use crate::folder::CrawlName;
use crate::problem::Problem;
use crate::reading::Reading;
use crate::service::{CrawlService, blocking};

/// Maximum number of pages of a JSON answer.
pub const MOST: usize = 1_000;

/// Which pages, in order of fetching.
#[derive(Clone, Debug)]
pub struct PageQuery {
    /// Conditions as in `--where`.
    pub conditions: String,
    pub fields: DocumentFields,
    /// Index in the catalogue of the first page that may be listed.
    pub from: usize,
    pub limit: usize,
}

/// A list of pages.
#[derive(Clone, Debug)]
pub struct PageList {
    pub pages: Vec<Value>,
    /// Where the next list begins; `None` at the end.
    pub next: Option<usize>,
    /// Pages that meet the conditions, earlier and later ones included.
    pub all: u64,
}

/// The forms of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PageForm {
    Json,
    Text,
    Markdown,
    /// The source, as text.
    Html,
    /// The compressed request and response records.
    Warc,
}

/// A page in one form.
#[derive(Clone, Debug)]
pub enum FormattedPage {
    Json(Value),
    Text(String),
    Warc(Vec<u8>),
}

impl CrawlService {
    pub(crate) async fn read<T: Send + 'static>(
        self: &Arc<Self>,
        name: &CrawlName,
        work: impl FnOnce(&Reading) -> Result<T, Problem> + Send + 'static,
    ) -> Result<T, Problem> {
        let (service, crawl) = (Arc::clone(self), self.folder.crawl(name)?);
        blocking(move || work(&*service.readings.reading(&crawl.name, &crawl.directory)?)).await
    }

    /// What a crawl's answers depend on: the same as long as they are the same.
    pub async fn version(self: &Arc<Self>, name: &CrawlName) -> Result<String, Problem> {
        self.read(name, |reading| {
            let (batches, scored) = reading.version();
            Ok(format!("{batches}-{}", scored.map_or(0, |at| at.0)))
        })
        .await
    }

    /// # Errors
    /// A problem with `where` or `cursor`.
    pub async fn pages(self: &Arc<Self>, name: &CrawlName, query: PageQuery) -> Result<PageList, Problem> {
        self.read(name, move |reading| {
            let (selection, all, next) = select(reading, &query)?;
            let mut pages = Vec::new();
            each(reading, &selection, &query.fields, |page| {
                pages.push(page);
                Ok(())
            })?;
            Ok(PageList { pages, next, all })
        })
        .await
    }

    /// The newest relevant documents, the newest first.
    pub(crate) async fn newest(self: &Arc<Self>, name: &CrawlName, most: usize) -> Result<Vec<Value>, Problem> {
        self.read(name, move |reading| {
            let mut selection = filter("relevant:yes")?.select(&reading.catalogue);
            let newest = selection.chosen.iter().rposition(|chosen| *chosen).map_or(0, |last| last + 1);
            let mut kept = 0;
            for chosen in selection.chosen[..newest].iter_mut().rev() {
                *chosen &= kept < most;
                kept += usize::from(*chosen);
            }
            selection.pages = kept as u64;
            let fields = DocumentFields::named(["id", "url", "title", "relevance", "relevant"]);
            let mut pages = Vec::new();
            each(reading, &selection, &fields.map_err(Problem::internal)?, |page| {
                pages.push(page);
                Ok(())
            })?;
            pages.reverse();
            Ok(pages)
        })
        .await
    }

    /// Passes pages on as lines of JSON, in order of fetching, until there are no more or the receiver is gone.
    pub fn page_lines(
        self: &Arc<Self>,
        name: &CrawlName,
        query: PageQuery,
    ) -> Result<mpsc::Receiver<Result<Vec<u8>, Problem>>, Problem> {
        let (service, crawl) = (Arc::clone(self), self.folder.crawl(name)?);
        // A slow reader holds back at most a portion.
        let (lines, receiver) = mpsc::channel(16);
        tokio::task::spawn_blocking(move || {
            let work = || {
                let reading = service.readings.reading(&crawl.name, &crawl.directory)?;
                let (selection, ..) = select(&reading, &query)?;
                each(&reading, &selection, &query.fields, |page| {
                    let line = format!("{}\n", visible::text(&page.to_string())).into_bytes();
                    let gone = || std::io::Error::from(std::io::ErrorKind::BrokenPipe);
                    lines.blocking_send(Ok(line)).map_err(|_| WriteError::from(gone()))
                })
            };
            if let Err(problem) = work() {
                let _ = lines.blocking_send(Err(problem));
            }
        });
        Ok(receiver)
    }

    /// A page by its id or URL.
    ///
    /// # Errors
    /// Not found.
    pub async fn page(
        self: &Arc<Self>,
        name: &CrawlName,
        page: &str,
        form: PageForm,
    ) -> Result<FormattedPage, Problem> {
        let page = page.to_owned();
        self.read(name, move |reading| one(reading, &page, form)).await
    }

    /// How a URL was found, what it scored, or why it was skipped.
    ///
    /// # Errors
    /// Not found if the crawl does not know it.
    pub async fn why(self: &Arc<Self>, name: &CrawlName, url: &str) -> Result<Value, Problem> {
        let history = self.history(name, url, Lang::English).await?;
        Ok(number::plain(serde_json::to_value(&history).map_err(Problem::internal)?))
    }

    pub(crate) async fn history(
        self: &Arc<Self>,
        name: &CrawlName,
        url: &str,
        lang: Lang,
    ) -> Result<UrlHistory, Problem> {
        let crawl = self.folder.crawl(name)?;
        let parsed = CrawlUrl::parse(url.trim());
        let url = parsed.map_err(|error| Problem::parameter("url", format!("{url} is not a URL: {error}")))?;
        blocking(move || {
            let store = Store::open(&crawl.directory)?;
            for url in std::iter::once(url.clone()).chain(url.under(!url.is_https())) {
                if let Some(history) = UrlHistory::read(|| store.batches(), &url, lang)? {
                    return Ok(history);
                }
            }
            Err(Problem::missing(format!("{url} is unknown to the crawl: no fetched page links to it")))
        })
        .await
    }
}

/// The filter of conditions: documents without noindex, unless conditions include others, as `suidao export`.
pub(crate) fn filter(conditions: &str) -> Result<Filter, Problem> {
    let mut filter = Filter { documents: true, no_noindex: true, ..Filter::default() };
    filter.add(conditions).map_err(|error| Problem::parameter("where", error))?;
    Ok(filter)
}

/// The pages of one answer, the number of all, and where the next begins.
fn select(reading: &Reading, query: &PageQuery) -> Result<(Selection, u64, Option<usize>), Problem> {
    let mut selection = filter(&query.conditions)?.select(&reading.catalogue);
    let all = selection.pages;
    let (mut taken, mut next) = (0, None);
    for (at, chosen) in selection.chosen.iter_mut().enumerate() {
        if *chosen && (at < query.from || taken == query.limit) {
            next = next.or((at >= query.from).then_some(at));
            *chosen = false;
        }
        taken += usize::from(*chosen);
    }
    selection.pages = taken as u64;
    Ok((selection, all, next))
}

/// Passes each page on as JSON.
fn each(
    reading: &Reading,
    selection: &Selection,
    fields: &DocumentFields,
    mut pass: impl FnMut(Value) -> Result<(), WriteError> + Send,
) -> Result<(), Problem> {
    if selection.pages == 0 {
        return Ok(());
    }
    let render = |chosen: &SelectedDocument| {
        let document = chosen.document(fields.parts())?;
        Ok(number::plain(serde_json::to_value(JsonDocument(&document, fields))?))
    };
    let written = stream(&reading.store, &reading.catalogue, selection, render, &mut pass);
    written.map_err(|error| error.at(reading.store.directory().root()))?;
    Ok(())
}

fn one(reading: &Reading, page: &str, form: PageForm) -> Result<FormattedPage, Problem> {
    let unknown = || Problem::missing(format!("the crawl has no page {page}"));
    let position = match CrawlUrl::parse(page) {
        Ok(url) => reading.position(&document_id(&url))?,
        Err(_) => reading.position(page)?,
    };
    let mut selection = Selection::none(&reading.catalogue);
    let chosen = position.and_then(|position| selection.chosen.get_mut(position));
    *chosen.ok_or_else(unknown)? = true;
    selection.pages = 1;
    let mut found = None;
    let render = |chosen: &SelectedDocument| {
        Ok(match form {
            PageForm::Json => {
                let fields = DocumentFields::all();
                let document = chosen.document(fields.parts())?;
                FormattedPage::Json(number::plain(serde_json::to_value(JsonDocument(&document, &fields))?))
            }
            PageForm::Text => FormattedPage::Text(chosen.document(Parts { text: true, ..Parts::default() })?.text),
            PageForm::Markdown => {
                let document = chosen.document(Parts { text: true, markdown: true, ..Parts::default() })?;
                FormattedPage::Text(document.text)
            }
            PageForm::Html => FormattedPage::Text(chosen.html()?.unwrap_or_default()),
            PageForm::Warc => {
                FormattedPage::Warc(chosen.responses.iter().flat_map(|one| one.records.clone()).collect())
            }
        })
    };
    let read = stream(&reading.store, &reading.catalogue, &selection, render, |page| {
        found = Some(page);
        Ok(())
    });
    read.map_err(|error| error.at(reading.store.directory().root()))?;
    found.ok_or_else(unknown)
}
