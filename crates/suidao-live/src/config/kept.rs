//! The configuration that a crawl directory keeps (`state/config.toml`), for those who go on with the crawl. The file
//! given with `-c` is the user's own, wherever it lies.

use std::fmt;
use std::path::Path;

use super::{Config, ConfigError};
use suidao_crawl::strategy::StrategyName;
use suidao_store::store::own;

/// A key that is not taken from a crawl directory.
#[derive(Debug, PartialEq, Eq)]
struct Reach {
    key: &'static str,
    /// Why it is not.
    why: &'static str,
    /// How users say it themselves.
    give: &'static str,
    /// Whether something else would be fetched without it, or by another way: then nothing is.
    needed: bool,
    /// Numbers up to this are taken.
    most: Option<i64>,
}

const fn needed(key: &'static str, why: &'static str, give: &'static str) -> Reach {
    Reach { key, why, give, needed: true, most: None }
}

const fn left(key: &'static str, why: &'static str, give: &'static str) -> Reach {
    Reach { key, why, give, needed: false, most: None }
}

const fn most(key: &'static str, most: i64, give: &'static str) -> Reach {
    Reach { key, why: "so much memory is not its to take", give, needed: false, most: Some(most) }
}

/// Every key that reaches out. The rest of a configuration says what is crawled, how politely and as whom, and is a crawl's.
const REACHES: [Reach; 15] = [
    needed("fetch.proxy", "a proxy sees every request", "--proxy URL"),
    needed(
        "fetch.credentials",
        "they name variables of the environment and files, and send what these hold",
        "-c FILE with those that are to be sent",
    ),
    needed("fetch.allow_private", "it opens this machine and its network", "--allow-private"),
    needed(
        "fetch.allow_addresses",
        "it opens this machine and its network",
        "--set 'fetch.allow_addresses=[\"ADDRESS\"]'",
    ),
    needed("scope.allow_ports", "it opens ports of other services", "--set 'scope.allow_ports=[PORT]'"),
    needed(MODEL, "it names a file", "--set strategy.context-graph.model=FILE"),
    left("render.browser", "it names a program", "--set render.browser=PROGRAM"),
    left("render.sandbox", "the browser keeps its sandbox", "--set render.sandbox=false"),
    left("status.listen", "it opens a port", "--status ADDRESS:PORT"),
    left("status.names", "they are names of this machine", "--set 'status.names=[\"NAME\"]'"),
    left("log.file", "it names a file", "--log FILE"),
    left("crawl.linked_pages", "it lets pages be written elsewhere", "--set crawl.linked_pages=true"),
    most("fetch.max_body", 256 << 20, "--set fetch.max_body=BYTES"),
    most("fetch.max_wire", 256 << 20, "--set fetch.max_wire=BYTES"),
    most("render.memory", 4 << 30, "--set render.memory=BYTES"),
];

const MODEL: &str = "strategy.context-graph.model";

/// A key that stood in a kept configuration and was not taken from there. Shown as its name, why, and how to give it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LeftOut(&'static Reach);

impl LeftOut {
    /// The key.
    pub fn key(self) -> &'static str {
        self.0.key
    }
}

impl fmt::Display for LeftOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Reach { key, why, give, .. } = self.0;
        write!(f, "{key} ({why}; give {give})")
    }
}

/// What a kept configuration is read for.
#[derive(Clone, Copy, Debug)]
pub enum Use<'a> {
    /// Pages are fetched. These keys are given by flags of their own.
    Fetching(&'a [&'a str]),
    /// Only what is on disk is looked at; no file that is named is read.
    Reading,
}

