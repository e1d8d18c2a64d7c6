//! Which hosts may get a request now: their own waits, and the limits of domains and addresses. Follows the clock and
//! what is in flight, not the events.

use super::State;
use crate::crawl::frontier::QueueHead;
use crate::crawl::groups::{GroupId, HostGroups};
use crate::crawl::hosts::DeferredHost;
use suidao_page::model::Millis;

impl State {
    /// After a restart, every host with queued URLs waits as if it had just received a request.
    pub fn delay_all(&mut self, now: Millis) {
        for host in self.hosts.delay_all(&self.settings.politeness, now) {
            self.frontier.mark_waiting(host);
        }
    }

    /// Hosts and groups whose wait is over compete again.
    pub fn wake(&mut self, now: Millis) {
        while let Some(host) = self.hosts.due(now) {
            self.frontier.make_ready(host);
        }
        while let Some(group) = self.hosts.groups.due(now) {
            self.resume_group(group, now);
        }
    }

    /// The group of the host is busy: requeues the URL and defers the host.
    pub fn defer(&mut self, head: QueueHead, by: GroupId, now: Millis) {
        let priority = self.score(head);
        self.frontier.requeue_in_place(head);
        self.frontier.mark_waiting(head.host);
        let groups = self.hosts.get(head.host).groups();
        self.hosts.defer(head.host, DeferredHost { by, priority, head: head.id }, now);
        // The other group may have resumed it in vain.
        for group in groups.iter().filter(|group| *group != by) {
            self.resume_group(group, now);
        }
    }

    /// A group has room: its best deferred host competes with the others again.
    pub fn resume_group(&mut self, group: GroupId, now: Millis) -> bool {
        let host = self.hosts.resume(group, now);
        if let Some(host) = host {
            self.frontier.make_ready(host);
        }
        host.is_some()
    }

    /// A resumed host got no request: resumes the next one.
    pub fn resume_groups(&mut self, groups: HostGroups, now: Millis) {
        for group in groups.iter() {
            self.resume_group(group, now);
        }
    }

    /// Nothing can be fetched from the resumed hosts. Returns whether other hosts were resumed.
    pub fn resume_idle_groups(&mut self, now: Millis) -> bool {
        let mut others = false;
        for group in self.hosts.groups.take_idle() {
            others |= self.resume_group(group, now);
        }
        others
    }

    /// A request that counted for these groups has finished.
    pub fn leave_groups(&mut self, groups: HostGroups, now: Millis) {
        for group in groups.iter() {
            self.hosts.groups.finish(group);
            self.resume_group(group, now);
        }
    }
}
