//! Finds the author of a page: from declarations, then marked elements, then lines of text. Nothing rather than something
//! doubtful: sites, accounts, programs and people who only comment are no authors.

mod chinese;
mod lines;
mod names;

use html5ever::local_name;
use html5ever::tokenizer::Tag;
use rustc_hash::FxHashMap;
use serde_json::{Map, Value};

use self::lines::{labelled, visible};
use self::names::name_of;
use super::document::ParsedDocument;
use super::json_ld::{self, JsonLd};
use super::words::{AUTHORS, SectionWords};
use crate::model::CrawlUrl;

/// Maximum length of a byline in bytes.
const LINE: usize = 240;
/// Maximum names that are kept of each source, and of one article.
const MOST: usize = 64;
const TOGETHER: usize = 8;

static AUTHOR: SectionWords = SectionWords::of(AUTHORS, "meta");

/// How an element says that it contains the author's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Marking {
    /// `rel`, `itemprop`.
    Marked,
    /// Its class.
    Named,
}

/// An open element that contains a name.
#[derive(Clone, Copy, Debug)]
struct Open {
    how: Marking,
    /// Length of the stack outside it.
    depth: usize,
    /// Start of its text.
    start: usize,
    /// Number of blocks before it, so that its blocks are found without a search from the start.
    from: usize,
}

#[derive(Debug)]
struct MarkedName {
    how: Marking,
    name: String,
}

/// The authors that JSON-LD declares for an object, and what identifies the object.
#[derive(Debug)]
struct DeclaredAuthors {
    /// 0 for articles.
    rank: usize,
    names: Vec<String>,
    headline: String,
    urls: Vec<String>,
}

#[derive(Debug, Default)]
pub(super) struct Bylines {
    declared: Vec<DeclaredAuthors>,
    meta: Vec<String>,
    marked: Vec<MarkedName>,
    open: Option<Open>,
    /// Length of the stack outside the comments, if they are open.
    comments: Option<usize>,
}

impl Bylines {
    /// Reads a `meta` element with content.
    pub(super) fn meta(&mut self, tag: &Tag, content: &str) {
        let is_author = tag.attrs.iter().any(|attribute| {
            matches!(&*attribute.name.local, "name" | "property" | "itemprop")
                && AUTHOR.iter().any(|name| attribute.value.trim().eq_ignore_ascii_case(name))
        });
        if let Some(name) = name_of(content).filter(|_| is_author && self.meta.len() < MOST) {
            self.meta.push(name);
        }
    }

    /// Reads a start tag; `depth` is the length of the stack and `document` the content before it.
    pub(super) fn open(&mut self, tag: &Tag, depth: usize, document: &ParsedDocument) {
        if tag.attrs.is_empty() {
            return;
        }
        if self.comments.is_none() && contains_comments(tag) {
            self.comments = Some(depth);
        }
        if self.comments.is_some() || self.open.is_some() || self.marked.len() >= MOST {
            return;
        }
        let mut how = None;
        for attribute in tag.attrs.iter().take(12) {
            let words = || attribute.value.split_ascii_whitespace().take(12);
            match attribute.name.local {
                local_name!("rel") | local_name!("itemprop")
                    if words().any(|word| word.eq_ignore_ascii_case("author")) =>
                {
                    how = Some(Marking::Marked);
                }
                local_name!("class") if how.is_none() && words().any(names_author) => how = Some(Marking::Named),
                _ => {}
            }
        }
        let (start, from) = (document.text.len(), document.blocks.len());
        self.open = how.map(|how| Open { how, depth, start, from });
    }

    /// Reads the names in elements that ended when the stack was cut to `depth`. Only the first block of an element
    /// counts; the others describe the author.
    pub(super) fn close(&mut self, depth: usize, document: &ParsedDocument) {
        self.comments = self.comments.filter(|outside| depth > *outside);
        let Some(Open { how, start, from, .. }) = self.open.filter(|open| depth <= open.depth) else { return };
        self.open = None;
        // The last block before it may continue in it.
        let from = from.saturating_sub(1);
        let mut blocks = document.blocks[from..].iter().filter(|block| !block.pieces.is_empty());
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
        if stated.len() <= LINE
            && let Some(name) = name_of(labelled(stated).unwrap_or(stated))
        {
            self.marked.push(MarkedName { how, name });
        }
    }

    pub(super) fn json_ld(&mut self, script: &JsonLd) {
        let room = MOST.saturating_sub(self.declared.len());
        match script {
            JsonLd::Whole(value) => {
                let people = people(value);
                let of = |(rank, object): (usize, &Map<String, Value>)| {
                    let names = together(names_in(object.get("author")?, &people));
                    let text = |key: &str| object.get(key).and_then(reference).unwrap_or_default().to_owned();
                    let urls = ["url", "@id", "mainEntityOfPage"].map(text).into();
                    (!names.is_empty()).then(|| DeclaredAuthors { rank, names, headline: text("headline"), urls })
                };
                self.declared.extend(json_ld::objects(value).into_iter().filter_map(of).take(room));
            }
            JsonLd::Broken(script) => {
                let names =
                    script.split("\"author\"").skip(1).filter_map(name_after_key).filter_map(|name| name_of(&name));
                let of =
                    |name| DeclaredAuthors { rank: 0, names: vec![name], headline: String::new(), urls: Vec::new() };
                self.declared.extend(names.map(of).take(room));
            }
        }
    }

