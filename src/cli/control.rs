//! `suidao crawl --control`: commands on standard input; answers and fetched pages on standard output, a line of JSON
//! each. `suidao serve` runs its crawls so. The end of the input stops the crawl, so it does not outlive a program that was killed.

use std::io::BufRead;
use std::sync::Arc;

use serde::Deserialize;
use serde_json::{Value, json};
use suidao::live::CrawlMonitor;
use suidao::model::CrawlUrl;
use suidao::status::{facts, page_facts};
use tokio::sync::oneshot;

use super::inputs;
use super::terminal;

/// Maximum number of seeds of a command.
const MAX_SEEDS: usize = 10_000;

/// A line of the input.
#[derive(Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
enum Command {
    /// `{"status":{}}`: answered by `{"status":{...}}`.
    Status {},
    /// `{"add":["http://a.cn/"]}`: adds seeds; answered by `{"added":N}`, the number of those that were unknown.
    Add(Vec<String>),
    /// `{"stop":{}}`: stops the crawl, as Ctrl-C does.
    Stop {},
}

/// Follows the commands on a thread of its own; the future resolves when the crawl should stop.
pub fn follow(monitor: Arc<CrawlMonitor>) -> std::io::Result<impl Future<Output = ()>> {
    let (stop, stopped) = oneshot::channel();
    let pages = monitor.pages();
    std::thread::Builder::new().name("pages".to_owned()).spawn(move || {
        for page in pages {
            // A closed output does not stop the crawl.
            let _ = terminal::print_line(format_args!("{}", json!({ "page": page_facts(&page) })));
        }
    })?;
    let runtime = tokio::runtime::Builder::new_current_thread().build()?;
    std::thread::Builder::new().name("control".to_owned()).spawn(move || {
        for line in std::io::stdin().lock().lines().map_while(Result::ok) {
            let answer = match serde_json::from_str(&line) {
                Ok(Command::Status {}) => runtime.block_on(async {
                    let snapshot = monitor.snapshot().await;
                    json!({ "status": facts(&monitor.tally(), snapshot.as_ref()) })
                }),
                Ok(Command::Add(words)) => runtime.block_on(add(&monitor, &words)),
                Ok(Command::Stop {}) => break,
                Err(error) => refused(&format!("not a command: {error}")),
            };
            if terminal::print_line(format_args!("{answer}")).is_err() {
                break;
            }
        }
        // The crawl may be over.
        let _ = stop.send(());
    })?;
    Ok(async { drop(stopped.await) })
}

async fn add(monitor: &CrawlMonitor, words: &[String]) -> Value {
    if words.len() > MAX_SEEDS {
        return refused(&format!("more than {MAX_SEEDS} seeds; give them in parts"));
    }
    let mut seeds: Vec<CrawlUrl> = Vec::new();
    for word in words {
        match inputs::parse(word) {
            Ok(urls) => seeds.extend(urls),
            Err(error) => return refused(&format!("{word} is not a URL to crawl: {error}")),
        }
    }
    match monitor.add_seeds(seeds).await {
        Some(added) => json!({ "added": added }),
        None => refused("the crawl is over"),
    }
}

fn refused(why: &str) -> Value {
    json!({ "error": why })
}
