//! Parameters of `tunnel`.

use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct TunnelSettings {
    /// A document has reward 0.5 at this share of the page threshold.
    pub half_worth: f32,
    /// Weight of a listing against a document of the same reward.
    pub listing: f32,
    /// Share of a listing's value that its links inherit.
    pub inherit: f32,
    /// Weight of a links page: a page that opens hosts.
    pub links_page: f32,
    /// κ of hosts with a seed: bonus of a host's first pages.
    pub explore_seeds: f32,
    pub explore_found: f32,
}

impl Default for TunnelSettings {
    fn default() -> Self {
        Self { half_worth: 0.8, listing: 0.65, inherit: 0.5, links_page: 0.5, explore_seeds: 0.4, explore_found: 0.7 }
    }
}
