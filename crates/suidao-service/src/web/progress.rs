//! The page of a job: reloads until it is over, then shows what came out.

use axum::body::Body;
use axum::http::{HeaderValue, Response, header};
use minijinja::context;
use suidao_page::messages::Lang;

use super::frame;
use crate::http::answer;
use crate::http::call::Call;
use crate::jobs::JobState;
use crate::problem::Problem;

pub(crate) async fn progress(call: Call) -> Result<Response<Body>, Problem> {
    let job = call.service().jobs().job(call.part("id"))?;
    let lang = call.lang;
    // Most are over within a moment.
    let _ = tokio::time::timeout(std::time::Duration::from_millis(800), job.over()).await;
    let state = job.state();
    let place = |end: &str| job.crawl.as_ref().map_or("/".to_owned(), |name| frame::place(name, end));
    let next = match job.kind {
        "export" => place("/files"),
        "learn" => place("/label"),
        "rescore" => place("/terms"),
        _ => place(""),
    };
    if let (JobState::Done(_), "create" | "export" | "change") = (&state, job.kind) {
        return Ok(answer::see_other(&next));
    }
    let title = name(lang, job.kind);
    let (mut done, mut result, mut wrong) = (None, None, None);
    match &state {
        JobState::Running(at, of) if *of > 0 => done = Some((*at, *of)),
        JobState::Done(value) => result = Some(value.clone()),
        JobState::Failed(problem) => wrong = Some(frame::told(lang, problem)),
        _ => {}
    }
    let number = |key: &str| result.as_ref().and_then(|result| result[key].as_u64());
    let terms = result.as_ref().and_then(|result| result["terms"].as_array().cloned()).unwrap_or_default();
    let terms = terms.iter().map(|term| {
        let weight = |key: &str| format!("{:.2}", term[key].as_f64().unwrap_or_default());
        (term["term"].as_str().map(str::to_owned), weight("before"), weight("after"))
    });
    let context = context! {
        next,
        is_over => state.is_over(),
        is_cancelled => matches!(state, JobState::Cancelled),
        done,
        wrong,
        judged => number("pages").map(|pages| (pages, number("relevant"), number("gained"), number("lost"))),
        round => result.as_ref().and_then(|result| result["round"]["visits"].as_u64()),
        terms => terms.collect::<Vec<_>>(),
    };
    let page = include_str!("progress.html");
    let mut response = frame::page(lang, 200, job.crawl.as_ref(), "-", &title, page, context);
    if !state.is_over() {
        response.headers_mut().insert(header::REFRESH, HeaderValue::from_static("1"));
    }
    Ok(response)
}

fn name(lang: Lang, kind: &str) -> String {
    match kind {
        "create" => lang.text("web-job-create", &[]),
        "learn" => lang.text("web-job-learn", &[]),
        "rescore" => lang.text("web-job-rescore", &[]),
        "refresh" => lang.text("web-job-refresh", &[]),
        "export" => lang.text("web-job-export", &[]),
        "plan" | "change" => lang.text("web-check", &[]),
        _ => lang.text("web-job-index", &[]),
    }
}
