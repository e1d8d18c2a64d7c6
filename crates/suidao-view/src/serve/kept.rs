//! What was kept of one page, and how it was found.

use std::fmt::Write;

use super::ask::Asked;
use super::{Reply, Site, look};
use crate::html::{definitions, escape, thousands};
use suidao_export::index::{IndexError, Stored};

/// Characters of text that are shown.
const MOST: usize = 100_000;

pub(super) fn page(site: &Site, asked: &Asked) -> Result<Reply, IndexError> {
    let Some(page) = site.index.page(&asked.id)? else {
        return Ok(site.missing(&Asked::nothing(asked.tongue).kept(asked)));
    };
    let tongue = asked.tongue;
    let title = look::title(&page);
    let mut main = format!("<article>\n<h1{}>{}</h1>\n", look::lang(&page), escape(title));
    let _ = writeln!(main, "<p class=\"address\">{}</p>", look::outward(&page.url, &look::address(&page.url)));
    main += &definitions(&facts(asked, &page));
    let _ = writeln!(
        main,
        "<section>\n<h2>{}</h2>\n<p>{}</p>\n<ol class=\"path\">",
        tongue.pick("How it was found", "发现路径"),
        look::trail(tongue, &page)
    );
    for step in site.index.path(&page)? {
        let known = step.page.as_ref();
        let shown = escape(known.map_or(step.url.as_str(), look::title));
        let own = asked.with(|asked| asked.id = known.map(|page| page.id.clone()).unwrap_or_default());
        let shown = match known {
            Some(page) if page.id != asked.id => format!("<a href=\"{}\">{shown}</a>", escape(&own.link("/page"))),
            _ => shown,
        };
        let by = match step.anchor.as_str() {
            "" => String::new(),
            anchor => format!(
                "{} ",
                tongue.pick(format!("by the link “{}”:", escape(anchor)), format!("经链接“{}”：", escape(anchor)))
            ),
        };
        let worth = known.map_or_else(String::new, |page| format!(" <small>{}</small>", relevance(asked, page)));
        let _ = writeln!(main, "<li>{by}{shown}{worth}</li>");
    }
    let _ = writeln!(
        main,
        "</ol>\n<p class=\"note\">{} <code>suidao why {} {}</code></p>\n</section>",
        tongue.pick("More of it:", "详细记录："),
        escape(&shell(&site.directory)),
        escape(&shell(&page.url))
    );
    let _ = writeln!(
        main,
        "<section>\n<h2>{}</h2>\n<div class=\"text\"{}>",
        tongue.pick("What was kept", "保存的正文"),
        look::lang(&page)
    );
    let end = page.text.char_indices().nth(MOST).map_or(page.text.len(), |(at, _)| at);
    for paragraph in page.text[..end].lines().filter(|line| !line.trim().is_empty()) {
        let _ = writeln!(main, "<p>{}</p>", escape(paragraph));
    }
    main += "</div>\n";
    if end < page.text.len() {
        let _ = writeln!(main, "<p class=\"note\">{}</p>", tongue.pick("The rest is left out.", "其余部分未显示。"));
    }
    main += "</section>\n</article>\n";
    let headed = format!("{title} · {}", site.index.origin().topic);
    Ok(Reply::html(200, look::frame(site, asked, &headed, &main)))
}

fn facts(asked: &Asked, page: &Stored) -> Vec<(&'static str, String)> {
    let tongue = asked.tongue;
    let mut facts = vec![(tongue.pick("Relevance", "相关度"), relevance(asked, page))];
    if !page.terms.is_empty() {
        let terms: Vec<String> =
            page.terms.iter().map(|found| format!("{} ×{}", escape(&found.term), found.count)).collect();
        facts.push((tongue.pick("Terms of the topic", "主题词"), terms.join(", ")));
    }
    facts.extend(page.published.map(|day| (tongue.pick("Published", "发布日期"), day.to_string())));
    facts.push((tongue.pick("Fetched", "抓取时间"), escape(&page.fetched)));
    facts.push((tongue.pick("Characters", "字数"), thousands(page.chars)));
    if !page.anchor.is_empty() {
        facts.push((tongue.pick("The link to it says", "链接文字"), escape(&page.anchor)));
    }
    facts.extend(
        page.duplicate_of
            .as_ref()
            .map(|url| (tongue.pick("Says the same as", "内容相同于"), look::outward(url, &look::address(url)))),
    );
    facts
}

fn relevance(asked: &Asked, page: &Stored) -> String {
    let worth =
        if page.relevant { asked.tongue.pick("relevant", "相关") } else { asked.tongue.pick("off topic", "无关") };
    format!("{:.2} · {worth}", page.relevance)
}

/// A word as a shell takes it.
fn shell(word: &str) -> String {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "-_./:=@%+,~".contains(letter);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}
