//! Flags of every verb that sends requests: how, and as whom.

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use clap::Args;
use suidao::config::Config;
use suidao::config::stored::ConfigUse;
use suidao::fetch::render::RenderMode;

use super::names::one_of;
use super::outcome::Verbosity;

/// How requests are sent.
#[derive(Args)]
pub struct NetworkArgs {
    /// Your e-mail address or URL for site owners; sent with every request
    #[arg(long, value_name = "CONTACT", help_heading = "Politeness")]
    pub contact: Option<String>,
    /// HTTP proxy for all requests, for example http://127.0.0.1:8088
    #[arg(long, value_name = "URL", help_heading = "Network")]
    pub proxy: Option<String>,
    /// Allow requests to private and loopback addresses
    #[arg(long, help_heading = "Network")]
    pub allow_private: bool,
    /// Which pages to render in a headless browser before parsing [default: never]
    #[arg(long, value_name = "WHEN", value_parser = one_of::<RenderMode>(), help_heading = "Network")]
    pub render: Option<RenderMode>,
    #[command(flatten)]
    keys: ConfigArgs,
}

/// The configuration: a file, and single keys.
#[derive(Args)]
pub struct ConfigArgs {
    /// Configuration file (TOML); may be repeated, and the keys of a later one replace those of an earlier one
    #[arg(short, long = "config", value_name = "FILE", help_heading = "Configuration")]
    configs: Vec<PathBuf>,
    /// Override one configuration key, for example politeness.delay=0.5; may be repeated
    #[arg(long = "set", value_name = "KEY=VALUE", help_heading = "Configuration")]
    sets: Vec<String>,
}

impl ConfigArgs {
    /// Loads the configuration: `defaults` (KEY=VALUE), file, then --set.
    pub fn load(&self, defaults: &[&str]) -> Result<Config> {
        let sets: Vec<String> = defaults.iter().map(ToString::to_string).chain(self.sets.iter().cloned()).collect();
        Ok(Config::load(self.configs.iter().map(PathBuf::as_path), &sets)?)
    }
}

impl NetworkArgs {
    /// Loads the configuration: file, then --set, then flags.
    pub fn load(&self) -> Result<Config> {
        self.over(self.keys.load(&[])?)
    }

    /// As [`Self::load`]; without a file the one of the crawl directory is used. `fetches`: requests will be sent.
    pub fn load_over(&self, stored: &Path, fetches: bool) -> Result<Config> {
        if !stored.exists() {
            return self.load();
        }
        if !self.keys.configs.is_empty() {
            let config = self.load()?;
            if fetches {
                config.check_replaces(stored, &self.keys.sets)?;
            }
            return Ok(config);
        }
        let own = [(self.proxy.is_some(), "fetch.proxy"), (self.allow_private, "fetch.allow_private")];
        let given: Vec<&str> = own.iter().filter(|(is_given, _)| *is_given).map(|(_, key)| *key).collect();
        let purpose = if fetches { ConfigUse::Fetching(&given) } else { ConfigUse::Offline };
        self.over(Config::load_stored(stored, &self.keys.sets, purpose)?)
    }

    fn over(&self, mut config: Config) -> Result<Config> {
        if self.contact.as_deref().is_some_and(|contact| contact.trim().is_empty()) {
            bail!("--contact is empty; give an e-mail address or a URL");
        }
        let fetch = &mut config.fetch;
        fetch.proxy = self.proxy.clone().or(fetch.proxy.take());
        fetch.contact = self.contact.clone().or(fetch.contact.take());
        fetch.allow_private |= self.allow_private;
        config.render.mode = self.render.unwrap_or(config.render.mode);
        config.check()?;
        Ok(config)
    }

    pub fn warn_without_contact(&self, config: &Config, verbosity: Verbosity) {
        if config.fetch.contact.is_none() {
            infoln!(
                verbosity,
                "warning: no contact is set, so site owners cannot reach you; set --contact or fetch.contact"
            );
        }
    }
}
