//! `suidao topic`: from pages to a lexicon, and from a lexicon to how well it tells.

mod build;
mod learn;
mod lists;
mod samples;
mod test;

use anyhow::Result;
use clap::{Args, Subcommand};
use suidao::topic::Lexicon;

use super::{Exit, Voice};

/// `suidao topic`.
#[derive(Args)]
#[command(after_help = "Example: suidao topic build -o sports.toml --name 体育 --pages samples/")]
pub struct TopicArgs {
    #[command(subcommand)]
    action: Action,
}

#[derive(Subcommand)]
enum Action {
    /// Learn a lexicon from sample pages of the topic, or from key words
    #[command(
        after_help = "Example: suidao topic build -o sports.toml --name 体育 --pages samples/ --background others/"
    )]
    Build(build::BuildArgs),
    /// Let a linear lexicon learn from labelled pages, as suidao label writes them
    #[command(after_help = "Example: suidao topic learn ml.toml --labels ml/labels.tsv --pages ml")]
    Learn(learn::LearnArgs),
    /// Score pages by a lexicon; with labels, tell how well it does
    #[command(after_help = "Example: suidao topic test -m sports.toml --pages pages/ --labels labels.tsv")]
    Test(test::TestArgs),
    /// Learn from a recorded web how far pages are from the topic, for the strategy context-graph
    #[command(after_help = "Example: suidao topic layers -m sports.toml -s seeds.txt -o layers.toml hosts:recorded/\n\
                      then: suidao crawl --strategy context-graph --set strategy.context-graph.model=layers.toml ...")]
    Layers(super::layers::LayersArgs),
}

/// How `--urls` fetches.
#[derive(Args)]
struct Fetching {
    /// With --urls: mail address or URL by which site owners can reach you
    #[arg(long, value_name = "CONTACT", requires = "urls")]
    contact: Option<String>,
    /// With --urls: HTTP proxy
    #[arg(long, value_name = "URL", requires = "urls")]
    proxy: Option<String>,
    /// With --urls: let private and loopback addresses be fetched
    #[arg(long, requires = "urls")]
    allow_private: bool,
    /// With --urls: override one key of the configuration
    #[arg(long = "set", value_name = "KEY=VALUE", requires = "urls")]
    sets: Vec<String>,
}

/// Runs the verb.
pub fn run(args: &TopicArgs, voice: Voice) -> Result<Exit> {
    match &args.action {
        Action::Build(args) => build::run(args, voice)?,
        Action::Learn(args) => learn::run(args, voice)?,
        Action::Test(args) => test::run(args)?,
        Action::Layers(args) => super::layers::run(args, voice)?,
    }
    Ok(Exit::Done)
}

fn tell(lexicon: &Lexicon) -> Result<()> {
    let first =
        |terms: &[(String, f64)]| terms.iter().take(20).map(|(term, _)| term.as_str()).collect::<Vec<_>>().join(" ");
    say!("{}: {} terms, first {}", lexicon.name, lexicon.terms.len(), first(lexicon.telling_terms()));
    if !lexicon.near.is_empty() {
        say!("{} terms near it, first {}", lexicon.near.len(), first(&lexicon.near));
    }
    if !lexicon.url.is_empty() {
        say!("URL tokens proposed: {}", lexicon.url.join(" "));
    }
    for (name, threshold) in [("page", &lexicon.page), ("link", &lexicon.link)] {
        let expected = match (threshold.precision, threshold.recall) {
            (Some(precision), Some(recall)) => format!("; precision {precision:.2}, recall {recall:.2} expected"),
            (None, Some(recall)) => format!("; recall {recall:.2} expected"),
            _ => String::new(),
        };
        say!("{name} threshold {:.4}: {}{expected}", threshold.value, threshold.chosen);
    }
    Ok(())
}
