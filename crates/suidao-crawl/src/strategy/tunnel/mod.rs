//! `tunnel`, our own strategy: it learns the value of a page as a way to other pages separately from its value as a
//! document (after shark-search, Hersovici et al. 1998; apprentice learners for links, Chakrabarti, Punera, Subramanyam
//! 2002; and bandits over groups of links, Meusel, Mika, Blanco 2014).
//!
//! ```text
//! s(v)      = γ inherited + (1 - γ) (β R_Anchor + (1 - β) context)           the best over the links to v, as shark-search
//! y(p)      = x² / (1 + x²),  x = Sim(p) / (.8 τ_page)                        value of a fetched document
//! ratio(g)  = (Σ y + prior) / (Σ s + 1)                                       observed over expected, of a set of documents;
//!             the prior of a template is ratio(all documents)^.7
//! document  = s(v) · max over blocks b of ratio(b), shrunk towards ratio(template) · ratio(position in the tag tree)^½
//! listing   = .65 · value of its links, shrunk towards documents under its URL, shrunk towards the promise of its anchors
//! bridge    = .5 · share of the pages of recommended sites that opened a host; of any template likewise
//! worth     = one of these + κ / √(pages of the host + 1);  κ of discovered hosts falls if few of them paid
//! ```
//! Tag and category pages look relevant but are not documents, and one host can starve the others: so listings earn by
//! their targets, and every host gets a bonus for its first pages. k is recorded as in `dth`, but drops nothing.

mod kind;
mod learner;
mod sums;

use serde::{Deserialize, Serialize};

use suidao_page::model::{
    CrawlUrl, Event, LinkDecision, PathState, Priority, QueueEntry, QueueId, Relevance, TunnelBudget, UrlId,
};

use super::{Learning, LinkCandidate, PageVisit, SharkSearch, Strategy, merge_paths};
use learner::Learner;

/// Length of a tunnel whose links all score low; recorded only.
const K: u8 = 12;
/// The start score of a link.
const SHARK: SharkSearch = SharkSearch { delta: 0.5, beta: 0.8, gamma: 0.5 };

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct TunnelSettings {
    /// A document has value 0.5 at this share of the page threshold.
    pub half_worth: f32,
    /// Weight of a listing against a document of the same value.
    pub listing: f32,
    /// Share of a listing's value that its links inherit.
    pub inherit: f32,
    /// Weight of a page that opens hosts.
    pub bridge: f32,
    /// κ of hosts with a seed: bonus of a host's first pages.
    pub explore_seeds: f32,
    pub explore_found: f32,
}

impl Default for TunnelSettings {
    fn default() -> Self {
        Self { half_worth: 0.8, listing: 0.65, inherit: 0.5, bridge: 0.5, explore_seeds: 0.4, explore_found: 0.7 }
    }
}

pub(super) struct TunnelSearch {
    settings: TunnelSettings,
    learner: Learner,
}

impl TunnelSearch {
    pub fn new(settings: TunnelSettings, page_threshold: Relevance) -> Self {
        Self { learner: Learner::new(settings.clone(), page_threshold), settings }
    }
}

impl Strategy for TunnelSearch {
    fn judge(&self, visit: &PageVisit) -> Vec<LinkDecision> {
        let handed_on = if visit.relevant { visit.relevance.get() } else { visit.place.path.inherited.get() };
        let hub = self.settings.inherit * self.learner.hub_value(visit.id);
        let inherited = Relevance::new((SHARK.delta * handed_on).max(hub));
        let place = |link: &LinkCandidate| {
            let score = SHARK.potential(inherited, link);
            let left = visit.place.path.k.count_down(K, link.relevance >= visit.link_threshold);
            let k = if visit.relevant { TunnelBudget::Unbounded } else { left.unwrap_or(TunnelBudget::Left(0)) };
            let link_path = PathState { inherited, ..visit.path_state(k) };
            // The prior s; the learner reads it from the event and computes the score from it.
            QueueEntry { queue: QueueId::MAIN, priority: Priority::new(score.clamp(0.01, 0.97)), path: link_path }
        };
        visit.links.iter().map(|link| LinkDecision::Follow(place(link))).collect()
    }

    fn merge(&self, old: QueueEntry, new: QueueEntry) -> QueueEntry {
        let inherited = old.path.inherited.max(new.path.inherited);
        QueueEntry { path: merge_paths(old.path, new.path, inherited), ..old }
    }

    fn seed(&self, _url: &CrawlUrl) -> QueueEntry {
        // The links of an off-topic seed inherit as from a page at the threshold.
        let link_path = PathState { inherited: self.learner.threshold(), ..PathState::SEED };
        QueueEntry { queue: QueueId::MAIN, priority: Priority::new(1.0), path: link_path }
    }

    fn learning(&self) -> Option<&dyn Learning> {
        Some(self)
    }

    fn learning_mut(&mut self) -> Option<&mut dyn Learning> {
        Some(self)
    }
}

impl Learning for TunnelSearch {
    fn observe(&mut self, event: &Event, risen: &mut Vec<UrlId>) {
        self.learner.observe(event, risen);
    }

    fn current_score(&self, id: UrlId) -> Priority {
        Priority::new(self.learner.worth(id))
    }

    fn snapshot(&self) -> Box<dyn Iterator<Item = Vec<u8>> + '_> {
        Box::new(self.learner.pieces())
    }

    fn restore(&mut self, piece: &[u8]) -> bool {
        self.learner.restore(piece)
    }

    fn is_complete(&self, urls: usize) -> bool {
        self.learner.is_complete(urls)
    }
}

#[cfg(test)]
mod tests;
