//! What went wrong with a request, as problem details (RFC 9457).

use std::fmt;

use serde_json::{Value, json};
use suidao_export::index::IndexError;
use suidao_page::messages::Lang;
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
    /// The message and its arguments, if it is in the table of messages.
    message: Option<(&'static str, Vec<String>)>,
}

impl Problem {
    pub(crate) fn new(status: u16, detail: impl fmt::Display) -> Self {
        Self { status, detail: detail.to_string(), parameter: None, message: None }
    }

    /// A problem that people meet on pages too: a message of the table, so that they read it in their language.
    pub fn said(key: &'static str, status: u16, arguments: &[&dyn fmt::Display]) -> Self {
        let texts = arguments.iter().map(ToString::to_string).collect();
        Self { message: Some((key, texts)), ..Self::new(status, Lang::English.text(key, arguments)) }
    }

    /// The same about a parameter or field.
    pub fn of(self, parameter: &str) -> Self {
        Self { parameter: Some(parameter.to_owned()), ..self }
    }

    /// The message in a language; `None` if there is only the detail, in English.
    pub fn message(&self, lang: Lang) -> Option<String> {
        let (key, texts) = self.message.as_ref()?;
        let arguments: Vec<&dyn fmt::Display> = texts.iter().map(|text| text as &dyn fmt::Display).collect();
        Some(lang.text(key, &arguments))
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
            StoreError::NoCrawl { .. } => Self::said("web-not-started", 409, &[]),
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
