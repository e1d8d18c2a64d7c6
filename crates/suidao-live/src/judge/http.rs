//! Asks a server in OpenAI's form.

use std::time::Duration;

use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, HeaderValue};
use reqwest::{Client, redirect};
use serde_json::{Value, json};

use super::answer::{self, Answer};
use super::{JudgeError, JudgeFailure, JudgeSettings};

/// Largest answer, in bytes.
pub(super) const MAX_ANSWER: usize = 1 << 20;

/// A server, and how it is asked.
#[derive(Clone)]
pub(super) struct Server {
    client: Client,
    url: String,
    model: String,
    key: Option<HeaderValue>,
    chat: bool,
}

impl Server {
    /// Redirects are not followed, so texts and key go to this URL only.
    pub(super) fn new(settings: &JudgeSettings, url: &str) -> Result<Self, JudgeError> {
        // Fails if a provider is already installed, which is then used.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let builder = Client::builder().no_proxy().redirect(redirect::Policy::none());
        let client = builder.timeout(Duration::from_secs_f64(settings.timeout)).build();
        let key = settings.key_env.as_ref().map(|name| {
            let key = std::env::var(name).ok().and_then(|key| HeaderValue::from_str(&format!("Bearer {key}")).ok());
            let mut key = key.ok_or_else(|| JudgeError::Key(name.clone()))?;
            key.set_sensitive(true);
            Ok(key)
        });
        Ok(Self {
            client: client.map_err(|error| JudgeError::Client(std::io::Error::other(error)))?,
            url: url.to_owned(),
            model: settings.model.clone(),
            key: key.transpose()?,
            chat: settings.is_chat(),
        })
    }

    /// The answers to these texts, which are whole questions for chat.
    pub(super) async fn ask(&self, texts: &[String]) -> Vec<Result<Answer, JudgeFailure>> {
        if !self.chat {
            let body = json!({ "model": self.model, "input": texts });
            return match self.post(&body).await {
                Ok(body) => answer::embeddings(&body, texts.len()),
                Err(failure) => vec![Err(failure); texts.len()],
            };
        }
        let mut answers = Vec::with_capacity(texts.len());
        for text in texts {
            let message = json!({ "role": "user", "content": text });
            let body = json!({ "model": self.model, "temperature": 0, "messages": [message] });
            answers.push(self.post(&body).await.and_then(|body| answer::completion(&body)));
        }
        answers
    }

    async fn post(&self, body: &Value) -> Result<Vec<u8>, JudgeFailure> {
        let request = self.client.post(&self.url).header(CONTENT_TYPE, "application/json").body(body.to_string());
        let request = match &self.key {
            Some(key) => request.header(AUTHORIZATION, key.clone()),
            None => request,
        };
        let failure = |error: &reqwest::Error| match () {
            () if error.is_timeout() => JudgeFailure::Timeout,
            () if error.is_body() || error.is_decode() => JudgeFailure::Incomplete,
            () => JudgeFailure::Died,
        };
        let mut response = request.send().await.map_err(|error| failure(&error))?;
        if response.status() != 200 {
            return Err(JudgeFailure::Status);
        }
        let mut body = Vec::new();
        while let Some(part) = response.chunk().await.map_err(|error| failure(&error))? {
            if body.len() + part.len() > MAX_ANSWER {
                return Err(JudgeFailure::TooLarge);
            }
            body.extend_from_slice(&part);
        }
        Ok(body)
    }
}
