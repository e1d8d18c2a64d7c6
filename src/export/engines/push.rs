//! Rows of the bulk API, sent to an Elasticsearch or OpenSearch server: in portions, with back-off, and so that a push
//! which was broken off goes on where the server's last acknowledgement left it.
//!
//! Apart from [`super::es_bulk`], which only writes rows, because here there is a network: servers that are busy (429, 503),
//! that take a part of a portion, that go away and come back. Rows are idempotent (a document is put under its own id), so
//! what was sent and not acknowledged is sent again.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, HeaderValue, RETRY_AFTER};
use reqwest::{Client, Method, Response, Url};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::store::StoreError;
use crate::store::directory::write_whole;

/// Bytes of a portion; a single larger row is sent alone.
const PORTION: usize = 4 << 20;
/// Rows of a portion.
const ROWS: usize = 1000;
/// The first wait after a refusal; each further one is twice as long.
const FIRST_WAIT: Duration = Duration::from_millis(200);
/// The longest wait, whatever the server asks for.
const LONGEST_WAIT: Duration = Duration::from_secs(60);

/// Where rows go: `http://host:9200/INDEX`, perhaps behind a path.
#[derive(Clone, Debug)]
pub struct Target {
    base: Url,
    index: String,
    authorization: Option<HeaderValue>,
}

/// Why a push ended before its goal. No message holds a password.
#[derive(Debug, thiserror::Error)]
pub enum PushError {
    /// The address is none.
    #[error("--push {0}: not the address of an index; write it as http://host:9200/INDEX")]
    Address(String),
    /// The index cannot have this name.
    #[error("--push: a server takes no index called {0:?}: lower case, and none of \\ / * ? \" < > | , # : or blanks")]
    Index(String),
    /// The environment's authorization cannot be a header.
    #[error("SUIDAO_PUSH_AUTHORIZATION holds characters that no header can have")]
    Authorization,
    /// The HTTP client does not start.
    #[error("the HTTP client does not start: {0}")]
    Client(#[source] reqwest::Error),
    /// The server wants to know who asks.
    #[error(
        "{server}: answered {status}: not allowed; set SUIDAO_PUSH_AUTHORIZATION (for instance \"ApiKey ...\" or \"Basic ...\")"
    )]
    Denied {
        /// Scheme, host and port.
        server: String,
        /// HTTP status.
        status: u16,
    },
    /// The server refuses what is asked, and would refuse it again.
    #[error("{server}: answered {status} to {what}: {said}")]
    Refused {
        /// Scheme, host and port.
        server: String,
        /// HTTP status.
        status: u16,
        /// What was asked.
        what: &'static str,
        /// What it said, shortened.
        said: String,
    },
    /// Nothing got through for as long as was to be waited.
    #[error(
        "{server}: no progress for {seconds} s ({why}); run the same command again to go on behind the {rows} rows that were taken"
    )]
    NoProgress {
        /// Scheme, host and port.
        server: String,
        /// How long was waited.
        seconds: u64,
        /// The last failure.
        why: String,
        /// Rows taken so far.
        rows: u64,
    },
    /// The state of the push cannot be kept.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl PushError {
    /// Whether the other side is at fault and not what the user gave: the same command may go on later.
    #[must_use]
    pub fn is_environment(&self) -> bool {
        match self {
            Self::NoProgress { .. } | Self::Client(_) => true,
            Self::Store(error) => error.is_environment(),
            _ => false,
        }
    }
}

