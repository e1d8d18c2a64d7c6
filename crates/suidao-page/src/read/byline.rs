//! Who wrote a page: what it declares, then what it marks, then what a line of it says.
//!
//! A name is taken as it is written; nobody is looked up.

use html5ever::local_name;
use html5ever::tokenizer::Tag;

use super::document::Document;
use super::markup::fold_into;

/// Longest name, in characters.
const LONGEST: usize = 40;
/// Longest line that may name its author, in bytes.
const LINE: usize = 240;

/// Names of meta elements that say who wrote the page, in lower case.
const AUTHOR: [&str; 9] = [
    "author",
    "article:author",
    "og:article:author",
    "dc.creator",
    "dc.author",
    "dcterms.creator",
    "citation_author",
    "parsely-author",
    "sailthru.author",
];

/// What templates say where nobody filled a name in.
const NOBODY: [&str; 10] =
    ["john doe", "your name", "author", "admin", "administrator", "root", "user", "作者", "佚名", "匿名"];

/// How an author was declared, the most reliable first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Declared {
    JsonLd,
    Meta,
    /// `rel`, `itemprop`.
    Marked,
    /// A class.
    Named,
}

/// An open element that holds a name.
#[derive(Clone, Copy, Debug)]
struct Open {
    how: Declared,
    /// Length of the stack outside it.
    depth: usize,
    /// Where its text begins.
    start: usize,
    /// Blocks before it: without them every such element of a page would be looked for among all of these.
    from: usize,
}

/// What a page's markup says of its author.
#[derive(Debug, Default)]
pub(super) struct Bylines {
    best: Option<(Declared, String)>,
    open: Option<Open>,
    /// Names marked alike and different: the page is a list.
    many: bool,
}

impl Bylines {
    /// Takes in an element of the page's head that has content.
    pub(super) fn meta(&mut self, tag: &Tag, content: &str) {
        let says = tag.attrs.iter().any(|attribute| {
            matches!(&*attribute.name.local, "name" | "property" | "itemprop")
                && AUTHOR.iter().any(|name| attribute.value.trim().eq_ignore_ascii_case(name))
        });
        if says {
            self.declare(Declared::Meta, content);
        }
    }

    /// Takes in a start tag; `depth` is the length of the stack and `document` what is before it.
    pub(super) fn open(&mut self, tag: &Tag, depth: usize, document: &Document) {
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

    /// The stack was cut to `depth`: what stood in an element that ended is a name, if it is short enough. Of several blocks
    /// the first one counts: the others say something about the author.
    pub(super) fn close(&mut self, depth: usize, document: &Document) {
        let Some(Open { how, start, from, .. }) = self.open.filter(|open| depth <= open.depth) else { return };
        self.open = None;
        // The block that was the last before it may go on in it.
        let mut blocks = document.blocks[from.saturating_sub(1)..].iter().filter(|block| !block.pieces.is_empty());
        let first = blocks.find(|block| {
            !document.block_text(block).is_empty() && document.pieces[block.pieces.end - 1].text.end > start
        });
        let Some(block) = first else { return };
        let end = document.pieces[block.pieces.end - 1].text.end;
        let said = document
            .text
            .get(start.max(document.pieces[block.pieces.start].text.start)..end)
            .unwrap_or_default()
            .trim();
        if said.len() <= LINE {
            self.declare(how, labelled(said).unwrap_or(said));
        }
    }

    /// Takes in a script of JSON-LD.
    pub(super) fn json_ld(&mut self, script: &str) {
        let mut names = script.split("\"author\"").skip(1).filter_map(|rest| {
            let rest = rest.trim_start().strip_prefix(':')?.trim_start();
            let value = if rest.starts_with('"') {
                rest
            } else {
                // An object, or a row of them: the first one's name.
                let object = &rest[..rest.find('}')?];
                object.split("\"name\"").nth(1)?.trim_start().strip_prefix(':')?.trim_start()
            };
            serde_json::Deserializer::from_str(value).into_iter::<String>().next()?.ok()
        });
        let Some(first) = names.next() else { return };
        // A list of articles declares many.
        if names.all(|name| name == first) {
            self.declare(Declared::JsonLd, &first);
        }
    }

    fn declare(&mut self, how: Declared, said: &str) {
        let Some(name) = name_of(said) else { return };
        match &self.best {
            Some((known, _)) if how > *known => {}
            Some((known, other)) if how == *known => self.many |= *other != name && how >= Declared::Marked,
            _ => {
                self.best = Some((how, name));
                self.many = false;
            }
        }
    }

    /// The author: as declared or marked, else as a line of the page says. `lists`: the page lists others, whose authors it
    /// names.
    pub(super) fn best(self, lists: bool, document: &Document) -> Option<String> {
        let sure = |how: Declared| how <= Declared::Meta;
        match self.best {
            Some((how, name)) if sure(how) => Some(name),
            _ if lists => None,
            Some((Declared::Marked, name)) if !self.many => Some(name),
            other => shown(document).or(other.filter(|_| !self.many).map(|(_, name)| name)),
        }
    }
}

/// Whether a class is one of elements that hold a name.
fn names_author(class: &str) -> bool {
    const CLASSES: [&str; 14] = [
        "author",
        "byline",
        "post-author",
        "article-author",
        "entry-author",
        "author-name",
        "authorname",
        "author_name",
        "post-meta-author",
        "meta-author",
        "p-author",
        "fn",
        "writer",
        "post__author",
    ];
    CLASSES.iter().any(|name| class.eq_ignore_ascii_case(name))
}

/// The one name that short lines of the page give as its author's; none where they give several.
fn shown(document: &Document) -> Option<String> {
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
        let said = if label { Some(line.as_str()) } else { labelled(&line) };
        label = false;
        let Some(said) = said else { continue };
        if said.is_empty() {
            // The name is in the next block.
            label = true;
            continue;
        }
        let Some(name) = name_of(said) else { continue };
        match &found {
            Some(known) if *known != name => return None,
            _ => found = Some(name),
        }
    }
    found
}

