//! Labelling: one page after the other, by buttons or keys; what the answers say; learning from them.

use axum::body::Body;
use axum::http::Response;
use minijinja::{Value, context};
use serde_json::Value as Json;
use suidao_html::per_cent;
use suidao_page::messages::Lang;

use super::frame;
use crate::http::answer;
use crate::http::call::Call;
use crate::problem::Problem;
use crate::topic::Answers;

type Answer = Result<Response<Body>, Problem>;

/// Pages of the sample, and those that may be skipped in a row.
const SAMPLE: usize = 100;
const SKIPPED: usize = 50;

pub(crate) async fn label(call: Call) -> Answer {
    let skipped = call.param("skip").unwrap_or_default().to_owned();
    let again = call.param("again").map(str::to_owned);
    show(&call, &skipped, again, None).await
}

/// `again`: the URL that was answered last, to go back to.
async fn show(call: &Call, skipped: &str, again: Option<String>, refused: Option<Problem>) -> Answer {
    let name = frame::crawl(call)?;
    let lang = call.lang;
    let urls: Vec<&str> = skipped.split_whitespace().rev().take(SKIPPED).collect();
    let next = call.service().next_labels(&name, urls.len() + 1, SAMPLE).await;
    let (next, message) = match next {
        Ok(next) => (next, None),
        Err(problem) if problem.status < 500 => (Json::Null, Some(problem)),
        Err(problem) => return Err(problem),
    };
    let pages = next["pages"].as_array().cloned().unwrap_or_default();
    let page = pages.iter().find(|page| !urls.contains(&page["url"].as_str().unwrap_or_default()));
    let title = lang.text("web-label", &[]);
    let context = context! {
        topic => next["topic"].as_str(),
        labelled => next["labelled"].as_u64(),
        left => next["left"].as_u64(),
        page => page.map(|page| described(lang, page)),
        act => frame::place(&name, "/label"),
        learn => frame::place(&name, "/learn"),
        estimate => frame::place(&name, "/estimate"),
        skipped,
        again,
        message => message.map(|problem| frame::told(lang, &problem)),
        refused => refused.map(|problem| frame::told(lang, &problem)),
    };
    Ok(frame::page(lang, 200, Some(&name), "/label", &title, include_str!("label.html"), context))
}

fn described(lang: Lang, page: &Json) -> Value {
    let pieces = page["excerpt"].as_array().cloned().unwrap_or_default();
    context! {
        url => page["url"].as_str(),
        title => page["title"].as_str(),
        published => page["published"].as_str(),
        language => page["language"].as_str().map(|code| lang.language(code)),
        chars => page["chars"].as_u64(),
        pieces => pieces.iter().map(|piece| (piece["text"].as_str().map(str::to_owned), piece["term"] == true)).collect::<Vec<_>>(),
    }
}

pub(crate) async fn answered(call: Call) -> Answer {
    let name = frame::crawl(&call)?;
    let form = call.form()?;
    let typed = |field: &str| form.get(field).map(|text| text.trim()).unwrap_or_default();
    let url = typed("url").to_owned();
    let answers = match typed("answer") {
        "yes" => Answers { yes: vec![url.clone()], no: Vec::new() },
        "no" => Answers { yes: Vec::new(), no: vec![url.clone()] },
        "skip" => {
            let query = url::form_urlencoded::Serializer::new(String::new())
                .append_pair("skip", format!("{} {url}", typed("skip")).trim())
                .finish();
            return Ok(answer::see_other(&format!("{}?{query}", frame::place(&name, "/label"))));
        }
        _ => return Err(Problem::parameter("answer", "is neither yes, no nor skip")),
    };
    call.service().answer(&name, &answers).await?;
    let query = url::form_urlencoded::Serializer::new(String::new())
        .extend_pairs([("skip", typed("skip")), ("again", &url)].into_iter().filter(|(_, value)| !value.is_empty()))
        .finish();
    Ok(answer::see_other(&format!("{}?{query}", frame::place(&name, "/label"))))
}

/// What the answers say so far, as a part of the page.
pub(crate) async fn estimated(call: Call) -> Answer {
    let name = frame::crawl(&call)?;
    let lang = call.lang;
    let estimate = match call.service().estimate(&name).await {
        Ok(estimate) => estimate,
        Err(problem) if problem.status < 500 => Json::Null,
        Err(problem) => return Err(problem),
    };
    let current =
        estimate["curve"].as_array().into_iter().flatten().find(|point| point["threshold"] == estimate["threshold"]);
    let share = |figure: &Json| {
        let [value, low, high] = ["value", "low", "high"].map(|key| figure[key].as_f64());
        Some(format!("{} [{}, {}]", per_cent(value?, 1.0), per_cent(low?, 1.0), per_cent(high?, 1.0)))
    };
    let context = context! {
        labelled => estimate["labelled"].as_u64().unwrap_or_default(),
        precision => current.and_then(|point| share(&point["precision"])),
        recall => current.and_then(|point| share(&point["recall"])),
        relevant => estimate["relevant"]["value"].as_f64().map(|pages| lang.large_number(pages.round() as u64)),
    };
    Ok(frame::fragment(lang, include_str!("estimate.html"), context))
}

/// Learns from the answers, and judges all pages again.
pub(crate) async fn learn(call: Call) -> Answer {
    let name = frame::crawl(&call)?;
    match frame::or_message(call.service().learn(&name).map(|job| answer::see_other(&format!("/jobs/{}", job.id))))? {
        Ok(done) => Ok(done),
        Err(problem) => show(&call, "", None, Some(problem)).await,
    }
}
