//! Which of two lexicons is better? Only documents on which they disagree can tell, and a reader who does not know what
//! either says decides.
//!
//! Both accept equally many documents: the first at its own threshold, the second at the score that as many reach. So
//! what the first alone accepts and what the second alone accepts are equally many, and the lexicon with the larger
//! share of on-topic documents among its own has the higher precision and the higher recall, whatever the documents are
//! on which they agree.

use serde::Serialize;
use suidao_page::model::Relevance;
use xxhash_rust::xxh3::xxh3_64;

use super::estimate::{IntervalEstimate, StratumPoint, interval, relevant_pages};

/// Documents that one of two lexicons accepts, by index.
#[derive(Clone, Debug, PartialEq)]
pub struct Disagreement {
    /// The score at which the second accepts as many as the first.
    pub threshold: Relevance,
    /// Documents that both accept.
    pub both: usize,
    /// Documents that only the first, and only the second accepts.
    pub alone: [Vec<usize>; 2],
}

/// Documents that one lexicon alone accepts, and what was read of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ReadDocuments {
    pub documents: usize,
    pub read: usize,
    pub on_topic: usize,
}

/// What readings say of two lexicons.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LexiconComparison {
    /// Documents that both accept.
    pub both: usize,
    pub first_alone: ReadDocuments,
    pub second_alone: ReadDocuments,
    /// On-topic documents that the second accepts more than the first; `None` until some of each were read.
    pub gain: Option<IntervalEstimate>,
}

impl Disagreement {
    /// `scores` of both lexicons by document; `threshold` of the first.
    pub fn new(scores: &[(Relevance, Relevance)], threshold: Relevance) -> Self {
        let accepted = scores.iter().filter(|(first, _)| *first >= threshold).count();
        let mut seconds: Vec<(Relevance, usize)> = scores.iter().map(|(_, second)| *second).zip(0..).collect();
        // Of equal scores at the end the earlier documents are accepted.
        seconds.sort_by(|one, other| other.0.get().total_cmp(&one.0.get()).then(one.1.cmp(&other.1)));
        let mut by_second = vec![false; scores.len()];
        seconds[..accepted].iter().for_each(|&(_, document)| by_second[document] = true);
        let mut found = Self {
            threshold: seconds[..accepted].last().map_or(Relevance::ONE, |(score, _)| *score),
            both: 0,
            alone: [Vec::new(), Vec::new()],
        };
        for (document, (&(first, _), second)) in scores.iter().zip(by_second).enumerate() {
            match (first >= threshold, second) {
                (true, true) => found.both += 1,
                (true, false) => found.alone[0].push(document),
                (false, true) => found.alone[1].push(document),
                (false, false) => (),
            }
        }
        found
    }

    /// At most `most` documents to read, of each kind in turn and otherwise in order of a hash of the URL: the first n
    /// of a kind are a random sample of it, for any two lexicons, so that readings serve again.
    pub fn draw<'a>(&self, url: impl Fn(usize) -> &'a str, most: usize) -> Vec<usize> {
        let ordered = |alone: &Vec<usize>| {
            let mut ordered: Vec<(u64, usize)> =
                alone.iter().map(|&document| (xxh3_64(url(document).as_bytes()), document)).collect();
            ordered.sort_unstable();
            ordered
        };
        let [first, second] = self.alone.each_ref().map(ordered);
        let mut drawn: Vec<(usize, u64, usize)> = Vec::new();
        for kind in [first, second] {
            drawn.extend(kind.into_iter().enumerate().map(|(turn, (hash, document))| (turn, hash, document)));
        }
        // Within a turn the hash decides, so that the order says nothing of the kind.
        drawn.sort_unstable();
        drawn.into_iter().take(most).map(|(_, _, document)| document).collect()
    }

    /// What the readings of [`Self::draw`] say.
    pub fn compare(&self, drawn: &[usize], on_topic: impl Fn(usize) -> Option<bool>) -> LexiconComparison {
        let read = |alone: &Vec<usize>| {
            let answers = drawn.iter().filter(|document| alone.binary_search(document).is_ok());
            let answers: Vec<bool> = answers.filter_map(|&document| on_topic(document)).collect();
            ReadDocuments {
                documents: alone.len(),
                read: answers.len(),
                on_topic: answers.iter().filter(|on_topic| **on_topic).count(),
            }
        };
        let [first_alone, second_alone] = self.alone.each_ref().map(read);
        let point = |read: ReadDocuments| StratumPoint {
            pages: read.documents as u64,
            labelled: read.read as u64,
            relevant: read.on_topic as u64,
            ..StratumPoint::default()
        };
        let is_known = [first_alone, second_alone].iter().all(|read| read.read > 0);
        let gain =
            is_known.then(|| interval(&relevant_pages(&[first_alone, second_alone].map(point)), |on| on[1] - on[0]));
        LexiconComparison { both: self.both, first_alone, second_alone, gain }
    }
}

