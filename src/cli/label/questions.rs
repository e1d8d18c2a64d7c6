//! Asks about pages one after the other; each answer is a line.

use std::io::BufRead;

use anyhow::Result;
use suidao::model::CrawlUrl;

use crate::cli::terminal::{self, MarkedText};

/// What the answers are.
pub const ANSWERS: &str = "Answers are lines: y, n, s (skip), u (undo), o (print the URL), q (quit).";

/// What to store about one of the pages, by its index.
#[derive(Clone, Copy)]
pub enum Reply {
    Answer {
        page: usize,
        on_topic: bool,
    },
    /// The answer about this page, the last one, was a mistake.
    Undo {
        page: usize,
    },
}

/// Asks whether each page is about the topic, until there are no more or the user ends it. `answered` pages have an
/// answer already.
pub fn ask(
    topic: &str,
    mut answered: usize,
    pages: &[(CrawlUrl, MarkedText)],
    mut store: impl FnMut(Reply) -> Result<()>,
) -> Result<()> {
    let mut lines = std::io::stdin().lock().lines();
    let (mut next, mut history) = (0, Vec::new());
    while let Some((url, text)) = pages.get(next) {
        outln!("\n── {} of {} ─────────────────────────────────────────", answered + 1, answered + pages.len() - next);
        text.print()?;
        outln!("");
        let answer = loop {
            terminal::ask(format_args!("about {topic}? y/n/s/u/o/q > "))?;
            let line = lines.next().transpose()?.unwrap_or_else(|| "q".to_owned());
            match line.trim().to_lowercase().as_str() {
                "y" | "yes" | "1" => break 'y',
                "n" | "no" | "0" => break 'n',
                "s" | "skip" => break 's',
                "u" | "undo" => break 'u',
                "q" | "quit" => break 'q',
                "o" | "open" => outln!("{url}"),
                _ => outln!("y: yes, n: no, s: skip, u: undo the last, o: print the URL, q: quit"),
            }
        };
        match answer {
            'q' => break,
            'u' => match history.pop() {
                Some((page, is_stored)) => {
                    if is_stored {
                        store(Reply::Undo { page })?;
                        answered -= 1;
                    }
                    next = page;
                }
                None => outln!("nothing to undo in this session"),
            },
            _ => {
                if answer != 's' {
                    store(Reply::Answer { page: next, on_topic: answer == 'y' })?;
                    answered += 1;
                }
                history.push((next, answer != 's'));
                next += 1;
            }
        }
    }
    outln!("");
    Ok(())
}
