//! What is a trap? Rules that tell pages without end, and pages that are none, from the rest: one file a rule. Pure: a URL or
//! a page and what was seen before in, a reason or none out. When they are asked, and what is remembered of it, is the
//! machine's (`crawl/traps.rs`).

pub mod absent;
pub mod mirror;
pub mod path;
pub mod runs;
pub mod series;
pub mod session;

use serde::{Deserialize, Serialize};

/// `[traps]` of the configuration. 0 turns a rule off that has a number.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Traps {
    /// A path or a query that says the same so often in a row is refused.
    pub repeats: usize,
    /// Most path segments.
    pub max_segments: usize,
    /// Pages of a series (a calendar, a list, combinations of parameters) in a row that may bring nothing of their own.
    pub series: u16,
    /// Whether parameters that behave like a session's are dropped from the URLs of their host.
    pub sessions: bool,
    /// Further parameters that are dropped from all URLs, beside those that the normal form has none of.
    pub session_parameters: Vec<String>,
    /// Whether a host whose pages look like it is asked for a page that cannot exist, and what says the same is no page.
    pub soft_404: bool,
    /// Soft 404s in a row after which a host is asked for nothing but seeds.
    pub missing: u16,
    /// Two hosts with so many equal pages under equal paths are one.
    pub mirrors: u16,
    /// Whether the links of a page are left be that says what another said.
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
    /// No rule at all: for who walks a web that is known to end.
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

    /// What is wrong with the settings, if anything: the key and the sentence.
    ///
    /// # Errors
    /// The key and what it must be.
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
