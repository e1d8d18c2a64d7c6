//! The section `[render]` of the configuration.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use strum::{EnumMessage, IntoStaticStr, VariantArray};
use suidao_page::model::size;

/// Which pages a browser shows before they are read.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, EnumMessage, IntoStaticStr, VariantArray,
)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum RenderMode {
    /// No pages
    #[default]
    Never,
    /// Pages with little text and with scripts that may add more
    Auto,
    /// All HTML pages
    Always,
}

/// Times are in seconds, sizes in bytes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RenderSettings {
    /// Off by default: the result of a crawl must not depend on the installed browser.
    pub mode: RenderMode,
    /// Chromium or Chrome; by default the variable `CHROME`, or a program on the path.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub browser: Option<PathBuf>,
    /// Pages rendered at one time, 1 to 64.
    pub tabs: usize,
    /// Longest time for a page with all it loads, above 0, at most 600. The page is read as it is then.
    pub timeout: f64,
    /// A loaded page is done after this long without a request, 0 to 60.
    pub idle: f64,
    /// Maximum number of requests of a page, itself excluded.
    pub requests: usize,
    /// Maximum number of bytes that a page loads, itself excluded.
    #[serde(deserialize_with = "size::deserialize")]
    pub bytes: usize,
    /// Maximum memory of one page, at least 64 MiB; a page that takes more fails.
    #[serde(deserialize_with = "size::deserialize")]
    pub memory: usize,
    /// Pages after which the browser restarts, at least 1.
    pub pages: usize,
    /// Whether the browser uses its sandbox. As root it cannot.
    pub sandbox: bool,
}

impl Default for RenderSettings {
    fn default() -> Self {
        Self {
            mode: RenderMode::Never,
            browser: None,
            tabs: 2,
            timeout: 20.0,
            idle: 0.5,
            requests: 60,
            bytes: 20 << 20,
            memory: 1 << 30,
            pages: 200,
            sandbox: true,
        }
    }
}

impl RenderSettings {
    /// Checks the values.
    ///
    /// # Errors
    /// The key and its range.
    pub fn check(&self) -> Result<(), (&'static str, &'static str)> {
        if !(1..=64).contains(&self.tabs) {
            return Err(("render.tabs", "must be from 1 to 64"));
        }
        if !(self.timeout > 0.0 && self.timeout <= 600.0) {
            return Err(("render.timeout", "must be a number of seconds above 0 and at most 600"));
        }
        if !(0.0..=60.0).contains(&self.idle) {
            return Err(("render.idle", "must be a number of seconds from 0 to 60"));
        }
        if self.memory < 64 << 20 {
            return Err(("render.memory", "must be at least 67108864 bytes (64 MiB)"));
        }
        if self.pages == 0 {
            return Err(("render.pages", "must be at least 1"));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_defaults_are_sound_and_bad_values_are_named() {
        RenderSettings::default().check().unwrap();
        let empty: RenderSettings = toml::from_str("").unwrap();
        assert_eq!(empty, RenderSettings::default());
        for (text, key) in [
            ("tabs = 0", "render.tabs"),
            ("tabs = 65", "render.tabs"),
            ("timeout = 0", "render.timeout"),
            ("timeout = nan", "render.timeout"),
            ("idle = -1", "render.idle"),
            ("memory = 1000", "render.memory"),
            ("pages = 0", "render.pages"),
        ] {
            let settings: RenderSettings = toml::from_str(text).unwrap();
            assert_eq!(settings.check().unwrap_err().0, key, "{text}");
        }
        assert!(toml::from_str::<RenderSettings>("mode = 'sometimes'").is_err());
    }
}
