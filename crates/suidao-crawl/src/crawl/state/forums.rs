//! Forums in the state: recognised hosts, what their pages are, and which are fetched again.

use suidao_page::model::{ForumPage, ForumRole, ForumStep, LinkState, Millis, PageKind, UrlId};

use super::State;
use crate::crawl::forum_state::{Exploration, ForumMode, was_requested};

impl State {
    pub(super) fn move_in_forum(&mut self, from: UrlId, to: UrlId) {
        let (url, target) = (self.urls.url(from), self.urls.url(to));
        self.forums.moved((from, &url), (to, &target));
    }

    /// Notes what a URL of a forum is for. If it was found to redirect, that is its target.
    fn set_forum_role(&mut self, id: UrlId, role: ForumRole) {
        let url = self.urls.url(id);
        let Some(site) = self.forums.site_mut(&url) else { return };
        site.set_role(id, role, &url);
        let target = self.canonicals.led_to(id);
        if target != id && self.urls.get(id).state == LinkState::Redirected {
            self.forums.moved((id, &url), (target, &self.urls.url(target)));
        }
    }

    pub(super) fn apply_forum_page(&mut self, id: UrlId, page: &ForumPage, at: Millis) {
        if let (Some(watching), PageKind::Index { board, page: 1 }) = (&mut self.forums.watching, page.kind) {
            watching.visited(&[board], at);
        }
        if let Some(page_view) = &page.view {
            self.forums.explorer.add_page(page_view);
            self.forums.seen.push(id);
        }
        if let Some(map) = &page.map {
            self.forums.add_map(map);
        }
        let url = self.urls.url(id);
        if self.forums.site(&url).is_some() {
            for (id, role) in &page.roles {
                self.set_forum_role(*id, *role);
            }
        }
        if let Some(site) = self.forums.site_mut(&url) {
            site.observe(id, page);
        }
    }

    pub(super) fn apply_forum_step(&mut self, step: &ForumStep, at: Millis) {
        if let Some(watching) = &mut self.forums.watching {
            let listed: Vec<UrlId> =
                step.lists.iter().map(|list| list.board).chain(step.restarted.iter().copied()).collect();
            watching.visited(&listed, at);
        }
        if let Some(map) = &step.map {
            // A map file given by the user takes precedence.
            if !matches!(self.forums.mode, ForumMode::Follow(_)) {
                self.forums.add_map(map);
            }
            self.forums.exploration = Exploration::Understood(());
        }
        if let Some(why) = &step.analysis_failure {
            self.forums.exploration = Exploration::Failed(why.clone());
        }
        // A thread that redirects to another host makes its URLs there those of the forum: its further pages are after it.
        let is_further = |role: &ForumRole| matches!(role, ForumRole::Continuation { .. });
        let (further, others): (Vec<_>, Vec<_>) = step.roles.iter().copied().partition(|(_, role)| is_further(role));
        for (id, role) in others.into_iter().chain(further) {
            if role == ForumRole::Sample {
                self.forums.explorer.mark_requested(&self.urls.url(id));
            }
            self.set_forum_role(id, role);
        }
        let pages = step.read.iter().map(|(id, kind, posts)| (*id, *kind, posts.clone(), Vec::new()));
        let lists = step.lists.iter().map(|list| {
            (list.board, PageKind::Index { board: list.board, page: list.page }, Vec::new(), vec![list.clone()])
        });
        for (id, kind, posts, lists) in lists.chain(pages.collect::<Vec<_>>()) {
            let url = self.urls.url(id);
            if let Some(site) = self.forums.site_mut(&url) {
                let page = ForumPage { kind, roles: Vec::new(), lists, posts, view: None, map: None };
                site.observe(id, &page);
            }
        }
        // A new visit resets the host's failures: it may be back.
        if let Some(id) = step.restarted.first() {
            let host = self.urls.get(*id).host();
            self.hosts.get_mut(host).health.reset_failures();
        }
        for id in &step.due {
            self.make_due(*id);
        }
        if let Some(first) = step.restarted.first()
            && let Some(site) = self.forums.site_mut(&self.urls.url(*first))
        {
            site.begin_pass(&step.restarted);
        }
        self.admit(&step.links);
    }

    /// Queues a page that was requested before again. If it had failed, that no longer counts.
    fn make_due(&mut self, id: UrlId) {
        let state = self.urls.get(id).state;
        if !was_requested(state) {
            return;
        }
        self.counts.progress.failed -= u64::from(state == LinkState::Failed);
        self.urls.get_mut(id).forget_tries();
        let known = self.urls.get(id);
        let (host, entry) = (known.host(), known.entry());
        self.set_state(id, LinkState::Queued);
        self.frontier.push(host, id, entry);
    }
}
