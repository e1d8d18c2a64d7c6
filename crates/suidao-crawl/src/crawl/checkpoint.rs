//! Checkpoints: the machine's state in pieces. A restart loads them and replays only the later events.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::counts::{Counts, Progress};
use super::frontier::{Heads, HostQueues};
use super::hosts::HostTable;
use super::state::State;
use super::tunnels::EndedTunnel;
use super::urls::UrlRecord;
use suidao_forum::forum::site::ForumSite;
use suidao_page::model::{LinkState, SkipReason, UrlId};

/// Tag of a piece: the machine itself, its hosts, its rules (stop conditions, traps, sources, canonical URLs), or what
/// the strategy has learnt.
const OWN: u8 = b'm';
const HOSTS: u8 = b'h';
const RULES: u8 = b't';
const LEARNT: u8 = b's';

/// Fingerprints, or pages whose tunnel ended, per piece: some MB.
const PIECE: usize = 1 << 18;
/// Hosts per piece of the frontier: some MB.
const FRONTIER_PIECE: usize = 1 << 16;

#[derive(Serialize, Deserialize)]
enum Piece<'a> {
    /// URLs, one per line, in order of their numbers.
    Urls(Cow<'a, [UrlRecord]>, Cow<'a, str>),
    /// Fingerprints of URLs excluded on discovery, unordered.
    Rejected(Vec<u64>),
    Ended(Vec<(UrlId, EndedTunnel)>),
    /// Heads of the hosts per queue, and pushes to stacks.
    Heads(Cow<'a, [Heads]>, u32),
    /// Queues of some thousand hosts.
    Queues(Cow<'a, [HostQueues]>),
    Forums(Vec<Cow<'a, ForumSite>>),
    /// Counts, and pages that were due when a refresh ended.
    Counts(Progress, u64, Vec<UrlId>, BTreeMap<SkipReason, u64>),
}

impl State {
    /// The state in pieces. None for the crawl of one forum and for a refresh, which resume from their events alone.
    ///
    /// In-flight URLs are stored as queued, as after a crash.
    pub fn pieces(&self) -> Option<impl Iterator<Item = Vec<u8>> + '_> {
        // Lists every field, so that the compiler reports a new one that a restart would lose.
        let Self {
            settings: _,
            strategy,
            urls,
            hosts,
            frontier,
            ended,
            canonicals,
            traps,
            forums,
            sourcing,
            refreshing,
            left_due,
            counts: Counts { progress, attempts, skipped_by_reason, rejected },
            stop,
            wait_state,
            leaving: _,
        } = self;
        if forums.is_of_forums() || refreshing.is_some() {
            return None;
        }
        let mut fingerprints = rejected.iter().copied();
        let rejected = std::iter::from_fn(move || portion(&mut fingerprints).map(Piece::Rejected));
        let mut ends = ended.iter().map(|(id, ended)| (*id, ended.clone()));
        let ended = std::iter::from_fn(move || portion(&mut ends).map(Piece::Ended));
        let urls = urls.portions().map(|(known, lines)| Piece::Urls(Cow::Borrowed(known), lines));
        let sites = forums.sites.iter().map(Cow::Borrowed);
        let rest = [
            Piece::Counts(*progress, *attempts, left_due.iter().copied().collect(), skipped_by_reason.clone()),
            Piece::Forums(sites.collect()),
        ];
        let queues = frontier.hosts.chunks(FRONTIER_PIECE).map(|portion| Piece::Queues(Cow::Borrowed(portion)));
        let own = rest
            .into_iter()
            .chain([Piece::Heads(Cow::Borrowed(&frontier.heads), frontier.stacked)])
            .chain(queues)
            .chain(urls)
            .chain(rejected)
            .chain(ended);
        let own = own.map(|piece| encode(OWN, &piece));
        let hosts = std::iter::once_with(|| encode(HOSTS, hosts));
        let learnt = strategy.learning().into_iter().flat_map(|learning| learning.snapshot());
        let learnt = learnt.map(|piece| [&[LEARNT], piece.as_slice()].concat());
        let rules = std::iter::once_with(move || encode(RULES, &(stop, traps, sourcing, canonicals, wait_state)));
        Some(hosts.chain(rules).chain(own).chain(learnt))
    }

    /// Loads a piece into a new machine, in the order of [`State::pieces`]. Returns false for an invalid piece; the
    /// machine is unusable afterwards.
    pub fn take_piece(&mut self, piece: &[u8]) -> bool {
        let Some((tag, piece)) = piece.split_first() else { return false };
        match *tag {
            LEARNT => return self.strategy.learning_mut().is_some_and(|learning| learning.restore(piece)),
            HOSTS => return postcard::from_bytes(piece).map(|hosts: HostTable| self.hosts = hosts).is_ok(),
            RULES => {
                let rules = postcard::from_bytes(piece);
                return rules
                    .map(|rules| {
                        (self.stop, self.traps, self.sourcing, self.canonicals, self.wait_state) = rules;
                    })
                    .is_ok();
            }
            OWN => {}
            _ => return false,
        }
        match postcard::from_bytes(piece) {
            Ok(Piece::Urls(known, lines)) => return self.urls.take_portion(&known, &lines),
            Ok(Piece::Rejected(fingerprints)) => self.counts.rejected.extend(fingerprints),
            Ok(Piece::Ended(ended)) => self.ended.extend(ended),
            Ok(Piece::Heads(heads, stacked)) => {
                (self.frontier.heads, self.frontier.stacked) = (heads.into_owned(), stacked)
            }
            Ok(Piece::Queues(portion)) => self.frontier.hosts.extend_from_slice(&portion),
            Ok(Piece::Forums(sites)) => {
                for site in sites {
                    self.forums.add(site.into_owned());
                }
            }
            Ok(Piece::Counts(progress, attempts, left_due, skipped_by_reason)) => {
                (self.counts.progress, self.counts.attempts, self.counts.skipped_by_reason) =
                    (progress, attempts, skipped_by_reason);
                self.left_due.extend(left_due);
            }
            Err(_) => return false,
        }
        true
    }

    /// Call after the last piece: requeues what was in flight. Returns false if the pieces do not fit together; the
    /// machine is unusable afterwards.
    pub fn set_up(&mut self) -> bool {
        if !self.fits_together() {
            return false;
        }
        let free = self.hosts.set_up(&self.settings.politeness);
        self.stop.end();
        self.frontier.set_up();
        for id in self.urls.in_state(LinkState::InFlight) {
            self.set_state(id, LinkState::Queued);
            let known = self.urls.get(id);
            let (host, entry) = (known.host(), known.entry());
            self.frontier.push(host, id, entry);
        }
        for host in free {
            self.frontier.make_ready(host);
        }
        true
    }

    /// Whether all parts agree on the numbers of URLs and hosts.
    fn fits_together(&self) -> bool {
        let (urls, hosts) = (self.urls.len(), self.hosts.len());
        let waiting = self.frontier.waiting(urls, hosts);
        // Queued URLs without an entry in the frontier.
        let parked: usize = self.hosts.all().map(|(_, host)| host.parked.len()).sum();
        let others = self.urls.in_state(LinkState::InFlight).len() + parked;
        (urls as u64, hosts as u64) == (self.counts.progress.known, self.counts.progress.hosts)
            && self.hosts.are_named()
            && self.urls.hosts().all(|host| (host.0 as usize) < hosts)
            && waiting.is_some_and(|waiting| waiting + others as u64 >= self.counts.progress.queued)
            && self.strategy.learning().is_none_or(|learning| learning.is_complete(urls))
    }
}

fn encode(tag: u8, piece: &impl Serialize) -> Vec<u8> {
    postcard::to_extend(piece, vec![tag]).expect("plain data is written to memory")
}

fn portion<T>(items: &mut impl Iterator<Item = T>) -> Option<Vec<T>> {
    let portion: Vec<T> = items.by_ref().take(PIECE).collect();
    (!portion.is_empty()).then_some(portion)
}
