//! What a poor harvest says of topic and seeds, in a sentence with the next step.

use serde::Serialize;
use suidao_page::messages::Lang;

/// Pages after which a harvest says something.
const ENOUGH: u64 = 300;
/// Pages without a relevant one that are no chance.
const DRY: u64 = 500;
/// A lower harvest rate is low: the seeds or the lexicon are wrong.
const LOW: f64 = 0.05;
/// On so few of [`HOSTS`] visited hosts or more, relevant pages are those of the seeds.
const FEW: u64 = 2;
const HOSTS: u64 = 10;

/// The first of these that is true.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum HarvestTrouble {
    /// No relevant page among the last so many.
    Dry { pages: u64 },
    /// Few of the pages are relevant.
    Low { relevant: u64, pages: u64 },
    /// All relevant pages are on few hosts, although many were visited.
    FewHosts { relevant: u64, visited: u64 },
}

impl HarvestTrouble {
    /// `curve`: pages and relevant ones among them, rising; `hosts`: with relevant pages, and visited.
    pub fn of(curve: impl Iterator<Item = (u64, u64)>, hosts: (u64, u64)) -> Option<Self> {
        let (mut pages, mut relevant, mut latest) = (0, 0, 0);
        for point in curve {
            if point.1 > relevant {
                latest = point.0;
            }
            (pages, relevant) = point;
        }
        if pages < ENOUGH {
            None
        } else if pages.saturating_sub(latest) >= DRY {
            Some(Self::Dry { pages: pages - latest })
        } else if (relevant as f64) < LOW * pages as f64 {
            Some(Self::Low { relevant, pages })
        } else {
            (hosts.0 <= FEW && hosts.1 >= HOSTS).then_some(Self::FewHosts { relevant: hosts.0, visited: hosts.1 })
        }
    }

    /// What it is and what to do, for the crawl in this directory.
    pub fn advice(&self, lang: Lang, directory: &str) -> String {
        let label = format!("suidao label {directory} --pages 30");
        match self {
            Self::Dry { pages } => lang.text("harvest-dry", &[pages, &label]),
            Self::Low { relevant, pages } => {
                let report = format!("suidao report {directory}");
                lang.text("harvest-low", &[relevant, pages, &label, &report])
            }
            Self::FewHosts { relevant, visited } => lang.text("harvest-few-hosts", &[relevant, visited]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(curve: &[(u64, u64)], hosts: (u64, u64)) -> Option<HarvestTrouble> {
        HarvestTrouble::of(curve.iter().copied(), hosts)
    }

    #[test]
    fn a_good_or_short_harvest_is_no_trouble() {
        assert_eq!(of(&[], (0, 0)), None);
        assert_eq!(of(&[(100, 0), (200, 0)], (0, 20)), None);
        assert_eq!(of(&[(100, 40), (300, 90)], (5, 20)), None);
        // A crawl of two hosts finds relevant pages on these.
        assert_eq!(of(&[(100, 40), (300, 90)], (2, 2)), None);
    }

    #[test]
    fn each_trouble_has_its_sentence() {
        let dry = of(&[(100, 40), (200, 60), (300, 60), (700, 60)], (5, 20)).unwrap();
        assert_eq!(dry, HarvestTrouble::Dry { pages: 500 });
        let low = of(&[(100, 4), (400, 9)], (5, 20)).unwrap();
        assert_eq!(low, HarvestTrouble::Low { relevant: 9, pages: 400 });
        let few = of(&[(100, 40), (400, 90)], (1, 20)).unwrap();
        assert_eq!(few, HarvestTrouble::FewHosts { relevant: 1, visited: 20 });
        for trouble in [dry, low, few] {
            for lang in [Lang::English, Lang::Chinese] {
                assert!(trouble.advice(lang, "ml").len() > 60, "{}", trouble.advice(lang, "ml"));
            }
        }
        assert!(dry.advice(Lang::English, "ml").contains("suidao label ml --pages 30"));
    }
}
