//! The configuration: one TOML file; `--set key=value` overrides single keys. Only this file converts the
//! parsed table ([`toml::Table`]) to a [`Config`]. Unknown keys are errors.

pub mod stored;

use std::net::{AddrParseError, Ipv4Addr, SocketAddr};
use std::path::Path;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use suidao_crawl::crawl::{CrawlLimits, MinimumShare, Politeness, Sources, StopConditions};
use suidao_crawl::revisit::settings::RefreshSettings;
use suidao_crawl::strategy::{StrategySettings as Strategy, scope::CrawlScope};
use suidao_crawl::trap::Traps;
use suidao_page::model::size;
use suidao_page::read::{UnknownLanguage, language_code};
use suidao_page::toml_error::{line_and_message, message};

#[derive(Debug, Error)]
pub enum ConfigError {
    #[error("cannot read the configuration {path}: {source}; check the path (-c)")]
    Read { path: String, source: std::io::Error },
    /// Not TOML, an unknown key, or a value of another kind.
    #[error("invalid configuration {from}: {reason}; `suidao check config` lists all keys")]
    Shape {
        from: String,
        /// The problem, with its line if known.
        reason: String,
    },
    #[error("--set {0}: expected key=value, such as --set politeness.delay=0.5")]
    Assignment(String),
    /// The configuration of a crawl directory is not a plain file.
    #[error(transparent)]
    Store(#[from] suidao_store::store::StoreError),
    /// A key that a crawl directory may not set, because it reaches outside the directory.
    #[error(
        "{path}: {key} is not accepted from a crawl directory, because others may have created it; delete it there, and set it with a flag, --set or your own configuration (-c)"
    )]
    NotStorable { path: String, key: &'static str },
    /// The request would differ from those of the crawl.
    #[error(
        "{path}: the crawl was started with {keys}, which is not saved in crawl directories; give it again with a flag (--proxy, --allow-private), --set KEY=VALUE or your own configuration (-c)"
    )]
    UnsavedSettings {
        path: String,
        /// The keys that the crawl used.
        keys: String,
    },
    #[error(transparent)]
    Fetch(#[from] crate::fetch::SettingsError),
    #[error("{0} (set with --lang, or with keep.languages in the configuration)")]
    Language(UnknownLanguage),
    #[error("{place}{key} {reason} (set in the configuration or with --set {key}=VALUE)")]
    Value {
        /// Where the value was set, with a colon; empty if unknown.
        place: String,
        key: String,
        reason: String,
    },
}

/// `[crawl]`: settings without a section of their own.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct General {
    /// Requests in flight, each to another host. Affects the order of pages, so reports include it.
    pub in_flight: usize,
    /// Pages against time: 0 sends a request to every ready host, 1 waits for the best page; or `time`, `balanced`,
    /// `pages`. Default: by the strategy.
    pub spend: Option<MinimumShare>,
    /// Whether to crawl a host whose pages list threads as a forum: boards and threads only.
    pub forums: bool,
    /// Fewest batches between checkpoints; 0: no checkpoints.
    pub checkpoint_every: u64,
    /// Random seed of the strategy.
    pub seed: u64,
    /// Overrides the lexicon's page threshold.
    pub page_threshold: Option<f32>,
    /// Overrides the lexicon's link threshold.
    pub link_threshold: Option<f32>,
    /// Seconds to wait for the network if fewer than three hosts have answered: the failure may then be theirs. With
    /// more hosts the crawl waits without a limit.
    pub outage_patience: f64,
    /// Seconds after which parsing a page is given up, so that a hostile page fails alone.
    pub reading_timeout: f64,
    /// Keys that the crawl used and its directory does not store. Written by suidao.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unsaved_settings: Vec<String>,
}

impl Default for General {
    fn default() -> Self {
        Self {
            in_flight: 64,
            spend: None,
            forums: true,
            checkpoint_every: 20_000,
            seed: 1,
            page_threshold: None,
            link_threshold: None,
            outage_patience: 600.0,
            reading_timeout: 30.0,
            unsaved_settings: Vec::new(),
        }
    }
}

/// `[status]`: the status page of a running crawl.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Status {
    /// Address and port of the status page, or a local port; `None`: no page.
    pub listen: Option<String>,
    /// Host names that requests may use, besides addresses and localhost. Protects against DNS rebinding.
    pub names: Vec<String>,
}

