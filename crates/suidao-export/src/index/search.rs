//! Searches the index: matching pages, ranked, duplicates folded, with snippets and facets.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use rustc_hash::FxHashMap;
use serde::Serialize;
use tantivy::query::{EnableScoring, TermQuery};
use tantivy::schema::{Field, IndexRecordOption, TantivyDocument, Value};
use tantivy::{DocAddress, ReloadPolicy, Searcher, TantivyError, Term};

use super::IndexError;
use super::clauses::{Compiled, Loosened, in_fields};
use super::collect::{CollectedRow, RowCollector};
use super::extracted;
use super::query::{Query, TextField};
use super::read_only::ReadOnlyDirectory;
use super::schema::{Fields, day, schema};
use super::snippet::{Marked, QueryWords};
use super::source::{FORMAT, IndexSource};
use super::terms::SearchTerm;
use super::tokenizer::{TOKENIZER, analyzer};
use suidao_extract::Extractor;
use suidao_page::model::{CrawlUrl, Day, Millis, TermMatch};
use suidao_store::corpus::{DuplicatePolicy, Filter, document};
use suidao_store::store::rfc3339;

/// Bonus of a fully relevant page: score = BM25 · (1 + 0.5 · relevance).
const TOPIC: f32 = 0.5;

const LONGEST_PATH: usize = 64;

pub struct Index {
    path: PathBuf,
    fields: Fields,
    searcher: Searcher,
    origin: IndexSource,
    /// Names of extracted fields, and of those whose values are counted.
    extracted: Vec<String>,
    counted: Vec<String>,
    /// A temporary directory of the index, deleted with the value.
    _temporary: Option<tempfile::TempDir>,
}

