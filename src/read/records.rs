//! Whether a page is a listing: most of it a row of records, each with a link of its own to a page of the same host.
//!
//! Apart because it looks at the shape of the page and at nothing it says. A record's link is a block's whole text (a title),
//! and its siblings stand in the same place of the template (Liu, Grossman, Zhai 2003, mine data records as repeated
//! regions of the tag tree; the hash of the path stands in for the region here). Links within sentences are no records.

use rustc_hash::{FxHashMap, FxHashSet};

use super::document::{Document, DocumentLink};
use crate::model::{CrawlUrl, Region};

/// So many records make a listing.
const RECORDS: usize = 5;
/// Characters of text beside the links that a record may bring with it: an excerpt, not an article.
const EXCERPT: usize = 300;

/// Whether the page at `url` is a listing.
pub(super) fn is_listing(document: &Document, url: &CrawlUrl) -> bool {
    let length = |pieces: std::ops::Range<usize>| -> usize {
        pieces.filter(|&at| !document.pieces[at].hidden).map(|at| document.piece(at).chars().count()).sum()
    };
    // One block may hold all links of a page.
    let mut whole = (usize::MAX, 0);
    let mut is_record = |link: &&DocumentLink| {
        let anchor = length(link.anchor.clone());
        if whole.0 != link.block {
            whole = (link.block, length(document.blocks[link.block].pieces.clone()));
        }
        link.region == Region::Content && link.url.host() == url.host() && anchor >= 3 && anchor * 10 >= whole.1 * 6
    };
    let mut rows: FxHashMap<u32, FxHashSet<&str>> = FxHashMap::default();
    let mut linked = 0;
    for link in document.links.iter().filter(|link| is_record(link)) {
        rows.entry(link.path).or_default().insert(link.url.as_str());
        linked += length(link.anchor.clone());
    }
    let records = rows.values().map(FxHashSet::len).max().unwrap_or(0);
    if records < RECORDS {
        return false;
    }
    let text: usize = document.content().map(|piece| document.piece(piece).chars().count()).sum();
    text.saturating_sub(linked) <= EXCERPT * records
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;
    use crate::model::Fetched;

    fn is_listing(body: &str) -> bool {
        let url = CrawlUrl::parse("http://a.cn/news/list_2.html").unwrap();
        let headers = vec![("content-type".to_owned(), "text/html; charset=utf-8".to_owned())];
        let body = Bytes::from(format!("<html><body><div class=main>{body}</div></body></html>"));
        let document = crate::read::parse(&Fetched {
            url: url.clone(),
            status: 200,
            headers,
            body,
            wire: None,
            asked: None,
            rendered: None,
        })
        .document;
        super::is_listing(&document, &url)
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
}
