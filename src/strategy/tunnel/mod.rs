//! `tunnel`, the strategy of our own: what a page is worth as a way to others is learnt apart from what it is worth as a
//! document. ALGORITHMS 8.9.
//!
//! ```text
//! document:  s(v) · clamp(ratio(template)^½ · max_g ratio(g) ratio(tag(g))^½) + exploration of its host
//! listing:   .8 V(family) + exploration,   V = (yield of its links + P) / (links fetched + 1)
//! friends:   what pages of recommended sites opened so far + exploration
//! ratio(x) = (observed(x) + m) / (expected(x) + m)
//! ```
//! s is shark-search's score (Hersovici et al. 1998), the best over the links seen; observed is what the fetched
//! documents of a group turned out to be worth, expected what s had promised. k is kept as dth keeps it, and drops nothing.

mod kind;

use rustc_hash::{FxHashMap, FxHashSet};
use serde::{Deserialize, Serialize};

use crate::model::{Event, Link, Place, Priority, Region, Relevance, Settled, UrlId, Verdict};
use crate::model::{Lane, Tunnel as K};

use super::{Strategy, Visit, merge_trails};
use kind::{Form, Kind};

/// Groups of links that a URL takes part in, at most.
const GROUPS: usize = 4;
/// Members of a group that are looked at again when it pays.
const MEMBERS: usize = 400;
const NONE: u32 = u32::MAX;

/// Parameters of `tunnel`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Tunnel {
    pub kdepth: u8,
    pub gamma: f32,
    pub beta: f32,
    pub a0: f32,
    pub lp_min: f32,
    pub lp_max: f32,
    pub mi: f32,
    pub kappa: f32,
    pub kexd: f32,
    pub listing: f32,
    pub inherit: f32,
    pub m_group: f32,
    pub m_tag: f32,
    pub m_template: f32,
    pub friends: f32,
    pub m_friends: f32,
    pub reward: f32,
    pub floor: f32,
    pub hill: f32,
    pub m_host: f32,
    pub host_pow: f32,
    pub nest: f32,
    pub dup: f32,
    pub tpl_pow: f32,
    pub tag_pow: f32,
    pub grp_pow: f32,
    pub hi: f32,
    pub list_host: f32,
}

impl Default for Tunnel {
    fn default() -> Self {
        Self {
            kdepth: 12,
            gamma: 0.5,
            beta: 0.8,
            a0: 0.25,
            lp_min: 0.03,
            lp_max: 0.9,
            mi: 2.0,
            kappa: 0.3,
            kexd: 0.7,
            listing: 0.8,
            inherit: 0.4,
            m_group: 0.3,
            m_tag: 1.0,
            m_template: 1.0,
            friends: 0.5,
            m_friends: 2.0,
            reward: 2.0,
            floor: 0.0,
            hill: 0.0,
            m_host: 1.0,
            host_pow: 0.0,
            nest: 0.0,
            dup: 0.0,
            tpl_pow: 0.5,
            tag_pow: 0.5,
            grp_pow: 1.0,
            hi: 30.0,
            list_host: 0.0,
        }
    }
}

/// What a set of documents brought, and what was expected of it.
#[derive(Clone, Copy, Default)]
struct Yield {
    observed: f32,
    expected: f32,
}

impl Yield {
    fn ratio(self, m: f32) -> f32 {
        (self.observed + m) / (self.expected + m)
    }

    fn add(&mut self, observed: f32, expected: f32) {
        self.observed += observed;
        self.expected += expected;
    }
}

/// Links of one block of a page, or of the pages of one listing.
struct Group {
    family: u32,
    path: u32,
    gain: Yield,
    members: Vec<UrlId>,
}

/// A listing with its later pages.
#[derive(Default)]
struct Family {
    /// Worth of the documents fetched by its links, and their number.
    out: (f32, f32),
    /// Worth of the documents that file themselves under it, and their number.
    own: (f32, f32),
    promise: f32,
    members: Vec<UrlId>,
}

#[derive(Default, Clone)]
struct Host {
    gain: Yield,
    pages: u32,
    seed: bool,
    seen: bool,
}

struct Known {
    kind: Kind,
    seed: bool,
    fetched: bool,
    host: u32,
    family: u32,
    template: u32,
    prior: f32,
    groups: [u32; GROUPS],
}

