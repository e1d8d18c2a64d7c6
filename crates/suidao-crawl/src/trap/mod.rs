//! Trap rules: they recognise endless sites and pages without content. One file per rule. Pure: a URL or a page and the
//! history in, a skip reason or none out. `crawl/state/traps.rs` evaluates them and learns from pages.

pub mod mirror;
pub mod path;
pub mod series;
pub mod series_tracker;
pub mod session;
pub mod soft_404;

use serde::{Deserialize, Serialize};

/// Texts with fewer characters prove nothing: a calendar's days are as long, and others may be alike only because of
/// the template.
pub(crate) const MEANINGFUL: u32 = 120;

/// `[traps]` of the configuration. 0 turns a numeric rule off.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Traps {
    /// Repetitions of a path segment or a query part after which a URL is excluded.
    pub repeats: usize,
    pub max_segments: usize,
    /// Consecutive pages of a series (a calendar, a list, combinations of parameters) that may add nothing new.
    pub series: u16,
    /// Whether parameters that behave like session ids are removed from the URLs of their host.
    pub sessions: bool,
    /// Additional parameters removed from all URLs, beyond those that URL normalisation removes.
    pub session_parameters: Vec<String>,
    /// Whether suspicious hosts are probed with a page that cannot exist; similar responses are then soft 404s.
    pub soft_404: bool,
    /// Consecutive soft 404s after which only seeds are requested from a host.
    pub missing: u16,
    /// Equal pages under equal paths that make two hosts mirrors.
    pub mirrors: u16,
    /// Whether the links of near-duplicate pages are ignored.
    pub near_duplicates: bool,
}

impl Default for Traps {
    fn default() -> Self {
        Self {
            repeats: 3,
            max_segments: 20,
            series: 20,
            sessions: true,
            session_parameters: Vec::new(),
            soft_404: true,
            missing: 100,
            mirrors: 4,
            near_duplicates: true,
        }
    }
}

impl Traps {
    /// No rule at all, for sites known to be finite.
    pub fn off() -> Self {
        Self {
            repeats: 0,
            max_segments: 0,
            series: 0,
            sessions: false,
            session_parameters: Vec::new(),
            soft_404: false,
            missing: 0,
            mirrors: 0,
            near_duplicates: false,
        }
    }

    /// Checks the settings.
    ///
    /// # Errors
    /// The invalid key, and what it must be.
    pub fn check(&self) -> Result<(), (&'static str, &'static str)> {
        if self.repeats == 1 {
            return Err(("traps.repeats", "must be at least 2, or 0 for never"));
        }
        if matches!(self.series, 1 | 2) {
            return Err(("traps.series", "must be at least 3, or 0 for never"));
        }
        if self.mirrors == 1 {
            return Err(("traps.mirrors", "must be at least 2 (two pages may be equal by chance), or 0 for never"));
        }
        let is_name = |name: &String| !name.is_empty() && !name.contains(['=', '&', '#', '?']);
        if !self.session_parameters.iter().all(is_name) {
            return Err(("traps.session_parameters", "must contain parameter names without = and &"));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_that_would_refuse_ordinary_pages_are_refused() {
        let key = |change: fn(&mut Traps)| {
            let mut traps = Traps::default();
            change(&mut traps);
            traps.check().err().map(|(key, _)| key)
        };
        assert_eq!(key(|_| {}), None);
        assert_eq!(key(|traps| *traps = Traps::off()), None);
        assert_eq!(key(|traps| traps.repeats = 1), Some("traps.repeats"));
        assert_eq!(key(|traps| traps.series = 2), Some("traps.series"));
        assert_eq!(key(|traps| traps.mirrors = 1), Some("traps.mirrors"));
        assert_eq!(key(|traps| traps.session_parameters = vec!["a=b".into()]), Some("traps.session_parameters"));
    }
}
