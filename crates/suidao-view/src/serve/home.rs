//! The home page: what the corpus is, in figures, and ways into it.

use std::fmt::Write;

use super::ask::Asked;
use super::{Reply, Site, look};
use crate::html::{definitions, escape, thousands};
use suidao_export::index::{IndexError, Request};

/// Terms, hosts and years that are shown.
const MOST: usize = 24;

pub(super) fn page(site: &Site, asked: &Asked) -> Result<Reply, IndexError> {
    let tongue = asked.tongue;
    let all = site.index.search(&Request::default())?;
    let facets = &all.facets;
    let topic = &site.index.origin().topic;
    let years = || facets.years.iter().filter_map(|(year, _)| *year);
    let between = match (years().next_back(), years().next()) {
        (Some(first), Some(last)) => format!("{first}–{last}"),
        _ => tongue.pick("not told", "未知").to_owned(),
    };
    let languages: Vec<String> = facets
        .languages
        .iter()
        .take(4)
        .map(|(code, pages)| {
            let name = match code.as_deref() {
                Some("zh") => tongue.pick("Chinese", "中文"),
                Some("en") => tongue.pick("English", "英文"),
                Some(code) => code,
                None => tongue.pick("not told", "未知"),
            };
            format!("{} {}", escape(name), thousands(*pages))
        })
        .collect();
    let share = 100.0 * facets.relevant as f64 / (all.pages as f64).max(1.0);
    let title = tongue.pick(format!("A corpus on {topic}"), format!("{topic} 语料库"));
    let mut main = format!("<h1>{}</h1>\n", escape(&title));
    main += &definitions(&[
        (tongue.pick("Pages", "网页"), thousands(all.pages)),
        (tongue.pick("Relevant to the topic", "与主题相关"), format!("{} ({share:.0}%)", thousands(facets.relevant))),
        (tongue.pick("Hosts", "站点"), thousands(facets.hosts.len() as u64)),
        (tongue.pick("Languages", "语言"), languages.join(" · ")),
        (tongue.pick("Published", "发布年份"), between),
        (tongue.pick("Crawled with", "抓取策略"), escape(&site.index.origin().strategy)),
    ]);
    let mut links = |heading: &str, links: Vec<(String, Asked, u64)>| {
        if links.is_empty() {
            return;
        }
        let _ = writeln!(main, "<section>\n<h2>{heading}</h2>\n<ul class=\"ways\">");
        for (shown, asked, pages) in links {
            let link = escape(&asked.link("/search"));
            let _ = writeln!(
                main,
                "<li><a href=\"{link}\">{}</a> <small>{}</small></li>",
                escape(&shown),
                thousands(pages)
            );
        }
        main += "</ul>\n</section>\n";
    };
    let terms = site.index.terms(MOST)?.into_iter();
    let terms = terms.map(|(term, pages)| (term.clone(), asked.with(|asked| asked.q = quoted(&term)), pages));
    links(tongue.pick("Terms of the topic", "主题词"), terms.collect());
    let hosts = facets.hosts.iter().take(MOST);
    let hosts = hosts.map(|(host, pages)| (host.clone(), asked.with(|asked| asked.host = Some(host.clone())), *pages));
    links(tongue.pick("Hosts", "站点"), hosts.collect());
    let years = facets.years.iter().take(MOST).filter_map(|(year, pages)| Some(((*year)?, *pages)));
    let years = years.map(|(year, pages)| (year.to_string(), asked.with(|asked| asked.year = Some(year)), pages));
    links(tongue.pick("Years", "年份"), years.collect());
    Ok(Reply::html(200, look::frame(site, asked, &title, &main)))
}

/// A term as a query for itself.
fn quoted(term: &str) -> String {
    if term.contains(char::is_whitespace) { format!("\"{term}\"") } else { term.to_owned() }
}