/// Hub-value tunnelling.
pub struct Learner {
    settings: Tunnel,
    threshold: f32,
    known: Vec<Known>,
    /// URLs whose first link called them a page of recommended sites.
    anchors: FxHashSet<UrlId>,
    hosts: Vec<Host>,
    host_numbers: FxHashMap<String, u32>,
    families: Vec<Family>,
    family_numbers: FxHashMap<u64, u32>,
    templates: Vec<Yield>,
    template_numbers: FxHashMap<u64, u32>,
    groups: Vec<Group>,
    group_numbers: FxHashMap<(u32, bool, u32), u32>,
    tags: FxHashMap<u32, Yield>,
    digests: FxHashSet<crate::model::Digest>,
    /// Pages of recommended sites fetched, and those among them that opened a host.
    friends: (f32, f32),
}

impl Learner {
    pub fn new(settings: Tunnel, threshold: Relevance) -> Self {
        Self {
            settings,
            threshold: threshold.get().max(1e-6),
            known: Vec::new(),
            anchors: FxHashSet::default(),
            hosts: Vec::new(),
            host_numbers: FxHashMap::default(),
            families: Vec::new(),
            family_numbers: FxHashMap::default(),
            templates: Vec::new(),
            template_numbers: FxHashMap::default(),
            groups: Vec::new(),
            group_numbers: FxHashMap::default(),
            tags: FxHashMap::default(),
            digests: FxHashSet::default(),
            friends: (0.0, 0.0),
        }
    }

    fn get(&self, id: UrlId) -> &Known {
        &self.known[id.0 as usize]
    }

    fn get_mut(&mut self, id: UrlId) -> &mut Known {
        &mut self.known[id.0 as usize]
    }

    fn discover(&mut self, id: UrlId, url: &crate::model::CrawlUrl, anchor: &str) {
        let Form { kind, family, template } = kind::form(url);
        let host = match self.host_numbers.get(url.authority()) {
            Some(&host) => host,
            None => {
                let host = self.hosts.len() as u32;
                self.hosts.push(Host::default());
                self.host_numbers.insert(url.authority().to_owned(), host);
                host
            }
        };
        let families = &mut self.families;
        let family = *self.family_numbers.entry(family).or_insert_with(|| {
            families.push(Family::default());
            families.len() as u32 - 1
        });
        let templates = &mut self.templates;
        let template = *self.template_numbers.entry(template).or_insert_with(|| {
            templates.push(Yield::default());
            templates.len() as u32 - 1
        });
        if kind::says_friends(anchor) {
            self.anchors.insert(id);
        }
        debug_assert_eq!(self.known.len(), id.0 as usize);
        self.known.push(Known {
            kind,
            seed: false,
            fetched: false,
            host,
            family,
            template,
            prior: 0.01,
            groups: [NONE; GROUPS],
        });
        if kind.is_listing() {
            self.families[family as usize].members.push(id);
        }
    }

    /// What a listing is worth: by what its links brought, before that by the documents that file themselves under it, and
    /// before that by what links call it.
    fn listing_value(&self, family: u32) -> f32 {
        let family = &self.families[family as usize];
        let mi = self.settings.mi;
        let own = (family.own.0 + mi * family.promise) / (family.own.1 + mi);
        (family.out.0 + own) / (family.out.1 + 1.0)
    }

    fn exploration(&self, host: u32) -> f32 {
        let host = &self.hosts[host as usize];
        let kappa = if host.seed { self.settings.kappa } else { self.settings.kexd };
        kappa / (host.pages as f32 + 1.0).sqrt()
    }

