//! Recognizes listings: pages that are mostly a list of records, each with its own link to the same host.
//!
//! A record's link is the whole text of a block (a title), and records share their position in the template (after Liu,
//! Grossman, Zhai 2003, who mine repeated regions of the tag tree; here the hash of the path replaces the region).
//! Links within sentences are not records.

use std::cmp::Reverse;

use rustc_hash::{FxHashMap, FxHashSet};

use super::address::{UrlKind, kind};
use super::markup::{ParsedHtml, TextStats};
use crate::model::{CrawlUrl, Region};

/// Records that make a page a listing, regardless of its URL.
const RECORDS: usize = 5;
/// Text of a record's link: a title, not a person's name, a post number or a menu item.
const TITLE: u32 = 12;
/// Maximum mean text per record besides its link: an excerpt, not an article.
const EXCERPT: u32 = 1200;
const EXCERPTS: u32 = 600;
/// Text around the links of a table of contents.
const REMARK: u32 = 450;

/// Statistics of a part of a page. Lengths as in [`TextStats`]: an ideograph counts 3, a letter 1.
#[derive(Debug, Default)]
struct Shape {
    /// All text.
    text: u32,
    /// Text of links that make up most of their block.
    linked: u32,
    /// Distinct targets of those links.
    pages: usize,
    /// Maximum number of such links in one position of the template.
    records: usize,
    /// The longest text without such a record, links excluded.
    longest_run: u32,
    /// Text before the first link to a likely document; all text if there is none.
    text_before: u32,
}

/// Whether a page is a listing. Requires a document without title; `open`: blocks that no name marks as boilerplate.
pub(super) fn is_listing(markup: &ParsedHtml, open: &[bool], url: &CrawlUrl) -> bool {
    let blocks = markup.document.blocks.iter().zip(open);
    let content: Vec<bool> = blocks.map(|(block, open)| *open && block.region == Region::Content).collect();
    let shape = Shape::of(markup, &content, url, false);
    let kind = kind(url);
    // A table of contents may be nested, with rows in several positions.
    if shape.pages >= RECORDS && shape.linked * 3 >= shape.text * 2 && shape.longest_run <= REMARK {
        return true;
    }
    let excerpts = shape.text - shape.linked;
    let short = shape.longest_run <= EXCERPT && excerpts <= EXCERPTS * shape.records as u32;
    if shape.records >= RECORDS && short && kind != UrlKind::Misc {
        return true;
    }
    if matches!(kind, UrlKind::Document | UrlKind::Misc) {
        return false;
    }
    // A listing's URL needs less evidence: a single record, none, or whole posts below their titles, of which the
    // longest was chosen as main text.
    let shape = Shape::of(markup, open, url, true);
    shape.text - shape.linked <= EXCERPT * (1 + shape.records as u32) || shape.text_before * 5 <= shape.text
}

impl Shape {
    /// Statistics of the `included` blocks. With `all`, links of any length are records, and so are those of a long row
    /// to one other host, which is the site under another name.
    fn of(markup: &ParsedHtml, included: &[bool], url: &CrawlUrl, all: bool) -> Self {
        let stats_by_block: Vec<TextStats> = markup.block_stats.iter().map(|stats| stats.text_stats).collect();
        let linked = |block: usize| {
            let text_stats = stats_by_block[block];
            if text_stats.linked * 10 >= text_stats.total() * 6 { text_stats.linked } else { 0 }
        };
        let mut shape = Self::default();
        // Text outside of links, up to each block.
        let mut outside = Vec::with_capacity(stats_by_block.len());
        for (at, text_stats) in stats_by_block.iter().enumerate() {
            if included[at] {
                shape.text += text_stats.total();
                shape.linked += linked(at);
            }
            outside.push(shape.text - shape.linked);
        }
        shape.text_before = shape.text;
        let mut rows: FxHashMap<(u32, &str), Row> = FxHashMap::default();
        let mut pages = FxHashSet::default();
        for link in markup.document.links.iter().filter(|link| included[link.block] && link.url != *url) {
            let text_stats = stats_by_block[link.block];
            if linked(link.block) == 0 && text_stats.total() > 0 {
                continue;
            }
            if link.url.host() == url.host() {
                pages.insert(link.url.as_str());
            }
            if kind(&link.url) == UrlKind::Document {
                shape.text_before = shape.text_before.min(outside[link.block]);
            }
            let row = rows.entry((link.path, link.url.host())).or_default();
            // A card may be one link over its text; pictures side by side are not cards.
            let stated = text_stats.linked / text_stats.links.max(1);
            let is_record = if stated == 0 { row.last < outside[link.block] } else { stated >= TITLE };
            if all || is_record {
                row.pages.insert(link.url.as_str());
                row.longest_run = row.longest_run.max(outside[link.block] - row.last);
                row.last = outside[link.block];
            }
        }
        shape.pages = pages.len();
        rows.retain(|(_, host), row| *host == url.host() || all && row.pages.len() >= RECORDS);
        let end = outside.last().copied().unwrap_or_default();
        let longest = rows.values().map(|row| (row.pages.len(), Reverse(row.longest_run.max(end - row.last)))).max();
        let (records, Reverse(longest_run)) = longest.unwrap_or((0, Reverse(end)));
        (shape.records, shape.longest_run) = (records, longest_run);
        shape
    }
}

