//! The configuration that a crawl directory stores (`state/config.toml`) for later runs. Others may have written the
//! directory, so settings that reach outside it come from the user only.

use std::collections::BTreeSet;
use std::path::Path;

use super::{Config, ConfigError};
use suidao_crawl::strategy::StrategyName;
use suidao_store::store::plain_file;

const MODEL: &str = "strategy.context-graph.model";

/// Keys and sections that a crawl directory neither stores nor sets. Without the first [`REQUIRED`] of them a run would
/// send other requests than the crawl, or send them another way.
const NOT_STORED: [&str; 12] = [
    "fetch.proxy",
    "fetch.credentials",
    "fetch.allow_private",
    "fetch.allow_addresses",
    "scope.allow_ports",
    MODEL,
    "render.browser",
    "render.sandbox",
    "render.memory",
    "status",
    "log",
    "judge",
];

const REQUIRED: usize = 6;

/// What a stored configuration is read for.
#[derive(Clone, Copy, Debug)]
pub enum ConfigUse<'a> {
    /// Pages are fetched. Flags set these keys.
    Fetching(&'a [&'a str]),
    /// Only files are read.
    Offline,
}

impl Config {
    /// The part that a crawl directory stores.
    pub fn stored(&self) -> toml::Table {
        let table = |config: &Self| toml::Table::try_from(config).unwrap_or_default();
        let (mut stored, default) = (table(self), table(&Self::default()));
        let is_used = |key: &str| key != MODEL || self.strategy.name == StrategyName::ContextGraph;
        let needed =
            NOT_STORED[..REQUIRED].iter().filter(|key| get(&stored, key) != get(&default, key) && is_used(key));
        let unsaved: Vec<toml::Value> = needed.map(|&key| key.into()).collect();
        for key in NOT_STORED {
            let (sections, last) = key.rsplit_once('.').unwrap_or(("", key));
            let mut sections = sections.split('.').filter(|name| !name.is_empty());
            let inner = sections.try_fold(&mut stored, |table, section| table.get_mut(section)?.as_table_mut());
            if let Some(table) = inner {
                table.remove(last);
            }
        }
        if let Some(general) = stored.get_mut("crawl").and_then(toml::Value::as_table_mut)
            && !unsaved.is_empty()
        {
            general.insert("unsaved_settings".to_owned(), unsaved.into());
        }
        stored
    }

    /// For a configuration that replaces the stored one: checks that the settings that the crawl used and did not store
    /// are in it, or among the assignments.
    ///
    /// # Errors
    /// [`ConfigError::UnsavedSettings`] if one is missing; else as [`Config::load`].
    pub fn check_replaces(&self, stored: &Path, assignments: &[String]) -> Result<(), ConfigError> {
        let name = stored.display().to_string();
        let old = super::parse(&name, &plain_file::read_text(stored, plain_file::SMALL)?)?;
        let table = |config: &Self| toml::Table::try_from(config).unwrap_or_default();
        let (given, default) = (table(self), table(&Self::default()));
        require_unsaved(&name, &old, |key| {
            get(&given, key) != get(&default, key)
                || assignments.iter().any(|set| set.split('=').next().is_some_and(|name| name.trim() == key))
                || key == MODEL && self.strategy.name != StrategyName::ContextGraph
        })
    }

    /// What decides which pages a crawl requests and how, and is otherwise than in the stored configuration:
    /// `key = now (before: then)`.
    ///
    /// # Errors
    /// As [`Config::load`], for the stored configuration.
    pub fn changes_since(&self, stored: &Path) -> Result<Vec<String>, ConfigError> {
        let before = Self::load_stored(stored, &[], ConfigUse::Offline)?;
        let (now, then) = (self.stored(), before.stored());
        let section = |table: &toml::Table, name| table.get(name).and_then(toml::Value::as_table).cloned();
        let mut changes = Vec::new();
        for name in ["fetch", "keep", "politeness", "scope", "sources", "traps"] {
            let (now, then) = (section(&now, name).unwrap_or_default(), section(&then, name).unwrap_or_default());
            let keys: BTreeSet<&String> = now.keys().chain(then.keys()).collect();
            let shown = |value: Option<&toml::Value>| value.map_or("unset".to_owned(), ToString::to_string);
            for key in keys.into_iter().filter(|key| now.get(*key) != then.get(*key)) {
                changes.push(format!("{name}.{key} = {} (before: {})", shown(now.get(key)), shown(then.get(key))));
            }
        }
        Ok(changes)
    }

