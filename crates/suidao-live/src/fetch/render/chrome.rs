//! One running browser: found, started, held to what it may do, and ended with all that it started.

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

/// Longest wait for a browser to start, on a machine that has much else to do.
const START: Duration = Duration::from_secs(60);

/// How long a browser may take to end by itself.
const END: Duration = Duration::from_secs(5);

/// How often its memory is looked at.
const LOOK: Duration = Duration::from_millis(500);

/// Names a browser goes by, the usual first.
const NAMES: [&str; 6] =
    ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "chromium-headless-shell"];

/// The shell hands the pipe over: the browser reads commands from file 3 and answers into file 4.
const HAND_OVER: &str = r#"exec 3<&0 4>&1 </dev/null >/dev/null; exec "$0" "$@""#;

/// What the browser leaves alone: all that makes requests of its own, shows windows, or waits for people.
const FLAGS: [&str; 38] = [
    "--headless=new",
    "--remote-debugging-pipe",
    "--no-first-run",
    "--no-default-browser-check",
    "--no-startup-window",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-extensions",
    "--disable-component-extensions-with-background-pages",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-sync",
    "--disable-domain-reliability",
    "--disable-client-side-phishing-detection",
    "--disable-search-engine-choice-screen",
    "--disable-field-trial-config",
    "--disable-breakpad",
    "--disable-crash-reporter",
    "--disable-background-timer-throttling",
    "--disable-backgrounding-occluded-windows",
    "--disable-renderer-backgrounding",
    "--disable-hang-monitor",
    "--disable-prompt-on-repost",
    "--disable-quic",
    "--disable-notifications",
    "--deny-permission-prompts",
    "--block-new-web-contents",
    "--metrics-recording-only",
    "--no-pings",
    "--mute-audio",
    "--password-store=basic",
    "--use-mock-keychain",
    "--blink-settings=imagesEnabled=false",
    "--disk-cache-size=1",
    "--media-cache-size=1",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--disable-features=WebUIOmniboxPopup,WebUIOmniboxAimPopup,WebUIOmniboxFullPopup,OmniboxNext,AimEnabled,PreloadTopChromeWebUI,Translate,MediaRouter,DialMediaRouteProvider,OptimizationHints,AutofillServerCommunication,InterestFeedContentSuggestions,Prerender2,NetworkTimeServiceQuerying",
];

/// The program to use: as set, as the environment's `CHROME` says, or what the path has.
///
/// # Errors
/// [`RendererError::NotAProgram`] for one that was named and is none, [`RendererError::NoBrowser`] if there is none.
pub(super) fn find(settings: &RenderSettings) -> Result<PathBuf, RendererError> {
    let named = settings.browser.clone().or_else(|| std::env::var_os("CHROME").map(PathBuf::from));
    if let Some(named) = named.filter(|named| !named.as_os_str().is_empty()) {
        let beside = named.components().count() > 1;
        let found = if beside { named.is_file().then(|| named.clone()) } else { on_path(&named) };
        return found.ok_or_else(|| RendererError::NotAProgram(named.display().to_string()));
    }
    NAMES.iter().find_map(|name| on_path(Path::new(name))).ok_or(RendererError::NoBrowser)
}

fn on_path(name: &Path) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|directory| directory.join(name)).find(|program| program.is_file())
}

/// Where events go: by session, or by main frame, which has the name of its tab.
type Routes = Arc<Mutex<FxHashMap<String, UnboundedSender<BrowserEvent>>>>;

/// A browser that runs.
#[derive(Debug)]
pub(super) struct Chrome {
    /// What commands are given through.
    pub pipe: Pipe,
    routes: Routes,
    /// It did not do as it was told, or took too much memory: no page is given to it any more.
    broken: Arc<AtomicBool>,
    child: tokio::sync::Mutex<Child>,
    /// The port that its proxy would listen at, held so that nobody does.
    _nowhere: TcpSocket,
    /// All that it writes; taken away with it.
    _profile: TempDir,
}

