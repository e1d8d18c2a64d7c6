//! Asks a search service or a CDX server. The requests are the caller's: [`Ask`].

use std::cmp::Reverse;
use std::collections::BTreeMap;

use serde_json::Value;

use super::{CdxHosts, Proposal, Service, ServiceError};
use suidao_page::model::CrawlUrl;
use suidao_page::topic::Topic;

/// Maximum number of pages of a CDX server's response.
const PAGES: usize = 50;

/// A request to a service, a POST if it has a body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServiceRequest {
    pub url: CrawlUrl,
    pub fields: Vec<(String, String)>,
    pub body: Option<String>,
}

/// Sends a request and returns status and body, or why there is no response. It must not follow redirects: the key
/// would go along.
pub type Ask<'a> = dyn FnMut(&ServiceRequest) -> Result<(u16, Vec<u8>), String> + 'a;

/// The URLs that a service finds for these queries; hosts that most queries find come first.
pub fn search(service: &Service, queries: &[String], ask: &mut Ask<'_>) -> Result<Vec<Proposal>, ServiceError> {
    let key = match &service.key_variable {
        Some(name) => Some(std::env::var(name).map_err(|_| ServiceError::NoKey(name.clone()))?.trim().to_owned()),
        None => None,
    };
    let key = service.key_header.clone().zip(key);
    if let Some((name, value)) = &key
        && !(is_token(name) && value.bytes().all(|byte| (b' '..=b'~').contains(&byte)))
    {
        return Err(ServiceError::Header(name.clone()));
    }
    // Queries by host, in the order of the responses, and its first URL.
    let mut hosts: BTreeMap<String, (usize, CrawlUrl, Vec<&str>)> = BTreeMap::new();
    for query in queries {
        let address = service.address(query);
        let (status, text) = send(&address, service.body(query), key.clone(), ask)?;
        if status != 200 {
            return Err(ServiceError::Status { address: printable(&address), status });
        }
        let response: Value = serde_json::from_slice(&text).map_err(|_| ServiceError::NotJson(printable(&address)))?;
        for url in service.urls_of(&response).into_iter().filter_map(|url| CrawlUrl::parse(url).ok()) {
            let next = hosts.len();
            let (_, _, found) = hosts.entry(url.authority().to_owned()).or_insert((next, url, Vec::new()));
            if !found.contains(&query.as_str()) {
                found.push(query);
            }
        }
    }
    let mut hosts: Vec<(usize, CrawlUrl, Vec<&str>)> = hosts.into_values().collect();
    hosts.sort_by_key(|(order, _, found)| (Reverse(found.len()), *order));
    let proposal = |(_, url, found): (usize, CrawlUrl, Vec<&str>)| Proposal {
        url,
        why: format!("found for {}", found.join(", ")),
    };
    Ok(hosts.into_iter().map(proposal).collect())
}

/// Reads the records of a CDX server, page by page.
pub fn cdx(address: &str, topic: &Topic, ask: &mut Ask<'_>) -> Result<CdxHosts, ServiceError> {
    let mut hosts = CdxHosts::default();
    for page in 0..PAGES {
        let sign = if address.contains('?') { '&' } else { '?' };
        let (status, text) = send(&format!("{address}{sign}page={page}"), None, None, ask)?;
        let text = String::from_utf8_lossy(&text);
        // A server answers with an error beyond the last page.
        let is_end = text.trim().is_empty() || page > 0 && !(200..300).contains(&status);
        if is_end {
            break;
        }
        if status != 200 {
            return Err(ServiceError::Status { address: printable(address), status });
        }
        text.lines().for_each(|line| hosts.add(line, topic));
    }
    Ok(hosts)
}

/// Whether a name of a header field is one, as RFC 9110 defines it.
fn is_token(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte))
}

fn send(
    address: &str,
    body: Option<String>,
    key: Option<(String, String)>,
    ask: &mut Ask<'_>,
) -> Result<(u16, Vec<u8>), ServiceError> {
    let url = CrawlUrl::parse(address)
        .map_err(|error| ServiceError::Address { address: printable(address), reason: error.to_string() })?;
    let named = |name: &str| (name.to_owned(), "application/json".to_owned());
    let fields = [named("accept")].into_iter().chain(body.as_ref().map(|_| named("content-type"))).chain(key).collect();
    ask(&ServiceRequest { url, fields, body })
        .map_err(|reason| ServiceError::Away { address: printable(address), reason })
}

/// An address for messages: without its query, which may hold a key.
fn printable(address: &str) -> String {
    address.split('?').next().unwrap_or(address).to_owned()
}
