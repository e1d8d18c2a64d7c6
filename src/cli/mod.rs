//! The command line: one file per verb. Arguments are converted to settings here. Exit codes: 0 done, 1 stopped before
//! its goal, 2 wrong usage, configuration or input, 130 interrupted.

// First, because all modules use its macros.
#[macro_use]
mod terminal;

mod access_log;
mod check;
#[cfg_attr(not(feature = "cluster"), path = "cluster/absent.rs")]
mod cluster;
mod compare;
mod control;
mod crawl;
mod demo;
mod dry_run;
mod evaluate;
mod events;
mod export;
mod extraction;
mod filter;
mod forum;
mod graph;
mod import;
mod index;
mod inputs;
mod journal;
mod label;
mod layers;
#[cfg(feature = "mcp")]
mod mcp;
mod names;
mod nats;
mod network;
mod operate;
mod outcome;
mod practice;
mod refresh;
mod replay;
mod report;
mod rescore;
mod screen;
mod search;
mod second_opinion;
mod seeds;
mod serve;
mod shell;
mod signals;
mod source;
mod summary;
mod temporary;
mod topic;
mod trial;
mod why;

use std::process::ExitCode;

use clap::{CommandFactory, Parser, Subcommand};
use suidao::export::engines::push::PushError;
use suidao::index::IndexError;
use suidao::live::LiveError;
use suidao::recorded::RecordedError;
use suidao::store::StoreError;
use tracing_subscriber::Layer;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

use outcome::{Exit, Verbosity};

/// A focused web crawler that follows off-topic links when they lead back to the topic.
#[derive(Parser)]
#[command(name = "suidao", version, max_term_width = 100, after_help = "Example: suidao demo")]
struct Cli {
    #[command(subcommand)]
    verb: Verb,
    #[command(flatten)]
    verbosity: Verbosity,
}

#[derive(Subcommand)]
enum Verb {
    /// Crawl a generated web on loopback with five strategies and compare them
    Demo(demo::DemoArgs),
    /// Build, improve and test topic lexicons
    Topic(topic::TopicArgs),
    /// Crawl for a topic from seed URLs; rerun the command to resume
    Crawl(crawl::CrawlArgs),
    /// Make a crawl directory from the WARC files of any crawler
    Import(import::ImportArgs),
    /// Crawl a forum: boards, threads and posts
    Forum(forum::ForumArgs),
    /// Revisit the pages of a crawl to find changed, new and deleted pages
    Refresh(refresh::RefreshArgs),
    /// Judge the stored pages of a crawl by another lexicon or page threshold
    Rescore(rescore::RescoreArgs),
    /// Propose seeds for a topic from a crawl, an archive's index or a search service
    Seeds(seeds::SeedsArgs),
    /// Simulate a crawl of a recorded or generated web, without a network
    Replay(replay::ReplayArgs),
    /// Explain how a URL was found, what it scored, or why it was skipped
    Why(why::WhyArgs),
    /// Export the pages of a crawl to a file or a search server
    Export(export::ExportArgs),
    /// Manage a distributed crawl
    Cluster(cluster::ClusterArgs),
    /// Run a worker of a distributed crawl
    Worker(cluster::WorkerArgs),
    /// Search the pages of a crawl
    Search(search::SearchArgs),
    /// Measure what queries find in a crawl as it progressed
    Evaluate(evaluate::EvaluateArgs),
    /// Write an HTML report about a crawl
    Report(report::ReportArgs),
    /// Show the link graph of a crawl: islands of relevant pages, tunnels and gates
    Graph(graph::GraphArgs),
    /// Serve a local search page for a crawl
    Serve(serve::ServeArgs),
    /// Give an agent tools to search and read the crawls of a folder (MCP)
    #[cfg(feature = "mcp")]
    Mcp(mcp::McpArgs),
    /// Label a sample of pages to measure the crawl's precision and recall
    Label(label::LabelArgs),
    /// Compare crawl strategies on recorded or generated webs
    Compare(compare::CompareArgs),
    /// Serve a generated web on loopback to practise on
    Practice(practice::PracticeArgs),
    /// Inspect one page, robots.txt, URL, configuration or crawl directory
    Check(check::CheckArgs),
    /// Print a completion script for a shell
    Completions(shell::CompletionsArgs),
    /// Write man pages, one per verb
    Man(shell::ManArgs),
}

