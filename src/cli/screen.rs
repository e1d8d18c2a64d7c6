//! The output of a running crawl: a bar on a terminal, lines elsewhere, JSON events for programs.

use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use suidao::crawl::{Progress, StopConditions, WaitReasons};
use suidao::html::thousands;
use suidao::live::{News, monotonic_now};
use suidao::model::{CrawlUrl, Millis, span};

use suidao::visible;

use super::outcome::Verbosity;
use super::{events, terminal};

/// Longest time between two lines.
const LINE_EVERY: Duration = Duration::from_secs(10);

pub struct Screen {
    bar: Option<ProgressBar>,
    lines: bool,
    json: bool,
    begun: Instant,
    reported: Instant,
    before: Progress,
    resumed: bool,
    goals: StopConditions,
    /// Whether to print the relevant pages: not without a topic.
    pub scored: bool,
}

impl Screen {
    /// A screen for a crawl with these goals; `json` writes events to standard output.
    pub fn new(verbosity: Verbosity, json: bool, goals: StopConditions) -> Self {
        let limit = goals.pages;
        let terminal = terminal::is_interactive();
        // With -v every page has a line, which would overwrite a bar.
        let bar = (terminal && !verbosity.quiet && verbosity.verbose == 0 && !json).then(|| {
            let bar = limit.map_or_else(ProgressBar::no_length, ProgressBar::new);
            let style = match limit {
                Some(_) => "{bar:24.cyan/dim} {pos}/{len} pages  {elapsed}  {msg}",
                None => "{spinner:.cyan} {pos} pages  {elapsed}  {msg}",
            };
            bar.set_style(ProgressStyle::with_template(style).expect("the template is well formed"));
            // Updates the elapsed time even without news.
            bar.enable_steady_tick(Duration::from_secs(1));
            bar
        });
        let now = monotonic_now();
        Self {
            lines: bar.is_none() && !verbosity.quiet && !json,
            bar,
            json,
            begun: now,
            reported: now,
            before: Progress::default(),
            resumed: false,
            goals,
            scored: true,
        }
    }

    pub fn report(&mut self, news: &News) {
        match news {
            News::Ready { resumed, progress } => {
                (self.before, self.resumed) = (*progress, *resumed);
                if *resumed && (self.lines || self.bar.is_some()) {
                    let [pages, queued] = [progress.pages, progress.queued].map(thousands);
                    self.print(&format!("Resuming at {pages} pages, {queued} URLs queued"));
                }
                self.begun = monotonic_now();
                if let Some(bar) = &self.bar {
                    bar.reset_elapsed();
                }
            }
            News::Batch(batch, crawl) => {
                if self.json {
                    // A closed output does not stop the crawl.
                    drop(events::lines(batch, |id| crawl.url(id), |line| terminal::print_line(format_args!("{line}"))));
                }
                let progress = crawl.progress();
                self.show(progress.pages, |screen| screen.state(&progress));
            }
            News::Seeded { new: (new, named), all } => {
                if self.resumed && *new > 0 && (self.lines || self.bar.is_some()) {
                    let names: Vec<&str> = named.iter().map(CrawlUrl::as_str).collect();
                    let more = if *new > names.len() as u64 { " ..." } else { "" };
                    self.print(&format!("{new} of {all} seeds are new to this crawl: {}{more}", names.join(", ")));
                }
            }
            News::Waiting(waits, now) => {
                if let Some(text) = waiting(waits, *now).filter(|_| self.lines || self.bar.is_some()) {
                    self.reported = monotonic_now();
                    self.print(&text);
                }
            }
        }
    }

    /// Shows the counts of a crawl without further details.
    pub fn count(&mut self, pages: u64, relevant: u64) {
        let progress = Progress { pages, relevant, ..self.before };
        self.show(pages, |screen| screen.pace(&progress));
    }

    fn show(&mut self, pages: u64, state: impl Fn(&Self) -> String) {
        if let Some(bar) = &self.bar {
            bar.set_position(pages);
            bar.set_message(state(self));
        } else if self.lines && self.reported.elapsed() >= LINE_EVERY {
            self.reported = monotonic_now();
            let elapsed = span(self.begun.elapsed().as_secs_f64());
            errln!("{} pages  {elapsed}  {}", thousands(pages), state(self));
        }
    }

    pub fn clear(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }

    /// Prints a line above the progress bar.
    pub fn print(&self, text: &str) {
        match &self.bar {
            #[allow(clippy::disallowed_methods)] // its input is already escaped
            Some(bar) => bar.println(visible::urls(&visible::text(text))),
            None => errln!("{text}"),
        }
    }

    fn state(&self, progress: &Progress) -> String {
        let pace = self.pace(progress);
        let visits =
            if progress.visits > 0 { format!("  {} revisits", thousands(progress.visits)) } else { String::new() };
        format!("{pace}{visits}  {} queued  {} hosts", thousands(progress.queued), thousands(progress.hosts_visited))
    }

    fn pace(&self, progress: &Progress) -> String {
        let Progress { pages, relevant, .. } = progress;
        let seconds = self.begun.elapsed().as_secs_f64().max(1e-3);
        let share = 100.0 * *relevant as f64 / (*pages).max(1) as f64;
        let left = self.goals.seconds_left(&self.before, progress, seconds);
        let left = left.map_or_else(String::new, |left| format!("about {} left  ", span(left)));
        let pace = (pages - self.before.pages) as f64 / seconds;
        // A polite crawl of one host fetches less than a page a second.
        let pace = if pace < 9.95 { format!("{pace:.1}") } else { format!("{pace:.0}") };
        let relevant =
            if self.scored { format!("  {} relevant ({share:.1}%)", thousands(*relevant)) } else { String::new() };
        format!("{left}{pace} pages/s{relevant}")
    }
}

/// What the crawl waits for, and why; `None` if unknown.
fn waiting(waits: &WaitReasons, now: Millis) -> Option<String> {
    let seconds = |at: Millis| at.since(now).div_ceil(1000).max(1);
    let more = |all: u64, named: usize| match all - named as u64 {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let mut result = Vec::new();
    if !waits.in_flight.is_empty() {
        result.push(format!(
            "for an answer from {}{}",
            waits.in_flight.join(", "),
            more(waits.all_in_flight, waits.in_flight.len())
        ));
    }
    if !waits.failing.is_empty() {
        let named: Vec<String> = waits
            .failing
            .iter()
            .map(|(host, why, at)| format!("{host} ({why}; next attempt in {} s)", seconds(*at)))
            .collect();
        result.push(format!("to retry {}{}", named.join(", "), more(waits.all_failing, waits.failing.len())));
    }
    if let Some((host, at)) = waits.waiting.as_ref().filter(|_| result.is_empty()) {
        result.push(format!("{} s before the next request to {host} (politeness delay)", seconds(*at)));
    }
    (!result.is_empty()).then(|| format!("waiting {}", result.join("; ")))
}
