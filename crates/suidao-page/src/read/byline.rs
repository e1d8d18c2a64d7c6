//! Finds the author of a page: from declarations, then marked elements, then lines of text. Names are not normalized.

use html5ever::local_name;
use html5ever::tokenizer::Tag;
use serde_json::Value;

use super::document::ParsedDocument;
use super::json_ld::{self, JsonLd};
use super::markup::fold_into;
use super::words::{AUTHORS, SectionWords};

/// Maximum length of a name in characters.
const LONGEST: usize = 40;
/// Maximum length of a byline in bytes.
const LINE: usize = 240;

/// What phpBB writes before the name in the line above a post.
const POST: [&str; 4] = ["帖子由", "由", "by", "发表者"];

static AUTHOR: SectionWords = SectionWords::of(AUTHORS, "meta");
static PLACEHOLDERS: SectionWords = SectionWords::of(AUTHORS, "placeholders");

/// Source of an author's name, the most reliable first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Declared {
    JsonLd,
    Meta,
    /// `rel`, `itemprop`.
    Marked,
    Named,
}

/// An open element that contains a name.
#[derive(Clone, Copy, Debug)]
struct Open {
    how: Declared,
    /// Length of the stack outside it.
    depth: usize,
    /// Start of its text.
    start: usize,
    /// Number of blocks before it, so that its blocks are found without a search from the start.
    from: usize,
}

#[derive(Debug, Default)]
pub(super) struct Bylines {
    best: Option<(Declared, String)>,
    open: Option<Open>,
    /// Elements marked alike have different names: the page is a list.
    many: bool,
}

impl Bylines {
    /// Reads a `meta` element with content.
    pub(super) fn meta(&mut self, tag: &Tag, content: &str) {
        let is_author = tag.attrs.iter().any(|attribute| {
            matches!(&*attribute.name.local, "name" | "property" | "itemprop")
                && AUTHOR.iter().any(|name| attribute.value.trim().eq_ignore_ascii_case(name))
        });
        if is_author {
            self.declare(Declared::Meta, content);
        }
    }

    /// Reads a start tag; `depth` is the length of the stack and `document` the content before it.
    pub(super) fn open(&mut self, tag: &Tag, depth: usize, document: &ParsedDocument) {
        if self.open.is_some() || tag.attrs.is_empty() {
            return;
        }
        let mut how = None;
        for attribute in tag.attrs.iter().take(12) {
            let words = || attribute.value.split_ascii_whitespace().take(12);
            match attribute.name.local {
                local_name!("rel") if words().any(|word| word.eq_ignore_ascii_case("author")) => {
                    how = Some(Declared::Marked);
                }
                local_name!("itemprop") if words().any(|word| word.eq_ignore_ascii_case("author")) => {
                    how = Some(Declared::Marked);
                }
                local_name!("class") if how.is_none() && words().any(names_author) => how = Some(Declared::Named),
                _ => {}
            }
        }
        let (start, from) = (document.text.len(), document.blocks.len());
        self.open = how.map(|how| Open { how, depth, start, from });
    }

    /// Reads the names in elements that ended when the stack was cut to `depth`. Only the first block of an element
    /// counts; the others describe the author.
    pub(super) fn close(&mut self, depth: usize, document: &ParsedDocument) {
        let Some(Open { how, start, from, .. }) = self.open.filter(|open| depth <= open.depth) else { return };
        self.open = None;
        // The last block before it may continue in it.
        let mut blocks = document.blocks[from.saturating_sub(1)..].iter().filter(|block| !block.pieces.is_empty());
        let first = blocks.find(|block| {
            !document.block_text(block).is_empty() && document.pieces[block.pieces.end - 1].text.end > start
        });
        let Some(block) = first else { return };
        let end = document.pieces[block.pieces.end - 1].text.end;
        let stated = document
            .text
            .get(start.max(document.pieces[block.pieces.start].text.start)..end)
            .unwrap_or_default()
            .trim();
        if stated.len() <= LINE {
            self.declare(how, labelled(stated).unwrap_or(stated));
        }
    }