/// Parses `status.listen`: an address with a port, or a local port.
pub fn address(text: &str) -> Result<SocketAddr, AddrParseError> {
    if let Ok(port) = text.parse::<u16>() {
        return Ok((Ipv4Addr::LOCALHOST, port).into());
    }
    match text.strip_prefix("localhost:") {
        Some(port) => format!("127.0.0.1:{port}").parse(),
        None => text.parse(),
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Log {
    /// Path of the file; by default `log/crawl.log` in the crawl directory.
    pub file: Option<String>,
    pub level: LogLevel,
    /// Bytes after which a file is rotated.
    #[serde(deserialize_with = "size::deserialize")]
    pub max_size: u64,
    /// Files to keep, the current one included.
    pub files: u32,
}

impl Default for Log {
    fn default() -> Self {
        Self { file: None, level: LogLevel::Info, max_size: 10_000_000, files: 5 }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LogLevel {
    Off,
    Error,
    /// Errors and warnings.
    Warn,
    /// Also start and end of a run, and progress.
    #[default]
    Info,
}

/// `[keep]`: which pages the crawl keeps.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Keep {
    /// Languages as ISO 639-3 codes (`cmn`) or BCP 47 tags (`zh`); empty: all. Pages in other or unknown languages are
    /// fetched, but are not relevant and not exported. Their links are followed like those of off-topic pages.
    pub languages: Vec<String>,
}

impl Keep {
    /// The languages as ISO 639-3 codes.
    pub fn codes(&self) -> Result<Vec<String>, ConfigError> {
        let code = |name: &String| language_code(name).map_err(ConfigError::Language);
        self.languages.iter().map(code).collect()
    }
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    pub crawl: General,
    pub limits: CrawlLimits,
    pub stop: StopConditions,
    pub politeness: Politeness,
    pub scope: CrawlScope,
    pub sources: Sources,
    pub keep: Keep,
    pub strategy: Strategy,
    pub fetch: crate::fetch::FetchSettings,
    pub refresh: RefreshSettings,
    pub render: crate::fetch::render::RenderSettings,
    pub status: Status,
    pub log: Log,
    pub traps: Traps,
    pub judge: crate::judge::JudgeSettings,
}

/// Keys with numeric values, and the range of each. Times of `[politeness]` are in seconds, of `[refresh]` in days.
const RANGES: [(&str, f64, f64); 62] = [
    ("crawl.in_flight", 1.0, 10_000.0),
    ("crawl.outage_patience", 0.0, 1e9),
    ("crawl.reading_timeout", 0.1, 1e9),
    ("crawl.page_threshold", 0.0, 1.0),
    ("crawl.link_threshold", 0.0, 1.0),
    ("limits.pages", 1.0, f64::INFINITY),
    ("limits.requests", 1.0, f64::INFINITY),
    ("limits.redirects", 0.0, 15.0),
    ("limits.retries", 0.0, 15.0),
    ("stop.relevant", 1.0, f64::INFINITY),
    ("stop.bytes", 1.0, f64::INFINITY),
    ("stop.minutes", 0.001, 1e7),
    ("politeness.delay", 0.0, 1e9),
    ("politeness.delay_factor", 0.0, 1e3),
    ("politeness.max_crawl_delay", 0.0, 1e9),
    ("politeness.max_delay", 0.0, 1e9),
    ("politeness.per_domain", 1.0, f64::INFINITY),
    ("politeness.domain_delay", 0.0, 1e9),
    ("politeness.per_address", 1.0, f64::INFINITY),
    ("politeness.address_delay", 0.0, 1e9),
    ("politeness.backoff", 0.0, 1e9),
    ("politeness.max_backoff", 0.0, 1e9),
    ("politeness.robots_retry", 0.0, 1e9),
    ("politeness.robots_max_age", 60.0, 1e9),
    ("politeness.give_up", 0.0, 1e9),
    ("politeness.patience", 0.0, 1e9),
    ("scope.max_url_length", 1.0, 8_192.0),
    ("sources.after", 1.0, f64::INFINITY),
    ("sources.per_host", 1.0, 50_000.0),
    ("strategy.tunnel.half-worth", 1e-6, 1e6),
    ("strategy.tunnel.listing", 0.0, 2.0),
    ("strategy.tunnel.inherit", 0.0, 2.0),
    ("strategy.tunnel.links-page", 0.0, 2.0),
    ("strategy.tunnel.explore-seeds", 0.0, 2.0),
    ("strategy.tunnel.explore-found", 0.0, 2.0),
    ("strategy.dth.kdepth", 1.0, f64::INFINITY),
    ("strategy.dth.interleave", 1.0, f64::INFINITY),
    ("strategy.static-tunnel.k", 1.0, f64::INFINITY),
    ("strategy.shark-search.delta", 0.0, 1.0),
    ("strategy.shark-search.beta", 0.0, 1.0),
    ("strategy.shark-search.gamma", 0.0, 1.0),
    ("strategy.pagerank.damping", 0.0, 0.999),
    ("strategy.url-weight.at-random", 1.0, f64::INFINITY),
    ("fetch.connect_timeout", 1e-3, 86_400.0),
    ("fetch.read_timeout", 1e-3, 86_400.0),
    ("fetch.timeout", 1e-3, 86_400.0),
    // Each request in flight may hold this much.
    ("fetch.max_body", 1.0, 268_435_456.0),
    ("fetch.max_wire", 1.0, 268_435_456.0),
    ("refresh.discovery", 0.0, 1.0),
    ("refresh.requests", 1.0, f64::INFINITY),
    ("refresh.per_day", 1.0, 1e9),
    ("refresh.per_host", 1.0, f64::INFINITY),
    ("refresh.prior", 0.001, 36_500.0),
    ("refresh.grace", 0.0, 36_500.0),
    ("refresh.shortest", 0.0, 36_500.0),
    ("log.max_size", 1e3, 1e12),
    ("log.files", 1.0, 1e3),
    ("judge.band", 0.001, 100.0),
    ("judge.weight", 0.001, 100.0),
    ("judge.tokens", 1.0, 8_192.0),
    ("judge.calls", 0.0, f64::INFINITY),
    ("judge.timeout", 0.1, 86_400.0),
];

impl Config {
    /// Reads the user's files, and applies the assignments in order. A key of a later file replaces that of an earlier
    /// one. [`Config::load_stored`] reads the file of a crawl directory.
    ///
    /// # Errors
    /// [`ConfigError`] names the file and the line, or the assignment.
    pub fn load<'a>(paths: impl IntoIterator<Item = &'a Path>, assignments: &[String]) -> Result<Self, ConfigError> {
        let mut table = toml::Table::new();
        let mut file = None;
        for path in paths {
            let name = path.display().to_string();
            let text =
                std::fs::read_to_string(path).map_err(|source| ConfigError::Read { path: name.clone(), source })?;
            let read = parse(&name, &text)?;
            // Each by itself, so that an error names its line.
            let own = deserialize_checked(read.clone(), Some((&name, &text)), &[]);
            if own.is_ok_and(|own| own.fetch.credentials.iter().any(crate::fetch::Credential::holds_secret)) {
                crate::fetch::warn_if_open(path, "configuration");
            }
            merge(&mut table, read);
            file = Some((name, text));
        }
        assign_all(&mut table, assignments)?;
        deserialize_checked(table, file.as_ref().map(|(name, text)| (name.as_str(), text.as_str())), assignments)
    }

    /// The stop conditions, including the page limit.
    pub fn goals(&self) -> StopConditions {
        StopConditions { pages: self.limits.pages, ..self.stop.clone() }
    }

    /// The configuration without the password of a proxy, for display.
    pub fn without_secrets(&self) -> Self {
        Self { fetch: self.fetch.without_secrets(), ..self.clone() }
    }

    /// Checks the ranges.
    pub fn check(&self) -> Result<(), ConfigError> {
        let value = |(key, reason): (&str, &str)| ConfigError::Value {
            place: String::new(),
            key: key.into(),
            reason: reason.into(),
        };
        let table = toml::Table::try_from(self)
            .map_err(|error| ConfigError::Shape { from: "given".into(), reason: error.to_string() })?;
        for (key, least, most) in RANGES {
            let number = |value: &toml::Value| value.as_float().or_else(|| Some(value.as_integer()? as f64));
            let number = stored::get(&table, key).and_then(number);
            if number.is_some_and(|number| !(least..=most).contains(&number)) {
                let range =
                    if most.is_finite() { format!("from {least} to {most}") } else { format!("of at least {least}") };
                return Err(value((key, &format!("must be a number {range}"))));
            }
        }
        self.render.check().map_err(value)?;
        self.traps.check().map_err(value)?;
        self.judge.check().map_err(value)?;
        self.keep.codes()?;
        self.fetch.check()?;
        if self.strategy.url_weight.by_weight < self.strategy.url_weight.at_random {
            return Err(value(("strategy.url-weight.by-weight", "must be at least at-random")));
        }
        if self.status.listen.as_deref().is_some_and(|text| address(text).is_err()) {
            return Err(value(("status.listen", "must be a port, or address and port such as \"127.0.0.1:9090\"")));
        }
        if let Some(other) = self.scope.schemes.iter().find(|scheme| !matches!(scheme.as_str(), "http" | "https")) {
            return Err(ConfigError::Value {
                place: String::new(),
                key: "scope.schemes".into(),
                reason: format!("may contain http and https, not {other}"),
            });
        }
        Ok(())
    }
}

/// Parses the file, and checks its keys so that an error names the line of an unknown key.
fn parse(name: &str, text: &str) -> Result<toml::Table, ConfigError> {
    let shape = |error: toml::de::Error| {
        let (line, message) = line_and_message(text, &error);
        ConfigError::Shape { from: name.to_owned(), reason: format!("line {line}: {message}") }
    };
    toml::from_str::<Config>(text).map_err(shape)?;
    toml::from_str(text).map_err(shape)
}

/// Replaces the keys of a table by those of another, section by section.
pub fn merge(table: &mut toml::Table, other: toml::Table) {
    for (key, value) in other {
        match (table.get_mut(&key), value) {
            (Some(toml::Value::Table(inner)), toml::Value::Table(value)) => merge(inner, value),
            (_, value) => drop(table.insert(key, value)),
        }
    }
}

/// Applies the `--set` assignments.
fn assign_all(table: &mut toml::Table, assignments: &[String]) -> Result<(), ConfigError> {
    for assignment in assignments {
        assign(table, assignment)?;
        // A flag may hold a secret, so the message repeats only the key.
        let key = assignment.split('=').next().unwrap_or_default().trim();
        let secret = ["fetch.credentials", "fetch.proxy"].iter().any(|start| key.starts_with(start)) || key == "fetch";
        let flag = || if secret { format!("--set {key}=***") } else { format!("--set {assignment}") };
        let tried: Result<Config, _> = toml::Value::Table(table.clone()).try_into();
        tried.map_err(|error| ConfigError::Shape { from: flag(), reason: message(&error) })?;
    }
    Ok(())
}

/// Deserializes and checks the table; `file` is the name and text of its source.
fn deserialize_checked(
    table: toml::Table,
    file: Option<(&str, &str)>,
    assignments: &[String],
) -> Result<Config, ConfigError> {
    let config: Config = toml::Value::Table(table)
        .try_into()
        .map_err(|error: toml::de::Error| ConfigError::Shape { from: "given".into(), reason: message(&error) })?;
    config.check().map_err(|error| match (error, file) {
        (ConfigError::Value { key, reason, .. }, Some((name, text))) => {
            let given = |set: &String| set.split('=').next().is_some_and(|set| set.trim() == key);
            let line = line_of(text, &key).filter(|_| !assignments.iter().any(given));
            let place = line.map_or_else(String::new, |line| format!("{name}, line {line}: "));
            ConfigError::Value { place, key, reason }
        }
        (error, _) => error,
    })?;
    Ok(config)
}

/// The line on which the file sets a key.
fn line_of(text: &str, key: &str) -> Option<usize> {
    let whole = toml::de::DeTable::parse(text).ok()?;
    let mut parts = key.split('.');
    let mut value = whole.get_ref().get(parts.next()?)?;
    for part in parts {
        value = value.get_ref().get(part)?;
    }
    Some(1 + text.get(..value.span().start)?.matches('\n').count())
}

/// Sets `a.b.c=value` in the table; a value that is not TOML is a string.
fn assign(table: &mut toml::Table, assignment: &str) -> Result<(), ConfigError> {
    let malformed = || ConfigError::Assignment(assignment.to_owned());
    let (key, value) = assignment.split_once('=').ok_or_else(malformed)?;
    let value = value.trim();
    let value = toml::from_str::<toml::Table>(&format!("v = {value}"))
        .ok()
        .and_then(|mut parsed| parsed.remove("v"))
        .unwrap_or_else(|| toml::Value::String(value.to_owned()));
    let mut parts: Vec<&str> = key.trim().split('.').collect();
    let last = parts.pop().filter(|last| !last.is_empty()).ok_or_else(malformed)?;
    let mut table = table;
    for part in parts {
        let entry = table.entry(part.to_owned()).or_insert_with(|| toml::Value::Table(toml::Table::new()));
        table = entry.as_table_mut().ok_or_else(malformed)?;
    }
    table.insert(last.to_owned(), value);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use suidao_crawl::strategy::{DthVariant, StrategyName};

    fn load(text: &str, sets: &[&str]) -> Result<Config, String> {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        std::io::Write::write_all(&mut file, text.as_bytes()).unwrap();
        let sets: Vec<String> = sets.iter().map(|&set| set.to_owned()).collect();
        Config::load(Some(file.path()), &sets).map_err(|error| error.to_string())
    }

    #[test]
    fn flags_override_the_file_and_the_file_the_defaults() {
        let config = load(
            "[politeness]\ndelay = 2\n[strategy.dth]\nkdepth = 6",
            &[
                "politeness.delay=0",
                "strategy.dth.variant=interleave",
                "strategy.name=dth",
                "scope.allow_hosts=['a.cn']",
            ],
        )
        .unwrap();
        assert!(config.politeness.delay.abs() < 1e-9);
        assert_eq!((config.strategy.dth.kdepth, config.strategy.dth.variant), (6, DthVariant::Interleave));
        assert_eq!(config.strategy.name, StrategyName::Dth);
        assert_eq!(config.scope.allow_hosts, ["a.cn"]);
    }

    #[test]
    fn what_does_not_fit_is_reported_with_its_place() {
        for (text, sets, result) in [
            ("[politeness]\ndelya = 2", &[][..], "line 2"),
            ("[politeness", &[], "line 1"),
            ("", &["politeness.delya=2"], "--set politeness.delya=2"),
            ("", &["strategy.dth.variant=quick"], "quick"),
            ("", &["politeness.delay"], "key=value"),
            ("", &["politeness.delay=-1"], "politeness.delay must be"),
            ("", &["strategy.dth.kdepth=0"], "strategy.dth.kdepth must be"),
            ("", &["crawl.in_flight=0"], "crawl.in_flight must"),
            ("[crawl]\npage_threshold = 7", &[], "line 2: crawl.page_threshold must"),
            ("[politeness]\n\ndelay = -1", &["politeness.delay=-2"], "politeness.delay must"),
            ("[log]\nfiles = 0", &[], "line 2: log.files must"),
            ("[stop]\npages = 9", &[], "line 2: unknown key stop.pages; use limits.pages"),
            ("", &["stop.pages=9"], "use limits.pages"),
            ("[stop]\nharvest = '5%'", &[], "0.05/1000"),
            ("[stop]\nbytes = '2 barrels'", &[], "2GB"),
        ] {
            let error = load(text, sets).unwrap_err();
            assert!(error.contains(result), "{text} {sets:?}: {error}");
        }
    }

    #[test]
    fn every_range_is_of_a_key_that_there_is_and_holds_its_default() {
        let mut every = Config::default();
        (every.crawl.page_threshold, every.crawl.link_threshold) = (Some(0.5), Some(0.5));
        (every.limits.pages, every.limits.requests) = (Some(1), Some(1));
        (every.stop.relevant, every.stop.bytes) = (Some(1), Some(1));
        (every.stop.minutes, every.refresh.per_host) = (Some(1.0), Some(1));
        every.check().unwrap();
        let table = toml::Table::try_from(&every).unwrap();
        for (key, least, _) in RANGES {
            assert!(stored::get(&table, key).is_some(), "{key}");
            let below = load("", &[&format!("{key}={}", least - 1.0)]).unwrap_err();
            assert!(below.contains(key), "{below}");
        }
        for (set, key) in [("politeness.give_up=nan", "give_up"), ("politeness.delay_factor=1e9", "delay_factor")] {
            assert!(load("", &[set]).unwrap_err().contains(key));
        }
    }

    #[test]
    fn passwords_are_not_shown() {
        let config = load("[fetch]\nproxy = 'http://me:secret@proxy.cn:3128'", &[]).unwrap();
        assert_eq!(config.without_secrets().fetch.proxy.as_deref(), Some("http://***@proxy.cn:3128"));
    }

    #[test]
    fn the_defaults_are_written_and_read_back() {
        let text = toml::to_string(&Config::default()).unwrap();
        assert_eq!(load(&text, &[]).unwrap(), Config::default());
    }
}
