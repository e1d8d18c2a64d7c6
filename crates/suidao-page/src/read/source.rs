//! The medium that a page says it is taken from (来源：新华网): from declarations, then from a line of text. Never
//! guessed: without a statement there is none.

use html5ever::tokenizer::Tag;
use serde_json::Value;

use super::document::{ParsedDocument, TextBlock};
use super::json_ld::{self, JsonLd};
use super::markup::fold_into;
use super::words::{SOURCES, SectionWords};
use crate::model::Region;

/// Maximum length of a name in characters.
const LONGEST: usize = 60;
/// Maximum length of a line with a label in bytes.
const LINE: usize = 240;

static META: SectionWords = SectionWords::of(SOURCES, "meta");
static LABELS: SectionWords = SectionWords::of(SOURCES, "labels");
static PLACEHOLDERS: SectionWords = SectionWords::of(SOURCES, "placeholders");

/// What a page declares about its source.
#[derive(Debug, Default)]
pub(super) struct Sources {
    meta: Option<String>,
    /// JSON-LD: what an article is based on, and who publishes it.
    based_on: Option<String>,
    publisher: Option<String>,
}

impl Sources {
    /// Reads a `meta` element with content.
    pub(super) fn meta(&mut self, tag: &Tag, content: &str) {
        let names_source = tag.attrs.iter().any(|attribute| {
            matches!(&*attribute.name.local, "name" | "property" | "itemprop")
                && META.iter().any(|name| attribute.value.trim().eq_ignore_ascii_case(name))
        });
        if names_source && self.meta.is_none() {
            self.meta = name_of(labelled(content).unwrap_or(content));
        }
    }

    pub(super) fn json_ld(&mut self, script: &JsonLd) {
        let JsonLd::Whole(value) = script else { return };
        let articles: Vec<_> =
            json_ld::objects(value).into_iter().filter(|(rank, _)| *rank == 0).map(|(_, object)| object).collect();
        // A list of articles has several sources.
        let common = |key: &str| {
            let mut names = articles.iter().filter_map(|article| article.get(key).and_then(name_in));
            let first = names.next()?;
            names.all(|name| name == first).then(|| name_of(first)).flatten()
        };
        self.based_on = self.based_on.take().or_else(|| common("isBasedOn"));
        self.publisher = self.publisher.take().or_else(|| common("publisher"));
    }

    /// The declared source, else one from a line of text, else the publisher of the article. `listing`: the page lists
    /// other pages with their sources.
    pub(super) fn best(self, listing: bool, document: &ParsedDocument) -> Option<String> {
        let visible = || if listing { None } else { visible(document) };
        self.meta.or(self.based_on).or_else(visible).or(self.publisher)
    }
}

/// The name of a work or organisation given as string, object or list (first item).
fn name_in(value: &Value) -> Option<&str> {
    match value {
        Value::String(name) => Some(name),
        Value::Array(all) => name_in(all.first()?),
        // A work is by its publisher rather than by its headline.
        Value::Object(work) => work.get("publisher").and_then(name_in).or_else(|| work.get("name")?.as_str()),
        _ => None,
    }
}

/// The source in the page's short lines; `None` if they disagree. Lines above the text and with metadata count before
/// the text, in which a figure may have a source; what follows it is about other pages.
fn visible(document: &ParsedDocument) -> Option<String> {
    let mut found: [Option<Result<String, ()>>; 2] = [None, None];
    let (mut label, mut line) = (false, String::new());
    let length = |block: &TextBlock| block.pieces.clone().map(|piece| document.pieces[piece].text.len()).sum::<usize>();
    // The title is content too.
    let text = document.blocks.iter().position(|block| block.region == Region::Content && length(block) > LINE);
    let text = text.unwrap_or(document.blocks.len());
    let is_own = |at: usize, block: &TextBlock| at < text || block.region != Region::Boilerplate;
    for (at, block) in document.blocks.iter().enumerate().filter(|(at, block)| is_own(*at, block)) {
        let length = length(block);
        if length == 0 || length > LINE {
            label &= length == 0;
            continue;
        }
        line.clear();
        block.pieces.clone().for_each(|piece| line.push_str(document.piece(piece)));
        let stated = if label { Some(line.as_str()) } else { labelled(&line) };
        label = false;
        let Some(stated) = stated else { continue };
        if stated.is_empty() {
            // The name is in the next block.
            label = true;
            continue;
        }
        let Some(name) = name_of(stated) else { continue };
        let of_region = &mut found[usize::from(at > text)];
        match of_region {
            Some(Ok(known)) if *known == name => {}
            Some(_) => *of_region = Some(Err(())),
            None => *of_region = Some(Ok(name)),
        }
    }
    found.into_iter().flatten().next()?.ok()
}

/// The text after a label such as `来源：` at the start of a line or after a blank or bar in it; may be empty.
fn labelled(line: &str) -> Option<&str> {
    let line = line.trim();
    const BEFORE: [char; 9] = [' ', '\u{3000}', '|', '｜', '(', '（', '[', '【', '日'];
    // A date may be directly before it.
    let starts = |at: &usize| *at == 0 || line[..*at].ends_with(|c: char| BEFORE.contains(&c) || c.is_ascii_digit());
    LABELS.iter().find_map(|label| {
        let colon = |at: usize| line[at + label.len()..].trim_start().strip_prefix([':', '：']);
        let found = line.match_indices(label).map(|(at, _)| at).filter(starts).find_map(colon);
        found.map(str::trim)
    })
}

