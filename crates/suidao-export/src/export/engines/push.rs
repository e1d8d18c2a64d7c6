//! Sends rows of the bulk API to an Elasticsearch or OpenSearch server in portions, with back-off. Rows are idempotent
//! (each document has its own id), so an interrupted push starts again from the first row.

use std::time::Duration;

use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, HeaderValue, RETRY_AFTER};
use reqwest::{Client, Method, Url};
use serde_json::Value;
use xxhash_rust::xxh3::xxh3_64;

/// Bytes of a portion; a larger row is sent alone.
const PORTION: usize = 4 << 20;
const FIRST_WAIT: Duration = Duration::from_millis(200);
const LONGEST_WAIT: Duration = Duration::from_secs(60);

/// Why a push ended early. No message contains a password.
#[derive(Debug, thiserror::Error)]
pub enum PushError {
    /// Invalid input, or the server rejects it permanently.
    #[error("{0}")]
    Refused(String),
    /// No progress within the patience; the same command may succeed later.
    #[error("{0}")]
    Unreachable(String),
}

use PushError::{Refused, Unreachable};

/// Address of an index: `http://host:9200/INDEX`, possibly with a path before it.
#[derive(Clone, Debug)]
pub struct PushTarget {
    base: Url,
    index: String,
    authorization: Option<HeaderValue>,
}

impl PushTarget {
    /// Parses the address of an index. `authorization`, or else name and password in the address, becomes a header.
    pub fn parse(text: &str, authorization: Option<&str>) -> Result<Self, PushError> {
        let wrong = || {
            let address = text.rsplit_once('@').map_or_else(|| text.to_owned(), |(_, after)| format!("...@{after}"));
            Refused(format!("--push {address}: not the URL of an index; write it as http://host:9200/INDEX"))
        };
        let decode = |text: &str| percent_encoding::percent_decode_str(text).decode_utf8_lossy().into_owned();
        let mut base = Url::parse(text).map_err(|_| wrong())?;
        let path = base.path().trim_end_matches('/').to_owned();
        let Some((before, index)) = path.rsplit_once('/') else { return Err(wrong()) };
        if index.is_empty() || !matches!(base.scheme(), "http" | "https") || base.query().is_some() {
            return Err(wrong());
        }
        let index = decode(index);
        if !super::es_bulk::is_index_name(&index) {
            return Err(Refused(format!(
                "--push: invalid index name {index:?}; use lower case without spaces and without \\ / * ? \" < > | , # :"
            )));
        }
        let own = (!base.username().is_empty()).then(|| {
            let pair = format!("{}:{}", decode(base.username()), decode(base.password().unwrap_or_default()));
            format!("Basic {}", data_encoding::BASE64.encode(pair.as_bytes()))
        });
        let authorization = authorization.map(str::to_owned).or(own).map(|value| HeaderValue::from_str(&value));
        let mut authorization = authorization.transpose().map_err(|_| {
            Refused("SUIDAO_PUSH_AUTHORIZATION contains characters that are not allowed in a header".to_owned())
        })?;
        authorization.iter_mut().for_each(|value| value.set_sensitive(true));
        base.set_path(&format!("{before}/"));
        // Neither fails for http and https.
        let _ = (base.set_username(""), base.set_password(None));
        Ok(Self { base, index, authorization })
    }

    pub fn index(&self) -> &str {
        &self.index
    }

    /// The address without name and password.
    pub fn address(&self) -> String {
        format!("{}{}", self.base, self.index)
    }

    /// A file name for the target, equal for equal addresses.
    pub fn name(&self) -> String {
        format!("push-{:016x}", xxh3_64(self.address().as_bytes()))
    }
}

pub struct Push {
    target: PushTarget,
    client: Client,
    runtime: tokio::runtime::Runtime,
    rows: usize,
    /// Longest time without progress, and the time so far.
    patience: Duration,
    waited: Duration,
    /// Ids of documents and their rows, and total bytes of the rows.
    waiting: Vec<(String, Vec<u8>)>,
    bytes: usize,
    rejected: Vec<(String, String)>,
}

