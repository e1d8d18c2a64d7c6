//! The search of a crawl: the site of `suidao serve DIR`, and what other programs search with.

use axum::body::Body;
use axum::http::Response;
use minijinja::context;
use suidao_view::serve::SearchSite;

use super::frame;
use crate::http::answer;
use crate::http::call::Call;
use crate::problem::Problem;
use crate::search::SearchQuery;
use crate::service::blocking;

type Answer = Result<Response<Body>, Problem>;

/// Hits of a feed.
const FEED: usize = 30;

/// All pages of the search site, below the crawl's.
pub(crate) async fn found(call: Call) -> Answer {
    let name = frame::crawl(&call)?;
    let index = match frame::or_message(call.service().index(&name).await.map(|_| answer::nothing()))? {
        Ok(_) => call.service().index(&name).await?,
        Err(problem) => {
            let title = call.lang.text("web-search", &[]);
            let template = "<h1>{{ title }}</h1>\n<p class=\"notice\">{{ message }}</p>\n";
            let context = context! { message => frame::told(call.lang, &problem) };
            return Ok(frame::page(call.lang, 409, Some(&name), "/search", &title, template, context));
        }
    };
    let (base, query, lang) = (frame::place(&name, "/search"), call.raw_query.clone(), call.lang);
    let path = format!("/{}", call.part("page"));
    blocking(move || {
        let site = SearchSite::within(index, name.as_str(), &base, &frame::place(&name, ""));
        let reply = site.get(&path, &query, lang.html());
        Ok(answer::bytes(reply.status, reply.media_type, reply.body))
    })
    .await
}

/// The best answers of a search, as RSS 2.0.
pub(crate) async fn feed(call: Call) -> Answer {
    let name = frame::crawl(&call)?;
    let words = call.param("q").unwrap_or_default().to_owned();
    let query = SearchQuery { words: words.clone(), conditions: String::new(), offset: 0, limit: FEED };
    let found = call.service().search(&name, query).await?;
    let hits = found["hits"].as_array().cloned().unwrap_or_default();
    let items = hits.iter().map(|hit| {
        context! {
            title => hit["title"].as_str().filter(|title| !title.is_empty()).or(hit["url"].as_str()),
            url => hit["url"].as_str(),
            snippet => hit["snippet"]["text"].as_str(),
            id => hit["id"].as_str(),
        }
    });
    let title = if words.is_empty() { name.to_string() } else { format!("{name}: {words}") };
    let text = suidao_html::fill(
        call.lang,
        include_str!("feed.xml"),
        context! { title, link => place(&call, &frame::place(&name, "/search")), items => items.collect::<Vec<_>>() },
    );
    Ok(answer::bytes(200, "application/rss+xml; charset=utf-8", text))
}

/// The OpenSearch description, with which browsers and search engines add the crawl.
pub(crate) async fn described(call: Call) -> Answer {
    let name = frame::crawl(&call)?;
    let base = frame::place(&name, "/search");
    let context = context! {
        name => name.as_str(),
        html => place(&call, &format!("{base}?q={{searchTerms}}")),
        rss => place(&call, &format!("{}?q={{searchTerms}}", frame::place(&name, "/feed"))),
    };
    let text = suidao_html::fill(call.lang, include_str!("opensearch.xml"), context);
    Ok(answer::bytes(200, "application/opensearchdescription+xml; charset=utf-8", text))
}

/// The whole address of a path here.
fn place(call: &Call, path: &str) -> String {
    format!("http://{}{path}", call.header(axum::http::header::HOST))
}
