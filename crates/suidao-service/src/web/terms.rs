//! The terms of the topic, as a list that can be edited; what is saved can be undone.

use std::collections::BTreeMap;

use axum::body::Body;
use axum::http::Response;
use minijinja::context;
use serde_json::Value as Json;

use super::frame;
use crate::http::answer;
use crate::http::call::Call;
use crate::problem::Problem;
use crate::topic::TopicChange;

type Answer = Result<Response<Body>, Problem>;

/// Terms that are shown, for and against the topic: the heaviest.
const SHOWN: usize = 120;
const AGAINST: usize = 40;
/// The weight of an added term, if none is typed, is that of the heaviest this far down.
const TYPICAL: usize = 5;

pub(crate) async fn terms(call: Call) -> Answer {
    show(&call, None).await
}

async fn show(call: &Call, problem: Option<&Problem>) -> Answer {
    let name = frame::crawl(call)?;
    let lang = call.lang;
    let topic = call.service().topic(&name)?;
    let terms = topic["terms"].as_array().cloned().unwrap_or_default();
    let is_for = |term: &&Json| term["weight"].as_f64() > Some(0.0);
    let against = terms.iter().filter(|term| !is_for(term)).take(AGAINST);
    let shown: Vec<(String, f64)> = terms.iter().filter(is_for).take(SHOWN).chain(against).map(pair).collect();
    let estimate = call.service().estimate(&name).await.unwrap_or_default();
    let suggested = |key: &str| -> Vec<String> {
        let words = estimate["lexicon"][key].as_array().into_iter().flatten();
        words.filter_map(|word| word["word"].as_str().map(str::to_owned)).take(20).collect()
    };
    let title = lang.text("web-terms", &[]);
    let context = context! {
        act => frame::place(&name, "/terms"),
        terms => shown,
        all => terms.len(),
        threshold => topic["page_threshold"].as_f64(),
        changed => topic["changed"] == true,
        can_undo => call.service().can_undo_topic(&name)?,
        add => suggested("add"),
        lower => suggested("lower"),
        message => problem.map(|problem| frame::told(lang, problem)),
    };
    let status = problem.map_or(200, |problem| problem.status);
    Ok(frame::page(lang, status, Some(&name), "/terms", &title, include_str!("terms.html"), context))
}

fn pair(term: &Json) -> (String, f64) {
    (term["term"].as_str().unwrap_or_default().to_owned(), term["weight"].as_f64().unwrap_or_default())
}

pub(crate) async fn change(call: Call) -> Answer {
    let name = frame::crawl(&call)?;
    let form = call.form()?;
    let typed = |field: &str| form.get(field).map(|text| text.trim()).unwrap_or_default();
    let service = call.service();
    let done = async {
        match typed("action") {
            "rescore" => Ok(answer::see_other(&format!("/jobs/{}", service.rescore(&name)?.id))),
            "undo" => {
                service.undo_topic(&name).await?;
                Ok(answer::see_other(&frame::place(&name, "/terms")))
            }
            "save" => {
                let topic = service.topic(&name)?;
                let known: BTreeMap<String, f64> = topic["terms"].as_array().into_iter().flatten().map(pair).collect();
                let number = |text: &str| {
                    let wrong = || Problem::said("web-no-number", 400, &[&text]).of("terms");
                    text.parse::<f64>().map_err(|_| wrong())
                };
                let mut terms = BTreeMap::new();
                for (field, value) in &form {
                    if let Some(term) = field.strip_prefix("weight:") {
                        let weight = number(value.trim())?;
                        if form.contains_key(&format!("gone:{term}")) {
                            terms.insert(term.to_owned(), None);
                        } else if known.get(term).is_none_or(|old| (old - weight).abs() > 1e-9) {
                            terms.insert(term.to_owned(), Some(weight));
                        }
                    }
                }
                let mut weights: Vec<f64> = known.values().copied().filter(|weight| *weight > 0.0).collect();
                weights.sort_by(|one, other| other.total_cmp(one));
                let typical = weights.get(TYPICAL).or(weights.last()).copied().unwrap_or(1.0);
                for line in typed("added").lines().map(str::trim).filter(|line| !line.is_empty()) {
                    let (term, weight) = match line.split_once('\t') {
                        Some((term, weight)) => (term.trim(), number(weight.trim())?),
                        None => (line, typical),
                    };
                    terms.insert(term.to_owned(), Some(weight));
                }
                let threshold = number(typed("threshold"))?;
                let is_new = topic["page_threshold"].as_f64().is_none_or(|old| (old - threshold).abs() > 1e-9);
                service
                    .change_topic(&name, &TopicChange { terms, page_threshold: is_new.then_some(threshold) })
                    .await?;
                Ok(answer::see_other(&frame::place(&name, "/terms")))
            }
            _ => Err(Problem::parameter("action", "is unknown")),
        }
    };
    match frame::or_message(done.await)? {
        Ok(done) => Ok(done),
        Err(problem) => show(&call, Some(&problem)).await,
    }
}
