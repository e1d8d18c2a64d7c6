//! `/api/v1/crawls`: list, create, status, control.

use std::convert::Infallible;

use axum::body::{Body, Bytes};
use axum::http::{Response, header};
use futures_util::stream::unfold;
use serde::Deserialize;
use serde_json::{Value, json};

use super::answer;
use super::call::Call;
use crate::events::Events;
use crate::problem::Problem;

type Answer = Result<Response<Body>, Problem>;

pub(super) async fn list(call: Call) -> Answer {
    let limit = call.number("limit", 100, 1_000)?;
    let after = call.param("cursor").unwrap_or_default();
    let names = call.service().folder.names();
    let mut rest = names.iter().filter(|name| name.as_str() > after);
    let mut crawls = Vec::new();
    for name in rest.by_ref().take(limit) {
        // A crawl that was deleted meanwhile is left out.
        crawls.extend(call.service().overview(name).await.ok());
    }
    let next = if rest.next().is_some() { crawls.last().map(|last: &Value| last["name"].clone()) } else { None };
    Ok(answer::json(200, &json!({ "crawls": crawls, "next": next })))
}

pub(super) async fn create(call: Call) -> Answer {
    let job = call.service().create(call.json()?)?;
    call.job(job).await
}

pub(super) async fn plan(call: Call) -> Answer {
    let job = call.service().plan(call.json()?)?;
    call.job(job).await
}

pub(super) async fn status(call: Call) -> Answer {
    Ok(answer::json(200, &call.service().status(&call.crawl()?).await?))
}

pub(super) async fn change(call: Call) -> Answer {
    let job = call.service().change(&call.crawl()?, call.json()?)?;
    call.job(job).await
}

pub(super) async fn delete(call: Call) -> Answer {
    call.service().delete(&call.crawl()?, call.param("confirm").unwrap_or_default()).await?;
    Ok(answer::nothing())
}

pub(super) async fn start(call: Call) -> Answer {
    let name = call.crawl()?;
    call.service().start(&name).await?;
    Ok(answer::json(200, &call.service().overview(&name).await?))
}

pub(super) async fn stop(call: Call) -> Answer {
    let name = call.crawl()?;
    call.service().stop(&name).await?;
    Ok(answer::json(200, &call.service().overview(&name).await?))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Seeds {
    seeds: Vec<String>,
}

pub(super) async fn add_seeds(call: Call) -> Answer {
    let Seeds { seeds } = call.json()?;
    Ok(answer::json(200, &call.service().add_seeds(&call.crawl()?, &seeds).await?))
}

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Refresh {
    requests: Option<u64>,
}

pub(super) async fn refresh(call: Call) -> Answer {
    let Refresh { requests } = call.json()?;
    let job = call.service().refresh(&call.crawl()?, requests.unwrap_or(1_000))?;
    call.job(job).await
}

/// Server-sent events. A connection ends after some minutes at the latest; browsers come back by themselves.
pub(super) async fn events(call: Call) -> Answer {
    let last = call.header(header::HeaderName::from_static("last-event-id"));
    let last = if last.is_empty() { call.param("after") } else { Some(last) };
    let after = match last {
        None => None,
        Some(text) => {
            let number = text.parse().map_err(|_| Problem::parameter("after", format!("{text:?} is not a number")))?;
            Some(number)
        }
    };
    let events = call.service().events(&call.crawl()?, after)?;
    let lines = unfold(events, |mut events: Events| async {
        let text = match events.next().await {
            Some(event) => {
                let data = suidao_page::visible::text(&event.data.to_string()).into_owned();
                format!("id: {}\nevent: {}\ndata: {data}\n\n", event.id, event.kind)
            }
            // A comment: a client that is gone is noticed.
            None => ": still here\n\n".to_owned(),
        };
        Some((Ok::<Bytes, Infallible>(text.into()), events))
    });
    Ok(answer::bytes(200, "text/event-stream; charset=utf-8", Body::from_stream(lines)))
}