impl Config {
    /// Reads the configuration kept in a crawl directory and applies the assignments in order; what reaches out of the
    /// directory is left out, and told unless the user gave it.
    ///
    /// # Errors
    /// [`ConfigError::LeftOut`] if something else would be fetched without what is left out; else as [`Config::load`].
    pub fn load_kept(
        path: &Path,
        assignments: &[String],
        purpose: Use<'_>,
    ) -> Result<(Self, Vec<LeftOut>), ConfigError> {
        let text = own::read_text(path, own::SMALL)?;
        let name = path.display().to_string();
        let mut table = super::parse(&name, &text)?;
        let mut left_out = strip(&mut table, purpose);
        super::assign_all(&mut table, assignments)?;
        let Use::Fetching(given) = purpose else {
            return Ok((super::meant(table, Some((&name, &text)), assignments)?, Vec::new()));
        };
        left_out.retain(|left| !given.contains(&left.key()) && get(&table, left.key()).is_none());
        let strategy = get(&table, "strategy.name").and_then(toml::Value::as_str);
        let layered = strategy == Some(&StrategyName::ContextGraph.to_string());
        let stops = |left: &&LeftOut| left.0.needed && (left.key() != MODEL || layered);
        let stop: Vec<String> = left_out.iter().filter(stops).map(LeftOut::to_string).collect();
        if !stop.is_empty() {
            return Err(ConfigError::LeftOut { path: name, keys: stop.join(", ") });
        }
        Ok((super::meant(table, Some((&name, &text)), assignments)?, left_out))
    }
}

/// Takes out what reaches out; what that was.
fn strip(table: &mut toml::Table, purpose: Use<'_>) -> Vec<LeftOut> {
    let usual = toml::Table::try_from(Config::default()).unwrap_or_default();
    let mut left_out = Vec::new();
    for reach in &REACHES {
        // Without its layers a strategy is none; they are not read here.
        if reach.key == MODEL && matches!(purpose, Use::Reading) {
            continue;
        }
        let Some(value) = get(table, reach.key) else { continue };
        let is_taken = match reach.most {
            Some(most) => value.as_integer().is_none_or(|value| value <= most),
            None => Some(value) == get(&usual, reach.key),
        };
        if !is_taken {
            remove(table, reach.key);
            left_out.push(LeftOut(reach));
        }
    }
    left_out
}

fn get<'a>(table: &'a toml::Table, key: &str) -> Option<&'a toml::Value> {
    let (sections, last) = key.rsplit_once('.').unwrap_or(("", key));
    sections.split('.').try_fold(table, |table, section| table.get(section)?.as_table())?.get(last)
}