#[derive(Clone, Debug, Default)]
pub struct Request {
    pub query: String,
    pub filter: Filter,
    pub offset: usize,
    pub limit: usize,
    pub explain: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct SearchResults {
    /// Pages found; with duplicates folded, groups.
    pub pages: u64,
    pub duplicates: u64,
    /// What the pages may lack; `None`: they have all that was typed.
    pub loosened: Option<Loosened>,
    /// Rank of the first hit, from 0.
    pub offset: usize,
    pub hits: Vec<Hit>,
    pub facets: Facets,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Hit {
    pub score: f32,
    #[serde(flatten)]
    pub page: Stored,
    /// Marks in its title: first character, and the one after the last.
    pub title_marks: Vec<[usize; 2]>,
    pub snippet: Marked,
    pub duplicates: u64,
    /// Parts of its score; empty unless requested.
    pub why: Vec<ScorePart>,
}

impl Hit {
    pub fn title(&self) -> Marked {
        Marked::by_characters(&self.page.title, &self.title_marks)
    }
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ScorePart {
    pub words: String,
    pub field: TextField,
    /// Weighted BM25.
    pub bm25: f32,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Stored {
    /// Pages fetched before it.
    pub page: u64,
    pub id: String,
    pub url: String,
    pub host: String,
    pub title: String,
    pub language: Option<String>,
    pub published: Option<Day>,
    pub fetched: String,
    pub relevance: f32,
    pub relevant: bool,
    pub terms: Vec<TermMatch>,
    pub chars: u64,
    pub listing: bool,
    pub noindex: bool,
    /// The best page of its group of duplicates.
    pub duplicate_of: Option<String>,
    pub depth: u64,
    /// Off-topic pages since the last on-topic one on the path to it.
    pub hops: u64,
    /// `None`: unbounded.
    pub k: Option<u64>,
    /// Page or redirect by which it was found.
    pub found_on: Option<String>,
    /// If that is a redirect: where its URL was found, and so on back to a page.
    #[serde(skip)]
    redirect_origins: Vec<String>,
    /// Text of that link.
    pub anchor: String,
    /// Values that rules extracted, by field.
    #[serde(skip_serializing_if = "serde_json::Map::is_empty")]
    pub extracted: serde_json::Map<String, serde_json::Value>,
    #[serde(skip)]
    pub text: String,
}

/// Counts over all hits. Each counts every page once.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Facets {
    /// The most frequent first.
    pub hosts: Vec<(String, u64)>,
    /// By year of publication, the latest first; `None` for pages without a date.
    pub years: Vec<(Option<i16>, u64)>,
    /// The most frequent first.
    pub languages: Vec<(Option<String>, u64)>,
    /// At or above the page threshold.
    pub relevant: u64,
    pub off_topic: u64,
    /// Texts of each extracted field, the most frequent first.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub extracted: BTreeMap<String, Vec<(String, u64)>>,
}

/// A matching page, for evaluation.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Matched {
    /// Pages fetched before it.
    pub page: u64,
    pub url: String,
    pub relevance: f32,
    /// At or above the page threshold.
    pub relevant: bool,
}

/// A page on the path to another.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ExplainedStep {
    pub url: String,
    /// Text of the link that led to it.
    pub anchor: String,
    /// Its stored fields; `None` for redirects and pages outside the index.
    pub page: Option<Stored>,
}

/// Calls the engine, which panics on some damaged or manipulated indexes.
fn catch_engine_panic<T>(path: &Path, call: impl FnOnce() -> tantivy::Result<T>) -> Result<T, IndexError> {
    let broken = |_| Err(TantivyError::InternalError("the search engine fails on it".to_owned()));
    catch_unwind(AssertUnwindSafe(call)).unwrap_or_else(broken).map_err(IndexError::engine(path))
}

impl Index {
    pub fn open(path: &Path) -> Result<Self, IndexError> {
        if !path.join("meta.json").is_file() {
            return Err(IndexError::Missing(path.to_owned()));
        }
        let incompatible = |what: &str| IndexError::Incompatible { path: path.to_owned(), what: what.to_owned() };
        let opened = || {
            let index = tantivy::Index::open(ReadOnlyDirectory::open(path)?)?;
            let payload = index.load_metas()?.payload.unwrap_or_default();
            Ok((index, payload))
        };
        let (index, payload) = catch_engine_panic(path, opened)?;
        let origin: IndexSource = serde_json::from_str(&payload).map_err(|_| incompatible("not created by suidao"))?;
        let (wanted, fields) = schema();
        if origin.format != FORMAT || index.schema() != wanted {
            return Err(incompatible(&format!("format {}, written by suidao {}", origin.format, origin.version)));
        }
        index.tokenizers().register(TOKENIZER, analyzer());
        let reader =
            catch_engine_panic(path, || index.reader_builder().reload_policy(ReloadPolicy::Manual).try_into())?;
        let rules = origin.rules.as_deref().and_then(|rules| Extractor::parse(rules).ok());
        let names = |names: fn(&Extractor) -> Vec<&str>| {
            rules.as_ref().map_or_else(Vec::new, |rules| names(rules).into_iter().map(str::to_owned).collect())
        };
        let (extracted, counted) = (names(Extractor::fields), names(Extractor::text_fields));
        let (path, searcher) = (path.to_owned(), reader.searcher());
        Ok(Self { path, fields, searcher, origin, extracted, counted, _temporary: None })
    }

    /// Adds the temporary directory of the index, to be deleted with it.
    pub fn with_temporary_directory(self, temporary: tempfile::TempDir) -> Self {
        Self { _temporary: Some(temporary), ..self }
    }

    pub fn origin(&self) -> &IndexSource {
        &self.origin
    }

    /// The matching pages, ranked. Fails only if the index is damaged.
    pub fn search(&self, request: &Request) -> Result<SearchResults, IndexError> {
        catch_engine_panic(&self.path, || self.answer(request))
    }

    /// All pages with a query as typed, in order of fetching, duplicates included.
    pub fn matching(&self, query: &str) -> Result<Vec<Matched>, IndexError> {
        let matched = || {
            let compiled = self.compiled(query, &Filter::default());
            let mut rows = self.searcher.search(&*compiled.query(None), &RowCollector)?;
            rows.sort_unstable_by_key(|row| row.page);
            let urls = self.names("url", rows.iter().map(|row| row.address))?;
            let matched = rows.iter().zip(urls).map(|(row, url)| Matched {
                page: row.page,
                url,
                relevance: row.relevance,
                relevant: row.relevant,
            });
            Ok(matched.collect())
        };
        catch_engine_panic(&self.path, matched)
    }