impl Push {
    /// Begins a push; sends nothing yet. Fails if the HTTP client or its runtime cannot start.
    pub fn open(target: PushTarget, rows: usize, patience: Duration) -> Result<Self, PushError> {
        let away = |error: &dyn std::error::Error| {
            Unreachable(format!(
                "cannot start the HTTP client: {error}; close other programs and rerun the same command"
            ))
        };
        // Fails if a provider is already installed, which is then used.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = Client::builder().connect_timeout(Duration::from_secs(10)).timeout(Duration::from_secs(120));
        let client = client.user_agent(concat!("suidao/", env!("CARGO_PKG_VERSION"))).build();
        let client = client.map_err(|error| away(&error))?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| away(&error))?;
        let (waited, waiting, bytes, rejected) = (Duration::ZERO, Vec::new(), 0, Vec::new());
        Ok(Self { target, client, runtime, rows, patience, waited, waiting, bytes, rejected })
    }

    /// Creates the index from a template unless it exists; returns whether it was created.
    pub fn prepare(&mut self, template: &Value) -> Result<bool, PushError> {
        let index = self.target.index.clone();
        let is_there = (200..300).contains(&self.ask(Method::HEAD, &index, &[])?.0);
        if !is_there {
            let (status, text) = self.ask(Method::PUT, &index, template["template"].to_string().as_bytes())?;
            self.ensure_accepted(status, &text)?;
        }
        Ok(!is_there)
    }

    /// Adds the row of a document, and sends a portion when it is full. After an error earlier rows remain on the
    /// server.
    pub fn add(&mut self, id: String, bytes: Vec<u8>) -> Result<(), PushError> {
        if !self.waiting.is_empty() && (self.bytes + bytes.len() > PORTION || self.waiting.len() >= self.rows) {
            self.send()?;
        }
        self.bytes += bytes.len();
        self.waiting.push((id, bytes));
        Ok(())
    }

    /// Sends the rest; returns the ids of rejected documents with the reasons.
    pub fn finish(mut self) -> Result<Vec<(String, String)>, PushError> {
        self.send()?;
        Ok(self.rejected)
    }

    /// Sends the waiting rows until each is accepted or rejected; halves portions that are too large for the server.
    fn send(&mut self) -> Result<(), PushError> {
        self.bytes = 0;
        let mut stack = vec![std::mem::take(&mut self.waiting)];
        while let Some(mut rows) = stack.pop().filter(|rows| !rows.is_empty()) {
            let body = rows.iter().flat_map(|(_, row)| row).copied().collect::<Vec<u8>>();
            let (status, text) = self.ask(Method::POST, "_bulk", &body)?;
            if status == 413 && rows.len() > 1 {
                let rest = rows.split_off(rows.len() / 2);
                stack.extend([rest, rows]);
                continue;
            }
            let row_results = if status == 413 {
                Some(vec![RowResult::Rejected("larger than the server accepts (http.max_content_length)".to_owned())])
            } else {
                self.ensure_accepted(status, &text)?;
                row_results(&text, rows.len())
            };
            // A truncated answer proves nothing: all rows are sent again, which does no harm.
            let row_results = row_results.unwrap_or_else(|| rows.iter().map(|_| RowResult::Busy).collect());
            let (sent, mut busy) = (rows.len(), Vec::new());
            for (row, row_result) in rows.into_iter().zip(row_results) {
                match row_result {
                    RowResult::Taken => {}
                    RowResult::Busy => busy.push(row),
                    RowResult::Rejected(reason) => self.rejected.push((row.0, reason)),
                }
            }
            if busy.len() < sent {
                self.waited = Duration::ZERO;
            }
            if !busy.is_empty() {
                self.pause(None, "it is busy, or its response is truncated or not that of the bulk API")?;
                stack.push(busy);
            }
        }
        Ok(())
    }

    /// Sends one request, and repeats it while the server is busy or unreachable.
    fn ask(&mut self, method: Method, path: &str, body: &[u8]) -> Result<(u16, Vec<u8>), PushError> {
        let url = self.target.base.join(path).map_err(|error| Refused(error.to_string()))?;
        let media = if path == "_bulk" { "application/x-ndjson" } else { "application/json" };
        loop {
            let mut request = self.client.request(method.clone(), url.clone());
            if let Some(authorization) = &self.target.authorization {
                request = request.header(AUTHORIZATION, authorization);
            }
            if !body.is_empty() {
                request = request.header(CONTENT_TYPE, media).body(body.to_vec());
            }
            let answered = self.runtime.block_on(async {
                let answer = request.send().await?;
                let delay =
                    answer.headers().get(RETRY_AFTER).and_then(|after| after.to_str().ok()?.trim().parse().ok());
                // The body has the reason, even if it is truncated.
                Ok::<_, reqwest::Error>((answer.status().as_u16(), delay, answer.bytes().await.unwrap_or_default()))
            });
            let (delay, why) = match answered {
                Ok((401 | 403, ..)) => {
                    return Err(Refused(format!(
                        "{}: access denied; set SUIDAO_PUSH_AUTHORIZATION (such as \"ApiKey ...\" or \"Basic ...\")",
                        self.target.address()
                    )));
                }
                Ok((status @ (408 | 429 | 500 | 502 | 503 | 504), delay, _)) => (delay, format!("status {status}")),
                Ok((status, _, text)) => return Ok((status, text.to_vec())),
                Err(error) => (None, root_cause(&error.without_url())),
            };
            self.pause(delay.map(Duration::from_secs), &why)?;
        }
    }

    fn ensure_accepted(&self, status: u16, text: &[u8]) -> Result<(), PushError> {
        if (200..300).contains(&status) {
            return Ok(());
        }
        let text = String::from_utf8_lossy(text).split_whitespace().collect::<Vec<_>>().join(" ");
        let text: String = text.chars().take(300).collect();
        Err(Refused(format!("{}: answered {status}: {text}", self.target.address())))
    }

    /// Waits as long as the server asks, or twice the last wait, within the patience.
    #[allow(clippy::disallowed_methods, reason = "an edge: a server asks for time")]
    fn pause(&mut self, delay: Option<Duration>, why: &str) -> Result<(), PushError> {
        if self.waited >= self.patience {
            let (address, seconds) = (self.target.address(), self.patience.as_secs());
            return Err(Unreachable(format!(
                "{address}: no progress for {seconds} s ({why}); rerun the same command when the server is available"
            )));
        }
        if self.waited.is_zero() {
            let (address, seconds) = (self.target.address(), self.patience.as_secs());
            tracing::warn!("{address} accepts no rows now ({why}); retrying for up to {seconds} s");
        }
        let pause = delay.unwrap_or(self.waited).max(FIRST_WAIT).min(LONGEST_WAIT).min(self.patience - self.waited);
        std::thread::sleep(pause);
        self.waited += pause;
        Ok(())
    }
}

