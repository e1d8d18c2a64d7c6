//! The log of requests to a generated web, and the score of the crawler that sent them.

use std::fmt::Display;
use std::fs::{self, File};
use std::io::Write;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use anyhow::{Context, Result, bail};
use serde_json::json;
use strum::VariantArray as _;
use suidao::eval::{AccessScore, LoggedRequest};
use suidao::live::monotonic_now;
use suidao::model::{CrawlUrl, Failure, Fetched};
use suidao::replay::Web;
use suidao::world::{Scenario, SyntheticWeb};

use super::outcome::Exit;

pub const ACCESS_LOG: &str = "access.log";

/// The first line of a log, before the names of scenario and random seed.
const HEAD: &str = "# suidao practice --scenario ";
const SEED: &str = " --seed ";

/// A web that appends a line per request to its log: seconds since the start, host, path with query, status and bytes,
/// separated by tabs.
pub struct LoggedWeb<W> {
    web: W,
    log: Mutex<File>,
    begun: Instant,
}

impl<W> LoggedWeb<W> {
    /// Begins a new log; an earlier one is deleted.
    pub fn create(web: W, path: &Path, scenario: Scenario, seed: u64) -> Result<Self> {
        let failed = || format!("cannot write {}; choose another directory", path.display());
        let mut log = File::create(path).with_context(failed)?;
        writeln!(log, "{HEAD}{}{SEED}{seed}", <&str>::from(scenario)).with_context(failed)?;
        Ok(Self { web, log: Mutex::new(log), begun: monotonic_now() })
    }

    fn note(&self, url: &CrawlUrl, status: impl Display, bytes: usize) {
        let query = url.query().map_or(String::new(), |query| format!("?{query}"));
        let at = self.begun.elapsed().as_secs_f64();
        let line = format!("{at:.3}\t{}\t{}{query}\t{status}\t{bytes}\n", url.authority(), url.path());
        // One write per line: a crawler must not wait for a disk, and a lost line must not stop it.
        let _ = self.log.lock().unwrap_or_else(PoisonError::into_inner).write_all(line.as_bytes());
    }
}

impl<W: Web> Web for LoggedWeb<W> {
    fn get(&self, url: &CrawlUrl) -> Result<Fetched, Failure> {
        self.get_with(url, &[])
    }

    fn get_with(&self, url: &CrawlUrl, fields: &[(String, String)]) -> Result<Fetched, Failure> {
        let response = self.web.get_with(url, fields);
        match &response {
            Ok(fetched) => self.note(url, fetched.status, fetched.body.len()),
            Err(_) => self.note(url, 502, 0),
        }
        response
    }
}

/// Scores the crawler whose requests are in the log.
pub fn score(path: &Path, as_json: bool) -> Result<Exit> {
    let name = path.display();
    let text = fs::read_to_string(path)
        .with_context(|| format!("cannot read {name}; give the access.log of a practice directory"))?;
    let mut lines = text.lines();
    let head = lines.next().and_then(|line| line.strip_prefix(HEAD)?.split_once(SEED));
    let scenario = |word: &str| Scenario::VARIANTS.iter().copied().find(|it| <&str>::from(*it) == word);
    let Some((scenario, seed)) = head.and_then(|(word, seed)| Some((scenario(word)?, seed.parse().ok()?))) else {
        bail!(
            "{name}, line 1: does not name the web; give the access.log of a practice directory, with all of its lines"
        );
    };
    let parse = |(at, line): (usize, &str)| {
        LoggedRequest::parse(line).with_context(|| {
            format!("{name}, line {at}: must be seconds, host, path, status and bytes, separated by tabs")
        })
    };
    let requests: Vec<LoggedRequest> = (2..).zip(lines).map(parse).collect::<Result<_>>()?;
    let world = SyntheticWeb::new(scenario.spec(seed)).context("cannot generate the practice web")?;
    let score = AccessScore::of(&world, &requests);
    if as_json {
        let mut value = json!({ "scenario": <&str>::from(scenario), "seed": seed });
        let table = serde_json::to_value(&score)?;
        if let (Some(value), Some(table)) = (value.as_object_mut(), table.as_object()) {
            value.extend(table.clone());
        }
        outln!("{value}");
    } else {
        outln!("Scenario {}, seed {seed}\n{}", <&str>::from(scenario), score.describe().trim_end());
    }
    Ok(Exit::Done)
}
