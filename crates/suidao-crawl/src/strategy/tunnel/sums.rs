//! Results of the crawl so far, summed by template, block of links, listing and host.

use std::collections::VecDeque;
use std::hash::Hash;
use std::ops::{Index, IndexMut};

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use suidao_page::model::UrlId;

/// Latest members of a set that are scored again when one of them proves valuable.
const MEMBERS: usize = 100;
/// Prior number of documents, as valuable as expected, of a template, a block or a position in the tag tree.
const PRIOR: f32 = 1.0;
/// Weight of a listing's promise, in documents.
const PROMISE_COUNTS: f32 = 3.0;
/// Weight of a listing's promise, in documents under tags with its word.
const WORD_COUNTS: f32 = 4.0;
/// Prior value of a listing's links.
const HUB_PRIOR: f32 = 0.1;

/// A sum of values and a sum of their weights: rewards and their number, or rewards and what was expected.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct WeightedSum {
    pub value: f32,
    pub weight: f32,
}

impl WeightedSum {
    pub fn add(&mut self, value: f32, weight: f32) {
        self.value += value;
        self.weight += weight;
    }

    /// The quotient, with `prior` weighted as `weight`.
    pub fn mean(self, prior: f32, weight: f32) -> f32 {
        (self.value + weight * prior) / (self.weight + weight)
    }

    /// Observed over expected value of a set of documents, shrunk towards `prior`.
    pub fn ratio(self, prior: f32) -> f32 {
        self.mean(prior, PRIOR)
    }
}

/// A sum that is about no single host, so in a distributed crawl each partition adds that of the others. They arrive in
/// events, so a restart restores them.
#[derive(Clone, Copy, Default, Serialize, Deserialize)]
pub(super) struct SharedSum {
    pub own: WeightedSum,
    pub elsewhere: WeightedSum,
}

impl SharedSum {
    pub fn total(self) -> WeightedSum {
        let mut total = self.own;
        total.add(self.elsewhere.value, self.elsewhere.weight);
        total
    }
}

/// Queued URLs of one set.
#[derive(Clone, Default, Serialize, Deserialize)]
pub(super) struct Members(VecDeque<UrlId>);

impl Members {
    pub fn add(&mut self, id: UrlId) {
        if self.0.len() == MEMBERS {
            self.0.pop_front();
        }
        self.0.push_back(id);
    }

    pub fn iter(&self) -> impl Iterator<Item = UrlId> + '_ {
        self.0.iter().copied()
    }
}

#[derive(Clone, Default, Serialize, Deserialize)]
pub(super) struct Template {
    pub documents: WeightedSum,
    fetched: u32,
    listings: u32,
    /// The documents that the links of its listings led to.
    hub: WeightedSum,
    /// Its pages that opened hosts.
    links_pages: u32,
}

impl Template {
    pub fn fetch(&mut self, listing: bool, links_page: bool) {
        self.fetched += 1;
        self.listings += u32::from(listing);
        self.links_pages += u32::from(links_page);
    }

    pub fn hub(&mut self, reward: f32) {
        self.hub.add(reward, 1.0);
    }

    /// Whether its pages proved to be listings regardless of their URLs.
    pub fn makes_listings(&self) -> bool {
        self.fetched >= 2 && self.listings * 2 > self.fetched
    }

    /// Prior value of a listing of this template.
    pub fn listing_value(&self) -> f32 {
        self.hub.mean(HUB_PRIOR, PROMISE_COUNTS)
    }

    /// Share of its pages that opened hosts; 0 before two were fetched, and low while few were.
    pub fn links_page_value(&self) -> f32 {
        if self.fetched < 2 { 0.0 } else { self.links_pages as f32 / (self.fetched as f32 + 2.0) }
    }
}

/// The links of one block: one position in the tag tree, on all pages of a listing or on all documents of a template.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct BlockYield {
    pub path: u32,
    /// The listing, and the template of its pages.
    pub listing: Option<(u32, u32)>,
    pub documents: WeightedSum,
    pub members: Members,
}

#[derive(Clone, Default, Serialize, Deserialize)]
pub(super) struct ListingSeries {
    /// The documents that its links led to.
    out: WeightedSum,
    /// The documents listed under its URL.
    own: WeightedSum,
    /// What the anchors of links to it promise.
    promise: f32,
    /// The number of its word, of a tag.
    pub word: Option<u32>,
    pub members: Members,
}

impl ListingSeries {
    pub fn brought(&mut self, reward: f32) {
        self.out.add(reward, 1.0);
    }

    pub fn vote(&mut self, reward: f32) {
        self.own.add(reward, 1.0);
    }

    pub fn promise(&self) -> f32 {
        self.promise
    }

    pub fn be_promised(&mut self, promise: f32) {
        self.promise = self.promise.max(promise);
    }

    /// Value of its links: by the documents fetched through them, shrunk towards the documents under its URL, those
    /// towards the documents under tags with its word, and those towards the promise.
    pub fn value(&self, word: WeightedSum) -> f32 {
        self.out.mean(self.own.mean(word.mean(self.promise, WORD_COUNTS), PROMISE_COUNTS), 1.0)
    }

    /// As [`ListingSeries::value`], with `prior` if there are neither documents under its URL nor a promise.
    pub fn value_or(&self, prior: f32) -> f32 {
        self.out.mean(prior, 1.0)
    }
}

#[derive(Clone, Copy, Default, Serialize, Deserialize)]
pub(super) struct HostYield {
    pub pages: u32,
    /// A seed is on it.
    pub seeded: bool,
    /// It was known before: a link to it does not open it.
    pub is_known: bool,
    /// Documents fetched from it, up to [`LOOK`], and the best value of one.
    documents: u8,
    best: f32,
}

