//! The one way from here to the terminal. Whatever is printed goes through it, and nothing that a page, a server, a file or
//! an argument says comes out as anything but text: characters that steer a terminal or deceive its reader are shown as
//! escapes ([`visible`]). As those are JSON's, `--json` writes the same values.
//!
//! Our own colours are no text: they are put around it here ([`Shown`]), and by clap, indicatif and tracing around what is
//! made visible before. Clippy refuses every other way (clippy.toml, main.rs), and tests/safety/terminal.rs runs all verbs.
#![allow(clippy::disallowed_methods)] // stdout and stderr are had here and nowhere else

use std::backtrace::{Backtrace, BacktraceStatus};
use std::fmt::{self, Arguments};
use std::io::{self, IsTerminal, Write};

use suidao::visible;
use tracing::Subscriber;
use tracing::field::Field;
use tracing_subscriber::Layer;
use tracing_subscriber::field::MakeExt;
use tracing_subscriber::fmt::FormatFields;
use tracing_subscriber::fmt::format::{Writer, debug_fn};
use tracing_subscriber::registry::LookupSpan;

/// Writes a line to the standard output. Where its reader went away the verb ends with that error, which is none to the
/// user (`is_broken_pipe`).
macro_rules! outln {
    ($($word:tt)*) => { $crate::cli::terminal::say(format_args!($($word)*))? };
}

/// Writes a line to the standard error. That nobody can read it is no reason to stop.
macro_rules! errln {
    ($($word:tt)*) => { $crate::cli::terminal::note(format_args!($($word)*)) };
}

/// What [`outln!`] does. On a terminal URLs are shown with their letters decoded, but not in data: JSON, HTML and SVG.
pub fn say(words: Arguments) -> io::Result<()> {
    let text = words.to_string();
    if is_read_by_people() && !text.starts_with(['{', '[', '<']) {
        return exact(format_args!("{}", visible::urls(&visible::text(&text))));
    }
    exact(format_args!("{text}"))
}

/// Writes a line to the standard output whose URLs are to be copied as they are.
pub fn exact(words: Arguments) -> io::Result<()> {
    io::stdout().write_all(visible::text(&format!("{words}\n")).as_bytes())
}

/// What [`errln!`] does.
pub fn note(words: Arguments) {
    let words = format!("{words}\n");
    let text = visible::text(&words);
    let read = if has_a_screen() { visible::urls(&text) } else { (&*text).into() };
    drop(io::stderr().write_all(read.as_bytes()));
}

/// Writes what is to be answered on the same line.
pub fn ask(words: Arguments) -> io::Result<()> {
    let mut out = io::stdout();
    out.write_all(visible::text(&words.to_string()).as_bytes())?;
    out.flush()
}

/// Whether people look at the standard output.
pub fn is_read_by_people() -> bool {
    io::stdout().is_terminal()
}

/// Whether a bar can be drawn.
pub fn has_a_screen() -> bool {
    io::stderr().is_terminal()
}

/// Why a piece of text stands out.
#[derive(Clone, Copy)]
pub enum Emphasis {
    /// Words of a query.
    Hit,
    /// A term of the topic.
    Term,
    /// A title.
    Title,
}

impl Emphasis {
    /// What stands around the piece.
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

/// Text on its way to the standard output, with marks: colours on a terminal, brackets elsewhere. What is written to it is
/// made visible at once.
pub struct MarkedText {
    text: String,
    colours: bool,
}

impl MarkedText {
    /// Nothing yet.
    pub fn new() -> Self {
        Self { text: String::new(), colours: is_read_by_people() }
    }

    /// Adds a piece that stands out.
    pub fn mark(&mut self, mark: Emphasis, piece: &str) {
        let [open, close] = mark.around(self.colours);
        self.text.extend([open, &visible::text(piece), close]);
    }

    /// Adds a piece.
    pub fn push(&mut self, piece: &str) {
        let piece = visible::text(piece);
        if self.colours { self.text.push_str(&visible::urls(&piece)) } else { self.text.push_str(&piece) }
    }

    /// Writes it, and ends its last line.
    pub fn say(&self) -> io::Result<()> {
        io::stdout().write_all(format!("{}\n", self.text.trim_end()).as_bytes())
    }
}

impl fmt::Write for MarkedText {
    fn write_str(&mut self, piece: &str) -> fmt::Result {
        self.push(piece);
        Ok(())
    }
}

/// The layer that writes traces to the standard error.
pub fn traces<S: Subscriber + for<'a> LookupSpan<'a>>() -> impl Layer<S> {
    tracing_subscriber::fmt::layer()
        .fmt_fields(fields())
        .with_writer(io::stderr)
        .with_target(false)
        .with_ansi(io::stderr().is_terminal())
}

/// How messages and fields of traces are written, on the screen and in the log: an event is one line.
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

/// Tells what clap says of the arguments. It says them again, so they are made visible before it reads them; colours are its
/// own.
pub fn usage<T>(told: &clap::Error, parse: impl Fn(Vec<String>) -> Result<T, clap::Error>) {
    let typed = std::env::args_os().map(|word| visible::line(&word.to_string_lossy()).into_owned());
    match parse(typed.collect()) {
        Err(again) if again.kind() == told.kind() => drop(again.print()),
        // Something was wrong that cannot be seen any more.
        _ => errln!("{}", told.to_string().trim_end()),
    }
}

/// Has a panic told here too: it may say what a page says.
pub fn tell_panics() {
    std::panic::set_hook(Box::new(|panic| {
        let thread = std::thread::current();
        errln!("suidao: thread {} {panic}", thread.name().unwrap_or("(unnamed)"));
        let trace = Backtrace::capture();
        if trace.status() == BacktraceStatus::Captured {
            errln!("{trace}");
        }
    }));
}
