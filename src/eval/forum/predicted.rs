//! EIC: threads fetched when their mean interval says that they have changed; what the paper sets BIC against (Du, Ma 2010,
//! section 5.2.1, in one sentence: mean intervals of threads and boards tell when a thread changes next, and when a new one
//! comes).

use super::reader::{Reader, Visit};

/// What is made of a thread's past: the sentence leaves it open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Intervals {
    /// The mean of those between its posts; when one has passed since the last post, the thread is due in every cycle until
    /// there is another.
    Overdue,
    /// The same; a prediction that did not come true moves on by another interval.
    MovedOn,
    /// The mean over all the time it was watched, the silence since its last post too; from one fetch to the next.
    WithSilence,
}

/// A visit by EIC. `before`: when the visit before it began.
pub(super) fn visit(reader: &mut Reader, clock: &mut i64, before: i64, intervals: Intervals) -> Visit {
    let now = *clock;
    reader.board.advance(now);
    let mut visit = Visit::default();
    let known: Vec<usize> = reader.board.threads().filter(|&thread| reader.posts(thread) > 0).collect();
    let last = |thread: usize| reader.board.at(thread, reader.posts(thread) - 1);
    let interval = |thread: usize| {
        let replies = reader.posts(thread) - 1;
        let span = last(thread) - reader.board.at(thread, 0);
        (replies > 0).then(|| span as f64 / replies as f64)
    };
    // A thread without a reply has no interval: it is taken for one as others of its board.
    let all: Vec<f64> = known.iter().filter_map(|&thread| interval(thread)).collect();
    let usual = all.iter().sum::<f64>() / all.len().max(1) as f64;
    let due = |thread: usize| {
        let interval = interval(thread).unwrap_or(usual).max(1.0);
        let passed = |until: i64| (until - last(thread)) as f64 / interval;
        match intervals {
            Intervals::Overdue => passed(now) >= 1.0,
            // A whole number of intervals ends between the visit before and this one.
            Intervals::MovedOn => passed(now) >= 1.0 && passed(now).floor() > passed(before).floor(),
            Intervals::WithSilence => {
                let fetched = reader.fetched(thread);
                let watched = (fetched - reader.board.at(thread, 0)) as f64;
                // Half a change where none was seen: an interval must end.
                let changes = (reader.posts(thread) - 1) as f64;
                (now - fetched) as f64 >= watched / changes.max(0.5)
            }
        }
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
