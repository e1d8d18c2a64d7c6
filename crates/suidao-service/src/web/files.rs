//! Exports to download, and the report.

use axum::body::Body;
use axum::http::{HeaderValue, Response, header};
use minijinja::context;
use suidao_html::bytes;

use super::frame;
use crate::exports::NewExport;
use crate::http::answer;
use crate::http::call::Call;
use crate::problem::Problem;

type Answer = Result<Response<Body>, Problem>;

pub(crate) async fn files(call: Call) -> Answer {
    show(&call, None).await
}

async fn show(call: &Call, problem: Option<&Problem>) -> Answer {
    let name = frame::crawl(call)?;
    let lang = call.lang;
    let exports = call.service().exports(&name)?;
    let files = exports.as_array().into_iter().flatten().map(|file| {
        let file_name = file["file"].as_str().unwrap_or_default();
        let link = format!("/api/v1/crawls/{}/exports/{}", frame::encoded(name.as_str()), frame::encoded(file_name));
        context! { name => file_name, size => bytes(file["bytes"].as_u64().unwrap_or_default()), link }
    });
    let title = lang.text("web-export", &[]);
    let context = context! { act => frame::place(&name, "/files"), files => files.collect::<Vec<_>>(), message => problem.map(|problem| frame::told(lang, problem)) };
    let status = problem.map_or(200, |problem| problem.status);
    Ok(frame::page(lang, status, Some(&name), "/files", &title, include_str!("files.html"), context))
}

pub(crate) async fn export(call: Call) -> Answer {
    let name = frame::crawl(&call)?;
    let form = call.form()?;
    let typed = |field: &str| form.get(field).map(|text| text.trim()).unwrap_or_default();
    let service = call.service();
    let done = || match typed("action") {
        "delete" => {
            service.delete_export(&name, typed("file"))?;
            Ok(answer::see_other(&frame::place(&name, "/files")))
        }
        _ => {
            let relevant = if form.contains_key("relevant") { "relevant:yes " } else { "" };
            let best = if form.contains_key("best") { "duplicates:best " } else { "" };
            let conditions = format!("{relevant}{best}{}", typed("where"));
            let export = NewExport { format: typed("format").to_owned(), conditions, fields: Vec::new() };
            Ok(answer::see_other(&format!("/jobs/{}", service.export(&name, export)?.id)))
        }
    };
    match frame::or_message(done())? {
        Ok(done) => Ok(done),
        Err(problem) => show(&call, Some(&problem)).await,
    }
}

/// The report of a crawl, a page of its own that has the links of the others.
pub(crate) async fn report(call: Call) -> Answer {
    let name = frame::crawl(&call)?;
    let page = call.service().report(&name, call.lang).await?;
    let back = format!("<p><a href=\"{}\">suidao · {name}</a></p>\n", frame::place(&name, ""));
    // After the skip link; the report is made by the program.
    let page = page.replacen("</a>\n", &format!("</a>\n{back}"), 1);
    let mut response = answer::bytes(200, "text/html; charset=utf-8", page);
    let policy = HeaderValue::from_static(
        "default-src 'none'; style-src 'unsafe-inline'; img-src data:; form-action 'none'; base-uri 'none'; frame-ancestors 'none'",
    );
    response.headers_mut().insert(header::CONTENT_SECURITY_POLICY, policy);
    Ok(response)
}
