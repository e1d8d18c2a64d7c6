//! A page of results: hits, why each is one, what else can be chosen, and the other pages.

use std::fmt::Write;

use super::ask::{Asked, MOST_PAGES, PER_PAGE};
use super::{Reply, Site, look};
use crate::html::{escape, thousands};
use suidao_export::index::{Answer, Hit, IndexError, Request, TextField};

/// Values of a facet that are shown.
const MOST: usize = 12;

pub(super) fn page(site: &Site, asked: &Asked) -> Result<Reply, IndexError> {
    let tongue = asked.tongue;
    let offset = (asked.page - 1) * PER_PAGE;
    let answer = site.index.search(&Request { explain: true, ..asked.request(offset, PER_PAGE) })?;
    let pages = (answer.pages as usize).div_ceil(PER_PAGE).clamp(1, MOST_PAGES);
    if asked.page > pages {
        let (title, told) = tongue.pick(
            ("There are not so many results", "Go back to the first page of them."),
            ("没有这么多结果", "请回到第一页。"),
        );
        return Ok(look::notice(site, asked, 404, title, told));
    }
    let number = thousands(answer.pages);
    let what = match (asked.q.is_empty(), answer.pages) {
        (true, _) => tongue.pick(format!("{number} pages"), format!("{number} 个网页")),
        (false, 0) => tongue.pick(format!("No page answers “{}”", asked.q), format!("没有找到“{}”", asked.q)),
        (false, 1) => tongue.pick(format!("1 page for “{}”", asked.q), format!("“{}”：1 个网页", asked.q)),
        (false, _) => {
            tongue.pick(format!("{number} pages for “{}”", asked.q), format!("“{}”：{number} 个网页", asked.q))
        }
    };
    let mut main = format!("<h1>{}</h1>\n", escape(&what));
    main += &chosen(asked);
    if answer.loosened {
        let told = tongue.pick(
            "No page has all the words together; these have some.",
            "没有网页同时包含所有词，以下网页包含其中一部分。",
        );
        let _ = writeln!(main, "<p class=\"told\">{told}</p>");
    }
    if answer.pages == 0 {
        main += &help(asked);
    } else {
        let jump = tongue.pick("Narrow down", "缩小范围");
        let _ = writeln!(main, "<p class=\"jump\"><a href=\"#facets\">{jump}</a></p>");
        main += "<div class=\"columns\">\n<div>\n";
        let _ = writeln!(main, "<ol class=\"hits\" start=\"{}\">", offset + 1);
        for hit in &answer.hits {
            main += &shown(asked, hit);
        }
        main += "</ol>\n";
        main += &repeats(asked, &answer);
        main += &others(asked, pages);
        main += "</div>\n";
        main += &facets(asked, &answer);
        main += "</div>\n";
    }
    let title = if asked.page > 1 { format!("{what} ({})", asked.page) } else { what };
    Ok(Reply::html(200, look::frame(site, asked, &title, &main)))
}

/// What it is narrowed down by, each with a link that takes it away.
fn chosen(asked: &Asked) -> String {
    let tongue = asked.tongue;
    let mut all: Vec<(String, Asked)> = Vec::new();
    if let Some(host) = &asked.host {
        all.push((host.clone(), asked.with(|asked| asked.host = None)));
    }
    if let Some(year) = asked.year {
        all.push((year.to_string(), asked.with(|asked| asked.year = None)));
    }
    if let Some(relevant) = asked.relevant {
        all.push((worth(asked, relevant).to_owned(), asked.with(|asked| asked.relevant = None)));
    }
    if all.is_empty() {
        return String::new();
    }
    let mut out = format!("<ul class=\"chosen\" aria-label=\"{}\">\n", tongue.pick("Chosen", "已选条件"));
    for (name, without) in all {
        let (name, link) = (escape(&name), escape(&without.link("/search")));
        let label = tongue.pick(format!("Remove: {name}"), format!("取消：{name}"));
        let _ = writeln!(
            out,
            "<li><a href=\"{link}\" aria-label=\"{label}\">{name} <span aria-hidden=\"true\">×</span></a></li>"
        );
    }
    out + "</ul>\n"
}

fn worth(asked: &Asked, relevant: bool) -> &'static str {
    if relevant {
        asked.tongue.pick("Relevant", "与主题相关")
    } else {
        asked.tongue.pick("Off topic", "与主题无关")
    }
}

