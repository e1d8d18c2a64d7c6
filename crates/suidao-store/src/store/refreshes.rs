//! `refresh.csv`: a line for each round of refresh. Made anew from the log, so that it cannot disagree with it.

use super::directory::write_own;
use super::{Store, StoreError, date};
use suidao_crawl::revisit::tally::{Round, Rounds};
use suidao_page::model::Budget;

/// The rounds of a crawl.
///
/// # Errors
/// [`StoreError`] if the log does not read.
pub fn rounds(store: &Store) -> Result<Vec<Round>, StoreError> {
    let mut rounds = Rounds::default();
    for record in store.batches() {
        rounds.observe(&record?.batch);
    }
    Ok(rounds.rounds)
}

/// Writes the file.
///
/// # Errors
/// [`StoreError`] if the log does not read or the file cannot be written.
pub fn write(store: &Store) -> Result<Vec<Round>, StoreError> {
    let rounds = rounds(store)?;
    write_own(&store.directory().refresh_csv(), |out| {
        let mut csv = csv::Writer::from_writer(&mut *out);
        csv.write_record([
            "begun",
            "kind",
            "ended",
            "due",
            "requests",
            "visits",
            "changed",
            "relinked",
            "rewritten",
            "same",
            "not_modified",
            "missing",
            "retired",
            "sources",
            "signals",
            "new_links",
            "pages",
            "relevant",
            "unanswered",
        ])?;
        for round in &rounds {
            let kind = if matches!(round.budget, Budget::PerDay(_)) { "watch" } else { "round" };
            let counts = [
                round.due,
                round.requests,
                round.visits,
                round.changed,
                round.relinked,
                round.rewritten,
                round.same,
                round.not_modified,
                round.missing,
                round.retired,
                round.sources,
                round.signals,
                round.new_links,
                round.pages,
                round.relevant,
                round.unanswered,
            ];
            let begun = [date(round.begun), kind.to_owned(), round.ended.to_string()];
            csv.write_record(begun.into_iter().chain(counts.map(|count| count.to_string())))?;
        }
        Ok(csv.flush()?)
    })?;
    Ok(rounds)
}
