//! `suidao practice`: serves a generated web on loopback with everything that a first crawl needs, so that the tutorial
//! works without a network; or a generated forum, or a web that changes. Also scores other crawlers by its log.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use clap::Args;
use suidao::html::thousands;
use suidao::model::CrawlUrl;
use suidao::store::directory::write_whole;
use suidao::world::{
    ActivitySpec, ChangingSpec, ChangingWeb, Forum, ForumSpec, ForumWeb, Proxied, Scenario, ServerOptions, Skin,
    SyntheticWeb, WebServer, WebSpec, topic_words,
};

use super::access_log::{ACCESS_LOG, LoggedWeb, score};
use super::names::{between, one_of};
use super::outcome::{Exit, Verbosity};

/// Serve a generated web on loopback to practise on, with sample pages and seeds.
#[derive(Args)]
#[command(after_help = "Example: suidao practice web --port 8080")]
pub struct PracticeArgs {
    /// Directory for sample pages, background pages, seeds, queries, relevant URLs and the log of requests: new, or
    /// written by an earlier practice
    #[arg(required_unless_present = "score")]
    pub directory: Option<PathBuf>,
    /// Score the crawler whose requests are in this log, access.log of an earlier practice, and serve nothing
    #[arg(long, value_name = "FILE", conflicts_with_all = ["directory", "scenario", "seed", "forum", "changing", "port"],
        help_heading = "Input")]
    pub score: Option<PathBuf>,
    /// Print the score as JSON
    #[arg(long, requires = "score", help_heading = "Output")]
    pub json: bool,
    /// Port on 127.0.0.1; 0 takes a free one
    #[arg(long, value_name = "PORT", default_value_t = 8080, help_heading = "Network")]
    pub port: u16,
    /// Kind of web
    #[arg(long, value_name = "KIND", value_parser = one_of::<Scenario>(), conflicts_with_all = ["forum", "changing"])]
    pub scenario: Option<Scenario>,
    /// Random seed of the web: another one is another web of the same kind [default: 1]
    #[arg(long, value_name = "N", conflicts_with_all = ["forum", "changing"])]
    pub seed: Option<u64>,
    /// Serve a forum with the pages of this forum software instead; crawl it with --allow-private, without --proxy
    #[arg(long, value_name = "SOFTWARE", value_parser = one_of::<Skin>())]
    pub forum: Option<Skin>,
    /// Speed of the forum's clock, as a multiple of real time
    #[arg(long, value_name = "N", default_value_t = 1.0, requires = "forum", value_parser = between(0.0, 100_000.0))]
    pub speed: f64,
    /// Approximate number of threads of the forum
    #[arg(long, value_name = "N", default_value_t = 600, requires = "forum",
        value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub threads: u32,
    /// Serve sites whose pages appear, change and disappear instead, for `suidao refresh`
    #[arg(long, conflicts_with = "forum")]
    pub changing: bool,
    /// Real seconds per day of the changing sites
    #[arg(long, value_name = "SECONDS", default_value_t = 86_400.0, requires = "changing", value_parser = between(1.0, 86_400.0))]
    pub day: f64,
}

/// Sample pages about the topic.
const SAMPLES: usize = 40;
/// Pages about other things.
const BACKGROUND: usize = 200;
/// Words of the topic used as queries.
const QUERIES: usize = 10;

/// Days of history when a forum starts.
const PAST: u32 = 30;
/// Maximum number of days generated ahead.
const AHEAD: f64 = 365.0;
/// Real hours that a forum has posts for, as far as [`AHEAD`] permits.
const SERVED: f64 = 8.0;
const DAY: i64 = 86_400;

/// A server, and a future that resolves when it should end.
type Serving = (WebServer, Pin<Box<dyn Future<Output = ()>>>);

/// Everything that a practice writes.
const WRITTEN: &str =
    "samples background seeds.txt queries.txt truth.txt threads.txt boards.txt listings.txt hosts.txt access.log";

