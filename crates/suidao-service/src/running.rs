//! The crawls that run: each is a `suidao crawl --control` of its own, asked over its input and output. If the service is
//! killed their inputs end, and they stop cleanly.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::process::{Child, ChildStdin, Command};
use tokio::sync::{broadcast, mpsc, oneshot, watch};

use crate::folder::CrawlName;
use crate::problem::Problem;
use crate::program::{messages, spawn};

/// Maximum number of crawls that run at a time.
const MOST: usize = 16;
/// Latest pages that are remembered for clients that come back.
const REMEMBERED: usize = 500;
/// Time for a clean stop, after which a crawl is killed.
const STOPPING: Duration = Duration::from_secs(90);
/// Maximum number of commands without an answer.
const OUTSTANDING: usize = 64;
/// Longest wait for the answer of a busy crawl.
const PATIENCE: Duration = Duration::from_secs(5);

/// How a run of a crawl ended.
#[derive(Clone, Debug, Default)]
pub struct RunEnd {
    /// Exit code; `None` if a signal ended it.
    pub code: Option<i32>,
    /// The end of its messages.
    pub messages: String,
}

#[derive(Debug)]
enum Ask {
    /// A command, and where its answer goes.
    Command(Value, oneshot::Sender<Value>),
    Stop,
    /// Without waiting for it.
    Kill,
}

/// A fetched page with its number, which grows with time.
pub type NumberedPage = (u64, Value);

/// A crawl that runs.
#[derive(Clone, Debug)]
pub struct RunningCrawl {
    /// The latest pages with their numbers, and those who wait for the next.
    pages: Arc<Mutex<VecDeque<NumberedPage>>>,
    news: broadcast::Sender<NumberedPage>,
    asks: mpsc::UnboundedSender<Ask>,
    ended: watch::Receiver<Option<RunEnd>>,
    stopping: Arc<std::sync::atomic::AtomicBool>,
}

impl RunningCrawl {
    /// The answer to a command; `None` if the crawl has ended, or is too busy to answer in time.
    pub async fn ask(&self, command: Value) -> Option<Value> {
        let (answer, answered) = oneshot::channel();
        self.asks.send(Ask::Command(command, answer)).ok()?;
        tokio::time::timeout(PATIENCE, answered).await.ok()?.ok()
    }

    /// The remembered pages after a number, and those to come.
    pub fn pages_after(&self, last: u64) -> (Vec<NumberedPage>, broadcast::Receiver<NumberedPage>) {
        let pages = self.pages.lock().unwrap_or_else(PoisonError::into_inner);
        // Under the lock, so that none is missed or seen twice.
        (pages.iter().filter(|(number, _)| *number > last).cloned().collect(), self.news.subscribe())
    }

    fn tell(&self, page: Value) {
        let mut pages = self.pages.lock().unwrap_or_else(PoisonError::into_inner);
        let number = pages.back().map_or(page["at"].as_u64().unwrap_or_default(), |(last, _)| last + 1);
        if pages.len() == REMEMBERED {
            pages.pop_front();
        }
        pages.push_back((number, page.clone()));
        // Nobody may listen.
        let _ = self.news.send((number, page));
    }

    /// Asks it to stop after the requests in flight.
    pub fn stop(&self) {
        self.stopping.store(true, std::sync::atomic::Ordering::Relaxed);
        let _ = self.asks.send(Ask::Stop);
    }

    pub fn is_stopping(&self) -> bool {
        self.stopping.load(std::sync::atomic::Ordering::Relaxed)
    }

    /// Stops it, and kills it if that takes too long; what is on disk stays. Returns when it has ended.
    pub async fn stop_in_time(&self) {
        self.stop();
        if tokio::time::timeout(STOPPING, self.end()).await.is_err() {
            let _ = self.asks.send(Ask::Kill);
            self.end().await;
        }
    }

    /// Waits for its end.
    pub async fn end(&self) -> RunEnd {
        let mut ended = self.ended.clone();
        let end = ended.wait_for(Option::is_some).await;
        end.map_or_else(|_| RunEnd::default(), |end| end.clone().unwrap_or_default())
    }
}

/// The crawls that run now, and how the last run of each other ended.
#[derive(Debug, Default)]
pub struct RunningCrawls {
    running: Mutex<BTreeMap<CrawlName, RunningCrawl>>,
    ends: Mutex<BTreeMap<CrawlName, RunEnd>>,
}

