//! What was passed over in a WARC file, and where.

use std::fmt::{self, Display, Formatter};

/// Places that are kept for a message.
const NAMED: usize = 3;

/// The damage of a WARC file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WarcDamage {
    /// Records that could not be read. A damaged stretch that may have held several counts as one.
    pub records: u64,
    /// Damage that cost no record, such as a line between two records.
    pub other: u64,
    /// The first places: the byte of the file, and what is wrong there.
    places: Vec<(u64, &'static str)>,
}

impl WarcDamage {
    pub(super) fn record(&mut self, at: u64, what: &'static str) {
        self.records += 1;
        self.note(at, what);
    }

    pub(super) fn other(&mut self, at: u64, what: &'static str) {
        self.other += 1;
        self.note(at, what);
    }

    fn note(&mut self, at: u64, what: &'static str) {
        if self.places.len() < NAMED {
            self.places.push((at, what));
        }
    }

    pub fn is_empty(&self) -> bool {
        self.records + self.other == 0
    }
}

impl Display for WarcDamage {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        match (self.records, self.other) {
            (0, _) => write!(out, "skipped 0 records; other damage:")?,
            (1, _) => write!(out, "skipped 1 damaged record:")?,
            (many, _) => write!(out, "skipped {many} damaged records:")?,
        }
        for (number, (at, what)) in self.places.iter().enumerate() {
            write!(out, "{} at byte {at}, {what}", if number > 0 { ";" } else { "" })?;
        }
        let more = self.records + self.other - self.places.len() as u64;
        if more > 0 { write!(out, "; and {more} more places") } else { Ok(()) }
    }
}