impl Target {
    /// The index at an address; name and password in it become a header, and so does `authorization`, which goes first.
    ///
    /// # Errors
    /// [`PushError::Address`], [`PushError::Index`], [`PushError::Authorization`].
    pub fn parse(text: &str, authorization: Option<&str>) -> Result<Self, PushError> {
        let hidden = || match text.rsplit_once('@') {
            Some((_, behind)) => format!("...@{behind}"),
            None => text.to_owned(),
        };
        let mut base = Url::parse(text).map_err(|_| PushError::Address(hidden()))?;
        if !matches!(base.scheme(), "http" | "https") || base.cannot_be_a_base() || base.query().is_some() {
            return Err(PushError::Address(hidden()));
        }
        let path = base.path().trim_end_matches('/').to_owned();
        let (before, index) = path.rsplit_once('/').unwrap_or(("", ""));
        let index = percent_encoding::percent_decode_str(index).decode_utf8_lossy().into_owned();
        if index.is_empty() {
            return Err(PushError::Address(hidden()));
        }
        if !super::es_bulk::is_index_name(&index) {
            return Err(PushError::Index(index));
        }
        let own = (!base.username().is_empty()).then(|| {
            let decode = |text: &str| percent_encoding::percent_decode_str(text).decode_utf8_lossy().into_owned();
            let pair = format!("{}:{}", decode(base.username()), decode(base.password().unwrap_or_default()));
            format!("Basic {}", data_encoding::BASE64.encode(pair.as_bytes()))
        });
        let authorization = authorization.map(str::to_owned).or(own).map(|value| -> Result<HeaderValue, PushError> {
            let mut value = HeaderValue::from_str(&value).map_err(|_| PushError::Authorization)?;
            value.set_sensitive(true);
            Ok(value)
        });
        base.set_path(&format!("{before}/"));
        // Neither fails for http and https.
        let _ = (base.set_username(""), base.set_password(None));
        Ok(Self { base, index, authorization: authorization.transpose()? })
    }

    /// Name of the index.
    #[must_use]
    pub fn index(&self) -> &str {
        &self.index
    }

    /// The address without name and password.
    #[must_use]
    pub fn shown(&self) -> String {
        format!("{}{}", self.base, self.index)
    }

    fn server(&self) -> String {
        self.base.origin().ascii_serialization()
    }
}

/// How far a push has come, on disk: what it is a push of, and the rows taken.
#[derive(Serialize, Deserialize)]
struct Progress {
    of: String,
    rows: u64,
}

/// What a push did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pushed {
    /// Rows taken, those of earlier runs included.
    pub rows: u64,
    /// Rows the server will never take.
    pub rejected: u64,
    /// What it said of the first of them.
    pub reason: Option<String>,
}

/// A row that waits: the id it is of, and its bytes.
struct Row {
    id: String,
    bytes: Vec<u8>,
}

/// A push under way.
pub struct Push {
    target: Target,
    client: Client,
    runtime: tokio::runtime::Runtime,
    /// How long to wait without progress.
    patience: Duration,
    state: PathBuf,
    rejects: PathBuf,
    of: String,
    waiting: Vec<Row>,
    bytes: usize,
    done: Pushed,
}

impl Push {
    /// Begins a push of what `of` tells from every other, or goes on with one that was broken off ([`Push::done`]). State
    /// lies in `state` (a file), ids of rows that were rejected in `rejects`.
    ///
    /// # Errors
    /// [`PushError::Client`]; [`PushError::Store`] if the state does not read.
    pub fn open(target: Target, of: &str, state: &Path, rejects: &Path, patience: Duration) -> Result<Self, PushError> {
        let client = Client::builder().connect_timeout(Duration::from_secs(10)).timeout(Duration::from_secs(120));
        let client =
            client.user_agent(concat!("suidao/", env!("CARGO_PKG_VERSION"))).build().map_err(PushError::Client)?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(StoreError::io(state, "start the network for"))?;
        let mut done = Pushed::default();
        if let Ok(text) = fs::read(state)
            && let Ok(progress) = serde_json::from_slice::<Progress>(&text)
            && progress.of == of
        {
            done.rows = progress.rows;
        }
        let (state, rejects) = (state.to_owned(), rejects.to_owned());
        Ok(Self {
            target,
            client,
            runtime,
            patience,
            state,
            rejects,
            of: of.to_owned(),
            waiting: Vec::new(),
            bytes: 0,
            done,
        })
    }

    /// Rows that need not be added again.
    #[must_use]
    pub fn done(&self) -> u64 {
        self.done.rows
    }