fn shown(asked: &Asked, hit: &Hit) -> String {
    let (tongue, page) = (asked.tongue, &hit.page);
    let title = if page.title.is_empty() { escape(&page.url) } else { look::marked(&hit.title()) };
    let mut out = format!("<li>\n<article{}>\n<h2>{}</h2>\n", look::lang(page), look::outward(&page.url, &title));
    let _ = writeln!(out, "<p class=\"address\">{}</p>", look::address(&page.url));
    if !hit.snippet.text.is_empty() {
        let _ = writeln!(out, "<p>{}</p>", look::marked(&hit.snippet));
    }
    let ui = tongue.html();
    let mut facts: Vec<String> =
        page.published.iter().map(|day| format!("<time datetime=\"{day}\">{day}</time>")).collect();
    facts.push(format!("{} {:.2}", tongue.pick("relevance", "相关度"), page.relevance));
    if hit.duplicates > 0 {
        facts.push(
            tongue.pick(format!("{} more say the same", hit.duplicates), format!("另有 {} 个内容相同", hit.duplicates)),
        );
    }
    let kept = Asked::nothing(tongue).kept(asked).with(|asked| asked.id = page.id.clone());
    facts.push(format!("<a href=\"{}\">{}</a>", escape(&kept.link("/page")), tongue.pick("what was kept", "查看存档")));
    let _ = writeln!(out, "<p class=\"facts\" lang=\"{ui}\">{}</p>", facts.join(" · "));
    let _ = writeln!(out, "<details lang=\"{ui}\">\n<summary>{}</summary>", tongue.pick("Why it is here", "为何命中"));
    let bm25: f32 = hit.why.iter().map(|share| share.bm25).sum();
    if !hit.why.is_empty() {
        let _ = writeln!(
            out,
            "<p>{} {:.2} = BM25 {bm25:.2} × {:.2} {}</p>\n<ul>",
            tongue.pick("Score", "得分"),
            hit.score,
            hit.score / bm25.max(f32::MIN_POSITIVE),
            tongue.pick("by its relevance and kind", "（按相关度和网页类型加权）")
        );
        for share in &hit.why {
            let field = match share.field {
                TextField::Title => tongue.pick("title", "标题"),
                TextField::Anchors => tongue.pick("links to it", "链接文字"),
                TextField::All | TextField::Body => tongue.pick("text", "正文"),
            };
            let words = escape(&share.words);
            let said = tongue.pick(format!("“{words}” in the {field}"), format!("{field}中的“{words}”"));
            let _ = writeln!(out, "<li>{said}: {:.2}</li>", share.bm25);
        }
        out += "</ul>\n";
    }
    if !page.terms.is_empty() {
        let terms: Vec<String> =
            page.terms.iter().map(|found| format!("{} ×{}", escape(&found.term), found.count)).collect();
        let _ = writeln!(out, "<p>{} {}</p>", tongue.pick("Terms of the topic:", "主题词："), terms.join(", "));
    }
    let _ = writeln!(out, "<p>{}</p>\n</details>\n</article>\n</li>", look::trail(tongue, page));
    out
}

/// How many were folded away, and a link that shows them; or one that folds them again.
fn repeats(asked: &Asked, answer: &Answer) -> String {
    let tongue = asked.tongue;
    let other = asked.with(|asked| asked.all = !asked.all);
    let link = escape(&other.link("/search"));
    let number = thousands(answer.duplicates);
    let (told, act) = if asked.all {
        (String::new(), tongue.pick("Fold pages that say the same", "合并内容相同的网页"))
    } else if answer.duplicates > 0 {
        let told = tongue.pick(
            format!("{number} pages that say the same are folded away."),
            format!("已合并 {number} 个内容相同的网页。"),
        );
        (told, tongue.pick("Show them", "全部显示"))
    } else {
        return String::new();
    };
    format!("<p class=\"note\">{told} <a href=\"{link}\">{act}</a></p>\n")
}

/// Links to the other pages of results.
fn others(asked: &Asked, pages: usize) -> String {
    if pages < 2 {
        return String::new();
    }
    let tongue = asked.tongue;
    let to = |page: usize| {
        let other = asked.with(|asked| asked.page = page);
        escape(&other.link("/search"))
    };
    let mut out =
        format!("<nav class=\"pages\" aria-label=\"{}\">\n<ul>\n", tongue.pick("Pages of results", "结果分页"));
    if asked.page > 1 {
        let _ = writeln!(
            out,
            "<li><a href=\"{}\" rel=\"prev\">{}</a></li>",
            to(asked.page - 1),
            tongue.pick("Previous", "上一页")
        );
    }
    for page in (1..=pages).filter(|page| *page == 1 || *page == pages || page.abs_diff(asked.page) <= 2) {
        let label = tongue.pick(format!("Page {page}"), format!("第 {page} 页"));
        if page == asked.page {
            let _ = writeln!(
                out,
                "<li><a href=\"{}\" aria-current=\"page\" aria-label=\"{label}\">{page}</a></li>",
                to(page)
            );
        } else {
            let _ = writeln!(out, "<li><a href=\"{}\" aria-label=\"{label}\">{page}</a></li>", to(page));
        }
    }
    if asked.page < pages {
        let _ = writeln!(
            out,
            "<li><a href=\"{}\" rel=\"next\">{}</a></li>",
            to(asked.page + 1),
            tongue.pick("Next", "下一页")
        );
    }
    out + "</ul>\n</nav>\n"
}

