//! `suidao topic`: learns lexicons and measures them.

mod build;
mod compare;
mod grow;
mod learn;
mod lists;
mod samples;
mod test;

use anyhow::Result;
use clap::{Args, Subcommand};

use super::outcome::{Exit, Verbosity};

/// `suidao topic`.
#[derive(Args)]
#[command(after_help = "Example: suidao topic build -o sports.toml --name 体育 --pages samples/")]
pub struct TopicArgs {
    #[command(subcommand)]
    action: Action,
}

#[derive(Subcommand)]
enum Action {
    /// Build a lexicon from sample pages of the topic, keywords, or both
    #[command(
        override_usage = "suidao topic build [OPTIONS] --output <LEXICON> --name <NAME> <SOURCE>...\n       \
            SOURCE: one of --pages, --warc, --urls and --crawl, or --keywords, or both",
        after_help = "Example: suidao topic build -o sports.toml --name 体育 --pages samples/ --background others/"
    )]
    Build(build::BuildArgs),
    /// Improve a lexicon from labelled pages
    #[command(after_help = "Example: suidao topic learn ml.toml --labels ml/labels.tsv --pages ml")]
    Learn(learn::LearnArgs),
    /// Score pages with a lexicon; given labels, measure precision and recall
    #[command(after_help = "Example: suidao topic test -m sports.toml --pages pages/ --labels labels.tsv")]
    Test(test::TestArgs),
    /// Learn from a crawl by keywords what else its pages have in common
    #[command(after_help = "Example: suidao topic grow ml -o ml2.toml")]
    Grow(grow::GrowArgs),
    /// Find out which of two lexicons is better by reading documents on which they disagree
    ///
    /// Both accept equally many documents of a crawl. Some of those that only one accepts are shown, without URL and
    /// tags and without saying which lexicon accepted them; 60 answers usually tell.
    #[command(after_help = format!(
        "{}\n\nExample: suidao topic compare ml.toml better.toml --crawl ml",
        super::label::questions::ANSWERS
    ))]
    Compare(compare::CompareLexiconsArgs),
    /// Train the context graph of strategy context-graph on a recorded web
    #[command(after_help = "Example: suidao topic layers -m sports.toml -s seeds.txt -o layers.toml hosts:recorded/")]
    Layers(super::layers::LayersArgs),
}

pub fn run(args: &TopicArgs, verbosity: Verbosity) -> Result<Exit> {
    match &args.action {
        Action::Build(args) => build::run(args, verbosity)?,
        Action::Learn(args) => learn::run(args, verbosity)?,
        Action::Test(args) => test::run(args)?,
        Action::Grow(args) => grow::run(args, verbosity)?,
        Action::Compare(args) => compare::run(args, verbosity)?,
        Action::Layers(args) => super::layers::run(args, verbosity)?,
    }
    Ok(Exit::Done)
}
