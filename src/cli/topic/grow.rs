//! `suidao topic grow`: what the pages of a crawl by keywords have in common.

use std::path::PathBuf;

use anyhow::{Context, Result, bail, ensure};
use clap::Args;
use suidao::html::count;
use suidao::store::CrawlDirectory;
use suidao::store::directory::write_whole;
use suidao::topic::{Grown, LearnOptions, Method, grow};

use super::samples::Drawn;
use super::{build, samples};
use crate::cli::inputs;
use crate::cli::network::ConfigArgs;
use crate::cli::outcome::Verbosity;
use crate::cli::second_opinion;

#[derive(Args)]
pub struct GrowArgs {
    /// Crawl directory, best of a thousand pages or more
    directory: PathBuf,
    /// Lexicon of keywords [default: the copy in the crawl directory]
    #[arg(short = 'm', long, value_name = "LEXICON", help_heading = "Input")]
    lexicon: Option<PathBuf>,
    /// Lexicon to write
    #[arg(short, long, value_name = "LEXICON", help_heading = "Output")]
    output: PathBuf,
    /// Replace an existing lexicon
    #[arg(long, help_heading = "Output")]
    force: bool,
    /// Also learn a second opinion near the boundary, from the embeddings of the judge that [judge] configures
    #[arg(long)]
    judge: bool,
    /// Of it only `[judge]` is used.
    #[command(flatten)]
    config: ConfigArgs,
}

pub fn run(args: &GrowArgs, verbosity: Verbosity) -> Result<()> {
    let output = args.output.display();
    ensure!(
        args.force || !args.output.exists(),
        "{output} already exists; choose another name with -o, or replace it with --force"
    );
    let judge = args.judge.then(|| second_opinion::embedding_judge(args.config.load(&[])?.judge)).transpose()?;
    let topic = inputs::needed_topic_of_crawl(args.lexicon.as_deref(), &CrawlDirectory::new(&args.directory))?;
    let keywords = topic.lexicon();
    if keywords.linear.is_some() {
        bail!(
            "the lexicon {} was learnt from pages, so there is nothing to grow; improve it by labels: \
             suidao label {} and suidao topic learn",
            keywords.name,
            args.directory.display()
        );
    }
    let (found, linking) = samples::from_documents(&args.directory, Drawn::Both)?;
    let mut documents = found.samples;
    documents.extend(found.background);
    let name = args.directory.file_name().map_or_else(|| ".".to_owned(), |name| name.to_string_lossy().into_owned());
    let options = LearnOptions {
        date: jiff::Timestamp::now().strftime("%Y-%m-%d").to_string(),
        sources: vec![name],
        removed_evidence: keywords.evidence.removed.clone(),
        linking,
        ..LearnOptions::new(&keywords.name, Method::Linear)
    };
    let Grown { learnt, samples, background } = grow(keywords, &documents, &options)
        .with_context(|| format!("{}: nothing can be learnt", args.directory.display()))?;
    let mut lexicon = learnt.lexicon;
    let opinion = judge.map(|judge| second_opinion::learn(&judge, &mut lexicon, &samples, &background, verbosity));
    let opinion = opinion.transpose()?;
    write_whole(&args.output, |out| Ok(out.write_all(lexicon.to_toml().as_bytes())?))?;
    if !verbosity.quiet {
        outln!(
            "Learnt from {} that the keywords are surest of, against {} that they reject.",
            count(lexicon.provenance.pages as usize, "document", "documents"),
            background.samples().len()
        );
        build::print(&lexicon)?;
        if let Some(opinion) = opinion {
            outln!("{opinion}");
        }
        let directory = args.directory.display();
        let with = if args.judge { " -c CONFIG.toml" } else { "" };
        outln!(
            "Wrote {output}. Review it, then judge the crawl by it: suidao rescore {directory} -m {output}{with}\n\
             Is it better? suidao topic compare KEYWORDS.toml {output} --crawl {directory}"
        );
    }
    Ok(())
}