/// The last cause of an error, such as `connection refused`.
fn root_cause(error: &reqwest::Error) -> String {
    let first: &dyn std::error::Error = error;
    let last = std::iter::successors(Some(first), |error| error.source()).last().unwrap_or(first);
    last.downcast_ref::<std::io::Error>().map_or_else(|| last.to_string(), |error| error.kind().to_string())
}

#[derive(Debug, PartialEq)]
enum RowResult {
    Taken,
    Busy,
    Rejected(String),
}

/// The results of the rows in an answer of the bulk API; `None` if it is something else, or of another number of rows.
fn row_results(answer: &[u8], rows: usize) -> Option<Vec<RowResult>> {
    let answer: Value = serde_json::from_slice(answer).ok()?;
    let row_result = |item: &Value| {
        let (action, result) = item.as_object()?.iter().next()?;
        Some(match result["status"].as_u64()? {
            200..=299 => RowResult::Taken,
            // The document is already gone.
            404 if action == "delete" => RowResult::Taken,
            // 403: the server accepts no writes for now, as with a full disk.
            403 | 429 | 500..=599 => RowResult::Busy,
            status => {
                let reason = result["error"]["reason"].as_str().unwrap_or("no reason given");
                RowResult::Rejected(format!("{status}: {}", reason.chars().take(300).collect::<String>()))
            }
        })
    };
    let row_results: Vec<RowResult> = answer["items"].as_array()?.iter().map(row_result).collect::<Option<_>>()?;
    (row_results.len() == rows).then_some(row_results)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_names_an_index_and_shows_no_password() {
        let target = PushTarget::parse("https://me:s%40cret@search.example.cn:9200/es/ml/", None).unwrap();
        assert_eq!((target.index(), target.address().as_str()), ("ml", "https://search.example.cn:9200/es/ml"));
        assert_eq!(target.authorization.as_ref().unwrap(), "Basic bWU6c0BjcmV0");
        assert!(!format!("{target:?}").contains("bWU6"));
        let keyed = PushTarget::parse("http://localhost:9200/机器学习", Some("ApiKey x")).unwrap();
        assert_eq!((keyed.index(), keyed.authorization.as_ref().unwrap().to_str().unwrap()), ("机器学习", "ApiKey x"));
        for bad in ["ml", "http://h:9200", "http://h:9200/", "ftp://h/ml", "http://h/ml?x=1", "http://me:geheim@h/"] {
            let message = PushTarget::parse(bad, None).unwrap_err().to_string();
            assert!(message.contains("http://host:9200/INDEX") && !message.contains("geheim"), "{message}");
        }
        assert!(PushTarget::parse("http://h/ML", None).unwrap_err().to_string().contains("lower case"));
        assert!(PushTarget::parse("http://h/ml", Some("a\nb")).unwrap_err().to_string().contains("AUTHORIZATION"));
    }

    #[test]
    fn each_row_has_its_result() {
        let answer = br#"{"errors":true,"items":[{"index":{"_id":"a","status":201}},{"index":{"status":429,"error":{}}},
            {"delete":{"status":404}},{"index":{"status":400,"error":{"type":"x","reason":"no date"}}},{"index":{"status":404}}]}"#;
        let rejected = |reason: &str| RowResult::Rejected(reason.to_owned());
        let expected = [
            RowResult::Taken,
            RowResult::Busy,
            RowResult::Taken,
            rejected("400: no date"),
            rejected("404: no reason given"),
        ];
        assert_eq!(row_results(answer, 5).unwrap(), expected);
        assert_eq!(row_results(answer, 4), None);
        assert_eq!(row_results(b"<html>", 1), None);
        assert_eq!(row_results(br#"{"items":[{}]}"#, 1), None);
    }
}
