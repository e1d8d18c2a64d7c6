//! The generated webs of the benchmark for focused crawlers (docs/benchmark.md).

use strum::{EnumMessage, IntoStaticStr, VariantArray};

use super::spec::WebSpec;

/// Five kinds of webs, each with a topic (体育), seeds and known relevant pages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, EnumMessage, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "kebab-case")]
pub enum Scenario {
    /// Blogs as measured on real ones, half of their pages listings
    #[default]
    Blogs,
    /// Small blogs joined by blogrolls; seeds on two of them
    Blogrolls,
    /// Large islands of topic pages behind one to twelve off-topic pages
    Islands,
    /// Sixty islands joined by many short tunnels
    SmallWorld,
    /// Islands among endless calendars, session ids, second URLs and dead links
    Traps,
}

impl Scenario {
    /// The web with this random seed.
    ///
    /// # Panics
    /// Never: the files are compiled in, and a test reads them.
    pub fn spec(self, seed: u64) -> WebSpec {
        let text = match self {
            Self::Blogs => return WebSpec { seed, ..WebSpec::demo() },
            Self::Blogrolls => include_str!("../../../../worlds/friends.toml"),
            Self::Islands => include_str!("../../../../worlds/islands.toml"),
            Self::SmallWorld => include_str!("../../../../worlds/small-world.toml"),
            Self::Traps => include_str!("../../../../worlds/default.toml"),
        };
        WebSpec { seed, ..WebSpec::parse(text).expect("the files of worlds/ are specs") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_scenario_is_a_web() {
        for scenario in Scenario::VARIANTS {
            scenario.spec(3).check().unwrap();
            assert_eq!(scenario.spec(3).seed, 3);
        }
    }
}
