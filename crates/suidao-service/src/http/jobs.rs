//! `/api/v1/jobs`, and what monitors ask.

use std::fmt::Write;

use axum::body::Body;
use axum::http::Response;
use serde_json::json;
use suidao_live::memory::resident_memory;

use super::answer;
use super::call::Call;
use crate::problem::Problem;

type Answer = Result<Response<Body>, Problem>;

pub(super) async fn list(call: Call) -> Answer {
    let jobs: Vec<_> = call.service().jobs().all().iter().map(|job| job.json()).collect();
    Ok(answer::json(200, &json!({ "jobs": jobs })))
}

pub(super) async fn show(call: Call) -> Answer {
    let job = call.service().jobs().job(call.part("id"))?;
    let wait = call.number("wait", 0, 60)?;
    if wait > 0 {
        let _ = tokio::time::timeout(std::time::Duration::from_secs(wait as u64), job.over()).await;
    }
    Ok(answer::json(200, &job.json()))
}

pub(super) async fn cancel(call: Call) -> Answer {
    let job = call.service().jobs().job(call.part("id"))?;
    job.cancel();
    Ok(answer::json(202, &job.json()))
}

pub(super) async fn openapi(_: Call) -> Answer {
    Ok(answer::json(200, &super::document()))
}

pub(super) async fn health(_: Call) -> Answer {
    Ok(answer::health())
}

pub(super) async fn robots(_: Call) -> Answer {
    Ok(answer::robots())
}

/// Figures for Prometheus.
pub(super) async fn metrics(call: Call) -> Answer {
    let service = call.service();
    let mut text = String::new();
    let mut add = |name: &str, kind: &str, help: &str, lines: &[(String, f64)]| {
        let _ = writeln!(text, "# HELP suidao_{name} {help}\n# TYPE suidao_{name} {kind}");
        for (labels, value) in lines {
            let _ = writeln!(text, "suidao_{name}{labels} {value}");
        }
    };
    let (mut pages, mut relevant, mut running) = (Vec::new(), Vec::new(), Vec::new());
    for name in service.folder.names() {
        let Ok(crawl) = service.overview(&name).await else { continue };
        // A name has no character that must be escaped.
        let label = format!("{{crawl=\"{name}\"}}");
        pages.push((label.clone(), crawl["pages"].as_f64().unwrap_or_default()));
        relevant.push((label.clone(), crawl["relevant"].as_f64().unwrap_or_default()));
        running.push((label, f64::from(u8::from(crawl["state"] == "running"))));
    }
    add("crawl_running", "gauge", "1 while the crawl runs", &running);
    add("crawl_pages", "gauge", "Pages fetched", &pages);
    add("crawl_relevant_pages", "gauge", "Relevant pages fetched", &relevant);
    let jobs = service.jobs().all();
    let unfinished = jobs.iter().filter(|job| !job.state().is_over()).count() as f64;
    add("jobs_unfinished", "gauge", "Jobs that wait or work", &[(String::new(), unfinished)]);
    if let Some(memory) = resident_memory("self") {
        add("resident_memory_bytes", "gauge", "Memory of the service", &[(String::new(), memory as f64)]);
    }
    Ok(answer::text("text/plain; version=0.0.4; charset=utf-8", text))
}
