//! Asks a judge about texts, several at a time, within the limits of its settings.

use std::fs;

use tokio::runtime::{Builder, Runtime};
use tokio::task::JoinSet;

use suidao_page::topic::Lexicon;

use super::answer::Answer;
use super::command::Program;
use super::http::Server;
use super::{JudgeError, JudgeFailure, JudgeSettings, PROMPT};

/// Texts of one request for embeddings.
const BATCH: usize = 16;
/// Requests at a time.
const REQUESTS: usize = 4;
/// Failed requests in a row after which the judge is asked no more.
const PATIENCE: usize = 3;
/// Terms of the topic in a question.
const TERMS: usize = 20;

pub struct OutsideJudge {
    runtime: Runtime,
    source: Source,
    /// The question for chat, with `{text}` for the text.
    prompt: String,
    /// Texts that may still be asked about.
    left: u64,
    failed_in_a_row: usize,
}

enum Source {
    Server { server: Server, chat: bool },
    Program(Box<Program>),
}

impl OutsideJudge {
    /// # Errors
    /// [`JudgeError`] if no judge is configured, or the prompt or the key is missing.
    pub fn new(settings: &JudgeSettings, topic: &Lexicon) -> Result<Self, JudgeError> {
        let source = match (&settings.url, &settings.command) {
            (Some(url), _) => Source::Server { server: Server::new(settings, url)?, chat: settings.is_chat() },
            (None, Some(command)) => Source::Program(Box::new(Program::new(settings, command, &topic.name))),
            (None, None) => return Err(JudgeError::NotConfigured),
        };
        let runtime = Builder::new_current_thread().enable_all().build().map_err(JudgeError::Client)?;
        Ok(Self { runtime, source, prompt: prompt(settings, topic)?, left: settings.calls, failed_in_a_row: 0 })
    }

    /// The question of a text, as it is asked: it identifies a verdict of a chat.
    pub fn question(&self, text: &str) -> String {
        match self.source {
            Source::Server { chat: true, .. } => self.prompt.replace("{text}", text),
            Source::Server { .. } | Source::Program(_) => text.to_owned(),
        }
    }

    /// The answers to these texts in order.
    pub fn ask(&mut self, texts: &[String]) -> Vec<Result<Answer, JudgeFailure>> {
        let mut answers = Vec::with_capacity(texts.len());
        let size = if matches!(self.source, Source::Server { chat: true, .. }) { 1 } else { BATCH };
        for round in texts.chunks(size * REQUESTS) {
            let allowed = if self.failed_in_a_row >= PATIENCE { 0 } else { round.len().min(self.left as usize) };
            self.left -= allowed as u64;
            let questions: Vec<String> = round[..allowed].iter().map(|text| self.question(text)).collect();
            let requests: Vec<Vec<String>> = questions.chunks(size).map(<[String]>::to_vec).collect();
            for answered in self.send(requests) {
                let is_failure = answered.iter().all(Result::is_err);
                self.failed_in_a_row = if is_failure { self.failed_in_a_row + 1 } else { 0 };
                answers.extend(answered);
            }
            answers.extend(round[allowed..].iter().map(|_| Err(JudgeFailure::NotAsked)));
        }
        answers
    }

    /// Sends these requests at a time, or to a command one after the other.
    fn send(&mut self, requests: Vec<Vec<String>>) -> Vec<Vec<Result<Answer, JudgeFailure>>> {
        let count = requests.len();
        match &mut self.source {
            Source::Program(program) => self.runtime.block_on(async {
                let mut answers = Vec::with_capacity(count);
                for texts in &requests {
                    answers.push(program.ask(texts).await);
                }
                answers
            }),
            Source::Server { server, .. } => self.runtime.block_on(async {
                let mut tasks = JoinSet::new();
                let sizes: Vec<usize> = requests.iter().map(Vec::len).collect();
                for (number, texts) in requests.into_iter().enumerate() {
                    let server = server.clone();
                    tasks.spawn(async move { (number, server.ask(&texts).await) });
                }
                let missing = |size: usize| vec![Err(JudgeFailure::Died); size];
                let mut answers: Vec<Vec<_>> = sizes.into_iter().map(missing).collect();
                while let Some(done) = tasks.join_next().await {
                    if let Ok((number, answered)) = done {
                        answers[number] = answered;
                    }
                }
                answers
            }),
        }
    }
}

/// The question for chat about a topic.
fn prompt(settings: &JudgeSettings, topic: &Lexicon) -> Result<String, JudgeError> {
    let template = match &settings.prompt {
        None => PROMPT.to_owned(),
        Some(path) => {
            let text = fs::read_to_string(path);
            text.map_err(|source| JudgeError::Prompt { path: path.clone(), source })?
        }
    };
    if !template.contains("{text}") {
        return Err(JudgeError::NoText { path: settings.prompt.clone().unwrap_or_default() });
    }
    let terms: Vec<&str> = topic.main_terms().iter().take(TERMS).map(|(term, _)| term.as_str()).collect();
    Ok(template.replace("{topic}", &topic.name).replace("{terms}", &terms.join(", ")))
}
