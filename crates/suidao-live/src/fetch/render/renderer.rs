//! The renderer: one browser per crawl with a number of tabs, started when first needed, and restarted after a crash or
//! after `render.pages` pages.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use bytes::Bytes;
use tokio::sync::{Mutex, Semaphore};

use super::chrome::{self, Chrome};
use super::loader::Loader;
use super::tab::{self, RenderLimits};
use super::{RenderFailure, RenderMode, RenderSettings, RendererError};
use crate::fetch::Fetcher;
use suidao_page::model::Fetched;

/// After this many failed starts in a row the crawl continues without a browser.
const TRIES: u32 = 3;

/// How often, and at which interval in milliseconds, deleting the profile of an ended browser is tried.
const LAST_CHECKS: u32 = 50;
const LAST_LOOK: Duration = Duration::from_millis(100);

/// Renders pages. Clones share one browser.
#[derive(Clone, Debug)]
pub struct Renderer(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    settings: RenderSettings,
    program: PathBuf,
    language: String,
    profiles: PathBuf,
    loader: Arc<Loader>,
    most: usize,
    tabs: Semaphore,
    running: Mutex<Option<Running>>,
    failures: AtomicU32,
}

#[derive(Debug)]
struct Running {
    chrome: Arc<Chrome>,
    pages: usize,
}

impl Renderer {
    /// Creates a renderer whose pages load what they need through `fetcher`, obey robots.txt as the agent `robots` if
    /// set, and produce at most `most` bytes. The directory `profiles` belongs to the renderer; what an earlier one
    /// left there is deleted. `None` if rendering is off.
    pub async fn start(
        settings: &RenderSettings,
        fetcher: &Fetcher,
        robots: Option<&str>,
        most: usize,
        profiles: &Path,
    ) -> Result<Option<Self>, RendererError> {
        // A killed crawl leaves its profile.
        if profiles.exists()
            && let Err(error) = std::fs::remove_dir_all(profiles)
        {
            tracing::warn!("cannot delete the files of an earlier browser in {}: {error}", profiles.display());
        }
        if settings.mode == RenderMode::Never {
            return Ok(None);
        }
        let program = chrome::find(settings)?;
        let fields = fetcher.request_headers();
        let language = fields.iter().find(|(name, _)| name == "accept-language").map(|(_, value)| value.as_str());
        // The browser adds quality values itself.
        let languages = language.unwrap_or_default().split(',').filter_map(|part| part.split(';').next());
        let languages: Vec<&str> = languages.map(str::trim).filter(|name| !name.is_empty()).collect();
        let renderer = Self(Arc::new(Shared {
            settings: settings.clone(),
            program,
            language: languages.join(","),
            profiles: profiles.to_owned(),
            loader: Arc::new(Loader::new(fetcher.clone(), robots)),
            most,
            tabs: Semaphore::new(settings.tabs),
            running: Mutex::default(),
            failures: AtomicU32::new(0),
        }));
        // Start it now, so that a failure is reported at once.
        renderer.0.browser().await?;
        Ok(Some(renderer))
    }

    pub fn mode(&self) -> RenderMode {
        self.0.settings.mode
    }

    /// Runs the scripts of a fetched page and returns the resulting HTML in UTF-8. Once a tab is free it takes at most
    /// `render.timeout` and a few seconds.
    ///
    /// # Errors
    /// [`RenderFailure`]: use the server's answer.
    pub async fn render(&self, page: &Fetched) -> Result<Bytes, RenderFailure> {
        let shared = &*self.0;
        let _tab = shared.tabs.acquire().await.map_err(|_| RenderFailure::Stopped)?;
        let limits = RenderLimits { settings: &shared.settings, max_bytes: shared.most };
        let mut again = true;
        loop {
            if shared.failures.load(Ordering::Relaxed) >= TRIES {
                return Err(RenderFailure::Gone("several attempts to start it failed".to_owned()));
            }
            let chrome = shared.browser().await.map_err(|error| {
                tracing::warn!("{error}");
                RenderFailure::Gone(error.to_string())
            })?;
            let made = tab::render(&chrome, &shared.loader, page, &limits).await;
            let gone = !chrome.is_sound() && matches!(made, Err(RenderFailure::Crashed | RenderFailure::Gone(_)));
            finish(chrome).await;
            // Another page may have crashed the browser.
            if !(gone && std::mem::take(&mut again)) {
                return made;
            }
        }
    }

    /// Starts no more pages; pages in progress continue.
    pub fn stop(&self) {
        self.0.tabs.close();
    }

    /// Ends the browser. Pages in progress fail.
    pub async fn close(&self) {
        let running = self.0.running.lock().await.take();
        if let Some(running) = running {
            running.chrome.give_up();
            finish(running.chrome).await;
        }
        // Child processes end after the browser, and may write until then.
        for _ in 0..LAST_CHECKS {
            match std::fs::remove_dir_all(&self.0.profiles) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => tokio::time::sleep(LAST_LOOK).await,
                _ => return,
            }
        }
    }
}

impl Shared {
    /// The browser, started if there is none that can take a page.
    async fn browser(&self) -> Result<Arc<Chrome>, RendererError> {
        let mut running = self.running.lock().await;
        if let Some(own) = running.as_mut().filter(|own| own.chrome.is_sound() && own.pages < self.settings.pages) {
            own.pages += 1;
            return Ok(Arc::clone(&own.chrome));
        }
        if let Some(previous) = running.take() {
            // The last page in progress ends it.
            finish(previous.chrome).await;
        }
        match Chrome::start(&self.program, &self.settings, &self.language, &self.profiles).await {
            Ok(chrome) => {
                self.failures.store(0, Ordering::Relaxed);
                let chrome = Arc::new(chrome);
                *running = Some(Running { chrome: Arc::clone(&chrome), pages: 1 });
                Ok(chrome)
            }
            Err(error) => {
                self.failures.fetch_add(1, Ordering::Relaxed);
                Err(error)
            }
        }
    }
}

/// Ends a browser unless it is in use.
async fn finish(chrome: Arc<Chrome>) {
    if let Some(chrome) = Arc::into_inner(chrome) {
        chrome.close().await;
    }
}
