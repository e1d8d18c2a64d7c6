//! Saves the learner in pieces, and restores it, so that a restart need not fold all events.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::super::sums::{
    BlockYield, DiscoveredHosts, HostYield, ListingSeries, Template, WeightedSum, Yield, YieldTable,
};
use super::{BlockKey, FamilyKey, Known, Learner, NONE};
use suidao_page::model::Digest;

#[derive(Serialize, Deserialize)]
enum Piece<'a> {
    /// In order of the URL numbers.
    Known(Cow<'a, [Known]>),
    /// Body digests of documents, unordered.
    Bodies(Vec<Digest>),
    /// Everything else: hosts, families, templates, blocks, places, with their keys.
    Sums(Box<Sums<'a>>),
}

#[derive(Serialize, Deserialize)]
struct Sums<'a> {
    hosts: Cow<'a, YieldTable<u64, HostYield>>,
    families: Cow<'a, YieldTable<FamilyKey, ListingSeries>>,
    templates: Cow<'a, YieldTable<u64, Template>>,
    blocks: Cow<'a, YieldTable<BlockKey, BlockYield>>,
    places: Cow<'a, YieldTable<u32, Yield>>,
    all: Yield,
    strangers: DiscoveredHosts,
    friends: WeightedSum,
}

/// URLs or bodies per piece: some MB.
const PIECE: usize = 1 << 16;

impl Learner {
    pub fn pieces(&self) -> impl Iterator<Item = Vec<u8>> + '_ {
        // Lists every field, so that the compiler reports a new one that a restart would lose.
        let Self {
            settings: _,
            threshold: _,
            known,
            hosts,
            families,
            templates,
            blocks,
            all,
            places,
            bodies,
            strangers,
            friends,
        } = self;
        let sums = Sums {
            hosts: Cow::Borrowed(hosts),
            families: Cow::Borrowed(families),
            templates: Cow::Borrowed(templates),
            blocks: Cow::Borrowed(blocks),
            places: Cow::Borrowed(places),
            all: *all,
            strangers: *strangers,
            friends: *friends,
        };
        let mut digests = bodies.iter().copied();
        let bodies = std::iter::from_fn(move || {
            let piece: Vec<Digest> = digests.by_ref().take(PIECE).collect();
            (!piece.is_empty()).then_some(Piece::Bodies(piece))
        });
        let known = known.portions().map(|known| Piece::Known(Cow::Borrowed(known)));
        let pieces = std::iter::once(Piece::Sums(Box::new(sums))).chain(known).chain(bodies);
        pieces.map(|piece| postcard::to_stdvec(&piece).expect("plain data is written to memory"))
    }

    /// Restores a piece; false if it is invalid.
    pub fn restore(&mut self, piece: &[u8]) -> bool {
        match postcard::from_bytes(piece) {
            Ok(Piece::Known(known)) => self.known.extend(known.into_owned()),
            Ok(Piece::Bodies(bodies)) => self.bodies.extend(bodies),
            Ok(Piece::Sums(sums)) => {
                let Sums { hosts, families, templates, blocks, places, all, strangers, friends } = *sums;
                self.hosts = hosts.into_owned();
                self.families = families.into_owned();
                self.templates = templates.into_owned();
                self.blocks = blocks.into_owned();
                self.places = places.into_owned();
                (self.all, self.strangers, self.friends) = (all, strangers, friends);
            }
            Err(_) => return false,
        }
        true
    }

    /// Whether it has a record for each of `urls` URLs, with valid references.
    pub fn is_complete(&self, urls: usize) -> bool {
        let known = |known: &Known| {
            known.host() < self.hosts.len()
                && (known.template as usize) < self.templates.len()
                && known.blocks.iter().all(|&block| block == NONE || (block as usize) < self.blocks.len())
        };
        self.known.len() == urls && self.known.iter().all(known)
    }
}