    /// The declared or marked author, else one from a line of text; several are separated by a comma. `lists`: the page
    /// lists other pages with their authors. `document` has the title as block 0, unless it is empty.
    pub(super) fn best(self, lists: bool, document: &ParsedDocument, title: &str, url: &CrawlUrl) -> Option<String> {
        if let Some(names) = of_this_page(&self.declared, title, url) {
            return Some(names.join(", "));
        }
        if let Some(name) = self.meta.first() {
            return Some(name.clone());
        }
        if lists {
            return None;
        }
        let of = |how: Marking| only(self.marked.iter().filter(|name| name.how == how).map(|name| &name.name));
        match of(Marking::Marked) {
            Some(Some(name)) => Some(name),
            // Elements marked alike have different names: the page is a list.
            Some(None) => visible(document, title),
            None => visible(document, title).or_else(|| of(Marking::Named).flatten()),
        }
    }
}

/// The common value; `Some(None)` if they differ.
fn only<'a>(mut names: impl Iterator<Item = &'a String>) -> Option<Option<String>> {
    let first = names.next()?;
    Some(names.all(|name| name == first).then(|| first.clone()))
}

/// The authors of the object that is this page, by its URL or headline; if none is, those of all articles, or of all
/// objects, if they are the same.
fn of_this_page<'a>(declared: &'a [DeclaredAuthors], title: &str, url: &CrawlUrl) -> Option<&'a [String]> {
    let is_url = |text: &String| !text.is_empty() && url.join(text).is_ok_and(|other| other == *url);
    let named = declared.iter().find(|object| object.urls.iter().any(is_url)).or_else(|| {
        declared.iter().find(|object| object.headline.chars().count() > 3 && title.contains(&*object.headline))
    });
    let common = |rank: usize| {
        let mut of_rank = declared.iter().filter(|object| object.rank <= rank);
        let first = of_rank.next()?;
        of_rank.all(|object| object.names == first.names).then_some(first)
    };
    let articles = declared.iter().any(|object| object.rank == 0);
    named.or_else(|| if articles { common(0) } else { common(usize::MAX) }).map(|object| &object.names[..])
}

/// Names of people and organisations by `@id`.
fn people(value: &Value) -> FxHashMap<&str, &Map<String, Value>> {
    let mut found = FxHashMap::default();
    let mut open = vec![value];
    for _ in 0..json_ld::OBJECTS {
        match open.pop() {
            Some(Value::Array(items)) => open.extend(items.iter().rev()),
            Some(Value::Object(object)) => {
                if let (Some(Value::String(id)), true) = (object.get("@id"), object.contains_key("name")) {
                    found.insert(id.as_str(), object);
                }
                open.extend(object.values().filter(|value| value.is_object() || value.is_array()));
            }
            Some(_) => {}
            None => break,
        }
    }
    found
}

/// The names of an author given as string, object, reference or list, each with whether it is an organisation.
fn names_in(author: &Value, people: &FxHashMap<&str, &Map<String, Value>>) -> Vec<(String, bool)> {
    match author {
        Value::String(text) if text.trim_start().starts_with('{') => match serde_json::from_str::<Value>(text) {
            Ok(Value::Object(object)) => names_in(&Value::Object(object), people),
            _ => Vec::new(),
        },
        Value::String(name) => name_of(name).into_iter().map(|name| (name, false)).collect(),
        Value::Array(all) => all.iter().take(TOGETHER).flat_map(|one| names_in(one, people)).collect(),
        Value::Object(object) => {
            let id = object.get("@id").and_then(Value::as_str);
            let referred = || people.get(id?).copied();
            let object = if object.contains_key("name") { Some(object) } else { referred() };
            let Some(object) = object else { return Vec::new() };
            let group = object.get("@type").is_some_and(|kind| kind.to_string().contains("Organization"));
            let name = object.get("name").and_then(text_in).and_then(name_of);
            name.into_iter().map(|name| (name, group)).collect()
        }
        _ => Vec::new(),
    }
}

/// People before organisations, each once.
fn together(names: Vec<(String, bool)>) -> Vec<String> {
    let has_people = names.iter().any(|(_, group)| !group);
    let mut kept: Vec<String> = Vec::new();
    for (name, group) in names {
        let is_left_out = has_people && group || kept.contains(&name);
        if !is_left_out && kept.len() < TOGETHER {
            kept.push(name);
        }
    }
    kept
}

/// A text, or the first of a list.
fn text_in(value: &Value) -> Option<&str> {
    match value {
        Value::Array(all) => text_in(all.first()?),
        value => value.as_str(),
    }
}

/// A text, or the `@id` of an object.
fn reference(value: &Value) -> Option<&str> {
    value.as_str().or_else(|| value.get("@id")?.as_str())
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

/// Whether an element contains the comments below a text, by its class or id.
fn contains_comments(tag: &Tag) -> bool {
    static COMMENTS: SectionWords = SectionWords::of(AUTHORS, "comments");
    if matches!(tag.name, local_name!("html") | local_name!("body") | local_name!("main") | local_name!("article")) {
        return false;
    }
    let named = tag.attrs.iter().filter(|attribute| matches!(&*attribute.name.local, "class" | "id"));
    named.flat_map(|attribute| attribute.value.split_ascii_whitespace().take(12)).any(|name| {
        let name = name.to_ascii_lowercase();
        COMMENTS
            .iter()
            .any(|word| name == *word || name.strip_prefix(word).is_some_and(|rest| rest.starts_with(['-', '_'])))
    })
}

fn names_author(class: &str) -> bool {
    static CLASSES: SectionWords = SectionWords::of(AUTHORS, "classes");
    CLASSES.iter().any(|name| class.eq_ignore_ascii_case(name))
}

#[cfg(test)]
mod tests;
