//! What went wrong with a request, as problem details (RFC 9457).

use std::fmt;

use serde_json::{Value, json};
use suidao_export::index::IndexError;
use suidao_store::store::StoreError;

/// A request that cannot be answered as wanted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{detail}")]
pub struct Problem {
    /// HTTP status.
    pub status: u16,
    /// What happened and what to do, in a sentence.
    pub detail: String,
    /// The parameter or field that is wrong.
    pub parameter: Option<String>,
}

impl Problem {
    fn new(status: u16, detail: impl fmt::Display) -> Self {
        Self { status, detail: detail.to_string(), parameter: None }
    }

    /// A parameter or field is wrong.
    pub fn parameter(name: &str, detail: impl fmt::Display) -> Self {
        Self { parameter: Some(name.to_owned()), ..Self::new(400, detail) }
    }

    pub fn bad(detail: impl fmt::Display) -> Self {
        Self::new(400, detail)
    }

    pub fn forbidden(detail: impl fmt::Display) -> Self {
        Self::new(403, detail)
    }

    pub fn missing(detail: impl fmt::Display) -> Self {
        Self::new(404, detail)
    }

    /// The state of the crawl does not permit it.
    pub fn conflict(detail: impl fmt::Display) -> Self {
        Self::new(409, detail)
    }

    /// A limit of the service is reached; the same request may work later.
    pub fn busy(detail: impl fmt::Display) -> Self {
        Self::new(503, detail)
    }

    pub fn internal(detail: impl fmt::Display) -> Self {
        Self::new(500, detail)
    }

    /// The phrase of the status.
    pub fn title(&self) -> &'static str {
        match self.status {
            400 => "Bad Request",
            401 => "Unauthorized",
            403 => "Forbidden",
            404 => "Not Found",
            405 => "Method Not Allowed",
            406 => "Not Acceptable",
            408 => "Request Timeout",
            409 => "Conflict",
            413 => "Content Too Large",
            421 => "Misdirected Request",
            503 => "Service Unavailable",
            _ => "Internal Server Error",
        }
    }

    pub fn json(&self) -> Value {
        let mut json =
            json!({ "type": "about:blank", "title": self.title(), "status": self.status, "detail": self.detail });
        if let Some(parameter) = &self.parameter {
            json["parameter"] = parameter.as_str().into();
        }
        json
    }
}

impl From<StoreError> for Problem {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::NoCrawl { .. } => Self::conflict("the crawl has not been started yet; start it first"),
            StoreError::InUse { .. } | StoreError::OtherFormat { .. } => Self::conflict(error),
            error => Self::internal(error),
        }
    }
}

impl From<IndexError> for Problem {
    fn from(error: IndexError) -> Self {
        match error {
            IndexError::Store(error) => error.into(),
            error => Self::internal(error),
        }
    }
}