/// What else can be chosen, with counts.
fn facets(asked: &Asked, answer: &Answer) -> String {
    let (tongue, facets) = (asked.tongue, &answer.facets);
    let mut out = format!("<aside id=\"facets\" aria-label=\"{}\">\n", tongue.pick("Narrow down", "缩小范围"));
    let mut group = |heading: &str, values: Vec<(String, Option<Asked>, u64)>| {
        if values.is_empty() {
            return;
        }
        let _ = writeln!(out, "<section>\n<h2>{heading}</h2>\n<ul>");
        for (name, narrowed, pages) in values {
            let (name, pages) = (escape(&name), thousands(pages));
            let name = match narrowed {
                Some(narrowed) => format!("<a href=\"{}\">{name}</a>", escape(&narrowed.link("/search"))),
                None => name,
            };
            let _ = writeln!(out, "<li>{name} <small>{pages}</small></li>");
        }
        out += "</ul>\n</section>\n";
    };
    let relevance = [(true, facets.relevant), (false, facets.off_topic)].into_iter().filter(|(_, pages)| *pages > 0);
    let relevance = relevance.map(|(relevant, pages)| {
        let narrowed = asked.with(|asked| asked.relevant = Some(relevant));
        (worth(asked, relevant).to_owned(), asked.relevant.is_none().then_some(narrowed), pages)
    });
    group(tongue.pick("Relevance", "相关度"), relevance.collect());
    let rest = |left_out: u64| (left_out > 0).then(|| (tongue.pick("others", "其他").to_owned(), None, left_out));
    let sum = |counts: &mut dyn Iterator<Item = u64>| counts.sum::<u64>();
    let hosts = facets.hosts.iter().take(MOST).map(|(host, pages)| {
        let narrowed = asked.with(|asked| asked.host = Some(host.clone()));
        (host.clone(), (asked.host.as_ref() != Some(host)).then_some(narrowed), *pages)
    });
    let others = rest(sum(&mut facets.hosts.iter().skip(MOST).map(|(_, pages)| *pages)));
    group(tongue.pick("Host", "站点"), hosts.chain(others).collect());
    let dated = || facets.years.iter().filter_map(|(year, pages)| Some(((*year)?, *pages)));
    let undated = facets.years.iter().filter(|(year, _)| year.is_none());
    let undated = undated.map(|(_, pages)| (tongue.pick("no date", "无日期").to_owned(), None, *pages));
    let years = dated().take(MOST).map(|(year, pages)| {
        let narrowed = asked.with(|asked| asked.year = Some(year));
        (year.to_string(), (asked.year != Some(year)).then_some(narrowed), pages)
    });
    let others = rest(sum(&mut dated().skip(MOST).map(|(_, pages)| pages)));
    group(tongue.pick("Published", "发布年份"), years.chain(others).chain(undated).collect());
    out + "</aside>\n"
}

/// What may help where nothing was found.
fn help(asked: &Asked) -> String {
    let tongue = asked.tongue;
    let mut out = String::from("<ul class=\"help\">\n");
    if asked.is_narrowed() {
        let free = asked.with(|asked| (asked.host, asked.year, asked.relevant) = (None, None, None));
        let told = tongue.pick("Search in the whole corpus", "在整个语料库中搜索");
        let _ = writeln!(out, "<li><a href=\"{}\">{told}</a></li>", escape(&free.link("/search")));
    }
    for told in tongue.pick(
        [
            "Try fewer or more general words.",
            "Leave out quotation marks: “a phrase” is found only as it is written.",
            "Traditional and Simplified characters find each other.",
        ],
        ["试试更少或更一般的词。", "去掉引号：带引号的短语必须原样出现。", "简体和繁体可以互相找到。"],
    ) {
        let _ = writeln!(out, "<li>{told}</li>");
    }
    out + "</ul>\n"
}