impl Chrome {
    /// Starts `program` with a profile in the directory `profiles`. `language` is what scripts are told of ours.
    ///
    /// # Errors
    /// [`RendererError::NoStart`].
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
        // The browser may be started in another directory by its wrapper.
        let root = profile.path().canonicalize().map_err(system)?;
        let nowhere = TcpSocket::new_v4().map_err(system)?;
        nowhere.bind(([127, 0, 0, 1], 0).into()).map_err(system)?;
        let port = nowhere.local_addr().map_err(system)?.port();
        let heap = settings.memory >> 21;
        let said = std::fs::File::create(root.join("said.txt")).map_err(system)?;
        let mut command = Command::new("sh");
        command.args(["-c", HAND_OVER]).arg(program).args(FLAGS);
        command.arg(format!("--user-data-dir={}", root.display()));
        // No name has an address, and all connections go to a proxy that is not there, those to this machine too: what is not
        // asked of us does not happen.
        command.arg("--host-resolver-rules=MAP * ~NOTFOUND").arg("--proxy-bypass-list=<-loopback>");
        command.arg(format!("--proxy-server=socks5://127.0.0.1:{port}"));
        command.arg(format!("--js-flags=--max-old-space-size={heap}"));
        if !language.is_empty() {
            command.arg(format!("--accept-lang={language}"));
        }
        if !settings.sandbox || is_root() {
            command.arg("--no-sandbox");
        }
        // What it writes beside its profile, caches and certificates, goes there too; and it finds no desktop to talk to.
        for name in ["HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME", "TMPDIR"] {
            command.env(name, &root);
        }
        for name in ["DISPLAY", "WAYLAND_DISPLAY", "DBUS_SESSION_BUS_ADDRESS", "http_proxy", "https_proxy", "all_proxy"]
        {
            command.env_remove(name);
        }
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(said).kill_on_drop(true);
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
                let said = std::fs::read_to_string(root.join("said.txt")).unwrap_or_default();
                let last = said.lines().rfind(|line| !line.trim().is_empty()).unwrap_or("no output").trim();
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

    /// From now on every request stops and is shown to the tab that it comes from, or fails if it comes from none.
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
                let heard = tab.is_some_and(|tab| tab.send(event).is_ok());
                if let Some(id) = stopped.filter(|_| !heard) {
                    pipe.tell(None, "Fetch.failRequest", json!({ "requestId": id, "errorReason": "BlockedByClient" }));
                }
            }
            // The browser is gone, and the tabs hear it.
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
                let most = pages.filter_map(|process| resident(process["id"].as_u64()?)).max();
                if most.is_some_and(|most| most > memory) {
                    broken.store(true, Ordering::Relaxed);
                    // A tab alone cannot be ended when it is busy.
                    pipe.tell(None, "Browser.crash", json!({}));
                }
            }
        });
        Ok(())
    }

    /// What happens in the tab of a session and main frame comes out of the channel, which ends with the browser.
    pub fn listen(&self, names: [&str; 2]) -> UnboundedReceiver<BrowserEvent> {
        let (happens, events) = unbounded_channel();
        let mut routes = self.routes.lock().unwrap_or_else(PoisonError::into_inner);
        for name in names {
            routes.insert(name.to_owned(), happens.clone());
        }
        events
    }

    /// Nobody listens any more: what the tab still asks for fails.
    pub fn forget(&self, names: [&str; 2]) {
        let mut routes = self.routes.lock().unwrap_or_else(PoisonError::into_inner);
        for name in names {
            routes.remove(name);
        }
    }

    /// No page is to be given to it any more.
    pub fn give_up(&self) {
        self.broken.store(true, Ordering::Relaxed);
    }

    /// Whether it can take pages.
    pub fn is_sound(&self) -> bool {
        !self.broken.load(Ordering::Relaxed) && !self.pipe.is_closed()
    }

    /// Ends it, and takes away what it wrote.
    pub async fn close(self) {
        self.pipe.tell(None, "Browser.close", json!({}));
        let mut child = self.child.lock().await;
        if timeout(END, child.wait()).await.is_err() {
            let _ = child.kill().await;
        }
    }
}

/// Whether this process is root's, for whom the browser has no sandbox.
fn is_root() -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        std::fs::metadata("/proc/self").is_ok_and(|own| own.uid() == 0)
    }
    #[cfg(not(unix))]
    false
}

/// Memory of a process in bytes, where the system tells it.
fn resident(process: u64) -> Option<usize> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<usize>().ok().map(|kilo| kilo << 10)
}
