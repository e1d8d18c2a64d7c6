//! `[strategy]` of the configuration: which strategy, and with which parameters.

use serde::de::IntoDeserializer;
use serde::{Deserialize, Serialize};
use strum::{Display, EnumMessage, IntoStaticStr, VariantArray};

use super::interface::Strategy;
use super::{
    BestFirst, BreadthFirst, ContextGraph, Dth, FishSearch, GlobalPageRank, Opic, PageRank, PageRankVariant, Random,
    SharkSearch, StaticTunnel, TunnelSearch, TunnelSettings, UrlWeight,
};
use suidao_page::model::Relevance;

#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    Serialize,
    Deserialize,
    Display,
    EnumMessage,
    IntoStaticStr,
    VariantArray,
)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum StrategyName {
    /// Learns which listing pages, links and hosts lead to the topic
    #[default]
    Tunnel,
    /// Dynamic tunnelling heuristic (Jiang, Zhu, Wang 2020); see strategy.dth.variant
    Dth,
    /// Best first, by the relevance of the linking page
    BestFirst,
    /// First links of on-topic pages, fewer of off-topic pages (De Bra, Post 1994)
    FishSearch,
    /// By anchor, context and inherited score of the path (Hersovici et al. 1998)
    SharkSearch,
    /// Crosses at most k off-topic pages in a row (Bergmark, Lagoze, Sbityakov 2002)
    StaticTunnel,
    /// One queue per estimated distance from the topic (Diligenti et al. 2000)
    ContextGraph,
    /// PageRank over the frontier, links of on-topic pages only
    Pagerank,
    /// By cash that pages distribute to their links (Abiteboul, Preda, Cobena 2003)
    Opic,
    /// Short, simple URLs first (Tianwang)
    UrlWeight,
    /// In order of discovery
    BreadthFirst,
    /// In random order, as a lower bound
    Random,
}

/// `[strategy]` of the configuration: the strategy, and the parameters of each.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct StrategySettings {
    pub name: StrategyName,
    pub dth: Dth,
    pub tunnel: TunnelSettings,
    pub best_first: BestFirst,
    pub fish_search: FishSearch,
    pub shark_search: SharkSearch,
    pub static_tunnel: StaticTunnel,
    pub context_graph: ContextGraph,
    pub pagerank: PageRank,
    pub url_weight: UrlWeight,
    pub random: Random,
}

/// Why a text does not name a strategy.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoStrategy {
    #[error("unknown strategy {0}; choose one of {1}")]
    Name(String, String),
    #[error("strategy {0} takes no parameter {1} in its name; set it with --set strategy.{0}.KEY=VALUE")]
    Parameter(StrategyName, String),
}

impl NoStrategy {
    fn name(name: &str) -> Self {
        let names: Vec<String> = StrategyName::VARIANTS.iter().map(ToString::to_string).collect();
        Self::Name(name.to_owned(), names.join(", "))
    }
}

/// The variant written like this in a configuration.
fn variant<T: serde::de::DeserializeOwned>(word: &str) -> Option<T> {
    let word: serde::de::value::StrDeserializer<serde::de::value::Error> = word.into_deserializer();
    T::deserialize(word).ok()
}

impl StrategySettings {
    pub fn build(&self, page_threshold: Relevance) -> Box<dyn Strategy> {
        match self.name {
            StrategyName::Dth => Box::new(self.dth.clone()),
            StrategyName::Tunnel => Box::new(TunnelSearch::new(self.tunnel.clone(), page_threshold)),
            StrategyName::BestFirst => Box::new(self.best_first.clone()),
            StrategyName::FishSearch => Box::new(self.fish_search.clone()),
            StrategyName::SharkSearch => Box::new(self.shark_search.clone()),
            StrategyName::StaticTunnel => Box::new(self.static_tunnel.clone()),
            StrategyName::ContextGraph => Box::new(self.context_graph.clone()),
            StrategyName::Pagerank => match self.pagerank.variant {
                PageRankVariant::Incremental => Box::new(self.pagerank.clone()),
                PageRankVariant::Global => Box::new(GlobalPageRank::new(self.pagerank.damping)),
            },
            StrategyName::Opic => Box::new(Opic),
            StrategyName::UrlWeight => Box::new(self.url_weight.clone()),
            StrategyName::BreadthFirst => Box::new(BreadthFirst),
            StrategyName::Random => Box::new(self.random.clone()),
        }
    }

    /// These settings with a strategy given by its label ([`StrategySettings::label`]): its name, or its name and the
    /// parameter of its variant: `breadth-first`, `dth queue`, `best-first hard`.
    pub fn named(&self, text: &str) -> Result<Self, NoStrategy> {
        let (name, parameter) =
            text.trim().split_once(' ').map_or((text.trim(), None), |(name, p)| (name, Some(p.trim())));
        let mut settings = self.clone();
        settings.name = variant(name).ok_or_else(|| NoStrategy::name(name))?;
        let Some(word) = parameter else { return Ok(settings) };
        let wrong = || NoStrategy::Parameter(settings.name, word.to_owned());
        match settings.name {
            StrategyName::Dth => settings.dth.variant = variant(word).ok_or_else(wrong)?,
            StrategyName::BestFirst => settings.best_first.focus = variant(word).ok_or_else(wrong)?,
            StrategyName::StaticTunnel => settings.static_tunnel.k = word.parse().map_err(|_| wrong())?,
            StrategyName::Pagerank => settings.pagerank.variant = variant(word).ok_or_else(wrong)?,
            StrategyName::Random => settings.random.seed = word.parse().map_err(|_| wrong())?,
            _ => return Err(wrong()),
        }
        Ok(settings)
    }

    /// The largest number of off-topic pages in a row that the strategy crosses without a promising link, or the paper's 12
    /// if it has no such number.
    pub fn k(&self) -> u16 {
        match self.name {
            StrategyName::StaticTunnel => self.static_tunnel.k.into(),
            _ => self.dth.kdepth.into(),
        }
    }

    /// The strategy with its variant: `dth link-scored`, `best-first hard`.
    pub fn label(&self) -> String {
        match self.name {
            StrategyName::Dth => format!("dth {}", self.dth.variant),
            StrategyName::BestFirst => format!("best-first {}", self.best_first.focus),
            StrategyName::StaticTunnel => format!("static-tunnel {}", self.static_tunnel.k),
            StrategyName::Pagerank if self.pagerank.variant == PageRankVariant::Global => "pagerank global".to_owned(),
            name => name.to_string(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_label_names_its_strategy() {
        for name in StrategyName::VARIANTS {
            let label = StrategySettings { name: *name, ..StrategySettings::default() }.label();
            assert_eq!(StrategySettings::default().named(&label).map(|found| found.label()), Ok(label));
        }
        for label in ["dth preempt", "dth queue", "dth interleave", "best-first hard", "static-tunnel 4"] {
            assert_eq!(StrategySettings::default().named(label).unwrap().label(), label);
        }
        let based = StrategySettings { dth: Dth { kdepth: 4, ..Dth::default() }, ..StrategySettings::default() };
        assert_eq!(based.named("dth queue").unwrap().dth.kdepth, 4, "parameters that the name omits stay");
    }

    #[test]
    fn what_names_no_strategy_is_reported() {
        let message = |text: &str| StrategySettings::default().named(text).unwrap_err().to_string();
        assert!(message("deep-first").contains("unknown strategy deep-first; choose one of tunnel, dth"));
        assert!(message("dth quick").contains("dth takes no parameter quick"));
        assert!(message("breadth-first 3").contains("strategy.breadth-first.KEY"));
        assert!(message("").contains("choose one of tunnel"));
    }
}
