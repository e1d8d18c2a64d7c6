//! [`Guide`]: puts suidao's fetcher, judge and archive into a spider [`Website`], and imports the responses at the end.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use spider::website::Website;
use suidao_live::config::Config;
use suidao_live::fetch::{Fetcher, FetcherError};
use suidao_live::import::{self, ImportError, ImportJob, ImportReport};
use suidao_live::live::{self, Job};
use suidao_page::model::CrawlUrl;
use suidao_page::topic::Topic;
use suidao_store::store::{CrawlDirectory, StoreError};

use crate::engine::{GuidedEngine, Shared};
use crate::judge::Judge;
use crate::staging::Staging;

#[derive(Debug, thiserror::Error)]
pub enum GuideError {
    #[error(transparent)]
    Fetcher(#[from] FetcherError),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Import(#[from] ImportError),
    /// A setting by which spider would make requests of its own.
    #[error("the website has {0}, which makes requests that suidao does not see; remove it")]
    Bypasses(&'static str),
    #[error(
        "a website of this guide is not dropped yet; drop it before Guide::finish (the pages are in the crawl directory, and their files are kept)"
    )]
    InUse,
    #[error("cannot make an HTTP client: {0}")]
    Client(reqwest::Error),
}

/// Fields that spider's configuration has only with a certain feature, and that feature.
const FEATURES: [(&str, &str); 5] = [
    ("chrome_connection_url", "a browser (feature chrome)"),
    ("webdriver_config", "a browser (feature webdriver)"),
    ("spider_cloud", "a cloud service (feature spider_cloud)"),
    ("hedge", "hedged requests (feature hedge)"),
    ("sitemap_url", "sitemaps (feature sitemap)"),
];

/// Guards, judges and archives what spider requests.
pub struct Guide {
    shared: Arc<Shared>,
    config: Config,
    topic: Arc<Topic>,
    directory: PathBuf,
}

impl Guide {
    /// A guide for a crawl into `directory`. What a killed crawl left next to it is imported by [`Guide::finish`] too.
    pub fn new(config: Config, topic: Arc<Topic>, directory: impl AsRef<Path>) -> Result<Self, GuideError> {
        let directory = directory.as_ref().to_owned();
        let k = u16::from(config.strategy.static_tunnel.k);
        let shared = Shared {
            fetcher: Fetcher::new(&config.fetch)?,
            judge: Judge::new(Arc::clone(&topic), k),
            staging: Staging::open(&directory, &config.fetch.user_agent, config.politeness.robots)?,
            agent: live::agent(&config).to_owned(),
            robots: config.politeness.robots,
            delay: Duration::from_secs_f64(config.politeness.delay.max(0.0)),
            hosts: Default::default(),
        };
        Ok(Self { shared: Arc::new(shared), config, topic, directory })
    }

    /// Makes the website use this guide.
    ///
    /// # Errors
    /// [`GuideError::Bypasses`] if a setting would make requests without the guide.
    pub fn attach(&self, website: &mut Website) -> Result<(), GuideError> {
        let configuration = &mut website.configuration;
        let bypasses = [
            (configuration.proxies.is_some() || configuration.proxies_by_kind.is_some(), "proxies"),
            (configuration.shared_queue, "a shared queue"),
            (configuration.remote_multimodal.is_some(), "a remote service"),
        ];
        // Fields that exist only with features of spider, which another crate of the build may enable.
        let fields = format!("{configuration:?}");
        let compiled = FEATURES.iter().find(|(field, _)| fields.contains(&format!("{field}:")));
        if let Some((_, what)) = compiled {
            return Err(GuideError::Bypasses(what));
        }
        if let Some((_, what)) = bypasses.into_iter().find(|(is_set, _)| *is_set) {
            return Err(GuideError::Bypasses(what));
        }
        // The engine obeys robots.txt, delays and time limits. spider would fetch robots.txt with another client, and
        // count the wait for a host as a timeout. Failed requests are not repeated.
        configuration.respect_robots_txt = false;
        configuration.retry = 0;
        configuration.delay = 0;
        configuration.request_timeout = None;
        configuration.http_first_byte_timeout = None;
        website.set_http_client(unreachable_client()?);
        website.with_fetch_engine(GuidedEngine(Arc::clone(&self.shared)));
        let shared = Arc::clone(&self.shared);
        website.with_on_should_crawl_callback_closure(Some(move |page: &spider::page::Page| {
            shared.judge.is_followed(page.get_url())
        }));
        Ok(())
    }

    /// Makes a crawl directory of the responses of this run and of killed ones before it, with relevance, links and
    /// duplicates. Call it after the websites are dropped; otherwise it ends with [`GuideError::InUse`].
    pub async fn finish(self) -> Result<ImportReport, GuideError> {
        let Self { shared, config, topic, directory } = self;
        let files = shared.staging.close()?;
        let target = directory.clone();
        let imported = tokio::task::spawn_blocking(move || {
            let job = Job::new(topic, Vec::<CrawlUrl>::new(), config, CrawlDirectory::new(&target));
            import::run(&ImportJob { job, files }, |_| {}, std::future::pending())
        });
        let report = imported.await.map_err(|error| StoreError::io(&directory, "import it")(error.into()))??;
        // A website that is still alive may write: its responses stay for the next run.
        let shared = Arc::into_inner(shared).ok_or(GuideError::InUse)?;
        shared.staging.remove()?;
        Ok(report)
    }
}

/// A client that reaches nothing, for requests that spider would make past the engine.
fn unreachable_client() -> Result<reqwest::Client, GuideError> {
    struct Nowhere;
    impl Resolve for Nowhere {
        fn resolve(&self, _: Name) -> Resolving {
            Box::pin(std::future::ready(Err::<Addrs, _>("requests are made by suidao".into())))
        }
    }
    let proxy = reqwest::Proxy::all("http://suidao.invalid").map_err(GuideError::Client)?;
    reqwest::Client::builder().proxy(proxy).dns_resolver(Arc::new(Nowhere)).build().map_err(GuideError::Client)
}
