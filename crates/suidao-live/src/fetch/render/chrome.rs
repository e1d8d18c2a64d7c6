//! One browser process: found, started, restricted, and ended with all its children.

use std::io;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rustc_hash::FxHashMap;
use serde_json::json;
use tempfile::TempDir;
use tokio::net::TcpSocket;
use tokio::process::{Child, Command};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::time::{sleep, timeout};

use super::pipe::{BrowserEvent, Pipe};
use super::{RenderSettings, RendererError};
use crate::fetch::LISTS;
use crate::memory::resident_memory;
use suidao_page::word_list::SectionWords;

/// Longest wait for the browser to start on a busy machine.
const START: Duration = Duration::from_secs(60);

/// Time for the browser to exit by itself.
const END: Duration = Duration::from_secs(5);

/// How often its memory is measured.
const LOOK: Duration = Duration::from_millis(500);

/// Names of the program, the most common first.
const NAMES: [&str; 6] =
    ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "chromium-headless-shell"];

/// The shell connects the pipe: the browser reads commands from file descriptor 3 and writes to 4.
const HAND_OVER: &str = r#"exec 3<&0 4>&1 </dev/null >/dev/null; exec "$0" "$@""#;

/// Turns off everything that sends requests of its own, opens windows or waits for a person.
static FLAGS: SectionWords = SectionWords::of(LISTS, "browser flags");

/// The program to use: from the settings, the variable `CHROME`, or `PATH`.
pub(super) fn find(settings: &RenderSettings) -> Result<PathBuf, RendererError> {
    let named = settings.browser.clone().or_else(|| std::env::var_os("CHROME").map(PathBuf::from));
    if let Some(named) = named.filter(|named| !named.as_os_str().is_empty()) {
        let is_path = named.components().count() > 1;
        let found = if is_path { named.is_file().then(|| named.clone()) } else { on_path(&named) };
        return found.ok_or_else(|| RendererError::NotAProgram(named.display().to_string()));
    }
    NAMES.iter().find_map(|name| on_path(Path::new(name))).ok_or(RendererError::NoBrowser)
}

fn on_path(name: &Path) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|directory| directory.join(name)).find(|program| program.is_file())
}

/// Event receivers by session, and by main frame, which has the name of its tab.
type Routes = Arc<Mutex<FxHashMap<String, UnboundedSender<BrowserEvent>>>>;

#[derive(Debug)]
pub(super) struct Chrome {
    pub pipe: Pipe,
    routes: Routes,
    /// It disobeyed a command or used too much memory, and gets no more pages.
    broken: Arc<AtomicBool>,
    child: tokio::sync::Mutex<Child>,
    /// Holds the port of the browser's proxy, so that no program listens there.
    _nowhere: TcpSocket,
    /// Deleted with the browser.
    _profile: TempDir,
}

