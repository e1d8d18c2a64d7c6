//! The cached text of a page, and how it was found.

use minijinja::context;
use minijinja::value::{Serde, Value};

use super::ask::SearchParams;
use super::{HttpReply, SearchSite, frame};
use suidao_export::index::{ExplainedStep, IndexError};
use suidao_html::address;

/// Maximum number of characters of text shown.
const MOST: usize = 100_000;

pub(super) fn page(site: &SearchSite, params: &SearchParams) -> Result<HttpReply, IndexError> {
    let Some(page) = site.index.page(&params.id)? else {
        return Ok(site.missing(&SearchParams::nothing(params.lang).with_language_of(params)));
    };
    let title = frame::title(&page);
    let step = |step: &ExplainedStep| {
        let known = step.page.as_ref();
        let link = known
            .filter(|page| page.id != params.id)
            .map(|page| params.with(|params| params.id = page.id.clone()).link("/page"));
        context! { title => known.map_or(step.url.as_str(), frame::title), link, ..Value::from(Serde(step)) }
    };
    let path = site.index.path(&page)?;
    let end = page.text.char_indices().nth(MOST).map_or(page.text.len(), |(at, _)| at);
    let context = context! {
        title,
        page => Value::from(Serde(&page)),
        language => frame::lang(&page),
        trail => frame::link_path(params.lang, &page),
        path => path.iter().map(step).collect::<Vec<_>>(),
        command => [shell(&site.directory), shell(&address(&page.url))],
        paragraphs => page.text[..end].lines().filter(|line| !line.trim().is_empty()).collect::<Value>(),
        is_cut => end < page.text.len(),
    };
    let headed = format!("{title} · {}", site.index.origin().topic);
    Ok(HttpReply::html(200, frame::frame(site, params, &headed, include_str!("cached.html"), context)))
}

fn shell(word: &str) -> String {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "-_./:=@%+,~".contains(letter);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}
