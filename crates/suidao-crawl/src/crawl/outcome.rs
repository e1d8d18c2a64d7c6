//! Fetch outcomes: an HTTP response as the machine needs it. Pure, so drivers may compute them on any thread.

use core::net::IpAddr;

use serde::{Deserialize, Serialize};

use crate::trap::soft_404;
use suidao_forum::forum::analysis;
use suidao_page::model::{
    CrawlUrl, Failure, FailureKind, Fetched, ForumPageView, Page, RobotsRules, SitemapContent, Validators,
};
use suidao_page::read::dom::Dom;
use suidao_page::read::{Parsed, is_page, parse_dom, read_sitemap};
use suidao_page::scored::{self, score_entries};
use suidao_page::topic::Topic;

use super::rules;
use super::ticket::FetchKind;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum FetchOutcome {
    Page {
        status: u16,
        page: Box<Page>,
        /// The page as a forum's, if its host is one or may be.
        page_view: Option<Box<ForumPageView>>,
        validators: Option<Box<Validators>>,
    },
    /// The page has not changed (304 to a conditional request).
    Unchanged,
    Redirect {
        to: CrawlUrl,
        /// Status 301 or 308.
        permanent: bool,
    },
    /// Content of a sitemap or a feed.
    Sitemap(Box<SitemapContent>, Option<Box<Validators>>),
    Robots(RobotsRules),
    Failed(Failure),
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ResponseMeta {
    /// Milliseconds from the request to the last byte; none if not measured.
    pub latency: Option<u64>,
    /// Address of the server; none without a response, or behind a proxy.
    pub from: Option<IpAddr>,
    /// It redirects to a URL that is sent other cookies now than earlier in this chain of redirects, or, if it is new in
    /// it, cookies of this response.
    pub new_cookies: bool,
}

/// Interprets a response for its purpose. `retry_after`: in milliseconds; `robot`: our product token in meta robots.
pub fn outcome(
    kind: &FetchKind,
    response: Result<&Fetched, Failure>,
    retry_after: Option<u64>,
    topic: &Topic,
    robot: &str,
) -> FetchOutcome {
    let fetched = match response {
        Ok(fetched) => fetched,
        Err(failure) => return FetchOutcome::Failed(failure),
    };
    let failed = |kind| FetchOutcome::Failed(Failure { kind, retry_after });
    match fetched.status {
        200..=299 => match kind {
            FetchKind::Robots { .. } => {
                let bytes = &fetched.body[..fetched.body.len().min(rules::MAX_BYTES)];
                FetchOutcome::Robots(RobotsRules::Rules(bytes.to_vec()))
            }
            FetchKind::Sitemap(_) => {
                let mut sitemap = read_sitemap(fetched);
                score_entries(&mut sitemap, topic);
                FetchOutcome::Sitemap(Box::new(sitemap), fetched.validators())
            }
            FetchKind::Page(_) | FetchKind::Plain(_) | FetchKind::Forum(..) | FetchKind::Soft404Probe(_) => {
                if !is_page(fetched) {
                    return failed(FailureKind::MediaType(fetched.media_type()));
                }
                let dom = Dom::of(fetched);
                let parsed = parse_dom(&dom, robot);
                // A browser would follow it; the server does not declare it permanent.
                if let Some(to) = parsed.refresh {
                    return FetchOutcome::Redirect { to, permanent: false };
                }
                let (page, page_view) = page(&dom, parsed, kind, topic);
                FetchOutcome::Page {
                    status: fetched.status,
                    page: Box::new(page),
                    page_view,
                    validators: fetched.validators(),
                }
            }
        },
        // A 304 to an unconditional request refers to an unknown version.
        304 if fetched.request_validators.is_some() => FetchOutcome::Unchanged,
        301 | 302 | 303 | 307 | 308 => {
            let target = fetched.header("location").and_then(|location| fetched.url.join(location).ok());
            let permanent = matches!(fetched.status, 301 | 308);
            target.map_or_else(|| failed(FailureKind::BadRedirect), |to| FetchOutcome::Redirect { to, permanent })
        }
        // 429 means overload, so it does not grant access (RFC 9309 2.3.1.3 leaves it to the crawler).
        400..=428 | 430..=499 if matches!(kind, FetchKind::Robots { .. }) => {
            FetchOutcome::Robots(RobotsRules::AllowAll)
        }
        status => failed(FailureKind::Status(status)),
    }
}

fn page(dom: &Dom, parsed: Parsed, kind: &FetchKind, topic: &Topic) -> (Page, Option<Box<ForumPageView>>) {
    let page_view = match kind {
        FetchKind::Forum(_, look) => Some(analysis::analyze(dom, &parsed, look)),
        FetchKind::Page(_) => analysis::quick_check(dom, &parsed),
        _ => None,
    };
    let scores = topic.score(&parsed.document);
    let mut page = scored::page(parsed, scores, dom.url());
    page.missing = soft_404::is_error_text(&page.title, &page.text);
    (page, page_view.map(Box::new))
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;
    use suidao_page::model::{HostId, UrlId};
    use suidao_page::topic::Lexicon;

    #[test]
    fn a_304_means_unchanged_only_after_a_conditional_request() {
        let topic = Topic::new(Lexicon::from_terms("体育", &[("足球", 1.0)]));
        let known = Validators { etag: Some("\"1\"".to_owned()), modified: None };
        let robots = FetchKind::Robots { host: HostId(0), https: false };
        let read = |kind: &FetchKind, request_validators: Option<&Validators>, status| {
            let headers = [("etag", "\"2\""), ("content-type", "text/html")];
            let fetched = Fetched {
                url: CrawlUrl::parse("http://a.cn/").unwrap(),
                status,
                headers: headers.map(|(name, value)| (name.to_owned(), value.to_owned())).into(),
                body: Bytes::new(),
                wire: None,
                request_validators: request_validators.map(|requested| Box::new(requested.clone())),
                rendered: None,
                unverified: false,
            };
            outcome(kind, Ok(&fetched), None, &topic, "suidao")
        };
        let page = FetchKind::Page(UrlId(0));
        assert_eq!(read(&page, Some(&known), 304), FetchOutcome::Unchanged);
        for kind in [&page, &robots] {
            let failed = FetchOutcome::Failed(Failure { kind: FailureKind::Status(304), retry_after: None });
            assert_eq!(read(kind, None, 304), failed);
        }
        let FetchOutcome::Page { validators, .. } = read(&page, Some(&known), 200) else { panic!() };
        assert_eq!(validators.unwrap().etag.as_deref(), Some("\"2\""));
    }

    #[test]
    fn robots_directives_apply_to_the_named_robot_only() {
        let topic = Topic::new(Lexicon::from_terms("体育", &[("足球", 1.0)]));
        let fetched = Fetched {
            url: CrawlUrl::parse("http://a.cn/").unwrap(),
            status: 200,
            headers: [("content-type", "text/html"), ("x-robots-tag", "other: nofollow")]
                .map(|(name, value)| (name.to_owned(), value.to_owned()))
                .into(),
            body: Bytes::from_static(b"<meta name=mybot content=noindex><p>x"),
            wire: None,
            request_validators: None,
            rendered: None,
            unverified: false,
        };
        let heard = |robot: &str| match outcome(&FetchKind::Page(UrlId(0)), Ok(&fetched), None, &topic, robot) {
            FetchOutcome::Page { page, .. } => (page.noindex, page.nofollow),
            other => panic!("{other:?}"),
        };
        assert_eq!(["suidao", "MyBot", "other"].map(heard), [(false, false), (true, false), (false, true)]);
    }
}