/// The name, without what follows it on the line. `None` if it is missing, a placeholder or a sentence.
fn name_of(text: &str) -> Option<String> {
    const ENDS: [char; 19] = [
        '|', '｜', '•', '丨', '\n', '(', '（', ')', '）', '[', ']', '【', '】', '<', '>', '，', '；', '、', '\u{3000}',
    ];
    let text = text.trim().trim_start_matches([':', '：']).trim_start();
    // A URL names its host at best, which is not the name of a medium.
    if text.contains("://") {
        return None;
    }
    let text = text.split(ENDS).next().unwrap_or_default().trim();
    let mut name = String::new();
    for word in text.split_whitespace() {
        // What comes next has a label of its own, or is a time.
        let is_next = word.contains([':', '：']) || word.starts_with(|c: char| c.is_ascii_digit());
        let is_wide = |text: &str| text.contains(|c: char| c as u32 >= 0x2e80);
        // Names in Chinese have no blanks.
        if !name.is_empty() && (is_next || is_wide(&name)) {
            break;
        }
        fold_into(&mut name, &format!(" {word}"));
    }
    let dated = name.char_indices().map(|(at, _)| at).find(|at| {
        let (year, rest) = name[*at..].split_at_checked(4).unwrap_or_default();
        *at > 0 && year.bytes().all(|byte| byte.is_ascii_digit()) && rest.starts_with(['-', '/', '.', '年'])
    });
    name.truncate(dated.unwrap_or(name.len()));
    let name = name.trim_end_matches([',', ';', '.', '。']).to_owned();
    let is_sentence = name.contains(['。', '？', '！', '?', '：', ':']);
    let fits = name.chars().any(char::is_alphabetic) && name.chars().count() <= LONGEST && !is_sentence;
    (fits && !PLACEHOLDERS.iter().any(|word| name.eq_ignore_ascii_case(word))).then_some(name)
}

#[cfg(test)]
mod tests {
    use crate::model::{CrawlUrl, Fetched};
    use crate::read::parse;

    /// The source of an article with this head and this line between title and text.
    fn source(head: &str, line: &str) -> Option<String> {
        let text = "球队在主场以二比一获胜，第七十二分钟的进球决定了比赛，教练在赛后表示满意。".repeat(4);
        let html = format!(
            "<html><head><title>比赛结束</title>{head}</head><body><h1>比赛结束</h1>{line}<article><p>{text}</p><p>{text}</p>\
             </article></body></html>"
        );
        parse(&Fetched::html(CrawlUrl::parse("http://news.test/2026/1.html").unwrap(), html)).source
    }

    #[test]
    fn lines_of_chinese_news_name_it() {
        for (line, expected) in [
            ("<p>来源：新华网</p>", "新华网"),
            ("<div>2026-11-28 10:11 来源： <a href=http://a.test/>人民网</a> 作者：张三 编辑：李四</div>", "人民网"),
            ("<div><span>2026年11月28日</span><span>来源:中国新闻网</span></div>", "中国新闻网"),
            ("<p>稿源：《光明日报》2026-11-28</p>", "《光明日报》"),
            ("<p>（来源：南方都市报）</p>", "南方都市报"),
            ("<p>轉載自：聯合報 | 體育</p>", "聯合報"),
            ("<p>文章来源：</p><p>第一财经（记者 王五）</p>", "第一财经"),
            ("<p>Source: The Daily Example, 28 November</p>", "The Daily Example"),
        ] {
            assert_eq!(source("", line).as_deref(), Some(expected), "{line}");
        }
    }

    #[test]
    fn none_is_invented() {
        for line in [
            "",
            "<p>来源：网络</p>",
            "<p>来源：</p>",
            "<p>图片来源：视觉中国</p>",
            "<p>能量的来源是什么？</p>",
            "<p>来源：http://a.test/1.html</p>",
            "<p>来源：这是一个很长的句子。不是名称</p>",
            "<p>来源：新华网</p><p>来源：人民网</p>",
        ] {
            assert_eq!(source("", line), None, "{line}");
        }
    }

    #[test]
    fn declarations_come_first_and_the_publisher_last() {
        let meta = "<meta name=ContentSource content='新华社'>";
        assert_eq!(source(meta, "<p>来源：人民网</p>").as_deref(), Some("新华社"));
        assert_eq!(source("<meta property=article:source content='来源：央视新闻'>", "").as_deref(), Some("央视新闻"));
        let ld = |more: &str| {
            format!(
                "<script type=application/ld+json>{{\"@type\":\"NewsArticle\",\"publisher\":{{\"@type\":\"Organization\",\
                 \"name\":\"示例网\"}}{more}}}</script>"
            )
        };
        assert_eq!(source(&ld(""), "").as_deref(), Some("示例网"));
        assert_eq!(source(&ld(""), "<p>来源：人民网</p>").as_deref(), Some("人民网"));
        let based = ld(",\"isBasedOn\":{\"@type\":\"NewsArticle\",\"publisher\":{\"name\":\"路透社\"}}");
        assert_eq!(source(&based, "<p>来源：人民网</p>").as_deref(), Some("路透社"));
        let list = ld("")
            .replace("{\"@type\":\"NewsA", "[{\"@type\":\"NewsArticle\",\"publisher\":\"甲\"},{\"@type\":\"NewsA")
            .replace("}</script>", "}]</script>");
        assert_eq!(source(&list, ""), None, "of several articles");
    }
}
