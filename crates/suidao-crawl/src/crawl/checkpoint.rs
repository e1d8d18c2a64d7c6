//! The whole state of a machine in pieces, and back: so that a restart folds what happened since the pieces were made,
//! and not all that ever happened.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::frontier::KeptFrontier;
use super::hosts::HostTable;
use super::machine::{Crawl, EndedTunnel, Progress};
use super::urls::UrlRecord;
use suidao_forum::forum::site::ForumSite;
use suidao_page::model::{LinkState, SkipReason, UrlId};

/// What a piece begins with: one of the machine's own, its hosts, or one of what its strategy has learnt.
const OWN: u8 = b'm';
const HOSTS: u8 = b'h';
/// Or what traps, sources, addresses and goals have come to.
const TOLD: u8 = b't';
const LEARNT: u8 = b's';

/// Fingerprints, or pages whose tunnel ended, in a piece: some MB.
const PIECE: usize = 1 << 18;

#[derive(Serialize, Deserialize)]
enum Piece<'a> {
    /// URLs with their text, one a line, in order of their numbers.
    Urls(Cow<'a, [UrlRecord]>, Cow<'a, str>),
    /// Fingerprints of URLs refused at the door, in no order.
    Skipped(Vec<u64>),
    /// Pages at the end of their tunnels.
    Ended(Vec<(UrlId, EndedTunnel)>),
    /// What waits, of some thousand hosts.
    Frontier(Box<KeptFrontier>),
    Forums(Vec<(Cow<'a, str>, Cow<'a, ForumSite>)>),
    /// Counts; pages that were due when a refresh ended.
    Counts(Progress, u64, Vec<UrlId>, BTreeMap<SkipReason, u64>),
}

impl Crawl {
    /// The state in pieces; none for the crawl of one forum and for a refresh, which go on by their events alone.
    ///
    /// What is in flight is kept as waiting, as after a crash. What was decided and not told yet has to be told before
    /// ([`Crawl::finish`]).
    pub fn pieces(&self) -> Option<impl Iterator<Item = Vec<u8>> + '_> {
        // Every field: one that is forgotten here would be forgotten by a restart.
        let Self {
            conditions: _,
            strategy,
            urls,
            hosts,
            frontier,
            ended,
            forums,
            refreshing,
            left_due,
            skipped,
            progress,
            refusals,
            nearness,
            watched,
            sourcing,
            canonicals,
            attempts,
            // Of the events that are being applied, and of a run.
            latency: _,
            allowed: _,
            restored: _,
            closing: _,
            // What is in flight is kept with its URL and its host.
            pages_in_flight: _,
            robots_in_flight: _,
            pending,
        } = self;
        if forums.is_whole() || refreshing.is_some() || !pending.is_empty() {
            return None;
        }
        let mut fingerprints = skipped.iter().copied();
        let skipped = std::iter::from_fn(move || portion(&mut fingerprints).map(Piece::Skipped));
        let mut ends = ended.iter().map(|(id, ended)| (*id, ended.clone()));
        let ended = std::iter::from_fn(move || portion(&mut ends).map(Piece::Ended));
        let urls = urls.portions().map(|(known, lines)| Piece::Urls(Cow::Borrowed(known), lines));
        let sites = forums.keep().into_iter().map(|(host, site)| (Cow::Borrowed(host), Cow::Borrowed(site)));
        let rest = [
            Piece::Counts(*progress, *attempts, left_due.iter().copied().collect(), refusals.clone()),
            Piece::Forums(sites.collect()),
        ];
        let frontier = frontier.keep().map(|portion| Piece::Frontier(Box::new(portion)));
        let own = rest.into_iter().chain(frontier).chain(urls).chain(skipped).chain(ended);
        let own = own.map(|piece| encode(OWN, &piece));
        let hosts = std::iter::once_with(|| encode(HOSTS, hosts));
        let told = std::iter::once_with(move || encode(TOLD, &(nearness, watched, sourcing, canonicals)));
        Some(
            hosts.chain(told).chain(own).chain(strategy.snapshot().map(|piece| [&[LEARNT], piece.as_slice()].concat())),
        )
    }

    /// Takes a piece back, in the order in which they were made; false for one that is none, after which the machine is
    /// of no use. For a machine that knows nothing yet.
    pub fn take_piece(&mut self, piece: &[u8]) -> bool {
        let Some((tag, piece)) = piece.split_first() else { return false };
        match *tag {
            LEARNT => return self.strategy.restore(piece),
            HOSTS => return postcard::from_bytes(piece).map(|hosts: HostTable| self.hosts = hosts).is_ok(),
            TOLD => {
                let told = postcard::from_bytes(piece);
                return told
                    .map(|told| {
                        (self.nearness, self.watched, self.sourcing, self.canonicals) = told;
                    })
                    .is_ok();
            }
            OWN => {}
            _ => return false,
        }
        match postcard::from_bytes(piece) {
            Ok(Piece::Urls(known, lines)) => return self.urls.take_portion(&known, &lines),
            Ok(Piece::Skipped(fingerprints)) => self.skipped.extend(fingerprints),
            Ok(Piece::Ended(ended)) => self.ended.extend(ended),
            Ok(Piece::Frontier(frontier)) => self.frontier.take_kept(*frontier),
            Ok(Piece::Forums(sites)) => {
                for (host, site) in sites {
                    self.forums.take_kept(&host, site.into_owned());
                }
            }
            Ok(Piece::Counts(progress, attempts, left_due, refusals)) => {
                (self.progress, self.attempts, self.refusals) = (progress, attempts, refusals);
                self.left_due.extend(left_due);
            }
            Err(_) => return false,
        }
        true
    }

    /// To be called when all pieces are back: what was in flight waits again. False for pieces that do not belong together,
    /// after which the machine is of no use.
    pub fn set_up(&mut self) -> bool {
        if !self.fits_together() {
            return false;
        }
        let free = self.hosts.set_up(&self.conditions.politeness);
        self.nearness.end();
        self.restored = true;
        for id in self.urls.in_state(LinkState::InFlight) {
            self.set_state(id, LinkState::Queued);
            let known = self.urls.get(id);
            let (host, place) = (known.host(), known.place());
            self.frontier.requeue_in_flight(host, id, place);
        }
        for host in free {
            self.make_ready(host);
        }
        true
    }

    /// Whether each part knows as many URLs and hosts as the others.
    fn fits_together(&self) -> bool {
        let (urls, hosts) = (self.urls.len(), self.hosts.len());
        let waiting = self.frontier.waiting(urls, hosts);
        (urls as u64, hosts as u64) == (self.progress.known, self.progress.hosts)
            && self.hosts.are_named()
            && self.urls.hosts().all(|host| (host.0 as usize) < hosts)
            && waiting.is_some_and(|waiting| {
                waiting + self.urls.in_state(LinkState::InFlight).len() as u64 >= self.progress.queued
            })
            && self.strategy.is_complete(urls)
    }
}

fn encode(tag: u8, piece: &impl Serialize) -> Vec<u8> {
    postcard::to_extend(piece, vec![tag]).expect("plain data is written to memory")
}

fn portion<T>(items: &mut impl Iterator<Item = T>) -> Option<Vec<T>> {
    let portion: Vec<T> = items.by_ref().take(PIECE).collect();
    (!portion.is_empty()).then_some(portion)
}
