//! `suidao check url`: normalizes URLs.

use anyhow::Result;
use serde_json::json;
use suidao::config::Config;
use suidao::messages::Lang;
use suidao::model::CrawlUrl;
use suidao::strategy::url_weight;

use crate::cli::terminal;

/// Prints the normal form of each URL on a line, or as JSON also scope, robots.txt and weight. An invalid one gets a
/// line on standard error. Returns whether all were valid.
pub fn show(urls: &[String], config: &Config, as_json: bool) -> Result<bool> {
    let mut all_valid = true;
    for text in urls {
        let url = match CrawlUrl::parse(text) {
            Ok(url) => url,
            Err(error) => {
                all_valid = false;
                errln!("suidao: cannot crawl {text}: {error}; write it as http://host/path");
                continue;
            }
        };
        if !as_json {
            terminal::exact(format_args!("{url}"))?;
            continue;
        }
        let skip_reason =
            config.scope.skip_reason(&url).or_else(|| suidao::trap::path::skip_reason(&config.traps, &url));
        let line = json!({
            "input": text, "url": url, "host": url.authority(), "robots": url.robots(),
            "in_scope": skip_reason.is_none(),
            "skip_reason": skip_reason, "why": skip_reason.map(|reason| reason.why(Lang::English)), "weight": url_weight(&url),
        });
        outln!("{line}");
    }
    Ok(all_valid)
}
