//! Responses of a changing web on a day: pages and files with validators, 304, and responses for missing pages.

use bytes::Bytes;

use super::sites::{Resource, Sites, profile};
use super::validation::{Version, not_modified};
use crate::world::change::Gone;
use crate::world::forum::times::TimeFormat;
use crate::world::response::{failure, missing, moved, response};
use suidao_page::model::{CrawlUrl, Failure, FailureKind, Fetched};

impl Sites {
    /// The answer to a GET with these header fields; `nonce` is unique to the request.
    pub fn response(
        &self,
        url: &CrawlUrl,
        fields: &[(String, String)],
        day: f64,
        nonce: u64,
    ) -> Result<Fetched, Failure> {
        let Some(host) = self.find_host(url.authority()) else { return Err(failure(FailureKind::Dns)) };
        if url.is_https() {
            return Err(failure(FailureKind::Connect));
        }
        let mut response = match self.find(url) {
            Some(resource) => self.found(url, host, resource, fields, day, nonce),
            None => missing(url),
        };
        for (name, value) in &mut response.headers {
            if name == "date" {
                *value = self.written(day, TimeFormat::Http);
            }
        }
        Ok(response)
    }

    fn found(
        &self,
        url: &CrawlUrl,
        host: usize,
        resource: Resource,
        fields: &[(String, String)],
        day: f64,
        nonce: u64,
    ) -> Fetched {
        let number = self.version(resource, day);
        let (media, body) = match self.file(resource, day) {
            Some(file) => file,
            None if number.is_none() => return self.not_there(url, host, resource, day),
            None => ("text/html; charset=utf-8", self.html(resource, day).into_bytes()),
        };
        let changed = self.instant(self.changed(resource, day));
        let policy = profile(host).policy;
        let validators = Version { body: &body, number, changed, nonce }.validators(policy);
        let modified = validators.modified.map(|_| self.written(self.changed(resource, day), TimeFormat::Http));
        let sent = [("etag", validators.etag.clone()), ("last-modified", modified)];
        let sent: Vec<(&str, String)> = sent.into_iter().filter_map(|(name, value)| Some((name, value?))).collect();
        if not_modified(&validators, policy, fields) {
            let mut response = response(url, 304, media, &sent, Bytes::new());
            // A 304 has no body to describe.
            response.headers.retain(|(name, _)| !matches!(name.as_str(), "content-type" | "content-length"));
            return response;
        }
        response(url, 200, media, &sent, Bytes::from(body))
    }

    /// The response for an article before publication or after it disappeared.
    fn not_there(&self, url: &CrawlUrl, host: usize, resource: Resource, day: f64) -> Fetched {
        let Resource::Article(article) = resource else { return missing(url) };
        let age = day - self.born(article);
        match (age >= 0.0).then(|| self.life(article, day).gone(age)).flatten() {
            Some(Gone::Moved) => moved(url, 301, &self.path(article, true)),
            Some(Gone::Maintenance) => moved(url, 302, self.url(host, "/maintenance.html").as_str()),
            Some(Gone::Removed) => {
                let body = "<html><head><title>410</title></head><body><p>页面已删除</p></body></html>";
                response(url, 410, "text/html; charset=utf-8", &[], Bytes::from_static(body.as_bytes()))
            }
            Some(Gone::Missing) | None => missing(url),
        }
    }
}
