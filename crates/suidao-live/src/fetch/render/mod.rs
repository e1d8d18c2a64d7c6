//! Renders pages in a headless Chromium and parses the result instead of the server's answer. Every request of the
//! browser is intercepted (`gate`); permitted ones are made by our [`Fetcher`](super::Fetcher), so address check,
//! proxy, limits and robots.txt apply to them too.

mod chrome;
mod gate;
mod loader;
mod pipe;
mod renderer;
mod settings;
mod tab;

pub use renderer::Renderer;
pub use settings::{RenderMode, RenderSettings};

/// Checks that the browser exists, without starting it.
pub fn check(settings: &RenderSettings) -> Result<(), RendererError> {
    if settings.mode == RenderMode::Never {
        return Ok(());
    }
    chrome::find(settings).map(drop)
}

#[derive(Debug, thiserror::Error)]
pub enum RendererError {
    #[error(
        "no Chromium or Chrome found in PATH; install one (Debian: apt install chromium), set render.browser or CHROME, or use --render never"
    )]
    NoBrowser,
    /// The named browser is not a program.
    #[error("{0}: not an executable (render.browser, CHROME); give the path of Chromium or Chrome")]
    NotAProgram(String),
    #[error("{browser}: cannot start the browser: {reason}; see docs/render.md, or use --render never")]
    NoStart { browser: String, reason: String },
}

/// Why rendering failed. The server's answer is used then.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RenderFailure {
    /// A script did not end and could not be stopped.
    #[error("its scripts did not finish within the time limit, and nothing could be read")]
    Busy,
    /// The browser showed no page, or its scripts removed all of it.
    #[error("the browser shows an empty page")]
    Nothing,
    /// The result exceeds `fetch.max_body`.
    #[error("the rendered page is larger than fetch.max_body")]
    TooLarge,
    #[error("its tab crashed, or used more memory than render.memory")]
    Crashed,
    /// The crawl is stopping.
    #[error("the crawl is being stopped")]
    Stopped,
    #[error("the browser exited: {0}")]
    Gone(String),
}