    /// The page of this id ([`document::id`]).
    pub fn page(&self, id: &str) -> Result<Option<Stored>, IndexError> {
        catch_engine_panic(&self.path, || self.find(id))
    }

    /// The terms of the topic that most pages have, with the number of pages.
    pub fn terms(&self, most: usize) -> Result<Vec<(String, u64)>, IndexError> {
        let read = || -> tantivy::Result<Vec<(String, u64)>> {
            let mut counts: BTreeMap<String, u64> = BTreeMap::new();
            for reader in self.searcher.segment_readers() {
                let inverted = reader.inverted_index(self.fields.terms)?;
                let mut terms = inverted.terms().stream()?;
                while let Some((term, info)) = terms.next() {
                    let term = String::from_utf8_lossy(term).into_owned();
                    *counts.entry(term).or_insert(0) += u64::from(info.doc_freq);
                }
            }
            let mut counts: Vec<(String, u64)> = counts.into_iter().collect();
            counts.sort_by_key(|(_, pages)| std::cmp::Reverse(*pages));
            counts.truncate(most);
            Ok(counts)
        };
        catch_engine_panic(&self.path, read)
    }

    /// Names of extracted fields.
    pub fn extracted_fields(&self) -> &[String] {
        &self.extracted
    }

    /// The path to a page, from the seed to itself.
    pub fn path(&self, page: &Stored) -> Result<Vec<ExplainedStep>, IndexError> {
        let step =
            |page: Stored| ExplainedStep { url: page.url.clone(), anchor: page.anchor.clone(), page: Some(page) };
        let mut path = vec![step(page.clone())];
        // The last is next.
        let back =
            |page: &Stored| page.redirect_origins.iter().rev().chain(&page.found_on).cloned().collect::<Vec<_>>();
        let mut origins = back(page);
        while let Some(url) = origins.pop()
            && path.len() < LONGEST_PATH
            && path.iter().all(|step| step.url != url)
        {
            let known = match CrawlUrl::parse(&url) {
                Ok(url) => self.page(&document::id(&url))?,
                Err(_) => None,
            };
            if let Some(page) = &known {
                origins = back(page);
            }
            path.push(known.map_or_else(|| ExplainedStep { url, anchor: String::new(), page: None }, step));
        }
        path.reverse();
        Ok(path)
    }

    fn compiled(&self, query: &str, filter: &Filter) -> Compiled<'_> {
        let is_term = |word: &str| {
            let term = Term::from_field_text(self.fields.terms, word);
            self.searcher.doc_freq(&term).is_ok_and(|pages| pages > 0)
        };
        Compiled::new(&self.fields, &is_term, &Query::parse(query, &self.extracted), filter)
    }

