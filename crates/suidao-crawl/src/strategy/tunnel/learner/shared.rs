//! The sums that are about no single host: in a distributed crawl each partition learns those of the others.

use suidao_page::model::{LearntSum, SumAbout};

use super::super::sums::{SharedSum, WeightedSum};
use super::Learner;

/// Change of a sum that is worth an event, as a share of its weight: so the log grows with the logarithm of a sum.
const WORTH_LOGGING: f32 = 0.1;

impl Learner {
    pub fn shared_sums(&self) -> Vec<LearntSum> {
        let learnt = |(about, SharedSum { own: WeightedSum { value, weight }, .. })| LearntSum { about, value, weight };
        self.shared().map(learnt).filter(|learnt| learnt.weight > 0.0).collect()
    }

    pub fn changed_elsewhere(&self, sums: &[LearntSum]) -> Vec<LearntSum> {
        let has_changed = |learnt: &&LearntSum| {
            // It has no use for positions and words that it has not met.
            let Some(known) = self.shared_sum(learnt.about) else { return false };
            let change = (learnt.value - known.elsewhere.value).abs() + (learnt.weight - known.elsewhere.weight).abs();
            change > WORTH_LOGGING * (known.total().weight + 1.0)
        };
        sums.iter().filter(has_changed).copied().collect()
    }

    pub fn learn_elsewhere(&mut self, sums: &[LearntSum]) {
        for &LearntSum { about, value, weight } in sums {
            self.shared_sum_mut(about).elsewhere = WeightedSum { value, weight };
        }
    }

    fn shared(&self) -> impl Iterator<Item = (SumAbout, SharedSum)> + '_ {
        let single = [
            (SumAbout::Documents, self.all),
            (SumAbout::DiscoveredHosts, self.discovered_hosts),
            (SumAbout::Blogrolls, self.blogrolls),
        ];
        let positions = self.positions.in_order().map(|(key, sum)| (SumAbout::Position(key), *sum));
        let words = self.words.in_order().map(|(key, sum)| (SumAbout::Word(key), *sum));
        single.into_iter().chain(positions).chain(words)
    }

    fn shared_sum(&self, about: SumAbout) -> Option<SharedSum> {
        match about {
            SumAbout::Documents => Some(self.all),
            SumAbout::DiscoveredHosts => Some(self.discovered_hosts),
            SumAbout::Blogrolls => Some(self.blogrolls),
            SumAbout::Position(key) => self.positions.get(&key).map(|number| self.positions[number as usize]),
            SumAbout::Word(key) => self.words.get(&key).map(|number| self.words[number as usize]),
        }
    }

    fn shared_sum_mut(&mut self, about: SumAbout) -> &mut SharedSum {
        match about {
            SumAbout::Documents => &mut self.all,
            SumAbout::DiscoveredHosts => &mut self.discovered_hosts,
            SumAbout::Blogrolls => &mut self.blogrolls,
            SumAbout::Position(key) => {
                let number = self.positions.of(key, SharedSum::default);
                &mut self.positions[number as usize]
            }
            SumAbout::Word(key) => {
                let number = self.words.of(key, SharedSum::default);
                &mut self.words[number as usize]
            }
        }
    }
}