fn remove(table: &mut toml::Table, key: &str) {
    let (sections, last) = key.rsplit_once('.').unwrap_or(("", key));
    let inner = sections.split('.').try_fold(table, |table, section| table.get_mut(section)?.as_table_mut());
    if let Some(inner) = inner {
        inner.remove(last);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn load(text: &str, sets: &[&str], purpose: Use<'_>) -> Result<(Config, Vec<&'static str>), String> {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        std::io::Write::write_all(&mut file, text.as_bytes()).unwrap();
        let sets: Vec<String> = sets.iter().map(|&set| set.to_owned()).collect();
        let loaded = Config::load_kept(file.path(), &sets, purpose).map_err(|error| error.to_string())?;
        Ok((loaded.0, loaded.1.into_iter().map(LeftOut::key).collect()))
    }

    /// A value for each key that reaches out.
    const REACHING: [(&str, &str); 15] = [
        ("fetch.proxy", "'http://p.cn:1'"),
        ("fetch.credentials", "[{ origin = 'a.cn', bearer_env = 'HOME' }]"),
        ("fetch.allow_private", "true"),
        ("fetch.allow_addresses", "['10.0.0.1']"),
        ("scope.allow_ports", "[6379]"),
        ("strategy.context-graph.model", "'/etc/passwd'"),
        ("render.browser", "'/bin/evil'"),
        ("render.sandbox", "false"),
        ("status.listen", "'0.0.0.0:1'"),
        ("status.names", "['evil.cn']"),
        ("log.file", "'/tmp/x'"),
        ("crawl.linked_pages", "true"),
        ("fetch.max_body", "1_000_000_000_000"),
        ("fetch.max_wire", "1_000_000_000_000"),
        ("render.memory", "1_000_000_000_000"),
    ];

    #[test]
    fn what_reaches_out_is_left_out_and_told() {
        assert_eq!(REACHING.map(|(key, _)| key), REACHES.each_ref().map(|reach| reach.key));
        for ((key, value), reach) in REACHING.iter().zip(&REACHES) {
            let text = format!("{key} = {value}\npoliteness.delay = 7");
            let own = format!("{key}={value}");
            match load(&text, &[], Use::Fetching(&[])) {
                Ok((config, left_out)) => {
                    assert!(!reach.needed || *key == MODEL, "{key}");
                    assert_eq!(left_out, [*key]);
                    let mut usual = Config::default();
                    usual.politeness.delay = 7.0;
                    assert_eq!(config, usual, "{key}");
                }
                Err(told) => {
                    assert!(reach.needed && told.contains(key) && told.contains("-c "), "{told}");
                    assert!(!told.contains("evil") && !told.contains("HOME"), "{told}");
                }
            }
            // What the user says is the user's, by --set, by a flag of its own, or with -c.
            let (set, left_out) = load(&text, &[&own], Use::Fetching(&[])).unwrap();
            assert!(left_out.is_empty() && set != Config::default(), "{key}");
            let (_, left_out) = load(&text, &[], Use::Fetching(&[key])).unwrap();
            assert!(left_out.is_empty(), "{key}");
            let mut file = tempfile::NamedTempFile::new().unwrap();
            std::io::Write::write_all(&mut file, text.as_bytes()).unwrap();
            assert_eq!(Config::load(Some(file.path()), &[]).unwrap(), set, "{key}");
            assert!(load(&text, &[], Use::Reading).unwrap().1.is_empty());
        }
        // As crawls keep it, with every key that has a usual value.
        let text = toml::to_string(&Config::default()).unwrap();
        assert_eq!(load(&text, &[], Use::Fetching(&[])).unwrap(), (Config::default(), vec![]));
        let layered = "strategy.name = 'context-graph'\nstrategy.context-graph.model = 'x'";
        assert!(load(layered, &[], Use::Fetching(&[])).unwrap_err().contains(MODEL));
        assert!(load(layered, &[], Use::Reading).is_ok());
        assert!(load(layered, &["strategy.name=tunnel"], Use::Fetching(&[])).is_ok());
    }

    #[test]
    fn every_key_that_names_a_path_an_address_or_a_variable_is_known() {
        // A key that is new is to be looked at: does it reach out of a crawl directory? Then it belongs into the list.
        let mut every = Config::default();
        every.fetch.proxy = Some("http://p.cn".into());
        every.fetch.contact = Some("me".into());
        every.render.browser = Some("x".into());
        every.render.mode = crate::fetch::render::RenderMode::Auto;
        every.status.listen = Some("1".into());
        every.log.file = Some("x".into());
        every.strategy.context_graph.model = Some("x".into());
        let mut keys = Vec::new();
        gather("", &toml::Table::try_from(&every).unwrap(), &mut keys);
        let texts: Vec<&str> = keys.iter().map(String::as_str).filter(|key| get_is_text(&every, key)).collect();
        let reaching = |key: &&&str| !REACHES.iter().any(|reach| reach.key == **key);
        let mut harmless: Vec<&&str> = texts.iter().filter(reaching).collect();
        harmless.sort();
        assert_eq!(
            harmless,
            [
                &"fetch.accept_language",
                &"fetch.contact",
                &"fetch.user_agent",
                &"keep.languages",
                &"log.level",
                &"refresh.policy",
                &"render.mode",
                &"scope.allow_hosts",
                &"scope.deny_extensions",
                &"scope.deny_hosts",
                &"scope.nofollow",
                &"scope.schemes",
                &"strategy.best-first.focus",
                &"strategy.dth.reading",
                &"strategy.name",
                &"traps.session_parameters",
            ]
        );
    }

    fn gather(before: &str, table: &toml::Table, keys: &mut Vec<String>) {
        for (key, value) in table {
            let key = if before.is_empty() { key.clone() } else { format!("{before}.{key}") };
            match value {
                toml::Value::Table(inner) => gather(&key, inner, keys),
                _ => keys.push(key),
            }
        }
    }

    fn get_is_text(config: &Config, key: &str) -> bool {
        let table = toml::Table::try_from(config).unwrap();
        // What a list may hold is not told by an empty one.
        get(&table, key).is_some_and(|value| value.is_str() || value.is_array())
    }
}
