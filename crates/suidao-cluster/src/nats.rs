//! The NATS server, with JetStream. A crawl NAME has four streams:
//!
//! | stream | subjects | keeps |
//! |---|---|---|
//! | `suidao-NAME-state` | `suidao.NAME.state.KEY` | the last value of each key: description, owners, leases, status, learnt sums |
//! | `suidao-NAME-sessions` | `suidao.NAME.session.WORKER.ID` | a heartbeat of each worker, for [`SESSION`] |
//! | `suidao-NAME-log` | `suidao.NAME.log.PARTITION` | the events of each partition since its last checkpoint |
//! | `suidao-NAME-links` | `suidao.NAME.links.PARTITION` | links and seeds for a partition, until they are in its log |

use std::time::Duration;

use async_nats::jetstream::context::{CreateStreamErrorKind, GetStreamErrorKind, PublishErrorKind};
use async_nats::jetstream::stream::{Config, DiscardPolicy, LastRawMessageErrorKind, StorageType, Stream};
use async_nats::jetstream::{self, Context, ErrorCode};
use async_nats::{ConnectErrorKind, ConnectOptions};
use bytes::Bytes;
use futures_util::TryStreamExt;
use serde::Serialize;
use serde::de::DeserializeOwned;
use suidao_page::model::Millis;

use crate::context::NatsContext;
use crate::error::{ClusterError, OLDEST};

/// A worker without a heartbeat for this time is gone.
pub(crate) const SESSION: Duration = Duration::from_secs(2);
/// Bytes of a message left for its headers.
pub(crate) const HEADERS: usize = 1_024;
/// How long the server may take to answer.
const ANSWER: Duration = Duration::from_secs(5);

/// A connection to the server.
#[derive(Clone)]
pub struct NatsConnection {
    context: Context,
    urls: String,
}

/// The streams of a crawl.
#[derive(Clone)]
pub(crate) struct Streams {
    pub connection: NatsConnection,
    pub name: String,
    pub state: Stream,
    pub sessions: Stream,
    pub log: Stream,
    pub links: Stream,
}

const PARTS: [&str; 4] = ["state", "sessions", "log", "links"];

