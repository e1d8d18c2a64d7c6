//! Asks a search service or a CDX server. The address is the user's, so it may be on this machine.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::time::Duration;

use reqwest::Client;
use serde_json::Value;
use tokio::runtime::Runtime;

use super::{CdxHosts, Proposal, Service, ServiceError};
use suidao_page::model::CrawlUrl;
use suidao_page::topic::Topic;

/// Most pages of a CDX server's answer.
const PAGES: usize = 50;
/// Longest answer, in bytes.
const ANSWER: usize = 64 << 20;

/// The URLs that a service finds for these queries; hosts that most queries find come first.
pub fn found(service: &Service, queries: &[String]) -> Result<Vec<Proposal>, ServiceError> {
    let key = match &service.key_variable {
        Some(name) => Some(std::env::var(name).map_err(|_| ServiceError::NoKey(name.clone()))?),
        None => None,
    };
    let http = Http::new()?;
    // Queries by host, in the order of the answers, and its first URL.
    let mut hosts: BTreeMap<String, (usize, CrawlUrl, Vec<&str>)> = BTreeMap::new();
    for query in queries {
        let address = service.address(query);
        let header = service.key_header.as_deref().zip(key.as_deref());
        let (status, text) = http.ask(&address, service.body(query), header)?;
        if status != 200 {
            return Err(ServiceError::Status { address: shown(&address), status });
        }
        let answer: Value = serde_json::from_slice(&text).map_err(|_| ServiceError::NotJson(shown(&address)))?;
        for url in service.urls_of(&answer).into_iter().filter_map(|url| CrawlUrl::parse(url).ok()) {
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
pub fn cdx(address: &str, topic: &Topic) -> Result<CdxHosts, ServiceError> {
    let http = Http::new()?;
    let mut hosts = CdxHosts::default();
    for page in 0..PAGES {
        let sign = if address.contains('?') { '&' } else { '?' };
        let (status, text) = http.ask(&format!("{address}{sign}page={page}"), None, None)?;
        let text = String::from_utf8_lossy(&text);
        // A server answers with an error beyond the last page.
        let is_end = text.trim().is_empty() || page > 0 && !(200..300).contains(&status);
        if is_end {
            break;
        }
        if status != 200 {
            return Err(ServiceError::Status { address: shown(address), status });
        }
        text.lines().for_each(|line| hosts.add(line, topic));
    }
    Ok(hosts)
}

/// An address for messages: without its query, which may hold a key.
fn shown(address: &str) -> String {
    address.split('?').next().unwrap_or(address).to_owned()
}

struct Http {
    client: Client,
    runtime: Runtime,
}

impl Http {
    fn new() -> Result<Self, ServiceError> {
        let away = |error: &dyn std::error::Error| ServiceError::Away {
            address: "the network".to_owned(),
            reason: error.to_string(),
        };
        // Fails if a provider is already installed, which is then used.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = Client::builder().connect_timeout(Duration::from_secs(10)).timeout(Duration::from_secs(60));
        // A redirect would take the key along, to wherever it leads.
        let client = client.redirect(reqwest::redirect::Policy::none());
        let client = client.user_agent(concat!("suidao/", env!("CARGO_PKG_VERSION"))).build();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        Ok(Self { client: client.map_err(|error| away(&error))?, runtime: runtime.map_err(|error| away(&error))? })
    }

    /// Status and body of an answer, a POST if there is a body to send.
    fn ask(
        &self,
        address: &str,
        body: Option<String>,
        key: Option<(&str, &str)>,
    ) -> Result<(u16, Vec<u8>), ServiceError> {
        let mut request = match body {
            Some(body) => self.client.post(address).header("content-type", "application/json").body(body),
            None => self.client.get(address),
        };
        if let Some((name, value)) = key {
            request = request.header(name, value);
        }
        let away = |error: reqwest::Error| {
            let reason = if error.is_timeout() { "timeout".to_owned() } else { error.without_url().to_string() };
            ServiceError::Away { address: shown(address), reason }
        };
        self.runtime.block_on(async {
            let mut answer = request.header("accept", "application/json").send().await.map_err(away)?;
            let mut text = Vec::new();
            while let Some(part) = answer.chunk().await.map_err(away)? {
                text.extend_from_slice(&part);
                if text.len() > ANSWER {
                    return Err(ServiceError::NotJson(shown(address)));
                }
            }
            Ok((answer.status().as_u16(), text))
        })
    }
}