    fn worth(&self, id: UrlId) -> f32 {
        let known = self.get(id);
        let set = &self.settings;
        if known.seed {
            return 2.0;
        }
        let explore = self.exploration(known.host);
        if known.kind == Kind::Friends {
            let (opened, fetched) = self.friends;
            return set.friends * (opened + set.m_friends) / (fetched + set.m_friends) + explore;
        }
        if known.kind.is_listing() {
            let host = self.hosts[known.host as usize].gain.ratio(set.m_host).powf(set.list_host).min(1.0);
            return set.listing * self.listing_value(known.family) * host + explore;
        }
        let mut best = 0.0_f32;
        let mut any = false;
        let host_ratio = self.hosts[known.host as usize].gain.ratio(set.m_host);
        if set.nest > 0.0 {
            let t = self.templates[known.template as usize];
            let tr = (t.observed + set.m_template * host_ratio) / (t.expected + set.m_template);
            let mut best = 0.0_f32;
            for &group in known.groups.iter().filter(|&&group| group != NONE) {
                let group = &self.groups[group as usize];
                let tag = self.tags.get(&group.path).copied().unwrap_or_default();
                let prior = tr * tag.ratio(set.m_tag).powf(set.tag_pow);
                best = best.max((group.gain.observed + set.m_group * prior) / (group.gain.expected + set.m_group));
                any = true;
            }
            if !any {
                best = tr;
            }
            return (known.prior * best.clamp(0.02, set.hi)).min(1.0) + explore;
        }
        for &group in known.groups.iter().filter(|&&group| group != NONE) {
            let group = &self.groups[group as usize];
            let tag = self.tags.get(&group.path).copied().unwrap_or_default();
            best = best.max(group.gain.ratio(set.m_group).powf(set.grp_pow) * tag.ratio(set.m_tag).powf(set.tag_pow));
            any = true;
        }
        if !any {
            best = 1.0;
        }
        let factor = self.templates[known.template as usize].ratio(set.m_template).powf(set.tpl_pow)
            * best
            * host_ratio.powf(set.host_pow);
        known.prior * factor.clamp(0.02, set.hi) + explore
    }

    fn settle(&mut self, settled: &Settled, risen: &mut Vec<UrlId>) {
        let id = settled.id;
        let page = self.get_mut(id);
        page.fetched = true;
        let (kind, host, family, prior) = (page.kind, page.host, page.family, page.prior);
        let document = kind == Kind::Document && !page.seed;
        self.hosts[host as usize].pages += 1;
        self.hosts[host as usize].seen = true;
        let (floor, reward) = (self.settings.floor, self.settings.reward);
        let mut y = ((settled.relevance.get() / self.threshold - floor) / (reward - floor)).clamp(0.0, 1.0);
        if self.settings.hill > 0.0 {
            let x = (settled.relevance.get() / (self.threshold * reward)).powf(self.settings.hill);
            y = x / (1.0 + x);
        }
        if !self.digests.insert(settled.digest) && self.settings.dup > 0.0 {
            y = 0.0;
        }
        if document {
            self.account(id, y, prior.min(1.0), risen);
        }
        let mut opened = false;
        for link in &settled.links {
            let Verdict::Follow(place) = link.verdict else { continue };
            let target = self.get(link.to);
            let (to_host, to_family, to_kind, fetched) = (target.host, target.family, target.kind, target.fetched);
            if to_host != host && !self.hosts[to_host as usize].seen {
                self.hosts[to_host as usize].seen = true;
                opened = true;
            }
            if document && to_kind == Kind::Tag && link.region != Region::Navigation {
                let own = &mut self.families[to_family as usize].own;
                own.0 += y;
                own.1 += 1.0;
            }
            if !fetched {
                if to_host == host && link.region != Region::Content && self.anchors.contains(&link.to) {
                    self.get_mut(link.to).kind = Kind::Friends;
                }
                self.promise(link, family, kind);
                self.join(link, id, (kind.is_listing()).then_some(family));
                let known = self.get_mut(link.to);
                known.prior = known.prior.max(place.priority.get());
            }
        }
        if kind == Kind::Friends {
            self.friends.1 += 1.0;
            self.friends.0 += f32::from(u8::from(opened));
        }
    }

    /// A document turned out to be worth `y`, where `e` was expected: told to all groups it was a member of.
    fn account(&mut self, id: UrlId, y: f32, e: f32, risen: &mut Vec<UrlId>) {
        let (template, groups) = (self.get(id).template, self.get(id).groups);
        self.templates[template as usize].add(y, e);
        let host = self.get(id).host;
        self.hosts[host as usize].gain.add(y, e);
        for number in groups.into_iter().filter(|&group| group != NONE) {
            let group = &mut self.groups[number as usize];
            group.gain.add(y, e);
            let (path, family) = (group.path, group.family);
            if y > 0.0 {
                let from = group.members.len().saturating_sub(MEMBERS);
                risen.extend(group.members[from..].iter().filter(|&&id| !self.known[id.0 as usize].fetched));
            }
            self.tags.entry(path).or_default().add(y, e);
            if family != NONE {
                let family = &mut self.families[family as usize];
                family.out.0 += y;
                family.out.1 += 1.0;
                if y > 0.0 {
                    risen.extend(family.members.iter().filter(|&&id| !self.known[id.0 as usize].fetched));
                }
            }
        }
    }