/// What follows a label such as `作者：` at the start of a line; empty if nothing does.
fn labelled(line: &str) -> Option<&str> {
    const LABELS: [&str; 20] = [
        "本文作者",
        "文章作者",
        "原文作者",
        "原作者",
        "博文作者",
        "撰文",
        "作者",
        "文章作者",
        "著者",
        "執筆者",
        "執筆",
        "投稿者",
        "記者",
        "记者",
        "撰稿",
        "Post author",
        "Article author",
        "Written by",
        "Author",
        "作 者",
    ];
    const SHORT: [&str; 5] = ["By ", "by ", "文/", "文／", "文丨"];
    let line = line.trim();
    let found = LABELS.iter().find_map(|label| {
        let head = line.get(..label.len()).filter(|head| head.eq_ignore_ascii_case(label))?;
        let rest = line[head.len()..].trim_start();
        // Without a sign between, it is a sentence about authors.
        rest.strip_prefix([':', '：', '|', '｜', '/', '丨'])
            .or((rest.is_empty() && !line.starts_with('投')).then_some(rest))
    });
    let short = || SHORT.iter().find_map(|label| line.strip_prefix(label).filter(|rest| rest.chars().count() < 24));
    found.or_else(short).map(str::trim)
}

/// A name, white space folded, what comes after it on the line cut off. None if there is none, or it is an address or
/// nobody's.
fn name_of(said: &str) -> Option<String> {
    const ENDS: [char; 14] = ['|', '｜', '•', '·', '丨', '\n', '(', '（', '[', '【', '<', '/', '，', '；'];
    let mut said = said.trim().trim_start_matches(['@', ':', '：']).trim_start();
    if said.contains("://") || said.starts_with("www.") {
        return None;
    }
    for label in [
        "发布", "发表", "更新", "时间", "日期", "选题", "译者", "来源", "阅读", "浏览", "Posted", " on ", " at ",
        " at:", " on:", "  ",
    ] {
        if let Some((name, _)) = said.split_once(label) {
            said = name;
        }
    }
    // Nor is an address that stands behind it, or a date.
    if let Some((name, rest)) = said.split_once([',', '，'])
        && rest.contains('@')
    {
        said = name;
    }
    let dated = |at: &usize| {
        let (year, rest) = said[*at..].split_at_checked(4).unwrap_or_default();
        year.bytes().all(|byte| byte.is_ascii_digit()) && rest.starts_with(['-', '/', '.', '年'])
    };
    if let Some((at, _)) = said.char_indices().find(|(at, c)| c.is_ascii_digit() && dated(at)) {
        said = &said[..at];
    }
    let digits = said
        .as_bytes()
        .windows(4)
        .position(|four| four.iter().all(u8::is_ascii_digit) && matches!(four[0], b'1' | b'2'));
    if let Some(at) = digits.filter(|&at| at > 0 && said.as_bytes()[at - 1] == b' ') {
        said = &said[..at];
    }
    let said = said.split(ENDS).next().unwrap_or_default();
    let mut name = String::new();
    fold_into(&mut name, said);
    let letters = name.chars().filter(|c| c.is_alphanumeric()).count();
    let sentence =
        name.contains(['。', '？', '！', '?']) || name.ends_with(['.', '：', ':']) && name.split(' ').count() > 4;
    let fits = letters > 0 && name.chars().count() <= LONGEST && !sentence;
    (fits && !NOBODY.iter().any(|nobody| name.eq_ignore_ascii_case(nobody))).then_some(name)
}
