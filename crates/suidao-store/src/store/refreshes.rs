//! `refresh.csv`: a line for each round of refresh, always rebuilt from the log.

use super::directory::write_own;
use super::error::StoreError;
use super::{Store, rfc3339};
use suidao_crawl::revisit::tally::{RoundTally, Rounds};
use suidao_page::model::Budget;

pub fn rounds(store: &Store) -> Result<Vec<RoundTally>, StoreError> {
    let mut rounds = Rounds::default();
    for record in store.batches() {
        rounds.observe(&record?.batch);
    }
    Ok(rounds.rounds)
}

pub fn write(store: &Store) -> Result<Vec<RoundTally>, StoreError> {
    let rounds = rounds(store)?;
    write_own(&store.directory().refresh_csv(), |out| {
        let counts = "finished,due,requests,visits,text_changed,links_changed,bytes_changed,identical,not_modified,missing,text_lost,retired,sources,signals,\
                      new_links,pages,relevant,unanswered";
        writeln!(out, "started,kind,{counts}")?;
        let mut csv = csv::WriterBuilder::new().has_headers(false).from_writer(&mut *out);
        for round in &rounds {
            let kind = if matches!(round.budget, Budget::PerDay(_)) { "watch" } else { "round" };
            csv.serialize((rfc3339(round.started), kind, round))?;
        }
        Ok(csv.flush()?)
    })?;
    Ok(rounds)
}
