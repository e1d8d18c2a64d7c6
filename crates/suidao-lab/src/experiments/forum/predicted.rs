//! EIC: threads fetched when their mean interval says that they have changed; what the paper sets BIC against (Du, Ma 2010,
//! section 5.2.1, in one sentence: mean intervals of threads and boards tell when a thread changes next, and when a new one
//! comes). The interval is read as the mean over all the time that a thread was watched, silence since its last post too.

use super::reader::{Reader, Visit};

/// A visit by EIC.
pub(super) fn visit(reader: &mut Reader, clock: &mut i64) -> Visit {
    let now = *clock;
    reader.board.advance(now);
    let mut visit = Visit::default();
    let known: Vec<usize> = reader.board.threads().filter(|&thread| reader.posts(thread) > 0).collect();
    let due = |thread: usize| {
        let fetched = reader.fetched(thread);
        let watched = (fetched - reader.board.at(thread, 0)) as f64;
        // Half a change where none was seen: an interval must end.
        let changes = (reader.posts(thread) - 1) as f64;
        (now - fetched) as f64 >= watched / changes.max(0.5)
    };
    let due: Vec<usize> = known.iter().copied().filter(|&thread| due(thread)).collect();

    // New threads: as many as the board's mean interval says; pages enough to list them.
    let openings: Vec<i64> = known.iter().map(|&thread| reader.board.at(thread, 0)).collect();
    let (first, last) = (openings.iter().min().copied().unwrap_or(now), openings.iter().max().copied().unwrap_or(now));
    let expected = (openings.len() as f64 - 1.0) * (now - last) as f64 / (last - first).max(1) as f64;
    for page in 0..(expected / reader.threads_on_page() as f64).ceil() as u32 {
        let listed = reader.page(page, clock, &mut visit);
        for (thread, _) in listed {
            if reader.posts(thread) == 0 {
                reader.fetch(thread, clock, &mut visit);
            }
        }
    }
    for thread in due {
        reader.fetch(thread, clock, &mut visit);
    }
    visit
}
