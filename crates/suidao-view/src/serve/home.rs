//! The home page: figures of the corpus, and links into it.

use minijinja::context;

use super::ask::SearchParams;
use super::{HttpReply, SearchSite, frame};
use suidao_export::index::{IndexError, Request};
use suidao_html::thousands;

/// Maximum number of terms, hosts and years shown.
const MOST: usize = 24;

pub(super) fn page(site: &SearchSite, params: &SearchParams) -> Result<HttpReply, IndexError> {
    let lang = params.lang;
    let all = site.index.search(&Request::default())?;
    let facets = &all.facets;
    let topic = &site.index.origin().topic;
    let years = || facets.years.iter().filter_map(|(year, _)| *year);
    let between = match (years().next_back(), years().next()) {
        (Some(first), Some(last)) => format!("{first}–{last}"),
        _ => lang.text("unknown", &[]),
    };
    let language = |(code, pages): &(Option<String>, u64)| {
        let name = code.as_deref().map_or(lang.phrase("unknown"), |code| lang.language(code));
        format!("{name} {}", thousands(*pages))
    };
    let share = 100.0 * facets.relevant as f64 / (all.pages as f64).max(1.0);
    let title = lang.text("home-title", &[topic]);
    let way = |name: String, params: SearchParams, pages: u64| (name, params.link("/search"), pages);
    let terms = site.index.terms(MOST)?.into_iter();
    let terms = terms.map(|(term, pages)| way(term.clone(), params.with(|params| params.q = quoted(&term)), pages));
    let hosts = facets.hosts.iter().take(MOST);
    let hosts =
        hosts.map(|(host, pages)| way(host.clone(), params.with(|params| params.host = Some(host.clone())), *pages));
    let years = facets.years.iter().take(MOST).filter_map(|(year, pages)| Some(((*year)?, *pages)));
    let years = years.map(|(year, pages)| way(year.to_string(), params.with(|params| params.year = Some(year)), pages));
    let context = context! {
        title => &title,
        pages => all.pages,
        relevant => format!("{} ({share:.0}%)", thousands(facets.relevant)),
        hosts => facets.hosts.len(),
        languages => facets.languages.iter().take(4).map(language).collect::<Vec<_>>(),
        between,
        strategy => &site.index.origin().strategy,
        ways => [
            (lang.text("topic-terms", &[]), terms.collect::<Vec<_>>()),
            (lang.text("hosts-heading", &[]), hosts.collect()),
            (lang.text("years", &[]), years.collect()),
        ],
    };
    Ok(HttpReply::html(200, frame::frame(site, params, &title, include_str!("home.html"), context)))
}

fn quoted(term: &str) -> String {
    if term.contains(char::is_whitespace) { format!("\"{term}\"") } else { term.to_owned() }
}
