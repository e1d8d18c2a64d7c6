//! Sample pages, and which of them are usable: the page selection rules of Jiang, Zhu, Wang 2020.

use std::hash::Hasher as _;

use rustc_hash::{FxHashMap, FxHashSet, FxHasher};

use crate::model::{CrawlUrl, Fetched, Region};
use crate::read::{self, BlockKind, ParsedDocument, TextBlock, TextPiece};
use crate::text;
use crate::visible;

#[derive(Clone, Debug)]
pub struct Sample {
    /// Its file or URL, for messages.
    pub source: String,
    /// Without a URL, the page's links and its role in the link graph are unused.
    pub url: Option<CrawlUrl>,
    /// Its host, or the folder in its place: terms should occur on several.
    pub host: String,
    pub document: ParsedDocument,
    /// Whether block 0 of the document is the page's title.
    pub has_title: bool,
    /// Whether it is a listing and no document.
    pub listing: bool,
}

impl Sample {
    pub fn from_fetched(fetched: &Fetched) -> Self {
        let page = read::parse(fetched);
        Self {
            source: fetched.url.to_string(),
            host: fetched.url.host().to_owned(),
            url: Some(fetched.url.clone()),
            document: page.document,
            has_title: !page.title.is_empty(),
            listing: page.listing,
        }
    }

    /// Plain text: each line is a block.
    pub fn from_text(source: &str, host: &str, text: &str) -> Self {
        let mut document = ParsedDocument { text: text.to_owned(), ..ParsedDocument::default() };
        let mut start = 0;
        for line in text.split_inclusive('\n') {
            let piece = document.pieces.len();
            document.pieces.push(TextPiece { text: start..start + line.len(), hidden: false });
            document.blocks.push(TextBlock {
                pieces: piece..piece + 1,
                region: Region::Content,
                kind: BlockKind::Paragraph,
            });
            start += line.len();
        }
        Self { source: source.to_owned(), url: None, host: host.to_owned(), document, has_title: false, listing: false }
    }

    /// Distinct folded terms of title and main content.
    pub(super) fn words(&self) -> FxHashSet<String> {
        let mut words = FxHashSet::default();
        for piece in self.document.content() {
            let folded = text::fold(self.document.piece(piece));
            text::cut(&folded, |range| {
                let word = &folded[range];
                if !words.contains(word) && text::is_term(word) {
                    words.insert(word.to_owned());
                }
            });
        }
        words
    }

    /// Identifies title and main content.
    pub(super) fn text_hash(&self) -> u64 {
        let mut hasher = FxHasher::default();
        for piece in self.document.content() {
            hasher.write(self.document.piece(piece).trim().as_bytes());
        }
        hasher.finish()
    }

    /// Folded terms of these pieces with their counts, in order of first occurrence.
    pub(super) fn bag(&self, pieces: impl Iterator<Item = usize>) -> Vec<(String, u32)> {
        let mut numbers: FxHashMap<String, usize> = FxHashMap::default();
        let mut bag: Vec<(String, u32)> = Vec::new();
        for piece in pieces {
            let folded = text::fold(self.document.piece(piece));
            text::cut(&folded, |range| {
                let word = &folded[range];
                match numbers.get(word) {
                    Some(&number) => bag[number].1 += 1,
                    None if text::is_term(word) => {
                        numbers.insert(word.to_owned(), bag.len());
                        bag.push((word.to_owned(), 1));
                    }
                    None => (),
                }
            });
        }
        bag
    }

    /// Folded words of title and main content in order, with jieba's part of speech.
    pub(super) fn tagged_words(&self, mut each: impl FnMut(&str, &str)) {
        for piece in self.document.content() {
            let folded = text::fold(self.document.piece(piece));
            text::segment::cut_tagged(&folded, |range, tag| each(&folded[range], tag));
        }
    }
}

/// Why a sample page is not used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rejection {
    /// Only boilerplate.
    Empty,
    /// The text of an earlier sample.
    Duplicate,
    /// URL longer than [`LONGEST_URL`].
    UrlTooLong,
    /// No link from another sample, although the samples are linked with each other.
    NotLinked,
    /// All anchors to it are longer than [`LONGEST_ANCHOR`].
    AnchorTooLong,
    /// All anchors to it mean "next page" or "more".
    Paging,
}

impl Rejection {
    /// A phrase to follow "3 pages: ".
    pub fn why(self) -> &'static str {
        match self {
            Self::Empty => "no text besides boilerplate",
            Self::Duplicate => "same text as another sample",
            Self::UrlTooLong => "URL longer than 256 characters",
            Self::NotLinked => "no other sample links to it",
            Self::AnchorTooLong => "all anchors to it have over 30 characters",
            Self::Paging => "all anchors to it are pagination, such as 下一页 or 更多",
        }
    }
}

/// Maximum characters of a URL (the usual limit according to the Tianwang paper); an escaped letter is one.
pub const LONGEST_URL: usize = 256;
/// Maximum characters of an anchor text.
pub const LONGEST_ANCHOR: usize = 30;
/// Least share of linked samples that indicates a crawl, for which in-degrees are known. Otherwise the pages were
/// picked one by one.
const LINKED_SHARE: f64 = 0.9;