/// Runs until Ctrl-C.
pub fn run(args: &PracticeArgs, verbosity: Verbosity) -> Result<Exit> {
    if let Some(log) = &args.score {
        return score(log, args.json);
    }
    let directory = args.directory.as_deref().expect("required unless a log is scored");
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let mut names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
    // A killed practice may leave an unfinished file.
    let is_ours = |name: &str| WRITTEN.split(' ').any(|written| name == written) || name.starts_with(".suidao-");
    if let Some(other) = names.find(|name| !is_ours(name)) {
        bail!("{} contains other files, such as {other}; choose a new directory", directory.display());
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.context("cannot wait for Ctrl-C")?;
    let (server, end) = {
        let _within = runtime.enter();
        match args.forum {
            Some(skin) => forum(args, directory, skin, verbosity),
            None if args.changing => changing(args, directory, verbosity),
            None => web(args, directory, verbosity),
        }?
    };
    runtime.block_on(end);
    drop(server);
    Ok(Exit::Done)
}

/// Listens for Ctrl-C before the first file is written, so that it can be stopped cleanly as soon as the files exist,
/// but not while a web is generated.
fn end() -> Pin<Box<dyn Future<Output = ()>>> {
    Box::pin(super::signals::interrupts())
}

fn web(args: &PracticeArgs, directory: &Path, verbosity: Verbosity) -> Result<Serving> {
    let (scenario, seed) = (args.scenario.unwrap_or_default(), args.seed.unwrap_or(1));
    let world = Arc::new(SyntheticWeb::new(scenario.spec(seed)).context("cannot generate the practice web")?);
    let options = ServerOptions { port: args.port, ..ServerOptions::default() };
    fs::create_dir_all(directory).with_context(|| format!("cannot create {}", directory.display()))?;
    let logged = LoggedWeb::create(Proxied(Arc::clone(&world)), &directory.join(ACCESS_LOG), scenario, seed)?;
    let server = WebServer::start_with(Arc::new(logged), options).with_context(|| busy(args.port))?;
    let end = end();
    write(directory, &world)?;
    if !verbosity.quiet {
        let (directory, proxy) = (directory.display(), server.proxy());
        errln!(
            "Serving a web of {} pages on {} hosts, {} of the pages about 体育 (sports). Crawl it with --proxy {proxy}.\n\
             Wrote to {directory}: samples/ and background/ (pages), seeds.txt, queries.txt, truth.txt, hosts.txt. Requests go to \
             access.log; score them with `suidao practice --score {directory}/access.log`. Press Ctrl-C to stop.",
            thousands(world.spec().pages),
            world.spec().hosts,
            thousands(world.relevant()),
        );
    }
    Ok((server, end))
}

fn busy(port: u16) -> String {
    format!("cannot listen on 127.0.0.1:{port}; choose another --port")
}

/// Serves a forum whose clock shows the time of its start.
fn forum(args: &PracticeArgs, directory: &Path, skin: Skin, verbosity: Verbosity) -> Result<Serving> {
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
    let forum = Arc::new(Forum::new(spec));
    let web = ForumWeb::running(Arc::clone(&forum), now, args.speed);
    let options = ServerOptions { port: args.port, ..ServerOptions::default() };
    let server = WebServer::start_with(Arc::new(web), options).with_context(|| busy(args.port))?;
    let world = SyntheticWeb::new(WebSpec::default()).context("the sample pages cannot be generated")?;
    let end = end();
    write_pages(directory, &world)?;
    // The port is known only now.
    let origin = CrawlUrl::parse(&server.proxy())?;
    let line = |url: &CrawlUrl| {
        let (path, query) = (url.path(), url.query().map_or(String::new(), |query| format!("?{query}")));
        format!("{}{path}{query}\n", origin.origin())
    };
    let mut threads = forum.threads(now);
    threads.retain(|thread| !thread.members_only);
    let mut boards = forum.boards(now);
    boards.retain(|board| !board.members_only);
    let lines: String = threads.iter().map(|thread| line(&thread.url)).collect();
    text(&directory.join("threads.txt"), &lines)?;
    let lines: String = boards.iter().map(|board| line(&board.url)).collect();
    text(&directory.join("boards.txt"), &lines)?;
    text(&directory.join("seeds.txt"), &format!("{origin}\n"))?;
    write_queries(directory)?;
    if !verbosity.quiet {
        let posts: u32 = threads.iter().map(|thread| thread.posts).sum();
        errln!(
            "Serving a forum with {} public boards, {} threads and {posts} posts on {origin}. Crawl it with --allow-private, without --proxy.\n\
             Wrote to {}: boards.txt and threads.txt (public now), seeds.txt, queries.txt, samples/ and background/ (pages).\n\
             Press Ctrl-C to stop.",
            boards.len(),
            threads.len(),
            directory.display(),
        );
    }
    Ok((server, end))
}

/// Days for which a changing web has changes.
const CHANGING_DAYS: f64 = 1_000.0;

/// Serves a changing web from its start on.
fn changing(args: &PracticeArgs, directory: &Path, verbosity: Verbosity) -> Result<Serving> {
    let start = (suidao::live::now().0 / 1_000) as i64;
    let spec = ChangingSpec { start, days: CHANGING_DAYS, ..ChangingSpec::default() };
    let web = Arc::new(ChangingWeb::running(spec, 1, args.day));
    let options = ServerOptions { port: args.port, ..ServerOptions::default() };
    let server = web.serve(options).with_context(|| busy(args.port))?;
    let world = SyntheticWeb::new(WebSpec::default()).context("the sample pages cannot be generated")?;
    let end = end();
    write_pages(directory, &world)?;
    text(&directory.join("listings.txt"), &lines(web.listings()))?;
    text(&directory.join("seeds.txt"), &lines(web.seeds()))?;
    write_queries(directory)?;
    if !verbosity.quiet {
        let (directory, proxy) = (directory.display(), server.proxy());
        let articles = web.articles(0.0);
        errln!(
            "Serving a changing web of {} hosts with {} articles so far, {} of them about 体育 (sports).\n\
             Crawl it with --proxy {proxy}. A day of it lasts {} s.\n\
             Wrote to {directory}: samples/ and background/ (pages), seeds.txt, listings.txt, queries.txt. Press Ctrl-C to stop.",
            web.spec().hosts,
            articles.len(),
            articles.iter().filter(|article| article.topical).count(),
            args.day,
        );
    }
    Ok((server, end))
}

/// Writes everything that a first crawl needs into the directory.
fn write(directory: &Path, world: &SyntheticWeb) -> Result<()> {
    write_pages(directory, world)?;
    text(&directory.join("seeds.txt"), &lines(world.seeds()))?;
    let relevant = world.pages().filter(|(_, relevant)| *relevant).map(|(url, _)| url);
    text(&directory.join("truth.txt"), &lines(relevant))?;
    let hosts: BTreeSet<String> = world.pages().map(|(url, _)| url.host().to_owned()).collect();
    let hosts: String = hosts.iter().map(|host| format!("127.0.0.1 {host}\n")).collect();
    text(&directory.join("hosts.txt"), &hosts)?;
    write_queries(directory)
}

fn lines(urls: impl IntoIterator<Item = CrawlUrl>) -> String {
    urls.into_iter().map(|url| format!("{url}\n")).collect()
}

fn write_pages(directory: &Path, world: &SyntheticWeb) -> Result<()> {
    for (name, pages) in [("samples", world.sample_pages(SAMPLES)), ("background", world.background_pages(BACKGROUND))]
    {
        let folder = directory.join(name);
        if folder.is_file() {
            bail!("{} is a file; choose another directory", folder.display());
        }
        fs::create_dir_all(&folder).with_context(|| format!("cannot create {}", folder.display()))?;
        for (number, (_, html)) in pages.iter().enumerate() {
            text(&folder.join(format!("{number:03}.html")), html)?;
        }
    }
    Ok(())
}

/// The last file: when it exists, all others do.
fn write_queries(directory: &Path) -> Result<()> {
    let queries: String = topic_words().take(QUERIES).map(|word| format!("{word}\n")).collect();
    text(&directory.join("queries.txt"), &queries)
}

fn text(path: &Path, content: &str) -> Result<()> {
    Ok(write_whole(path, |out| Ok(out.write_all(content.as_bytes())?))?)
}