    /// Puts the index template, unless there is such an index already: its own settings then stand.
    ///
    /// # Errors
    /// As [`Push::add`].
    pub fn template(&mut self, template: &Value) -> Result<(), PushError> {
        let index = self.target.index.clone();
        let there = self.persist("whether there is the index", Method::HEAD, &index, None)?;
        if there.status().is_success() {
            return Ok(());
        }
        let path = format!("_index_template/suidao-{index}");
        let body = template.to_string().into_bytes();
        let answer = self.persist("the index template", Method::PUT, &path, Some((body, "application/json")))?;
        if answer.status().is_success() { Ok(()) } else { Err(self.refused("the index template", answer)) }
    }

    /// Adds the row of a document; sends when enough wait.
    ///
    /// # Errors
    /// [`PushError::Denied`], [`PushError::Refused`] or [`PushError::NoProgress`]; what was taken before stays taken.
    pub fn add(&mut self, id: String, bytes: Vec<u8>) -> Result<(), PushError> {
        if !self.waiting.is_empty() && (self.bytes + bytes.len() > PORTION || self.waiting.len() >= ROWS) {
            self.send()?;
        }
        self.bytes += bytes.len();
        self.waiting.push(Row { id, bytes });
        Ok(())
    }

    /// Sends what waits, and forgets how far it had come.
    ///
    /// # Errors
    /// As [`Push::add`].
    pub fn finish(mut self) -> Result<Pushed, PushError> {
        self.send()?;
        match fs::remove_file(&self.state) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                Err(StoreError::io(&self.state, "remove it")(error).into())
            }
            _ => Ok(self.done),
        }
    }

    fn send(&mut self) -> Result<(), PushError> {
        let rows = std::mem::take(&mut self.waiting);
        self.bytes = 0;
        if rows.is_empty() {
            return Ok(());
        }
        let sent = rows.len() as u64;
        self.deliver(rows)?;
        self.done.rows += sent;
        let progress = Progress { of: self.of.clone(), rows: self.done.rows };
        write_whole(&self.state, |out| Ok(serde_json::to_writer(out, &progress)?))?;
        Ok(())
    }

    /// Sends rows until each is taken or rejected. Halves are sent where the whole is too large for the server.
    fn deliver(&mut self, rows: Vec<Row>) -> Result<(), PushError> {
        let mut stack = vec![rows];
        while let Some(mut rows) = stack.pop() {
            let mut wait = Wait::new(self.patience);
            while !rows.is_empty() {
                let body: Vec<u8> = rows.iter().flat_map(|row| row.bytes.iter().copied()).collect();
                let answer = self.persist("a portion", Method::POST, "_bulk", Some((body, "application/x-ndjson")))?;
                let status = answer.status().as_u16();
                if status == 413 && rows.len() > 1 {
                    let rest = rows.split_off(rows.len() / 2);
                    stack.push(rest);
                    continue;
                }
                if status == 413 {
                    self.reject(&rows[0].id, "larger than the server takes (http.max_content_length)")?;
                    break;
                }
                if !answer.status().is_success() {
                    return Err(self.refused("a portion", answer));
                }
                let asked = retry_after(&answer);
                let text = self.runtime.block_on(answer.bytes());
                let Some(verdicts) = text.ok().and_then(|text| verdicts(&text, rows.len())) else {
                    // Broken off on the way: what was taken is put again, and nothing is lost.
                    self.pause(&mut wait, None, "its answer broke off or is not the bulk API's")?;
                    continue;
                };
                let mut busy = Vec::new();
                let before = rows.len();
                for (row, verdict) in rows.into_iter().zip(verdicts) {
                    match verdict {
                        Verdict::Taken => {}
                        Verdict::Busy => busy.push(row),
                        Verdict::Rejected(reason) => self.reject(&row.id, &reason)?,
                    }
                }
                if busy.len() < before {
                    wait = Wait::new(self.patience);
                }
                rows = busy;
                if !rows.is_empty() {
                    self.pause(&mut wait, asked, "it is busy")?;
                }
            }
        }
        Ok(())
    }

    /// One request, again and again while the server is busy or away; the answer's status may be any but those.
    fn persist(
        &self,
        what: &'static str,
        method: Method,
        path: &str,
        body: Option<(Vec<u8>, &'static str)>,
    ) -> Result<Response, PushError> {
        let url = self.target.base.join(path).map_err(|_| PushError::Address(self.target.shown()))?;
        let mut wait = Wait::new(self.patience);
        loop {
            let mut request = self.client.request(method.clone(), url.clone());
            if let Some(authorization) = &self.target.authorization {
                request = request.header(AUTHORIZATION, authorization);
            }
            if let Some((body, media)) = &body {
                request = request.header(CONTENT_TYPE, *media).body(body.clone());
            }
            let (asked, why) = match self.runtime.block_on(request.send()) {
                Ok(answer) => match answer.status().as_u16() {
                    status @ (401 | 403) => return Err(PushError::Denied { server: self.target.server(), status }),
                    408 | 429 | 500 | 502 | 503 | 504 => {
                        (retry_after(&answer), format!("answered {} to {what}", answer.status().as_u16()))
                    }
                    _ => return Ok(answer),
                },
                Err(error) => {
                    let error = error.without_url();
                    let cause = std::error::Error::source(&error).map(|cause| format!(": {cause}"));
                    (None, format!("{error}{}", cause.unwrap_or_default()))
                }
            };
            self.pause(&mut wait, asked, &why)?;
        }
    }

    /// Waits as long as is fit, unless that has gone on too long.
    #[allow(clippy::disallowed_methods, reason = "an edge: a server asks for time")]
    fn pause(&self, wait: &mut Wait, asked: Option<Duration>, why: &str) -> Result<(), PushError> {
        match wait.next(asked) {
            Some(pause) => {
                tracing::debug!("{}: {why}; again in {} ms", self.target.server(), pause.as_millis());
                std::thread::sleep(pause);
                Ok(())
            }
            None => Err(PushError::NoProgress {
                server: self.target.server(),
                seconds: wait.waited.as_secs(),
                why: why.to_owned(),
                rows: self.done.rows,
            }),
        }
    }

    fn refused(&self, what: &'static str, answer: Response) -> PushError {
        let status = answer.status().as_u16();
        let said = self.runtime.block_on(answer.text()).unwrap_or_default();
        let said = said.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(300).collect();
        PushError::Refused { server: self.target.server(), status, what, said }
    }

    fn reject(&mut self, id: &str, reason: &str) -> Result<(), PushError> {
        self.done.rejected += 1;
        self.done.reason.get_or_insert_with(|| reason.to_owned());
        let line = serde_json::json!({ "id": id, "reason": reason }).to_string() + "\n";
        let file = OpenOptions::new().create(true).append(true).open(&self.rejects);
        let written = file.and_then(|mut file| file.write_all(line.as_bytes()));
        Ok(written.map_err(StoreError::io(&self.rejects, "write it"))?)
    }
}

