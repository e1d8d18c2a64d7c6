//! A new crawl: name, topic, seeds; a check shows what the first requests would be.

use axum::body::Body;
use axum::http::Response;
use minijinja::{Value, context};

use super::frame;
use crate::create::{CrawlRequest, TopicSource};
use crate::http::answer;
use crate::http::call::{Call, Form};
use crate::jobs::JobState;
use crate::problem::Problem;

type Answer = Result<Response<Body>, Problem>;

/// Pages that a crawl fetches unless another number is typed.
const PAGES: u64 = 1_000;

pub(crate) async fn form(call: Call) -> Answer {
    Ok(show(&call, &Form::new(), None, None))
}

fn show(call: &Call, form: &Form, wrong: Option<&Problem>, plan: Option<Value>) -> Response<Body> {
    let lang = call.lang;
    let title = lang.text("web-new-crawl", &[]);
    let typed = |name: &str| form.get(name).cloned().unwrap_or_default();
    let context = context! {
        name => typed("name"),
        keywords => typed("keywords"),
        urls => typed("urls"),
        texts => typed("texts"),
        seeds => typed("seeds"),
        pages => form.get("pages").cloned().unwrap_or_else(|| PAGES.to_string()),
        wrong => wrong.map(|problem| frame::told(lang, problem)),
        plan,
    };
    let status = wrong.map_or(200, |problem| problem.status);
    frame::page(lang, status, None, "", &title, include_str!("new.html"), context)
}

/// The lines of a text area; keywords may be separated by commas too.
fn lines(text: &str, commas: bool) -> Vec<String> {
    let between = |letter: char| letter == '\n' || commas && ",，、;；".contains(letter);
    text.split(between).map(str::trim).filter(|line| !line.is_empty()).map(str::to_owned).collect()
}

fn read(form: &Form) -> Result<CrawlRequest, Problem> {
    let typed = |name: &str| form.get(name).map(|text| text.trim()).unwrap_or_default();
    let pages = typed("pages");
    let wrong = || Problem::said("web-no-number", 400, &[&pages]).of("pages");
    let texts = typed("texts");
    Ok(CrawlRequest {
        name: typed("name").to_owned(),
        topic: TopicSource {
            keywords: lines(typed("keywords"), true),
            urls: lines(typed("urls"), false),
            texts: texts.split("\n---").map(str::trim).filter(|text| !text.is_empty()).map(str::to_owned).collect(),
            ..TopicSource::default()
        },
        seeds: lines(typed("seeds"), false),
        pages: if pages.is_empty() { None } else { Some(pages.parse().map_err(|_| wrong())?) },
        start: true,
        ..CrawlRequest::default()
    })
}

pub(crate) async fn create(call: Call) -> Answer {
    let form = call.form()?;
    let is_check = form.get("action").is_some_and(|action| action == "check");
    let begun = read(&form).and_then(|new| match is_check {
        true => call.service().plan(new),
        false => call.service().create(new),
    });
    let job = match begun {
        Ok(job) => job,
        Err(problem) => return Ok(show(&call, &form, Some(&problem), None)),
    };
    // Learning from fetched samples takes longer, and has a page of its own.
    let waited = tokio::time::timeout(std::time::Duration::from_secs(20), job.over()).await;
    match waited {
        Ok(JobState::Failed(problem)) => Ok(show(&call, &form, Some(&problem), None)),
        Ok(JobState::Done(result)) if is_check => {
            let rows = result["plan"].as_array().cloned().unwrap_or_default();
            let requests = rows.iter().filter_map(|row| {
                // A page; before the first page of a host its robots.txt.
                ["page", "robots", "sitemap", "feed"].iter().find_map(|kind| row[kind].as_str().map(str::to_owned))
            });
            let refused = rows.iter().filter(|row| row["skip_reason"].is_string()).map(|row| {
                context! { url => row["seed"].as_str(), why => row["skip_reason"].as_str() }
            });
            let plan =
                context! { requests => requests.collect::<Vec<String>>(), refused => refused.collect::<Vec<_>>() };
            Ok(show(&call, &form, None, Some(plan)))
        }
        Ok(_) => Ok(answer::see_other(&job.crawl.as_ref().map_or("/".to_owned(), |name| frame::place(name, "")))),
        Err(_) => Ok(answer::see_other(&format!("/jobs/{}", job.id))),
    }
}
