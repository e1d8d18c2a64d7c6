//! `suidao check robots`: evaluates a saved robots.txt for URLs.

use std::fmt::Write as _;
use std::path::PathBuf;

use anyhow::{Result, anyhow, bail};
use clap::Args;
use suidao::crawl::{Robot, product};
use suidao::model::syntax_problem;
use suidao::visible;
use url::Url;

use super::read;

/// Show which URLs a saved robots.txt allows.
#[derive(Args)]
#[command(after_help = "Example: suidao check robots --file robots.txt http://a.cn/private/")]
pub struct RobotsArgs {
    /// Saved robots.txt
    #[arg(long, value_name = "FILE", help_heading = "Input")]
    file: PathBuf,
    /// Name of the robot: a product token, or a whole User-Agent
    #[arg(long, value_name = "NAME", default_value = suidao::live::AGENT, help_heading = "Input")]
    agent: String,
    /// URLs to check
    #[arg(required = true, value_name = "URL")]
    urls: Vec<String>,
}

/// A line for each URL: `allowed` or `disallowed`, tab, the URL as given, tab, the rule that decided (empty if none
/// matched).
pub fn show(args: &RobotsArgs) -> Result<()> {
    let text = read(&args.file)?;
    // The agent as a crawl with this fetch.user_agent would have it.
    let agent = Some(product(&args.agent)).filter(|token| !token.is_empty()).unwrap_or(&args.agent);
    let robot = Robot::new(agent, &text);
    let mut output = String::new();
    for url in &args.urls {
        let parsed = Url::parse(url.trim())
            .map_err(|error| anyhow!("{url} is not a URL: {}; write it as http://host/path", syntax_problem(error)))?;
        if !parsed.has_host() {
            bail!("{url} has no host; write it as http://host/path");
        }
        let ruling = robot.ruling(parsed.as_str());
        let word = if ruling.allowed { "allowed" } else { "disallowed" };
        let rule = ruling.rule(&text).unwrap_or_default();
        // Always three columns and one line, for any texts.
        writeln!(output, "{word}\t{}\t{}", visible::line(url), visible::line(&rule))?;
    }
    outln!("{}", output.trim_end_matches('\n'));
    Ok(())
}
