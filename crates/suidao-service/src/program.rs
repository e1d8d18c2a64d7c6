//! The program's verbs as child processes: everything that changes a crawl is one of them, so the service can do nothing
//! that the command line cannot, and a crash of one harms no other.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use serde_json::Value;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, BufReader};
use tokio::process::{Child, Command};
use tokio::sync::watch;

use crate::problem::Problem;

/// Maximum size of a verb's output.
const MAX_OUTPUT: u64 = 64 << 20;
/// Maximum size of the end of its messages that is kept.
const MAX_MESSAGES: usize = 8 << 10;
/// Time for a clean stop, after which a process is killed.
const STOPPING: Duration = Duration::from_secs(30);

/// The program, and the administrator's configuration.
#[derive(Clone, Debug)]
pub struct Program {
    pub executable: PathBuf,
    /// Settings that no crawl directory may hold: proxy, credentials, private addresses, the judge.
    pub machine: Option<PathBuf>,
}

/// What a verb printed, and how it ended.
#[derive(Debug)]
pub struct Ended {
    /// `None` if a signal ended it.
    pub code: Option<i32>,
    pub output: Vec<u8>,
    /// The last lines of its messages.
    pub messages: String,
}

impl Program {
    /// A verb with its arguments.
    pub fn verb<S: AsRef<OsStr>>(&self, words: impl IntoIterator<Item = S>) -> Command {
        let mut command = Command::new(&self.executable);
        command.args(words).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        // A panic of the service leaves no orphans.
        command.kill_on_drop(true).env("LC_ALL", "C.UTF-8");
        command
    }

    /// Adds the administrator's configuration, then that of a crawl.
    pub fn configured<'a>(&self, command: &'a mut Command, own: Option<&Path>) -> &'a mut Command {
        for path in self.machine.as_deref().into_iter().chain(own) {
            command.arg("-c").arg(path);
        }
        command
    }
}

/// Runs a verb until it ends. When `cancelled` becomes true it is asked to stop. `progress` gets what it has done, and
/// of how much.
pub async fn run(
    mut command: Command,
    mut cancelled: watch::Receiver<bool>,
    progress: impl Fn(u64, u64),
) -> Result<Ended, Problem> {
    let mut child = spawn(&mut command)?;
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    let output = async {
        let mut all = Vec::new();
        if let Some(stdout) = stdout {
            let _ = stdout.take(MAX_OUTPUT + 1).read_to_end(&mut all).await;
        }
        all
    };
    let cancel = async {
        // An error means that nobody can cancel it any more.
        if cancelled.wait_for(|cancelled| *cancelled).await.is_err() {
            std::future::pending::<()>().await;
        }
    };
    let work = async { tokio::join!(output, messages(stderr, &progress)) };
    tokio::pin!(work);
    let (output, messages) = tokio::select! {
        done = &mut work => done,
        () = cancel => {
            interrupt(&child);
            match tokio::time::timeout(STOPPING, &mut work).await {
                Ok(done) => done,
                Err(_) => {
                    let _ = child.start_kill();
                    work.await
                }
            }
        }
    };
    if output.len() as u64 > MAX_OUTPUT {
        let _ = child.start_kill();
        return Err(Problem::internal("the answer is too long; narrow the request down"));
    }
    let status = child.wait().await.map_err(Problem::internal)?;
    Ok(Ended { code: status.code(), output, messages })
}

/// Starts a process, with a sentence if it cannot.
pub fn spawn(command: &mut Command) -> Result<Child, Problem> {
    command.spawn().map_err(|error| match error.kind() {
        std::io::ErrorKind::InvalidInput => Problem::bad("a text has a NUL character, which no text may have"),
        _ => Problem::busy(format!("cannot start a process: {error}; try again later")),
    })
}

/// The last lines of the messages; lines of progress are passed on instead.
pub async fn messages(from: Option<impl AsyncRead + Unpin>, progress: &impl Fn(u64, u64)) -> String {
    let mut kept = String::new();
    let Some(from) = from else { return kept };
    // Without a limit on a line, which the program's own lines do not need.
    let mut lines = BufReader::new(from).lines();
    while let Ok(Some(line)) = lines.next_line().await {
        let told: Option<Value> = line.strip_prefix("{\"progress\":").and_then(|_| serde_json::from_str(&line).ok());
        if let Some(told) = told {
            let number = |at: usize| told["progress"][at].as_u64().unwrap_or_default();
            progress(number(0), number(1));
            continue;
        }
        kept.push_str(&line);
        kept.push('\n');
        let excess = kept.len().saturating_sub(MAX_MESSAGES);
        if excess > 0 {
            let cut = (excess..kept.len()).find(|&at| kept.is_char_boundary(at)).unwrap_or(kept.len());
            kept.drain(..cut);
        }
    }
    kept
}

/// Asks a process to stop, as Ctrl-C does.
fn interrupt(child: &Child) {
    #[cfg(unix)]
    if let Some(id) = child.id().and_then(|id| rustix::process::Pid::from_raw(i32::try_from(id).ok()?)) {
        let _ = rustix::process::kill_process(id, rustix::process::Signal::INT);
    }
    #[cfg(not(unix))]
    let _ = child;
}

impl Ended {
    /// Its output as JSON: the last line, or the whole.
    pub fn json(&self) -> Result<Value, Problem> {
        let text = String::from_utf8_lossy(&self.output);
        let last = text.trim_end().rsplit('\n').next().unwrap_or_default();
        let parsed = serde_json::from_str(&text).or_else(|_| serde_json::from_str(last));
        parsed.map_err(|error| Problem::internal(format!("the program's answer is not JSON: {error}")))
    }

    /// Whether it reached its goal, or was asked to stop (exit code 130); else the problem that it states. `hidden`:
    /// a path that is not the client's business.
    pub fn checked(self, hidden: &Path) -> Result<Self, Problem> {
        match self.code {
            Some(0 | 130) => Ok(self),
            Some(2) => Err(Problem::bad(self.sentence(hidden))),
            _ => Err(Problem::internal(self.sentence(hidden))),
        }
    }

    /// What it said last.
    pub fn sentence(&self, hidden: &Path) -> String {
        sentence(&self.messages, hidden)
    }
}

/// The error among messages of the program, without a path.
pub fn sentence(messages: &str, hidden: &Path) -> String {
    let of_program = |line: &&str| line.starts_with("suidao: ") || line.starts_with("error: ");
    let lines: Vec<&str> = messages.lines().collect();
    let from = lines.iter().rposition(of_program).unwrap_or(lines.len().saturating_sub(1));
    let text = lines[from.min(lines.len())..].join(" ");
    let text = text.strip_prefix("suidao: ").or_else(|| text.strip_prefix("error: ")).unwrap_or(&text).to_owned();
    let text = text.replace(&format!("{}/", hidden.display()), "").replace(".service/", "");
    if text.is_empty() { "the program ended without a message".to_owned() } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_error_is_found_and_the_place_hidden() {
        let hidden = Path::new("/srv/crawls");
        let text = "warning: x\nsuidao: /srv/crawls/ml/.service/seeds.txt, line 1: x is not a URL\n";
        assert_eq!(sentence(text, hidden), "ml/seeds.txt, line 1: x is not a URL");
        assert_eq!(sentence("", hidden), "the program ended without a message");
        assert_eq!(sentence("only this\n", hidden), "only this");
    }
}