    /// Reads the configuration that a crawl directory stores, and applies the assignments in order.
    ///
    /// # Errors
    /// [`ConfigError::NotStorable`] if it has a key that only the user may set; [`ConfigError::UnsavedSettings`] if the
    /// crawl used a setting that the user has not given; else as [`Config::load`].
    pub fn load_stored(path: &Path, assignments: &[String], purpose: ConfigUse<'_>) -> Result<Self, ConfigError> {
        let text = plain_file::read_text(path, plain_file::SMALL)?;
        Self::parse_stored(&path.display().to_string(), &text, assignments, purpose)
    }

    /// As [`Config::load_stored`], of the text of a file; `name` is for messages.
    pub fn parse_stored(
        name: &str,
        text: &str,
        assignments: &[String],
        purpose: ConfigUse<'_>,
    ) -> Result<Self, ConfigError> {
        let name = name.to_owned();
        let mut table = super::parse(&name, text)?;
        if let Some(key) = NOT_STORED.into_iter().find(|key| get(&table, key).is_some()) {
            return Err(ConfigError::NotStorable { path: name, key });
        }
        super::assign_all(&mut table, assignments)?;
        let is_given = |key: &str| match purpose {
            ConfigUse::Fetching(given) => given.contains(&key) || get(&table, key).is_some(),
            ConfigUse::Offline => true,
        };
        let layered = get(&table, "strategy.name").and_then(toml::Value::as_str) == Some("context-graph");
        require_unsaved(&name, &table, |key| is_given(key) || key == MODEL && !layered)?;
        super::deserialize_checked(table, Some((&name, text)), assignments)
    }
}

/// Refuses settings that the crawl of a stored configuration used, did not store, and that are not given now.
fn require_unsaved(name: &str, stored: &toml::Table, is_given: impl Fn(&str) -> bool) -> Result<(), ConfigError> {
    let unsaved: Vec<String> = get(stored, "crawl.unsaved_settings")
        .cloned()
        .map_or_else(Vec::new, |keys| keys.try_into().unwrap_or_default());
    let missing: Vec<String> = unsaved.into_iter().filter(|key| !is_given(key)).collect();
    if missing.is_empty() {
        return Ok(());
    }
    Err(ConfigError::UnsavedSettings { path: name.to_owned(), keys: missing.join(", ") })
}

