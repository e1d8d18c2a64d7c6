//! Asks a command: a line of JSON in for each text, a line of JSON out, in any order.
//!
//! ```text
//! {"id": 0, "topic": "机器学习", "text": "..."}
//! {"id": 0, "vector": [0.1, ...]}       or       {"id": 0, "answer": "yes"}
//! ```

use std::process::Stdio;
use std::time::Duration;

use serde_json::json;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::time::timeout;

use super::answer::{self, Answer};
use super::http::MAX_ANSWER;
use super::{JudgeFailure, JudgeSettings};

/// A command that runs as long as it answers, and is started again for the next texts if it failed.
pub(super) struct Program {
    command: String,
    topic: String,
    timeout: Duration,
    running: Option<Running>,
    next: u64,
}

struct Running {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Program {
    pub(super) fn new(settings: &JudgeSettings, command: &str, topic: &str) -> Self {
        let timeout = Duration::from_secs_f64(settings.timeout);
        Self { command: command.to_owned(), topic: topic.to_owned(), timeout, running: None, next: 0 }
    }

    pub(super) async fn ask(&mut self, texts: &[String]) -> Vec<Result<Answer, JudgeFailure>> {
        let first = self.next;
        self.next += texts.len() as u64;
        let mut answers: Vec<Option<Result<Answer, JudgeFailure>>> = vec![None; texts.len()];
        if let Err(failure) = self.exchange(first, texts, &mut answers).await {
            self.running = None;
            answers.iter_mut().for_each(|answer| *answer = answer.take().or(Some(Err(failure))));
        }
        answers.into_iter().map(|answer| answer.unwrap_or(Err(JudgeFailure::Nonsense))).collect()
    }

    /// Sends the texts and reads answers until none is missing. An error is that of all that have none.
    async fn exchange(
        &mut self,
        first: u64,
        texts: &[String],
        answers: &mut [Option<Result<Answer, JudgeFailure>>],
    ) -> Result<(), JudgeFailure> {
        let running = match &mut self.running {
            Some(running) => running,
            running => running.insert(start(&self.command)?),
        };
        let line =
            |(id, text): (u64, &String)| json!({ "id": id, "topic": self.topic, "text": text }).to_string() + "\n";
        let lines: String = (first..).zip(texts).map(line).collect();
        let Running { input, output, .. } = running;
        let write = async {
            // A command that reads no more has ended or answers; the other side tells.
            let _ = input.write_all(lines.as_bytes()).await;
            let _ = input.flush().await;
            std::future::pending::<()>().await;
        };
        let read = async {
            while answers.iter().any(Option::is_none) {
                let line = timeout(self.timeout, one_line(output)).await.map_err(|_| JudgeFailure::Timeout)??;
                let (id, answer) = answer::line(&line);
                let named = id.and_then(|id| id.checked_sub(first)).and_then(|at| usize::try_from(at).ok());
                // A line that names no text of these is the answer to the first that has none.
                let (at, answer) = match named.filter(|at| answers.get(*at).is_some_and(Option::is_none)) {
                    Some(at) => (Some(at), answer),
                    None => {
                        let failure = answer.err().unwrap_or(JudgeFailure::Nonsense);
                        (answers.iter().position(Option::is_none), Err(failure))
                    }
                };
                if let Some(at) = at {
                    answers[at] = Some(answer);
                }
            }
            Ok(())
        };
        tokio::select! {
            () = write => Ok(()),
            done = read => done,
        }
    }
}

impl Drop for Running {
    /// Kills the command with what it has started.
    fn drop(&mut self) {
        use rustix::process::{Pid, Signal, kill_process_group};
        if let Some(group) = self.child.id().and_then(|id| Pid::from_raw(id.cast_signed())) {
            // It may have ended.
            let _ = kill_process_group(group, Signal::KILL);
        }
    }
}

fn start(command: &str) -> Result<Running, JudgeFailure> {
    let mut shell = Command::new("sh");
    shell.arg("-c").arg(command).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).process_group(0);
    let mut child = shell.spawn().map_err(|_| JudgeFailure::Died)?;
    let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else { return Err(JudgeFailure::Died) };
    Ok(Running { child, input, output: BufReader::new(output) })
}

async fn one_line(output: &mut BufReader<ChildStdout>) -> Result<Vec<u8>, JudgeFailure> {
    let mut line = Vec::new();
    let limited = &mut output.take(MAX_ANSWER as u64 + 1);
    limited.read_until(b'\n', &mut line).await.map_err(|_| JudgeFailure::Died)?;
    match line.last() {
        Some(b'\n') => Ok(line),
        Some(_) if line.len() > MAX_ANSWER => Err(JudgeFailure::TooLarge),
        Some(_) => Err(JudgeFailure::Incomplete),
        None => Err(JudgeFailure::Died),
    }
}
