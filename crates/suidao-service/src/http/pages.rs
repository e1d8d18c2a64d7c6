//! `/api/v1/crawls/{name}/pages`, `why`, `search`, `exports`.

use axum::body::{Body, Bytes};
use axum::http::{Response, header};
use futures_util::stream::unfold;
use serde_json::json;
use suidao_store::corpus::DocumentFields;

use super::answer;
use super::call::Call;
use crate::exports::NewExport;
use crate::pages::{FormattedPage, MOST, PageForm, PageQuery};
use crate::problem::Problem;
use crate::search::SearchQuery;

type Answer = Result<Response<Body>, Problem>;

const LINES: &str = "application/x-ndjson; charset=utf-8";
const PLAIN: &str = "text/plain; charset=utf-8";

/// Fields of a list unless others are asked for.
const BRIEF: [&str; 9] = ["id", "url", "host", "title", "language", "published", "fetched", "relevance", "relevant"];

pub(super) async fn list(call: Call) -> Answer {
    let name = call.crawl()?;
    let fields = match call.param("fields") {
        None => DocumentFields::named(BRIEF),
        Some(names) => DocumentFields::named(names.split(',').map(str::trim)),
    };
    let fields = fields.map_err(|error| Problem::parameter("fields", error))?;
    let cursor = call.param("cursor");
    let wrong = || Problem::parameter("cursor", "is not a cursor; take that of the last answer");
    let from = cursor.map(|text| text.parse().map_err(|_| wrong())).transpose()?.unwrap_or(0);
    let conditions = call.param("where").unwrap_or_default().to_owned();
    let lines = match call.param("format") {
        None => call.header(header::ACCEPT).starts_with("application/x-ndjson"),
        Some("json") => false,
        Some("jsonl") => true,
        Some(other) => return Err(Problem::parameter("format", format!("{other:?} is neither json nor jsonl"))),
    };
    crate::pages::filter(&conditions)?;
    let version = call.service().version(&name).await?;
    if lines {
        let limit = call.number("limit", usize::MAX, usize::MAX)?;
        let query = PageQuery { conditions, fields, from, limit };
        return call
            .versioned(&version, async {
                let lines = call.service().page_lines(&name, query)?;
                let body = unfold(lines, |mut lines| async {
                    let line = lines.recv().await?;
                    // An error cuts the answer off, so that a client does not take it for complete.
                    Some((line.map(Bytes::from), lines))
                });
                Ok(answer::bytes(200, LINES, Body::from_stream(body)))
            })
            .await;
    }
    let limit = call.number("limit", 50, MOST)?.max(1);
    let query = PageQuery { conditions, fields, from, limit };
    let made = async {
        let list = call.service().pages(&name, query).await?;
        let next = list.next.map(|next| next.to_string());
        Ok(answer::json(200, &json!({ "pages": list.pages, "all": list.all, "next": next })))
    };
    call.versioned(&version, made).await
}

/// One page, in the form that `format` or `Accept` names.
async fn page(call: &Call, page: &str) -> Answer {
    let name = call.crawl()?;
    let accept = call.header(header::ACCEPT);
    let wanted = match call.param("format") {
        Some(format) => format,
        None if accept.starts_with("text/markdown") => "markdown",
        None if accept.starts_with("text/plain") => "text",
        None if accept.starts_with("application/warc") => "warc",
        None => "json",
    };
    let (form, media_type) = match wanted {
        "json" => (PageForm::Json, ""),
        "text" => (PageForm::Text, PLAIN),
        "markdown" => (PageForm::Markdown, "text/markdown; charset=utf-8"),
        // As text: a foreign page must not run as one of ours.
        "html" => (PageForm::Html, PLAIN),
        "warc" => (PageForm::Warc, "application/warc"),
        other => {
            let known = "choose from json, text, markdown, html and warc";
            return Err(Problem::parameter("format", format!("{other:?} is not a form of a page; {known}")));
        }
    };
    let version = call.service().version(&name).await?;
    let made = async {
        Ok(match call.service().page(&name, page, form).await? {
            FormattedPage::Json(page) => answer::json(200, &page),
            FormattedPage::Text(text) => answer::text(media_type, text),
            FormattedPage::Warc(records) => answer::attachment(answer::bytes(200, media_type, records), "page.warc.gz"),
        })
    };
    let mut answer = call.versioned(&format!("{wanted}-{version}"), made).await?;
    answer.headers_mut().insert(header::VARY, header::HeaderValue::from_static("accept"));
    Ok(answer)
}

pub(super) async fn by_id(call: Call) -> Answer {
    page(&call, call.part("id")).await
}

pub(super) async fn by_url(call: Call) -> Answer {
    let url = call.param("url").ok_or_else(|| Problem::parameter("url", "give the URL of a page"))?;
    page(&call, url).await
}

pub(super) async fn why(call: Call) -> Answer {
    let url = call.param("url").ok_or_else(|| Problem::parameter("url", "give the URL to explain"))?;
    Ok(answer::json(200, &call.service().why(&call.crawl()?, url).await?))
}

pub(super) async fn search(call: Call) -> Answer {
    let query = SearchQuery {
        words: call.param("q").unwrap_or_default().to_owned(),
        conditions: call.param("where").unwrap_or_default().to_owned(),
        offset: call.number("offset", 0, crate::search::DEEPEST)?,
        limit: call.number("limit", 10, crate::search::MOST)?,
    };
    Ok(answer::json(200, &call.service().search(&call.crawl()?, query).await?))
}

pub(super) async fn export(call: Call) -> Answer {
    let new: NewExport = call.json()?;
    let job = call.service().export(&call.crawl()?, new)?;
    call.job(job).await
}

pub(super) async fn exports(call: Call) -> Answer {
    Ok(answer::json(200, &json!({ "exports": call.service().exports(&call.crawl()?)? })))
}

pub(super) async fn exported(call: Call) -> Answer {
    /// Bytes read at a time.
    const CHUNK: usize = 1 << 16;
    let name = call.part("file");
    let (file, bytes) = call.service().exported(&call.crawl()?, name)?;
    let chunks = unfold(Some(file), |file| async {
        let mut file = file?;
        let read = tokio::task::spawn_blocking(move || {
            let mut chunk = vec![0; CHUNK];
            let read = std::io::Read::read(&mut file, &mut chunk);
            read.map(|length| {
                chunk.truncate(length);
                (chunk, file)
            })
        });
        match read.await {
            Ok(Ok((chunk, _))) if chunk.is_empty() => None,
            Ok(Ok((chunk, file))) => Some((Ok(Bytes::from(chunk)), Some(file))),
            Ok(Err(error)) => Some((Err(error), None)),
            Err(error) => Some((Err(std::io::Error::other(error)), None)),
        }
    });
    let mut response = answer::bytes(200, "application/octet-stream", Body::from_stream(chunks));
    response.headers_mut().insert(header::CONTENT_LENGTH, bytes.into());
    Ok(answer::attachment(response, name))
}

pub(super) async fn delete_export(call: Call) -> Answer {
    call.service().delete_export(&call.crawl()?, call.part("file"))?;
    Ok(answer::nothing())
}
