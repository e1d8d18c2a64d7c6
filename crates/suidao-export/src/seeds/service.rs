//! How to query a search service, as data.

use std::collections::BTreeMap;

use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde::Deserialize;
use serde_json::Value;
use suidao_page::toml_error::line_and_message;

const SERVICES: &str = include_str!("services.toml");

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ServiceError {
    #[error("line {line}: {message}")]
    Syntax { line: usize, message: String },
    #[error("unknown search service {0}; give one of {names} or a file that describes it", names = Service::names().join(", "))]
    Unknown(String),
    #[error("neither url nor body contains {{query}} or {{query_json}}; add it where the query belongs")]
    NoQuery,
    #[error("the environment variable {0} is not set; set it to the service's key")]
    NoKey(String),
    #[error("the key header {0:?} or its key has characters that a request cannot carry; check key_header and the key")]
    Header(String),
    #[error("{address}: {reason}; give an http or https URL")]
    Address { address: String, reason: String },
    #[error("no answer from {address}: {reason}; check the address and the network")]
    Away { address: String, reason: String },
    #[error("{address} answered with status {status}; check the address, the key and the quota")]
    Status { address: String, status: u16 },
    #[error("{0} sent no JSON; check the address")]
    NotJson(String),
}

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Service {
    /// `{query}` is replaced by the query, percent-encoded.
    pub url: String,
    /// JSON to post, where `{query_json}` is replaced by the query as a JSON string; without it the request is a GET.
    pub body: Option<String>,
    pub key_header: Option<String>,
    /// Environment variable with the key.
    pub key_variable: Option<String>,
    /// Keys to the URLs in the answer, separated by dots; `*` means every element of a list.
    pub urls: String,
}

impl Service {
    fn known() -> BTreeMap<String, Self> {
        toml::from_str(SERVICES).expect("the file is part of the program")
    }

    pub fn names() -> Vec<String> {
        Self::known().into_keys().collect()
    }

    pub fn named(name: &str) -> Result<Self, ServiceError> {
        Self::known().remove(name).ok_or_else(|| ServiceError::Unknown(name.to_owned()))
    }

    /// Parses the description of another service.
    pub fn parse(text: &str) -> Result<Self, ServiceError> {
        let service: Self = toml::from_str(text).map_err(|error| {
            let (line, message) = line_and_message(text, &error);
            ServiceError::Syntax { line, message }
        })?;
        if service.url.contains("{query}") || service.body.as_ref().is_some_and(|body| body.contains("{query_json}")) {
            Ok(service)
        } else {
            Err(ServiceError::NoQuery)
        }
    }

    pub fn address(&self, query: &str) -> String {
        self.url.replace("{query}", &utf8_percent_encode(query, NON_ALPHANUMERIC).to_string())
    }

    pub fn body(&self, query: &str) -> Option<String> {
        let json = Value::from(query).to_string();
        self.body.as_ref().map(|body| body.replace("{query_json}", &json))
    }

    /// The URLs of an answer.
    pub fn urls_of<'a>(&self, answer: &'a Value) -> Vec<&'a str> {
        let mut values = vec![answer];
        for key in self.urls.split('.') {
            values = match key {
                "*" => values.into_iter().filter_map(Value::as_array).flatten().collect(),
                key => values.into_iter().filter_map(|value| value.get(key)).collect(),
            };
        }
        values.into_iter().filter_map(Value::as_str).collect()
    }
}
