//! Parses the URLs of the search site, and builds them.

use std::sync::Arc;

use url::form_urlencoded;

use suidao_export::index::Request;
use suidao_page::messages::Lang;
use suidao_page::model::Day;
use suidao_store::corpus::{Bounds, Condition, DuplicatePolicy, Filter};

pub(super) const PER_PAGE: usize = 10;
pub(super) const MAX_PAGES: usize = 100;
/// Maximum number of characters of a query, as in the query language.
const LONGEST: usize = 500;
/// Maximum number of hits of a JSON answer.
const MAX_HITS: usize = 100;

#[derive(Clone, Debug)]
pub(super) struct SearchParams {
    pub lang: Lang,
    /// The path of the site on its server.
    pub base: Arc<str>,
    /// The language was chosen by a link, so other links keep it.
    chosen: bool,
    /// As typed.
    pub q: String,
    pub host: Option<String>,
    pub year: Option<i16>,
    pub relevant: Option<bool>,
    pub all: bool,
    /// Page of results, from 1.
    pub page: usize,
    pub id: String,
    pub offset: usize,
    pub limit: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refused {
    TooLong,
    Page,
    Value,
}

impl Refused {
    pub(super) fn message(self, lang: Lang) -> String {
        match self {
            Self::TooLong => lang.text("query-too-long", &[]),
            Self::Page => lang.text("too-many-results", &[]),
            Self::Value => lang.text("unknown-parameter-value", &[]),
        }
    }
}

impl SearchParams {
    /// An empty search.
    pub(super) fn nothing(lang: Lang) -> Self {
        Self {
            lang,
            base: "".into(),
            chosen: false,
            q: String::new(),
            host: None,
            year: None,
            relevant: None,
            all: false,
            page: 1,
            id: String::new(),
            offset: 0,
            limit: PER_PAGE,
        }
    }

    pub(super) fn read(query: &str, preferred: Lang) -> Result<Self, Refused> {
        let mut params = Self::nothing(preferred);
        for (name, value) in form_urlencoded::parse(query.as_bytes()) {
            let value = value.trim();
            let number = || value.parse::<usize>().map_err(|_| Refused::Value);
            match &*name {
                "lang" => {
                    params.lang = Lang::named(value).ok_or(Refused::Value)?;
                    params.chosen = true;
                }
                "q" => params.q = value.to_owned(),
                // A form sends all its fields.
                _ if value.is_empty() => {}
                "host" => params.host = Some(value.to_lowercase()),
                "year" => params.year = Some(value.parse().map_err(|_| Refused::Value)?),
                "relevant" => {
                    params.relevant = Some(match value {
                        "yes" => true,
                        "no" => false,
                        _ => return Err(Refused::Value),
                    });
                }
                "duplicates" => params.all = value == "keep",
                "p" => params.page = number()?,
                "id" => params.id = value.to_owned(),
                "offset" => params.offset = number()?,
                "limit" => params.limit = number()?,
                _ => {}
            }
        }
        if params.q.chars().count() > LONGEST || params.host.as_ref().is_some_and(|host| host.len() > LONGEST) {
            return Err(Refused::TooLong);
        }
        let far = params.offset > PER_PAGE * MAX_PAGES || params.limit > MAX_HITS;
        if far || !(1..=MAX_PAGES).contains(&params.page) {
            return Err(Refused::Page);
        }
        Ok(params)
    }

    pub(super) fn request(&self, offset: usize, limit: usize) -> Request {
        let year = |year| Bounds { from: Day::of(year, 1, 1), to: Day::of(year, 12, 31) };
        let conditions = [
            self.relevant.map(Condition::Relevant),
            self.host.clone().map(|host| Condition::Host(vec![host])),
            self.year.map(|number| Condition::Published(year(number))),
        ];
        let filter = Filter {
            all_of: conditions.into_iter().flatten().collect(),
            no_noindex: true,
            duplicates: if self.all { DuplicatePolicy::Keep } else { DuplicatePolicy::Best },
            ..Filter::default()
        };
        Request { query: self.q.clone(), filter, offset, limit, explain: false }
    }

    /// Whether it has filters besides its words.
    pub(super) fn is_narrowed(&self) -> bool {
        self.host.is_some() || self.year.is_some() || self.relevant.is_some()
    }

    /// The same with a change, from the first page of results.
    pub(super) fn with(&self, change: impl FnOnce(&mut Self)) -> Self {
        let mut params = Self { page: 1, ..self.clone() };
        change(&mut params);
        params
    }

    /// Keeps the language of another search if a link chose it.
    pub(super) fn with_language_of(self, other: &Self) -> Self {
        Self { lang: other.lang, base: Arc::clone(&other.base), chosen: other.chosen, ..self }
    }

    /// The same on a site with this path.
    pub(super) fn below(self, base: &Arc<str>) -> Self {
        Self { base: Arc::clone(base), ..self }
    }

    /// The same in the other language.
    pub(super) fn in_language(&self, lang: Lang) -> Self {
        Self { lang, chosen: true, ..self.clone() }
    }

    pub(super) fn pairs(&self) -> Vec<(&'static str, String)> {
        let mut pairs = Vec::new();
        let mut add = |name, value: Option<String>| pairs.extend(value.map(|value| (name, value)));
        add("q", (!self.q.is_empty()).then(|| self.q.clone()));
        add("host", self.host.clone());
        add("year", self.year.map(|year| year.to_string()));
        add("relevant", self.relevant.map(|relevant| if relevant { "yes" } else { "no" }.to_owned()));
        add("duplicates", self.all.then(|| "keep".to_owned()));
        add("id", (!self.id.is_empty()).then(|| self.id.clone()));
        add("p", (self.page > 1).then(|| self.page.to_string()));
        add("lang", self.chosen.then(|| self.lang.code().to_owned()));
        pairs
    }

    /// Its URL on the site: path and query, not yet escaped for HTML.
    pub(super) fn link(&self, path: &str) -> String {
        let query = form_urlencoded::Serializer::new(String::new()).extend_pairs(self.pairs()).finish();
        let path = if path == "/" && !self.base.is_empty() { "" } else { path };
        let path = format!("{}{path}", self.base);
        if query.is_empty() { path } else { format!("{path}?{query}") }
    }
}
