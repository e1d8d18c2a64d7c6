//! A page of results: hits, the reason for each, facets, and links to other pages.

use minijinja::context;
use minijinja::value::{Serde, Value};

use super::ask::{MOST_PAGES, PER_PAGE, SearchParams};
use super::{HttpReply, SearchSite, frame};
use crate::html::thousands;
use suidao_export::index::{Hit, IndexError, Request, ScorePart, SearchAnswer, TextField};

/// Most values of a facet.
const MOST: usize = 12;
/// Most characters shown of a value.
const LONGEST: usize = 60;

pub(super) fn page(site: &SearchSite, asked: &SearchParams) -> Result<HttpReply, IndexError> {
    let language = asked.lang;
    let offset = (asked.page - 1) * PER_PAGE;
    let answer = site.index.search(&Request { explain: true, ..asked.request(offset, PER_PAGE) })?;
    let pages = (answer.pages as usize).div_ceil(PER_PAGE).clamp(1, MOST_PAGES);
    if asked.page > pages {
        let (title, result) = language
            .pick(("No more results", "Go back to the first page of results."), ("没有这么多结果", "请回到第一页。"));
        return Ok(frame::notice(site, asked, 404, title, result));
    }
    let number = thousands(answer.pages);
    let what = match (asked.q.is_empty(), answer.pages) {
        (true, _) => language.pick(format!("{number} pages"), format!("{number} 个网页")),
        (false, 0) => language.pick(format!("No page matches “{}”", asked.q), format!("没有找到“{}”", asked.q)),
        (false, 1) => language.pick(format!("1 page for “{}”", asked.q), format!("“{}”：1 个网页", asked.q)),
        (false, _) => {
            language.pick(format!("{number} pages for “{}”", asked.q), format!("“{}”：{number} 个网页", asked.q))
        }
    };
    let link = |change: &dyn Fn(&mut SearchParams)| asked.with(change).link("/search");
    let mut chosen: Vec<(String, String)> = Vec::new();
    chosen.extend(asked.host.clone().map(|host| (host, link(&|asked| asked.host = None))));
    chosen.extend(asked.year.map(|year| (year.to_string(), link(&|asked| asked.year = None))));
    chosen.extend(asked.relevant.map(|it| (worth(asked, it).to_owned(), link(&|asked| asked.relevant = None))));
    let free = |asked: &mut SearchParams| (asked.host, asked.year, asked.relevant) = (None, None, None);
    let context = context! {
        what => &what,
        chosen,
        free => asked.is_narrowed().then(|| link(&free)),
        answer => Value::from(Serde(&answer)),
        hits => answer.hits.iter().map(|hit| hit_in_words(asked, hit)).collect::<Vec<_>>(),
        all => asked.all,
        repeats => link(&|asked| asked.all = !asked.all),
        page => asked.page,
        links => (1..=pages).map(|page| link(&|asked| asked.page = page)).collect::<Vec<_>>(),
        facets => facets(site, asked, &answer),
    };
    let title = if asked.page > 1 { format!("{what} ({})", asked.page) } else { what };
    Ok(HttpReply::html(200, frame::frame(site, asked, &title, include_str!("results.html"), context)))
}

fn worth(asked: &SearchParams, relevant: bool) -> &'static str {
    if relevant {
        asked.lang.pick("Relevant", "与主题相关")
    } else {
        asked.lang.pick("Off topic", "与主题无关")
    }
}

fn hit_in_words(asked: &SearchParams, hit: &Hit) -> Value {
    let (language, page) = (asked.lang, &hit.page);
    let page_link = SearchParams::nothing(language).with_language_of(asked).with(|asked| asked.id = page.id.clone());
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

fn facets(site: &SearchSite, asked: &SearchParams, answer: &SearchAnswer) -> Vec<Group> {
    let (language, facets) = (asked.lang, &answer.facets);
    let link = |chosen: bool, change: &dyn Fn(&mut SearchParams)| (!chosen).then(|| asked.with(change).link("/search"));
    let relevance = [(true, facets.relevant), (false, facets.off_topic)].into_iter().filter(|(_, pages)| *pages > 0);
    let relevance = relevance.map(|(relevant, pages)| {
        let link = link(asked.relevant.is_some(), &|asked| asked.relevant = Some(relevant));
        (worth(asked, relevant).to_owned(), link, pages)
    });
    let rest = |pages: u64| (pages > 0).then(|| (language.pick("others", "其他").to_owned(), None, pages));
    let hosts = facets.hosts.iter().take(MOST).map(|(host, pages)| {
        let link = link(asked.host.as_ref() == Some(host), &|asked| asked.host = Some(host.clone()));
        (host.clone(), link, *pages)
    });
    let other_hosts = rest(facets.hosts.iter().skip(MOST).map(|(_, pages)| *pages).sum());
    let dated = || facets.years.iter().filter_map(|(year, pages)| Some(((*year)?, *pages)));
    let undated = facets.years.iter().filter(|(year, _)| year.is_none());
    let undated = undated.map(|(_, pages)| (language.pick("no date", "无日期").to_owned(), None, *pages));
    let years = dated().take(MOST).map(|(year, pages)| {
        let link = link(asked.year == Some(year), &|asked| asked.year = Some(year));
        (year.to_string(), link, pages)
    });
    let other_years = rest(dated().skip(MOST).map(|(_, pages)| pages).sum());
    let mut groups: Vec<Group> = vec![
        (language.pick("Relevance", "相关度").to_owned(), relevance.collect()),
        (language.pick("Host", "站点").to_owned(), hosts.chain(other_hosts).collect()),
        (language.pick("Published", "发布年份").to_owned(), years.chain(other_years).chain(undated).collect()),
    ];
    for (field, values) in &facets.extracted {
        let values = values.iter().take(MOST).map(|(value, pages)| {
            let narrowed = site.index.with_value(&asked.q, field, value);
            let link = narrowed.map(|q| asked.with(|asked| asked.q = q).link("/search"));
            let mut shown: String = value.chars().take(LONGEST).collect();
            if shown.len() < value.len() {
                shown.push('…');
            }
            (shown, link, *pages)
        });
        groups.push((field.clone(), values.collect()));
    }
    groups
}
