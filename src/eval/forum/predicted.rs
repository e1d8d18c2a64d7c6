//! EIC: threads fetched when their mean interval says that they have changed; what the paper sets BIC against (Du, Ma 2010,
//! section 5.2.1, in one sentence: mean intervals of threads and boards tell when a thread changes next, and when a new one
//! comes).

use super::reader::{Reader, Visit};

/// A visit by EIC. `before`: when the visit before it began. `patient`: a prediction that did not come true moves on by
/// another interval; else, as the sentence has it, the thread is overdue and fetched every time.
pub(super) fn visit(reader: &mut Reader, clock: &mut i64, before: i64, patient: bool) -> Visit {
    let now = *clock;
    reader.board.advance(now);
    let mut visit = Visit::default();
    let known: Vec<usize> = reader.board.threads().filter(|&thread| reader.posts(thread) > 0).collect();
    let interval = |thread: usize| {
        let posts = reader.posts(thread);
        let span = reader.board.at(thread, posts - 1) - reader.board.at(thread, 0);
        (posts > 1).then(|| span as f64 / (posts - 1) as f64)
    };
    // A thread without a reply has no interval: it is taken for one as others of its board.
    let all: Vec<f64> = known.iter().filter_map(|&thread| interval(thread)).collect();
    let usual = all.iter().sum::<f64>() / all.len().max(1) as f64;
    let due = |thread: usize| {
        let last = reader.board.at(thread, reader.posts(thread) - 1) as f64;
        let interval = interval(thread).unwrap_or(usual).max(1.0);
        let passed = (now as f64 - last) / interval;
        // Patient: a whole number of intervals ends between the visit before and this one.
        passed >= 1.0 && (!patient || passed.floor() > ((before as f64 - last) / interval).floor())
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