impl LexiconComparison {
    /// Whether the second is better, if the interval says so.
    pub fn is_second_better(&self) -> Option<bool> {
        let gain = self.gain?;
        (gain.low > 0.0 || gain.high < 0.0).then_some(gain.low > 0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scores(pairs: &[(f32, f32)]) -> Vec<(Relevance, Relevance)> {
        pairs.iter().map(|&(first, second)| (Relevance::new(first), Relevance::new(second))).collect()
    }

    #[test]
    fn both_accept_equally_many() {
        let scores = scores(&[(0.9, 0.1), (0.8, 0.9), (0.5, 0.4), (0.1, 0.4), (0.0, 0.8), (0.0, 0.4)]);
        let found = Disagreement::new(&scores, Relevance::new(0.5));
        // The second has 0.9, 0.8 and the first of three 0.4.
        assert_eq!(found.threshold, Relevance::new(0.4));
        assert_eq!((found.both, found.alone), (2, [vec![0], vec![4]]));
        let none = Disagreement::new(&scores, Relevance::ONE);
        assert_eq!((none.both, none.alone), (0, [vec![], vec![]]));
        assert_eq!(Disagreement::new(&[], Relevance::ZERO).both, 0);
    }

    #[test]
    fn readings_serve_for_other_lexicons_and_kinds_take_turns() {
        let urls: Vec<String> = (0..60).map(|number| format!("http://a.cn/{number}")).collect();
        let url = |document: usize| urls[document].as_str();
        let all = Disagreement { threshold: Relevance::ONE, both: 0, alone: [(0..30).collect(), (30..60).collect()] };
        let drawn = all.draw(url, 20);
        assert_eq!(drawn.iter().filter(|document| **document < 30).count(), 10);
        let few = Disagreement { alone: [(0..15).collect(), (30..45).collect()], ..all };
        let again = few.draw(url, 20);
        let kept = drawn.iter().filter(|&&document| document % 30 < 15).count();
        assert!(kept > 4 && drawn.iter().filter(|document| again.contains(document)).count() == kept);
    }

    #[test]
    fn the_better_lexicon_is_told_apart_and_equal_ones_are_not() {
        let urls: Vec<String> = (0..2000).map(|number| format!("http://a.cn/{number}")).collect();
        let found =
            Disagreement { threshold: Relevance::ONE, both: 9, alone: [(0..1000).collect(), (1000..2000).collect()] };
        let drawn = found.draw(|document| &urls[document], 60);
        // Two of ten of the first are on topic, and seven of ten of the second.
        let of = |share: [usize; 2]| {
            found.compare(&drawn, |document| {
                Some(xxh3_64(urls[document].as_bytes()) % 10 < share[document / 1000] as u64)
            })
        };
        let better = of([2, 7]);
        let gain = better.gain.unwrap();
        assert!(gain.low < 500.0 && gain.high > 500.0 && gain.low > 0.0, "{gain:?}");
        assert_eq!(better.is_second_better(), Some(true));
        assert_eq!(of([7, 2]).is_second_better(), Some(false));
        assert_eq!(of([5, 5]).is_second_better(), None);
        assert_eq!(found.compare(&drawn, |document| (document < 1000).then_some(true)).gain, None);
        // All that there is was read.
        let few = Disagreement { alone: [vec![0, 1], vec![1000, 1001]], ..found };
        let exact = few.compare(&[0, 1, 1000, 1001], |document| Some(document > 999)).gain.unwrap();
        assert_eq!((exact.low, exact.value, exact.high), (2.0, 2.0, 2.0));
    }
}
