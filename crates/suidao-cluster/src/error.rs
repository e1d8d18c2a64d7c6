//! Errors of a crawl on several machines.

use std::path::PathBuf;

use suidao_live::config::ConfigError;
use suidao_live::fetch::FetcherError;
use suidao_live::fetch::render::RendererError;
use suidao_page::topic::LexiconError;
use suidao_store::store::StoreError;

/// Oldest NATS server whose JetStream has all that is used here.
pub(crate) const OLDEST: (u64, u64) = (2, 9);

#[derive(Debug, thiserror::Error)]
pub enum ClusterError {
    #[error("{url}: not the URL of a NATS server; give one such as nats://127.0.0.1:4222, or several with commas")]
    Url { url: String },
    #[error("{}: {reason}; give a context file of the nats command, or a URL such as nats://127.0.0.1:4222", path.display())]
    Context { path: PathBuf, reason: String },
    #[error("cannot reach a NATS server at {urls}: {reason}; start one (`nats-server -js`), or correct --nats")]
    Connect { urls: String, reason: String },
    #[error("the NATS server at {urls} refused the login; correct user and password in --nats or NATS_URL")]
    Login { urls: String },
    #[error("the NATS server at {urls} has version {found}; install {}.{} or later", OLDEST.0, OLDEST.1)]
    TooOld { urls: String, found: String },
    #[error("the NATS server at {urls} has JetStream off; start it with -js, or configure jetstream")]
    NoJetStream { urls: String },
    #[error("{0:?} cannot name a crawl; use 1 to 32 lower-case letters, digits, hyphens and underscores")]
    Name(String),
    #[error("{0} partitions are not possible; use 1 to 65536")]
    Partitions(u32),
    #[error("a crawl named {0} exists; use another name, or delete it first (`suidao cluster delete {0}`)")]
    Exists(String),
    #[error(
        "this NATS server cannot store {0} copies of a message; use --replicas 1, or join at least {0} servers to a cluster"
    )]
    Replicas(usize),
    #[error("there is no crawl named {0} on this server; create it first (`suidao cluster create {0} ...`)")]
    Missing(String),
    #[error("the crawl {0} was deleted from the server")]
    Deleted(String),
    #[error("--max-requests is not possible in a distributed crawl; use --max-pages or --stop-when")]
    RequestLimit,
    #[error(
        "{workers} workers of the crawl {name} are at work; revisit its pages when they have ended, or stop them (`suidao \
         cluster stop {name}`)"
    )]
    AtWork { name: String, workers: usize },
    #[error("the crawl {name} was created by suidao {found}, this is {own}; use the same version on all machines")]
    OtherVersion { name: String, found: String, own: &'static str },
    #[error("a worker named {0} already works for this crawl; give this one another name (--worker)")]
    WorkerExists(String),
    #[error("the crawl {name} stores its pages in {archive}, which this machine cannot use: {source}")]
    Archive { name: String, archive: String, source: Box<StoreError> },
    /// `doing` is an infinitive.
    #[error(
        "the bucket {url} cannot {doing}: {reason}; check the variables AWS_ENDPOINT, AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"
    )]
    Bucket { url: String, doing: &'static str, reason: String },
    #[error(
        "{file} is not in the archive of the crawl {name} yet: workers upload a file when it is full and when they end; stop \
         them, or restart the worker on the machine that has it"
    )]
    NotUploaded { name: String, file: String },
    /// `doing` is an infinitive.
    #[error("the NATS server failed to {doing}: {reason}")]
    Nats { doing: &'static str, reason: String },
    #[error("the crawl {name}: {what}; delete it and create it again")]
    Damaged { name: String, what: String },
    #[error("the configuration of the crawl: {0}")]
    Config(#[from] ConfigError),
    #[error("the lexicon of the crawl: {0}")]
    Lexicon(#[from] LexiconError),
    #[error("the proxy no longer responds; rerun the same command when it does")]
    ProxyLost,
    #[error(transparent)]
    Renderer(#[from] RendererError),
    #[error(transparent)]
    Fetcher(#[from] FetcherError),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("the {0} of the worker ended unexpectedly; please report this, and rerun the same command to continue")]
    Stopped(&'static str),
    #[error("cannot start threads ({0}); close other programs and rerun the same command")]
    Threads(std::io::Error),
}

impl ClusterError {
    pub(crate) fn nats<E: std::fmt::Display>(doing: &'static str) -> impl FnOnce(E) -> Self {
        move |error| Self::Nats { doing, reason: error.to_string() }
    }

    /// Whether the input is valid and the server or the disk failed: the same command may succeed later.
    pub fn is_environment(&self) -> bool {
        match self {
            Self::Nats { .. }
            | Self::Bucket { .. }
            | Self::NotUploaded { .. }
            | Self::Threads(_)
            | Self::Stopped(_)
            | Self::ProxyLost => true,
            Self::Store(error) => error.is_environment(),
            _ => false,
        }
    }
}