/// The reason against each sample; `None` for usable ones. `by_anchors` applies the rules about links to a sample,
/// which exclude listings from TextRank; on blogs they reject one document in eight, because of long titles.
pub(super) fn rejections(samples: &[Sample], by_anchors: bool) -> Vec<Option<Rejection>> {
    let mut anchors: FxHashMap<&CrawlUrl, Vec<String>> = FxHashMap::default();
    for sample in samples {
        for link in sample.document.links.iter().filter(|link| Some(&link.url) != sample.url.as_ref()) {
            let anchor = link.anchor.clone().map(|piece| sample.document.piece(piece)).collect();
            anchors.entry(&link.url).or_default().push(anchor);
        }
    }
    let leading_to = |sample: &Sample| sample.url.as_ref().and_then(|url| anchors.get(url));
    let linked = samples.iter().filter(|sample| leading_to(sample).is_some()).count();
    let with_links = samples.len() > 1 && linked as f64 >= LINKED_SHARE * samples.len() as f64;
    let mut texts: FxHashSet<u64> = FxHashSet::default();
    let judge = |sample: &Sample| {
        if sample.document.content().all(|piece| sample.document.piece(piece).trim().is_empty()) {
            return Some(Rejection::Empty);
        }
        if !texts.insert(sample.text_hash()) {
            return Some(Rejection::Duplicate);
        }
        let url = sample.url.as_ref()?;
        if visible::urls(url.as_str()).chars().count() > LONGEST_URL {
            return Some(Rejection::UrlTooLong);
        }
        match leading_to(sample) {
            _ if !by_anchors => None,
            None => with_links.then_some(Rejection::NotLinked),
            Some(anchors) if anchors.iter().all(|anchor| anchor.chars().count() > LONGEST_ANCHOR) => {
                Some(Rejection::AnchorTooLong)
            }
            Some(anchors) if anchors.iter().all(|anchor| is_paging(anchor)) => Some(Rejection::Paging),
            Some(_) => None,
        }
    };
    samples.iter().map(judge).collect()
}

fn is_paging(anchor: &str) -> bool {
    let folded = text::fold(anchor);
    ["下一页", "更多", "next page"].iter().any(|word| folded.contains(word))
        || matches!(folded.trim(), "more" | "next" | "more »" | "next »")
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;

    fn sample(url: &str, body: &str) -> Sample {
        Sample::from_fetched(&Fetched::html(
            CrawlUrl::parse(url).unwrap(),
            Bytes::from(format!("<title>足球</title><p>{url}：一场足球比赛的报道，写得相当长。</p>{body}")),
        ))
    }

    #[test]
    fn pages_unfit_to_learn_from_are_named() {
        let long = format!("http://a.cn/{}", "x".repeat(250));
        let samples = [
            sample(
                "http://a.cn/",
                &format!(
                    "<p><a href=/1>球讯</a> <a href=/2>下一页</a> <a href=/3>{}</a> <a href={long}>球</a></p>",
                    "很长的标题".repeat(7)
                ),
            ),
            sample("http://a.cn/1", "<p><a href=/>首页</a> <a href=/2>更多&gt;&gt;</a>"),
            sample("http://a.cn/2", ""),
            sample("http://a.cn/3", ""),
            sample("http://a.cn/4", "<a href=/4>自己</a>"),
            sample(&long, ""),
        ];
        assert_eq!(
            rejections(&samples, true),
            [None, None, Some(Rejection::Paging), Some(Rejection::AnchorTooLong), None, Some(Rejection::UrlTooLong),]
        );
        // 172 characters, but over 1,400 bytes.
        let chinese = [sample(&format!("http://a.cn/{}", "球".repeat(160)), "")];
        assert_eq!(rejections(&chinese, true), [None]);
        let by_text = rejections(&samples, false);
        assert_eq!(by_text.iter().flatten().collect::<Vec<_>>(), [&Rejection::UrlTooLong]);
        assert_eq!(rejections(&[sample("http://b.cn/x", ""), sample("http://c.cn/y", "")], true), [None, None]);
        assert_eq!(rejections(&[Sample::from_text("a.txt", "", " \n")], true), [Some(Rejection::Empty)]);
        let duplicates = ["足球", "足球 ", "篮球"].map(|text| Sample::from_text("a.txt", "", text));
        assert_eq!(rejections(&duplicates, true), [None, Some(Rejection::Duplicate), None]);
    }

    #[test]
    fn a_page_nobody_links_to_is_rejected_where_the_others_are_linked() {
        let links: String = (1..10).map(|number| format!("<a href=/{number}>球讯</a> ")).collect();
        let mut samples: Vec<Sample> =
            (1..10).map(|number| sample(&format!("http://a.cn/{number}"), "<a href=/>首页</a>")).collect();
        samples.push(sample("http://a.cn/", &format!("<p>{links}</p>")));
        samples.push(sample("http://a.cn/alone", "<a href=/alone>自己</a>"));
        let result = rejections(&samples, true);
        assert!(result[..10].iter().all(Option::is_none));
        assert_eq!(result[10], Some(Rejection::NotLinked));
    }

    #[test]
    fn text_keeps_its_lines() {
        let sample = Sample::from_text("a.txt", "h", "足球\n\n篮球和NBA");
        assert_eq!(sample.document.blocks.len(), 3);
        let mut words: Vec<String> = sample.words().into_iter().collect();
        words.sort();
        assert_eq!(words, ["nba", "篮球", "足球"]);
    }
}