impl RunningCrawls {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<CrawlName, RunningCrawl>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn ends(&self) -> MutexGuard<'_, BTreeMap<CrawlName, RunEnd>> {
        self.ends.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn get(&self, name: &CrawlName) -> Option<RunningCrawl> {
        self.lock().get(name).cloned()
    }

    pub fn all(&self) -> Vec<RunningCrawl> {
        self.lock().values().cloned().collect()
    }

    pub fn last_end(&self, name: &CrawlName) -> Option<RunEnd> {
        self.ends().get(name).cloned()
    }

    /// Starts a crawl. `over` is called when it has ended and is no longer in the list.
    ///
    /// # Errors
    /// A conflict if it runs already, busy if too many do.
    pub fn start(
        self: &Arc<Self>,
        name: &CrawlName,
        mut command: Command,
        over: impl FnOnce(&RunEnd) + Send + 'static,
    ) -> Result<(), Problem> {
        let mut running = self.lock();
        if running.contains_key(name) {
            return Err(Problem::said("web-runs-already", 409, &[name]));
        }
        if running.len() >= MOST {
            return Err(Problem::busy(format!("{MOST} crawls run already; stop one of them first")));
        }
        let child = spawn(command.stdin(std::process::Stdio::piped()))?;
        let (asks, asked) = mpsc::unbounded_channel();
        let (end, ended) = watch::channel(None);
        let (news, _) = broadcast::channel(REMEMBERED);
        let crawl = RunningCrawl { pages: Arc::default(), news, asks, ended, stopping: Arc::default() };
        running.insert(name.clone(), crawl.clone());
        self.ends().remove(name);
        drop(running);
        let (all, name) = (Arc::clone(self), name.clone());
        tokio::spawn(async move {
            let result = talk(child, asked, &crawl).await;
            all.ends().insert(name.clone(), result.clone());
            all.lock().remove(&name);
            over(&result);
            end.send_replace(Some(result));
        });
        Ok(())
    }
}

/// Passes commands and answers on until the crawl has ended.
async fn talk(mut child: Child, mut asked: mpsc::UnboundedReceiver<Ask>, crawl: &RunningCrawl) -> RunEnd {
    // Of its own, because a crawl whose output is not read does not read its input.
    let (commands, written) = mpsc::unbounded_channel();
    let mut commands = Some(commands);
    tokio::spawn(write(child.stdin.take(), written));
    let heard = tokio::spawn(messages(child.stderr.take(), &|_, _| {}));
    let mut waiting: VecDeque<oneshot::Sender<Value>> = VecDeque::new();
    if let Some(output) = child.stdout.take() {
        let mut lines = BufReader::new(output).lines();
        loop {
            tokio::select! {
                line = lines.next_line() => {
                    let Ok(Some(line)) = line else { break };
                    let mut value: Value = serde_json::from_str(&line).unwrap_or_default();
                    // The last line, which nobody asked for, is the summary.
                    if let Some(page) = value.get_mut("page") {
                        crawl.tell(page.take());
                    } else if value.get("summary").is_none()
                        && let Some(answer) = waiting.pop_front()
                    {
                        let _ = answer.send(value);
                    }
                }
                ask = asked.recv() => match ask {
                    Some(Ask::Command(command, answer)) => {
                        // Without an answer, the one who asks is told that the crawl is busy.
                        if waiting.len() < OUTSTANDING && let Some(commands) = &commands {
                            waiting.push_back(answer);
                            let _ = commands.send(command);
                        }
                    }
                    Some(Ask::Stop) => {
                        if let Some(commands) = commands.take() {
                            let _ = commands.send(json!({ "stop": {} }));
                        }
                    }
                    Some(Ask::Kill) | None => drop(child.start_kill()),
                }
            }
        }
    }
    let status = child.wait().await;
    RunEnd { code: status.ok().and_then(|status| status.code()), messages: heard.await.unwrap_or_default() }
}

/// Writes commands; the input ends with them.
async fn write(input: Option<ChildStdin>, mut commands: mpsc::UnboundedReceiver<Value>) {
    let Some(mut input) = input else { return };
    while let Some(command) = commands.recv().await {
        let line = format!("{command}\n");
        if input.write_all(line.as_bytes()).await.is_err() || input.flush().await.is_err() {
            return;
        }
    }
}