/// What became of a row.
#[derive(Debug, PartialEq)]
enum Verdict {
    Taken,
    Busy,
    Rejected(String),
}

/// The verdicts in an answer of the bulk API; none if it is not one, or not of so many rows.
fn verdicts(answer: &[u8], rows: usize) -> Option<Vec<Verdict>> {
    let answer: Value = serde_json::from_slice(answer).ok()?;
    let items = answer.get("items")?.as_array()?;
    let verdict = |item: &Value| {
        let (action, result) = item.as_object()?.iter().next()?;
        let status = result.get("status")?.as_u64()?;
        Some(match status {
            200..=299 => Verdict::Taken,
            // What is to be gone is gone.
            404 if action == "delete" => Verdict::Taken,
            429 | 502 | 503 | 504 => Verdict::Busy,
            _ => {
                let error = result.get("error");
                let part = |name: &str| error.and_then(|error| error.get(name)).and_then(Value::as_str);
                let reason = part("reason").or(part("type")).unwrap_or("no reason given");
                Verdict::Rejected(format!("{status}: {}", reason.chars().take(300).collect::<String>()))
            }
        })
    };
    let verdicts: Vec<Verdict> = items.iter().map(verdict).collect::<Option<_>>()?;
    (verdicts.len() == rows).then_some(verdicts)
}

