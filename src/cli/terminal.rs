//! The only access to the terminal. Text of pages, servers, files and arguments is printed as text only: characters
//! that control a terminal or deceive its reader become escapes ([`visible`]). These are JSON's, so `--json` keeps its
//! values.
//!
//! Our own colours are not text: they are added here ([`MarkedText`]), and by clap, indicatif and tracing around
//! escaped text. Clippy refuses other ways (clippy.toml); tests/safety/control_characters.rs runs all verbs.
#![allow(clippy::disallowed_methods)] // only this file uses stdout and stderr

use std::backtrace::{Backtrace, BacktraceStatus};
use std::fmt::{self, Arguments};
use std::io::{self, IsTerminal, Write};

use suidao::visible;
use tracing::field::Field;
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::field::MakeExt;
use tracing_subscriber::fmt::format::{Format, Writer, debug_fn};
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormatFields};
use tracing_subscriber::registry::LookupSpan;

/// Prints a line to standard output. If its reader is gone the verb ends with that error, which the user does not see
/// (`is_broken_pipe`).
macro_rules! outln {
    ($($word:tt)*) => { $crate::cli::terminal::print_line(format_args!($($word)*))? };
}

/// Prints a line to standard error; failures are ignored.
macro_rules! errln {
    ($($word:tt)*) => { $crate::cli::terminal::print_error(format_args!($($word)*)) };
}

/// As [`errln!`], unless only errors are wanted.
macro_rules! infoln {
    ($verbosity:expr, $($word:tt)*) => { if !$verbosity.quiet { errln!($($word)*) } };
}

/// Implements [`outln!`]. On a terminal URLs are shown decoded, but not in data: JSON, HTML and SVG.
pub fn print_line(words: Arguments) -> io::Result<()> {
    let text = words.to_string();
    if is_read_by_people() && !text.starts_with(['{', '[', '<']) {
        return exact(format_args!("{}", visible::urls(&visible::text(&text))));
    }
    exact(format_args!("{text}"))
}

/// Prints a line to standard output, with URLs unchanged for copying.
pub fn exact(words: Arguments) -> io::Result<()> {
    io::stdout().write_all(visible::text(&format!("{words}\n")).as_bytes())
}

/// Implements [`errln!`]. The number of a system error is left out, because its text is there.
pub fn print_error(words: Arguments) {
    let words = format!("{}\n", without_numbers(&words.to_string()));
    let text = visible::text(&words);
    let read = if is_interactive() { visible::urls(&text) } else { (&*text).into() };
    drop(io::stderr().write_all(read.as_bytes()));
}

/// The text without ` (os error 2)`.
fn without_numbers(text: &str) -> String {
    let Some((first, rest)) = text.split_once(" (os error ") else { return text.to_owned() };
    first.to_owned() + &without_numbers(rest.split_once(')').map_or(rest, |(_, after)| after))
}

/// Prints a question without a line end.
pub fn ask(words: Arguments) -> io::Result<()> {
    let mut out = io::stdout();
    out.write_all(visible::text(&words.to_string()).as_bytes())?;
    out.flush()
}

pub fn is_read_by_people() -> bool {
    io::stdout().is_terminal()
}

/// Whether a progress bar can be drawn.
pub fn is_interactive() -> bool {
    io::stderr().is_terminal()
}

/// Why a piece of text is highlighted.
#[derive(Clone, Copy)]
pub enum Emphasis {
    Hit,
    Term,
    Title,
}

impl Emphasis {
    /// What surrounds the piece.
    fn around(self, colours: bool) -> [&'static str; 2] {
        match (self, colours) {
            (Self::Hit | Self::Title, true) => ["\x1b[1m", "\x1b[0m"],
            (Self::Term, true) => ["\x1b[1;33m", "\x1b[0m"],
            (Self::Hit, false) => ["«", "»"],
            (Self::Term, false) => ["【", "】"],
            (Self::Title, false) => ["", ""],
        }
    }
}

/// Text for standard output with highlights: colours on a terminal, brackets elsewhere. Input is escaped at once.
pub struct MarkedText {
    text: String,
    colours: bool,
}

impl MarkedText {
    pub fn new() -> Self {
        Self { text: String::new(), colours: is_read_by_people() }
    }

    /// Adds a highlighted piece.
    pub fn mark(&mut self, mark: Emphasis, piece: &str) {
        let [open, close] = mark.around(self.colours);
        self.text.extend([open, &visible::text(piece), close]);
    }

    pub fn push(&mut self, piece: &str) {
        let piece = visible::text(piece);
        if self.colours { self.text.push_str(&visible::urls(&piece)) } else { self.text.push_str(&piece) }
    }

    /// Prints it and ends its last line.
    pub fn print(&self) -> io::Result<()> {
        io::stdout().write_all(format!("{}\n", self.text.trim_end()).as_bytes())
    }
}

impl fmt::Write for MarkedText {
    fn write_str(&mut self, piece: &str) -> fmt::Result {
        self.push(piece);
        Ok(())
    }
}

/// Warnings look like those of the verbs; other traces have a time and a level.
struct TraceFormat(Format);

impl<S: Subscriber + for<'a> LookupSpan<'a>, F: for<'a> FormatFields<'a> + 'static> FormatEvent<S, F> for TraceFormat {
    fn format_event(&self, context: &FmtContext<'_, S, F>, mut out: Writer<'_>, event: &Event<'_>) -> fmt::Result {
        if *event.metadata().level() != Level::WARN {
            return self.0.format_event(context, out, event);
        }
        out.write_str("warning: ")?;
        context.format_fields(out.by_ref(), event)?;
        writeln!(out)
    }
}

/// The layer that writes traces to standard error.
pub fn traces<S: Subscriber + for<'a> LookupSpan<'a>>() -> impl Layer<S> {
    tracing_subscriber::fmt::layer()
        .event_format(TraceFormat(Format::default().with_target(false)))
        .fmt_fields(fields())
        .with_writer(io::stderr)
        .with_ansi(io::stderr().is_terminal())
}

/// The format of messages and fields of traces, on the screen and in the log: one line per event.
pub fn fields() -> impl for<'a> FormatFields<'a> + 'static {
    debug_fn(|out: &mut Writer, field: &Field, value: &dyn fmt::Debug| {
        let value = format!("{value:?}");
        match field.name() {
            "message" => out.write_str(&visible::line(&value)),
            name => write!(out, "{name}={}", visible::line(&value)),
        }
    })
    .delimited(" ")
}

/// Prints clap's message. clap repeats arguments, so they are escaped before it parses them again; the colours are its
/// own.
pub fn usage<T>(result: &clap::Error, parse: impl Fn(Vec<String>) -> Result<T, clap::Error>) {
    let typed = std::env::args_os().map(|word| visible::line(&word.to_string_lossy()).into_owned());
    match parse(typed.collect()) {
        Err(again) if again.kind() == result.kind() => drop(again.print()),
        // The escaped arguments no longer cause the error.
        _ => errln!("{}", result.to_string().trim_end()),
    }
}

/// Prints panics here too, because they may contain text of pages.
pub fn report_panics() {
    std::panic::set_hook(Box::new(|panic| {
        let thread = std::thread::current();
        errln!("suidao: thread {} {panic}", thread.name().unwrap_or("(unnamed)"));
        let trace = Backtrace::capture();
        if trace.status() == BacktraceStatus::Captured {
            errln!("{trace}");
        }
    }));
}
