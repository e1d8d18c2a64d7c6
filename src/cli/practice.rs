//! `suidao practice`: a generated web on loopback with all that a first crawl needs, so that the tutorial can be followed
//! without a network, and before any server of others is asked for anything; or a generated forum, for the same.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use clap::Args;
use suidao::model::CrawlUrl;
use suidao::store::directory::write_whole;
use suidao::world::{
    ActivitySpec, Forum, ForumSpec, ForumWeb, Proxied, Server, ServerOptions, Skin, Spec, World, topic_words,
};

use super::{Exit, Voice};

/// Serve a generated web on loopback, with sample pages and seeds, to learn suidao on.
#[derive(Args)]
#[command(
    after_help = "Examples: suidao practice web --port 8080\n          suidao practice bbs --forum phpbb --speed 60"
)]
pub struct PracticeArgs {
    /// Directory for sample pages, background pages, seeds, queries and the truth; it is made
    pub directory: PathBuf,
    /// Port of 127.0.0.1; 0 for a free one
    #[arg(long, value_name = "PORT", default_value_t = 8080)]
    pub port: u16,
    /// Serve a forum instead, that writes its pages in this way; it is asked directly, without a proxy
    #[arg(long, value_name = "SKIN")]
    pub forum: Option<Skin>,
    /// How many times as fast as ours the forum's clock runs
    #[arg(long, value_name = "N", default_value_t = 1.0, requires = "forum", value_parser = speed)]
    pub speed: f64,
    /// Threads of the forum, about
    #[arg(long, value_name = "N", default_value_t = 600, requires = "forum",
        value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub threads: u32,
}

fn speed(text: &str) -> Result<f64, String> {
    let speed = text.parse().ok().filter(|speed| (0.0..=100_000.0).contains(speed));
    speed.ok_or_else(|| "it must be a number from 0 to 100000".to_owned())
}

/// Pages about the topic to learn from.
const SAMPLES: usize = 40;
/// Pages about other things.
const BACKGROUND: usize = 200;
/// Words of the topic that serve as queries.
const QUERIES: usize = 10;

/// Days that lie behind when a forum is served first.
const PAST: u32 = 30;
/// Most days that lie ahead then.
const AHEAD: f64 = 365.0;
/// Hours of ours that a forum is served for, at least as far as [`AHEAD`] allows.
const SERVED: f64 = 8.0;
const DAY: i64 = 86_400;

/// Runs the verb.
pub fn run(args: &PracticeArgs, voice: Voice) -> Result<Exit> {
    if let Some(skin) = args.forum {
        return forum(args, skin, voice);
    }
    let world = Arc::new(World::new(Spec::default()).context("the practice web cannot be generated")?);
    let options = ServerOptions { port: args.port, ..ServerOptions::default() };
    let server = Server::start_with(Arc::new(Proxied(Arc::clone(&world))), options).with_context(|| busy(args.port))?;
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
    until_interrupted(server)
}

fn busy(port: u16) -> String {
    format!("cannot listen on 127.0.0.1:{port}; give another --port")
}

fn until_interrupted(server: Server) -> Result<Exit> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.context("cannot wait for Ctrl-C")?.block_on(super::crawl::interrupted());
    drop(server);
    Ok(Exit::Done)
}

/// Serves a forum whose clock shows the time when it begins.
fn forum(args: &PracticeArgs, skin: Skin, voice: Voice) -> Result<Exit> {
    let now = (suidao::live::now().0 / 1_000) as i64;
    let ahead = (2.0 + args.speed * SERVED / 24.0).min(AHEAD) as u32;
    let activity = ActivitySpec::default();
    let today = (now + i64::from(activity.offset)).div_euclid(DAY) * DAY - i64::from(activity.offset);
    let activity = ActivitySpec {
        threads_per_day: f64::from(args.threads) / f64::from(PAST),
        days: PAST + ahead,
        start: today - i64::from(PAST) * DAY,
        ..activity
    };
    let spec = ForumSpec { skin, activity, host: format!("127.0.0.1:{}", args.port), ..ForumSpec::default() };
    let forum = Arc::new(Forum::new(spec).context("the forum cannot be generated")?);
    let web = ForumWeb::running(Arc::clone(&forum), now, args.speed);
    let options = ServerOptions { port: args.port, ..ServerOptions::default() };
    let server = Server::start_with(Arc::new(web), options).with_context(|| busy(args.port))?;
    let world = World::new(Spec::default()).context("the sample pages cannot be generated")?;
    write_pages(&args.directory, &world)?;
    // Only now is the port known for sure.
    let origin = CrawlUrl::parse(&server.proxy())?;
    let line = |url: &CrawlUrl| {
        let (path, query) = (url.path(), url.query().map_or(String::new(), |query| format!("?{query}")));
        format!("{}{path}{query}\n", origin.origin())
    };
    let (threads, boards) = (forum.threads(now), forum.boards(now));
    let read: String = threads.iter().filter(|thread| !thread.walled).map(|thread| line(&thread.url)).collect();
    text(&args.directory.join("threads.txt"), &read)?;
    let read: String = boards.iter().filter(|board| !board.walled).map(|board| line(&board.url)).collect();
    text(&args.directory.join("boards.txt"), &read)?;
    text(&args.directory.join("seeds.txt"), &format!("{origin}\n"))?;
    if !voice.quiet {
        let (shown, count) = (args.directory.display(), read.lines().count());
        let posts: u32 = threads.iter().map(|thread| thread.posts).sum();
        eprintln!(
            "A forum of {count} boards, {} threads and {posts} posts is served on {origin}: ask it directly.\n\
             In {shown}: boards.txt and threads.txt (what everybody can read of it now), seeds.txt, samples/ and background/\n\
             (pages), queries.txt. Ctrl-C ends it.",
            threads.len(),
        );
    }
    until_interrupted(server)
}

/// Puts everything a first crawl of the web needs into the directory; what lies there and is none of it stays.
fn write(directory: &Path, world: &World) -> Result<()> {
    write_pages(directory, world)?;
    let lines = |urls: &mut dyn Iterator<Item = CrawlUrl>| urls.map(|url| format!("{url}\n")).collect::<String>();
    text(&directory.join("seeds.txt"), &lines(&mut world.seeds().into_iter()))?;
    let relevant = &mut world.pages().filter(|(_, relevant)| *relevant).map(|(url, _)| url);
    text(&directory.join("truth.txt"), &lines(relevant))
}

/// Pages to learn a topic from, and queries.
fn write_pages(directory: &Path, world: &World) -> Result<()> {
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
    let queries: String = topic_words().take(QUERIES).map(|word| format!("{word}\n")).collect();
    text(&directory.join("queries.txt"), &queries)
}

fn text(path: &Path, content: &str) -> Result<()> {
    Ok(write_whole(path, |out| Ok(out.write_all(content.as_bytes())?))?)
}