    fn answer(&self, request: &Request) -> tantivy::Result<SearchResults> {
        let compiled = self.compiled(&request.query, &request.filter);
        let mut loosened = None;
        let mut rows = self.searcher.search(&*compiled.query(None), &RowCollector)?;
        for less in [Loosened::Words, Loosened::Some] {
            if rows.is_empty() {
                rows = self.searcher.search(&*compiled.query(Some(less)), &RowCollector)?;
                loosened = (!rows.is_empty()).then_some(less);
            }
        }
        for row in &mut rows {
            row.score *= 1.0 + TOPIC * row.relevance;
        }
        let rank = |one: &CollectedRow, other: &CollectedRow| {
            // Listings come after documents, because their words belong to the pages they list; and so do pages with
            // little text, because any word weighs much there.
            let documents_first = other.document.cmp(&one.document);
            documents_first
                .then(other.score.total_cmp(&one.score))
                .then(other.relevance.total_cmp(&one.relevance))
                .then(one.page.cmp(&other.page))
        };
        rows.sort_unstable_by(rank);
        let found = rows.len();
        let mut folded: Vec<u64> = Vec::new();
        if request.filter.duplicates == DuplicatePolicy::Best {
            let mut groups: FxHashMap<u64, usize> = FxHashMap::default();
            rows.retain(|row| {
                let next = folded.len();
                let position = *groups.entry(row.representative).or_insert(next);
                if position == next {
                    folded.push(0)
                } else {
                    folded[position] += 1
                }
                position == next
            });
        }
        let terms = compiled.terms(loosened);
        let words = QueryWords::new(&terms);
        let shown = rows.iter().enumerate().skip(request.offset).take(request.limit);
        let hits = shown.map(|(position, row)| {
            let page = self.stored(row.address)?;
            Ok(Hit {
                score: row.score,
                title_marks: words.in_title(&page.title),
                snippet: words.snippet(&page.text),
                duplicates: folded.get(position).copied().unwrap_or(0),
                why: if request.explain { self.shares(&terms, row.address)? } else { Vec::new() },
                page,
            })
        });
        Ok(SearchResults {
            hits: hits.collect::<tantivy::Result<_>>()?,
            pages: rows.len() as u64,
            duplicates: (found - rows.len()) as u64,
            loosened,
            offset: request.offset,
            facets: self.facets(&rows)?,
        })
    }

    /// What each word adds to a page's score.
    fn shares(&self, terms: &[&SearchTerm], address: DocAddress) -> tantivy::Result<Vec<ScorePart>> {
        let reader = self.searcher.segment_reader(address.segment_ord);
        let mut shares = Vec::new();
        for term in terms {
            for (field, query) in in_fields(&self.fields, term) {
                let weight = query.weight(EnableScoring::enabled_from_searcher(&self.searcher))?;
                let mut scorer = weight.scorer(reader, 1.0)?;
                if scorer.doc() <= address.doc_id && scorer.seek(address.doc_id) == address.doc_id {
                    shares.push(ScorePart { words: term.text.clone(), field, bm25: scorer.score() });
                }
            }
        }
        shares.sort_by(|one, other| other.bm25.total_cmp(&one.bm25));
        Ok(shares)
    }

    /// The query with the condition that an extracted field has this value. `None` if it has the condition, or if it
    /// cannot be added because the query is long or the name of the field means something else in queries.
    pub fn with_value(&self, query: &str, field: &str, value: &str) -> Option<String> {
        Query::with_value(query, field, value, &self.extracted)
    }

    fn facets(&self, rows: &[CollectedRow]) -> tantivy::Result<Facets> {
        let mut facets = Facets::default();
        let mut days: FxHashMap<Option<Day>, u64> = FxHashMap::default();
        for row in rows {
            *days.entry(row.published).or_insert(0) += 1;
            *if row.relevant { &mut facets.relevant } else { &mut facets.off_topic } += 1;
        }
        let mut years: BTreeMap<Option<i16>, u64> = BTreeMap::new();
        for (day, pages) in days {
            *years.entry(day.map(Day::year)).or_insert(0) += pages;
        }
        facets.years = years.into_iter().rev().collect();
        let hosts = self.counts("host", rows, |row| row.host)?;
        facets.hosts = hosts.into_iter().filter_map(|(host, pages)| Some((host?, pages))).collect();
        facets.extracted = extracted::counts(&self.searcher, &self.counted, rows)?;
        facets.languages = self.counts("language", rows, |row| row.language)?;
        Ok(facets)
    }

