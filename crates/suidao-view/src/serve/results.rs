//! A page of results: hits, the reason for each, facets, and links to other pages.

use minijinja::context;
use minijinja::value::{Serde, Value};

use super::ask::{MAX_PAGES, PER_PAGE, SearchParams};
use super::{HttpReply, SearchSite, frame};
use crate::html::thousands;
use suidao_export::index::{Hit, IndexError, Request, ScorePart, SearchAnswer, TextField};

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
        let (title, result) = language
            .pick(("No more results", "Go back to the first page of results."), ("没有这么多结果", "请回到第一页。"));
        return Ok(frame::notice(site, params, 404, title, result));
    }
    let number = thousands(answer.pages);
    let what = match (params.q.is_empty(), answer.pages) {
        (true, _) => language.pick(format!("{number} pages"), format!("{number} 个网页")),
        (false, 0) => language.pick(format!("No page matches “{}”", params.q), format!("没有找到“{}”", params.q)),
        (false, 1) => language.pick(format!("1 page for “{}”", params.q), format!("“{}”：1 个网页", params.q)),
        (false, _) => {
            language.pick(format!("{number} pages for “{}”", params.q), format!("“{}”：{number} 个网页", params.q))
        }
    };
    let link = |change: &dyn Fn(&mut SearchParams)| params.with(change).link("/search");
    let mut chosen: Vec<(String, String)> = Vec::new();
    chosen.extend(params.host.clone().map(|host| (host, link(&|params| params.host = None))));
    chosen.extend(params.year.map(|year| (year.to_string(), link(&|params| params.year = None))));
    chosen.extend(
        params.relevant.map(|it| (relevance_label(params, it).to_owned(), link(&|params| params.relevant = None))),
    );
    let free = |params: &mut SearchParams| (params.host, params.year, params.relevant) = (None, None, None);
    let context = context! {
        what => &what,
        chosen,
        free => params.is_narrowed().then(|| link(&free)),
        answer => Value::from(Serde(&answer)),
        hits => answer.hits.iter().map(|hit| hit_in_words(params, hit)).collect::<Vec<_>>(),
        all => params.all,
        repeats => link(&|params| params.all = !params.all),
        page => params.page,
        links => (1..=pages).map(|page| link(&|params| params.page = page)).collect::<Vec<_>>(),
        facets => facets(site, params, &answer),
    };
    let title = if params.page > 1 { format!("{what} ({})", params.page) } else { what };
    Ok(HttpReply::html(200, frame::frame(site, params, &title, include_str!("results.html"), context)))
}

fn relevance_label(params: &SearchParams, relevant: bool) -> &'static str {
    if relevant {
        params.lang.pick("Relevant", "与主题相关")
    } else {
        params.lang.pick("Off topic", "与主题无关")
    }
}

fn hit_in_words(params: &SearchParams, hit: &Hit) -> Value {
    let (language, page) = (params.lang, &hit.page);
    let page_link = SearchParams::nothing(language).with_language_of(params).with(|params| params.id = page.id.clone());
    let share_in_words = |share: &ScorePart| {
        let field = match share.field {
            TextField::Title => language.pick("title", "标题"),
            TextField::Anchors => language.pick("links to it", "链接文字"),
            TextField::All | TextField::Body => language.pick("text", "正文"),
        };
        let words = &share.words;
        (language.pick(format!("“{words}” in the {field}"), format!("{field}中的“{words}”")), share.bm25)
    };
    context! {
        shown => if page.title.is_empty() { Value::from(&page.url) } else { frame::marked(&hit.title()) },
        lang => frame::lang(page),
        piece => frame::marked(&hit.snippet),
        link => page_link.link("/page"),
        bm25 => hit.why.iter().map(|share| share.bm25).sum::<f32>().max(f32::MIN_POSITIVE),
        shares => hit.why.iter().map(share_in_words).collect::<Vec<_>>(),
        trail => frame::link_path(language, page),
        ..Value::from(Serde(hit)),
    }
}

/// Facets: a heading, then names, links unless already chosen, and numbers of pages.
type Group = (String, Vec<(String, Option<String>, u64)>);

fn facets(site: &SearchSite, params: &SearchParams, answer: &SearchAnswer) -> Vec<Group> {
    let (language, facets) = (params.lang, &answer.facets);
    let link =
        |chosen: bool, change: &dyn Fn(&mut SearchParams)| (!chosen).then(|| params.with(change).link("/search"));
    let relevance = [(true, facets.relevant), (false, facets.off_topic)].into_iter().filter(|(_, pages)| *pages > 0);
    let relevance = relevance.map(|(relevant, pages)| {
        let link = link(params.relevant.is_some(), &|params| params.relevant = Some(relevant));
        (relevance_label(params, relevant).to_owned(), link, pages)
    });
    let rest = |pages: u64| (pages > 0).then(|| (language.pick("others", "其他").to_owned(), None, pages));
    let hosts = facets.hosts.iter().take(MAX_FACET_VALUES).map(|(host, pages)| {
        let link = link(params.host.as_ref() == Some(host), &|params| params.host = Some(host.clone()));
        (host.clone(), link, *pages)
    });
    let other_hosts = rest(facets.hosts.iter().skip(MAX_FACET_VALUES).map(|(_, pages)| *pages).sum());
    let dated = || facets.years.iter().filter_map(|(year, pages)| Some(((*year)?, *pages)));
    let undated = facets.years.iter().filter(|(year, _)| year.is_none());
    let undated = undated.map(|(_, pages)| (language.pick("no date", "无日期").to_owned(), None, *pages));
    let years = dated().take(MAX_FACET_VALUES).map(|(year, pages)| {
        let link = link(params.year == Some(year), &|params| params.year = Some(year));
        (year.to_string(), link, pages)
    });
    let other_years = rest(dated().skip(MAX_FACET_VALUES).map(|(_, pages)| pages).sum());
    let mut groups: Vec<Group> = vec![
        (language.pick("Relevance", "相关度").to_owned(), relevance.collect()),
        (language.pick("Host", "站点").to_owned(), hosts.chain(other_hosts).collect()),
        (language.pick("Published", "发布年份").to_owned(), years.chain(other_years).chain(undated).collect()),
    ];
    for (field, values) in &facets.extracted {
        let values = values.iter().take(MAX_FACET_VALUES).map(|(value, pages)| {
            let narrowed = site.index.with_value(&params.q, field, value);
            let link = narrowed.map(|q| params.with(|params| params.q = q).link("/search"));
            let mut shown: String = value.chars().take(MAX_VALUE_CHARS).collect();
            if shown.len() < value.len() {
                shown.push('…');
            }
            (shown, link, *pages)
        });
        groups.push((field.clone(), values.collect()));
    }
    groups
}
