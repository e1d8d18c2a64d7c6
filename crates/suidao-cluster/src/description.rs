//! What a crawl is, as all its workers read it from the server.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use suidao_crawl::crawl::{Crawl, Partition, Refresh, StopConditions};
use suidao_crawl::revisit::settings::RefreshSettings;
use suidao_live::config::Config;
use suidao_live::config::stored::ConfigUse;
use suidao_live::live::crawl_settings;
use suidao_page::model::Millis;
use suidao_page::topic::{Lexicon, Topic};
use suidao_store::store::StoreError;
use suidao_store::store::directory::write_own;

use crate::archive::SharedArchive;
use crate::error::ClusterError;
use crate::nats::{NatsConnection, Streams};
use crate::round::ClusterRound;

/// Key of the description.
const KEY: &str = "description";
/// Maximum number of partitions of a crawl.
const MOST: u32 = 65_536;

/// A crawl to create.
pub struct NewCrawl {
    pub name: String,
    pub lexicon: Lexicon,
    pub config: Config,
    pub partitions: u32,
    /// Servers that store each message.
    pub replicas: usize,
    /// The directory, the same on all machines, or the bucket where workers write their pages.
    pub archive: String,
    pub created: Millis,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Description {
    pub version: String,
    pub partitions: u32,
    pub archive: String,
    pub created: Millis,
    /// TOML.
    lexicon: String,
    /// TOML.
    config: String,
    /// Page limit of the whole crawl.
    pub pages: Option<u64>,
}

/// A crawl on the server.
#[derive(Clone)]
pub struct SharedCrawl {
    pub(crate) streams: Streams,
    pub(crate) description: Description,
    /// Its workers visit pages again; else they crawl.
    pub(crate) round: Option<ClusterRound>,
}

const VERSION: &str = env!("CARGO_PKG_VERSION");

impl NewCrawl {
    /// Creates the crawl on the server.
    ///
    /// # Errors
    /// [`ClusterError`]; then nothing is created.
    pub(crate) async fn create(&self, nats: &NatsConnection) -> Result<SharedCrawl, ClusterError> {
        check_name(&self.name)?;
        if !(1..=MOST).contains(&self.partitions) {
            return Err(ClusterError::Partitions(self.partitions));
        }
        if self.config.limits.requests.is_some() {
            return Err(ClusterError::RequestLimit);
        }
        let description = Description {
            version: VERSION.to_owned(),
            partitions: self.partitions,
            archive: self.archive.clone(),
            created: self.created,
            lexicon: self.lexicon.to_toml(),
            // Every value came from TOML or is a number.
            config: toml::to_string(&self.config.stored()).unwrap_or_default(),
            pages: self.config.goals().pages,
        };
        let streams = nats.create(&self.name, self.replicas).await?;
        match streams.write(KEY, &description, 0).await {
            Ok(Some(_)) => Ok(SharedCrawl { streams, description, round: None }),
            // Someone else has created it at the same moment.
            Ok(None) => Err(ClusterError::Exists(self.name.clone())),
            Err(error) => {
                // The first error counts.
                let _ = nats.delete(&self.name).await;
                Err(error)
            }
        }
    }
}

impl SharedCrawl {
    /// Opens a crawl on the server.
    ///
    /// # Errors
    /// [`ClusterError`]: there is none, or another version created it.
    pub async fn open(nats: &NatsConnection, name: &str) -> Result<Self, ClusterError> {
        check_name(name)?;
        let streams = nats.open(name).await?;
        let description: Option<(Description, u64)> = streams.read(KEY).await?;
        let (description, _) = description.ok_or_else(|| ClusterError::Missing(name.to_owned()))?;
        if description.version != VERSION {
            let (name, found) = (name.to_owned(), description.version);
            return Err(ClusterError::OtherVersion { name, found, own: VERSION });
        }
        let round = ClusterRound::read(&streams).await?;
        Ok(Self { streams, description, round })
    }

    pub fn name(&self) -> &str {
        &self.streams.name
    }

    pub fn topic(&self) -> Result<Topic, ClusterError> {
        Ok(Topic::new(Lexicon::parse(&self.description.lexicon)?))
    }

    /// Its archive; `files` is a directory of this machine, used with a bucket.
    pub(crate) fn archive(&self, files: &Path) -> Result<SharedArchive, ClusterError> {
        SharedArchive::new(&self.description.archive, files)
    }

    /// The directory for the logs of its partitions.
    pub(crate) fn logs(&self, archive: &SharedArchive) -> PathBuf {
        // A later crawl of this name has other logs.
        archive.path().join(format!("{}-{}.logs", self.name(), self.description.created.0))
    }

    /// The configuration, as it is stored.
    pub(crate) fn config_text(&self) -> &str {
        &self.description.config
    }

    /// The configuration without the settings of a machine.
    pub(crate) fn config(&self) -> Result<Config, ClusterError> {
        let name = format!("the configuration of {}", self.name());
        Ok(Config::parse_stored(&name, &self.description.config, &[], ConfigUse::Offline)?)
    }

    /// The settings of its refresh, as they were when it was created.
    ///
    /// # Errors
    /// [`ClusterError`]: the configuration on the server is damaged.
    pub fn refresh_settings(&self) -> Result<RefreshSettings, ClusterError> {
        Ok(self.config()?.refresh)
    }

    /// The round on which its workers work, if they do not crawl.
    pub fn round(&self) -> Option<&ClusterRound> {
        self.round.as_ref()
    }

    /// Copies the configuration into a directory; returns its path.
    pub fn copy_config(&self, directory: &Path) -> Result<PathBuf, ClusterError> {
        std::fs::create_dir_all(directory).map_err(StoreError::io(directory, "create it"))?;
        let path = directory.join("config.toml");
        write_own(&path, |out| Ok(out.write_all(self.description.config.as_bytes())?))?;
        Ok(path)
    }

    /// The machine of a partition before its first event. It may fetch nothing until pages are allowed, if the crawl
    /// has a limit.
    pub(crate) fn machine(&self, topic: &Topic, config: &Config, number: u32) -> Crawl {
        let partition = Partition { number, count: self.description.partitions };
        let mut settings = crawl_settings(config, topic);
        settings.partition = Some(partition);
        // Goals are the whole crawl's.
        settings.goals = StopConditions::default();
        settings.limits.pages = self.description.pages.map(|_| 0);
        if let Some(round) = &self.round {
            settings.refresh = Some(Refresh { settings: round.settings.clone(), budget: round.budget });
            settings.limits.pages = None;
            settings.harvest_rate = Some(round.harvest_rate);
        }
        let strategy = config.strategy.build(settings.page_threshold);
        Crawl::new(settings, strategy)
    }
}

fn check_name(name: &str) -> Result<(), ClusterError> {
    let may = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-' || byte == b'_';
    let is_name = (1..=32).contains(&name.len()) && name.bytes().all(may);
    if is_name { Ok(()) } else { Err(ClusterError::Name(name.to_owned())) }
}
