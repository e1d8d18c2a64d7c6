//! Saves the learner in pieces, and restores it, so that a restart need not fold all events.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::super::sums::{BlockYield, HostYield, ListingSeries, SharedSum, Template, YieldTable};
use super::{BlockKey, Known, Learner, NONE, SeriesKey};
use suidao_page::model::Digest;

#[derive(Serialize, Deserialize)]
enum Piece<'a> {
    /// In order of the URL numbers.
    Known(Cow<'a, [Known]>),
    /// Body digests of documents, unordered.
    Bodies(Vec<Digest>),
    /// Everything else: hosts, series, templates, blocks, positions, with their keys.
    Sums(Box<Sums<'a>>),
}

#[derive(Serialize, Deserialize)]
struct Sums<'a> {
    hosts: Cow<'a, YieldTable<u64, HostYield>>,
    series_table: Cow<'a, YieldTable<SeriesKey, ListingSeries>>,
    templates: Cow<'a, YieldTable<u64, Template>>,
    blocks: Cow<'a, YieldTable<BlockKey, BlockYield>>,
    positions: Cow<'a, YieldTable<u32, SharedSum>>,
    words: Cow<'a, YieldTable<u64, SharedSum>>,
    all: SharedSum,
    discovered_hosts: SharedSum,
    blogrolls: SharedSum,
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
            series_table,
            templates,
            blocks,
            all,
            positions,
            words,
            bodies,
            discovered_hosts,
            blogrolls,
        } = self;
        let sums = Sums {
            hosts: Cow::Borrowed(hosts),
            series_table: Cow::Borrowed(series_table),
            templates: Cow::Borrowed(templates),
            blocks: Cow::Borrowed(blocks),
            positions: Cow::Borrowed(positions),
            words: Cow::Borrowed(words),
            all: *all,
            discovered_hosts: *discovered_hosts,
            blogrolls: *blogrolls,
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
                let Sums { hosts, series_table, templates, blocks, positions, words, all, discovered_hosts, blogrolls } =
                    *sums;
                self.hosts = hosts.into_owned();
                self.series_table = series_table.into_owned();
                self.templates = templates.into_owned();
                self.blocks = blocks.into_owned();
                self.positions = positions.into_owned();
                self.words = words.into_owned();
                (self.all, self.discovered_hosts, self.blogrolls) = (all, discovered_hosts, blogrolls);
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
        let word = |at: usize| self.series_table[at].word.is_none_or(|word| (word as usize) < self.words.len());
        (0..self.series_table.len()).all(word) && self.known.len() == urls && self.known.iter().all(known)
    }
}