    pub(super) fn json_ld(&mut self, script: &JsonLd) {
        let names: Vec<String> = match script {
            JsonLd::Whole(value) => {
                let authors = json_ld::objects(value).into_iter().filter_map(|(_, object)| object.get("author"));
                authors.filter_map(name_in).map(str::to_owned).collect()
            }
            JsonLd::Broken(script) => script.split("\"author\"").skip(1).filter_map(name_after_key).collect(),
        };
        // A list of articles declares several.
        if let Some(first) = names.first().filter(|first| names.iter().all(|name| name == *first)) {
            self.declare(Declared::JsonLd, first);
        }
    }

    fn declare(&mut self, how: Declared, text: &str) {
        let Some(name) = name_of(text) else { return };
        match &self.best {
            Some((known, _)) if how > *known => {}
            Some((known, other)) if how == *known => self.many |= *other != name && how >= Declared::Marked,
            _ => {
                self.best = Some((how, name));
                self.many = false;
            }
        }
    }

    /// The declared or marked author, else one from a line of text. `lists`: the page lists other pages with their
    /// authors.
    pub(super) fn best(self, lists: bool, document: &ParsedDocument) -> Option<String> {
        let sure = |how: Declared| how <= Declared::Meta;
        match self.best {
            Some((how, name)) if sure(how) => Some(name),
            _ if lists => None,
            Some((Declared::Marked, name)) if !self.many => Some(name),
            other => visible_byline(document).or(other.filter(|_| !self.many).map(|(_, name)| name)),
        }
    }
}

/// The name of an author given as string, object or list (first item).
fn name_in(author: &Value) -> Option<&str> {
    match author {
        Value::String(name) => Some(name),
        Value::Array(all) => name_in(all.first()?),
        author => author.get("name")?.as_str(),
    }
}

/// The same from the text after the key `author` of a broken script.
fn name_after_key(rest: &str) -> Option<String> {
    let rest = rest.trim_start().strip_prefix(':')?.trim_start();
    let value = if rest.starts_with('"') {
        rest
    } else {
        let object = &rest[..rest.find('}')?];
        object.split("\"name\"").nth(1)?.trim_start().strip_prefix(':')?.trim_start()
    };
    serde_json::Deserializer::from_str(value).into_iter::<String>().next()?.ok()
}

fn names_author(class: &str) -> bool {
    static CLASSES: SectionWords = SectionWords::of(AUTHORS, "classes");
    CLASSES.iter().any(|name| class.eq_ignore_ascii_case(name))
}

/// The name in the page's short bylines; `None` if they disagree.
fn visible_byline(document: &ParsedDocument) -> Option<String> {
    let mut found: Option<String> = None;
    let mut label = false;
    let mut line = String::new();
    for block in &document.blocks {
        let pieces = block.pieces.clone();
        let length: usize = pieces.clone().map(|piece| document.pieces[piece].text.len()).sum();
        if length == 0 || length > LINE {
            label &= length == 0;
            continue;
        }
        line.clear();
        pieces.for_each(|piece| line.push_str(document.piece(piece)));
        let stated = if label { Some(line.as_str()) } else { labelled(&line) };
        label = false;
        let Some(stated) = stated else { continue };
        if stated.is_empty() {
            // The name is in the next block.
            label = true;
            continue;
        }
        let Some(name) = name_of(stated) else { continue };
        match &found {
            Some(known) if *known != name => return None,
            _ => found = Some(name),
        }
    }
    found
}

/// The text after a label such as `作者：` at the start of a line; may be empty.
fn labelled(line: &str) -> Option<&str> {
    static LABELS: SectionWords = SectionWords::of(AUTHORS, "labels");
    static SHORT: SectionWords = SectionWords::of(AUTHORS, "short");
    let line = line.trim();
    let found = LABELS.iter().find_map(|label| {
        let head = line.get(..label.len()).filter(|head| head.eq_ignore_ascii_case(label))?;
        let rest = line[head.len()..].trim_start();
        // Without a separator it is a sentence about authors.
        rest.strip_prefix([':', '：', '|', '｜', '/', '丨'])
            .or((rest.is_empty() && !line.starts_with('投')).then_some(rest))
    });
    // "By the river" is not a byline.
    let is_name = |name: &str| name.starts_with(|c: char| c.is_alphanumeric() && !c.is_lowercase());
    let short = || {
        let rest = |label: &&str| {
            let rest = line.strip_prefix(label).filter(|rest| rest.chars().count() < 24)?;
            (!label.starts_with(['B', 'b']) || is_name(rest)).then_some(rest)
        };
        SHORT.iter().find_map(rest)
    };
    // phpBB: the name, » and the date, which may be long.
    let post = || Some(line.split_once(" » ")?.0.split_once(' ').filter(|(by, _)| POST.contains(by))?.1);
    found.or_else(post).or_else(short).map(str::trim)
}

