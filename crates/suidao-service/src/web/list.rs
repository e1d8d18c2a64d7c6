//! The list of crawls, the login and the language.

use axum::body::Body;
use axum::http::{HeaderValue, Response, header};
use minijinja::context;
use suidao_page::messages::Lang;

use super::frame;
use crate::http::answer;
use crate::http::call::Call;
use crate::problem::Problem;

type Answer = Result<Response<Body>, Problem>;

pub(crate) async fn list(call: Call) -> Answer {
    let lang = call.lang;
    let mut crawls = Vec::new();
    for name in call.service().folder.names() {
        // A crawl that was deleted meanwhile is left out.
        let Ok(crawl) = call.service().overview(&name).await else { continue };
        let number = |key: &str| crawl[key].as_u64().unwrap_or_default();
        let (pages, relevant) = (number("pages"), number("relevant"));
        crawls.push(context! {
            name => name.as_str(),
            link => frame::place(&name, ""),
            state => crawl["state"].as_str(),
            shown => super::crawl::state_name(lang, crawl["state"].as_str().unwrap_or_default()),
            detail => crawl["detail"].as_str().map(|detail| frame::of_program(lang, detail)),
            topic => crawl["topic"].as_str(),
            pages => lang.large_number(pages),
            relevant => lang.large_number(relevant),
            rate => suidao_html::per_cent(relevant as f64, pages as f64),
        });
    }
    let title = lang.text("web-crawls", &[]);
    Ok(frame::page(lang, 200, None, "", &title, include_str!("list.html"), context! { crawls }))
}

/// The page on which the token is typed.
pub(crate) async fn login(call: Call) -> Answer {
    Ok(login_page(call.lang, false))
}

fn login_page(lang: Lang, is_wrong: bool) -> Response<Body> {
    let title = lang.text("web-log-in", &[]);
    let status = if is_wrong { 401 } else { 200 };
    frame::page(lang, status, None, "", &title, include_str!("login.html"), context! { is_wrong })
}

pub(crate) async fn enter(call: Call) -> Answer {
    let form = call.form()?;
    let token = form.get("token").map(String::as_str).unwrap_or_default();
    let Some(cookie) = call.site.access.begin_session(token) else { return Ok(login_page(call.lang, true)) };
    let mut response = answer::see_other("/");
    response.headers_mut().extend(HeaderValue::from_str(&cookie).ok().map(|cookie| (header::SET_COOKIE, cookie)));
    Ok(response)
}

/// Remembers the language, and goes back to the page.
pub(crate) async fn speak(call: Call) -> Answer {
    let chosen = Lang::named(call.param("to").unwrap_or_default());
    let chosen = chosen.ok_or_else(|| Problem::parameter("to", "is neither en nor zh"))?;
    let host = call.header(header::HOST);
    let from = call.header(header::REFERER).split_once("://").and_then(|(_, rest)| rest.strip_prefix(host));
    let mut response =
        answer::see_other(from.filter(|path| path.starts_with('/') && !path.starts_with("//")).unwrap_or("/"));
    let cookie = format!("suidao-lang={}; Path=/; Max-Age=31536000; SameSite=Strict", chosen.code());
    response.headers_mut().extend(HeaderValue::from_str(&cookie).ok().map(|cookie| (header::SET_COOKIE, cookie)));
    Ok(response)
}

pub(crate) async fn script(_: Call) -> Answer {
    Ok(answer::bytes(200, "text/javascript; charset=utf-8", include_str!("suidao.js")))
}
