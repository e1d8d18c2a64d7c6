//! What all pages of the web interface share: the header with links, the language, and problems.

use axum::body::Body;
use axum::http::Response;
use minijinja::{Value, context};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use suidao_html::{self as html, fill, html as safe, plot};
use suidao_page::messages::Lang;

use crate::folder::CrawlName;
use crate::http::answer;
use crate::http::call::Call;
use crate::problem::Problem;

type Answer = Result<Response<Body>, Problem>;

const STYLE: &str = include_str!("service.css");

/// A page within the frame. `crawl`: the crawl that it is about, for the links.
pub(super) fn page(
    lang: Lang,
    status: u16,
    crawl: Option<&CrawlName>,
    here: &str,
    title: &str,
    template: &str,
    context: Value,
) -> Response<Body> {
    let main = fill(lang, template, context! { title, lang => lang.html(), ..context });
    let parts = [
        ("", lang.phrase("web-overview")),
        ("/search", lang.phrase("web-search")),
        ("/label", lang.phrase("web-label")),
        ("/terms", lang.phrase("web-terms")),
        ("/files", lang.phrase("web-export")),
        ("/report", lang.phrase("web-report")),
    ];
    let link = |crawl: &CrawlName, end: &str| format!("/c/{}{end}", encoded(crawl.as_str()));
    let links = crawl.map(|crawl| {
        let links = parts.iter().map(|(end, name)| (link(crawl, end), *name, *end == here));
        links.collect::<Vec<_>>()
    });
    let context = context! {
        links,
        crawl => crawl.map(CrawlName::as_str),
        other => lang.other().html(),
        code => lang.other().code(),
        main => safe(main),
    };
    let body = fill(lang, include_str!("frame.html"), context);
    let title = crawl.map_or_else(|| title.to_owned(), |crawl| format!("{title} · {crawl}"));
    let text = html::page(&title, lang, &[plot::STYLE, STYLE], &body);
    // The script is a file of ours: nothing within a page runs.
    let text = text.replacen("</head>", "<script src=\"/static/suidao.js\" defer></script>\n</head>", 1);
    answer::bytes(status, "text/html; charset=utf-8", text)
}

/// A part of a page, which the script puts in its place.
pub(super) fn fragment(lang: Lang, template: &str, context: Value) -> Response<Body> {
    answer::bytes(200, "text/html; charset=utf-8", fill(lang, template, context))
}

pub(super) fn encoded(text: &str) -> String {
    utf8_percent_encode(text, NON_ALPHANUMERIC).to_string()
}

/// Where a crawl's page is.
pub(super) fn place(crawl: &CrawlName, end: &str) -> String {
    format!("/c/{}{end}", encoded(crawl.as_str()))
}

/// A problem as a page for people.
pub(crate) fn problem_page(lang: Lang, problem: &Problem) -> Response<Body> {
    let title = lang.text("web-problem", &[]);
    let template =
        "<h1>{{ title }}</h1>\n<p class=\"wrong\">{{ detail }}</p>\n<p><a href=\"/\">{{ t(\"web-crawls\") }}</a></p>\n";
    page(lang, problem.status, None, "", &title, template, context! { detail => told(lang, problem) })
}

/// A problem in the language of the page. What the program says about its input is English, and marked so.
pub(super) fn told(lang: Lang, problem: &Problem) -> Value {
    match problem.message(lang) {
        Some(message) => message.into(),
        None => of_program(lang, &problem.detail),
    }
}

/// A sentence of the program.
pub(super) fn of_program(lang: Lang, sentence: &str) -> Value {
    match lang {
        Lang::English => sentence.into(),
        Lang::Chinese => {
            let says = lang.text("web-program-says", &[]);
            safe(format!("{says}：<code lang=\"en\">{}</code>", html::escape(sentence)))
        }
    }
}

/// Answers a form: the page again with the problem, if there is one with what was typed.
pub(super) fn or_message(result: Answer) -> Result<Result<Response<Body>, Problem>, Problem> {
    match result {
        Err(problem) if matches!(problem.status, 400 | 409 | 503) => Ok(Err(problem)),
        Err(problem) => Err(problem),
        Ok(done) => Ok(Ok(done)),
    }
}

/// The crawl of the path, which must exist.
pub(super) fn crawl(call: &Call) -> Result<CrawlName, Problem> {
    let name = call.crawl()?;
    call.service().crawl(&name)?;
    Ok(name)
}
