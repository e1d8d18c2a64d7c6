//! The page of a crawl: its progress, which the script keeps up to date, and what can be done with it.

use axum::body::Body;
use axum::http::Response;
use minijinja::{Value, context};
use serde_json::Value as Json;
use suidao_html::plot::{Along, CurveLine, Interval, LineStyle, curves};
use suidao_html::{bytes, html, per_cent};
use suidao_page::messages::Lang;
use suidao_page::model::FailureKind;
use suidao_store::store::HarvestTrouble;

use super::frame;
use crate::control::CrawlChange;
use crate::folder::CrawlName;
use crate::http::answer;
use crate::http::call::Call;
use crate::problem::Problem;

type Answer = Result<Response<Body>, Problem>;

/// Rows of a list.
const ROWS: usize = 12;

/// The name of a state for people.
pub(super) fn state_name(lang: Lang, state: &str) -> String {
    match state {
        "new" => lang.text("web-state-new", &[]),
        "running" => lang.text("web-state-running", &[]),
        "stopping" => lang.text("web-state-stopping", &[]),
        "stopped" => lang.text("web-state-stopped", &[]),
        "done" => lang.text("web-state-done", &[]),
        "failed" => lang.text("web-state-failed", &[]),
        "in-use" => lang.text("web-state-in-use", &[]),
        "incompatible" => lang.text("web-state-incompatible", &[]),
        _ => lang.text("web-state-unreadable", &[]),
    }
}

pub(crate) async fn overview(call: Call) -> Answer {
    show(&call, None).await
}

async fn show(call: &Call, problem: Option<&Problem>) -> Answer {
    let name = frame::crawl(call)?;
    let status = call.service().status(&name).await?;
    let lang = call.lang;
    let context = context! {
        live => frame::place(&name, "/live"),
        act => frame::place(&name, ""),
        progress => html(suidao_html::fill(lang, include_str!("live.html"), progress(lang, &name, &status))),
        runs => status["state"] == "running",
        may_start => ["new", "stopped", "done", "failed"].iter().any(|state| status["state"] == **state),
        started => status["created"].is_string(),
        limit => status["limit"].as_u64(),
        more => status["limit"].as_u64().map_or(1_000, |limit| limit * 2),
        message => problem.map(|problem| frame::told(lang, problem)),
    };
    let code = problem.map_or(200, |problem| problem.status);
    Ok(frame::page(lang, code, Some(&name), "", name.as_str(), include_str!("crawl.html"), context))
}

/// The part that changes while the crawl runs.
pub(crate) async fn live(call: Call) -> Answer {
    let name = frame::crawl(&call)?;
    let status = call.service().status(&name).await?;
    Ok(frame::fragment(call.lang, include_str!("live.html"), progress(call.lang, &name, &status)))
}

fn progress(lang: Lang, name: &CrawlName, status: &Json) -> Value {
    let number = |key: &str| status[key].as_u64().unwrap_or_default();
    let (pages, relevant) = (number("pages"), number("relevant"));
    let rate = status["pages_per_second"].as_f64().unwrap_or_default();
    let tile = |key: &'static str, figure: String, more: String| context! { name => lang.phrase(key), figure, more };
    let limit =
        status["limit"].as_u64().map_or_else(String::new, |limit| lang.text("web-of-n", &[&lang.large_number(limit)]));
    let mut tiles = vec![
        tile("relevant-pages", lang.large_number(relevant), per_cent(relevant as f64, pages as f64)),
        tile("pages-fetched", lang.large_number(pages), limit),
        tile(
            "hosts",
            lang.large_number(number("hosts_visited")),
            lang.text("with-relevant-pages-n", &[&number("hosts_relevant")]),
        ),
        tile("urls-queued", lang.large_number(number("queued")), lang.text("web-requests-n", &[&number("requests")])),
    ];
    if status["state"] == "running" {
        tiles.push(tile("pages-per-second", format!("{rate:.1}"), bytes(number("bytes"))));
    }
    let points: Vec<(u64, u64)> = status["curve"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|point| (point[0].as_u64().unwrap_or_default(), point[1].as_u64().unwrap_or_default()))
        .chain([(pages, relevant)])
        .collect();
    let trouble = HarvestTrouble::of(points.iter().copied(), (number("hosts_relevant"), number("hosts_visited")));
    let page = |page: &Json| {
        context! {
            url => page["url"].as_str(),
            title => page["title"].as_str(),
            relevance => format!("{:.2}", page["relevance"].as_f64().unwrap_or_default()),
            relevant => page["relevant"].as_bool(),
        }
    };
    let list = |value: &Json| value.as_array().cloned().unwrap_or_default();
    let newest = list(&status["newest"]);
    let relevant_ones: Vec<Value> = newest.iter().filter(|one| one["relevant"] == true).take(ROWS).map(page).collect();
    let state = status["state"].as_str().unwrap_or_default();
    context! {
        state,
        shown => state_name(lang, state),
        detail => status["detail"].as_str().map(|detail| frame::of_program(lang, detail)),
        tiles,
        plot => (pages > 0).then(|| html(plot(lang, &points))),
        newest => relevant_ones,
        waits => waits(lang, &status["waits"], status["at"].as_u64().unwrap_or_default()),
        hosts => list(&status["largest_hosts"]).iter().take(ROWS).map(|host| {
            (host["host"].as_str().map(str::to_owned), host["pages"].as_u64(), host["queued"].as_u64())
        }).collect::<Vec<_>>(),
        advice => trouble.map(|trouble| trouble.advice(lang, name.as_str())),
    }
}

