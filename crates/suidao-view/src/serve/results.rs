//! A page of results: hits, the reason for each, facets, and links to other pages.

use std::fmt::Display;

use minijinja::context;
use minijinja::value::{Serde, Value};

use super::ask::{MAX_PAGES, PER_PAGE, SearchParams};
use super::{HttpReply, SearchSite, frame};
use suidao_export::index::{Hit, IndexError, Request, ScorePart, SearchResults, TextField};

/// Maximum number of values of a facet.
const MAX_FACET_VALUES: usize = 12;
/// Maximum number of characters shown of a value.
const MAX_VALUE_CHARS: usize = 60;

pub(super) fn page(site: &SearchSite, params: &SearchParams) -> Result<HttpReply, IndexError> {
    let language = params.lang;
    let offset = (params.page - 1) * PER_PAGE;
    let answer = site.index.search(&Request { explain: true, ..params.request(offset, PER_PAGE) })?;
    let pages = (answer.pages as usize).div_ceil(PER_PAGE).clamp(1, MAX_PAGES);
    if params.page > pages {
        let title = language.text("no-more-results", &[]);
        let message = language.text("no-more-results-advice", &[]);
        return Ok(frame::notice(site, params, 404, &title, &message));
    }
    let numbers: [&dyn Display; 2] = [&answer.pages, &params.q];
    let what = match (params.q.is_empty(), answer.pages) {
        (true, _) => language.text("pages-n", &numbers),
        (false, 0) => language.text("no-page-matches", &numbers),
        (false, _) => language.text("pages-for-query", &numbers),
    };
    let link = |change: &dyn Fn(&mut SearchParams)| params.with(change).link("/search");
    let mut chosen: Vec<(String, String)> = Vec::new();
    chosen.extend(params.host.clone().map(|host| (host, link(&|params| params.host = None))));
    chosen.extend(params.year.map(|year| (year.to_string(), link(&|params| params.year = None))));
    chosen.extend(params.relevant.map(|it| (relevance_label(params, it), link(&|params| params.relevant = None))));
    let free = |params: &mut SearchParams| (params.host, params.year, params.relevant) = (None, None, None);
    let context = context! {
        what => &what,
        chosen,
        free => params.is_narrowed().then(|| link(&free)),
        answer => Value::from(Serde(&answer)),
        hits => answer.hits.iter().map(|hit| describe_hit(params, hit)).collect::<Vec<_>>(),
        all => params.all,
        repeats => link(&|params| params.all = !params.all),
        page => params.page,
        links => (1..=pages).map(|page| link(&|params| params.page = page)).collect::<Vec<_>>(),
        facets => facets(site, params, &answer),
    };
    let title = if params.page > 1 { format!("{what} ({})", params.page) } else { what };
    Ok(HttpReply::html(200, frame::frame(site, params, &title, include_str!("results.html"), context)))
}

fn relevance_label(params: &SearchParams, relevant: bool) -> String {
    if relevant { params.lang.text("relevant-heading", &[]) } else { params.lang.text("off-topic-heading", &[]) }
}

fn describe_hit(params: &SearchParams, hit: &Hit) -> Value {
    let (language, page) = (params.lang, &hit.page);
    let page_link = SearchParams::nothing(language).with_language_of(params).with(|params| params.id = page.id.clone());
    let describe_share = |share: &ScorePart| {
        let field = match share.field {
            TextField::Title => language.text("title", &[]),
            TextField::Anchors => language.text("links-to-it", &[]),
            TextField::All | TextField::Body => language.text("text", &[]),
        };
        (language.text("link-in-region", &[&share.words, &field]), share.bm25)
    };
    context! {
        shown => if page.title.is_empty() { Value::from(&page.url) } else { frame::marked(&hit.title()) },
        lang => frame::lang(page),
        piece => frame::marked(&hit.snippet),
        link => page_link.link("/page"),
        bm25 => hit.why.iter().map(|share| share.bm25).sum::<f32>().max(f32::MIN_POSITIVE),
        shares => hit.why.iter().map(describe_share).collect::<Vec<_>>(),
        trail => frame::link_path(language, page),
        ..Value::from(Serde(hit)),
    }
}

/// Facets: a heading, then names, links that choose the value or remove it, whether it is chosen, and numbers of pages.
type Group = (String, Vec<(String, String, bool, u64)>);

fn facets(site: &SearchSite, params: &SearchParams, answer: &SearchResults) -> Vec<Group> {
    let (language, facets) = (params.lang, &answer.facets);
    let link = |change: &dyn Fn(&mut SearchParams)| params.with(change).link("/search");
    let relevance = [(true, facets.relevant), (false, facets.off_topic)].into_iter().filter(|(_, pages)| *pages > 0);
    let relevance = relevance.map(|(relevant, pages)| {
        let is_chosen = params.relevant == Some(relevant);
        let link = link(&|params| params.relevant = (!is_chosen).then_some(relevant));
        (relevance_label(params, relevant), link, is_chosen, pages)
    });
    let hosts = facets.hosts.iter().take(MAX_FACET_VALUES).map(|(host, pages)| {
        let is_chosen = params.host.as_ref() == Some(host);
        let link = link(&|params| params.host = (!is_chosen).then(|| host.clone()));
        (host.clone(), link, is_chosen, *pages)
    });
    let dated = facets.years.iter().filter_map(|(year, pages)| Some(((*year)?, *pages)));
    let years = dated.take(MAX_FACET_VALUES).map(|(year, pages)| {
        let is_chosen = params.year == Some(year);
        (year.to_string(), link(&|params| params.year = (!is_chosen).then_some(year)), is_chosen, pages)
    });
    let mut groups: Vec<Group> = vec![
        (language.text("relevance-heading", &[]), relevance.collect()),
        (language.text("host-heading", &[]), hosts.collect()),
        (language.text("published-heading", &[]), years.collect()),
    ];
    for (field, values) in &facets.extracted {
        let values = values.iter().take(MAX_FACET_VALUES).filter_map(|(value, pages)| {
            let clause = format!("{field}:\"{}\"", value.replace(['"', '＂'], " "));
            let (q, is_chosen) = match site.index.with_value(&params.q, field, value) {
                Some(narrowed) => (narrowed, false),
                None if params.q.contains(&clause) => (params.q.replacen(&clause, "", 1).trim().to_owned(), true),
                // The name of the field has another meaning in a query.
                None => return None,
            };
            let link = params.with(|params| params.q = q).link("/search");
            let mut shown: String = value.chars().take(MAX_VALUE_CHARS).collect();
            if shown.len() < value.len() {
                shown.push('…');
            }
            Some((shown, link, is_chosen, *pages))
        });
        groups.push((field.clone(), values.collect()));
    }
    groups
}