fn retry_after(answer: &Response) -> Option<Duration> {
    let seconds = answer.headers().get(RETRY_AFTER)?.to_str().ok()?.trim().parse().ok()?;
    Some(Duration::from_secs(seconds))
}

/// Waits that grow, until patience ends.
struct Wait {
    next: Duration,
    waited: Duration,
    patience: Duration,
}

impl Wait {
    fn new(patience: Duration) -> Self {
        Self { next: FIRST_WAIT.min(patience), waited: Duration::ZERO, patience }
    }

    /// How long to wait now: as long as the server asked for, within bounds; none when patience has ended.
    fn next(&mut self, asked: Option<Duration>) -> Option<Duration> {
        if self.waited >= self.patience {
            return None;
        }
        let pause = asked.unwrap_or(self.next).max(Duration::from_millis(10)).min(LONGEST_WAIT);
        let pause = pause.min(self.patience - self.waited);
        self.next = (self.next * 2).min(LONGEST_WAIT);
        self.waited += pause;
        Some(pause)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_names_an_index_and_shows_no_password() {
        let target = Target::parse("https://me:s%40cret@search.example.cn:9200/es/ml/", None).unwrap();
        assert_eq!((target.index(), target.shown().as_str()), ("ml", "https://search.example.cn:9200/es/ml"));
        assert_eq!(target.authorization.as_ref().unwrap(), "Basic bWU6c0BjcmV0");
        assert!(!format!("{target:?}").contains("bWU6"));
        let keyed = Target::parse("http://localhost:9200/机器学习", Some("ApiKey x")).unwrap();
        assert_eq!((keyed.index(), keyed.authorization.as_ref().unwrap().to_str().unwrap()), ("机器学习", "ApiKey x"));
        for bad in ["ml", "http://h:9200", "http://h:9200/", "ftp://h/ml", "http://h/ml?x=1", "http://me:geheim@h/"] {
            let message = Target::parse(bad, None).unwrap_err().to_string();
            assert!(message.contains("http://host:9200/INDEX") && !message.contains("geheim"), "{message}");
        }
        assert!(matches!(Target::parse("http://h/ML", None), Err(PushError::Index(_))));
        assert!(matches!(Target::parse("http://h/ml", Some("a\nb")), Err(PushError::Authorization)));
    }

    #[test]
    fn each_row_has_its_verdict() {
        let answer = br#"{"errors":true,"items":[{"index":{"_id":"a","status":201}},{"index":{"status":429,"error":{}}},
            {"delete":{"status":404}},{"index":{"status":400,"error":{"type":"x","reason":"no date"}}},{"index":{"status":404}}]}"#;
        let rejected = |reason: &str| Verdict::Rejected(reason.to_owned());
        let expected =
            [Verdict::Taken, Verdict::Busy, Verdict::Taken, rejected("400: no date"), rejected("404: no reason given")];
        assert_eq!(verdicts(answer, 5).unwrap(), expected);
        assert_eq!(verdicts(answer, 4), None);
        assert_eq!(verdicts(b"<html>", 1), None);
        assert_eq!(verdicts(br#"{"items":[{}]}"#, 1), None);
    }

    #[test]
    fn waits_grow_and_end() {
        let mut wait = Wait::new(Duration::from_secs(2));
        let waits: Vec<u128> = std::iter::from_fn(|| wait.next(None)).map(|pause| pause.as_millis()).collect();
        assert_eq!(waits, [200, 400, 800, 600]);
        let mut asked = Wait::new(Duration::from_secs(100));
        assert_eq!(asked.next(Some(Duration::from_secs(7))), Some(Duration::from_secs(7)));
        assert_eq!(asked.next(Some(Duration::from_secs(1000))), Some(LONGEST_WAIT));
        assert_eq!(Wait::new(Duration::ZERO).next(None), None);
    }
}