fn plot(lang: Lang, points: &[(u64, u64)]) -> String {
    let [name, label] = ["relevant-pages", "pages-fetched"].map(|key| lang.text(key, &[]));
    let at = |relevant: u64| Interval { median: relevant as f64, range: None };
    let points: Vec<(usize, Interval)> = std::iter::once((0, at(0)))
        .chain(points.iter().map(|(pages, relevant)| (*pages as usize, at(*relevant))))
        .collect();
    let last = points.last().map_or(1, |(pages, _)| *pages).max(1);
    let found = CurveLine { name: &name, style: LineStyle::Nth(0), points, highlighted: true };
    let along = Along { label: &label, first: 0, last, lang };
    curves(&[found], &lang.text("relevant-pages-found", &[]), false, along)
}

/// What a running crawl waits for, in sentences.
fn waits(lang: Lang, waits: &Json, now: u64) -> Vec<String> {
    let seconds = |until: &Json| until.as_u64().unwrap_or_default().saturating_sub(now).div_ceil(1000).max(1);
    let mut sentences = Vec::new();
    let answers: Vec<&str> = waits["answers"].as_array().into_iter().flatten().filter_map(Json::as_str).collect();
    if !answers.is_empty() {
        sentences.push(lang.text("web-waits-answers", &[&answers.join(", ")]));
    }
    for retry in waits["retries"].as_array().into_iter().flatten() {
        let (host, failure) =
            (retry["host"].as_str().unwrap_or_default(), retry["failure"].as_str().unwrap_or_default());
        let failure = match lang {
            Lang::English => failure.to_owned(),
            Lang::Chinese => FailureKind::text_of_name(failure, lang),
        };
        sentences.push(lang.text("web-waits-retry", &[&host, &failure, &seconds(&retry["until"])]));
    }
    if sentences.is_empty()
        && let Some(host) = waits["polite"]["host"].as_str()
    {
        sentences.push(lang.text("web-waits-polite", &[&host, &seconds(&waits["polite"]["until"])]));
    }
    sentences
}

/// What the buttons of the page do.
pub(crate) async fn act(call: Call) -> Answer {
    let name = frame::crawl(&call)?;
    let form = call.form()?;
    let typed = |field: &str| form.get(field).map(|text| text.trim()).unwrap_or_default();
    let number = |field: &'static str| {
        typed(field).parse::<u64>().map_err(|_| Problem::said("web-no-number", 400, &[&typed(field)]).of(field))
    };
    let service = call.service();
    let done = async {
        match typed("action") {
            "start" => service.start(&name).await?,
            "stop" => service.stop(&name).await?,
            "pages" => {
                let job =
                    service.change(&name, CrawlChange { pages: Some(number("pages")?), ..CrawlChange::default() })?;
                if let crate::jobs::JobState::Failed(problem) = job.over().await {
                    return Err(problem);
                }
                if service.running.get(&name).is_none() {
                    service.start(&name).await?;
                }
            }
            "seeds" => {
                let seeds: Vec<String> =
                    typed("seeds").lines().map(str::trim).filter(|line| !line.is_empty()).map(str::to_owned).collect();
                service.add_seeds(&name, &seeds).await?;
            }
            "refresh" => {
                let job = service.refresh(&name, number("requests")?)?;
                return Ok(answer::see_other(&format!("/jobs/{}", job.id)));
            }
            "delete" => {
                service.delete(&name, typed("confirm")).await?;
                return Ok(answer::see_other("/"));
            }
            _ => return Err(Problem::parameter("action", "is unknown")),
        }
        Ok(answer::see_other(&frame::place(&name, "")))
    };
    match frame::or_message(done.await)? {
        Ok(done) => Ok(done),
        Err(problem) => show(&call, Some(&problem)).await,
    }
}