impl NatsConnection {
    /// Connects to one of the servers that were given, as URLs separated by commas or as the file of a context.
    ///
    /// # Errors
    /// [`ClusterError`]: the URL or the file is wrong, no server answers, it refuses the login, is too old, or has no
    /// JetStream.
    pub async fn connect(given: &str) -> Result<Self, ClusterError> {
        let context = NatsContext::read(given)?;
        let urls = context.urls.clone();
        // Another crate of a build may bring a second one, such as spider; then none is chosen by itself.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let options = ConnectOptions::new().name("suidao").connection_timeout(ANSWER).request_timeout(Some(ANSWER));
        let client = context.log_in(options).connect(context.addresses).await.map_err(|error| match error.kind() {
            ConnectErrorKind::Authentication | ConnectErrorKind::AuthorizationViolation => {
                ClusterError::Login { urls: urls.clone() }
            }
            _ => ClusterError::Connect { urls: urls.clone(), reason: error.to_string() },
        })?;
        let found = client.server_info().version;
        let mut numbers = found.split('.').map(|part| part.parse::<u64>().unwrap_or(0));
        if (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0)) < OLDEST {
            return Err(ClusterError::TooOld { urls, found });
        }
        let context = jetstream::new(client);
        let connection = Self { context, urls };
        // Any stream will do; the account's limits are in a form that 2.9 does not have.
        match connection.find("none", "state").await {
            Ok(_) => Ok(connection),
            Err(error) => {
                tracing::debug!("{error}");
                Err(ClusterError::NoJetStream { urls: connection.urls })
            }
        }
    }

    /// The servers, without passwords.
    pub fn urls(&self) -> &str {
        &self.urls
    }

    /// Maximum bytes of a message.
    pub(crate) fn max_payload(&self) -> usize {
        self.context.client().max_payload()
    }

    /// Creates the streams of a crawl; each message is stored on `replicas` servers.
    pub(crate) async fn create(&self, name: &str, replicas: usize) -> Result<Streams, ClusterError> {
        if self.find(name, "state").await?.is_some() {
            return Err(ClusterError::Exists(name.to_owned()));
        }
        let created = self.create_streams(name, replicas).await;
        // Another process may be creating it at this moment.
        if !matches!(created, Ok(_) | Err(ClusterError::Exists(_))) {
            // The first error counts.
            let _ = self.delete(name).await;
        }
        created
    }

    async fn create_streams(&self, name: &str, replicas: usize) -> Result<Streams, ClusterError> {
        let plain = |part: &str| Config {
            name: stream_name(name, part),
            subjects: vec![format!("suidao.{name}.{}.>", if part == "sessions" { "session" } else { part })],
            storage: StorageType::File,
            discard: DiscardPolicy::New,
            num_replicas: replicas,
            allow_direct: true,
            ..Config::default()
        };
        let last = |config: Config| Config { max_messages_per_subject: 1, discard: DiscardPolicy::Old, ..config };
        let create = async |config: Config| {
            self.context.create_stream(config).await.map_err(|error| match error.kind() {
                CreateStreamErrorKind::JetStream(why)
                    if why.error_code() == ErrorCode::STREAM_REPLICAS_NOT_SUPPORTED =>
                {
                    ClusterError::Replicas(replicas)
                }
                CreateStreamErrorKind::JetStream(why) if why.error_code() == ErrorCode::STREAM_NAME_EXIST => {
                    ClusterError::Exists(name.to_owned())
                }
                _ => ClusterError::nats("create a stream")(error),
            })
        };
        Ok(Streams {
            sessions: create(Config { max_age: SESSION, ..last(plain("sessions")) }).await?,
            log: create(plain("log")).await?,
            links: create(plain("links")).await?,
            // The last: with it the crawl exists.
            state: create(last(plain("state"))).await?,
            connection: self.clone(),
            name: name.to_owned(),
        })
    }

    /// The streams of a crawl.
    ///
    /// # Errors
    /// [`ClusterError::Missing`], [`ClusterError::Nats`].
    pub(crate) async fn open(&self, name: &str) -> Result<Streams, ClusterError> {
        let missing = || ClusterError::Missing(name.to_owned());
        let [state, sessions, log, links] = PARTS.map(|part| self.find(name, part));
        Ok(Streams {
            state: state.await?.ok_or_else(missing)?,
            sessions: sessions.await?.ok_or_else(missing)?,
            log: log.await?.ok_or_else(missing)?,
            links: links.await?.ok_or_else(missing)?,
            connection: self.clone(),
            name: name.to_owned(),
        })
    }

    async fn find(&self, name: &str, part: &str) -> Result<Option<Stream>, ClusterError> {
        match self.context.get_stream(stream_name(name, part)).await {
            Ok(stream) => Ok(Some(stream)),
            Err(error) => match error.kind() {
                GetStreamErrorKind::JetStream(error) if error.error_code() == ErrorCode::STREAM_NOT_FOUND => Ok(None),
                _ => Err(ClusterError::nats("open a stream")(error)),
            },
        }
    }

    /// Removes the streams of a crawl, as far as they exist.
    pub(crate) async fn delete(&self, name: &str) -> Result<(), ClusterError> {
        for part in PARTS {
            if self.find(name, part).await?.is_some() {
                let deleted = self.context.delete_stream(stream_name(name, part)).await;
                deleted.map_err(ClusterError::nats("delete a stream"))?;
            }
        }
        Ok(())
    }
}

fn stream_name(crawl: &str, part: &str) -> String {
    format!("suidao-{crawl}-{part}")
}

/// Why a message was not stored.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PublishFailure {
    #[error("another process has written to this subject")]
    Superseded,
    /// Full, unreachable, or too slow: it may be repeated with the same id.
    #[error("{0}")]
    Failed(String),
}

impl Streams {
    pub fn subject(&self, kind: &str, key: impl std::fmt::Display) -> String {
        format!("suidao.{}.{kind}.{key}", self.name)
    }

    /// Publishes and waits until it is stored; returns its sequence. Repeated with the same `id` within two minutes, it
    /// is stored once. With `after`, only if this is the sequence of the subject's last message (0: it has none).
    pub async fn publish(
        &self,
        subject: String,
        payload: Bytes,
        id: Option<&str>,
        after: Option<u64>,
    ) -> Result<u64, PublishFailure> {
        let mut message = jetstream::message::PublishMessage::build().payload(payload);
        if let Some(id) = id {
            message = message.message_id(id);
        }
        if let Some(after) = after {
            message = message.expected_last_subject_sequence(after);
        }
        let sent = self.connection.context.send_publish(subject, message).await;
        let stored = match sent {
            Ok(stored) => tokio::time::timeout(ANSWER, stored).await,
            Err(error) => return Err(PublishFailure::Failed(error.to_string())),
        };
        match stored {
            Ok(Ok(stored)) => Ok(stored.sequence),
            Ok(Err(error)) if error.kind() == PublishErrorKind::WrongLastSequence => Err(PublishFailure::Superseded),
            Ok(Err(error)) => Err(PublishFailure::Failed(error.to_string())),
            Err(_) => Err(PublishFailure::Failed("no answer".to_owned())),
        }
    }

