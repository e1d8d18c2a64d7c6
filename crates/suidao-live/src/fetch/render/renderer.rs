//! The door of the renderer: one browser for the crawl, so many tabs at a time, started when it is first needed and anew
//! when it has served its time or died.

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

/// After so many failures to start in a row the crawl goes on without.
const TRIES: u32 = 3;

/// How often, and after how many milliseconds each, the profile is taken away of a browser that has ended.
const LAST_LOOKS: u32 = 50;
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
    /// A renderer as `settings` say, whose pages load what they need through `fetcher`, obeying robots.txt as `robots` if that is set, and make at most
    /// `most` bytes. The browser keeps its profile in the directory `profiles`, which is the renderer's own: what an
    /// earlier one left there is taken away. None if none is wanted.
    ///
    /// # Errors
    /// [`RendererError`] if one is wanted and there is no browser, or it does not start.
    pub async fn start(
        settings: &RenderSettings,
        fetcher: &Fetcher,
        robots: Option<&str>,
        most: usize,
        profiles: &Path,
    ) -> Result<Option<Self>, RendererError> {
        // A crawl that was killed could not take it away itself.
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
        // The browser makes its own weights.
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
        // Who asks for it is told at once if it does not work.
        renderer.0.browser().await?;
        Ok(Some(renderer))
    }

    /// Which pages are to be rendered.
    pub fn mode(&self) -> RenderMode {
        self.0.settings.mode
    }

    /// Runs the scripts of a page that was fetched, and gives the HTML that they made, in UTF-8. Takes as long as
    /// `render.timeout` and some seconds at most, once a tab is free.
    ///
    /// # Errors
    /// [`RenderFailure`]: what the server sent is all there is.
    pub async fn render(&self, page: &Fetched) -> Result<Bytes, RenderFailure> {
        let shared = &*self.0;
        let _tab = shared.tabs.acquire().await.map_err(|_| RenderFailure::Stopped)?;
        let limits = RenderLimits { settings: &shared.settings, most: shared.most };
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
            // Another page may have brought the browser down.
            if !(gone && std::mem::take(&mut again)) {
                return made;
            }
        }
    }

    /// From now on no page is shown; those that are being shown are shown to their end.
    pub fn stop(&self) {
        self.0.tabs.close();
    }

    /// Ends the browser. Pages that are being rendered fail.
    pub async fn close(&self) {
        let running = self.0.running.lock().await.take();
        if let Some(running) = running {
            running.chrome.give_up();
            finish(running.chrome).await;
        }
        // The browser's other processes end after it, and may write until then.
        for _ in 0..LAST_LOOKS {
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
        if let Some(former) = running.take() {
            // Ended by the last page that it shows.
            finish(former.chrome).await;
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

/// Ends a browser if nobody uses it any more.
async fn finish(chrome: Arc<Chrome>) {
    if let Some(chrome) = Arc::into_inner(chrome) {
        chrome.close().await;
    }
}
