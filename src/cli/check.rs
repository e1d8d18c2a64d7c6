//! `suidao check`: what suidao makes of one thing, without a crawl.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use bytes::Bytes;
use clap::{Args, Subcommand};
use serde_json::json;
use suidao::config::Config;
use suidao::model::{CrawlUrl, Fetched};
use suidao::strategy::url_weight;

use super::{Exit, inputs};

/// Show what suidao makes of one page, robots.txt, URL or configuration.
#[derive(Args)]
#[command(after_help = "Example: suidao check page saved.html --url http://host/saved.html -m lexicons/ml.toml")]
pub struct CheckArgs {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand)]
enum What {
    /// A saved page: charset, title, main text, scores, links
    Page {
        /// HTML or text file
        file: PathBuf,
        /// Where it was fetched from, for its relative links
        #[arg(long, default_value = "http://localhost/")]
        url: String,
        /// Lexicon to score by
        #[arg(short = 'm', long = "model", visible_alias = "lexicon")]
        lexicon: PathBuf,
    },
    /// Whether a saved robots.txt allows a URL
    Robots {
        /// The saved robots.txt
        file: PathBuf,
        /// The URL
        url: String,
    },
    /// A URL: normal form, scope, weight
    Url {
        /// The URL
        url: String,
        /// Configuration file
        #[arg(short, long)]
        config: Option<PathBuf>,
        /// Override one key of the configuration
        #[arg(long = "set", value_name = "KEY=VALUE")]
        sets: Vec<String>,
    },
    /// A configuration: the values in force
    Config {
        /// Configuration file
        file: Option<PathBuf>,
        /// Override one key
        #[arg(long = "set", value_name = "KEY=VALUE")]
        sets: Vec<String>,
    },
}

/// Runs the verb.
pub fn run(args: &CheckArgs) -> Result<Exit> {
    match &args.what {
        What::Page { file, url, lexicon } => check_page(file, url, lexicon)?,
        What::Robots { file, url } => {
            let text = read(file)?;
            let url = parse(url)?;
            let robot = texting_robots::Robot::new(suidao::live::AGENT, &text)
                .map_err(|error| error.context(format!("{} is no robots.txt", file.display())))?;
            say!("{}", json!({ "url": url, "allowed": robot.allowed(url.as_str()), "crawl_delay": robot.delay }));
        }
        What::Url { url, config, sets } => {
            let config = Config::load(config.as_deref(), sets)?;
            let url = parse(url)?;
            let refusal = config.scope.refuses(&url);
            say!(
                "{}",
                json!({ "url": url, "robots": url.robots(), "refused": refusal, "why": refusal.map(suidao::model::Refusal::why), "weight": url_weight(&url) })
            );
        }
        What::Config { file, sets } => say!("{}", in_force(&Config::load(file.as_deref(), sets)?)?),
    }
    Ok(Exit::Done)
}

/// Every key and its value as TOML; a key without a value, which TOML cannot say, as a comment.
fn in_force(config: &Config) -> Result<String> {
    let config = config.shown();
    let mut text = toml::to_string(&config)?;
    for (name, section) in serde_json::to_value(&config)?.as_object().into_iter().flatten() {
        let keys = section.as_object().into_iter().flatten();
        let unset: String =
            keys.filter(|(_, value)| value.is_null()).map(|(key, _)| format!("# {key} is not set\n")).collect();
        let head = format!("[{name}]\n");
        text = text.replacen(&head, &(head.clone() + &unset), 1);
    }
    Ok(text.trim_end().to_owned())
}

fn read(file: &Path) -> Result<Vec<u8>> {
    std::fs::read(file).with_context(|| format!("cannot read {}; check the path", file.display()))
}

fn parse(url: &str) -> Result<CrawlUrl> {
    CrawlUrl::parse(url).with_context(|| format!("{url} is no URL; write it as http://host/path"))
}

fn check_page(file: &Path, url: &str, lexicon: &Path) -> Result<()> {
    let topic = inputs::topic(lexicon)?;
    let fetched = Fetched {
        url: parse(url)?,
        status: 200,
        headers: vec![],
        body: Bytes::from(read(file)?),
        wire: None,
        asked: None,
    };
    let page = suidao::read::read(&fetched, &topic);
    let links = page.outlinks.iter().map(|link| {
        json!({
            "url": link.url, "anchor": link.anchor, "relevance": link.relevance, "evidence": link.evidence,
            "region": link.region, "nofollow": link.nofollow,
        })
    });
    let shown = json!({
        "title": page.title, "charset": page.charset, "language": page.language, "digest": page.digest.to_string(),
        "relevance": page.relevance, "relevant": page.relevance >= topic.page_threshold(), "terms": page.terms,
        "noindex": page.noindex, "canonical": page.canonical, "defects": page.defects,
        "links": links.collect::<Vec<_>>(), "text": page.text,
    });
    say!("{}", serde_json::to_string_pretty(&shown)?);
    Ok(())
}
