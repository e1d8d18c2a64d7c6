//! The requests of a worker: which partition sends the next one, and how results are handled.

use std::time::Duration;

use suidao_crawl::crawl::{MAX_WAIT_WITHOUT_PAGE, Next, SentLink, Ticket};
use suidao_live::live::{FetchResult, JudgedResults, is_due, monotonic_now, warc_entry};
use suidao_page::model::{Batch, Event, LearntSum, Millis, Stop};
use suidao_store::store::WarcEntry;

use crate::checkpoints::{LogPosition, NO_STATE, Saved};
use crate::exchange::{Arrived, Delivery};
use crate::next_partition::{Candidate, next_partition};
use crate::owned::Owned;
use crate::worker::{TURN, Taken, Worker};
use crate::writer::{Step, Work};

impl Worker<'_> {
    /// Sends requests as long as a partition has a URL that is good enough. Returns the time until the next try.
    pub(crate) fn send_requests(&mut self) -> Duration {
        if !self.open || !self.session.is_alive() || !self.network.may_send(monotonic_now()) {
            return TURN;
        }
        while self.in_flight < self.most {
            let (mut best, mut theta, mut wake) = (self.elsewhere, 0.0, TURN);
            let mut candidates: Vec<Candidate> = Vec::new();
            for (partition, own) in &mut self.partitions {
                if own.leaving || own.idle == Some(Stop::FrontierEmpty) {
                    continue;
                }
                let now = own.clock.now();
                let values = own.best(now);
                if own.idle.is_some() {
                    continue;
                }
                (best, theta) = (best.max(values.soon.unwrap_or(0.0)), values.theta);
                match own.wake.filter(|until| *until > now) {
                    Some(until) => wake = wake.min(Duration::from_millis(until.since(now))),
                    None => candidates.push((*partition, values.ready)),
                }
            }
            let idle = u64::try_from(monotonic_now().duration_since(self.last_page).as_millis()).unwrap_or(u64::MAX);
            let Some(partition) = next_partition(candidates, best, theta, idle) else {
                return wake.min(Duration::from_millis(MAX_WAIT_WITHOUT_PAGE.saturating_sub(idle).max(1)));
            };
            let Some(own) = self.partitions.get_mut(&partition) else { return wake };
            own.values = None;
            let now = own.clock.now();
            match own.crawl.next(now) {
                Next::Fetch(ticket) => self.start(partition, ticket),
                Next::Record(batch) => self.submit(partition, batch, None, false),
                // At least a moment, so that this loop ends.
                Next::Wait(until) => own.wake = Some(until.unwrap_or(Millis(u64::MAX)).max(now.after(1))),
                Next::Done(stop) => {
                    own.idle = Some(stop);
                    own.expire_round();
                }
            }
        }
        TURN
    }

    fn start(&mut self, partition: u32, ticket: Ticket) {
        let Some(own) = self.partitions.get_mut(&partition) else { return };
        own.tickets += 1;
        own.in_flight += 1;
        self.in_flight += 1;
        let (task, done, time) = (self.task.clone(), self.done.clone(), own.generation);
        // The receiver is gone only if the worker has ended.
        tokio::spawn(async move { drop(done.send(((partition, time), task.run(ticket, monotonic_now()).await))) });
    }

    /// Passes a batch to the writer. `settled`: it is the result of a request.
    pub(crate) fn submit(&mut self, partition: u32, batch: Batch, response: Option<WarcEntry>, settled: bool) {
        let Some(own) = self.partitions.get_mut(&partition) else { return };
        let leaving: Vec<SentLink> = own.crawl.take_leaving(&batch);
        own.sent += leaving.len() as u64;
        own.steps += 1;
        own.unwritten.push_back(settled);
        own.position = LogPosition { steps: own.position.steps + 1, last: Some(batch.at), ..own.position };
        // A writer that has stopped sends a notice.
        let _ =
            self.to_writer.send(Work::Step(Step { partition, batch, response, leaving, links: own.position.links }));
        self.save(partition, false);
    }

    /// Saves a partition if a checkpoint is due.
    pub(crate) fn save(&mut self, partition: u32, at_end: bool) {
        let Some(own) = self.partitions.get_mut(&partition) else { return };
        if is_due(self.checkpoint_every, own.saved, own.position.steps, at_end) {
            // A refresh resumes from its events alone: then only the log moves to the archive.
            let saved = match own.crawl.pieces() {
                Some(pieces) => Saved { settings: self.settings, position: own.position, pieces: pieces.collect() },
                None => Saved { settings: NO_STATE, position: own.position, pieces: Vec::new() },
            };
            own.saved = own.position.steps;
            let _ = self.to_writer.send(Work::Save(partition, saved));
        }
    }

    /// Handles the result of a request. A failure may be the network's or the proxy's.
    pub(crate) fn finish(&mut self, taken: Taken, result: FetchResult) {
        if result.not_rendered {
            // Not settled: the next owner has it queued.
            if let Some(own) = self.return_ticket(taken) {
                own.in_flight -= 1;
                self.in_flight -= 1;
            }
            return;
        }
        let judged = self.network.judge(taken, result, monotonic_now());
        self.apply(judged);
    }

    pub(crate) fn apply(&mut self, judged: JudgedResults<Taken>) {
        judged.settle.into_iter().for_each(|(taken, result)| self.settle(taken, result));
        for (taken, result) in judged.requeue {
            if let Some(own) = self.return_ticket(taken) {
                own.in_flight -= 1;
                own.crawl.requeue_ticket(result.ticket, own.clock.now());
                own.wake_up();
                self.in_flight -= 1;
            }
        }
    }

    /// Counts a ticket as returned. None if its partition was lost meanwhile, even if it has been taken again.
    fn return_ticket(&mut self, (partition, time): Taken) -> Option<&mut Owned> {
        let Some(own) = self.partitions.get_mut(&partition).filter(|own| own.generation == time) else {
            self.in_flight -= 1;
            return None;
        };
        own.tickets -= 1;
        Some(own)
    }

    fn settle(&mut self, taken: Taken, result: FetchResult) {
        let FetchResult { ticket, outcome, meta, fetched, .. } = result;
        let Some(own) = self.return_ticket(taken) else { return };
        own.wake_up();
        let before = own.crawl.progress();
        let at = own.clock.now();
        let batch = own.crawl.settle(ticket, outcome, meta, at);
        let after = own.crawl.progress();
        if after.pages > before.pages {
            self.last_page = monotonic_now();
        }
        self.pages.0 += after.pages - before.pages;
        self.pages.1 += after.relevant - before.relevant;
        let response = fetched.map(|fetched| warc_entry(fetched, &batch));
        self.submit(taken.0, batch, response, true);
    }

    /// Lets a partition learn the sums over the others.
    pub(crate) fn learn(&mut self, partition: u32, sums: &[LearntSum]) {
        let Some(own) = self.partitions.get_mut(&partition).filter(|own| !own.leaving) else { return };
        let batch = own.crawl.learn(sums, own.clock.now());
        if let Some(Event::LearntElsewhere { sums }) = batch.events.first() {
            own.learnt += sums.len() as u64;
            self.submit(partition, batch, None, false);
        }
    }

    pub(crate) fn receive(&mut self, arrived: Arrived) {
        let Arrived { partition, sequence, delivery } = arrived;
        let Some(own) = self.partitions.get_mut(&partition).filter(|own| sequence > own.position.links) else { return };
        let at = own.clock.now();
        let batch = match delivery {
            Delivery::Seeds(seeds) => own.crawl.seed(&seeds, at),
            Delivery::Links(links) => own.crawl.receive(&links, at),
        };
        own.position.links = sequence;
        own.wake_up();
        // Also without events, so that the delivery is removed once it counts as applied.
        self.submit(partition, batch, None, false);
    }
}