/// Prior number of discovered hosts, half of which have something relevant.
const HOSTS_PRIOR: f32 = 5.0;
/// Documents in the first look at a host.
const LOOK: u8 = 3;

impl HostYield {
    /// Adds a fetched document of a discovered host to `hosts`: the best values of the first documents of each.
    pub fn record_document(&mut self, reward: f32, hosts: &mut WeightedSum) {
        if self.documents < LOOK {
            hosts.add((reward - self.best).max(0.0), f32::from(u8::from(self.documents == 0)));
            self.best = self.best.max(reward);
            self.documents += 1;
        }
    }
}

/// What the first documents of discovered hosts promise: 1 without evidence or if half of the hosts are valuable; lower
/// if few are.
pub(super) fn promise_of_hosts(hosts: WeightedSum) -> f32 {
    (2.0 * hosts.mean(0.5, HOSTS_PRIOR)).min(1.0).powi(2)
}

/// Records by number, in order of first mention, and the numbers by key.
#[derive(Clone, Serialize, Deserialize)]
#[serde(bound(
    serialize = "K: Serialize, T: Serialize",
    deserialize = "K: Deserialize<'de> + Hash + Eq, T: Deserialize<'de>"
))]
pub(super) struct YieldTable<K, T> {
    records: Vec<T>,
    numbers: FxHashMap<K, u32>,
}

impl<K, T> Default for YieldTable<K, T> {
    fn default() -> Self {
        Self { records: Vec::new(), numbers: FxHashMap::default() }
    }
}

impl<K: Hash + Eq + Copy, T> YieldTable<K, T> {
    /// Keys and records, in order of their numbers.
    pub fn in_order(&self) -> impl Iterator<Item = (K, &T)> {
        let mut keys: Vec<(u32, K)> = self.numbers.iter().map(|(key, number)| (*number, *key)).collect();
        keys.sort_unstable_by_key(|(number, _)| *number);
        keys.into_iter().map(|(number, key)| (key, &self.records[number as usize]))
    }

    pub fn len(&self) -> usize {
        self.records.len()
    }

    pub fn get(&self, key: &K) -> Option<u32> {
        self.numbers.get(key).copied()
    }

    /// The number of `key`; creates a record for a new one.
    pub fn of(&mut self, key: K, new: impl FnOnce() -> T) -> u32 {
        *self.numbers.entry(key).or_insert_with(|| {
            self.records.push(new());
            u32::try_from(self.records.len() - 1).expect("no more than there are URLs")
        })
    }
}

impl<K, T> Index<usize> for YieldTable<K, T> {
    type Output = T;

    fn index(&self, number: usize) -> &T {
        &self.records[number]
    }
}

impl<K, T> IndexMut<usize> for YieldTable<K, T> {
    fn index_mut(&mut self, number: usize) -> &mut T {
        &mut self.records[number]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ratio_starts_at_its_prior_and_ends_at_what_was_seen() {
        let mut documents = WeightedSum::default();
        assert!((documents.ratio(0.7) - 0.7).abs() < 1e-6);
        for _ in 0..1000 {
            documents.add(0.1, 0.5);
        }
        assert!((documents.ratio(0.7) - 0.2).abs() < 0.01);
    }

    #[test]
    fn a_listing_is_worth_what_it_promised_then_its_word_then_what_files_under_it_then_what_it_brought() {
        let mut series = ListingSeries::default();
        let mut word = WeightedSum::default();
        series.be_promised(0.6);
        series.be_promised(0.2);
        assert!((series.value(word) - 0.6).abs() < 1e-6);
        (0..300).for_each(|_| word.add(0.1, 1.0));
        assert!((series.value(word) - 0.1).abs() < 0.01);
        (0..300).for_each(|_| series.vote(0.9));
        assert!((series.value(word) - 0.9).abs() < 0.01);
        (0..300).for_each(|_| series.brought(0.0));
        assert!(series.value(word) < 0.01);
    }

    #[test]
    fn a_template_is_known_by_two_pages() {
        let mut template = Template::default();
        template.fetch(true, true);
        assert!(!template.makes_listings() && template.links_page_value() == 0.0);
        template.fetch(true, true);
        assert!(template.makes_listings() && template.links_page_value() == 0.5);
        template.fetch(false, false);
        template.fetch(false, false);
        assert!(!template.makes_listings());
    }

    #[test]
    fn discovered_hosts_promise_less_where_few_have_relevant_pages() {
        let mut poor = WeightedSum::default();
        assert!((promise_of_hosts(poor) - 1.0).abs() < 1e-6);
        let mut generous = poor;
        for _ in 0..50 {
            HostYield::default().record_document(0.02, &mut poor);
            let mut host = HostYield::default();
            [0.0, 0.9, 0.1].into_iter().for_each(|reward| host.record_document(reward, &mut generous));
        }
        assert!(promise_of_hosts(poor) < 0.05 && promise_of_hosts(generous) > 0.99);
        let mut known = HostYield::default();
        (0..3).for_each(|_| known.record_document(0.0, &mut poor));
        let before = poor;
        known.record_document(1.0, &mut poor);
        assert_eq!(poor, before, "the first look is over");
    }

    #[test]
    fn the_oldest_members_are_forgotten() {
        let mut members = Members::default();
        (0..150).for_each(|id| members.add(UrlId(id)));
        assert!(members.iter().eq((50..150).map(UrlId)));
    }
}