/// A name with white space folded and without what follows it on the line. `None` if it is missing, an address or a
/// placeholder.
fn name_of(text: &str) -> Option<String> {
    const ENDS: [char; 15] = ['»', '|', '｜', '•', '·', '丨', '\n', '(', '（', '[', '【', '<', '/', '，', '；'];
    static AFTER: SectionWords = SectionWords::of(AUTHORS, "after");
    let mut text = text.trim().trim_start_matches(['@', ':', '：']).trim_start();
    if text.contains("://") || text.starts_with("www.") {
        return None;
    }
    for label in AFTER.iter() {
        if let Some((name, _)) = text.split_once(label) {
            text = name;
        }
    }
    // Cut an address or a date after the name.
    if let Some((name, rest)) = text.split_once([',', '，'])
        && rest.contains('@')
    {
        text = name;
    }
    let dated = |at: &usize| {
        let (year, rest) = text[*at..].split_at_checked(4).unwrap_or_default();
        year.bytes().all(|byte| byte.is_ascii_digit()) && rest.starts_with(['-', '/', '.', '年'])
    };
    if let Some((at, _)) = text.char_indices().find(|(at, c)| c.is_ascii_digit() && dated(at)) {
        text = &text[..at];
    }
    let digits = text
        .as_bytes()
        .windows(4)
        .position(|four| four.iter().all(u8::is_ascii_digit) && matches!(four[0], b'1' | b'2'));
    if let Some(at) = digits.filter(|&at| at > 0 && text.as_bytes()[at - 1] == b' ') {
        text = &text[..at];
    }
    let text = text.split(ENDS).next().unwrap_or_default();
    let mut name = String::new();
    fold_into(&mut name, text);
    let letters = name.chars().filter(|c| c.is_alphanumeric()).count();
    let sentence =
        name.contains(['。', '？', '！', '?']) || name.ends_with(['.', '：', ':']) && name.split(' ').count() > 4;
    let fits = letters > 0 && name.chars().count() <= LONGEST && !sentence;
    (fits && !PLACEHOLDERS.iter().any(|placeholder| name.eq_ignore_ascii_case(placeholder))).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn declared(script: &str) -> Option<String> {
        let mut bylines = Bylines::default();
        bylines.json_ld(&JsonLd::read(script));
        bylines.best.map(|(_, name)| name)
    }

    #[test]
    fn authors_of_comments_are_not_the_pages() {
        let comment = r#"{"@type":"Comment","author":{"@type":"Person","name":"Bob"}}"#;
        let article = format!(r#"{{"@type":"Article","author":[{{"name":"Ann"}}],"comment":[{comment}]}}"#);
        assert_eq!(declared(&article).as_deref(), Some("Ann"));
        assert_eq!(declared(&format!("[{article}]").replace("Comment", "NewsArticle")), None, "a list");
        assert_eq!(declared(comment), None);
        assert_eq!(declared(r#"{"author":{"@id":"/a","name":"Ann"},"#).as_deref(), Some("Ann"), "broken");
    }

    #[test]
    fn a_name_after_by_begins_with_a_capital() {
        assert_eq!(labelled("By Ann Example"), Some("Ann Example"));
        assert_eq!(labelled("by 张三"), Some("张三"));
        assert_eq!(labelled("By the river"), None);
        assert_eq!(labelled("文/sunny"), Some("sunny"));
    }

    #[test]
    fn the_line_above_a_post_of_phpbb_yields_its_name() {
        for line in
            ["帖子由 Ann » 周三 1月 04, 2023 10:12 am", "由 Ann » 2023-01-04 10:12", "by Ann » Wed Jan 04, 2023"]
        {
            assert_eq!(name_of(labelled(line).unwrap_or(line)).as_deref(), Some("Ann"), "{line}");
        }
    }
}