    /// The number of pages for each value of a column, the most frequent first.
    fn counts(
        &self,
        column: &str,
        rows: &[CollectedRow],
        number: impl Fn(&CollectedRow) -> Option<u64>,
    ) -> tantivy::Result<Vec<(Option<String>, u64)>> {
        let mut numbers: FxHashMap<(u32, Option<u64>), u64> = FxHashMap::default();
        for row in rows {
            *numbers.entry((row.address.segment_ord, number(row))).or_insert(0) += 1;
        }
        let mut named: BTreeMap<Option<String>, u64> = BTreeMap::new();
        for ((segment, number), pages) in numbers {
            let mut name = None;
            if let Some(number) = number {
                let reader = self.searcher.segment_reader(segment);
                let mut text = String::new();
                if let Some(column) = reader.fast_fields().str(column)? {
                    column.ord_to_str(number, &mut text)?;
                }
                name = Some(text);
            }
            *named.entry(name).or_insert(0) += pages;
        }
        let mut counts: Vec<(Option<String>, u64)> = named.into_iter().collect();
        counts.sort_by_key(|(_, pages)| std::cmp::Reverse(*pages));
        Ok(counts)
    }

    /// The value of a column for each of these pages.
    fn names(&self, column: &str, pages: impl Iterator<Item = DocAddress>) -> tantivy::Result<Vec<String>> {
        let columns = self.searcher.segment_readers().iter().map(|reader| reader.fast_fields().str(column));
        let columns = columns.collect::<tantivy::Result<Vec<_>>>()?;
        let name = |page: DocAddress| {
            let mut name = String::new();
            if let Some(column) = &columns[page.segment_ord as usize]
                && let Some(number) = column.term_ords(page.doc_id).next()
            {
                column.ord_to_str(number, &mut name)?;
            }
            Ok(name)
        };
        pages.map(name).collect()
    }

    fn find(&self, id: &str) -> tantivy::Result<Option<Stored>> {
        let query = TermQuery::new(Term::from_field_text(self.fields.id, id), IndexRecordOption::Basic);
        let rows = self.searcher.search(&query, &RowCollector)?;
        rows.first().map(|row| self.stored(row.address)).transpose()
    }

    fn stored(&self, address: DocAddress) -> tantivy::Result<Stored> {
        let document: TantivyDocument = self.searcher.doc(address)?;
        let fields = &self.fields;
        let texts = |field: Field| -> Vec<String> {
            document.get_all(field).filter_map(|value| Some(value.as_str()?.to_owned())).collect()
        };
        let text = |field: Field| texts(field).into_iter().next();
        let number = |field: Field| document.get_first(field).and_then(|value| value.as_u64());
        let flag = |field: Field| document.get_first(field).and_then(|value| value.as_bool()).unwrap_or_default();
        let moment = |field: Field| document.get_first(field).and_then(|value| value.as_datetime());
        let counts = document.get_all(fields.counts).filter_map(|value| value.as_u64());
        let terms = texts(fields.terms).into_iter().zip(counts);
        let relevance = document.get_first(fields.relevance).and_then(|value| value.as_f64());
        let fetched = moment(fields.fetched).map_or(0, tantivy::DateTime::into_timestamp_millis);
        Ok(Stored {
            page: number(fields.page).unwrap_or_default(),
            id: text(fields.id).unwrap_or_default(),
            url: text(fields.url).unwrap_or_default(),
            host: text(fields.host).unwrap_or_default(),
            title: text(fields.title).unwrap_or_default(),
            language: text(fields.language),
            published: moment(fields.published).map(day),
            fetched: rfc3339(Millis(u64::try_from(fetched).unwrap_or_default())),
            relevance: relevance.unwrap_or_default() as f32,
            relevant: flag(fields.relevant),
            terms: terms.map(|(term, count)| TermMatch { term, count: count as u32 }).collect(),
            chars: number(fields.chars).unwrap_or_default(),
            listing: flag(fields.listing),
            noindex: flag(fields.noindex),
            duplicate_of: text(fields.duplicate_of),
            depth: number(fields.depth).unwrap_or_default(),
            hops: number(fields.hops).unwrap_or_default(),
            k: number(fields.k),
            found_on: text(fields.found_on),
            redirect_origins: texts(fields.found_on).into_iter().skip(1).collect(),
            anchor: text(fields.anchor).unwrap_or_default(),
            extracted: extracted::stored(&document, fields.extracted),
            text: text(fields.body).unwrap_or_default(),
        })
    }
}