/// Links in one position of the template.
#[derive(Default)]
struct Row<'a> {
    pages: FxHashSet<&'a str>,
    /// The longest text between two of them.
    longest_run: u32,
    /// Text before the last one.
    last: u32,
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;
    use crate::model::Fetched;

    fn at(path: &str, body: &str) -> bool {
        let body = Bytes::from(format!("<html><title>页</title><body><div class=main>{body}</div></body></html>"));
        crate::read::parse(&Fetched::html(CrawlUrl::parse(&format!("http://a.cn{path}")).unwrap(), body)).listing
    }

    fn is_listing(body: &str) -> bool {
        at("/news/list_2.html", body)
    }

    fn repeat(count: usize, record: &str) -> String {
        (0..count).map(|at| record.replace('#', &at.to_string())).collect()
    }

    #[test]
    fn rows_of_titles_are_listings_with_and_without_excerpts() {
        assert!(is_listing(&format!("<ul>{}</ul>", repeat(8, "<li><a href=/news/#.html>第#条新闻的标题</a></li>"))));
        let excerpt = "昨天晚上举行的比赛吸引了上万名观众。".repeat(6);
        let record = format!("<div class=item><h2><a href=/p/#>第#篇文章的标题</a></h2><p>{excerpt}</p></div>");
        assert!(is_listing(&repeat(6, &record)));
        let rows =
            repeat(20, "<tr><td><a href=thread-#-1-1.html>第#个帖子的标题</a></td><td>张三</td><td>12</td></tr>");
        assert!(is_listing(&format!("<table>{rows}</table>")));
    }

    #[test]
    fn articles_are_none_whatever_links_they_hold() {
        let sentence = "<p>这一段文字里有一个<a href=/w/#>词条#的链接</a>，后面还有很多别的话要说，说完了才换行。</p>";
        assert!(!is_listing(&repeat(12, sentence)));
        let text = format!("<p>{}</p>", "正文写了很长很长的一大段话，没有一个链接。".repeat(120));
        assert!(!is_listing(&format!("{text}<ul>{}</ul>", repeat(6, "<li><a href=/n/#>相关的文章#</a></li>"))));
        assert!(!is_listing(&repeat(4, "<li><a href=/n/#>只有四条的列表#</a></li>")));
        assert!(!is_listing(&repeat(9, "<li><a href=http://b#.cn/>别人的网站#</a></li>")), "a directory of others");
    }

    #[test]
    fn an_address_of_a_list_needs_fewer_records() {
        let one = "<ul><li><span>2020-08-10</span> <a href=/2020/08/js/>手写一个简单的框架</a></li></ul>";
        assert!(at("/tags/js/", one) && at("/archives/2020/08/", one) && !at("/2020/08/index-js/", one));
        assert!(at("/tags/", "<p>目前共计 2 个标签</p><a href=/tags/a/>生活</a> <a href=/tags/b/>音乐</a>"));
        let long = "正文写了很长很长的一大段话，没有一个链接。".repeat(60);
        let post = format!("<article><h2><a href=/p/#/>第#篇文章的标题</a></h2><p>{long}</p></article>");
        assert!(at("/page/3/", &repeat(3, &post)), "whole posts, each below its title");
        let others = "<h2><a href=http://own-name.cn/p/#/>第#篇文章的标题</a></h2>";
        assert!(at("/", &format!("<p>{long}</p>{}", repeat(6, others).replace("</h2>", "</h2><p>摘要</p>"))));
    }

    #[test]
    fn pictures_posts_and_inserted_links_are_no_records() {
        let long = "正文写了很长很长的一大段话，没有一个链接。".repeat(12);
        let pictures = repeat(9, "<a href=/photo/#><img src=#.jpg></a>");
        assert!(!is_listing(&format!("<p>{long}</p><div>{pictures}</div>")));
        let card = format!("<div class=card><h2>第#篇</h2><p>{}</p><a href=/p/#></a></div>", &long[..300]);
        assert!(is_listing(&repeat(6, &card)), "a link over a card");
        let post = format!("<div class=post><a href=/u/#>张三</a> <a href=/t/1/#>#楼</a><p>{long}</p></div>");
        assert!(!is_listing(&repeat(12, &post)), "a thread");
        let inserted = format!("<p>{long}</p><p><a href=/n/#>请您也读一读：第#篇文章的标题</a></p>");
        assert!(!is_listing(&repeat(6, &inserted)));
    }

    #[test]
    fn an_address_alone_makes_no_listing() {
        let long = "正文写了很长很长的一大段话，没有一个链接。".repeat(60);
        let post = format!("<h1>标题</h1><p>{long}</p><h3><a href=/p/1/>下一篇文章的标题</a></h3>");
        assert!(!at("/series/one/", &post) && !at("/", &post));
    }
}