pub(super) fn get<'a>(table: &'a toml::Table, key: &str) -> Option<&'a toml::Value> {
    let (sections, last) = key.rsplit_once('.').unwrap_or(("", key));
    let mut sections = sections.split('.').filter(|name| !name.is_empty());
    sections.try_fold(table, |table, section| table.get(section)?.as_table())?.get(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn load(text: &str, sets: &[&str], purpose: ConfigUse<'_>) -> Result<Config, String> {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        std::io::Write::write_all(&mut file, text.as_bytes()).unwrap();
        let sets: Vec<String> = sets.iter().map(|&set| set.to_owned()).collect();
        Config::load_stored(file.path(), &sets, purpose).map_err(|error| error.to_string())
    }

    fn whole() -> Config {
        let text = "crawl.in_flight = 3\npoliteness.delay = 7\nfetch.proxy = 'http://me:hush@p.cn:1'\n\
                    fetch.credentials = [{ origin = 'a.cn', bearer = 'hush' }]\nfetch.allow_private = true\n\
                    fetch.allow_addresses = ['10.0.0.1']\nscope.allow_ports = [6379]\nstrategy.name = 'context-graph'\n\
                    strategy.context-graph.model = '/etc/passwd'\nrender.browser = '/bin/evil'\nrender.sandbox = false\n\
                    render.memory = 1_000_000_000_000\nstatus.listen = '0.0.0.0:1'\nlog.file = '/tmp/x'\n\
                    judge = { command = '/bin/evil', model = 'm' }";
        toml::from_str(text).unwrap()
    }

    #[test]
    fn changes_of_what_is_requested_are_listed() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), toml::to_string(&whole().stored()).unwrap()).unwrap();
        let changes = Config::default().changes_since(file.path()).unwrap();
        assert_eq!(changes, ["politeness.delay = 1.0 (before: 7.0)"]);
        assert!(whole().changes_since(file.path()).unwrap().is_empty());
    }

    #[test]
    fn settings_that_reach_outside_are_not_stored_and_must_be_given_again() {
        let stored = toml::to_string(&whole().stored()).unwrap();
        for word in ["hush", "p.cn", "10.0.0.1", "6379", "passwd", "evil", "0.0.0.0", "/tmp/x", "allow_private"] {
            assert!(!stored.replace("fetch.allow_private", "").contains(word), "{word}: {stored}");
        }
        let message = load(&stored, &[], ConfigUse::Fetching(&["fetch.proxy"])).unwrap_err();
        assert!(
            NOT_STORED[1..REQUIRED].iter().all(|key| message.contains(key)) && !message.contains("fetch.proxy"),
            "{message}"
        );
        let read = load(&stored, &[], ConfigUse::Offline).unwrap();
        assert_eq!((read.crawl.in_flight, read.politeness.delay, read.fetch.proxy), (3, 7.0, None));
        assert!(load(&stored, &["strategy.name=tunnel"], ConfigUse::Fetching(&NOT_STORED[..REQUIRED - 1])).is_ok());
        let given = load(&stored, &["fetch.allow_private=true"], ConfigUse::Fetching(&NOT_STORED)).unwrap();
        assert!(given.fetch.allow_private && given.render.browser.is_none());
        let usual = toml::to_string(&Config::default().stored()).unwrap();
        assert_eq!(load(&usual, &[], ConfigUse::Fetching(&[])).unwrap(), Config::default());
    }

    #[test]
    fn what_reaches_out_is_not_taken_from_a_directory() {
        let table = toml::Table::try_from(whole()).unwrap();
        for key in NOT_STORED {
            let text = format!("{key} = {}", get(&table, key).unwrap());
            for purpose in [ConfigUse::Offline, ConfigUse::Fetching(&NOT_STORED)] {
                let message = load(&text, &[], purpose).unwrap_err();
                assert!(
                    message.contains(key) && !message.contains("hush") && !message.contains("evil"),
                    "{key}: {message}"
                );
            }
        }
    }

    #[test]
    fn every_key_that_names_a_path_an_address_or_a_variable_is_known() {
        // A new key fails this test: if it reaches outside a crawl directory, add it to the list.
        let mut every = whole();
        every.fetch.contact = Some("me".into());
        every.render.mode = crate::fetch::render::RenderMode::Never;
        let mut texts = Vec::new();
        gather("", &every.stored(), &mut texts);
        texts.sort();
        assert_eq!(
            texts,
            [
                "crawl.unsaved_settings",
                "fetch.accept_language",
                "fetch.contact",
                "fetch.user_agent",
                "keep.languages",
                "refresh.policy",
                "render.mode",
                "scope.allow_hosts",
                "scope.deny_extensions",
                "scope.deny_hosts",
                "scope.nofollow",
                "scope.schemes",
                "strategy.best-first.focus",
                "strategy.dth.k-mode",
                "strategy.dth.variant",
                "strategy.name",
                "strategy.pagerank.variant",
                "traps.session_parameters",
            ]
        );
    }

    /// Collects the keys whose value is a text or a list.
    fn gather(before: &str, table: &toml::Table, keys: &mut Vec<String>) {
        for (key, value) in table {
            let key = if before.is_empty() { key.clone() } else { format!("{before}.{key}") };
            match value {
                toml::Value::Table(inner) => gather(&key, inner, keys),
                toml::Value::String(_) | toml::Value::Array(_) => keys.push(key),
                _ => {}
            }
        }
    }
}
