//! `suidao topic grow`: what the pages of a crawl by keywords have in common.

use std::path::PathBuf;

use anyhow::{Context, Result, bail, ensure};
use clap::Args;
use suidao::html::count;
use suidao::store::CrawlDirectory;
use suidao::store::directory::write_whole;
use suidao::topic::{LearnOptions, Method, grow};

use super::{build, samples};
use crate::cli::inputs;
use crate::cli::outcome::Verbosity;

#[derive(Args)]
pub struct GrowArgs {
    /// Crawl directory of at least some hundred pages
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
}

pub fn run(args: &GrowArgs, verbosity: Verbosity) -> Result<()> {
    let output = args.output.display();
    ensure!(
        args.force || !args.output.exists(),
        "{output} already exists; choose another name with -o, or replace it with --force"
    );
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
    let found = samples::from_documents(&args.directory, true)?;
    let mut documents = found.samples;
    documents.extend(found.background);
    let name = args.directory.file_name().map_or_else(|| ".".to_owned(), |name| name.to_string_lossy().into_owned());
    let options = LearnOptions {
        date: jiff::Timestamp::now().strftime("%Y-%m-%d").to_string(),
        sources: vec![name],
        ..LearnOptions::new(&keywords.name, Method::Linear)
    };
    let learnt = grow(keywords, &documents, &options)
        .with_context(|| format!("{}: nothing can be learnt", args.directory.display()))?;
    write_whole(&args.output, |out| Ok(out.write_all(learnt.lexicon.to_toml().as_bytes())?))?;
    if !verbosity.quiet {
        outln!(
            "Learnt from {} that the keywords are surest of, among {}.",
            count(learnt.lexicon.provenance.pages as usize, "document", "documents"),
            documents.len()
        );
        build::print(&learnt.lexicon)?;
        let directory = args.directory.display();
        outln!(
            "Wrote {output}. Review it, then judge the crawl by it: suidao rescore {directory} -m {output}\n\
             Is it better? suidao topic compare KEYWORDS.toml {output} --crawl {directory}"
        );
    }
    Ok(())
}