    /// What a link promises of a listing.
    fn promise(&mut self, link: &Link, from: u32, from_kind: Kind) {
        let set = &self.settings;
        let target = &self.known[link.to.0 as usize];
        let promise = match target.kind {
            Kind::Document | Kind::Friends => return,
            Kind::Tag => (link.evidence.anchor.get() / set.a0).clamp(set.lp_min, set.lp_max),
            Kind::Paging if from == target.family && from_kind != Kind::Home => self.families[from as usize].promise,
            Kind::Paging | Kind::Home => 0.1,
            Kind::TagIndex => 0.2,
            Kind::Archive => 0.03,
            Kind::Misc => 0.01,
        };
        let family = &mut self.families[target.family as usize];
        family.promise = family.promise.max(promise);
    }

    /// A link makes its target a member of the group of its block: of this page, or of the whole listing.
    fn join(&mut self, link: &Link, page: UrlId, listing: Option<u32>) {
        let key = (listing.unwrap_or(page.0), listing.is_some(), link.path);
        let groups = &mut self.groups;
        let number = *self.group_numbers.entry(key).or_insert_with(|| {
            let family = listing.unwrap_or(NONE);
            groups.push(Group { family, path: link.path, gain: Yield::default(), members: Vec::new() });
            groups.len() as u32 - 1
        });
        let target = &mut self.known[link.to.0 as usize];
        if target.groups.contains(&number) {
            return;
        }
        if let Some(free) = target.groups.iter_mut().find(|group| **group == NONE) {
            *free = number;
            self.groups[number as usize].members.push(link.to);
        }
    }
}

impl Strategy for Learner {
    fn judge(&self, visit: &Visit) -> Vec<Verdict> {
        let set = &self.settings;
        let mut inherited = 0.5
            * if visit.relevant {
                visit.relevance.get()
            } else if visit.place.trail.depth == 0 {
                self.threshold
            } else {
                visit.place.trail.inherited.get()
            };
        let page = self.get(visit.id);
        if page.kind.is_listing() {
            inherited = inherited.max(set.inherit * self.listing_value(page.family));
        }
        let inherited = Relevance::new(inherited);
        let verdict = |link: &super::Candidate| {
            let anchor = link.evidence.anchor.get();
            let context = if anchor > 0.0 { 1.0 } else { link.evidence.context.get() };
            let link_score = set.beta * anchor + (1.0 - set.beta) * context;
            let score = set.gamma * inherited.get() + (1.0 - set.gamma) * link_score;
            let k = match visit.place.trail.k {
                _ if visit.relevant => K::Unbounded,
                K::Unbounded => K::Left(set.kdepth - 1),
                K::Left(left) if link.relevance >= visit.link_threshold => K::Left(left),
                K::Left(left) => K::Left(left.saturating_sub(1)),
            };
            let mut trail = visit.trail(k);
            trail.inherited = inherited;
            Verdict::Follow(Place { lane: Lane::MAIN, priority: Priority::new(score.clamp(0.01, 0.97)), trail })
        };
        visit.links.iter().map(verdict).collect()
    }

    fn merge(&self, old: Place, new: Place) -> Place {
        let inherited = old.trail.inherited.max(new.trail.inherited);
        Place { trail: merge_trails(old.trail, new.trail, inherited), ..old }
    }

    fn learns(&self) -> bool {
        true
    }

    fn observe(&mut self, event: &Event, risen: &mut Vec<UrlId>) {
        match event {
            Event::Discovered(found) => {
                self.discover(found.id, &found.url, &found.anchor);
            }
            Event::Seeded(link) => {
                let known = self.get_mut(link.to);
                known.seed = true;
                let host = known.host;
                self.hosts[host as usize].seed = true;
                self.hosts[host as usize].seen = true;
            }
            Event::Settled(settled) => self.settle(settled, risen),
            Event::Redirected { id, link } | Event::Moved { id, link } => {
                let from = self.get_mut(*id);
                from.fetched = true;
                let (prior, groups, seed) = (from.prior, from.groups, from.seed);
                if let Some(link) = link {
                    let to = self.get_mut(link.to);
                    to.prior = to.prior.max(prior);
                    to.seed |= seed;
                    if to.groups == [NONE; GROUPS] {
                        to.groups = groups;
                    }
                }
            }
            Event::Failed { id, .. } | Event::Refused { id, .. } => self.get_mut(*id).fetched = true,
            _ => {}
        }
    }

    fn appraise(&self, id: UrlId) -> Option<Priority> {
        Some(Priority::new(self.worth(id)))
    }
}
