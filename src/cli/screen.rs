//! What a crawl says while it runs: a bar on a terminal, plain lines elsewhere, events as JSON for programs.

use std::io;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use suidao::crawl::Progress;
use suidao::live::News;
use suidao::model::{Batch, Event};

use suidao::visible;

use super::{Voice, door};

/// A plain line at least this often.
const LINE_EVERY: Duration = Duration::from_secs(10);

/// The screen of one crawl.
pub struct Screen {
    bar: Option<ProgressBar>,
    lines: bool,
    json: bool,
    begun: Instant,
    told: Instant,
    before: u64,
}

#[allow(clippy::disallowed_methods)] // how long a crawl takes is told to people; nothing is decided by it
fn clock() -> Instant {
    Instant::now()
}

impl Screen {
    /// A screen for a crawl of at most `limit` pages; `json` writes events to the standard output.
    pub fn new(voice: Voice, json: bool, limit: Option<u64>) -> Self {
        let terminal = door::has_a_screen();
        // With -v every page has its line, which a bar would be written across.
        let bar = (terminal && !voice.quiet && voice.verbose == 0 && !json).then(|| {
            let bar = limit.map_or_else(ProgressBar::no_length, ProgressBar::new);
            let style = match limit {
                Some(_) => "{bar:24.cyan/dim} {pos}/{len} pages  {msg}",
                None => "{spinner:.cyan} {pos} pages  {msg}",
            };
            bar.set_style(ProgressStyle::with_template(style).expect("the template is well formed"));
            bar
        });
        let now = clock();
        Self { lines: bar.is_none() && !voice.quiet && !json, bar, json, begun: now, told: now, before: 0 }
    }

    /// Takes in news.
    pub fn tell(&mut self, news: &News) {
        match news {
            News::Ready { resumed, progress } => {
                self.before = progress.pages;
                if *resumed && (self.lines || self.bar.is_some()) {
                    let (pages, queued) = (progress.pages, progress.queued);
                    self.say(&format!("going on from {pages} pages, {queued} URLs queued"));
                }
                self.begun = clock();
            }
            News::Batch(batch, progress) => {
                if self.json {
                    // A reader that went away is no reason to stop a crawl.
                    drop(events(batch, |line| door::say(format_args!("{line}"))));
                }
                self.show(progress.pages, |screen| screen.state(progress));
            }
        }
    }

    /// Takes in the count of a crawl of which no more is known.
    pub fn count(&mut self, pages: u64, relevant: u64) {
        self.show(pages, |screen| screen.pace(pages, relevant));
    }

    fn show(&mut self, pages: u64, state: impl Fn(&Self) -> String) {
        if let Some(bar) = &self.bar {
            bar.set_position(pages);
            bar.set_message(state(self));
        } else if self.lines && self.told.elapsed() >= LINE_EVERY {
            self.told = clock();
            note!("{pages} pages  {}", state(self));
        }
    }

    /// Takes the bar away.
    pub fn clear(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }

    fn say(&self, text: &str) {
        match &self.bar {
            #[allow(clippy::disallowed_methods)] // what it is given is visible
            Some(bar) => bar.println(visible::text(text)),
            None => note!("{text}"),
        }
    }

    fn state(&self, progress: &Progress) -> String {
        let pace = self.pace(progress.pages, progress.relevant);
        let visits = if progress.visits > 0 { format!("  {} visits again", progress.visits) } else { String::new() };
        format!("{pace}{visits}  {} queued  {} hosts", progress.queued, progress.hosts_visited)
    }

    #[allow(clippy::cast_precision_loss)]
    fn pace(&self, pages: u64, relevant: u64) -> String {
        let seconds = self.begun.elapsed().as_secs_f64().max(1e-3);
        let share = 100.0 * relevant as f64 / pages.max(1) as f64;
        format!("{:.0} pages/s  {relevant} relevant ({share:.1}%)", (pages - self.before) as f64 / seconds)
    }
}

/// Hands out the events of a batch, each as a line of JSON with its time.
pub fn events(batch: &Batch, mut write: impl FnMut(&str) -> io::Result<()>) -> io::Result<()> {
    #[derive(serde::Serialize)]
    struct Line<'a> {
        at: u64,
        event: &'a Event,
    }
    for event in &batch.events {
        write(&serde_json::to_string(&Line { at: batch.at.0, event }).expect("events are plain data"))?;
    }
    Ok(())
}
