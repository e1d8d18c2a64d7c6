//! Pages as Markdown with front matter: one stream, or a directory with a file per page.

use std::fs::File;
use std::io::Write;
use std::path::Path;

use suidao_store::corpus::{CorpusDocument, Parts, Streamed};
use suidao_store::store::StoreError;
use suidao_store::store::directory::write_whole_directory;

use super::{Export, Output};

const PARTS: Parts = Parts { text: true, markdown: true, links: false, posts: false, media: true };
/// Digits of a page's id in the name of its file.
const ID: usize = 16;

/// Writes the selected pages one after the other. No line of a page is `---`, so that each `---` line is a border of
/// front matter.
pub fn write(export: &Export, output: &Output) -> Result<Streamed, StoreError> {
    output.rows("md", |rows| {
        export.each(|chosen| Ok(page(&export.document(chosen, PARTS)?) + "\n"), |page| Ok(rows.add(page.as_bytes())?))
    })
}

/// Writes a file per page to a new or empty directory.
pub fn write_files(export: &Export, directory: &Path) -> Result<Streamed, StoreError> {
    write_whole_directory(directory, |directory| {
        export.each(
            |chosen| {
                let document = export.document(chosen, PARTS)?;
                Ok((file_name(&document), page(&document)))
            },
            |(name, page)| Ok(File::create_new(directory.join(name))?.write_all(page.as_bytes())?),
        )
    })
}

/// The name of a page's file: the same in every export.
fn file_name(document: &CorpusDocument) -> String {
    format!(
        "{}-{}.md",
        document.host.replace(|c: char| !c.is_ascii_alphanumeric() && c != '.', "-"),
        &document.id[..ID]
    )
}

fn page(document: &CorpusDocument) -> String {
    let mut page = "---\n".to_owned();
    let mut field = |name: &str, value: &str| page += &format!("{name}: {value}\n");
    field("url", &quoted(document.url.as_str()));
    field("title", &quoted(&document.title));
    if let Some(author) = &document.author {
        field("author", &quoted(author));
    }
    if let Some(source) = &document.source {
        field("source", &quoted(source));
    }
    if let Some(day) = document.published {
        field("date", &day.to_string());
    }
    if let Some(language) = &document.language {
        field("language", &quoted(language));
    }
    field("relevance", &format!("{:.4}", document.relevance.get()));
    page + "---\n\n" + &document.text + "\n"
}

/// A string in YAML: that of JSON, with everything escaped that YAML does not print or takes for a line end.
fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}' => {
                quoted += &format!("\\u{:04x}", u32::from(c));
            }
            c if c.is_control() => quoted += &format!("\\u{:04x}", u32::from(c)),
            c => quoted.push(c),
        }
    }
    quoted + "\""
}

#[cfg(test)]
mod tests {
    use suidao_store::corpus::fixture::crawl;
    use suidao_store::corpus::{Catalogue, Filter};

    use super::*;

    #[test]
    fn a_hostile_page_does_not_break_the_front_matter() {
        let root = tempfile::tempdir().unwrap();
        let title = "a\"\\ &#10;---&#10;x: y &#x85;&#x2028;: # [b] \u{feff}";
        let code = "<pre>---\nurl: http://evil.cn/\n---\n```\n</pre>";
        let html = format!(
            "<title>{title}</title><meta name=author content='x&#10;---&#10;: {{y'><article><p>---<br>---<p>{}{code}\
             </article>",
            "球赛的报道很长，说的都是昨天的比赛。".repeat(9)
        );
        let store = crawl(root.path(), &[("http://a.cn:81/0?a=\"---", &html), ("http://a.cn/1", &html)]);
        let catalogue = Catalogue::read(&store).unwrap();
        let selection = Filter::default().select(&catalogue);
        let export =
            Export { store: &store, catalogue: &catalogue, selection: &selection, progress: &|| {}, extractor: None };
        let path = root.path().join("a.md");
        assert_eq!(write(&export, &Output::file(&path)).unwrap().pages, 2);
        let text = std::fs::read_to_string(&path).unwrap();
        let borders = text.lines().filter(|line| line.starts_with("---")).count();
        assert_eq!(borders, 4, "{text}");
        let (head, _) = text.strip_prefix("---\n").unwrap().split_once("\n---\n\n").unwrap();
        let names: Vec<&str> = head.lines().map(|line| line.split_once(": ").unwrap().0).collect();
        assert!(names.starts_with(&["url", "title"]) && names.ends_with(&["relevance"]), "{head}");
        assert!(head.contains("title: \"a\\\"\\\\ --- x: y"), "{head}");

        let files = root.path().join("files");
        assert_eq!(write_files(&export, &files).unwrap().pages, 2);
        let mut names: Vec<String> =
            std::fs::read_dir(&files).unwrap().map(|file| file.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        assert!(names[0].starts_with("a.cn-") && names.iter().any(|name| name.starts_with("a.cn-81-")), "{names:?}");
        let pages: String = std::fs::read_to_string(files.join(&names[1])).unwrap();
        assert!(text.contains(&pages), "{pages}");
    }

    #[test]
    fn strings_are_yaml() {
        assert_eq!(quoted("a\"b\\\u{7}\u{2028}\u{85}中"), "\"a\\\"b\\\\\\u0007\\u2028\\u0085中\"");
    }
}