impl Chrome {
    /// Starts `program` with a profile in the directory `profiles`; `language` is what scripts see as ours.
    pub async fn start(
        program: &Path,
        settings: &RenderSettings,
        language: &str,
        profiles: &Path,
    ) -> Result<Self, RendererError> {
        let browser = program.display().to_string();
        let failed = |reason: String| RendererError::NoStart { browser: browser.clone(), reason };
        let system = |error: io::Error| failed(error.to_string());
        std::fs::create_dir_all(profiles).map_err(system)?;
        let profile = tempfile::Builder::new().prefix("profile-").tempdir_in(profiles).map_err(system)?;
        // A wrapper may start the browser in another directory.
        let root = profile.path().canonicalize().map_err(system)?;
        let nowhere = TcpSocket::new_v4().map_err(system)?;
        nowhere.bind(([127, 0, 0, 1], 0).into()).map_err(system)?;
        let port = nowhere.local_addr().map_err(system)?.port();
        let heap = settings.memory >> 21;
        let stderr = std::fs::File::create(root.join("stderr.txt")).map_err(system)?;
        let mut command = Command::new("sh");
        command.args(["-c", HAND_OVER]).arg(program).args(FLAGS.iter());
        command.arg(format!("--user-data-dir={}", root.display()));
        // No name resolves, and all connections, loopback included, go to a proxy that does not exist. So every request
        // must come through us.
        command.arg("--host-resolver-rules=MAP * ~NOTFOUND").arg("--proxy-bypass-list=<-loopback>");
        command.arg(format!("--proxy-server=socks5://127.0.0.1:{port}"));
        command.arg(format!("--js-flags=--max-old-space-size={heap}"));
        if !language.is_empty() {
            command.arg(format!("--accept-lang={language}"));
        }
        if !settings.sandbox || is_root() {
            command.arg("--no-sandbox");
        }
        // Caches and certificates go there too, and the browser finds no desktop.
        for name in ["HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME", "TMPDIR"] {
            command.env(name, &root);
        }
        for name in ["DISPLAY", "WAYLAND_DISPLAY", "DBUS_SESSION_BUS_ADDRESS", "http_proxy", "https_proxy", "all_proxy"]
        {
            command.env_remove(name);
        }
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(stderr).kill_on_drop(true);
        let mut child = command.spawn().map_err(system)?;
        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(failed("no pipe to it".to_owned()));
        };
        let (pipe, events) = Pipe::new(input, output);
        let version = timeout(START, pipe.ask(None, "Browser.getVersion", json!({}))).await;
        match version {
            Ok(Ok(version)) => {
                tracing::debug!("rendering pages with {}", version["product"].as_str().unwrap_or("a browser"))
            }
            _ => {
                let stderr = std::fs::read_to_string(root.join("stderr.txt")).unwrap_or_default();
                let last = stderr.lines().rfind(|line| !line.trim().is_empty()).unwrap_or("no output").trim();
                let _ = child.kill().await;
                return Err(failed(last.chars().take(300).collect()));
            }
        }
        let chrome = Self {
            pipe,
            routes: Routes::default(),
            broken: Arc::default(),
            child: tokio::sync::Mutex::new(child),
            _nowhere: nowhere,
            _profile: profile,
        };
        chrome.hold(events, settings.memory).await.map_err(failed)?;
        Ok(chrome)
    }

    /// Pauses every request from now on and passes it to its tab; a request without a tab fails.
    async fn hold(&self, mut events: UnboundedReceiver<BrowserEvent>, memory: usize) -> Result<(), String> {
        let (pipe, routes) = (self.pipe.clone(), Arc::clone(&self.routes));
        tokio::spawn(async move {
            while let Some(event) = events.recv().await {
                let whom = match (&event.session, event.method.as_str()) {
                    (Some(session), _) => Some(session.as_str()),
                    (None, "Fetch.requestPaused") => event.params["frameId"].as_str(),
                    (None, "Target.targetCrashed") => event.params["targetId"].as_str(),
                    _ => None,
                };
                let stopped = (event.method == "Fetch.requestPaused").then(|| event.params["requestId"].clone());
                let tab = {
                    let routes = routes.lock().unwrap_or_else(PoisonError::into_inner);
                    whom.and_then(|whom| routes.get(whom)).cloned()
                };
                let received = tab.is_some_and(|tab| tab.send(event).is_ok());
                if let Some(id) = stopped.filter(|_| !received) {
                    pipe.notify(
                        None,
                        "Fetch.failRequest",
                        json!({ "requestId": id, "errorReason": "BlockedByClient" }),
                    );
                }
            }
            // The browser is gone: the tabs' channels close.
            routes.lock().unwrap_or_else(PoisonError::into_inner).clear();
        });
        let all = json!({ "patterns": [{ "urlPattern": "*" }] });
        for (method, params) in [("Fetch.enable", all), ("Target.setDiscoverTargets", json!({ "discover": true }))] {
            let done = timeout(START, self.pipe.ask(None, method, params)).await;
            done.map_err(|_| "it does not respond".to_owned())?.map_err(|fault| format!("{method}: {fault:?}"))?;
        }
        let (pipe, broken) = (self.pipe.clone(), Arc::clone(&self.broken));
        tokio::spawn(async move {
            while !pipe.is_closed() {
                sleep(LOOK).await;
                let Ok(processes) = pipe.ask(None, "SystemInfo.getProcessInfo", json!({})).await else { continue };
                let pages = processes["processInfo"].as_array().into_iter().flatten();
                let pages = pages.filter(|process| process["type"] == "renderer");
                let most = pages.filter_map(|process| resident_memory(&process["id"].as_u64()?.to_string())).max();
                if most.is_some_and(|most| most > memory as u64) {
                    broken.store(true, Ordering::Relaxed);
                    // A busy tab cannot be closed on its own.
                    pipe.notify(None, "Browser.crash", json!({}));
                }
            }
        });
        Ok(())
    }

    /// The events of a tab, by its session and main frame. The channel closes with the browser.
    pub fn listen(&self, names: [&str; 2]) -> UnboundedReceiver<BrowserEvent> {
        let (happens, events) = unbounded_channel();
        let mut routes = self.routes.lock().unwrap_or_else(PoisonError::into_inner);
        for name in names {
            routes.insert(name.to_owned(), happens.clone());
        }
        events
    }

    /// Stops listening: later requests of the tab fail.
    pub fn forget(&self, names: [&str; 2]) {
        let mut routes = self.routes.lock().unwrap_or_else(PoisonError::into_inner);
        for name in names {
            routes.remove(name);
        }
    }

    /// Gives it no more pages.
    pub fn give_up(&self) {
        self.broken.store(true, Ordering::Relaxed);
    }

    pub fn is_sound(&self) -> bool {
        !self.broken.load(Ordering::Relaxed) && !self.pipe.is_closed()
    }

    /// Ends it and deletes its profile.
    pub async fn close(self) {
        self.pipe.notify(None, "Browser.close", json!({}));
        let mut child = self.child.lock().await;
        if timeout(END, child.wait()).await.is_err() {
            let _ = child.kill().await;
        }
    }
}

/// Whether this process runs as root, where the browser has no sandbox.
fn is_root() -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        std::fs::metadata("/proc/self").is_ok_and(|own| own.uid() == 0)
    }
    #[cfg(not(unix))]
    false
}
