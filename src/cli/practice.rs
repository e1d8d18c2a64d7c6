//! `suidao practice`: a generated web on loopback with all that a first crawl needs, so that the tutorial can be followed
//! without a network, and before any server of others is asked for anything.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use clap::Args;
use suidao::model::CrawlUrl;
use suidao::store::directory::write_whole;
use suidao::world::{Proxied, Server, ServerOptions, Spec, World, topic_words};

use super::{Exit, Voice};

/// Serve a generated web on loopback, with sample pages and seeds, to learn suidao on.
#[derive(Args)]
#[command(after_help = "Example: suidao practice web --port 8080")]
pub struct PracticeArgs {
    /// Directory for sample pages, background pages, seeds, queries and the truth; it is made
    pub directory: PathBuf,
    /// Port of 127.0.0.1; 0 for a free one
    #[arg(long, value_name = "PORT", default_value_t = 8080)]
    pub port: u16,
}

/// Pages about the topic to learn from.
const SAMPLES: usize = 40;
/// Pages about other things.
const BACKGROUND: usize = 200;
/// Words of the topic that serve as queries.
const QUERIES: usize = 10;

/// Runs the verb.
pub fn run(args: &PracticeArgs, voice: Voice) -> Result<Exit> {
    let world = Arc::new(World::new(Spec::default()).context("the practice web cannot be generated")?);
    let options = ServerOptions { port: args.port, ..ServerOptions::default() };
    let server = Server::start_with(Arc::new(Proxied(Arc::clone(&world))), options)
        .with_context(|| format!("cannot listen on 127.0.0.1:{}; give another --port", args.port))?;
    write(&args.directory, &world)?;
    if !voice.quiet {
        let (shown, proxy) = (args.directory.display(), server.proxy());
        eprintln!(
            "A web of {} pages, {} of them about 体育 (sports), is served on {proxy}: crawl it with --proxy {proxy}.\n\
             In {shown}: samples/ and background/ (pages), seeds.txt, queries.txt, truth.txt. Ctrl-C ends it.",
            world.spec().pages,
            world.relevant(),
        );
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.context("cannot wait for Ctrl-C")?.block_on(super::crawl::interrupted());
    drop(server);
    Ok(Exit::Done)
}

/// Puts everything a first crawl needs into the directory; what lies there and is none of it stays.
fn write(directory: &Path, world: &World) -> Result<()> {
    for (name, pages) in [("samples", world.sample_pages(SAMPLES)), ("background", world.background_pages(BACKGROUND))]
    {
        let folder = directory.join(name);
        if folder.is_file() {
            bail!("{} is a file; give another directory", folder.display());
        }
        fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
        for (number, (_, html)) in pages.iter().enumerate() {
            text(&folder.join(format!("{number:03}.html")), html)?;
        }
    }
    let lines = |urls: &mut dyn Iterator<Item = CrawlUrl>| urls.map(|url| format!("{url}\n")).collect::<String>();
    text(&directory.join("seeds.txt"), &lines(&mut world.seeds().into_iter()))?;
    let relevant = &mut world.pages().filter(|(_, relevant)| *relevant).map(|(url, _)| url);
    text(&directory.join("truth.txt"), &lines(relevant))?;
    let queries: String = topic_words().take(QUERIES).map(|word| format!("{word}\n")).collect();
    text(&directory.join("queries.txt"), &queries)
}

fn text(path: &Path, content: &str) -> Result<()> {
    Ok(write_whole(path, |out| Ok(out.write_all(content.as_bytes())?))?)
}
