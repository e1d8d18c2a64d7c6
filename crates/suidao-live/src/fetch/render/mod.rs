//! Pages that scripts make: a headless Chromium runs them, and what it made is read in the place of what the server sent.
//!
//! Every request that it wants to make is stopped (`gate`), and those that are let through are made by our
//! [`Fetcher`](super::Fetcher), so that address guard, proxy, limits and robots.txt are in force for what a page loads
//! as they are for the page.

mod chrome;
mod gate;
mod loader;
mod pipe;
mod renderer;
mod settings;
mod tab;

pub use renderer::Renderer;
pub use settings::{RenderMode, RenderSettings};

/// Whether what is asked for by name is there; nothing is started.
///
/// # Errors
/// [`RendererError`] if not.
pub fn check(settings: &RenderSettings) -> Result<(), RendererError> {
    if settings.mode == RenderMode::Never {
        return Ok(());
    }
    chrome::find(settings).map(drop)
}

/// Why there is no renderer.
#[derive(Debug, thiserror::Error)]
pub enum RendererError {
    /// No browser was found.
    #[error(
        "no Chromium or Chrome found in PATH; install one (Debian: apt install chromium), set render.browser or CHROME, or use --render never"
    )]
    NoBrowser,
    /// The browser that was named is none.
    #[error("{0}: not an executable (render.browser, CHROME); give the path of Chromium or Chrome")]
    NotAProgram(String),
    /// It does not start, or does not speak.
    #[error("{browser}: cannot start the browser: {reason}; see docs/render.md, or use --render never")]
    NoStart { browser: String, reason: String },
}

/// Why a page could not be rendered; what the server sent stands then.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RenderFailure {
    /// A script runs without an end, and could not be stopped.
    #[error("its scripts did not finish within the time limit, and nothing could be read")]
    Busy,
    /// The browser did not show it, or its scripts took all of it away.
    #[error("the browser shows an empty page")]
    Nothing,
    /// What the scripts made is larger than `fetch.max_body`.
    #[error("the rendered page is larger than fetch.max_body")]
    TooLarge,
    /// The tab broke down, or used more memory than allowed.
    #[error("its tab crashed, or used more memory than render.memory")]
    Crashed,
    /// No page is shown any more: the crawl is being stopped.
    #[error("the crawl is being stopped")]
    Stopped,
    /// The browser is gone and does not start again.
    #[error("the browser exited: {0}")]
    Gone(String),
}