    /// Messages with links and seeds that are not in a log yet.
    ///
    /// # Errors
    /// [`ClusterError::Deleted`]: the streams are gone, or another crawl has their names.
    pub async fn waiting(&self) -> Result<u64, ClusterError> {
        match self.connection.find(&self.name, "links").await? {
            Some(now) if now.cached_info().created == self.links.cached_info().created => {
                Ok(now.cached_info().state.messages)
            }
            _ => Err(ClusterError::Deleted(self.name.clone())),
        }
    }

    /// When a key was written, by the server's clock.
    pub async fn written_at(&self, key: &str) -> Result<Option<Millis>, ClusterError> {
        match self.state.get_last_raw_message_by_subject(&self.subject("state", key)).await {
            Ok(message) => Ok(u64::try_from(message.time.unix_timestamp_nanos() / 1_000_000).ok().map(Millis)),
            Err(error) if error.kind() == LastRawMessageErrorKind::NoMessageFound => Ok(None),
            Err(error) => Err(ClusterError::nats("read a message")(error)),
        }
    }

    /// Makes an error of a description of a damaged value or log.
    pub fn damaged(&self) -> impl Fn(String) -> ClusterError {
        let name = self.name.clone();
        move |what| ClusterError::Damaged { name: name.clone(), what }
    }

    /// The keys that begin with `first` and a point, in one request.
    pub async fn keys(&self, first: &str) -> Result<Vec<String>, ClusterError> {
        subjects(&self.state, &self.subject("state", ""), &format!("{first}.>")).await
    }

    /// The value of a key and its revision.
    pub async fn read<T: DeserializeOwned>(&self, key: &str) -> Result<Option<(T, u64)>, ClusterError> {
        match self.last(&self.state, &self.subject("state", key)).await? {
            None => Ok(None),
            Some((payload, revision)) => match serde_json::from_slice(&payload) {
                Ok(value) => Ok(Some((value, revision))),
                Err(error) => Err(self.damaged()(format!("the value of {key}: {error}"))),
            },
        }
    }

    /// Writes the value of a key if its revision is still `after` (0: it has none). Returns the new revision, or none
    /// if someone else was faster.
    pub async fn write(&self, key: &str, value: &impl Serialize, after: u64) -> Result<Option<u64>, ClusterError> {
        let payload = serde_json::to_vec(value).map_err(ClusterError::nats("encode a value"))?;
        match self.publish(self.subject("state", key), payload.into(), None, Some(after)).await {
            Ok(revision) => Ok(Some(revision)),
            Err(PublishFailure::Superseded) => Ok(None),
            Err(PublishFailure::Failed(reason)) => Err(ClusterError::Nats { doing: "store a value", reason }),
        }
    }

    /// Writes the value of a key, at any revision.
    pub async fn put(&self, key: &str, value: &impl Serialize) -> Result<(), ClusterError> {
        let payload = serde_json::to_vec(value).map_err(ClusterError::nats("encode a value"))?;
        self.put_bytes(key, payload.into()).await
    }

    /// As [`Streams::put`], in an encoding of the caller's.
    pub async fn put_bytes(&self, key: &str, payload: Bytes) -> Result<(), ClusterError> {
        let stored = self.publish(self.subject("state", key), payload, None, None).await;
        stored.map(drop).map_err(ClusterError::nats("store a value"))
    }

    /// The value of a key that [`Streams::put_bytes`] has written.
    pub async fn read_bytes(&self, key: &str) -> Result<Option<Bytes>, ClusterError> {
        Ok(self.last(&self.state, &self.subject("state", key)).await?.map(|(payload, _)| payload))
    }

    /// The last message of a subject and its sequence.
    pub async fn last(&self, stream: &Stream, subject: &str) -> Result<Option<(Bytes, u64)>, ClusterError> {
        match stream.get_last_raw_message_by_subject(subject).await {
            Ok(message) => Ok(Some((message.payload, message.sequence))),
            Err(error) if error.kind() == LastRawMessageErrorKind::NoMessageFound => Ok(None),
            Err(error) => Err(ClusterError::nats("read a message")(error)),
        }
    }
}

/// The rest of the subjects of a stream that match a prefix and a pattern, in one request.
pub(crate) async fn subjects(stream: &Stream, prefix: &str, pattern: &str) -> Result<Vec<String>, ClusterError> {
    const DOING: &str = "list subjects";
    let found = stream.info_with_subjects(format!("{prefix}{pattern}")).await.map_err(ClusterError::nats(DOING))?;
    let found: Vec<(String, usize)> = found.try_collect().await.map_err(ClusterError::nats(DOING))?;
    Ok(found.iter().filter_map(|(subject, _)| subject.strip_prefix(prefix).map(str::to_owned)).collect())
}