/// Parses the arguments, runs the verb, prints an error, and returns the exit code.
pub fn main() -> ExitCode {
    terminal::report_panics();
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(result) => {
            // Help and version are not errors; clap chooses the stream.
            let code = if result.use_stderr() { 2 } else { 0 };
            terminal::usage(&result, Cli::try_parse_from);
            return ExitCode::from(code);
        }
    };
    let level = match (cli.verbosity.quiet, cli.verbosity.verbose) {
        (true, _) => "error",
        (false, 0) => "warn",
        (false, 1) => "suidao=debug,warn",
        (false, _) => "trace",
    };
    // The NATS client logs errors that we report ourselves.
    let level = format!("{level},async_nats=off");
    let filter = tracing_subscriber::EnvFilter::try_from_env("SUIDAO_LOG").unwrap_or_else(|_| level.into());
    tracing_subscriber::registry().with(terminal::traces().with_filter(filter)).with(journal::layer()).init();
    #[cfg(unix)]
    survive_file_limits();
    let ended = match cli.verb {
        Verb::Demo(args) => demo::run(&args, cli.verbosity),
        Verb::Topic(args) => topic::run(&args, cli.verbosity),
        Verb::Crawl(args) => crawl::run(&args, cli.verbosity),
        Verb::Import(args) => import::run(&args, cli.verbosity),
        Verb::Forum(args) => forum::run(&args, cli.verbosity),
        Verb::Refresh(args) => refresh::run(&args, cli.verbosity),
        Verb::Rescore(args) => rescore::run(&args, cli.verbosity),
        Verb::Seeds(args) => seeds::run(&args, cli.verbosity),
        Verb::Replay(args) => replay::run(&args, cli.verbosity),
        Verb::Why(args) => why::run(&args, cli.verbosity),
        Verb::Export(args) => export::run(&args, cli.verbosity),
        Verb::Cluster(args) => cluster::run(&args, cli.verbosity),
        Verb::Worker(args) => cluster::work(&args, cli.verbosity),
        Verb::Search(args) => search::run(&args, cli.verbosity),
        Verb::Evaluate(args) => evaluate::run(&args, cli.verbosity),
        Verb::Report(args) => report::run(&args, cli.verbosity),
        Verb::Graph(args) => graph::run(&args, cli.verbosity),
        Verb::Serve(args) => serve::run(&args, cli.verbosity),
        #[cfg(feature = "mcp")]
        Verb::Mcp(args) => mcp::run(&args),
        Verb::Label(args) => label::run(&args, cli.verbosity),
        Verb::Compare(args) => compare::run(&args, cli.verbosity),
        Verb::Practice(args) => practice::run(&args, cli.verbosity),
        Verb::Check(args) => check::run(&args, cli.verbosity),
        Verb::Completions(args) => shell::completions(&args, &mut Cli::command()),
        Verb::Man(args) => shell::man(&args, Cli::command()),
    };
    match ended {
        Ok(Exit::Done) => ExitCode::SUCCESS,
        Ok(Exit::Incomplete) => ExitCode::from(1),
        Ok(Exit::Invalid) => ExitCode::from(2),
        Ok(Exit::Interrupted) => ExitCode::from(130),
        Err(error) => {
            if is_broken_pipe(&error) {
                return ExitCode::SUCCESS;
            }
            if let Some(wrong) = error.downcast_ref::<inputs::WrongLines>() {
                wrong.listed().for_each(|line| errln!("  {line}"));
            }
            errln!("suidao: {}", sentence(&error));
            ExitCode::from(if is_environment(&error) { 1 } else { 2 })
        }
    }
}

/// A write beyond the file-size limit (`ulimit -f`) should fail with an error, as on a full disk, instead of ending the
/// process by SIGXFSZ. Tokio's handler stays installed for the rest of the process, and needs no unsafe code.
#[cfg(unix)]
fn survive_file_limits() {
    /// On Linux (except MIPS), macOS and the BSDs.
    const SIGXFSZ: i32 = 25;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let kind = tokio::signal::unix::SignalKind::from_raw(SIGXFSZ);
    // If this fails the default action remains.
    drop(runtime.and_then(|runtime| runtime.block_on(async { tokio::signal::unix::signal(kind) })));
}

/// The error and its causes in one line, without causes that it already contains. Advice, which follows a semicolon,
/// comes after the causes.
fn sentence(error: &anyhow::Error) -> String {
    let of_cluster = error.chain().find_map(|cause| match cause.downcast_ref() {
        Some(StoreError::NoCrawl { dir, .. }) => dir.to_str()?.strip_prefix(source::CLUSTER),
        _ => None,
    });
    if let Some(name) = of_cluster {
        let needed = "is not a crawl directory, which this verb needs; write one";
        return format!("{}{name} {needed} with `suidao cluster collect {name} -o DIR`", source::CLUSTER);
    }
    let (mut text, mut advice) = (String::new(), String::new());
    for cause in error.chain() {
        let cause = cause.to_string().lines().map(str::trim).collect::<Vec<_>>().join(" ");
        if !format!("{text}{advice}").contains(&cause) {
            let end = cause.find("; ").unwrap_or(cause.len());
            text += if text.is_empty() { "" } else { ": " };
            text += &cause[..end];
            advice.insert_str(0, &cause[end..]);
        }
    }
    text + &advice
}

/// Whether the disk or machine failed, not the user's input: the same command may resume later.
fn is_environment(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        let store = match (cause.downcast_ref::<LiveError>(), cause.downcast_ref::<RecordedError>()) {
            (Some(LiveError::Store(error)), _) | (_, Some(RecordedError::Store(error))) => Some(error),
            _ => match cause.downcast_ref::<IndexError>() {
                Some(IndexError::Store(error)) => Some(error),
                _ => cause.downcast_ref::<StoreError>(),
            },
        };
        store.is_some_and(StoreError::is_environment)
            || matches!(cause.downcast_ref::<LiveError>(), Some(LiveError::Threads(_) | LiveError::ProxyLost))
            || matches!(cause.downcast_ref::<PushError>(), Some(PushError::Unreachable(_)))
    }) || cluster::is_environment(error)
}

/// The reader of our output is gone: `suidao ... | head`.
fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        let io = cause.downcast_ref::<std::io::Error>().or_else(|| match cause.downcast_ref::<StoreError>() {
            Some(StoreError::Io { source, .. }) => Some(source),
            _ => None,
        });
        io.is_some_and(|error| error.kind() == std::io::ErrorKind::BrokenPipe)
    })
}
