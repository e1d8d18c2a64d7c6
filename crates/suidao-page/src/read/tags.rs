//! Tags and categories of a page, by its links to them.

use rustc_hash::FxHashSet;

use super::document::{DocumentLink, ParsedDocument};

/// Path sections with a page for each tag.
const SECTIONS: [&str; 4] = ["tag", "tags", "category", "categories"];
/// More tag links in a row belong to the site, not to the page.
const LONGEST_ROW: usize = 8;

impl ParsedDocument {
    /// Pieces that name the page's tags and categories, in order: anchors of links such as `/tags/X/`, in rows of at
    /// most eight. Each target counts once.
    pub fn tags(&self) -> Vec<usize> {
        let mut named = FxHashSet::default();
        let rows = self.links.chunk_by(|one, next| is_tag(one) == is_tag(next));
        rows.filter(|row| row.len() <= LONGEST_ROW && is_tag(&row[0]))
            .flatten()
            .filter(|link| named.insert(&link.url))
            .flat_map(|link| link.anchor.clone())
            .filter(|&piece| !self.pieces[piece].hidden)
            .collect()
    }
}

/// Whether a link leads to the page of one tag.
fn is_tag(link: &DocumentLink) -> bool {
    let mut segments = link.url.path().split('/').filter(|segment| !segment.is_empty());
    segments.any(|segment| SECTIONS.iter().any(|section| segment.eq_ignore_ascii_case(section)))
        && segments.next().is_some()
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use crate::model::{CrawlUrl, Fetched};
    use crate::read;

    fn tags(html: &str) -> Vec<String> {
        let document = read::parse(&Fetched::html(
            CrawlUrl::parse("http://a.cn/2020/post/").unwrap(),
            Bytes::from(format!("<title>文章</title>{html}")),
        ))
        .document;
        document.tags().into_iter().map(|piece| document.piece(piece).trim().to_owned()).collect()
    }

    #[test]
    fn tags_are_read_above_and_below_the_text() {
        let html = "<nav><a href=/tags/>全部标签</a> <a href=/about/>关于</a></nav>
            <div class=post-meta><a href=/categories/%E8%BF%90%E5%8A%A8/>运动</a></div><p>正文。</p>
            <div class=post-tags><a href=/Tags/x/>足球</a> <a href=/blog/tag/y>世界杯</a>
            <a href=/tags/z/><img alt=图></a></div><div><a href=/Tags/x/>足球</a></div>";
        assert_eq!(tags(html), ["运动", "足球", "世界杯"]);
    }

    #[test]
    fn a_cloud_of_tags_is_the_sites() {
        let row = |count: usize| (0..count).map(|at| format!("<a href=/tags/{at}/>标签{at}</a> ")).collect::<String>();
        assert_eq!(tags(&row(8)).len(), 8);
        assert!(tags(&row(9)).is_empty());
        assert_eq!(tags(&format!("{}<a href=/about/>关于</a>{}", row(9), "<a href=/tags/own/>自己</a>")), ["自己"]);
    }

    #[test]
    fn what_only_sounds_like_a_tag_is_none() {
        assert!(tags("<a href=/category>分类</a> <a href=/vintage/x>x</a> <a href='/?tag=x'>x</a>").is_empty());
    }
}
