//! Rows of the bulk API, sent to an Elasticsearch or OpenSearch server: in portions, with back-off, and so that a push
//! which was broken off goes on where the server's last acknowledgement left it.
//!
//! Rows are idempotent (a document is put under its own id), so what was sent and not acknowledged is sent again.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, RETRY_AFTER};
use reqwest::{Client, Method, Response};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::target::Target;
use super::verdict::{Verdict, Wait, verdicts};
use suidao_store::store::directory::write_own;
use suidao_store::store::{StoreError, own};

/// Bytes of a portion; a single larger row is sent alone.
const PORTION: usize = 4 << 20;

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
    pub fn is_environment(&self) -> bool {
        match self {
            Self::NoProgress { .. } | Self::Client(_) => true,
            Self::Store(error) => error.is_environment(),
            _ => false,
        }
    }
}

/// How far a push has come, on disk: what it is a push of, and the rows taken.
#[derive(Serialize, Deserialize)]
struct Progress {
    of: String,
    done: Pushed,
}

/// What a push did.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pushed {
    /// Rows taken, those of earlier runs included.
    pub rows: u64,
    /// Rows the server will never take.
    pub rejected: u64,
    /// What it said of the first of them.
    pub reason: Option<String>,
}

/// How a server is treated.
#[derive(Clone, Copy, Debug)]
pub struct Terms {
    /// Rows of one request, at least 1.
    pub rows: usize,
    /// How long to wait without progress.
    pub patience: Duration,
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
    terms: Terms,
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
    pub fn open(target: Target, of: &str, state: &Path, rejects: &Path, terms: Terms) -> Result<Self, PushError> {
        let client = Client::builder().connect_timeout(Duration::from_secs(10)).timeout(Duration::from_secs(120));
        let client =
            client.user_agent(concat!("suidao/", env!("CARGO_PKG_VERSION"))).build().map_err(PushError::Client)?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(StoreError::io(state, "start the network for"))?;
        let former = own::read(state, own::SMALL).ok().and_then(|text| serde_json::from_slice::<Progress>(&text).ok());
        let done = match former.filter(|progress| progress.of == of) {
            Some(progress) => progress.done,
            None => {
                // What another push had rejected says nothing of this one.
                if rejects.exists() {
                    fs::remove_file(rejects).map_err(StoreError::io(rejects, "remove it"))?;
                }
                Pushed::default()
            }
        };
        let (state, rejects) = (state.to_owned(), rejects.to_owned());
        Ok(Self {
            target,
            client,
            runtime,
            terms,
            state,
            rejects,
            of: of.to_owned(),
            waiting: Vec::new(),
            bytes: 0,
            done,
        })
    }

    /// Rows that need not be added again.
    pub fn done(&self) -> u64 {
        self.done.rows
    }

    /// Makes the index with the settings and mappings of a template, unless it is there: its own then stand. Where it was
    /// not there, no row is there either, whatever was sent before; the answer says whether it was made.
    ///
    /// # Errors
    /// As [`Push::add`].
    pub fn prepare(&mut self, template: &Value) -> Result<bool, PushError> {
        let index = self.target.index().to_owned();
        let there = self.persist("whether there is the index", Method::HEAD, &index, None)?;
        if there.status().is_success() {
            return Ok(false);
        }
        let body = template["template"].to_string().into_bytes();
        let answer = self.persist("making the index", Method::PUT, &index, Some((body, "application/json")))?;
        if !answer.status().is_success() {
            return Err(self.refused("making the index", answer));
        }
        self.done = Pushed::default();
        Ok(true)
    }

    /// Adds the row of a document; sends when enough wait.
    ///
    /// # Errors
    /// [`PushError::Denied`], [`PushError::Refused`] or [`PushError::NoProgress`]; what was taken before stays taken.
    pub fn add(&mut self, id: String, bytes: Vec<u8>) -> Result<(), PushError> {
        if !self.waiting.is_empty() && (self.bytes + bytes.len() > PORTION || self.waiting.len() >= self.terms.rows) {
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
        let progress = Progress { of: self.of.clone(), done: self.done.clone() };
        write_own(&self.state, |out| Ok(serde_json::to_writer(out, &progress)?))?;
        Ok(())
    }

    /// Sends rows until each is taken or rejected. Halves are sent where the whole is too large for the server.
    fn deliver(&mut self, rows: Vec<Row>) -> Result<(), PushError> {
        let mut stack = vec![rows];
        while let Some(mut rows) = stack.pop() {
            let mut wait = Wait::new(self.terms.patience);
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
                let text = self.runtime.block_on(async { answer.bytes().await });
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
                    wait = Wait::new(self.terms.patience);
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
        let mut wait = Wait::new(self.terms.patience);
        loop {
            let mut request = self.client.request(method.clone(), url.clone());
            if let Some(authorization) = &self.target.authorization {
                request = request.header(AUTHORIZATION, authorization);
            }
            if let Some((body, media)) = &body {
                request = request.header(CONTENT_TYPE, *media).body(body.clone());
            }
            let (asked, why) = match self.runtime.block_on(async { request.send().await }) {
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
        let said = self.runtime.block_on(async { answer.text().await }).unwrap_or_default();
        let said = said.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(300).collect();
        PushError::Refused { server: self.target.server(), status, what, said }
    }

    fn reject(&mut self, id: &str, reason: &str) -> Result<(), PushError> {
        self.done.rejected += 1;
        self.done.reason.get_or_insert_with(|| reason.to_owned());
        let line = serde_json::json!({ "id": id, "reason": reason }).to_string() + "\n";
        let mut file = own::open(&self.rejects, OpenOptions::new().create(true).append(true))?;
        Ok(file.write_all(line.as_bytes()).map_err(StoreError::io(&self.rejects, "write it"))?)
    }
}

fn retry_after(answer: &Response) -> Option<Duration> {
    let seconds = answer.headers().get(RETRY_AFTER)?.to_str().ok()?.trim().parse().ok()?;
    Some(Duration::from_secs(seconds))
}
