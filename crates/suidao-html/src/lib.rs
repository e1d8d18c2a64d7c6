//! What do all HTML pages of suidao share? The page frame, style sheets, templates, formatting of text and numbers, and
//! plots ([`plot`]). Pure. Texts are in [`suidao_page::messages`].

#![warn(clippy::print_stdout, clippy::print_stderr)] // the program prints through src/cli/terminal.rs

pub mod plot;

use std::borrow::Cow;
use std::fmt::Display;
use std::sync::LazyLock;

use minijinja::syntax::SyntaxConfig;
use minijinja::value::Rest;
use minijinja::{AutoEscape, Environment, Value, escape_formatter};
use suidao_page::visible;

use suidao_page::messages::Lang;
pub use suidao_page::messages::thousands;

/// CSS variables for colours, light and dark.
pub const COLOURS: &str = include_str!("colours.css");
/// Figures, paths and lists of reports, in addition to the base.
pub const REPORT: &str = include_str!("report.css");
/// Type, tables, navigation, focus, the skip link, print.
const BASE: &str = include_str!("base.css");

/// A self-contained page. `title` is text; `css` are style sheets after the base; `body` is HTML with an element of the
/// id `main`, the target of the skip link.
pub fn page(title: &str, lang: Lang, css: &[&str], body: &str) -> String {
    let skip = lang.text("skip-to-the-content", &[]);
    format!(
        "<!DOCTYPE html>\n<html lang=\"{}\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n<title>{}</title>\n\
         <style>\n{COLOURS}{BASE}{}</style>\n</head>\n<body>\n<a class=\"skip\" href=\"#main\">{skip}</a>\n{body}</body>\n</html>\n",
        lang.html(),
        escape(title),
        css.concat()
    )
}

/// Escapes text for HTML and SVG, in content and attributes. Bidirectional embeddings, overrides and isolates would
/// reorder the text that follows and are replaced; direction marks stay.
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            // Not allowed in HTML; the text comes from other people's pages.
            control if control.is_control() && !matches!(control, '\n' | '\t') => out.push('\u{fffd}'),
            embedding if visible::is_embedding(embedding) => out.push('\u{fffd}'),
            other => out.push(other),
        }
    }
    out
}

/// A number of bytes, short.
pub fn bytes(number: u64) -> String {
    match number {
        ..1_000_000 => format!("{} kB", thousands(number.div_ceil(1000))),
        1_000_000..1_000_000_000 => format!("{:.1} MB", number as f64 / 1e6),
        _ => format!("{:.2} GB", number as f64 / 1e9),
    }
}

/// A number with its noun: `1 page`, `1,234 pages`.
pub fn count(number: usize, one: &str, many: &str) -> String {
    format!("{} {}", thousands(number as u64), if number == 1 { one } else { many })
}

/// A share in per cent, with one decimal.
pub fn per_cent(part: f64, whole: f64) -> String {
    if whole > 0.0 { format!("{:.1}%", 100.0 * part / whole) } else { "–".to_owned() }
}

/// Maximum number of characters shown of a title or URL; the link has the rest.
const SHOWN: usize = 80;

fn shortened(text: &str) -> String {
    if text.chars().count() <= SHOWN {
        return text.to_owned();
    }
    text.chars().take(SHOWN - 1).chain(['…']).collect()
}

/// A title, or a replacement for an empty one.
fn titled(lang: Lang, title: &str) -> String {
    if title.trim().is_empty() { lang.text("no-title", &[]) } else { shortened(title.trim()) }
}

/// A URL for people: without its scheme, and decoded where escapes are letters.
fn readable(url: &str) -> String {
    let read = address(url);
    shortened(read.split_once("://").map_or(&*read, |(_, rest)| rest))
}

/// A full URL, decoded where escapes are letters.
pub fn address(url: &str) -> Cow<'_, str> {
    visible::urls(url)
}

/// The templates of each language.
static TEMPLATES: LazyLock<[Environment<'static>; 2]> =
    LazyLock::new(|| [Lang::English, Lang::Chinese].map(environment));

fn environment(lang: Lang) -> Environment<'static> {
    let mut templates = Environment::new();
    let syntax = SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).keep_trailing_newline(true).build();
    templates.set_syntax(syntax.expect("the delimiters are the usual ones"));
    templates.set_auto_escape_callback(|_| AutoEscape::Html);
    templates.set_formatter(|out, state, value| match value.as_str().filter(|_| !value.is_safe()) {
        Some(text) => Ok(out.write_str(&escape(text))?),
        None => escape_formatter(out, state, value),
    });
    templates.add_filter("thousands", thousands);
    templates.add_filter("count", |number: usize, one: &str, many: &str| count(number, one, many));
    templates.add_filter("per_cent", per_cent);
    templates.add_filter("shortened", shortened);
    templates.add_filter("titled", move |title: &str| titled(lang, title));
    templates.add_function("t", move |key: &str, arguments: Rest<Value>| {
        let arguments: Vec<&dyn Display> = arguments.iter().map(|argument| argument as &dyn Display).collect();
        lang.text(key, &arguments)
    });
    templates.add_filter("date", move |text: &str| lang.date(text));
    templates.add_filter("readable", readable);
    templates.add_filter("address", |url: &str| address(url).into_owned());
    templates.add_filter("urlencoded", |text: &str| {
        url::form_urlencoded::byte_serialize(text.as_bytes()).collect::<String>()
    });
    templates.add_template("macros.html", include_str!("macros.html")).expect("the templates are part of the program");
    templates
}

/// Fills a template, which may import `macros.html` and has messages by `t`. Everything is escaped, except what is
/// [`html`].
pub fn fill(lang: Lang, template: &str, context: Value) -> String {
    TEMPLATES[lang as usize].render_str(template, context).expect("the templates are part of the program, and tested")
}

pub fn html(text: String) -> Value {
    Value::from_safe_string(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped() {
        assert_eq!((count(1, "page", "pages"), count(2_000, "page", "pages")), ("1 page".into(), "2,000 pages".into()));
    }

    #[test]
    fn the_frame_is_well_formed_and_whole_in_itself() {
        let text =
            page("<足球> & \"more\"", Lang::Chinese, &[".x { margin: 0; }\n"], "<main id=\"main\"><p>x</p></main>\n");
        let html = scraper::Html::parse_document(&text);
        assert!(html.errors.is_empty(), "{:?}", html.errors);
        assert!(text.contains("<title>&lt;足球&gt; &amp; &quot;more&quot;</title>"), "{text}");
        assert!(
            text.contains("<html lang=\"zh-CN\">") && text.contains("跳到正文") && text.contains(".x { margin: 0; }")
        );
        assert!(!text.contains("url(") && !text.contains("src="), "nothing from elsewhere");
    }

    #[test]
    fn text_of_others_stays_text() {
        assert_eq!(escape("a<b>'\"&\u{0}\u{7}\n"), "a&lt;b&gt;&#39;&quot;&amp;\u{fffd}\u{fffd}\n");
        assert_eq!(escape("\u{202e}txt\u{2066}\u{9b}\u{200f}"), "\u{fffd}txt\u{fffd}\u{fffd}\u{200f}");
    }
}
